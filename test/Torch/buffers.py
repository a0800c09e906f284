# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Buffers that a model changes: counts that nothing reads, counts and histograms that the
# loss depends on, averages, and values that are set. Losses and buffers agree with PyTorch
# in f32, also over a smaller last batch and after a checkpoint. A changed buffer of
# another type is refused by its name.
#
# REQUIRES: torch-export
# RUN: %torch_python %s
"""Usage: buffers.py"""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch
from eager_training import train_eagerly

CLASSES = 3


class Buffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(4, CLASSES), nn.BatchNorm1d(CLASSES)
        self.register_buffer("calls", torch.tensor(0))
        self.register_buffer("steps", torch.tensor(5, dtype=torch.int32))
        self.register_buffer("chosen", torch.zeros(CLASSES, dtype=torch.int64))
        self.register_buffer("average", torch.zeros(CLASSES))
        self.register_buffer("mark", torch.tensor(1))
        self.register_buffer("cleared", torch.ones(2))

    def forward(self, x):
        self.calls += 1
        self.calls += 2
        self.steps += 1
        x = self.norm(self.fc(x))
        self.chosen += F.one_hot(x.argmax(-1), CLASSES).sum(0)
        self.average.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)
        self.mark.fill_(7)
        self.cleared.zero_()
        return x / (1 + self.steps) - self.chosen.float().log1p() + self.average


class Flag(Buffers):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.tensor(False))

    def forward(self, x):
        self.seen.logical_or_((x > 2).any())
        return self.fc(x)


def compiled(model, batches):
    step = amp_torch.compile(model, F.cross_entropy, torch.optim.SGD(model.parameters(), lr=0.1), batches[0])
    return [step(*batch).item() for batch in batches]


def check(model, expected, losses, wanted):
    assert max(abs(a - b) for a, b in zip(losses, wanted)) <= 1e-6, (losses, wanted)
    for name, tensor in expected.state_dict().items():
        mine = model.state_dict()[name]
        assert mine.dtype == tensor.dtype
        # Integers are equal; the others move by roundings.
        bound = 1e-6 if tensor.is_floating_point() else 0
        assert (mine - tensor).abs().max() <= bound, (name, mine, tensor)


torch.manual_seed(0)
batches = [(torch.randn(size, 4), torch.randint(0, CLASSES, (size,))) for size in (8, 8, 5)]
eager = Buffers()
model = copy.deepcopy(eager)
check(model, eager, compiled(model, batches), train_eagerly(eager, torch.optim.SGD(eager.parameters(), lr=0.1), batches))
assert model.calls == 9 and model.steps == 8 and model.chosen.sum() == 21 and model.mark == 7

# Another step goes on with the buffers of the first.
again = Buffers()
again.load_state_dict(model.state_dict())
check(again, eager, compiled(again, batches), train_eagerly(eager, torch.optim.SGD(eager.parameters(), lr=0.1), batches))

try:
    compiled(Flag(), batches)
except amp_torch.UnsupportedModel as error:
    assert "seen: a buffer of type torch.bool that the model changes: register it as f32, int32 or int64" in str(error)
else:
    raise AssertionError("expected an error")
