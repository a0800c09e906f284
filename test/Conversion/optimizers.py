# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Optimizers against their formulas in f64, over several steps, and against
# torch where it is installed; clipping by the global norm.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check, mlir_type, tensor, wide  # noqa: E402
from references import RATE, adam, sgd  # noqa: E402

rng = np.random.default_rng(8)
SHAPE, STEPS = (7, 5), 4


def attributes(options):
    text = [k if v is True else f"{k} = {v!r} : f64" for k, v in options.items() if v is not False]
    return "{" + ", ".join(text) + "}"


CASES = [
    ("sgd", {}),
    ("sgd", {"weight_decay": 0.1}),
    ("sgd", {"momentum": 0.9}),
    ("sgd", {"momentum": 0.8, "weight_decay": 0.01}),
    ("sgd", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("adam", {}),
    ("adam", {"beta1": 0.8, "beta2": 0.99, "epsilon": 1e-4, "weight_decay": 0.1}),
    ("adamw", {"weight_decay": 0.1}),
]


def torch_trajectory(name, options, w, gradients):
    """The parameter after each step, or None without torch."""
    try:
        import torch
    except ImportError:
        return None
    parameter = torch.nn.Parameter(torch.tensor(w, dtype=torch.float64))
    renamed = dict(options)
    if name != "sgd":
        betas = renamed.pop("beta1", 0.9), renamed.pop("beta2", 0.999)
        renamed = {"eps": renamed.pop("epsilon", 1e-8), "betas": betas, **renamed}
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]
    optimizer = kind([parameter], lr=RATE, **renamed)
    result = []
    for g in gradients:
        parameter.grad = torch.tensor(g, dtype=torch.float64)
        optimizer.step()
        result.append(parameter.detach().numpy().copy())
    return result


# One step function per type: every case, its state updated in place. The
# gradient may be narrower than the parameter.
for type, gradient_type in (("f32", "f32"), ("f32", "f16"), ("f32", "bf16"), ("f64", "f64")):
    step, slots, index = Step(), [], 0
    rate = step.input(tensor(np.float64(RATE), type), "hyperparameter")
    number = step.input(tensor(np.float64(1), type), "hyperparameter")
    start = wide(tensor(rng.standard_normal(SHAPE), type))
    gradients = [wide(tensor(rng.standard_normal(SHAPE), gradient_type)) for _ in range(STEPS)]
    grad = step.input(tensor(gradients[0], gradient_type))
    spelled = mlir_type(*tensor(start, type))
    for name, options in CASES:
        states = 0 if name == "sgd" and "momentum" not in options else 1 if name == "sgd" else 2
        first = len(step.arrays)
        w = step.state(tensor(start, type))
        extra = [step.state(tensor(np.zeros(SHAPE), type)) for _ in range(states)]
        operands = [w, grad, rate, *extra] + ([number] if name != "sgd" else [])
        types = [spelled, mlir_type(*tensor(start, gradient_type)), f"tensor<{type}>"]
        types += [spelled] * states + ([f"tensor<{type}>"] if name != "sgd" else [])
        results = step.op(
            f"train.{name} {', '.join(operands)} {attributes(options)} : "
            f"({', '.join(types)}) -> ({', '.join([spelled] * (1 + states))})",
            *[type] * (1 + states),
        )
        for offset, result in enumerate([results] if states == 0 else results):
            step.output(result, SHAPE, type, updates=first + offset)
        slots.append(first)
    step.compile(f"{folder}/{type}-{gradient_type}")

    expected = []
    for name, options in CASES:
        w, state, trajectory = start, (0.0, 0.0) if name != "sgd" else None, []
        if "momentum" in options:
            state = 0.0
        for t, g in enumerate(gradients, 1):
            if name == "sgd":
                w, state = sgd(w, g, state, t, **options)
            else:
                w, state = adam(w, g, state, t, decoupled=name == "adamw", **options)
            trajectory.append(w)
        reference = torch_trajectory(name, options, start, gradients)
        for ours, theirs in zip(trajectory, reference or []):
            assert np.abs(ours - theirs).max() < 1e-12, (name, options)
        expected.append(trajectory)
    tolerance = 1e-13 if type == "f64" else 3e-6
    for t in range(STEPS):
        step.arrays[1] = tensor(np.float64(t + 1), type)
        step.arrays[2] = tensor(gradients[t], gradient_type)
        step.arrays, _ = step.call()
        for (name, options), first, trajectory in zip(CASES, slots, expected):
            check(step.arrays[first], trajectory[t], 0, tolerance, f"{name} {options} {type} step {t + 1}")

# Clipping: above and below the limit, with gradients of different types, and
# with one that is not finite.
step, cases = Step(), []
for scale, limit in ((10.0, 1.0), (0.01, 1.0), (1.0, 2.5), (np.inf, 1.0)):
    values = [rng.standard_normal(s) * min(scale, 1e3) for s in ((4, 3), (6,), ())]
    if scale == np.inf:
        values[1][2] = np.inf
    for types in (("f32", "f32", "f32"), ("f16", "bf16", "f32")):
        gradients = [tensor(v, t) for v, t in zip(values, types)]
        names = [step.input(g) for g in gradients]
        spelled = [mlir_type(*g) for g in gradients]
        results = step.op(
            f"train.clip_by_global_norm {', '.join(names)} {{max_norm = {limit} : f64}} : "
            f"({', '.join(spelled)}) -> ({', '.join(spelled)}, tensor<f32>)",
            *types, "f32",
        )
        with np.errstate(all="ignore"):
            norm = np.sqrt(sum((wide(g) ** 2).sum() for g in gradients))
            factor = min(1.0, limit / (norm + 1e-6))
            for result, g in zip(results, gradients):
                step.output(result, g[0].shape, g[1])
                cases.append(wide(g) * factor)
        step.output(results[-1], [], "f32")
        cases.append(norm)
for expected, actual in zip(cases, step.run(folder + "/clip")):
    ulps = 0.51 if actual[1] != "f32" else 3
    check(actual, np.asarray(expected), ulps, 1e-12, "clip_by_global_norm")
print("ok")
