# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes torch-linalg.mlir and torch-tosa.mlir with torch-mlir's converter, and
what torch computes. See README.md for the versions."""

import json

import torch
from torch_mlir import fx
from torch_mlir.fx import OutputType


class Network(torch.nn.Module):
    """A convolution, pooling, a norm, an activation with erf, a softmax."""

    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.norm = torch.nn.LayerNorm(64)
        self.first = torch.nn.Linear(64, 16)
        self.second = torch.nn.Linear(16, 5)

    def forward(self, x):
        x = torch.nn.functional.max_pool2d(torch.relu(self.convolution(x)), 2)
        x = torch.nn.functional.gelu(self.first(self.norm(x.flatten(1))))
        return torch.softmax(self.second(x), -1)


torch.manual_seed(7)
network = Network().eval()
x = torch.sin(torch.arange(2 * 3 * 8 * 8, dtype=torch.float64) * 0.37).float().reshape(2, 3, 8, 8)
for name, kind in ("linalg", OutputType.LINALG_ON_TENSORS), ("tosa", OutputType.TOSA):
    module = fx.export_and_import(network, x, output_type=kind, func_name="main")
    with open(f"torch-{name}.mlir", "w") as file:
        # It prints spaces at the ends of lines.
        file.writelines(line.rstrip() + "\n" for line in str(module).splitlines())
with torch.no_grad(), open("torch.json", "w") as file:
    json.dump(network(x).tolist(), file)
