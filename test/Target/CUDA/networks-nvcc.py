# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Small convolutional networks and transformers compile without a warning, with
# AdamW: one of each in fp16, and with --long all, for both architectures and in
# f32 and bf16 too.
#
# REQUIRES: nvcc, full
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
from program import join, run

folder, nvcc = sys.argv[1], shlex.split(sys.argv[2])
wrong, full = "--wrong" in sys.argv, "AMP_LONG_TESTS" in os.environ
architectures = [f"-gencode=arch=compute_{version},code=sm_{version}" for version in ((80, 90) if full else (90,))]
precisions = ("f32", "fp16", "bf16") if full else ("fp16",)
names = ["lenet"] if wrong else list(NETWORKS) if full else ["resnet18", "gpt2"]
for name in names:
    options, _, size = NETWORKS[name]
    run(["amp-model", name.split("-")[0], *options, "--optimizer=adamw", f"--batch={size}", "-o", f"{folder}/{name}.mlir"])
# Networks in one compilation share their parts of the runtime.
for precision in precisions[: 1 if wrong else None]:
    sources = {name: run(["amp-translate", "--mlir-to-cuda", "--precision", precision, f"{folder}/{name}.mlir"]) for name in names}
    source = f"{folder}/{precision}.cu"
    with open(source, "w") as file:
        file.write(join(sources) + ("static int never_used() { return 0; }\n" if wrong else ""))
    run([*nvcc, *architectures, "-c", source, "-o", f"{folder}/steps.o"])
    print(*names, precision, flush=True)
