# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of steps in other dialects, with ranges of f16, and with more control flow."""

from right import RIGHT
from wrong import WRONG
from wrong_guards import hand as wrong_hand, two_scales as wrong_two_scales  # noqa: F401
from builder import I1, I32, S, T, text


def like(k, value, g):
    """A constant of the type of `g` in the arith dialect."""
    return k.raw(f"arith.constant dense<{value}> : {{r}}", k.types[g])


def spread(k, scalar, g):
    """A scalar tensor as one of the type of `g`, in upstream dialects."""
    element = k.raw("tensor.extract {0}[] : {t0}", k.types[scalar][1], scalar)
    return k.raw("tensor.splat {0} : {r}", k.types[g], element)


def ar(k, op, *args): return k.raw(f"{op} " + ", ".join(f"{{{i}}}" for i in range(len(args))) + " : {r}", k.types[args[0]], *args)


def generic(k, body, *args, out=None):
    """An elementwise linalg.generic; the body reads %e0, %e1, ... and yields %r."""
    type_ = k.types[args[0]]
    rank = len(type_[0])
    dims = ", ".join(f"d{i}" for i in range(rank))
    identity = f"affine_map<({dims}) -> ({dims})>"
    maps = ", ".join([identity if k.types[a][0] else f"affine_map<({dims}) -> ()>" for a in args] + [identity])
    empty = k.raw("tensor.empty() : {r}", type_)
    ins = f"{', '.join(args)} : {', '.join(k.t(a) for a in args)}"
    block = ", ".join([f"%e{i}: {k.types[a][1]}" for i, a in enumerate(args)] + [f"%o: {type_[1]}"])
    iterators = ", ".join(['"parallel"'] * rank)
    result = k.new(type_)
    k.emit(f"{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} ins({ins}) outs({empty} : "
           f"{text(type_)}) {{\n  ^bb0({block}):\n  {body}\n  linalg.yield %r : {type_[1]}\n  }} -> {text(type_)}")
    return result


def named(k, op, *args):
    empty = k.raw("tensor.empty() : {r}", k.types[args[0]])
    result = k.new(k.types[args[0]])
    k.emit(f"{result} = linalg.{op} ins({', '.join(args)} : {', '.join(k.t(a) for a in args)}) outs({empty} : {k.t(empty)}) -> {k.t(empty)}")
    return result


def tosa(k, op, *args, type_=None):
    type_ = type_ or k.types[args[0]]
    return k.raw(f"tosa.{op} " + ", ".join(f"{{{i}}}" for i in range(len(args))) + " : ("
                 + ", ".join(f"{{t{i}}}" for i in range(len(args))) + ") -> {r}", type_, *args)


def hlo(k, op, *args, type_=None, attrs=""):
    return k.raw(f'"stablehlo.{op}"(' + ", ".join(f"{{{i}}}" for i in range(len(args))) + ")" + (f" {{{{{attrs}}}}}" if attrs else "") + " : ("
                 + ", ".join(f"{{t{i}}}" for i in range(len(args))) + ") -> {r}", type_ or k.types[args[0]], *args)


def ranked(k, scalar, g):
    return k.reshape(scalar, *([1] * len(k.types[g][0])))


def scaled(where, name, f, **options):
    def kind(k):
        def stage():
            k.g = {n: f(k, g, n) for n, g in k.g.items()}
        k.scaled = stage
    where.append((name, kind, {"policy": "stablehlo", **options}))


def unscaled(where, name, f, **options):
    def kind(k):
        def stage():
            k.u = {n: f(k, u, n) for n, u in k.u.items()}
        k.unscaled = stage
    where.append((name, kind, {"policy": "stablehlo", **options}))


def metric(where, name, f, **options):
    def kind(k):
        def finish():
            k.metrics["extra"] = f(k)
        k.finish = finish
    where.append((name, kind, {"policy": "stablehlo", **options}))


# -- arith and math on tensors --

