# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Softmax, norms, losses and activations' gradients against NumPy in f64: low
# results are one rounding away from the f32 computation.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import math
import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import TypedCases, check, mlir_type, spelled, wide  # noqa: E402
from references import log_softmax, norm_backward, softmax  # noqa: E402

rng = np.random.default_rng(7)
erf = np.vectorize(math.erf, otypes=[float])


class Cases(TypedCases):
    def add(self, text, operands, *expected):
        """`text` with `{}` for the operands; `expected` are pairs (values,
        whether the result is wide). Forms that print one type for all take it
        from the result."""
        names = [self.step.input(v) for v in operands]
        types = [self.wide_type if is_wide else self.type for _, is_wide in expected]
        shapes = [np.shape(values) for values, _ in expected]
        results = [spelled(*pair) for pair in zip(shapes, types)]
        if text.endswith(":"):
            signature = results[0]
        else:
            signature = f": ({', '.join(mlir_type(*v) for v in operands)}) -> ({', '.join(results)})"
        values = self.step.op(f"{text.format(', '.join(names))} {signature}", *types)
        for value, shape, type, (numbers, _) in zip(
            [values] if len(types) == 1 else values, shapes, types, expected
        ):
            self.step.output(value, shape, type)
            self.checks.append((np.asarray(numbers, float), type, text))

    def run(self, folder):
        unit = 1e-14 if self.type == "f64" else 4e-6
        for (expected, type, what), actual in zip(self.checks, self.step.run(folder)):
            with np.errstate(invalid="ignore"):
                scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
            ulps = 0.5 if type in ("f16", "bf16") else 0
            check(actual, expected, ulps, unit * scale, f"{what} {type}")


