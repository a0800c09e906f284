# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs train and amp IR through the CPU pipeline on NumPy arrays.

A tensor is a pair (array, type); bf16 tensors hold their bits as uint16.
Nothing here knows how the lowering works: references are NumPy in f64.
"""

import json
import os
import subprocess
import threading

import numpy as np

DTYPES = {
    "f16": np.float16,
    "bf16": np.uint16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i32": np.int32,
    "i64": np.int64,
}
# Bits of the significand, the implicit one included.
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def bf16_to_f32(bits):
    return np.left_shift(bits, 16, dtype=np.uint32).view(np.float32)


def f32_to_bf16(values):
    """Rounds to nearest even; NaNs stay NaNs."""
    values = np.asarray(values, np.float32, order="C")
    flat = values.reshape(-1)
    bits = flat.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    rounded = np.where(np.isnan(flat), 0x7FC0, rounded)
    return rounded.astype(np.uint16).reshape(values.shape)


def tensor(values, type):
    """Rounds `values` to the tensor type's element type."""
    with np.errstate(all="ignore"):
        if type == "bf16":
            return f32_to_bf16(np.asarray(values, np.float32)), type
        return np.asarray(values, order="C").astype(DTYPES[type]), type


def wide(tensor):
    """The values of a tensor in f64."""
    array, type = tensor
    if type == "bf16":
        array = bf16_to_f32(array)
    with np.errstate(invalid="ignore"):  # Signalling NaNs.
        return array.astype(np.float64)


def spelled(shape, type):
    """A tensor type as MLIR writes it."""
    return "tensor<" + "".join(f"{n}x" for n in shape) + type + ">"


def mlir_type(array, type):
    return spelled(array.shape, type)


