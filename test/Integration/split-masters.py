# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With master-weights=split the model reads weights that are rounded towards zero. On the CPU, the states are
# equal, bit for bit, to a run of master-weights=copy whose copies are rounded towards zero. Each mode with f32
# masters resumes the states of each other mode.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Target", "CUDA", "Inputs"))
import numpy as np
from program import load, run

folder, models, digits = sys.argv[1:4]
model = f"{models}/digits-mlp.mlir"
data = ["--data", digits, "--batch-size", "32", "--quiet"]


def states(path):
    return {name: value for name, value in load(path).items() if "." in name and not name.endswith(".low")}


def check_equal(one, other):
    assert one.keys() == other.keys() and len(one) >= 12, (one.keys(), other.keys())
    for name, value in one.items():
        assert value.dtype == np.float32 and value.tobytes() == other[name].tobytes(), name


# The initial weights are bf16 values, so the first copy is exact.
run(["amp-run", model, *data, "--precision", "f32", "--steps", "1", "--save", f"{folder}/start.npz"])
start = {name: (value.view(np.uint32) & 0xFFFF0000).view(np.float32)
         for name, value in states(f"{folder}/start.npz").items() if "velocity" not in name}
np.savez(f"{folder}/start.npz", **start)
steps = {}
for mode in ("split", "copy"):
    steps[mode] = run(["amp-opt", model, f"--amp-training-pipeline=precision=bf16 master-weights={mode}"])
assert "amp.upper_half" in steps["split"] and "amp.master_copy" not in steps["split"]
truncated, count = re.subn(r"amp\.master_copy (%\S+) :", r"amp.upper_half \1 :", steps["copy"])
assert count == 6, count
# Without the change, copies are rounded to nearest even.
steps["truncated"], steps["nearest"] = truncated, steps["copy"]
saved = {}
for name in ("split", "truncated", "nearest"):
    with open(f"{folder}/{name}.mlir", "w") as file:
        file.write(steps[name])
    run(["amp-run", f"{folder}/{name}.mlir", *data, "--init", f"{folder}/start.npz", "--steps", "20", "--save",
         f"{folder}/{name}.npz"])
    saved[name] = states(f"{folder}/{name}.npz")
check_equal(saved["split"], saved["truncated"])
assert any(np.any(saved["split"][name] != value) for name, value in saved["nearest"].items())

# Each mode resumes the states of each mode. In one mode, five steps and five resumed steps equal ten steps.
modes = ("cast", "copy", "split")
options = {mode: [model, *data, "--precision", "bf16", "--master-weights", mode] for mode in modes}
for mode in modes:
    run(["amp-run", *options[mode], "--steps", "5", "--save", f"{folder}/{mode}-5.npz"])
resumed = {}
for mode in modes:
    for source in modes:
        run(["amp-run", *options[mode], "--load", f"{folder}/{source}-5.npz", "--steps", "5", "--save",
             f"{folder}/{source}-{mode}.npz"])
        resumed[source, mode] = states(f"{folder}/{source}-{mode}.npz")
    run(["amp-run", *options[mode], "--steps", "10", "--save", f"{folder}/{mode}-10.npz"])
    check_equal(states(f"{folder}/{mode}-10.npz"), states(f"{folder}/{mode}-{mode}.npz"))
# The modes cast and copy compute the same. The mode split truncates the weights that the model reads.
for source in modes:
    check_equal(resumed[source, "cast"], resumed[source, "copy"])
    for name, value in resumed[source, "split"].items():
        np.testing.assert_allclose(value, resumed[source, "cast"][name], atol=0.02, err_msg=name)
