# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of the digits networks on the CPU shim are those of amp-run. In f32 but
# for the order of sums, after five steps. In low precision within a few
# roundings after one step; after five, in which a flipped bit of a maximum or a
# relu has spread, no farther than the low run of amp-run is from its f32 run.
# Graph and launches agree bit by bit, and so do two runs.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib' digits-mlp
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib' digits-cnn

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from program import Builder, distance, distances, load, run

folder, models, digits, compiler, library, model = sys.argv[1:7]
builder = Builder(compiler, library, folder)
path = f"{models}/{model}.mlir"
COMMON = ["--data", digits, "--seed", "3", "--quiet"]
# Relative distance of any state: in f32 after five steps, else after one.
BOUNDS = {"f32": 1e-5, "fp16": 1e-3, "bf16": 8e-3, "as written": 1e-3}


def read(name):
    with open(name, "rb") as file:
        return file.read()


def train_on_cpu(name, steps, *options, path=path):
    saved = f"{folder}/{name}.cpu{steps}.npz"
    run(["amp-run", path, *COMMON, "--batch-size", "32", "--steps", str(steps), "--save", saved,
         *options])
    return saved


def check(precision, *options, name, path=path):
    if precision != "as written":
        options = ["--precision", precision, *options]
    program = builder.build(f"{model}-{name}", path, "--batch-size", "32", *options)

    def train(suffix, steps, *more):
        saved = f"{folder}/{model}-{name}.{suffix}.npz"
        run([program, *COMMON, "--steps", str(steps), "--save", saved, *more])
        return saved

    actual = train("five", 5, "--poison")
    expected = train_on_cpu(name, 5, *options, path=path)
    apart = distances(actual, expected)
    worst = max(apart, key=apart.get)
    print(f"{model} {name}: {apart[worst]:.1e} ({worst}) after 5 steps", flush=True)
    if precision == "f32":
        assert apart[worst] <= BOUNDS["f32"], (name, worst)
    else:
        wide, low = load(f32), load(expected)
        for state, value in apart.items():
            # Copies and the scale have no counterpart in f32.
            limit = distance(low[state], wide[state]) if state in wide else 0.0
            assert value <= max(limit, 4 * BOUNDS[precision]), (name, state, value, limit)
        apart = distances(train("one", 1), train_on_cpu(name, 1, *options, path=path))
        worst = max(apart, key=apart.get)
        print(f"{model} {name}: {apart[worst]:.1e} ({worst}) after 1 step", flush=True)
        assert apart[worst] <= BOUNDS[precision], (name, worst)
    # Bit for bit: a second run, and one without a graph.
    assert read(train("again", 5)) == read(actual), name
    assert read(train("launches", 5, "--no-graph")) == read(actual), name


f32 = train_on_cpu("f32", 5, "--precision", "f32")
check("f32", name="f32")
check("fp16", name="fp16")
check("fp16", "--master-weights", "copy", name="copy")
check("fp16", "--loss-scale", "layerwise", name="layers")
check("bf16", name="bf16")
# So large a scale at the start that three steps overflow, are skipped and halve
# it, and two update.
step = run(["amp-opt", path, "--amp-training-pipeline=precision=fp16"])
assert "value = 6.553600e+04" in step
with open(f"{folder}/overflow.mlir", "w") as file:
    file.write(step.replace("value = 6.553600e+04", "value = 16777216.0"))
check("as written", name="overflow", path=f"{folder}/overflow.mlir")
assert load(f"{folder}/{model}-overflow.five.npz")["loss_scale"] == 2**21
