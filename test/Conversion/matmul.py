# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Matrix products against NumPy in f64: batches, transposes, sizes that no tile
# divides, f32 results of low operands. The bound is one rounding of the result
# and K f32 roundings of the partial sums.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check, mlir_type, spelled, tensor, wide  # noqa: E402

rng = np.random.default_rng(4)
SIZES = [(1, 1, 1), (2, 3, 4), (8, 32, 16), (64, 64, 10), (33, 65, 129), (7, 1, 130),
         (100, 257, 3), (65, 31, 48), (17, 19, 1), (50, 300, 70)]


for type in ("f16", "bf16", "f32", "f64"):
    step, cases = Step(), []
    results = {type, "f64" if type == "f64" else "f32"}

    def case(text, lhs, rhs, bias, expected, result, what):
        step.output(step.op(f"{text} -> {spelled(expected.shape, result)}", result), expected.shape, result)
        unit = 2.0**-53 if type == "f64" else 2.0**-24
        terms = np.abs(lhs) @ np.abs(rhs) + (0 if bias is None else np.abs(bias))
        cases.append((expected, lhs.shape[-1] * unit * terms, what))

    for m, k, n in SIZES:
        for lead in ((), (3,)) if m < 20 else ((),):
            for flag_a in (False, True):
                for flag_b in (False, True):
                    x = tensor(rng.standard_normal((*lead, m, k)), type)
                    w = tensor(rng.standard_normal((*lead, k, n)), type)
                    swap = lambda v, flag: (
                        np.ascontiguousarray(np.swapaxes(v[0], -1, -2)) if flag else v[0], type)
                    a, b = swap(x, flag_a), swap(w, flag_b)
                    names = step.input(a), step.input(b)
                    flags = [f for f, on in (("transpose_a", flag_a), ("transpose_b", flag_b)) if on]
                    for result in results:
                        case(
                            f"train.matmul {names[0]}, {names[1]} {{{', '.join(flags)}}} : "
                            f"({mlir_type(*a)}, {mlir_type(*b)})",
                            wide(x), wide(w), None, wide(x) @ wide(w), result,
                            f"matmul {lead} {m} {k} {n} {flags} {type} to {result}",
                        )
    for lead, k, n in [((), 5, 7), ((6,), 64, 10), ((2, 5), 33, 17), ((1, 1, 4), 8, 1)]:
        for transpose in (False, True):
            for biased in (False, True):
                for result in results:
                    x = tensor(rng.standard_normal((*lead, k)), type)
                    w = tensor(rng.standard_normal((k, n)), type)
                    stored = (np.ascontiguousarray(w[0].T) if transpose else w[0], type)
                    values = [x, stored]
                    bias = None
                    if biased:
                        values.append(tensor(rng.standard_normal(n), result))
                        bias = wide(values[-1])
                    names = [step.input(value) for value in values]
                    expected = wide(x) @ wide(w) + (0 if bias is None else bias)
                    case(
                        f"train.linear {', '.join(names)} "
                        f"{{{'transpose_weight' if transpose else ''}}} : "
                        f"({', '.join(mlir_type(*v) for v in values)})",
                        wide(x), wide(w), bias, expected, result,
                        f"linear {lead} {k} {n} {transpose} {biased} {type} to {result}",
                    )
    for (expected, error, what), actual in zip(cases, step.run(f"{folder}/{type}")):
        check(actual, expected, 1, error, what)

# Infinities and NaNs reach the result; so does zero times infinity.
step = Step()
x = np.zeros((2, 3)); x[0] = [np.inf, 1, 0]; x[1] = [1, np.nan, 2]
a = step.input(tensor(x, "f16"))
b = step.input(tensor(np.array([[1.0, 0.0], [1, 1], [1, 1]]), "f16"))
step.output(step.op(f"train.matmul {a}, {b} : (tensor<2x3xf16>, tensor<3x2xf16>) -> tensor<2x2xf16>", "f16"), [2, 2], "f16")
# Overflows f16 on the way, not at the end, and at the end.
c = step.input(tensor(np.array([[300.0, 300.0], [300, 300]]), "f16"))
d = step.input(tensor(np.array([[300.0, 300.0], [-300, 300]]), "f16"))
step.output(step.op(f"train.matmul {c}, {d} : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>", "f16"), [2, 2], "f16")
special, overflow = step.run(folder + "/special")
assert special[0][0, 0] == np.inf and np.isnan(special[0][0, 1]) and np.isnan(special[0][1]).all(), special
assert (overflow[0] == [[0, np.inf], [0, np.inf]]).all(), overflow
print("ok")
