# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The promises of every plan: intermediate values take at most 1.05 times the
# most that is in use at one time; a step of the perceptron is at most 20 launches;
# and no kernel over elements stands between two products whose epilogue could
# have taken it: none at all in the perceptron, no gelu in its tanh form in GPT-2.
# Convolutions take their bias, relu and bias gradient.
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
LAUNCH = re.compile(r" *cuda\.(\w+) (.*?)named \"(\w+)\"(.*?)ins\(([^:)]*)([^)]*)\) outs\(([^:)]*)", re.S)


def read_launches(text):
    """Operation, name, the text before the inputs without the name, inputs, outputs."""
    body = text[text.index("cuda.program") :]
    starts = [match.start() for match in re.finditer(r"^ *cuda\.(?!program|buffer|view|index|yield)\w+ ", body, re.M)]
    launches = []
    for start, end in zip(starts, [*starts[1:], len(body)]):
        match = LAUNCH.match(body[start:end])
        assert match, body[start:end]
        op, kind, name, between, inputs, types, outputs = match.groups()
        # Rows are one-dimensional.
        between += f" matrices {sum(text.count('x') > 1 for text in types.split(','))}"
        launches.append((op, name, kind + between, set(re.findall(r"%[\w.]+", inputs)), set(re.findall(r"%[\w.]+", outputs))))
    return launches


def kernels_between_products(launches, text=""):
    """Kernels over elements that read the result of a product and are read by
    one, with `text` in their bodies."""
    products = [launch for launch in launches if launch[0] in ("gemm", "conv")]
    made = set().union(*(outputs for *_, outputs in products))
    read = set().union(*(inputs for *_, inputs, _ in products))
    return [name for op, name, between, inputs, outputs in launches
            if op == "kernel" and " reduce [" not in between.split("{")[0] and inputs & made and outputs & read and text in between]


EPILOGUE = {"arith.addf", "arith.maximumf", "arith.cmpf", "arith.select"}
WIDENS = {"arith.constant", "arith.extf", "arith.truncf", "cuda.yield"}


def left_of_convolutions(launches):
    """Kernels that only add a row to the result of a convolution or take its
    relu, and that only sum the gradient of such a result over its pixels."""
    results = set().union(*(outputs for op, _, between, _, outputs in launches if between.startswith("<forward>")))
    gradients = [set(inputs) for op, _, between, inputs, _ in launches if between.startswith("<filter_grad>")]
    found = []
    for op, name, between, inputs, _ in launches:
        body = set(re.findall(r"\b(?:arith|math|cuda)\.\w+", between))
        isReduction = " reduce [" in between.split("{")[0]
        if op == "kernel" and body <= EPILOGUE | WIDENS and (
                body <= WIDENS and "reduce [0, 1, 2] with <add>" in between and any(inputs <= read for read in gradients)
                if isReduction else body & EPILOGUE and inputs & results and between.endswith(" matrices 1")):
            found.append(name)
    return found


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
# Without epilogues some exist, so the search works.
assert len(kernels_between_products(plan(f"{models}/digits-mlp.mlir", 32, "fp16", "epilogues=false"))) >= 2
for name, (options, _, size) in NETWORKS.items():
    model = f"{scratch}.{name}.mlir"
    run(["amp-model", name.split("-")[0], *options, "--optimizer=adamw", "-o", model])
    for precision in ("f32", "fp16"):
        # A plan of cuDNN takes a bias and a relu of some extents only.
        launches = plan(model, size, precision, "convolutions=patches")
        # A product gives the gradient of a bias in f32 only with one of a filter in f32.
        left = [kernel for kernel in left_of_convolutions(launches) if precision == "f32" or not kernel.startswith("reduce_sum")]
        assert not left, (name, left)
        if name == "gpt2":
            assert not kernels_between_products(launches, "math.tanh")
left = left_of_convolutions(plan(f"{scratch}.lenet.mlir", 4, "fp16", "epilogues=false", "convolutions=patches"))
assert len(left) == 4, left
