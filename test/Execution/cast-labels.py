# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Labels that a loss reads in another integer type are checked as others are.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import MODEL, fails, make_data, ok

folder = sys.argv[1] + "/"
arrays = make_data()
with open(MODEL) as file:
    text = file.read()
for cast, wide in (("extsi", "i64"), ("extui", "i64"), ("trunci", "i16")):
    model = f"{folder}{cast}.mlir"
    loss = f"%cast = arith.{cast} %y : tensor<?xi32> to tensor<?x{wide}>\n"
    # The loss takes labels of 32 or 64 bits.
    label = "%cast"
    if wide == "i16":
        loss += "%back = arith.extsi %cast : tensor<?xi16> to tensor<?xi64>\n"
        label = "%back"
    old = "%loss = train.cross_entropy %logits, %y : (tensor<?x3xf32>, tensor<?xi32>)"
    assert text.count(old) == 1
    new = f"{loss}%loss = train.cross_entropy %logits, {label} : (tensor<?x3xf32>, tensor<?xi64>)"
    with open(model, "w") as file:
        file.write(text.replace(old, new))
    options = ("--data", folder + "data.npz", "--steps", 1, "--batch-size", 10)
    np.savez(folder + "data.npz", **arrays)
    ok(*options, "--quiet", model=model)
    for wrong in (3, -1):
        labels = arrays["train_y"].copy()
        labels[7] = wrong
        np.savez(folder + "data.npz", **{**arrays, "train_y": labels})
        fails(f"value {wrong} at element 7 of array 'train_y'", *options, model=model)
