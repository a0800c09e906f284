# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The bytes that the launches of a step read and write on the CPU emulator, each address once for
# each kernel, are at most a tenth more than those of the cost report, and at least half of them.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models '%cuda_host_cxx' '%cuda_host_lib'

import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from networks import NETWORKS
from program import Builder, run

folder, models, compiler, library = sys.argv[1:5]
builder = Builder(compiler, library, folder)
failures = []
launches = 0
STEPS = {
    f"{model}-{precision}": (f"{models}/{model}.mlir", "--batch-size", "32", "--precision", precision)
    for model, precision in (("digits-mlp", "f32"), ("digits-mlp", "fp16"), ("digits-cnn", "bf16"))
}
# Its embedding of words sorts indices. The report counts a table of embeddings
# as a whole, and the emulator each byte of a mask as often as it is read.
ONLY = {"gpt2": {"scatter_add"}}
options, _, size = NETWORKS["gpt2"]
gpt2 = f"{folder}/gpt2.mlir"
run(["amp-model", "gpt2", *options, "-o", gpt2])
STEPS["gpt2"] = (gpt2, "--batch-size", str(size), "--precision", "bf16")
for name, program in zip(STEPS, builder.build_all(STEPS)):
    trace = f"{folder}/trace"
    # Every launch but those of predictions runs in a step whose metrics are read.
    run([program, "--synthetic", "--steps", "1", "--no-graph", "--quiet", "--metrics-csv", f"{folder}/metrics.csv"],
        env={**os.environ, "AMP_CUDA_HOST_TRACE": trace})
    counted = collections.Counter()
    with open(trace) as file:
        for line in file:
            launch, _, loaded, stored = line.rstrip("\n").split("\t")
            counted[launch] += int(loaded) + int(stored)
    reported = {}
    for line in run(["amp-translate", "--cuda-costs", *STEPS[name]]).splitlines()[2:]:
        fields = line.split()
        # Name, operations, bytes, bound by, roofline bound, estimate, and the results that need it.
        if len(fields) == 6 or fields[6:] == ["for", "metrics"]:
            reported[fields[0]] = int(fields[2])
    assert len(reported) >= 14, reported
    # Launches of creation and saving are in no range.
    assert not set(counted) - set(reported) - {""}, set(counted) - set(reported)
    for launch, bytes in reported.items():
        if launch not in ONLY.get(name, reported):
            continue
        launches += 1
        if not bytes / 2 <= counted[launch] <= 1.1 * bytes:
            failures.append(f"{name} {launch}: {counted[launch]} bytes, reported {bytes}")
print(launches, "launches;", *failures, sep="\n")
sys.exit(1 if failures else 0)
