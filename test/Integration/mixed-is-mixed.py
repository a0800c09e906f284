# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Mixed precision is not f32 in disguise: nearly all products and most bytes of
# activations are low, the buffers of the lowered step are low, the activations
# take about half the memory, and the parameters after ten steps are not those
# of f32.
#
# REQUIRES: full
# RUN: %python %s

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from digits import model, run, state

for name in ("digits-mlp", "digits-cnn"):
    table = run(
        name, "--compare", "f32,fp16,bf16", "--steps", 1, "--batch-size", 64
    )

    def row(title):
        line = next(line for line in table.splitlines() if line.startswith(title))
        return [float(cell) for cell in re.findall(r"[\d.]+", line[len(title):].replace(",", ""))]

    flops = row("matmul and conv FLOPs in low precision")
    activations = row("activation bytes in low precision")
    peak = row("peak activation bytes")
    assert flops[0] == 0 and min(flops[1:]) >= 95, flops
    assert activations[0] == 0 and min(activations[1:]) >= 60, activations
    assert max(peak[1:]) <= 0.65 * peak[0], peak

    plain = state(name, "--precision", "f32", "--steps", 10, "--batch-size", 64)
    for precision, element in (("fp16", "f16"), ("bf16", "bf16")):
        low = state(name, "--precision", precision, "--steps", 10, "--batch-size", 64)
        parameters = [key for key in plain if key.endswith("weight")]
        assert parameters
        for key in parameters:
            assert (low[key] != plain[key]).any(), (precision, key)

        # Buffers after bufferization; products accumulate in separate f32 buffers.
        lowered = subprocess.run(
            ["amp-opt", model(name), "--train-set-batch=batch-size=64",
             f"--amp-training-pipeline=precision={precision}",
             "--amp-cpu-pipeline=to-llvm=false"],
            capture_output=True, text=True, check=True,
        ).stdout
        buffers = re.findall(r"memref\.alloc\(\).*: memref<64x[\dx]*x(\w+)>", lowered)
        assert buffers.count(element) >= 8, buffers
