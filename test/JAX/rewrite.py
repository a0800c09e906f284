# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Dumps of JAX, rewritten; needs no JAX. Its effect on their losses is tested where JAX is
# available.
#
# RUN: %python %s amp-opt %S/Inputs/mlp.mlir 8 0
# RUN: %python %s amp-opt %S/Inputs/convnet.mlir 3 5
# RUN: %python %s amp-opt %S/Inputs/transformer.mlir 29 0
"""Usage: rewrite.py <amp-opt> <dump> <dots> <convolutions>"""

import pathlib
import re
import subprocess
import sys

LOW = {"bf16": "bf16", "fp16": "f16"}


def run(amp_opt, dump, *passes):
    result = subprocess.run(
        [amp_opt, "--allow-unregistered-dialect", "--mlir-print-op-generic", str(dump),
         f"--pass-pipeline=builtin.module({','.join(passes)})"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def operations(text, name):
    """Operand and result types of the operations named `name`, without
    regions."""
    pattern = rf'"{re.escape(name)}"\(.* : \((.*)\) -> (.*)$'
    return [
        (re.findall(r"tensor<[^>]*>", operands), result)
        for operands, result in re.findall(pattern, text, re.M)
    ]


def main(amp_opt, dump, dots, convolutions):
    source = pathlib.Path(dump).read_text()
    imported = run(amp_opt, dump, "amp-import-step")
    gradients = source.count("amp.gradient_of")
    assert gradients and imported.count("amp.gradient_of = [") == gradients
    assert imported.count('"amp.gradient_seed"') == 1
    for precision, low in LOW.items():
        mixed = f"auto-mixed-precision{{precision={precision} policy=stablehlo}}"
        once = run(amp_opt, dump, "amp-import-step", mixed)
        assert run(amp_opt, dump, "amp-import-step", mixed, mixed) == once, "twice is not once"
        text = run(amp_opt, dump, "amp-import-step", mixed, "amp-optimize-casts",
                   "convert-amp-to-stablehlo")  # fmt: skip
        assert "amp." not in text, "something of the amp dialect is left"
        for name, count in (("dot_general", dots), ("convolution", convolutions)):
            found = operations(text, f"stablehlo.{name}")
            assert len(found) == int(count), f"{name}: {len(found)}"
            for operands, result in found:
                assert all(f"{low}>" in operand for operand in operands), (name, operands)
                assert "f32>" in result, (name, result)
        # The hardware attributes of each product are still there.
        config = "precision_config = \\[#stablehlo<precision \\w+>"
        assert len(re.findall(config, text)) == len(re.findall(config, source))
        # f32 within composite patterns, and in the update.
        for name in ("exponential", "log", "rsqrt", "sqrt", "power"):
            for operands, result in operations(text, f"stablehlo.{name}"):
                assert "f32>" in result and low not in str(operands), (name, operands)
        # Sums are f32; maxima may follow.
        sums = re.findall(r'"stablehlo.reduce"\(.*\n.*\n *%\w+ = "stablehlo.add".*', text)
        assert sums and not any(f"<{low}>" in entry for entry in sums)
        # Parameters and state keep their types, and so do results.
        signature = re.search(r"function_type = (\(.*?\) -> \(.*?\)), res_attrs", text)[1]
        assert low not in signature, signature


if __name__ == "__main__":
    main(*sys.argv[1:])
