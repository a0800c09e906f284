# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The Python of docs/pytorch.md runs, in the order of the page, and writes what the page
# says.
#
# REQUIRES: torch-export
# RUN: rm -rf %t && mkdir %t
# RUN: cd %t && %torch_python %s %amp_src_root
# RUN: test -s %t/out/step.mlir && test -s %t/checkpoint.pt
"""Usage: documentation.py <root of the source tree>"""

import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1], "docs/pytorch.md").read_text()
blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
assert len(blocks) >= 2
names = {}
for block in blocks:
    exec(compile(block, "docs/pytorch.md", "exec"), names)
