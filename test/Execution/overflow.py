# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# An infinity in one batch skips exactly that step: parameters and optimizer
# state keep every bit, the scale halves, and training goes on.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import csv
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import load, make_data, ok

folder = sys.argv[1] + "/"
arrays = make_data()
arrays["train_x"][17, 2] = np.inf
np.savez(folder + "data.npz", **arrays)

for master in ("cast", "copy"):
    common = (
        "--data", folder + "data.npz", "--batch-size", 10,
        "--precision", "fp16", "--master-weights", master,
    )
    ok(*common, "--steps", 10, "--metrics-csv", folder + "m.csv", "--save", folder + "end.npz")
    with open(folder + "m.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    skipped = [i for i, row in enumerate(rows) if float(row["skipped"])]
    # Two epochs of five batches: the bad sample comes once in each.
    assert len(skipped) == 2 and skipped[0] < 5 <= skipped[1], skipped
    scales = [float(row["loss_scale"]) for row in rows]
    expected = [65536 / 2 ** sum(s < i for s in skipped) for i in range(10)]
    assert scales == expected, scales
    good = [float(r["loss"]) for i, r in enumerate(rows) if i not in skipped]
    assert np.isfinite(good).all()

    # The state before and after each step.
    states = []
    for steps in (skipped[0], skipped[0] + 1, skipped[0] + 2):
        ok(*common, "--steps", steps, "--save", folder + "s.npz")
        states.append(load(folder + "s.npz"))
    before, after, later = states
    guarded = ["weight", "bias", "velocity"]
    if master == "copy":
        guarded.append("weight.low")
    for name in guarded:
        assert before[name].tobytes() == after[name].tobytes(), name
        assert after[name].tobytes() != later[name].tobytes(), name
    assert after["loss_scale"] == before["loss_scale"] / 2
    assert after["growth_tracker"] == 0 and later["growth_tracker"] == 1
    end = load(folder + "end.npz")
    assert all(np.isfinite(end[name]).all() for name in guarded[:3])

# Without scaling nothing guards the update, and it is lost.
ok(
    "--data", folder + "data.npz", "--batch-size", 10, "--steps", 5,
    "--precision", "fp16", "--loss-scale", "none", "--save", folder + "lost.npz",
)
assert not np.isfinite(load(folder + "lost.npz")["weight"]).all()
