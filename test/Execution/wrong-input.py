# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For each fault of a module, the data or the options, amp-run prints one error, fails, and writes
# nothing.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import MODEL, fails, make_data, run

folder = sys.argv[1] + "/"
arrays = make_data()
np.savez(folder + "data.npz", **arrays)
data = ("--data", folder + "data.npz", "--steps", 1, "--batch-size", 10)
before = set(os.listdir(folder))


def bad_data(message, *options, **changes):
    changed = {k: v for k, v in {**arrays, **changes}.items() if v is not None}
    np.savez(folder + "bad.npz", **changed)
    fails(message, "--data", folder + "bad.npz", *data[2:], "--save", folder + "out.npz", *options)
    os.remove(folder + "bad.npz")


x, y = arrays["train_x"], arrays["train_y"]

# Data.
fails("no such file", "--data", folder + "none.npz")
fails("there are no data for 'x', 'y': give --data <file.npz> or --synthetic", "--steps", 1)
with open(folder + "cut.npz", "wb") as f:
    f.write(open(folder + "data.npz", "rb").read()[:300])
fails("not an .npz archive, or truncated", "--data", folder + "cut.npz")
os.remove(folder + "cut.npz")
bad_data("no array 'train_y' or 'y' for batch argument 'y'", train_y=None)
bad_data("is 50x5xf32, expected ?x4xf32", train_x=np.zeros((50, 5), np.float32))
bad_data("has element type f64, expected f32", train_x=x.astype(np.float64))
bad_data("has 49 samples, but 'train_x' has 50", train_y=y[:49])
bad_data("out of range, expected 0 to 2", train_y=y + 1)
bad_data("value -1 at element", train_y=y - 1)
bad_data("out of range, expected 0 to 2", "--eval", test_y=arrays["test_y"] + 1)
bad_data("no array 'test_x' or 'x'", "--eval", test_x=None)
bad_data("has 50 samples, fewer than one batch of 64", "--batch-size", 64)
bad_data("has no samples", train_x=x[:0], train_y=y[:0])
fails("array 'train_x' of", *data, "--data", folder + "data.npz")

# Weights.
for message, weights in (
    ("array 'weight' in", {"weight": np.zeros((3, 4), np.float32)}),
    ("is 4x3xi32, expected 4x3xf32", {"weight": np.zeros((4, 3), np.int32)}),
    ("has no array for any parameter", {"other": np.zeros(3)}),
):
    np.savez(folder + "w.npz", **weights)
    fails(message, *data, "--init", folder + "w.npz")
    os.remove(folder + "w.npz")
# A part of them is enough, and said.
np.savez(folder + "w.npz", bias=np.zeros(3, np.float32))
result = run(*data, "--init", folder + "w.npz")
assert result.returncode == 0, result
assert "w.npz' has no array for 'weight': initial values stay" in result.stderr
os.remove(folder + "w.npz")
fails("no such file", *data, "--init", folder + "w.npz")
fails("no such file", *data, "--load", folder + "w.npz")

# Options.
for options, message in (
    (("--foo",), "amp-run: error: unknown option '--foo'; 'amp-run --help' lists the options"),
):
    result = run(*data[:2], *options)
    assert result.returncode == 1 and message in result.stderr, result
for options, message in (
    (("--precision", "fp4"), "unknown precision 'fp4', expected f32, fp16, bf16, fp8 or fp8- and a recipe"),
    (("--precision", "fp8-often"), "unknown recipe 'often', expected current, delayed, rowwise, block-128, mxfp8"),
    (("--precision", "bf16", "--fp8-recipe", "current"), "--fp8-recipe needs fp8 in --precision or --compare"),
    (("--compare", "f32,int8"), "unknown precision 'int8'"),
    (("--compare", "f32", "--precision", "f32"), "exclude each other"),
    (("--epochs", 1), "--steps and --epochs exclude each other"),
    (("--seeds", 0), "--seeds must be positive, got 0"),
    (("--seeds", 2, "--seed", 2**64 - 1), "--seeds 2 go beyond the largest seed"),
    (("--last-batch", "pad"), "wrong value of --last-batch: 'pad'"),
    (("--set", "lr"), "wrong value of --set: 'lr', expected name=number"),
    (("--set", "lr=fast"), "wrong value of --set: 'lr=fast'"),
    (("--set", "rate=1"), "there is no hyperparameter 'rate'; the step has lr"),
    (("--loss-scale", "none"), "--loss-scale needs --precision or --compare"),
    (("--master-weights", "copy"), "--master-weights needs --precision or --compare"),
    (("--precision", "fp16", "--loss-scale", "-1"), "wrong value of --loss-scale: '-1'"),
    (("--precision", "fp16", "--loss-scale", "inf"), "wrong value of --loss-scale: 'inf'"),
    (("--precision", "fp16", "--pipeline", "precision=bf16"),
     "--precision is 'fp16', but --pipeline has 'precision=bf16'; expected one of them"),
    (("--compare", "f32,bf16", "--pipeline", "precision=bf16"), "--precision is 'f32', but --pipeline has"),
    (("--precision", "fp16", "--loss-scale", 8, "--pipeline", "loss-scale=dynamic"),
     "--loss-scale is '8', but --pipeline has 'loss-scale=dynamic'"),
    (("--precision", "fp16", "--master-weights", "copy", "--pipeline", "master-weights=none"),
     "--master-weights is 'copy', but --pipeline has 'master-weights=none'"),
    (("--precision", "fp16", "--pipeline", "mode=inference"), "the pipeline has 'mode=inference', which leaves no"),
    (("--precision", "fp16", "--master-weights", "no"), "wrong value of --master-weights: 'no'"),
    (("--entry", "main"), "the module has no function 'main'; it has 'step'"),
    (("--init", "a", "--load", "b"), "--init and --load exclude each other"),
    (("--load", "a", "--seed", 1), "--seed and --load exclude each other"),
    (("--seeds", 2, "--save", folder + "s.npz"), "--save is for a single run"),
    (("--compare", "f32", "--predict", folder + "s.npz"), "--predict is for a single run"),
    (("--save", folder + "nowhere/s.npz"), "cannot write"),
    (("--metrics-csv", folder), "Is a directory"),
):
    fails(message, *data, *options)
