# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small networks with plans of cuDNN, on the implementation of the plans on the CPU."""

import os
import shlex
import subprocess

import numpy as np
from networks import CONSTANT_RATE, NETWORKS
from program import distance, distances, join, load, run

STEPS = 5
# Rounding decides the later states: small differences grow by ten in each step. A skipped step takes amp-run
# in the low type far from f32, so these states also have a bound of their own.
FEWER_STEPS = {"resnet18": 2}
MOST_AFTER_FEWER = 0.13
BOUNDS = {"fp16": 4e-3, "bf16": 3.2e-2}


def count_steps(model):
    return FEWER_STEPS.get(model, STEPS)


class Programs:
    """Programs in one executable, which trains the one that it is called by."""

    def __init__(self, folder, compiler, library):
        self.folder, self.compiler, self.library = folder, shlex.split(compiler), shlex.split(library)
        self.sources, self.failures = {}, []

    def add_model(self, model, edit=lambda text: text):
        """Writes a model of networks.py, changed by `edit`, and its data."""
        options, batches, size = NETWORKS[model]
        graph = f"{self.folder}/{model}.mlir"
        np.savez(f"{self.folder}/{model}.npz", **batches(np.random.default_rng(11), 3 * size))
        run(["amp-model", model.split("-")[0], *options, "--optimizer=sgd", *CONSTANT_RATE, "-o", graph])
        with open(graph) as file:
            text = edit(file.read())
        with open(graph, "w") as file:
            file.write(text)

    def emit(self, name, model, precision, *options):
        """Adds the program of a model and returns its source."""
        self.sources[name] = run(["amp-translate", "--mlir-to-cuda", "--emit-main", f"{self.folder}/{model}.mlir",
                                  "--batch-size", str(NETWORKS[model][2]), "--precision", precision, *options])
        return self.sources[name]

    def mutate(self, base, mutations, kind=""):
        """Adds a copy of the program `base` with each mistake: a text and its replacement, or a function. `kind`
        distinguishes the mistakes of several programs."""
        for number, mistake in enumerate(mutations.values()):
            text = self.sources[base]
            changed = mistake(text) if callable(mistake) else text.replace(*mistake)
            assert changed != text, f"the source has no '{mistake}'"
            self.sources[f"mutant{kind}{number}"] = changed

    def build(self):
        with open(f"{self.folder}/all.cu", "w") as file:
            file.write(join(self.sources))
        # Some mistakes leave variables without a use.
        flags = [flag for flag in self.compiler if flag != "-Werror"]
        run([*flags, "-w", f"{self.folder}/all.cu", *self.library, "-o", f"{self.folder}/all"])

    def train(self, name, model, suffix="", *options, **environment):
        """The path of the states after some steps, or nothing, and the messages."""
        program = f"{self.folder}/{name}"
        if not os.path.exists(program):
            os.link(f"{self.folder}/all", program)
        states = f"{program}{suffix}.npz"
        result = subprocess.run([program, "--seed", "3", "--quiet", "--poison", "--steps", str(count_steps(model)), *options,
                                 "--data", f"{self.folder}/{model}.npz", "--save", states],
                                capture_output=True, text=True, env={**os.environ, **environment}, timeout=600)
        return states if result.returncode == 0 else None, result.stderr.strip()

    def train_on_cpu(self, model, precision):
        """Trains with amp-run in f32 and in `precision`."""
        for kind in ("f32", precision):
            run(["amp-run", f"{self.folder}/{model}.mlir", "--batch-size", str(NETWORKS[model][2]), "--precision", kind,
                 "--seed", "3", "--quiet", "--steps", str(count_steps(model)), "--data", f"{self.folder}/{model}.npz",
                 "--save", f"{self.folder}/{model}-{kind}.cpu.npz"])

    def compare(self, states, model, precision):
        """A summary, and as text the states that differ more than they may: by the bound of the type, or by twice the
        distance of amp-run in the type from f32."""
        expected = f"{self.folder}/{model}-{precision}.cpu.npz"
        wide = load(f"{self.folder}/{model}-f32.cpu.npz")
        low, apart = load(expected), distances(states, expected)
        worst = max(apart, key=apart.get)
        most = MOST_AFTER_FEWER if model in FEWER_STEPS else np.inf
        wrong = [f"{state}: {value:.1e}" for state, value in apart.items()
                 if not value <= min(most, max(BOUNDS[precision], 2 * distance(low[state], wide[state]) if state in wide else 0))]
        return f"{len(apart)} states, {apart[worst]:.1e} ({worst})", wrong

    def check(self, name, model, precision):
        """Trains a program and compares its states with those of amp-run."""
        states, error = self.train(name, model)
        assert states, (name, error)
        found, wrong = self.compare(states, model, precision)
        print(f"{name}: {found} after {count_steps(model)} steps", flush=True)
        self.failures += [f"{name} {state}" for state in wrong]

    def check_repeats(self, name, model):
        """The same bits again, without a graph, and where plans need more workspace than is planned."""
        first = load(f"{self.folder}/{name}.npz")
        for suffix, options, environment in ((".again", [], {}), (".plain", ["--no-graph"], {}),
                                             (".spare", [], {"AMP_CUDA_HOST_EXTRA_WORKSPACE": "4194304"})):
            states, error = self.train(name, model, suffix, *options, **environment)
            assert states, (suffix, error)
            second = load(states)
            self.failures += [f"{suffix} {state} differs" for state in first if not state.startswith("__")
                              and not np.array_equal(first[state], second[state], equal_nan=True)]

    def check_mutants(self, mutations, model, precision, kind=""):
        """Each mistake makes a program fail or its states differ."""
        for number, mistake in enumerate(mutations):
            states, error = self.train(f"mutant{kind}{number}", model)
            why = "; ".join(self.compare(states, model, precision)[1][:2]) if states else error.splitlines()[-1]
            print(f"{mistake}: {why or 'NOT DETECTED'}", flush=True)
            if not why:
                self.failures.append(f"not detected: {mistake}")
