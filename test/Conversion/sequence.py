# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Attention, embedding, scans and related operations against NumPy in f64: low
# results are one rounding away from the f32 computation, but for the weights of
# attention, which are rounded before they meet the values.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, TypedCases, check, check_same_bits, mlir_type, spelled, tensor, wide  # noqa: E402
from references import attention  # noqa: E402

rng = np.random.default_rng(11)
TYPES = ("f16", "bf16", "f32", "f64")


class Cases(TypedCases):
    def __init__(self, type):
        super().__init__(type)
        self.unit = 1e-14 if type == "f64" else 4e-6

    def normal(self, *shape):
        return self.low(rng.standard_normal(shape))

    def add(self, text, operands, *expected, one_type=False):
        """`text` with `{}` for the operands; `expected` are triples (values,
        type, error beyond the rounding, relative to the largest)."""
        names = [self.step.input(v) for v in operands]
        results = [spelled(np.shape(values), type) for values, type, _ in expected]
        signature = f": ({', '.join(mlir_type(*v) for v in operands)}) -> ({', '.join(results)})"
        if one_type:
            signature = f": {results[0]}"
        values = self.step.op(f"{text.format(', '.join(names))} {signature}", *results)
        for value, (numbers, type, error) in zip([values] if len(results) == 1 else values, expected):
            self.step.output(value, np.shape(numbers), type)
            self.checks.append((np.asarray(numbers, float), type, error, text))

    def run(self, folder):
        for (expected, type, error, what), actual in zip(self.checks, self.step.run(folder)):
            if type in ("i32", "i64"):
                assert (actual[0] == expected).all(), (what, actual, expected)
                continue
            scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
            ulps = 0.5 if type in ("f16", "bf16") else 0
            check(actual, expected, ulps, (error + self.unit) * scale, f"{what} {type}")


