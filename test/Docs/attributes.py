# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The table in AMPDialect.td has one row for each discardable attribute that the
# code declares.
#
# RUN: %python %s %amp_src_root

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
DECLARED = re.compile(r'\bk\w+Attr\b\s*=\s*"(amp\.\w+)"')
ROW = re.compile(r"^    \| `(amp\.\w+)` \|", re.MULTILINE)

declared = set()
for folder in ("include", "lib", "tools"):
    for path in sorted((root / folder).rglob("*")):
        if path.suffix in (".h", ".cpp", ".td"):
            declared |= set(DECLARED.findall(path.read_text()))
rows = ROW.findall((root / "include/amp/Dialect/AMP/IR/AMPDialect.td").read_text())

assert len(declared) > 20, declared
assert len(rows) == len(set(rows)), rows
assert declared == set(rows), declared.symmetric_difference(rows)
print(f"{len(rows)} attributes")
