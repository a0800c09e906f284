# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiled step shares its state with the model, the optimizer and the GradScaler:
# checkpoints, schedulers, evaluation, averages and eager steps work as without it.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: compile-state.py <folder>"""

import copy
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch
from eager_training import train_eagerly

folder = sys.argv[1]
torch.manual_seed(3)
# The last batch of an epoch is smaller.
BATCHES = [(torch.randn(size, 6), torch.randint(0, 3, (size,))) for size in (8, 8, 5, 8, 8, 5)]


def make(kind="adamw"):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1) if kind == "adamw" else \
        torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.05, total_steps=12, cycle_momentum=False)
    return model, optimizer, scheduler


def compiled(step, scheduler, batches):
    losses = []
    for x, y in batches:
        losses.append(step(x, y).item())
        scheduler.step()
    return losses


def build(model, optimizer, **options):
    return amp_torch.compile(model, F.cross_entropy, optimizer, BATCHES[0], **options)


def close(mine, other, bound=1e-6):
    assert max(abs(a - b) for a, b in zip(mine, other)) <= bound and len(mine) == len(other), (mine, other)


def same(mine, other):
    assert mine.keys() == other.keys(), (mine.keys(), other.keys())
    for key, value in mine.items():
        assert torch.equal(value, other[key]), key


def check_resume():
    """Six steps at once, and three, a checkpoint and three: equal bit for bit."""
    model, optimizer, scheduler = make()
    step = build(model, optimizer)
    losses = compiled(step, scheduler, BATCHES[:3])
    path = folder + "/checkpoint.pt"
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}, path)
    losses += compiled(step, scheduler, BATCHES[3:])
    final = copy.deepcopy(model.state_dict())
    other = make()
    assert close(losses, train_eagerly(other[0], other[1], BATCHES, scheduler=other[2])) is None
    assert torch.equal(other[0][1].num_batches_tracked, model[1].num_batches_tracked)

    # Into the running step, which goes back in time.
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    scheduler.load_state_dict(saved["scheduler"])
    assert compiled(step, scheduler, BATCHES[3:]) == losses[3:]
    same(model.state_dict(), final)
    # Into a new process's step, and into eager PyTorch.
    for make_steps in (lambda m, o, s: compiled(build(m, o), s, BATCHES[3:]), lambda m, o, s: train_eagerly(m, o, BATCHES[3:], scheduler=s)):
        saved = torch.load(path)
        fresh = make()
        for item, key in zip(fresh, ("model", "optimizer", "scheduler")):
            item.load_state_dict(saved[key])
        close(make_steps(*fresh), losses[3:], 1e-6)
    print("checkpoints")
    return step, model, optimizer


def check_aliases(step, model, optimizer):
    """What code of torch does between steps reaches the step, and the other way."""
    x, y = BATCHES[0]
    average = torch.optim.swa_utils.AveragedModel(model)
    step(x, y)
    average.update_parameters(model)
    model.eval()
    with torch.no_grad():
        before = F.cross_entropy(model(x), y)
    model.train()
    for _ in range(5):
        step(x, y)
    model.eval()
    with torch.no_grad():
        assert F.cross_entropy(model(x), y) < before
    model.train()
    # Other objects in the places of tensors, whose values the step takes over.
    twin = copy.deepcopy(model)
    twin_optimizer = torch.optim.AdamW(twin.parameters(), lr=1e-2, weight_decay=0.1)
    twin_optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    model[0].weight.data = model[0].weight.data.clone() * 0.5
    model[1].running_mean = model[1].running_mean.clone() + 1
    with torch.no_grad():
        twin[0].weight.mul_(0.5)
        twin[1].running_mean.add_(1)
    for settings in (optimizer.param_groups[0], twin_optimizer.param_groups[0]):
        settings["lr"] = 3e-3
    # Steps in turns with those of eager mode.
    losses, others = [], []
    for number, (x, y) in enumerate(BATCHES):
        if number % 3 == 1:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        else:
            loss = step(x, y)
        losses.append(loss.item())
        twin_optimizer.zero_grad()
        loss = F.cross_entropy(twin(x), y)
        loss.backward()
        twin_optimizer.step()
        others.append(loss.item())
    close(losses, others)
    for key, tensor in twin.state_dict().items():
        if key not in ("0.bias",):  # BatchNorm takes the mean away: its gradient is rounding noise
            assert (tensor - model.state_dict()[key]).abs().max() <= 2e-3, key
    # The memory outlives the step.
    weight = model[0].weight
    value = weight.detach().clone()
    del step
    assert torch.equal(weight, value)
    print("aliases")


def check_scaler():
    """Scales and skips are the same as with GradScaler."""
    model, optimizer, _ = make("sgd")
    twin, twin_optimizer, _ = make("sgd")
    options = {"init_scale": 2.0**9, "growth_interval": 2, "growth_factor": 4.0, "backoff_factor": 0.25}
    scaler, other = torch.amp.GradScaler("cpu", **options), torch.amp.GradScaler("cpu", **options)
    step = build(model, optimizer, precision="fp16", scaler=scaler)
    assert step.scaler is scaler and scaler.get_scale() == 2.0**9
    x, y = BATCHES[0]
    scales, others = [], []
    # Rounding decides whether gradients near the end of the range overflow, so the data do.
    for large in (0, 0, 0, 1, 0, 0, 1, 1, 0):
        x = BATCHES[0][0] * (1e30 if large else 1)
        step(x, y)
        scales.append((scaler.get_scale(), scaler.state_dict()["_growth_tracker"]))
        twin_optimizer.zero_grad()
        with torch.autocast("cpu", torch.float16):
            loss = F.cross_entropy(twin(x), y)
        other.scale(loss).backward()
        other.step(twin_optimizer)
        other.update()
        others.append((other.get_scale(), other.state_dict()["_growth_tracker"]))
    assert scales == others and len(set(scales)) > 5, (scales, others)
    saved = scaler.state_dict()
    saved["scale"] = 64.0
    scaler.load_state_dict(saved)
    step(x, y)
    assert float(step.metrics["loss_scale"]) == 64.0 and not step.metrics["skipped"]
    print("loss scale")


class Drops(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3)

    def forward(self, x):
        return self.fc(F.dropout(x, 0.5, self.training))


def check_dropout():
    """Masks follow the generator of torch, or a seed of their own."""
    model = Drops()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    x, y = BATCHES[0]
    step = build(model, optimizer)

    def losses(count=3):
        return [step(x, y).item() for _ in range(count)]

    torch.manual_seed(7)
    first = losses()
    state = torch.get_rng_state()
    later = losses()
    torch.manual_seed(7)
    assert losses() == first and len(set(first)) == 3
    torch.set_rng_state(state)
    assert losses() == later and later != first
    torch.manual_seed(8)
    assert losses() != first
    step = build(model, optimizer, seed=5)
    own = losses()
    step = build(model, optimizer, seed=5)
    torch.manual_seed(9)
    assert losses() == own and len(set(own)) == 3
    print("dropout")


check_aliases(*check_resume())
check_scaler()
check_dropout()
