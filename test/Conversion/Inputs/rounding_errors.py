# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The largest error of each operation in f16 and bf16, in units in the last place of
the exact result (ulp). 0.5 is the least that rounding allows.

References are NumPy and the Python math library in f64, applied to the low operands."""

import math

import layer_errors
import numpy as np
from oracle import Step, elementwise, tensor, ulp, wide
from references import softmax as softmax_along

ROWS = 256


erf, erfc = elementwise(math.erf), elementwise(math.erfc)


def sigmoid(x):
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


def gelu(x):
    return x * erfc(-x / math.sqrt(2)) / 2


def gelu_slope(x):
    x = np.clip(x, -64, 64)
    return erfc(-x / math.sqrt(2)) / 2 + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def gate(x):
    return sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))


def gelu_tanh_slope(x):
    x = np.clip(x, -64, 64)
    s = gate(x)
    inner = 2 * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
    # 1 - s, without cancellation.
    return s + x * s * gate(-x) * inner


def silu_slope(x):
    x = np.clip(x, -800, 800)
    return sigmoid(x) * (1 + x * sigmoid(-x))


def relu(x):
    return np.where(np.isnan(x), x, np.maximum(x, 0))


def softmax(x):
    return softmax_along(x, 1)


def logsumexp(x):
    m = x.max(1, keepdims=True)
    return (m + np.log(np.exp(x - m).sum(1, keepdims=True)))[:, 0]


def shares(y, dy):
    return y * dy - y * (y * dy).sum(1, keepdims=True)


# Operations of one tensor: the attributes and the function.
UNARY = {
    "neg": ("", np.negative),
    "abs": ("", np.abs),
    "sign": ("", np.sign),
    "sin": ("", np.sin),
    "cos": ("", np.cos),
    "erf": ("", erf),
    "sqrt": ("", np.sqrt),
    "log": ("", np.log),
    "log1p": ("", np.log1p),
    "tanh": ("", np.tanh),
    "sigmoid": ("", sigmoid),
    "silu": ("", lambda x: x * sigmoid(x)),
    "relu": ("", relu),
    "exp": ("", np.exp),
    "expm1": ("", np.expm1),
    "rsqrt": ("", lambda x: 1 / np.sqrt(x)),
    "reciprocal": ("", lambda x: 1 / x),
    "square": ("", np.square),
    "gelu": ("", gelu),
    "gelu#tanh form": ("{approximate = 1 : i32}", lambda x: x * gate(x)),
    "clip": ("{min = -0.75 : f64, max = 6.5 : f64}", lambda x: np.clip(x, -0.75, 6.5)),
}
# Operations of two tensors: the attributes, the function, and the operands.
BINARY = {
    "add": ("", np.add, "all"),
    "sub": ("", np.subtract, "all"),
    "mul": ("", np.multiply, "all"),
    "div": ("", np.divide, "all"),
    "maximum": ("", np.maximum, "all"),
    "minimum": ("", np.minimum, "all"),
    "pow": ("", np.power, "powers"),
    # The first operand is the saved value of the forward operation, the second the gradient.
    "relu_grad": ("", lambda y, dy: np.where(y <= 0, 0, dy), "slopes"),
    "clip_grad": ("{min = -0.75 : f64, max = 6.5 : f64}",
                  lambda x, dy: np.where((x >= -0.75) & (x <= 6.5), dy, 0), "slopes"),
    "tanh_grad": ("", lambda y, dy: dy * (1 - y * y), "outputs"),
    "sigmoid_grad": ("", lambda y, dy: dy * (y * (1 - y)), "outputs"),
    "silu_grad": ("", lambda x, dy: dy * silu_slope(x), "slopes"),
    "gelu_grad": ("", lambda x, dy: dy * gelu_slope(x), "slopes"),
    "gelu_grad#tanh form": ("{approximate = 1 : i32}", lambda x, dy: dy * gelu_tanh_slope(x), "slopes"),
}  # fmt: skip
# Operations of rows: the text with %0 and so on for the operands and T for their type,
# the operands, the shape of the result and the function. An error counts in ulp of the
# last entry, if there is one and the result is smaller: where terms cancel, the f32
# operation itself is not exact.
FULL, ONE = f"{ROWS}x{ROWS}x", f"{ROWS}x"
ROW = {
    "reduce_sum": (f"%0 {{dims = array<i64: 1>}} : (tensor<{FULL}T>) -> tensor<{ONE}T>",
                   ["positive"], (ROWS,), lambda x: x.sum(1), None),
    "reduce_mean": (f"%0 {{dims = array<i64: 1>}} : (tensor<{FULL}T>) -> tensor<{ONE}T>",
                    ["positive"], (ROWS,), lambda x: x.mean(1), None),
    "reduce_max": (f"%0 {{dims = array<i64: 1>}} : (tensor<{FULL}T>) -> tensor<{ONE}T>",
                   ["normal"], (ROWS,), lambda x: x.max(1), None),
    "cumsum": (f"%0 {{axis = 1 : i64}} : (tensor<{FULL}T>) -> tensor<{FULL}T>",
               ["positive"], (ROWS, ROWS), lambda x: x.cumsum(1), None),
    "matmul": (f"%0, %1 : (tensor<{FULL}T>, tensor<{FULL}T>) -> tensor<{FULL}T>",
               ["positive", "positive"], (ROWS, ROWS), np.matmul, None),
    "softmax": (f"%0 {{axis = 1 : i64}} : tensor<{FULL}T>", ["normal"], (ROWS, ROWS), softmax, None),
    "log_softmax": (f"%0 {{axis = 1 : i64}} : tensor<{FULL}T>", ["normal"], (ROWS, ROWS),
                    lambda x: x - logsumexp(x)[:, None], None),
    "logsumexp": (f"%0 {{axis = 1 : i64}} : (tensor<{FULL}T>) -> tensor<{ONE}T>",
                  ["normal"], (ROWS,), logsumexp, None),
    "softmax_grad": (f"%0, %1 {{axis = 1 : i64}} : tensor<{FULL}T>", ["share", "normal"],
                     (ROWS, ROWS), shares, lambda y, dy: np.abs(y * dy)),
    "log_softmax_grad": (f"%0, %1 {{axis = 1 : i64}} : tensor<{FULL}T>", ["logarithm", "normal"],
                         (ROWS, ROWS), lambda y, dy: dy - np.exp(y) * dy.sum(1, keepdims=True),
                         lambda y, dy: np.abs(dy)),
}  # fmt: skip


def sample(kind, low, seed):
    """Numbers of the type `low`."""
    random = np.random.default_rng(seed)
    every = np.arange(65536, dtype=np.uint16)
    if kind == "every":
        return (every.view(np.float16) if low == "f16" else every), low
    if kind == "bounded":
        every = every.view(np.float16) if low == "f16" else every
        return tensor(np.clip(wide((every, low)), 0, 1), low)
    if kind == "shuffled":
        every = random.permutation(every)
        return (every.view(np.float16) if low == "f16" else every), low
    shape = (65536,) if kind in ("power", "base", "gradient") else (ROWS, ROWS)
    values = random.standard_normal(shape)
    if kind == "power":
        values = random.uniform(-4, 4, shape)
    elif kind == "base":
        values = np.exp2(random.uniform(-4, 4, shape))
    elif kind == "positive":
        values = np.abs(values)
    elif kind in ("share", "logarithm"):
        values = softmax(2 * values)
        values = np.log(values) if kind == "logarithm" else values
    return tensor(values, low)


def largest_error(actual, expected, low, floor=None):
    """The largest distance in ulp. A NaN on one side alone is at an infinite distance;
    infinity counts as the next power of two."""
    border = {"f16": 2.0**16, "bf16": 2.0**128}[low]
    got = np.clip(wide(actual), -border, border)
    expected = np.clip(expected, -border, border)
    with np.errstate(all="ignore"):
        scale = np.abs(expected) if floor is None else np.maximum(np.abs(expected), floor)
        unit = ulp(np.minimum(scale, border / 2), low)
        error = np.abs(got - expected) / unit
    nan = np.isnan(got), np.isnan(expected)
    error = np.where(nan[0] & nan[1], 0, np.where(nan[0] | nan[1], np.inf, error))
    return float(error.max())


def measure(folder):
    """The largest errors by operation: pairs for f16 and bf16."""
    found = {}
    for low in ("f16", "bf16"):
        step, pending = Step(), []
        inputs = {}

        def read(kind, seed=0):
            if (kind, seed) not in inputs:
                value = sample(kind, low, seed)
                inputs[kind, seed] = step.input(value), wide(value)
            return inputs[kind, seed]

        def add(name, text, shape, expected, floor=None):
            value = step.op(f"train.{name.split('#')[0]} {text}", low)
            step.output(value, shape, low)
            pending.append((name, expected, floor))

        with np.errstate(all="ignore"):
            x, exact = read("every")
            for name, (attributes, function) in UNARY.items():
                add(name, f"{x} {attributes} : tensor<65536x{low}>", [65536], function(exact))
            type = f"tensor<65536x{low}>"
            for name, (attributes, function, kind) in BINARY.items():
                first, second = {"all": ("every", "shuffled"), "powers": ("base", "power"),
                                 "slopes": ("every", "gradient"),
                                 "outputs": ("bounded", "gradient")}[kind]  # fmt: skip
                (a, left), (b, right) = read(first), read(second)
                signature = type if kind in ("slopes", "outputs") else f"({type}, {type}) -> {type}"
                add(name, f"{a}, {b} {attributes} : {signature}", [65536], function(left, right))
            for name, (text, kinds, shape, function, floor) in ROW.items():
                operands = [read(kind, seed + 1) for seed, kind in enumerate(kinds)]
                for index, (value, _) in enumerate(operands):
                    text = text.replace(f"%{index}", value, 1)
                exact = [values for _, values in operands]
                add(name, text.replace("xT>", f"x{low}>"), shape, function(*exact),
                    floor(*exact) if floor else None)  # fmt: skip
            for name, expected, floor, _ in layer_errors.build(step, low):
                pending.append((name, np.asarray(expected), floor))
        for (name, expected, floor), actual in zip(pending, step.run(f"{folder}/{low}")):
            errors = found.setdefault(name, {})
            error = largest_error(actual, expected, low, floor)
            errors[low] = max(error, errors.get(low, 0.0))
    return {name: (errors["f16"], errors["bf16"]) for name, errors in found.items()}
