# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The forward function of a trained model predicts like the model in evaluation mode,
# with weights that are stored in low precision.
#
# REQUIRES: torch-export
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: inference.py <folder>"""

import subprocess
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch

folder = sys.argv[1]
torch.manual_seed(1)
model = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 20), torch.randint(0, 5, (16,))
for _ in range(5):  # statistics that differ from those of a batch
    optimizer.zero_grad()
    F.cross_entropy(model(x * 2 + 1), y).backward()
    optimizer.step()
model.eval()
expected = model(x).detach().numpy()
model.train()
np.savez(folder + "/data.npz", input=x.numpy())
for precision, low, bound in (("f32", "float32", 1e-5), ("bf16", "bfloat16", 5e-2), ("fp16", "float16", 1e-2)):
    out = f"{folder}/{precision}"
    forward, weights = amp_torch.export_inference(model, F.cross_entropy, optimizer, (x, y), out, precision=precision)
    tensors = amp_torch.state_files.read(weights)
    assert {str(tensors[f"{layer}.weight"].dtype) for layer in (0, 4)} == {"torch." + low}, tensors
    assert tensors["1.running_mean"].dtype == torch.float32 and "0.weight.momentum_buffer" not in tensors
    assert "dropout" not in forward.read_text() and "target" not in forward.read_text()
    subprocess.run(["amp-run", forward, "--init", weights, "--data", folder + "/data.npz", "--eval-prefix", "",
                    "--batch-size", "16", "--predict", out + "/predictions.npz", "--quiet"], check=True)
    with np.load(out + "/predictions.npz") as file:
        error = abs(file["output"] - expected).max()
    assert error <= bound, (precision, error)
    print(f"{precision} within {error:.1e} of the model in evaluation mode")
