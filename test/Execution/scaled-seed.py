# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A sum in the backward pass is 32 at a seed of 1, which fits f16, and two million
# at the scale of 65536, which does not. Its value without scaling must not free it: it stays f32,
# and the step is finite. Pinned to f16, the same step overflows until the scale has come down, and
# is fine at a scale of 1.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import csv
import subprocess
import sys

import numpy as np

folder = sys.argv[1]

STEP = """
func.func @step(
    %w: tensor<8x8xf32> {{amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>}},
    %lr: tensor<f32> {{amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.01>}},
    %x: tensor<64x8xf32> {{amp.role = "batch", amp.name = "x"}})
    -> (tensor<8x8xf32> {{amp.updates = "w"}}, tensor<f32> {{amp.metric = "loss"}}) {{
  %half = train.constant dense<0.5> : tensor<f32>
  %c = train.constant dense<1.0> : tensor<1x8xf32>
  %v = train.constant dense<-0.625> : tensor<8x8xf32>
  // A row that is added to all rows, damped by sigmoid(-5).
  %z = train.matmul %c, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %u = train.matmul %c, %v : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %s = train.sigmoid %u : tensor<1x8xf32>
  %a = train.mul %z, %s : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %h = train.add %x, %a : (tensor<64x8xf32>, tensor<1x8xf32>) -> tensor<64x8xf32>
  %t = train.tanh %h : tensor<64x8xf32>
  %sum = train.reduce_sum %t {{dims = array<i64: 0, 1>}} : (tensor<64x8xf32>) -> tensor<f32>
  %loss = train.mul %sum, %half : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // Backward: within [-0.5, 0.5] per row, and [-32, 32] over the rows.
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %seed, %half : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %dt = train.broadcast %g {{dims = array<i64: 0, 1>}} : (tensor<f32>) -> tensor<64x8xf32>
  %dh = train.tanh_grad %t, %dt : tensor<64x8xf32>
  %da = train.reduce_sum %dh {{dims = array<i64: 0>, keep_dims{pin}}} : (tensor<64x8xf32>) -> tensor<1x8xf32>
  %dz = train.mul %da, %s : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %dw = train.matmul %c, %dz {{transpose_a, amp.gradient_of = ["w"]}} : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %w1 = train.sgd %w, %dw, %lr : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %w1, %loss : tensor<8x8xf32>, tensor<f32>
}}
"""

rng = np.random.default_rng(5)
np.savez(f"{folder}/data.npz", train_x=rng.uniform(-0.1, 0.1, (64, 8)).astype(np.float32))
for name, pin in (("free", ""), ("pinned", ', amp.precision = "low"')):
    with open(f"{folder}/{name}.mlir", "w") as file:
        file.write(STEP.format(pin=pin))


def skipped(name, *options):
    """Which of five steps were skipped, and the weights after them."""
    done = subprocess.run(
        ["amp-run", f"{folder}/{name}.mlir", "--data", f"{folder}/data.npz", "--batch-size", "64",
         "--steps", "5", "--metrics-csv", f"{folder}/m.csv", "--save", f"{folder}/s.npz", "--quiet",
         *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(f"{folder}/m.csv", newline="") as file:
        steps = [float(row.get("skipped") or 0) for row in csv.DictReader(file)]
    with np.load(f"{folder}/s.npz") as file:
        return steps, file["w"]


_, exact = skipped("free", "--precision", "f32")
assert (exact < -1e-4).all(), exact
scaled = ("--precision", "fp16", "--loss-scale", "dynamic")
steps, w = skipped("free", *scaled)
assert steps == [0] * 5 and np.allclose(w, exact, rtol=5e-3), (steps, w / exact)
# The other slot overflows at that scale, and not without it.
steps, w = skipped("pinned", *scaled)
assert steps[0] == 1, steps
_, w = skipped("pinned", "--precision", "fp16", "--loss-scale", "none")
assert np.allclose(w, exact, rtol=5e-3), w / exact
