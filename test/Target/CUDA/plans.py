# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What is promised of every plan: intermediate values take at most 1.05 times the
# most that is in use at one time; a step of the perceptron is at most 20 launches;
# and no kernel over elements stands between two products whose epilogue could
# have taken it: none at all in the perceptron, no gelu in its tanh form in GPT-2.
#
# RUN: %python %s %models %t

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from networks import NETWORKS
from program import run

models, scratch = sys.argv[1:3]
LAUNCH = re.compile(r" *cuda\.(\w+) .*?named \"(\w+)\"(.*?)ins\(([^:)]*)[^)]*\) outs\(([^:)]*)", re.S)


def read_launches(text):
    """Operation, name, what is between the name and the inputs, inputs, outputs."""
    body = text[text.index("cuda.program") :]
    starts = [match.start() for match in re.finditer(r"^ *cuda\.(?:kernel|gemm|conv|call|casts|check_gradients|optimizer) ", body, re.M)]
    launches = []
    for start, end in zip(starts, [*starts[1:], len(body)]):
        match = LAUNCH.match(body[start:end])
        assert match, body[start:end]
        op, name, between, inputs, outputs = match.groups()
        launches.append((op, name, between, set(re.findall(r"%[\w.]+", inputs)), set(re.findall(r"%[\w.]+", outputs))))
    return launches


def kernels_between_products(launches, text=""):
    """Kernels over elements that read the result of a product and are read by
    one, with `text` in their bodies."""
    products = [launch for launch in launches if launch[0] == "gemm"]
    made = set().union(*(outputs for *_, outputs in products))
    read = set().union(*(inputs for *_, inputs, _ in products))
    return [name for op, name, between, inputs, outputs in launches
            if op == "kernel" and " reduce [" not in between.split("{")[0] and inputs & made and outputs & read and text in between]


def plan(model, batch, precision, *options):
    options = " ".join([f"batch-size={batch} precision={precision} report", *options])
    result = subprocess.run(["amp-opt", model, f"--amp-cuda-pipeline={options}"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    ratio = float(re.search(r"in use at one time: ([\d.]+) times", result.stderr)[1])
    launches = read_launches(result.stdout)
    print(f"{os.path.basename(model)} {precision}: {len(launches)} launches, {ratio:.3f} times the bound", flush=True)
    assert ratio <= 1.05, (model, precision, ratio)
    return launches


for model in ("digits-mlp", "digits-cnn"):
    for precision in ("f32", "fp16", "bf16"):
        launches = plan(f"{models}/{model}.mlir", 32, precision)
        if model == "digits-mlp":
            assert len(launches) <= 20, len(launches)
            assert not kernels_between_products(launches), kernels_between_products(launches)
# Without epilogues there are some: the search finds what it looks for.
assert len(kernels_between_products(plan(f"{models}/digits-mlp.mlir", 32, "fp16", "epilogues=false"))) >= 2
for name, (options, _, size) in NETWORKS.items():
    model = f"{scratch}.{name}.mlir"
    run(["amp-model", name, *options, "--optimizer=adamw", "-o", model])
    for precision in ("f32", "fp16"):
        launches = plan(model, size, precision)
        if name == "gpt2":
            assert not kernels_between_products(launches, "math.tanh")
