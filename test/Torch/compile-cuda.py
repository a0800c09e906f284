# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# amp_torch.compile for a GPU, on the CPU implementation of CUDA: device pointers, streams,
# one compilation for all sizes of a batch, and the cache of compiled programs.
#
# REQUIRES: torch-export
# RUN: rm -rf %t && mkdir -p %t/cache
# RUN: %torch_python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root
"""Usage: compile-cuda.py <folder> <compiler> <library> <root of the source tree>"""

import copy
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../CudaHost/Inputs"))
import amp_torch
from eager_training import train_eagerly
from emulated import EmulatedDevice
from host_compiler import count_calls, write_compiler

folder, command, library, root = sys.argv[1:5]
nvcc, cache = folder + "/nvcc", folder + "/cache"
# Programs use their own CUDA library, not the one that torch has loaded.
write_compiler(nvcc, command, library, root, flags="-Wl,-Bsymbolic")
torch.manual_seed(3)
BATCHES = [(torch.randn(size, 6), torch.randint(0, 3, (size,))) for size in (8, 8, 5, 8, 5)]


def make():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)


def build(model, optimizer, **options):
    device = EmulatedDevice(cache)
    step = amp_torch.compile(model, F.cross_entropy, optimizer, BATCHES[0], device=device, cuda_compiler=nvcc,
                             cache=cache, **options)
    return step, device


def compiled(step, scheduler, batches):
    losses = []
    for x, y in batches:
        losses.append(step(x, y).item())
        scheduler.step()
    return losses


model, optimizer, scheduler = make()
step, device = build(model, optimizer, clip_grad_norm=1.0)
assert step.main.instance.program.table.backend == b"cuda" and count_calls(nvcc) == 1
losses = compiled(step, scheduler, BATCHES[:3])
assert count_calls(nvcc) == 1, "the smaller batch has the same kernels"
saved = copy.deepcopy((model.state_dict(), optimizer.state_dict(), scheduler.state_dict()))
# Torch works on another stream from now on.
device.number = 1
losses += compiled(step, scheduler, BATCHES[3:])
assert len(set(device.used)) == 4
twin = make()
theirs = train_eagerly(twin[0], twin[1], BATCHES, scheduler=twin[2], clip=1.0)
error = max(abs(mine - other) for mine, other in zip(losses, theirs))
assert error <= 1e-5, (losses, theirs)
for key, tensor in twin[0].state_dict().items():
    assert (tensor - model.state_dict()[key]).abs().max() <= 1e-5, key
for parameter, other in zip(model.parameters(), twin[0].parameters()):
    distance = optimizer.state[parameter]["momentum_buffer"] - twin[1].state[other]["momentum_buffer"]
    assert distance.abs().max() <= 1e-5
print(f"within {error:.1e} of eager")

# A step that starts again compiles nothing, and goes on from a checkpoint.
model, optimizer, scheduler = make()
for item, state in zip((model, optimizer, scheduler), saved):
    item.load_state_dict(state)
step, device = build(model, optimizer, clip_grad_norm=1.0)
again = compiled(step, scheduler, BATCHES[3:])
assert again == losses[3:] and count_calls(nvcc) == 1, (again, losses, count_calls(nvcc))
print("cached")

# The loss scale, with options of the pipeline.
model, optimizer, scheduler = make()
scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=2)
step, device = build(model, optimizer, precision="fp16", scaler=scaler, pipeline="gradient-norm")
x, y = BATCHES[0]
scales = []
for large in (0, 0, 1, 0):
    assert step(x * 1e30 if large else x, y).shape == ()
    scales.append(scaler.get_scale())
assert scales == [256.0, 512.0, 256.0, 256.0] and "gradient_norm" in step.metrics, scales
path = folder + "/state.npz"
amp_torch.save_state(path, model, optimizer, scaler)
amp_torch.load_state(path, model, optimizer, scaler)
assert float(step.states["loss_scale"]) == 256.0
print("loss scale")
