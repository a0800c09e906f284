# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of training steps whose loss scaling is right."""

from builder import Builder, I1, I32, S, T, text  # noqa: F401
from stages import update_two_scales, use_two_scales, wrapped

RIGHT = []


def right(name, **options):
    def add(f):
        RIGHT.append((name, f, options))
        return f
    return add


def on_scaled(name, f, **options):
    def kind(k):
        def scaled():
            k.g = {n: f(k, g, n) for n, g in k.g.items()}
        k.scaled = scaled
    RIGHT.append((name, kind, options))


def on_unscaled(name, f, **options):
    def kind(k):
        def unscaled():
            k.u = {n: f(k, u, n) for n, u in k.u.items()}
        k.unscaled = unscaled
    RIGHT.append((name, kind, options))


each = {"unscale": "each", "two": True}
right("plain")(lambda k: None)

# -- Functions of scaled gradients that carry the scale through. --

on_scaled("halved", lambda k, g, n: k.mul(g, k.c("0.5")))
on_scaled("a constant times the scale added", lambda k, g, n: k.add(g, k.mul(k.c("0.5", k.shape[n]), k.s)))
on_scaled("decay times the scale added", lambda k, g, n: k.add(g, k.mul(k.mul(k.P[n], k.c("0.1")), k.s)))
on_scaled("clamped to bounds times the scale", lambda k, g, n: k.max(k.min(g, k.s), k.un("neg", k.s)))
on_scaled("clipped by a norm times the scale", lambda k, g, n: k.mul(g, k.min(k.c("1.0"), k.div(k.s, k.norm(g)))))
on_scaled("clipped by a compare with the scale",
          lambda k, g, n: k.tselect(k.compare("gt", k.norm(g), k.s), k.mul(k.div(g, k.norm(g)), k.s), g))
on_scaled("small elements zeroed relative to the largest", lambda k, g, n: k.tselect(
    k.compare("ge", k.un("abs", g), k.mul(k.maxabs(g), k.c("0.1", k.shape[n]))), g, k.c("0.0", k.shape[n])))
on_scaled("centred", lambda k, g, n: k.sub(g, k.mul(k.sum(g), k.c("0.05"))))
on_scaled("sign and magnitude", lambda k, g, n: k.mul(k.un("sign", g), k.un("abs", g)))
on_scaled("root of the square", lambda k, g, n: k.un("sqrt", k.un("square", g)))
on_scaled("square over the norm", lambda k, g, n: k.div(k.un("square", g), k.norm(g)))
on_scaled("positive part", lambda k, g, n: k.un("relu", g))
on_scaled("minimum with zero", lambda k, g, n: k.min(g, k.c("0.0")))
on_scaled("divided and multiplied by the scale", lambda k, g, n: k.mul(k.div(g, k.s), k.s))
on_scaled("normalised and multiplied by the scale", lambda k, g, n: k.mul(k.div(g, k.norm(g)), k.s))
on_scaled("a loop that halves", lambda k, g, n: k.loop(3, [g], lambda i, c: [k.mul(c[0], k.c("0.5"))])[0])
on_scaled("a loop that starts at zero", lambda k, g, n: k.loop(3, [k.c("0.0", k.shape[n])], lambda i, c: [k.add(c[0], g)])[0])
on_scaled("a while loop that starts at zero",
          lambda k, g, n: k.loop_while(3, [k.c("0.0", k.shape[n])], lambda i, c: [k.add(c[0], g)])[0])
on_scaled("a loop that exchanges two gradients", lambda k, g, n: k.loop(1, [g, k.mul(g, k.c("2.0"))], lambda i, c: [c[1], c[0]])[0])
on_scaled("a branch that halves", lambda k, g, n: k.when(
    k.bit(k.compare("gt", k.lr, k.c("1.0e-3"))), lambda: [k.mul(g, k.c("0.5"))], lambda: [g])[0])
on_scaled("a branch on the norm against the scale", lambda k, g, n: k.when(
    k.bit(k.compare("gt", k.norm(g), k.s)), lambda: [k.mul(g, k.c("0.5"))], lambda: [g])[0])
on_scaled("a branch that gives zeros", lambda k, g, n: k.when(
    k.bit(k.compare("gt", k.lr, k.c("1.0e-3"))), lambda: [g], lambda: [k.c("0.0", k.shape[n])])[0])
on_scaled("reshaped there and back", lambda k, g, n: k.reshape(k.reshape(g, 12 if n == "w" else 3), *k.shape[n][0]))
on_scaled("masked by the parameter's sign", lambda k, g, n: k.mul(g, k.un("sign", k.P[n])))
on_scaled("masked by a comparison of the parameter", lambda k, g, n: k.tselect(
    k.compare("gt", k.P[n], k.c("0.0", k.shape[n])), g, k.c("0.0", k.shape[n])))
on_scaled("times the rate", lambda k, g, n: k.mul(g, k.lr))
on_scaled("times the loss", lambda k, g, n: k.mul(g, k.loss))
on_scaled("narrowed to f16 and widened", lambda k, g, n: k.cast(k.cast(g, "f16"), "f32"))
on_scaled("softmax weights of the parameter", lambda k, g, n: k.mul(g, k.un("softmax", k.P[n], f"axis = {len(k.shape[n][0]) - 1} : i64")))
on_scaled("cosine of gradient and parameter times the gradient", lambda k, g, n: k.mul(
    g, k.div(k.dot(g, k.P[n]), k.mul(k.norm(g), k.norm(k.P[n])))))
