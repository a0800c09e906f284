# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The programs of all networks that `tools/dev gpu` times, at full size, compile for sm_80, sm_90 and sm_100
# without a warning, and no kernel spills. The programs are one compilation, so each distinct kernel of the
# runtime is compiled once for each architecture.
#
# REQUIRES: nvcc, long
# DEFINE: %{check} = %python %amp_src_root/test/CudaHost/Inputs/check-ptxas.py
# DEFINE: %{arch} =
# DEFINE: %{output} = -cubin -o %t/networks.cubin
# DEFINE: %{compile} = (%nvcc -arch=%{arch} -Xptxas -v %{output} %t/networks.cu > %t/%{arch}.log 2>&1 || \
# DEFINE:   (cat %t/%{arch}.log; false)) && %{check} %t/%{arch}.log
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t/networks.cu %amp_src_root/tools/gpu
# REDEFINE: %{arch} = sm_80
# RUN: %{compile}
# REDEFINE: %{arch} = sm_100
# RUN: %{compile}
#
# One compilation also covers the code of the host.
# REDEFINE: %{arch} = sm_90
# REDEFINE: %{output} = -c -o %t/networks.o
# RUN: %{compile}
#
# The check fails if a kernel spills.
# RUN: %python %s %t/spills.cu
# RUN: %nvcc -arch=sm_90 -Xptxas -v -c %t/spills.cu -o %t/spills.o > %t/spills.log 2>&1
# RUN: not %{check} %t/spills.log 2>&1 | FileCheck %s
# CHECK: spill stores

import concurrent.futures
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from program import join, run

source = sys.argv[1]
# More values are alive than a thread of 1024 has registers.
SPILLS = """__global__ void __launch_bounds__(1024, 2) spills(float *x) {
  float values[64];
#pragma unroll
  for (int i = 0; i < 64; ++i)
    values[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i)
    x[(63 - i) * 1024 + threadIdx.x] = values[i] * values[(i * 7 + 3) % 64];
}
"""
if len(sys.argv) == 2:
    with open(source, "w") as file:
        file.write(SPILLS)
    sys.exit()

sys.path.append(sys.argv[2])
import network_cases

# The perceptrons of tools/gpu/generate.py.
PERCEPTRONS = {
    "mlp-small": ("784", "128,64", "10", 128),
    "mlp-4096x2": ("1024", "4096,4096", "1024", 16384),
    "mlp-4096x5": ("4096", "4096,4096,4096,4096", "4096", 8192),
}


def list_programs():
    """(name, arguments of amp-model, batch, precision) of each program."""
    for name, network in network_cases.NETWORKS.items():
        for precision in network.precisions:
            yield f"{name}-{precision}", network.arguments(), network.batch, precision
    for name, (features, hidden, classes, batch) in PERCEPTRONS.items():
        for precision in ("bf16", "fp16"):
            yield f"{name}-{precision}", ["mlp", f"--features={features}", f"--hidden={hidden}", f"--classes={classes}"], batch, precision


def emit(program):
    name, arguments, batch, precision = program
    model = f"{source}.{name}.mlir"
    run(["amp-model", *arguments, "-o", model])
    text = run(["amp-translate", "--mlir-to-cuda", "--batch-size", str(batch), "--precision", precision, "--attention=cudnn",
                "--convolutions=cudnn", model])
    os.remove(model)
    return name, text


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    sources = dict(pool.map(emit, list_programs()))
with open(source, "w") as file:
    file.write(join(sources))
print(*sources, sep="\n")
