# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Casts between all float types: one rounding to nearest even, subnormals kept,
# overflow to infinity, independent of the host's instructions.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check_same_bits, mlir_type, tensor, wide  # noqa: E402

rng = np.random.default_rng(2)


def round_exactly(values, digits, least, largest):
    """Rounds f64 `values` to `digits` bits, to nearest even; below the exponent
    of `least` to its multiples."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(values)
        exponent = np.maximum(exponent - digits, least)
        rounded = np.ldexp(np.rint(np.ldexp(values, -exponent)), exponent)
    rounded = np.where(np.isfinite(values), rounded, values)
    return np.where(np.abs(rounded) > largest, np.copysign(np.inf, rounded), rounded)


FORMATS = {
    "f16": (11, -24, 65504.0),
    "bf16": (8, -133, (2 - 2.0**-7) * 2.0**127),
    "f32": (24, -149, (2 - 2.0**-23) * 2.0**127),
}


def expected(values, type):
    if type == "f64":
        return values, type
    return tensor(round_exactly(values, *FORMATS[type]), type)


def sources():
    every = np.arange(65536, dtype=np.uint16)
    yield every.view(np.float16), "f16"
    yield every, "bf16"
    bits = rng.integers(0, 2**32, 200000, dtype=np.uint32)
    bits[: 2**17] = (np.arange(2**17) << 15).astype(np.uint32)  # Ties.
    bits[2**17 : 2**17 + 3] = [1, 0x80000001, 0x00000FFF]
    yield bits.view(np.float32), "f32"
    wide_bits = rng.integers(0, 2**64, 300000, dtype=np.uint64).view(np.float64)
    exponents = rng.integers(-150, 130, 300000)
    scaled = np.ldexp(rng.random(300000) + 1, exponents)
    # Next to the ties of every narrow type, where rounding twice is wrong.
    ties = np.ldexp(rng.integers(2**8, 2**12, 300000) * 2.0 + 1, exponents - 10)
    beside = ties * (1 + rng.choice([-1, 0, 1], 300000) * 2.0**-45)
    largest = [f[2] for f in FORMATS.values()]
    edges = [x * (1 + d) for x in largest for d in (0, 2.0**-9, 2.0**-12, 2.0**-25, 2.0**-26)]
    yield np.concatenate([wide_bits, scaled, -scaled, beside, edges]), "f64"


step, cases = Step(), []
for values, source in sources():
    name = step.input((values, source))
    for target in ("f16", "bf16", "f32", "f64"):
        if target == source:
            continue
        shape = values.shape
        result = step.op(
            f"amp.cast {name} : {mlir_type(values, source)} to tensor<{shape[0]}x{target}>",
            target,
        )
        step.output(result, shape, target)
        cases.append((source, target, expected(wide((values, source)), target)))
for (source, target, want), actual in zip(cases, step.run(folder + "/cast")):
    check_same_bits(actual, want, f"{source} to {target}")

# A copy of master weights rounds as a cast does.
step, cases = Step(), []
values = (rng.integers(0, 2**32, 100000, dtype=np.uint32).view(np.float32), "f32")
name = step.input(values)
for target in ("f16", "bf16"):
    result = step.op(
        f"amp.master_copy {name} : tensor<100000xf32> to tensor<100000x{target}>", target
    )
    step.output(result, [100000], target)
    cases.append(expected(wide(values), target))
for want, actual in zip(cases, step.run(folder + "/copy")):
    check_same_bits(actual, want, "master_copy")

# A narrowing followed by a widening rounds: it is not removed.
step = Step()
name = step.input(values)
low = step.op(f"amp.cast {name} : tensor<100000xf32> to tensor<100000xbf16>", "bf16")
high = step.op(f"amp.cast {low} : tensor<100000xbf16> to tensor<100000xf32>", "f32")
step.output(high, [100000], "f32")
check_same_bits(
    step.run(folder + "/round")[0], tensor(wide(expected(wide(values), "bf16")), "f32"), "round"
)
print("ok")
