# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More kinds: what depends on the scale by a condition, derived scales, loops of steps, calls."""

from foreign import narrow, seeded
from right import RIGHT
from wrong import WRONG
from builder import I1, I32, S, T, text


def kind(where, name, **options):
    def add(f):
        where.append((name, f, options))
        return f
    return add


def wrong(name, **options): return kind(WRONG, name, **options)
def right(name, **options): return kind(RIGHT, name, **options)


each = {"unscale": "each", "two": True}


def unscaled(where, name, f, **options):
    def k_(k):
        def stage():
            k.u = {n: f(k, u, n) for n, u in k.u.items()}
        k.unscaled = stage
    where.append((name, k_, options))


def scaled(where, name, f, **options):
    def k_(k):
        def stage():
            k.g = {n: f(k, g, n) for n, g in k.g.items()}
        k.scaled = stage
    where.append((name, k_, options))


def rate(where, name, f, **options):
    def k_(k):
        k.compute = lambda: k.step(k.u, f(k))
    where.append((name, k_, options))


# -- The scale decides. --

rate(WRONG, "rate chosen by the size of the scale", lambda k: k.tselect(k.compare("gt", k.s, k.c("300.0")), k.lr, k.mul(k.lr, k.c("2.0"))))
rate(WRONG, "rate by a branch on the scale", lambda k: k.when(
    k.bit(k.compare("gt", k.s, k.c("300.0"))), lambda: [k.lr], lambda: [k.mul(k.lr, k.c("2.0"))])[0])
rate(WRONG, "rate times the flag of a large scale", lambda k: k.mul(k.lr, k.raw(
    "arith.uitofp {0} : {t0} to {r}", S, k.compare("gt", k.s, k.c("300.0")))))
rate(WRONG, "rate times the scale as an integer", lambda k: k.mul(k.lr, k.raw(
    "arith.sitofp {0} : {t0} to {r}", S, k.raw("arith.fptosi {0} : {t0} to {r}", I32, k.s))))
rate(WRONG, "rate times the exponential of the inverse scale", lambda k: k.mul(k.lr, k.un("exp", k.mul(k.un("reciprocal", k.s), k.c("100.0")))))
rate(WRONG, "rate times the tanh of the scale", lambda k: k.mul(k.lr, k.un("tanh", k.mul(k.s, k.c("0.001")))))
rate(WRONG, "rate times a capped scale", lambda k: k.mul(k.lr, k.min(k.s, k.c("300.0"))))
rate(WRONG, "rate times a clipped scale", lambda k: k.mul(k.lr, k.un("clip", k.s, "min = 1.0 : f64, max = 2000.0 : f64")))
rate(WRONG, "rate times the distance from a scale", lambda k: k.mul(k.lr, k.un("abs", k.sub(k.s, k.c("100.0")))))
rate(WRONG, "rate of as many iterations as the scale", lambda k: steps_of_scale(k))
rate(RIGHT, "rate times the sign of the scale", lambda k: k.mul(k.lr, k.un("sign", k.s)))
rate(RIGHT, "rate times scale over scale", lambda k: k.mul(k.lr, k.div(k.s, k.s)))
rate(RIGHT, "rate times root over root", lambda k: k.mul(k.lr, k.div(k.un("square", k.un("sqrt", k.s)), k.s)))
unscaled(WRONG, "clip bound chosen by the scale", lambda k, u, n: k.tselect(
    k.compare("gt", k.s, k.c("300.0")), k.un("clip", u, "min = -0.1 : f64, max = 0.1 : f64"), u))
unscaled(WRONG, "clip bound is the inverse of the scale", lambda k, u, n: k.min(u, k.un("reciprocal", k.s)))
unscaled(WRONG, "sign of the difference from the scale", lambda k, u, n: k.mul(u, k.un("sign", k.sub(k.s, k.c("300.0")))))
unscaled(WRONG, "compared with the scale", lambda k, u, n: k.tselect(k.compare("gt", k.un("abs", u), k.div(k.s, k.c("1.0e4", k.shape[n]))), u, k.c("0.0", k.shape[n])))
unscaled(RIGHT, "compared with the scale in both", lambda k, u, n: k.tselect(
    k.compare("gt", k.un("abs", k.g[n]), k.mul(k.s, k.c("0.1", k.shape[n]))), u, k.c("0.0", k.shape[n])))


