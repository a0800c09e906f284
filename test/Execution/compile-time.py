# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compilation takes time proportional to the number of layers where all of them
# differ, and hardly more for many layers than for one where they are equal. Time is processor time,
# which parallel tests hardly change, of the tool with all of LLVM's optimisations. Other quick
# tests disable the slow ones.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %amp_obj_root/bin/amp-run
# The layers of a transformer share their functions.
# RUN: amp-model gpt2 --layers=2 --width=16 --heads=2 --vocabulary=11 --positions=8 --batch=2 -o %t/two.mlir
# RUN: amp-model gpt2 --layers=9 --width=16 --heads=2 --vocabulary=11 --positions=8 --batch=2 -o %t/nine.mlir
# RUN: amp-opt %t/two.mlir --train-autodiff --amp-cpu-pipeline=to-llvm=false | grep -c "func.func private" > %t/two
# RUN: amp-opt %t/nine.mlir --train-autodiff --amp-cpu-pipeline=to-llvm=false | grep -c "func.func private" > %t/nine
# RUN: diff %t/two %t/nine

import resource
import subprocess
import sys

import numpy as np

folder, amp_run = sys.argv[1:3]
rng = np.random.default_rng(1)


def execute(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)


def compile_time(name, model, options, data):
    """Processor time of one step of the model, seconds: it is tiny."""
    path = f"{folder}/{name}"
    execute("amp-model", model, *options, "-o", path + ".mlir")
    np.savez(path + ".npz", **data)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    execute(amp_run, path + ".mlir", "--data", path + ".npz", "--batch-size", "2", "--steps", "1", "--quiet")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def perceptron(layers):
    """All layers differ in width."""
    widths = ",".join(str(8 + i) for i in range(layers))
    data = {"x": rng.standard_normal((2, 7)).astype(np.float32), "labels": np.array([0, 1])}
    return compile_time(f"mlp{layers}", "mlp", ("--features=7", "--classes=3", "--hidden=" + widths), data)


def transformer(layers):
    tokens = rng.integers(0, 11, (2, 8))
    options = (f"--layers={layers}", "--width=16", "--heads=2", "--vocabulary=11", "--positions=8")
    return compile_time(f"gpt{layers}", "gpt2", options, {"tokens": tokens, "targets": tokens})


def check(what, build, few, limit):
    # Once more if another process was in the way.
    for _ in range(3):
        times = [build(layers) for layers in (few, 4 * few)]
        ratio = times[1] / times[0]
        print(f"{what}: {few} layers {times[0]:.2f} s, {4 * few} layers {times[1]:.2f} s, ratio {ratio:.2f}")
        if ratio <= limit:
            return
    sys.exit(f"{what}: four times the layers take {ratio:.2f} times the time, expected at most {limit}")


check("perceptron", perceptron, 5, 6.0)
check("transformer", transformer, 2, 2.5)
