# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps of the digits networks on the CPU shim are those of amp-run: in f32 but
# for the order of sums, in low precision within the rounding of intermediate
# values that products keep in f32. Graph and launches agree bit by bit, and so
# do two runs.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits '%cuda_host_cxx' '%cuda_host_lib'

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from program import Builder, compare, run

folder, models, digits, compiler, library = sys.argv[1:6]
builder = Builder(compiler, library, folder)
BATCH, STEPS = 32, 5
# Relative distance of any state after five steps.
BOUNDS = {"f32": 1e-5, "fp16": 2e-3, "bf16": 2e-2}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def check(model, precision, *options, name):
    path = f"{models}/{model}.mlir"
    program = builder.build(
        name, path, "--batch-size", str(BATCH), "--precision", precision, *options
    )
    expected, actual = f"{folder}/{name}.cpu.npz", f"{folder}/{name}.npz"
    run(["amp-run", path, "--data", digits, "--batch-size", str(BATCH), "--steps", str(STEPS),
         "--precision", precision, "--seed", "3", "--quiet", "--save", expected, *options])
    train = [program, "--data", digits, "--steps", str(STEPS), "--seed", "3", "--quiet"]
    run([*train, "--poison", "--save", actual])
    worst, state = compare(actual, expected)
    print(f"{name}: {worst:.2e} ({state})")
    assert worst <= BOUNDS[precision], (name, state, worst)
    # Bit for bit: a second run, and one without a graph.
    for suffix, more in (("again", []), ("launches", ["--no-graph"])):
        run([*train, *more, "--save", f"{folder}/{name}.{suffix}.npz"])
        assert read(f"{folder}/{name}.{suffix}.npz") == read(actual), (name, suffix)


for model in ("digits-mlp", "digits-cnn"):
    check(model, "f32", name=f"{model}-f32")
    check(model, "fp16", name=f"{model}-fp16")
    check(model, "fp16", "--master-weights", "copy", name=f"{model}-copy")
    check(model, "bf16", name=f"{model}-bf16")
    # So large a scale that steps overflow and are skipped.
    check(model, "fp16", "--loss-scale", "1e9", name=f"{model}-overflow")
