# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# On several ranks, amp-run --backend=cuda saves the same states as the CPU backend. The test compiles
# its steps for the CPU implementations of CUDA and NCCL.
#
# REQUIRES: full, mpi
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root %models %digits
"""The ranks add in order. With strict rounding, the states of both backends in fp16 are equal bit for bit."""

import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../CudaHost/Inputs"))
from host_compiler import count_calls, write_compiler  # noqa: E402

folder, compiler, library, root, models, digits = sys.argv[1:7]
folder += "/"
nvcc = folder + "nvcc"
write_compiler(nvcc, compiler, library, root)
CUDA = ["--backend=cuda", "--cuda-compiler", nvcc, "--cuda-cache", folder + "cache", "--strict-rounding"]


def train(ranks, name, *options, cuda=False, fails=None, environment={}):
    start = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    command = [*start, "amp-run", f"{models}/digits-mlp.mlir", "--data", digits, "--precision", "fp16", "--master-weights", "copy",
               "--steps", "4", "--batch-size", "32", "--save", f"{folder}{name}.npz", *(CUDA if cuda else []), *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200,
                          env={**os.environ, "AMP_NCCL_HOST_ORDER": "rank", "AMP_CUDA_HOST_IN_ORDER": "1", **environment})
    if fails is None:
        assert done.returncode == 0, (command, done.stderr)
    else:
        assert done.returncode != 0 and fails in done.stderr, (fails, done.stderr)
    return done


def read(name):
    with open(f"{folder}{name}.npz", "rb") as file:
        return file.read()


train(2, "cpu", "--quiet")
for options in ([], ["--check-ranks=2"], ["--shard-optimizer", "--pipeline", "shard-min-elements=1", "--check-ranks"]):
    shown = train(2, "cuda", *options, cuda=True)
    assert shown.stdout.count("bytes of device memory") == 1, shown.stdout
    assert read("cuda") == read("cpu"), options
# Rank 0 compiles each step, and the other ranks load it.
assert count_calls(nvcc) == 2
# Rank 0 evaluates, and a run on one rank resumes the saved state.
shown = train(2, "cuda", "--eval", "--predict", folder + "predictions.npz", cuda=True)
assert "accuracy" in shown.stdout and np.load(folder + "predictions.npz").files
train(1, "one", "--load", folder + "cuda.npz", "--quiet")
# Each rank uses its own GPU by default, or the GPU that --device names.
train(2, "cuda", "--device=0", cuda=True)
train(2, "none", "--device=7", cuda=True, fails="there is no device 7")
train(2, "none", "--batch-size=31", cuda=True, fails="a batch of 31 samples cannot be divided between 2 ranks")
train(2, "none", "--watch", cuda=True, fails="--watch is")
# If a rank exits, the other rank reports an error with the name of the collective.
train(2, "none", "--rank-deadline=5", cuda=True, fails="error: rank 0 of 2: collective 'reduce_fc3_weight'", environment={"AMP_NCCL_HOST_EXIT": "1:2"})
