# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of training steps whose loss scaling is wrong: the scale reaches a result."""

from builder import I1, I32, S, T, text

WRONG = []


def wrong(name, **options):
    def add(f):
        WRONG.append((name, f, options))
        return f
    return add


def on_scaled(name, **options):
    """A kind that maps each scaled gradient g by f(k, g, name)."""
    def add(f):
        def kind(k):
            def scaled():
                k.g = {n: f(k, g, n) for n, g in k.g.items()}
            k.scaled = scaled
        WRONG.append((name, kind, options))
        return f
    return add


def on_unscaled(name, **options):
    def add(f):
        def kind(k):
            def unscaled():
                k.u = {n: f(k, u, n) for n, u in k.u.items()}
            k.unscaled = unscaled
        WRONG.append((name, kind, options))
        return f
    return add


# -- A constant or a parameter meets a scaled gradient. --

on_scaled("clip by value before unscale")(lambda k, g, n: k.un("clip", g, "min = -1.0 : f64, max = 1.0 : f64"))
on_scaled("minimum and maximum before unscale")(lambda k, g, n: k.max(k.min(g, k.c("1.0")), k.c("-1.0")))
on_scaled("upper clamp before unscale")(lambda k, g, n: k.min(g, k.c("4.0")))
on_scaled("decay added before unscale")(lambda k, g, n: k.add(g, k.mul(k.P[n], k.c("0.1"))))
on_scaled("noise added before unscale")(lambda k, g, n: k.add(g, k.c("0.5", k.shape[n])))
on_scaled("rate squared with the gradient")(lambda k, g, n: k.mul(g, g))
on_scaled("square by operation")(lambda k, g, n: k.un("square", g))
on_scaled("cube of the gradient")(lambda k, g, n: k.mul(k.un("square", g), g))
on_scaled("signed root of the gradient")(lambda k, g, n: k.mul(k.un("sign", g), k.un("sqrt", k.un("abs", g))))
on_scaled("tanh of the gradient")(lambda k, g, n: k.un("tanh", g))
on_scaled("sigmoid of the gradient")(lambda k, g, n: k.un("sigmoid", g))
on_scaled("exponential of the gradient")(lambda k, g, n: k.un("exp", k.mul(g, k.c("1.0e-3"))))
on_scaled("logarithm of the gradient")(lambda k, g, n: k.un("log1p", k.un("abs", g)))
on_scaled("softsign of the gradient")(lambda k, g, n: k.div(g, k.add(k.un("abs", g), k.c("1.0"))))
on_scaled("normalised with a large epsilon")(lambda k, g, n: k.div(g, k.add(k.norm(g), k.c("100.0"))))
on_scaled("normalised under the root")(lambda k, g, n: k.div(g, k.un("sqrt", k.add(k.dot(g, g), k.c("100.0")))))
on_scaled("threshold before unscale")(
    lambda k, g, n: k.tselect(k.compare("ge", k.un("abs", g), k.c("100.0", k.shape[n])), g, k.c("0.0", k.shape[n])))
on_scaled("clip by a norm by hand before unscale")(
    lambda k, g, n: k.mul(g, k.min(k.c("1.0"), k.div(k.c("0.5"), k.norm(g)))))
on_scaled("clip by the largest element before unscale")(
    lambda k, g, n: k.div(g, k.max(k.maxabs(g), k.c("1.0"))))
on_scaled("clip by a norm with a compare")(
    lambda k, g, n: k.tselect(k.compare("gt", k.norm(g), k.c("1.0")), k.div(g, k.norm(g)), g))
on_scaled("huber of the gradient")(
    lambda k, g, n: k.tselect(k.compare("lt", k.un("abs", g), k.c("1.0", k.shape[n])), g, k.un("sign", g)))
