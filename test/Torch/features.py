# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Parts of a training step other than operations: groups of Adam, frozen and tied
# parameters, class weights with ignored labels and smoothing, torch.utils.checkpoint,
# regions of autocast and without gradient. Twelve steps agree with PyTorch.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: features.py <folder>"""

import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

import amp_torch
from parity import amp_run, train

folder = sys.argv[1]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        self.tied = nn.Linear(8, 8)
        self.tied.weight = self.b.weight
        self.frozen = nn.Linear(8, 8).requires_grad_(False)

    def forward(self, x):
        h = checkpoint(lambda y: F.relu(self.a(y)), x, use_reentrant=False)
        with torch.autocast("cpu", enabled=False):
            h = F.gelu(self.b(h))
        with torch.no_grad():
            offset = self.frozen(x.new_ones(8))
        return self.c(self.tied(self.frozen(h)) + offset)


torch.manual_seed(0)
model = Net()
loss = nn.CrossEntropyLoss(weight=torch.tensor([0.2, 0.5, 0.3]), label_smoothing=0.1)
groups = [{"params": [model.a.weight, model.b.weight]}, {"params": [model.c.weight, model.c.bias, model.a.bias], "lr": 5e-3}]
optimizer = torch.optim.Adam(groups, lr=1e-2, weight_decay=0.01)
x = np.random.default_rng(0).standard_normal((8, 6)).astype(np.float32)
y = np.array([0, 1, 2, -100, 1, 1, 0, 2])
export = amp_torch.export(model, loss, optimizer, (torch.from_numpy(x), torch.from_numpy(y)), folder)
assert export.rates == {"lr.0": 1e-2, "lr.1": 5e-3} and export.fixed is None, export
assert export.options == "recompute-blocks=checkpoint.*", export
text = export.step.read_text()
# The loss, which becomes several operations, is pinned too.
pinned = [line for line in text.splitlines() if 'amp.precision = "f32"' in line and 'loc("loss")' not in line]
assert len(pinned) == 2 and 'loc("checkpoint.0.a")' in text
assert text.count('amp.role = "parameter"') == 9, "a tied parameter is one argument"
losses, state = amp_run(folder, export.batch, [x, y], 4, 12)
theirs = train(model, lambda model, x, y: loss(model(x), y), [optimizer], [x, y], 4, 12)
worst = max(abs(a - b) for a, b in zip(losses, theirs))
assert worst < 2e-6, worst
for name, tensor in model.state_dict().items():
    if name in state:
        assert abs(state[name] - tensor.numpy()).max() < 1e-5, name
again, _ = amp_run(folder, export.batch, [x, y], 4, 12, "--precision", "f32", "--pipeline", export.options)
assert again == losses, "computing again changes no bit"
print(f"losses within {worst:.1e}")
