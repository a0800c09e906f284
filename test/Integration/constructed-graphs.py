# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The two reasons for loss scaling and for master weights, on graphs made for
# them: without the cure fp16 learns nothing, with it it is as good as f32.
#
# REQUIRES: full
# RUN: %python %s

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from digits import run, state


def trained(name, *options):
    """Loss and accuracy on the held-out images, and what amp-run printed."""
    output = run(name, *options, "--eval", "--quiet")
    loss, accuracy = (
        float(re.search(rf"^eval {what}: (\S+)$", output, re.M).group(1)) for what in ("loss", "accuracy")
    )
    return loss, accuracy, output


def close(one, other):
    return abs(one[0] - other[0]) <= 0.02 * other[0] and abs(one[1] - other[1]) <= 0.01


# Gradients below half the smallest number of f16.
options = ("--epochs", 8, "--batch-size", 64)
plain = trained("underflow", "--precision", "f32", *options)
assert plain[1] >= 0.93, plain
for precision, scale in (("fp16", "dynamic"), ("fp16", "65536"), ("bf16", "none")):
    result = trained("underflow", "--precision", precision, "--loss-scale", scale, *options)
    assert close(result, plain), (precision, scale, result, plain)
lost = trained("underflow", "--precision", "fp16", "--loss-scale", "none", *options)
assert lost[0] > 2 and lost[1] < 0.3, lost
# Not one bit of one parameter has moved.
unscaled = ("--precision", "fp16", "--loss-scale", "none", "--batch-size", 64)
start = state("underflow", *unscaled, "--steps", 0)
end = state("underflow", *unscaled, "--epochs", 1)
assert len(start) == 6 and start.keys() == end.keys(), start.keys()
for key in start:
    assert (start[key] == end[key]).all(), key

# The distribution of gradients: in each layer, f16 loses most of those that are not zero, and
# nearly half are in [2^-27, 2^-24). With a scale none is lost.
table = run("underflow", "--precision", "fp16", "--epochs", 2, "--gradient-histogram", "--quiet")
rows = re.findall(r"^(fc\d\.weight)((?: +[\d.]+%){8})", table, re.M)
assert len(rows) == 3, table
for name, cells in rows:
    below, between, above, scaled_below, scaled_between, scaled_above = (
        float(cell) for cell in re.findall(r"([\d.]+)%", cells)[:6]
    )
    assert between >= 40 and below + between >= 65, (name, cells)
    assert scaled_above >= 99, (name, cells)

# Updates below half the spacing of f16 around 1.
options = ("--epochs", 30, "--batch-size", 16)
plain = trained("small-updates", "--precision", "f32", *options)
assert plain[1] >= 0.93, plain
for masters in ("cast", "copy"):
    result = trained("small-updates", "--precision", "fp16", "--master-weights", masters, *options)
    assert close(result, plain), (masters, result, plain)
lost = trained("small-updates-f16", *options)
assert lost[0] > 2 and lost[1] < 0.3, lost
gains = state("small-updates-f16", "--epochs", 1, "--batch-size", 16)
for key in ("fc1.gain", "fc2.gain"):
    assert (gains[key] == 1).mean() > 0.999, key