on_scaled("softmax of the gradient")(lambda k, g, n: k.un("softmax", k.mul(g, k.c("0.01")), f"axis = {len(k.shape[n][0]) - 1} : i64"))
on_scaled("power of the gradient")(lambda k, g, n: k.bin("pow", k.un("abs", g), k.c("1.5")))
on_scaled("gelu of the gradient")(lambda k, g, n: k.un("gelu", g))
on_scaled("erf of the gradient")(lambda k, g, n: k.un("erf", g))
on_scaled("sine of the gradient")(lambda k, g, n: k.un("sin", g))
on_scaled("cosine of the gradient")(lambda k, g, n: k.un("cos", g))
on_scaled("minus the parameter")(lambda k, g, n: k.sub(g, k.P[n]))
on_scaled("silu of the gradient")(lambda k, g, n: k.un("silu", g))
on_scaled("divided by the scale before unscale")(lambda k, g, n: k.div(g, k.s))
on_scaled("times the scale again")(lambda k, g, n: k.mul(g, k.s))
on_scaled("times the inverse of the scale")(lambda k, g, n: k.mul(g, k.un("reciprocal", k.s)))
on_scaled("times the inverse square root twice")(lambda k, g, n: k.mul(k.mul(g, k.un("rsqrt", k.s)), k.un("rsqrt", k.s)))
on_scaled("trust ratio of scaled gradients")(lambda k, g, n: k.mul(g, k.div(k.norm(k.P[n]), k.norm(g))))
on_scaled("reciprocal of the gradient")(lambda k, g, n: k.un("reciprocal", k.add(k.un("square", g), k.un("square", g))))
on_scaled("padded with a constant")(
    lambda k, g, n: k.add(g, k.op("train.pad", [k.slice(k.reshape(g, 12 if n == "w" else 3), 0, 2)], T(3), attrs="value = 7.0 : f64, low = array<i64: 0>, high = array<i64: 1>, interior = array<i64: 0>")))
on_scaled("maximum with the parameter")(lambda k, g, n: k.max(g, k.P[n]))
on_scaled("entropy of the gradient")(lambda k, g, n: k.mul(g, k.un("log", k.un("abs", k.add(g, k.mul(g, k.c("1.0")))))))
on_scaled("scaled by 1 + the gradient's norm")(lambda k, g, n: k.mul(g, k.add(k.c("1.0"), k.norm(g))))
on_scaled("logsumexp")(lambda k, g, n: k.add(g, k.op("train.logsumexp", [k.reshape(g, 12 if n == "w" else 3)], S, attrs="axis = 0 : i64")))
on_scaled("cubed by a loop")(lambda k, g, n: k.loop(2, [g], lambda i, c: [k.mul(c[0], g)])[0])
on_scaled("constant added in a loop")(lambda k, g, n: k.loop(3, [g], lambda i, c: [k.add(c[0], k.c("1.0"))])[0])
on_scaled("constant added in a while loop")(lambda k, g, n: k.loop_while(3, [g], lambda i, c: [k.add(c[0], k.c("1.0"))])[0])
on_scaled("scaled in each iteration")(lambda k, g, n: k.loop(2, [g], lambda i, c: [k.mul(c[0], k.s)])[0])
on_scaled("divided in each iteration")(lambda k, g, n: k.loop_while(2, [g], lambda i, c: [k.div(c[0], k.s)])[0])
on_scaled("loop that starts at a constant")(
    lambda k, g, n: k.loop(2, [k.c("1.0", k.shape[n])], lambda i, c: [k.add(c[0], g)])[0])
on_scaled("exchanged with a constant in a loop")(
    lambda k, g, n: k.loop(1, [g, k.c("1.0", k.shape[n])], lambda i, c: [c[1], c[0]])[0])
on_scaled("branch that divides")(
    lambda k, g, n: k.when(k.bit(k.compare("gt", k.lr, k.c("1.0e-3"))), lambda: [k.div(g, k.s)], lambda: [g])[0])
on_scaled("branch on the size of a scaled gradient")(
    lambda k, g, n: k.when(k.bit(k.compare("gt", k.norm(g), k.c("10.0"))), lambda: [k.mul(g, k.c("0.5"))], lambda: [g])[0])

