# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Models as users write them (Inputs/model_kinds.py, module_kinds.py and task_kinds.py), in a compiled
# step and in PyTorch: losses and state agree in f32, and in bf16 and fp16 losses are not further from f32 than those of
# autocast, by a factor that allows for the luck of one seed.
#
# REQUIRES: torch-export, full
# RUN: %torch_python %s
# RUN: %if torch-models %{ %torch_python %s --modules %}
# RUN: %torch_python %s --tasks pairs "super resolution"
# RUN: %if long %{ %torch_python %s --tasks %}
"""Usage: kinds.py [--modules|--tasks] [model...]: by default all of model_kinds, or of module_kinds or task_kinds."""

import copy
import sys
import warnings

import torch

import amp_torch
import model_kinds
import module_kinds
import task_kinds

STEPS, LUCK, SCALE = 4, 3.0, 1024.0


def loss_of(model, loss, batch):
    if loss is None:
        return model(*batch)
    inputs, targets = batch
    return loss(model(*inputs) if isinstance(inputs, tuple) else model(inputs), targets)


def optimizer_of(model):
    """Matrices decay. SGD, since Adam amplifies the roundings of gradients that are zero."""
    groups = [{"params": [p for p in model.parameters() if p.dim() > 1]},
              {"params": [p for p in model.parameters() if p.dim() <= 1], "weight_decay": 0.0, "lr": 0.02}]
    return torch.optim.SGD(groups, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)


def eager(model, loss, batches, dtype=None):
    """The losses and the state; in fp16 with a loss scale, as the step has."""
    model = copy.deepcopy(model)
    optimizer, losses = optimizer_of(model), []
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=SCALE, enabled=dtype is torch.float16)
    for batch in batches:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype or torch.bfloat16, enabled=dtype is not None):
            loss_value = loss_of(model, loss, batch)
        scaler.scale(loss_value).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        losses.append(loss_value.item())
    return losses, model.state_dict()


def compiled(model, loss, batches, precision):
    model = copy.deepcopy(model)
    optimizer = optimizer_of(model)
    step = amp_torch.compile(model, loss, optimizer, batches[0], precision=precision,
                             loss_scale=SCALE if precision == "fp16" else None)
    scheduler, losses = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9), []
    for batch in batches:
        losses.append(step(*batch).item())
        scheduler.step()
    return losses, model.state_dict()


def distance(first, second):
    return max(abs(a - b) for a, b in zip(first, second)) / max(map(abs, second))


def check(name, kind):
    make, loss, batch = kind
    torch.manual_seed(0)
    model, batches = make(), [batch() for _ in range(STEPS)]
    exact, state = eager(model, loss, batches)
    losses, mine = compiled(model, loss, batches, "f32")
    assert distance(losses, exact) <= 1e-5, (name, losses, exact)
    for key, tensor in state.items():
        error = (mine[key].float() - tensor.float()).abs().max().item()
        assert error <= 1e-4, f"{name}: {key} differs by {error:.1e}"
    report = [f"{name}: f32 {distance(losses, exact):.1e}"]
    for precision, dtype in (("bf16", torch.bfloat16), ("fp16", torch.float16)):
        ours, theirs = (distance(run[0], exact) for run in (
            compiled(model, loss, batches, precision), eager(model, loss, batches, dtype)))
        assert ours <= LUCK * theirs + 1e-4, f"{name}: {precision} is {ours:.1e} from f32, autocast {theirs:.1e}"
        report.append(f"{precision} {ours:.1e} (autocast {theirs:.1e})")
    print(", ".join(report), flush=True)


warnings.filterwarnings("ignore", message="The given NumPy array|torch.nn.utils")
names, kinds = sys.argv[1:], model_kinds.KINDS
if names[:1] == ["--modules"]:
    names, kinds = names[1:], module_kinds.MODULES
elif names[:1] == ["--tasks"]:
    names, kinds = names[1:], task_kinds.TASKS
for name in names or kinds:
    check(name, kinds[name])
