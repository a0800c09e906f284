# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Execution tests of amp.quantize with stochastic rounding: the result is a neighbour in the format, the
# expected value is exact, also below the least normal number, results depend on seed, step, key and place
# alone, and numbers of the format do not change. Scales of blocks do not change the random numbers.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, spelled, tensor  # noqa: E402

# Bits of the significand, the exponent of the least number, and the largest number.
FORMATS = {"f8E4M3FN": (4, -9, 448.0), "f8E5M2": (3, -16, 57344.0)}
rng = np.random.default_rng(29)


def quantize(values, format, state, key, name, blocks=None, scale=1.0, flags="saturate"):
    """The values of the codes. `state` is (seed, step)."""
    values = np.asarray(values, np.float32)
    step = Step()
    x, random = step.input(tensor(values, "f32")), step.input((np.array(state, np.int64), "i64"))
    shape, scales = spelled(values.shape, "f32"), "tensor<f32>"
    text, given = "", np.float64(scale)
    if blocks is not None:
        rows = int(np.prod(values.shape[:-1]))
        counts = [-(-extent // block) for extent, block in zip((rows, values.shape[-1]), blocks)]
        given, text = np.full(counts, scale), f" blocks [{blocks[0]}, {blocks[1]}]"
        scales = spelled(counts, "f32")
    s = step.input(tensor(given, "f32"))
    codes = spelled(values.shape, format)
    q = step.op(f"amp.quantize {x} by {s}{text} {flags} stochastic {random} key {key} : ({shape}, {scales}) -> {codes}", format)
    step.output(step.op(f"amp.dequantize {q} by {s}{text} : ({codes}, {scales}) -> {shape}", "f32"), values.shape, "f32")
    return step.run(f"{folder}/{name}")[0][0]


def spacing(values, format):
    digits, least, _ = FORMATS[format]
    _, exponent = np.frexp(np.asarray(values, np.float64))
    return np.ldexp(1.0, np.maximum(exponent - digits, least))


n = 65536
for format, (digits, least, largest) in FORMATS.items():
    unit = 2.0**least
    # One value many times. 5 standard deviations of the share of 65536 draws are 0.01.
    for index, value in enumerate((1.03, -2.9, 100.7, 2.25 * unit, -0.125 * unit, 0.6 * unit, 6.5 * unit)):
        got = quantize(np.full((64, n // 64), value), format, (7, index), 3, f"share-{format}-{index}").astype(np.float64)
        value = float(np.float32(value))
        gap = spacing(value, format)
        low = np.floor(value / gap) * gap
        assert set(np.unique(got)) == {low, low + gap}, (format, value, np.unique(got))
        share = (value - low) / gap
        assert abs((got == low + gap).mean() - share) < 0.01, (format, value, share, (got == low + gap).mean())

    # Seeds, steps and keys change the draws. Blocks do not, because their scales are equal.
    values = rng.standard_normal((2, 19, 40)).astype(np.float32) * 3
    base = quantize(values, format, (7, 0), 3, f"base-{format}")
    gap = spacing(values, format)
    assert (np.abs(base - values) < gap).all() and (base != values).all()
    for blocks in ((1, 16), (16, 1), (128, 128)):
        same = quantize(values, format, (7, 0), 3, f"blocks-{format}-{blocks[0]}", blocks=blocks)
        assert (base == same).all(), (format, blocks)
    for index, (state, key) in enumerate((((8, 0), 3), ((7, 1), 3), ((7, 0), 4))):
        other = (base != quantize(values, format, state, key, f"other-{format}-{index}")).mean()
        assert 0.2 < other < 0.8, (format, state, key, other)
    # A scale moves the values, and dequantisation moves them back.
    scaled = quantize(values, format, (7, 0), 3, f"scaled-{format}", scale=8.0)
    assert (np.abs(scaled - values) < gap).all()

    # Numbers of the format stay in every draw, and infinities and NaN are as without random numbers.
    steps = np.arange(2 ** (digits - 1), 2**digits)
    exact = np.concatenate([m * 2.0**e for e in range(least, 8) for m in (steps,)] + [np.arange(8) * unit, [0.0, largest]])
    exact = exact[exact <= largest]
    exact = np.tile(np.concatenate([exact, -exact]), 50)
    got = quantize(exact, format, (1, 2), 0, f"exact-{format}")
    assert np.array_equal(got, exact.astype(np.float32)) and np.array_equal(np.signbit(got), np.signbit(exact))
    special = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30] * 8)
    got = quantize(special, format, (1, 2), 0, f"saturate-{format}")
    want = np.array([largest, -largest, np.nan, largest, -largest] * 8)
    assert np.array_equal(got, want, equal_nan=True), got
    got = quantize(special, format, (1, 2), 0, f"overflow-{format}", flags="")
    beyond = np.nan if format == "f8E4M3FN" else np.inf
    want = np.array([beyond, -beyond, np.nan, beyond, -beyond] * 8)
    assert np.array_equal(got, want, equal_nan=True), got
