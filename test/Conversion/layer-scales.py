# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Execution tests of layer-wise scales: rescaling a gradient, the largest magnitude, and the
# adaptation of a scale compared with the documented rules.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check_same_bits, mlir_type, tensor, wide  # noqa: E402

rng = np.random.default_rng(11)
f32 = np.float32

# g · (to / from): one rounding of the quotient, one of the product. Powers of two
# change the exponent alone.
for index, (source, target) in enumerate([(65536.0, 2.0**20), (2.0**30, 0.5), (3.0, 7.0)]):
    for type in ("f16", "bf16", "f32", "f64"):
        g = tensor(rng.standard_normal((7, 5)) * 0.01, type)
        step = Step()
        names = [step.input(g), *(step.input(tensor(np.float64(s), "f32")) for s in (source, target))]
        value = step.op(f"amp.rescale {names[0]} from {names[1]} to {names[2]} : {mlir_type(*g)}", type)
        step.output(value, g[0].shape, type)
        (result,) = step.run(f"{folder}/rescale-{index}-{type}")
        factor = f32(f32(target) / f32(source))
        product = wide(g) * np.float64(factor) if type == "f64" else wide(g).astype(f32) * factor
        check_same_bits(result, tensor(product.astype(np.float64), type), f"rescale {type} {source} {target}")

# The largest magnitude, of several tensors and types; infinity and NaN stay.
shapes, types = [(5, 7), (33,), (), (130,)], ["f16", "bf16", "f32", "f64"]


def largest(arrays, name):
    step = Step()
    gradients = [tensor(a, t) for a, t in zip(arrays, types)]
    names = [step.input(g) for g in gradients]
    value = step.op(f"amp.max_magnitude {', '.join(names)} : {', '.join(mlir_type(*g) for g in gradients)}", "f32")
    step.output(value, [], "f32")
    ((found, _),) = step.run(f"{folder}/{name}")
    return found, max(float(np.abs(wide(g)).max()) for g in gradients)


for where in range(len(shapes)):
    arrays = [rng.standard_normal(s) for s in shapes]
    flat = np.atleast_1d(arrays[where]).reshape(-1)
    flat[rng.integers(flat.size)] = -100.0
    arrays[where] = flat.reshape(shapes[where])
    found, expected = largest(arrays, f"largest-{where}")
    assert found == f32(expected) and expected == 100, (where, found, expected)
    for index, value in enumerate((-np.inf, np.nan)):
        flat[0] = value
        arrays[where] = flat.reshape(shapes[where])
        found, _ = largest(arrays, f"bad-{where}-{index}")
        assert not np.isfinite(found) and found != -np.inf, (where, value, found)
assert largest([np.zeros(s) for s in shapes], "zeros")[0] == 0


# The machine, in place, for many steps.
def adapt(scale, magnitude, finite, o):
    if finite and np.isfinite(magnitude):
        with np.errstate(divide="ignore", over="ignore"):
            room = f32(f32(f32(o["target"]) * scale) / magnitude) if magnitude else f32(np.inf)
        wanted = f32(2.0 ** np.floor(np.log2(np.float64(room)))) if np.isfinite(room) else f32(np.inf)
        scale = min(wanted, f32(scale * f32(o["growth_factor"])))
    else:
        scale = f32(scale * f32(o["backoff_factor"]))
    return min(max(scale, f32(o["min_scale"])), f32(o["max_scale"]))


DEFAULTS = {"target": 2048.0, "growth_factor": 2.0, "backoff_factor": 0.0625, "min_scale": 2.0**-16, "max_scale": 2.0**40}
for index, options in enumerate([{}, {"target": 100.0, "growth_factor": 4.0, "backoff_factor": 0.5, "min_scale": 0.125,
                                      "max_scale": 1024.0}]):
    o = {**DEFAULTS, **options}
    text = ", ".join(f"{k} = {v!r}" for k, v in options.items())
    step = Step()
    names = [step.input(tensor(np.float64(256), "f32"), "scaler_state"),
             step.input(tensor(np.float64(1), "f32")), step.input((np.array(True), "i1"))]
    value = step.op(f"amp.adapt_scale {', '.join(names)}" + (f" {{scaler = #amp.layer_scaler<{text}>}}" if text else ""), "f32")
    step.output(value, [], "f32", updates=0)
    step.compile(f"{folder}/adapt-{index}")
    scale, seen = f32(256), set()
    for count in range(60):
        # Exact powers of two at times, and NaN.
        true = 2.0 ** rng.integers(-30, 12) if count % 3 == 0 else 10.0 ** rng.uniform(-9, 4)
        magnitude = f32(true) * scale
        if count % 17 == 0:
            magnitude = f32(rng.choice([np.inf, np.nan, 0.0]))
        finite = bool(rng.random() < 0.9)
        step.arrays[1] = tensor(np.float64(magnitude), "f32")
        step.arrays[2] = (np.array(finite), "i1")
        expected = adapt(scale, magnitude, finite, o)
        step.arrays, _ = step.call()
        got = f32(step.arrays[0][0][()])
        assert got == expected, (options, count, scale, magnitude, finite, got, expected)
        # A power of two for ever.
        assert np.frexp(got)[0] == 0.5
        scale = got
        seen.add(float(got))
    assert len(seen) > 8 and o["min_scale"] <= min(seen) and max(seen) <= o["max_scale"], seen
print("ok")
