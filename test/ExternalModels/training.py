# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A step that is written in linalg with its backward pass trains in fp16, with
# loss scaling and low copies of f32 masters, to the result of f32. Without loss
# scaling it does not: most of its gradients are zero in f16. The operations of the amp dialect that
# the pipeline leaves can be lowered, so a compiler without this dialect reads the step.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs/step.mlir
#
# A scaled backward pass in linalg does not cause a warning.
# RUN: amp-opt %S/Inputs/step.mlir --amp-training-pipeline=precision=fp16 -o %t/fp16.mlir 2>&1 | count 0
# RUN: amp-opt %S/Inputs/step.mlir --amp-training-pipeline='precision=fp16 loss-scale=none' -o %t/none.mlir 2>&1 | FileCheck %s --check-prefix=UNSCALED
# UNSCALED: warning: the backward pass computes in f16 without a loss scale

import json
import os
import subprocess
import sys

import numpy as np

folder, step = sys.argv[1:]
path = lambda name: os.path.join(folder, name)


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


rng = np.random.default_rng(11)
x = rng.normal(size=(512, 8)).astype(np.float32)
hidden = np.maximum(x @ rng.normal(size=(8, 6)), 0) / 3
np.savez(path("data.npz"), x=x, t=(hidden @ rng.normal(size=(6, 1))).astype(np.float32))
np.savez(
    path("init.npz"),
    w1=(rng.normal(size=(8, 16)) / 3).astype(np.float32),
    w2=(rng.normal(size=(16, 1)) / 4).astype(np.float32),
)


def train(step, *options):
    """Returns the mean loss of the first and of the last epoch, the metrics of
    the steps, and the state."""
    run(
        "amp-run", step, "--data", path("data.npz"), "--init", path("init.npz"),
        "--set=lr=160000", "--steps=640", "--quiet", "--metrics-json", path("metrics.json"),
        "--save", path("state.npz"), *options,
    )  # fmt: skip
    with open(path("metrics.json")) as file:
        steps = json.load(file)["runs"][0]["steps"]
    with np.load(path("state.npz")) as state:
        arrays = {name: state[name] for name in state.files if not name.startswith("__")}
    loss = [entry["loss"] for entry in steps]
    epoch = len(x) // 16
    return np.mean(loss[:epoch]), np.mean(loss[-epoch:]), steps, arrays


first, last, _, wide = train(step)
assert last < first / 50, (first, last)

options = ["--precision=fp16", "--master-weights=copy"]
first_low, last_low, steps, low = train(step, *options)
assert abs(first_low - first) < 0.01 * first, (first_low, first)
assert abs(last_low - last) < 0.02 * last, (last_low, last)
assert sum(entry["skipped"] for entry in steps) == 0
for name in "w1", "w2":
    # The copies are the masters, rounded.
    assert low[name].dtype == np.float32 and low[f"{name}.low"].dtype == np.float16
    assert np.array_equal(low[f"{name}.low"], low[name].astype(np.float16)), name
    assert np.abs(low[name] - wide[name]).max() < 0.02, name

# Without scaling the gradients vanish.
_, last_unscaled, _, _ = train(step, *options, "--loss-scale=none")
assert last_unscaled > 3 * last, (last_unscaled, last)

# The operations of the amp dialect that the pipeline leaves can be lowered. The step does the
# same, bit for bit.
pipeline = "amp-training-pipeline{precision=fp16 master-weights=copy}"
for attributes in "", "{keep-attributes}":
    run(
        "amp-opt", step, "-o", path("lowered.mlir"),
        f"--pass-pipeline=builtin.module({pipeline},convert-amp-to-upstream{attributes})",
    )  # fmt: skip
    if not attributes:
        run("mlir-opt", path("lowered.mlir"), "-o", os.devnull)
_, _, _, lowered = train(path("lowered.mlir"))
assert lowered.keys() == low.keys(), (lowered.keys(), low.keys())
for name in low:
    assert np.array_equal(lowered[name], low[name]), name
