# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small fp16 training steps with loss scaling as text, one stage after another.

A kind of step replaces a stage of `Step` or adds to it. Tensors are named `%x`; a type is
a pair of shape and element type.
"""


def T(*shape, e="f32"):
    return (tuple(shape), e)


def text(type_):
    if isinstance(type_, str):
        return type_
    return "tensor<" + "".join(f"{d}x" for d in type_[0]) + type_[1] + ">"


S = T()
I1 = T(e="i1")
I32 = T(e="i32")


class Builder:
    """Appends operations and remembers the types of their results."""

    def __init__(self):
        self.lines, self.types, self.count = [], {}, 0

    def new(self, type_, name=None):
        self.count += 1
        name = name or f"%v{self.count}"
        self.types[name] = type_
        return name

    def emit(self, line):
        self.lines.append(line)

    def t(self, value):
        return text(self.types[value])

    def raw(self, format_, type_, *args):
        """`format_` holds {0}, {1} for operands and {t0} for their types and {r} for the result's."""
        result = self.new(type_)
        types = {f"t{i}": self.t(a) for i, a in enumerate(args)}
        self.emit(f"{result} = " + format_.format(*args, r=text(type_), **types))
        return result

    def un(self, op, a, attrs=""):
        return self.raw("train.%s {0} %s : {r}" % (op, "{{" + attrs + "}}" if attrs else ""), self.types[a], a)

    def op(self, name, args, *results, attrs=""):
        types = [text(r) for r in results]
        values = [self.new(r) for r in results]
        shown = f"({', '.join(types)})" if len(types) != 1 else types[0]
        self.emit(f"{', '.join(values)} = {name} {', '.join(args)}" + (" {" + attrs + "}" if attrs else "")
                  + f" : ({', '.join(self.t(a) for a in args)}) -> {shown}")
        return values[0] if len(values) == 1 else values

    def bin(self, op, a, b):
        (s0, e), (s1, _) = self.types[a], self.types[b]
        length = max(len(s0), len(s1))
        p0, p1 = (1,) * (length - len(s0)) + s0, (1,) * (length - len(s1)) + s1
        return self.op("train." + op, [a, b], (tuple(max(m, n) for m, n in zip(p0, p1)), e))

    def add(self, a, b): return self.bin("add", a, b)
    def sub(self, a, b): return self.bin("sub", a, b)
    def mul(self, a, b): return self.bin("mul", a, b)
    def div(self, a, b): return self.bin("div", a, b)
    def max(self, a, b): return self.bin("maximum", a, b)
    def min(self, a, b): return self.bin("minimum", a, b)

    def c(self, value, type_=S):
        return self.raw(f"train.constant dense<{value}> : {{r}}", type_)

    def ci(self, value, type_="i1"):
        if isinstance(type_, tuple):
            return self.raw(f"arith.constant dense<{value}> : {{r}}", type_)
        return self.raw(f"arith.constant {value}" + ("" if type_ == "i1" else " : {r}"), type_)

    def cast(self, a, e):
        return a if self.types[a][1] == e else self.raw("amp.cast {0} : {t0} to {r}", (self.types[a][0], e), a)

    def sum(self, a, wide=True):
        dims = ", ".join(map(str, range(len(self.types[a][0]))))
        if not dims:
            return a
        return self.op("train.reduce_sum", [a], S if wide else T(e=self.types[a][1]), attrs=f"dims = array<i64: {dims}>")

    def sum0(self, a):
        return self.op("train.reduce_sum", [a], T(*self.types[a][0][1:]), attrs="dims = array<i64: 0>")

    def dot(self, a, b): return self.sum(self.mul(a, b))
    def norm(self, a): return self.un("sqrt", self.sum(self.un("square", a)))

    def maxabs(self, a):
        dims = ", ".join(map(str, range(len(self.types[a][0]))))
        return self.op("train.reduce_max", [self.un("abs", a)], T(e=self.types[a][1]), attrs=f"dims = array<i64: {dims}>")

    def compare(self, predicate, a, b):
        return self.op(f"train.compare {predicate},", [a, b], (self.types[a][0] or self.types[b][0], "i1"))

    def tselect(self, c, a, b):
        return self.op("train.select", [c, a, b], max(self.types[a], self.types[b], key=lambda t: len(t[0])))

    def matmul(self, a, b, m, n, attrs="", e="f32"):
        return self.op("train.matmul", [a, b], T(m, n, e=e), attrs=attrs)

    def reshape(self, a, *shape): return self.op("train.reshape", [a], (tuple(shape), self.types[a][1]))

    def concat(self, parts):
        n = sum(self.types[p][0][0] for p in parts)
        return self.op("train.concat", parts, ((n,) + self.types[parts[0]][0][1:], self.types[parts[0]][1]), attrs="axis = 0 : i64")

    def slice(self, a, start, size):
        return self.op("train.slice", [a], ((size,) + self.types[a][0][1:], self.types[a][1]),
                       attrs=f"offsets = array<i64: {start}>, sizes = array<i64: {size}>, strides = array<i64: 1>")

    def bit(self, flag): return self.raw("tensor.extract {0}[] : {t0}", "i1", flag)
    def flag(self, bit): return self.raw("tensor.from_elements {0} : {r}", I1, bit)
    def i(self, op, a, b): return self.raw("arith.%s {0}, {1} : {r}" % op, self.types[a], a, b)
    def both(self, a, b): return self.i("andi", a, b)
    def true(self, of): return self.ci("true", self.types[of])
    def no(self, a): return self.i("xori", a, self.true(a))

    def cmpi(self, predicate, a, b):
        type_ = self.types[a]
        return self.raw("arith.cmpi %s, {0}, {1} : {t0}" % predicate, (type_[0], "i1") if isinstance(type_, tuple) else "i1", a, b)

    def choose(self, bit, a, b): return self.raw("arith.select {0}, {1}, {2} : {r}", self.types[a], bit, a, b)

    def when(self, bit, then, otherwise):
        """scf.if; `then` and `otherwise` emit and return values."""
        at = len(self.lines)
        a = then()
        middle = len(self.lines)
        b = otherwise()
        results = [self.new(self.types[v]) for v in a]
        types = ", ".join(text(self.types[v]) for v in a)
        yield_ = lambda vs: f"scf.yield {', '.join(vs)} : {types}"  # noqa: E731
        self.lines[at:] = [f"{', '.join(results)} = scf.if {bit} -> ({types}) {{", *self.lines[at:middle], yield_(a), "} else {",
                           *self.lines[middle:], yield_(b), "}"]
        return results

    def loop(self, n, initial, body):
        """scf.for over `n` iterations; `body(index, carried)` returns the carried values."""
        zero, one, end = (self.ci(k, "index") for k in (0, 1, n))
        index = self.new("index")
        at = len(self.lines)
        carried = [self.new(self.types[v]) for v in initial]
        after = body(index, carried)
        results = [self.new(self.types[v]) for v in initial]
        types = ", ".join(text(self.types[v]) for v in initial)
        pairs = ", ".join(f"{c} = {v}" for c, v in zip(carried, initial))
        self.lines[at:] = [f"{', '.join(results)} = scf.for {index} = {zero} to {end} step {one} iter_args({pairs}) -> ({types}) {{",
                           *self.lines[at:], f"scf.yield {', '.join(after)} : {types}", "}"]
        return results

    def loop_while(self, n, initial, body):
        """The same as scf.while with a counter."""
        zero, one, end = (self.ci(k, "i32") for k in (0, 1, n))
        at = len(self.lines)
        every = [zero, *initial]
        before = [self.new(self.types[v]) for v in every]
        inside = [self.new(self.types[v]) for v in every]
        results = [self.new(self.types[v]) for v in every]
        types = ", ".join(text(self.types[v]) for v in every)
        test = self.cmpi("slt", before[0], end)
        split = len(self.lines)
        after = body(inside[0], inside[1:])
        following = self.i("addi", inside[0], one)
        pairs = ", ".join(f"{c} = {v}" for c, v in zip(before, every))
        block = ", ".join(f"{v}: {text(self.types[v])}" for v in inside)
        self.lines[at:] = [f"{', '.join(results)} = scf.while ({pairs}) : ({types}) -> ({types}) {{", *self.lines[at:split],
                           f"scf.condition({test}) {', '.join(before)} : {types}", "} do {", f"^bb0({block}):", *self.lines[split:],
                           f"scf.yield {', '.join([following, *after])} : {types}", "}"]
        return results[1:]


