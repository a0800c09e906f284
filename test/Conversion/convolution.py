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
from oracle import Step, check, mlir_type, tensor, wide  # noqa: E402

rng = np.random.default_rng(5)


def spelled(shape, type):
    return "tensor<" + "".join(f"{n}x" for n in shape) + type + ">"


def array(values):
    return "array<i64: " + ", ".join(str(v) for v in values) + ">"


def taps(size, window, strides, padding, dilations):
    """Yields (kh, kw, rows, columns, out rows, out columns): which elements of
    the unpadded input each tap reads for which results."""
    out = [
        (size[i] + padding[2 * i] + padding[2 * i + 1] - dilations[i] * (window[i] - 1) - 1)
        // strides[i] + 1
        for i in range(2)
    ]
    for kh in range(window[0]):
        for kw in range(window[1]):
            pairs = []
            for i, k in enumerate((kh, kw)):
                at = np.arange(out[i]) * strides[i] + k * dilations[i] - padding[2 * i]
                inside = (at >= 0) & (at < size[i])
                pairs.append((at[inside], np.arange(out[i])[inside]))
            (rows, out_rows), (columns, out_columns) = pairs
            yield kh, kw, np.ix_(rows, columns), np.ix_(out_rows, out_columns), out


def conv_all(x, w, dy, strides, padding, dilations, groups):
    """The convolution and both of its gradients, group by group."""
    n, height, width, channels = x.shape
    kh_size, kw_size, per_group, filters = w.shape
    window = (kh_size, kw_size)
    steps = list(taps((height, width), window, strides, padding, dilations))
    out = steps[0][4]
    y = np.zeros((n, *out, filters))
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    for kh, kw, here, there, _ in steps:
        for g in range(groups):
            c = slice(g * per_group, (g + 1) * per_group)
            f = slice(g * filters // groups, (g + 1) * filters // groups)
            part = x[:, here[0], here[1], c]
            grad = dy[:, there[0], there[1], f]
            y[:, there[0], there[1], f] += part @ w[kh, kw, :, f]
            dx[:, here[0], here[1], c] += grad @ w[kh, kw, :, f].T
            dw[kh, kw, :, f] += np.einsum("nhwc,nhwf->cf", part, grad)
    return y, dx, dw


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


# Pooling. The first maximum in row-major order takes the gradient; padding
# never does.
def pool_all(x, dy, window, strides, padding):
    steps = list(taps(x.shape[1:3], window, strides, padding, (1, 1)))
    out = steps[0][4]
    shape = (x.shape[0], *out, x.shape[3])
    maximum, total = np.full(shape, -np.inf), np.zeros(shape)
    for _, _, here, there, _ in steps:
        part = x[:, here[0], here[1], :]
        maximum[:, there[0], there[1], :] = np.maximum(maximum[:, there[0], there[1], :], part)
        total[:, there[0], there[1], :] += part
    taken = np.zeros(shape, bool)
    dmax, davg = np.zeros_like(x), np.zeros_like(x)
    size = window[0] * window[1]
    for _, _, here, there, _ in steps:
        part = x[:, here[0], here[1], :]
        best = maximum[:, there[0], there[1], :]
        first = ((part == best) | np.isnan(part)) & ~taken[:, there[0], there[1], :]
        taken[:, there[0], there[1], :] |= first
        grad = dy[:, there[0], there[1], :]
        dmax[:, here[0], here[1], :] += np.where(first, grad, 0)
        davg[:, here[0], here[1], :] += grad / size
    return maximum, total / size, dmax, davg


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
