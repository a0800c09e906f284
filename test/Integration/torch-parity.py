# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Training the perceptron in f32 is what PyTorch does: from the same weights,
# on the whole training set as one batch, loss and parameters agree after five
# steps of SGD with momentum.
#
# REQUIRES: torch
# RUN: %python %s

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
import torch
from digits import DIGITS, metrics, state

STEPS = 5
with np.load(DIGITS) as f:
    images = torch.from_numpy(f["train_images"])
    labels = torch.from_numpy(f["train_labels"])

options = ("--precision", "f32", "--batch-size", len(images), "--seed", 7)
start = state("digits-mlp", *options, "--steps", 0)
end = state("digits-mlp", *options, "--steps", STEPS)
steps, _ = metrics("digits-mlp", *options, "--steps", STEPS)

layers = ("fc1", "fc2", "fc3")
weights = [torch.tensor(start[f"{name}.weight"], requires_grad=True) for name in layers]
biases = [torch.tensor(start[f"{name}.bias"], requires_grad=True) for name in layers]
optimizer = torch.optim.SGD(weights + biases, lr=0.05, momentum=0.9)
losses = []
for _ in range(STEPS):
    x = images
    for i in range(3):
        x = x @ weights[i] + biases[i]
        if i < 2:
            x = torch.relu(x)
    loss = torch.nn.functional.cross_entropy(x, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

ours = [step["loss"] for step in steps]
assert np.allclose(ours, losses, rtol=1e-5, atol=0), (ours, losses)
for name, weight, bias in zip(layers, weights, biases):
    for key, theirs in ((f"{name}.weight", weight), (f"{name}.bias", bias)):
        theirs = theirs.detach().numpy()
        error = np.linalg.norm(end[key] - theirs) / np.linalg.norm(theirs)
        moved = np.linalg.norm(start[key] - theirs) / np.linalg.norm(theirs)
        assert error < 1e-5 and moved > 100 * error, (key, error, moved)
