# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Readers of an update see the guarded values: after a step that overflows, an average of the
# weights contains the old ones, and a metric of the momentum reads the old momentum, in every
# storage type.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import load, run

folder = sys.argv[1]
model = os.path.join(os.path.dirname(__file__), "Inputs", "average.mlir")
x = np.ones((6, 4), np.float32)
y = np.arange(6) % 3
np.savez(f"{folder}/good.npz", x=x, y=y)
x[2, 1] = np.inf
np.savez(f"{folder}/bad.npz", x=x, y=y)


def state(name, data, precision, masters, options):
    result = run("--precision", precision, "--loss-scale", "dynamic", "--master-weights", masters, "--pipeline", options,
                 "--data", f"{folder}/{data}.npz", "--batch-size", 6, "--steps", 1, "--save", f"{folder}/{name}.state.npz",
                 "--metrics-csv", f"{folder}/{name}.csv", model=model)
    assert result.returncode == 0, result
    with open(f"{folder}/{name}.csv", newline="") as file:
        metrics = list(csv.DictReader(file))[-1]
    arrays = load(f"{folder}/{name}.state.npz")
    return arrays, float(metrics["momentum"]), float(metrics["skipped"])


def widen(array):
    # bf16 is the upper half of f32.
    isHalf = array.dtype.itemsize == 2 and array.dtype != np.float16
    return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32) if isHalf else array.astype(np.float32)


for precision in ("fp16", "bf16"):
    for masters, options in (("cast", ""), ("copy", ""), ("none", ""), ("none", "update-rounding=kahan"), ("none", "moments=bf16"),
                             ("none", "update-rounding=stochastic moments=bf16"), ("cast", "moments=bf16")):
        if precision == "fp16" and "stochastic" in options:
            continue
        kept, momentum, skipped = state("bad", "bad", precision, masters, options)
        assert skipped == 1 and momentum == 0, (precision, masters, options, skipped, momentum)
        assert (widen(kept["average"]) == widen(kept["w"]) / 2).all(), (precision, masters, options, kept)
        new, momentum, skipped = state("good", "good", precision, masters, options)
        assert skipped == 0 and momentum != 0 and (new["w"] != kept["w"]).any()
        # Before it is rounded, where it is.
        assert np.allclose(widen(new["average"]), widen(new["w"]) / 2, rtol=2**-7, atol=0)
        print(precision, masters, options, np.abs(widen(new["average"]) - widen(new["w"]) / 2).max())
