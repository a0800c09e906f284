# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The guest on ten networks and on eleven unmodified models of torchvision and transformers, for 20 steps and
# from five seeds. The losses of the strategy `autocast` equal those of eager torch.autocast. `optimal` has
# no more casts and saved bytes, and is as near to f32.
#
# REQUIRES: torch-models, long
# RUN: env PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s
"""Usage: guest-seeds.py [--seeds <count>] [--steps <count>] [--inner eager|inductor] [--free] [model...]: by
default all models, five seeds and 20 steps. `net:` precedes the names of the networks of torch_networks.py.
--free also shows `optimal` with promote=False."""

import argparse
import math
import sys

import torch

import amp_torch
import library_models
import torch_networks
from parity import batches, in_autocast

SIZE, SAMPLES = 4, 8
# Bounds of the distance over that of autocast: for the geometric mean of all models, and for one model,
# because training amplifies roundings so much that the mean of five seeds still varies.
BOUND, LUCK = 1.1, 2.0
MODELS = [f"net:{name}" for name in torch_networks.NETWORKS] + [
    "gpt2", "llama", "bert", "distilbert", "opt", "t5", "vit", "convnextv2", "squeezenet1_1", "mobilenet_v3_small", "resnet18"]  # fmt: skip


class Case:
    """A model with its data and its loss."""

    def __init__(self, name):
        self.name = name
        self.network = name.removeprefix("net:") if name.startswith("net:") else None

    def make(self, seed):
        """The model, the arrays, the loss as a function of the model and tensors, and the rate of SGD."""
        if self.network:
            model, loss, arrays = torch_networks.make(self.network, seed)
            return model, arrays, torch_networks.loss_of(loss), 0.05
        model, loss, arrays, names = library_models.make(self.name, SAMPLES, seed)
        return model, arrays, library_models.loss_of(loss, names), 0.01

    def run(self, seeds, steps, wrap=lambda function: function):
        """The losses of each seed. `wrap` changes the loss as a function, once for all seeds."""
        model, _, compute, rate = self.make(0)
        wrapped, runs = wrap(lambda *tensors: compute(model, *tensors)), []
        for seed in range(seeds):
            start, arrays, _, _ = self.make(seed)
            model.load_state_dict(start.state_dict())
            optimizer, losses = torch.optim.SGD(model.parameters(), rate), []
            for rows in batches(arrays, SIZE, steps):
                optimizer.zero_grad()
                loss = wrapped(*[torch.from_numpy(row) for row in rows])
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            runs.append(losses)
        return runs


def distance(first, second):
    """The mean over the seeds of the largest difference of a loss."""
    return sum(max(abs(a - b) for a, b in zip(*pair)) for pair in zip(first, second)) / len(first)


class Guest:
    """The losses in the guest, its casts and its saved bytes."""

    def __init__(self, case, options, **settings):
        torch._dynamo.reset()
        backend = amp_torch.backend("bf16", inner=options.inner, **settings)
        self.losses = case.run(options.seeds, options.steps, lambda function: torch.compile(function, backend=backend))
        self.casts = sum(report.casts for report in backend.reports)
        self.bytes = sum(backend.saved_bytes)


def check(name, options):
    """Returns the cells of the table, the ratio of the distances, and what is wrong."""
    case, wrong = Case(name), []
    exact = case.run(options.seeds, options.steps)
    expected = case.run(options.seeds, options.steps, in_autocast)
    alike, optimal = Guest(case, options, strategy="autocast"), Guest(case, options)
    far, mine = distance(expected, exact), distance(optimal.losses, exact)
    cells = [f"{alike.casts}, {optimal.casts}", f"{alike.bytes}, {optimal.bytes}", f"{far:.1e}, {mine:.1e} ({mine / far:.2f})"]
    if options.inner == "eager" and alike.losses != expected:
        wrong.append(f"{name}: autocast differs from eager autocast by {distance(alike.losses, expected):.1e}")
    if optimal.casts > alike.casts or optimal.bytes > alike.bytes:
        wrong.append(f"{name}: optimal has more casts or saved bytes than autocast")
    if not mine <= LUCK * far:
        wrong.append(f"{name}: optimal is {mine / far:.2f} times as far from f32 as autocast")
    if options.free:
        free = Guest(case, options, promote=False)
        cells.append(f"{free.casts}, {free.bytes}, {distance(free.losses, exact) / far:.2f}")
    return cells, mine / far, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--inner", choices=["eager", "inductor"], default="eager")
    parser.add_argument("--free", action="store_true")
    parser.add_argument("names", nargs="*", metavar="model")
    options = parser.parse_args()
    ratios, failures = [], 0
    print("| model | casts | saved bytes | from f32 |" + (" promote=False |" if options.free else ""))
    print("|---|---|---|---|" + ("---|" if options.free else ""))
    for name in options.names or MODELS:
        cells, ratio, wrong = check(name, options)
        ratios.append(ratio)
        print("| " + " | ".join([name, *cells]) + " |", *wrong, sep="\n", flush=True)
        failures += len(wrong)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"optimal is {mean:.2f} times as far from f32 as autocast in the geometric mean")
    return failures > 0 or not mean <= BOUND


if __name__ == "__main__":
    sys.exit(main())
