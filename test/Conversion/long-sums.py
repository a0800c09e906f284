# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sums and means of many values are right to the last place, however many there
# are, and so is the norm of all gradients: the error of adding in order does not
# grow with their number.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check, mlir_type, tensor, wide  # noqa: E402

rng = np.random.default_rng(0)
cases = [
    # 0.1 in f32, so often that adding it in f32 is off by more than 1 %.
    (np.full(1 << 22, 0.1, np.float32), (0,)),
    (rng.uniform(0, 1, (3, 40000)), (1,)),
    (rng.uniform(0, 1, (40000, 3)), (0,)),
    (rng.uniform(0, 1, (100, 5, 200)), (0, 2)),
    # Just long enough.
    (rng.uniform(0, 1, 8193), (0,)),
]
for type in ("f32", "bf16", "f16"):
    step, expected = Step(), []
    for values, dims in cases:
        x = tensor(values, type)
        name = step.input(x, role="hyperparameter")
        for kind, function in (("sum", np.sum), ("mean", np.mean)):
            exact = function(wide(x), axis=dims)
            if np.max(exact) > 60000 and type == "f16":
                continue
            shape = "x".join([*map(str, exact.shape), type])
            text = ", ".join(map(str, dims))
            result = step.op(
                f"train.reduce_{kind} {name} {{dims = array<i64: {text}>}} : "
                f"({mlir_type(*x)}) -> tensor<{shape}>",
                type,
            )
            step.output(result, exact.shape, type)
            expected.append((kind, values.shape, exact))
    assert len(expected) >= 9
    for (kind, shape, exact), actual in zip(expected, step.run(f"{folder}/{type}")):
        check(actual, exact, 1, 0, f"{kind} of {type} {shape}")

step, norms = Step(), []
for values in (np.full(1 << 22, 0.1, np.float32), rng.uniform(0, 1, (300, 400)), rng.uniform(0, 1, 7)):
    gradient = tensor(values, "f32")
    name = step.input(gradient, role="hyperparameter")
    norm = step.op(f"amp.global_norm {name} : {mlir_type(*gradient)}", "f32")
    step.output(norm, [], "f32")
    norms.append(np.linalg.norm(wide(gradient)))
for values, actual in zip(norms, step.run(f"{folder}/norm")):
    check(actual, np.asarray(values), 1, 0, "global norm")

# Adding in order would not fit f32.
total = np.float32(0)
for partial in np.cumsum(np.full(1 << 22, 0.1, np.float32), dtype=np.float32)[-1:]:
    total = partial
assert abs(total / (0.1 * (1 << 22)) - 1) > 0.01, total
