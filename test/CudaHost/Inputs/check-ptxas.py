# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: check-ptxas.py <what nvcc -Xptxas -v printed>

Fails if there is a warning, or a kernel whose registers spill.
"""

import re
import sys

text = open(sys.argv[1]).read()
kernels = re.findall(r"Function properties for (\S+)\n\s*(.*)", text)
if not kernels:
    sys.exit("no kernels found")
if "warning" in text or "error" in text:
    sys.exit(text)
bad = [f"{name}: {line}" for name, line in kernels if " 0 bytes spill stores, 0 bytes spill loads" not in line]
if bad:
    sys.exit("\n".join(bad))
print(f"{len(kernels)} kernels, no spill")
