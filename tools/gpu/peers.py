# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: peers.py [cuda|cpu]

The same training steps in PyTorch. run.py times them in turns with its own steps.
Reads one line of JSON per request and answers with one:

  {"do": "about"}                    versions: {"torch": ..., "usable": ...}
  {"do": "data", "layers": [...], "batch": n, "path": file}
                                     writes one batch as .npz
  {"do": "weights", CASE, "path": file}
                                     writes initial weights in the layout of amp-model
  {"do": "losses", CASE, "weights": file, "data": file, "steps": n, "rate": x}
                                     losses of n steps of that batch
  {"do": "curve", CASE, "peer": name, "weights": file, "data": file, "order": [...]}
                                     losses of a step for each "batch" samples of the order
  {"do": "time", CASE, "peer": name, "seconds": s}
                                     milliseconds of a step, the mean of as many
                                     as take s seconds
  {"do": "ceilings"}                 rates of a copy and of a large product
  {"do": "free"}                     gives back what peers hold on the device

CASE is "batch", "precision" (f32, tf32, bf16 or fp16), "rate", and "layers" of a perceptron or
"network": the options of amp-model (see peer_networks.py), with "optimizer" (sgd or adamw) and its
settings. Peers: `eager` is autocast (with GradScaler in fp16). `compile` is torch.compile of the
network with its loss, with max-autotune, which uses CUDA graphs. It takes the fastest kernel of
attention, and the fused head and loss where that is faster. `graph` is the whole eager step in one
CUDA graph. An answer with "error" gives the reason of a failure."""

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
# Extent of the square matrices of the largest rate, and bytes of a copy.
PRODUCT, COPY = (8192, 1 << 30) if DEVICE == "cuda" else (128, 1 << 20)


def about():
    try:
        import torch
    except Exception as error:  # a broken installation raises what it likes
        return {"torch": None, "usable": False, "why": f"no torch: {error}"}
    if DEVICE == "cuda" and not torch.cuda.is_available():
        return {"torch": torch.__version__, "usable": False, "why": "torch has no CUDA device"}
    return {"torch": torch.__version__, "usable": True}


def describe(case):
    """The network of a case, with the settings of its training."""
    if "network" in case:
        from network_cases import complete

        return complete(case["network"])
    return {"model": "mlp", "layers": case["layers"], "optimizer": "sgd", "momentum": MOMENTUM, "rate": case.get("rate", 0.01)}


def read_file(path):
    import numpy as np

    with np.load(path) as file:
        return {name: file[name] for name in file.files}


class Peer:
    """A network, its optimizer and one batch on the device."""

    def __init__(self, case, weights=None, data=None):
        import torch

        import peer_networks

        self.torch, self.precision = torch, case["precision"]
        # Convolutions take the fastest algorithm.
        torch.backends.cudnn.benchmark = DEVICE == "cuda"
        self.options, self.size = describe(case), case["batch"]
        if "rate" in case:
            self.options["rate"] = case["rate"]
        self.settings = peer_networks.Settings()
        torch.manual_seed(3)
        self.network = peer_networks.build(self.options, self.settings, DEVICE)
        if weights:
            peer_networks.read(self.network, read_file(weights))
        else:
            peer_networks.initialize(self.network, self.options)
        if data:
            batch = {name: torch.from_numpy(array) for name, array in read_file(data).items()}
        else:
            batch = peer_networks.make_batch(self.options, self.size)
        self.batch = {name: array.to(DEVICE) for name, array in batch.items()}
        self.optimizer = self.make_optimizer(peer_networks.decays)
        scales = self.precision == "fp16" and DEVICE == "cuda"
        if hasattr(torch, "amp") and hasattr(torch.amp, "GradScaler"):
            self.scaler = torch.amp.GradScaler("cuda", enabled=scales)
        else:  # before torch 2.3
            self.scaler = torch.cuda.amp.GradScaler(enabled=scales)
        low = self.low = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(self.precision)
        network = self.network

        def compute_loss(batch):
            with torch.autocast(DEVICE, dtype=low or torch.bfloat16, enabled=low is not None):
                return network(batch)

        self.compute_loss, self.replay, self.loss = compute_loss, None, None
        self.is_compiled = False

    def make_optimizer(self, decays):
        torch, options = self.torch, self.options
        # A fused optimizer takes scale and overflow as tensors, so no step waits.
        fused = {"fused": True} if DEVICE == "cuda" else {}
        decay = options.get("weight-decay", 0.0)
        groups = [{"params": [], "weight_decay": decay}, {"params": [], "weight_decay": 0.0}]
        for name, parameter in self.network.named_parameters():
            groups[0 if decays(name, parameter) else 1]["params"].append(parameter)
        groups = [group for group in groups if group["params"]]
        if options["optimizer"] == "adamw":
            return torch.optim.AdamW(groups, options["rate"], betas=tuple(options["betas"]), eps=1e-8, **fused)
        try:
            return torch.optim.SGD(groups, options["rate"], options["momentum"], **fused)
        except TypeError:  # before torch 2.3
            return torch.optim.SGD(groups, options["rate"], options["momentum"])

    def backward_and_update(self):
        loss = self.compute_loss(self.batch)
        self.scaler.scale(loss).backward()
        if self.options.get("clip"):
            self.scaler.unscale_(self.optimizer)
            self.torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.options["clip"])
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
        import peer_choices

        # Graphs and compiled steps are fixed: choose before.
        self.settings.attention = peer_choices.choose_attention(self, DEVICE)
        self.settings.fuses_loss = peer_choices.choose_loss(self, DEVICE)
        # Compile the loss too: the compiler then fuses it with the operations before it.
        self.compute_loss = self.torch.compile(self.compute_loss, mode="max-autotune")
        self.is_compiled = True

    def prepare(self, name):
        if name == "compile":
            self.compile()
        elif name == "graph":
            self.capture()

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


def get_key(request):
    return json.dumps([request.get(name) for name in ("layers", "network", "batch", "precision", "peer")], sort_keys=True)


def count_peak():
    """The most bytes that tensors took since the last call, and bytes that torch reserved."""
    import torch

    if DEVICE != "cuda":
        return {}
    found = {"peak bytes": torch.cuda.max_memory_allocated(), "reserved bytes": torch.cuda.max_memory_reserved()}
    torch.cuda.reset_peak_memory_stats()
    return found


def measure(request):
    key = get_key(request)
    if key not in peers:
        began = time.perf_counter()
        peer = Peer(request)
        peer.prepare(request["peer"])
        for _ in range(WARM_UP if DEVICE == "cuda" else 1):
            peer.step()
        peer.wait()
        peer.seconds_to_start = time.perf_counter() - began
        # What is only needed to compile does not count.
        count_peak()
        peers[key] = peer
    peer = peers[key]
    took, steady, each = peer.warm_up()
    steps = max(10, min(20000, int(request["seconds"] / each))) if DEVICE == "cuda" else 1
    before = peer.get_scale()
    ms = peer.run(steps) * 1e3
    after = peer.get_scale()
    answer = {"ms": ms, "steps": steps, "seconds of warm-up": took, "steady": steady, "loss": float(peer.loss.detach()),
              "seconds to start": peer.seconds_to_start, "attention": str(peer.settings.attention),
              "fused loss": peer.settings.fuses_loss, **count_peak()}
    # Steps that overflow do less work.
    return {**answer, "scale before": before, "scale after": after} if before is not None else answer


def write_weights(request):
    import numpy as np

    import peer_networks

    np.savez(request["path"], **peer_networks.write(Peer(request).network))
    return {}


def draw_curve(request):
    """Trains on the batches of an order and returns the loss of each step."""
    peer = Peer(request, request["weights"], request["data"])
    peer.prepare(request["peer"])
    samples, losses, size = peer.batch, [], request["batch"]
    order = peer.torch.tensor(request["order"]).reshape(-1, size)
    peer.batch = {name: array[order[0]].clone() for name, array in samples.items()}
    started = None
    for index, rows in enumerate(order.to(DEVICE)):
        # Compiled steps take their inputs from the same place.
        for name, array in peer.batch.items():
            array.copy_(samples[name][rows])
        losses.append(peer.step().detach().clone())
        if index == 2:
            peer.wait()
            started = time.perf_counter()
    peer.wait()
    answer = {"losses": [float(loss) for loss in losses], **count_peak()}
    if len(losses) > 3:
        answer["ms"] = (time.perf_counter() - started) / (len(losses) - 3) * 1e3
    return answer


def measure_ceilings(_):
    """Bytes per second of a copy, and operations per second of a product of random numbers."""
    import torch

    def rate(work, body):
        times = []
        for _ in range(12):
            begin = time.perf_counter()
            body()
            if DEVICE == "cuda":
                torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
        return work / sorted(times[2:])[5]

    source = torch.ones(COPY // 4, device=DEVICE)
    target = torch.empty_like(source)
    found = {"copy": rate(2 * COPY, lambda: target.copy_(source))}
    del source, target
    for name in ("bfloat16", "float16"):
        a, b = (torch.randn(PRODUCT, PRODUCT, device=DEVICE, dtype=getattr(torch, name)) for _ in range(2))
        c = torch.empty_like(a)
        found[f"product {name}"] = rate(2 * PRODUCT**3, lambda: torch.mm(a, b, out=c))
    return found


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
    return {"losses": [float(peer.step().detach()) for _ in range(request["steps"])]}


def main():
    actions = {"about": lambda _: about(), "data": write_data, "weights": write_weights, "losses": compare_losses,
               "curve": draw_curve, "time": measure, "ceilings": measure_ceilings, "free": free}
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
