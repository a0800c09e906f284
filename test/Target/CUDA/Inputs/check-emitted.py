# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: check-emitted.py <program.cu> <program.ptx>

Fails if a generated kernel that takes packs of 16 bytes, by its launch in the
source, does not read and write 16 bytes at a time in the PTX. A transpose of a
filter reads by strides, so only its writes count.
"""

import re
import sys

source, ptx = (open(path).read() for path in sys.argv[1:3])
kernels = {}
for match in re.finditer(r"\.entry \w*7kernels(\d+)(\w+)\(.*?\n\}", ptx, re.S):
    kernels[match[2][: int(match[1])]] = match[0]
WIDE = r"\.global(\.\w+)*\.(v4\.[bfu]32|v2\.[bfu]64)"
packed, problems = 0, []
for width, name in re.findall(r"elementwiseShape\(\d+, (\d+)\), kernels::(\w+)", source):
    if int(width) < 4:
        continue
    packed += 1
    for access in ("st",) if name.startswith("transpose_") else ("ld", "st"):
        if not re.search(access + WIDE, kernels[name]):
            problems.append(f"{name} has no {access} of 16 bytes")
if not packed:
    problems.append("no generated kernel takes packs")
print(packed, "kernels;", *problems, sep="\n")
sys.exit(1 if problems else 0)
