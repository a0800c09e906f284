# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Where a derivative does not exist the rules choose one: ties of maximum and
# minimum go to the left operand, those of reduce_max are shared equally, those
# of max_pool2d go to the first; relu and abs have 0 at 0, clip has 1 at its
# limits, and x⁰ and 0^p are constant.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/../../Conversion/Inputs

import os
import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step  # noqa: E402


def spell(shape):
    return "tensor<" + "".join(f"{n}x" for n in shape) + "f64>"


def gradients(name, operands, shape, attrs=""):
    """The gradients of the sum of the results of an operation."""
    step = Step()
    arrays = [np.array(x, np.float64) for x in operands]
    names = [step.input((x, "f64")) for x in arrays]
    types = ", ".join(spell(x.shape) for x in arrays)
    result = spell(shape)
    attrs = f" <{{{attrs}}}>" if attrs else ""
    value = step.op(f'"train.{name}"({", ".join(names)}){attrs} : ({types}) -> {result}', "")
    dims = ", ".join(map(str, range(len(shape))))
    loss = step.op(
        f"train.reduce_sum {value} {{dims = array<i64: {dims}>}} : ({result}) -> tensor<f64>", ""
    )
    found = step.op(
        f"train.gradients {loss} wrt({', '.join(names)}) : (tensor<f64>, {types}) -> ({types})",
        *arrays,
    )
    for gradient, array in zip([found] if isinstance(found, str) else found, arrays):
        step.output(gradient, array.shape, "f64")
    step.compile(os.path.join(folder, name), "--train-autodiff --canonicalize --amp-cpu-pipeline")
    return [array for array, _ in step.call()[1]]


def expect(found, *expected):
    for one, other in zip(found, expected):
        assert np.allclose(one, other, rtol=1e-15, atol=0), (one, other)


expect(gradients("maximum", [[1, 2, 3], [1, 3, 2]], (3,)), [1, 0, 1], [0, 1, 0])
expect(gradients("minimum", [[1, 2, 3], [1, 3, 2]], (3,)), [1, 1, 0], [0, 0, 1])
expect(
    gradients("reduce_max", [[[4, 4, 1, 4], [2, 5, 5, 0]]], (2,), "dims = array<i64: 1>"),
    [[1 / 3, 1 / 3, 0, 1 / 3], [0, 0.5, 0.5, 0]],
)
expect(
    gradients("max_pool2d", [np.ones((1, 2, 4, 1))], (1, 1, 2, 1),
              "window = array<i64: 2, 2>, strides = array<i64: 2, 2>"),
    np.reshape([1, 0, 1, 0, 0, 0, 0, 0], (1, 2, 4, 1)),
)
expect(gradients("relu", [[-1, 0, 1]], (3,)), [0, 0, 1])
expect(gradients("abs", [[-1, 0, 1]], (3,)), [-1, 0, 1])
expect(gradients("clip", [[-2, -1, 0, 1, 2]], (5,), "min = -1.0 : f64, max = 1.0 : f64"), [0, 1, 1, 1, 0])
expect(gradients("pow", [[0, 0, 3], [2, 0, 0]], (3,)), [0, 0, 0], [0, 0, np.log(3)])
