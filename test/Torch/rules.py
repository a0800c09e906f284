# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each rule of amp_torch: several cases train together, each with its own parameters,
# for eight steps of SGD in amp-run and in PyTorch. Losses, parameters and their changes agree to
# 1e-6. Once the batch is open, once fixed. A third time, the activations of one step are halves from -3 to 3:
# many are equal, or at a number where a function has no derivative. There, the gradient equals PyTorch's.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: rules.py <folder> [case...]: by default all."""

import sys

import numpy as np
import torch

import amp_torch
from parity import amp_run, train
from rule_cases import CASES

SIZE, STEPS, TOGETHER = 4, 8, 12
# torch.export of version 2.9 fixes the batch size of these.
FIXED = {"soft_labels"} if torch.__version__.startswith("2.9.") else set()
# These have no corner case: a remainder jumps there, and `max` along a dimension, `argmax` and `topk` choose one of
# several equal elements.
UNDEFINED = {"remainder", "sums", "topk", "topk_gate", "places", "scatter"}


class Single(torch.nn.Module):
    """One case: a trained map of the sample, then the tested operation."""

    def __init__(self, name, rng, corners):
        super().__init__()
        self.function, shape, parts = CASES[name]
        scale, shift = (1, 1), (0, 0)
        if not corners:
            scale, shift = (0.5, 1), (-0.3, 0.3)
        self.scale = torch.nn.Parameter(torch.from_numpy(rng.uniform(*scale, shape).astype(np.float32)))
        self.shift = torch.nn.Parameter(torch.from_numpy(rng.uniform(*shift, shape).astype(np.float32)))
        for key, make in parts.items():
            setattr(self, key, make())

    def forward(self, x):
        out = self.function(self, x * self.scale + self.shift).flatten(1)
        # Each element has a different gradient.
        weights = torch.linspace(0.5, 1.5, out.shape[1])
        return (out * weights).sin().mean()


class Cases(torch.nn.Module):
    def __init__(self, names, corners=False):
        super().__init__()
        rng = np.random.default_rng(1)
        torch.manual_seed(1)
        self.all = torch.nn.ModuleDict({name: Single(name, rng, corners) for name in names})

    def forward(self, *samples):
        return torch.stack([module(x) for module, x in zip(self.all.values(), samples)]).sum()


def samples(rng, name, corners):
    shape = (2 * SIZE, *CASES[name][1])
    values = rng.integers(-6, 7, shape) / 2 if corners else rng.standard_normal(shape)
    return values.astype(np.float32)


def check(folder, names, dynamic, corners):
    rng = np.random.default_rng(2)
    steps = 1 if corners else STEPS
    arrays = [samples(rng, name, corners) for name in names]
    model = Cases(names, corners)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    example = tuple(torch.from_numpy(array[:SIZE]) for array in arrays)
    export = amp_torch.export(model, None, optimizer, example, folder, dynamic_batch=dynamic, names=names)
    assert export.fixed is None
    start = {name: tensor.detach().numpy().copy() for name, tensor in model.state_dict().items()}
    losses, state = amp_run(folder, names, arrays, SIZE, steps)
    theirs = train(model, lambda model, *xs: model(*xs), [optimizer], arrays, SIZE, steps)
    bound = 1e-6 * len(names)
    worst = max(abs(a - b) for a, b in zip(losses, theirs))
    assert worst <= bound, f"{names}: losses differ by {worst:.1e}"
    moved = dict.fromkeys(names, 0.0)
    for name, tensor in model.state_dict().items():
        if name not in state:
            continue
        ours, wanted = state[name].astype(np.float64), tensor.detach().numpy()
        size = 1 + abs(wanted).max()
        error = abs(ours - wanted).max() / size
        assert error <= 1e-6, f"{name}: differs by {error:.1e}"
        key = name.split(".")[1]
        moved[key] = max(moved[key], abs(wanted - start[name]).max())
    for name, change in moved.items():
        assert change > 1e-7 or name == "sign", f"{name}: has no gradient"
    return worst


def main():
    names = sys.argv[2:] or list(CASES)
    for kind, dynamic, skipped in (("open", True, FIXED), ("fixed", False, ()), ("corners", False, UNDEFINED)):
        chosen = [name for name in names if name not in skipped]
        for first in range(0, len(chosen), TOGETHER):
            some = chosen[first : first + TOGETHER]
            worst = check(sys.argv[1], some, dynamic, kind == "corners")
            print(f"{kind}: {' '.join(some)}: losses within {worst:.1e}", flush=True)


if __name__ == "__main__":
    main()
