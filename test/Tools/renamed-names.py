# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A former name of a pass, of an option or of a key of a policy is an error that
# gives the present name, and the present name exists.
#
# RUN: %python %s %amp_src_root %t
"""Usage: renamed-names.py <source tree> <folder for files>"""

import pathlib
import re
import shutil
import subprocess
import sys

root, folder = map(pathlib.Path, sys.argv[1:])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
step = root / "test/Models/digits-mlp.mlir"
ADAPTER = "version: 1\nadapters:\n  - dialect: toy\n    {}: {{elementwise: [square]}}\n"

# Owner, former name, present name. The first is empty for a pass.
NAMES = [
    ("", "amp-narrow-saved-activations", "amp-compress-activations"),
    ("", "cuda-note-scaler", "cuda-annotate-scaler"),
    ("", "cuda-note-step", "cuda-annotate-step"),
    ("amp-quantize-products", "forward-only", "backward=high"),
    ("amp-training-pipeline", "fp8-forward-only", "fp8-backward=high"),
    ("amp-training-pipeline", "narrow-saved-activations", "compress-activations"),
    ("policy", "units", "composite-patterns"),
]
source = (root / "lib/Support/RenamedName.cpp").read_text()
found = re.findall(r'\{"([\w-]*)", "([\w-]+)",\s*"([\w=-]+)"\}', source)
assert sorted(found) == sorted(NAMES), found


def run(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    return result.returncode, result.stderr


def opt(*options):
    return run("amp-opt", step, *options, "-o", "/dev/null")


def refused(result, text):
    code, errors = result
    assert code == 1 and text in errors, (code, errors, text)


for owner, former, present in NAMES:
    message = f"'{former}' is now called '{present}'"
    if owner == "":
        refused(opt(f"--{former}"), message)
        refused(opt(f"--pass-pipeline=builtin.module({former})"), message)
        assert "not a registered" not in opt(f"--{present}")[1]
    elif owner == "policy":
        for key in (former, present):
            (folder / f"{key}.yaml").write_text(ADAPTER.format(key))
        refused(opt(f"--auto-mixed-precision=policy={folder}/{former}.yaml"), message)
        code, errors = opt(f"--auto-mixed-precision=policy={folder}/{present}.yaml")
        assert "unknown key" not in errors and "now called" not in errors, errors
    else:
        refused(opt(f"--{owner}={former}"), f"{owner}: option {message}")
        refused(opt(f"--{owner}={former}=true"), message)
        code, errors = opt(f"--{owner}={present}")
        assert "unknown option" not in errors, errors

# Each tool that passes options on to the pipeline has the same message.
message = "option 'narrow-saved-activations' is now called 'compress-activations'"
pipeline = ("--precision=bf16", "--pipeline=narrow-saved-activations")
refused(run("amp-run", step, "--synthetic", "--steps=1", *pipeline), message)
refused(run("amp-translate", step, "--mlir-to-cuda", "--batch-size=4", *pipeline), message)

# The model of a GPU was --device once, which is the number of a GPU now.
refused(run("amp-translate", step, "--cuda-costs", "--device=h100"), "expected --target for a model of GPU")
