# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Usage: train_iree.py <folder>

Compiles each step of the folder with IREE for this CPU, trains it, and compares
its losses and skipped steps with those of XLA, which the folder has too.
"""

import json
import pathlib
import sys

import iree.compiler
import iree.runtime
import numpy as np

FLAGS = ["--iree-llvmcpu-target-cpu=host"]


def compile(text):
    """A function of lists of arrays."""
    binary = iree.compiler.compile_str(
        text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=FLAGS
    )
    module = iree.runtime.load_vm_flatbuffer(binary, driver="local-task")
    return lambda arguments: [np.asarray(result) for result in module["main"](*arguments)]


def train(step, arguments, batches, count):
    """The losses and the skipped steps. The step updates the first `count` arguments.
    Added arguments come after the batch, and added results after the loss."""
    values, added = arguments[:count], arguments[count:]
    losses, skips = [], []
    for batch in batches:
        results = step([*values, *batch, *added])
        values, added = results[:count], results[count + 1 : count + 1 + len(added)]
        losses.append(float(results[count]))
        skips.append(bool(results[-1]) if added else False)
    return np.array(losses), skips


def main(folder):
    failed = False
    for case in json.loads((folder / "cases.json").read_text()):
        name = case["name"]
        with np.load(folder / f"{name}.npz") as file:
            arguments = [file[f"a{i}"] for i in range(case["arguments"])]
            batches = [
                [file[f"b{s}.{i}"] for i in range(case["batch"])] for s in range(case["steps"])
            ]
            wanted, skipped = file["losses"], list(file["skips"])
        step = compile((folder / f"{name}.mlir").read_text())
        losses, skips = train(step, arguments, batches, case["count"])
        gap = np.abs(losses - wanted).max() / wanted[0]
        good = gap <= case["tolerance"] and skips == skipped and np.isfinite(losses).all()
        good &= losses[-1] < 0.8 * losses[0]
        failed |= not good
        print(
            f"{name}: loss {losses[0]:.4f} to {losses[-1]:.4f}, XLA to {wanted[-1]:.4f}; largest "
            f"difference {gap:.2e} of the first, expected at most {case['tolerance']:g}; "
            f"{sum(skips)} skipped, XLA {sum(skipped)}: {'ok' if good else 'FAILED'}"
        )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
