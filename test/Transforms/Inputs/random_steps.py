# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random training steps in the train dialect: a loss of a dag of operations on
matrices, gradients of its parameters, clipping, decay and optimizers, metrics.
"""

N = 4
M = f"tensor<{N}x{N}xf32>"
S = "tensor<f32>"


class Writer:
    def __init__(self, rng):
        self.rng, self.lines, self.count = rng, [], 0

    def op(self, text, results=1):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name}{f':{results}' if results > 1 else ''} = {text}")
        return name if results == 1 else [f"{name}#{i}" for i in range(results)]

    def constant(self, value, type=S):
        return self.op(f"train.constant dense<{value!r}> : {type}")

    def binary(self, name, a, b, other=M):
        return self.op(f"train.{name} {a}, {b} : ({M}, {other}) -> {M}")

    def forward(self, values):
        rng = self.rng
        pick = lambda: rng.choice(values)
        kind = rng.randrange(8)
        if kind < 3:
            flags = rng.choice(["", " {transpose_a}", " {transpose_b}"])
            return self.op(f"train.matmul {pick()}, {pick()}{flags} : ({M}, {M}) -> {M}")
        if kind < 5:
            return self.binary(rng.choice(["add", "sub", "mul"]), pick(), pick())
        if kind == 5:
            return self.binary("mul", pick(), self.constant(round(rng.uniform(-2, 2), 3)), S)
        if kind == 6:
            return self.op(f"train.softmax {pick()} {{axis = 1 : i64}} : {M}")
        return self.op(f"train.{rng.choice(['tanh', 'relu', 'gelu', 'sigmoid', 'neg', 'exp', 'square'])} {pick()} : {M}")


class Signature:
    """The arguments and results of a step."""

    def __init__(self):
        self.arguments, self.results, self.values = [], [], []

    def argument(self, name, type, role, optimizer=""):
        of = f', amp.optimizer = "{optimizer}"' if optimizer else ""
        self.arguments.append(f'%{name.replace(".", "_")}: {type} {{amp.role = "{role}", amp.name = "{name}"{of}}}')
        return "%" + name.replace(".", "_")

    def update(self, name, value, type=M):
        self.results.append(f'{type} {{amp.updates = "{name}"}}')
        self.values.append((value, type))

    def metric(self, name, value):
        self.results.append(f'{S} {{amp.metric = "{name}"}}')
        self.values.append((value, S))

    def text(self, name, lines):
        body = "\n".join(lines)
        returned = ", ".join(v for v, _ in self.values) + " : " + ", ".join(t for _, t in self.values)
        return (f"func.func @{name}(\n    " + ",\n    ".join(self.arguments) + ")\n    -> ("
                + ",\n        ".join(self.results) + f") {{\n{body}\n  return {returned}\n}}\n")


def optimize(w, signature, parameters, gradients, owners=None, counts=("",)):
    """Decay, clipping and the optimizers of `parameters`, which belong to
    `owners`. Of a name in `counts` is a count of steps."""
    rng, update = w.rng, signature.update
    owners = owners or [""] * len(parameters)
    optimizers = [rng.choice(["sgd", "momentum", "adam"]) for _ in parameters]
    types = ", ".join([M] * len(parameters))
    if rng.random() < 0.4:  # Decay of the weights.
        rate = w.constant(0.01)
        i = rng.randrange(len(parameters))
        gradients[i] = w.binary("add", gradients[i], w.binary("mul", parameters[i], rate, S))
    if rng.random() < 0.4:
        clipped = w.op(f"train.clip_by_global_norm {', '.join(gradients)} {{max_norm = 1.0 : f64}} : ({types}) -> ({types}, {S})", len(parameters) + 1)
        gradients = clipped[:-1]
        if rng.random() < 0.5:
            signature.metric("norm", clipped[-1])
    times = {}
    for owner in counts if "adam" in optimizers else ():
        name = f"t.{owner}" if owner else "t"
        old = signature.argument(name, S, "optimizer_state", owner)
        times[owner] = w.op(f"train.add {old}, {w.constant(1.0)} : ({S}, {S}) -> {S}")
        update(name, times[owner], S)
    for p, g, kind, owner in zip(parameters, gradients, optimizers, owners):
        n = p[1:]
        state = lambda s: signature.argument(f"{n}.{s}", M, "optimizer_state", owner)
        if kind == "sgd":
            update(n, w.op(f"train.sgd {p}, {g}, %lr : ({M}, {M}, {S}) -> {M}"))
        elif kind == "momentum":
            m = state("m")
            new = w.op(f"train.sgd {p}, {g}, %lr, {m} {{momentum = 0.9 : f64}} : ({M}, {M}, {S}, {M}) -> ({M}, {M})", 2)
            update(n, new[0]), update(n + ".m", new[1])
        else:
            m, v = state("m"), state("v")
            time = times.get(owner, times.get(""))
            new = w.op(f"train.adam {p}, {g}, %lr, {m}, {v}, {time} : ({M}, {M}, {S}, {M}, {M}, {S}) -> ({M}, {M}, {M})", 3)
            update(n, new[0]), update(n + ".m", new[1]), update(n + ".v", new[2])


def grow(w, nodes, parameters, more):
    """A loss of a dag of `nodes` and as many operations, in which each of
    `parameters` is used."""
    for _ in range(more):
        nodes.append(w.forward(nodes))
    for p in parameters:
        nodes.append(w.op(f"train.matmul {nodes[-1]}, {p} : ({M}, {M}) -> {M}"))
    return w.op(f"train.reduce_{w.rng.choice(['mean', 'sum'])} {nodes[-1]} {{dims = array<i64: 0, 1>}} : ({M}) -> {S}")


def differentiate(w, loss, parameters, name=""):
    types = ", ".join([M] * len(parameters))
    named = f' {{name = "{name}"}}' if name else ""
    found = w.op(f"train.gradients {loss} wrt({', '.join(parameters)}){named} : ({S}, {types}) -> ({types})", len(parameters))
    return [found] if len(parameters) == 1 else found


def step(rng, name):
    """The text of one function: one loss, one optimizer."""
    w, signature = Writer(rng), Signature()
    parameters = [signature.argument(f"w{i}", M, "parameter") for i in range(rng.randrange(1, 4))]
    signature.argument("lr", S, "hyperparameter")
    nodes = [signature.argument("x", M, "batch"), *parameters]
    loss = grow(w, nodes, parameters, rng.randrange(2, 9))
    signature.metric("loss", loss)
    optimize(w, signature, parameters, differentiate(w, loss, parameters))
    return signature.text(name, w.lines)


def scheme(rng, name, together=True):
    """The text of one function with several losses, several optimizers or
    micro-batches. A loop may hold several losses if `together`: gradients of one
    scale add up in it."""
    w, signature = Writer(rng), Signature()
    batches = rng.choice([0, 0, 3])
    losses = ["a", "b"] if rng.random() < 0.6 else ["a"]
    count = rng.randrange(1, 4)
    several = count > 1 and (rng.random() < 0.6 or (len(losses) == 1 and not batches))
    if not several and len(losses) == 1:
        batches = 3
    owners = [rng.choice(["", "d"]) if several else "" for _ in range(count)]
    if several:
        owners[:2] = ["d", rng.choice(["", "g"])]
    parameters = [signature.argument(f"w{i}", M, "parameter", owners[i]) for i in range(count)]
    signature.argument("lr", S, "hyperparameter")
    x = signature.argument("x", M.replace(f"{N}x", f"{N * batches}x", 1) if batches else M, "batch")
    wrt = {"a": parameters, "b": rng.sample(parameters, rng.randrange(1, count + 1))}
    add = lambda a, b: w.binary("add", a, b)

    totals, parts = [], {p: [] for p in parameters}
    if not batches:
        nodes = [x, *parameters]
        for loss in losses:
            value = grow(w, nodes, wrt[loss], rng.randrange(2, 6))
            totals.append(value)
            for p, g in zip(wrt[loss], differentiate(w, value, wrt[loss], loss)):
                parts[p].append(g)
    else:
        low, by, high = (w.op(f"arith.constant {v} : index") for v in (0, N, N * batches))
        zeros, zero = w.constant(0.0, M), w.constant(0.0)
        for held in [losses] if together and rng.random() < 0.5 else [[loss] for loss in losses]:
            summed = [p for p in parameters if any(p in wrt[loss] for loss in held)]
            types = [M] * len(summed) + [S]
            w.count += 1
            result = f"%v{w.count}"
            at = len(w.lines)
            w.lines.append("")
            row = w.op(f"tensor.extract_slice {x}[{result}_i, 0] [{N}, {N}] [1, 1] : tensor<{N * batches}x{N}xf32> to {M}")
            nodes, found = [row, *parameters], {p: f"{result}_{p[1:]}" for p in summed}
            carried = [f"{found[p]} = {zeros}" for p in summed] + [f"{result}_t = {zero}"]
            w.lines[at] = (f"  {result}:{len(types)} = scf.for {result}_i = {low} to {high} step {by} "
                           f"iter_args({', '.join(carried)}) -> ({', '.join(types)}) {{")
            total = f"{result}_t"
            for loss in held:
                value = grow(w, nodes, wrt[loss], rng.randrange(1, 5))
                total = w.op(f"train.add {total}, {value} : ({S}, {S}) -> {S}")
                for p, g in zip(wrt[loss], differentiate(w, value, wrt[loss], loss)):
                    found[p] = add(found[p], g)
            marks = ", ".join(f'"{p[1:]}"' for p in summed)
            w.lines.append(f"  scf.yield {', '.join([*found.values(), total])} : {', '.join(types)}")
            w.lines.append(f'  }} {{amp.gradient_of = [{marks}, ""]}}')
            for i, p in enumerate(summed):
                parts[p].append(f"{result}#{i}")
            totals.append(f"{result}#{len(summed)}")
    loss = totals[0]
    for more in totals[1:]:
        loss = w.op(f"train.add {loss}, {more} : ({S}, {S}) -> {S}")
    signature.metric("loss", loss)
    gradients = [p[0] if len(p) == 1 else add(*p) for p in parts.values()]
    counts = sorted(set(owners)) if rng.random() < 0.5 else [""]
    optimize(w, signature, parameters, gradients, owners, counts)
    return signature.text(name, w.lines)
