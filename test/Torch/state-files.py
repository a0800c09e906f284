# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# States go from PyTorch to amp-run and back: a resumed run equals an uninterrupted one
# bit for bit, in f32 and, with the loss scale, in fp16.
#
# REQUIRES: torch-export
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: state-files.py <folder>"""

import sys

import numpy as np
import torch

import amp_torch
from parity import amp_run, batches
from torch_networks import batch_of, make, optimizer_of

folder = sys.argv[1]
SIZE, STEPS = 4, 3


def fresh(precision):
    model, loss, arrays = make("mlp")
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12) if precision == "fp16" else None
    return model, loss, arrays, optimizer_of("adamw", model), scaler


def run(step, loss, arrays, steps=STEPS):
    return [step(*batch_of(loss, rows)).item() for rows in batches(arrays, SIZE, steps)]


def state_of(path, *objects):
    amp_torch.save_state(path, *objects)
    with np.load(path) as file:
        return {name: file[name] for name in file}


def same(mine, other):
    assert mine.keys() <= other.keys(), mine.keys() - other.keys()
    for name, array in mine.items():
        assert (array == other[name]).all(), name


def check(precision):
    model, loss, arrays, optimizer, scaler = fresh(precision)
    example = batch_of(loss, [array[:SIZE] for array in arrays])
    path = f"{folder}/{precision}"
    export = amp_torch.export(model, loss, optimizer, example, path)
    step = amp_torch.compile(model, loss, optimizer, example, precision=precision, scaler=scaler, prediction=True)
    options = ["--precision", precision] + (["--pipeline", "scaler=pytorch"] if scaler else [])
    # From PyTorch to amp-run, in the middle of a run.
    run(step, loss, arrays)
    for suffix in ("npz", "safetensors"):
        amp_torch.save_state(f"{path}/middle.{suffix}", model, optimizer, scaler)
    step.save(f"{path}/checkpoint.npz")
    middle = state_of(f"{path}/again.npz", model, optimizer, scaler)
    losses = run(step, loss, arrays)
    final = state_of(f"{path}/final.npz", model, optimizer, scaler)
    assert int(final["step"]) == 2 * STEPS and "layers.0.weight.exp_avg_sq" in final
    for start in (["--init", f"{path}/middle.npz"], ["--load", f"{path}/checkpoint.npz"]):
        theirs, state = amp_run(path, export.batch, arrays, SIZE, STEPS, *options, start=start)
        assert theirs == losses, (theirs, losses)
        same(final, state)
    # Back, into objects that are compiled and into others that are not yet.
    step.load(f"{path}/checkpoint.npz")
    same(middle, state_of(f"{path}/again.npz", model, optimizer, scaler))
    assert run(step, loss, arrays) == losses
    amp_torch.load_state(f"{path}/middle.npz", model, optimizer, scaler)
    assert run(step, loss, arrays) == losses
    same(final, state_of(f"{path}/again.npz", model, optimizer, scaler))
    model, _, _, optimizer, scaler = fresh(precision)
    amp_torch.load_state(f"{path}/middle.safetensors", model, optimizer, scaler)
    same(middle, state_of(f"{path}/again.npz", model, optimizer, scaler))
    # From amp-run --save.
    _, state = amp_run(path, export.batch, arrays, SIZE, STEPS, *options, start=["--init", f"{path}/middle.npz"])
    amp_torch.load_state(f"{path}/state.npz", model, optimizer, scaler)
    same(final, state_of(f"{path}/again.npz", model, optimizer, scaler))
    step = amp_torch.compile(model, loss, optimizer, example, precision=precision, scaler=scaler)
    assert int(step.states["step"]) == 2 * STEPS
    print(precision, "resumed")
    return path


def expect(text, *arguments, **options):
    try:
        amp_torch.load_state(*arguments, **options)
    except ValueError as error:
        assert text in str(error), (text, error)
        return
    raise AssertionError(text)


path = check("f32")
check("fp16")
model, _, _, optimizer, _ = fresh("f32")
other = torch.nn.Linear(2, 2)
before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
expect("expected a file .npz or .safetensors", "state.pt", model)
expect("has no 'weight', 'bias', which the model has", path + "/middle.npz", other)
expect("which nothing takes; pass optimizer=, or strict=False", path + "/middle.npz", model)
expect("'loss_scale', 'growth_tracker', which nothing takes; pass scaler=", f"{folder}/fp16/middle.npz", model, optimizer)
model.layers[0] = torch.nn.Linear(20, 31)
expect("'layers.0.weight' with the shape (32, 20), expected (31, 20)", path + "/middle.npz", model, optimizer)
assert not optimizer.state and all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items()
                                   if not name.startswith("layers.0"))
amp_torch.load_state(path + "/middle.npz", fresh("f32")[0], strict=False)
print("every message as expected")
