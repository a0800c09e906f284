# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Unmodified models of torchvision and transformers in both modes. The exported
# step and the model in PyTorch have the same losses in f32. In torch.compile the
# strategy `autocast` has the losses of eager torch.autocast.
#
# REQUIRES: torch-models, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t --mode export gpt2 vit
"""Usage: library-models.py <folder> [--mode export|guest] [--steps <count>] [model...]: by default all,
with a table of the page docs/pytorch.md. The exit status is 1 if a model does not train."""

import argparse

import os
import sys

import torch

import amp_torch
from library_models import LIBRARY, batch_of, loss_of, make
from parity import amp_run, in_autocast, train

SIZE, SAMPLES = 4, 8


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.01)


def losses_of(name, steps, wrap=lambda function: function):
    """The losses in PyTorch; `wrap` changes the loss as a function."""
    model, loss, arrays, names = make(name, SAMPLES)
    compute = loss_of(loss, names)
    wrapped = wrap(lambda *tensors: compute(model, *tensors))
    return train(model, lambda _, *tensors: wrapped(*tensors), [optimizer_of(model)], arrays, SIZE, steps)


def exported(name, folder, steps):
    """The common properties of the exported step and the model, as text."""
    model, loss, arrays, names = make(name, SAMPLES)
    path = os.path.join(folder, name)
    example = batch_of(loss, [array[:SIZE] for array in arrays], names)
    export = amp_torch.export(model, loss, optimizer_of(model), example, path)
    ours, _ = amp_run(path, export.batch, arrays, SIZE, steps)
    theirs = losses_of(name, steps)
    error = max(abs(a - b) for a, b in zip(ours, theirs)) / max(theirs)
    # A batch norm over few values amplifies the roundings of a deep network.
    bound = 1e-5 if loss is None else 1e-3
    assert error <= bound, f"losses differ by {error:.1e}: {ours}, {theirs}"
    for name, array in (("step.mlir", None), ("init.npz", None), ("data.npz", None), ("state.npz", None)):
        os.remove(os.path.join(path, name))
    return f"{error:.1e}" + (", fixed batch" if export.fixed else "")


def distance(first, second):
    return max(abs(a - b) for a, b in zip(first, second))


def guest(name, folder, steps):
    """Casts, saved bytes and distance from f32 of the strategies `autocast` and `optimal`, as text."""
    figures = {}
    for strategy in ("autocast", "optimal"):
        torch._dynamo.reset()
        backend = amp_torch.backend("bf16", strategy=strategy)
        losses = losses_of(name, steps, lambda function: torch.compile(function, backend=backend))
        figures[strategy] = losses, sum(report.casts for report in backend.reports), sum(backend.saved_bytes)
    expected, exact = losses_of(name, steps, in_autocast), losses_of(name, steps)
    (ours, casts, saved), (optimal, fewer, less) = figures["autocast"], figures["optimal"]
    far, near = distance(expected, exact), distance(optimal, exact)
    text = f"casts {casts}, {fewer}; bytes {saved}, {less}; from f32 {far:.1e}, {near:.1e}"
    assert ours == expected, f"losses differ by {distance(ours, expected):.1e}; {text}"
    assert fewer <= casts and less <= saved, text
    return text


MODES = {"export": exported, "guest": guest}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--mode", nargs=1, dest="modes", choices=MODES, default=list(MODES))
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("names", nargs="*", metavar="model")
    options = parser.parse_intermixed_args()
    modes = options.modes
    failures = 0
    print("| model | " + " | ".join(modes) + " |")
    print("|---" * (1 + len(modes)) + "|")
    for name in options.names or LIBRARY:
        cells = [name]
        for mode in modes:
            try:
                cells.append(MODES[mode](name, options.folder, options.steps))
            except Exception as error:  # A table has a line for each model.
                failures += 1
                lines = [line.strip() for line in str(error).strip().splitlines()]
                cells.append(f"no: {type(error).__name__}: " + " ".join(lines)[:300])
        print("| " + " | ".join(cells) + " |", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
