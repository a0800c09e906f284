# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands on which each differentiable operation is differentiated.

Values stay away from kinks: `spaced` keeps any two elements, and each element
and zero, at least 0.1 apart.
"""

import zlib

import numpy as np


class Same:
    """The value of an earlier operand, used again."""

    def __init__(self, index):
        self.index = index


class Case:
    """One instance of an operation.

    `operands` are arrays (f64 and f32 ones are differentiated by, integers and
    booleans are not) or `Same`; `results` the shapes of the results; `attrs`
    the attributes in generic form; `wrt` the operands to differentiate by, if
    not all floats; `use` the results that the loss depends on, if not all.
    """

    def __init__(self, operands, results, attrs="", wrt=None, use=None):
        self.operands, self.results, self.attrs = operands, results, attrs
        floats = [
            i
            for i, x in enumerate(operands)
            if isinstance(x, np.ndarray) and x.dtype.kind == "f"
        ]
        self.wrt = floats if wrt is None else wrt
        self.use = range(len(results)) if use is None else use


_rng = np.random.default_rng(zlib.crc32(b"gradients"))


def normal(*shape):
    return np.array(_rng.normal(size=shape))


def positive(*shape):
    return np.array(_rng.uniform(0.5, 2.0, size=shape))


def spaced(*shape):
    count = int(np.prod(shape))
    values = (_rng.permutation(count) - count // 2) * 0.2 + 0.1
    return (values + _rng.uniform(-0.04, 0.04, size=count)).reshape(shape)


def unary(values, attrs="", result=None):
    return [Case([values], [values.shape], attrs)]


def binary(make):
    """Equal shapes, each kind of broadcasting, and one value used twice."""
    return [
        Case([make(2, 3), make(2, 3)], [(2, 3)]),
        Case([make(2, 3), make(3)], [(2, 3)]),
        Case([make(), make(2, 3)], [(2, 3)]),
        Case([make(2, 1, 3), make(4, 1)], [(2, 4, 3)]),
        Case([make(1, 3), make(2, 1, 1)], [(2, 1, 3)]),
        Case([make(1, 1), make(1)], [(1, 1)]),
    ]


def shared(make):
    values = make(2, 3)
    return [Case([values, Same(0)], [(2, 3)])]


def activation_grad(values, attrs="", wrt=None):
    return [Case([values, normal(*values.shape)], [values.shape], attrs, wrt)]


def reductions(make):
    x = make(2, 3, 4)
    return [
        Case([x], [(2, 4)], "dims = array<i64: 1>"),
        Case([x], [(2, 1, 4)], "dims = array<i64: 1>, keep_dims"),
        Case([x], [(3,)], "dims = array<i64: 0, 2>"),
        Case([x], [(1, 1, 1)], "dims = array<i64: 0, 1, 2>, keep_dims"),
        Case([x], [()], "dims = array<i64: 0, 1, 2>"),
        Case([x], [(2, 3, 4)], "dims = array<i64>"),
    ]


def regression(grad):
    x, target = spaced(2, 3), 0.03 * normal(2, 3)
    if grad:
        return [Case([x, target, normal()], [(2, 3)])]
    return [Case([x, target], [()]), Case([x, 5.0 + x], [()])]


def labels(*values):
    return np.array(values, np.int64)


def norm_statistics(x, axes):
    mean = x.mean(axis=axes)
    return mean, 1 / np.sqrt(x.var(axis=axes) + 1e-5)


def layer_norm_grad(shape, trailing):
    x = normal(*shape)
    axes = tuple(range(len(shape) - len(trailing), len(shape)))
    mean, rstd = norm_statistics(x, axes)
    return Case(
        [normal(*shape), x, normal(*trailing), mean, rstd], [shape, trailing, trailing]
    )


def batch_norm_grad(shape):
    x, channels = normal(*shape), shape[-1:]
    mean, rstd = norm_statistics(x, tuple(range(len(shape) - 1)))
    return Case([normal(*shape), x, normal(*channels), mean, rstd], [shape, channels, channels])


def batch_norm(shape, use):
    c = shape[-1:]
    operands = [normal(*shape), normal(*c), normal(*c), normal(*c), positive(*c)]
    return Case(operands, [shape, c, c, c, c], "momentum = 0.3 : f64", use=use)


def matmuls():
    cases = []
    for ta in (False, True):
        for tb in (False, True):
            flags = ", ".join(["transpose_a"] * ta + ["transpose_b"] * tb)
            for batch in ((), (2,)):
                a = batch + ((4, 3) if ta else (3, 4))
                b = batch + ((2, 4) if tb else (4, 2))
                cases.append(Case([normal(*a), normal(*b)], [batch + (3, 2)], flags))
    square = normal(3, 3)
    cases.append(Case([square, Same(0)], [(3, 3)], "transpose_b"))
    return cases


def linears():
    cases = []
    for flag, weight in (("", (4, 3)), ("transpose_weight", (3, 4))):
        for leading in ((2,), (2, 3), ()):
            x = leading + (4,)
            y = [leading + (3,)]
            cases.append(Case([normal(*x), normal(*weight), normal(3)], y, flag))
        cases.append(Case([normal(2, 4), normal(*weight)], [(2, 3)], flag))
    return cases


# Strides, padding, dilations, groups; then input, filter and result.
CONVOLUTIONS = [
    ((1, 1), (0, 0, 0, 0), (1, 1), 1, (2, 4, 3, 2), (3, 2, 2, 3), (2, 2, 2, 3)),
    ((2, 1), (1, 0, 2, 1), (1, 1), 1, (1, 5, 3, 1), (2, 3, 1, 2), (1, 3, 4, 2)),
    ((2, 2), (1, 1, 1, 1), (1, 2), 2, (1, 4, 5, 4), (3, 2, 2, 4), (1, 2, 3, 4)),
    ((1, 1), (0, 0, 0, 0), (2, 1), 3, (1, 4, 2, 3), (2, 1, 1, 3), (1, 2, 2, 3)),
]


def ints(values):
    return "array<i64: " + ", ".join(map(str, values)) + ">"


def convolutions(form):
    cases = []
    for strides, padding, dilations, groups, x, w, y in CONVOLUTIONS:
        attrs = (
            f"strides = {ints(strides)}, padding = {ints(padding)}, "
            f"dilations = {ints(dilations)}, groups = {groups} : i64"
        )
        shapes = {
            "conv2d": (x, w, y),
            "conv2d_input_grad": (y, w, x),
            "conv2d_filter_grad": (x, y, w),
        }[form]
        cases.append(Case([normal(*shapes[0]), normal(*shapes[1])], [shapes[2]], attrs))
    return cases


# Window, strides, padding; then input and result. The second overlaps.
POOLS = [
    ((2, 2), (2, 2), (0, 0, 0, 0), (2, 4, 4, 2), (2, 2, 2, 2)),
    ((3, 2), (1, 1), (1, 1, 0, 1), (1, 3, 3, 2), (1, 3, 3, 2)),
    ((2, 1), (2, 3), (0, 1, 0, 0), (1, 4, 4, 1), (1, 2, 2, 1)),
]


def pool_attrs(window, strides, padding):
    return f"window = {ints(window)}, strides = {ints(strides)}, padding = {ints(padding)}"


def pools(grad):
    cases = []
    for window, strides, padding, x, y in POOLS:
        attrs = pool_attrs(window, strides, padding)
        if grad:
            cases.append(Case([normal(*y)], [x], attrs))
        else:
            cases.append(Case([spaced(*x)], [y], attrs))
    return cases


def max_pool_grads():
    """By the gradient only: the choice of a maximum has no derivative."""
    cases = []
    for window, strides, padding, x, y in POOLS:
        values, pooled = spaced(*x), np.full(y, -np.inf)
        padded = np.pad(
            values,
            ((0, 0), padding[:2], padding[2:], (0, 0)),
            constant_values=-np.inf,
        )
        for row in range(y[1]):
            for column in range(y[2]):
                top, left = row * strides[0], column * strides[1]
                part = padded[:, top : top + window[0], left : left + window[1]]
                pooled[:, row, column] = part.max(axis=(1, 2))
        attrs = pool_attrs(window, strides, padding)
        cases.append(Case([values, pooled, normal(*y)], [x], attrs, wrt=[2]))
    return cases


DROPS = "dropout_rate = 0.4 : f64, dropout_key = 5 : i32"


def attentions():
    """Plain, causal, masked with one query that has no key, and all results."""
    q, k, v = (2, 3, 4), (2, 5, 4), (2, 5, 2)
    y = [(2, 3, 2), (2, 3)]
    mask = np.array([[True, False, True, True, False], [True] * 5, [False] * 5])
    square = (2, 3, 4)
    return [
        Case([normal(*q), normal(*k), normal(*v)], y, use=[0]),
        Case([normal(*q), normal(*k), normal(*v)], y, "scale = 0.7 : f64"),
        Case([normal(*square) for _ in range(3)], [square, (2, 3)], "causal", use=[0]),
        Case([normal(*q), normal(*k), normal(*v), mask], y, use=[0]),
        Case([normal(3, 4), Same(0), Same(0)], [(3, 4), (3,)], "causal", use=[0]),
        Case([normal(*q), normal(*k), normal(*v), mask, labels(3, 7)], y, DROPS, use=[0]),
        Case([normal(*q), normal(*k), normal(*v), labels(3, 7)], y, DROPS),
    ]


def attention_grads():
    cases = []
    mask = np.array([[True, False, True], [True] * 3, [False, True, True]])
    for attrs, masks in (("", []), ("causal, scale = 0.3 : f64", []), ("", [mask])):
        x = [normal(2, 3, 4) for _ in range(5)]
        cases.append(Case(x + [2 + normal(2, 3)] + masks, [(2, 3, 4)] * 3, attrs))
    cases.append(Case([normal(2, 3, 4) for _ in range(5)] + [2 + normal(2, 3), labels(3, 7)], [(2, 3, 4)] * 3, DROPS))
    return cases


TANH = "approximate = 1 : i32"
BOUNDS = "min = -0.31 : f64, max = 0.52 : f64"
MIXED = np.array([[True, False, True], [False, False, True]])

CASES = {
    "train.neg": unary(normal(2, 3)),
    "train.abs": unary(spaced(2, 3)),
    "train.sign": unary(spaced(2, 3)),
    "train.sin": unary(normal(2, 3)),
    "train.cos": unary(normal(2, 3)),
    "train.erf": unary(normal(2, 3)),
    "train.sqrt": unary(positive(2, 3)),
    "train.log": unary(positive(2, 3)),
    "train.log1p": unary(positive(2, 3) - 1.2),
    "train.tanh": unary(normal(2, 3)),
    "train.sigmoid": unary(3 * normal(2, 3)),
    "train.relu": unary(spaced(2, 3)),
    "train.exp": unary(normal(2, 3)),
    "train.expm1": unary(normal(2, 3)),
    "train.rsqrt": unary(positive(2, 3)),
    "train.reciprocal": unary(spaced(2, 3)),
    "train.square": unary(normal(2, 3)),
    "train.gelu": unary(normal(2, 3)) + unary(normal(2, 3), TANH),
    "train.clip": unary(spaced(3, 4), BOUNDS),
    "train.relu_grad": activation_grad(spaced(2, 3)),
    "train.tanh_grad": activation_grad(np.tanh(normal(2, 3))),
    "train.sigmoid_grad": activation_grad(1 / (1 + np.exp(normal(2, 3)))),
    "train.gelu_grad": activation_grad(normal(2, 3))
    + activation_grad(normal(2, 3), TANH)
    + activation_grad(normal(2, 3), wrt=[1]),
    "train.clip_grad": activation_grad(spaced(3, 4), BOUNDS),
    "train.add": binary(normal) + shared(normal),
    "train.sub": binary(normal) + shared(normal),
    "train.mul": binary(normal) + shared(normal),
    "train.div": binary(positive) + shared(positive),
    # All elements distinct; those of the right operand are between those of the left.
    "train.maximum": [Case([spaced(2, 3), 0.03 * normal(3)], [(2, 3)])],
    "train.minimum": [Case([0.03 * normal(3), spaced(2, 3)], [(2, 3)])],
    "train.pow": binary(positive)
    + shared(positive)
    + [Case([-positive(3), np.array([2.0, 3.0, -1.0])], [(3,)], wrt=[0])],
    "train.select": [
        Case([MIXED, normal(2, 3), normal(2, 3)], [(2, 3)]),
        Case([MIXED[:, :1], normal(3), normal()], [(2, 3)]),
        Case([MIXED, normal(1, 3), Same(1)], [(2, 3)]),
    ],
    "train.reduce_sum": reductions(normal),
    "train.reduce_mean": reductions(normal),
    "train.reduce_max": reductions(spaced),
    "train.broadcast": [
        Case([normal(2)], [(3, 2)], "dims = array<i64: 0>"),
        Case([normal(2)], [(2, 3, 4)], "dims = array<i64: 1, 2>, mean"),
        Case([normal()], [(2, 3)], "dims = array<i64: 0, 1>"),
        Case([normal(2, 3)], [(2, 3)], "dims = array<i64>"),
        Case([normal(2), normal(3, 2)], [(3, 2)], "dims = array<i64: 0>, mean"),
    ],
    "train.reshape": [
        Case([normal(2, 6)], [(3, 2, 2)]),
        Case([normal(1, 1)], [()]),
    ],
    "train.transpose": [Case([normal(2, 3, 4)], [(4, 2, 3)], "permutation = array<i64: 2, 0, 1>")],
    "train.slice": [
        Case(
            [normal(4, 7)],
            [(4, 3)],
            "offsets = array<i64: 0, 1>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>",
        ),
        Case(
            [normal(5, 2)],
            [(2, 1)],
            "offsets = array<i64: 1, 0>, sizes = array<i64: 2, 1>, strides = array<i64: 3, 1>",
        ),
    ],
    "train.pad": [
        Case(
            [normal(2, 3)],
            [(2, 10)],
            "low = array<i64: 0, 1>, high = array<i64: 0, 2>, "
            "interior = array<i64: 0, 2>, value = 2.0 : f64",
        ),
        Case(
            [normal(2, 3)],
            [(4, 3)],
            "low = array<i64: 1, 0>, high = array<i64: 1, 0>, interior = array<i64: 0, 0>",
        ),
    ],
    "train.concat": [
        Case([normal(2, 3), normal(2, 1), normal(2, 2)], [(2, 6)], "axis = 1 : i64"),
        Case([normal(2, 3), Same(0)], [(4, 3)], "axis = 0 : i64"),
    ],
    "train.dropout": [
        Case([normal(4, 5), labels(3, 7)], [(4, 5)], "rate = 0.4 : f64, key = 5 : i32"),
    ],
    "train.cross_entropy": [
        Case([normal(3, 4), labels(2, 0, 3)], [()]),
        Case([normal(2, 2, 3), labels(2, 0, 1, 1).reshape(2, 2)], [()]),
        Case([normal(3, 4), labels(2, 0, 3)], [()], "label_smoothing = 0.2 : f64"),
    ],
    "train.cross_entropy_grad": [
        Case([normal(3, 4), labels(2, 0, 3), normal()], [(3, 4)]),
        Case([normal(3, 4), labels(2, 0, 3), normal()], [(3, 4)], "label_smoothing = 0.2 : f64"),
    ],
    "train.mse": regression(grad=False),
    "train.l1": regression(grad=False),
    "train.mse_grad": regression(grad=True),
    "train.l1_grad": regression(grad=True),
    "train.softmax": unary(normal(2, 4), "axis = 1 : i64") + unary(normal(3, 2), "axis = 0 : i64"),
    "train.log_softmax": unary(normal(2, 4), "axis = 1 : i64"),
    "train.softmax_grad": activation_grad(positive(2, 4), "axis = 1 : i64"),
    "train.log_softmax_grad": activation_grad(-positive(2, 4), "axis = 1 : i64"),
    "train.layer_norm": [
        Case([normal(3, 5), normal(5), normal(5)], [(3, 5), (3,), (3,)], use=[0]),
        Case([normal(3, 5), normal(5), normal(5)], [(3, 5), (3,), (3,)]),
        Case([normal(2, 2, 3), normal(2, 3), normal(2, 3)], [(2, 2, 3), (2,), (2,)], use=[0]),
        Case([normal(3, 5), normal(5), normal(5)], [(3, 5), (3,), (3,)], use=[1, 2]),
    ],
    "train.layer_norm_grad": [layer_norm_grad((3, 4), (4,)), layer_norm_grad((2, 2, 3), (2, 3))],
    "train.batch_norm_training": [
        batch_norm((4, 3), [0]),
        batch_norm((2, 2, 2, 3), [0]),
        batch_norm((4, 3), None),
        batch_norm((4, 3), [3, 4]),
    ],
    "train.batch_norm_inference": [
        Case([normal(2, 2, 2, 3), normal(3), normal(3), normal(3), positive(3)], [(2, 2, 2, 3)])
    ],
    "train.batch_norm_grad": [batch_norm_grad((4, 3)), batch_norm_grad((2, 2, 2, 2))],
    "train.gather": [
        Case([normal(5, 2), labels(4, 0, 4, 1).reshape(2, 2)], [(2, 2, 2)], "axis = 0 : i64"),
        Case([normal(2, 4, 3), labels(1, 3, 1)], [(2, 3, 3)], "axis = 1 : i64"),
        Case([normal(2, 4), labels(9, -1, 3)], [(2, 3)], "axis = 1 : i64"),
    ],
    "train.scatter_add": [
        Case([normal(2, 2, 3), labels(4, 0, 4, 1).reshape(2, 2)], [(5, 3)], "axis = 0 : i64"),
        Case([normal(2, 3), labels(1, 3, 1)], [(2, 4)], "axis = 1 : i64"),
        Case([normal(3, 2), labels(1, -7, 4)], [(4, 2)], "axis = 0 : i64"),
    ],
    "train.cumsum": unary(normal(2, 3, 4), "axis = 1 : i64")
    + unary(normal(4), "axis = 0 : i64, reverse"),
    "train.logsumexp": [
        Case([normal(2, 4)], [(2,)], "axis = 1 : i64"),
        Case([normal(3, 2, 2)], [(2, 2)], "axis = 0 : i64"),
    ],
    "train.silu": unary(normal(2, 3)),
    "train.silu_grad": activation_grad(normal(2, 3)) + activation_grad(normal(2, 3), wrt=[1]),
    "train.rms_norm": [
        Case([normal(3, 5), normal(5)], [(3, 5), (3,)], use=[0]),
        Case([normal(3, 5), normal(5)], [(3, 5), (3,)]),
        Case([normal(2, 2, 3), normal(2, 3)], [(2, 2, 3), (2,)], use=[0]),
    ],
    "train.rms_norm_grad": [
        Case([normal(3, 4), normal(3, 4), normal(4), positive(3)], [(3, 4), (4,)])
    ],
    "train.rotary_embedding": [
        Case([normal(2, 3, 4), normal(3, 2), normal(3, 2)], [(2, 3, 4)]),
        Case([normal(2, 3, 4), normal(3, 2), normal(3, 2)], [(2, 3, 4)], wrt=[0]),
    ],
    "train.scaled_dot_product_attention": attentions(),
    "train.scaled_dot_product_attention_grad": attention_grads(),
    "train.matmul": matmuls(),
    "train.linear": linears(),
    "train.conv2d": convolutions("conv2d"),
    "train.conv2d_input_grad": convolutions("conv2d_input_grad"),
    "train.conv2d_filter_grad": convolutions("conv2d_filter_grad"),
    "train.max_pool2d": pools(grad=False),
    "train.max_pool2d_grad": max_pool_grads(),
    "train.avg_pool2d": pools(grad=False),
    "train.avg_pool2d_grad": pools(grad=True),
    "amp.cast": [Case([normal(2, 3).astype(np.float32)], [(2, 3)])],
    "amp.inner_gradient": [
        Case([normal(2, 3)], [(2, 3)]),
        Case([normal(2, 3), np.array(4.0, np.float32)], [(2, 3)], wrt=[0]),
    ],
}
