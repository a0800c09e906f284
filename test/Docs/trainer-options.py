# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The page of the CUDA backend has every option of a trainer, and each option of amp-run is an
# option of a trainer or is in the table of those that are not.
#
# RUN: %python %s %amp_src_root

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/cuda-backend.md").read_text()
page = page[page.index("\n## The trainer\n"):]
page = page[: page.index("\n## ", 4)].replace("\\|", "/")
tables = re.findall(r"(?:^\|.*\n)+", page, re.M)


def first_column(table):
    return set(re.findall(r"--(\w[\w-]+)", "\n".join(row.split("|")[1] for row in table.splitlines())))


own, others = first_column(tables[0]), first_column(tables[1])
own_header = (root / "include/amp/Runtime/CUDA/TrainerOptions.h").read_text()
shared_header = (root / "include/amp/Runtime/Host/Options.h").read_text()


def table(header, name):
    start = header.index(name + "[] = {")
    return header[start: header.index("};", start)]


pattern = r'^    \{"([\w-]+)", '
usage = set(re.findall(pattern, table(shared_header, "kTrainingOptions") + table(own_header, "kTrainerOptions"), re.M)) - {"help"}
help = subprocess.run(["amp-run", "--help"], capture_output=True, text=True, check=True).stdout
help = set(re.findall(r"^ +--([\w-]+)", help[help.index("amp-run options:"):], re.M)) - {"help", "help-list", "version"}
assert len(usage) > 20 and len(help) > 20, (usage, help)
assert own - {"help"} == usage, own ^ usage
assert not own & others and help == (help & own) | others, (help - own - others, others - help)
# A trainer says so, too.
assert others == set(re.findall(r'"([\w-]+)"', table(own_header, "kRunnerOptions")))
