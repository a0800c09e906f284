# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The table that the stage `probe` of `tools/dev gpu` writes has the products of the networks, and the
# library accepts each. Without a table in docs/benchmarks only the tools are checked: products are
# found in a source whatever their names are, each differs from the next, and a look-up tells refused
# products from unknown ones.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_src_root %t

import json
import pathlib
import re
import subprocess
import sys

root, folder = map(pathlib.Path, sys.argv[1:3])
sys.path[:0] = [str(root / "tools/gpu"), str(root / "tools/gpu/harness")]
from network_cases import NETWORKS  # noqa: E402
from products import find_products, look_up, read_answers, read_table, write_products  # noqa: E402


def execute(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


source = execute("amp-translate", "--mlir-to-cuda", "--batch-size", 32, "--precision", "fp16", root / "test/Models/digits-mlp.mlir")
products = find_products(source)
# fc1, fc2, fc3, three gradients of weights and two of inputs.
assert len(products) == 8 and all("g.name" not in text and "g.m = " in text for text in products), products
renamed = find_products(source.replace("gemm_fc1()", "gemm_other()").replace('g.name = "fc1"', 'g.name = "other"'))
assert renamed == products
write_products(folder / "products.inc", products)
assert (folder / "products.inc").read_text().count("AMP_PRODUCT(") == 8
first, second, third, *_ = sorted(products)
table = read_answers(f"library\tNVIDIA_H200\t130100\t0\t0\nproduct\t{first}\t8\t1\t4096\nproduct\t{second}\t0\t0\t0\n"
                     "grid\tf16 f16 extent 129\t0\t0\t0\n")
assert (table["device"], table["version"], len(table["grid"])) == ("NVIDIA_H200", 130100, 1)
assert table["products"][first] == {"algorithms": 8, "epilogue": 1, "workspace": 4096}
assert look_up(table, {first, second, third}) == ([second], [third])



def translate(table, precision):
    """Looks up the products of the digits perceptron. Returns the exit status and the diagnostics."""
    path = folder / "table.json"
    path.write_text(table if isinstance(table, str) else json.dumps(table))
    done = subprocess.run(["amp-translate", "--mlir-to-cuda", "--batch-size", "32", "--precision", precision, "--product-table", path,
                           root / "test/Models/digits-mlp.mlir", "-o", folder / "out.cu"], capture_output=True, text=True)
    return done.returncode, done.stderr


# The translation looks them up in the same way: a refused product is an error, and an unknown one a warning.
accepted = {text: {"algorithms": 1, "epilogue": 0, "workspace": 0} for text in products}
whole = {"device": "NVIDIA_H200", "version": 130100, "products": accepted, "grid": {}, "scaled": {}}
assert translate(whole, "fp16") == (0, "")
without = {**whole, "products": {text: accepted[text] for text in list(accepted)[1:]}}
status, text = translate(without, "fp16")
assert status == 0 and text.startswith("amp-translate: warning: ") and "does not have the products" in text and "NVIDIA_H200" in text, text
refused = {**whole, "products": {**accepted, first: {"algorithms": 0, "epilogue": 0, "workspace": 0}}}
status, text = translate(refused, "fp16")
assert status == 1 and "error: the library has no algorithm for the products" in text and "NVIDIA_H200, cuBLASLt 130100" in text, text
for wrong in ("{", "[]", '{"products": 1}'):
    status, text = translate(wrong, "fp16")
    assert status == 1 and "is not a table of products" in text, (wrong, text)
# Products of 8-bit floats that are not in the table are known by their types and scale modes.
grid = {f"{types} scale {modes} TN extent {extent}": {"algorithms": 1, "epilogue": 0, "workspace": 0}
        for types in ("e4m3 e4m3 bf16", "e4m3 e4m3 f32", "e5m2 e4m3 bf16", "e5m2 e4m3 f32", "e4m3 e5m2 f32", "e4m3 e5m2 bf16")
        for modes in ("scalar", "outer_vec", "vec128", "vec128.blk128x128", "blk128x128.vec128") for extent in (256, 144, 132)}
low = {**whole, "scaled": grid}
# The other products have 16-bit operands.
for recipe in ("current", "rowwise", "block-128"):
    status, text = translate(low, f"fp8-{recipe}")
    listed = re.search(r"does not have the products (.*), so", text)
    assert status == 0 and (not listed or len(listed[1].split(", ")) <= 3), (recipe, text)
status, text = translate(low, "fp8-mxfp8")
assert status == 0 and len(re.search(r"does not have the products (.*), so", text)[1].split(", ")) >= 4, text
for recipe, modes in (("current", "scalar"), ("rowwise", "outer_vec"), ("block-128", "vec128")):
    less = {key: ({**answer, "algorithms": 0} if f" scale {modes} " in key else answer) for key, answer in grid.items()}
    status, text = translate({**low, "scaled": less}, f"fp8-{recipe}")
    assert status == 1 and "has no algorithm" in text, (recipe, text)

path = root / "docs/benchmarks/cublaslt.json"
if path.exists():
    table, refused, unknown = read_table(path), [], []
    for name, network in NETWORKS.items():
        graph = folder / f"{name}.mlir"
        graph.write_text(execute("amp-model", *network.arguments()))
        for precision in network.precisions:
            text = execute("amp-translate", "--mlir-to-cuda", "--batch-size", network.batch, "--precision", precision, graph)
            found = look_up(table, find_products(text))
            refused += [f"{name} {precision}: {product}" for product in found[0]]
            unknown += [f"{name} {precision}: {product}" for product in found[1]]
    print(*(f"not in the table, so nothing is known: {line}" for line in unknown), sep="\n")
    assert not refused, refused
else:
    print("no docs/benchmarks/cublaslt.json: no GPU was asked yet")
