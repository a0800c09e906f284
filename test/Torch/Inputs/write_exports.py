# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: write_exports.py <folder> <network>...

Writes the exported step of each network, its weights and data, and the losses of
PyTorch over 20 steps: what test/Torch/exported.py reads without PyTorch."""

import pathlib
import sys

import numpy as np

import amp_torch
from parity import train
from torch_networks import batch_of, loss_of, make, optimizer_of

SIZE, STEPS = 4, 20

for name in sys.argv[2:]:
    model, loss, arrays = make(name)
    optimizer = optimizer_of("adamw" if name == "gpt2" else "sgd", model)
    folder = pathlib.Path(sys.argv[1], name)
    export = amp_torch.export(model, loss, optimizer, batch_of(loss, [a[:SIZE] for a in arrays]), folder)
    np.savez(folder / "data.npz", **dict(zip(export.batch, arrays)))
    losses = train(model, loss_of(loss), [optimizer], arrays, SIZE, STEPS)
    (folder / "losses.txt").write_text("".join(f"{loss!r}\n" for loss in losses))
