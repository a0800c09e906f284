# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The products of emitted programs, and the table of what cuBLASLt says of them.

A product is known by the text that describes it in the emitted source, without its name. The table
is a JSON file: the device, the version of the library, and for each product the number of algorithms
that the heuristics offer, the epilogue that the library computes (a number of GemmConfig.h) and the
workspace."""

import json
import re

PRODUCT = re.compile(r"^GemmConfig gemm_\w+\(\) \{\n  GemmConfig g;\n  g\.name = .*;\n((?:  .*;\n)*)  return g;\n\}", re.M)
LINE = re.compile(r"^(\w+)\t(.*)\t(\d+)\t(\d+)\t(\d+)$", re.M)


def find_products(source):
    """The descriptions of the products of a source."""
    return {" ".join(body.split()) for body in PRODUCT.findall(source)}


def write_products(path, products):
    """Writes products.inc, which probe.cu includes."""
    with open(path, "w") as file:
        for text in sorted(products):
            file.write(f'AMP_PRODUCT("{text}", {text.rstrip(";")})\n')


def read_answers(text):
    """The table of what probe.cu printed."""
    table = {"products": {}, "grid": {}, "scaled": {}}
    for kind, name, count, epilogue, workspace in LINE.findall(text):
        if kind == "library":
            table.update(device=name, version=int(count))
        else:
            key = "products" if kind == "product" else kind
            table[key][name] = {"algorithms": int(count), "epilogue": int(epilogue), "workspace": int(workspace)}
    return table


def look_up(table, products):
    """The products that the library refuses and those that the table does not know."""
    known = table["products"]
    refused = sorted(text for text in products if text in known and not known[text]["algorithms"])
    return refused, sorted(text for text in products if text not in known)


def read_table(path):
    with open(path) as file:
        return json.load(file)
