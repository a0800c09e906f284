# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of small convolutional networks and transformers on the CPU emulator are
# those of amp-run: in f32 within 1e-5 for each state after three steps, or within four times the
# change that one unit in the last place of the inputs causes in amp-run itself (a residual network
# of 1x1 images in batch norm makes 2e-4 of it); in low precision after one step within a few
# roundings, or no farther than two runs can be that are both as far from f32 as the one of amp-run.
# Without --long each takes one low type, and all are compiled together: every compilation takes
# seconds for the common part of the programs.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from networks import CONSTANT_RATE, NETWORKS
from program import Builder, distance, distances, load, run

folder, compiler, library = sys.argv[1:4]
builder = Builder(compiler, library, folder)
LONG = "AMP_LONG_TESTS" in os.environ
BOUNDS = {"fp16": 2e-3, "bf16": 1.6e-2}
QUICK = {"lenet": "fp16", "resnet18": "fp16", "gpt2": "bf16", "gpt2-dropout": "fp16", "decoder": "bf16", "decoder-packed": "fp16", "bert": "fp16", "vit": "bf16"}
failures = []


class Network:
    """A model and its data, and a second time with inputs one unit in the last place away."""

    def __init__(self, name):
        options, batches, self.size = NETWORKS[name]
        self.name = name
        self.low = list(BOUNDS) if LONG else [QUICK[name]]
        self.data, self.moved = f"{folder}/{name}.npz", f"{folder}/{name}-moved.npz"
        arrays = batches(np.random.default_rng(11), 3 * self.size)
        np.savez(self.data, **arrays)
        np.savez(self.moved, **{
            key: np.nextafter(array, np.float32(np.inf)) if array.dtype == np.float32 else array
            for key, array in arrays.items()
        })
        self.model = f"{folder}/{name}.mlir"
        run(["amp-model", name.split("-")[0], *options, "--optimizer=sgd", *CONSTANT_RATE, "-o", self.model])

    def sized(self, precision):
        return ["--batch-size", str(self.size), "--precision", precision]

    def programs(self):
        return {f"{self.name}-{precision}": (self.model, *self.sized(precision)) for precision in ("f32", *self.low)}

    def train(self, command, suffix, precision, steps, data):
        saved = f"{folder}/{self.name}-{precision}-{steps}{suffix}.npz"
        run([*command, "--data", data, "--seed", "3", "--quiet", "--steps", str(steps), "--save", saved])
        return saved

    def train_on_cpu(self, precision, steps, suffix=".cpu", data=None):
        command = ["amp-run", self.model, *self.sized(precision)]
        return self.train(command, suffix, precision, steps, data or self.data)

    def run_program(self, precision, steps):
        command = [f"{folder}/{self.name}-{precision}", "--poison"]
        return self.train(command, "", precision, steps, self.data)

    def compare(self, precision, steps, bound, allowed):
        """Compares states within `bound`, or within the bound of a state in `allowed`."""
        expected = self.train_on_cpu(precision, steps)
        apart = distances(self.run_program(precision, steps), expected)
        worst = max(apart, key=apart.get)
        print(f"{self.name} {precision}: {len(apart)} states, {apart[worst]:.1e} ({worst}) after {steps} steps",
              flush=True)
        low = load(expected)
        for state, value in apart.items():
            limit = bound if value <= bound else max(bound, allowed(low, state))
            if not value <= limit:
                failures.append(f"{self.name} {precision} {state}: {value:.1e}, expected at most {limit:.1e}")

    def check(self):
        @functools.lru_cache(None)
        def moved_run():
            return load(self.train_on_cpu("f32", 3, ".moved", self.moved))

        self.compare("f32", 3, 1e-5, lambda cpu, state: 4 * distance(moved_run()[state], cpu[state]))
        wide = load(self.run_program("f32", 1))

        def far_from_f32(low, state):
            # The scale and its counters have no counterpart in f32.
            return 2 * distance(low[state], wide[state]) if state in wide else 0

        for precision in self.low:
            self.compare(precision, 1, BOUNDS[precision], far_from_f32)


networks = [Network(name) for name in NETWORKS]
# All programs of a long run in one source take more memory than a machine may have.
for group in [[network] for network in networks] if LONG else [networks]:
    builder.build_all({name: program for network in group for name, program in network.programs().items()})
for network in networks:
    network.check()
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
