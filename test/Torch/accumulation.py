# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gradient accumulation: a step over four parts of a batch equals a loop of PyTorch with
# four backward passes and one update, with statistics of batch norm, in amp-run and in
# process. A batch that four does not divide runs in fewer parts.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: accumulation.py <folder>"""

import copy
import math
import subprocess
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch
from parity import amp_run, batches

folder, PARTS, SIZE, STEPS = sys.argv[1], 4, 12, 6


def make(rate=0.0):
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Dropout(rate), nn.Linear(64, 3))


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def train(model, optimizer, x, y, parts):
    """One update in PyTorch; returns the mean of the losses."""
    optimizer.zero_grad()
    total = 0.0
    for inputs, targets in zip(x.chunk(parts), y.chunk(parts)):
        loss = F.cross_entropy(model(inputs), targets) / parts
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def compare(state, model, what):
    for key, tensor in model.state_dict().items():
        if key in state:
            error = abs(np.asarray(state[key]) - tensor.numpy()).max()
            assert error <= 1e-5, f"{what}: {key} differs by {error:.1e}"


rng = np.random.default_rng(0)
arrays = [rng.standard_normal((24, 2, 4, 4)).astype(np.float32), rng.integers(0, 3, 24)]
example = tuple(torch.from_numpy(array[:SIZE]) for array in arrays)
for dynamic in (True, False):
    model = make()
    eager = copy.deepcopy(model)
    export = amp_torch.export(model, F.cross_entropy, sgd(model), example, folder, dynamic_batch=dynamic, accumulate=PARTS)
    losses, state = amp_run(folder, export.batch, arrays, SIZE, STEPS)
    optimizer = sgd(eager)
    theirs = [train(eager, optimizer, *map(torch.from_numpy, rows), PARTS) for rows in batches(arrays, SIZE, STEPS)]
    error = max(abs(a - b) for a, b in zip(losses, theirs))
    assert error <= 2e-6, f"losses differ by {error:.1e}: {losses}, {theirs}"
    compare(state, eager, "amp-run")
    print(f"{'open' if dynamic else 'fixed'} batch: losses within {error:.1e}")
    if dynamic:
        # fp16 has one scale and one check for all parts.
        low, _ = amp_run(folder, export.batch, arrays, SIZE, STEPS, "--precision", "fp16")
        error = max(abs(a - b) for a, b in zip(low, theirs))
        assert error <= 2e-2, f"fp16: losses differ by {error:.1e}"
        command = ["amp-run", export.step, "--data", f"{folder}/data.npz", "--batch-size", "6", "--steps", "1"]
        message = subprocess.run(command, capture_output=True, text=True).stderr
        assert "expected a batch size that is a multiple of 4" in message, message

# In process. The last batches have 8, 6, 3 and 1 samples.
model = make()
eager = copy.deepcopy(model)
mine, optimizer = sgd(model), sgd(eager)
step = amp_torch.compile(model, F.cross_entropy, mine, example, accumulate=PARTS)
x, y = map(torch.from_numpy, arrays)
for rows in (12, 12, 8, 6, 3, 12):
    loss = step(x[:rows], y[:rows]).item()
    expected = train(eager, optimizer, x[:rows], y[:rows], math.gcd(rows, PARTS))
    assert abs(loss - expected) <= 2e-6, (rows, loss, expected)
compare(model.state_dict(), eager, "compile")
assert model[1].num_batches_tracked == eager[1].num_batches_tracked

# Each part has masks of its own.
model = make(rate=0.5)
step = amp_torch.compile(model, F.cross_entropy, sgd(model), (x[:4], y[:4]), accumulate=2, seed=0)
assert math.isfinite(step(x[:4], y[:4]))

for parts, text in ((5, "accumulate=5: expected a batch whose number of samples is a multiple of 5, got 12 samples"),
                    (0, "accumulate: expected a positive number of parts of a batch, got 0")):
    try:
        amp_torch.export(model, F.cross_entropy, sgd(model), example, folder, accumulate=parts)
    except ValueError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"accumulate={parts} was accepted")
print("compiled steps equal the loop of PyTorch")
