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

import pathlib
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