scaled(WRONG, "arith: decay added", lambda k, g, n: ar(k, "arith.addf", g, k.P[n]))
scaled(WRONG, "arith: constant subtracted", lambda k, g, n: ar(k, "arith.subf", g, like(k, "0.5", g)))
scaled(WRONG, "arith: squared", lambda k, g, n: ar(k, "arith.mulf", g, g))
scaled(WRONG, "arith: clamped", lambda k, g, n: ar(k, "arith.minimumf", g, like(k, "1.0", g)))
scaled(WRONG, "arith: maximum of numbers", lambda k, g, n: ar(k, "arith.maxnumf", g, like(k, "-1.0", g)))
scaled(WRONG, "arith: times the scale", lambda k, g, n: ar(k, "arith.mulf", g, spread(k, k.s, g)))
scaled(WRONG, "arith: divided by the scale", lambda k, g, n: ar(k, "arith.divf", g, spread(k, k.s, g)))
scaled(WRONG, "arith: remainder", lambda k, g, n: ar(k, "arith.remf", g, like(k, "1.0", g)))
scaled(WRONG, "arith: chosen by a threshold", lambda k, g, n: k.raw(
    "arith.select {0}, {1}, {2} : {t0}, {r}", k.types[g], k.raw("arith.cmpf ogt, {0}, {1} : {t0}", (k.types[g][0], "i1"), g, like(k, "1.0", g)), g, like(k, "0.0", g)))
scaled(WRONG, "math: tanh", lambda k, g, n: ar(k, "math.tanh", g))
scaled(WRONG, "math: exp", lambda k, g, n: ar(k, "math.exp", ar(k, "arith.mulf", g, like(k, "1.0e-3", g))))
scaled(WRONG, "math: log", lambda k, g, n: ar(k, "math.log", ar(k, "math.absf", g)))
scaled(WRONG, "math: sqrt", lambda k, g, n: ar(k, "math.sqrt", ar(k, "math.absf", g)))
scaled(WRONG, "math: power", lambda k, g, n: ar(k, "math.powf", ar(k, "math.absf", g), like(k, "2.0", g)))
scaled(WRONG, "math: integer power", lambda k, g, n: k.raw("math.fpowi {0}, {1} : {t0}, {t1}", k.types[g], g, k.raw(
    "arith.constant dense<2> : {r}", (k.types[g][0], "i32"))))
scaled(WRONG, "math: floor", lambda k, g, n: ar(k, "math.floor", g))
scaled(WRONG, "math: fma with a constant", lambda k, g, n: ar(k, "math.fma", g, like(k, "2.0", g), like(k, "1.0", g)))
scaled(WRONG, "math: clamp", lambda k, g, n: k.raw("math.clampf {0} to [{1}, {2}] : {r}", k.types[g], g, like(k, "-1.0", g), like(k, "1.0", g)))
scaled(WRONG, "arith: to integers and back", lambda k, g, n: k.raw("arith.sitofp {0} : {t0} to {r}", k.types[g], k.raw(
    "arith.fptosi {0} : {t0} to {r}", (k.types[g][0], "i32"), g)))
scaled(WRONG, "arith: bits changed", lambda k, g, n: k.raw("arith.bitcast {0} : {t0} to {r}", k.types[g], ar(k, "arith.shrsi", k.raw(
    "arith.bitcast {0} : {t0} to {r}", (k.types[g][0], "i32"), g), k.raw("arith.constant dense<1> : {r}", (k.types[g][0], "i32")))))
