# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of wrong steps: an overflow reaches a state, or the scale does not see it."""

from wrong import WRONG, wrong
from builder import I1, I32, S, T
from stages import use_two_scales, wrapped


def guard(name, condition, **options):
    """The update is in a guard on `condition(k)`. The update of the scale is right."""
    def kind(k):
        def update():
            k.optimizer_state()
            k.updates.update(k.guarded(condition(k), k.compute))
        k.update = update
    WRONG.append((name, kind, options))


each = {"unscale": "each", "two": True}
guard("guarded by the negated flag", lambda k: k.no(k.ok))
guard("guarded by the flag doubly compared", lambda k: k.cmpi("eq", k.ok, k.no(k.true(k.ok))))
guard("guarded by a constant", lambda k: k.true(k.ok))
guard("guarded by a flag or true", lambda k: k.i("ori", k.ok, k.true(k.ok)))
guard("guarded by the first flag of two", lambda k: k.flags[0], **each)
guard("guarded by the last flag of two", lambda k: k.flags[1], **each)
guard("guarded by either flag", lambda k: k.i("ori", *k.flags), **each)
guard("guarded by the exclusive or of flags", lambda k: k.i("xori", *k.flags), **each)
guard("guarded by equal flags", lambda k: k.cmpi("eq", *k.flags), **each)
guard("guarded by the nand of flags", lambda k: k.no(k.both(*k.flags)), **each)
guard("guarded by De Morgan done wrong", lambda k: k.no(k.both(k.no(k.flags[0]), k.no(k.flags[1]))), **each)
guard("guarded by implication", lambda k: k.i("ori", k.no(k.flags[0]), k.flags[1]), **each)
guard("guarded by unsigned order of flags", lambda k: k.cmpi("uge", k.flags[0], k.flags[1]), **each)
guard("guarded by a count above 0", lambda k: k.flag(k.cmpi("sgt", count(k), k.ci(0, "i32"))), **each)
guard("guarded by a count that is not 1", lambda k: k.flag(k.cmpi("ne", count(k), k.ci(1, "i32"))), **each)
guard("guarded by a mean above a third", lambda k: k.compare("gt", mean(k), k.c("0.34")), **each)
guard("guarded by a choice of flags", lambda k: k.flag(k.choose(k.bit(k.compare("gt", k.lr, k.c("0.01"))), k.bit(k.flags[0]), k.bit(k.flags[1]))), **each)
guard("guarded by flag or small loss", lambda k: k.i("ori", k.ok, k.compare("lt", k.loss, k.c("1.0e3"))))
guard("guarded by the rate", lambda k: k.compare("gt", k.lr, k.c("0.0")))
guard("guarded by a finite loss", lambda k: k.compare("lt", k.un("abs", k.loss), k.c("1.0e30")))
guard("guarded by the scale", lambda k: k.compare("gt", k.s, k.c("1.0")))
guard("guarded by the flag of a part", lambda k: k.unscale_by([k.slice(k.reshape(k.g["w"], 12), 0, 3)], k.scale)[1])
guard("guarded by the flag of a sum over a row", lambda k: k.unscale_by([k.slice(k.reshape(k.g["w"], 12), 3, 9)], k.scale)[1])
guard("guarded by the flag of clamped gradients", lambda k: k.unscale_by([k.mul(k.min(k.max(k.g["w"], k.un("neg", k.s)), k.s), k.c("1.0"))], k.scale)[1])
guard("guarded by the flag of signs", lambda k: k.unscale_by([k.mul(k.un("sign", k.g["w"]), k.s)], k.scale)[1])
guard("guarded by the flag of zeroed gradients", lambda k: k.unscale_by(
    [k.tselect(k.compare("lt", k.un("abs", k.g["w"]), k.mul(k.s, k.c("1.0e9", k.shape["w"]))), k.g["w"], k.c("0.0", k.shape["w"]))], k.scale)[1])
guard("guarded by the flag of the seed", lambda k: k.unscale_by([k.ds], k.scale)[1])
guard("guarded by a flag in an inner branch alone", lambda k: k.flag(k.when(
    k.bit(k.compare("gt", k.loss, k.c("1.0"))), lambda: [k.bit(k.ok)], lambda: [k.ci("true")])[0]))
