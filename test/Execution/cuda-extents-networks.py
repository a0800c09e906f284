# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Networks of each kind, with attention, convolutions and batch norm: another batch size compiles
# nothing, and the states equal those of a step that was compiled for it alone, bit for bit. Without
# --long, three networks.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root

import os
import subprocess
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "../Target/CUDA/Inputs"), os.path.join(here, "../CudaHost/Inputs")]
import numpy as np
from host_compiler import count_calls, write_compiler
from networks import CONSTANT_RATE, NETWORKS

folder, compiler, library, root = sys.argv[1:5]
nvcc = folder + "/nvcc"
write_compiler(nvcc, compiler, library, root)
LONG = "AMP_LONG_TESTS" in os.environ
PRECISIONS = {"lenet": "bf16", "resnet18": "fp16", "gpt2": "bf16"}


def train(model, cache, size, precision, *batch):
    """Returns the states after two steps, and the number of compiled steps."""
    before, saved = count_calls(nvcc), f"{folder}/saved.npz"
    result = subprocess.run(["amp-run", model, "--backend=cuda", "--cuda-compiler", nvcc, "--cuda-cache", f"{folder}/{cache}",
                             "--synthetic", "--precision", precision, "--steps", "2", "--quiet", "--save", saved, *batch],
                            capture_output=True, text=True)
    assert result.returncode == 0, (model, size, result.stderr)
    with np.load(saved) as states:
        # A step with a fixed batch is another graph, and the progress has a hash of the graph.
        return {name: states[name].tobytes() for name in states if name != "__amp_progress__"}, count_calls(nvcc) - before


def write_model(name, path, *options):
    subprocess.run(["amp-model", name.split("-")[0], *NETWORKS[name][0], *CONSTANT_RATE, *options, "-o", path], check=True)
    return path


for name in NETWORKS if LONG else PRECISIONS:
    precision, model = PRECISIONS.get(name, "bf16"), write_model(name, f"{folder}/{name}.mlir")
    runs = {size: train(model, name, size, precision, "--batch-size", str(size)) for size in (4, 6, 9)}
    counts = [run[1] for run in runs.values()]
    print(name, counts, flush=True)
    assert counts == [1, 0, 0], (name, counts)
    fixed = f"{folder}/{name}-fixed.mlir"
    subprocess.run(["amp-opt", "--train-set-batch=batch-size=9", model, "-o", fixed], check=True)
    alone, compiled = train(fixed, name + "-alone", 9, precision)
    assert compiled == 1 and alone == runs[9][0], name
