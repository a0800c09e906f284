# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Losses written in JAX, imported into the train dialect, train on the CPU to the
# losses that they have in JAX. import-networks.test takes the larger ones.
#
# REQUIRES: jax
# RUN: %jax_python %s mlp amp-opt amp-run %t
"""Usage: import.py <program> <amp-opt> <amp-run> <scratch>"""

import pathlib
import sys

import amp_jax
import figures
import imported
import jax
import numpy as np
import programs
from imported import run

STEPS = 20
RATE = 3e-3


def main(name, amp_opt, amp_run, scratch):
    scratch = pathlib.Path(f"{scratch}-{name}")
    scratch.mkdir(parents=True, exist_ok=True)
    loss, shapes, data = programs.PROGRAMS[name]
    params = programs.initial(shapes)
    batch = next(data(programs.BATCH, 1))
    text = amp_jax.lower_loss(loss, params, batch)
    dump = pathlib.Path(programs.__file__).with_name(f"{name}-loss.mlir")
    assert dump.read_text() == figures.without_locations(text), f"{dump.name} is not what this JAX dumps"
    step = scratch / "step.mlir"
    run(amp_opt, "--allow-unregistered-dialect", dump, "-o", step,
        f"--stablehlo-to-train=optimizer=adam learning-rate={RATE}")  # fmt: skip
    imported.write_inputs(params, batch, scratch)
    ours = imported.train(amp_run, step, scratch, steps=STEPS)

    @jax.jit
    def train(params, state):
        value, gradients = jax.value_and_grad(loss)(params, *batch)
        return (*programs.adam(params, state, gradients, rate=RATE), value)

    state, theirs = programs.adam_state(params), []
    for _ in range(STEPS):
        params, state, value = train(params, state)
        theirs.append(float(value))
    theirs = np.array(theirs)
    error = (np.abs(ours - theirs) / np.maximum(theirs, theirs[0] / 100)).max()
    print(f"{name}: loss {theirs[0]:.4f} to {theirs[-1]:.6f} in JAX, {ours[-1]:.6f} here; {error:.1e}")
    assert theirs[-1] < 0.5 * theirs[0], "the program does not train"
    assert error < 1e-4, (ours, theirs)


if __name__ == "__main__":
    main(*sys.argv[1:])
