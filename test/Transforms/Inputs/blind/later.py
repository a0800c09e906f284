# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of a later round: gradients in one buffer, sharpness, states kept between steps, several losses and scales,
quotients, and optimizers in arithmetic."""

from builder import I1, I32, S, T
from more import each, rate as rates, right, scaled as each_scaled, unscaled as each_unscaled, wrong
from right import RIGHT
from wrong import WRONG

both = {"two": True}
together = {"unscale": "one", "two": True}


def like(k, value, n): return k.c(value, k.shape[n])


def metric(where, name, f, **options):
    def change(k):
        def stage():
            k.metrics["more"] = f(k)
        k.finish = stage
    where.append((name, change, options))


def wide(k, g): return k.cast(g, "f32")


def plain_update(where, name, new, guarded=True, **options):
    """An update in arithmetic: new(k, parameter, unscaled gradient, name)."""
    def change(k):
        def update():
            k.O = {}
            def compute(): return {n: new(k, k.P[n], k.u[n], n) for n in k.names}
            k.updates.update(k.guarded(k.ok, compute) if guarded else compute())
        k.update = update
    where.append((name, change, options))


# -- Functions of scaled gradients that depend on the scale. --

each_scaled(WRONG, "scaled gradients are rounded to whole numbers", lambda k, g, n: k.raw(
    "arith.sitofp {0} : {t0} to {r}", k.shape[n],
    k.raw("arith.fptosi {0} : {t0} to {r}", T(*k.shape[n][0], e="i32"), wide(k, g))))
each_scaled(WRONG, "logarithm of scaled magnitudes with the sign", lambda k, g, n: k.mul(
    k.un("sign", wide(k, g)), k.un("log1p", k.un("abs", wide(k, g)))))
each_scaled(WRONG, "a small number added to scaled gradients", lambda k, g, n: k.add(wide(k, g), like(k, "1.0e-6", n)))
each_scaled(WRONG, "scaled gradients divided by their norm plus one", lambda k, g, n: k.div(
    wide(k, g), k.add(k.norm(wide(k, g)), k.c("1.0"))))
each_scaled(WRONG, "a sparse gradient by a threshold on scaled values", lambda k, g, n: k.tselect(
    k.compare("gt", k.un("abs", wide(k, g)), like(k, "0.5", n)), wide(k, g), like(k, "0.0", n)))
each_scaled(WRONG, "softmax over scaled gradients as weights", lambda k, g, n: k.mul(
    wide(k, g), k.un("softmax", wide(k, g), f"axis = {len(k.shape[n][0]) - 1} : i64")))
each_scaled(WRONG, "squares of scaled gradients for gradients", lambda k, g, n: k.mul(wide(k, g), k.un("abs", wide(k, g))))
each_scaled(WRONG, "the root of scaled gradients", lambda k, g, n: k.mul(k.un("sign", wide(k, g)), k.un("sqrt", k.un("abs", wide(k, g)))))
each_scaled(WRONG, "a proximal term before the division", lambda k, g, n: k.add(wide(k, g), k.mul(k.P[n], like(k, "0.01", n))))
each_scaled(RIGHT, "centred gradients", lambda k, g, n: centred(k, wide(k, g), n))
each_scaled(RIGHT, "the larger of a scaled gradient and its negative half", lambda k, g, n: k.max(wide(k, g), k.mul(wide(k, g), like(k, "-0.5", n))))
each_scaled(RIGHT, "leaky scaled gradients", lambda k, g, n: k.tselect(
    k.compare("gt", wide(k, g), like(k, "0.0", n)), wide(k, g), k.mul(wide(k, g), like(k, "0.1", n))))
each_scaled(RIGHT, "the quadratic mean with the sign", lambda k, g, n: k.mul(k.un("sign", wide(k, g)), k.un("sqrt", k.un("square", wide(k, g)))))
each_scaled(RIGHT, "product of gradients over their norm", lambda k, g, n: k.div(
    k.mul(wide(k, g), k.un("abs", wide(k, g))), k.max(k.norm(wide(k, g)), k.mul(k.s, k.c("1.0e-6")))))


def size(k, n):
    out = 1
    for d in k.shape[n][0]:
        out *= d
    return out


def centred(k, g, n):
    flat = k.reshape(g, size(k, n))
    mean = k.div(k.sum(flat), k.c(f"{size(k, n)}.0"))
    return k.reshape(k.sub(flat, mean), *k.shape[n][0])


# -- Norms and ratios. --

rates(WRONG, "a trust ratio of scaled gradients", lambda k: k.mul(k.lr, k.div(
    k.norm(k.P["w"]), k.add(k.norm(wide(k, k.g["w"])), k.c("1.0")))))
rates(WRONG, "a trust ratio that the scale divides", lambda k: k.mul(k.lr, k.div(k.norm(k.P["w"]), k.norm(wide(k, k.g["w"])))))
rates(WRONG, "a rate by the norm of scaled gradients", lambda k: k.div(k.lr, k.max(k.norm(wide(k, k.g["w"])), k.c("1.0"))))
rates(WRONG, "a rate chosen by the norm of scaled gradients", lambda k: k.tselect(
    k.compare("gt", k.norm(wide(k, k.g["w"])), k.c("10.0")), k.mul(k.lr, k.c("0.1")), k.lr))
rates(WRONG, "a rate by the product of scaled and unscaled norms", lambda k: k.div(k.lr, k.add(
    k.mul(k.norm(wide(k, k.g["w"])), k.norm(k.u["w"])), k.c("1.0"))))
rates(RIGHT, "a rate by the ratio of scaled and unscaled norms over the scale", lambda k: k.mul(k.lr, k.div(
    k.div(k.norm(wide(k, k.g["w"])), k.add(k.norm(k.u["w"]), k.c("1.0e-6"))), k.s)))
rates(RIGHT, "a rate by the angle to the parameter", lambda k: k.mul(k.lr, k.un("abs", k.div(
    k.dot(wide(k, k.g["w"]), k.P["w"]), k.max(k.mul(k.norm(wide(k, k.g["w"])), k.norm(k.P["w"])), k.mul(k.s, k.c("1.0e-6")))))))
rates(RIGHT, "a rate by a bound in units of the scale", lambda k: k.mul(k.lr, k.min(
    k.c("1.0"), k.div(k.mul(k.c("3.0"), k.s), k.norm(wide(k, k.g["w"]))))))
rates(RIGHT, "a trust ratio of unscaled gradients", lambda k: k.mul(k.lr, k.div(k.norm(k.P["w"]), k.add(k.norm(k.u["w"]), k.c("1.0")))))
metric(WRONG, "the mean of scaled gradients as a metric", lambda k: k.div(k.sum(wide(k, k.g["w"])), k.c("12.0")))
metric(WRONG, "the product of a scaled and an unscaled gradient as a metric", lambda k: k.dot(wide(k, k.g["w"]), k.u["w"]))
metric(WRONG, "the norm of unscaled gradients times the scale as a metric", lambda k: k.mul(k.norm(k.u["w"]), k.s))
metric(WRONG, "the logarithm of the norm of scaled gradients as a metric", lambda k: k.un("log", k.norm(wide(k, k.g["w"]))))
metric(WRONG, "the scaled loss as a metric", lambda k: k.mul(k.loss, k.s))
metric(RIGHT, "the norm of scaled gradients over the scale as a metric", lambda k: k.div(k.norm(wide(k, k.g["w"])), k.s))
metric(RIGHT, "the loss times the scale over the scale as a metric", lambda k: k.div(k.mul(k.loss, k.s), k.s))
metric(RIGHT, "the cosine of gradient and parameter as a metric", lambda k: k.div(
    k.dot(wide(k, k.g["w"]), k.P["w"]), k.mul(k.norm(wide(k, k.g["w"])), k.norm(k.P["w"]))))
metric(RIGHT, "the share of one norm in the sum of norms as a metric", lambda k: k.div(
    k.norm(wide(k, k.g["w"])), k.add(k.norm(wide(k, k.g["w"])), k.norm(wide(k, k.g["b"])))), two=True)


@wrong("clipped by a norm that was taken before the division")
def _(k):
    def stage():
        most = k.min(k.c("1.0"), k.div(k.c("1.0"), k.norm(wide(k, k.g["w"]))))
        k.u = {n: k.mul(u, most) for n, u in k.u.items()}
    k.unscaled = stage


@wrong("decay of one parameter from its scaled gradient", **both)
def _(k):
    def stage():
        k.u["b"] = k.add(k.u["b"], k.mul(wide(k, k.g["b"]), k.c("0.1", T(3))))
    k.unscaled = stage


# -- States between steps. --

def kept(where, name, value, new, **options):
    """A state `old` that enters the gradient; new(k) is its new value."""
    def change(k):
        k.old = k.state("old", k.shape["w"], "optimizer_state", "zeros")

        def stage():
            k.u["w"] = value(k)

        def compute():
            return {**k.step(k.u), "old": new(k)}
        k.unscaled, k.compute = stage, compute
    where.append((name, change, options))


kept(WRONG, "a scaled gradient kept for the next step", lambda k: k.u["w"], lambda k: wide(k, k.g["w"]))
kept(WRONG, "a mean of scaled gradients kept", lambda k: k.u["w"], lambda k: k.add(
    k.mul(k.old, like(k, "0.9", "w")), k.mul(wide(k, k.g["w"]), like(k, "0.1", "w"))))
kept(WRONG, "momentum of scaled gradients, divided afterwards", lambda k: k.div(k.add(
    k.mul(k.old, like(k, "0.9", "w")), wide(k, k.g["w"])), k.s), lambda k: k.add(k.mul(k.old, like(k, "0.9", "w")), wide(k, k.g["w"])))
kept(WRONG, "squares of scaled gradients kept", lambda k: k.u["w"], lambda k: k.add(
    k.mul(k.old, like(k, "0.9", "w")), k.mul(k.un("square", wide(k, k.g["w"])), like(k, "0.1", "w"))))
kept(WRONG, "a gradient added to the scaled one of the last step", lambda k: k.add(k.u["w"], k.old), lambda k: k.mul(k.u["w"], k.s))
kept(RIGHT, "an unscaled gradient kept for the next step", lambda k: k.add(k.u["w"], k.mul(k.old, like(k, "0.5", "w"))), lambda k: k.u["w"])
kept(RIGHT, "squares of scaled gradients over the squared scale kept", lambda k: k.u["w"], lambda k: k.div(
    k.un("square", wide(k, k.g["w"])), k.un("square", k.s)))
kept(RIGHT, "the sign of a scaled gradient kept", lambda k: k.u["w"], lambda k: k.un("sign", wide(k, k.g["w"])))


@wrong("an average of gradients outside of the guard")
def _(k):
    k.old = k.state("old", k.shape["w"], "optimizer_state", "zeros")

    def stage():
        k.updates["old"] = k.add(k.mul(k.old, like(k, "0.9", "w")), k.mul(k.u["w"], like(k, "0.1", "w")))
    k.finish = stage


@wrong("statistics of the model from a scaled gradient")
def _(k):
    k.old = k.state("old", S, "model_state", "zeros")

    def stage():
        k.updates["old"] = k.norm(wide(k, k.g["w"]))
    k.finish = stage


@right("an average of parameters in the guard")
def _(k):
    k.old = k.state("old", k.shape["w"], "optimizer_state", "zeros")

    def compute():
        new = k.step(k.u)
        new["old"] = k.add(k.mul(k.old, like(k, "0.99", "w")), k.mul(new["w"], like(k, "0.01", "w")))
        return new
    k.compute = compute


@right("statistics of the model from the forward pass")
def _(k):
    k.old = k.state("old", S, "model_state", "zeros")

    def stage():
        k.updates["old"] = k.norm(wide(k, k.p))
    k.finish = stage


# -- Updates in arithmetic. --

def descend(k, w, u, n): return k.sub(w, k.mul(u, k.lr))


plain_update(WRONG, "unguarded, gradients clipped to numbers", lambda k, w, u, n: descend(
    k, w, k.un("clip", u, "min = -1.0 : f64, max = 1.0 : f64"), n), False)
plain_update(WRONG, "unguarded, gradients that equal themselves", lambda k, w, u, n: descend(
    k, w, k.tselect(k.compare("eq", u, u), u, like(k, "0.0", n)), n), False)
plain_update(WRONG, "unguarded, gradients times the flag", lambda k, w, u, n: descend(
    k, w, k.mul(u, k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok)), n), False)
plain_update(WRONG, "unguarded, rate times the flag", lambda k, w, u, n: k.sub(
    w, k.mul(u, k.mul(k.lr, k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok)))), False)
plain_update(WRONG, "unguarded, gradients or gradients times zero", lambda k, w, u, n: descend(
    k, w, k.tselect(k.ok, u, k.mul(u, like(k, "0.0", n))), n), False)
plain_update(WRONG, "unguarded, the sign of gradients", lambda k, w, u, n: descend(k, w, k.un("sign", u), n), False)
plain_update(WRONG, "unguarded, the tangent of gradients", lambda k, w, u, n: descend(k, w, k.un("tanh", u), n), False)
plain_update(WRONG, "the average of both choices", lambda k, w, u, n: k.mul(k.add(
    k.tselect(k.ok, descend(k, w, u, n), w), descend(k, w, u, n)), like(k, "0.5", n)), False)
plain_update(WRONG, "decay after the choice", lambda k, w, u, n: k.mul(
    k.tselect(k.ok, descend(k, w, u, n), w), like(k, "0.999", n)), False)
plain_update(WRONG, "a bound of parameters after the choice", lambda k, w, u, n: k.un(
    "clip", k.tselect(k.ok, descend(k, w, u, n), w), "min = -0.1 : f64, max = 0.1 : f64"), False)
plain_update(WRONG, "the choice is turned around", lambda k, w, u, n: k.tselect(k.ok, w, descend(k, w, u, n)), False)
plain_update(WRONG, "a choice by the sign of the loss", lambda k, w, u, n: k.tselect(
    k.compare("gt", k.loss, k.c("0.0")), descend(k, w, u, n), w), False)
plain_update(WRONG, "steps on scaled gradients with a rate of 1e-3", lambda k, w, u, n: k.sub(
    w, k.mul(wide(k, k.g[n]), k.c("1.0e-3"))))
plain_update(WRONG, "steps on gradients divided twice", lambda k, w, u, n: descend(k, w, k.div(u, k.s), n))
plain_update(RIGHT, "decay in the guard", lambda k, w, u, n: k.mul(descend(k, w, u, n), like(k, "0.999", n)))
plain_update(RIGHT, "bounded parameters in the guard", lambda k, w, u, n: k.un(
    "clip", descend(k, w, u, n), "min = -2.0 : f64, max = 2.0 : f64"))
plain_update(RIGHT, "the sign of gradients in the guard", lambda k, w, u, n: descend(k, w, k.un("sign", u), n))
plain_update(RIGHT, "gradients over their norm in the guard", lambda k, w, u, n: descend(
    k, w, k.div(u, k.add(k.norm(u), k.c("1.0e-6"))), n))
plain_update(RIGHT, "a choice of each parameter by hand", lambda k, w, u, n: k.tselect(k.ok, descend(k, w, u, n), w), False)
plain_update(RIGHT, "a choice of the step instead of the parameter", lambda k, w, u, n: k.sub(
    w, k.tselect(k.ok, k.mul(u, k.lr), like(k, "0.0", n))), False)
plain_update(RIGHT, "a choice between gradients and zeros", lambda k, w, u, n: descend(
    k, w, k.tselect(k.ok, u, like(k, "0.0", n)), n), False)
plain_update(RIGHT, "a choice between scaled gradients and zeros, rate over the scale", lambda k, w, u, n: k.sub(
    w, k.mul(k.tselect(k.ok, wide(k, k.g[n]), like(k, "0.0", n)), k.div(k.lr, k.s))), False)
plain_update(RIGHT, "zeros times twice the rate plus the parameter", lambda k, w, u, n: k.add(
    k.mul(k.mul(k.tselect(k.ok, u, like(k, "0.0", n)), k.c("-2.0")), k.lr), w), False)
plain_update(WRONG, "a choice between gradients and ones", lambda k, w, u, n: descend(
    k, w, k.tselect(k.ok, u, like(k, "1.0", n)), n), False)
plain_update(WRONG, "zeros if the rate is large", lambda k, w, u, n: descend(k, w, k.tselect(
    k.i("ori", k.ok, k.compare("gt", k.lr, k.c("100.0"))), u, like(k, "0.0", n)), n), False)
plain_update(WRONG, "zeros divided by the rate", lambda k, w, u, n: k.sub(
    w, k.div(k.tselect(k.ok, u, like(k, "0.0", n)), k.lr)), False)
plain_update(WRONG, "zeros minus the rate", lambda k, w, u, n: k.sub(
    w, k.sub(k.tselect(k.ok, u, like(k, "0.0", n)), k.lr)), False)
plain_update(WRONG, "zeros times the rate minus its usual value", lambda k, w, u, n: k.sub(
    w, k.mul(k.tselect(k.ok, u, like(k, "1.0", n)), k.sub(k.lr, k.c("0.1")))), False)
plain_update(RIGHT, "scaled gradients with a rate over the scale in the guard", lambda k, w, u, n: k.sub(
    w, k.mul(wide(k, k.g[n]), k.div(k.lr, k.s))))


# -- One buffer for all gradients. --

def buffer(k, order=("w", "b")):
    return k.concat([k.reshape(wide(k, k.g[n]), size(k, n)) for n in order])


def parts(k, flat):
    return {"w": k.reshape(k.slice(flat, 0, 12), 4, 3), "b": k.slice(flat, 12, 3)}


@right("gradients in one buffer", **together)
def _(k):
    def stage():
        (flat,), k.ok = k.unscale_by([buffer(k)], k.scale)
        k.u = parts(k, flat)
    k.unscale = stage


@wrong("one buffer, the second part unscaled before", **together)
def _(k):
    def stage():
        k.g["b"] = k.div(wide(k, k.g["b"]), k.s)
        (flat,), k.ok = k.unscale_by([buffer(k)], k.scale)
        k.u = parts(k, flat)
    k.unscale = stage


@wrong("one buffer of a gradient and a parameter", **together)
def _(k):
    def stage():
        flat = k.concat([k.reshape(wide(k, k.g["w"]), 12), k.P["b"]])
        (flat,), k.ok = k.unscale_by([flat], k.scale)
        k.u = parts(k, flat)
    k.unscale = stage


@wrong("one buffer, a part read before the division", **together)
def _(k):
    def stage():
        before = buffer(k)
        (flat,), k.ok = k.unscale_by([before], k.scale)
        k.u = {"w": parts(k, flat)["w"], "b": k.slice(before, 12, 3)}
    k.unscale = stage


@wrong("one part of the buffer is checked", **together)
def _(k):
    def stage():
        flat = buffer(k)
        (first,), k.ok = k.unscale_by([k.slice(flat, 0, 12)], k.scale)
        k.u = {"w": k.reshape(first, 4, 3), "b": k.div(k.slice(flat, 12, 3), k.s)}
    k.unscale = stage


# -- Flags. --

def flags(where, name, guard=None, scaler=None, **options):
    def change(k):
        def stage():
            if scaler:
                k.scaler_flag = scaler(k)
            if guard:
                k.ok = guard(k)
        k.unscaled = stage
        if scaler:
            def update():
                k.trackers = k.scaler_trackers()
                out = k.update_scale(k.s, k.trackers, k.scaler_flag)
                k.updates.update({"loss_scale": out[0], "growth_tracker": out[1], "hysteresis_tracker": out[2]})
            k.scaler = update
    where.append((name, change, {**each, **options}))


def either(k): return k.i("ori", *k.flags)


flags(WRONG, "guard by either flag", either, lambda k: k.both(*k.flags))
flags(WRONG, "scale by either flag", None, either)
flags(WRONG, "guard by one flag, scale by both", lambda k: k.flags[1], lambda k: k.both(*k.flags))
flags(WRONG, "guard by equal flags", lambda k: k.no(k.i("xori", *k.flags)), lambda k: k.both(*k.flags))
flags(WRONG, "guard by the first flag or the negation of the second", lambda k: k.i("ori", k.flags[0], k.no(k.flags[1])), lambda k: k.both(*k.flags))
flags(WRONG, "scale by the negation of both", None, lambda k: k.no(k.both(*k.flags)))
flags(WRONG, "guard by the larger flag", lambda k: k.i("maxui", *k.flags), lambda k: k.both(*k.flags))
flags(RIGHT, "guard by the smaller flag", lambda k: k.i("minui", *k.flags), lambda k: k.both(*k.flags))
flags(RIGHT, "guard by the product of flags", lambda k: k.i("muli", *k.flags), lambda k: k.both(*k.flags))
flags(RIGHT, "guard by a flag chosen by the other", lambda k: k.choose(k.bit(k.flags[0]), k.flags[1], k.flags[0]), lambda k: k.both(*k.flags))
flags(RIGHT, "guard by no equal to either negation", lambda k: k.no(k.i("ori", k.no(k.flags[0]), k.no(k.flags[1]))), lambda k: k.both(*k.flags))
flags(RIGHT, "guard by both and a finite loss", lambda k: k.both(k.both(*k.flags), k.compare("lt", k.loss, k.c("1.0e30"))), lambda k: k.both(*k.flags))


# -- The new scale. --

def new_scale(where, name, f, **options):
    def change(k):
        scaler = k.scaler

        def update():
            scaler()
            k.updates["loss_scale"] = f(k, k.updates["loss_scale"])
        k.scaler = update
    where.append((name, change, options))


new_scale(WRONG, "the new scale times two", lambda k, s: k.mul(s, k.c("2.0")))
new_scale(WRONG, "the larger of both scales", lambda k, s: k.max(s, k.s))
new_scale(WRONG, "the new scale only after a clean step", lambda k, s: k.tselect(k.ok, s, k.s))
new_scale(WRONG, "the mean of both scales minus the old one", lambda k, s: k.sub(k.mul(k.add(s, k.s), k.c("0.5")), k.s))
new_scale(WRONG, "the new scale divided by the norm", lambda k, s: k.div(s, k.add(k.c("1.0"), k.norm(k.u["w"]))))
new_scale(WRONG, "the new scale times the old one", lambda k, s: k.mul(s, k.s))
new_scale(WRONG, "the square of the new scale", lambda k, s: k.un("square", s))
new_scale(WRONG, "the new scale rounded to f16", lambda k, s: k.cast(k.cast(s, "f16"), "f32"))
new_scale(RIGHT, "the new scale between bounds", lambda k, s: k.max(k.min(s, k.c("16777216.0")), k.c("0.0001")))
new_scale(RIGHT, "the new scale through bf16, which holds powers of two", lambda k, s: k.cast(k.cast(s, "bf16"), "f32"))


# -- Sharpness and several losses. --

def second(k, scaled, point):
    """Gradients at parameters that were moved to `point`."""
    low = k.o["low"]
    p = k.predict(k.x, w=point["w"], b=point.get("b"))
    seed = k.raw('amp.gradient_seed "second" : {r}', S)
    ds = k.raw("amp.scale {0} by {1} : {r}", S, seed, k.s) if scaled else seed
    return k.gradient(k.cast(k.x, low), k.cast(k.y, low), p, ds)


def sharpness(where, name, direction, scaled=True, **options):
    def change(k):
        def stage():
            point = {n: k.add(k.P[n], direction(k, wide(k, g), n)) for n, g in k.g.items()}
            k.g = second(k, scaled, point)
        k.scaled = stage
    where.append((name, change, {"call": False, "scale": "plain", **options}))


sharpness(RIGHT, "sharpness by gradients over their norm", lambda k, g, n: k.mul(k.div(g, k.norm(g)), k.c("0.05")))
sharpness(RIGHT, "sharpness by signs", lambda k, g, n: k.mul(k.un("sign", g), k.c("0.05")))
sharpness(WRONG, "sharpness by scaled gradients", lambda k, g, n: k.mul(g, k.c("0.05")))
sharpness(WRONG, "sharpness by gradients over their squared norm", lambda k, g, n: k.div(g, k.sum(k.un("square", g))))
sharpness(WRONG, "sharpness, the second pass without the scale", lambda k, g, n: k.mul(k.un("sign", g), k.c("0.05")), False)


def two_losses(where, name, first, after, **options):
    """`first` combines gradients of two losses before the division, `after` behind it."""
    def change(k):
        def stage():
            k.h = second(k, options.get("scaled", True), {n: k.P[n] for n in k.names})
            if first:
                k.g = {n: first(k, wide(k, g), wide(k, k.h[n]), n) for n, g in k.g.items()}

        def behind():
            if after:
                k.u = {n: after(k, u, wide(k, k.h[n]), n) for n, u in k.u.items()}
        k.scaled, k.unscaled = stage, behind
    own = {k_: v for k_, v in options.items() if k_ != "scaled"}
    where.append((name, change, {"call": False, "scale": "plain", **own}))


def project(k, g, h, n):
    """Removes from g its part along h, as in gradient surgery."""
    return k.sub(g, k.mul(h, k.div(k.dot(g, h), k.sum(k.un("square", h)))))


two_losses(RIGHT, "gradient surgery of scaled gradients", project, None)
two_losses(RIGHT, "the gradient of larger magnitude", lambda k, g, h, n: k.tselect(
    k.compare("gt", k.un("abs", g), k.un("abs", h)), g, h), None)
two_losses(RIGHT, "two gradients weighted by their norms", lambda k, g, h, n: k.add(
    g, k.mul(h, k.div(k.norm(g), k.norm(h)))), None)
two_losses(WRONG, "gradient surgery of a scaled and an unscaled gradient", lambda k, g, h, n: k.add(project(k, g, h, n), h), None, scaled=False)
two_losses(WRONG, "the gradient of larger magnitude, one unscaled", lambda k, g, h, n: k.tselect(
    k.compare("gt", k.un("abs", g), k.un("abs", h)), g, h), None, scaled=False)
two_losses(WRONG, "surgery without the division by a norm", lambda k, g, h, n: k.sub(g, k.mul(h, k.dot(g, h))), None)
two_losses(WRONG, "a second gradient added behind the division", None, lambda k, u, h, n: k.add(u, h))
two_losses(WRONG, "a second gradient divided without a check", None, lambda k, u, h, n: k.add(u, k.div(h, k.s)))
two_losses(WRONG, "chosen by the sign of the product with an offset", lambda k, g, h, n: k.tselect(
    k.compare("gt", k.dot(g, h), k.c("1.0")), g, k.add(g, h)), None)


# -- Loops. --

def micro(where, name, body, initial, after, **options):
    """Four passes that add up; body(k, index, carried) gives the carried values."""
    def change(k):
        def stage():
            k.out = k.loop(4, initial(k), lambda i, c: body(k, i, c))
        k.scaled = lambda: (stage(), after(k))
    where.append((name, change, {"call": False, "scale": "plain", "two": False, **options}))


def grad(k, scale=True):
    seed = k.raw('amp.gradient_seed "micro" : {r}', S)
    ds = k.raw("amp.scale {0} by {1} : {r}", S, seed, k.s) if scale else seed
    return wide(k, k.gradient(k.xl, k.yl, k.predict(k.x), ds)["w"])


def zeros(k): return [k.c("0.0", k.shape["w"])]


def take(k): k.g = {"w": k.out[0]}


micro(RIGHT, "a mean that a loop keeps", lambda k, i, c: [k.add(c[0], k.mul(k.sub(grad(k), c[0]), like(k, "0.25", "w")))], zeros, take)
micro(RIGHT, "the largest magnitude that a loop sees", lambda k, i, c: [k.max(c[0], k.un("abs", grad(k)))], zeros, take)
micro(WRONG, "a loop that starts at the parameter", lambda k, i, c: [k.add(c[0], grad(k))], lambda k: [k.P["w"]], take)
micro(WRONG, "a loop that adds gradients without the scale", lambda k, i, c: [k.add(c[0], grad(k, False))],
      lambda k: [wide(k, k.g["w"])], take)
micro(WRONG, "a loop that multiplies by the scale each time", lambda k, i, c: [k.add(k.mul(c[0], k.s), grad(k))], zeros, take)
micro(WRONG, "a loop that divides what it carries", lambda k, i, c: [k.div(k.add(c[0], grad(k)), k.s)], zeros, take)
micro(WRONG, "a loop that clips what it carries", lambda k, i, c: [
    k.un("clip", k.add(c[0], grad(k)), "min = -1.0 : f64, max = 1.0 : f64")], zeros, take)
micro(WRONG, "a loop whose mean starts at ones", lambda k, i, c: [k.add(c[0], grad(k))], lambda k: [k.c("1.0", k.shape["w"])], take)
