# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Execution tests of rounding weights without a master: stochastic rounding is
# unbiased, repeats itself, depends on seed, step and key, and does not change values of bf16 and
# values that are not finite; a weight and its residual give the weight.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, bf16_to_f32, check_same_bits, f32_to_bf16, mlir_type, tensor, wide  # noqa: E402

rng = np.random.default_rng(12)


def rounded(values, seed, step_number, key, name):
    step = Step()
    value = step.input(tensor(values, "f32"))
    state = step.input((np.array([seed, step_number], np.int64), "i64"))
    shape = np.shape(values)
    types = f"{mlir_type(values, 'f32')} to {mlir_type(values, 'bf16')}"
    step.output(step.op(f"amp.master_copy {value} stochastic {state} key {key} : {types}", "bf16"), shape, "bf16")
    return step.run(f"{folder}/{name}")[0][0]


# One value many times: the share of roundings up is the position between its
# neighbours. 5 standard deviations of 65536 draws are 0.01.
n = 65536
for index, (value, share) in enumerate([(1 + 2.0**-9, 0.25), (-(1 + 2.0**-8), 0.5), (3 * 2.0**-134, 0.5), (0.1, None)]):
    bits = rounded(np.full((64, n // 64), value, np.float32), 7, index, 3, f"share-{index}")
    low = (np.float32(value).view(np.uint32) >> 16).astype(np.uint16)
    assert set(np.unique(bits)) == {low, low + 1}, (value, np.unique(bits))
    expected = (int(np.float32(value).view(np.uint32)) & 0xFFFF) / 65536
    assert share in (None, expected), (value, expected)
    assert abs((bits == low + 1).mean() - expected) < 0.01, (value, (bits == low + 1).mean())
    mean = bf16_to_f32(bits).astype(np.float64).mean()
    assert abs(mean / value - 1) < 2e-4 or value < 1e-30, (value, mean)

# Different seeds, steps and keys draw differently; the same draw the same.
values = rng.standard_normal((37, 5)).astype(np.float32)
base = rounded(values, 7, 0, 3, "base")
assert (base == rounded(values, 7, 0, 3, "again")).all()
for index, other in enumerate([(8, 0, 3), (7, 1, 3), (7, 0, 4)]):
    different = (base != rounded(values, *other, f"other-{index}")).mean()
    assert 0.2 < different < 0.8, (other, different)
# Neighbours: the value is one of two.
down = (values.view(np.uint32) >> 16).astype(np.uint16)
assert ((base == down) | (base == down + 1)).all() and (base != down).any()

# Values of bf16 stay; infinities and NaN too; the largest may become infinite.
exact = np.array([0, -0.0, 1, -1.5, 2.0**-133, 3.3895313892515355e38, np.inf, -np.inf, np.nan], np.float32)
exact = np.tile(exact, 40)
check_same_bits((rounded(exact, 1, 2, 0, "exact"), "bf16"), (f32_to_bf16(exact), "bf16"), "exact")
nans = np.array([0x7F800001, 0xFF80FFFF, 0x7FFFFFFF], np.uint32).view(np.float32)
assert np.isnan(bf16_to_f32(rounded(np.tile(nans, 30), 5, 5, 5, "nan"))).all()

# The residual is what rounding lost, itself rounded; the sum is within its
# spacing of the weight.
for type in ("bf16", "f16"):
    weights = np.concatenate([rng.standard_normal(200), rng.standard_normal(50) * 1e-3, [np.inf, np.nan, 0]])
    w = tensor(weights, "f32")
    copy = tensor(weights, type)
    step = Step()
    names = step.input(w), step.input(copy)
    low = mlir_type(copy[0], type)
    full = mlir_type(w[0], "f32")
    residual = step.op(f"amp.residual {names[0]}, {names[1]} : ({full}, {low}) -> {low}", type)
    step.output(residual, copy[0].shape, type)
    step.output(step.op(f"amp.compensate {names[1]}, {residual} : ({low}, {low}) -> {full}", "f32"), w[0].shape, "f32")
    lost, total = step.run(f"{folder}/residual-{type}")
    with np.errstate(invalid="ignore"):
        expected = np.where(np.isfinite(wide(copy)), w[0] - wide(copy).astype(np.float32), 0)
    check_same_bits(lost, tensor(expected, type), "residual")
    check_same_bits(total, ((wide(copy) + wide(lost)).astype(np.float32), "f32"), "sum")
    error = np.abs(total[0][:250] - w[0][:250])
    bound = np.abs(w[0][:250]) * 2.0**-17 if type == "bf16" else np.abs(w[0][:250]) * 2.0**-22 + 2.0**-25
    assert (error <= bound).all() and (wide(lost)[:250] != 0).any(), (error / bound).max()

# The norm of all gradients together.
gradients = [tensor(rng.standard_normal(s) * 10, t) for s, t in (((5, 7), "f16"), ((33,), "f32"), ((), "bf16"))]
step = Step()
names = [step.input(g) for g in gradients]
step.output(step.op(f"amp.global_norm {', '.join(names)} : {', '.join(mlir_type(*g) for g in gradients)}", "f32"), [], "f32")
step.output(step.op(f"amp.square_sum {', '.join(names)} : {', '.join(mlir_type(*g) for g in gradients)}", "f64"), [], "f64")
norm, squares = (value[0] for value in step.run(f"{folder}/norm"))
expected = sum((wide(g) ** 2).sum() for g in gradients)
assert abs(squares / expected - 1) < 1e-14, (squares, expected)
# The sum is rounded once, and so is its root.
assert norm == np.sqrt(np.float32(squares)), (norm, squares)
