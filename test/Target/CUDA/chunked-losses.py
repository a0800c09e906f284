# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Steps that never hold the logits of a whole batch, on the CPU emulator: states, losses and accuracies
# are the same as in amp-run, within 1e-5 in f32 and within a few roundings in bf16 and fp16, and also with
# smooth labels. Two runs, and runs with and without a graph, are equal bit for bit. The arena is smaller by
# the logits.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import csv
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from networks import CONSTANT_RATE, NETWORKS
from program import Builder, distances, run

folder, compiler, library = sys.argv[1:4]
builder = Builder(compiler, library, folder)
options, batches, size = NETWORKS["gpt2"]
model, data = f"{folder}/gpt2.mlir", f"{folder}/gpt2.npz"
run(["amp-model", "gpt2", *options, "--optimizer=sgd", *CONSTANT_RATE, "-o", model])
np.savez(data, **batches(np.random.default_rng(7), 3 * size))
# 36 rows of 4200 logits: three chunks of 12 rows.
ROWS, WORDS = size * 12, 4200
BOUNDS = {"f32": (3, 1e-5), "bf16": (1, 1.6e-2), "fp16": (1, 2e-3), "f32-smooth": (3, 1e-5)}
with open(model) as file:
    text, count = re.subn(r"(train\.cross_entropy %\S+, %\S+)", r"\1 {label_smoothing = 0.1 : f64}", file.read())
assert count == 1, count
smooth = f"{folder}/smooth.mlir"
with open(smooth, "w") as file:
    file.write(text)


def describe(case):
    """The model and the options of a case."""
    precision, _, kind = case.partition("-")
    return smooth if kind else model, "--batch-size", str(size), "--precision", precision


def limit(case):
    width = 4 if case.startswith("f32") else 2
    return ("--logit-bytes", str(12 * WORDS * width))


names = {case: (*describe(case), *limit(case)) for case in BOUNDS}
for (case, (steps, bound)), program in zip(BOUNDS.items(), builder.build_all(names)):
    common = ["--data", data, "--seed", "3", "--quiet", "--steps", str(steps)]

    def train(suffix, command, *extra):
        saved, metrics = f"{folder}/{case}.{suffix}.npz", f"{folder}/{case}.{suffix}.csv"
        run([*command, *common, *extra, "--save", saved, "--metrics-csv", metrics])
        with open(metrics) as file:
            return saved, list(csv.DictReader(file))

    expected, wanted = train("cpu", ["amp-run", *describe(case)])
    saved, metrics = train("cuda", [program], "--poison")
    apart = distances(saved, expected)
    worst = max(apart, key=apart.get)
    print(f"{case}: {apart[worst]:.1e} ({worst})", flush=True)
    assert apart[worst] <= bound, (case, worst)
    for found, right in zip(metrics, wanted):
        assert abs(float(found["loss"]) - float(right["loss"])) <= bound * float(right["loss"]), (found, right)
        assert abs(float(found["accuracy"]) - float(right["accuracy"])) <= 1 / ROWS, (found, right)
    for suffix, extra in (("again", ()), ("launches", ("--no-graph",))):
        other, same = train(suffix, [program], *extra)
        assert same == metrics and not any(distances(other, saved).values()), (case, suffix)


# With a larger batch the logits are most of the memory. One of three parts of them remains.
LARGE = 1024


def memory(*more):
    text = run(["amp-translate", "--cuda-costs", model, "--batch-size", str(LARGE), "--precision", "bf16", *more])
    return int(re.search(r"^memory (\d+) bytes", text, re.M)[1])


logits = LARGE * 12 * WORDS * 2
whole, chunked = memory("--logit-bytes", "0"), memory("--logit-bytes", str(logits // 3))
print(f"{whole} bytes, {chunked} in chunks; {logits} of logits")
assert whole - chunked >= 0.9 * 2 / 3 * logits, (whole, chunked, logits)
