# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time per training step on the CPU: amp-run against eager PyTorch.

    tools/dev bench cpu_step

The same networks, batch size, optimizer and data on both sides, measured in
turn in one run; of each the median over the rounds. PyTorch runs with one and
with two threads and the better one counts; amp-run uses one thread. Exits
non-zero if a ratio is above its limit.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BATCH = 64
ROUNDS = 5
STEPS = 200

# Limits on ratios: own f32 to PyTorch's, own low precision to own f32.
LIMITS = {"digits-mlp": 1.0, "digits-cnn": 2.0}
LOW_LIMIT = 2.0


def make_torch_models(torch):
    nn = torch.nn

    def mlp():
        return nn.Sequential(
            nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)
        )

    class Cnn(nn.Module):
        def __init__(self):
            super().__init__()
            self.features = nn.Sequential(
                nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
                nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
                nn.AvgPool2d(4),
            )
            self.dropout = nn.Dropout(0.1)
            self.classifier = nn.Linear(32, 10)

        def forward(self, x):
            x = self.features(x.reshape(-1, 1, 8, 8))
            return self.classifier(self.dropout(x.flatten(1)))

    return {"digits-mlp": mlp, "digits-cnn": Cnn}


def time_torch(torch, model, data, threads):
    """Milliseconds per eager step."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    network = model()
    network.train()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    images = torch.from_numpy(data["train_images"])
    labels = torch.from_numpy(data["train_labels"])
    count = len(images) // BATCH

    def step(i):
        at = (i % count) * BATCH
        optimizer.zero_grad(set_to_none=True)
        logits = network(images[at : at + BATCH])
        loss = torch.nn.functional.cross_entropy(logits, labels[at : at + BATCH])
        loss.backward()
        optimizer.step()
        # What amp-run reports of each step as well.
        return loss.item(), (logits.argmax(1) == labels[at : at + BATCH]).float().mean().item()

    for i in range(20):
        step(i)
    start = time.perf_counter()
    for i in range(STEPS):
        step(i)
    return (time.perf_counter() - start) * 1e3 / STEPS


def time_amp(bin_dir, name, precision):
    """Milliseconds per step, without compilation."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "metrics.json")
        subprocess.run(
            [
                os.path.join(bin_dir, "amp-run"),
                os.path.join(ROOT, "Models", name + ".mlir"),
                "--data", os.path.join(ROOT, "Models", "data", "digits.npz"),
                "--precision", precision, "--batch-size", str(BATCH),
                "--num-threads=1", "--steps", str(STEPS), "--metrics-json", out,
            ],
            check=True, capture_output=True,
        )
        with open(out) as f:
            return json.load(f)["runs"][0]["results"]["ms per step"]


def blas_name():
    try:
        target = os.path.realpath("/etc/alternatives/libblas.so.3-x86_64-linux-gnu")
    except OSError:
        return "unknown"
    return target


def main():
    bin_dir = sys.argv[1]
    try:
        import torch
    except ImportError:
        print("cpu_step: PyTorch is not installed; tools/dev setup says how to get it")
        return 1
    data = np.load(os.path.join(ROOT, "Models", "data", "digits.npz"))
    models = make_torch_models(torch)
    with open("/proc/cpuinfo") as f:
        cpu = re.search(r"model name\s*: (.*)", f.read())
    print(f"CPU: {cpu.group(1) if cpu else 'unknown'}, {os.cpu_count()} cores")
    print(f"PyTorch {torch.__version__}, BLAS {blas_name()}")
    print(f"batch {BATCH}, {STEPS} steps, median of {ROUNDS} rounds, ms per step\n")
    print(f"{'model':12} {'torch 1':>8} {'torch 2':>8} {'f32':>8} {'fp16':>8} {'bf16':>8}"
          f" {'f32/torch':>10} {'fp16/f32':>9} {'bf16/f32':>9}")
    failed = False
    for name, limit in LIMITS.items():
        times = {}
        for _ in range(ROUNDS):
            for threads in (1, 2):
                times.setdefault(f"torch {threads}", []).append(
                    time_torch(torch, models[name], data, threads)
                )
            for precision in ("f32", "fp16", "bf16"):
                times.setdefault(precision, []).append(time_amp(bin_dir, name, precision))
        t = {key: statistics.median(values) for key, values in times.items()}
        best = min(t["torch 1"], t["torch 2"])
        ratios = (t["f32"] / best, t["fp16"] / t["f32"], t["bf16"] / t["f32"])
        print(f"{name:12} {t['torch 1']:8.3f} {t['torch 2']:8.3f} {t['f32']:8.3f}"
              f" {t['fp16']:8.3f} {t['bf16']:8.3f}"
              f" {ratios[0]:10.2f} {ratios[1]:9.2f} {ratios[2]:9.2f}")
        for what, ratio, bound in (
            ("f32 to PyTorch", ratios[0], limit),
            ("fp16 to f32", ratios[1], LOW_LIMIT),
            ("bf16 to f32", ratios[2], LOW_LIMIT),
        ):
            if ratio > bound:
                print(f"cpu_step: {name}: {what} is {ratio:.2f}, expected at most {bound}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
