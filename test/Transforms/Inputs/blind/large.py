# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of steps with optimizers of large batches, several ranks, two players, and
averages over steps.
"""

from builder import S
from later import second, wide
from right import RIGHT
from wrong import WRONG

plain = {"call": False, "scale": "plain"}


def kind(where, name, **options):
    def add(f):
        where.append((name, f, options))
        return f
    return add


def custom(where, name, letters, f, **options):
    """f(k, n, u) gives new values by state letter ('' is the parameter)."""
    def change(k):
        def optimizer_state():
            k.O = {c + n: k.state(c + n, k.shape[n], "optimizer_state", "zeros") for n in k.names for c in letters}

        def compute():
            new = {}
            for n in k.names:
                new.update({(c + n if c else n): v for c, v in f(k, n, k.u[n]).items()})
            return new
        k.optimizer_state, k.compute = optimizer_state, compute
    where.append((name, change, {"opt": "sgd", **options}))


def down(k, n, d): return k.sub(k.P[n], k.mul(d, k.lr))
def mix(k, old, new, beta): return k.add(k.mul(old, k.c(str(beta))), k.mul(new, k.c(str(round(1 - beta, 4)))))


def lamb(k, n, u, decay=True):
    m, v = mix(k, k.O["m" + n], u, 0.9), mix(k, k.O["v" + n], k.un("square", u), 0.999)
    r = k.div(m, k.add(k.un("sqrt", v), k.c("1.0e-6")))
    if decay:
        r = k.add(r, k.mul(k.P[n], k.c("0.01")))
    trust = k.div(k.norm(k.P[n]), k.add(k.norm(r), k.c("1.0e-6")))
    return {"m": m, "v": v, "": down(k, n, k.mul(r, trust))}


custom(RIGHT, "LAMB", "mv", lamb)
custom(WRONG, "LAMB on scaled gradients", "mv", lambda k, n, u: lamb(k, n, wide(k, k.g[n])))
custom(WRONG, "LAMB whose first moment is scaled", "mv", lambda k, n, u: {**lamb(k, n, u), "m": mix(k, k.O["m" + n], wide(k, k.g[n]), 0.9)})


def lars(k, n, u, scaled, over):
    norm = k.norm(wide(k, k.g[n]) if scaled else u)
    if over:
        norm = k.div(norm, k.s)
    trust = k.div(k.norm(k.P[n]), k.add(norm, k.mul(k.norm(k.P[n]), k.c("0.0001"))))
    return {"": down(k, n, k.mul(trust, k.add(u, k.mul(k.P[n], k.c("0.0001")))))}


custom(RIGHT, "LARS with the norm of scaled gradients over the scale", "", lambda k, n, u: lars(k, n, u, True, True))
custom(WRONG, "LARS with the norm of scaled gradients", "", lambda k, n, u: lars(k, n, u, True, False))
custom(WRONG, "LARS with the norm of unscaled gradients over the scale", "", lambda k, n, u: lars(k, n, u, False, True))


# Gauss-Newton: a gradient over its square and a damping.
def damped(k, n, u, power):
    g = wide(k, k.g[n])
    damping = k.c("0.001", k.shape[n])
    for _ in range(power):
        damping = k.mul(damping, k.s)
    d = k.div(k.mul(g, k.s), k.add(k.un("square", g), damping))
    return {"": down(k, n, d)}


custom(RIGHT, "damped by the squared scale", "", lambda k, n, u: damped(k, n, u, 2))
custom(WRONG, "damped by the scale", "", lambda k, n, u: damped(k, n, u, 1))
custom(WRONG, "damped by a number", "", lambda k, n, u: damped(k, n, u, 0))

# Restart of momentum by the sign of an inner product.
def restart(k, n, u, bound):
    g = wide(k, k.g[n])
    up = k.compare("gt", k.dot(g, k.O["m" + n]), k.c(bound))
    m = k.tselect(up, mix(k, k.O["m" + n], u, 0.9), u)
    return {"m": m, "": down(k, n, m)}


custom(RIGHT, "momentum restarts where it opposes a scaled gradient", "m", lambda k, n, u: restart(k, n, u, "0.0"))
custom(WRONG, "momentum restarts where its product with a scaled gradient is below 1", "m", lambda k, n, u: restart(k, n, u, "1.0"))

# A clip that follows the norms of earlier steps.
def autoclip(k, n, u, of):
    a = mix(k, k.O["a" + n], k.add(k.mul(k.P[n], k.c("0.0")), k.norm(of)), 0.9)
    return {"a": a, "": down(k, n, k.mul(u, k.min(k.c("1.0"), k.div(k.maxabs(a), k.norm(u)))))}


custom(RIGHT, "a clip that follows the norms of unscaled gradients", "a", lambda k, n, u: autoclip(k, n, u, u))
custom(WRONG, "a clip that follows the norms of scaled gradients", "a", lambda k, n, u: autoclip(k, n, u, wide(k, k.g[n])))


# Gradients accumulated over steps, applied every fourth.
def window(k, n, u, hold, reset):
    acc = k.add(k.O["a" + n], hold)
    due = k.compare("gt", k.lr, k.c("0.5"))
    return {"a": k.tselect(due, reset(k, n, acc), acc), "": k.tselect(due, down(k, n, k.mul(acc, k.c("0.25"))), k.P[n])}


def zero(k, n, acc): return k.c("0.0", k.shape[n])


custom(RIGHT, "gradients accumulated over steps", "a", lambda k, n, u: window(k, n, u, u, zero))
custom(WRONG, "scaled gradients accumulated over steps", "a", lambda k, n, u: window(k, n, u, wide(k, k.g[n]), zero))
custom(WRONG, "gradients accumulated over steps, reset to a scaled one", "a", lambda k, n, u: window(k, n, u, u, lambda k, n, a: wide(k, k.g[n])))


@kind(WRONG, "accumulated gradients that an overflow clears", opt="sgd")
def _(k):
    def update():
        k.O = {n: k.state("a" + n, k.shape[n], "optimizer_state", "zeros") for n in k.names}
        for n in k.names:
            k.updates["a" + n] = k.tselect(k.ok, k.add(k.O[n], k.u[n]), k.c("0.0", k.shape[n]))
            k.updates[n] = k.tselect(k.ok, down(k, n, k.O[n]), k.P[n])
    k.update = update


# Ranks.
def reduce(k, v, kind_="sum"): return k.raw("amp.all_reduce %s {0} : {r}" % kind_, k.types[v], v)


@kind(RIGHT, "ranks add scaled gradients")
def _(k): k.scaled = lambda: k.g.update({n: reduce(k, wide(k, g)) for n, g in k.g.items()})


@kind(RIGHT, "ranks add unscaled gradients and join flags")
def _(k):
    def unscaled():
        k.u = {n: reduce(k, u) for n, u in k.u.items()}
        k.ok = reduce(k, k.ok, "and")
    k.unscaled = unscaled


@kind(WRONG, "ranks add unscaled gradients, each with its own flag")
def _(k): k.unscaled = lambda: k.u.update({n: reduce(k, u) for n, u in k.u.items()})


@kind(WRONG, "ranks add gradients and parameters")
def _(k): k.scaled = lambda: k.g.update({n: reduce(k, k.add(wide(k, g), k.P[n])) for n, g in k.g.items()})


@kind(WRONG, "ranks add scaled gradients after the division of one")
def _(k): k.unscaled = lambda: k.u.update({n: k.add(u, reduce(k, wide(k, k.g[n]))) for n, u in k.u.items()})


@kind(WRONG, "ranks take the largest scaled gradient as a metric")
def _(k): k.finish = lambda: k.metrics.update(largest=reduce(k, k.maxabs(wide(k, k.g["w"])), "max"))


# The scale and its update.
@kind(WRONG, "the scale falls after a large norm too")
def _(k):
    scaler = k.scaler

    def update():
        k.ok = k.both(k.ok, k.compare("lt", k.norm(k.u["w"]), k.c("1.0")))
        scaler()
    k.scaler = update


@kind(RIGHT, "a step with a large norm is skipped, and the scale goes on")
def _(k):
    def update():
        k.optimizer_state()
        k.updates.update(k.guarded(k.both(k.ok, k.compare("lt", k.norm(k.u["w"]), k.c("1.0"))), k.compute))
    k.update = update


def by_hand(where, name, f, **options):
    """f(k, scale, flag) gives the new scale; no trackers."""
    def change(k):
        k.scaler = lambda: k.updates.update(loss_scale=f(k, k.s, k.ok))
    where.append((name, change, options))


def half(k, s): return k.mul(s, k.c("0.5"))


by_hand(RIGHT, "by hand: four steps up in size after a clean one, at most 2^20", lambda k, s, ok: k.tselect(
    ok, k.min(k.mul(s, k.c("1.19")), k.max(s, k.c("1048576.0"))), half(k, s)))
by_hand(WRONG, "by hand: falls to a cap and to half of it", lambda k, s, ok: k.tselect(ok, k.min(half(k, s), k.c("16384.0")), half(k, s)))
by_hand(WRONG, "by hand: the cap is above the floor after an overflow", lambda k, s, ok: k.tselect(ok, s, k.max(half(k, s), k.c("1048576.0"))))
by_hand(WRONG, "by hand: halved on every large loss", lambda k, s, ok: k.tselect(
    k.both(ok, k.compare("lt", k.loss, k.c("1.0"))), s, half(k, s)))
by_hand(WRONG, "by hand: falls only above 2^20", lambda k, s, ok: k.tselect(
    ok, s, k.tselect(k.compare("gt", s, k.c("1048576.0")), half(k, s), s)))
by_hand(WRONG, "by hand: falls only above 2^20, and to a floor", lambda k, s, ok: k.tselect(
    ok, s, k.max(k.tselect(k.compare("gt", s, k.c("1048576.0")), half(k, s), s), k.c("0.015625"))))
by_hand(WRONG, "by hand: falls only below 2^12", lambda k, s, ok: k.tselect(
    ok, s, k.tselect(k.compare("lt", s, k.c("4096.0")), half(k, s), s)))
by_hand(WRONG, "by hand: less by 0.001 after an overflow", lambda k, s, ok: k.tselect(ok, s, k.sub(s, k.c("0.001"))))
by_hand(WRONG, "by hand: back to 1 above 2^17", lambda k, s, ok: k.tselect(
    ok, k.tselect(k.compare("gt", s, k.c("131072.0")), k.c("1.0"), k.mul(s, k.c("2.0"))), half(k, s)))
by_hand(WRONG, "by hand: back to 1 above 2^17, else kept", lambda k, s, ok: k.tselect(
    ok, k.tselect(k.compare("gt", s, k.c("131072.0")), k.c("1.0"), s), half(k, s)))
by_hand(RIGHT, "by hand: falls only above 1", lambda k, s, ok: k.tselect(
    ok, s, k.tselect(k.compare("gt", s, k.c("1.0")), half(k, s), s)))
by_hand(RIGHT, "by hand: doubled to a cap, halved to a floor", lambda k, s, ok: k.tselect(
    ok, k.min(k.mul(s, k.c("2.0")), k.c("131072.0")), k.max(half(k, s), k.c("0.125"))))
by_hand(WRONG, "by hand: the square root after an overflow", lambda k, s, ok: k.tselect(ok, s, k.un("sqrt", s)))
by_hand(WRONG, "by hand: a blend of half and double that favours neither", lambda k, s, ok: k.mul(
    s, k.add(k.c("1.0"), k.mul(k.raw("arith.uitofp {0} : {t0} to {r}", S, ok), k.c("-0.5")))))


@kind(WRONG, "unscaled by the scale of the last step", **plain)
def _(k):
    seed = k.seed
    k.seed = lambda: (k.__dict__.update(last=k.state("last_scale", S, "scaler_state", "constant, value = 1024.0")), seed())
    unscale = k.unscale

    def by_last():
        k.scale = k.last
        unscale()
        k.updates["last_scale"] = k.s
    k.unscale = by_last


# Two players: the second loss is at the new parameters of the first.
def players(where, name, guard_first, flag_for_scale, **options):
    def change(k):
        def update():
            (uw,), fw = k.unscale_by([k.g["w"]], k.s)
            k.optimizer_state()
            new = k.op("train.sgd", [k.P["w"], uw, k.lr], k.shape["w"])
            kept = k.tselect(fw, new, k.P["w"])
            point = {"w": kept if guard_first else new, "b": k.P["b"]}
            h = second(k, True, point)
            (ub,), fb = k.unscale_by([h["b"]], k.s)
            k.updates["w"] = kept
            k.updates["b"] = k.tselect(fb, k.op("train.sgd", [k.P["b"], ub, k.lr], k.shape["b"]), k.P["b"])
            k.ok = {"both": k.both(fw, fb), "first": fw, "second": fb}[flag_for_scale]
        k.unscale = lambda: None
        k.update = update
    where.append((name, change, {**plain, "two": True, "opt": "sgd", **options}))


players(RIGHT, "two players, the second at the guarded parameters of the first", True, "both")
players(WRONG, "two players, the scale sees the first alone", True, "first")
players(WRONG, "two players, the scale sees the second alone", True, "second")


@kind(WRONG, "two players, the second steps by the flag of the first", **plain, two=True, opt="sgd")
def _(k):
    def update():
        (uw,), fw = k.unscale_by([k.g["w"]], k.s)
        h = second(k, True, {"w": k.P["w"], "b": k.P["b"]})
        (ub,), fb = k.unscale_by([h["b"]], k.s)
        k.updates["w"] = k.tselect(fw, k.op("train.sgd", [k.P["w"], uw, k.lr], k.shape["w"]), k.P["w"])
        k.updates["b"] = k.tselect(fw, k.op("train.sgd", [k.P["b"], ub, k.lr], k.shape["b"]), k.P["b"])
        k.ok = k.both(fw, fb)
    k.unscale = lambda: None
    k.update = update


# Metrics of order S^2.
def noise(k, small, big): return k.sub(k.sum(k.un("square", small)), k.sum(k.un("square", big)))


def metric(where, name, f, **options):
    def change(k):
        k.finish = lambda: k.metrics.update(extra=f(k))
    where.append((name, change, {**options}))


metric(RIGHT, "the noise of gradients over the squared scale", lambda k: k.div(
    noise(k, wide(k, k.g["w"]), k.mul(wide(k, k.g["w"]), k.c("0.5"))), k.un("square", k.s)))
metric(WRONG, "the noise of gradients over the scale", lambda k: k.div(
    noise(k, wide(k, k.g["w"]), k.mul(wide(k, k.g["w"]), k.c("0.5"))), k.s))
metric(WRONG, "the noise of a scaled and an unscaled gradient", lambda k: noise(k, wide(k, k.g["w"]), k.u["w"]))
metric(RIGHT, "the share of zeros in a scaled gradient", lambda k: k.sum(k.tselect(
    k.compare("eq", wide(k, k.g["w"]), k.c("0.0", k.shape["w"])), k.c("1.0", k.shape["w"]), k.c("0.0", k.shape["w"]))))
metric(WRONG, "the number of scaled gradients above 1", lambda k: k.sum(k.tselect(
    k.compare("gt", wide(k, k.g["w"]), k.c("1.0", k.shape["w"])), k.c("1.0", k.shape["w"]), k.c("0.0", k.shape["w"]))))
metric(WRONG, "the scaled gradient's norm plus the loss", lambda k: k.add(k.norm(wide(k, k.g["w"])), k.loss))
metric(RIGHT, "the largest of norms over the scale, and the loss", lambda k: k.max(k.div(k.norm(wide(k, k.g["w"])), k.s), k.loss))


# Averages of parameters.
def average(where, name, role, guarded, decay, **options):
    def change(k):
        def finish():
            a = k.state("ew", k.shape["w"], role, "zeros")
            new = k.add(k.mul(a, decay(k)), k.mul(k.updates["w"], k.sub(k.c("1.0"), decay(k))))
            k.updates["ew"] = k.tselect(k.ok, new, a) if guarded else new
        k.finish = finish
    where.append((name, change, options))


average(RIGHT, "an average of parameters as a model state", "model_state", False, lambda k: k.c("0.99"))
average(RIGHT, "an average of parameters as an optimizer state in a choice", "optimizer_state", True, lambda k: k.c("0.99"))
average(WRONG, "an average of parameters with a decay by the scale", "model_state", False, lambda k: k.sub(k.c("1.0"), k.un("reciprocal", k.s)))
average(WRONG, "an average of parameters as an optimizer state in no choice", "optimizer_state", False, lambda k: k.c("0.99"))


# Noise, and gradients that are checked in part.
@kind(WRONG, "noise times the scale on unscaled gradients")
def _(k): k.unscaled = lambda: k.u.update({n: k.add(u, k.mul(k.c("0.01", k.shape[n]), k.s)) for n, u in k.u.items()})


@kind(RIGHT, "noise times the scale on scaled gradients")
def _(k): k.scaled = lambda: k.g.update({n: k.add(wide(k, g), k.mul(k.c("0.01", k.shape[n]), k.s)) for n, g in k.g.items()})


@kind(WRONG, "the gradient of one parameter checked, the other divided by hand", **plain, two=True)
def _(k):
    def unscale():
        (uw,), fw = k.unscale_by([k.g["w"]], k.s)
        k.u, k.flags, k.ok = {"w": uw, "b": k.div(wide(k, k.g["b"]), k.s)}, [fw], fw
    k.unscale = unscale


@kind(WRONG, "a second moment of the scaled gradient over the scale", opt="sgd")
def _(k):
    k.optimizer_state = lambda: k.__dict__.update(O={"v" + n: k.state("v" + n, k.shape[n], "optimizer_state", "zeros") for n in k.names})

    def compute():
        new = {}
        for n in k.names:
            v = mix(k, k.O["v" + n], k.div(k.un("square", wide(k, k.g[n])), k.s), 0.9)
            new["v" + n], new[n] = v, down(k, n, k.div(k.u[n], k.add(k.un("sqrt", v), k.c("1.0e-6"))))
        return new
    k.compute = compute


@kind(WRONG, "a sum of the gradient of this step and the kept one of the last", opt="sgd")
def _(k):
    def update():
        for n in k.names:
            o = k.state("o" + n, k.shape[n], "optimizer_state", "zeros")
            k.updates["o" + n] = k.tselect(k.ok, wide(k, k.g[n]), o)
            k.updates[n] = k.tselect(k.ok, down(k, n, k.add(k.u[n], o)), k.P[n])
    k.update = update

