# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# No operation is more than a unit in the last place away from the exact result
# in f16 and bf16, for every input where it has one operand. All but a few round
# an f32 result that is nearly exact. Infinities do not become NaN in logsumexp.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
import layer_errors  # noqa: E402
import rounding_errors  # noqa: E402
from oracle import Step, tensor, wide  # noqa: E402

# The slope of GELU crosses zero where two terms cancel in f32. Attention rounds its
# weights before they meet the values.
ATTENTION = "scaled_dot_product_attention"
LOOSE = {
    "gelu_grad#tanh form": 0.56,
    ATTENTION: 1.0,
    f"{ATTENTION}_grad#of queries": 1.2,
    f"{ATTENTION}_grad#of keys": 1.2,
    f"{ATTENTION}_grad#of values": 1.4,
}
# A result in f32 is nearly exact in units of the low type.
LOOSE |= dict.fromkeys(layer_errors.find_wide_results(), 0.01)
for name, errors in rounding_errors.measure(folder).items():
    for low, error in zip(("f16", "bf16"), errors):
        limit = LOOSE.get(name, 0.51)
        print(f"{name} in {low}: {error:.4f} ulp, at most {limit}")
        assert error <= limit, f"{name} in {low}: {error} ulp"

# Rows with infinities, and what their gradients are.
inf = np.inf
x = np.array([[1, 2, inf, 0], [inf, inf, 1, -inf], [-inf] * 4, [1, -inf, 1, -inf], [1, np.nan, inf, 0]])
expected = np.array([inf, inf, -inf, 1 + np.log(2), np.nan])
slopes = np.array([[0, 0, 1, 0], [0.5, 0.5, 0, 0], [0.25] * 4, [0.5, 0, 0.5, 0], [np.nan] * 4])
for low in ("f16", "bf16", "f32"):
    step = Step()
    value = step.input(tensor(x, low))
    type = f"tensor<5x4x{low}>"
    y = step.op(f"train.logsumexp {value} {{axis = 1 : i64}} : ({type}) -> tensor<5x{low}>", low)
    loss = step.op(f"train.reduce_sum {y} {{dims = array<i64: 0>}} : (tensor<5x{low}>) -> tensor<f32>", "f32")
    dx = step.op(f"train.gradients {loss} wrt({value}) : (tensor<f32>, {type}) -> {type}", low)
    step.output(y, [5], low)
    step.output(dx, [5, 4], low)
    step.compile(f"{folder}/logsumexp-{low}", "--train-autodiff --amp-cpu-pipeline")
    got, slope = step.call()[1]
    np.testing.assert_array_equal(wide(got), wide(tensor(expected, low)))
    np.testing.assert_array_equal(wide(slope), slopes)
print("ok")