# -- Something is wrong after the gradients were unscaled, or with how they are. --

on_unscaled("unscaled twice by a division")(lambda k, u, n: k.div(u, k.s))
on_unscaled("unscaled twice by the inverse")(lambda k, u, n: k.mul(u, k.un("reciprocal", k.s)))
on_unscaled("unscaled twice by the operation")(lambda k, u, n: k.unscale_by([u], k.s)[0][0])
on_unscaled("scaled again")(lambda k, u, n: k.mul(u, k.s))
on_unscaled("the scaled gradient is used")(lambda k, u, n: k.g[n])
on_unscaled("the scaled gradient is averaged in")(lambda k, u, n: k.mul(k.add(u, k.cast(k.g[n], "f32")), k.c("0.5")))
on_unscaled("the scaled gradient's sign times its size")(lambda k, u, n: k.mul(k.un("sign", u), k.un("abs", k.g[n])))
on_unscaled("the maximum of both")(lambda k, u, n: k.max(u, k.g[n]))
on_unscaled("a choice of both by the parameter")(
    lambda k, u, n: k.tselect(k.compare("gt", k.P[n], k.c("0.0", k.shape[n])), u, k.g[n]))
on_unscaled("scaled norm as a divisor")(lambda k, u, n: k.div(u, k.norm(k.g[n])))
on_unscaled("decay times the scale")(lambda k, u, n: k.add(u, k.mul(k.P[n], k.mul(k.s, k.c("1.0e-4")))))
on_unscaled("divided by one more than the scale")(lambda k, u, n: k.mul(u, k.div(k.s, k.add(k.s, k.c("1000.0")))))
on_unscaled("times the logarithm of the scale")(lambda k, u, n: k.mul(u, k.un("log", k.s)))
on_unscaled("times the root of the scale")(lambda k, u, n: k.mul(u, k.un("sqrt", k.s)))
on_unscaled("one element of the scaled gradient")(
    lambda k, u, n: k.add(u, k.slice(k.reshape(k.g[n], 12 if n == "w" else 3), 0, 1)))


@wrong("a rate times the scale")
def _(k):
    k.compute = lambda: k.step(k.u, k.mul(k.lr, k.s))


@wrong("a rate divided by the scale with unscaled gradients")
def _(k):
    k.compute = lambda: k.step(k.u, k.div(k.lr, k.s))


@wrong("a rate divided by the scale with decay", opt="sgd")
def _(k):
    def compute():
        r = k.div(k.lr, k.s)
        return {n: k.op("train.sgd", [k.P[n], k.g[n], r], k.shape[n], attrs="weight_decay = 0.1 : f64") for n in k.names}
    k.compute = compute


@wrong("a rate divided by the scale with momentum", opt="momentum")
def _(k):
    k.compute = lambda: k.step(k.g, k.div(k.lr, k.s))


@wrong("a rate divided by the scale with Adam", opt="adam")
def _(k):
    k.compute = lambda: k.step(k.g, k.div(k.lr, k.s))


@wrong("optimizer on scaled gradients")
def _(k):
    k.compute = lambda: k.step(k.g)


@wrong("one of two gradients left scaled", two=True)
def _(k):
    k.compute = lambda: k.step({"w": k.u["w"], "b": k.g["b"]})


def by_hand(name, rule, **options):
    """Gradients are divided by a function of the scale in plain arithmetic, and checked by unscale."""
    def kind(k):
        def unscaled():
            k.u = {n: rule(k, g) for n, g in k.g.items()}
        k.unscaled = unscaled
    WRONG.append((name, kind, options))


