# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A step of amp_torch.compile trains the model in place: the losses equal eager
# PyTorch's, and losses and state equal amp-run's on the exported step bit for bit.
#
# REQUIRES: torch-export
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t mlp:adamw:f32,fp16
"""Usage: compile.py <folder> <network>:<optimizer>:<precision>,...; see compile-networks.test"""

import copy
import sys

import torch

import amp_torch
from amp_torch.compiled import DEFAULT_POLICY
from parity import amp_run, batches, loss_of_step, train
from torch_networks import batch_of, loss_of, make, optimizer_of

SIZE, STEPS = 4, 10


def check(folder, name, kind, precision):
    model, loss, arrays = make(name)
    eager, exported = copy.deepcopy(model), copy.deepcopy(model)
    optimizer = optimizer_of(kind, model)
    example = batch_of(loss, [array[:SIZE] for array in arrays])
    step = amp_torch.compile(model, loss, optimizer, example, precision=precision, clip_grad_norm=1.0)
    rows = batches(arrays, SIZE, STEPS)
    losses = [loss_of_step(step, loss, batch_of(loss, row)).item() for row in rows]
    report = f"{name} {kind} {precision}:"
    if precision == "f32":
        theirs = train(eager, loss_of(loss), [optimizer_of(kind, eager)], arrays, SIZE, STEPS, clip=1.0)
        error = max(abs(mine - other) for mine, other in zip(losses, theirs)) / max(theirs)
        assert error <= 1e-5, f"{report} losses differ by {error:.1e} from eager"
        report += f" within {error:.1e} of eager,"
    # The loss scale follows the rules of GradScaler.
    path = f"{folder}/{name}-{kind}-{precision}"
    export = amp_torch.export(exported, loss, optimizer_of(kind, exported), example, path, clip_grad_norm=1.0)
    policy = [] if precision == "f32" else [f"policy={DEFAULT_POLICY}"]
    pipeline = " ".join([*policy, *(["scaler=pytorch"] if precision == "fp16" else []), export.options])
    expected, state = amp_run(path, export.batch, arrays, SIZE, STEPS, "--precision", precision, "--pipeline", pipeline)
    assert losses == expected, f"{report} losses differ from amp-run's: {losses} {expected}"
    for key, tensor in {**dict(model.named_parameters()), **dict(model.named_buffers())}.items():
        if key in state:
            assert (state[key] == tensor.detach().numpy()).all(), f"{report} {key} differs from amp-run's"
    names = {id(parameter): key for key, parameter in model.named_parameters()}
    for parameter, entry in optimizer.state.items():
        for key, tensor in entry.items():
            saved = state["step" if key == "step" else f"{names[id(parameter)]}.{key}"]
            assert (saved == tensor.numpy()).all(), f"{report} {names[id(parameter)]}.{key} differs from amp-run's"
    assert len(optimizer.state) == len(names), optimizer.state
    print(report, "equal to amp-run", flush=True)


if __name__ == "__main__":
    for entry in sys.argv[2:]:
        network, kinds, precisions = entry.split(":")
        for kind in kinds.split(","):
            for precision in precisions.split(","):
                check(sys.argv[1], network, kind, precision)
