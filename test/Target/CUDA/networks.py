# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of small convolutional networks and transformers on the CPU shim are
# those of amp-run: in f32 within 1e-5 for each state after three steps; in low
# precision after one step within a few roundings, or no farther than the low run
# of amp-run is from f32. The longest one takes bf16 with --long.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' lenet
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' resnet18
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' gpt2
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' bert
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' vit

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from networks import CONSTANT_RATE, NETWORKS
from program import Builder, distance, distances, load, run

folder, compiler, library, name = sys.argv[1:5]
# Compiling takes most of the time.
builder = Builder(compiler + " -O0", library, folder)
options, batches, size = NETWORKS[name]
data = f"{folder}/{name}.npz"
np.savez(data, **batches(np.random.default_rng(11), 3 * size))
model = f"{folder}/{name}.mlir"
run(["amp-model", name, *options, "--optimizer=sgd", *CONSTANT_RATE, "-o", model])
failures = []


def paths(precision, steps):
    sized = ["--batch-size", str(size), "--precision", precision]
    common = ["--data", data, "--seed", "3", "--quiet", "--steps", str(steps)]
    return sized, common, f"{folder}/{name}-{precision}-{steps}"


def train_on_cpu(precision, steps):
    sized, common, saved = paths(precision, steps)
    run(["amp-run", model, *common, *sized, "--save", saved + ".cpu.npz"])
    return saved + ".cpu.npz"


def run_program(precision, steps):
    _, common, saved = paths(precision, steps)
    run([f"{folder}/{name}-{precision}", *common, "--poison", "--save", saved + ".npz"])
    return saved + ".npz"


def check(precision, steps, bound, wide=None):
    expected = train_on_cpu(precision, steps)
    builder.build(f"{name}-{precision}", model, *paths(precision, steps)[0])
    apart = distances(run_program(precision, steps), expected)
    worst = max(apart, key=apart.get)
    print(f"{name} {precision}: {len(apart)} states, {apart[worst]:.1e} ({worst}) after {steps} steps", flush=True)
    low, wide = load(expected), wide and load(wide)
    for state, value in apart.items():
        # The scale and its counters have no counterpart in f32.
        limit = max(bound, distance(low[state], wide[state])) if wide and state in wide else bound
        if not value <= limit:
            failures.append(f"{precision} {state}: {value:.1e}, expected at most {limit:.1e}")


check("f32", 3, 1e-5)
wide = run_program("f32", 1)
check("fp16", 1, 2e-3, wide)
if name != "resnet18" or "AMP_LONG_TESTS" in os.environ:
    check("bf16", 1, 1.6e-2, wide)
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