by_hand("divided by the square of the scale", lambda k, g: k.div(g, k.un("square", k.s)))
by_hand("divided by the root of the scale", lambda k, g: k.div(g, k.un("sqrt", k.s)))
by_hand("multiplied by the scale", lambda k, g: k.mul(g, k.s))
by_hand("divided by a capped scale", lambda k, g: k.div(g, k.min(k.s, k.c("300.0"))))
by_hand("divided by the scale plus a constant", lambda k, g: k.div(g, k.add(k.s, k.c("1000.0"))))
by_hand("divided by a constant in place of the scale", lambda k, g: k.div(g, k.c("1024.0")))
by_hand("divided by the logarithm of the scale", lambda k, g: k.div(g, k.un("log", k.s)))
by_hand("times the negative power of the scale", lambda k, g: k.mul(g, k.bin("pow", k.s, k.c("-2.0"))))
by_hand("divided by the difference of scale and rate", lambda k, g: k.div(g, k.sub(k.s, k.mul(k.s, k.mul(k.lr, k.s)))))


# -- Metrics, predictions and states that are scaled. --

def metric(name, f, **options):
    def kind(k):
        def finish():
            k.metrics["extra"] = f(k)
        k.finish = finish
    WRONG.append((name, kind, options))


metric("the norm of scaled gradients", lambda k: k.norm(k.g["w"]))
metric("the largest scaled gradient", lambda k: k.maxabs(k.g["w"]))
metric("the norm of all scaled gradients", lambda k: k.raw(
    "amp.global_norm {0} : {t0}", S, k.g["w"]))
metric("the loss times the scale", lambda k: k.mul(k.loss, k.s))
metric("the logarithm of the scaled norm", lambda k: k.un("log", k.norm(k.g["w"])))
metric("the mean of squares of scaled gradients", lambda k: k.dot(k.g["w"], k.g["w"]))
metric("the ratio of scaled norm and weight", lambda k: k.div(k.norm(k.g["w"]), k.norm(k.P["w"])))
metric("one scaled gradient", lambda k: k.reshape(k.slice(k.reshape(k.g["w"], 12), 5, 1)))
metric("the unscaled loss divided by the scale", lambda k: k.div(k.loss, k.s))
metric("ratio of scaled and unscaled norm", lambda k: k.div(k.norm(k.g["w"]), k.norm(k.u["w"])))


@wrong("a prediction times the scale")
def _(k):
    def finish():
        k.results.append((k.mul(k.cast(k.p, "f32"), k.s), 'amp.prediction = "p"'))
    k.finish = finish


def state(name, f, role="model_state", guarded=True, **options):
    """A state e' = 0.9 e + 0.1 f(k)."""
    def kind(k):
        def scaler():
            value = None

            def compute():
                v = f(k)
                return {"e": k.add(k.mul("%e", k.c("0.9")), k.mul(v, k.c("0.1")))}
            k.state("e", f.shape if hasattr(f, "shape") else T(4, 3), role, "zeros")
            k.updates.update(k.guarded(k.ok, compute) if guarded else compute())
            assert value is None
            type(k).scaler(k)
        k.scaler = scaler
    WRONG.append((name, kind, options))


state("a moving average of scaled gradients", lambda k: k.g["w"], "optimizer_state")
state("a moving average of squares of scaled gradients", lambda k: k.un("square", k.g["w"]), "optimizer_state")
state("a model state with scaled gradients", lambda k: k.g["w"])
state("a moving average of the product of both", lambda k: k.mul(k.g["w"], k.u["w"]), "optimizer_state")
state("an average of gradients outside of the guard", lambda k: k.u["w"], "optimizer_state", guarded=False)


@wrong("momentum of scaled gradients, divided in the update", opt="sgd")
def _(k):
    def optimizer_state():
        k.O = {"m" + n: k.state("m" + n, k.shape[n], "optimizer_state", "zeros") for n in k.names}

    def compute():
        new = {}
        for n in k.names:
            new["m" + n] = k.add(k.mul(k.O["m" + n], k.c("0.9")), k.g[n])
            new[n] = k.sub(k.P[n], k.mul(k.lr, k.div(new["m" + n], k.s)))
        return new
    k.optimizer_state, k.compute = optimizer_state, compute


