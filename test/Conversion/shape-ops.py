# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reductions, broadcasts and data movement against NumPy.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check, check_same_bits, mlir_type, spelled, tensor, wide  # noqa: E402

rng = np.random.default_rng(3)
TYPES = ("f16", "bf16", "f32", "f64")


def array(values):
    return "array<i64: " + ", ".join(str(v) for v in values) + ">" if len(values) else "array<i64>"


# Reductions: to the type of the operand and to the wider one, f32 accumulators.
REDUCE = {"sum": np.sum, "mean": np.mean, "max": np.max}
for type in TYPES:
    step, cases = Step(), []
    for shape, dims in [
        ((6, 5, 4), (0,)),
        ((6, 5, 4), (2,)),
        ((6, 5, 4), (0, 2)),
        ((6, 5, 4), (0, 1, 2)),
        ((6, 5, 4), ()),
        ((3, 700), (1,)),
        ((700, 3), (0,)),
    ]:
        x = tensor(rng.standard_normal(shape) * 3 + 0.5, type)
        name = step.input(x)
        for kind, function in REDUCE.items():
            for keep in (False, True):
                for result_type in {type, "f64" if type == "f64" else "f32"}:
                    expected = function(wide(x), axis=dims, keepdims=keep)
                    result = step.op(
                        f"train.reduce_{kind} {name} {{dims = {array(dims)}"
                        f"{', keep_dims' if keep else ''}}} : ({mlir_type(*x)}) "
                        f"-> {spelled(expected.shape, result_type)}",
                        result_type,
                    )
                    step.output(result, expected.shape, result_type)
                    terms = np.sum(np.abs(wide(x)), axis=dims, keepdims=keep)
                    count = wide(x).size // max(expected.size, 1)
                    error = terms * count * (2.0**-53 if type == "f64" else 2.0**-24)
                    if kind == "mean":
                        error = error / count
                    cases.append((kind, shape, dims, result_type, expected, error))
    for (kind, shape, dims, result_type, expected, error), actual in zip(
        cases, step.run(f"{folder}/reduce-{type}")
    ):
        what = f"{kind} of {type} {shape} over {dims} to {result_type}"
        if kind == "max":
            check(actual, expected, 0, what=what)
        else:
            check(actual, expected, 1, error, what)

# A sum of f16 values in f32: 4,096 ones, which f16 could not count, and a sum
# that overflows f16 but not f32. NaN and infinities.
step = Step()
ones, name = tensor(np.ones(4096), "f16"), None
name = step.input(ones)
step.output(
    step.op(f"train.reduce_sum {name} {{dims = array<i64: 0>}} : (tensor<4096xf16>) -> tensor<f16>", "f16"),
    [], "f16")
big = step.input(tensor(np.full(8, 60000.0), "f16"))
step.output(
    step.op(f"train.reduce_mean {big} {{dims = array<i64: 0>}} : (tensor<8xf16>) -> tensor<f16>", "f16"),
    [], "f16")
bad = np.zeros((3, 4), np.float32)
bad[0, 1], bad[1, 2], bad[1, 3] = np.nan, -np.inf, np.inf
bad = step.input(tensor(bad, "f32"))
for kind in ("sum", "max"):
    step.output(
        step.op(f"train.reduce_{kind} {bad} {{dims = array<i64: 1>}} : (tensor<3x4xf32>) -> tensor<3xf32>", "f32"),
        [3], "f32")
low = step.input(tensor(np.full((2, 3), -np.inf), "f32"))
step.output(
    step.op(f"train.reduce_max {low} {{dims = array<i64: 1>}} : (tensor<2x3xf32>) -> tensor<2xf32>", "f32"),
    [2], "f32")
total, mean, sums, maxima, lowest = step.run(folder + "/special")
assert total[0] == 4096 and mean[0] == 60000, (total, mean)
assert np.isnan(sums[0][:2]).all() and sums[0][2] == 0, sums
assert np.isnan(maxima[0][0]) and maxima[0][1] == np.inf and maxima[0][2] == 0, maxima
assert (lowest[0] == -np.inf).all(), lowest

