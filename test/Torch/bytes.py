# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Images of 8 bits that the model widens: the batch is copied as bytes, in compiled steps of the CPU and for a GPU, in
# exported steps, with parts of a batch and a smaller one. The guest takes them too. Arithmetic on bytes is an error.
#
# REQUIRES: torch-export
# RUN: rm -rf %t && mkdir -p %t/cache
# RUN: %torch_python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root
"""Usage: bytes.py <folder> <compiler> <library> <root of the source tree>"""

import copy
import os
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../CudaHost/Inputs"))
import amp_torch
from eager_training import train_eagerly
from emulated import EmulatedDevice
from host_compiler import write_compiler
from parity import amp_run, batches, in_autocast, refused

folder, command, library, root = sys.argv[1:5]


class Net(nn.Module):
    """Reads images with channels last, and moves them before it widens them."""

    def __init__(self):
        super().__init__()
        self.convolution, self.last = nn.Conv2d(3, 4, 3, 2, 1), nn.Linear(4 * 9, 5)

    def forward(self, images):
        x = images[:, :6].permute(0, 3, 1, 2).flip(-1).float() / 255
        return self.last(F.relu(self.convolution(x)).flatten(1))


class Doubled(Net):
    def forward(self, images):
        return super().forward(images * 2)


def make(kind=Net):
    torch.manual_seed(0)
    model = kind()
    return model, torch.optim.SGD(model.parameters(), lr=0.1)


rng = np.random.default_rng(0)
images, labels = rng.integers(0, 256, (12, 8, 6, 3), dtype=np.uint8), rng.integers(0, 5, 12)
assert images.max() > 127
BATCHES = [tuple(torch.from_numpy(array[start:end]) for array in (images, labels)) for start, end in ((0, 4), (4, 8), (8, 12), (4, 6))]
expected = train_eagerly(*make(), BATCHES)


def check(losses, expected, bound=2e-6):
    assert len(losses) == len(expected)
    assert max(abs(a - b) for a, b in zip(losses, expected)) <= bound, (losses, expected)


write_compiler(f"{folder}/nvcc", command, library, root, flags="-Wl,-Bsymbolic")
cuda = {"device": EmulatedDevice(f"{folder}/cache"), "cuda_compiler": f"{folder}/nvcc", "cache": f"{folder}/cache"}
for options, count in (({}, 4), (cuda, 4), ({"accumulate": 2}, 4), ({"dynamic_batch": False}, 3)):
    model, optimizer = make()
    step = amp_torch.compile(model, F.cross_entropy, optimizer, BATCHES[0], **options)
    check([step(*batch).item() for batch in BATCHES[:count]], expected[:count])
# In bf16 the numbers of the bytes are exact.
model, optimizer = make()
step = amp_torch.compile(model, F.cross_entropy, optimizer, BATCHES[0], precision="bf16")
check([step(*batch).item() for batch in BATCHES], expected, 2e-2)
for wrong in (torch.float32, torch.int8):
    try:
        step(BATCHES[0][0].to(wrong), BATCHES[0][1])
    except TypeError as error:
        assert "the step was compiled for torch.uint8; call .to(torch.uint8)" in str(error), error
    else:
        raise AssertionError(f"a batch of {wrong} was taken")

# amp-run reads the same bits as signed bytes.
model, optimizer = make()
export = amp_torch.export(model, F.cross_entropy, optimizer, BATCHES[0], folder)
losses, _ = amp_run(folder, export.batch, [images.view(np.int8), labels], 4, 3)
orders = [tuple(map(torch.from_numpy, rows)) for rows in batches([images, labels], 4, 3)]
check(losses, train_eagerly(*make(), orders))

message = refused(*make(Doubled)[:1], F.cross_entropy, make(Doubled)[1], BATCHES[0], folder)
assert "aten.mul.Tensor: computes bytes (torch.uint8); call .float() or .long() first" in message, message

# The guest.
model, _ = make()
low = copy.deepcopy(model)
loss = in_autocast(lambda *batch: F.cross_entropy(low(batch[0]), batch[1]))(*BATCHES[0])
loss.backward()
alike = torch.compile(lambda *batch: F.cross_entropy(model(batch[0]), batch[1]), backend=amp_torch.backend("bf16", strategy="autocast"))
mine = alike(*BATCHES[0])
mine.backward()
assert torch.equal(mine, loss)
for parameter, other in zip(model.parameters(), low.parameters()):
    assert torch.equal(parameter.grad, other.grad)
