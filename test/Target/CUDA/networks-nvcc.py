# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Small convolutional networks and transformers compile for both architectures
# without a warning, with AdamW; in fp16, and with --long in f32 and bf16 too.
#
# REQUIRES: nvcc
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%nvcc'
#
# A warning is an error.
# RUN: not %python %s %t '%nvcc' --wrong 2>&1 | FileCheck %s
# CHECK: never_used

import os
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from networks import NETWORKS
from program import run

folder, nvcc = sys.argv[1], shlex.split(sys.argv[2])
ARCHITECTURES = [f"-gencode=arch=compute_{version},code=sm_{version}" for version in (80, 90)]
wrong = "--wrong" in sys.argv
precisions = ("f32", "fp16", "bf16") if "AMP_LONG_TESTS" in os.environ else ("fp16",)
for name, (options, _, size) in list(NETWORKS.items())[: 1 if wrong else None]:
    model = f"{folder}/{name}.mlir"
    run(["amp-model", name, *options, "--optimizer=adamw", f"--batch={size}", "-o", model])
    for precision in precisions[: 1 if wrong else None]:
        source = f"{folder}/{name}-{precision}.cu"
        run(["amp-translate", "--mlir-to-cuda", "--precision", precision, model, "-o", source])
        if wrong:
            with open(source, "a") as file:
                file.write("static int never_used() { return 0; }\n")
        run([*nvcc, *ARCHITECTURES, "-c", source, "-o", f"{folder}/step.o"])
        print(name, precision, flush=True)