# Broadcasts, plain and divided by the number of repetitions.
for type in TYPES:
    step, cases = Step(), []
    for shape, dims in [((4, 5), (0,)), ((4, 5), (1,)), ((3, 4, 5), (0, 2)), ((3, 4), (0, 1)), ((4,), ())]:
        kept = [n for i, n in enumerate(shape) if i not in dims]
        x = tensor(rng.standard_normal(kept), type)
        name = step.input(x)
        count = np.prod([shape[d] for d in dims])
        source = wide(x).reshape([1 if i in dims else n for i, n in enumerate(shape)])
        for mean in (False, True):
            result = step.op(
                f"train.broadcast {name} {{dims = {array(dims)}{', mean' if mean else ''}}} : "
                f"({mlir_type(*x)}) -> {spelled(shape, type)}",
                type,
            )
            step.output(result, shape, type)
            cases.append(np.broadcast_to(source / (count if mean else 1), shape))
    for expected, actual in zip(cases, step.run(f"{folder}/broadcast-{type}")):
        check(actual, expected, 0.51, what=f"broadcast {type}")

# Movement, bit for bit.
def pad(x, low, high, interior, value):
    shape = [l + h + n + (n - 1) * i for n, l, h, i in zip(x.shape, low, high, interior)]
    result = np.full(shape, value, x.dtype)
    result[tuple(slice(l, l + (n - 1) * (i + 1) + 1, i + 1)
                 for n, l, i in zip(x.shape, low, interior))] = x
    return result


for type in TYPES:
    step, cases = Step(), []
    x = tensor(rng.standard_normal((4, 6, 5)), type)
    y = tensor(rng.standard_normal((4, 2, 5)), type)
    scalar = tensor(np.float64(1.5), type)
    a, b, c = (step.input(value) for value in (x, y, scalar))

    def case(text, expected):
        step.output(step.op(f"{text} -> {spelled(expected.shape, type)}", type), expected.shape, type)
        cases.append((expected, type))

    for shape in [(24, 5), (4, 30), (120,), (2, 2, 6, 5), (5, 6, 4), (1, 4, 6, 5, 1), (8, 15)]:
        case(f"train.reshape {a} : ({mlir_type(*x)})", x[0].reshape(shape))
    for shape in [(1,), (1, 1, 1)]:
        case(f"train.reshape {c} : ({mlir_type(*scalar)})", scalar[0].reshape(shape))
    for permutation in [(0, 2, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)]:
        case(
            f"train.transpose {a} {{permutation = {array(permutation)}}} : ({mlir_type(*x)})",
            x[0].transpose(permutation),
        )
    for offsets, sizes, strides in [
        ((0, 0, 0), (4, 6, 5), (1, 1, 1)),
        ((1, 2, 3), (2, 3, 2), (1, 1, 1)),
        ((0, 1, 0), (2, 2, 3), (3, 4, 2)),
    ]:
        index = tuple(slice(o, o + (n - 1) * s + 1, s) for o, n, s in zip(offsets, sizes, strides))
        case(
            f"train.slice {a} {{offsets = {array(offsets)}, sizes = {array(sizes)}, "
            f"strides = {array(strides)}}} : ({mlir_type(*x)})",
            x[0][index],
        )
    for low, high, interior, value in [
        ((0, 0, 0), (0, 0, 0), (0, 0, 0), 0.0),
        ((1, 0, 2), (0, 3, 0), (0, 0, 0), 0.1),
        ((0, 1, 0), (0, 0, 0), (1, 2, 0), -2.5),
    ]:
        case(
            f"train.pad {a} {{low = {array(low)}, high = {array(high)}, interior = "
            f"{array(interior)}, value = {value} : f64}} : ({mlir_type(*x)})",
            pad(x[0], low, high, interior, tensor(value, type)[0]),
        )
    case(
        f"train.concat {a}, {b}, {a} {{axis = 1 : i64}} : "
        f"({mlir_type(*x)}, {mlir_type(*y)}, {mlir_type(*x)})",
        np.concatenate([x[0], y[0], x[0]], axis=1),
    )
    for index, (expected, actual) in enumerate(zip(cases, step.run(f"{folder}/move-{type}"))):
        check_same_bits(actual, expected, f"movement {index} of {type}")
print("ok")
