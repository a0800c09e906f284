# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The training loop of PyTorch that compiled steps are compared with."""

import torch
import torch.nn.functional as F


def train_eagerly(model, optimizer, batches, scheduler=None, clip=None):
    """Trains a classifier on pairs of inputs and labels, which can have more members. Clips the norm of the
    gradients to `clip`. Returns the losses."""
    losses = []
    for x, y, *_ in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        losses.append(loss.item())
    return losses
