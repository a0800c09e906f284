# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains an imported loss with amp-run and the same loss with JAX."""

import csv
import subprocess

import amp_jax
import jax
import numpy as np

STEPS = 8
RATE = 0.1


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def signless(array):
    return array.view(np.int32) if array.dtype == np.uint32 else array


def write_inputs(params, batch, scratch):
    """Writes the first weights and the batch."""
    np.savez(scratch / "batch.npz", **{f"batch.{i}": signless(part) for i, part in enumerate(batch)})
    np.savez(scratch / "weights.npz", **{f"params.{key}": value for key, value in params.items()})


def train(amp_run, step, scratch, *options, steps=STEPS):
    """The losses of amp-run from these weights and on this batch."""
    run(amp_run, step, "--data", scratch / "batch.npz", "--init", scratch / "weights.npz",
        "--steps", steps, "--quiet", "--metrics-csv", scratch / "metrics.csv", *options)  # fmt: skip
    with open(scratch / "metrics.csv") as file:
        return np.array([float(row["loss"]) for row in csv.DictReader(file)])


class Program:
    def __init__(self, loss, params, batch, amp_opt, amp_run, scratch):
        scratch.mkdir(parents=True, exist_ok=True)
        self.loss, self.params, self.batch = loss, params, batch
        self.amp_run, self.scratch, self.step = amp_run, scratch, scratch / "step.mlir"
        dump = scratch / "loss.mlir"
        dump.write_text(amp_jax.lower_loss(loss, params, batch, ignore_custom_derivatives=True))
        run(amp_opt, "--allow-unregistered-dialect", dump, "-o", self.step,
            f"--stablehlo-to-train=optimizer=sgd learning-rate={RATE}")  # fmt: skip
        write_inputs(params, batch, scratch)

    def ours(self, *options):
        return train(self.amp_run, self.step, self.scratch, *options)

    def theirs(self):
        params, losses = self.params, []
        step = jax.jit(jax.value_and_grad(self.loss))
        for _ in range(STEPS):
            value, gradients = step(params, *self.batch)
            params = jax.tree.map(lambda w, g: w - RATE * g, params, gradients)
            losses.append(float(value))
        return np.array(losses)


def check(name, ours, theirs, tolerance):
    error = (np.abs(ours - theirs) / np.abs(theirs)).max()
    print(f"{name}: loss {theirs[0]:.4f} to {theirs[-1]:.4f} in JAX; {error:.1e}", flush=True)
    assert theirs[-1] < 0.98 * theirs[0], "the program does not train"
    assert error < tolerance, (ours, theirs)
