# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Real training with every scheme of loss scaling: as accurate as f32; bit for bit
# where nothing overflows; resumed across skipped steps; and what becomes of the
# weights where the overflow check is taken out by hand.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from digits import DIGITS, metrics, model, run, state

folder = sys.argv[1]
LONG = bool(os.environ.get("AMP_LONG_TESTS"))
FP16 = "--precision", "fp16"
EVAL = "--epochs", 30, "--eval", "--quiet"
SCALERS = ["amp", "pytorch", "apex", "deepspeed", "megatron", "tf-keras", "keras", "mxnet", "paddle"]


def accuracy(text):
    return float(re.search(r"^eval accuracy: (\S+)$", text, re.M).group(1))


# Every scheme is as accurate as f32. A large first scale makes some of them skip.
schemes = {"constant": [*FP16, "--loss-scale", 2**14], "f32, scaled": ["--precision", "f32", "--loss-scale", "dynamic"]}
for scaler in SCALERS if LONG else ("amp", "deepspeed", "megatron"):
    schemes[scaler] = [*FP16, "--pipeline", f"scaler={scaler}"]
schemes["layers"] = [*FP16, "--loss-scale", "layerwise"]
schemes["copies"] = [*FP16, "--master-weights", "copy"]
if LONG:
    schemes["a scale per loss"] = [*FP16, "--pipeline", "scale-per-loss"]
    schemes["bf16"] = ["--precision", "bf16"]
    schemes["bf16, scaled"] = ["--precision", "bf16", "--loss-scale", "dynamic"]
    schemes["bf16, stochastic"] = ["--precision", "bf16", "--master-weights", "none", "--pipeline",
                                   "update-rounding=stochastic"]
    schemes["bf16, compensated"] = ["--precision", "bf16", "--master-weights", "none", "--pipeline",
                                    "update-rounding=kahan"]
    schemes["everything checked"] = [*FP16, "--pipeline",
                                     "scaler=tf-keras guard-model-state gradient-norm count-skipped"]
for name in ("digits-mlp", "underflow", "digits-cnn") if LONG else ("digits-mlp", "underflow"):
    reference = accuracy(run(name, "--precision", "f32", *EVAL))
    assert reference > 0.94, (name, reference)
    for scheme, options in schemes.items():
        found = accuracy(run(name, *options, *EVAL))
        print(f"{name}, {scheme}: {found:.4f}, f32 {reference:.4f}")
        assert found >= reference - 0.01, (name, scheme, found, reference)
# Without a scale the same graph learns nothing in fp16.
assert accuracy(run("underflow", *FP16, "--loss-scale", "none", *EVAL)) < 0.3

# Without an overflow, a scale that is a power of two changes no bit in f32.
for name in ("digits-mlp", "underflow"):
    plain = state(name, "--precision", "f32", "--epochs", 1)
    for scale in ("dynamic", 2**10, 2.0**-8):
        scaled = state(name, "--precision", "f32", "--loss-scale", scale, "--epochs", 1)
        for key in plain:
            assert plain[key].tobytes() == scaled[key].tobytes(), (name, scale, key)
    # A scale of 3 is not a power of two, so it changes the rounding.
    odd = state(name, "--precision", "f32", "--loss-scale", 3, "--epochs", 1)
    assert any(plain[key].tobytes() != odd[key].tobytes() for key in plain), name

# Megatron's first scale, 2^32, makes the first steps overflow; the run is resumed
# amid them, after them, and goes on bit for bit.
options = [*FP16, "--pipeline", "scaler=megatron count-skipped", "--batch-size", 32]
steps, _ = metrics("digits-mlp", *options, "--steps", 20)
skipped = [bool(step["skipped"]) for step in steps]
assert skipped[3] and skipped[4] and not all(skipped), skipped
whole = state("digits-mlp", *options, "--steps", 20)
assert whole["skipped_steps"] == sum(skipped), (whole["skipped_steps"], skipped)
for half in (4, 5, 15):
    path = os.path.join(folder, "half.npz")
    run("digits-mlp", *options, "--steps", half, "--save", path, "--quiet")
    resumed = state("digits-mlp", *options, "--steps", 20 - half, "--load", path)
    assert whole.keys() == resumed.keys()
    for key in whole:
        assert whole[key].tobytes() == resumed[key].tobytes(), (half, key)

