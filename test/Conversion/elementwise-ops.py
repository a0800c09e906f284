# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Elementwise operations of two and three operands, comparisons, one-hot and
# constants against NumPy, with every way of broadcasting.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check, check_same_bits, mlir_type, spelled, tensor, wide  # noqa: E402

rng = np.random.default_rng(1)
SHAPES = [
    ((5, 7), (5, 7)),
    ((5, 7), (7,)),
    ((5, 7), (5, 1)),
    ((5, 1), (1, 7)),
    ((), (3, 2)),
    ((2, 1, 3), (4, 1)),
    ((1, 1), (6, 1)),
]
BINARY = {
    "add": (np.add, 0.5),
    "sub": (np.subtract, 0.5),
    "mul": (np.multiply, 0.5),
    "div": (np.divide, 0.5),
    "maximum": (np.maximum, 0),
    "minimum": (np.minimum, 0),
    "pow": (np.power, 2),
}


def draw(shape, type):
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    special = rng.random(shape)
    values = np.where(special < 0.04, np.nan, values)
    values = np.where((special > 0.04) & (special < 0.08), np.inf, values)
    values = np.where((special > 0.08) & (special < 0.12), -0.0, values)
    return tensor(values, type)


def rounding_bound(ulps, type):
    # One rounding from f32 to a low type, on top of what f32 itself may be off.
    return ulps if type in ("f32", "f64") else 0.5 + ulps * 2.0**-13


# Binary operations; pow takes positive numbers, its corners come below.
for type in ("f16", "bf16", "f32", "f64"):
    cases, step = [], Step()
    for left, right in SHAPES:
        x, y = draw(left, type), draw(right, type)
        positive = tensor(np.abs(wide(x)), type)
        names = [step.input(value) for value in (x, positive, y)]
        shape = np.broadcast_shapes(left, right)
        for name, (function, ulps) in BINARY.items():
            first, values = (names[1], positive) if name == "pow" else (names[0], x)
            result = step.op(
                f"train.{name} {first}, {names[2]} : ({mlir_type(*x)}, {mlir_type(*y)}) "
                f"-> {spelled(shape, type)}",
                type,
            )
            step.output(result, shape, type)
            with np.errstate(all="ignore"):
                expected = function(wide(values), wide(y))
            cases.append((name, expected, rounding_bound(ulps, type), left, right))
    for case, actual in zip(cases, step.run(f"{folder}/binary-{type}")):
        name, expected, ulps, left, right = case
        check(actual, expected, ulps, what=f"{name} {type} {left} {right}")

# Corners of pow, bit for bit what C's pow gives.
base = np.array([-2, -2, -8, 0, -0.0, 0, np.inf, 1, np.nan, -1, 2, -np.inf], float)
power = np.array([3, 2, 1 / 3, 0, -1, -1, 0, np.nan, 0, np.inf, -200, 3], float)
step = Step()
x, y = tensor(base, "f32"), tensor(power, "f32")
result = step.op(
    f"train.pow {step.input(x)}, {step.input(y)} "
    ": (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>",
    "f32",
)
step.output(result, [12], "f32")
with np.errstate(all="ignore"):
    check(step.run(folder + "/pow")[0], np.power(wide(x), wide(y)), 1, what="pow corners")

# Comparisons, of floats and of integers.
COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
for type in ("f16", "bf16", "f32", "f64", "i1", "i32", "i64"):
    cases, step = [], Step()
    for left, right in SHAPES if type == "f32" else SHAPES[2:4]:
        if type == "i1":
            x, y = ((np.asarray(rng.random(s) < 0.5), type) for s in (left, right))
        elif type[0] == "i":
            dtype = np.dtype(f"int{type[1:]}")
            x, y = ((np.asarray(rng.integers(-3, 3, s), dtype), type) for s in (left, right))
        else:
            x, y = (tensor(np.round(wide(draw(s, "f32"))), type) for s in (left, right))
        shape = np.broadcast_shapes(left, right)
        a, b = step.input(x), step.input(y)
        for name, function in COMPARE.items():
            # Booleans have no order.
            if type == "i1" and name not in ("eq", "ne"):
                continue
            result = step.op(
                f"train.compare {name}, {a}, {b} : ({mlir_type(*x)}, {mlir_type(*y)}) "
                f"-> {spelled(shape, 'i1')}",
                "i1",
            )
            step.output(result, shape, "i1")
            cases.append((name, function(*(wide(v) if "f" in type else v[0] for v in (x, y)))))
    for (name, expected), actual in zip(cases, step.run(f"{folder}/compare-{type}")):
        assert (actual[0] == expected).all(), (name, type)

# Selection: three operands that broadcast.
cases, step = [], Step()
for type in ("f16", "bf16", "f32", "f64"):
    for c, x, y in [((4, 5), (4, 5), (4, 5)), ((4, 1), (5,), ()), ((), (2, 3), (3,)), ((5,), (4, 1), (4, 5))]:
        condition = (np.asarray(rng.random(c) < 0.5), "i1")
        x, y = draw(x, type), draw(y, type)
        shape = np.broadcast_shapes(c, x[0].shape, y[0].shape)
        names = [step.input(value) for value in (condition, x, y)]
        result = step.op(
            f"train.select {', '.join(names)} : ({mlir_type(*condition)}, "
            f"{mlir_type(*x)}, {mlir_type(*y)}) -> {spelled(shape, type)}",
            type,
        )
        step.output(result, shape, type)
        cases.append((np.where(condition[0], x[0], y[0]), type))
for expected, actual in zip(cases, step.run(folder + "/select")):
    check_same_bits(actual, expected, "select")

# One-hot, with indices out of range; constants, splat and not.
cases, step = [], Step()
for type in ("f16", "bf16", "f32", "f64"):
    for integer in (np.int32, np.int64):
        indices = (rng.integers(-2, 9, (3, 5)).astype(integer), f"i{integer().itemsize * 8}")
        name = step.input(indices)
        result = step.op(
            f"train.one_hot {name} : ({mlir_type(*indices)}) -> tensor<3x5x7x{type}>", type
        )
        step.output(result, [3, 5, 7], type)
        cases.append(tensor(indices[0][..., None] == np.arange(7), type))
    for text, values in [
        ("dense<0.1>", np.full((2, 3), 0.1)),
        ("dense<[[1.0, -2.5, 0.3], [65504.0, 1.0e-8, 0.0]]>",
         np.array([[1, -2.5, 0.3], [65504, 1e-8, 0]])),
    ]:
        result = step.op(f"train.constant {text} : tensor<2x3x{type}>", type)
        step.output(result, [2, 3], type)
        cases.append(tensor(values, type))
for expected, actual in zip(cases, step.run(folder + "/one-hot")):
    check_same_bits(actual, expected, "one_hot or constant")
print("ok")
