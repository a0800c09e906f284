# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What all of this is for: both networks reach the accuracy of f32 on held-out
# digits in fp16 and bf16. One seed; more of them with --long.
#
# RUN: %python %s

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from digits import run

long = bool(os.environ.get("AMP_LONG_TESTS"))
PRECISIONS = ("f32", "fp16", "bf16")

for name, bound, epochs in (("digits-mlp", 0.95, 15), ("digits-cnn", 0.97, 8)):
    table = run(
        name, "--compare", ",".join(PRECISIONS), "--batch-size", 64,
        "--epochs", 2 * epochs if long else epochs, "--seeds", 5 if long else 1,
    )
    line = re.search(r"^evaluation accuracy +(.*)$", table, re.M).group(1)
    accuracy = [float(cell) for cell in re.findall(r"(?<!- )\b\d\.\d+", line)]
    assert len(accuracy) == len(PRECISIONS), line
    for precision, value in zip(PRECISIONS, accuracy):
        assert value >= bound, (name, precision, value)
        assert abs(value - accuracy[0]) <= 0.01, (name, precision, accuracy)