class Program:
    """A step compiled in `folder`, in a process that waits for the next call.
    Several threads can call programs. The latest few idle ones keep their
    process."""

    folders, idle, KEPT = set(), [], 4
    idle_lock = threading.Lock()

    def __init__(self, folder):
        assert folder not in Program.folders, f"two steps in {folder}"
        Program.folders.add(folder)
        os.makedirs(folder, exist_ok=True)
        self.folder, self.process = folder, None
        # Held while the files of one call are in use.
        self.lock = threading.Lock()

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self):
        """Runs the step on the arrays of in.npz; out.npz has them after it."""
        with Program.idle_lock:
            if self in Program.idle:
                Program.idle.remove(self)
        if self.process is None:
            self.process = subprocess.Popen(
                ["amp-execution-test", "jit", self.path("llvm.mlir"), "step_cpu",
                 self.path("out.npz"), self.path("in.npz"), "again"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
        else:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        if self.process.stdout.readline() != "done\n":
            raise AssertionError(self.process.communicate()[1])
        surplus = None
        with Program.idle_lock:
            Program.idle.append(self)
            if len(Program.idle) > Program.KEPT:
                oldest = Program.idle.pop(0)
                surplus, oldest.process = oldest.process, None
        if surplus:
            surplus.communicate()
            assert surplus.returncode == 0


class Step:
    """One step function, built op by op."""

    # Steps of the same text are compiled once.
    programs = {}

    def __init__(self):
        self.arguments, self.arrays, self.updates = [], [], []
        self.lines, self.results, self.count = [], [], 0

    def state(self, value):
        return self.input(value, "parameter")

    def input(self, value, role="batch"):
        array, type = value
        name = f"%arg{len(self.arrays)}"
        self.arguments.append(
            f"{name}: {mlir_type(array, type)} "
            f'{{amp.role = "{role}", amp.name = "in{len(self.arrays)}"}}'
        )
        self.arrays.append(value)
        return name

    def line(self, text):
        self.lines.append("  " + text)

    def op(self, text, *results):
        """Emits `text` with results of these types; returns their names."""
        self.count += 1
        names = [f"%v{self.count}_{i}" for i in range(len(results))]
        self.line(f"{', '.join(names)} = {text}")
        return names[0] if len(names) == 1 else names

    def output(self, name, shape, type, updates=None):
        """Returns `name`; its value is read back by `run`, or replaces that of
        the argument number `updates`."""
        self.results.append((name, tuple(shape), type, updates))

    def text(self):
        results, types, values = [], [], []
        for index, (name, shape, type, updates) in enumerate(self.results):
            spelled = "tensor<" + "".join(f"{n}x" for n in shape) + type + ">"
            attribute = (
                f'amp.prediction = "out{index}"'
                if updates is None
                else f'amp.updates = "in{updates}"'
            )
            results.append(f"{spelled} {{{attribute}}}")
            types.append(spelled)
            values.append(name)
        return "\n".join(
            [
                "func.func @step(",
                "    " + ",\n    ".join(self.arguments) + ")",
                "    -> (" + ",\n        ".join(results) + ") {",
                *self.lines,
                f"  return {', '.join(values)} : {', '.join(types)}",
                "}",
                "",
            ]
        )

    def compile(self, folder, pipeline="--amp-cpu-pipeline"):
        options = pipeline.split() if isinstance(pipeline, str) else pipeline
        key = self.text(), tuple(options)
        if key not in Step.programs:
            program = Program(folder)
            with open(program.path("step.mlir"), "w") as file:
                file.write(key[0])
            result = subprocess.run(
                ["amp-opt", program.path("step.mlir"), *options, "-o", program.path("llvm.mlir")],
                capture_output=True,
                text=True,
            )
            assert result.returncode == 0, result.stderr
            Step.programs[key] = program
        self.program = Step.programs[key]

    def call(self):
        """Runs the compiled step; returns the arrays of its arguments after it
        and those of its other results."""
        path = self.program.path
        arrays = list(self.arrays)
        for _, shape, type, updates in self.results:
            if updates is None:
                arrays.append((np.zeros(shape, DTYPES[type]), type))
        named, notes = {}, {}
        for index, (array, type) in enumerate(arrays):
            named[f"b{index:04}"] = array
            if type == "bf16":
                notes[f"b{index:04}"] = "bf16"
        if notes:
            named["__amp_types__"] = np.frombuffer(json.dumps(notes).encode(), np.uint8)
        with self.program.lock:
            np.savez(path("in.npz"), **named)
            self.program.call()
            with np.load(path("out.npz")) as file:
                out = [(file[f"b{i:04}"], type) for i, (_, type) in enumerate(arrays)]
        return out[: len(self.arrays)], out[len(self.arrays) :]

    def run(self, folder):
        """Compiles and runs; returns the results that are not updates."""
        self.compile(folder)
        inputs, outputs = self.call()
        updated = {updates for *_, updates in self.results}
        for index, (before, after) in enumerate(zip(self.arrays, inputs)):
            if index not in updated:
                assert before[0].tobytes() == after[0].tobytes(), (
                    f"argument {index} was written to"
                )
        return outputs


class TypedCases:
    """Operations of one type in one step, each with its expected results."""

    def __init__(self, type):
        self.type, self.step, self.checks = type, Step(), []
        self.wide_type = "f64" if type == "f64" else "f32"

    def low(self, values):
        return tensor(values, self.type)

    def wide(self, values):
        return tensor(values, self.wide_type)


def elementwise(function):
    """A reference from the Python math library, in f64."""

    def apply(x):
        result = np.empty_like(x)
        for index, value in np.ndenumerate(x):
            try:
                result[index] = function(value)
            except OverflowError:
                result[index] = np.inf
            except ValueError:
                result[index] = np.nan
        return result

    return apply


def ulp(values, type):
    """The distance between floats of `type` around `values`."""
    digits = DIGITS[type]
    least = {"f16": -24, "bf16": -133, "f32": -149, "f64": -1074}[type]
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.abs(values))
    exponent = np.where(np.isfinite(values) & (values != 0), exponent, -5000)
    return np.ldexp(1.0, np.maximum(exponent - digits, least))


def check(actual, expected, ulps, absolute=0.0, what=""):
    """Asserts that a tensor is within `ulps` units in the last place of its
    type, plus `absolute`, of `expected`; NaN and infinities must match."""
    array, type = actual
    got = wide(actual)
    with np.errstate(all="ignore"):
        # Values that round to infinity in this type are infinite.
        rounded = wide(tensor(expected, type))
    expected = np.where(np.isinf(rounded), rounded, expected)
    assert got.shape == expected.shape, (what, got.shape, expected.shape)
    bound = ulps * ulp(expected, type) + absolute
    with np.errstate(all="ignore"):
        error = np.abs(got - expected)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    bad = ~(same | (error <= bound))
    # One side of the border to infinity is as near as the other.
    largest = {"f16": 65504.0, "bf16": 3.3895313892515355e38,
               "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}[type]
    if ulps:
        bad &= ~(np.isinf(got) & (np.abs(expected) == largest))
        bad &= ~(np.isinf(expected) & (np.abs(got) == largest))
    if bad.any():
        where = tuple(index[0] for index in np.nonzero(bad))
        raise AssertionError(
            f"{what}: {bad.sum()} of {bad.size} wrong, first at {where}: got "
            f"{got[where]!r}, expected {expected[where]!r}, error "
            f"{error[where] / ulp(expected, type)[where]:.2f} ulp"
        )


def check_same_bits(actual, expected, what=""):
    """Asserts bit equality of two tensors of one type; NaN equals NaN."""
    assert actual[1] == expected[1], what
    a, b = actual[0], expected[0]
    nan = np.isnan(wide(actual)) & np.isnan(wide(expected))
    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[a.itemsize]
    bad = (np.asarray(a, order="C").view(unsigned) != np.asarray(b, order="C").view(unsigned)) & ~nan
    if bad.any():
        where = tuple(index[0] for index in np.nonzero(bad))
        raise AssertionError(
            f"{what}: {bad.sum()} of {bad.size} differ, first at {where}: got "
            f"{wide(actual)[where]!r}, expected {wide(expected)[where]!r}"
        )
