# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Execution tests of 8-bit floats: quantisation and dequantisation, largest magnitudes, scales,
# and products, for whole tensors and for blocks, compared with the documented formulas.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check, check_same_bits, mlir_type, spelled, tensor, wide  # noqa: E402

rng = np.random.default_rng(23)
f32 = np.float32
# Bits of the significand, the exponent of the least number, and the largest number.
FORMATS = {"f8E4M3FN": (4, -9, 448.0), "f8E5M2": (3, -16, 57344.0)}
LEAST, MOST = np.finfo(f32).tiny, np.finfo(f32).max


def round8(values, format, saturate):
    """Rounds f64 `values` to nearest even."""
    digits, least, largest = FORMATS[format]
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(values)
        exponent = np.maximum(exponent - digits, least)
        rounded = np.where(np.isfinite(values), np.ldexp(np.rint(np.ldexp(values, -exponent)), exponent), values)
    beyond = np.abs(rounded) > largest
    limit = largest if saturate else np.nan if format == "f8E4M3FN" else np.inf
    return np.where(beyond, np.copysign(limit, rounded), rounded)


def scale_shape(shape, blocks):
    rows, columns = int(np.prod(shape[:-1])), shape[-1]
    return [1 if b == 0 else -(-n // b) for n, b in zip((rows, columns), blocks)]


def spread(scales, shape, blocks):
    """The scale of each element."""
    if blocks is None:
        return scales
    rows, columns = int(np.prod(shape[:-1])), shape[-1]
    i = np.arange(rows) // blocks[0] if blocks[0] else np.zeros(rows, int)
    j = np.arange(columns) // blocks[1] if blocks[1] else np.zeros(columns, int)
    return scales[np.ix_(i, j)].reshape(shape)


def text(blocks):
    return "" if blocks is None else f" blocks [{blocks[0]}, {blocks[1]}]"


# Every rounding: f16 and bf16 completely, f32 at ties and next to them.
every = np.arange(65536, dtype=np.uint16)
bits = rng.integers(0, 2**32, 2**18, dtype=np.uint32)
bits[: 2**17] = (np.arange(2**17) << 15).astype(np.uint32)
bits[2**17 : 2**17 + 2**16] = (np.arange(2**16) << 16).astype(np.uint32) + 1
sources = [(every.view(np.float16), "f16"), (every, "bf16"), (bits.view(f32), "f32")]
step, cases = Step(), []
for source in sources:
    name = step.input(source)
    for factor in (1.0, 0.3, 2.0**20):
        scale = step.input(tensor(np.float64(factor), "f32"))
        for format in FORMATS:
            for rounding in ("saturate", "", "saturate {keep_non_finite}"):
                shape = source[0].shape
                payload = step.op(f"amp.quantize {name} by {scale} {rounding} : "
                                  f"({mlir_type(*source)}, tensor<f32>) -> {spelled(shape, format)}", format)
                for type in ("f32", "bf16", "f16"):
                    # f16 does not hold all quotients.
                    result = step.op(f"amp.dequantize {payload} by {scale} : ({spelled(shape, format)}, tensor<f32>)"
                                     f" -> {spelled(shape, type)}", type)
                    step.output(result, shape, type)
                    with np.errstate(all="ignore"):
                        scaled = wide(source).astype(f32) * f32(factor)
                        code = round8(scaled.astype(np.float64), format, "saturate" in rounding)
                        if "keep" in rounding:
                            code = np.where(np.isinf(wide(source)), np.nan if format == "f8E4M3FN" else wide(source), code)
                        value = code.astype(f32) * (f32(1) / f32(factor))
                    cases.append(((source[1], factor, format, rounding, type), tensor(value.astype(np.float64), type)))
for (what, want), got in zip(cases, step.run(folder + "/round")):
    check_same_bits(got, want, str(what))

# Magnitudes and scales of tensors and blocks, also where blocks do not divide the extents.
SHAPES = [((6, 40), None), ((6, 40), (1, 0)), ((6, 40), (0, 1)), ((2, 3, 40), (1, 16)), ((2, 3, 40), (4, 1)),
          ((6, 40), (4, 16)), ((6, 40), (0, 0)), ((7,), (1, 3))]
step, cases = Step(), []
for shape, blocks in SHAPES:
    for type in ("f16", "bf16", "f32"):
        values = tensor(rng.standard_normal(shape) * np.exp(rng.uniform(-8, 8, shape)), type)
        name = step.input(values)
        scales = [] if blocks is None else scale_shape(shape, blocks)
        amax = step.op(f"amp.amax {name}{text(blocks)} : {mlir_type(*values)} -> {spelled(scales, 'f32')}", "f32")
        step.output(amax, scales, "f32")
        matrix = np.abs(wide(values)).reshape(-1, shape[-1])
        if blocks is None:
            want = matrix.max()
        else:
            want = np.zeros(scales)
            for (i, j), value in np.ndenumerate(matrix):
                at = (i // blocks[0] if blocks[0] else 0, j // blocks[1] if blocks[1] else 0)
                want[at] = max(want[at], value)
        cases.append(((shape, blocks, type, "amax"), tensor(want, "f32")))
for (what, want), got in zip(cases, step.run(folder + "/amax")):
    check_same_bits(got, want, str(what))


def scale_of(amax, format, margin=0, epsilon=0.0, power_of_two=False, ignore_non_finite=False):
    amax = f32(amax)
    a = amax if np.isnan(amax) else max(amax, f32(epsilon))
    if not np.isfinite(a):
        return f32(1) if ignore_non_finite else f32(np.nan)
    if a == 0:
        return f32(1)
    with np.errstate(over="ignore"):
        scale = f32(f32(FORMATS[format][2] * 2.0**-margin) / a)
    scale = min(max(scale, LEAST), MOST)
    return f32(2.0 ** np.floor(np.log2(np.float64(scale)))) if power_of_two else scale


# Zero, infinities, NaN, magnitudes whose scale overflows, and powers of two with their neighbours.
amaxes = [0.0, MOST, np.inf, np.nan, 1e-45, 448 / 3.3e38, 57344 / 3.3e38, 448.0, 1.0, 1 - 2.0**-24, 1 + 2.0**-23, 0.7,
          3e5, 2.0**-126, 65504.0]
step, cases = Step(), []
name = step.input(tensor(np.array(amaxes), "f32"))
for format in FORMATS:
    for options in ({}, {"margin": 3}, {"margin": 64}, {"epsilon": 0.5}, {"power_of_two": True},
                    {"ignore_non_finite": True}, {"margin": 60, "power_of_two": True}):
        attributes = [k if v is True else f"{k} = {v} : {'i32' if k == 'margin' else 'f32'}" for k, v in options.items()]
        result = step.op(f"amp.scale_from_amax {name} for {format} {{{', '.join(attributes)}}} : tensor<{len(amaxes)}xf32>",
                         "f32")
        step.output(result, [len(amaxes)], "f32")
        want = np.array([scale_of(a, format, **options) for a in amaxes], f32)
        cases.append((f"{format} {options}", (want, "f32")))
for (what, want), got in zip(cases, step.run(folder + "/scales")):
    check_same_bits(got, want, what)

# Histories: a positive, finite magnitude enters in front, and the scale follows. Integration/fp8-delayed.py
# follows them over many steps.
step, cases = Step(), []
for format in FORMATS:
    for options in ({}, {"margin": 2}, {"most_recent": True}):
        for amax in (0.5, 9.0, 0.0, np.inf, np.nan, 1e-44):
            old, history = f32(3), np.array([4, 0.25, 7, 0], f32)
            names = [step.input(tensor(np.array(x, f32), "f32")) for x in (old, history, amax)]
            attributes = [k if v is True else f"{k} = {v} : i32" for k, v in options.items()]
            scale, entered = step.op(f"amp.update_quantizer {', '.join(names)} for {format} {{{', '.join(attributes)}}} : "
                            "tensor<4xf32>", "f32", "f32")
            step.output(scale, (), "f32")
            step.output(entered, (4,), "f32")
            want = old
            if 0 < amax < np.inf:
                history = np.concatenate([[f32(amax)], history[:3]])
                want = scale_of(amax if options.get("most_recent") else history.max(), format, options.get("margin", 0))
            cases += [((format, options, amax), (np.asarray(want, f32), "f32")), ((format, options, amax), (history, "f32"))]
for (what, want), got in zip(cases, step.run(folder + "/histories")):
    check_same_bits(got, want, str(what))

# Products: the sum of products of the dequantised elements, rounded once.
PRODUCTS = [  # lhs, rhs, transposes, blocks, bias
    ((5, 40), (40, 7), (), None, None, False),
    ((2, 5, 40), (7, 40), ("transpose_b",), (1, 16), (1, 16), True),
    ((2, 5, 40), (40, 7), (), (1, 0), (0, 1), True),
    ((2, 5, 12), (2, 5, 7), ("transpose_a",), (4, 1), (4, 1), False),
    ((10, 12), (10, 7), ("transpose_a",), None, (4, 4), False),
    ((10, 12), (7, 10), ("transpose_a", "transpose_b"), (0, 1), (1, 0), True),
    ((40,), (40, 7), (), None, None, False),
]
step, cases = Step(), []
for index, (left, right, transposes, left_blocks, right_blocks, has_bias) in enumerate(PRODUCTS):
    for type in ("f32", "bf16", "f16"):
        formats = ("f8E4M3FN", "f8E5M2") if index % 2 else ("f8E5M2", "f8E4M3FN")
        values, operands, types = [], [], []
        for shape, blocks, format in ((left, left_blocks, formats[0]), (right, right_blocks, formats[1])):
            x = tensor(rng.standard_normal(shape), "f32")
            scales = () if blocks is None else tuple(scale_shape(shape, blocks))
            s = tensor(np.exp(rng.uniform(-1, 4, scales)), "f32")
            q = step.op(f"amp.quantize {step.input(x)} by {step.input(s)}{text(blocks)} saturate : ({mlir_type(*x)}, "
                        f"{mlir_type(*s)}) -> {spelled(shape, format)}", format)
            operands.append(f"{q} by %arg{len(step.arrays) - 1}{text(blocks)}")
            types.append(f"({spelled(shape, format)}, {mlir_type(*s)})")
            factor = spread(s[0], shape, blocks)
            code = round8((x[0] * factor).astype(np.float64), format, True)
            values.append((code.astype(f32) * (f32(1) / factor)).astype(np.float64).reshape(-1, shape[-1]))
        a = values[0].T if "transpose_a" in transposes else values[0]
        b = values[1].T if "transpose_b" in transposes else values[1]
        shape = ((a.shape[0],) if "transpose_a" in transposes else left[:-1]) + (b.shape[1],)
        want = (a @ b).reshape(shape)
        plus = ""
        if has_bias:
            bias = tensor(rng.standard_normal(b.shape[1]), type)
            plus = f" plus {step.input(bias)} : {mlir_type(*bias)}"
            want = want + wide(bias)
        attributes = f" {{{', '.join(transposes)}}}" if transposes else ""
        result = step.op(f"amp.scaled_matmul {', '.join(operands)}{plus}{attributes} : {', '.join(types)} -> "
                         f"{spelled(shape, type)}", type)
        step.output(result, shape, type)
        # 40 products accumulate in f32: at most 41 roundings of the sum of magnitudes, and one of the result.
        bound = 41 * 2.0**-24 * (np.abs(a) @ np.abs(b)).max()
        cases.append((f"product {index} {type}", want, bound))
for (what, want, bound), got in zip(cases, step.run(folder + "/products")):
    check(got, want, 0.5001, bound, what)

# Narrow accumulators: each sum is rounded toward zero, and the sums of intervals are added in f32.
def accumulate(a, b, bits, promotion):
    kept = np.uint32(2**32 - 2 ** (32 - bits))
    total = None
    for begin in range(0, a.shape[1], promotion or a.shape[1]):
        part = np.zeros((a.shape[0], b.shape[1]), f32)
        for k in range(begin, min(begin + (promotion or a.shape[1]), a.shape[1])):
            part = ((part + np.outer(a[:, k], b[k]).astype(f32)).view(np.uint32) & kept).view(f32)
        total = part if total is None else total + part
    return total


step, cases = Step(), []
one = step.input(tensor(np.float64(1), "f32"))
for bits, promotion, transposes in ((22, 0, ()), (22, 128, ("transpose_b",)), (32, 50, ("transpose_a",)), (12, 128, ()),
                                    (16, 7, ("transpose_a", "transpose_b"))):
    shapes = (300, 5) if "transpose_a" in transposes else (5, 300), (7, 300) if "transpose_b" in transposes else (300, 7)
    operands, values = [], []
    for shape in shapes:
        x = tensor(np.exp(rng.uniform(-6, 6, shape)), "f32")
        operands.append(step.op(f"amp.quantize {step.input(x)} by {one} saturate : ({mlir_type(*x)}, tensor<f32>) -> "
                                f"{spelled(shape, 'f8E4M3FN')}", "f8E4M3FN"))
        values.append(round8(x[0].astype(np.float64), "f8E4M3FN", True).astype(f32))
    attributes = [f"accumulator_bits = {bits} : i32", f"promotion = {promotion} : i64", *transposes]
    result = step.op(f"amp.scaled_matmul {operands[0]} by {one}, {operands[1]} by {one} {{{', '.join(attributes)}}} : "
                     f"({spelled(shapes[0], 'f8E4M3FN')}, tensor<f32>), ({spelled(shapes[1], 'f8E4M3FN')}, tensor<f32>) -> "
                     "tensor<5x7xf32>", "f32")
    step.output(result, (5, 7), "f32")
    a = values[0].T if "transpose_a" in transposes else values[0]
    b = values[1].T if "transpose_b" in transposes else values[1]
    want = accumulate(a, b, bits, promotion)
    # The case tells accumulators apart.
    assert np.any(want != a @ b), (bits, promotion)
    cases.append(((bits, promotion, transposes), (want, "f32"), np.abs(want / (a.astype(float) @ b) - 1).max()))
errors = {}
for (what, want, error), got in zip(cases, step.run(folder + "/accumulators")):
    check_same_bits(got, want, str(what))
    errors[what[:2]] = error
# Promotion keeps what 22 bits lose.
assert errors[22, 128] < errors[22, 0] / 2, errors
print("ok")
