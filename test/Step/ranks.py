# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A C program starts ranks that train a step together through the C interface. On the CPU, the ranks use
# an exchange of bytes. On CPU implementations of CUDA and NCCL, they use an exchange or a communicator.
#
# REQUIRES: full
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%plain_cuda_host_cxx' '%plain_cuda_host_lib' '%cc' %amp_src_root %amp_obj_root

import ctypes as c
import os
import shlex
import subprocess
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../Target/CUDA/Inputs")]
import numpy as np
import steps
from program import distances, load, run

folder, compiler, library, cc, root, build = sys.argv[1:7]
MODEL = os.path.join(here, "../Execution/Inputs/linear.mlir")
SOURCE = os.path.join(here, "Inputs/ranks.c")
STEPS, BATCH = 6, 24
rng = np.random.default_rng(4)
x, y = rng.standard_normal((STEPS * BATCH, 4)).astype(np.float32), rng.integers(0, 3, STEPS * BATCH).astype(np.int32)
with open(f"{folder}/data", "wb") as file:
    file.write(x.tobytes() + y.tobytes())
cpu = folder + "/cpu"
run([*shlex.split(cc), "-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{root}/include", SOURCE,
     f"{build}/lib/libAMPStep.so", f"-Wl,-rpath,{build}/lib", "-lpthread", "-o", cpu])


def train(program, ranks, name, way, shard=False, kind=None):
    return run([program, str(ranks), f"{folder}/data", str(len(x)), f"{folder}/{name}.npz", way, kind or ("shard" if shard else "whole")],
               env={**os.environ, "AMP_NCCL_HOST_ORDER": "rank"}, timeout=120)


def states(name):
    return {key: value for key, value in load(f"{folder}/{name}.npz").items() if not key.startswith("__")}


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


# One rank trains on the whole batch.
library_of_steps = c.CDLL(build + "/lib/libAMPStep.so")
with open(MODEL) as file:
    text = file.read()
code, program, message = steps.compile_module(library_of_steps, text, precision="f32", threads=1)
assert code == steps.OK and program.num_ranks == 1, message
one = steps.Step(program, seed=3)
one.call("set_hyperparameter", b"lr", 0.25)
for step in range(STEPS):
    one.set_batch("x", x[step * BATCH:][:BATCH])
    one.set_batch("y", y[step * BATCH:][:BATCH])
    one.call("run", 0, 1)
one.call("save", f"{folder}/one.npz".encode())
loss = one.metrics()["loss"]
for ranks in (2, 3):
    shown = train(cpu, ranks, "whole", MODEL, False)
    assert abs(float(shown.split()[1]) - loss) < 1e-5 and shown.split()[3] == str(ranks), (shown, loss)
    apart = distances(f"{folder}/whole.npz", f"{folder}/one.npz")
    assert max(apart.values()) < 1e-5, apart
    train(cpu, ranks, "parts", MODEL, True)
    with open(f"{folder}/parts.npz", "rb") as parts, open(f"{folder}/whole.npz", "rb") as whole:
        assert parts.read() == whole.read(), ranks
# If its exchange fails, a rank gets an error and does not crash.
shown = run([cpu, "2", f"{folder}/data", str(len(x)), f"{folder}/none.npz", MODEL, "fail"], timeout=60)
assert shown == "failed\n", shown

# If the options of a rank differ, every rank gets the same error before the step connects them.
for kind in ("seed", "graph", "layout"):
    assert train(cpu, 2, "none", MODEL, kind=kind) == "refused\n" * 2, kind

# Wrong compile options are errors.
for options, message in [
    (dict(num_ranks=2, rank=2), "rank 2 of 2, expected 0 to 1"), (dict(num_ranks=-1), "num_ranks is -1, expected 0 or more"),
    (dict(flags=2), "AMP_STEP_SHARD_OPTIMIZER divides the state between ranks, expected num_ranks of at least 2"),
    (dict(flags=4), "AMP_STEP_STRICT_ROUNDING and AMP_STEP_NOTE_NUMBERS are for the backend cuda"),
    (dict(flags=8), "unknown flags in amp_step_compile_options"),
]:
    code, none, got = steps.compile_module(library_of_steps, text, precision="f32", **options)
    assert code != steps.OK and none is None and message in got, (options, got)
# A step of one rank rejects an exchange.
functions = steps.Exchange(None, steps.EXCHANGE(lambda *arguments: 0))
handle = c.c_void_p()
options = steps.Options(size=c.sizeof(steps.Options), exchange=c.pointer(functions))
assert program.create(c.byref(program), c.byref(options), c.byref(handle)) != steps.OK
assert b"but this program runs on one rank" in program.last_error(), program.last_error()

# Programs of CUDA train to the same states.
for shard in (False, True):
    run(["amp-translate", "--mlir-to-cuda", MODEL, "--batch-size", str(BATCH), "--ranks", "2", "--precision", "f32", "--emit-header", f"{folder}/step.h",
         "-o", f"{folder}/step.cu", *(["--shard-optimizer", "--shard-min-elements=1"] if shard else [])])
    run([*shlex.split(compiler), f"-I{folder}", "-DRANKS_OF_CUDA", "-D_GNU_SOURCE", "-Wno-deprecated", f"{folder}/step.cu", SOURCE, *shlex.split(library), "-o", f"{folder}/cuda"])
    for way in ("exchange", "communicator"):
        # The ranks are compared through the exchange, or through the communicator.
        for kind in ("seed", "graph"):
            assert train(f"{folder}/cuda", 2, "none", way, kind=kind) == "refused\n" * 2, (way, kind)
        shown = train(f"{folder}/cuda", 2, "cuda", way, shard)
        assert abs(float(shown.split()[1]) - loss) < 1e-5, (shown, loss)
        apart = distances(f"{folder}/cuda.npz", f"{folder}/one.npz")
        assert max(apart.values()) < 1e-5, (shard, way, apart)
        kept = states("cuda") if not shard and way == "exchange" else kept
        assert same(states("cuda"), kept), (shard, way)
