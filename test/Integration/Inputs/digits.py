# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs amp-run on the example graphs and the digits."""

import json
import os
import subprocess
import tempfile

import numpy as np

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DIGITS = os.path.join(TESTS, "Models", "data", "digits.npz")


def model(name):
    return os.path.join(TESTS, "Models", name + ".mlir")


def run(name, *arguments, data=DIGITS, status=0):
    """Runs one training, which must exit with the status, and returns its output."""
    command = ["amp-run", model(name), "--data", data, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == status, (command, result.stderr)
    return result.stdout


def metrics(name, *arguments, data=DIGITS):
    """Runs one training; returns the metrics of each step, and the results."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "metrics.json")
        run(name, *arguments, "--metrics-json", out, data=data)
        with open(out) as f:
            record = json.load(f)["runs"][0]
    return record["steps"], record["results"]


def state(name, *arguments, data=DIGITS, status=0):
    """Runs one training; returns the state at its end."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "state.npz")
        run(name, *arguments, "--save", out, data=data, status=status)
        with np.load(out) as f:
            return {key: f[key] for key in f if not key.startswith("__amp")}
