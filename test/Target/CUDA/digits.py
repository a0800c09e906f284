# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of the digits networks on the CPU emulator equal the steps of amp-run. In f32 but
# for the order of sums, after five steps. In low precision within a few
# roundings after one step. After five, the perceptron is within 2e-3 in fp16 and
# 1e-3 in bf16. In the convolutional network a bit of a maximum or a relu flips: it
# is no farther than the low run of amp-run is from its f32 run. --long runs it with
# copies and a batch of 32.
# Graph and launches agree bit by bit, and so do two runs.
#
# The trainers' evaluation of held-out data and their predictions are the same as in
# amp-run, after the same steps in f32, and otherwise with the same weights. Their errors for wrong
# data are the same too. A state that amp-run saved resumes.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib'

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, distance, distances, load, run

folder, models, digits, compiler, library = sys.argv[1:6]
builder = Builder(compiler, library, folder)
LONG = "AMP_LONG_TESTS" in os.environ
# Emulated convolutions are slow: batches of 8 are enough for a quick run. The
# scales are too large for the first steps.
BATCHES = {"digits-mlp": "32", "digits-cnn": "32" if LONG else "8"}
SCALES = {"digits-mlp": 2**24, "digits-cnn": 2**24 if LONG else 2**20}
# Held-out samples that do not fill the last batch.
held = f"{folder}/held.npz"
with np.load(digits) as arrays:
    np.savez(held, **{name: array[:45] if name.startswith("test_") else array for name, array in arrays.items()})
COMMON = ["--data", held, "--seed", "3", "--quiet"]
# Relative distance of any state: in f32 after five steps, else after one.
BOUNDS = {"f32": 1e-5, "fp16": 1e-3, "bf16": 8e-3, "as written": 1e-3}
# After five, where no bit flips: with these batches and seeds (measured for the
# perceptron: 1.1e-4 and 1.7e-8).
TIGHT = {"fp16": 2e-3, "bf16": 1e-3}
# Of the predictions, with the same weights but after f32.
PREDICTED = {"f32": 1e-5, "fp16": 2e-3, "bf16": 1.6e-2, "as written": 2e-3}


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

    def evaluate(self, *weights):
        """Predictions and their evaluation, as amp-run has them."""
        reads, results = [], []
        for name, command in ("cpu", ["amp-run", self.path, *self.options]), ("gpu", [f"{folder}/{self.program}"]):
            predictions = f"{folder}/{self.program}.{name}.predictions.npz"
            text = run([*command, *COMMON, *weights, "--eval", "--predict", predictions])
            results.append({key: float(value) for key, value in (line.split(": ") for line in text.splitlines())
                            if key.startswith("eval ")})
            reads.append(predictions)
        apart = distances(reads[1], reads[0])
        bound = PREDICTED[self.precision]
        cpu, gpu = results
        print(f"{self.program}: {apart}, {gpu}", flush=True)
        assert list(apart) == ["logits"] and load(reads[1])["logits"].shape == (45, 10)
        assert apart["logits"] <= bound, (self.program, apart)
        assert cpu.keys() == gpu.keys() == {"eval loss", "eval accuracy"}, (cpu, gpu)
        assert abs(cpu["eval loss"] / gpu["eval loss"] - 1) <= bound, (cpu, gpu)
        assert cpu["eval accuracy"] == gpu["eval accuracy"], (cpu, gpu)

    def check(self, f32):
        """`f32` is the file of the same five steps in f32."""
        actual = self.train("five", 5, "--poison")
        expected = self.train_on_cpu(5)
        if self.precision == "f32":
            self.evaluate("--steps", "5")
            saved = [f"{folder}/{self.program}.{name}.resumed.npz" for name in ("cpu", "gpu")]
            resume = ["--data", held, "--load", expected, "--steps", "2", "--quiet", "--save"]
            run(["amp-run", self.path, *self.options, *resume, saved[0]])
            run([f"{folder}/{self.program}", *resume, saved[1]])
            assert max(distances(saved[1], saved[0]).values()) <= BOUNDS["f32"], self.program
        self.evaluate("--init", expected)
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
                if self.model == "digits-mlp" and not LONG:
                    limit = TIGHT.get(self.precision, limit)
                assert value <= limit, (self.program, state, value, limit)
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

# Errors about the data are the same as in amp-run, and nothing is written.
case = cases[0]
good = load(held)
WRONG = {
    "none": {},
    "no images": {"test_labels": good["test_labels"]},
    "shape": {**good, "test_images": good["test_images"][:, :63]},
    "type": {**good, "test_labels": good["test_labels"].astype(np.float32)},
    "class": {**good, "test_labels": good["test_labels"] + 1},
    "samples": {**good, "test_labels": good["test_labels"][:7]},
    "empty": {**good, "test_images": good["test_images"][:0], "test_labels": good["test_labels"][:0]},
}
output = f"{folder}/wrong.npz"
weights = ["--init", f"{folder}/{case.program}.cpu5.npz"]


def message(command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1 and "error: " in result.stderr, (command, result.stderr)
    assert not os.path.exists(output), command
    return result.stderr[result.stderr.index("error: "):]


COMMANDS = [["amp-run", case.path, *case.options], [f"{folder}/{case.program}"]]
for name, arrays in WRONG.items():
    path = f"{folder}/wrong {name}.npz"
    np.savez(path, **arrays)
    cpu, gpu = (message([*command, "--data", path, *weights, "--eval", "--predict", output]) for command in COMMANDS)
    assert cpu == gpu, (name, cpu, gpu)
    print(gpu.rstrip(), flush=True)
for options in (["--data", f"{folder}/absent.npz"], ["--data", held, "--predict", f"{folder}/absent/out.npz"],
                ["--data", held, "--predict", held], ["--data", held, "--predict", output, "--save", output],
                ["--data", held, "--predict", folder]):
    for command in COMMANDS:
        text = message([*command, *weights, "--eval", *options])
        assert any(part in text for part in ("cannot read", "cannot write", "cannot open", "would overwrite")), text