unscaled(WRONG, "arith: unscaled twice", lambda k, u, n: ar(k, "arith.divf", u, spread(k, k.s, u)))
unscaled(WRONG, "arith: scaled again", lambda k, u, n: ar(k, "arith.mulf", u, spread(k, k.s, u)))
unscaled(WRONG, "arith: both added", lambda k, u, n: ar(k, "arith.addf", u, k.g[n]))
unscaled(RIGHT, "arith: by hand", lambda k, u, n: ar(k, "arith.divf", k.g[n], spread(k, k.s, u)))
unscaled(RIGHT, "arith: clipped", lambda k, u, n: ar(k, "arith.maximumf", ar(k, "arith.minimumf", u, like(k, "1.0", u)), like(k, "-1.0", u)))
unscaled(RIGHT, "math: tanh behind", lambda k, u, n: ar(k, "math.tanh", u))
unscaled(RIGHT, "arith: inverse by hand", lambda k, u, n: ar(k, "arith.mulf", k.g[n], spread(k, ar(k, "arith.divf", like(k, "1.0", k.s), k.s), u)))
scaled(RIGHT, "arith: halved", lambda k, g, n: ar(k, "arith.mulf", g, like(k, "0.5", g)))
scaled(RIGHT, "arith: negated", lambda k, g, n: ar(k, "arith.negf", g))
scaled(RIGHT, "math: root of the square", lambda k, g, n: ar(k, "math.sqrt", ar(k, "arith.mulf", g, g)))
scaled(RIGHT, "math: absolute value", lambda k, g, n: ar(k, "math.absf", g))
scaled(RIGHT, "math: sign copied", lambda k, g, n: ar(k, "math.copysign", g, k.P[n]))
scaled(RIGHT, "math: fma of two gradients", lambda k, g, n: ar(k, "math.fma", g, like(k, "0.5", g), g))
scaled(RIGHT, "arith: bounds times the scale", lambda k, g, n: ar(k, "arith.minimumf", g, spread(k, k.s, g)))
scaled(RIGHT, "arith: decay times the scale", lambda k, g, n: ar(k, "arith.addf", g, ar(k, "arith.mulf", k.P[n], spread(k, k.s, g))))
scaled(RIGHT, "math: fma with the scale", lambda k, g, n: ar(k, "math.fma", k.P[n], spread(k, k.s, g), g))
scaled(RIGHT, "arith: chosen by a threshold times the scale", lambda k, g, n: k.raw(
    "arith.select {0}, {1}, {2} : {t0}, {r}", k.types[g], k.raw("arith.cmpf ogt, {0}, {1} : {t0}", (k.types[g][0], "i1"), g, spread(k, k.s, g)), g, like(k, "0.0", g)))
metric(RIGHT, "math: log2 of the scale", lambda k: ar(k, "math.log2", k.s))
metric(WRONG, "math: log2 of a scaled norm", lambda k: ar(k, "math.log2", k.norm(k.g["w"])))
metric(WRONG, "arith: scaled norm", lambda k: ar(k, "arith.mulf", k.norm(k.g["w"]), like(k, "0.5", k.s)))
metric(RIGHT, "arith: scaled norm over the scale", lambda k: ar(k, "arith.divf", k.norm(k.g["w"]), k.s))

# -- linalg --

scaled(WRONG, "linalg: constant added in a body", lambda k, g, n: generic(k, "%c = arith.constant 1.0 : f32\n  %r = arith.addf %e0, %c : f32", g))
scaled(WRONG, "linalg: squared in a body", lambda k, g, n: generic(k, "%r = arith.mulf %e0, %e0 : f32", g))
scaled(WRONG, "linalg: divided by the scale in a body", lambda k, g, n: generic(k, "%r = arith.divf %e0, %e1 : f32", g, k.s))
scaled(WRONG, "linalg: times the scale in a body", lambda k, g, n: generic(k, "%r = arith.mulf %e0, %e1 : f32", g, k.s))
scaled(WRONG, "linalg: clamped in a body", lambda k, g, n: generic(k, "%c = arith.constant 1.0 : f32\n  %r = arith.minimumf %e0, %c : f32", g))
scaled(WRONG, "linalg: tanh in a body", lambda k, g, n: generic(k, "%r = math.tanh %e0 : f32", g))
scaled(WRONG, "linalg: parameter added in a body", lambda k, g, n: generic(k, "%r = arith.addf %e0, %e1 : f32", g, k.P[n]))
scaled(WRONG, "linalg: product of both", lambda k, g, n: named(k, "mul", g, g))
scaled(WRONG, "linalg: sum with the parameter", lambda k, g, n: named(k, "add", g, k.P[n]))
scaled(WRONG, "linalg: named exponential", lambda k, g, n: named(k, "exp", named(k, "mul", g, like(k, "1.0e-3", g))))
unscaled(WRONG, "linalg: scaled one chosen in a body", lambda k, u, n: generic(k, "%c = arith.constant 0.0 : f32\n  %p = arith.cmpf ogt, %e0, %c : f32\n  %r = arith.select %p, %e0, %e1 : f32", u, k.g[n]))
unscaled(WRONG, "linalg: divided again in a body", lambda k, u, n: generic(k, "%r = arith.divf %e0, %e1 : f32", u, k.s))
unscaled(RIGHT, "linalg: divided in a body", lambda k, u, n: generic(k, "%r = arith.divf %e0, %e1 : f32", k.g[n], k.s))
unscaled(RIGHT, "linalg: clipped in a body", lambda k, u, n: generic(k, "%c = arith.constant 1.0 : f32\n  %r = arith.minimumf %e0, %c : f32", u))
scaled(RIGHT, "linalg: halved in a body", lambda k, g, n: generic(k, "%c = arith.constant 0.5 : f32\n  %r = arith.mulf %e0, %c : f32", g))
scaled(RIGHT, "linalg: clamped to the scale in a body", lambda k, g, n: generic(k, "%r = arith.minimumf %e0, %e1 : f32", g, k.s))
scaled(RIGHT, "linalg: decay times the scale in a body", lambda k, g, n: generic(k, "%d = arith.mulf %e1, %e2 : f32\n  %r = arith.addf %e0, %d : f32", g, k.P[n], k.s))
scaled(RIGHT, "linalg: sum of two", lambda k, g, n: named(k, "add", g, g))