guard("guarded by a flag that a loop forgets", lambda k: k.flag(k.loop(2, [k.bit(k.ok)], lambda i, c: [k.ci("true")])[0]))
guard("guarded by a flag that a loop ors", lambda k: k.flag(k.loop(2, [k.ci("false")], lambda i, c: [k.i("ori", c[0], k.bit(k.flags[0]))])[0]), **each)
guard("guarded by a flag that a loop negates once", lambda k: k.flag(k.loop(1, [k.bit(k.ok)], lambda i, c: [k.no(c[0])])[0]))


def count(k):
    wide = [k.raw("arith.extui {0} : i1 to {r}", "i32", k.bit(f)) for f in k.flags]
    return k.i("addi", *wide)


def mean(k):
    wide = [k.raw("arith.uitofp {0} : {t0} to {r}", S, f) for f in k.flags]
    return k.mul(k.add(*wide), k.c("0.5"))


@wrong("a flag of the last step guards")
def _(k):
    def update():
        k.optimizer_state()
        old = k.state("before", S, "scaler_state", "ones")
        k.updates["before"] = k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok)
        k.updates.update(k.guarded(k.compare("gt", old, k.c("0.5")), k.compute))
    k.update = update


@wrong("no guard")
def _(k):
    def update():
        k.optimizer_state()
        k.updates.update(k.compute())
    k.update = update


def partly(name, keys, **options):
    """All but `keys` are guarded."""
    def kind(k):
        def update():
            k.optimizer_state()
            new = k.compute()
            bit = k.bit(k.ok)
            k.updates.update({n: v if n in keys else k.choose(bit, v, "%" + n) for n, v in new.items()})
        k.update = update
    WRONG.append((name, kind, options))


partly("a bias outside of the guard", ["b"], two=True)
partly("a weight outside of the guard", ["w"])
partly("momentum outside of the guard", ["mw"], opt="momentum")
partly("the first moment outside of the guard", ["mw", "mb"], opt="adam")
partly("the second moment outside of the guard", ["vw"], opt="adam")
partly("a step count outside of the guard", ["t"], opt="adam")


def otherwise(name, f, **options):
    """A skipped step returns f(k, new, name) for a parameter."""
    def kind(k):
        def update():
            k.optimizer_state()
            new = k.compute()
            bit = k.bit(k.ok)
            k.updates.update({n: k.choose(bit, v, f(k, v, n) if n in k.names else "%" + n) for n, v in new.items()})
        k.update = update
    WRONG.append((name, kind, options))


otherwise("a skipped step resets to zero", lambda k, v, n: k.c("0.0", k.shape[n]))
otherwise("a skipped step decays", lambda k, v, n: k.mul(k.P[n], k.c("0.5")))
otherwise("a skipped step negates", lambda k, v, n: k.un("neg", k.P[n]))
otherwise("a skipped step takes the new value", lambda k, v, n: v)
otherwise("a skipped step steps by the gradient anyway", lambda k, v, n: k.sub(k.P[n], k.u[n]))
otherwise("a skipped step halves old and new", lambda k, v, n: k.mul(k.add(v, k.P[n]), k.c("0.5")))


@wrong("the new value where the flag is not set")
def _(k):
    def update():
        k.optimizer_state()
        new = k.compute()
        bit = k.bit(k.ok)
        k.updates.update({n: k.choose(bit, "%" + n, v) for n, v in new.items()})
    k.update = update


@wrong("old values exchanged in a skipped step", two=False, opt="momentum")
def _(k):
    def update():
        k.optimizer_state()
        new = k.compute()
        bit = k.bit(k.ok)
        k.updates.update({"w": k.choose(bit, new["w"], "%mw"), "mw": k.choose(bit, new["mw"], "%w")})
    k.update = update


@wrong("gradients multiplied by the flag")
def _(k):
    def compute():
        f = k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok)
        return k.step({n: k.mul(u, f) for n, u in k.u.items()})

    def update():
        k.optimizer_state()
        k.updates.update(compute())
    k.update = update


@wrong("a rate of zero in a skipped step")
def _(k):
    def update():
        k.optimizer_state()
        k.updates.update(k.step(k.u, k.tselect(k.ok, k.lr, k.c("0.0"))))
    k.update = update


@wrong("gradients zeroed in a skipped step with momentum", opt="momentum")
def _(k):
    def update():
        k.optimizer_state()
        k.updates.update(k.step({n: k.tselect(k.ok, u, k.c("0.0", k.shape[n])) for n, u in k.u.items()}))
    k.update = update


