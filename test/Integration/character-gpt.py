# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The command that draws the figure of docs/character-gpt.md, on fewer steps and
# a smaller network: the loss goes down, and the three precisions agree.
# character-gpt-full.test is the full run.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %amp_obj_root/bin %t 60 8 2 64

import csv
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

root, bin, folder, *options = sys.argv[1:]
full = not options
done = subprocess.run(
    [sys.executable, f"{root}/tools/docs/character-gpt.py", bin, folder, *options], capture_output=True, text=True)
print(done.stdout)
assert done.returncode == 0, done.stderr
bigram = float(re.search(r"bigram entropy (\S+)", done.stdout).group(1))
found = {
    name: tuple(map(float, values))
    for name, *values in re.findall(
        r"^ *(\S+)  first (\S+)  last (\S+)  held out (\S+)  ", done.stdout, re.M)
}
assert list(found) == ["f32", "fp16", "bf16"], done.stdout
for name, (first, last, held_out) in found.items():
    assert abs(held_out / found["f32"][2] - 1) <= 0.01, (name, found)
    # A network that knows nothing tells 62 characters apart.
    assert 4.0 < first < 4.3, (name, first)
    if full:
        assert held_out <= bigram - 0.3, (name, held_out, bigram)
    else:
        assert last < first - 0.8 and held_out < first - 0.8, (name, first, last, held_out)

made = xml.etree.ElementTree.parse(f"{folder}/character-gpt.svg").getroot()
kept = xml.etree.ElementTree.parse(pathlib.Path(root, "docs/figures/character-gpt.svg")).getroot()
assert made.tag == kept.tag == "{http://www.w3.org/2000/svg}svg" and made[0].text == kept[0].text
with open(f"{folder}/character-gpt.csv") as made, open(f"{root}/docs/figures/character-gpt.csv") as kept:
    made, kept = list(csv.DictReader(made)), list(csv.DictReader(kept))
assert list(made[0]) == list(kept[0]) and len(kept) == 100, (made[0], kept[0], len(kept))
# The curve in the documentation is of a run that got there, and of low types
# that are not f32.
assert all(float(kept[-1][name]) < bigram - 0.3 for name in found), kept[-1]
assert any(row["f32"] != row["bf16"] for row in made) and any(row["f32"] != row["fp16"] for row in made)
