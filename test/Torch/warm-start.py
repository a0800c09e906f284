# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A step that starts again in another process loads its machine code without lowering the
# step. Its results are equal bit for bit. Damaged files are written again.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: warm-start.py <folder> [child]"""

import json
import os
import subprocess
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch

folder = sys.argv[1]
cache = folder + "/cache"


def train():
    """Returns the losses, and the CPU seconds of the first step, which compiles."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x, y = torch.randn(8, 1, 6, 6), torch.randint(0, 5, (8,))
    step = amp_torch.compile(model, F.cross_entropy, optimizer, (x, y), cache=cache, threads=2)
    begin = time.process_time()
    losses = [step(x, y).item()]
    first = time.process_time() - begin
    return losses + [step(x, y).item() for _ in range(4)], first


def child():
    output = subprocess.run([sys.executable, __file__, folder, "child"], check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


if sys.argv[2:] == ["child"]:
    print(json.dumps(train()))
    sys.exit()

losses, cold = train()
files = sorted(os.listdir(cache), key=lambda name: name.partition(".")[2])
code, stored = (os.path.join(cache, name) for name in files)
assert code.endswith(".o") and stored.endswith(".step"), files


def times():
    return [os.stat(path).st_mtime_ns for path in (code, stored)]


written = times()
again, warm = child()
assert again == losses and set(os.listdir(cache)) == set(files) and times() == written
assert warm <= 2 and warm <= cold / 2, (warm, cold)
print(f"first step: {cold:.2f} s of CPU time, {warm:.2f} s with cached code")
# A damaged object file is compiled again. If the second file is missing, the step is lowered again.
with open(code, "r+b") as file:
    file.seek(100)
    file.write(b"damaged")
again, _ = child()
assert again == losses and times()[0] != written[0]
os.remove(stored)
written = os.stat(code).st_mtime_ns
again, _ = child()
assert again == losses and set(os.listdir(cache)) == set(files) and os.stat(code).st_mtime_ns == written
os.chmod(cache, 0o500)
assert child()[0] == losses
os.chmod(cache, 0o700)
