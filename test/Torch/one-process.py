# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiled steps share a process with torch.compile, forked DataLoader workers and threads.
# The library of compiled steps is loaded before or after torch.
#
# REQUIRES: torch-export, full
# RUN: %torch_python %s after
# RUN: %torch_python %s before
"""Usage: one-process.py before|after

Loads the library of compiled steps before or after torch."""

import ctypes
import importlib.util
import os
import pathlib
import shutil
import sys

if sys.argv[1:] == ["before"]:
    # The package imports torch, so only its library can be loaded first.
    package = pathlib.Path(importlib.util.find_spec("amp_torch").origin).parent
    folders = [package / "lib", *(pathlib.Path(f).parent / "lib" for f in os.environ["PATH"].split(":"))]
    library = next(f / "libAMPStep.so" for f in folders if (f / "libAMPStep.so").exists())
    ctypes.CDLL(str(library))
    assert "torch" not in sys.modules

# Inductor compiles a few small sources. Starting worker processes would take longer.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch
from eager_training import train_eagerly


class Data(torch.utils.data.Dataset):
    """Samples that a worker computes with torch."""

    def __len__(self):
        return 48

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        x = torch.randn(16, generator=generator)
        return x.matmul(torch.eye(16)), int(x.sum() > 0)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 2))


def loader(workers):
    options = {"multiprocessing_context": "fork"} if workers else {}
    return torch.utils.data.DataLoader(Data(), batch_size=12, num_workers=workers, **options)


def train(make_losses, workers=0):
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    return make_losses(model, optimizer, loader(workers))


def compiled_by_amp(model, optimizer, batches):
    step = amp_torch.compile(model, F.cross_entropy, optimizer, next(iter(batches)), threads=2)
    return [step(x, y).item() for x, y in batches]


def compiled_by_torch(backend):
    return lambda model, optimizer, batches: train_eagerly(torch.compile(model, backend=backend), optimizer, batches)


def same(losses, expected, what):
    worst = max(abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True))
    assert worst < 1e-5, f"{what}: {losses}, expected {expected}"
    print(f"{what}: largest relative difference of a loss {worst:.1e}")


def main():
    expected = train(train_eagerly)
    # Inductor needs a C++ compiler.
    backend = "inductor" if shutil.which("c++") or shutil.which("g++") else "aot_eager"
    for repetition in range(2):
        same(train(compiled_by_amp), expected, f"step {repetition}")
        torch._dynamo.reset()
        same(train(compiled_by_torch(backend)), expected, f"{backend} {repetition}")
    # The workers are forked after steps have run on several threads.
    same(train(compiled_by_amp, workers=2), expected, "step with forked workers")
    torch._dynamo.reset()
    same(train(compiled_by_torch(amp_torch.backend("f32"))), expected, "guest")


if __name__ == "__main__":
    main()
