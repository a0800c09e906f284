# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Convolutions and their gradients, and pooling and its gradients, against
# direct loops in NumPy: strides, paddings, dilations, groups, ties and NaNs.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check, mlir_type, spelled, tensor, wide  # noqa: E402
from references import conv_all, pool_all, taps  # noqa: E402

rng = np.random.default_rng(5)


def array(values):
    return "array<i64: " + ", ".join(str(v) for v in values) + ">"


# Input, filter, strides, padding, dilations, groups.
CONVOLUTIONS = [
    ((2, 8, 8, 1), (3, 3, 1, 16), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    ((2, 8, 8, 16), (3, 3, 16, 32), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    ((3, 7, 9, 4), (3, 2, 4, 6), (2, 3), (1, 0, 2, 1), (1, 1), 1),
    ((1, 9, 8, 6), (2, 3, 2, 9), (1, 2), (2, 1, 0, 3), (2, 1), 3),
    ((2, 6, 6, 4), (3, 3, 1, 8), (2, 2), (0, 0, 0, 0), (1, 1), 4),
    ((2, 5, 6, 3), (1, 1, 3, 5), (1, 1), (0, 0, 0, 0), (1, 1), 1),
    # Rows that no window reaches, and padding wider than the window.
    ((1, 10, 10, 2), (2, 2, 2, 3), (3, 3), (0, 0, 0, 0), (1, 1), 1),
    ((1, 4, 4, 2), (2, 2, 2, 3), (1, 1), (3, 2, 2, 4), (1, 1), 1),
    ((1, 4, 5, 2), (1, 1, 2, 17), (2, 2), (3, 3, 2, 2), (1, 1), 1),
]
for type in ("f16", "bf16", "f32", "f64"):
    step, cases = Step(), []
    unit = 2.0**-53 if type == "f64" else 2.0**-24
    for index, (x, w, strides, padding, dilations, groups) in enumerate(CONVOLUTIONS):
        x, w = (tensor(rng.standard_normal(s), type) for s in (x, w))
        out = next(taps(x[0].shape[1:3], w[0].shape[:2], strides, padding, dilations))[4]
        dy = tensor(rng.standard_normal((x[0].shape[0], *out, w[0].shape[3])), type)
        expected = conv_all(wide(x), wide(w), wide(dy), strides, padding, dilations, groups)
        terms = conv_all(*(np.abs(wide(v)) for v in (x, w, dy)), strides, padding, dilations, groups)
        a, b, c = (step.input(v) for v in (x, w, dy))
        attributes = (
            f"{{strides = {array(strides)}, padding = {array(padding)}, "
            f"dilations = {array(dilations)}, groups = {groups} : i64}}"
        )
        for name, operands, which in [
            ("conv2d", ((a, x), (b, w)), 0),
            ("conv2d_input_grad", ((c, dy), (b, w)), 1),
            ("conv2d_filter_grad", ((a, x), (c, dy)), 2),
        ]:
            for result in {type, "f64" if type == "f64" else "f32"}:
                value = expected[which]
                step.output(
                    step.op(
                        f"train.{name} {', '.join(n for n, _ in operands)} {attributes} : "
                        f"({', '.join(mlir_type(*v) for _, v in operands)}) -> "
                        f"{spelled(value.shape, result)}",
                        result,
                    ),
                    value.shape,
                    result,
                )
                count = max(w[0][..., 0].size, w[0].size // w[0].shape[2], dy[0].size // dy[0].shape[3])
                cases.append((value, count * unit * terms[which], f"{name} {index} {type} to {result}"))
    for (expected, error, what), actual in zip(cases, step.run(f"{folder}/conv-{type}")):
        check(actual, expected, 1, error, what)


POOLS = [
    ((2, 8, 8, 16), (2, 2), (2, 2), (0, 0, 0, 0)),
    ((2, 7, 9, 3), (3, 2), (2, 3), (1, 2, 0, 1)),
    ((1, 6, 6, 5), (3, 3), (1, 1), (1, 1, 1, 1)),
    ((2, 4, 4, 4), (4, 4), (4, 4), (0, 0, 0, 0)),
    ((1, 9, 9, 2), (2, 2), (4, 3), (0, 0, 0, 0)),
]
for type in ("f16", "bf16", "f32", "f64"):
    step, cases = Step(), []
    for index, (shape, window, strides, padding) in enumerate(POOLS):
        # Few distinct values: many ties. Some NaNs and windows of -inf.
        values = rng.integers(-2, 3, shape).astype(float)
        if index in (1, 2):
            values[rng.random(shape) < 0.02] = np.nan
            values[:, :3, :3, 0] = -np.inf
        x = tensor(values, type)
        out = next(taps(shape[1:3], window, strides, padding, (1, 1)))[4]
        dy = tensor(rng.standard_normal((shape[0], *out, shape[3])), type)
        with np.errstate(invalid="ignore"):
            maximum, average, dmax, davg = pool_all(wide(x), wide(dy), window, strides, padding)
        y = tensor(maximum, type)
        a, b, c = (step.input(v) for v in (x, y, dy))
        attributes = (
            f"{{window = {array(window)}, strides = {array(strides)}, padding = {array(padding)}}}"
        )
        for name, names, operands, expected, ulps in [
            ("max_pool2d", (a,), (x,), maximum, 0),
            ("avg_pool2d", (a,), (x,), average, 1),
            ("max_pool2d_grad", (a, b, c), (x, y, dy), dmax, 1),
            ("avg_pool2d_grad", (c,), (dy,), davg, 1),
        ]:
            step.output(
                step.op(
                    f"train.{name} {', '.join(names)} {attributes} : "
                    f"({', '.join(mlir_type(*v) for v in operands)}) -> "
                    f"{spelled(expected.shape, type)}",
                    type,
                ),
                expected.shape,
                type,
            )
            cases.append((expected, ulps, f"{name} {index} {type}"))
    slack = 1e-15 if type == "f64" else 1e-6
    for (expected, ulps, what), actual in zip(cases, step.run(f"{folder}/pool-{type}")):
        check(actual, expected, ulps, slack if ulps else 0, what)
print("ok")
