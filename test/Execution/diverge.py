# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# --diverge against NumPy: the errors of the values of one step, the operation
# that adds most, and the operation that a bisection finds.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import MODEL, fails, make_data, ok, run

folder = sys.argv[1] + "/"
np.savez(folder + "data.npz", **make_data())
common = ("--data", folder + "data.npz", "--batch-size", 10, "--steps", 3)


def diverge(*options):
    text = ok(*common, *options, "--diverge", "--diverge-json", folder + "d.json")
    with open(folder + "d.json") as f:
        return text, json.load(f)


for precision in ("fp16", "bf16"):
    text, found = diverge("--precision", precision)
    assert f"errors against f32 in 3 steps, {precision}:" in text, text
    values = found["values"]
    added = [v["added"] for v in values]
    assert added == sorted(added, reverse=True) and added[0] > 0, added
    bound = 2.0**-8 if precision == "bf16" else 2.0**-11
    assert added[0] < 20 * bound, (precision, values[0])
    for v in values:
        assert len(v["errors"]) == 3 and v["op"] != "argument", v
        for error, inherited in zip(v["errors"], v["inherited"]):
            assert 0 <= error < 1 and 0 <= inherited < 1, v
    # Gradients are compared without the loss scale.
    assert {v["part"] for v in values} == {"forward", "backward", "update"}
    assert found["steps"] == [1, 2, 3] and all(abs(a - b) < 0.1 for a, b in found["losses"])

    # A layer adds up what its operations add, and has the largest error of their values.
    assert "  added      error  last step  layer" in text, text
    for layer in found["layers"]:
        members = [v for v in values if v.get("scope", v["location"]) == layer["name"]]
        assert members and len(layer["errors"]) == 3, layer
        for step in range(3):
            assert layer["errors"][step] == max(v["errors"][step] for v in members)
            parts = [max(0, v["errors"][step] ** 2 - v["inherited"][step] ** 2) for v in members]
            assert abs(layer["addedBySteps"][step] - sum(parts) ** 0.5) < 1e-12, layer
    assert sorted(v["number"] for v in values) != [v["number"] for v in values]

    # Training goes on with the same bits.
    ok(*common, "--precision", precision, "--save", folder + "a.npz")
    ok(*common, "--precision", precision, "--save", folder + "b.npz", "--diverge")
    with np.load(folder + "a.npz") as a, np.load(folder + "b.npz") as b:
        assert all(a[key].tobytes() == b[key].tobytes() for key in a)

assert "errors against f32" in ok(*common, "--compare", "f32,bf16", "--diverge")

# The operations that can be low are the linear layer, its loss, and their gradients. Whole runs have the same losses.
text, found = diverge("--precision", "bf16", "--diverge-bisect", "1e-6")
first = re.search(r"bisection in \d+ runs: train.linear \S*linear.mlir:13:\d+ \(forward\) changes the loss from (\S+) to "
                  r"\S+, in f32 it is (\S+)\n", text)
wide = format(found["losses"][-1][0], ".9g")
assert first and first.groups() == (wide, wide), text
# A pin keeps the layer in f32, and the operation to blame is in the backward pass.
with open(MODEL) as f:
    pinned = f.read().replace("train.linear %x, %w, %b :", 'train.linear %x, %w, %b {amp.precision = "f32"} :')
pinned = pinned.replace("train.cross_entropy %logits, %y :", 'train.cross_entropy %logits, %y {amp.precision = "f32"} :')
with open(folder + "pinned.mlir", "w") as f:
    f.write(pinned)
text = ok(*common, "--precision", "bf16", "--diverge", "--diverge-bisect", "1e-6", model=folder + "pinned.mlir")
last = re.search(r"bisection in \d+ runs: train\.\w+ \S*pinned.mlir:\d+:\d+ \(backward\) changes the loss from", text)
assert last, text
# The backward pass of autocast has the types of the forward pass.
text = ok(*common, "--precision", "bf16", "--diverge", "--diverge-bisect", "1e-6", "--pipeline", "policy=pytorch")
assert re.search(r"runs: train.linear \S*linear.mlir:13:\d+ \(forward\) changes", text), text
text, _ = diverge("--precision", "bf16", "--diverge-bisect", "1e3")
assert "stays near" in text, text

# If f32 is not finite either, the roundings are not the cause.
arrays = make_data()
arrays["train_x"][:] = np.inf
np.savez(folder + "infinite.npz", **arrays)
text = run("--data", folder + "infinite.npz", *common[2:], "--precision", "bf16", "--diverge").stdout
assert "the loss in f32 is not finite from step 1; see --precision=f32 --explain" in text, text
assert "not finite" not in diverge("--precision", "bf16")[0]

fails("--diverge needs one low precision", *common, "--diverge")
fails("--diverge needs one low precision", *common, "--compare", "f32,fp16,bf16", "--diverge")
fails("--diverge and --watch exclude each other", *common, "--precision", "fp16", "--diverge", "--watch")
fails("--diverge-json needs --diverge", *common, "--diverge-json", folder + "d.json")
fails("--diverge-bisect must be positive", *common, "--precision", "fp16", "--diverge", "--diverge-bisect", "-1")
