# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Execution tests of loss scaling: unscaling and its finite check, and many updates of the scale
# compared with the documented rules.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check_same_bits, mlir_type, tensor, wide  # noqa: E402

rng = np.random.default_rng(9)


def unscale(gradients, scale, name, strict=""):
    step = Step()
    names = [step.input(g) for g in gradients]
    s = step.input(tensor(np.float64(scale), "f32"))
    results = ["f64" if g[1] == "f64" else "f32" for g in gradients]
    shapes = [mlir_type(g[0], r) for g, r in zip(gradients, results)]
    values = step.op(
        f"amp.unscale {', '.join(names)} by {s} {strict} : "
        f"({', '.join(mlir_type(*g) for g in gradients)}) -> ({', '.join(shapes)})",
        *results, "i1",
    )
    for value, g, type in zip(values, gradients, results):
        step.output(value, g[0].shape, type)
    step.output(values[-1], [], "i1")
    return step.run(f"{folder}/{name}")


# Each result is f32(g) · (1 / scale), the inverse rounded to f32 once. A scale
# that is not a power of two tells division from multiplication by the inverse.
shapes = [(5, 7), (33,), (), (3, 2, 2), (130,)]
types = ["f16", "bf16", "f32", "f64", "f32"]
for index, scale in enumerate([65536.0, 1.0, 3.0, 2.0**-100, 1e38]):
    gradients = [tensor(rng.standard_normal(s) * 100, t) for s, t in zip(shapes, types)]
    *results, finite = unscale(gradients, scale, f"unscale-{index}")
    inverse = np.float32(1.0 / np.float64(np.float32(scale)))
    assert finite[0] == True, scale  # noqa: E712
    for g, result in zip(gradients, results):
        if g[1] == "f64":
            expected = wide(g) * np.float64(inverse), "f64"
        else:
            with np.errstate(over="ignore"):
                expected = wide(g).astype(np.float32) * inverse, "f32"
        check_same_bits(result, expected, f"unscale {g[1]} by {scale}")

# An inner gradient is unscaled in the same way, and is only cast without a scale.
for type in ("f16", "bf16", "f32"):
    g = tensor(rng.standard_normal((6, 5)) * 100, type)
    step = Step()
    name, scale = step.input(g), step.input(tensor(np.float64(3.0), "f32"))
    for by in (f" by {scale}", ""):
        value = step.op(f"amp.inner_gradient {name}{by} : {mlir_type(*g)} to {mlir_type(g[0], 'f32')}", "f32")
        step.output(value, g[0].shape, "f32")
    scaled, plain = step.run(f"{folder}/inner-{type}")
    inverse = np.float32(1.0 / np.float64(3.0))
    check_same_bits(scaled, (wide(g).astype(np.float32) * inverse, "f32"), f"inner gradient {type}")
    check_same_bits(plain, (wide(g).astype(np.float32), "f32"), f"inner gradient {type}")

# One value anywhere that is not finite; a product that overflows is not one.
for index, value in enumerate([np.inf, -np.inf, np.nan]):
    for where in range(len(shapes)):
        arrays = [rng.standard_normal(s) for s in shapes]
        flat = np.atleast_1d(arrays[where]).reshape(-1)
        flat[rng.integers(flat.size)] = value
        arrays[where] = flat.reshape(shapes[where])
        gradients = [tensor(a, t) for a, t in zip(arrays, types)]
        *_, finite = unscale(gradients, 1024.0, f"bad-{index}-{where}")
        assert finite[0] == False, (value, where)  # noqa: E712
big = [tensor(np.full(3, 3e38), "f32"), tensor(np.full(3, 65504.0), "f16"),
       tensor(np.full(3, 1e300), "f64")]
*results, finite = unscale(big, 2.0**-20, "overflowing-product")
assert finite[0] == True and np.isinf(results[0][0]).all(), (finite, results)  # noqa: E712

