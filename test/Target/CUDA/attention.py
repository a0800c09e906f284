# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Transformers with attention by plans of cuDNN, on the implementation of the plans on
# the CPU: states after five steps are those of amp-run, or no farther than twice
# the distance of amp-run in the low type from f32, with plans and with products. Two runs and a run
# without a graph give the same bits, and a plan that needs more workspace than is
# planned the same too. Each mistake that an emitter could make is detected.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from networks import CONSTANT_RATE, NETWORKS
from program import distance, distances, join, load, run

folder, compiler, library = sys.argv[1:4]
STEPS = 5
BOUNDS = {"fp16": 4e-3, "bf16": 3.2e-2}
CASES = [("gpt2", "bf16"), ("decoder", "bf16"), ("bert", "fp16"), ("vit", "bf16")]
# The usual weights make all scores nearly equal, which hides mistakes.
QKV_WEIGHT = re.compile(r'(#amp\.init<normal, value = )[-+.e\d]+( : f64>, amp\.name = "[^"]*qkv\.weight")')
MUTATIONS = {
    "no causal mask": ("a.right_bound = 0;", "a.right_bound = -1;"),
    "another scale": ("a.scale = 0.25;", "a.scale = 0.35;"),
    "keys for values": ("p[AMP_CUDNN_VALUE] = ", "p[AMP_CUDNN_VALUE] = -32 + "),
    "a stride of another tensor": ("a.strides[AMP_CUDNN_KEY] = {1152, 16, 96}", "a.strides[AMP_CUDNN_KEY] = {1152, 0, 96}"),
    "gradients in the wrong order": ("AMP_CUDNN_QUERY_GRAD]", "AMP_CUDNN_@"),
    "a gradient of another head": ("a.strides[AMP_CUDNN_VALUE_GRAD] = {1152, 16,", "a.strides[AMP_CUDNN_VALUE_GRAD] = {1152, 0,"),
    "a plan of the other direction": ("runCuDNNPlan(run, 1,", "runCuDNNPlan(run, 0,"),
    "an output beyond its buffer": ("p[AMP_CUDNN_OUTPUT] = ", "p[AMP_CUDNN_OUTPUT] = 8 + "),
    "a pointer between elements of 16 bytes": ("p[AMP_CUDNN_QUERY] = ", "p[AMP_CUDNN_QUERY] = 1 + "),
    "no workspace": ("run.at<void>(at::attention_grad_scratch)", "nullptr"),
}
COMMON = ["--seed", "3", "--quiet", "--poison", "--steps", str(STEPS)]
failures, sources = [], {}


def mutate(text, old, new):
    if "@" in new:
        # Two names swapped.
        return (text.replace("p[AMP_CUDNN_QUERY_GRAD]", "p[@]").replace("p[AMP_CUDNN_KEY_GRAD]", "p[AMP_CUDNN_QUERY_GRAD]")
                .replace("p[@]", "p[AMP_CUDNN_KEY_GRAD]"))
    assert old in text, f"the source has no '{old}'"
    return text.replace(old, new)


for model, precision in CASES:
    options, batches, size = NETWORKS[model]
    graph = f"{folder}/{model}.mlir"
    np.savez(f"{folder}/{model}.npz", **batches(np.random.default_rng(11), 3 * size))
    run(["amp-model", model, *options, "--optimizer=sgd", *CONSTANT_RATE, "-o", graph])
    with open(graph) as file:
        text, count = QKV_WEIGHT.subn(r"\g<1>0.3\2", file.read())
    assert count == 1, (model, count)
    with open(graph, "w") as file:
        file.write(text)
    sized = ["--batch-size", str(size), "--precision", precision]
    for attention in ("cudnn", "decomposed"):
        text = run(["amp-translate", "--mlir-to-cuda", "--emit-main", graph, *sized, f"--attention={attention}"])
        assert ("amp_cudnn_create_attention" in text) == (attention == "cudnn"), (model, attention)
        sources[f"{model}-{precision}-{attention}"] = text
base = sources["gpt2-bf16-cudnn"]
for number, (old, new) in enumerate(MUTATIONS.values()):
    sources[f"mutant{number}"] = mutate(base, old, new)
with open(f"{folder}/all.cu", "w") as file:
    file.write(join(sources))
flags = [flag for flag in shlex.split(compiler) if flag != "-Werror"]
run([*flags, "-w", f"{folder}/all.cu", *shlex.split(library), "-o", f"{folder}/all"])


def train(name, model, suffix="", *options, **environment):
    program = f"{folder}/{name}"
    if not os.path.exists(program):
        os.link(f"{folder}/all", program)
    result = subprocess.run([program, *COMMON, *options, "--data", f"{folder}/{model}.npz", "--save", f"{program}{suffix}.npz"],
                            capture_output=True, text=True, env={**os.environ, **environment}, timeout=600)
    return f"{program}{suffix}.npz" if result.returncode == 0 else None, result.stderr.strip()


def compare(states, model, precision):
    """The states that differ more than they may, as text."""
    expected = f"{folder}/{model}-{precision}.cpu.npz"
    wide = load(f"{folder}/{model}-f32.cpu.npz")
    low, apart = load(expected), distances(states, expected)
    worst = max(apart, key=apart.get)
    wrong = [f"{state}: {value:.1e}" for state, value in apart.items()
             if not value <= max(BOUNDS[precision], 2 * distance(low[state], wide[state]) if state in wide else 0)]
    return f"{len(apart)} states, {apart[worst]:.1e} ({worst})", wrong


for model, precision in CASES:
    size = NETWORKS[model][2]
    for kind in ("f32", precision):
        run(["amp-run", f"{folder}/{model}.mlir", "--batch-size", str(size), "--precision", kind, "--seed", "3", "--quiet",
             "--steps", str(STEPS), "--data", f"{folder}/{model}.npz", "--save", f"{folder}/{model}-{kind}.cpu.npz"])
    for attention in ("cudnn", "decomposed"):
        name = f"{model}-{precision}-{attention}"
        states, error = train(name, model)
        assert states, (name, error)
        found, wrong = compare(states, model, precision)
        print(f"{name}: {found} after {STEPS} steps", flush=True)
        failures += [f"{name} {state}" for state in wrong]

first = load(f"{folder}/gpt2-bf16-cudnn.npz")
for suffix, options, environment in ((".again", [], {}), (".plain", ["--no-graph"], {}),
                                     (".spare", [], {"AMP_CUDA_HOST_EXTRA_WORKSPACE": "4194304"})):
    states, error = train("gpt2-bf16-cudnn", "gpt2", suffix, *options, **environment)
    assert states, (suffix, error)
    second = load(states)
    failures += [f"{suffix} {state} differs" for state in first if not np.array_equal(first[state], second[state], equal_nan=True)
                 and not state.startswith("__")]
for number, mistake in enumerate(MUTATIONS):
    states, error = train(f"mutant{number}", "gpt2")
    why = "; ".join(compare(states, "gpt2", "bf16")[1][:2]) if states else error.splitlines()[-1]
    print(f"{mistake}: {why or 'NOT DETECTED'}", flush=True)
    if not why:
        failures.append(f"not detected: {mistake}")
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