# Data that are never finite: the scale stops at its floor and nothing moves. The
# run is an error, but it writes its metrics and its state.
with np.load(DIGITS) as file:
    arrays = {key: file[key] for key in file}
arrays["train_images"] = np.full_like(arrays["train_images"], np.nan)
never = os.path.join(folder, "never.npz")
np.savez(never, **arrays)
before = state("digits-mlp", *FP16, "--steps", 0, data=never)
table = os.path.join(folder, "never.csv")
after = state("digits-mlp", *FP16, "--steps", 40, "--metrics-csv", table, data=never, status=1)
with open(table) as file:
    assert len(file.readlines()) == 41
assert after["loss_scale"] == 1 and after["growth_tracker"] == 0, after["loss_scale"]
for key in before.keys() - {"loss_scale", "growth_tracker", "hysteresis_tracker"}:
    assert before[key].tobytes() == after[key].tobytes(), key

# The pitfall: a constant scale that is too large, with and without the check. The
# guard is what keeps the weights; taken out of the graph by hand, they are NaN
# after the first steps, and the check of the compiler refuses that graph.
text = subprocess.run(
    ["amp-opt", model("digits-mlp"), "--amp-training-pipeline=scaler=keras"],
    capture_output=True, text=True, check=True).stdout
init = re.compile(r'(amp\.init = #amp\.init<constant, value = )3\.276800e\+04')
assert len(init.findall(text)) == 1
text = init.sub(r"\g<1>1.0995116277760e+12", text)
guard = re.search(r"(%\w+) = tensor\.extract %all_finite\[\] : tensor<i1>\n(\s+%\S+ = scf\.if) \1 ", text)
assert guard, text
unguarded = text.replace(guard.group(0), f"{guard.group(1)} = arith.constant true\n{guard.group(2)} {guard.group(1)} ")
# Nothing else reads the flag but the scale, which stays as it is.
unguarded = re.sub(r"(%new_scale\S*, \S+, \S+) = amp\.update_scale (%\w+), (%\w+), (%\w+), %all_finite",
                   r"%yes = arith.constant dense<true> : tensor<i1>\n    \1 = amp.update_scale \2, \3, \4, %yes", unguarded)
paths = {}
for name, source in (("guarded", text), ("unguarded", unguarded)):
    paths[name] = os.path.join(folder, name + ".mlir")
    with open(paths[name], "w") as file:
        file.write(source)


def as_written(name, message=""):
    out = os.path.join(folder, "state.npz")
    done = subprocess.run(
        ["amp-run", paths[name], "--data", DIGITS, "--steps", "30", "--quiet", "--save", out],
        capture_output=True, text=True)
    assert done.returncode == bool(message) and message in done.stderr, done.stderr
    with np.load(out) as file:
        return {key: file[key] for key in file if not key.startswith("__amp")}


guarded, broken = as_written("guarded"), as_written("unguarded", "the loss is NaN")
assert guarded["loss_scale"] < 2.0**40
for key in guarded:
    assert np.isfinite(guarded[key]).all(), key
weights = [key for key in broken if key.endswith("weight")]
assert weights and all(np.isnan(broken[key]).any() for key in weights), {k: broken[k] for k in weights}
checked = subprocess.run(["amp-opt", paths["unguarded"], "--amp-check-loss-scaling", "-o", os.devnull],
                         capture_output=True, text=True)
assert checked.returncode != 0 and "expected it within an 'scf.if' on the conjunction" in checked.stderr, checked.stderr
checked = subprocess.run(["amp-opt", paths["guarded"], "--amp-check-loss-scaling", "-o", os.devnull],
                         capture_output=True, text=True)
assert checked.returncode == 0, checked.stderr