on_scaled("component along the parameter removed", lambda k, g, n: k.sub(g, k.mul(k.P[n], k.div(k.dot(g, k.P[n]), k.dot(k.P[n], k.P[n])))))
on_scaled("scaled by the ratio of two of its norms", lambda k, g, n: k.mul(g, k.div(k.maxabs(g), k.norm(g))))
on_scaled("the tanh of a ratio times the norm", lambda k, g, n: k.mul(k.un("tanh", k.div(g, k.norm(g))), k.norm(g)))
on_scaled("a padded gradient", lambda k, g, n: k.add(g, k.op("train.pad", [k.slice(k.reshape(g, 12 if n == "w" else 3), 0, 2)], T(3), attrs="value = 0.0 : f64, low = array<i64: 0>, high = array<i64: 1>, interior = array<i64: 0>")))
on_scaled("a running sum", lambda k, g, n: k.op("train.cumsum", [g], k.shape[n], attrs="axis = 0 : i64"))

# -- Functions of unscaled gradients. --

on_unscaled("clipped by value", lambda k, u, n: k.un("clip", u, "min = -1.0 : f64, max = 1.0 : f64"))
on_unscaled("clipped by a norm by hand", lambda k, u, n: k.mul(u, k.min(k.c("1.0"), k.div(k.c("0.5"), k.norm(u)))))
on_unscaled("decay", lambda k, u, n: k.add(u, k.mul(k.P[n], k.c("0.1"))))
on_unscaled("noise", lambda k, u, n: k.add(u, k.c("0.01", k.shape[n])))
on_unscaled("tanh", lambda k, u, n: k.un("tanh", u))
on_unscaled("normalised with an epsilon", lambda k, u, n: k.div(u, k.add(k.norm(u), k.c("1.0e-3"))))
on_unscaled("sign", lambda k, u, n: k.un("sign", u))
on_unscaled("sign of the scaled one", lambda k, u, n: k.un("sign", k.g[n]))
on_unscaled("sign of the scaled one times its own size", lambda k, u, n: k.mul(k.un("sign", k.g[n]), k.un("abs", u)))
on_unscaled("multiplied and divided by the scale", lambda k, u, n: k.div(k.mul(u, k.s), k.s))
on_unscaled("trust ratio", lambda k, u, n: k.mul(u, k.div(k.norm(k.P[n]), k.add(k.norm(u), k.c("1.0e-3")))))
on_unscaled("trust ratio of the scaled norm", lambda k, u, n: k.mul(k.div(k.g[n], k.max(k.norm(k.g[n]), k.mul(k.s, k.c("1.0e-6")))), k.norm(k.P[n])))
on_unscaled("choice by the size of scaled gradients", lambda k, u, n: k.tselect(
    k.compare("gt", k.un("abs", k.g[n]), k.s), k.un("sign", u), u))
on_unscaled("quantised by its largest element", lambda k, u, n: k.mul(k.maxabs(u), k.un("sign", u)))
on_unscaled("by hand in place of the operation", lambda k, u, n: k.div(k.g[n], k.s))
on_unscaled("by hand with the inverse", lambda k, u, n: k.mul(k.g[n], k.un("reciprocal", k.s)))
on_unscaled("by hand with two roots", lambda k, u, n: k.div(k.div(k.g[n], k.un("sqrt", k.s)), k.un("sqrt", k.s)))
on_unscaled("by hand with a power", lambda k, u, n: k.mul(k.g[n], k.bin("pow", k.s, k.c("-1.0"))))
on_unscaled("by hand with a quotient of constants", lambda k, u, n: k.mul(k.g[n], k.div(k.c("1.0"), k.s)))


@right("clip by global norm")
def _(k):
    def unscaled():
        names = list(k.u)
        out = k.op("train.clip_by_global_norm", [k.u[n] for n in names], *[k.shape[n] for n in names], S, attrs="max_norm = 1.0 : f64")
        k.u = dict(zip(names, out))
        k.metrics["norm"] = out[-1]
    k.unscaled = unscaled


def metric(name, f, **options):
    def kind(k):
        def finish():
            k.metrics["extra"] = f(k)
        k.finish = finish
    RIGHT.append((name, kind, options))


metric("metric: the norm of unscaled gradients", lambda k: k.norm(k.u["w"]))
metric("metric: the norm of scaled gradients over the scale", lambda k: k.div(k.norm(k.g["w"]), k.s))
metric("metric: the scale", lambda k: k.s)
metric("metric: the logarithm of the scale", lambda k: k.un("log", k.s))
metric("metric: the inverse of the scale", lambda k: k.un("reciprocal", k.s))
metric("metric: the square of the scale", lambda k: k.un("square", k.s))
metric("metric: the ratio of scaled norms", lambda k: k.div(k.maxabs(k.g["w"]), k.norm(k.g["w"])))
metric("metric: the flag", lambda k: k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok))
metric("metric: the new scale", lambda k: k.updates["loss_scale"])
metric("metric: the growth of the scale", lambda k: k.div(k.updates["loss_scale"], k.s))
metric("metric: cosine of scaled gradient and weight", lambda k: k.div(k.dot(k.g["w"], k.P["w"]), k.mul(k.norm(k.g["w"]), k.norm(k.P["w"]))))
metric("metric: share of large scaled gradients", lambda k: k.sum(k.tselect(
    k.compare("gt", k.un("abs", k.g["w"]), k.s), k.c("1.0", T(4, 3)), k.c("0.0", T(4, 3)))))