class Step(Builder):
    """A linear model with a mean square error; `options` vary parts that do not define a kind."""

    DEFAULTS = {"low": "f16", "two": True, "guard": "if", "unscale": "one", "opt": "sgd", "call": False, "scale": "plain",
                "rules": "", "nobias": False}

    def __init__(self, **options):
        super().__init__()
        self.o = {**self.DEFAULTS, **options}
        self.args, self.updates, self.results, self.functions, self.attributes = [], {}, [], [], []
        self.names = ["w", "b"] if self.o["two"] else ["w"]
        self.shape = {"w": T(4, 3), "b": T(3)}
        self.P = {n: self.state(n, self.shape[n], "parameter", "normal, value = 0.5") for n in self.names}
        self.lr = self.state("lr", S, "hyperparameter", "constant, value = 0.1")
        self.x, self.y = self.state("x", T(8, 4), "batch"), self.state("y", T(8, 3), "batch")
        self.s = self.state("loss_scale", S, "scaler_state", "constant, value = 1024.0")
        self.trackers = None
        self.metrics = {}

    # -- Stages, in their order; each may be replaced. --

    def build(self):
        for stage in ("forward", "seed", "backward", "scaled", "unscale", "unscaled", "update", "scaler", "finish"):
            getattr(self, stage)()
        return self.module()

    def state(self, name, type_, role, init=None):
        value = self.new(type_, "%" + name)
        self.args.append((name, type_, role, init))
        return value

    def predict(self, x, rows=8, w=None, b=None):
        low = self.o["low"]
        y = self.matmul(self.cast(x, low), self.cast(w or self.P["w"], low), rows, 3, e=low)
        return self.add(y, self.cast(b or self.P["b"], low)) if self.o["two"] else y

    def forward(self):
        self.xl = self.cast(self.x, self.o["low"])
        self.p = self.predict(self.x)
        self.yl = self.cast(self.y, self.o["low"])
        self.loss = self.op("train.mse", [self.p, self.yl], S)
        self.metrics["loss"] = self.loss

    def scale_of(self):
        if self.o["scale"] == "plain":
            return self.s
        return self.reshape(self.reshape(self.s, 1))

    def scale_seed(self, scale, name="loss"):
        seed = self.raw(f'amp.gradient_seed "{name}" : {{r}}', S)
        if self.o["scale"] == "mul":
            return self.mul(seed, scale)
        return self.raw("amp.scale {0} by {1} : {r}", S, seed, scale)

    def seed(self):
        self.scale = self.scale_of()
        self.ds = self.scale_seed(self.scale)

    def gradient(self, x, y, p, ds, rows=8):
        """The gradients of the parameters at a batch that was cast."""
        low = self.o["low"]
        dp = self.op("train.mse_grad", [p, y, ds], T(rows, 3, e=low))
        g = {"w": self.matmul(x, dp, 4, 3, "transpose_a")}
        if self.o["two"]:
            g["b"] = self.sum0(dp)
        return g

    def backward(self):
        if self.o["call"]:
            inner = Builder()
            low, names = self.o["low"], self.names
            inner.types = {"%x": T(8, 4, e=low), "%y": T(8, 3, e=low), "%p": T(8, 3, e=low), "%ds": S}
            inner.o = self.o
            g = Step.gradient(inner, "%x", "%y", "%p", "%ds")
            types = ", ".join(text(self.shape[n]) for n in names)
            args = ", ".join(f"{n}: {text(t)}" for n, t in list(inner.types.items())[:4])
            self.functions.append("\n".join([f"func.func private @backward({args}) -> ({types}) {{", *inner.lines,
                                             f"return {', '.join(g[n] for n in names)} : {types}", "}"]))
            values = self.op("func.call @backward", [self.xl, self.yl, self.p, self.ds], *[self.shape[n] for n in names])
            self.lines[-1] = self.lines[-1].replace("@backward ", "@backward(").replace(" : (", ") : (", 1)
            self.g = dict(zip(names, values if isinstance(values, list) else [values]))
        else:
            self.g = self.gradient(self.xl, self.yl, self.p, self.ds)

    def scaled(self):
        """The change of a kind to scaled gradients."""

    def unscale_by(self, values, scale, strict=False):
        out = [self.new(T(*self.types[v][0])) for v in values]
        flag = self.new(I1)
        self.emit(f"{', '.join(out + [flag])} = amp.unscale {', '.join(values)} by {scale}{' strict' if strict else ''} : "
                  f"({', '.join(self.t(v) for v in values)}) -> ({', '.join(self.t(v) for v in out)})")
        return out, flag

    def unscale(self):
        names = list(self.g)
        if self.o["unscale"] == "each":
            self.u, self.flags = {}, []
            for n in names:
                (self.u[n],), flag = self.unscale_by([self.g[n]], self.scale)
                self.flags.append(flag)
        else:
            out, flag = self.unscale_by([self.g[n] for n in names], self.scale)
            self.u, self.flags = dict(zip(names, out)), [flag]
        self.ok = self.flags[0]
        for f in self.flags[1:]:
            self.ok = self.both(self.ok, f)

    def unscaled(self):
        """The change of a kind to unscaled gradients."""

    def optimizer_state(self):
        """Names of the optimizer's states for each parameter."""
        self.O = {}
        for n in self.names:
            for k in {"sgd": "", "momentum": "m", "adam": "mv"}[self.o["opt"]]:
                self.O[k + n] = self.state(k + n, self.shape[n], "optimizer_state", "zeros")
        if self.o["opt"] == "adam":
            self.O["t"] = self.state("t", S, "optimizer_state", "zeros")

    def step(self, gradients, rate=None):
        """The new values of parameters and optimizer states, by name."""
        new, rate = {}, rate or self.lr
        if self.o["opt"] == "adam" and "t" in self.O:
            new["t"] = self.add(self.O["t"], self.c("1.0"))
        for n, g in gradients.items():
            w, shape = self.P[n], self.shape[n]
            if self.o["opt"] == "sgd":
                new[n] = self.op("train.sgd", [w, g, rate], shape)
            elif self.o["opt"] == "momentum":
                new[n], new["m" + n] = self.op("train.sgd", [w, g, rate, self.O["m" + n]], shape, shape, attrs="momentum = 0.9 : f64")
            else:
                new[n], new["m" + n], new["v" + n] = self.op(
                    "train.adam", [w, g, rate, self.O["m" + n], self.O["v" + n], new["t"]], shape, shape, shape)
        return new

    def guarded(self, flag, compute, style=None):
        """What `compute` returns by name where the flag is set, else the old values."""
        style = style or self.o["guard"]
        keys = []

        def then():
            new = compute()
            keys.extend(new)
            return list(new.values())
        if style == "if":
            results = self.when(self.bit(flag), then, lambda: ["%" + k for k in keys])
            return dict(zip(keys, results))
        values = then()
        if style == "select":
            bit = self.bit(flag)
            return {k: self.choose(bit, v, "%" + k) for k, v in zip(keys, values)}
        return {k: self.tselect(flag, v, "%" + k) for k, v in zip(keys, values)}

    def compute(self):
        return self.step(self.u)

    def update(self):
        self.optimizer_state()
        self.updates.update(self.guarded(self.ok, self.compute))

    def scaler_trackers(self, suffix=""):
        names = ["growth_tracker" + suffix, "hysteresis_tracker" + suffix]
        return [self.state(names[0], I32, "scaler_state", "zeros"), self.state(names[1], I32, "scaler_state", "constant, value = 1.0")]

    def update_scale(self, scale, trackers, flag):
        rules = self.o["rules"]
        out = [self.new(S), self.new(I32), self.new(I32)]
        self.emit(f"{', '.join(out)} = amp.update_scale {scale}, {trackers[0]}, {trackers[1]}, {flag}"
                  + (f" {{scaler = #amp.scaler<{rules}>}}" if rules else ""))
        return out

    def scaler(self):
        self.trackers = self.scaler_trackers()
        out = self.update_scale(self.s, self.trackers, self.ok)
        self.updates.update({"loss_scale": out[0], "growth_tracker": out[1], "hysteresis_tracker": out[2]})

    def finish(self):
        """Metrics that a kind adds."""

    def module(self):
        shown = []
        for name, type_, role, init in self.args:
            start = f", amp.init = #amp.init<{init}>" if init else ""
            shown.append(f'%{name}: {text(type_)} {{amp.role = "{role}", amp.name = "{name}"{start}}}')
        values, types = [], []
        for name, value in self.updates.items():
            values.append(value)
            types.append(f'{self.t(value)} {{amp.updates = "{name}"}}')
        for name, value in self.metrics.items():
            values.append(value)
            types.append(f'{self.t(value)} {{amp.metric = "{name}"}}')
        values += [v for v, _ in self.results]
        types += [f"{self.t(v)} {{{a}}}" for v, a in self.results]
        head = ",\n    ".join(shown)
        return "\n".join([f"func.func @step(\n    {head})\n    -> ({', '.join(types)}) {{", *("  " + k for k in self.lines),
                          f"  return {', '.join(values)} : {', '.join(self.t(v) for v in values)}", "}", *self.functions]) + "\n"
