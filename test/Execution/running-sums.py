# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gradients and losses that a loop adds up over 1024 micro-batches are added in f32 with every
# precision and strategy: in bf16 a sum of equal parts stops growing at 256 of them.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import json
import subprocess
import sys

import numpy as np

folder = sys.argv[1]
COUNT = 1024

# The loss is the mean of x . a; with x = 1 all gradients are 1/4.
HEAD = """
func.func @step(
    %a: tensor<4x4xf32> {amp.role = "parameter", amp.name = "a", amp.init = #amp.init<ones>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 1.0>},
    %x: tensor<4096x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "a"}, tensor<f32> {amp.metric = "loss"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %c1024 = arith.constant 1024 : index
  %zeros = train.constant dense<0.0> : tensor<4x4xf32>
  %zero = train.constant dense<0.0> : tensor<f32>
  %share = train.constant dense<0.0009765625> : tensor<f32>
"""
# The gradient and the loss of the rows from %o on.
BATCH = """
    %row = tensor.extract_slice %x[%o, 0] [4, 4] [1, 1] : tensor<4096x4xf32> to tensor<4x4xf32>
    %h = train.matmul %row, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %loss = train.reduce_mean %h {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    SHARED
    %b0 = train.broadcast %s1 {dims = array<i64: 0, 1>, mean} : (tensor<f32>) -> tensor<4x4xf32>
    %g = train.matmul %row, %b0 {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
"""
SHARED = "%s1 = train.mul %seed, %share : (tensor<f32>, tensor<f32>) -> tensor<f32>"
ADD = """
    %next = train.add %acc, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %part = train.mul %loss, %share : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %nt = train.add %total, %part : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %next, %nt : tensor<4x4xf32>, tensor<f32>
"""
TAIL = """
  %n = train.sgd %a, %gradient, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n, %sum#1 : tensor<4x4xf32>, tensor<f32>
}
"""
LOOP = "%sum:2 = scf.for %i = %c0 to %c1024 step %c1 iter_args(%acc = %zeros, %total = %zero) -> (tensor<4x4xf32>, tensor<f32>) {\n"
plain = (
    HEAD + LOOP + "%o = arith.muli %i, %c4 : index\n" + BATCH.replace("SHARED", SHARED) + ADD
    + '} {amp.gradient_of = ["a", ""]}\n' + TAIL.replace("%gradient", "%sum#0"))
# The sum is divided after the loop, and only the quotient is the gradient.
divided = (
    HEAD + LOOP + "%o = arith.muli %i, %c4 : index\n" + BATCH.replace("SHARED", "").replace("%s1", "%seed") + ADD + "}\n"
    + '%gradient = train.mul %sum#0, %share {amp.gradient_of = ["a"]} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>\n'
    + TAIL)
# A loop in a loop, with a branch around the addition.
nested = (
    HEAD
    + "%sum:2 = scf.for %j = %c0 to %c32 step %c1 iter_args(%outer = %zeros, %all = %zero) -> (tensor<4x4xf32>, tensor<f32>) {\n"
    + "%inner:2 = scf.for %i = %c0 to %c32 step %c1 iter_args(%acc = %outer, %total = %all) -> (tensor<4x4xf32>, tensor<f32>) {\n"
    + "%k = arith.muli %j, %c32 : index\n%l = arith.addi %k, %i : index\n%o = arith.muli %l, %c4 : index\n"
    + BATCH.replace("SHARED", SHARED)
    + """
    %is = arith.cmpi ult, %l, %c1024 : index
    %next = scf.if %is -> tensor<4x4xf32> {
      %added = train.add %acc, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.yield %added : tensor<4x4xf32>
    } else {
      scf.yield %acc : tensor<4x4xf32>
    }
    """ + ADD[ADD.index("%part"):] + "}\nscf.yield %inner#0, %inner#1 : tensor<4x4xf32>, tensor<f32>\n}\n"
    + '%gradient = train.transpose %sum#0 {permutation = array<i64: 1, 0>, amp.gradient_of = ["a"]} : (tensor<4x4xf32>) -> tensor<4x4xf32>\n'
    + TAIL)

np.savez(f"{folder}/data.npz", train_x=np.ones((4 * COUNT, 4), np.float32))
for name, text in (("plain", plain), ("divided", divided), ("nested", nested)):
    with open(f"{folder}/{name}.mlir", "w") as file:
        file.write(text)
    for precision in ("f32", "bf16", "fp16"):
        for strategy in ("optimal", "grappler"):
            done = subprocess.run(
                ["amp-run", f"{folder}/{name}.mlir", "--data", f"{folder}/data.npz", "--batch-size", str(4 * COUNT),
                 "--steps", "1", "--quiet", "--precision", precision, "--pipeline", f"strategy={strategy}",
                 "--loss-scale", "none" if precision == "f32" else "1024",
                 "--save", f"{folder}/s.npz", "--metrics-json", f"{folder}/m.json"], capture_output=True, text=True)
            assert done.returncode == 0, (name, precision, strategy, done.stderr)
            state = np.load(f"{folder}/s.npz")
            with open(f"{folder}/m.json") as file:
                loss = json.load(file)["runs"][0]["steps"][0]["loss"]
            assert (state["a"] == 0.75).all() and loss == 4, (name, precision, strategy, state["a"], loss)
