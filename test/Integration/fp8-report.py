# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The report of 8-bit products for GPT-2 with 124M parameters: without a target, at least 99 % of the operations
# of the layers that are not kept have 8-bit operands, and a step makes fewer copies, of fewer bytes, than modules
# would. The sums agree with the lists and with counts of the sizes of the network.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
"""Usage: fp8-report.py <folder>"""

import json
import subprocess
import sys

folder = sys.argv[1]
LAYERS, WIDTH, TOKENS, VOCABULARY = 12, 768, 4 * 1024, 50304


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr[-2000:])
    return done.stderr


def report(precision, options=""):
    path = f"{folder}/{precision}.json"
    run("amp-opt", f"{folder}/gpt2.mlir", f"--amp-training-pipeline=precision={precision} fp8-report={path} {options}",
        "-o", "/dev/null")
    with open(path) as file:
        (function,) = json.load(file)["functions"]
    return function


run("amp-model", "gpt2", f"--layers={LAYERS}", f"--width={WIDTH}", "--heads=12", f"--vocabulary={VOCABULARY}",
    "--positions=1024", "--batch=4", "--dropout=0", "-o", f"{folder}/gpt2.mlir")
for recipe in ("delayed", "current", "block-128"):
    found = report(f"fp8-{recipe}")
    products, copies, totals = found["products"], found["copies"], found["productTotals"]
    assert found["recipe"] == recipe and "target" not in found
    # Three products of four layers in each block: 12 width^2 elements of weights.
    blocks = 3 * 2 * TOKENS * LAYERS * 12 * WIDTH**2
    head = 3 * 2 * TOKENS * WIDTH * VOCABULARY
    assert totals["layerFlops"] == blocks + head and totals["keptFlops"] == head, totals
    assert totals["float8Share"] >= 0.99, totals
    assert totals["float8Flops"] == sum(p["flops"] for p in products if p["bits"] == 8) == blocks
    assert all(("reason" in p) == (p["bits"] == 16) for p in products)
    assert sum(p["bits"] == 8 for p in products) == 12 * LAYERS
    sums, modules = found["copyTotals"], found["moduleCopyTotals"]
    assert sums["copies"] == len(copies)
    for key in ("readBytes", "writtenBytes", "freedBytes"):
        assert sums[key] == sum(copy.get(key, 0) for copy in copies), key
    # A module reads a tensor once to quantise it in all orders, and with `current` once more for its magnitude.
    passes = 2 if recipe == "current" else 1
    inputs = LAYERS * TOKENS * (WIDTH + WIDTH + WIDTH + 4 * WIDTH)
    results = LAYERS * TOKENS * (3 * WIDTH + WIDTH + 4 * WIDTH + WIDTH)
    weights = LAYERS * 12 * WIDTH**2
    assert modules["readBytes"] == passes * (2 * (inputs + results) + 4 * weights), (recipe, modules)
    assert modules["writtenBytes"] == 2 * (inputs + results + weights), (recipe, modules)
    assert sums["copies"] <= modules["copies"] and sums["readBytes"] <= modules["readBytes"]
    # No input of a layer is saved in 16 bits any more. The result of attention has two shapes, and is not counted.
    assert sums["freedBytes"] == 2 * (inputs - LAYERS * TOKENS * WIDTH), sums
    assert sums["copies"] == LAYERS * (4 * 3 if recipe != "block-128" else 4 * 5), sums
    if recipe != "block-128":
        assert sums["readBytes"] < modules["readBytes"]
    print(recipe, f"{100 * totals['float8Share']:.2f} %,", sums, "modules:", modules)

# Three projections of one input share its copy, which three modules would make.
with open(f"{folder}/shared.mlir", "w") as file:
    weights = ", ".join(f'%{w}: tensor<64x64xf32> {{amp.role = "parameter", amp.name = "{w}"}}' for w in "qkv")
    results = ", ".join(f'tensor<32x64xf32> {{amp.prediction = "{w}"}}' for w in "qkv")
    file.write(f'func.func @f(%x: tensor<32x64xf32> {{amp.role = "batch", amp.name = "x"}}, {weights}) -> ({results}) {{\n'
               + "".join(f"  %y{w} = train.matmul %x, %{w} : (tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>\n" for w in "qkv")
               + "  return %yq, %yk, %yv : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>\n}\n")
run("amp-opt", f"{folder}/shared.mlir", "--auto-mixed-precision=precision=bf16",
    f"--amp-quantize-products=keep-last=0 report={folder}/shared.json", "-o", "/dev/null")
with open(f"{folder}/shared.json") as file:
    (found,) = json.load(file)["functions"]
assert found["copyTotals"]["copies"] == 4 and found["moduleCopyTotals"]["copies"] == 6, found
assert [copy["readers"] for copy in found["copies"] if copy["kind"] == "input"] == [3], found
assert found["moduleCopyTotals"]["readBytes"] - found["copyTotals"]["readBytes"] == 2 * 2 * 4 * 32 * 64, found

# A file that cannot be written is an error.
done = subprocess.run(["amp-opt", f"{folder}/shared.mlir", "--auto-mixed-precision=precision=bf16",
                       f"--amp-quantize-products=report={folder}/no/such.json"], capture_output=True, text=True)
assert done.returncode == 1 and "error: amp-quantize-products: " in done.stderr and "such.json" in done.stderr, done.stderr
