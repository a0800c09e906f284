# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models for the guest, whose structure model_kinds.py and module_kinds.py do not have."""

import torch
import torch.nn.functional as F
from torch import nn

SIZE = 8


class Triplet(nn.Module):
    """One encoder for an image, one like it and another."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
                                     nn.Flatten(), nn.Linear(32, 8))  # fmt: skip

    def forward(self, anchor, positive, negative):
        codes = [F.normalize(self.encoder(image), dim=-1) for image in (anchor, positive, negative)]
        return F.triplet_margin_loss(*codes, margin=0.5) + 0.01 * sum(code.pow(3).abs().mean() for code in codes)


class AttentiveGRU(nn.Module):
    """A GRU whose states are read with additive attention."""

    def __init__(self):
        super().__init__()
        self.cell, self.keys, self.query = nn.GRUCell(6, 16), nn.Linear(16, 12), nn.Linear(16, 12)
        self.score, self.head = nn.Linear(12, 1), nn.Linear(32, 3)

    def forward(self, x):
        state, states = torch.zeros(x.shape[0], 16), []
        for step in x.unbind(1):
            state = self.cell(step, state)
            states.append(state)
        memory = torch.stack(states, 1)
        weights = self.score((self.keys(memory) + self.query(state)[:, None]).tanh()).softmax(1)
        return self.head(torch.cat([state, (weights * memory).sum(1)], -1))


class Flow(nn.Module):
    """Affine couplings of halves, and the density of the data."""

    def __init__(self):
        super().__init__()
        self.couplings = nn.ModuleList([
            nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 12)) for _ in range(3)
        ])  # fmt: skip

    def forward(self, x):
        logarithm = torch.zeros(x.shape[0])
        for coupling in self.couplings:
            kept, changed = x.chunk(2, -1)
            scale, shift = coupling(kept).chunk(2, -1)
            scale = scale.tanh()
            x = torch.cat([changed * scale.exp() + shift, kept], -1)
            logarithm = logarithm + scale.sum(-1)
        return (0.5 * x.pow(2).sum(-1) - logarithm).mean()


def image():
    return torch.randn(SIZE, 1, 8, 8)


# Name to the model, its loss and its batch, as in model_kinds.
KINDS = {
    "triplet": (Triplet, None, lambda: (image(), image(), image())),
    "attentive gru": (AttentiveGRU, F.cross_entropy, lambda: (torch.randn(SIZE, 5, 6), torch.randint(0, 3, (SIZE,)))),
    "flow": (Flow, None, lambda: (torch.randn(SIZE, 12),)),
}
