# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of the wheel: each runs the tool of its name, which amp_torch carries."""

import os
import pathlib
import sys

BIN = pathlib.Path(__file__).resolve().parent / "amp_torch" / "bin"


def run(name):
    tool = os.fspath(BIN / name)
    os.execv(tool, [tool, *sys.argv[1:]])


def amp_model():
    run("amp-model")


def amp_opt():
    run("amp-opt")


def amp_report():
    run("amp-report")


def amp_run():
    run("amp-run")


def amp_translate():
    run("amp-translate")
