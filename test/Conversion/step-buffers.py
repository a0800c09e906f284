# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The buffers of a lowered step: every new value is computed from old ones, although some are
# written in place. Arguments without an update do not change.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, tensor  # noqa: E402

rng = np.random.default_rng(10)
T = "tensor<4x5xf32>"


def draw():
    return tensor(rng.standard_normal((4, 5)), "f32")


def binary(step, name, a, b):
    return step.op(f"train.{name} {a}, {b} : ({T}, {T}) -> {T}", "f32")


def run(step, name):
    step.compile(f"{folder}/{name}")
    before = [array.copy() for array, _ in step.arrays]
    arguments, results = step.call()
    return before, [a for a, _ in arguments], [r for r, _ in results]


# Two states change places; a third takes the old value of the first.
step = Step()
names = [step.state(draw()) for _ in range(3)]
for target, source in ((0, 1), (1, 0), (2, 0)):
    step.output(names[source], (4, 5), "f32", updates=target)
old, new, _ = run(step, "swap")
assert (new[0] == old[1]).all() and (new[1] == old[0]).all() and (new[2] == old[0]).all()

# Each reads the other's old value; a metric does too, after both.
step = Step()
a, b = step.state(draw()), step.state(draw())
x = step.input(draw())
na = binary(step, "add", a, b)
nb = binary(step, "mul", a, b)
late = binary(step, "sub", binary(step, "add", a, x), b)
step.output(na, (4, 5), "f32", updates=0)
step.output(nb, (4, 5), "f32", updates=1)
step.output(late, (4, 5), "f32")
step.output(a, (4, 5), "f32")
old, new, out = run(step, "cross")
assert (new[0] == old[0] + old[1]).all() and (new[1] == old[0] * old[1]).all()
assert (new[2] == old[2]).all()
assert (out[0] == old[0] + old[2] - old[1]).all() and (out[1] == old[0]).all()

# One value updates two states and is an output; a state that is kept.
step = Step()
a, b, c = (step.state(draw()) for _ in range(3))
total = binary(step, "add", a, b)
for target in (0, 1):
    step.output(total, (4, 5), "f32", updates=target)
step.output(c, (4, 5), "f32", updates=2)
step.output(total, (4, 5), "f32")
old, new, out = run(step, "shared")
for array in (new[0], new[1], out[0]):
    assert (array == old[0] + old[1]).all()
assert (new[2] == old[2]).all()

# Parts and other shapes of old values.
step = Step()
a, b = step.state(draw()), step.state(draw())
v = step.state(tensor(rng.standard_normal(20), "f32"))
flat = step.op(f"train.reshape {a} : ({T}) -> tensor<20xf32>", "f32")
square = step.op(f"train.reshape {v} : (tensor<20xf32>) -> {T}", "f32")
step.output(square, (4, 5), "f32", updates=0)
step.output(a, (4, 5), "f32", updates=1)
step.output(flat, (20,), "f32", updates=2)
old, new, _ = run(step, "views")
assert (new[0] == old[2].reshape(4, 5)).all() and (new[1] == old[0]).all()
assert (new[2] == old[0].reshape(20)).all()

# A guard: new values or, bit for bit, the old ones; in place, with a momentum
# buffer, a value that reads the old parameter after the guard, and one state
# that takes another's old value.
for flag in (True, False):
    for reads_after in (False, True):
        step = Step()
        w, v, other = (step.state(draw()) for _ in range(3))
        g = step.input(draw())
        flag_name = step.input((np.array(flag), "i1"))
        rate = step.input(tensor(np.float64(0.5), "f32"), "hyperparameter")
        step.line(f"%condition = tensor.extract {flag_name}[] : tensor<i1>")
        step.line(f"%guarded:3 = scf.if %condition -> ({T}, {T}, {T}) {{")
        step.line(
            f"  %nw, %nv = train.sgd {w}, {g}, {rate}, {v} {{momentum = 0.5 : f64}} : "
            f"({T}, {T}, tensor<f32>, {T}) -> ({T}, {T})"
        )
        step.line(f"  scf.yield %nw, %nv, {w} : {T}, {T}, {T}")
        step.line("} else {")
        step.line(f"  scf.yield {w}, {v}, {other} : {T}, {T}, {T}")
        step.line("}")
        for number in range(3):
            step.output(f"%guarded#{number}", (4, 5), "f32", updates=number)
        if reads_after:
            difference = binary(step, "sub", "%guarded#0", w)
            step.output(difference, (4, 5), "f32")
        old, new, out = run(step, f"guard-{flag}-{reads_after}")
        velocity = np.float32(0.5) * old[1] + old[3]
        weight = old[0] - np.float32(0.5) * velocity
        if flag:
            assert np.abs(new[0] - weight).max() < 1e-6 and np.abs(new[1] - velocity).max() < 1e-6
            assert (new[2] == old[0]).all()
        else:
            assert all((a.tobytes() == b.tobytes()) for a, b in zip(new, old))
        if reads_after:
            assert (out[0] == new[0] - old[0]).all()
        assert (new[3] == old[3]).all() and new[4] == old[4] and new[5] == old[5]

# An output on which something is accumulated afterwards, in its place.
step = Step()
x = step.input(draw())
total = binary(step, "add", x, x)
step.line(f"%part = tensor.extract_slice {x}[0, 0] [1, 5] [1, 1] : {T} to tensor<1x5xf32>")
step.line(f"%changed = tensor.insert_slice %part into {total}[2, 0] [1, 5] [1, 1] : tensor<1x5xf32> into {T}")
largest = step.op(f"train.reduce_max %changed {{dims = array<i64: 0>}} : ({T}) -> tensor<5xf32>", "f32")
step.output(total, (4, 5), "f32")
step.output(largest, (5,), "f32")
old, _, out = run(step, "accumulated")
total = old[0] + old[0]
assert (out[0] == total).all()
total[2] = old[0][0]
assert (out[1] == total.max(axis=0)).all()

# Scalars, booleans and integers as state and as results; a private helper.
step = Step()
count = step.input((np.array(41, np.int32), "i32"), "optimizer_state")
flag = step.input((np.array([True, False, True]), "i1"))
step.line("%one = arith.constant dense<1> : tensor<i32>")
step.line(f"%next = arith.addi {count}, %one : tensor<i32>")
step.line("%true = arith.constant dense<true> : tensor<3xi1>")
step.line(f"%inverse = arith.xori {flag}, %true : tensor<3xi1>")
step.output("%next", (), "i32", updates=0)
step.output("%inverse", (3,), "i1")
step.output("%next", (), "i32")
_, new, out = run(step, "integers")
assert new[0] == 42 and out[1] == 42 and (out[0] == [False, True, False]).all()

# Arithmetic of other dialects in low types computes in f32 and rounds once.
for type in ("f16", "bf16"):
    step = Step()
    x, y = (tensor(rng.standard_normal(100), type) for _ in range(2))
    a, b = step.input(x), step.input(y)
    spelled = f"tensor<100x{type}>"
    step.output(step.op(f"arith.mulf {a}, {b} : {spelled}", type), [100], type)
    step.output(step.op(f"math.exp {a} : {spelled}", type), [100], type)
    product, power = step.run(f"{folder}/foreign-{type}")
    from oracle import check, check_same_bits, wide  # noqa: E402

    check_same_bits(product, tensor(wide(x) * wide(y), type), f"arith.mulf {type}")
    check(power, np.exp(wide(x)), 0.51, what=f"math.exp {type}")
print("ok")
