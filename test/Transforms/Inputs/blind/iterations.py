# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of a later round: adaptive clips, iterations on matrices, scales searched in a step, accumulators and buffers
of upstream dialects, compensated updates, functions of scalers."""

from builder import I1, I32, S, T, text
from foreign import ar, hlo, named, spread, tosa
from later import metric
from more import right, unscaled, wrong
from more import scaled as each_scaled
from right import RIGHT
from wrong import WRONG

each = {"unscale": "each", "two": True}
one = {"two": False}


def wide(k, g): return k.cast(g, "f32")


def like(k, value, n): return k.c(value, k.shape[n])


def after_update(k, change):
    """Runs `change` after the update, with the new values in k.updates."""
    before = k.update

    def update():
        before()
        change()
    k.update = update


def product(k, a, b, transpose=""):
    """a (4x3 or 4x4) times b, in f32."""
    (m, n), (p, q) = k.types[a][0], k.types[b][0]
    rows = n if transpose == "transpose_a" else m
    columns = p if transpose == "transpose_b" else q
    return k.op("train.matmul", [a, b], T(rows, columns), attrs=transpose)


def newton_schulz(k, x):
    """1.5 x - 0.5 (x x^T) x"""
    cube = product(k, product(k, x, x, "transpose_b"), x)
    return k.sub(k.mul(x, k.c("1.5")), k.mul(cube, k.c("0.5")))


# -- Adaptive clips: the bound is a share of the norm of the parameter. --

def adaptive(k, g, n, bound):
    return k.mul(g, k.min(k.c("1.0"), k.div(bound, k.norm(g))))


each_scaled(WRONG, "clipped adaptively before the division", lambda k, g, n: adaptive(
    k, wide(k, g), n, k.mul(k.norm(k.P[n]), k.c("0.01"))))
each_scaled(RIGHT, "clipped adaptively in units of the scale", lambda k, g, n: adaptive(
    k, wide(k, g), n, k.mul(k.mul(k.norm(k.P[n]), k.c("0.01")), k.s)))
unscaled(RIGHT, "clipped adaptively after the division", lambda k, u, n: k.mul(u, k.min(k.c("1.0"), k.div(
    k.max(k.norm(k.P[n]), k.c("0.001")), k.max(k.norm(u), k.c("1.0e-6"))))))
unscaled(WRONG, "clipped to a norm of the scale", lambda k, u, n: k.mul(u, k.min(k.c("1.0"), k.div(
    k.s, k.max(k.norm(u), k.c("1.0e-6"))))))
unscaled(WRONG, "the scale in the place of an epsilon", lambda k, u, n: k.div(u, k.add(k.un("abs", u), k.s)))
unscaled(WRONG, "the inverse of the scale in the place of an epsilon", lambda k, u, n: k.div(
    u, k.add(k.un("abs", u), k.un("reciprocal", k.s))))

# -- Iterations on matrices. --


def orthogonal(k, x, loop):
    if not loop:
        return newton_schulz(k, newton_schulz(k, x))
    return k.loop(5, [x], lambda i, c: [newton_schulz(k, c[0])])[0]


def weight_only(where, name, f, stage, **options):
    def change(k):
        def run():
            values = k.g if stage == "scaled" else k.u
            values["w"] = f(k, values["w"])
        setattr(k, stage, run)
    where.append((name, change, options))


weight_only(WRONG, "iterations of Newton and Schulz on a scaled gradient", lambda k, g: orthogonal(k, wide(k, g), False), "scaled")
weight_only(WRONG, "a loop of Newton and Schulz on a scaled gradient", lambda k, g: orthogonal(k, wide(k, g), True), "scaled")
weight_only(WRONG, "iterations on a scaled gradient over its norm plus a number", lambda k, g: k.mul(orthogonal(
    k, k.div(wide(k, g), k.add(k.norm(wide(k, g)), k.c("0.5"))), False), k.s), "scaled")
weight_only(RIGHT, "iterations on a scaled gradient over its norm, times the scale", lambda k, g: k.mul(orthogonal(
    k, k.div(wide(k, g), k.norm(wide(k, g))), False), k.s), "scaled")
weight_only(RIGHT, "a loop of Newton and Schulz on an unscaled gradient", lambda k, u: orthogonal(
    k, k.div(u, k.add(k.norm(u), k.c("1.0e-6"))), True), "unscaled")
weight_only(WRONG, "preconditioned by the product of a scaled gradient with itself", lambda k, g: product(
    k, product(k, wide(k, g), wide(k, g), "transpose_b"), wide(k, g)), "scaled")
weight_only(RIGHT, "preconditioned by that product over the squared norm", lambda k, g: k.div(product(
    k, product(k, wide(k, g), wide(k, g), "transpose_b"), wide(k, g)), k.un("square", k.norm(wide(k, g)))), "scaled")
weight_only(RIGHT, "rows over their norms, times the norm of all", lambda k, g: k.mul(k.div(wide(k, g), k.reshape(k.un(
    "sqrt", k.op("train.reduce_sum", [k.un("square", wide(k, g))], T(4), attrs="dims = array<i64: 1>")), 4, 1)),
    k.norm(wide(k, g))), "scaled")
weight_only(WRONG, "rows over their norms", lambda k, g: k.div(wide(k, g), k.reshape(k.un(
    "sqrt", k.op("train.reduce_sum", [k.un("square", wide(k, g))], T(4), attrs="dims = array<i64: 1>")), 4, 1)), "scaled")

# -- A scale that the step derives. --


def derived(where, name, by, unscale_by, **options):
    """Scales by by(k, scale) and unscales by unscale_by(k, scale)."""
    def change(k):
        def seed():
            k.scale = by(k, k.s)
            k.ds = k.scale_seed(k.scale)
        before = k.unscale

        def unscale():
            k.scale = unscale_by(k, k.s)
            before()
        k.seed, k.unscale = seed, unscale
    where.append((name, change, {"scale": "plain", **options}))


def whole(k, s): return k.raw("arith.sitofp {0} : {t0} to {r}", S, k.raw("arith.fptosi {0} : {t0} to {r}", I32, s))


def rooted(k, s):
    return k.loop(3, [s], lambda i, c: [k.un("sqrt", c[0])])[0]


derived(WRONG, "unscaled by the scale as a whole number", lambda k, s: s, whole)
derived(WRONG, "scaled by the scale as a whole number", whole, lambda k, s: s)
derived(WRONG, "rooted in a loop, unscaled by the first", rooted, lambda k, s: s)
derived(WRONG, "unscaled by what a loop roots", lambda k, s: s, rooted)
derived(WRONG, "unscaled by a scale of f16", lambda k, s: s, lambda k, s: k.cast(k.cast(k.add(s, k.c("0.5")), "f16"), "f32"))
derived(RIGHT, "rooted in a loop, read by both", lambda k, s: rooted(k, s), lambda k, s: k.scale)


def tried_twice(where, name, choose):
    """Runs the backward pass twice in a loop that carries its scale, and unscales by choose(k, the carried scale)."""
    def change(k):
        def backward():
            def body(i, c):
                ds = k.raw("amp.scale {0} by {1} : {r}", S, k.raw('amp.gradient_seed "inner" : {r}', S), c[0])
                g = k.gradient(k.xl, k.yl, k.p, ds)
                return [c[0], *[wide(k, g[n]) for n in k.names]]
            out = k.loop(2, [k.s, *[like(k, "0.0", n) for n in k.names]], body)
            k.g = dict(zip(k.names, out[1:]))
            k.scale = choose(k, out[0])
        k.backward = backward
    where.append((name, change, {"call": False}))


tried_twice(RIGHT, "the gradient of the last of two tries", lambda k, scale: scale)
tried_twice(WRONG, "the gradient of the last of two tries, unscaled by the root", lambda k, scale: k.un("sqrt", scale))


# -- Updates. --

@wrong("a second step inside the guard, on the scaled gradient", opt="sgd")
def _(k):
    def compute():
        new = k.step(k.u)
        return {n: k.op("train.sgd", [v, wide(k, k.g[n]), k.lr], k.shape[n]) for n, v in new.items()}
    k.compute = compute


@right("a second step inside the guard", opt="sgd")
def _(k):
    def compute():
        new = k.step(k.u)
        return {n: k.op("train.sgd", [v, k.u[n], k.lr], k.shape[n]) for n, v in new.items()}
    k.compute = compute


def compensated(k):
    def new():
        step = k.sub(k.mul(k.u["w"], k.un("neg", k.lr)), k.kahan)
        total = k.add(k.P["w"], step)
        return total, k.sub(k.sub(total, k.P["w"]), step)
    return new


@wrong("compensation of rounding outside of the guard", opt="sgd", two=False)
def _(k):
    k.kahan = k.state("kahan", k.shape["w"], "optimizer_state", "zeros")

    def update():
        total, rest = compensated(k)()
        k.updates.update(k.guarded(k.ok, lambda: {"w": total}, "select"))
        k.updates["kahan"] = rest
    k.update = update


@right("compensation of rounding in the guard", opt="sgd", two=False)
def _(k):
    k.kahan = k.state("kahan", k.shape["w"], "optimizer_state", "zeros")

    def update():
        k.updates.update(k.guarded(k.ok, lambda: dict(zip(("w", "kahan"), compensated(k)()))))
    k.update = update


@wrong("momentum guarded by the flag of the other parameter", **{**each, "opt": "momentum", "guard": "select"})
def _(k):
    def update():
        k.optimizer_state()
        new = k.step(k.u)
        flag = dict(zip(k.names, k.flags))
        own = {"w": flag["w"], "mw": flag["b"], "b": flag["b"], "mb": flag["b"]}
        for name, value in new.items():
            k.updates[name] = k.choose(k.bit(own[name]), value, "%" + name)
    k.update = update


@right("each parameter and its momentum guarded by their own flag", **{**each, "opt": "momentum", "guard": "select"})
def _(k):
    def update():
        k.optimizer_state()
        new = k.step(k.u)
        flag = dict(zip(k.names, k.flags))
        for name, value in new.items():
            k.updates[name] = k.choose(k.bit(flag[name[-1]]), value, "%" + name)
    k.update = update


@wrong("a loop that starts at the new value and keeps it")
def _(k):
    def update():
        k.optimizer_state()
        new = k.compute()
        names = list(new)
        kept = k.loop(1, list(new.values()), lambda i, c: [
            k.choose(k.bit(k.ok), v, old) for v, old in zip(new.values(), c)])
        k.updates.update(dict(zip(names, kept)))
    k.update = update


@right("a loop that starts at the old value and takes the new one")
def _(k):
    def update():
        k.optimizer_state()
        new = k.compute()
        names = list(new)
        kept = k.loop(1, ["%" + n for n in names], lambda i, c: [
            k.choose(k.bit(k.ok), v, old) for v, old in zip(new.values(), c)])
        k.updates.update(dict(zip(names, kept)))
    k.update = update


@wrong("an average of guarded weights as an optimizer state outside of the guard")
def _(k):
    k.average = k.state("average", k.shape["w"], "optimizer_state", "zeros")
    after_update(k, lambda: k.updates.update(average=k.add(
        k.mul(k.average, like(k, "0.9", "w")), k.mul(k.updates["w"], like(k, "0.1", "w")))))


@wrong("the guard's branches read the flag again and turn it around")
def _(k):
    def update():
        k.optimizer_state()
        names = []

        def then():
            new = k.compute()
            names.extend(new)
            return [k.choose(k.no(k.bit(k.ok)), v, "%" + n) for n, v in new.items()]
        bit = k.no(k.bit(k.ok))
        results = k.when(bit, then, lambda: ["%" + n for n in names])
        k.updates.update(dict(zip(names, results)))
    k.update = update


@right("a parameter that is frozen", opt="sgd", two=True)
def _(k):
    k.compute = lambda: k.step({"w": k.u["w"]})


@right("the rate of skipped steps as a model state")
def _(k):
    k.skips = k.state("skips", S, "model_state", "zeros")
    after_update(k, lambda: k.updates.update(skips=k.add(k.mul(k.skips, k.c("0.99")), k.mul(k.c("0.01"), k.raw(
        "arith.uitofp {0} : {t0} to {r}", S, k.no(k.ok))))))


@right("the update in two functions, each with its flag", **{**each, "opt": "sgd", "guard": "if"})
def _(k):
    def update():
        for n, flag in zip(k.names, k.flags):
            t = text(k.shape[n])
            k.functions.append(
                f"func.func private @update_{n}(%p: {t}, %g: {t}, %lr: tensor<f32>, %f: tensor<i1>) -> {t} {{\n"
                f"  %bit = tensor.extract %f[] : tensor<i1>\n"
                f"  %new = scf.if %bit -> ({t}) {{\n    %n = train.sgd %p, %g, %lr : ({t}, {t}, tensor<f32>) -> {t}\n"
                f"    scf.yield %n : {t}\n  }} else {{\n    scf.yield %p : {t}\n  }}\n  return %new : {t}\n}}")
            result = k.new(k.shape[n])
            k.emit(f"{result} = func.call @update_{n}({k.P[n]}, {k.u[n]}, {k.lr}, {flag}) : ({t}, {t}, tensor<f32>, tensor<i1>) -> {t}")
            k.updates[n] = result
    k.update = update


def scaler_function(k, flag):
    k.trackers = k.scaler_trackers()
    types = "tensor<f32>, tensor<i32>, tensor<i32>"
    k.functions.append(
        f"func.func private @scaler(%s: tensor<f32>, %g: tensor<i32>, %h: tensor<i32>, %f: tensor<i1>) -> ({types}) {{\n"
        f"  %a, %b, %c = amp.update_scale %s, %g, %h, %f\n  return %a, %b, %c : {types}\n}}")
    out = [k.new(S), k.new(I32), k.new(I32)]
    k.emit(f"{', '.join(out)} = func.call @scaler({k.s}, {k.trackers[0]}, {k.trackers[1]}, {flag(k)}) : ({types}, tensor<i1>) -> ({types})")
    k.updates.update({"loss_scale": out[0], "growth_tracker": out[1], "hysteresis_tracker": out[2]})


@right("the scale updated in a function")
def _(k):
    k.scaler = lambda: scaler_function(k, lambda k: k.ok)


@wrong("the scale updated in a function, on the negated flag")
def _(k):
    k.scaler = lambda: scaler_function(k, lambda k: k.no(k.ok))


@wrong("the scale updated where the loss is small")
def _(k):
    def scaler():
        k.trackers = k.scaler_trackers()
        bit = k.bit(k.compare("lt", k.loss, k.c("10.0")))
        out = k.when(bit, lambda: k.update_scale(k.s, k.trackers, k.ok), lambda: [k.s, *k.trackers])
        k.updates.update(dict(zip(("loss_scale", "growth_tracker", "hysteresis_tracker"), out)))
    k.scaler = scaler


@wrong("trackers of a second update on another flag", **each)
def _(k):
    def scaler():
        k.trackers = k.scaler_trackers()
        first = k.update_scale(k.s, k.trackers, k.ok)
        second = k.update_scale(k.s, k.trackers, k.flags[0])
        k.updates.update({"loss_scale": first[0], "growth_tracker": second[1], "hysteresis_tracker": second[2]})
    k.scaler = scaler


# -- Accumulators and buffers of upstream dialects. --

def onto(k, g, start, n="w"):
    """x^T dp of the gradient by linalg, added to `start`: the identity times g."""
    identity = k.raw("arith.constant dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : {r}", T(4, 4))
    result = k.new(T(4, 3))
    k.emit(f"{result} = linalg.matmul ins({identity}, {g} : {k.t(identity)}, {k.t(g)}) outs({start} : {k.t(start)}) -> {k.t(start)}")
    return result


def filled(k, type_, value="0.0"):
    zero = k.raw(f"arith.constant {value} : f32", "f32")
    empty = k.raw("tensor.empty() : {r}", type_)
    result = k.new(type_)
    k.emit(f"{result} = linalg.fill ins({zero} : f32) outs({empty} : {text(type_)}) -> {text(type_)}")
    return result


weight_only(WRONG, "a scaled gradient accumulated onto the parameter", lambda k, g: onto(k, wide(k, g), k.P["w"]), "scaled")
weight_only(WRONG, "a scaled gradient accumulated onto ones", lambda k, g: onto(k, wide(k, g), filled(k, T(4, 3), "1.0")), "scaled")
weight_only(RIGHT, "a scaled gradient accumulated onto zeros", lambda k, g: onto(k, wide(k, g), filled(k, T(4, 3))), "scaled")
weight_only(RIGHT, "an unscaled gradient accumulated onto its decay", lambda k, u: onto(k, u, k.mul(k.P["w"], like(k, "0.01", "w"))), "unscaled")


def inserted(k, g, into):
    row = k.op("train.slice", [g], T(2, 3), attrs="offsets = array<i64: 0, 0>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 1>")
    return k.raw("tensor.insert_slice {0} into {1}[0, 0] [2, 3] [1, 1] : {t0} into {t1}", T(4, 3), row, into)


weight_only(WRONG, "rows of a scaled gradient inserted into the parameter", lambda k, g: inserted(k, wide(k, g), k.P["w"]), "scaled")
weight_only(RIGHT, "rows of a scaled gradient inserted into zeros", lambda k, g: inserted(k, wide(k, g), filled(k, T(4, 3))), "scaled")
weight_only(RIGHT, "rows of a scaled gradient inserted into its half", lambda k, g: inserted(
    k, wide(k, g), k.mul(wide(k, g), like(k, "0.5", "w"))), "scaled")


def switched(k, g, cases):
    """An scf.index_switch on the number of parameters that are positive."""
    index = k.raw("arith.index_cast {0} : i32 to {r}", "index", k.raw("arith.extui {0} : i1 to {r}", "i32", k.bit(
        k.compare("gt", k.loss, k.c("1.0")))))
    at = len(k.lines)
    values, parts = [], []
    for f in cases:
        values.append(f(k, g))
        parts.append(k.lines[at:])
        del k.lines[at:]
    t = k.t(g)
    result = k.new(k.types[g])
    k.emit(f"{result} = scf.index_switch {index} -> {t}\ncase 0 {{")
    k.lines += [*parts[0], f"scf.yield {values[0]} : {t}", "}", "default {", *parts[1], f"scf.yield {values[1]} : {t}", "}"]
    return result


weight_only(WRONG, "a switch between a scaled gradient and one over the scale", lambda k, g: switched(
    k, wide(k, g), [lambda k, g: k.mul(g, like(k, "1.0", "w")), lambda k, g: k.div(g, k.s)]), "scaled")
weight_only(RIGHT, "a switch between a scaled gradient and its half", lambda k, g: switched(
    k, wide(k, g), [lambda k, g: k.mul(g, like(k, "1.0", "w")), lambda k, g: k.mul(g, like(k, "0.5", "w"))]), "scaled")
each_scaled(WRONG, "math: arc tangent", lambda k, g, n: ar(k, "math.atan", wide(k, g)))
each_scaled(WRONG, "math: a number with the sign of a scaled gradient", lambda k, g, n: ar(
    k, "math.copysign", like(k, "0.001", n), wide(k, g)))
each_scaled(RIGHT, "math: a number with that sign, times the scale", lambda k, g, n: k.mul(ar(
    k, "math.copysign", like(k, "0.001", n), wide(k, g)), k.s))
each_scaled(WRONG, "math: rounded up", lambda k, g, n: ar(k, "math.ceil", wide(k, g)))
each_scaled(RIGHT, "math: rounded in units of the scale", lambda k, g, n: k.mul(ar(
    k, "math.ceil", k.div(wide(k, g), k.s)), k.s))
metric(WRONG, "the largest scaled gradient or one", lambda k: k.max(k.maxabs(wide(k, k.g["w"])), k.c("1.0")))
metric(RIGHT, "the largest scaled gradient in units of the scale", lambda k: k.div(k.maxabs(wide(k, k.g["w"])), k.s))
metric(RIGHT, "the share of some entries in the norm", lambda k: k.un("abs", k.div(
    k.sum(k.slice(k.reshape(wide(k, k.g["w"]), 12), 0, 4)), k.max(k.norm(wide(k, k.g["w"])), k.mul(k.s, k.c("1.0e-9"))))))
each_scaled(RIGHT, "tosa: three parts in a row", lambda k, g, n: k.mul(tosa(k, "add", wide(k, g), tosa(
    k, "add", wide(k, g), wide(k, g))), like(k, "0.25", n)))
each_scaled(RIGHT, "two micro-batches added by hand", lambda k, g, n: k.mul(k.add(wide(k, g), wide(k, k.g[n])), like(k, "0.5", n)))
weight_only(RIGHT, "turned by the product of the parameter with itself", lambda k, g: product(
    k, product(k, k.P["w"], k.P["w"], "transpose_b"), wide(k, g)), "scaled")
each_scaled(RIGHT, "taken apart and joined in another order", lambda k, g, n: k.reshape(k.concat([
    k.slice(k.reshape(wide(k, g), elements(k, n)), 2, elements(k, n) - 2),
    k.slice(k.reshape(wide(k, g), elements(k, n)), 0, 2)]), *k.shape[n][0]))
unscaled(RIGHT, "math: fma of unscaled gradients", lambda k, u, n: ar(k, "math.fma", u, like(k, "0.5", n), u))
each_scaled(RIGHT, "divided by the scale, a quarter more, times the scale", lambda k, g, n: k.mul(k.div(k.add(
    wide(k, g), k.mul(wide(k, g), like(k, "0.25", n))), k.s), k.s))


def elements(k, n):
    out = 1
    for d in k.shape[n][0]:
        out *= d
    return out


@right("the guard in a region that runs once", guard="if")
def _(k):
    def update():
        k.optimizer_state()
        at = len(k.lines)
        new = k.guarded(k.ok, k.compute)
        types = ", ".join(k.t(v) for v in new.values())
        results = [k.new(k.types[v]) for v in new.values()]
        k.lines[at:] = [f"{', '.join(results)} = scf.execute_region -> ({types}) {{", *k.lines[at:],
                        f"scf.yield {', '.join(new.values())} : {types}", "}"]
        k.updates.update(dict(zip(new, results)))
    k.update = update
