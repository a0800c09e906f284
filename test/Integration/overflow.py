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

for masters in ("cast", "copy"):
    options = ("--precision", "fp16", "--master-weights", masters, "--batch-size", 64, "--seed", 3)
    steps, results = metrics("digits-mlp", *options, "--epochs", 1, data=poisoned)
    skipped = [step["step"] for step in steps if step["skipped"]]
    if not skipped:
        # The sample fell into the part of the epoch that fills no batch.
        steps, results = metrics("digits-mlp", *options, "--epochs", 2, data=poisoned)
        skipped = [step["step"] for step in steps if step["skipped"]]
    assert len(skipped) >= 1, skipped
    assert results["skipped steps"] == len(skipped), results
    first = skipped[0]
    position = [step["step"] for step in steps].index(first)
    scales = [step["loss_scale"] for step in steps]
    assert scales[: position + 1] == [65536.0] * (position + 1), scales
    assert scales[position + 1] == 32768.0, scales

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
