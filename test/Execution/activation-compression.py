# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# amp-compress-activations rounds only the values that the backward pass reads. Gradients are those
# of the same computation in NumPy.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
"""The gradient of a mean of weighted exponentials reads the exponentials, which
are f32. The tolerance is a fifth of the effect of the rounding: the exponentials of
the two sides differ by an ulp of f32 here and there."""

import subprocess
import sys

import numpy as np

folder = sys.argv[1] + "/"
BATCH, WIDTH = 32, 24
rng = np.random.default_rng(5)
x = rng.standard_normal((BATCH, WIDTH)).astype(np.float32)
w = (0.3 * rng.standard_normal((WIDTH, WIDTH))).astype(np.float32)
c = rng.uniform(0.5, 1.5, (WIDTH,)).astype(np.float32)

MODEL = """
func.func @step(
    %w: tensor<24x24xf32> {amp.role = "parameter", amp.name = "w"},
    %c: tensor<24xf32> {amp.role = "model_state", amp.name = "c"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 1.0>},
    %x: tensor<?x24xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<24x24xf32> {amp.updates = "w"}, tensor<24xf32> {amp.updates = "c"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.matmul %x, %w : (tensor<?x24xf32>, tensor<24x24xf32>) -> tensor<?x24xf32>
  %e = train.exp %h : tensor<?x24xf32>
  %m = train.mul %e, %c : (tensor<?x24xf32>, tensor<24xf32>) -> tensor<?x24xf32>
  %loss = train.reduce_mean %m {dims = array<i64: 0, 1>} : (tensor<?x24xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<24x24xf32>) -> tensor<24x24xf32>
  %n = train.sgd %w, %g, %lr : (tensor<24x24xf32>, tensor<24x24xf32>, tensor<f32>) -> tensor<24x24xf32>
  return %n, %c, %loss : tensor<24x24xf32>, tensor<24xf32>, tensor<f32>
}
"""


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)


def bf16(value):
    """Rounded to bf16, ties to even."""
    bits = np.asarray(value, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def gradient(is_narrow):
    e = np.exp(bf16(x) @ bf16(w))
    saved = bf16(e) if is_narrow else e
    return bf16(x).T.astype(np.float64) @ bf16(saved * (c / np.float32(BATCH * WIDTH)))


def trained(is_narrow):
    name = f"{folder}{is_narrow}"
    options = f"precision=bf16 compress-activations={str(is_narrow).lower()}"
    run("amp-opt", folder + "model.mlir", f"--amp-training-pipeline={options}", "-o", name + ".mlir")
    run("amp-run", name + ".mlir", "--data", folder + "data.npz", "--init", folder + "init.npz",
        "--batch-size", BATCH, "--steps", 1, "--save", name + ".npz")
    with np.load(name + ".npz") as state:
        return w.astype(np.float64) - state["w"]


with open(folder + "model.mlir", "w") as file:
    file.write(MODEL)
np.savez(folder + "data.npz", train_x=x)
np.savez(folder + "init.npz", w=w, c=c)
norm = np.linalg.norm
exact, narrow = gradient(False), gradient(True)
change = norm(narrow - exact)
print(f"the rounding changes the gradient by {change / norm(exact):.1e}")
assert 1e-4 < change / norm(exact) < 2**-8
for is_narrow, expected in ((False, exact), (True, narrow)):
    error = norm(trained(is_narrow) - expected)
    print(f"narrow {is_narrow}: error {error / change:.3f} of that change")
    assert error < 0.2 * change, is_narrow
