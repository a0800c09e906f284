# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emits programs, builds them for the CPU emulator and compares them with amp-run."""

import os
import re
import shlex
import subprocess
import sys

import numpy as np


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{shlex.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def join(sources):
    """One source of the programs `sources` (names to texts): those that compile
    separately share their parts of the runtime. If they have a main, it runs the
    program whose name it is called by."""
    headers, parts, mains = [], [], []
    for index, (name, text) in enumerate(sources.items()):
        part = f"part{index}"
        headers += [line for line in re.findall(r'^#include (?:"amp/|<).*$', text, re.M) if line not in headers]
        # The C interface knows no namespaces.
        text = re.sub(r"\bstep_(?!kernels\.cuh)", f"{part}_step_", text)
        parts.append(f"namespace {part} {{\n{text}}} // namespace {part}\n")
        if "int main(" in text:
            mains.append(f'  if (name == "{name}")\n    return {part}::main(argc, argv);\n')
    main = ("int main(int argc, char **argv) {\n  std::string name = argv[0];\n  name = name.substr(name.rfind('/') + 1);\n"
            + "".join(mains) + "  return 1;\n}\n") if mains else ""
    return "\n".join(headers) + "\n" + "".join(parts) + main


class Builder:
    """`compiler` and `library` are what builds a source against the emulator."""

    def __init__(self, compiler, library, folder):
        self.compiler = shlex.split(compiler)
        self.library = shlex.split(library)
        self.folder = folder

    def build(self, name, model, *options):
        """Emits `model` with a trainer and returns the path of the program."""
        return self.build_all({name: (model, *options)})[0]

    def build_all(self, programs):
        """As above, for names with the model and the options of each, in one
        compilation. The paths are in the order of the names."""
        sources = {}
        for name, (model, *options) in programs.items():
            source = f"{self.folder}/{name}.cu"
            run(["amp-translate", "--mlir-to-cuda", "--emit-main", *options, model, "-o", source])
            with open(source) as file:
                sources[name] = file.read()
        first = next(iter(programs))
        # One program is compiled as it was printed.
        source = f"{self.folder}/{first}.cu"
        if len(sources) > 1:
            source = f"{self.folder}/{first}.all.cu"
            with open(source, "w") as file:
                file.write(join(sources))
        run([*self.compiler, source, *self.library, "-o", f"{self.folder}/{first}"])
        for name in list(programs)[1:]:
            os.link(f"{self.folder}/{first}", f"{self.folder}/{name}")
        return [f"{self.folder}/{name}" for name in programs]


def load(path):
    """The arrays of a checkpoint; bf16 as their values."""
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
