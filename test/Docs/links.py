# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every relative link of a page leads to a file, and every file that a page
# names in backquotes with its folder is there.
#
# RUN: %python %s %amp_src_root

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FILE = re.compile(r"`((?:include|lib|test|tools|docs)/[\w./-]+\.\w+)`")

checked = 0
broken = []
pages = [
    root / "README.md",
    *sorted((root / "docs").rglob("*.md")),
    *sorted((root / "test").rglob("*.md")),
]
for page in pages:
    text = page.read_text()
    targets = [(page.parent, target) for target in LINK.findall(text)]
    targets += [(root, target) for target in FILE.findall(text)]
    for base, target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        checked += 1
        if not (base / target).exists():
            broken.append(f"{page.relative_to(root)}: no file '{target}'")
print(*broken, sep="\n")
assert checked, "the documentation has no links"
sys.exit(1 if broken else 0)