def steps_of_scale(k):
    bound = k.raw("arith.index_cast {0} : i32 to {r}", "index", k.raw(
        "tensor.extract {0}[] : {t0}", "i32", k.raw("arith.fptosi {0} : {t0} to {r}", I32, k.div(k.s, k.c("100.0")))))
    zero, one, i, c = k.ci(0, "index"), k.ci(1, "index"), k.new("index"), k.new(S)
    out = k.new(S)
    k.emit(f"{out} = scf.for {i} = {zero} to {bound} step {one} iter_args({c} = {k.lr}) -> (tensor<f32>) {{")
    more = k.mul(c, k.c("0.9"))
    k.emit(f"scf.yield {more} : tensor<f32>\n}}")
    return out


@wrong("the forward pass reads the scale")
def _(k):
    def forward():
        type(k).forward(k)
        bias = k.cast(k.un("reciprocal", k.s), k.o["low"])
        k.p = k.add(k.p, bias)
        k.loss = k.op("train.mse", [k.p, k.yl], S)
        k.metrics["loss"] = k.loss
    k.forward = forward


@wrong("the target reads the scale by a condition")
def _(k):
    def forward():
        type(k).forward(k)
        big = k.compare("gt", k.s, k.c("300.0"))
        k.yl = k.tselect(big, k.yl, k.p)
        k.loss = k.op("train.mse", [k.p, k.yl], S)
        k.metrics["loss"] = k.loss
    k.forward = forward


def derived(where, name, forward, back, **options):
    """Scaled by forward(k), unscaled by back(k)."""
    def k_(k):
        k.scale_of = lambda: forward(k)

        def unscale():
            k.scale = back(k)
            type(k).unscale(k)
        k.unscale = unscale
    where.append((name, k_, options))


def cap(c): return lambda k: k.min(k.s, k.c(c))


derived(WRONG, "scaled by one cap, unscaled by another", cap("300.0"), cap("4096.0"))
derived(WRONG, "scaled by a cap, unscaled by the scale", cap("300.0"), lambda k: k.s)
derived(WRONG, "scaled by the scale, unscaled by a cap", lambda k: k.s, cap("300.0"))
derived(WRONG, "scaled by a root, unscaled by the scale", lambda k: k.un("sqrt", k.s), lambda k: k.s)
derived(WRONG, "scaled by a sum, unscaled by the scale", lambda k: k.add(k.s, k.c("1000.0")), lambda k: k.s)
derived(WRONG, "scaled by a sum, unscaled by another sum", lambda k: k.add(k.s, k.c("1000.0")), lambda k: k.add(k.s, k.c("10.0")))
derived(WRONG, "scaled by a maximum, unscaled by a minimum", lambda k: k.max(k.s, k.c("400.0")), lambda k: k.min(k.s, k.c("400.0")))
derived(WRONG, "scaled by a condition, unscaled by the scale", lambda k: k.tselect(
    k.compare("gt", k.s, k.c("300.0")), k.s, k.c("77.0")), lambda k: k.s)
derived(WRONG, "scaled by the square, unscaled by the scale", lambda k: k.un("square", k.s), lambda k: k.s)
derived(RIGHT, "a cap computed twice", cap("300.0"), cap("300.0"))
derived(RIGHT, "scaled by a root, unscaled by the same root", lambda k: k.un("sqrt", k.s), lambda k: k.un("sqrt", k.s))
derived(RIGHT, "scaled by the square, unscaled by the product", lambda k: k.un("square", k.s), lambda k: k.mul(k.s, k.s))
derived(RIGHT, "scaled by half, unscaled by half", lambda k: k.mul(k.s, k.c("0.5")), lambda k: k.mul(k.s, k.c("0.5")))
derived(RIGHT, "a scale through a loop", lambda k: k.loop(2, [k.s], lambda i, c: [c[0]])[0], lambda k: k.s)
derived(RIGHT, "a scale through a branch", lambda k: k.when(k.bit(k.compare("gt", k.lr, k.c("0.1"))), lambda: [k.s], lambda: [k.s])[0], lambda k: k.s)
derived(RIGHT, "a scale chosen from itself", lambda k: k.tselect(k.compare("gt", k.lr, k.c("0.1")), k.s, k.s), lambda k: k.s)

# -- Additions and changes after the check. --

