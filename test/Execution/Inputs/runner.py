# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls amp-run on the linear classifier next to this file."""

import os
import subprocess

import numpy as np

MODEL = os.path.join(os.path.dirname(__file__), "linear.mlir")


def make_data(samples=50, held_out=21):
    """Three classes that a linear map tells apart, but not quite."""
    rng = np.random.default_rng(1)
    truth = rng.standard_normal((4, 3))
    arrays = {}
    for prefix, count in (("train_", samples), ("test_", held_out)):
        x = rng.standard_normal((count, 4)).astype(np.float32)
        noise = rng.standard_normal((count, 3)) * 0.3
        arrays[prefix + "x"] = x
        arrays[prefix + "y"] = (x @ truth + noise).argmax(1)
    return arrays


def run(*arguments, model=MODEL):
    return subprocess.run(
        ["amp-run", model, *map(str, arguments)], capture_output=True, text=True
    )


def ok(*arguments, **options):
    result = run(*arguments, **options)
    assert result.returncode == 0, (arguments, result.stderr)
    return result.stdout


def fails(message, *arguments, **options):
    """One diagnostic, which contains `message`, and exit status 1."""
    result = run(*arguments, **options)
    assert result.returncode == 1, (arguments, result)
    assert message in result.stderr, (message, result.stderr)
    assert result.stderr.count("error:") == 1, result.stderr
    assert result.stdout == "", result.stdout
    return result.stderr


def results(text):
    """The `name: value` lines that a single run prints."""
    pairs = [line.split(": ") for line in text.splitlines()]
    return {name: float(value.split()[0]) for name, value in pairs}


def load(path):
    with np.load(path) as f:
        return {name: f[name] for name in f}
