# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a user of amp-run alone gets wrong: each case ends with one error that
# says what was expected, in the words of amp-run.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import MODEL, fails, make_data, ok, run

folder = sys.argv[1] + "/"
arrays = make_data()
np.savez(folder + "data.npz", **arrays)
data = ("--data", folder + "data.npz", "--batch-size", 10, "--quiet")


def write(name, text):
    with open(folder + name, "w") as f:
        f.write(text)
    return folder + name


# Ranges of another model, of no step, and of data that are not numbers.
ranges = folder + "ranges.json"
ok(*data, "--steps", 3, "--precision", "f32", "--calibrate", ranges)
use = (*data, "--steps", 3, "--precision", "fp16", "--pipeline=ranges=" + ranges)
ok(*use)
with open(MODEL) as f:
    model = f.read()
other = write("linear.mlir", "\n" + model)
fails("are from another module: the module has no value", *use, model=other)
wide = write("wide.mlir", model.replace("4x3", "5x3").replace("?x4", "?x5"))
np.savez(folder + "wide.npz", **{k: np.pad(v, ((0, 0), (0, 1))) if "x" in k else v for k, v in arrays.items()})
assert fails("are from another module", *use[2:], "--data", folder + "wide.npz", model=wide)
fails("--calibrate needs a step to measure, but --steps is 0", *data, "--steps", 0, "--calibrate", ranges)
bad = dict(arrays)
bad["train_x"] = bad["train_x"].copy()
bad["train_x"][7, 2] = np.nan
np.savez(folder + "bad.npz", **bad)
nan = ("--data", folder + "bad.npz", "--batch-size", 10, "--no-shuffle", "--quiet")
fails("""in step 1 the value 'argument "x"' has 1 elements that are NaN""", *nan, "--steps", 5, "--precision", "f32",
      "--calibrate", folder + "nan.json")
assert not os.path.exists(folder + "nan.json")
fails("--search: in step 1 the value", *nan, "--steps", 5, "--precision", "bf16", "--search", folder + "nan.yaml")

# A run whose losses are NaN learned nothing. Its metrics are written.
result = run(*nan, "--steps", 8, "--precision", "f32", "--metrics-csv", folder + "nan.csv")
assert result.returncode == 1 and "the loss is NaN in all 8 steps" in result.stderr, result
assert "final loss: nan" in result.stdout and os.path.exists(folder + "nan.csv"), result
# A run that recovers is not such a run: the loss scale skips the bad batch.
assert run(*nan, "--steps", 8, "--precision", "fp16").returncode == 0
# A smaller loss scale does not mend a NaN, although it still fell within the last twenty steps.
huge = ("--data", folder + "data.npz", "--batch-size", 10, "--quiet", "--precision", "fp16", "--set", "lr=1e30")
result = run(*huge, "--steps", 24)
assert result.returncode == 1 and "the loss is NaN in the last 23 steps" in result.stderr, result
assert run(*huge, "--steps", 8).returncode == 0
# Tables have no signs of NaN.
compared = run(*nan, "--steps", 4, "--compare", "f32,bf16", "--diverge")
assert compared.returncode == 1 and "-nan" not in compared.stdout and "nan" in compared.stdout, compared

# A file on standard output is alone there.
for option in ("--metrics-json", "--metrics-csv", "--watch-json", "--calibrate"):
    result = run(*data, "--steps", 2, *(("--watch",) if "watch" in option else ()), option, "-")
    assert result.returncode == 0 and "final loss: " in result.stderr, (option, result)
    if "csv" not in option:
        json.loads(result.stdout)
    else:
        assert result.stdout.startswith("precision,seed") and "final" not in result.stdout, result
fails("--metrics-csv and --metrics-json both write to standard output", *data, "--steps", 2, "--metrics-json", "-",
      "--metrics-csv", "-")

# Options of the pipeline.
low = (*data, "--steps", 2, "--precision", "fp16")
for text, message in (
        ("growht-interval=5", "amp-training-pipeline: unknown option 'growht-interval', did you mean 'growth-interval'"),
        ("growth_interval=5", "unknown option 'growth_interval', did you mean 'growth-interval'"),
        ("foo=1", "amp-training-pipeline: unknown option 'foo'\n"),
        ("scaler=amp scaler=apex", "amp-training-pipeline: option 'scaler' is given twice"),
        ("fp8-margin=x", "wrong value of option 'fp8-margin': 'x', expected an integer"),
        ("fp8-keep-first=-1", "wrong value of option 'fp8-keep-first': '-1', expected an integer that is not negative"),
        ("ranges-margin=x", "wrong value of option 'ranges-margin': 'x', expected a number"),
        ("gradient-norm=maybe", "wrong value of option 'gradient-norm': 'maybe', expected true or false"),
        ("policy=/tmp", "amp-run: error: cannot read policy '/tmp'"),
        ("growth-interval=x", "amp-run: error: amp-insert-loss-scaling: expected 'growth-interval'")):
    shown = fails(message, *low, "--pipeline", text)
    assert "Parser" not in shown and ":0:" not in shown and shown.count("\n") == 1, shown
