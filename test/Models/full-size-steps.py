# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# GPT-2 124M and ResNet-50 run one step in full size, one sample, in f32 and in
# bf16: the loss in f32 and the norm of all gradients equal the same
# network's in PyTorch, bf16 is near, and the steps allocate the planned memory. Minutes, and 5 GB of
# memory.
#
# REQUIRES: torch, long
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs gpt2
# RUN: %python %s %t %S/Inputs resnet50
# RUN: not %python %s %t %S/Inputs resnet50 --wrong 2>&1 | FileCheck %s
# CHECK: resnet50: the loss in f32 differs by
# RUN: rm -r %t

import json
import os
import re
import resource
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

folder, inputs, name = sys.argv[1:4]
wrong = "--wrong" in sys.argv
sys.path.insert(0, inputs)
from networks import gpt2, resnet  # noqa: E402

rng = np.random.default_rng(11)
TOKENS = 32
# The options, the network and the batch.
MODELS = {
    "gpt2": (
        (f"--sequence={TOKENS}",),
        lambda p, batch: gpt2(p, batch, heads=12),
        lambda: {key: rng.integers(0, 50257, (1, TOKENS)) for key in ("tokens", "targets")},
    ),
    "resnet50": (
        ("--label-smoothing=0",),
        resnet(50),
        lambda: {
            "images": rng.standard_normal((1, 224, 224, 3)).astype(np.float32),
            "labels": rng.integers(0, 1000, 1),
        },
    ),
}
options, forward, make_batch = MODELS[name]


def execute(*command):
    start = time.perf_counter()
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout, time.perf_counter() - start


def make_parameters(path):
    """Values for all parameters, of the size that training starts with."""
    pattern = r'tensor<([0-9x]+)xf32> \{amp\.init = [^{}]*amp\.name = "([^"]+)", amp\.role = "parameter"'
    with open(path) as file:
        shapes = {key: tuple(map(int, shape.split("x"))) for shape, key in re.findall(pattern, file.read())}
    for key, shape in shapes.items():
        values = rng.standard_normal(shape, np.float32)
        if len(shape) == 1:
            yield key, np.float32(0.1) * values + np.float32(key.endswith("weight"))
        else:
            fan_in = 2500 if key.startswith("w") else np.prod(shape[:-1])
            yield key, values * np.float32(fan_in**-0.5)


path = f"{folder}/{name}"
execute("amp-model", name, "--batch=1", *options, "-o", path + ".mlir")
batch = make_batch()
np.savez(path + "-batch.npz", **batch)
start = dict(make_parameters(path + ".mlir"))
count, _ = execute("amp-model", name, "--count")
assert sum(value.size for value in start.values()) == int(count), (count, len(start))
np.savez(path + "-weights.npz", **start)

precisions = ("f32",) if wrong else ("f32", "bf16")
_, seconds = execute(
    "amp-run", path + ".mlir", "--data", path + "-batch.npz", "--init", path + "-weights.npz", "--steps", 1,
    "--compare", ",".join(precisions), "--pipeline", "gradient-norm", "--quiet", "--metrics-json", path + ".json",
)
os.remove(path + "-weights.npz")
memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6

parameters = {key: torch.tensor(value, requires_grad=True) for key, value in start.items()}
logits = forward(parameters, {key: torch.from_numpy(value) for key, value in batch.items()})
labels = torch.from_numpy(batch.get("labels", batch.get("targets")))
loss = F.cross_entropy(logits.flatten(0, -2), labels.flatten())
loss.backward()
norm = sum(p.grad.double().square().sum() for p in parameters.values()).sqrt().item()
loss = loss.item() * (1.001 if wrong else 1.0)

with open(path + ".json") as file:
    runs = {run["precision"]: run for run in json.load(file)["runs"]}
for precision in precisions:
    run = runs[precision]
    step, results = run["steps"][0], run["results"]
    print(
        f"{name} {precision}: loss {step['loss']:.6f}, PyTorch {loss:.6f}; norm of gradients "
        f"{step['gradient_norm']:.5f}, PyTorch {norm:.5f}; {results['peak bytes allocated'] / 1e6:.1f} MB allocated at "
        f"most, {results['peak bytes planned'] / 1e6:.1f} MB planned; {results['ms per step'] / 1e3:.1f} s"
    )
print(f"{name}: {seconds:.0f} s for all, {memory:.1f} GB")
for precision, bound, bound_of_norm in (("f32", 1e-4, 2e-4), ("bf16", 1e-2, 5e-2)):
    if precision not in precisions:
        continue
    step, results = runs[precision]["steps"][0], runs[precision]["results"]
    for what, ours, theirs, most in (
        ("loss", step["loss"], loss, bound),
        ("norm of gradients", step["gradient_norm"], norm, bound_of_norm),
        ("allocated peak", results["peak bytes allocated"], results["peak bytes planned"], 0.02),
    ):
        error = abs(ours - theirs) / abs(theirs)
        assert error < most, f"{name}: the {what} in {precision} differs by {error:.1e}"
