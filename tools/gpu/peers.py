# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: peers.py [cuda|cpu]

The same training steps of perceptrons in PyTorch. run.py times them in turns with its own steps.
Reads one line of JSON per request and answers with one:

  {"do": "about"}                    versions: {"torch": ..., "usable": ...}
  {"do": "data", "layers": [...], "batch": n, "path": file}
                                     writes one batch as .npz
  {"do": "losses", CASE, "weights": file, "data": file, "steps": n, "rate": x}
                                     losses of n steps of that batch
  {"do": "time", CASE, "peer": name, "seconds": s}
                                     milliseconds of a step, the mean of as many
                                     as take s seconds
  {"do": "free"}                     gives back what peers hold on the device

CASE is "layers", "batch", "precision" (f32, tf32, bf16 or fp16) and "rate". Peers: `eager` is
autocast (with GradScaler in fp16). `compile` is torch.compile of the network with its loss, with
max-autotune, which uses CUDA graphs. `graph` is the whole eager step in one CUDA graph. An answer
with "error" gives the reason of a failure."""

import gc
import json
import os
import sys
import time

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cuda"
MOMENTUM = 0.9
WARM_UP = 11
# The limits of WarmUp.h, whose steps are timed in the same rounds. A CPU run is only a trial.
LEAST, MOST, WINDOW, APART = (0.3, 3.0, 0.1, 0.03) if DEVICE == "cuda" else (0.02, 0.1, 0.01, 0.03)


def about():
    try:
        import torch
    except Exception as error:  # a broken installation raises what it likes
        return {"torch": None, "usable": False, "why": f"no torch: {error}"}
    if DEVICE == "cuda" and not torch.cuda.is_available():
        return {"torch": torch.__version__, "usable": False, "why": "torch has no CUDA device"}
    return {"torch": torch.__version__, "usable": True}


class Peer:
    """A network, its optimizer and one batch on the device."""

    def __init__(self, case, weights=None, data=None):
        import numpy as np
        import torch

        self.torch, self.precision = torch, case["precision"]
        layers, batch, lr = case["layers"], case["batch"], case.get("rate", 0.01)
        torch.manual_seed(3)
        modules = []
        for index, (inputs, outputs) in enumerate(zip(layers, layers[1:])):
            modules += [torch.nn.ReLU()] if index else []
            modules.append(torch.nn.Linear(inputs, outputs, device=DEVICE))
        self.network = torch.nn.Sequential(*modules)
        if weights:
            with np.load(weights) as file, torch.no_grad():
                for index, linear in enumerate(modules[::2], 1):
                    linear.weight.copy_(torch.from_numpy(file[f"fc{index}.weight"].T.copy()))
                    linear.bias.copy_(torch.from_numpy(file[f"fc{index}.bias"]))
        if data:
            with np.load(data) as file:
                x, labels = torch.from_numpy(file["x"]), torch.from_numpy(file["labels"])
        else:
            x, labels = torch.randn(batch, layers[0], device=DEVICE), torch.randint(layers[-1], (batch,), device=DEVICE)
        self.x, self.labels = x.to(DEVICE), labels.to(DEVICE)
        # A fused optimizer takes scale and overflow as tensors, so no step waits.
        fused = {"fused": True} if DEVICE == "cuda" else {}
        try:
            self.optimizer = torch.optim.SGD(self.network.parameters(), lr, MOMENTUM, **fused)
        except TypeError:  # before torch 2.3
            self.optimizer = torch.optim.SGD(self.network.parameters(), lr, MOMENTUM)
        scales = self.precision == "fp16" and DEVICE == "cuda"
        if hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"):
            self.scaler = torch.amp.GradScaler("cuda", enabled=scales)
        else:  # before torch 2.3
            self.scaler = torch.cuda.amp.GradScaler(enabled=scales)
        low = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(self.precision)
        network = self.network

        def compute_loss(x, labels):
            with torch.autocast(DEVICE, dtype=low or torch.bfloat16, enabled=low is not None):
                return torch.nn.functional.cross_entropy(network(x), labels)

        self.compute_loss, self.replay, self.loss = compute_loss, None, None
        self.is_compiled = False

    def backward_and_update(self):
        loss = self.compute_loss(self.x, self.labels)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss

    def step(self):
        if self.replay:
            self.replay()
            return self.loss
        # This is a setting of the process, which the peers share.
        if DEVICE == "cuda":
            self.torch.backends.cuda.matmul.allow_tf32 = self.precision == "tf32"
        # A compiled step writes its results over those of the previous step.
        self.loss = None
        if self.is_compiled and hasattr(self.torch, "compiler"):
            self.torch.compiler.cudagraph_mark_step_begin()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = self.backward_and_update()
        return self.loss

    def wait(self):
        if DEVICE == "cuda":
            self.torch.cuda.synchronize()

    def compile(self):
        # Compile the loss too: the compiler then fuses it with the operations before it.
        self.compute_loss = self.torch.compile(self.compute_loss, mode="max-autotune")
        self.is_compiled = True

    def capture(self):
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self.loss = self.backward_and_update()
        self.replay = graph.replay

    def get_scale(self):
        return self.scaler.get_scale() if self.scaler.is_enabled() else None

    def run(self, steps):
        """Seconds of each step."""
        start = time.perf_counter()
        for _ in range(steps):
            self.step()
        self.wait()
        return (time.perf_counter() - start) / steps

    def warm_up(self):
        """Runs windows of steps until two in a row agree: an idle GPU lowers its clock. Returns
        the seconds that it took, whether they agree, and the seconds of a step."""
        begin, steps, before, steady = time.perf_counter(), 1, 0.0, False
        while True:
            each = self.run(steps)
            took = time.perf_counter() - begin
            if each * steps < WINDOW / 2:
                steps, before = int(min(WINDOW / max(each, 1e-9) + 1, steps * 10, 1e6)), 0.0
            else:
                steady = before > 0 and abs(each - before) <= APART * before
                before = each
            if took >= MOST or steady and took >= LEAST:
                return took, steady, each


peers = {}


def measure(request):
    key = (tuple(request["layers"]), request["batch"], request["precision"], request["peer"])
    if key not in peers:
        peer = Peer(request)
        if request["peer"] == "compile":
            peer.compile()
        elif request["peer"] == "graph":
            peer.capture()
        for _ in range(WARM_UP if DEVICE == "cuda" else 1):
            peer.step()
        peer.wait()
        peers[key] = peer
    peer = peers[key]
    took, steady, each = peer.warm_up()
    steps = max(10, min(20000, int(request["seconds"] / each))) if DEVICE == "cuda" else 1
    before = peer.get_scale()
    ms = peer.run(steps) * 1e3
    after = peer.get_scale()
    answer = {"ms": ms, "steps": steps, "seconds of warm-up": took, "steady": steady, "loss": float(peer.loss)}
    # Steps that overflow do less work.
    return {**answer, "scale before": before, "scale after": after} if before is not None else answer


def free(_):
    import torch

    peers.clear()
    gc.collect()
    if DEVICE == "cuda":
        torch.cuda.empty_cache()
    if hasattr(torch, "_dynamo"):
        torch._dynamo.reset()
        gc.collect()
    return {}


def write_data(request):
    import numpy as np

    generator = np.random.default_rng(17)
    layers, batch = request["layers"], request["batch"]
    np.savez(request["path"], x=generator.standard_normal((batch, layers[0])).astype(np.float32),
             labels=generator.integers(0, layers[-1], batch))
    return {}


def compare_losses(request):
    peer = Peer(request, request["weights"], request["data"])
    return {"losses": [float(peer.step()) for _ in range(request["steps"])]}


def main():
    actions = {"about": lambda _: about(), "data": write_data, "losses": compare_losses, "time": measure, "free": free}
    # The output of libraries must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = actions[request["do"]](request)
        except Exception as error:  # whatever torch raises is an answer
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


main()
