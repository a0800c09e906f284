# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A network of PyTorch keeps its images in [N, H, W, C]: one transpose of an activation
# remains, at the input. The step trains as without the pass, to 1e-5 (sums are in another
# order, and batch norms over four samples amplify it).
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs/exports/resnet %t
"""Usage: layouts.py <folder of an export> <scratch folder>"""

import json
import pathlib
import re
import subprocess
import sys

folder, scratch = map(pathlib.Path, sys.argv[1:])
step = folder / "step.mlir"


def activations(*options):
    """The transposes of images in a step after passes."""
    result = subprocess.run(["amp-opt", step, *options], check=True, capture_output=True, text=True)
    return len(re.findall(r"train\.transpose .*: \(tensor<\?x\d+x\d+x\d+xf32>", result.stdout))


before, after = activations(), activations("--train-propagate-layout")
assert before > 10 and after == 1, (before, after)
trained = activations("--amp-training-pipeline=precision=f32")
assert trained == 1, f"{trained} transposes with the backward pass"


def losses(*options):
    run = ["amp-run", step, "--data", folder / "data.npz", "--init", folder / "init.npz", "--batch-size", "4", "--steps", "8",
           "--quiet", "--precision", "f32", "--metrics-json", scratch / "run.json", *options]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    steps = json.loads((scratch / "run.json").read_text())["runs"][0]["steps"]
    return [float(entry["loss"]) for entry in steps]


moved, kept = losses(), losses("--pipeline", "propagate-layout=false")
error = max(abs(a - b) for a, b in zip(moved, kept)) / max(kept)
assert error <= 1e-5, f"losses differ by {error:.1e}"
print(f"{before} transposes of activations become {after}; losses within {error:.1e}")
