# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Modules as torch-mlir and TFLite's converter wrote them, before and after:
# lowered by upstream's passes in upstream's tools, f32 gives what torch and
# TFLite give, and low precision the same within its rounding.
#
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs/Converted %t
"""Usage: converted.py <folder of the modules> <scratch folder>"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

# The relative unit of rounding of each type. Printed numbers of f32 are rounded to six digits,
# which is 32 units in the last place.
UNITS = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
TOSA = "func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor),"
LOWERING = (
    "func.func(convert-elementwise-to-linalg),"
    "one-shot-bufferize{bufferize-function-boundaries},convert-linalg-to-loops,"
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-math-to-llvm,"
    "convert-math-to-libm,arith-expand{include-bf16},convert-to-llvm,reconcile-unrealized-casts"
)
DRIVER = """  func.func private @printMemrefF32(tensor<*xf32>)
  func.func @driver() {{
    %input = arith.constant dense<"0x{bytes}"> : {input}
    %output = call @main(%input) : ({input}) -> {output}
    %unranked = tensor.cast %output : {output} to tensor<*xf32>
    call @printMemrefF32(%unranked) : (tensor<*xf32>) -> ()
    return
  }}
"""


def run(*command, **arguments):
    command = [str(part) for part in command]
    result = subprocess.run(command, capture_output=True, text=True, **arguments)
    assert result.returncode == 0, (command, result.stderr)
    return result.stdout


def execute(module, is_tosa):
    """Runs @main of a module on the input that its reference was made with."""
    signature = re.search(r"func\.func @main\(%\w+: (tensor<([\dx]+)xf32>).*?-> \(?(tensor<\S+?>)", module)
    shape = [int(extent) for extent in signature[2].split("x")]
    values = np.sin(np.arange(np.prod(shape)) * 0.37).astype("<f4")
    driver = DRIVER.format(
        bytes=values.tobytes().hex().upper(), input=signature[1], output=signature[3]
    )
    at = module.index("  func.func @main(")
    lowered = run(
        "mlir-opt", f"--pass-pipeline=builtin.module({TOSA if is_tosa else ''}{LOWERING})",
        input=module[:at] + driver + module[at:],
    )  # fmt: skip
    libraries = pathlib.Path(shutil.which("mlir-runner")).resolve().parent.parent / "lib"
    names = "libmlir_runner_utils.so", "libmlir_c_runner_utils.so", "libmlir_float16_utils.so"
    text = run(
        "mlir-runner", "-e", "driver", "--entry-point-result=void",
        *(f"--shared-libs={libraries / name}" for name in names), input=lowered,
    )  # fmt: skip
    return np.array(json.loads(re.sub(r"(\d)\.([,\]])", r"\1.0\2", text.split("data =")[1])))


def main(folder, scratch):
    for name, source, allowed in (
        ("torch-linalg", "torch", {"f32": 32, "f16": 4, "bf16": 4}),
        ("torch-tosa", "torch", {"f32": 32, "f16": 4, "bf16": 4}),
        ("tflite-tosa", "tflite", {"f32": 32, "f16": 4, "bf16": 4}),
    ):
        path, is_tosa = folder / f"{name}.mlir", "tosa" in name
        expected = np.array(json.loads((folder / f"{source}.json").read_text()))
        errors = {}
        for low, precision in ("f32", "f32"), ("f16", "fp16"), ("bf16", "bf16"):
            for strategy in "optimal", "grappler", "autocast":
                out = scratch / f"{name}-{low}-{strategy}.mlir"
                pipeline = f"auto-mixed-precision{{precision={precision} strategy={strategy}}}"
                run("amp-opt", path, f"--pass-pipeline=builtin.module({pipeline})", "-o", out)
                text = out.read_text()
                # Nothing of this project is left but notes, and the products
                # are low.
                assert not re.search(r'= "?amp\.\w', text), out
                products = re.findall(r"(?:linalg|tosa)\.(?:matmul|\w*conv\w*) .*", text)
                assert len(products) > 2, out
                if low != "f32":
                    assert all(f"x{low}>" in line for line in products), (out, products)
                error = np.abs(execute(text, is_tosa) - expected).max() / expected.max()
                errors[low] = max(errors.get(low, 0), error / UNITS[low])
                # Undoing gives the input, except for copies of empty tensors.
                undone = run("amp-opt", out, "--amp-strip-precision", "--cse")
                assert low == "f32" or undone == run("amp-opt", path, "--cse"), out
        print(name, {low: f"{error:.2f} units" for low, error in errors.items()})
        for low, error in errors.items():
            assert error <= allowed[low], (name, low, error)
        # Low types do round.
        assert errors["f16"] * UNITS["f16"] > 4 * errors["f32"] * UNITS["f32"], (name, errors)


main(*(pathlib.Path(argument) for argument in sys.argv[1:]))
