# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# --calibrate against NumPy, and its use: fp16 trains with the ranges where it
# does not without them. Also --sweep-scale.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import fails, load, make_data, ok, results, run

folder = sys.argv[1] + "/"
rng = np.random.default_rng(0)

# Inputs in units that are too small, as amounts of money. Their products with
# the weights leave the range of f16, and a norm brings them back.
N, H = 8, 16
MODEL = folder + "units.mlir"
with open(MODEL, "w") as f:
    f.write(f"""func.func @step(
    %w1: tensor<{N}x{H}xf32> {{amp.role = "parameter", amp.name = "w1", amp.init = #amp.init<xavier_uniform>}},
    %g: tensor<{H}xf32> {{amp.role = "parameter", amp.name = "g", amp.init = #amp.init<ones>}},
    %b: tensor<{H}xf32> {{amp.role = "parameter", amp.name = "b", amp.init = #amp.init<zeros>}},
    %w2: tensor<{H}x{H}xf32> {{amp.role = "parameter", amp.name = "w2", amp.init = #amp.init<xavier_uniform>}},
    %w3: tensor<{H}x1xf32> {{amp.role = "parameter", amp.name = "w3", amp.init = #amp.init<xavier_uniform>}},
    %lr: tensor<f32> {{amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.05>}},
    %x: tensor<?x{N}xf32> {{amp.role = "batch", amp.name = "x"}},
    %y: tensor<?x1xf32> {{amp.role = "batch", amp.name = "y"}})
    -> (tensor<{N}x{H}xf32> {{amp.updates = "w1"}}, tensor<{H}xf32> {{amp.updates = "g"}},
        tensor<{H}xf32> {{amp.updates = "b"}}, tensor<{H}x{H}xf32> {{amp.updates = "w2"}},
        tensor<{H}x1xf32> {{amp.updates = "w3"}}, tensor<f32> {{amp.metric = "loss"}}) {{
  %h = train.linear %x, %w1 : (tensor<?x{N}xf32>, tensor<{N}x{H}xf32>) -> tensor<?x{H}xf32>
  %n, %mean, %rstd = train.layer_norm %h, %g, %b {{epsilon = 1.0e-5 : f64}} : (tensor<?x{H}xf32>, tensor<{H}xf32>, tensor<{H}xf32>) -> (tensor<?x{H}xf32>, tensor<?xf32>, tensor<?xf32>)
  %a = train.relu %n : tensor<?x{H}xf32>
  %p = train.linear %a, %w2 : (tensor<?x{H}xf32>, tensor<{H}x{H}xf32>) -> tensor<?x{H}xf32>
  %q = train.relu %p : tensor<?x{H}xf32>
  %out = train.linear %q, %w3 : (tensor<?x{H}xf32>, tensor<{H}x1xf32>) -> tensor<?x1xf32>
  %loss = train.mse %out, %y : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<f32>
  %d1, %dg, %db, %d2, %d3 = train.gradients %loss wrt(%w1, %g, %b, %w2, %w3) : (tensor<f32>, tensor<{N}x{H}xf32>, tensor<{H}xf32>, tensor<{H}xf32>, tensor<{H}x{H}xf32>, tensor<{H}x1xf32>) -> (tensor<{N}x{H}xf32>, tensor<{H}xf32>, tensor<{H}xf32>, tensor<{H}x{H}xf32>, tensor<{H}x1xf32>)
  %u1, %ug, %ub, %u2, %u3 = train.sgd %w1, %d1, %lr : (tensor<{N}x{H}xf32>, tensor<{N}x{H}xf32>, tensor<f32>) -> tensor<{N}x{H}xf32>
  return %u1, %ug, %ub, %u2, %u3, %loss : tensor<{N}x{H}xf32>, tensor<{H}xf32>, tensor<{H}xf32>, tensor<{H}x{H}xf32>, tensor<{H}x1xf32>, tensor<f32>
}}
""".replace("%u1, %ug, %ub, %u2, %u3 = train.sgd %w1, %d1, %lr : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>",
            "\n  ".join(f"%u{i} = train.sgd %{w}, %d{i}, %lr : ({t}, {t}, tensor<f32>) -> {t}"
                        for i, w, t in (("1", "w1", f"tensor<{N}x{H}xf32>"), ("g", "g", f"tensor<{H}xf32>"),
                                        ("b", "b", f"tensor<{H}xf32>"), ("2", "w2", f"tensor<{H}x{H}xf32>"),
                                        ("3", "w3", f"tensor<{H}x1xf32>")))))


