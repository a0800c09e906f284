# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Programs that compute values of the forward pass again, and gradients of attention in parts, on the CPU
# emulator: states after three steps are those of programs that keep all values, bit for bit, in less
# memory. A part that begins at another place is detected.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from networks import CONSTANT_RATE, NETWORKS
from planned import Programs
from program import load, run

# Enough samples that activations are most of the memory.
BATCH = 32
LAYERS = ("--layers=2",)
CASES = {
    "bert": ("fp16", LAYERS, r"layerNormAndBackward"),
    "decoder": ("bf16", LAYERS, r"rmsNormAndBackward|rmsNormForward"),
    "gpt2": ("bf16", LAYERS, r"layerNormAndBackward"),
    "resnet18": ("bf16", (), r"batchNormAddReluApply|batchNormReluApply"),
    "vit": ("bf16", LAYERS, r"layerNormAndBackward"),
}
KEPT = ("--recompute-rate=0", "--attention-bytes=0")
AGAIN = ("--recompute-rate=1", "--attention-bytes=1")
PLANS = ("--attention=cudnn", "--convolutions=cudnn")
WRONG = ("steps[AMP_CUDNN_KEY] = ", "steps[AMP_CUDNN_KEY] = 0 * ")

programs = Programs(*sys.argv[1:4])
folder = programs.folder
arenas = {}
for model, (precision, more, _) in CASES.items():
    options, batches, _ = NETWORKS[model]
    np.savez(f"{folder}/{model}.npz", **batches(np.random.default_rng(5), 2 * BATCH))
    run(["amp-model", model, *options, *more, "--optimizer=sgd", *CONSTANT_RATE, "-o", f"{folder}/{model}.mlir"])
    step = [f"{folder}/{model}.mlir", "--batch-size", str(BATCH), "--precision", precision, *PLANS]
    for name, choice in (("kept", KEPT), ("again", AGAIN)):
        programs.sources[f"{model}-{name}"] = run(["amp-translate", "--mlir-to-cuda", "--emit-main", *step, *choice])
        costs = run(["amp-translate", "--cuda-costs", *step, *choice])
        arenas[model, name] = int(re.search(r"^memory (\d+) bytes", costs, re.M)[1])
for model, (_, _, text) in CASES.items():
    counts = [len(re.findall(text, programs.sources[f"{model}-{name}"])) for name in ("kept", "again")]
    print(f"{model}: {arenas[model, 'kept']} bytes, {arenas[model, 'again']} with values computed again; {counts}", flush=True)
    assert arenas[model, "again"] < arenas[model, "kept"] and counts[1] > counts[0], model
    divided = "runCuDNNPlanInParts" in programs.sources[f"{model}-again"]
    assert divided == (model != "resnet18") and "InParts" not in programs.sources[f"{model}-kept"], model
programs.mutate("gpt2-again", {"a part that reads the keys of the first one": WRONG})
programs.build()


def train(name, model):
    states, error = programs.train(name, model)
    assert states, (name, error)
    return load(states)


def differs(name, model, expected):
    found = train(name, model)
    return [state for state in expected if not state.startswith("__")
            and not np.array_equal(found[state], expected[state], equal_nan=True)]


failures = []
for model in CASES:
    expected = train(f"{model}-kept", model)
    failures += [f"{model}: {state} differs" for state in differs(f"{model}-again", model, expected)]
    if model == "gpt2" and not differs("mutant0", model, expected):
        failures.append("not detected: a part that reads the keys of the first one")
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
