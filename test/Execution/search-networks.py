# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# --search: on three networks that read digits, the found policy costs less than
# every preset whose loss is within the bound. Over five seeds, its loss on
# held-out data is within two deviations of the loss in f32.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %digits

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from runner import ok

folder, digits = sys.argv[1] + "/", sys.argv[2]
T = "tensor<?x64xf32>"
# Squares of units, Gaussian units, and softplus as exp and log1p. Presets keep
# some of these f32, since nothing bounds the values for all data.
NETWORKS = {
    "squares": ("fp16", f"%m = train.square %h : {T}"),
    "gaussian": ("bf16", f"""%q = train.square %h : {T}
  %n = train.neg %q : {T}
  %m = train.exp %n : {T}"""),
    "softplus": ("bf16", f"""%e = train.exp %h : {T}
  %m = train.log1p %e : {T}"""),
}
STATES = {"w1": "tensor<64x64xf32>", "b1": "tensor<64xf32>", "w2": "tensor<64x10xf32>", "b2": "tensor<10xf32>"}


def write_network(name, middle):
    arguments = "".join(
        f'%{state}: {kind} {{amp.role = "parameter", amp.name = "{state}", '
        f'amp.init = #amp.init<{"xavier_uniform" if state[0] == "w" else "zeros"}>}}, ' for state, kind in STATES.items())
    updates = "\n".join(f"  %new_{state} = train.sgd %{state}, %g#{i}, %lr : ({kind}, {kind}, tensor<f32>) -> {kind}"
                        for i, (state, kind) in enumerate(STATES.items()))
    results = ", ".join(f'{kind} {{amp.updates = "{state}"}}' for state, kind in STATES.items())
    kinds = ", ".join(STATES.values())
    path = f"{folder}{name}.mlir"
    with open(path, "w") as file:
        file.write(f"""func.func @step({arguments}
    %lr: tensor<f32> {{amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.1>}},
    %images: {T} {{amp.role = "batch", amp.name = "images"}},
    %labels: tensor<?xi64> {{amp.role = "batch", amp.name = "labels"}})
    -> ({results}, tensor<f32> {{amp.metric = "loss"}}, tensor<?x10xf32> {{amp.prediction = "logits"}}) {{
  %h = train.linear %images, %w1, %b1 : ({T}, tensor<64x64xf32>, tensor<64xf32>) -> {T}
  {middle}
  %out = train.linear %m, %w2, %b2 : ({T}, tensor<64x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  %loss = train.cross_entropy %out, %labels : (tensor<?x10xf32>, tensor<?xi64>) -> tensor<f32>
  %g:4 = train.gradients %loss wrt(%w1, %b1, %w2, %b2) : (tensor<f32>, {kinds}) -> ({kinds})
{updates}
  return {", ".join(f"%new_{state}" for state in STATES)}, %loss, %out : {kinds}, tensor<f32>, tensor<?x10xf32>
}}
""")
    return path


def evaluate(model, *options):
    text = ok("--data", digits, "--epochs", 1, "--seeds", 5, "--eval", "--quiet", *options, model=model)
    match = re.search(r"^eval loss: ([0-9.e+-]+) \+- ([0-9.e+-]+)$", text, re.M)
    return float(match[1]), float(match[2])


for name, (precision, middle) in NETWORKS.items():
    model, policy = write_network(name, middle), f"{folder}{name}.yaml"
    text = ok("--data", digits, "--batch-size", 64, "--steps", 12, "--precision", precision, "--search", policy,
              "--search-presets", "--quiet", model=model)
    print(text)
    lines = re.findall(r"^ *([0-9.e+]+) +[0-9.e+-]+ +([0-9.e+-]+)%  (.*?)(  <- .*)?$", text, re.M)
    (cost,) = [float(cost) for cost, _, _, found in lines if found]
    presets = [(float(other), label) for other, difference, label, _ in lines
               if label.startswith("preset ") and abs(float(difference)) <= 1]
    assert len(presets) >= 8, presets
    assert all(cost < other for other, _ in presets), (name, cost, presets)
    wide, deviation = evaluate(model, "--precision", "f32")
    low, _ = evaluate(model, "--precision", precision, f"--pipeline=policy={policy}")
    print(name, wide, deviation, low)
    assert abs(low - wide) <= 2 * deviation, (name, low, wide, deviation)
