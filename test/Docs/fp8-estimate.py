# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks the estimates in docs/fp8.md against the output of tools/docs/fp8-estimate.py. The full tier checks
# the smallest model, and the long tier checks all models.
#
# REQUIRES: full, cudnn
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %amp_obj_root/bin %t

import os
import subprocess
import sys

root, tools, folder = sys.argv[1:4]
models = [] if os.environ.get("AMP_LONG_TESTS") else ["124M"]
printed = "".join(subprocess.run([sys.executable, f"{root}/tools/docs/fp8-estimate.py", tools, folder, target, *models],
                                 check=True, capture_output=True, text=True).stdout for target in ("h200", "b200"))
with open(f"{root}/docs/fp8.md") as file:
    lines = file.read().splitlines()
rows = [line for line in printed.splitlines() if line.startswith("| ")]
assert len(rows) >= 8, printed
missing = [row for row in rows if row not in lines]
sys.exit("docs/fp8.md lacks:\n" + "\n".join(missing) if missing else 0)
