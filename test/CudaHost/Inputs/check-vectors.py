# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: check-vectors.py <file.ptx>

Fails if a kernel over consecutive elements does not read and write them 16
bytes at a time, or if any kernel uses f64 arithmetic or float atomics.
"""

import re
import sys

# Parts of mangled names, and whether the kernel stores vectors too.
VECTORISED = {
    "8biasRelu": True,
    "9rowMaxima": False,
    "5total": False,
    "18softmaxForwardRowsINS0_7RowPlanILi32ELi8ELi4E": True,
    "19softmaxBackwardRowsINS0_7RowPlanILi32ELi8ELi4E": True,
    "18crossEntropyKernelINS0_7RowPlanILi32ELi8ELi4E": True,
    "17normForwardKernelINS0_7RowPlanILi32ELi8ELi4E": True,
    "19normInputGradKernelINS0_7RowPlanILi32ELi8ELi4E": True,
    "20batchNormApplyKernelILi8E": True,
    "24batchNormInputGradKernelILi8E": True,
    "17poolForwardKernelILb1ELi8E": True,
    "21maxPoolBackwardKernelILi8E": True,
    "21avgPoolBackwardKernelILi8E": True,
    "13dropoutKernel": True,
    "21stochasticRoundKernel": True,
    "19gatherPatchesKernelILi8ELb1E": True,
    "16sumPatchesKernelILi4E": True,
    "18unscaleCheckKernel": False,
    "9sgdKernel": True,
    "10adamKernel": True,
    "20castParametersKernel": True,
    "11applyEightsI": True,
    "16sumColumnsKernelILi8ELNS0_8EpilogueE0E": False,  # None
    "16sumColumnsKernelILi8ELNS0_8EpilogueE10E": True,  # DRelu
    "16sumColumnsKernelILi8ELNS0_8EpilogueE12E": True,  # DGelu
    "15deviationKernel": False,
}
# Kernels that gather single elements and store vectors.
STORES = {"19gatherPatchesKernelILi8ELb0E"}
# The inverse of the loss scale is rounded once from f64. One thread of a channel corrects its sums
# in f64.
DOUBLES = {"18unscaleCheckKernel", "25batchNormStatisticsKernel"}

text = open(sys.argv[1]).read()
kernels = {}
for match in re.finditer(r"\.entry (\w+)\(.*?\n\}", text, re.S):
    kernels[match.group(1)] = match.group()
problems = []
for part, stores in VECTORISED.items():
    found = [name for name in kernels if part in name]
    if not found:
        problems.append(f"no kernel {part}")
    for name in found:
        body = kernels[name]
        if not re.search(r"ld\.global(\.\w+)*\.v4|ld\.global(\.\w+)*\.v2\.[bu]64", body):
            problems.append(f"{name} reads no 16 bytes at a time")
        if stores and not re.search(r"st\.global(\.\w+)*\.v4|st\.global(\.\w+)*\.v2\.[bu]64", body):
            problems.append(f"{name} writes no 16 bytes at a time")
for part in STORES:
    for body in [kernels[name] for name in kernels if part in name] or [""]:
        if not re.search(r"st\.global(\.\w+)*\.v4|st\.global(\.\w+)*\.v2\.[bu]64", body):
            problems.append(f"{part} writes no 16 bytes at a time")
for name, body in kernels.items():
    if re.search(r"\b(add|mul|fma|div|sub)(\.\w+)*\.f64", body) and not any(p in name for p in DOUBLES):
        problems.append(f"{name} computes in f64")
    if re.search(r"\b(atom|red)\.\S*\.f(32|64|16)", body):
        problems.append(f"{name} has a float atomic")
if problems:
    sys.exit("\n".join(problems))
print(f"{len(kernels)} kernels")
