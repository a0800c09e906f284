# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The backward pass in 16 bits, from the 8-bit copies of the forward pass or from the tensors. A step of one layer
# with scales that are powers of two: dequantised operands are exact, so the gradient of the weight is the product
# of the rounded input and the gradient. If the input has the bits of f8E4M3FN, both kinds give the same bits. If it
# has more, only the dequantised one loses them.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
"""Usage: fp8-backward.py <folder>"""

import subprocess
import sys

import numpy as np

folder = sys.argv[1]
STEP = f"""
func.func @step(
    %x: tensor<8x16xf32> {{amp.role = "batch", amp.name = "x"}},
    %t: tensor<8x4xf32> {{amp.role = "batch", amp.name = "t"}},
    %w: tensor<16x4xf32> {{amp.role = "parameter", amp.name = "w"}})
    -> (tensor<16x4xf32> {{amp.updates = "w"}}, tensor<f32> {{amp.metric = "loss"}}) {{
  %lr = arith.constant dense<1.0> : tensor<f32>
  %y = train.linear %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %loss = train.mse %y, %t : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f32>
  %d = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  %w1 = train.sgd %w, %d, %lr : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<f32>) -> tensor<16x4xf32>
  return %w1, %loss : tensor<16x4xf32>, tensor<f32>
}}
"""
with open(f"{folder}/step.mlir", "w") as file:
    file.write(STEP)
rng = np.random.default_rng(23)
w, t = (rng.standard_normal(shape).astype(np.float32) for shape in ((16, 4), (8, 4)))
# Weights with 4 bits of significand and a target of 0: the result is exact in every recipe.
w, t = np.round(w * 4) / 4, np.zeros_like(t)


def train(name, x, backward):
    np.savez(f"{folder}/{name}.npz", x=x, t=t)
    np.savez(f"{folder}/w.npz", w=w)
    done = subprocess.run(["amp-run", f"{folder}/step.mlir", "--data", f"{folder}/{name}.npz", "--init", f"{folder}/w.npz",
                           "--precision", "fp8-rowwise", "--pipeline", f"fp8-keep-last=0 fp8-backward={backward}", "--steps", "1",
                           "--no-shuffle", "--quiet", "--save", f"{folder}/{name}.{backward}.npz"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with np.load(f"{folder}/{name}.{backward}.npz") as saved:
        return saved["w"]


def bf16(values):
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


few = rng.integers(-7, 8, (8, 16)).astype(np.float32)
more = few + rng.integers(-7, 8, (8, 16)).astype(np.float32) / 64
for name, x, equal in (("few", few, True), ("more", more, False)):
    high, dequantized = train(name, x, "high"), train(name, x, "dequantized")
    assert np.array_equal(high, dequantized) == equal, name
    # With rows of 16 elements, each rounded to 4 bits after a power of two brings it into the range.
    scale = 2.0 ** np.floor(np.log2(448 / np.abs(x).max(axis=1, keepdims=True)))
    exponent = np.floor(np.log2(np.maximum(np.abs(x * scale), 2.0**-6)))
    rounded = np.round(x * scale / 2.0 ** (exponent - 3)) * 2.0 ** (exponent - 3) / scale
    gradient = bf16(bf16(rounded @ w) * np.float32(2 / t.size))
    for result, operand in ((high, bf16(x)), (dequantized, rounded)):
        want = w - (operand.T @ gradient).astype(np.float32)
        error = np.abs(result - want).max()
        assert error <= 2e-2 * np.abs(want - w).max(), (name, error)
    near, far = (np.abs(dequantized - (w - operand.T @ gradient)).max() for operand in (rounded, bf16(x)))
    assert equal or near < far / 4, (near, far)
    print(name, near, far)
