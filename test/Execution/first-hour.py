# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a new user tries: data in the order of the file, usual names of types,
# and settings of the loss scale as options of the pipeline.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import MODEL, fails, load, make_data, ok, results, run

folder = sys.argv[1] + "/"
arrays = make_data(samples=40)
np.savez(folder + "data.npz", **arrays)
common = ("--data", folder + "data.npz", "--batch-size", 10, "--quiet")

# --no-shuffle takes the batches in the order of the file, as NumPy does.
w = np.random.default_rng(2).standard_normal((4, 3)).astype(np.float32)
b, v = np.zeros(3, np.float32), np.zeros((4, 3), np.float32)
np.savez(folder + "start.npz", weight=w, bias=b)
start = ("--init", folder + "start.npz")
ok(*common, *start, "--no-shuffle", "--steps", 8, "--save", folder + "whole.npz")
ok(*common, *start, "--steps", 8, "--save", folder + "shuffled.npz")
for step in range(8):
    rows = slice(10 * (step % 4), 10 * (step % 4) + 10)
    x, y = arrays["train_x"][rows], arrays["train_y"][rows]
    p = np.exp(x @ w + b)
    p /= p.sum(1, keepdims=True)
    p[np.arange(10), y] -= 1
    v = 0.9 * v + x.T @ p / 10
    w, b = w - 0.5 * v, b - 0.5 * p.mean(0)
whole, shuffled = load(folder + "whole.npz"), load(folder + "shuffled.npz")
np.testing.assert_allclose(whole["weight"], w, rtol=1e-4, atol=1e-5)
assert np.abs(shuffled["weight"] - w).max() > 1e-3
# The order does not depend on the seed, and a resumed run continues it.
ok(*common, *start, "--no-shuffle", "--seed", 7, "--steps", 3, "--save", folder + "three.npz")
ok(*common, "--no-shuffle", "--steps", 5, "--load", folder + "three.npz", "--save", folder + "eight.npz")
eight = load(folder + "eight.npz")
assert all(eight[name].tobytes() == whole[name].tobytes() for name in ("weight", "bias", "velocity"))

# Usual names of types.
for names in (("fp16", "f16", "half", "float16"), ("bf16", "bfloat16"), ("f32", "fp32", "float", "float32")):
    losses = {name: results(ok(*common, "--steps", 3, "--precision", name))["final loss"] for name in names}
    assert len(set(losses.values())) == 1, losses
    assert names[0] in ok(*common, "--steps", 1, "--compare", "f32," + names[-1]), names
fails("unknown precision 'fp4', expected f32, fp16, bf16, fp8 or fp8- and a recipe", *common, "--precision", "fp4")

# Settings of a dynamic scale.
text = ok(*common, "--steps", 12, "--precision", "fp16", "--pipeline=init-scale=8 growth-interval=3 growth-factor=4")
assert results(text)["final loss scale"] == 8 * 4**4, text
text = ok(*common, "--steps", 12, "--precision", "fp16",
          "--pipeline=init-scale=8 growth-interval=3 growth-factor=4 max-scale=32")
assert results(text)["final loss scale"] == 32, text
# The counters of the scale as metrics, before each step.
ok(*common, "--steps", 7, "--precision", "fp16", "--pipeline=growth-interval=3 hysteresis=2 tracker-metrics",
   "--metrics-csv", folder + "trackers.csv")
with open(folder + "trackers.csv") as f:
    header, *rows = (line.rstrip("\n").split(",") for line in f)
columns = {name: [float(row[header.index(name)]) for row in rows] for name in ("growth_tracker", "hysteresis_tracker")}
assert columns == {"growth_tracker": [0, 1, 2, 0, 1, 2, 0], "hysteresis_tracker": [2] * 7}, columns
result = run(*common, "--steps", 1, "--precision", "fp16", "--pipeline=growth-interval=often")
assert result.returncode == 1 and "growth-interval" in result.stderr, result

# amp-model names its choices, and AdamW has a rate of its own.
model = subprocess.run(["amp-model", "mlp", "--optimizer=adam"], capture_output=True, text=True)
assert model.returncode == 1 and "unknown optimizer 'adam', expected sgd or adamw" in model.stderr, model
text = subprocess.run(["amp-model", "mlp", "--optimizer=adamw"], capture_output=True, text=True, check=True).stdout
assert "1.000000e-03" in text, text[:2000]

# A step without batch arguments trains without data, as NumPy does. An epoch
# has one step.
alone = folder + "alone.mlir"
with open(alone, "w") as f:
    f.write("""
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 1.0>},
                %rate: tensor<f32> {amp.role = "hyperparameter", amp.name = "rate", amp.init = #amp.init<constant, value = 0.1>})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %q = train.square %w : tensor<4xf32>
  %loss = train.reduce_sum %q {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %n = train.sgd %w, %g, %rate : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %n, %loss : tensor<4xf32>, tensor<f32>
}
""")
w = np.float32([1, -2, 3, 4])
np.savez(folder + "w.npz", w=w)
ok("--quiet", "--init", folder + "w.npz", "--steps", 3, "--save", folder + "three.npz", model=alone)
np.testing.assert_allclose(load(folder + "three.npz")["w"], w * np.float32(0.8) ** 3, rtol=1e-5)
ok("--quiet", "--load", folder + "three.npz", "--epochs", 2, "--save", folder + "five.npz", model=alone)
ok("--quiet", "--init", folder + "w.npz", "--epochs", 5, "--save", folder + "whole.npz", model=alone)
assert load(folder + "five.npz")["w"].tobytes() == load(folder + "whole.npz")["w"].tobytes()
for options in (("--precision", "fp16", "--explain"), ("--precision", "bf16", "--watch"), ("--precision", "bf16", "--diverge"),
                ("--compare", "f32,bf16"), ("--synthetic",), ("--precision", "f32", "--calibrate", folder + "r.json"),
                ("--sweep-scale=1:16:4",)):
    ok("--quiet", "--steps", 12, *options, model=alone)
for options in (("--data", folder + "data.npz"), ("--eval",), ("--predict", folder + "p.npz")):
    fails(f"{options[0]} needs a batch argument", "--steps", 1, *options, model=alone)
fails("the step fixes the batch at 1", "--steps", 1, "--batch-size", 3, model=alone)

# No table prints the sign of NaN.
hot = run(*common[:-1], "--steps", 4, "--compare", "f32,fp16", "--set", "lr=1e38")
assert hot.returncode == 0 and "nan" in hot.stdout and "-nan" not in hot.stdout + hot.stderr, hot
