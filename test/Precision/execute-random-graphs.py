# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Random graphs run in f32 and in mixed precision; the results differ by no more
# than a forward error analysis of the rewritten graph allows.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
"""Usage: execute-random-graphs.py <folder> [first seed]

The bound comes from --test-error-bound (test/lib/TestErrorBound.cpp), which
grows with depth. Graphs run twenty at a time, in one step; AMP_LONG_TESTS=1
takes 520 graphs for each strategy and low type, otherwise 20.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
first = int(sys.argv[2]) if len(sys.argv) > 2 else 100
BATCH = 20
batches = 26 if os.environ.get("AMP_LONG_TESTS") else 1
SHAPES = [(4, 8), (8, 8), (8, 4), (8,), (4,), (), (4, 8)]


def tool(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr[-2000:])
    return done.stdout


def execute(source, outputs, arrays):
    """Runs @step of the file `source`."""
    tool("amp-opt", source, "--amp-cpu-pipeline", "-o", folder / "llvm.mlir")
    named = {f"b{i:05}": array for i, array in enumerate(arrays + outputs)}
    np.savez(folder / "in.npz", **named)
    tool("amp-execution-test", "jit", folder / "llvm.mlir", "step_cpu", folder / "out.npz", folder / "in.npz")
    with np.load(folder / "out.npz") as file:
        return [file[f"b{i:05}"] for i in range(len(arrays), len(named))]


def shapes_of_results(text):
    """The shapes of the results of @step, by its return."""
    line = [line for line in text.splitlines() if line.strip().startswith("return")][-1]
    types = line.split(" : ")[1].split(", ")
    assert all(type.endswith("f32>") for type in types), types
    return [tuple(int(n) for n in type[len("tensor<"):].split("x")[:-1]) for type in types]


def main():
    results = bounded = different = 0
    tightest = 0.0
    for batch in range(batches):
        seed = first + batch * BATCH
        rng = np.random.default_rng(seed)
        arrays = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in SHAPES]
        arrays.append(np.array(batch % 2 == 0))
        (folder / "empty.mlir").write_text("module {}")
        f32 = folder / "f32.mlir"
        f32.write_text(tool("amp-test-opt", folder / "empty.mlir",
                            f"--test-make-random-graph=seed={seed} count={BATCH} size=25 executable"))
        zeros = [np.zeros(shape, np.float32) for shape in shapes_of_results(f32.read_text())]
        expected = execute(f32, zeros, arrays)
        for strategy in ("optimal", "grappler"):
            for precision in ("fp16", "bf16"):
                mixed = folder / "mixed.mlir"
                tool("amp-opt", f32, f"--auto-mixed-precision=precision={precision} strategy={strategy}", "-o", mixed)
                bounds = [float(line.split()[2]) for line in
                          tool("amp-test-opt", mixed, "--test-error-bound").splitlines()
                          if line.startswith("// bound")]
                actual = execute(mixed, zeros, arrays)
                assert len(bounds) == len(actual) == len(expected)
                for index, (a, e, bound) in enumerate(zip(actual, expected, bounds)):
                    results += 1
                    if not np.isfinite(bound):
                        continue
                    bounded += 1
                    error = np.max(np.abs(a.astype(np.float64) - e)) if a.size else 0.0
                    assert error <= bound, (
                        f"seed={seed} {strategy} {precision}: result {index} of @step is off by "
                        f"{error}, more than {bound}")
                    different += error > 0
                    if bound > 0:
                        tightest = max(tightest, error / bound)
    print(f"{results} results, {bounded} bounded, {different} differ; the largest error is {tightest:.3} of its bound")
    # The test fails if the bound is rarely near the error or rarely finite.
    assert bounded > 0.7 * results and different > 0.2 * results and tightest > 0.05


main()