# A strict check sees it; and at 2^-127 the reciprocal is the last that f32 has.
*_, finite = unscale(big, 2.0**-20, "strict-overflow", "strict")
assert finite[0] == False  # noqa: E712
*_, finite = unscale([tensor(np.full(3, 1.0), "f32")], 2.0**-20, "strict-fine", "strict")
assert finite[0] == True  # noqa: E712
small = [tensor(np.array([0.0, 2.0**-10]), "f32")]
for exponent, first, second in ((-127, 0.0, 2.0**117), (-128, np.nan, np.inf), (None, np.nan, np.inf)):
    scale = 0.0 if exponent is None else 2.0**exponent
    for strict in ("", "strict"):
        (values, _), (finite, _) = unscale(small, scale, f"tiny{exponent}{strict}", strict)
        assert np.array_equal(values, [first, second], equal_nan=True), (exponent, values)
        assert finite == (not strict or exponent == -127), (exponent, strict)

# The seed is 1, and scaling multiplies it.
step = Step()
scale = step.input(tensor(np.float64(3.7), "f32"))
seed = step.op('amp.gradient_seed "loss" : tensor<f32>', "f32")
step.output(seed, [], "f32")
step.output(step.op(f"amp.scale {seed} by {scale} : tensor<f32>", "f32"), [], "f32")
step.output(step.op('amp.gradient_seed "loss" : tensor<f64>', "f64"), [], "f64")
one, scaled, one64 = step.run(folder + "/seed")
assert one[0] == 1 and one64[0] == 1 and scaled[0] == np.float32(3.7)


# The update, in place, for many steps.
def update(scale, growth, hysteresis, finite, o):
    f = np.float32
    if not finite:
        hysteresis, growth = hysteresis - 1, 0
        if hysteresis <= 0:
            scale = max(f(scale * f(o["backoff_factor"])), f(o["min_scale"]))
        return scale, growth, hysteresis
    hysteresis = o["hysteresis"]
    if growth + 1 >= o["growth_interval"]:
        with np.errstate(over="ignore"):
            grown = f(scale * f(o["growth_factor"]))
        if np.isfinite(grown):
            scale = min(grown, f(o["max_scale"]))
        return scale, 0, hysteresis
    return scale, growth + 1, hysteresis


DEFAULTS = {"growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000,
            "min_scale": 1.0, "max_scale": 3.40282347e38, "hysteresis": 1}
for index, (start, options) in enumerate([
    (65536.0, {"growth_interval": 3}),
    (8.0, {"growth_interval": 1, "backoff_factor": 0.25, "growth_factor": 3.0}),
    (1024.0, {"growth_interval": 2, "hysteresis": 3, "max_scale": 5000.0, "min_scale": 16.0}),
    (2.0**126, {"growth_interval": 1, "max_scale": np.inf}),
    (4.0, {}),
]):
    o = {**DEFAULTS, **options}
    text = ", ".join(f"{k} = {v!r}" for k, v in options.items())
    step = Step()
    state = [np.float32(start), 0, o["hysteresis"]]
    names = [step.input(tensor(np.float64(start), "f32"), "scaler_state"),
             step.input((np.array(0, np.int32), "i32"), "scaler_state"),
             step.input((np.array(o["hysteresis"], np.int32), "i32"), "scaler_state")]
    finite = step.input((np.array(True), "i1"))
    results = step.op(
        f"amp.update_scale {', '.join(names)}, {finite} {{scaler = #amp.scaler<{text}>}}", "f32", "i32", "i32"
    )
    for number, (result, type) in enumerate(zip(results, ("f32", "i32", "i32"))):
        step.output(result, [], type, updates=number)
    step.compile(f"{folder}/update-{index}")
    for count in range(40):
        ok = bool(rng.random() < 0.7) if count < 30 else count % 2 == 0
        if index == 3:
            ok = count < 5
        step.arrays[3] = (np.array(ok), "i1")
        state = update(*state, ok, o)
        step.arrays, _ = step.call()
        got = [value[0][()] for value in step.arrays[:3]]
        assert got == list(state), (options, count, got, state)
print("ok")