metric("metric: the logarithm of the unscaled norm", lambda k: k.un("log", k.norm(k.u["w"])))
metric("metric: the scale in halves", lambda k: k.mul(k.s, k.c("0.5")))
metric("metric: skipped", lambda k: k.raw("arith.uitofp {0} : {t0} to {r}", S, k.no(k.ok)))


# -- Optimizers by hand. --

def optimizer(name, letters, f, **options):
    """`f(k, n, u)` gives the new values of the parameter and of the states by letter."""
    def kind(k):
        def optimizer_state():
            k.O = {c + n: k.state(c + n, k.shape[n], "optimizer_state", "zeros") for n in k.names for c in letters}

        def compute():
            new = {}
            for n in k.names:
                values = f(k, n, k.u[n])
                new.update({(c + n if c else n): v for c, v in values.items()})
            return new
        k.optimizer_state, k.compute = optimizer_state, compute
    RIGHT.append((name, kind, {"opt": "sgd", **options}))


def down(k, n, d): return k.sub(k.P[n], k.mul(k.lr, d))
def mix(k, old, new, beta): return k.add(k.mul(old, k.c(str(beta))), k.mul(new, k.c(str(round(1 - beta, 4)))))


def momentum(k, n, u):
    m = k.add(k.mul(k.O["m" + n], k.c("0.9")), u)
    return {"m": m, "": down(k, n, m)}


def nesterov(k, n, u):
    m = k.add(k.mul(k.O["m" + n], k.c("0.9")), u)
    return {"m": m, "": down(k, n, k.add(u, k.mul(m, k.c("0.9"))))}


def lion(k, n, u):
    return {"": down(k, n, k.un("sign", mix(k, k.O["m" + n], u, 0.9))), "m": mix(k, k.O["m" + n], u, 0.99)}


def adam(k, n, u):
    m, v = mix(k, k.O["m" + n], u, 0.9), mix(k, k.O["v" + n], k.un("square", u), 0.99)
    return {"m": m, "v": v, "": down(k, n, k.div(m, k.add(k.un("sqrt", v), k.c("1.0e-3"))))}


def adagrad(k, n, u):
    v = k.add(k.O["v" + n], k.un("square", u))
    return {"v": v, "": down(k, n, k.div(u, k.add(k.un("sqrt", v), k.c("1.0e-3"))))}


def rms(k, n, u):
    v = mix(k, k.O["v" + n], k.un("square", u), 0.9)
    return {"v": v, "": down(k, n, k.mul(u, k.un("rsqrt", k.add(v, k.c("1.0e-4")))))}


def amsgrad(k, n, u):
    v = mix(k, k.O["v" + n], k.un("square", u), 0.9)
    h = k.max(k.O["h" + n], v)
    return {"v": v, "h": h, "": down(k, n, k.div(u, k.add(k.un("sqrt", h), k.c("1.0e-3"))))}


def lookahead(k, n, u):
    fast = down(k, n, u)
    slow = mix(k, k.O["e" + n], fast, 0.5)
    return {"e": slow, "": mix(k, fast, slow, 0.5)}


def decoupled(k, n, u): return {"": k.sub(k.mul(k.P[n], k.c("0.99")), k.mul(k.lr, u))}


def accumulated(k, n, u):
    """Gradients of two steps; the second one applies them."""
    a = k.add(k.O["a" + n], u)
    due = k.compare("gt", k.norm(a), k.c("0.5"))
    bit = k.bit(due)
    return {"a": k.choose(bit, k.c("0.0", k.shape[n]), a), "": k.choose(bit, down(k, n, a), k.P[n])}


for title, letters, rule in (("momentum", "m", momentum), ("nesterov", "m", nesterov), ("lion", "m", lion), ("adam", "mv", adam),
                             ("adagrad", "v", adagrad), ("rmsprop", "v", rms), ("amsgrad", "vh", amsgrad), ("lookahead", "e", lookahead),
                             ("decoupled decay", "", decoupled), ("gradients accumulated over steps", "a", accumulated)):
    optimizer("by hand: " + title, letters, rule)
optimizer("by hand: sign of scaled gradients", "", lambda k, n, u: {"": down(k, n, k.un("sign", k.g[n]))})
optimizer("by hand: scaled gradients over their norm", "", lambda k, n, u: {
    "": down(k, n, k.div(k.g[n], k.max(k.norm(k.g[n]), k.mul(k.s, k.c("1.0e-6")))))})
optimizer("by hand: rate over scale", "", lambda k, n, u: {"": k.sub(k.P[n], k.mul(k.g[n], k.div(k.lr, k.s)))})
optimizer("by operation: rate over scale", "", lambda k, n, u: {
    "": k.op("train.sgd", [k.P[n], k.g[n], k.div(k.lr, k.s)], k.shape[n])})
