# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random small graphs with odd extents, several in one step, forward and with
# their gradients: the state after a step on the CPU emulator is the same as in amp-run, in
# ascending and in random order of threads. With --long 500 graphs; two more
# arguments choose the first step and how many follow.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, load, run

folder, compiler, library = sys.argv[1:4]
# Compiling takes most of the time.
builder = Builder(compiler + " -O0", library, folder)
LONG = bool(os.environ.get("AMP_LONG_TESTS"))
# Graphs in a step, steps in a compilation, and steps from which number on.
GRAPHS, TOGETHER, FIRST, STEPS = 10, 5, 0, 50 if LONG else 1
if len(sys.argv) > 4:
    FIRST, STEPS = map(int, sys.argv[4:6])
# Of a graph without a product in f32; each operation after another adds its
# rounding in the low types.
BOUNDS = {"f32": 2e-5, "f16": 2e-2, "bf16": 1.5e-1}

UNARY = ["neg", "abs", "sin", "cos", "tanh", "relu", "sigmoid", "square", "gelu", "erf"]
BINARY = ["add", "sub", "mul", "maximum", "minimum"]


def tensor(shape, element):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + element + ">"


class Graph:
    """Values of at most three dimensions, drawn one after the other; the sum of
    the last one is the loss, whose gradients are results too."""

    def __init__(self, number, element, draw):
        self.prefix, self.element, self.draw = f"g{number}_", element, draw
        self.arguments, self.lines, self.values = [], [], []
        rank = draw.choice([1, 2, 2, 2, 3])
        shape = [draw.choice([1, 2, 3, 5, 7, 8, 9, 16, 17, 33]) for _ in range(rank)]
        for _ in range(draw.randint(1, 3)):
            self.argue(shape)
        for _ in range(draw.randint(3, 9)):
            self.grow()

    def argue(self, shape):
        name = f"{self.prefix}a{len(self.arguments)}"
        self.arguments.append((name, shape))
        return self.define(f"train.mul %{name}, %unit : ({tensor(shape, 'f32')}, tensor<f32>) -> {tensor(shape, 'f32')}"
                           if self.element == "f32" else
                           f"amp.cast %{name} : {tensor(shape, 'f32')} to {tensor(shape, self.element)}", shape)

    def define(self, text, shape):
        name = f"%{self.prefix}v{len(self.values)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, shape))
        return name, shape

    def type(self, shape):
        return tensor(shape, self.element)

    def grow(self):
        draw = self.draw
        value, shape = draw.choice(self.values[-4:])
        kind = draw.randrange(9)
        type = self.type(shape)
        if kind <= 1:
            self.define(f"train.{draw.choice(UNARY)} {value} : {type}", shape)
        elif kind <= 3:
            # An operand of the same shape, of its last dimension, or a new one.
            same = [other for other in self.values if other[1] == shape]
            other, right = draw.choice(same)
            if draw.random() < 0.4 and shape:
                right = [extent if draw.random() < 0.6 else 1 for extent in shape]
                right = right[draw.randrange(len(right)) :]
                other, right = self.argue(right)
            self.define(f"train.{draw.choice(BINARY)} {value}, {other} : ({type}, {self.type(right)}) -> {type}", shape)
        elif kind == 4 and len(shape) > 1:
            axis = draw.randrange(len(shape))
            keep = draw.random() < 0.5
            result = [1 if keep and i == axis else extent for i, extent in enumerate(shape) if keep or i != axis]
            self.define(f"train.reduce_{draw.choice(['sum', 'mean', 'max'])} {value} {{dims = array<i64: {axis}>"
                        f"{', keep_dims' if keep else ''}}} : ({type}) -> {self.type(result)}", result)
        elif kind == 5 and shape:
            op = draw.choice(["softmax", "log_softmax"])
            self.define(f"train.{op} {value} {{axis = {draw.randrange(len(shape))} : i64}} : {type}", shape)
        elif kind == 6 and len(shape) == 2:
            columns = draw.choice([1, 3, 8, 17])
            weight, right = self.argue([shape[1], columns])
            result = [shape[0], columns]
            self.define(f"train.linear {value}, {weight} : ({type}, {self.type(right)}) -> {self.type(result)}", result)
        elif kind == 7 and len(shape) >= 2:
            order = list(range(len(shape)))
            draw.shuffle(order)
            result = [shape[i] for i in order]
            self.define(f"train.transpose {value} {{permutation = array<i64: {', '.join(map(str, order))}>}} : "
                        f"({type}) -> {self.type(result)}", result)
        elif kind == 8 and shape and shape[0] > 2:
            size = draw.randint(1, shape[0] - 1)
            start = draw.randint(0, shape[0] - size)
            result = [size, *shape[1:]]
            offsets = ", ".join(map(str, [start] + [0] * (len(shape) - 1)))
            self.define(f"train.slice {value} {{offsets = array<i64: {offsets}>, sizes = array<i64: "
                        f"{', '.join(map(str, result))}>, strides = array<i64: {', '.join(['1'] * len(shape))}>}} : "
                        f"({type}) -> {self.type(result)}", result)
        else:
            self.define(f"train.tanh {value} : {type}", shape)

    def finish(self):
        """Lines for the loss and the gradients; the results."""
        value, shape = self.values[-1]
        p, type = self.prefix, self.type(shape)
        lines = list(self.lines)
        if self.element != "f32":
            lines.append(f"%{p}wide = amp.cast {value} : {type} to {tensor(shape, 'f32')}")
            value = f"%{p}wide"
        lines.append(f"%{p}bounded = train.tanh {value} : {tensor(shape, 'f32')}")
        loss = f"%{p}bounded"
        if shape:
            dims = ", ".join(str(i) for i in range(len(shape)))
            lines.append(f"%{p}loss = train.reduce_mean {loss} {{dims = array<i64: {dims}>}} : ({tensor(shape, 'f32')}) -> tensor<f32>")
            loss = f"%{p}loss"
        types = [tensor(shape, "f32") for _, shape in self.arguments]
        names = ", ".join(f"%{name}" for name, _ in self.arguments)
        grads = [f"%{p}d#{i}" for i in range(len(types))]
        lines.append(f"%{p}d:{len(types)} = train.gradients {loss} wrt({names}) : "
                     f"(tensor<f32>, {', '.join(types)}) -> ({', '.join(types)})")
        results = [(f"{p}value", value, shape)]
        results += [(f"{p}grad{i}", grad, shape) for i, (grad, (_, shape)) in enumerate(zip(grads, self.arguments))]
        return lines, results