unscaled(WRONG, "logarithm of zero after the check", lambda k, u, n: k.un("log", k.un("abs", u)))
unscaled(WRONG, "reciprocal root of zero after the check", lambda k, u, n: k.mul(u, k.un("rsqrt", k.un("square", u))))
unscaled(WRONG, "root of a negative number after the check", lambda k, u, n: k.un("sqrt", k.sub(k.c("-1.0"), k.un("square", u))))
unscaled(WRONG, "squared in f16 after the check", lambda k, u, n: k.cast(k.un("square", k.cast(u, "f16")), "f32"))
unscaled(WRONG, "the inverse after the check", lambda k, u, n: k.un("reciprocal", u))


@wrong("a gradient of a second batch added after the check")
def _(k):
    def unscaled_():
        x2, y2 = k.state("x2", T(8, 4), "batch"), k.state("y2", T(8, 3), "batch")
        g2 = k.gradient(k.cast(x2, k.o["low"]), k.cast(y2, k.o["low"]), k.predict(x2), k.scale_seed(k.scale, "second"))
        k.u = {n: k.add(u, k.div(g2[n], k.s)) for n, u in k.u.items()}
    k.unscaled = unscaled_


def micro(where, name, flag, guard_flag=None, **options):
    """Micro-batches unscaled in a loop; `flag(k, carried, ok)` is carried."""
    def k_(k):
        def backward():
            initial = [k.c("0.0", k.shape[n]) for n in k.names] + [k.ci("true" if "start" not in options else options["start"])]

            def one(i, carried):
                p = k.predict(k.x)
                g = k.gradient(k.xl, k.yl, p, k.ds)
                values, ok = k.unscale_by([g[n] for n in k.names], k.scale)
                return [k.add(c, v) for c, v in zip(carried, values)] + [flag(k, carried[-1], k.bit(ok))]
            out = k.loop(4, initial, one)
            k.g = dict(zip(k.names, out))
            k.carried = out[-1]

        def unscale():
            k.u, k.ok = k.g, k.flag(k.carried)
            k.flags = [k.ok]
        k.backward, k.unscale = backward, unscale
    where.append((name, k_, {n: o for n, o in options.items() if n != "start"}))


micro(WRONG, "the last micro-batch's flag", lambda k, c, f: f)
micro(WRONG, "the or of the micro-batches' flags", lambda k, c, f: k.i("ori", c, f), start="false")
micro(WRONG, "the parity of the micro-batches' flags", lambda k, c, f: k.i("xori", c, f))
micro(WRONG, "the first micro-batch's flag", lambda k, c, f: c)
micro(WRONG, "a flag negated in each iteration", lambda k, c, f: k.no(k.both(c, f)))
micro(RIGHT, "the minimum of the micro-batches' flags", lambda k, c, f: k.i("minui", c, f))
micro(RIGHT, "a flag chosen in each iteration", lambda k, c, f: k.choose(f, c, f))
micro(RIGHT, "De Morgan in each iteration", lambda k, c, f: k.no(k.i("ori", k.no(c), k.no(f))))


def loop_of_steps(where, name, flag_of=None, in_loop=False, guard=True, loop="for", **options):
    """Three steps in a loop; the scale is updated after it on the carried flag, or within it."""
    def k_(k):
        def everything():
            trackers = k.scaler_trackers()

            def one(i, c):
                w, ok_before, *rest = c
                s = rest[0] if in_loop else k.s
                ds = k.raw("amp.scale {0} by {1} : {r}", S, k.raw('amp.gradient_seed "loss" : {r}', S), s)
                dp = k.op("train.mse_grad", [k.predict(k.x, w=w), k.yl, ds], T(8, 3, e=k.o["low"]))
                (u,), ok = k.unscale_by([k.matmul(k.xl, dp, 4, 3, "transpose_a")], s)
                new = k.sub(w, k.mul(k.lr, u))
                new = k.tselect(ok, new, w) if guard else new
                carried = flag_of(k, ok_before, k.bit(ok))
                return [new, carried] + (k.update_scale(s, rest[1:], ok) if in_loop else [])
            start = [k.P["w"], k.ci("true")] + ([k.s, *trackers] if in_loop else [])
            out = (k.loop if loop == "for" else k.loop_while)(3, start, one)
            new = out[2:] if in_loop else k.update_scale(k.s, trackers, k.flag(out[1]))
            k.updates.update(dict(zip(["w", "loss_scale", "growth_tracker", "hysteresis_tracker"], [out[0], *new])))
        for stage in ("seed", "backward", "unscale", "scaler"):
            setattr(k, stage, lambda: None)
        k.update = everything
    where.append((name, k_, {"two": False, "opt": "sgd", "call": False, **options}))