@wrong("second moment of scaled gradients", opt="sgd")
def _(k):
    def optimizer_state():
        k.O = {"v" + n: k.state("v" + n, k.shape[n], "optimizer_state", "ones") for n in k.names}

    def compute():
        new = {}
        for n in k.names:
            new["v" + n] = k.add(k.mul(k.O["v" + n], k.c("0.9")), k.un("square", k.g[n]))
            new[n] = k.sub(k.P[n], k.mul(k.lr, k.div(k.u[n], k.un("sqrt", new["v" + n]))))
        return new
    k.optimizer_state, k.compute = optimizer_state, compute


@wrong("rmsprop of scaled gradients with an epsilon", opt="sgd")
def _(k):
    k.compute = lambda: {n: k.sub(k.P[n], k.mul(k.lr, k.div(k.g[n], k.add(k.un("sqrt", k.un("square", k.g[n])), k.c("10.0"))))) for n in k.names}


@wrong("decay by hand on scaled gradients", opt="sgd")
def _(k):
    k.compute = lambda: {n: k.sub(k.P[n], k.mul(k.lr, k.div(k.add(k.g[n], k.mul(k.P[n], k.c("0.5"))), k.s))) for n in k.names}


@wrong("the update divided by the scale with its decay", opt="sgd")
def _(k):
    k.compute = lambda: {n: k.sub(k.mul(k.P[n], k.c("0.9")), k.mul(k.lr, k.g[n])) for n in k.names}


@wrong("the new parameter divided by the scale", opt="sgd")
def _(k):
    k.compute = lambda: {n: k.div(k.sub(k.P[n], k.mul(k.lr, k.u[n])), k.s) for n in k.names}


# -- Several losses and several gradients of a parameter. --

def two_losses(name, combine, second=True, **options):
    """`combine(k, g1, g2)` of the gradients of two batches; the second seed is scaled or not."""
    def kind(k):
        def backward():
            type(k).backward(k)
            x2, y2 = k.state("x2", T(8, 4), "batch"), k.state("y2", T(8, 3), "batch")
            p2, yl2 = k.predict(x2), k.cast(y2, k.o["low"])
            ds2 = k.scale_seed(k.scale, "second") if second else k.raw('amp.gradient_seed "second" : {r}', S)
            if second == "twice":
                ds2 = k.mul(ds2, k.s)
            k.g2 = k.gradient(k.cast(x2, k.o["low"]), yl2, p2, ds2)
            k.g = {n: combine(k, k.g[n], k.g2[n]) for n in k.g}
        k.backward = backward
    WRONG.append((name, kind, options))


two_losses("second loss not scaled", lambda k, a, b: k.add(a, b), second=False)
two_losses("second loss scaled twice", lambda k, a, b: k.add(a, b), second="twice")
two_losses("product of two gradients", lambda k, a, b: k.mul(a, b))
two_losses("difference with an unscaled one", lambda k, a, b: k.sub(a, b), second=False)
two_losses("concatenated with an unscaled one", lambda k, a, b: k.add(a, k.sum(k.concat([a, b]))), second=False)
two_losses("projection without its normaliser", lambda k, a, b: k.sub(a, k.mul(b, k.dot(a, b))))
two_losses("projection with a constant in its normaliser", lambda k, a, b: k.sub(a, k.mul(b, k.div(k.dot(a, b), k.add(k.dot(b, b), k.c("100.0"))))))
two_losses("the larger of scaled and unscaled", lambda k, a, b: k.max(a, b), second=False)
two_losses("weighted by norms that do not cancel", lambda k, a, b: k.add(k.mul(a, k.norm(b)), b))
two_losses("second divided by the scale first", lambda k, a, b: k.add(a, k.div(b, k.s)))
two_losses("chosen by comparison of different factors", lambda k, a, b: k.tselect(k.compare("gt", k.norm(a), k.un("square", k.norm(b))), a, b))


@wrong("micro-batches of which one is not scaled")
def _(k):
    def backward():
        one = k.raw('amp.gradient_seed "micro" : {r}', S)
        type(k).backward(k)
        g = k.gradient(k.xl, k.yl, k.p, one)
        k.g = {n: k.mul(k.add(g[n], v), k.c("0.5")) for n, v in k.g.items()}
    k.backward = backward