for type in TYPES:
    c = Cases(type)
    eps = {"f16": 2.0**-11, "bf16": 2.0**-8}.get(type, 0)
    # Attention: plain, causal, masked; a query without a key gives zeros. Six
    # heads of queries read two of keys.
    mask = rng.random((2, 1, 7, 9)) < 0.6
    mask[1, 0, 3] = False
    for queries, keys, causal, masked, group in [(7, 9, False, False, 1), (8, 8, True, False, 1), (7, 9, False, True, 1),
                                                 (8, 8, True, False, 3), (7, 9, False, True, 3)]:
        heads = 6 if group > 1 else 3
        q, dy = c.normal(2, heads, queries, 4), c.normal(2, heads, queries, 5)
        k, v = c.normal(2, heads // group, keys, 4), c.normal(2, heads // group, keys, 5)

        def spread(x):
            return np.repeat(wide(x), group, 1)

        def gather(x):
            return x.reshape(2, heads // group, group, *x.shape[2:]).sum(2)

        allowed = mask if masked else np.tril(np.ones((queries, keys), bool)) if causal else True
        y, lse, p = attention(wide(q), spread(k), spread(v), 0.5, allowed)
        operands = [q, k, v] + ([tensor(mask, "i1")] if masked else [])
        flag = " {{causal}}" if causal else ""
        for result in {type, c.wide_type}:
            c.add(
                "train.scaled_dot_product_attention {}" + flag,
                operands, (y, result, 2 * eps), (lse, c.wide_type, 0),
            )
        dp = wide(dy) @ np.swapaxes(spread(v), -1, -2)
        saved, sums = c.low(y), c.wide(lse)
        ds = p * (dp - (wide(dy) * wide(saved)).sum(-1, keepdims=True)) * 0.5
        c.add(
            "train.scaled_dot_product_attention_grad {}" + flag,
            [dy, q, k, v, saved, sums] + operands[3:],
            (ds @ spread(k), type, 4 * eps),
            (gather(np.swapaxes(ds, -1, -2) @ wide(q)), type, 4 * eps),
            (gather(np.swapaxes(p, -1, -2) @ wide(dy)), type, 4 * eps),
        )
    # Packed documents: one that is empty, a last position without a document, and no head.
    lengths = np.array([[0, 3, 3, 8], [0, 1, 5, 7]])
    for packed, integer in ((lengths, "i32"), (lengths[1], "i64")):
        owner = np.array([[row.searchsorted(p, "right") for p in range(8)] for row in np.atleast_2d(packed)])
        together = (owner[:, :, None] == owner[:, None, :])[:, None]
        together = together if packed.ndim > 1 else together[0, 0]
        name = c.step.input(tensor(packed, integer))
        found = c.step.op(f"train.document_mask {name} {{positions = 8 : i64}} : ({mlir_type(*tensor(packed, integer))}) "
                          f"-> {spelled(together.shape, 'i1')}", "i1")
        x = c.normal(2, 1, 8, 8) if packed.ndim > 1 else c.normal(8, 8)
        zero, x_name = c.step.input(c.low(np.zeros(x[0].shape))), c.step.input(x)
        type_of = mlir_type(*x)
        chosen = c.step.op(f"train.select {found}, {x_name}, {zero} : ({spelled(together.shape, 'i1')}, {type_of}, "
                           f"{type_of}) -> {type_of}", type_of)
        c.step.output(chosen, x[0].shape, type)
        c.checks.append((np.where(together, wide(x), 0), type, 0, "train.document_mask"))
    # Rotary embedding.
    x, angles = c.normal(2, 3, 5, 8), rng.standard_normal((5, 4))
    tables = [c.wide(np.cos(angles)), c.wide(np.sin(angles))]
    a, b = wide(x)[..., :4], wide(x)[..., 4:]
    cos, sin = map(wide, tables)
    c.add("train.rotary_embedding {}", [x, *tables],
          (np.concatenate([a * cos - b * sin, b * cos + a * sin], -1), type, 0))
    # RMS norm.
    x, dy, gamma = c.normal(6, 9), c.normal(6, 9), c.wide(rng.standard_normal(9))
    rstd = 1 / np.sqrt((wide(x) ** 2).mean(-1) + 1e-3)
    normal = wide(x) * rstd[:, None]
    c.add("train.rms_norm {} {{epsilon = 1.0e-3 : f64}}", [x, gamma],
          (normal * wide(gamma), type, 0), (rstd, c.wide_type, 0))
    saved = c.wide(rstd)
    normal, g = wide(x) * wide(saved)[:, None], wide(dy) * wide(gamma)
    dx = wide(saved)[:, None] * (g - normal * (g * normal).mean(-1, keepdims=True))
    c.add("train.rms_norm_grad {}", [dy, x, gamma, saved],
          (dx, type, 0), ((wide(dy) * normal).sum(0), c.wide_type, 0))
    # Silu, far out too.
    x, dy = c.low(rng.standard_normal((4, 6)) * 5), c.normal(4, 6)
    s = 1 / (1 + np.exp(-wide(x)))
    c.add("train.silu {}", [x], (wide(x) * s, type, 0), one_type=True)
    c.add("train.silu_grad {}", [x, dy],
          (wide(dy) * s * (1 + wide(x) * (1 - s)), type, 0), one_type=True)
    # Logarithm of a sum of exponentials; a row of -inf.
    values = rng.standard_normal((4, 6)) * 4 + 200
    values[2] = -np.inf
    x = c.low(values)
    with np.errstate(divide="ignore"):
        expected = np.log(np.exp(wide(x) - 200).sum(1)) + 200
    for result in {type, c.wide_type}:
        c.add("train.logsumexp {} {{axis = 1 : i64}}", [x], (expected, result, 0))
    # Running sums.
    x = c.normal(3, 7, 2)
    for result in {type, c.wide_type}:
        c.add("train.cumsum {} {{axis = 1 : i64}}", [x], (wide(x).cumsum(1), result, 0))
        backwards = wide(x)[:, ::-1].cumsum(1)[:, ::-1]
        c.add("train.cumsum {} {{axis = 1 : i64, reverse}}", [x], (backwards, result, 0))
    # The first maximum, or the first NaN.
    values = np.round(rng.standard_normal((6, 9)) * 2)
    values[4, 3] = values[4, 7] = np.nan
    values[5] = -np.inf
    x = c.low(values)
    c.add("train.argmax {} {{axis = 1 : i64}}", [x], (np.argmax(values, 1), "i64", 0))
    c.add("train.argmax {} {{axis = 0 : i64}}", [x], (np.argmax(values, 0), "i32", 0))
    # Smoothed labels.
    x, labels, seed = c.low(rng.standard_normal((5, 7)) * 3), rng.integers(0, 7, 5), 1.5
    logp = wide(x) - np.log(np.exp(wide(x)).sum(1, keepdims=True))
    target = np.eye(7)[labels] * 0.9 + 0.1 / 7
    c.add("train.cross_entropy {} {{label_smoothing = 0.1 : f64}}", [x, tensor(labels, "i64")],
          (-(logp * target).sum(1).mean(), c.wide_type, 0))
    c.add("train.cross_entropy_grad {} {{label_smoothing = 0.1 : f64}}",
          [x, tensor(labels, "i64"), c.wide(seed)], ((np.exp(logp) - target) * seed / 5, type, 0))
    # Sums by index: more than f16 could count, in the accumulator.
    indices = rng.integers(-1, 6, (4, 50))
    updates = c.low(rng.standard_normal((3, 4, 50, 2)))
    expected = np.zeros((3, 5, 2))
    for place in np.ndindex(4, 50):
        if 0 <= indices[place] < 5:
            expected[:, indices[place]] += wide(updates)[(slice(None), *place)]
    for result in {type, c.wide_type}:
        c.add("train.scatter_add {} {{axis = 1 : i64}}", [updates, tensor(indices, "i64")],
              (expected, result, 1e-6))
    c.run(f"{folder}/{type}")

    # Slices by index, bit for bit; zeros for indices out of range.
    step, x = Step(), tensor(rng.standard_normal((3, 5, 2)), type)
    name, cases = step.input(x), []
    for axis, shape, integer in [(0, (2, 3), "i64"), (1, (4,), "i32"), (2, (), "i64"), (1, (6,), "i64")]:
        extent = x[0].shape[axis]
        indices = rng.integers(-1, extent + 1, shape)
        index = step.input(tensor(indices, integer))
        taken = np.take(x[0], np.clip(indices, 0, extent - 1), axis)
        outside = (indices < 0) | (indices >= extent)
        outside = outside.reshape((1,) * axis + shape + (1,) * (2 - axis))
        expected = np.where(outside, np.zeros((), taken.dtype), taken)
        step.output(
            step.op(f"train.gather {name}, {index} {{axis = {axis} : i64}} : ({mlir_type(*x)}, "
                    f"{spelled(shape, integer)}) -> {spelled(expected.shape, type)}", type),
            expected.shape, type,
        )
        cases.append((expected, type))
    for number, (expected, actual) in enumerate(zip(cases, step.run(f"{folder}/gather-{type}"))):
        check_same_bits(actual, expected, f"gather {number} {type}")
