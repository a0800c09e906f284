# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The histogram of gradients against NumPy, for data so small that the gradients of the weight are
# on both sides of the limits of f16.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import fails, MODEL, ok

folder = sys.argv[1] + "/"
n = 8
# Row i of the gradient is about the size of feature i; the last is exactly 0.
x = np.float32([[2.0**-32, 2.0**-23, 1.0, 0.0]]) * np.float32(
    np.random.default_rng(0).uniform(1, 2, (n, 1))
)
y = np.arange(n) % 3
weight = np.zeros((4, 3), np.float32)
np.savez(folder + "data.npz", x=x, y=y)
np.savez(folder + "w.npz", weight=weight, bias=np.zeros(3, np.float32))
p = np.full((n, 3), 1 / 3)
p[range(n), y] -= 1
gradient = np.abs(x.T.astype(np.float64) @ p / n)


def shares(g):
    g = g[g != 0]
    low, middle = (g < 2.0**-27).mean(), ((g >= 2.0**-27) & (g < 2.0**-24)).mean()
    return [low, middle, 1 - low - middle]


assert min(shares(gradient)[:2]) > 0, "the data test nothing"


def histogram(*options, heading="as written, seed 0, as if scaled by 65536"):
    out = ok(
        "--data", folder + "data.npz", "--init", folder + "w.npz", "--batch-size", n,
        "--steps", 1, "--gradient-histogram", *options,
    )
    assert f"gradients, {heading}, share of the non-zero ones:" in out, out
    lines = [line.split() for line in out.splitlines()]
    return {
        line[0]: [float(cell[:-1]) / 100 for cell in line[1:]]
        for line in lines
        if line and line[0] in ("weight", "bias")
    }


for options, scale, heading in (
    ((), 65536, "as written, seed 0, as if scaled by 65536"),
    (("--precision", "f32", "--seed", 3), 65536, "f32, seed 3, as if scaled by 65536"),
):
    table = histogram(*options, heading=heading)
    expected = shares(gradient) + shares(gradient * scale) + [3 / 12, 0]
    assert np.allclose(table["weight"], expected, atol=1e-5), (table, expected)
    assert np.allclose(table["bias"], [0, 0, 1, 0, 0, 1, 0, 0]), table

# In fp16 the gradients are the scaled ones: those that a scale of 1 loses are
# there with 65536.
unscaled = histogram(
    "--precision", "fp16", "--loss-scale", "1", heading="fp16, seed 0, scaled by 1"
)
assert unscaled["weight"][6] > 3 / 12, unscaled
assert unscaled["weight"][0] == 0, unscaled

# A constant scale is known: before scaling they are the same.
for scale in ("dynamic", "1024"):
    number = 65536 if scale == "dynamic" else 1024
    scaled = histogram(
        "--precision", "fp16", "--loss-scale", scale,
        heading=f"fp16, seed 0, scaled by {number}",
    )
    assert np.allclose(scaled["bias"][:3], [0, 0, 1]), scaled
    # Those of the second feature are below 2^-24, and the scale saves them.
    assert scaled["weight"][1] > 0.2 and scaled["weight"][4] == 0, scaled

# The largest gradient tells which constant scales f16 has room for, and a scale
# that is too large is a warning.
def said(scale, precision="fp16"):
    done = subprocess.run(
        ["amp-run", MODEL, "--data", folder + "data.npz", "--init", folder + "w.npz", "--batch-size", str(n),
         "--steps", "1", "--gradient-histogram", "--quiet", "--precision", precision, "--loss-scale", str(scale)],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


everything = max(gradient.max(), np.abs(p.mean(0)).max())
most = int(np.floor(np.log2(65504 / everything)))
out, err = said("none", "f32")
assert f"; below 65504 with constant scales up to 2^{most}" in out and not err, (out, err, most)
out, err = said(2 ** (most - 1))
assert f"up to 2^{most}" in out and "takes gradients" not in err, (out, err)
# The bound that holds for all data is lower than what these data need.
assert "times the loss scale can overflow in 'f16'" in err, err
out, err = said(2 ** (most + 6))
assert "warning: the constant loss scale" in err and "takes gradients out of f16's range; expected a smaller" in err, err
assert not said("dynamic")[1] and not said(2 ** (most + 6), "f32")[1] and not said(2 ** (most + 6), "bf16")[1]

# The gradients that are exposed for it are not a part of the forward function.
out = ok(
    "--data", folder + "data.npz", "--batch-size", n, "--steps", 1, "--precision", "fp16",
    "--gradient-histogram", "--eval", "--eval-prefix", "",
)
assert "eval loss: " in out, out

without = open(MODEL).read()
begin, end = without.index("  %g:2"), without.index("  return")
without = without[:begin] + without[end:].replace("%nw, %nb, %nv", "%w, %b, %v")
with open(folder + "m.mlir", "w") as f:
    f.write(without)
fails(
    "has no gradients: no operation has 'amp.gradient_of'",
    "--data", folder + "data.npz", "--gradient-histogram", model=folder + "m.mlir",
)
