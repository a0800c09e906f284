# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A step that computes with the integers of its batch: positions from a padding mask,
# shifted labels, one-hot tokens, a mask indexed as transformers do, numbers of flags. A
# table with padding_idx has another reader, and values are detached. Eight steps agree
# with PyTorch, and the fp16 program for a GPU is written.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: integers.py <folder>"""

import subprocess
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch
from parity import amp_run, train

TOKENS, LENGTH, WIDTH = 9, 6, 4


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(TOKENS, WIDTH, padding_idx=0)
        self.places = nn.Embedding(LENGTH + 1, WIDTH)
        self.kinds = nn.Linear(TOKENS, WIDTH)

    def forward(self, tokens, labels):
        batch, length = tokens.shape
        seen = tokens.ne(0)
        positions = (torch.cumsum(seen.int(), 1) * seen.int()).long()
        x = self.table(tokens) + self.places(positions)
        x = x + self.kinds(F.one_hot(torch.cat([tokens[:, 1:], tokens[:, :1]], 1), TOKENS).float())
        rows = torch.arange(batch)[:, None, None]
        visible = seen[rows, torch.arange(length)[None, None]]
        scores = (x @ x.detach().mT).masked_fill(~visible, -1e9)
        with torch.no_grad():
            counts = seen.sum(1, keepdim=True) + x.abs().mean((1, 2))[:, None]
        x = scores.softmax(-1) @ x / counts[..., None]
        logits = x @ self.table.weight.T
        shifted = F.pad(labels, (0, 1), value=-100)[..., 1:].contiguous()
        return F.cross_entropy(logits.view(-1, TOKENS), shifted.view(-1), ignore_index=-100)


rng = np.random.default_rng(0)
tokens = rng.integers(0, TOKENS, (16, LENGTH))
labels = rng.integers(0, TOKENS, (16, LENGTH))
for is_open in (True, False):
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    example = tuple(torch.from_numpy(array[:4]) for array in (tokens, labels))
    export = amp_torch.export(model, None, optimizer, example, sys.argv[1], dynamic_batch=is_open)
    losses, state = amp_run(sys.argv[1], export.batch, [tokens, labels], 4, 8)
    theirs = train(model, lambda model, *batch: model(*batch), [optimizer], [tokens, labels], 4, 8)
    worst = max(abs(a - b) for a, b in zip(losses, theirs))
    assert worst <= 2e-6, (losses, theirs)
    for name, tensor in model.state_dict().items():
        assert abs(state[name] - tensor.numpy()).max() <= 1e-5, name
    print(f"losses within {worst:.1e}")
    command = ["amp-translate", "--mlir-to-cuda", export.step, "--batch-size", "4", "--precision", "fp16", "-o", f"{sys.argv[1]}/step.cu"]
    subprocess.run(command, check=True)