optimizer("by operation: rate times the inverse of the scale", "", lambda k, n, u: {
    "": k.op("train.sgd", [k.P[n], k.g[n], k.mul(k.lr, k.un("reciprocal", k.s))], k.shape[n])})


@right("adamw by operation")
def _(k):
    def compute():
        new = {"t": k.add(k.O["t"], k.c("1.0"))}
        for n in k.names:
            new[n], new["m" + n], new["v" + n] = k.op("train.adamw", [k.P[n], k.u[n], k.lr, k.O["m" + n], k.O["v" + n], new["t"]],
                                                      *[k.shape[n]] * 3, attrs="weight_decay = 0.01 : f64")
        return new
    k.o["opt"] = "adam"
    k.compute = compute


# -- Guards. --

def guard(name, condition, **options):
    def kind(k):
        def update():
            k.optimizer_state()
            k.updates.update(k.guarded(condition(k), k.compute))
        k.update = update
    RIGHT.append((name, kind, options))


def count(k): return k.i("addi", *[k.raw("arith.extui {0} : i1 to {r}", "i32", k.bit(f)) for f in k.flags])


def floats(k): return [k.raw("arith.uitofp {0} : {t0} to {r}", S, f) for f in k.flags]


guard("guard: De Morgan", lambda k: k.no(k.i("ori", k.no(k.flags[0]), k.no(k.flags[1]))), **each)
guard("guard: negated twice", lambda k: k.no(k.no(k.ok)))
guard("guard: equal to true", lambda k: k.cmpi("eq", k.ok, k.true(k.ok)))
guard("guard: different from false", lambda k: k.cmpi("ne", k.ok, k.no(k.true(k.ok))))
guard("guard: compared as unsigned", lambda k: k.cmpi("uge", k.ok, k.true(k.ok)))
guard("guard: product of flags", lambda k: k.i("muli", *k.flags), **each)
guard("guard: minimum of flags", lambda k: k.i("minui", *k.flags), **each)
guard("guard: chosen", lambda k: k.flag(k.choose(k.bit(k.flags[0]), k.bit(k.flags[1]), k.ci("false"))), **each)
guard("guard: count equal to 2", lambda k: k.flag(k.cmpi("eq", count(k), k.ci(2, "i32"))), **each)
guard("guard: count above 1", lambda k: k.flag(k.cmpi("sgt", count(k), k.ci(1, "i32"))), **each)
guard("guard: mean of floats", lambda k: k.compare("ge", k.mul(k.add(*floats(k)), k.c("0.5")), k.c("1.0")), **each)
guard("guard: product of floats", lambda k: k.compare("gt", k.mul(*floats(k)), k.c("0.5")), **each)
guard("guard: minimum of floats", lambda k: k.compare("gt", k.min(*floats(k)), k.c("0.0")), **each)
guard("guard: stacked and reduced", lambda k: k.compare("gt", k.mul(k.sum(k.concat([k.reshape(f, 1) for f in floats(k)])), k.c("1.0")), k.c("1.5")), **each)
guard("guard: xor with true and or", lambda k: k.no(k.i("ori", *[k.no(f) for f in reversed(k.flags)])), **each)
guard("guard: xor of a pair with the or of the pair", lambda k: k.i("xori", k.i("ori", *k.flags), k.i("xori", *k.flags)), **each)
guard("guard: and a small loss", lambda k: k.both(k.ok, k.compare("lt", k.loss, k.c("1.0e3"))))
guard("guard: and a norm below a bound", lambda k: k.both(k.ok, k.compare("lt", k.norm(k.u["w"]), k.c("1.0e3"))))
guard("guard: the flag carried by a loop", lambda k: k.flag(k.loop(3, [k.ci("true")], lambda i, c: [k.both(c[0], k.bit(k.ok))])[0]))
guard("guard: the negated flag carried by a loop", lambda k: k.no(k.flag(k.loop(
    3, [k.ci("false")], lambda i, c: [k.i("ori", c[0], k.no(k.bit(k.ok)))])[0])))
guard("guard: the flag carried by a while loop", lambda k: k.flag(k.loop_while(3, [k.ci("true")], lambda i, c: [k.both(c[0], k.bit(k.ok))])[0]))
guard("guard: a branch gives the flag", lambda k: k.flag(k.when(k.bit(k.flags[0]), lambda: [k.bit(k.flags[1])], lambda: [k.ci("false")])[0]), **each)
guard("guard: flag as an index of bits", lambda k: k.flag(k.raw("arith.trunci {0} : i32 to {r}", "i1", k.i(
    "andi", *[k.raw("arith.extui {0} : i1 to {r}", "i32", k.bit(f)) for f in k.flags]))), **each)
guard("guard: a second check of the same gradient", lambda k: k.unscale_by([k.g[n] for n in k.names], k.scale)[1])
guard("guard: flags of both checks", lambda k: k.both(k.ok, k.unscale_by([k.g["w"]], k.scale)[1]))
guard("guard: strict check besides", lambda k: k.both(k.ok, k.unscale_by([k.g[n] for n in k.names], k.scale, True)[1]))


