# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The peak that the allocator of a step counts equals the plan from the lowered code, and is far
# less than the sum of all buffers.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %models %digits

import json
import re
import subprocess
import sys

import numpy as np

folder, models, digits = sys.argv[1:]
rng = np.random.default_rng(2)
BOUND = 0.02


def execute(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


def check(name, model, data, batch, precisions="f32,fp16,bf16"):
    path = f"{folder}/{name}.json"
    execute("amp-run", model, "--data", data, "--compare", precisions, "--steps", 1, "--batch-size", batch,
            "--quiet", "--metrics-json", path)
    with open(path) as file:
        runs = json.load(file)["runs"]
    peaks = {}
    for run in runs:
        planned, allocated = (run["results"]["peak bytes " + what] for what in ("planned", "allocated"))
        print(f"{name} {run['precision']}: planned {planned:,}, allocated {allocated:,}")
        assert abs(planned - allocated) <= BOUND * allocated, (name, run["precision"], planned, allocated)
        peaks[run["precision"]] = allocated
    return peaks


for name in ("digits-mlp", "digits-cnn"):
    check(name, f"{models}/{name}.mlir", digits, 64)

tokens = {key: rng.integers(0, 31, (4, 12)) for key in ("tokens", "targets")}
np.savez(folder + "/tokens.npz", **tokens)
peaks = {}
for layers in (1, 5):
    path = f"{folder}/gpt{layers}.mlir"
    execute("amp-model", "gpt2", f"--layers={layers}", "--width=16", "--heads=2", "--vocabulary=31",
            "--positions=16", "--sequence=12", "--clip=0", "-o", path)
    peaks[layers] = check(f"gpt{layers}", path, folder + "/tokens.npz", 4, "bf16")["bf16"]
    lowered = execute("amp-opt", path, "--amp-training-pipeline=precision=bf16", "--train-set-batch=batch-size=4",
                      "--amp-cpu-pipeline=to-llvm=false")
    step = lowered[lowered.index("@step_cpu("):].split("func.func")[0]
    total = 0
    for shape, element in re.findall(r"= memref\.alloc\(.*memref<((?:\d+x)*)(\w+)>", step):
        size = {"f32": 4, "bf16": 2, "i64": 8, "i1": 1}[element]
        total += -(-size * int(np.prod([int(extent) for extent in shape.split("x")[:-1]])) // 64) * 64
    print(f"gpt{layers}: {total:,} in all buffers of the step")
    assert peaks[layers] < total / 2, (layers, peaks, total)
