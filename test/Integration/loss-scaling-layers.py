# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Training with a loss scale for each layer: as accurate as f32, also where f16
# loses all gradients without one; no step is skipped, and the scales adapt. An overflow skips only
# its layer and the layers that come after it in the backward pass. In f32 it changes no bit, and a
# run is resumed bit for bit.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from digits import metrics, run, state

folder = sys.argv[1]
LONG = bool(os.environ.get("AMP_LONG_TESTS"))
LAYERS = "--loss-scale", "layerwise"
FP16 = "--precision", "fp16", *LAYERS


def names(steps, kind):
    return [key for key in steps[0] if key.startswith(kind + ".")]


for name in ("underflow", "digits-mlp", "digits-cnn") if LONG else ("underflow", "digits-mlp"):
    end = "--epochs", 30, "--eval", "--quiet"
    _, reference = metrics(name, "--precision", "f32", *end)
    steps, found = metrics(name, *FP16, *end)
    print(name, found["eval accuracy"], "f32", reference["eval accuracy"])
    assert found["eval accuracy"] >= reference["eval accuracy"] - 0.01 > 0.93, (name, found, reference)
    scales = names(steps, "loss_scale")
    assert len(scales) == (4 if name == "digits-cnn" else 3), scales
    # No step is skipped, not in a single layer.
    assert not any(step[key] for step in steps for key in ["skipped", *names(steps, "skipped")]), name
    # They vary over the run, and from layer to layer, and are powers of two.
    for key in scales:
        values = {step[key] for step in steps}
        assert len(values) >= 4 and all(np.frexp(v)[0] == 0.5 for v in values), (key, values)
    assert sum(len({step[key] for key in scales}) > 1 for step in steps) > len(steps) / 10, name
    if name == "underflow":
        # 2^19 and more above where they begin, for gradients that are as much smaller.
        assert all(steps[-1][key] >= 2.0**30 for key in scales), steps[-1]

# A first scale that is too large: layers skip apart, each weight moves when its
# own does not, and none when it does.
with open(os.path.join(folder, "high.yaml"), "w") as file:
    file.write("version: 1\nextends: default\nloss-scaling: {mode: layerwise, init-scale: 1099511627776}\n")
policy = "--precision", "fp16", "--pipeline", f"policy={folder}/high.yaml count-skipped"
steps, _ = metrics("digits-mlp", *policy, "--steps", 20)
skips = names(steps, "skipped")
assert skips == ["skipped.fc3.weight", "skipped.fc2.weight", "skipped.fc1.weight"], skips
assert all(steps[0][key] for key in ["skipped", *skips]) and not any(steps[-1][key] for key in ["skipped", *skips])
assert all(step["skipped"] == all(step[key] for key in skips) for step in steps)
for step in steps:
    # The value that is not finite comes from the previous layer.
    flags = [step[key] for key in skips]
    assert flags == sorted(flags), flags
# Large weights of the first layer only: it alone overflows.
weights = state("digits-mlp", "--precision", "f32", "--epochs", 1)
weights["fc2.weight"] = weights["fc2.weight"] * np.float32(2.0**9)
np.savez(os.path.join(folder, "steep.npz"), **weights)
start = *FP16, "--init", os.path.join(folder, "steep.npz"), "--set", "lr=0.000001"
steps, _ = metrics("digits-mlp", *start, "--steps", 30)
partly = [i for i, step in enumerate(steps) if len({step[key] for key in skips}) == 2]
assert partly and not any(steps[i]["skipped"] for i in partly), [[s[k] for k in skips] for s in steps]
first = partly[0]
before, after = (state("digits-mlp", *start, "--steps", n) for n in (first, first + 1))
for key in skips:
    layer = key.split(".")[1]
    for part in ("weight", "bias", "weight.velocity", "bias.velocity"):
        same = before[f"{layer}.{part}"].tobytes() == after[f"{layer}.{part}"].tobytes()
        assert same == bool(steps[first][key]), (first, layer, part)
    assert (after[f"loss_scale.{layer}.weight"] < before[f"loss_scale.{layer}.weight"]) or not steps[first][key]

# In f32 nothing overflows, and powers of two round nothing.
for name in ("digits-mlp", "underflow"):
    plain = state(name, "--precision", "f32", "--epochs", 1)
    scaled = state(name, "--precision", "f32", *LAYERS, "--epochs", 1)
    for key in plain:
        assert plain[key].tobytes() == scaled[key].tobytes(), (name, key)
    assert len(scaled) == len(plain) + 3

# Resumed amid skipped steps and after them.
whole = state("digits-mlp", *policy, "--steps", 20)
for half in (2, 4, 11):
    path = os.path.join(folder, "half.npz")
    run("digits-mlp", *policy, "--steps", half, "--save", path, "--quiet")
    resumed = state("digits-mlp", *policy, "--steps", 20 - half, "--load", path)
    assert whole.keys() == resumed.keys()
    for key in whole:
        assert whole[key].tobytes() == resumed[key].tobytes(), (half, key)