@right("guards nested", **each, opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        old = lambda: list(k.P.values())  # noqa: E731
        out = k.when(k.bit(k.flags[0]), lambda: k.when(k.bit(k.flags[1]), lambda: list(k.compute().values()), old), old)
        k.updates.update(dict(zip(k.names, out)))
    k.update = update


@right("guard negated, branches exchanged")
def _(k):
    def update():
        k.optimizer_state()
        new = k.compute()
        bit = k.bit(k.no(k.ok))
        k.updates.update({n: k.choose(bit, "%" + n, v) for n, v in new.items()})
    k.update = update


@right("each result has its own guard")
def _(k):
    def update():
        k.optimizer_state()
        for n, v in k.compute().items():
            k.updates.update(k.guarded(k.ok, lambda: {n: v}))
    k.update = update


@right("guarded twice")
def _(k):
    def update():
        type(k).update(k)
        for n in k.names:
            k.updates[n] = k.tselect(k.ok, k.updates[n], k.P[n])
    k.update = update


@right("gradients zeroed and the update without a state", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        k.updates.update(k.step({n: k.tselect(k.ok, u, k.c("0.0", k.shape[n])) for n, u in k.u.items()}))
    k.update = update


@right("the change of the parameter zeroed", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        zero = k.c("0.0")
        k.updates.update({n: k.add(k.P[n], k.tselect(k.ok, k.mul(k.un("neg", k.lr), u), zero)) for n, u in k.u.items()})
    k.update = update


def counter(name, f, role="optimizer_state", type_=S, **options):
    def kind(k):
        def update():
            type(k).update(k)
            n = k.state("n", type_, role, "zeros")
            k.updates["n"] = f(k, n)
        k.update = update
    RIGHT.append((name, kind, options))


counter("count plus the flag", lambda k, n: k.add(n, k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok)))
counter("count plus the flag in integers", lambda k, n: k.i("addi", n, k.raw("arith.extui {0} : {t0} to {r}", I32, k.ok)), type_=I32)
counter("count plus a choice of one and zero", lambda k, n: k.add(n, k.tselect(k.ok, k.c("1.0"), k.c("0.0"))))
counter("count chosen", lambda k, n: k.tselect(k.ok, k.add(n, k.c("1.0")), n))
counter("count less the negated flag plus one", lambda k, n: k.sub(k.add(n, k.c("1.0")), k.raw("arith.uitofp {0} : {t0} to {r}", S, k.no(k.ok))))
counter("count of skipped steps", lambda k, n: k.add(n, k.raw("arith.uitofp {0} : {t0} to {r}", S, k.no(k.ok))), role="scaler_state", type_=S)
counter("count of skipped steps in integers", lambda k, n: k.i("addi", n, k.raw("arith.extui {0} : {t0} to {r}", I32, k.no(k.ok))), role="scaler_state", type_=I32)
counter("an average of the new weight's norm as a model state", lambda k, n: k.add(k.mul(n, k.c("0.9")), k.norm(k.updates["w"])), role="model_state")
counter("an average of losses as a model state", lambda k, n: k.add(k.mul(n, k.c("0.9")), k.mul(k.loss, k.c("0.1"))), role="model_state")
counter("a count of all steps as a model state", lambda k, n: k.add(n, k.c("1.0")), role="model_state")


@right("average of weights in the guard", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        e = k.state("e", T(4, 3), "optimizer_state", 'copy_of, source = "w"')

        def compute():
            new = k.compute()
            return {**new, "e": mix(k, e, new["w"], 0.9)}
        k.updates.update(k.guarded(k.ok, compute))
    k.update = update


@right("average of weights behind the guard as a model state", opt="sgd")
def _(k):
    def update():
        type(k).update(k)
        e = k.state("e", T(4, 3), "model_state", 'copy_of, source = "w"')
        k.updates["e"] = mix(k, e, k.updates["w"], 0.9)
    k.update = update


@right("average of weights in a guard of its own", opt="sgd")
def _(k):
    def update():
        type(k).update(k)
        e = k.state("e", T(4, 3), "optimizer_state", 'copy_of, source = "w"')
        k.updates["e"] = k.tselect(k.ok, mix(k, e, k.updates["w"], 0.9), e)
    k.update = update


@right("low copy of guarded weights", opt="sgd")
def _(k):
    def update():
        type(k).update(k)
        k.state("low", T(4, 3, e="f16"), "parameter", 'copy_of, source = "w"')
        k.updates["low"] = k.raw("amp.master_copy {0} : {t0} to {r}", T(4, 3, e="f16"), k.updates["w"])
    k.update = update


# -- Micro-batches, several losses, flat buffers. --

def accumulate(name, loop, unscale_inside=False):
    def kind(k):
        def backward():
            initial = [k.c("0.0", k.shape[n]) for n in k.names]
            flag = [k.ci("true")] if unscale_inside else []
            extra = [k.c("0.0")]

            def one(i, carried):
                p = k.predict(k.x)
                loss = k.op("train.mse", [p, k.yl], S)
                g = k.gradient(k.xl, k.yl, p, k.ds)
                values = [g[n] for n in k.names]
                if unscale_inside:
                    values, ok = k.unscale_by(values, k.scale)
                out = [k.add(c, v) for c, v in zip(carried, values)]
                out.append(k.add(carried[len(k.names)], loss))
                if unscale_inside:
                    out.append(k.both(carried[-1], k.bit(ok)))
                return out
            out = (k.loop if loop == "for" else k.loop_while)(4, initial + extra + flag, one)
            k.g = dict(zip(k.names, out))
            k.metrics["loss"] = k.mul(out[len(k.names)], k.c("0.25"))
            if unscale_inside:
                def unscale():
                    k.u, k.ok = k.g, k.flag(out[-1])
                    k.flags = [k.ok]
                k.unscale = unscale
        k.backward = backward
    RIGHT.append((name, kind, {}))


accumulate("micro-batches in a loop, with their loss", "for")
accumulate("micro-batches in a while loop, with their loss", "while")
accumulate("micro-batches unscaled in a loop", "for", True)
accumulate("micro-batches unscaled in a while loop", "while", True)


def two_losses(name, combine, **options):
    def kind(k):
        def backward():
            type(k).backward(k)
            x2, y2 = k.state("x2", T(8, 4), "batch"), k.state("y2", T(8, 3), "batch")
            p2, yl2 = k.predict(x2), k.cast(y2, k.o["low"])
            g2 = k.gradient(k.cast(x2, k.o["low"]), yl2, p2, k.scale_seed(k.scale, "second"))
            k.g = {n: combine(k, k.g[n], g2[n]) for n in k.g}
        k.backward = backward
    RIGHT.append((name, kind, options))


two_losses("two losses added", lambda k, a, b: k.add(a, b))
two_losses("two losses projected", lambda k, a, b: k.sub(a, k.mul(b, k.div(k.dot(a, b), k.dot(b, b)))))
two_losses("two losses projected where they conflict", lambda k, a, b: k.tselect(
    k.compare("lt", k.dot(a, b), k.c("0.0")), k.sub(a, k.mul(b, k.div(k.dot(a, b), k.dot(b, b)))), a))
two_losses("two losses, the larger", lambda k, a, b: k.max(a, b))
two_losses("two losses weighted by norms", lambda k, a, b: k.add(a, k.mul(b, k.div(k.norm(a), k.norm(b)))))
two_losses("two losses by sign agreement", lambda k, a, b: k.tselect(
    k.compare("eq", k.un("sign", a), k.un("sign", b)), k.add(a, b), k.c("0.0")))
two_losses("geometric mean of two losses", lambda k, a, b: k.un("sqrt", k.mul(k.un("abs", a), k.un("abs", b))))


@right("a flat buffer", two=True)
def _(k):
    def unscale():
        buffer = k.concat([k.reshape(k.g["w"], 12), k.g["b"]])
        (all_,), k.ok = k.unscale_by([buffer], k.scale)
        k.flags = [k.ok]
        k.u = {"w": k.reshape(k.slice(all_, 0, 12), 4, 3), "b": k.slice(all_, 12, 3)}
    k.unscale = unscale


@right("a flat buffer with zeros behind it", two=True)
def _(k):
    def unscale():
        buffer = k.concat([k.reshape(k.g["w"], 12), k.g["b"], k.c("0.0", T(5))])
        (all_,), k.ok = k.unscale_by([buffer], k.scale)
        k.flags = [k.ok]
        k.u = {"w": k.reshape(k.slice(all_, 0, 12), 4, 3), "b": k.slice(all_, 12, 3)}
    k.unscale = unscale


@right("a flat optimizer", two=True, opt="sgd")
def _(k):
    def update():
        k.optimizer_state()

        def compute():
            w = k.concat([k.reshape(k.P["w"], 12), k.P["b"]])
            u = k.concat([k.reshape(k.u["w"], 12), k.u["b"]])
            new = k.op("train.sgd", [w, u, k.lr], T(15))
            return {"w": k.reshape(k.slice(new, 0, 12), 4, 3), "b": k.slice(new, 12, 3)}
        k.updates.update(k.guarded(k.ok, compute))
    k.update = update


@right("parts of a gradient checked apart", opt="sgd")
def _(k):
    def unscale():
        g = k.reshape(k.g["w"], 12)
        (a,), fa = k.unscale_by([k.slice(g, 0, 6)], k.scale)
        (b,), fb = k.unscale_by([k.slice(g, 6, 6)], k.scale)
        k.u = {"w": k.reshape(k.concat([a, b]), 4, 3)}
        k.flags = [fa, fb]
        if "b" in k.g:
            (k.u["b"],), f = k.unscale_by([k.g["b"]], k.scale)
            k.flags.append(f)
        k.ok = k.flags[0]
        for f in k.flags[1:]:
            k.ok = k.both(k.ok, f)
    k.unscale = unscale


@right("two optimizers with own guards", **each, opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        for n, f in zip(("w", "b"), k.flags):
            k.updates.update(k.guarded(f, lambda: {n: k.sub(k.P[n], k.mul(k.lr, k.u[n]))}))
    k.update = update
    k.args = [(n, t, r + '", amp.optimizer = "' + n if n in "wb" else r, i) for n, t, r, i in k.args]


def two_scales(name, f=lambda k: None, **options):
    def kind(k):
        use_two_scales(k)
        f(k)
    RIGHT.append((name, kind, {"two": True, "call": False, **options}))


def on_both(k):
    k.scaler = lambda: update_two_scales(k, [k.ok, k.ok])


two_scales("two scales")
two_scales("two scales, both updated on both flags", on_both)
two_scales("two scales, one gradient rescaled", wrapped("backward", lambda k: k.g.update(
    b=k.add(k.g["b"], k.raw("amp.rescale {0} from {1} to {2} : {t0}", T(3), k.sum0(k.g["w"]), k.s, k.s2)))))
two_scales("two scales, one gradient rescaled by hand", wrapped("backward", lambda k: k.g.update(
    b=k.add(k.g["b"], k.mul(k.sum0(k.g["w"]), k.div(k.s2, k.s))))))


# -- Scalers. --

def rules(name, text_):
    def kind(k):
        k.o["rules"] = text_
    RIGHT.append(("rules: " + name, kind, {}))


rules("deepspeed", "growth_interval = 1000, max_scale = inf, hysteresis = 2, hysteresis_refill = growth, after_backoff = hold, growth_guard = off, interval_rule = equal")
rules("apex", "min_scale = 0.0, max_scale = 16777216.0, interval_rule = equal")
rules("fast", "growth_interval = 2, growth_factor = 4.0, backoff_factor = 0.25")


def hand(name, f, **options):
    def kind(k):
        def scaler():
            k.updates["loss_scale"] = f(k)
        k.scaler = scaler
    RIGHT.append((name, kind, options))


hand("scaler by hand: halves on overflow", lambda k: k.tselect(k.ok, k.s, k.mul(k.s, k.c("0.5"))))
hand("scaler by hand: grows slowly", lambda k: k.tselect(k.ok, k.mul(k.s, k.c("1.001")), k.mul(k.s, k.c("0.5"))))
hand("scaler by hand: grows to a cap", lambda k: k.tselect(k.ok, k.min(k.mul(k.s, k.c("2.0")), k.c("16777216.0")), k.mul(k.s, k.c("0.5"))))
hand("scaler by hand: with a floor", lambda k: k.tselect(k.ok, k.s, k.max(k.mul(k.s, k.c("0.5")), k.c("1.0e-3"))))
hand("scaler by hand: factor chosen", lambda k: k.mul(k.s, k.tselect(k.ok, k.c("1.0"), k.c("0.5"))))
hand("scaler by hand: factor of a flag", lambda k: k.mul(k.s, k.mul(k.add(k.raw("arith.uitofp {0} : {t0} to {r}", S, k.ok), k.c("1.0")), k.c("0.5"))))
hand("scaler by hand: power of a flag", lambda k: k.mul(k.s, k.bin("pow", k.c("0.5"), k.raw("arith.uitofp {0} : {t0} to {r}", S, k.no(k.ok)))))
hand("scaler by hand: division", lambda k: k.tselect(k.no(k.ok), k.div(k.s, k.c("2.0")), k.s))
hand("scaler by hand: in a branch", lambda k: k.when(k.bit(k.ok), lambda: [k.s], lambda: [k.mul(k.s, k.c("0.5"))])[0])
hand("scaler by hand: both flags", lambda k: k.tselect(k.no(k.i("ori", *[k.no(f) for f in k.flags])), k.s, k.mul(k.s, k.c("0.5"))), **each)
hand("scaler by hand: by the exponent", lambda k: k.un("exp", k.sub(k.un("log", k.s), k.raw("arith.uitofp {0} : {t0} to {r}", S, k.no(k.ok)))))


@right("scaler by hand: backoff is a hyperparameter")
def _(k):
    def scaler():
        half = k.state("backoff", S, "hyperparameter", "constant, value = 0.5")
        k.updates["loss_scale"] = k.tselect(k.ok, k.s, k.mul(k.s, half))
    k.scaler = scaler


@right("scaler by hand: with a growth tracker")
def _(k):
    def scaler():
        t = k.state("good", I32, "scaler_state", "zeros")
        n = k.i("addi", t, k.ci(1, I32))
        due = k.cmpi("sge", n, k.ci(2000, I32))
        zero = k.ci(0, I32)
        bit, grown = k.bit(k.ok), k.tselect(due, k.mul(k.s, k.c("2.0")), k.s)
        k.updates["loss_scale"] = k.tselect(k.ok, grown, k.mul(k.s, k.c("0.5")))
        k.updates["good"] = k.choose(bit, k.choose(k.bit(due), zero, n), zero)
    k.scaler = scaler


@right("scaler by hand: with a growth tracker in floats and a branch")
def _(k):
    def scaler():
        t = k.state("good", S, "scaler_state", "zeros")

        def clean():
            n = k.add(t, k.c("1.0"))
            due = k.compare("ge", n, k.c("100.0"))
            return [k.tselect(due, k.min(k.mul(k.s, k.c("2.0")), k.c("1.0e7")), k.s), k.tselect(due, k.c("0.0"), n)]
        k.updates["loss_scale"], k.updates["good"] = k.when(
            k.bit(k.ok), clean, lambda: [k.max(k.mul(k.s, k.c("0.5")), k.c("1.0e-3")), k.c("0.0")])
    k.scaler = scaler


@right("scale capped behind its update")
def _(k):
    def scaler():
        type(k).scaler(k)
        k.updates["loss_scale"] = k.min(k.updates["loss_scale"], k.c("32768.0"))
    k.scaler = scaler


@right("scale clipped behind its update")
def _(k):
    def scaler():
        type(k).scaler(k)
        k.updates["loss_scale"] = k.un("clip", k.updates["loss_scale"], "min = 1.0 : f64, max = 65536.0 : f64")
    k.scaler = scaler


@right("scale capped before its use")
def _(k):
    k.scale_of = lambda: k.min(k.s, k.c("4096.0"))


@right("no update of the scale")
def _(k):
    def scaler():
        k.updates["loss_scale"] = k.s
    k.scaler = scaler


@right("no update of the scale and no guard")
def _(k):
    def scaler():
        k.updates["loss_scale"] = k.s

    def update():
        k.optimizer_state()
        k.updates.update(k.compute())
    k.scaler, k.update = scaler, update


@right("the scale is a function of a state in base 2")
def _(k):
    k.args = [a for a in k.args if a[0] != "loss_scale"]
    e = k.state("exponent", S, "scaler_state", "constant, value = 10.0")
    k.s = k.bin("pow", k.c("2.0"), e)

    def scaler():
        k.updates["exponent"] = k.tselect(k.ok, e, k.sub(e, k.c("1.0")))
    k.scaler = scaler


@right("the scale is a constant")
def _(k):
    k.args = [a for a in k.args if a[0] != "loss_scale"]
    k.s = k.c("1024.0")
    k.scaler = lambda: None


@right("the scale adapts to the largest gradient")
def _(k):
    def scaler():
        largest = k.new(S)
        k.emit(f"{largest} = amp.max_magnitude {', '.join(k.g[n] for n in k.names)} : {', '.join(k.t(k.g[n]) for n in k.names)}")
        k.updates["loss_scale"] = k.raw("amp.adapt_scale {0}, {1}, {2}", S, k.s, largest, k.ok)
    k.scaler = scaler


@right("several steps in a loop", two=False, opt="sgd", call=False)
def _(k):
    def everything():
        def one(i, c):
            w, s, ta, tb = c
            low = k.o["low"]
            p = k.predict(k.x, w=w)
            ds = k.raw("amp.scale {0} by {1} : {r}", S, k.raw('amp.gradient_seed "loss" : {r}', S), s)
            dp = k.op("train.mse_grad", [p, k.yl, ds], T(8, 3, e=low))
            g = k.matmul(k.xl, dp, 4, 3, "transpose_a")
            (u,), ok = k.unscale_by([g], s)
            new = k.tselect(ok, k.sub(w, k.mul(k.lr, u)), w)
            return [new, *k.update_scale(s, [ta, tb], ok)]
        trackers = k.scaler_trackers()
        out = k.loop(3, [k.P["w"], k.s, *trackers], one)
        k.updates.update(dict(zip(["w", "loss_scale", "growth_tracker", "hysteresis_tracker"], out)))
    for stage in ("seed", "backward", "unscale", "scaler"):
        setattr(k, stage, lambda: None)
    k.update = everything


@right("a function that divides, called for each gradient")
def _(k):
    def unscaled():
        for n in k.names:
            t = text(k.shape[n])
            k.functions.append(f"func.func private @down_{n}(%g: {t}, %s: tensor<f32>) -> {t} {{\n"
                               f"%r = train.div %g, %s : ({t}, tensor<f32>) -> {t}\nreturn %r : {t}\n}}")
            k.u[n] = k.raw(f"func.call @down_{n}({{0}}, {{1}}) : ({{t0}}, {{t1}}) -> {{r}}", k.shape[n], k.g[n], k.s)
    k.unscaled = unscaled


@right("one function for scaled and unscaled gradients")
def _(k):
    def unscaled():
        for n in k.names:
            t = text(k.shape[n])
            k.functions.append(f"func.func private @half_{n}(%g: {t}) -> {t} {{\n%h = train.constant dense<0.5> : tensor<f32>\n"
                               f"%r = train.mul %g, %h : ({t}, tensor<f32>) -> {t}\nreturn %r : {t}\n}}")
            half = lambda v: k.raw(f"func.call @half_{n}({{0}}) : ({{t0}}) -> {{r}}", k.shape[n], v)  # noqa: E731
            k.u[n] = k.add(half(k.u[n]), k.div(half(k.g[n]), k.s))
    k.unscaled = unscaled


@right("the update in a function", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        for n in k.names:
            t = text(k.shape[n])
            k.functions.append(f"func.func private @step_{n}(%w: {t}, %g: {t}, %r: tensor<f32>, %ok: tensor<i1>) -> {t} {{\n"
                               f"%n = train.sgd %w, %g, %r : ({t}, {t}, tensor<f32>) -> {t}\n"
                               f"%o = train.select %ok, %n, %w : (tensor<i1>, {t}, {t}) -> {t}\nreturn %o : {t}\n}}")
            k.updates[n] = k.raw(f"func.call @step_{n}({{0}}, {{1}}, {{2}}, {{3}}) : ({{t0}}, {{t1}}, {{t2}}, {{t3}}) -> {{r}}",
                                 k.shape[n], k.P[n], k.u[n], k.lr, k.ok)
    k.update = update
