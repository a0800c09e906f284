# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every model in full size goes through the training pipeline for fp16 and bf16:
# it verifies, the check of loss scaling accepts it, and at least 99 % of the work of its products
# has low operands. The pipeline takes at most 5 s.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs
#
# The share is measured: a policy that allows nothing fails.
# RUN: not %python %s %t %S/Inputs --wrong 2>&1 | FileCheck %s
# CHECK: lenet fp16: 0.0 % of the operations of products are low

import subprocess
import sys
import time

folder, inputs = sys.argv[1:3]
sys.path.insert(0, inputs)
from products import Counts  # noqa: E402

MODELS = ("mlp", "lenet", "resnet18", "resnet50", "bert", "vit", "gpt2")
LIMIT = 5.0
wrong = "--wrong" in sys.argv


def execute(*command):
    start = time.perf_counter()
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout, time.perf_counter() - start


for name in ("lenet",) if wrong else MODELS:
    path = f"{folder}/{name}.mlir"
    execute("amp-model", name, "--batch=1", "-o", path)
    _, parse = execute("amp-opt", path, "-o", "/dev/null")
    for precision in ("fp16", "bf16"):
        options = f"precision={precision}" + (" policy=apex-O0" if wrong else "")
        text, seconds = execute("amp-opt", path, f"--amp-training-pipeline={options}")
        with open(f"{folder}/{name}-{precision}.mlir", "w") as file:
            file.write(text)
        execute("amp-opt", f"{folder}/{name}-{precision}.mlir", "--amp-check-loss-scaling", "-o", "/dev/null")
        counts = Counts(text)
        print(f"{name} {precision}: {counts.low_share:.1%} low, {counts.casts} casts, {seconds:.2f} s, "
              f"{parse:.2f} s of which parse and print")
        assert counts.flops > 0, name
        assert counts.low_share >= 0.99, (
            f"{name} {precision}: {100 * counts.low_share:.1f} % of the operations of products are low"
        )
        assert seconds - parse < LIMIT, f"{name} {precision}: {seconds:.1f} s"