def accumulate(name, body, after=None, **options):
    """A loop over four micro-batches that carries `acc` of the first parameter's shape."""
    def kind(k):
        def backward():
            initial = [k.c("0.0", k.shape[n]) for n in k.names]

            def one(i, carried):
                p = k.predict(k.x)
                g = k.gradient(k.xl, k.yl, p, k.ds)
                return [body(k, c, g[n]) for c, n in zip(carried, k.names)]
            k.g = dict(zip(k.names, k.loop(4, initial, one)))
            if after:
                k.g = {n: after(k, g) for n, g in k.g.items()}
        k.backward = backward
    WRONG.append((name, kind, options))


accumulate("accumulated and divided within the loop", lambda k, c, g: k.div(k.add(c, g), k.s))
accumulate("unscaled within the loop and after it", lambda k, c, g: k.add(c, k.div(g, k.s)))
accumulate("clipped within the loop", lambda k, c, g: k.un("clip", k.add(c, g), "min = -2.0 : f64, max = 2.0 : f64"))
accumulate("squares accumulated", lambda k, c, g: k.add(c, k.un("square", g)))
accumulate("each micro-batch normalised with a constant", lambda k, c, g: k.add(c, k.div(g, k.add(k.norm(g), k.c("50.0")))))
accumulate("decay added in each iteration", lambda k, c, g: k.add(k.add(c, g), k.c("0.25")))
accumulate("compounded by the scale", lambda k, c, g: k.add(k.mul(c, k.s), g))


# -- Flat buffers. --

def flat(name, f, **options):
    def kind(k):
        def scaled():
            k.buffer = k.concat([k.reshape(k.g["w"], 12), k.g["b"]])

        def unscale():
            f(k)
        k.scaled, k.unscale = scaled, unscale
    WRONG.append((name, kind, {"two": True, **options}))


def split(k, buffer):
    k.u = {"w": k.reshape(k.slice(buffer, 0, 12), 4, 3), "b": k.slice(buffer, 12, 3)}


@lambda f: flat("a flat buffer of which a part is unscaled", f)
def _(k):
    (part,), k.ok = k.unscale_by([k.slice(k.buffer, 0, 12)], k.scale)
    k.u = {"w": k.reshape(part, 4, 3), "b": k.slice(k.buffer, 12, 3)}


@lambda f: flat("a part of a flat buffer unscaled again", f)
def _(k):
    (all_,), k.ok = k.unscale_by([k.buffer], k.scale)
    split(k, all_)
    k.u["b"] = k.div(k.u["b"], k.s)


@lambda f: flat("a flat buffer with a constant tail", f)
def _(k):
    buffer = k.concat([k.slice(k.buffer, 0, 12), k.c("3.0", T(3))])
    (all_,), k.ok = k.unscale_by([buffer], k.scale)
    split(k, all_)


@lambda f: flat("a flat buffer checked in part", f)
def _(k):
    _, k.ok = k.unscale_by([k.slice(k.buffer, 0, 12)], k.scale)
    split(k, k.div(k.buffer, k.s))


@lambda f: flat("a flat buffer checked by one element", f)
def _(k):
    _, k.ok = k.unscale_by([k.slice(k.buffer, 14, 1)], k.scale)
    split(k, k.div(k.buffer, k.s))


@lambda f: flat("a flat buffer clipped by its scaled norm", f)
def _(k):
    k.buffer = k.op("train.clip_by_global_norm", [k.buffer], T(15), S, attrs="max_norm = 1.0 : f64")[0]
    (all_,), k.ok = k.unscale_by([k.buffer], k.scale)
    split(k, all_)


@wrong("clip by global norm before unscale")
def _(k):
    def scaled():
        names = list(k.g)
        out = k.op("train.clip_by_global_norm", [k.g[n] for n in names], *[k.shape[n] for n in names], S, attrs="max_norm = 1.0 : f64")
        k.g = dict(zip(names, out))
    k.scaled = scaled
