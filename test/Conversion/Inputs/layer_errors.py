# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers, losses, optimizers and attention with operands of a low type, for the table of
rounding errors.

A result is (name, exact values, unit, type). An error counts in ulp of the exact value,
or of the unit, the largest term of a sum in which terms cancel, if that is larger. The
name begins with that of the operation."""

import numpy as np
from oracle import mlir_type, tensor, wide
from references import RATE, adam, attention, conv_all, norm_backward, pool_all, sgd, softmax, taps

CONVOLUTION = ((4, 12, 12, 16), (3, 3, 16, 24), (1, 1), (1, 1, 1, 1), (1, 1), 1)
POOL = ((4, 12, 12, 16), (3, 3), (2, 2), (1, 0, 1, 0))
ROWS, COLUMNS = 128, 96


def array(values):
    return "array<i64: " + ", ".join(map(str, values)) + ">"


class Cases:
    """Pairs (operation with its attributes, operands, results)."""

    def __init__(self, low):
        self.low, self.cases = low, []
        self.random = np.random.default_rng(17)

    def normal(self, *shape, type=None):
        return tensor(self.random.standard_normal(shape), type or self.low)

    def positive(self, *shape, type=None):
        return tensor(np.abs(self.random.standard_normal(shape)) + 0.1, type or self.low)

    def add(self, operation, operands, *results):
        self.cases.append((operation, operands, results))


def add_convolutions(c):
    shape, filter, strides, padding, dilations, groups = CONVOLUTION
    x, w = c.positive(*shape), c.positive(*filter)
    out = next(taps(shape[1:3], filter[:2], strides, padding, dilations))[4]
    dy = c.positive(shape[0], *out, filter[3])
    y, dx, dw = conv_all(wide(x), wide(w), wide(dy), strides, padding, dilations, groups)
    attributes = (f"{{strides = {array(strides)}, padding = {array(padding)}, "
                  f"dilations = {array(dilations)}, groups = {groups} : i64}}")  # fmt: skip
    for name, operands, exact in [("conv2d", (x, w), y), ("conv2d_input_grad", (dy, w), dx),
                                  ("conv2d_filter_grad", (x, dy), dw)]:  # fmt: skip
        c.add(f"{name} {{}} {attributes}", operands, (name, exact, None, c.low))


def add_pools(c):
    shape, window, strides, padding = POOL
    x = c.positive(*shape)
    out = next(taps(shape[1:3], window, strides, padding, (1, 1)))[4]
    dy = c.positive(shape[0], *out, shape[3])
    maximum, mean, dmax, dmean = pool_all(wide(x), wide(dy), window, strides, padding)
    y = tensor(maximum, c.low)
    attributes = f"{{window = {array(window)}, strides = {array(strides)}, padding = {array(padding)}}}"
    for name, operands, exact in [("max_pool2d", (x,), maximum), ("avg_pool2d", (x,), mean),
                                  ("max_pool2d_grad", (x, y, dy), dmax),
                                  ("avg_pool2d_grad", (dy,), dmean)]:  # fmt: skip
        c.add(f"{name} {{}} {attributes}", operands, (name, exact, None, c.low))


def add_norm_gradient(c, name, dy, x, gamma, mean, rstd, axes, gamma_axes):
    """The gradients of a norm with the saved `mean`, or none, and `rstd`."""
    saved = [tensor(v, "f32") for v in (mean, rstd) if v is not None]
    full = [np.expand_dims(wide(v), axes) for v in saved]
    middle = full[0] if mean is not None else 0
    dx, dgamma, dbeta = norm_backward(wide(dy), wide(x), wide(gamma), middle, full[-1], axes, gamma_axes)
    if mean is None:
        g, hat = wide(dy) * wide(gamma), wide(x) * full[-1]
        dx = full[-1] * (g - hat * (g * hat).mean(axes, keepdims=True))
    hat = (np.abs(wide(x)) + np.abs(middle)) * full[-1]
    g = np.abs(wide(dy) * wide(gamma))
    unit = full[-1] * np.maximum(g, hat * (g * hat).mean(axes, keepdims=True))
    results = [(name, dx, unit, c.low),
               (f"{name}#of gamma", dgamma, np.abs(wide(dy) * hat).sum(gamma_axes), "f32")]  # fmt: skip
    if mean is not None:
        results.append((f"{name}#of beta", dbeta, np.abs(wide(dy)).sum(gamma_axes), "f32"))
    c.add(f"{name} {{}}", [dy, x, gamma, *saved], *results)


def add_norms(c):
    x, dy = c.normal(ROWS, COLUMNS), c.normal(ROWS, COLUMNS)
    gamma, beta, old_mean = (c.normal(COLUMNS, type="f32") for _ in range(3))
    old_variance = c.positive(COLUMNS, type="f32")
    values = wide(x)
    mean, variance = values.mean(1, keepdims=True), values.var(1, keepdims=True)
    rstd = 1 / np.sqrt(variance + 1e-3)
    terms = np.abs(wide(gamma)) * rstd * np.maximum(np.abs(values), np.abs(mean)) + np.abs(wide(beta))
    c.add("layer_norm {} {epsilon = 1.0e-3 : f64}", [x, gamma, beta],
          ("layer_norm", (values - mean) * rstd * wide(gamma) + wide(beta), terms, c.low),
          ("layer_norm#mean", mean[:, 0], np.abs(values).mean(1), "f32"),
          ("layer_norm#reciprocal root", rstd[:, 0], None, "f32"))  # fmt: skip
    add_norm_gradient(c, "layer_norm_grad", dy, x, gamma, mean[:, 0], rstd[:, 0], (1,), (0,))

    rstd = 1 / np.sqrt((values**2).mean(1, keepdims=True) + 1e-3)
    c.add("rms_norm {} {epsilon = 1.0e-3 : f64}", [x, gamma],
          ("rms_norm", values * rstd * wide(gamma), None, c.low),
          ("rms_norm#reciprocal root", rstd[:, 0], None, "f32"))  # fmt: skip
    add_norm_gradient(c, "rms_norm_grad", dy, x, gamma, None, rstd[:, 0], (1,), (0,))

    mean, variance = values.mean(0), values.var(0)
    rstd = 1 / np.sqrt(variance + 1e-5)
    terms = np.abs(wide(gamma)) * rstd * np.maximum(np.abs(values), np.abs(mean)) + np.abs(wide(beta))
    c.add("batch_norm_training {} {momentum = 0.2 : f64}", [x, gamma, beta, old_mean, old_variance],
          ("batch_norm_training", (values - mean) * rstd * wide(gamma) + wide(beta), terms, c.low),
          ("batch_norm_training#mean", mean, np.abs(values).mean(0), "f32"),
          ("batch_norm_training#reciprocal root", rstd, None, "f32"),
          ("batch_norm_training#new mean", 0.8 * wide(old_mean) + 0.2 * mean, np.abs(values).mean(0), "f32"),
          ("batch_norm_training#new variance",
           0.8 * wide(old_variance) + 0.2 * values.var(0, ddof=1), None, "f32"))  # fmt: skip
    add_norm_gradient(c, "batch_norm_grad", dy, x, gamma, mean, rstd, (0,), (0,))
    root = np.sqrt(wide(old_variance) + 1e-2)
    terms = np.abs(wide(gamma)) / root * (np.abs(values) + np.abs(wide(old_mean))) + np.abs(wide(beta))
    c.add("batch_norm_inference {} {epsilon = 1.0e-2 : f64}", [x, gamma, beta, old_mean, old_variance],
          ("batch_norm_inference", (values - wide(old_mean)) / root * wide(gamma) + wide(beta), terms, c.low))  # fmt: skip


def add_losses(c):
    x, labels = c.normal(ROWS, COLUMNS), c.random.integers(0, COLUMNS, ROWS)
    seed = tensor(np.float64(1.3), "f32")
    share, chosen = softmax(wide(x), 1), np.eye(COLUMNS)[labels]
    for smoothing in (0, 0.1):
        form = "#smoothed" if smoothing else ""
        attributes = f"{{label_smoothing = {float(smoothing)} : f64}}"
        target = chosen * (1 - smoothing) + smoothing / COLUMNS
        operands = [x, tensor(labels, "i64")]
        c.add(f"cross_entropy {{}} {attributes}", operands,
              (f"cross_entropy{form}", -(np.log(share) * target).sum(1).mean(), None, "f32"))  # fmt: skip
        c.add(f"cross_entropy_grad {{}} {attributes}", [*operands, seed],
              (f"cross_entropy_grad{form}", (share - target) * wide(seed) / ROWS,
               np.maximum(share, target) * wide(seed) / ROWS, c.low))  # fmt: skip
    y, target = c.normal(ROWS, COLUMNS), c.normal(ROWS, COLUMNS)
    d = wide(y) - wide(target)
    for name, loss, slope in [("mse", d**2, 2 * d), ("l1", np.abs(d), np.sign(d))]:
        c.add(f"{name} {{}}", [y, target], (name, loss.mean(), None, "f32"))
        c.add(f"{name}_grad {{}}", [y, target, seed],
              (f"{name}_grad", slope * wide(seed) / d.size, None, c.low))  # fmt: skip


def add_optimizers(c):
    w, m = c.normal(ROWS, COLUMNS, type="f32"), c.normal(ROWS, COLUMNS, type="f32")
    v, g = c.positive(ROWS, COLUMNS, type="f32"), c.normal(ROWS, COLUMNS)
    rate, count = tensor(np.float64(RATE), "f32"), tensor(np.float64(3), "f32")
    new, moment = sgd(wide(w), wide(g), wide(m), 3, momentum=0.9, weight_decay=0.01)
    c.add("sgd {} {momentum = 0.9 : f64, weight_decay = 0.01 : f64}", [w, g, rate, m],
          ("sgd", new, np.abs(wide(w)) + RATE * np.abs(moment), "f32"),
          ("sgd#momentum", moment, np.abs(wide(m)) + np.abs(wide(g)), "f32"))  # fmt: skip
    for name in ("adam", "adamw"):
        new, (first, second) = adam(wide(w), wide(g), (wide(m), wide(v)), 3,
                                    weight_decay=0.01, decoupled=name == "adamw")  # fmt: skip
        c.add(f"{name} {{}} {{weight_decay = 0.01 : f64}}", [w, g, rate, m, v, count],
              (name, new, np.abs(wide(w)) + np.abs(new), "f32"),
              (f"{name}#first moment", first, np.abs(wide(m)) + np.abs(wide(g)), "f32"),
              (f"{name}#second moment", second, None, "f32"))  # fmt: skip
    gradients = [c.normal(ROWS, COLUMNS), c.normal(COLUMNS)]
    norm = np.sqrt(sum((wide(g) ** 2).sum() for g in gradients))
    c.add("clip_by_global_norm {} {max_norm = 2.5 : f64}", gradients,
          *[("clip_by_global_norm", wide(g) * 2.5 / (norm + 1e-6), None, c.low) for g in gradients],
          ("clip_by_global_norm#norm", norm, None, "f32"))  # fmt: skip


def add_attention(c):
    q, k = c.normal(2, 3, 48, 16), c.normal(2, 3, 48, 16)
    v, dy = c.positive(2, 3, 48, 16), c.normal(2, 3, 48, 16)
    mask = np.tril(np.ones((48, 48), bool))
    y, lse, p = attention(wide(q), wide(k), wide(v), 0.25, mask)
    name = "scaled_dot_product_attention"
    c.add(f"{name} {{}} {{causal}}", [q, k, v],
          (name, y, None, c.low), (f"{name}#logarithm of sums", lse, np.ones_like(lse), "f32"))  # fmt: skip
    saved, sums = tensor(y, c.low), tensor(lse, "f32")
    swap = lambda x: np.swapaxes(x, -1, -2)  # noqa: E731
    dp, inner = wide(dy) @ swap(wide(v)), (wide(dy) * wide(saved)).sum(-1, keepdims=True)
    ds = p * (dp - inner) * 0.25
    results = [
        ("of queries", ds @ wide(k), np.abs(ds) @ np.abs(wide(k))),
        ("of keys", swap(ds) @ wide(q), swap(np.abs(ds)) @ np.abs(wide(q))),
        ("of values", swap(p) @ wide(dy), swap(p) @ np.abs(wide(dy))),
    ]
    c.add(f"{name}_grad {{}} {{causal}}", [dy, q, k, v, saved, sums],
          *[(f"{name}_grad#{part}", exact, unit, c.low) for part, exact, unit in results])  # fmt: skip
    x, angles = c.normal(ROWS, COLUMNS), c.random.standard_normal((COLUMNS // 2,))
    tables = [tensor(f(angles), "f32") for f in (np.cos, np.sin)]
    a, b = np.split(wide(x), 2, -1)
    cos, sin = map(wide, tables)
    rotated = np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
    unit = np.concatenate([np.abs(a * cos) + np.abs(b * sin), np.abs(b * cos) + np.abs(a * sin)], -1)
    c.add("rotary_embedding {}", [x, *tables], ("rotary_embedding", rotated, unit, c.low))


def collect(low):
    cases = Cases(low)
    for add in (add_convolutions, add_pools, add_norms, add_losses, add_optimizers, add_attention):
        add(cases)
    return cases.cases


def find_wide_results():
    """The names of the results that are f32 although operands are low."""
    return {name for *_, results in collect("f16") for name, *_, type in results if type == "f32"}


def build(step, low):
    """Adds every operation to `step`; returns the results in the order of its outputs."""
    pending = []
    for operation, operands, results in collect(low):
        names = [step.input(value) for value in operands]
        types = [mlir_type(np.asarray(exact), type) for _, exact, _, type in results]
        values = step.op(
            f"train.{operation.replace('{}', ', '.join(names), 1)} : "
            f"({', '.join(mlir_type(*value) for value in operands)}) -> ({', '.join(types)})",
            *types,
        )
        for value, result in zip([values] if len(results) == 1 else values, results):
            step.output(value, np.shape(result[1]), result[3])
            pending.append(result)
    return pending