# -- tosa --

scaled(WRONG, "tosa: sum with the parameter", lambda k, g, n: tosa(k, "add", g, k.P[n]))
scaled(WRONG, "tosa: tanh", lambda k, g, n: tosa(k, "tanh", g))
scaled(WRONG, "tosa: squared by pow", lambda k, g, n: tosa(k, "pow", tosa(k, "abs", g), like(k, "2.0", g)))
scaled(WRONG, "tosa: clamped", lambda k, g, n: k.raw("tosa.clamp {0} {{min_val = -1.0 : f32, max_val = 1.0 : f32}} : ({t0}) -> {r}", k.types[g], g))
scaled(WRONG, "tosa: minimum with a constant", lambda k, g, n: tosa(k, "minimum", g, like(k, "1.0", g)))
scaled(RIGHT, "tosa: sum of two", lambda k, g, n: tosa(k, "add", g, g))
scaled(RIGHT, "tosa: negated", lambda k, g, n: tosa(k, "negate", g, *[k.raw("arith.constant dense<0.0> : {r}", T(1)) for _ in "ab"]))

# -- StableHLO in generic form --

scaled(WRONG, "stablehlo: sum with the parameter", lambda k, g, n: hlo(k, "add", g, k.P[n]))
scaled(WRONG, "stablehlo: squared", lambda k, g, n: hlo(k, "multiply", g, g))
scaled(WRONG, "stablehlo: tanh", lambda k, g, n: hlo(k, "tanh", g))
scaled(WRONG, "stablehlo: exponential minus one", lambda k, g, n: hlo(k, "exponential_minus_one", g))
scaled(WRONG, "stablehlo: clamped", lambda k, g, n: hlo(k, "clamp", like(k, "-1.0", g), g, like(k, "1.0", g)))
scaled(WRONG, "stablehlo: power", lambda k, g, n: hlo(k, "power", hlo(k, "abs", g), like(k, "2.0", g)))
scaled(WRONG, "stablehlo: divided by the scale", lambda k, g, n: hlo(k, "divide", g, spread(k, k.s, g)))
scaled(WRONG, "stablehlo: root", lambda k, g, n: hlo(k, "sqrt", hlo(k, "abs", g)))
scaled(WRONG, "stablehlo: rounded", lambda k, g, n: hlo(k, "round_nearest_even", g))
scaled(WRONG, "stablehlo: custom call", lambda k, g, n: hlo(k, "custom_call", g, attrs='call_target_name = "f"'))
scaled(WRONG, "stablehlo: maximum with a constant", lambda k, g, n: hlo(k, "maximum", g, like(k, "1.0", g)))
scaled(WRONG, "stablehlo: chosen by a threshold", lambda k, g, n: hlo(k, "select", hlo(
    k, "compare", g, like(k, "1.0", g), type_=(k.types[g][0], "i1"), attrs="comparison_direction = 1 : i32"), g, like(k, "0.0", g), type_=k.types[g]))
