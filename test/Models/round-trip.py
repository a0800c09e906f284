# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every example graph verifies, and comes back the same from its printed form
# and from bytecode.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %models %t

import pathlib
import subprocess
import sys

models = sorted(pathlib.Path(sys.argv[1]).glob("*.mlir"))
scratch = pathlib.Path(sys.argv[2])
assert models, "no example graph"


def amp_opt(*arguments):
    return subprocess.run(["amp-opt", *map(str, arguments)], check=True, capture_output=True).stdout


for model in models:
    printed = scratch / model.name
    printed.write_bytes(amp_opt(model))
    assert amp_opt(printed) == printed.read_bytes(), f"{model.name}: printed form"

    bytecode = scratch / (model.name + "bc")
    bytecode.write_bytes(amp_opt(model, "--emit-bytecode"))
    assert amp_opt(bytecode) == printed.read_bytes(), f"{model.name}: bytecode"

    generic = scratch / (model.name + ".generic")
    generic.write_bytes(amp_opt(model, "--mlir-print-op-generic"))
    assert amp_opt(generic) == printed.read_bytes(), f"{model.name}: generic form"
