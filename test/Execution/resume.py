# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A run that is saved and resumed is the run that was not interrupted, bit for
# bit, in each precision and in the middle of an epoch; seeds decide everything.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import fails, load, make_data, ok

folder = sys.argv[1] + "/"
np.savez(folder + "data.npz", **make_data())
data = ("--data", folder + "data.npz", "--batch-size", 8)


def bytes_of(name):
    with open(folder + name, "rb") as f:
        return f.read()


for precision in ("f32", "fp16", "bf16"):
    run = (*data, "--precision", precision)
    ok(*run, "--seed", 5, "--steps", 16, "--save", folder + "whole.npz")
    ok(*run, "--seed", 5, "--steps", 9, "--save", folder + "part.npz")
    assert bytes_of("part.npz") != bytes_of("whole.npz")
    ok(*run, "--load", folder + "part.npz", "--steps", 7, "--save", folder + "resumed.npz")
    assert bytes_of("resumed.npz") == bytes_of("whole.npz")
    # The same again, and another seed.
    ok(*run, "--seed", 5, "--steps", 16, "--save", folder + "again.npz")
    assert bytes_of("again.npz") == bytes_of("whole.npz")
    ok(*run, "--seed", 6, "--steps", 16, "--save", folder + "other.npz")
    assert (load(folder + "other.npz")["weight"] != load(folder + "whole.npz")["weight"]).any()
    state = load(folder + "whole.npz")
    assert ("loss_scale" in state) == (precision == "fp16")
    assert state["__amp_progress__"][1] == 16

# A state that belongs to another graph or another data set.
ok(*data, "--steps", 1, "--save", folder + "plain.npz")
state = load(folder + "plain.npz")


def refused(message, **changes):
    changed = {k: v for k, v in {**state, **changes}.items() if v is not None}
    np.savez(folder + "bad.npz", **changed)
    fails(message, *data, "--load", folder + "bad.npz", "--steps", 1, "--save", folder + "no.npz")
    assert not os.path.exists(folder + "no.npz")


another = "was saved from another graph: "
refused(another + "it has no state 'weight'", weight=None)
refused(another + "state 'weight' is 3x4xf32, expected 4x3xf32", weight=state["weight"].T)
refused(another + "state 'bias' is 3xf16, expected 3xf32", bias=state["bias"].astype(np.float16))
refused(another + "this step has no state 'extra'", extra=state["bias"])
refused("is not a saved training state", __amp_progress__=None)
refused("is not a saved training state", __amp_progress__=state["__amp_progress__"][:3])
refused("has a damaged member", __amp_progress__=state["__amp_progress__"] * [1, -1, 1, 1, 1, 1])
fails("it has no state 'loss_scale'", *data, "--precision", "fp16", "--load", folder + "plain.npz")
np.savez(folder + "less.npz", **make_data(samples=40))
fails(
    "was trained on 50 samples, but this data set has 40",
    "--data", folder + "less.npz", "--batch-size", 8, "--load", folder + "plain.npz", "--steps", 1,
)
