# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Weights in bf16 without masters, on a graph whose updates are below half their
# spacing: rounded to nearest they never move; rounded stochastically or with
# compensation they learn as f32 does. A resumed run rounds as an uninterrupted
# one.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from digits import run, state

folder = sys.argv[1]


def trained(*options):
    output = run("small-updates", *options, "--epochs", 30, "--batch-size", 16, "--eval", "--quiet")
    return tuple(float(re.search(rf"^eval {what}: (\S+)$", output, re.M).group(1)) for what in ("loss", "accuracy"))


def low(*options):
    return ("--precision", "bf16", "--master-weights", "none", "--pipeline", " ".join(options))


loss, accuracy = trained("--precision", "f32")
assert accuracy >= 0.93, accuracy
lost = trained(*low("update-rounding=nearest"))
assert lost[0] > 2 and lost[1] < 0.3, lost
for options in (["update-rounding=stochastic"], ["update-rounding=kahan"],
                ["update-rounding=stochastic", "moments=bf16"]):
    result = trained(*low(*options))
    print(options, result, (loss, accuracy))
    assert abs(result[1] - accuracy) <= 0.01 and result[0] <= 1.05 * loss, (options, result, loss, accuracy)

# Resumed after 5 of 10 steps, bit for bit.
for options in (low("update-rounding=stochastic", "moments=bf16"), low("update-rounding=kahan")):
    half = os.path.join(folder, "half.npz")
    run("small-updates", *options, "--batch-size", 16, "--steps", 5, "--save", half, "--quiet")
    whole = state("small-updates", *options, "--batch-size", 16, "--steps", 10)
    resumed = state("small-updates", *options, "--batch-size", 16, "--steps", 5, "--load", half)
    assert whole.keys() == resumed.keys() and any("gain" in key for key in whole), whole.keys()
    for key in whole:
        assert whole[key].tobytes() == resumed[key].tobytes(), key
