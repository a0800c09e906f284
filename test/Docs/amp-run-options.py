# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The page of amp-run has every option that it has, and no other; the README has
# every option of the pipeline.
#
# RUN: %python %s %amp_src_root

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])


def compare(listed, real, where):
    assert len(real) > 8, real
    assert listed == real, (where, "missing", real - listed, "unknown", listed - real)


page = (root / "docs/amp-run.md").read_text()
rows = "\n".join(line.split("|")[1] for line in page.replace("\\|", "/").splitlines() if line.startswith("| `"))
help = subprocess.run(["amp-run", "--help"], capture_output=True, text=True, check=True).stdout
options = help[help.index("amp-run options:"):]
options = set(re.findall(r"^ +--([\w-]+)", options, re.M)) - {"help", "help-list", "version"}
compare(set(re.findall(r"--([\w-]+)", rows)), options, "docs/amp-run.md")

readme = (root / "README.md").read_text()
table = readme[readme.index("Options of the pipeline"):]
table = table[: table.index("\n## ")]
header = (root / "include/amp/Pipelines/Pipelines.h").read_text()
compare(
    set(re.findall(r"^\| `([\w-]+)` \|", table, re.M)),
    # An option with a new name only refuses the old one.
    set(re.findall(r'(?<!Parser> )\b\w+\{\s*\*this,\s+"([\w-]+)"', header)),
    "README.md",
)