@wrong("gradients zeroed in a skipped step with Adam", opt="adam")
def _(k):
    def update():
        k.optimizer_state()
        k.updates.update(k.step({n: k.tselect(k.ok, u, k.c("0.0", k.shape[n])) for n, u in k.u.items()}))
    k.update = update


@wrong("gradients zeroed in a skipped step with decay", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        k.updates.update({n: k.op("train.sgd", [k.P[n], k.tselect(k.ok, u, k.c("0.0", k.shape[n])), k.lr], k.shape[n],
                                  attrs="weight_decay = 0.1 : f64") for n, u in k.u.items()})
    k.update = update


@wrong("a blend of old and new by the flag", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        f = k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok)
        rest = k.sub(k.c("1.0"), f)
        k.updates.update({n: k.add(k.mul(v, f), k.mul(k.P[n], rest)) for n, v in k.compute().items()})
    k.update = update


@wrong("the guarded update applied again outside", opt="sgd")
def _(k):
    def update():
        type(k).update(k)
        k.updates["w"] = k.sub(k.updates["w"], k.mul(k.lr, k.u["w"]))
    k.update = update


@wrong("inner guard on one flag, outer on none", **each, opt="sgd")
def _(k):
    def update():
        k.optimizer_state()

        def inner():
            new = k.compute()
            return list(new.values())
        a = k.when(k.bit(k.flags[0]), lambda: k.when(k.bit(k.flags[1]), inner, lambda: list(k.P.values())), inner)
        k.updates.update(dict(zip(k.names, a)))
    k.update = update


@wrong("a count of steps by hand outside of the guard")
def _(k):
    def update():
        type(k).update(k)
        n = k.state("n", I32, "optimizer_state", "zeros")
        k.updates["n"] = k.i("addi", n, k.ci("1", I32))
    k.update = update


@wrong("a count that a skipped step lowers")
def _(k):
    def update():
        type(k).update(k)
        n = k.state("n", S, "optimizer_state", "zeros")
        k.updates["n"] = k.tselect(k.ok, k.add(n, k.c("1.0")), k.sub(n, k.c("1.0")))
    k.update = update


@wrong("a count of all steps in floats")
def _(k):
    def update():
        type(k).update(k)
        n = k.state("n", S, "optimizer_state", "zeros")
        f = k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok)
        k.updates["n"] = k.add(k.add(n, f), k.c("1.0"))
    k.update = update


@wrong("a count of skipped steps as an optimizer state")
def _(k):
    def update():
        type(k).update(k)
        n = k.state("n", S, "optimizer_state", "zeros")
        f = k.raw("arith.uitofp {0} : {t0} to {r}", S, k.no(k.ok))
        k.updates["n"] = k.add(n, f)
    k.update = update


