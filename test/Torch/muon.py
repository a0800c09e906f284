# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# torch.optim.Muon for matrices and AdamW for the rest. The iterations round to bf16 where
# torch does, so a step agrees to roundings of f32.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: muon.py <folder>"""

import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch
from parity import amp_run, train

RATE, STEPS = 0.02, 6
rng = np.random.default_rng(0)
x, y = rng.standard_normal((8, 12)).astype(np.float32), rng.integers(0, 4, 8)


def model_and_optimizers(**settings):
    torch.manual_seed(0)
    # One tall matrix and one wide one.
    model = nn.Sequential(nn.Linear(12, 20), nn.ReLU(), nn.Linear(20, 4))
    matrices, vectors = ([p for p in model.parameters() if p.dim() == rank] for rank in (2, 1))
    return model, [torch.optim.Muon(matrices, lr=RATE, **settings), torch.optim.AdamW(vectors, lr=1e-3)]


for number, settings in enumerate(({}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw", "weight_decay": 0.0})):
    folder = f"{sys.argv[1]}/{number}"
    model, optimizers = model_and_optimizers(**settings)
    loss_of = lambda model, x, y: F.cross_entropy(model(x), y)  # noqa: E731
    start = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    export = amp_torch.export(model, F.cross_entropy, optimizers, (torch.from_numpy(x[:4]), torch.from_numpy(y[:4])), folder)
    losses, state = amp_run(folder, export.batch, [x, y], 4, STEPS)
    theirs = train(model, loss_of, optimizers, [x, y], 4, STEPS)
    worst = max(abs(a - b) for a, b in zip(losses, theirs))
    assert worst < 1e-5, (losses, theirs)
    for name, tensor in model.state_dict().items():
        moved = (tensor - start[name]).abs().max().item()
        error = abs(state[name] - tensor.numpy()).max()
        assert moved > 1e-3 and error <= 1e-2 * moved, f"{name}: moved by {moved:.1e}, differs by {error:.1e}"
    buffers = [key for key in state if key.endswith("momentum_buffer")]
    assert len(buffers) == 2, list(state)
    low, _ = amp_run(folder, export.batch, [x, y], 4, STEPS, "--precision", "fp16", "--loss-scale", "1024")
    assert max(abs(a - b) for a, b in zip(low, theirs)) < 2e-2, (low, theirs)
    print(f"losses within {worst:.1e}")