def sample(count):
    x = rng.standard_normal((count, N))
    y = np.tanh(x[:, :1] * x[:, 1:2]) + 0.5 * x[:, 2:3]
    return np.float32(3e5 * x), np.float32(y)


train_x, train_y = sample(512)
test_x, test_y = sample(512)
np.savez(folder + "units.npz", x=train_x, y=train_y)
files = ("--data", folder + "units.npz")
data = (*files, "--batch-size", 32)


def held_out(weights):
    """The loss on the held-out data, by NumPy."""
    w = {name: np.float64(array) for name, array in weights.items()}
    h = test_x @ w["w1"]
    n = (h - h.mean(1, keepdims=True)) / np.sqrt(h.var(1, keepdims=True) + 1e-5) * w["g"] + w["b"]
    out = np.maximum(np.maximum(n, 0) @ w["w2"], 0) @ w["w3"]
    return np.mean((out - test_y) ** 2)


# NumPy finds the same ranges in one step.
text = ok(*files, "--batch-size", 512, "--steps", 1, "--precision", "f32", "--calibrate", folder + "one.json",
          "--save", folder + "one.npz", model=MODEL)
with open(folder + "one.json") as f:
    one = json.load(f)
byname = {v["name"]: v for v in one["values"]}
x = byname['argument "x"']
assert x["largest"] == float(np.abs(train_x).max()) and x["elements"] == train_x.size, x
assert x["smallest"] == float(np.abs(train_x).min()) and x["fp16"]["overflows"] and not x["bf16"]["overflows"], x
# A value that fits: the error of rounding, against NumPy.
y = byname['argument "y"']
for name, low in (("fp16", train_y.astype(np.float16).astype(np.float32)),):
    error = np.linalg.norm(low - train_y) / np.linalg.norm(train_y)
    assert abs(np.log2(y[name]["error"] / error)) < 0.5, (y[name], error)
assert {v["part"] for v in one["values"]} == {"forward", "backward", "update"}
assert {v.get("gradientOf") for v in one["values"]} == {None, "w1", "g", "b", "w2", "w3"}
assert "update" not in {v["part"] for v in one["values"] if v.get("gradientOf")}
# The run is the run without --calibrate, bit for bit.
ok(*files, "--batch-size", 512, "--steps", 1, "--precision", "f32", "--save", folder + "two.npz", model=MODEL)
first, second = load(folder + "one.npz"), load(folder + "two.npz")
assert all(first[key].tobytes() == second[key].tobytes() for key in second)

# The default policy skips every step. With the ranges, fp16 trains as f32 does,
# over five seeds and on held-out data.
ranges = folder + "ranges.json"
text = ok(*data, "--steps", 64, "--precision", "f32", "--calibrate", ranges, "--quiet", model=MODEL)
assert re.search(r"measured \d+ values in 64 steps, f32, to ", text), text
assert "  bf16    x\n" in text, text
options = re.search(r"--pipeline='(.*)'", text)[1]
assert "init-scale=" in options and "growth-interval=" in options, text
result = run(*data, "--steps", 64, "--precision", "fp16", "--quiet", model=MODEL)
assert result.returncode == 1 and "steps were skipped" in result.stderr, result
losses = {"f32": [], "fp16": []}
for seed in range(5):
    for precision in losses:
        given = () if precision == "f32" else ("--pipeline=" + options,)
        ok(*data, "--epochs", 12, "--seed", seed, "--precision", precision, *given, "--quiet",
           "--save", folder + "end.npz", model=MODEL)
        losses[precision].append(held_out(load(folder + "end.npz")))
mean = {p: np.mean(v) for p, v in losses.items()}
deviation = np.std(losses["f32"], ddof=1)
print(losses, mean, deviation)
assert abs(mean["fp16"] - mean["f32"]) <= 2 * deviation / np.sqrt(5), (losses, deviation)
assert mean["f32"] < 0.8 * np.var(test_y), (mean, np.var(test_y))
# Products after the norm are low, and only the first one is f32.
ir = ok(*data, "--steps", 1, "--precision", "fp16", "--pipeline=ranges=" + ranges, "--print-ir", model=MODEL)
forward = re.findall(r"train\.linear .*? : \((tensor<[^>]*>), ", ir)
assert ["f32" in t for t in forward[:3]] == [True, False, False], forward

