# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gradient penalties against PyTorch's double backward, through products,
# convolutions, reductions and operations that decompose; a loss scale that is a
# power of two changes no bit in f32, and fp16 stays close.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F

folder = sys.argv[1]

# shapes of the parameter and of an example; the body; the same in PyTorch.
MODELS = {
    "matmul": ((6, 5), (6,), """
  %h = train.matmul %x, %w : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %a = train.tanh %h : tensor<8x5xf32>
  %loss = train.reduce_mean %a {dims = array<i64: 0, 1>} : (tensor<8x5xf32>) -> tensor<f32>""",
               lambda x, w: torch.tanh(x @ w).mean()),
    "softmax": ((6, 5), (6,), """
  %h = train.matmul %x, %w : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %p = train.softmax %h {axis = 1 : i64} : tensor<8x5xf32>
  %a = train.square %p : tensor<8x5xf32>
  %loss = train.reduce_sum %a {dims = array<i64: 0, 1>} : (tensor<8x5xf32>) -> tensor<f32>""",
                lambda x, w: (torch.softmax(x @ w, 1) ** 2).sum()),
    "gelu": ((6, 5), (6,), """
  %h = train.matmul %x, %w : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  %a = train.gelu %h : tensor<8x5xf32>
  %loss = train.reduce_mean %a {dims = array<i64: 0, 1>} : (tensor<8x5xf32>) -> tensor<f32>""",
             lambda x, w: F.gelu(x @ w).mean()),
    "conv2d": ((3, 3, 2, 3), (5, 5, 2), """
  %h = train.conv2d %x, %w : (tensor<8x5x5x2xf32>, tensor<3x3x2x3xf32>) -> tensor<8x3x3x3xf32>
  %a = train.tanh %h : tensor<8x3x3x3xf32>
  %loss = train.reduce_mean %a {dims = array<i64: 0, 1, 2, 3>} : (tensor<8x3x3x3xf32>) -> tensor<f32>""",
               lambda x, w: torch.tanh(F.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1))).mean()),
}
rng = np.random.default_rng(4)
for name, (parameter, example, body, reference) in MODELS.items():
    batch = (8, *example)
    w_type = f"tensor<{'x'.join(map(str, parameter))}xf32>"
    x_type = f"tensor<{'x'.join(map(str, batch))}xf32>"
    dims = ", ".join(map(str, range(len(batch))))
    text = f"""
func.func @step(
    %w: {w_type} {{amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>}},
    %lr: tensor<f32> {{amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 1.0>}},
    %x: {x_type} {{amp.role = "batch", amp.name = "x"}})
    -> ({w_type} {{amp.updates = "w"}}, tensor<f32> {{amp.metric = "total"}}) {{{body}
  %gx = train.gradients %loss wrt(%x) {{name = "inner"}} : (tensor<f32>, {x_type}) -> {x_type}
  %sq = train.square %gx : {x_type}
  %sum = train.reduce_sum %sq {{dims = array<i64: {dims}>}} : ({x_type}) -> tensor<f32>
  %ten = train.constant dense<10.0> : tensor<f32>
  %penalty = train.mul %sum, %ten : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %total = train.add %loss, %penalty : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = train.gradients %total wrt(%w) : (tensor<f32>, {w_type}) -> {w_type}
  %n = train.sgd %w, %g, %lr : ({w_type}, {w_type}, tensor<f32>) -> {w_type}
  return %n, %total : {w_type}, tensor<f32>
}}
"""
    with open(f"{folder}/{name}.mlir", "w") as file:
        file.write(text)
    w = rng.normal(0, 0.5, parameter).astype(np.float32)
    x = rng.normal(0, 1, batch).astype(np.float32)
    np.savez(f"{folder}/w.npz", w=w)
    np.savez(f"{folder}/x.npz", train_x=x)

    def run(*options):
        """The gradient that the step took away from the weight, and the state."""
        out = f"{folder}/state.npz"
        done = subprocess.run(
            ["amp-run", f"{folder}/{name}.mlir", "--data", f"{folder}/x.npz", "--init", f"{folder}/w.npz",
             "--batch-size", "8", "--steps", "1", "--quiet", "--save", out, *options], capture_output=True, text=True)
        assert done.returncode == 0, (name, options, done.stderr)
        with np.load(out) as file:
            return w - file["w"], {key: file[key] for key in file}

    tx = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    tw = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    loss = reference(tx, tw)
    (inner,) = torch.autograd.grad(loss, tx, create_graph=True)
    (expected,) = torch.autograd.grad(loss + 10 * (inner**2).sum(), tw)
    expected = expected.numpy()
    (alone,) = torch.autograd.grad(reference(tx, tw), tw)
    assert abs(expected - alone.numpy()).max() > 0.05 * abs(expected).max(), (name, "the penalty does nothing")

    tolerance = 2e-6 * (1 + abs(expected).max())
    plain, _ = run()
    assert abs(plain - expected).max() < tolerance, (name, abs(plain - expected).max())
    for options in (("--precision", "f32"), ("--precision", "f32", "--loss-scale", "1024"),
                    ("--precision", "f32", "--loss-scale", "dynamic")):
        scaled, state = run(*options)
        assert scaled.tobytes() == plain.tobytes(), (name, options, abs(scaled - plain).max())
    assert state["growth_tracker"] == 1
    # At the first scale of the dynamic form the second backward pass overflows.
    low, _ = run("--precision", "fp16", "--loss-scale", "1024")
    error = abs(low - expected).max() / abs(expected).max()
    print(f"{name}: fp16 differs by {error:.1e} of the largest gradient")
    assert 0 < error < 0.02, (name, error)
    # A scale at which the inner gradient overflows is noticed.
    kept, state = run("--precision", "fp16", "--pipeline", "scaler=megatron")
    if state["loss_scale"] < 2.0**32 or state["hysteresis_tracker"] < 2:
        assert (kept == 0).all(), name
