# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps that amp_torch exported: trained here, they have the losses that PyTorch had
# (test/Torch/Inputs/write_exports.py wrote them), and their fp16 program is written.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs/exports %t
"""Usage: exported.py <folder of exports> <scratch folder>"""

import json
import pathlib
import subprocess
import sys

exports, scratch = map(pathlib.Path, sys.argv[1:])
names = sorted(path.name for path in exports.iterdir())
assert len(names) >= 3, names
# Gradients of filters stay f32.
wide = scratch / "wide-gradients.yaml"
wide.write_text("version: 1\nextends: default\ngradient-type: f32\n")
for name in names:
    folder = exports / name
    wanted = [float(line) for line in (folder / "losses.txt").read_text().split()]
    run = ["amp-run", folder / "step.mlir", "--data", folder / "data.npz", "--init", folder / "init.npz", "--batch-size", "4",
           "--steps", str(len(wanted)), "--quiet", "--metrics-json", scratch / "run.json"]
    # Batch norms over four samples amplify each rounding, so that later steps of that
    # network tell nothing about low precision. Gradients of its filters are low by
    # default, which adds a rounding to each.
    close, half = (3, 2.5e-3) if name == "resnet" else (len(wanted), 2e-3)
    for precision, policy, bound, most in (
            ("f32", "default", 1e-5, len(wanted)), ("bf16", "default", 1e-2, close), ("fp16", "default", half, close),
            ("fp16", wide, 2e-3, close)):
        subprocess.run([*run, "--precision", precision, "--pipeline", f"policy={policy}"], check=True,
                       stdout=subprocess.DEVNULL)
        steps = json.loads((scratch / "run.json").read_text())["runs"][0]["steps"]
        error = max(abs(float(step["loss"]) - loss) for step, loss in zip(steps[:most], wanted)) / max(wanted)
        assert error <= bound, f"{name}: {precision} with policy {policy} differs by {error:.1e}"
        print(f"{name}: {precision}, policy {policy}, within {error:.1e} of PyTorch's f32")
    subprocess.run(["amp-translate", "--mlir-to-cuda", folder / "step.mlir", "--batch-size", "4", "--precision", "fp16",
                    "-o", scratch / "step.cu"], check=True)
