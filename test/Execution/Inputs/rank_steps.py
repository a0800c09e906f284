# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of a small classifier, and runs of them on several ranks."""

import json
import subprocess

import numpy as np

BATCH = 24
PARAMETERS = {"l1.w": "8x16", "l1.b": "16", "l2.w": "16x4", "l2.b": "4"}
# Steps with a batch that overflows in f16, on one rank.
BAD = (7, 20, 21)


def names(prefix, part=""):
    return ", ".join(f"%{prefix}{i}{part}" for i in range(len(PARAMETERS)))


def types():
    return ", ".join(f"tensor<{shape}xf32>" for shape in PARAMETERS.values())


def forward(rows, part="", dropout=False, norm=False):
    """The loss of the rows `%x`, `%t`, the logits and the gradients."""
    wide, out = f"tensor<{rows}x16xf32>", f"tensor<{rows}x4xf32>"
    text = f"""
  %h{part} = train.linear %x{part}, %p0, %p1 : (tensor<{rows}x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> {wide}
"""
    if norm:
        stats = ", ".join(["tensor<16xf32>"] * 4)
        text += f"  %z, %mu, %rstd, %next_mean, %next_var = train.batch_norm_training %h, %p1, %p1, %mean, %var : ({wide}, {stats}) -> ({wide}, {stats})\n"
    text += f"  %r{part} = train.relu %{'z' if norm else 'h' + part} : {wide}\n"
    if dropout:
        text += f"  %d{part} = train.dropout %r{part}, %rng {{rate = 0.5 : f64, key = 3 : i32}} : ({wide}, tensor<2xi64>) -> {wide}\n"
    text += f"""
  %y{part} = train.linear %{'d' if dropout else 'r'}{part}, %p2, %p3 : ({wide}, tensor<16x4xf32>, tensor<4xf32>) -> {out}
"""
    return text


STATES = {
    "dropout": [("rng", "tensor<2xi64>", "rng_state", "%next")],
    "norm": [("mean", "tensor<16xf32>", "zeros", "%next_mean"), ("var", "tensor<16xf32>", "ones", "%next_var")],
}


def update_by_sgd(gradients):
    return "".join(f"  %n{i}, %m{i} = train.sgd %p{i}, {gradient}, %lr, %v{i} {{momentum = 0.9 : f64}} : "
                     f"(tensor<{shape}xf32>, tensor<{shape}xf32>, tensor<f32>, tensor<{shape}xf32>) -> (tensor<{shape}xf32>, tensor<{shape}xf32>)\n"
                     for i, (gradient, shape) in enumerate(zip(gradients, PARAMETERS.values())))


def update_by_adamw(gradients, clip):
    """The update of the state `v`, the first moments, and `s`, the second ones."""
    body = ""
    if clip:
        kinds, last = ", ".join(f"tensor<{shape}xf32>" for shape in PARAMETERS.values()), len(PARAMETERS)
        body = f"  %c:{last + 1} = train.clip_by_global_norm {', '.join(gradients)} {{max_norm = {clip} : f64}} : ({kinds}) -> ({kinds}, tensor<f32>)\n"
        gradients = [f"%c#{i}" for i in range(last)]
    body += "  %one = train.constant dense<1.0> : tensor<f32>\n  %time1 = train.add %time, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
    for i, (gradient, shape) in enumerate(zip(gradients, PARAMETERS.values())):
        t = f"tensor<{shape}xf32>"
        body += (f"  %n{i}, %m{i}, %q{i} = train.adamw %p{i}, {gradient}, %lr, %v{i}, %s{i}, %time1 {{weight_decay = 0.1 : f64}} : "
                 f"({t}, {t}, tensor<f32>, {t}, {t}, tensor<f32>) -> ({t}, {t}, {t})\n")
    return body


