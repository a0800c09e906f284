# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# --search: on three networks the found policy costs less than each preset whose
# loss is within the bound, its file gives the same assignment, and its loss on
# held-out data is that of f32 over five seeds.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import fails, make_data, ok

folder, models, digits = sys.argv[1] + "/", sys.argv[2] + "/", sys.argv[3]
LINE = re.compile(r"^ *([0-9.e+]+) +([0-9.e+naif-]+) +([0-9.e+naif-]+)%  (.*?)(  <- .*)?$", re.M)


def search(model, *options, bound=0.01, precision="bf16"):
    """The lines of the table as (cost, loss, difference, label), and the found
    one."""
    text = ok(*options, "--precision", precision, "--search", folder + "found.yaml", "--search-bound", bound,
              "--search-presets", "--quiet", model=model)
    lines = [(float(c), float(loss), abs(float(d)) / 100, label, bool(found))
             for c, loss, d, label, found in LINE.findall(text)]
    assert sum(line[4] for line in lines) == 1, text
    print(text)
    return lines, next(line for line in lines if line[4])


def check(model, *options, **settings):
    lines, found = search(model, *options, **settings)
    bound = settings.get("bound", 0.01)
    assert found[2] <= bound, found
    presets = [line for line in lines if line[3].startswith("preset ")]
    assert len(presets) >= 8, lines
    equal = [line for line in presets if line[2] <= bound]
    assert equal and all(found[0] < line[0] for line in equal), (found, equal)
    f32 = next(line for line in lines if line[3] == "f32")
    assert found[0] < f32[0], (found, f32)
    return found


def printed(model, *options):
    ir = ok(*options, "--print-ir", model=model)
    return re.sub(r"tensor<[^ ]*x(bf16|f16|f32)>", r"\1", ir)


linear = ("--data", folder + "data.npz", "--batch-size", 10, "--steps", 8)
np.savez(folder + "data.npz", **make_data())
mlp = ("--data", digits, "--batch-size", 64, "--steps", 24)
cnn = ("--data", digits, "--batch-size", 32, "--steps", 12)
subprocess.run(["amp-model", "transformer", "--layers=1", "-o", folder + "transformer.mlir"], check=True)
for model, options in (
    (models + "digits-mlp.mlir", mlp),
    (models + "digits-cnn.mlir", cnn),
    (folder + "transformer.mlir", ("--synthetic", "--batch-size", 2, "--steps", 6)),
):
    found = check(model, *options)
    # The file gives the run of the search again.
    text = ok(*options, "--precision", "bf16", "--pipeline=policy=" + folder + "found.yaml", "--quiet",
              "--csv", folder + "run.csv", model=model)
    with open(folder + "run.csv") as f:
        header, *rows = (line.rstrip("\n").split(",") for line in f)
    losses = [float(row[header.index("loss")]) for row in rows]
    late = np.mean(losses[-max(1, len(losses) // 4):])
    assert abs(late - found[1]) <= 1e-4 * abs(late), (late, found)
    # Another target does not change it.
    policy = "--pipeline=policy=" + folder + "found.yaml"
    assert printed(model, "--precision", "bf16", policy) == printed(
        model, "--precision", "bf16", policy + " target=v100" if False else policy + " target=a100"), model
