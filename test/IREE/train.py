# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A second compiler of StableHLO accepts the output of the passes: IREE, as packaged,
# trains a perceptron as XLA does, and skips the same steps. The loss scale of fp16
# starts so high that steps are skipped. transformer.test does the same.
#
# REQUIRES: jax, iree, full
# RUN: rm -rf %t && mkdir %t
# RUN: %jax_python %s amp-opt mlp %t
# RUN: %iree_python %S/Inputs/train_iree.py %t
"""Usage: train.py <amp-opt> <program> <folder>

Writes steps, their first arguments and batches, and how XLA trains them.
"""

import json
import pathlib
import sys

import amp_jax
import jax
import numpy as np
import programs

STEPS = 30
# The largest difference of two losses, relative to the first.
TOLERANCES = {"f32": 1e-5, "bf16": 1e-2, "fp16": 5e-2}
FIRST_SCALE = 2.0**30


def train(run, leaves, batches, extra):
    values, added = list(leaves), list(extra)
    losses, skips = [], []
    for batch in batches:
        new = [np.asarray(value) for value in run(*values, *batch, *added)]
        values, added = new[: len(leaves)], new[len(leaves) + 1 : len(leaves) + 1 + len(extra)]
        losses.append(float(new[len(leaves)]))
        skips.append(bool(new[-1]) if extra else False)
    return losses, skips


def main(amp_opt, program, folder):
    cases = []
    loss, shapes, data = programs.PROGRAMS[program]
    params = programs.initial(shapes)
    state = programs.adam_state(params)
    batches = list(data(programs.BATCH, STEPS))
    step = amp_jax.lower(loss, programs.adam, params, state, batches[0])
    leaves = [np.asarray(leaf) for leaf in step.flatten(params, state)]
    for precision, tolerance in TOLERANCES.items():
        scaling = "dynamic" if precision == "fp16" else None
        text = amp_jax.rewrite(step.text, precision, command=(amp_opt,), scaling=scaling)
        assert precision == "f32" or ("bf16" if precision == "bf16" else "xf16") in text
        extra = amp_jax.scaler_state(FIRST_SCALE) if scaling else []
        extra = [np.asarray(value) for value in extra]
        losses, skips = train(amp_jax.compile(text), leaves, batches, extra)
        assert not scaling or 0 < sum(skips) < STEPS // 2, "expected some skipped steps"
        name = f"{program}-{precision}"
        (folder / f"{name}.mlir").write_text(text)
        arrays = {f"a{i}": value for i, value in enumerate([*leaves, *extra])}
        for s, batch in enumerate(batches):
            arrays |= {f"b{s}.{i}": np.asarray(value) for i, value in enumerate(batch)}
        np.savez(folder / f"{name}.npz", losses=losses, skips=skips, **arrays)
        cases.append(
            {
                "name": name, "tolerance": tolerance, "steps": STEPS, "count": len(leaves),
                "arguments": len(leaves) + len(extra), "batch": len(batches[0]),
            }
        )  # fmt: skip
    (folder / "cases.json").write_text(json.dumps(cases))
    print(f"XLA of JAX {jax.__version__} trained {len(cases)} steps")


if __name__ == "__main__":
    main(*sys.argv[1:3], pathlib.Path(sys.argv[3]))
