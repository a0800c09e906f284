# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Dropout draws from Philox4x32-10 by counter: a generator in NumPy, itself
# checked against the published test vectors, gives the same masks bit for bit. Attention and
# its gradient drop the same weights.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check, check_same_bits, mlir_type, spelled, tensor, wide  # noqa: E402
from references import attention  # noqa: E402

M = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
W = [0x9E3779B9, 0xBB67AE85]


def philox(counter, key):
    """Ten rounds on arrays of 32-bit words held as uint64."""
    mask = np.uint64(0xFFFFFFFF)
    c = [np.asarray(word, np.uint64) for word in counter]
    k = [int(word) for word in key]
    for _ in range(10):
        p0, p1 = M[0] * c[0], M[1] * c[2]
        c = [
            (p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]),
            p1 & mask,
            (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]),
            p0 & mask,
        ]
        k = [(word + increment) & 0xFFFFFFFF for word, increment in zip(k, W)]
    return c


# Random123's known answers (kat_vectors, philox4x32 10).
for counter, key, expected in [
    ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]:
    words = " ".join(f"{int(word):08x}" for word in philox(counter, key))
    assert words == expected, (words, expected)


def keep(count, seed, step, op_key, rate):
    """Which of the first `count` elements stay."""
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    low, high = blocks & np.uint64(0xFFFFFFFF), blocks >> np.uint64(32)
    key = [(seed & 0xFFFFFFFF) ^ (op_key & 0xFFFFFFFF), (seed >> 32) & 0xFFFFFFFF]
    words = philox([low, high, step & 0xFFFFFFFF, (step >> 32) & 0xFFFFFFFF], key)
    words = np.stack(words, axis=-1).reshape(-1)[:count]
    return words >= np.uint64(np.floor(rate * 2.0**32))


rng = np.random.default_rng(6)
STATES = [(0, 0), (1, 2), (2**63 - 1, 2**40 + 5), (-3, -1)]
CASES = [((4, 6), 0.5, 0), ((1001,), 0.1, 3), ((3, 5, 7, 2), 0.75, -7), ((40, 50), 1 / 3, 2**31 - 1)]
for type in ("f16", "bf16", "f32", "f64"):
    step, cases = Step(), []
    for state in STATES if type == "f32" else STATES[2:3]:
        rng_state = (np.array(state, np.int64), "i64")
        r = step.input(rng_state)
        for shape, rate, key in CASES:
            x = tensor(rng.standard_normal(shape), type)
            name = step.input(x)
            result = step.op(
                f"train.dropout {name}, {r} {{rate = {rate!r} : f64, key = {key} : i32}} : "
                f"({mlir_type(*x)}, tensor<2xi64>) -> {mlir_type(*x)}",
                type,
            )
            step.output(result, shape, type)
            mask = keep(x[0].size, *state, key, rate).reshape(shape)
            factor = np.float64(1 / (1 - rate))
            if type != "f64":  # In f32, then one rounding.
                product = wide(x).astype(np.float32) * np.float32(factor)
            else:
                product = wide(x) * factor
            cases.append((mask, tensor(np.where(mask, product, 0), type)))
        advanced = step.op(f"train.advance_rng {r} : tensor<2xi64>", "i64")
        step.output(advanced, [2], "i64")
        cases.append((None, (np.array([state[0], state[1] + 1]), "i64")))
    for (mask, expected), actual in zip(cases, step.run(f"{folder}/{type}")):
        if mask is None:
            assert (actual[0] == expected[0]).all(), (actual, expected)
        else:
            check_same_bits(actual, expected, f"dropout {type} {mask.shape}")

# Attention against NumPy with these masks. A head of keys serves two of queries, and one query has no key.
for type, unit in (("f16", 2.0**-11), ("bf16", 2.0**-8), ("f32", 1e-6), ("f64", 1e-14)):
    step, state, rate, key = Step(), (41, 2**33 + 3), 0.3, 9
    q, k, v, dy = (tensor(rng.standard_normal(shape), type) for shape in ((2, 4, 5, 4), (2, 2, 7, 4), (2, 2, 7, 3), (2, 4, 5, 3)))
    mask = rng.random((2, 1, 5, 7)) < 0.7
    mask[1, 0, 2] = False
    factor = keep(2 * 4 * 5 * 7, *state, key, rate).reshape(2, 4, 5, 7) / (1 - rate)
    spread = [np.repeat(wide(x), 2, 1) for x in (k, v)]
    _, lse, p = attention(wide(q), *spread, 0.5, mask)
    y = (p * factor) @ spread[1]
    dp = factor * (wide(dy) @ np.swapaxes(spread[1], -1, -2))
    sums = "f64" if type == "f64" else "f32"
    saved = tensor(y, type), tensor(lse, sums)
    ds = p * (dp - (wide(dy) * wide(saved[0])).sum(-1, keepdims=True)) * 0.5
    gather = [(np.swapaxes(a, -1, -2) @ wide(b)).reshape(2, 2, 2, 7, -1).sum(2) for a, b in ((ds, q), (p * factor, dy))]
    attributes = f"{{dropout_rate = {rate} : f64, dropout_key = {key} : i32}}"
    checks = []
    for name, operands, expected in (
            ("", (q, k, v), ((y, type), (lse, sums))),
            ("_grad", (dy, q, k, v, *saved), ((ds @ spread[0], type), (gather[0], type), (gather[1], type)))):
        operands = [*operands, tensor(mask, "i1"), (np.array(state, np.int64), "i64")]
        types = [spelled(values.shape, kind) for values, kind in expected]
        results = step.op(f"train.scaled_dot_product_attention{name} {', '.join(map(step.input, operands))} {attributes} : "
                          f"({', '.join(mlir_type(*operand) for operand in operands)}) -> ({', '.join(types)})", *types)
        for result, (values, kind) in zip(results, expected):
            step.output(result, values.shape, kind)
            checks.append((values, f"attention{name} {kind}"))
    for (values, what), actual in zip(checks, step.run(f"{folder}/attention-{type}")):
        check(actual, values, 0, 8 * unit * np.abs(values[np.isfinite(values)]).max(), what)

# The share that stays is 1 - rate, within five standard deviations.
share = keep(1_000_000, 12345, 7, 1, 0.3).mean()
assert abs(share - 0.7) < 5 * np.sqrt(0.3 * 0.7 / 1e6), share
print("ok")
