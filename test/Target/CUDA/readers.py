# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A training step computes metrics only if they are read, and a trainer never
# computes its predictions. Reading results does not change the training: the
# states are equal bit for bit with and without, by graphs and by launches, and
# in a second run. The losses and accuracies are the same in a run that reads all.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models '%cuda_host_cxx' '%cuda_host_lib'

import collections
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from program import Builder, run

folder, models, compiler, library = sys.argv[1:5]
builder = Builder(compiler, library, folder)
STEP = (f"{models}/digits-mlp.mlir", "--batch-size", "32", "--precision", "bf16")
trainer = builder.build("mlp", *STEP)
STEPS = 20

# The launches that only results need, by their results.
costs = run(["amp-translate", "--cuda-costs", *STEP])
readers = dict(re.findall(r"^(\w+) .*  for (metrics|predictions)$", costs, re.M))
assert set(readers.values()) == {"metrics", "predictions"}, costs
arena = int(re.search(r"^memory (\d+) bytes", costs, re.M)[1])
# Each batch has two slots outside the arena.
with open(f"{folder}/mlp.cu") as file:
    shapes = re.findall(r"Role::Batch, Type::(\w+), \d+, \{([\d, ]*)\}", file.read().split("namespace forward")[0])
slots = 2 * sum(np.prod([int(extent) for extent in shape.split(", ")]) * {"F32": 4, "I64": 8}[kind] for kind, shape in shapes)
assert slots >= 2 * 32 * 64 * 4, shapes
with_predictions = int(re.search(r"^with predictions the memory is (\d+) bytes$", costs, re.M)[1])
assert with_predictions >= arena + 32 * 10 * 4, costs


def train(name, *options, reads=False):
    """The state, the launches of readers and the metrics or the output of a run."""
    trace, state, metrics = (f"{folder}/{name}.{kind}" for kind in ("trace", "npz", "csv"))
    if reads:
        options = (*options, "--metrics-csv", metrics)
    text = run([trainer, "--synthetic", "--steps", str(STEPS), "--save", state, *options],
        env={**os.environ, "AMP_CUDA_HOST_TRACE": trace})
    counted = collections.Counter()
    with open(trace) as file:
        for line in file:
            launch = line.split("\t")[0]
            if launch in readers:
                counted[launch] += 1
    with open(state, "rb") as file:
        return file.read(), counted, open(metrics).read() if reads else text


state, counted, _ = train("quiet", "--quiet")
assert not counted, counted
# Progress shows every second step.
shown = train("shown")
assert shown[1] and all(readers[name] == "metrics" and count == STEPS // 2 for name, count in shown[1].items()), shown[1]
assert re.search(rf"^bytes of device memory: {arena + slots}$", shown[2], re.M), (arena, slots, shown[2])
every = train("every", "--quiet", reads=True)
assert all(count == STEPS for count in every[1].values()) and set(every[1]) == set(shown[1]), every[1]
launched = train("launched", "--quiet", "--no-graph", "--poison", reads=True)
assert every[2] == launched[2] and len(every[2].splitlines()) == STEPS + 1, every[2]
for other in (shown, every, launched, train("again", "--quiet")):
    assert other[0] == state
print(STEPS, "steps,", len(readers), "launches for results,", with_predictions - arena, "bytes for predictions")
