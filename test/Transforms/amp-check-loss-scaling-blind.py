# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# amp-check-loss-scaling accepts right steps and rejects wrong ones that were written
# from the documentation alone, without a look at the check or its tests: 548 kinds
# of wrong steps and 338 of right ones, each in seven structures.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs/blind | FileCheck %s
#
# CHECK: wrong: 548 kinds, {{[0-9]+}} steps, 0 accepted
# CHECK: right: 338 kinds, {{[0-9]+}} steps, 1.{{[0-9]+}} % rejected
"""Usage: amp-check-loss-scaling-blind.py <folder> <inputs> [all]

Prints each step that the check judges wrongly. With `all` each kind is tried in all
structures, else each in one of them and the plain one. AMP_LONG_TESTS=1 does the same.
"""

import bisect
import os
import re
import subprocess
import sys

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
import foreign  # noqa: E402,F401
import iterations  # noqa: E402,F401
import large  # noqa: E402,F401
import later  # noqa: E402,F401
import more  # noqa: E402,F401
import wrong_guards  # noqa: E402,F401
from builder import Step  # noqa: E402
from right import RIGHT  # noqa: E402
from wrong import WRONG  # noqa: E402

ALL = len(sys.argv) > 3 or bool(os.environ.get("AMP_LONG_TESTS"))
STRUCTURES = [
    {},
    {"low": "f32", "guard": "select"},
    {"two": False, "guard": "train.select"},
    {"opt": "momentum", "unscale": "each"},
    {"opt": "adam", "guard": "select", "call": True},
    {"scale": "moved", "unscale": "each", "guard": "train.select"},
    {"scale": "mul", "call": True, "opt": "adam", "guard": "train.select", "low": "f32"},
]
# Right steps that the check rejects; loss-scaling.md lists these forms.
REJECTED = {
    "multiplied and divided by the scale",
    "guard: stacked and reduced",
    "gradients zeroed and the update without a state",
    "a choice between scaled gradients and zeros, rate over the scale",
    "the scale is a function of a state in base 2",
}
# A constant that multiplies the seed is not a scale to the check unless `amp.scale` reads it.
PLAIN_SCALE = {"the scale is a constant", "seed in f16, constant of 32768", "a scale capped before its use in f16"}
CHUNK = 60


def steps(kinds):
    """Name, structure and text of each step."""
    for at, (name, change, options) in enumerate(kinds):
        for number, structure in enumerate(STRUCTURES):
            if not ALL and number not in (0, 1 + at % (len(STRUCTURES) - 1)):
                continue
            own = {k: v for k, v in options.items() if k not in ("oracle", "policy")}
            if name in PLAIN_SCALE:
                own["scale"] = "plain"
            step = Step(**{**structure, **own})
            change(step)
            yield name, number, step.build()


def errors(chunk, *passes):
    """The first error of each step that has one, by its place."""
    path = os.path.join(folder, "steps.mlir")
    starts, text = [], ""
    for _, _, step in chunk:
        starts.append(text.count("\n") + 1)
        text += step + "// -----\n"
    with open(path, "w") as file:
        file.write(text)
    run = subprocess.run(["amp-opt", path, "--split-input-file", "--allow-unregistered-dialect", *passes, "-o", os.devnull],
                         capture_output=True, text=True)
    assert run.returncode in (0, 1), run.stderr[-2000:]
    found = {}
    for line, message in re.findall(r"steps\.mlir:(\d+):\d+: error: (.*)", run.stderr):
        found.setdefault(bisect.bisect(starts, int(line)) - 1, message)
    return found


def judge(kinds):
    """Yields name, structure and error, or None, for each step. All steps are valid IR."""
    every = list(steps(kinds))
    for first in range(0, len(every), CHUNK):
        chunk = every[first:first + CHUNK]
        invalid = errors(chunk)
        assert not invalid, [(chunk[i][0], message) for i, message in invalid.items()]
        found = errors(chunk, "--amp-check-loss-scaling=policy=stablehlo")
        for i, (name, number, _) in enumerate(chunk):
            yield name, number, found.get(i)


accepted = total = 0
for name, number, error in judge(WRONG):
    total += 1
    if error is None:
        accepted += 1
        print(f"accepted, but wrong: {name} (structure {number})")
print(f"wrong: {len(WRONG)} kinds, {total} steps, {accepted} accepted")

rejected = total = unexpected = 0
for name, number, error in judge(RIGHT):
    total += 1
    if error is not None:
        rejected += 1
        if name not in REJECTED:
            unexpected += 1
            print(f"rejected, but right: {name} (structure {number}): {error}")
print(f"right: {len(RIGHT)} kinds, {total} steps, {100 * rejected / total:.2f} % rejected")
sys.exit(accepted != 0 or unexpected != 0 or rejected > 0.02 * total)