loop_of_steps(RIGHT, "steps in a loop, scale updated after it on all flags", lambda k, c, f: k.both(c, f))
loop_of_steps(RIGHT, "steps in a loop with their scale", lambda k, c, f: c, in_loop=True)
loop_of_steps(RIGHT, "steps in a while loop with their scale", lambda k, c, f: c, in_loop=True, loop="while")
loop_of_steps(WRONG, "steps in a loop, scale updated after it on the last flag", lambda k, c, f: f)
loop_of_steps(WRONG, "steps in a loop, scale updated after it on none", lambda k, c, f: c)
loop_of_steps(WRONG, "steps in a loop without a guard", lambda k, c, f: k.both(c, f), guard=False)
loop_of_steps(WRONG, "steps in a loop with their scale and no guard", lambda k, c, f: c, in_loop=True, guard=False)
loop_of_steps(WRONG, "steps in a while loop without a guard", lambda k, c, f: k.both(c, f), guard=False, loop="while")

# -- Calls. --


@wrong("a function that guards, called with the other flag", **each, opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        for n, f in zip(k.names, reversed(k.flags)):
            t = text(k.shape[n])
            k.functions.append(f"func.func private @step_{n}(%w: {t}, %g: {t}, %r: tensor<f32>, %ok: tensor<i1>) -> {t} {{\n"
                               f"%n = train.sgd %w, %g, %r : ({t}, {t}, tensor<f32>) -> {t}\n"
                               f"%o = train.select %ok, %n, %w : (tensor<i1>, {t}, {t}) -> {t}\nreturn %o : {t}\n}}")
            k.updates[n] = k.raw(f"func.call @step_{n}({{0}}, {{1}}, {{2}}, {{3}}) : ({{t0}}, {{t1}}, {{t2}}, {{t3}}) -> {{r}}",
                                 k.shape[n], k.P[n], k.u[n], k.lr, f)
    k.update = update


def called(where, name, body, **options):
    """Each unscaled gradient passes through a function of gradient, scale and scaled gradient."""
    def k_(k):
        def stage():
            for n in k.names:
                t = text(k.shape[n])
                k.functions.append(f"func.func private @f_{n}(%u: {t}, %s: tensor<f32>, %g: {t}) -> {t} {{\n" + body.replace("T", t)
                                   + f"\nreturn %r : {t}\n}}")
                k.u[n] = k.raw(f"func.call @f_{n}({{0}}, {{1}}, {{2}}) : ({{t0}}, {{t1}}, {{t2}}) -> {{r}}", k.shape[n], k.u[n], k.s, k.g[n])
        k.unscaled = stage
    where.append((name, k_, options))


called(WRONG, "a function that divides again", "%r = train.div %u, %s : (T, tensor<f32>) -> T")
called(WRONG, "a function that returns the scaled gradient", "%o = train.constant dense<1.0> : tensor<f32>\n%r = train.mul %g, %o : (T, tensor<f32>) -> T")
called(WRONG, "a function that adds both", "%r = train.add %u, %g : (T, T) -> T")
called(RIGHT, "a function that divides the scaled gradient", "%r = train.div %g, %s : (T, tensor<f32>) -> T")
called(RIGHT, "a function that returns its operand", "%o = train.constant dense<1.0> : tensor<f32>\n%r = train.mul %u, %o : (T, tensor<f32>) -> T")


@wrong("a function that divides, called for a divided gradient too", opt="sgd")
def _(k):
    def stage():
        for n in k.names:
            t = text(k.shape[n])
            k.functions.append(f"func.func private @f_{n}(%g: {t}, %s: tensor<f32>) -> {t} {{\n%r = train.div %g, %s : ({t}, tensor<f32>) -> {t}\nreturn %r : {t}\n}}")
            once = k.raw(f"func.call @f_{n}({{0}}, {{1}}) : ({{t0}}, {{t1}}) -> {{r}}", k.shape[n], k.g[n], k.s)
            k.u[n] = k.raw(f"func.call @f_{n}({{0}}, {{1}}) : ({{t0}}, {{t1}}) -> {{r}}", k.shape[n], once, k.s)
    k.unscaled = stage


@wrong("a function that negates the flag", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        k.functions.append("func.func private @ok(%f: tensor<i1>) -> tensor<i1> {\n%t = arith.constant dense<true> : tensor<i1>\n"
                           "%r = arith.xori %f, %t : tensor<i1>\nreturn %r : tensor<i1>\n}")
        flag = k.raw("func.call @ok({0}) : ({t0}) -> {r}", I1, k.ok)
        k.updates.update(k.guarded(flag, k.compute))
    k.update = update


@right("a function that passes the flag on", opt="sgd")
def _(k):
    def update():
        k.optimizer_state()
        k.functions.append("func.func private @ok(%f: tensor<i1>) -> tensor<i1> {\n%t = arith.constant dense<true> : tensor<i1>\n"
                           "%r = arith.andi %f, %t : tensor<i1>\nreturn %r : tensor<i1>\n}")
        flag = k.raw("func.call @ok({0}) : ({t0}) -> {r}", I1, k.ok)
        k.updates.update(k.guarded(flag, k.compute))
    k.update = update


# -- Inner gradients. --


def inner(where, name, f, **options):
    """The second prediction reads the gradient of a first loss, which f(k, g) makes of its scaled gradient."""
    def k_(k):
        def backward():
            first = k.gradient(k.xl, k.yl, k.p, k.ds)["w"]
            true = f(k, first)
            w2 = k.sub(k.P["w"], k.mul(true, k.c("0.1")))
            p2 = k.predict(k.x, w=w2)
            k.loss = k.op("train.mse", [p2, k.yl], S)
            k.metrics["loss"] = k.loss
            k.g = k.gradient(k.xl, k.yl, p2, k.scale_seed(k.scale, "second"))
        k.backward = backward
    where.append((name, k_, {"call": False, **options}))


inner(WRONG, "an inner gradient that stays scaled", lambda k, g: g)
inner(WRONG, "an inner gradient by the operation without the scale", lambda k, g: k.raw("amp.inner_gradient {0} : {t0} to {r}", T(4, 3), g))
inner(WRONG, "an inner gradient unscaled twice", lambda k, g: k.div(k.raw("amp.inner_gradient {0} by {1} : {t0} to {r}", T(4, 3), g, k.s), k.s))
inner(RIGHT, "an inner gradient by the operation", lambda k, g: k.raw("amp.inner_gradient {0} by {1} : {t0} to {r}", T(4, 3), g, k.s))
inner(RIGHT, "an inner gradient by hand", lambda k, g: k.div(g, k.s))

# -- Updates of the scale by hand with trackers, and of two scales. --


def tracked(where, name, clean, overflow=lambda k, s, t: [k.mul(s, k.c("0.5")), k.ci(0, I32)], **options):
    def k_(k):
        def scaler():
            t = k.state("good", I32, "scaler_state", "zeros")
            out = k.when(k.bit(k.ok), lambda: clean(k, k.s, t), lambda: overflow(k, k.s, t))
            k.updates["loss_scale"], k.updates["good"] = out
        k.scaler = scaler
    where.append((name, k_, options))


def due(k, t, n, a, b):
    more = k.i("addi", t, k.ci(1, I32))
    bit = k.bit(k.cmpi("sge", more, k.ci(n, I32)))
    return [k.choose(bit, a, b), k.choose(bit, k.ci(0, I32), more)]


tracked(RIGHT, "tracked by hand: doubled when due", lambda k, s, t: due(k, t, 2000, k.mul(s, k.c("2.0")), s))
tracked(RIGHT, "tracked by hand: capped when due", lambda k, s, t: due(k, t, 10, k.min(k.mul(s, k.c("2.0")), k.c("32768.0")), s), rules="")
tracked(WRONG, "tracked by hand: halved when due", lambda k, s, t: due(k, t, 2000, k.mul(s, k.c("0.5")), s))
tracked(WRONG, "tracked by hand: halved when due late", lambda k, s, t: due(k, t, 1048576, k.mul(s, k.c("0.5")), s))
tracked(WRONG, "tracked by hand: halved until due", lambda k, s, t: due(k, t, 3, k.mul(s, k.c("2.0")), k.mul(s, k.c("0.5"))))
tracked(WRONG, "tracked by hand: doubled on overflow", lambda k, s, t: due(k, t, 2000, k.mul(s, k.c("2.0")), s),
        lambda k, s, t: [k.mul(s, k.c("2.0")), k.ci(0, I32)])
tracked(WRONG, "tracked by hand: kept on overflow", lambda k, s, t: due(k, t, 2000, k.mul(s, k.c("2.0")), s), lambda k, s, t: [s, k.ci(0, I32)])
tracked(WRONG, "tracked by hand: falls where it is large", lambda k, s, t: [
    k.tselect(k.compare("gt", s, k.c("1000000.0")), k.mul(s, k.c("0.5")), s), t])
tracked(WRONG, "tracked by hand: zero when small", lambda k, s, t: due(k, t, 2000, k.mul(s, k.c("2.0")), s),
        lambda k, s, t: [k.tselect(k.compare("lt", s, k.c("1.0")), k.c("0.0"), k.mul(s, k.c("0.5"))), k.ci(0, I32)])


@wrong("two scales by hand, each on the other's flag", two=True, call=False)
def _(k):
    def backward():
        k.s2 = k.state("other", S, "scaler_state", "constant, value = 512.0")
        ds2 = k.raw("amp.scale {0} by {1} : {r}", S, k.raw('amp.gradient_seed "second" : {r}', S), k.s2)
        k.g = {"w": k.gradient(k.xl, k.yl, k.p, k.ds)["w"], "b": k.gradient(k.xl, k.yl, k.p, ds2)["b"]}

    def unscale():
        (a,), fa = k.unscale_by([k.g["w"]], k.s)
        (b,), fb = k.unscale_by([k.g["b"]], k.s2)
        k.u, k.flags, k.ok = {"w": a, "b": b}, [fa, fb], k.both(fa, fb)

    def scaler():
        k.updates["loss_scale"] = k.tselect(k.flags[1], k.s, k.mul(k.s, k.c("0.5")))
        k.updates["other"] = k.tselect(k.flags[0], k.s2, k.mul(k.s2, k.c("0.5")))
    k.backward, k.unscale, k.scaler = backward, unscale, scaler


@wrong("a scale adapts to unscaled gradients")
def _(k):
    def scaler():
        largest = k.raw("amp.max_magnitude {0} : {t0}", S, k.u["w"])
        k.updates["loss_scale"] = k.raw("amp.adapt_scale {0}, {1}, {2}", S, k.s, largest, k.ok)
    k.scaler = scaler


@wrong("a scale adapts on true")
def _(k):
    def scaler():
        largest = k.raw("amp.max_magnitude {0} : {t0}", S, k.g["w"])
        k.updates["loss_scale"] = k.raw("amp.adapt_scale {0}, {1}, {2}", S, k.s, largest, k.true(k.ok))
    k.scaler = scaler


# -- More ranges of f16. --

seeded(WRONG, "the scale itself in f16", lambda k, v: k.cast(k.mul(k.cast(k.c("1.0"), "f16"), k.cast(k.s, "f16")), "f32"))
seeded(WRONG, "a capped scale that is still too large in f16", narrow, rules="max_scale = 131072.0")
seeded(WRONG, "a seed in f16 behind a loop", lambda k, v: narrow(k, k.loop(1, [v], lambda i, c: [c[0]])[0]))
seeded(WRONG, "a seed in f16 behind a branch", lambda k, v: narrow(k, k.when(k.bit(k.compare("gt", k.lr, k.c("0.01"))), lambda: [v], lambda: [k.mul(v, k.c("0.5"))])[0]))
seeded(WRONG, "a seed in f16 by arith.truncf", lambda k, v: k.raw("arith.extf {0} : {t0} to {r}", S, k.raw("arith.truncf {0} : {t0} to {r}", T(e="f16"), v)))
seeded(WRONG, "a seed in f16 on both sides of a concat", lambda k, v: k.reshape(k.slice(k.cast(k.concat(
    [k.cast(k.reshape(v, 1), "f16"), k.c("0.0", T(1, e="f16"))]), "f32"), 0, 1)))
seeded(RIGHT, "a mean of the seed in f16 that stays small", lambda k, v: k.mul(k.c("24.0"), narrow(k, k.mul(v, k.c("0.0416667")))), rules="max_scale = 65536.0")
seeded(RIGHT, "a scale capped before its use in f16", narrow, constant="2048.0")
