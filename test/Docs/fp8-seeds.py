# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks the table of seeds in docs/fp8.md against the committed results. Each recipe must stay within the
# margin. The long tier trains again and compares the final losses.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %amp_obj_root/bin %t

import csv
import os
import subprocess
import sys

root, tools, folder = sys.argv[1:4]
script, committed = f"{root}/tools/docs/fp8-seeds.py", f"{root}/docs/figures/fp8-seeds.csv"


def summarize(results, *options):
    done = subprocess.run([sys.executable, script, tools, results, *options], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout, done.stderr)
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    # The header, and at least f32 and a recipe.
    assert len(rows) >= 3, (done.stdout, done.stderr)
    return rows


def load(results):
    with open(results) as file:
        return {(row["model"], row["precision"], row["seed"]): float(row["loss"]) for row in csv.DictReader(file)}


with open(f"{root}/docs/fp8.md") as file:
    lines = file.read().splitlines()
missing = [row for row in summarize(committed) if row not in lines]
assert not missing, missing
if os.environ.get("AMP_LONG_TESTS"):
    summarize(f"{folder}/again.csv", "train")
    expected, again = load(committed), load(f"{folder}/again.csv")
    assert expected.keys() <= again.keys()
    for key, loss in expected.items():
        # Rounding differences between machines grow over 200 steps.
        assert key[1] == "no scales" or abs(again[key] - loss) < 0.05 * loss, (key, loss, again[key])
