# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Without a CUDA toolkit, amp_torch.compile calls nvcc of NVIDIA's Python packages, and links
# with their libraries. Without these too, the error says what to install. The packages here
# are a folder of the same layout, with a compiler for the CPU implementation of CUDA.
#
# REQUIRES: torch-export
# RUN: rm -rf %t && mkdir -p %t/cache %t/packages/nvidia/cu13/bin %t/packages/nvidia/cu13/lib %t/packages/nvidia/nccl/lib
# RUN: %torch_python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root
"""Usage: cuda-wheels.py <folder> <compiler> <library> <root of the source tree>"""

import copy
import os
import pathlib
import shutil
import subprocess
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../CudaHost/Inputs"))
import amp_torch
from amp_torch import cuda_wheels
from eager_training import train_eagerly
from emulated import EmulatedDevice
from host_compiler import count_calls, write_compiler

folder, command, library, root = sys.argv[1:5]
# No folder of the path has nvcc.
os.environ["PATH"] = os.pathsep.join(place for place in os.environ["PATH"].split(os.pathsep) if not shutil.which("nvcc", path=place))
os.environ.pop("AMP_CUDA_COMPILER", None)
cuda_wheels.TOOLKIT = folder + "/no-toolkit"
torch.manual_seed(3)
batches = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(3)]
model = nn.Linear(6, 3)
reference = copy.deepcopy(model)


def sgd(module):
    return torch.optim.SGD(module.parameters(), lr=0.1)


def build():
    cache = folder + "/cache"
    return amp_torch.compile(model, F.cross_entropy, sgd(model), batches[0], device=EmulatedDevice(cache), cache=cache)


try:
    build()
    raise AssertionError("compiled without nvcc")
except amp_torch.StepError as error:
    assert 'pip install "cuda-toolkit[nvcc,cccl,cublas,nvtx]==13' in str(error) and "or pass cuda_compiler" in str(error), error

packages = pathlib.Path(folder) / "packages"
toolkit = packages / "nvidia" / "cu13"
# A folder of an earlier version has no nvcc.
(packages / "nvidia" / "cu12" / "bin").mkdir(parents=True)
write_compiler(str(toolkit / "bin" / "nvcc"), command, library, root, flags="-Wl,-Bsymbolic")
for name in (toolkit / "lib" / "libcublasLt.so.13", packages / "nvidia" / "nccl" / "lib" / "libnccl.so.2"):
    name.write_text("")
sys.path.insert(0, str(packages))
step = build()
losses = [step(x, y).item() for x, y in batches]
wanted = train_eagerly(reference, sgd(reference), batches)
assert max(abs(a - b) for a, b in zip(losses, wanted)) < 1e-5, (losses, wanted)
assert count_calls(str(toolkit / "bin" / "nvcc")) > 0

# The script adds a folder of links and the search paths, and is written once.
script = pathlib.Path(cuda_wheels.find_compiler(folder + "/cache"))
written = script.stat().st_mtime_ns
assert cuda_wheels.find_compiler(folder + "/cache") == str(script) and script.stat().st_mtime_ns == written
assert os.path.realpath(script.parent / "libcublasLt.so") == os.path.realpath(toolkit / "lib" / "libcublasLt.so.13")
assert os.path.realpath(script.parent / "libnccl.so") == os.path.realpath(packages / "nvidia" / "nccl" / "lib" / "libnccl.so.2")
(toolkit / "bin" / "nvcc").write_text('#!/bin/sh\necho "$@"\n')
arguments = subprocess.run([script, "-lcublasLt"], capture_output=True, text=True, check=True).stdout.split()
assert arguments[0] == "-lcublasLt" and f"-L{script.parent}" in arguments and f"-L{toolkit}/lib" in arguments, arguments
assert f"-rpath={toolkit}/lib" in arguments and f"-rpath={packages}/nvidia/nccl/lib" in arguments, arguments
print("nvcc of the packages compiled the step")
