# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Correct and wrong steps of many kinds. The check accepts every correct step
# without a diagnostic and names the mistake of every wrong one.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
sys.path.insert(0, sys.argv[2])
from checked_steps import check, unexpected  # noqa: E402
from scaling_cases import RIGHT, WRONG  # noqa: E402


def run(name, steps, *options):
    pipeline = "builtin.module(amp-check-loss-scaling{%s})" % " ".join(options)
    return check(folder / f"{name}.mlir", steps, f"--pass-pipeline={pipeline}")


unexpected(RIGHT, WRONG, run, least_wrong=60, least_right=40)

# With the option, the check does not reject unverified steps. It still rejects
# wrong ones.
said, result = run("unverified", [step for _, step in WRONG.values()], "allow-unverified-scaler=true")
for (name, (message, _)), errors in zip(WRONG.items(), said):
    kind = "warning: " if message.startswith("unverified scaler") else "error: "
    assert any(error.startswith(kind) and message in error for error in errors), (name, errors)
    assert kind == "error: " or not any(error.startswith("error: ") for error in errors), (name, errors)
