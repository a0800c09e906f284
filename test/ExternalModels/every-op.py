# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every operation of linalg and tosa that can become low: that the test knows
# it (the others are in a list that says why), that the default
# policy has it in a list if it has a choice, that it tells what a loss scale
# becomes, and that it is valid in both low types, whatever is asked for.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %S/Inputs %t

import os
import re
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
import every_op  # noqa: E402

folder = sys.argv[2]


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout, result.stderr


def check(condition, message):
    if not condition:
        sys.exit(f"error: {message}")


# Operations that occur, and those that have no float tensor or no choice.
modules = {
    "linalg": (every_op.linalg_module(), every_op.LINALG_INTEGERS + ["index", "yield"]),
    "tosa": (every_op.tosa_module(), every_op.TOSA_OTHERS),
}
policy = os.path.join(folder, "all.yaml")
with open(policy, "w") as file:
    file.write('version: 1\nallow: ["linalg.*", "tosa.*", "tensor.*", arith.constant]\n')

for dialect, (text, others) in modules.items():
    path = os.path.join(folder, f"{dialect}.mlir")
    with open(path, "w") as file:
        file.write(text)
    without = ",".join(f"{dialect}.{name}" for name in others)
    coverage = f"--test-policy-coverage=scale-exponents dialects={dialect} without={without}"
    code, _, errors = run("amp-test-opt", path, coverage, "-o", os.devnull)
    check(code == 0, errors)
    # Without the list of those that do not occur it fails, for each of them.
    code, _, errors = run("amp-test-opt", path, f"--test-policy-coverage=dialects={dialect}")
    missed = set(re.findall(r"error: '(\S+)'", errors))
    check(code != 0 and f"{dialect}.{others[0]}" in missed, "nothing was missed")

    for precision, low in ("fp16", "f16"), ("bf16", "bf16"):
        for options in f"policy={policy} strategy=optimal", "":
            out = os.path.join(folder, "out.mlir")
            code, _, errors = run(
                "amp-opt", path, f"--auto-mixed-precision=precision={precision} {options}",
                "-o", out,
            )
            check(code == 0, errors)
            # The printed form keeps everything, also bodies that it omits.
            code, again, errors = run("mlir-opt", out, "--allow-unregistered-dialect")
            check(code == 0, errors)
            if not options:
                continue
            with open(out) as file:
                functions = re.split(r"(?=func\.func)", file.read())
            for function in functions[1:]:
                name = re.match(r"func\.func @(\w+)", function).group(1)
                fixed = {"fixed", "softmax", "winograd", "fill_rng_2d"}
                check((f"x{low}>" in function) != (name in fixed),
                      f"{dialect}: @{name} in {precision}:\n{function}")