@wrong("an average of weights that reads unguarded ones", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        new = k.compute()
        bit = k.bit(k.ok)
        k.updates.update({n: k.choose(bit, v, "%" + n) for n, v in new.items()})
        e = k.state("e", T(4, 3), "optimizer_state", "copy_of, source = \"w\"")
        k.updates["e"] = k.add(k.mul(e, k.c("0.9")), k.mul(new["w"], k.c("0.1")))
    k.update = update


@wrong("a low copy of unguarded weights", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        new = k.compute()
        bit = k.bit(k.ok)
        k.updates.update({n: k.choose(bit, v, "%" + n) for n, v in new.items()})
        k.state("low", T(4, 3, e="f16"), "parameter", "copy_of, source = \"w\"")
        k.updates["low"] = k.raw("amp.master_copy {0} : {t0} to {r}", T(4, 3, e="f16"), new["w"])
    k.update = update


@wrong("a metric of unguarded new weights decides the update", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        new = k.compute()
        small = k.compare("lt", k.norm(new["w"]), k.c("1.0e3"))
        k.updates.update({n: k.tselect(k.no(k.compare("gt", k.norm(new["w"]), k.c("1.0e3"))), v, "%" + n) for n, v in new.items()})
        assert small
    k.update = update


# -- Uses after the check. --

def after(name, f, **options):
    def kind(k):
        def unscaled():
            k.u = {n: f(k, u, n) for n, u in k.u.items()}
        k.unscaled = unscaled
    WRONG.append((name, kind, options))


after("divided by zero after the check", lambda k, u, n: k.div(u, k.c("0.0")))
after("narrowed to f16 after a growth by 1e8", lambda k, u, n: k.cast(k.cast(k.mul(u, k.c("1.0e8")), "f16"), "f32"))
after("divided by a difference with itself", lambda k, u, n: k.div(u, k.sub(u, u)))
after("exponential of large values after the check", lambda k, u, n: k.un("exp", k.mul(u, k.c("1.0e4"))))


# -- Updates of the scale. --

def scale_flag(name, f, **options):
    """The scale is updated on f(k) in place of the conjunction."""
    def kind(k):
        def scaler():
            trackers = k.scaler_trackers()
            out = k.update_scale(k.s, trackers, f(k))
            k.updates.update({"loss_scale": out[0], "growth_tracker": out[1], "hysteresis_tracker": out[2]})
        k.scaler = scaler
    WRONG.append((name, kind, options))


scale_flag("the scale updated on the negated flag", lambda k: k.no(k.ok))
scale_flag("the scale updated on true", lambda k: k.true(k.ok))
scale_flag("the scale updated on false", lambda k: k.no(k.true(k.ok)))
scale_flag("the scale updated on the first flag", lambda k: k.flags[0], **each)
scale_flag("the scale updated on the last flag", lambda k: k.flags[1], **each)
scale_flag("the scale updated on either flag", lambda k: k.i("ori", *k.flags), **each)
scale_flag("the scale updated on equal flags", lambda k: k.cmpi("eq", *k.flags), **each)
scale_flag("the scale updated on a part's flag", lambda k: k.unscale_by([k.slice(k.reshape(k.g["w"], 12), 0, 2)], k.scale)[1])
scale_flag("the scale updated on a finite loss", lambda k: k.compare("lt", k.loss, k.c("1.0e30")))
scale_flag("the scale updated on the flag of unscaled gradients again", lambda k: k.compare("lt", k.loss, k.c("1.0e9")))
scale_flag("the scale updated on a comparison of the rate", lambda k: k.compare("gt", k.lr, k.c("0.0")))


def returned(name, f, **options):
    def kind(k):
        def scaler():
            trackers = k.scaler_trackers()
            out = k.update_scale(k.s, trackers, k.ok)
            values = f(k, out, trackers)
            k.updates.update(dict(zip(["loss_scale", "growth_tracker", "hysteresis_tracker"], values)))
        k.scaler = scaler
    WRONG.append((name, kind, {**options, "oracle": "scaler"}))


returned("the old growth tracker returned", lambda k, o, t: [o[0], t[0], o[2]])
returned("the old hysteresis tracker returned", lambda k, o, t: [o[0], o[1], t[1]])
returned("the trackers exchanged", lambda k, o, t: [o[0], o[2], o[1]])
returned("the growth tracker reset", lambda k, o, t: [o[0], k.ci("0", I32), o[2]])
returned("the hysteresis tracker set", lambda k, o, t: [o[0], o[1], k.ci("5", I32)])
returned("the growth tracker for both", lambda k, o, t: [o[0], o[1], o[1]])
returned("one more than the growth tracker", lambda k, o, t: [o[0], k.i("addi", o[1], k.ci("1", I32)), o[2]])
returned("the new scale halved", lambda k, o, t: [k.mul(o[0], k.c("0.5")), o[1], o[2]])
returned("the new scale doubled", lambda k, o, t: [k.mul(o[0], k.c("2.0")), o[1], o[2]])
returned("the new scale negated", lambda k, o, t: [k.un("neg", o[0]), o[1], o[2]])
returned("the new scale only where finite", lambda k, o, t: [k.tselect(k.ok, o[0], k.s), o[1], o[2]])
returned("the larger of old and new scale", lambda k, o, t: [k.max(o[0], k.s), o[1], o[2]])
returned("the tracker kept where not finite", lambda k, o, t: [o[0], k.choose(k.bit(k.ok), o[1], t[0]), o[2]])
returned("the scale updated a second time", lambda k, o, t: k.update_scale(o[0], [o[1], o[2]], k.ok))
returned("a mean of old and new scale on overflow", lambda k, o, t: [k.tselect(k.ok, o[0], k.mul(k.s, k.c("1.5"))), o[1], o[2]])


@wrong("the new scale unscales")
def _(k):
    def unscale():
        probe, flag = k.unscale_by([k.g[n] for n in k.names], k.scale)
        k.trackers = k.scaler_trackers()
        out = k.update_scale(k.s, k.trackers, flag)
        k.updates.update({"loss_scale": out[0], "growth_tracker": out[1], "hysteresis_tracker": out[2]})
        values, k.ok = k.unscale_by([k.g[n] for n in k.names], out[0])
        k.u = dict(zip(k.names, values))
    k.unscale, k.scaler = unscale, lambda: None


@wrong("the scale updated for each micro-batch")
def _(k):
    def scaler():
        trackers = k.scaler_trackers()
        out = k.loop(4, [k.s, *trackers], lambda i, c: k.update_scale(c[0], c[1:], k.ok))
        k.updates.update({"loss_scale": out[0], "growth_tracker": out[1], "hysteresis_tracker": out[2]})
    k.scaler = scaler


@wrong("the scale updated in the guard")
def _(k):
    def scaler():
        trackers = k.scaler_trackers()
        out = k.when(k.bit(k.ok), lambda: k.update_scale(k.s, trackers, k.ok), lambda: [k.s, *trackers])
        k.updates.update({"loss_scale": out[0], "growth_tracker": out[1], "hysteresis_tracker": out[2]})
    k.scaler = scaler


def hand(name, f, **options):
    """The new scale is f(k); it has no trackers."""
    def kind(k):
        def scaler():
            k.updates["loss_scale"] = f(k)
        k.scaler = scaler
    WRONG.append((name, kind, options))


hand("by hand: halved on clean steps", lambda k: k.tselect(k.ok, k.mul(k.s, k.c("0.5")), k.s))
hand("by hand: doubled on overflow", lambda k: k.tselect(k.ok, k.s, k.mul(k.s, k.c("2.0"))))
hand("by hand: always halved", lambda k: k.mul(k.s, k.c("0.5")))
hand("by hand: always doubled", lambda k: k.mul(k.s, k.c("2.0")))
hand("by hand: zero on overflow", lambda k: k.tselect(k.ok, k.s, k.c("0.0")))
hand("by hand: negative on overflow", lambda k: k.tselect(k.ok, k.s, k.un("neg", k.s)))
hand("by hand: less a constant", lambda k: k.tselect(k.ok, k.s, k.sub(k.s, k.c("1000.0"))))
hand("by hand: kept on overflow and doubled when clean", lambda k: k.tselect(k.ok, k.mul(k.s, k.c("2.0")), k.s))
hand("by hand: branches exchanged", lambda k: k.tselect(k.ok, k.mul(k.s, k.c("0.5")), k.mul(k.s, k.c("2.0"))))
hand("by hand: a large constant on overflow", lambda k: k.tselect(k.ok, k.s, k.c("1.0e30")))
hand("by hand: divided by the flag", lambda k: k.div(k.s, k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok)))
hand("by hand: times the flag", lambda k: k.mul(k.s, k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok)))
hand("by hand: squared when clean", lambda k: k.tselect(k.ok, k.mul(k.s, k.s), k.mul(k.s, k.c("0.5"))))
hand("by hand: backoff above 1", lambda k: k.tselect(k.ok, k.s, k.mul(k.s, k.c("1.001"))))
hand("by hand: floor above the scale", lambda k: k.max(k.tselect(k.ok, k.s, k.mul(k.s, k.c("0.5"))), k.s))
hand("by hand: times a negative constant", lambda k: k.tselect(k.ok, k.s, k.mul(k.s, k.c("-0.5"))))
hand("by hand: halved if the first flag fails", lambda k: k.tselect(k.flags[0], k.s, k.mul(k.s, k.c("0.5"))), **each)
hand("by hand: halved if both flags fail", lambda k: k.tselect(k.i("ori", *k.flags), k.s, k.mul(k.s, k.c("0.5"))), **each)
hand("by hand: follows the loss", lambda k: k.tselect(k.ok, k.s, k.mul(k.s, k.loss)))
hand("by hand: infinite growth", lambda k: k.tselect(k.ok, k.div(k.s, k.c("0.0")), k.mul(k.s, k.c("0.5"))))
hand("by hand: root of the scale when clean", lambda k: k.tselect(k.ok, k.un("sqrt", k.s), k.mul(k.s, k.c("0.5"))))


@wrong("seed in f16 overflows at the default scale", low="f16")
def _(k):
    def seed():
        k.scale = k.scale_of()
        k.args = [(n, t, r, "constant, value = 65536.0" if n == "loss_scale" else i) for n, t, r, i in k.args]
        k.ds = k.cast(k.cast(k.scale_seed(k.scale), "f16"), "f32")
    k.seed = seed


# -- Two optimizers and two scales. --

def two_optimizers(k, guard_b, scale_b=None, scale_flag=None):
    def update():
        k.optimizer_state()
        k.args = [(n, t, r, i) for n, t, r, i in k.args]
        k.updates["w"] = k.guarded(k.flags[0], lambda: {"w": k.sub(k.P["w"], k.mul(k.lr, k.u["w"]))})["w"]
        k.updates["b"] = k.guarded(guard_b(k), lambda: {"b": k.sub(k.P["b"], k.mul(k.lr, k.u["b"]))})["b"]
    k.update = update


@wrong("two optimizers, guards exchanged", **each, opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        for n, f in zip(("w", "b"), reversed(k.flags)):
            k.updates.update(k.guarded(f, lambda: {n: k.sub(k.P[n], k.mul(k.lr, k.u[n]))}))
    k.update = update


@wrong("two optimizers, one guard", **each, opt="sgd")
def _(k):
    two_optimizers(k, lambda k: k.flags[0])


@wrong("the update of one reads the other's gradient", **each, opt="sgd")
def _(k):
    def unscaled():
        k.u["b"] = k.add(k.u["b"], k.sum(k.u["w"]))
    k.unscaled = unscaled
    two_optimizers(k, lambda k: k.flags[1])


def two_scales(name, f, **options):
    def kind(k):
        use_two_scales(k)
        f(k)
    WRONG.append((name, kind, {"two": True, "call": False, **options}))


def swapped_unscale(k):
    def unscale():
        (a,), fa = k.unscale_by([k.g["w"]], k.s2)
        (b,), fb = k.unscale_by([k.g["b"]], k.s)
        k.u, k.flags, k.ok = {"w": a, "b": b}, [fa, fb], k.both(fa, fb)
    k.unscale = unscale


def one_unscale(k):
    def unscale():
        out, flag = k.unscale_by([k.g["w"], k.g["b"]], k.s)
        k.u, k.flags, k.ok = dict(zip("wb", out)), [flag, flag], flag
    k.unscale = unscale


def swap(a, b):
    def f(k):
        k.updates[a], k.updates[b] = k.updates[b], k.updates[a]
    return f


two_scales("two scales exchanged in unscale", swapped_unscale)
two_scales("two scales, one unscale", one_unscale)
two_scales("two scales exchanged in their update", wrapped("scaler", swap("loss_scale", "other")), oracle="scaler")
two_scales("growth trackers of two scales exchanged", wrapped("scaler", swap("growth_tracker", "growth_tracker_b")), oracle="scaler")
two_scales("hysteresis trackers of two scales exchanged", wrapped("scaler", swap("hysteresis_tracker", "hysteresis_tracker_b")), oracle="scaler")
two_scales("gradients of two scales added", wrapped("backward", lambda k: k.g.update(w=k.add(k.g["w"], k.g["b"]))))
two_scales("rescaled the wrong way", wrapped("backward", lambda k: k.g.update(
    w=k.add(k.g["w"], k.raw("amp.rescale {0} from {1} to {2} : {t0}", T(3), k.g["b"], k.s, k.s2)))))
two_scales("rescaled to a third value", wrapped("backward", lambda k: k.g.update(
    w=k.add(k.g["w"], k.raw("amp.rescale {0} from {1} to {2} : {t0}", T(3), k.g["b"], k.s2, k.lr)))))
two_scales("rescaled by hand the wrong way", wrapped("backward", lambda k: k.g.update(
    w=k.add(k.g["w"], k.mul(k.g["b"], k.div(k.s2, k.s))))))
two_scales("ratio of two scales left in", wrapped("unscale", lambda k: k.u.update(w=k.mul(k.u["w"], k.div(k.s, k.s2)))))
two_scales("flags of two scales exchanged", wrapped("unscale", lambda k: k.flags.reverse()))