# Options of the tool: those of the pipeline, of other programs, and typing errors.
for option, meant in (
        ("--growth-interval=5", "--pipeline='growth-interval=5'"), ("--grwoth-interval=5", "--pipeline='growth-interval=5'"),
        ("--gradient-norm", "--pipeline='gradient-norm'"), ("--policy=apex-O1", "--pipeline='policy=apex-O1'"),
        ("--scaler=apex", "--pipeline='scaler=apex'"), ("-init-scale=8", "--pipeline='init-scale=8'"),
        ("--loss_scale=8", "--loss-scale=8"), ("--masterweights=copy", "--master-weights=copy"),
        ("--bach-size=4", "--batch-size=4"), ("--batch=4", "--batch-size=4"), ("--epoch=1", "--epochs=1"),
        ("--threads=2", "--num-threads=2"), ("--watchevery=2", "--watch-every=2"), ("--no-shufle", "--no-shuffle"),
        ("--print-IR", "--print-ir"), ("--lr=0.1", "--set=lr=value, with the name of the hyperparameter"),
        ("--gpu", "--backend=cuda"), ("--resume", "--load=state.npz"), ("-o", "--save=state.npz")):
    name = option.lstrip("-").split("=")[0]
    shown = fails(f"amp-run: error: unknown option '--{name}', did you mean {meant}\n", *low, option)
    assert shown.count("\n") == 1, shown
# A value that is optional follows "=". It is not another argument.
for option, value in (("sweep-scale", "1,1024"), ("explain", "5")):
    fails(f"amp-run: error: a value of '--{option}' follows '=', did you mean --{option}={value}\n", *low, "--" + option, value)
# What has no effect is an error, unless another run of the command has it.
fails("option 'growth-interval' has no effect without a loss scale, which bf16 has only with loss-scale=dynamic",
      *data, "--steps", 2, "--precision", "bf16", "--pipeline", "growth-interval=5")
for precision, text, message in (
        ("bf16", "fp8-margin=3", "option 'fp8-margin' has no effect without 8-bit products, expected precision=fp8 or"),
        ("fp16", "fp8-keep=w*", "option 'fp8-keep' has no effect without 8-bit products"),
        ("bf16", "fp8-report=x.json", "option 'fp8-report' has no effect without 8-bit products"),
        ("fp32", "fp8-recipe=current", "option 'fp8-recipe' has no effect with precision=f32, expected precision=fp8, bf16"),
        ("fp8", "fp8-recipe=none", "precision=fp8 has no effect with fp8-recipe=none, expected precision=bf16"),
        ("bf16", "policy=fp8-delayed fp8-recipe=none fp8-margin=2", "option 'fp8-margin' has no effect without 8-bit"),
        ("fp8", "fp8-algorithm=max", "option 'fp8-algorithm' has no effect with the recipe current, expected fp8-recipe=d"),
        ("bf16", "policy=fp8-rowwise fp8-history-length=5", "'fp8-history-length' has no effect with the recipe rowwise"),
        ("fp8", "fp8-backward=high fp8-high-weight-gradients", "has no effect with fp8-backward=high, expected fp8-backw")):
    fails(message, *data, "--steps", 2, "--precision", precision, "--pipeline", text)
for precision, text in (("fp8-delayed", "fp8-algorithm=max fp8-keep-last=0"), ("fp16", "fp8-recipe=delayed fp8-margin=1"),
                        ("bf16", "policy=fp8-delayed fp8-history-length=5 fp8-keep-last=0")):
    assert run(*data, "--steps", 2, "--precision", precision, "--pipeline", text).returncode == 0, text
assert run(*data, "--steps", 2, "--compare", "f32,fp8", "--pipeline", "fp8-margin=1").returncode == 0
result = run(*data, "--steps", 2, "--precision", "fp8", "--pipeline", "fp8-keep=wieght fp8-keep-last=0")
assert "warning: 'wieght' names no layer whose products keep 16 bits, expected the name of a weight such as 'weight'" in (
    result.stderr), result
fails("option 'scaler' has no effect with the constant loss scale 8", *low, "--loss-scale", "8", "--pipeline",
      "scaler=apex")
ok(*data, "--steps", 2, "--compare", "f32,fp16,bf16", "--pipeline", "growth-interval=5")
ok(*data, "--steps", 2, "--precision", "bf16", "--loss-scale", "dynamic", "--pipeline", "growth-interval=5")

# Modules.
shlo = write("shlo.mlir", """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}""")
shown = fails("'amp-opt --allow-unregistered-dialect --stablehlo-to-train' and amp_jax make one from StableHLO", *low,
              model=shlo)
assert "shlo.mlir:2:" in shown and "with the MLIR tool used" not in shown, shown
step = """func.func @step(
    %w: tensor<6x6xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_uniform>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.1>},
    %x: tensor<?x6xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<6x6xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  BODY
  %loss = train.mse %h, %x : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %n = train.sgd %w, %g, %lr : (tensor<6x6xf32>, tensor<6x6xf32>, tensor<f32>) -> tensor<6x6xf32>
  return %n, %loss : tensor<6x6xf32>, tensor<f32>
}"""
loop = write("loop.mlir", step.replace("BODY", """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %h = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<?x6xf32> {
    %m = train.matmul %a, %w : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
    scf.yield %m : tensor<?x6xf32>
  }"""))
np.savez(folder + "six.npz", x=np.ones((64, 6), np.float32))
six = ("--data", folder + "six.npz", "--quiet", "--steps", 1)
fails("expected a static shape; 'train-set-batch' gives the batch dimension its size before", *six, model=loop)
fixed = folder + "fixed.mlir"
subprocess.run(["amp-opt", loop, "--train-set-batch=batch-size=16", "-o", fixed], check=True)
ok(*six, model=fixed)
constant = write("constant.mlir", step.replace("BODY", "%h = train.neg %x : tensor<?x6xf32>"))
warned = run(*six, model=constant)
assert warned.returncode == 0 and "warning: the loss depends on none of" in warned.stderr, warned
assert "and a loss that depends on parameters" in run(*six, "--precision", "fp16", model=constant).stderr

# Versions.
for tool in ("amp-run", "amp-opt", "amp-translate"):
    shown = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"AMP \d+\.\d+\.\d+, with MLIR 22\.\S+\n", shown), (tool, shown)
