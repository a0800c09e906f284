# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Execution tests of two optimizers, one of which overflows, two losses with a scale each, gradients
# accumulated over micro-batches, and published metrics.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import json
import subprocess
import sys

import numpy as np

folder = sys.argv[1]

# Losses mean(x . a) and mean(y . b) of two optimizers with momentum, so that
# gradients are the means of x and y; y is infinite in one sample.
STEP = """
func.func @step(
    %a: tensor<4xf32> {{amp.role = "parameter", amp.name = "a", amp.init = #amp.init<ones>{first}}},
    %b: tensor<4xf32> {{amp.role = "parameter", amp.name = "b", amp.init = #amp.init<ones>{second}}},
    %ma: tensor<4xf32> {{amp.role = "optimizer_state", amp.name = "ma", amp.init = #amp.init<zeros>}},
    %mb: tensor<4xf32> {{amp.role = "optimizer_state", amp.name = "mb", amp.init = #amp.init<zeros>}},
    %mean: tensor<4xf32> {{amp.role = "model_state", amp.name = "mean", amp.init = #amp.init<zeros>}},
    %lr: tensor<f32> {{amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.5>}},
    %x: tensor<8x4xf32> {{amp.role = "batch", amp.name = "x"}},
    %y: tensor<8x4xf32> {{amp.role = "batch", amp.name = "y"}})
    -> (tensor<4xf32> {{amp.updates = "a"}}, tensor<4xf32> {{amp.updates = "b"}},
        tensor<4xf32> {{amp.updates = "ma"}}, tensor<4xf32> {{amp.updates = "mb"}},
        tensor<4xf32> {{amp.updates = "mean"}}, tensor<f32> {{amp.metric = "loss"}}) {{
  %xa = train.mul %x, %a : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %la = train.reduce_mean %xa {{dims = array<i64: 0, 1>}} : (tensor<8x4xf32>) -> tensor<f32>
  %yb = train.mul %y, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %lb = train.reduce_mean %yb {{dims = array<i64: 0, 1>}} : (tensor<8x4xf32>) -> tensor<f32>
  %ga = train.gradients %la wrt(%a) {{name = "one"}} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %gb = train.gradients %lb wrt(%b) {{name = "two"}} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %na, %nma = train.sgd %a, %ga, %lr, %ma {{momentum = 0.5 : f64}} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %nb, %nmb = train.sgd %b, %gb, %lr, %mb {{momentum = 0.5 : f64}} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %m = train.reduce_mean %x {{dims = array<i64: 0>}} : (tensor<8x4xf32>) -> tensor<4xf32>
  return %na, %nb, %nma, %nmb, %m, %la : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
}}
"""

rng = np.random.default_rng(3)
x = rng.integers(1, 5, (8, 4)).astype(np.float32)
y = rng.integers(1, 5, (8, 4)).astype(np.float32)
np.savez(f"{folder}/good.npz", train_x=x, train_y=y)
y[5, 2] = np.inf
np.savez(f"{folder}/bad.npz", train_x=x, train_y=y)