def make_step(graphs):
    arguments = ['%l: tensor<2xi64> {amp.role = "batch", amp.name = "l"}',
                 '%unit: tensor<f32> {amp.role = "hyperparameter", amp.name = "unit", amp.init = #amp.init<constant, value = 1.0>}']
    body, returns, types = [], [], []
    for graph in graphs:
        lines, results = graph.finish()
        body += lines
        for name, shape in graph.arguments:
            # Not parameters: their gradients are results like any other.
            arguments.append(f'%{name}: {tensor(shape, "f32")} {{amp.role = "model_state", amp.name = "{name}"}}')
            returns.append(f"%{name}")
            types.append(f'{tensor(shape, "f32")} {{amp.updates = "{name}"}}')
        for name, value, shape in results:
            type = tensor(shape, "f32")
            arguments.append(f'%s_{name}: {type} {{amp.role = "model_state", amp.name = "out.{name}", amp.init = #amp.init<zeros>}}')
            returns.append(value)
            types.append(f'{type} {{amp.updates = "out.{name}"}}')
    plain = [type.split(" {")[0] for type in types]
    return (f"func.func @step({', '.join(arguments)})\n    -> ({', '.join(types)}) {{\n  " + "\n  ".join(body)
            + f"\n  return {', '.join(returns)} : {', '.join(plain)}\n}}\n")


class Step:
    """Some graphs in one step, which is one program."""

    def __init__(self, number):
        self.number, self.name = number, f"step{number}"
        draw = random.Random(1000 + number)
        element = ["f16", "f32", "bf16"][number % 3] if LONG else "f16"
        # f32 next to the low type shows faults independent of the rounding.
        self.graphs = [Graph(i, element if i % 2 else "f32", draw) for i in range(GRAPHS)]
        model = f"{folder}/{self.name}.mlir"
        with open(model, "w") as file:
            file.write(make_step(self.graphs))
        self.lowered = f"{folder}/{self.name}.backward.mlir"
        run(["amp-opt", model, "--train-autodiff", "-o", self.lowered])

    def check(self, program):
        """The number of values compared, and those that differ."""
        generator = np.random.default_rng(self.number)
        start = {name: generator.standard_normal(shape).astype(np.float32)
                 for graph in self.graphs for name, shape in graph.arguments}
        np.savez(f"{folder}/start.npz", **start)
        common = ["--data", f"{folder}/data.npz", "--init", f"{folder}/start.npz", "--steps", "1", "--quiet"]
        run(["amp-run", self.lowered, *common, "--save", f"{folder}/cpu.npz"])
        expected = load(f"{folder}/cpu.npz")
        compared, failures = 0, []
        for order in ("ascending", "random"):
            run([program, *common, "--poison", "--save", f"{folder}/gpu.npz"],
                env={**os.environ, "AMP_CUDA_HOST_ORDER": order})
            actual = load(f"{folder}/gpu.npz")
            for number, graph in enumerate(self.graphs):
                for name in expected:
                    if not name.startswith(f"out.g{number}_"):
                        continue
                    compared += 1
                    difference = np.abs(actual[name] - expected[name])
                    size = max(np.max(np.abs(expected[name]), initial=0.0), 1e-3)
                    apart = np.max(difference, initial=0.0) / size
                    if not apart <= BOUNDS[graph.element]:
                        failures.append(f"{self.name} ({order}) {name} {graph.element}: {apart:.2e}")
        return compared, failures


np.savez(f"{folder}/data.npz", train_l=np.zeros(2, np.int64))
failures, compared = [], 0
for first in range(FIRST, FIRST + STEPS, TOGETHER):
    steps = [Step(number) for number in range(first, min(first + TOGETHER, FIRST + STEPS))]
    programs = builder.build_all({step.name: (step.lowered,) for step in steps})
    for step, program in zip(steps, programs):
        more, different = step.check(program)
        compared += more
        failures += different
        print(step.name, more, *different, flush=True)
        os.remove(program)
print(STEPS * GRAPHS, "graphs,", compared, "values;", *failures, sep="\n")
assert compared >= STEPS * GRAPHS * 4
sys.exit(1 if failures else 0)