fails("--calibrate measures values in f32", *data, "--steps", 1, "--precision", "fp16",
      "--calibrate", ranges, model=MODEL)
# A module in mixed precision has the values of another precision already, and
# rules of loss scaling that options do not change.
with open(folder + "mixed.mlir", "w") as f:
    f.write(ok(*data, "--steps", 1, "--precision", "fp16", "--print-ir", model=MODEL))
mixed = folder + "mixed.mlir"
fails("--calibrate measures values in f32, but function 'step' scales its loss", *data, "--steps", 1, "--calibrate",
      ranges, model=mixed)
for option in ("--loss-scale=8", "--master-weights=copy", "--pipeline=scaler=apex"):
    fails("has no effect: function 'step' scales its loss already", *data, "--steps", 1, "--precision", "fp16", option,
          model=mixed)
ok(*data, "--steps", 1, "--precision", "fp16", model=mixed)
fails("--calibrate and --watch exclude each other", *data, "--steps", 1, "--calibrate", ranges, "--watch",
      model=MODEL)
fails("--calibrate is for a single run", *data, "--steps", 1, "--seeds", 2, "--calibrate", ranges, model=MODEL)
fails("--calibrate needs the name of a file", *data, "--steps", 1, "--calibrate=", model=MODEL)

# Constant loss scales: one of 2^20 or more takes the gradients out of the range
# of f16.
np.savez(folder + "data.npz", **make_data())
linear = ("--data", folder + "data.npz", "--batch-size", 10, "--steps", 12)
text = ok(*linear, "--sweep-scale=1:1099511627776:1024", "--sweep-json", folder + "s.json",
          "--sweep-page", folder + "s.html")
with open(folder + "s.json") as f:
    sweep = json.load(f)
runs = sweep["runs"]
assert [r["lossScale"] for r in runs] == [2.0**e for e in (0, 10, 20, 30, 40)], runs
zeros = [r["zeroShare"] for r in runs]
assert zeros == sorted(zeros, reverse=True), zeros
# The first loss is finite. A constant scale has no guard.
assert runs[-1]["badSteps"] == 11 and runs[-1]["overflowShare"] > 0, runs
assert all(r["badSteps"] == 0 and abs(r["loss"] - sweep["f32Loss"]) < 0.05 for r in runs[:2]), runs
assert sweep["chosen"] == 2.0**10, sweep
assert f"choose --loss-scale={sweep['chosen']:.9g}" in text, text
with open(folder + "s.html") as f:
    page = f.read()
assert page.count("<svg") >= 3 and "Final loss" in page and "log2 of the loss scale" in page
# A logarithm of zero in each step. The loss is not finite in f32 either.
with open(folder + "log.mlir", "w") as f:
    f.write("""
func.func @step(%x: tensor<?x2xf32> {amp.role = "batch", amp.name = "x"},
                %w: tensor<2x2xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<kaiming_uniform>})
    -> (tensor<2x2xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %lr = train.constant dense<0.1> : tensor<f32>
  %h = train.matmul %x, %w : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %r = train.sub %h, %h : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %e = train.log %r : tensor<?x2xf32>
  %loss = train.reduce_mean %e {dims = array<i64: 0, 1>} : (tensor<?x2xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %n = train.sgd %w, %g, %lr : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %n, %loss : tensor<2x2xf32>, tensor<f32>
}
""")
np.savez(folder + "log.npz", x=np.ones((8, 2), np.float32))
text = run("--data", folder + "log.npz", "--batch-size", 8, "--steps", 2, "--quiet", "--sweep-scale=1:16",
           model=folder + "log.mlir").stdout
assert "no scale helps: the loss is not finite in f32 either; see --explain" in text and "choose" not in text, text
fails("wrong value of --sweep-scale: '5:1'", *linear, "--sweep-scale=5:1")
fails("wrong value of --sweep-scale: '1:8:1'", *linear, "--sweep-scale=1:8:1")
fails("--sweep-scale compares loss scales of fp16", *linear, "--sweep-scale", "--precision", "bf16")
fails("--sweep-scale and --loss-scale exclude each other", *linear, "--sweep-scale", "--loss-scale", "8")
fails("--sweep-json needs --sweep-scale", *linear, "--sweep-json", folder + "s.json")
fails("--sweep-scale needs --steps or --epochs", "--data", folder + "data.npz", "--sweep-scale")