fails("--batch-size must be positive, got 0", *data[:2], "--batch-size", 0)
for option in ("--steps", "--epochs"):
    for text in ("-1", "x", "1.5", "9223372036854775808"):
        fails(f"wrong value of {option}: '{text}', expected a number that is not negative", *data[:2], f"{option}={text}")

# Modules.
step = open(MODEL).read()


def bad_module(message, text, *options):
    with open(folder + "bad.mlir", "w") as f:
        f.write(text)
    fails(message, *data, *options, "--save", folder + "out.npz", model=folder + "bad.mlir")
    os.remove(folder + "bad.mlir")


fails("bad.mlir", *data, model=folder + "bad.mlir")
bad_module("is unknown", "what is this?")
bad_module("no function has arguments with 'amp.role'", "func.func @f() { return }")
bad_module(
    "function 'f' is not a training step", step + "\nfunc.func @f() { return }", "--entry", "f"
)
bad_module("has several training steps", step + step.replace("@step", "@other"))
bad_module("argument 0 has no 'amp.role'", step.replace('amp.role = "parameter", amp.name = "weight"', 'amp.name = "weight"'))
bad_module("argument 4 has no 'amp.name'", step.replace(', amp.name = "x"', ""))
bad_module("unknown role", step.replace('"hyperparameter"', '"constant"'))
bad_module("result 3 must have exactly one of", step.replace(' {amp.metric = "loss"}', ""))
bad_module("state 'weight' has no initial value", step.replace(", amp.init = #amp.init<xavier_uniform>", ""))
bad_module("hyperparameter 'lr' has no value", step.replace(", amp.init = #amp.init<constant, value = 0.5>", ""))
bad_module("--data needs a batch argument, but the step has none", step.replace('amp.role = "batch"', 'amp.role = "hyperparameter", amp.init = #amp.init<zeros>').replace("?x", "7x"))
bad_module("--batch-size is 10, but the step fixes the batch at 7", step.replace("?x", "7x"))
bad_module(
    "batch arguments 'x' and 'y' disagree: 7 and 6 samples",
    """func.func @step(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>},
    %x: tensor<7x4xf32> {amp.role = "batch", amp.name = "x"},
    %y: tensor<6xi32> {amp.role = "batch", amp.name = "y"})
    -> (tensor<4xf32> {amp.updates = "w"}) {
  return %w : tensor<4xf32>
}""",
)
bad_module("metric 'logits' has rank 2, expected a scalar", step.replace('amp.prediction = "logits"', 'amp.metric = "logits"'))
bad_module("argument '__amp_progress__' has a reserved name", step.replace('"velocity"', '"__amp_progress__"'))
bad_module("prediction '__amp_types__' has a reserved name", step.replace('"logits"', '"__amp_types__"'))
for name in ("step", "epoch", "seed", "precision"):
    bad_module(
        f"metric '{name}' has a reserved name: it is a column of the metrics already",
        step.replace('amp.metric = "loss"', f'amp.metric = "{name}"'),
    )
call = """
func.func private @callee(%w: tensor<4x3xf32>) -> tensor<4x3xf32> BODY
func.func @step(
    %w: tensor<4x3xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>},
    %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x3xf32> {amp.updates = "w"}) {
  %0 = func.call @callee(%w) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}"""
recursive = "{ %0 = func.call @callee(%w) : (tensor<4x3xf32>) -> tensor<4x3xf32> return %0 : tensor<4x3xf32> }"
for options in ((), ("--precision", "fp16")):
    bad_module(
        "cannot run the call of 'callee': it is only declared, expected a function with a body",
        call.replace("BODY", ""), *options,
    )
    bad_module(
        "cannot run the call of 'callee': it is recursive", call.replace("BODY", recursive), *options
    )
no_prediction = step.replace(', tensor<?x3xf32> {amp.prediction = "logits"}', "")
no_prediction = no_prediction.replace("%loss, %logits :", "%loss :").replace("tensor<f32>, tensor<?x3xf32>\n", "tensor<f32>\n")
bad_module("there is nothing to evaluate", no_prediction, "--eval")
bad_module("the step has no result with 'amp.prediction'", no_prediction, "--predict", folder + "p.npz")
bad_module(
    "prediction 'loss' is f32, expected dimension 0 to count the samples",
    step.replace('amp.metric = "loss"', 'amp.prediction = "loss"'), "--predict", folder + "p.npz",
)

# Nothing was left behind.
assert set(os.listdir(folder)) == before, os.listdir(folder)
