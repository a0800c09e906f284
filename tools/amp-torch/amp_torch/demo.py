# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small network in three precisions, and writes the report on each decision.

Usage: python -m amp_torch.demo [<folder for the reports>]"""

import json
import os
import sys
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch

STEPS, SIZE = 100, 64


class Rings(nn.Module):
    """Classifies points of the plane by the ring that they are in."""

    def __init__(self, width=48):
        super().__init__()
        self.enter, self.norm = nn.Linear(2, width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.leave = nn.Linear(width, 3)

    def forward(self, x):
        x = self.enter(x)
        x = x + self.down(F.gelu(self.up(self.norm(x))))
        return self.leave(F.relu(x))


def data(count):
    angle, ring = torch.rand(count) * 6.2832, torch.randint(0, 3, (count,))
    radius = ring + 0.5 + 0.15 * torch.randn(count)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), ring


def train(precision, folder):
    """The losses, the accuracy, the milliseconds of a step, and the path of the report."""
    torch.manual_seed(0)
    model, (points, rings) = Rings(), data(STEPS * SIZE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    reports = [os.path.join(folder, f"{precision}.{kind}") for kind in ("html", "json")]
    step = amp_torch.compile(model, F.cross_entropy, optimizer, (points[:SIZE], rings[:SIZE]), precision=precision,
                             report=",".join(reports))
    losses, start = [], time.perf_counter()
    for x, y in zip(points.split(SIZE), rings.split(SIZE)):
        losses.append(step(x, y).item())
    elapsed = (time.perf_counter() - start) / STEPS * 1e3
    model.eval()
    with torch.no_grad():
        points, rings = data(1000)
        accuracy = (model(points).argmax(-1) == rings).float().mean().item()
    return losses, accuracy, elapsed, reports


def summary(path):
    """How many choices became low, and the operations that stayed f32 although they had one."""
    with open(path) as file:
        operations = [op for function in json.load(file)["functions"] for op in function["ops"]]
    slots = [(op["name"], slot) for op in operations for slot in op["slots"] if "id" in slot]
    low = sum(bool(slot["low"]) for _, slot in slots)
    kept = sorted({name for name, slot in slots if not slot["low"]})
    return low, len(slots), kept


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    folder = sys.argv[1] if len(sys.argv) == 2 else tempfile.mkdtemp(prefix="amp-demo-")
    os.makedirs(folder, exist_ok=True)
    print(f"{'precision':<10}{'first loss':>12}{'last loss':>12}{'accuracy':>10}{'ms a step':>11}{'low choices':>13}")
    for precision in ("f32", "bf16", "fp16"):
        losses, accuracy, elapsed, reports = train(precision, folder)
        low = kept = None
        if precision != "f32":
            low, count, kept = summary(reports[1])
        share = "" if low is None else f"{low} of {count}"
        print(f"{precision:<10}{losses[0]:>12.4f}{losses[-1]:>12.4f}{accuracy:>10.1%}{elapsed:>11.2f}{share:>13}", flush=True)
    print(f"stayed f32 in fp16: {', '.join(kept) or 'nothing'}")
    print(f"why, for each operation: {reports[0]}")


if __name__ == "__main__":
    main()
