# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Whole networks: an exported step in amp-run and the model in PyTorch take the same
# batches for 20 steps. In f32 losses and state agree with SGD, losses with AdamW.
# In bf16 and fp16 the losses are not further from f32 than those of autocast, by a
# factor that allows for the luck of one seed. seeds.py compares the means of several seeds.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t mlp resnet gpt2 bert vae lstm
"""Usage: networks.py <folder> [network...]: by default all."""

import copy
import sys

import torch

import amp_torch
from parity import amp_run, train
from torch_networks import NETWORKS, batch_of, loss_of, make, optimizer_of

SIZE, STEPS = 4, 20
# The factor over the distance of autocast.
LUCK = 3.0


def distance(first, second):
    return max(abs(a - b) for a, b in zip(first, second))


def run(folder, name, kind):
    """The difference of the losses in f32, and for each low precision their distance from
    f32, in the step and under autocast."""
    model, loss, arrays = make(name)
    optimizer = optimizer_of(kind, model)
    batch = batch_of(loss, [array[:SIZE] for array in arrays])
    path = f"{folder}/{name}-{kind}"
    export = amp_torch.export(model, loss, optimizer, batch, path, clip_grad_norm=1.0)
    assert export.fixed is None, export.fixed
    assert export.rates == ({"lr.0": 0.05, "lr.1": 0.02} if kind == "sgd" else {"lr.0": 1e-3, "lr.1": 5e-4})
    losses, state = amp_run(path, export.batch, arrays, SIZE, STEPS)
    eager = copy.deepcopy(model)
    theirs = train(eager, loss_of(loss), [optimizer_of(kind, eager)], arrays, SIZE, STEPS, clip=1.0)
    error = distance(losses, theirs) / max(theirs)
    assert error <= 1e-5, f"{name}, {kind}: losses differ by {error:.1e}"
    if kind == "sgd":
        for key, tensor in eager.state_dict().items():
            if key in state:
                difference = abs(state[key] - tensor.detach().numpy()).max()
                assert difference <= 1e-4, f"{name}: {key} differs by {difference:.1e}"
    found = {}
    for precision, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        ours, _ = amp_run(path, export.batch, arrays, SIZE, STEPS, "--precision", precision, "--loss-scale",
                          "none" if precision == "bf16" else "1024")
        low = copy.deepcopy(model)
        other = train(low, loss_of(loss), [optimizer_of(kind, low)], arrays, SIZE, STEPS, clip=1.0, autocast=dtype)
        found[precision] = distance(ours, theirs), distance(other, theirs)
    return error, found


def check(folder, name, kind):
    error, found = run(folder, name, kind)
    report = [f"{name} {kind}: f32 {error:.1e}"]
    for precision, (mine, autocast) in found.items():
        report.append(f"{precision} {mine:.1e} (autocast {autocast:.1e})")
        assert mine <= LUCK * autocast + 1e-4, f"{name}: {precision} is {mine:.1e} from f32, autocast {autocast:.1e}"
    print(", ".join(report), flush=True)


def main():
    folder, *names = sys.argv[1:]
    for name in names or NETWORKS:
        for kind in ("sgd", "adamw"):
            check(folder, name, kind)


if __name__ == "__main__":
    main()
