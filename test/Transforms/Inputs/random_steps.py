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


def step(rng, name):
    """The text of one function."""
    w = Writer(rng)
    count = rng.randrange(1, 4)
    parameters = [f"%w{i}" for i in range(count)]
    optimizers = [rng.choice(["sgd", "momentum", "adam"]) for _ in parameters]
    arguments = [f'{p}: {M} {{amp.role = "parameter", amp.name = "{p[1:]}"}}' for p in parameters]
    arguments += [f'%lr: {S} {{amp.role = "hyperparameter", amp.name = "lr"}}',
                  f'%x: {M} {{amp.role = "batch", amp.name = "x"}}']
    results, values = [], []
    state = lambda n, t=M: arguments.append(f'%{n}: {t} {{amp.role = "optimizer_state", amp.name = "{n}"}}')
    update = lambda n, v, t=M: (results.append(f'{t} {{amp.updates = "{n}"}}'), values.append((v, t)))
    metric = lambda n, v: (results.append(f'{S} {{amp.metric = "{n}"}}'), values.append((v, S)))

    nodes = ["%x", *parameters]
    for _ in range(rng.randrange(2, 9)):
        nodes.append(w.forward(nodes))
    for p in parameters:  # Each is used.
        nodes.append(w.op(f"train.matmul {nodes[-1]}, {p} : ({M}, {M}) -> {M}"))
    flat = nodes[-1]
    loss = w.op(f"train.reduce_{rng.choice(['mean', 'sum'])} {flat} {{dims = array<i64: 0, 1>}} : ({M}) -> {S}")
    metric("loss", loss)
    wrt = ", ".join(parameters)
    types = ", ".join([M] * count)
    gradients = w.op(f"train.gradients {loss} wrt({wrt}) : ({S}, {types}) -> ({types})", count)
    gradients = [gradients] if count == 1 else gradients
    if rng.random() < 0.4:  # Decay of the weights.
        rate = w.constant(0.01)
        i = rng.randrange(count)
        gradients[i] = w.binary("add", gradients[i], w.binary("mul", parameters[i], rate, S))
    if rng.random() < 0.4:
        clipped = w.op(f"train.clip_by_global_norm {', '.join(gradients)} {{max_norm = 1.0 : f64}} : ({types}) -> ({types}, {S})", count + 1)
        gradients = clipped[:-1]
        if rng.random() < 0.5:
            metric("norm", clipped[-1])
    if "adam" in optimizers:
        state("t", S)
        one = w.constant(1.0)
        time = w.op(f"train.add %t, {one} : ({S}, {S}) -> {S}")
        update("t", time, S)
    for p, g, kind in zip(parameters, gradients, optimizers):
        n = p[1:]
        if kind == "sgd":
            update(n, w.op(f"train.sgd {p}, {g}, %lr : ({M}, {M}, {S}) -> {M}"))
        elif kind == "momentum":
            state(n + ".m")
            arguments[-1] = arguments[-1].replace(f"%{n}.m:", f"%{n}_m:")
            new = w.op(f"train.sgd {p}, {g}, %lr, %{n}_m {{momentum = 0.9 : f64}} : ({M}, {M}, {S}, {M}) -> ({M}, {M})", 2)
            update(n, new[0]), update(n + ".m", new[1])
        else:
            for s in "mv":
                state(f"{n}.{s}")
                arguments[-1] = arguments[-1].replace(f"%{n}.{s}:", f"%{n}_{s}:")
            new = w.op(f"train.adam {p}, {g}, %lr, %{n}_m, %{n}_v, {time} : ({M}, {M}, {S}, {M}, {M}, {S}) -> ({M}, {M}, {M})", 3)
            update(n, new[0]), update(n + ".m", new[1]), update(n + ".v", new[2])
    lines = "\n".join(w.lines)
    returned = ", ".join(v for v, _ in values) + " : " + ", ".join(t for _, t in values)
    return (f"func.func @{name}(\n    " + ",\n    ".join(arguments) + ")\n    -> ("
            + ",\n        ".join(results) + f") {{\n{lines}\n  return {returned}\n}}\n")
