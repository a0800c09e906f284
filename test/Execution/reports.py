# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Metrics as CSV and JSON say the same, the curves are one file that needs no
# other, and the comparison's numbers are the means of its runs.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import csv
import json
import os
import re
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import make_data, ok

folder = sys.argv[1] + "/"
np.savez(folder + "data.npz", **make_data())
out = ok(
    "--data", folder + "data.npz", "--batch-size", 10, "--epochs", 4,
    "--compare", "f32,fp16,bf16", "--seeds", 3, "--seed", 7,
    "--metrics-csv", folder + "m.csv", "--metrics-json", folder + "m.json",
    "--plot", folder + "m.html",
)

with open(folder + "m.csv", newline="") as f:
    rows = list(csv.DictReader(f))
with open(folder + "m.json") as f:
    runs = json.load(f)["runs"]
assert [(r["precision"], r["seed"]) for r in runs] == [
    (p, s) for p in ("f32", "fp16", "bf16") for s in (7, 8, 9)
]
flat = [
    {"precision": run["precision"], "seed": run["seed"], **step}
    for run in runs
    for step in run["steps"]
]
assert len(rows) == len(flat) == 9 * 20
for row, step in zip(rows, flat):
    assert row["precision"] == step["precision"]
    for name, cell in row.items():
        if name == "precision":
            continue
        if cell == "":
            assert name not in step, name
        else:
            assert np.float32(cell) == np.float32(step[name]), (name, cell, step)
scaled = [r for r in rows if r["precision"] == "fp16"]
assert all(float(r["loss_scale"]) == 65536 for r in scaled)
assert all(r["loss_scale"] == "" for r in rows if r["precision"] == "f32")
assert [int(r["epoch"]) for r in rows[:20]] == [e for e in range(4) for _ in range(5)]

# The table.
lines = {
    re.split(r"  +", line)[0]: re.split(r"  +", line)[1:] for line in out.splitlines()
}
assert lines[""] == ["f32", "fp16", "bf16"], out
assert "CPU emulation, not GPU speed:" in lines
for name, key in (
    ("final training loss", "final loss"),
    ("evaluation loss", "eval loss"),
    ("evaluation accuracy", "eval accuracy"),
):
    for column, cell in enumerate(lines[name]):
        values = [run["results"][key] for run in runs[3 * column : 3 * column + 3]]
        assert cell == f"{np.mean(values):.4f} +- {np.std(values, ddof=1):.4f}", (name, cell, values)
    # Three precisions, one task: they agree to what bf16 can tell apart.
    means = [float(cell.split()[0]) for cell in lines[name]]
    assert max(means) - min(means) < 0.05, means
steps = [[s["loss"] for s in run["steps"]] for run in runs]
for run, losses in zip(runs, steps):
    assert np.isclose(run["results"]["final loss"], np.mean(losses[-5:]), rtol=1e-5)
assert steps[0] != steps[3] != steps[6], "low precision changes the losses"
assert lines["skipped steps"] == ["0 +- 0"], lines["skipped steps"]
assert lines["final loss scale"] == ["65536 +- 0"]
assert lines["matmul and conv FLOPs in low precision"] == ["0.0%", "100.0%", "100.0%"]
low = [float(cell[:-1]) for cell in lines["activation bytes in low precision"]]
assert low[0] == 0 and low[1] >= 60 and low[2] >= 60, low
bytes = [int(cell.replace(",", "")) for cell in lines["peak activation bytes"]]
assert bytes[1] == bytes[2] < bytes[0], bytes
assert lines["parameter bytes"][0] == str((4 * 3 + 3) * 4)
assert lines["other state bytes"][0] == str(4 * 3 * 4)
assert all(float(cell.split()[0]) > 0 for cell in lines["time per step, ms"])

# The page: well-formed, without references to anything outside.
text = open(folder + "m.html").read()
assert not re.search(r"(src=|href=|url\(|@import|<script)", text)
for title in ("Loss", "Loss scale", "Skipped steps so far"):
    assert f"<h2>{title}</h2>" in text
figures = re.findall(r"<svg.*?</svg>", text, re.S)
assert len(figures) == 3
curves = []
for figure in figures:
    root = xml.etree.ElementTree.fromstring(figure)
    found = [e for e in root.iter() if e.tag == "polyline"]
    curves.append(len(found))
    for curve in found:
        points = [tuple(map(float, p.split(","))) for p in curve.get("points").split()]
        assert len(points) == 20
        assert all(0 <= x <= 860 and 0 <= y <= 260 for x, y in points)
        assert [x for x, _ in points] == sorted({x for x, _ in points})
assert curves == [9, 3, 3], curves
