# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Scales that follow the magnitudes of earlier steps: against a model of the rules of Transformer
# Engine over 1,000 steps with overflows, over changes of the loss scale, and in checkpoints. Scales
# that follow the magnitude of the same step: against a model of the rules of torchao, in the same steps.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %t
"""Usage: fp8-delayed.py <root of the source tree> <folder>"""

import csv
import io
import pathlib
import re
import subprocess
import sys
import zipfile

import numpy as np

root, folder = pathlib.Path(sys.argv[1]), sys.argv[2]
f32 = np.float32
LARGEST = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}


def execute(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def read_states(path):
    with zipfile.ZipFile(path) as file:
        return {name[:-4]: np.load(io.BytesIO(file.read(name))) for name in file.namelist()}


class Quantizer:
    """The state of Transformer Engine: row 0 is the place of the magnitude of the current step."""

    def __init__(self, length, algorithm, margin, format):
        self.rows = np.zeros(length, f32)
        self.scale = f32(1)
        self.algorithm, self.margin, self.largest = algorithm, margin, f32(LARGEST[format])

    def step(self, amax):
        # An infinity never enters. Transformer Engine lets it in, and the scale then stays as it is
        # until it leaves.
        if not np.isfinite(amax) or amax == 0:
            return
        self.rows[0] = amax
        a = self.rows.max() if self.algorithm == "max" else self.rows[0]
        self.rows = np.roll(self.rows, -1)
        self.rows[0] = 0
        with np.errstate(over="ignore"):
            scale = (self.largest / a) / f32(2.0**self.margin)
        self.scale = f32(np.finfo(f32).max) if np.isinf(scale) else scale


EPSILON = f32(1e-12)


def torchao_scale(amax, format, power_of_two):
    """The scale of a tensor in torchao: a division in f64, with a least magnitude. A power of two has no
    mantissa."""
    scale = f32(np.float64(LARGEST[format]) / max(np.float64(amax), np.float64(EPSILON)))
    return (scale.view(np.uint32) & np.uint32(0xFF800000)).view(f32) if power_of_two else scale


# One step with all quantisers, and magnitudes over 60 powers of ten. Some tensors are zero, infinite or
# NaN, at random and in runs, and one run is longer than a history.
CASES = [(length, algorithm, margin, format) for length in (1, 31, 1024) for algorithm in ("max", "most_recent")
         for margin, format in ((0, "f8E4M3FN"), (2, "f8E5M2"))]
STEPS, WIDTH = 1000, 4
rng = np.random.default_rng(23)
x = (rng.standard_normal((STEPS, WIDTH)) * 10.0 ** rng.uniform(-30, 30, (STEPS, 1))).astype(f32)
x[rng.random(STEPS) < 0.05] = 0
x[rng.random(STEPS) < 0.05, 1] = np.inf
x[rng.random(STEPS) < 0.05, 2] = -np.inf
x[rng.random(STEPS) < 0.05, 3] = np.nan
x[300:340, 0] = np.inf
x[500:510] = 0
x[600:605] = 1e-44
arguments, updates, body, results = [], [], [], []
for i, (length, algorithm, margin, format) in enumerate(CASES):
    row = f"tensor<{length}xf32>"
    arguments.append(f'%s{i}: tensor<f32> {{amp.role = "quantizer_state", amp.name = "s{i}", amp.init = #amp.init<ones>}}, '
                     f'%h{i}: {row} {{amp.role = "quantizer_state", amp.name = "h{i}", amp.init = #amp.init<zeros>}}')
    updates.append(f'tensor<f32> {{amp.updates = "s{i}"}}, {row} {{amp.updates = "h{i}"}}, '
                   f'tensor<f32> {{amp.metric = "scale{i}"}}')
    attributes = [f"margin = {margin} : i32"] + ["most_recent"] * (algorithm == "most_recent")
    body.append(f"  %t{i}, %k{i} = amp.update_quantizer %s{i}, %h{i}, %a for {format} {{{', '.join(attributes)}}} : {row}")
    results.append((f"%t{i}, %k{i}, %s{i}", f"tensor<f32>, {row}, tensor<f32>"))
CURRENT = [(format, power_of_two) for format in LARGEST for power_of_two in (False, True)]
for i, (format, power_of_two) in enumerate(CURRENT):
    attributes = [f"epsilon = {EPSILON:.9e} : f32"] + ["power_of_two"] * power_of_two
    body.append(f"  %c{i} = amp.scale_from_amax %a for {format} {{{', '.join(attributes)}}} : tensor<f32>")
    updates.append(f'tensor<f32> {{amp.metric = "current{i}"}}')
    results.append((f"%c{i}", "tensor<f32>"))
text = f"""func.func @step(%x: tensor<?x{WIDTH}xf32> {{amp.role = "batch", amp.name = "x"}}, {', '.join(arguments)})
    -> (tensor<f32> {{amp.metric = "amax"}}, {', '.join(updates)}) {{
  %a = amp.amax %x : tensor<?x{WIDTH}xf32> -> tensor<f32>
{chr(10).join(body)}
  return %a, {', '.join(r[0] for r in results)} : tensor<f32>, {', '.join(r[1] for r in results)}
}}
"""
with open(f"{folder}/histories.mlir", "w") as file:
    file.write(text)
execute("amp-opt", f"{folder}/histories.mlir", "--amp-check-loss-scaling", "-o", f"{folder}/checked.mlir")
np.savez(f"{folder}/x.npz", x=x)
execute("amp-run", f"{folder}/histories.mlir", "--data", f"{folder}/x.npz", "--batch-size", 1, "--steps", STEPS, "--quiet",
        "--metrics-csv", f"{folder}/scales.csv", "--save", f"{folder}/histories.npz")
with open(f"{folder}/scales.csv") as file:
    rows = list(csv.DictReader(file))
assert len(rows) == STEPS
amaxes = np.array([float(row["amax"]) for row in rows], f32)
want = np.abs(x).max(axis=1)
assert np.array_equal(np.sort(amaxes), np.sort(want), equal_nan=True)
models = [Quantizer(*case) for case in CASES]
for row, amax in zip(rows, amaxes):
    for i, model in enumerate(models):
        assert f32(row[f"scale{i}"]) == model.scale, (row["step"], CASES[i], row[f"scale{i}"], model.scale)
        model.step(amax)
for row, amax in zip(rows, amaxes):
    for i, case in enumerate(CURRENT):
        # torchao divides by an infinity, so that its payloads are 0 or NaN. Ours are all NaN.
        want = torchao_scale(amax, *case) if np.isfinite(amax) else f32(np.nan)
        assert np.array_equal(f32(row[f"current{i}"]), want, equal_nan=True), (row["step"], case, row[f"current{i}"], want)
states = read_states(f"{folder}/histories.npz")
for i, model in enumerate(models):
    assert states[f"s{i}"] == model.scale, CASES[i]
    # The newest is first here. Transformer Engine keeps one row less between steps.
    length = CASES[i][0]
    assert np.array_equal(states[f"h{i}"][: length - 1], model.rows[1:][::-1]), CASES[i]
assert sum(~np.isfinite(amaxes)) > 100 and sum(amaxes == 0) > 20


# Training: a checkpoint holds the histories, so a run in two parts is one run.
digits = root / "test/Models/digits-mlp.mlir"


def train(name, steps, *options):
    out = execute("amp-run", digits, "--data", root / "test/Models/data/digits.npz", "--batch-size", 64, "--quiet",
                  "--steps", steps, "--save", f"{folder}/{name}.npz", *options)
    return read_states(f"{folder}/{name}.npz"), out


def same(first, second, what):
    for name in first:
        if not name.startswith("__") and name in second:
            assert np.array_equal(first[name], second[name]), (what, name)


delayed = "--precision", "fp8", "--fp8-recipe", "delayed", "--pipeline", "fp8-history-length=8"
whole, _ = train("whole", 30, *delayed)
train("half", 15, *delayed)
resumed, _ = train("resumed", 15, *delayed, "--load", f"{folder}/half.npz")
same(whole, resumed, "resumed")
quantizers = sorted(name for name in whole if name.startswith("fp8."))
assert len(quantizers) == 12, quantizers
for name in quantizers:
    if name.endswith(".history"):
        assert whole[name].shape == (8,) and np.all(whole[name] > 0), (name, whole[name])
        # The scale follows from the history.
        scale = whole[name.replace(".history", ".scale")]
        assert scale == f32(LARGEST["f8E5M2" if "gradient" in name else "f8E4M3FN"]) / whole[name].max(), name

# A loss scale that doubles every third step changes nothing: states have no factor of it. So the
# payloads are the same, too.
none, _ = train("none", 40, *delayed, "--loss-scale", "none")
growing, _ = train("growing", 40, *delayed[:-1], "fp8-history-length=8 growth-interval=3 init-scale=1", "--loss-scale",
                   "dynamic")
assert growing["loss_scale"] == 2.0**13, growing["loss_scale"]
same(none, growing, "growing loss scale")

# An overflow in fp16 is not saturated away: the scale backs off, and histories stay finite.
fp16, out = train("fp16", 120, "--precision", "fp16", "--pipeline", "fp8-recipe=delayed init-scale=1099511627776", "--eval")
skipped = int(re.search(r"^skipped steps: (\d+)$", out, re.M)[1])
assert 10 < skipped < 60, out
assert all(np.all(np.isfinite(values)) for name, values in fp16.items() if name.startswith("fp8.")), fp16
assert float(re.search(r"^eval accuracy: (\S+)$", out, re.M)[1]) > 0.85, out
print("ok")
