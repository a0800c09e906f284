# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One infinite pixel makes the gradients of one step overflow. That step, and no
# other, is skipped: parameters and optimizer state stay as they were, bit for
# bit, and the scale halves.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from digits import DIGITS, metrics, state

folder = sys.argv[1]
poisoned = os.path.join(folder, "poisoned.npz")
with np.load(DIGITS) as f:
    arrays = {key: f[key].copy() for key in f}
arrays["train_images"][0, 10] = np.inf
np.savez(poisoned, **arrays)

# The steps that see the sample, by the order in which batches are drawn: not
# every epoch has one, since the end of an epoch that fills no batch is left out.
EPOCHS, BATCH, SEED = 3, 64, 3
samples = len(arrays["train_images"])
expected = []
for epoch in range(EPOCHS):
    order = subprocess.run(
        ["amp-execution-test", "order", str(samples), str(SEED), str(epoch), "1"],
        capture_output=True, text=True, check=True,
    ).stdout.split()
    step = order.index("0") // BATCH
    if step < samples // BATCH:
        expected.append(epoch * (samples // BATCH) + step + 1)
assert len(expected) >= 2, expected

for masters in ("cast", "copy"):
    options = ("--precision", "fp16", "--master-weights", masters, "--batch-size", BATCH, "--seed", SEED)
    steps, results = metrics("digits-mlp", *options, "--epochs", EPOCHS, data=poisoned)
    skipped = [step["step"] for step in steps if step["skipped"]]
    assert skipped == expected, (skipped, expected)
    assert results["skipped steps"] == len(skipped), results
    first = skipped[0]
    position = [step["step"] for step in steps].index(first)
    scales = [step["loss_scale"] for step in steps]
    assert scales == [65536.0 / 2 ** sum(s < step["step"] for s in expected) for step in steps], scales

    # The state before and after the step: `position` steps come before it.
    before = state("digits-mlp", *options, "--steps", position, data=poisoned)
    after = state("digits-mlp", *options, "--steps", position + 1, data=poisoned)
    scaler = {"loss_scale", "growth_tracker", "hysteresis_tracker"}
    assert before.keys() == after.keys() and scaler < before.keys(), before.keys()
    assert len(before) == (15 if masters == "cast" else 21), before.keys()
    for key in before.keys() - scaler:
        assert before[key].tobytes() == after[key].tobytes(), key
    assert after["loss_scale"] == before["loss_scale"] / 2
    assert before["growth_tracker"] == position and after["growth_tracker"] == 0
    # The next step moves on, and everything stays finite.
    later = state("digits-mlp", *options, "--steps", position + 2, data=poisoned)
    assert any(later[key].tobytes() != after[key].tobytes() for key in before.keys() - scaler)
    assert all(np.isfinite(value).all() for value in later.values())