for type in ("f16", "bf16", "f32", "f64"):
    c = Cases(type)
    # Softmax along each axis; large values that would overflow unshifted.
    for shape, axis in [((5, 10), 1), ((5, 10), 0), ((2, 3, 4), 1)]:
        x = c.low(rng.standard_normal(shape) * 4 + 100)
        y, dy = c.low(softmax(wide(x), axis)), c.low(rng.standard_normal(shape))
        ly = c.low(log_softmax(wide(x), axis))
        attr = f"{{{{axis = {axis} : i64}}}} :"
        c.add(f"train.softmax {{}} {attr}", [x], (softmax(wide(x), axis), False))
        c.add(f"train.log_softmax {{}} {attr}", [x], (log_softmax(wide(x), axis), False))
        dot = (wide(y) * wide(dy)).sum(axis, keepdims=True)
        c.add(f"train.softmax_grad {{}} {attr}", [y, dy], (wide(y) * (wide(dy) - dot), False))
        total = wide(dy).sum(axis, keepdims=True)
        c.add(
            f"train.log_softmax_grad {{}} {attr}",
            [ly, dy],
            (wide(dy) - np.exp(wide(ly)) * total, False),
        )
    # Layer norm over one and over two trailing dimensions.
    for shape, trailing in [((6, 9), 1), ((2, 3, 4), 2)]:
        x, dy = c.low(rng.standard_normal(shape) * 3 + 2), c.low(rng.standard_normal(shape))
        gamma, beta = (c.wide(rng.standard_normal(shape[-trailing:])) for _ in range(2))
        axes = tuple(range(len(shape) - trailing, len(shape)))
        lead = tuple(range(len(shape) - trailing))
        mean = wide(x).mean(axes, keepdims=True)
        rstd = 1 / np.sqrt(wide(x).var(axes, keepdims=True) + 1e-3)
        y = (wide(x) - mean) * rstd * wide(gamma) + wide(beta)
        flat = [v.reshape(v.shape[: len(lead)]) for v in (mean, rstd)]
        c.add(
            "train.layer_norm {} {{epsilon = 1.0e-3 : f64}}",
            [x, gamma, beta],
            (y, False), (flat[0], True), (flat[1], True),
        )
        saved = [c.wide(v) for v in flat]
        full = [wide(v).reshape(mean.shape) for v in saved]
        dx, dgamma, dbeta = norm_backward(wide(dy), wide(x), wide(gamma), *full, axes, lead)
        c.add(
            "train.layer_norm_grad {}",
            [dy, x, gamma, *saved],
            (dx, False), (dgamma, True), (dbeta, True),
        )
    # Batch norm of images and of vectors.
    for shape in [(3, 4, 5, 6), (8, 7)]:
        x, dy = c.low(rng.standard_normal(shape) * 2 - 1), c.low(rng.standard_normal(shape))
        gamma, beta, rm = (c.wide(rng.standard_normal(shape[-1])) for _ in range(3))
        rv = c.wide(rng.random(shape[-1]) + 0.5)
        axes = tuple(range(len(shape) - 1))
        mean, var = wide(x).mean(axes), wide(x).var(axes)
        rstd = 1 / np.sqrt(var + 1e-5)
        y = (wide(x) - mean) * rstd * wide(gamma) + wide(beta)
        c.add(
            "train.batch_norm_training {} {{momentum = 0.2 : f64}}",
            [x, gamma, beta, rm, rv],
            (y, False), (mean, True), (rstd, True),
            (0.8 * wide(rm) + 0.2 * mean, True),
            (0.8 * wide(rv) + 0.2 * wide(x).var(axes, ddof=1), True),
        )
        saved = [c.wide(mean), c.wide(rstd)]
        dx, dgamma, dbeta = norm_backward(
            wide(dy), wide(x), wide(gamma), wide(saved[0]), wide(saved[1]), axes, axes
        )
        c.add(
            "train.batch_norm_grad {}",
            [dy, x, gamma, *saved],
            (dx, False), (dgamma, True), (dbeta, True),
        )
        c.add(
            "train.batch_norm_inference {} {{epsilon = 1.0e-2 : f64}}",
            [x, gamma, beta, rm, rv],
            ((wide(x) - wide(rm)) / np.sqrt(wide(rv) + 1e-2) * wide(gamma) + wide(beta), False),
        )
    # Losses and their gradients. A label out of range counts as no class; a
    # logit of -inf for another class does no harm.
    for shape in [(9, 10), (2, 3, 5)]:
        values = rng.standard_normal(shape) * 5
        values.reshape(-1, shape[-1])[0, 1] = -np.inf
        x = c.low(values)
        labels = rng.integers(0, shape[-1], shape[:-1])
        labels.reshape(-1)[0] = 0
        loss_grad = c.wide(np.float64(1.5))
        picked = np.take_along_axis(log_softmax(wide(x), -1), labels[..., None], -1)
        onehot = labels[..., None] == np.arange(shape[-1])
        operand = (labels, "i64")
        c.add("train.cross_entropy {}", [x, operand], (-picked.mean(), True))
        c.add(
            "train.cross_entropy_grad {}",
            [x, operand, loss_grad],
            ((softmax(wide(x), -1) - onehot) * 1.5 / labels.size, False),
        )
        x, target = c.low(rng.standard_normal(shape)), c.low(rng.standard_normal(shape))
        target[0].reshape(-1)[:3] = x[0].reshape(-1)[:3]
        d = wide(x) - wide(target)
        c.add("train.mse {}", [x, target], ((d**2).mean(), True))
        c.add("train.l1 {}", [x, target], (np.abs(d).mean(), True))
        c.add("train.mse_grad {}", [x, target, loss_grad], (2 * d * 1.5 / d.size, False))
        c.add("train.l1_grad {}", [x, target, loss_grad], (np.sign(d) * 1.5 / d.size, False))
    # Gradients of activations.
    x, dy = c.low(rng.standard_normal((5, 33)) * 2), c.low(rng.standard_normal((5, 33)))
    x[0].reshape(-1)[0] = 0
    v, g = wide(x), wide(dy)
    root = math.sqrt(2 / math.pi)
    cdf, pdf = (1 + erf(v / math.sqrt(2))) / 2, np.exp(-v * v / 2) / math.sqrt(2 * math.pi)
    t = np.tanh(root * (v + 0.044715 * v**3))
    slope = (1 + t) / 2 + v / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * v * v)
    for name, expected in [
        ("relu_grad {} :", np.where(v <= 0, 0, g)),
        ("tanh_grad {} :", g * (1 - v * v)),
        ("sigmoid_grad {} :", g * v * (1 - v)),
        ("gelu_grad {} {{approximate = 0 : i32}} :", g * (cdf + v * pdf)),
        ("gelu_grad {} {{approximate = 1 : i32}} :", g * slope),
        ("clip_grad {} {{min = -0.5 : f64, max = 1.25 : f64}} :",
         np.where((v >= -0.5) & (v <= 1.25), g, 0)),
    ]:
        c.add(f"train.{name}", [x, dy], (expected, False))
    c.run(f"{folder}/{type}")
print("ok")
