# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The command that draws the figures of docs/loss-scaling.md, on fewer scales and
# steps: a small scale loses gradients, a large one overflows, and between them,
# where the dynamic one is, training is as accurate as in f32.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %amp_obj_root/bin %t

import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

root, bin, folder = sys.argv[1:]
out = subprocess.run(
    [sys.executable, f"{root}/tools/docs/loss-scale-figures.py", bin, folder, "8", "1500"],
    capture_output=True, text=True, check=True).stdout
print(out)
found = dict(re.findall(r"^ *(\S+)  loss \S+  accuracy (\S+)$", out, re.M))
accuracy = {name: float(value) for name, value in found.items()}
assert list(accuracy) == ["f32", "dynamic", *(f"2^{k}" for k in range(0, 45, 8))], out
assert accuracy["2^0"] < 0.3 and accuracy["2^40"] < 0.3, accuracy
for name in ("dynamic", "2^8", "2^16", "2^24", "2^32"):
    assert accuracy[name] >= accuracy["f32"] - 0.01 > 0.9, (name, accuracy)
assert re.search(r"2\^40  loss nan", out), out
# Megatron's scale falls from 2^32 first; one of DeepSpeed grows after 1000 steps.
skipped = dict(re.findall(r"^ *(\S+)  skipped (\d+) of 1500  last", out, re.M))
assert int(skipped["megatron"]) > 5 and skipped["amp"] == "0", out
assert re.search(r"^ *deepspeed .* last 2\^17 ", out, re.M), out

for name in ("sweep", "trajectory"):
    made = xml.etree.ElementTree.parse(f"{folder}/loss-scale-{name}.svg").getroot()
    assert made.tag == "{http://www.w3.org/2000/svg}svg" and len(made) > 20, name
    # The documentation shows a figure of the same kind.
    kept = xml.etree.ElementTree.parse(pathlib.Path(root, f"docs/figures/loss-scale-{name}.svg")).getroot()
    assert kept[0].text == made[0].text and kept.get("viewBox") == made.get("viewBox"), name
