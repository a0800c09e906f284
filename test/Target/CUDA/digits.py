# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of the digits networks on the CPU shim are those of amp-run. In f32 but
# for the order of sums, after five steps. In low precision within a few
# roundings after one step; after five, in which a flipped bit of a maximum or a
# relu may have spread, within 2e-3 in fp16 and 1e-3 in bf16. The convolutional
# network in full (one step, copies, a batch of 32) with --long: there a bit flips,
# and five steps are no farther than the low run of amp-run is from its f32 run.
# Graph and launches agree bit by bit, and so do two runs.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib'

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from program import Builder, distance, distances, load, run

folder, models, digits, compiler, library = sys.argv[1:6]
builder = Builder(compiler, library, folder)
LONG = "AMP_LONG_TESTS" in os.environ
# Emulated convolutions are slow: batches of 8 are enough for a quick run. The
# scales are too large for the first steps.
BATCHES = {"digits-mlp": "32", "digits-cnn": "32" if LONG else "8"}
SCALES = {"digits-mlp": 2**24, "digits-cnn": 2**24 if LONG else 2**20}
COMMON = ["--data", digits, "--seed", "3", "--quiet"]
# Relative distance of any state: in f32 after five steps, else after one.
BOUNDS = {"f32": 1e-5, "fp16": 1e-3, "bf16": 8e-3, "as written": 1e-3}
# After five, where no bit flips: with these batches and seeds (measured: 6.3e-4
# and 1.6e-4 for the convolutional network, 1.1e-4 and 1.7e-8 for the other).
TIGHT = {"fp16": 2e-3, "bf16": 1e-3}


def read(name):
    with open(name, "rb") as file:
        return file.read()


class Case:
    """A network in one precision. The pipeline runs with `options`, or has run
    where the model is another one."""

    def __init__(self, model, name, *options, path=None):
        self.model, self.name = model, name
        self.path = path or f"{models}/{model}.mlir"
        self.options = [*options, "--batch-size", BATCHES[model]]
        self.precision = "as written" if path else options[1]

    @property
    def program(self):
        return f"{self.model}-{self.name}"

    def train_on_cpu(self, steps):
        saved = f"{folder}/{self.program}.cpu{steps}.npz"
        run(["amp-run", self.path, *COMMON, *self.options, "--steps", str(steps), "--save", saved])
        return saved

    def train(self, suffix, steps, *more):
        saved = f"{folder}/{self.program}.{suffix}.npz"
        run([f"{folder}/{self.program}", *COMMON, "--steps", str(steps), "--save", saved, *more])
        return saved

    def check(self, f32):
        """`f32` is the file of the same five steps in f32."""
        actual = self.train("five", 5, "--poison")
        expected = self.train_on_cpu(5)
        apart = distances(actual, expected)
        worst = max(apart, key=apart.get)
        print(f"{self.program}: {apart[worst]:.1e} ({worst}) after 5 steps", flush=True)
        if self.precision == "f32":
            assert apart[worst] <= BOUNDS["f32"], (self.program, worst)
        else:
            wide, low = load(f32), load(expected)
            for state, value in apart.items():
                # Copies and the scale have no counterpart in f32.
                limit = distance(low[state], wide[state]) if state in wide else 0.0
                limit = max(limit, 4 * BOUNDS[self.precision])
                if not LONG:
                    limit = TIGHT.get(self.precision, limit)
                assert value <= limit, (self.program, state, value, limit)
            if LONG or self.model == "digits-mlp":
                apart = distances(self.train("one", 1), self.train_on_cpu(1))
                worst = max(apart, key=apart.get)
                print(f"{self.program}: {apart[worst]:.1e} ({worst}) after 1 step", flush=True)
                assert apart[worst] <= BOUNDS[self.precision], (self.program, worst)
        # Bit for bit: a second run, and one without a graph.
        assert read(self.train("again", 5)) == read(actual), self.program
        assert read(self.train("launches", 5, "--no-graph")) == read(actual), self.program


cases = []
for model in BATCHES:
    # So large a scale at the start that some steps overflow, are skipped and
    # halve it, and others update.
    step = run(["amp-opt", f"{models}/{model}.mlir", "--amp-training-pipeline=precision=fp16"])
    assert "value = 6.553600e+04" in step
    overflow = f"{folder}/{model}-overflow.mlir"
    with open(overflow, "w") as file:
        file.write(step.replace("value = 6.553600e+04", f"value = {SCALES[model]}.0"))
    cases += [
        Case(model, "f32", "--precision", "f32"),
        Case(model, "fp16", "--precision", "fp16"),
        Case(model, "bf16", "--precision", "bf16"),
        Case(model, "overflow", path=overflow),
    ]
    if LONG or model == "digits-mlp":
        cases.append(Case(model, "copy", "--precision", "fp16", "--master-weights", "copy"))
        cases.append(Case(model, "layers", "--precision", "fp16", "--loss-scale", "layerwise"))
builder.build_all({case.program: (case.path, *case.options) for case in cases})
for case in cases:
    case.check(f"{folder}/{case.model}-f32.cpu5.npz")
for model in BATCHES:
    # Some steps were skipped, and at least one was not.
    assert SCALES[model] / 2**4 <= load(f"{folder}/{model}-overflow.five.npz")["loss_scale"] < SCALES[model]
