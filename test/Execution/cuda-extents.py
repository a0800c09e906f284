# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Extents are data of a compiled step and arguments of its kernels: another batch size compiles
# nothing. The states equal those of a step that was compiled for this size alone, bit for bit.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root

import os
import re
import subprocess
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../CudaHost/Inputs")]
import numpy as np
from host_compiler import count_calls, write_compiler
from runner import MODEL, load, make_data

folder, compiler, library, root = sys.argv[1:5]
nvcc, data = folder + "/nvcc", folder + "/data.npz"
write_compiler(nvcc, compiler, library, root)
np.savez(data, **make_data(samples=130, held_out=26))


def train(size, cache="cache", model=MODEL, batch=True, fails=None):
    """Returns the states and the predictions of a run, and the number of compiled steps."""
    before, out = count_calls(nvcc), f"{folder}/{cache}-{size}"
    command = ["amp-run", model, "--backend=cuda", "--cuda-compiler", nvcc, "--cuda-cache", f"{folder}/{cache}", "--data", data,
               "--precision", "fp16", "--steps", "4", "--eval", "--quiet", "--save", out + ".npz",
               "--predict", out + "-predictions.npz", *(["--batch-size", str(size)] if batch else [])]
    result = subprocess.run(command, capture_output=True, text=True)
    if fails:
        assert result.returncode == 1 and fails in result.stderr, result.stderr
        return None
    assert result.returncode == 0, result.stderr
    return load(out + ".npz"), load(out + "-predictions.npz"), count_calls(nvcc) - before


def check(mine, other):
    for one, two in zip(mine[:2], other[:2]):
        assert one.keys() == two.keys() and one, (one.keys(), two.keys())
        # A step with a fixed batch is another graph, and the progress has a hash of the graph.
        for name in one.keys() - {"__amp_progress__"}:
            assert one[name].dtype == two[name].dtype and one[name].tobytes() == two[name].tobytes(), name


def fix(size):
    """The same step, which has only this batch size."""
    path = f"{folder}/fixed-{size}.mlir"
    subprocess.run(["amp-opt", f"--train-set-batch=batch-size={size}", MODEL, "-o", path], check=True)
    return path


def names(suffix):
    return sorted(name for name in os.listdir(folder + "/cache") if name.endswith(suffix) and not name.startswith("runtime-"))


runs = {size: train(size) for size in (8, 13, 26, 64)}
assert [run[2] for run in runs.values()] == [1, 0, 0, 0], runs
# One source, one library without numbers, and a copy with numbers for each size.
assert len(names(".cu")) == 1 and len(names(".so")) == 5 and len(names(".txt")) == 1, os.listdir(folder + "/cache")
for size in (8, 13):
    alone = train(size, f"alone-{size}", fix(size), batch=False)
    assert alone[2] == 1
    check(runs[size], alone)
assert runs[8][0]["weight"].tobytes() != runs[13][0]["weight"].tobytes()

# A second start compiles nothing either.
again = train(13)
assert again[2] == 0
check(again, runs[13])

# The kernels of the fixed steps have literals, those of the open step have arguments.
with open(f"{folder}/cache/{names('.cu')[0]}") as file:
    text = file.read()
kernels = text[text.index("namespace kernels {"):text.index("} // namespace kernels")]
assert re.search(r"int64_t n0", kernels) and "number(" not in kernels, kernels
[source] = [name for name in os.listdir(folder + "/alone-13") if name.endswith(".cu") and not name.startswith("runtime-")]
with open(f"{folder}/alone-13/{source}") as file:
    text = file.read()
assert not re.search(r"int64_t n0", text[text.index("namespace kernels {"):text.index("} // namespace kernels")])

# Without a record, or with a damaged one, the numbers are found again.
[record] = names(".txt")
with open(f"{folder}/cache/{record}") as file:
    whole = file.read()
assert " varies\n" in whole, whole
for text in (None, "", whole[:len(whole) // 2], whole.replace("version 1", "version 0"), whole + "1\n", whole + "x\n"):
    if text is None:
        os.remove(f"{folder}/cache/{record}")
    else:
        with open(f"{folder}/cache/{record}", "w") as file:
            file.write(text)
    again = train(26)
    assert again[2] == 0, text
    check(again, runs[26])
    with open(f"{folder}/cache/{record}") as file:
        assert file.read().count(" varies\n") == whole.count(" varies\n")

# Steps with fixed batches share kernels from the third on: the second shows what varies.
sizes = {size: train(size, "fixed", fix(size), batch=False) for size in (8, 13, 26)}
assert [run[2] for run in sizes.values()] == [1, 1, 0], sizes
for size in sizes:
    if size in runs:
        check(sizes[size], runs[size])

# A damaged library with numbers is written again. One that lacks its numbers is an error.
for name in names(".so"):
    if "-" in name:
        with open(f"{folder}/cache/{name}", "r+b") as file:
            file.truncate(1000)
again = train(64)
assert again[2] == 0
check(again, runs[64])

# One sample is another structure, which is compiled.
one = train(1)
assert one[2] == 1
check(one, train(1, "alone-1", fix(1), batch=False))
