# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emits programs, builds them for the CPU shim and runs them beside amp-run."""

import shlex
import subprocess
import sys

import numpy as np


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


class Builder:
    """`compiler` and `library` are what builds a source against the shim."""

    def __init__(self, compiler, library, folder):
        self.compiler = shlex.split(compiler)
        self.library = shlex.split(library)
        self.folder = folder

    def build(self, name, model, *options):
        """Emits `model` with a trainer and returns the path of the program."""
        source = f"{self.folder}/{name}.cu"
        program = f"{self.folder}/{name}"
        run(["amp-translate", "--mlir-to-cuda", "--emit-main", *options, model, "-o", source])
        run([*self.compiler, source, *self.library, "-o", program])
        return program


def load(path):
    """The arrays of a state file; bf16 as the numbers that they stand for."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def as_numbers(array):
    if array.dtype == np.uint16:
        bits = np.atleast_1d(array).astype(np.uint32) << 16
        return bits.view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def distance(a, b):
    """Relative distance of two arrays in the Euclidean norm; none may be NaN."""
    a, b = as_numbers(a), as_numbers(b)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    norm = np.linalg.norm(b)
    difference = np.linalg.norm(a - b)
    return difference / norm if norm else difference


def distances(actual, expected):
    """The distance of each state, of which both files must have the same."""
    actual, expected = load(actual), load(expected)
    # The progress of a run is not a state of the step.
    names = {name for name in expected if not name.startswith("__")}
    assert names == {name for name in actual if not name.startswith("__")}, (
        names ^ set(actual)
    )
    for name in names:
        assert actual[name].shape == expected[name].shape, name
        assert actual[name].dtype == expected[name].dtype, name
    return {name: distance(actual[name], expected[name]) for name in sorted(names)}