unscaled(WRONG, "stablehlo: scaled again", lambda k, u, n: hlo(k, "multiply", u, spread(k, k.s, u)))
unscaled(WRONG, "stablehlo: logarithm of scaled", lambda k, u, n: hlo(k, "add", u, hlo(k, "log", k.g[n])))
scaled(RIGHT, "stablehlo: sum of two", lambda k, g, n: hlo(k, "add", g, hlo(k, "negate", g)))
scaled(RIGHT, "stablehlo: root of the square", lambda k, g, n: hlo(k, "sqrt", hlo(k, "multiply", g, g)))
scaled(RIGHT, "stablehlo: clamped to the scale", lambda k, g, n: hlo(k, "minimum", g, spread(k, k.s, g)))
scaled(RIGHT, "stablehlo: barrier", lambda k, g, n: hlo(k, "optimization_barrier", g))
scaled(RIGHT, "stablehlo: decay times the scale", lambda k, g, n: hlo(k, "add", g, hlo(k, "multiply", k.P[n], spread(k, k.s, g))))
unscaled(RIGHT, "stablehlo: by hand", lambda k, u, n: hlo(k, "divide", k.g[n], spread(k, k.s, u)))
unscaled(RIGHT, "stablehlo: tanh behind", lambda k, u, n: hlo(k, "tanh", u))
scaled(WRONG, "unknown operation", lambda k, g, n: k.raw('"foreign.quantize"({0}) : ({t0}) -> {r}', k.types[g], g), oracle="none")

# -- Ranges: the scale times constants in f16. --


def seeded(where, name, f, initial="65536.0", rules="", constant=None, **options):
    """The seed becomes f(k, seed); the scale starts at `initial` and grows by `rules`."""
    def kind(k):
        k.args = [(n, t, r, f"constant, value = {initial}" if n == "loss_scale" else i) for n, t, r, i in k.args]
        k.o["rules"] = rules
        if constant:
            k.args = [a for a in k.args if a[0] != "loss_scale"]
            k.s = k.c(constant)
            k.scaler = lambda: None

        def seed():
            k.scale = k.scale_of()
            k.ds = f(k, k.scale_seed(k.scale))
        k.seed = seed
    where.append((name, kind, {"low": "f16", **options}))


def narrow(k, v): return k.cast(k.cast(v, "f16"), "f32")


def spread16(k, v): return k.op("train.reduce_mean", [k.op("train.broadcast", [k.cast(v, "f16")], T(8, 3, e="f16"), attrs="dims = array<i64: 0, 1>")], S, attrs="dims = array<i64: 0, 1>")


seeded(WRONG, "seed in f16, dynamic", narrow)
seeded(WRONG, "seed in f16, dynamic from a small scale", narrow, initial="128.0")
seeded(WRONG, "seed in f16, constant of 65536", narrow, constant="65536.0")
seeded(WRONG, "seed in f16 broadcast", spread16)
seeded(WRONG, "negated seed in f16", lambda k, v: k.un("neg", narrow(k, k.un("neg", v))))
seeded(WRONG, "half of the seed in f16", lambda k, v: narrow(k, k.mul(v, k.c("0.5"))))
seeded(WRONG, "four times the seed in f16, capped at 32768", lambda k, v: k.mul(k.c("0.25"), narrow(k, k.mul(v, k.c("4.0")))), rules="max_scale = 32768.0", initial="32768.0")
seeded(WRONG, "seed in f16, constant of 16384 times 8", lambda k, v: k.mul(k.c("0.125"), narrow(k, k.mul(v, k.c("8.0")))), constant="16384.0")
seeded(WRONG, "reshaped seed in f16", lambda k, v: k.cast(k.reshape(k.cast(k.reshape(v, 1), "f16")), "f32"))
seeded(WRONG, "seed divided by a constant below 1 in f16", lambda k, v: narrow(k, k.div(v, k.c("0.125"))), constant="32768.0")
seeded(WRONG, "sum of seeds in f16", lambda k, v: narrow(k, k.add(v, v)), constant="32768.0")
seeded(WRONG, "product in f16 of a narrow seed", lambda k, v: k.cast(k.mul(k.cast(v, "f16"), k.c("4.0", T(e="f16"))), "f32"), constant="32768.0")
seeded(RIGHT, "seed in f16, constant of 32768", narrow, constant="32768.0")
seeded(RIGHT, "seed in f16, capped at 32768", narrow, rules="max_scale = 32768.0", initial="32768.0")
seeded(RIGHT, "an eighth of the seed in f16, capped at 2^18", lambda k, v: k.mul(k.c("8.0"), narrow(k, k.mul(v, k.c("0.125")))), rules="max_scale = 262144.0")
seeded(RIGHT, "seed in bf16", lambda k, v: k.cast(k.cast(v, "bf16"), "f32"))
seeded(RIGHT, "seed in f32, dynamic from 65536", lambda k, v: k.un("neg", k.un("neg", v)), initial="256.0")
