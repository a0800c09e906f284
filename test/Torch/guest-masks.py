# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A mask of the lowest f32 number stays finite where a low type reads it. So a row that is
# masked as a whole has finite gradients in the guest, as in f32. A divisor that fp16 makes zero stays positive with
# `optimal`, even if it takes the types of autocast.
#
# REQUIRES: torch-export
# RUN: env PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s

import copy

import amp_torch
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.head = nn.Linear(16, 48), nn.Linear(16, 3)

    def forward(self, x, padding):
        q, k, v = self.qkv(x).chunk(3, -1)
        mask = torch.zeros(padding.shape).masked_fill(padding, torch.finfo(torch.float32).min)
        # A product that is low reads the mask too.
        mask = mask.unsqueeze(1) + torch.zeros(x.shape[0], 1, 1)
        weights = (q @ k.transpose(1, 2) / 4 + torch.ones(x.shape[0], x.shape[1], 1) @ mask).softmax(-1)
        return self.head((weights @ v).mean(1))


torch.manual_seed(0)
reference = Attention()
x, y = torch.randn(4, 8, 16), torch.randint(0, 3, (4,))
padding = torch.arange(8) >= torch.tensor([[8], [5], [3], [0]])


class Contrast(nn.Module):
    """A contrastive loss of codes that are divided by their norms, which may be zero."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 32, bias=False), nn.ReLU(), nn.Linear(32, 8, bias=False))

    def forward(self, first, second):
        codes = F.normalize(torch.cat([self.encoder(first), self.encoder(second)]), dim=1)
        likeness = (codes @ codes.t() / 0.5).masked_fill(torch.eye(8, dtype=torch.bool), -1e4)
        return F.cross_entropy(likeness, torch.arange(8).roll(4))


def gradients(model, compute):
    loss = F.cross_entropy(compute(x, padding), y)
    loss.backward()
    return loss.item(), torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


loss, wanted = gradients(reference, reference)
for precision, bound in (("bf16", 0.03), ("fp16", 0.005)):
    torch._dynamo.reset()
    model = copy.deepcopy(reference)
    model.zero_grad()
    backend = amp_torch.backend(precision)
    low, found = gradients(model, torch.compile(model, backend=backend))
    error = ((found - wanted).norm() / wanted.norm()).item()
    print(f"{precision}: loss within {abs(low - loss):.1e}, gradients within {error:.1e}")
    assert backend.reports[0].low and abs(low - loss) < bound and error < bound, (precision, low, loss, error)

torch._dynamo.reset()
model, first, second = Contrast(), torch.randn(4, 16), torch.randn(4, 16)
first[0] = 0
wanted, backend = model(first, second).item(), amp_torch.backend("fp16")
found = torch.compile(model, backend=backend)(first, second).item()
print(f"fp16: contrastive loss within {abs(found - wanted):.1e}; {backend.reports[0].choice}")
assert "took autocast" in backend.reports[0].choice and abs(found - wanted) < 0.005, (found, wanted)