def run(text, data, steps, *options):
    """The metrics of each step, and the state at the end."""
    with open(f"{folder}/step.mlir", "w") as file:
        file.write(text)
    done = subprocess.run(
        ["amp-run", f"{folder}/step.mlir", "--data", f"{folder}/{data}.npz", "--batch-size", "8", "--steps", str(steps),
         "--precision", "f32", "--loss-scale", "dynamic", "--quiet", "--metrics-json", f"{folder}/m.json",
         "--save", f"{folder}/s.npz", *options],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{folder}/m.json") as file:
        metrics = json.load(file)["runs"][0]["steps"]
    with np.load(f"{folder}/s.npz") as file:
        return metrics, {key: file[key] for key in file if not key.startswith("__amp")}


two = STEP.format(first=', amp.optimizer = "first"', second=', amp.optimizer = "second"')
one = STEP.format(first="", second="")
extras = "--pipeline", "count-skipped gradient-norm guard-model-state"
gradient = {"a": x.mean(0) / 4, "b": None}

# One optimizer: nothing moves, model state as it is asked for.
metrics, state = run(one, "bad", 1, *extras)
assert (state["a"] == 1).all() and (state["b"] == 1).all() and (state["mean"] == 0).all(), state
assert state["skipped_steps"] == 1 and metrics[0]["skipped_steps"] == 1 and metrics[0]["skipped"]
assert state["loss_scale"] == 32768 and metrics[0]["gradient_norm"] in (None, "inf", "Infinity", np.inf), metrics
_, state = run(one, "bad", 1)
assert (state["mean"] == x.mean(0)).all() and (state["a"] == 1).all()

# Two: the first steps, with its momentum, and the scale backs off once.
metrics, state = run(two, "bad", 2, *extras)
first = 1 - 0.5 * gradient["a"]
assert np.allclose(state["a"], first - 0.5 * 1.5 * gradient["a"]) and np.allclose(state["ma"], 1.5 * gradient["a"])
assert (state["b"] == 1).all() and (state["mb"] == 0).all() and (state["mean"] == 0).all()
assert state["loss_scale"] == 16384 and state["skipped_steps"] == 2
assert [m["skipped.first"] for m in metrics] == [0, 0] and [m["skipped.second"] for m in metrics] == [1, 1]
assert [m["skipped"] for m in metrics] == [1, 1]

# A scale for each loss: that of the loss that overflows backs off.
metrics, state = run(two, "bad", 2, "--pipeline", "scale-per-loss")
assert state["loss_scale.one"] == 65536 and state["loss_scale.two"] == 16384, state
assert state["growth_tracker.one"] == 2 and state["growth_tracker.two"] == 0
assert (state["b"] == 1).all() and np.allclose(state["a"], first - 0.5 * 1.5 * gradient["a"])
# Even then one optimizer steps with all its gradients or not at all.
_, state = run(one, "bad", 1, "--pipeline", "scale-per-loss")
assert state["loss_scale.one"] == 65536 and state["loss_scale.two"] == 32768
assert all((state[key] == (1 if key in "ab" else 0)).all() for key in ("a", "b", "ma", "mb")), state

# A count of steps that optimizers share, or that another one owns: Adam of the
# one that steps computes with the new count, as it does without a guard.
ADAM = """
func.func @step(
    %a: tensor<4xf32> {{amp.role = "parameter", amp.name = "a", amp.init = #amp.init<ones>{first}}},
    %b: tensor<4xf32> {{amp.role = "parameter", amp.name = "b", amp.init = #amp.init<ones>{second}}},
    %t: tensor<f32> {{amp.role = "optimizer_state", amp.name = "t", amp.init = #amp.init<zeros>{count}}},
    %m: tensor<4xf32> {{amp.role = "optimizer_state", amp.name = "m", amp.init = #amp.init<zeros>{first}}},
    %v: tensor<4xf32> {{amp.role = "optimizer_state", amp.name = "v", amp.init = #amp.init<zeros>{first}}},
    %mean: tensor<4xf32> {{amp.role = "optimizer_state", amp.name = "mean", amp.init = #amp.init<zeros>}},
    %lr: tensor<f32> {{amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.5>}},
    %x: tensor<8x4xf32> {{amp.role = "batch", amp.name = "x"}},
    %y: tensor<8x4xf32> {{amp.role = "batch", amp.name = "y"}})
    -> (tensor<4xf32> {{amp.updates = "a"}}, tensor<4xf32> {{amp.updates = "b"}}, tensor<f32> {{amp.updates = "t"}},
        tensor<4xf32> {{amp.updates = "m"}}, tensor<4xf32> {{amp.updates = "v"}}, tensor<4xf32> {{amp.updates = "mean"}},
        tensor<f32> {{amp.metric = "loss"}}) {{
  %xa = train.mul %x, %a : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %la = train.reduce_mean %xa {{dims = array<i64: 0, 1>}} : (tensor<8x4xf32>) -> tensor<f32>
  %yb = train.mul %y, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %lb = train.reduce_mean %yb {{dims = array<i64: 0, 1>}} : (tensor<8x4xf32>) -> tensor<f32>
  %ga = train.gradients %la wrt(%a) {{name = "one"}} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %gb = train.gradients %lb wrt(%b) {{name = "two"}} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %one = train.constant dense<1.0> : tensor<f32>
  %t1 = train.add %t, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %na, %nm, %nv = train.adam %a, %ga, %lr, %m, %v, %t1 : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %nb = train.sgd %b, %gb, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %half = train.constant dense<0.5> : tensor<f32>
  %sum = train.add %mean, %na : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %average = train.mul %sum, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %na, %nb, %t1, %nm, %nv, %average, %la : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>
}}
"""
names = {"first": ', amp.optimizer = "A"', "second": ', amp.optimizer = "B"'}
for count in ("", names["second"]):
    shared = ADAM.format(**names, count=count)
    _, expected = run(shared, "good", 1)
    for options in ((), ("--pipeline", "scale-per-loss")):
        _, state = run(shared, "bad", 1, *options)
        for key in ("a", "m", "v", "mean"):
            assert np.isfinite(state[key]).all() and (state[key] == expected[key]).all(), (count, key, state)
        assert state["t"] == 0 and (state["b"] == 1).all(), state
# All of one optimizer, with a scale for each loss: nothing moves, not even the
# mean of a weight, for which its own gradient would do.
both = {"first": names["first"], "second": names["first"]}
for names in ({"first": "", "second": ""}, both):
    _, state = run(ADAM.format(**names, count=""), "bad", 1, "--pipeline", "scale-per-loss")
    assert state["loss_scale.one"] == 65536 and state["loss_scale.two"] == 32768
    assert all((state[key] == (1 if key in "ab" else 0)).all() for key in ("a", "b", "t", "m", "v", "mean")), state

# Without an overflow no scheme changes a bit of the results of a run without scaling.
_, plain = run(one, "good", 3, "--loss-scale", "none", "--pipeline", "gradient-norm")
for text, options in ((one, ()), (two, ()), (two, ("--pipeline", "scale-per-loss"))):
    metrics, state = run(text, "good", 3, *options)
    assert not any(m["skipped"] for m in metrics)
    for key in plain:
        assert plain[key].tobytes() == state[key].tobytes(), key
good = np.load(f"{folder}/good.npz")
norm = np.sqrt(((good["train_x"].mean(0) / 4) ** 2).sum() + ((good["train_y"].mean(0) / 4) ** 2).sum())
metrics, _ = run(two, "good", 1, "--pipeline", "gradient-norm")
assert abs(metrics[0]["gradient_norm"] - norm) < 1e-6 * norm

# Micro-batches: a loop accumulates the scaled gradients of eight rows in f32;
# they are unscaled once, and one bad row skips the whole step.
ACCUMULATED = """
func.func @step(
    %a: tensor<4xf32> {amp.role = "parameter", amp.name = "a", amp.init = #amp.init<ones>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.5>},
    %y: tensor<8x4xf32> {amp.role = "batch", amp.name = "y"},
    %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "a"}, tensor<f32> {amp.metric = "loss"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = train.constant dense<0.0> : tensor<4xf32>
  %zero = train.constant dense<0.0> : tensor<f32>
  %share = train.constant dense<0.125> : tensor<f32>
  %sum:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zeros, %total = %zero) -> (tensor<4xf32>, tensor<f32>) {
    %row = tensor.extract_slice %y[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %product = train.mul %row, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %mean = train.reduce_mean %product {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %loss = train.mul %mean, %share : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %s = train.mul %seed, %share : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %quarter = train.constant dense<0.25> : tensor<f32>
    %q = train.mul %s, %quarter : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %g = train.mul %row, %q : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %next = train.add %acc, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %nextTotal = train.add %total, %loss : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %next, %nextTotal : tensor<4xf32>, tensor<f32>
  } {amp.gradient_of = ["a", ""]}
  %n = train.sgd %a, %sum#0, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %n, %sum#1 : tensor<4xf32>, tensor<f32>
}
"""
metrics, state = run(ACCUMULATED, "good", 1)
assert (state["a"] == 1 - 0.5 * (good["train_y"].mean(0) / 4)).all(), state
assert metrics[0]["loss"] == good["train_y"].mean() and state["growth_tracker"] == 1
metrics, state = run(ACCUMULATED, "bad", 1)
assert (state["a"] == 1).all() and metrics[0]["skipped"] and state["loss_scale"] == 32768

# Clipping by value comes after the unscaling, so it equals a run without a scale.
CLIPPED = """
func.func @step(
    %a: tensor<4xf32> {amp.role = "parameter", amp.name = "a", amp.init = #amp.init<ones>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 1.0>},
    %y: tensor<8x4xf32> {amp.role = "batch", amp.name = "y"},
    %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "a"}, tensor<f32> {amp.metric = "loss"}) {
  %p = train.mul %y, %a : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %loss = train.reduce_mean %p {dims = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%a) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %c = train.clip %g {min = 0.0 : f64, max = 0.625 : f64} : tensor<4xf32>
  %n = train.sgd %a, %c, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %n, %loss : tensor<4xf32>, tensor<f32>
}
"""
gradients = good["train_y"].mean(0) / 4
assert (gradients > 0.625).any() and (gradients < 0.625).any(), gradients
for options in ((), ("--loss-scale", "none"), ("--loss-scale", "1024")):
    _, state = run(CLIPPED, "good", 1, *options)
    assert (state["a"] == 1 - np.minimum(gradients, np.float32(0.625))).all(), (options, state, gradients)
_, state = run(CLIPPED, "bad", 1)
assert (state["a"] == 1).all()

# A parameter with a gradient of each of two losses: the norm reads their
# sum, which the optimizer takes.
SUMMED = """
func.func @step(
    %a: tensor<4xf32> {amp.role = "parameter", amp.name = "a", amp.init = #amp.init<ones>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 1.0>},
    %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"},
    %y: tensor<8x4xf32> {amp.role = "batch", amp.name = "y"})
    -> (tensor<4xf32> {amp.updates = "a"}, tensor<f32> {amp.metric = "loss"}) {
  %p = train.mul %x, %a : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %l = train.reduce_mean %p {dims = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
  %q = train.mul %y, %a : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %k = train.reduce_mean %q {dims = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
  %g = train.gradients %l wrt(%a) {name = "one"} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %h = train.gradients %k wrt(%a) {name = "two"} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %s = train.add %g, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = train.sgd %a, %s, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %n, %l : tensor<4xf32>, tensor<f32>
}
"""
for scale in ("none", "1024", "dynamic", "layerwise"):
    metrics, state = run(SUMMED, "good", 1, "--loss-scale", scale, "--pipeline", "gradient-norm")
    norm = np.sqrt(((1 - state["a"]) ** 2).sum())
    assert abs(metrics[0]["gradient_norm"] - norm) < 1e-6 * norm, (scale, metrics, norm)