def module(rows, body, gradients, loss, layer=None, optimizer="sgd", clip=None):
    arguments = "".join(f'%p{i}: tensor<{shape}xf32> {{amp.role = "parameter", amp.name = "{name}", amp.init = #amp.init<normal, value = 0.3>}}, '
                        f'%v{i}: tensor<{shape}xf32> {{amp.role = "optimizer_state", amp.name = "{name}.v", amp.init = #amp.init<zeros>}}, '
                        for i, (name, shape) in enumerate(PARAMETERS.items()))
    results = "".join(f'tensor<{shape}xf32> {{amp.updates = "{name}"}}, tensor<{shape}xf32> {{amp.updates = "{name}.v"}}, '
                      for name, shape in PARAMETERS.items())
    states = list(STATES.get(layer, []))
    role = "model_state"
    if optimizer == "adamw":
        role = "optimizer_state"
        states += [(f"s{i}", f"tensor<{shape}xf32>", "zeros", f"%q{i}") for i, shape in enumerate(PARAMETERS.values())] + [("time", "tensor<f32>", "zeros", "%time1")]
    state = "".join(f'%{name}: {kind} {{amp.role = "{role}", amp.name = "{name}", amp.init = #amp.init<{init}>}}, ' for name, kind, init, _ in states)
    update = update_by_adamw(gradients, clip) if optimizer == "adamw" else update_by_sgd(gradients)
    if layer == "dropout":
        update += "  %next = train.advance_rng %rng : tensor<2xi64>\n"
    results += "".join(f'{kind} {{amp.updates = "{name}"}}, ' for name, kind, _, _ in states)
    returned = "".join(f"%n{i}, %m{i}, " for i in range(len(PARAMETERS))) + "".join(f"{new}, " for *_, new in states)
    kinds = "".join(f"tensor<{shape}xf32>, tensor<{shape}xf32>, " for shape in PARAMETERS.values()) + "".join(f"{kind}, " for _, kind, _, _ in states)
    return (f'func.func @step({arguments}{state}%x: tensor<{rows}x8xf32> {{amp.role = "batch", amp.name = "x"}}, '
            f'%t: tensor<{rows}xi64> {{amp.role = "batch", amp.name = "labels"}}, '
            f'%lr: tensor<f32> {{amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.05>}}) '
            f'-> ({results}tensor<f32> {{amp.metric = "loss"}}) {{\n{body}{update}  return {returned}{loss} : {kinds}tensor<f32>\n}}\n')


def differentiate(loss, part=""):
    return f"  %g{part}:4 = train.gradients {loss} wrt({names('p')}) : (tensor<f32>, {types()}) -> ({types()})\n"


def whole(layer=None, **settings):
    body = forward("?", dropout=layer == "dropout", norm=layer == "norm") + "  %loss = train.cross_entropy %y, %t : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<f32>\n"
    return module("?", body + differentiate("%loss"), [f"%g#{i}" for i in range(4)], "%loss", layer, **settings)


def write_data(folder, steps, rng):
    """Writes `data.npz`, and `overflows.npz` with large numbers in the second quarter of three
    batches, which is on rank 1 of 4 and of 3. Returns the latter."""
    data = {"x": rng.standard_normal((steps * BATCH, 8)).astype(np.float32),
            "labels": rng.integers(0, 4, steps * BATCH).astype(np.int64)}
    np.savez(folder + "data.npz", **data)
    for step in BAD:
        data["x"][step * BATCH + 9] = 60000
    np.savez(folder + "overflows.npz", **data)
    return data


class Runs:
    """Runs of amp-run in one folder."""

    def __init__(self, folder, steps):
        self.folder, self.steps = folder, steps

    def write(self, name, text):
        with open(self.folder + name, "w") as file:
            file.write(text)
        return self.folder + name

    def run(self, ranks, model, *options, expect=0):
        launcher = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        done = subprocess.run([*launcher, "amp-run", model, *map(str, options)], capture_output=True, text=True, timeout=200)
        assert (done.returncode == 0) == (expect == 0), (ranks, options, done.returncode, done.stdout, done.stderr)
        return done

    def train(self, ranks, model, name, *options, steps=None, source="data.npz"):
        done = self.run(ranks, model, "--data", self.folder + source, "--batch-size", BATCH, "--steps", steps or self.steps,
                        "--save", f"{self.folder}{name}.npz", "--metrics-json", f"{self.folder}{name}.json", "--quiet", *options)
        # Only rank 0 prints.
        assert done.stdout.count("ms per step") <= 1, done.stdout
        with np.load(f"{self.folder}{name}.npz") as file:
            state = {key: file[key] for key in file.files}
        with open(f"{self.folder}{name}.json") as file:
            return state, json.load(file)["runs"][0]


def states(arrays):
    return {key: value for key, value in arrays.items() if not key.startswith("__amp")}


def assert_equal(a, b, what):
    assert a.keys() == b.keys(), (what, a.keys() ^ b.keys())
    for key in a:
        assert a[key].tobytes() == b[key].tobytes(), (what, key, np.abs(a[key].astype(np.float64) - b[key]).max())


def metric(run, name):
    return [step[name] for step in run["steps"]]
