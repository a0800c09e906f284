# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A run that is saved and resumed is the run that was not interrupted, bit for
# bit, in each precision and in the middle of an epoch; seeds decide everything.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import MODEL, fails, load, make_data, ok

folder = sys.argv[1] + "/"
np.savez(folder + "data.npz", **make_data())
data = ("--data", folder + "data.npz", "--batch-size", 8)


def bytes_of(name):
    with open(folder + name, "rb") as f:
        return f.read()


for precision in ("f32", "fp16", "bf16", "fp8", "fp8-rowwise"):
    run = (*data, "--precision", precision)
    ok(*run, "--seed", 5, "--steps", 16, "--save", folder + "whole.npz")
    ok(*run, "--seed", 5, "--steps", 9, "--save", folder + "part.npz")
    assert bytes_of("part.npz") != bytes_of("whole.npz")
    ok(*run, "--load", folder + "part.npz", "--steps", 7, "--save", folder + "resumed.npz")
    assert bytes_of("resumed.npz") == bytes_of("whole.npz")
    # The same again, and another seed.
    ok(*run, "--seed", 5, "--steps", 16, "--save", folder + "again.npz")
    assert bytes_of("again.npz") == bytes_of("whole.npz")
    ok(*run, "--seed", 6, "--steps", 16, "--save", folder + "other.npz")
    assert (load(folder + "other.npz")["weight"] != load(folder + "whole.npz")["weight"]).any()
    state = load(folder + "whole.npz")
    assert ("loss_scale" in state) == (precision == "fp16")
    assert state["__amp_progress__"][1] == 16

# A state that belongs to another graph or another data set.
ok(*data, "--steps", 1, "--save", folder + "plain.npz")
state = load(folder + "plain.npz")


def refused(message, **changes):
    changed = {k: v for k, v in {**state, **changes}.items() if v is not None}
    np.savez(folder + "bad.npz", **changed)
    fails(message, *data, "--load", folder + "bad.npz", "--steps", 1, "--save", folder + "no.npz")
    assert not os.path.exists(folder + "no.npz")


another = "was saved from another graph: "
refused(another + "it has no state 'weight'", weight=None)
refused(another + "state 'weight' is 3x4xf32, expected 4x3xf32", weight=state["weight"].T)
refused(another + "state 'bias' is 3xf16, expected 3xf32", bias=state["bias"].astype(np.float16))
refused(another + "this step has no state 'extra'", extra=state["bias"])
refused("is not a saved training state", __amp_progress__=None)
refused("is not a saved training state", __amp_progress__=state["__amp_progress__"][:3])
# Version, step, seed, epoch, offset, samples, batch size, precision, graph.
progress = state["__amp_progress__"]
assert list(progress[[0, 1, 3, 4, 5, 6, 7]]) == [2, 1, 0, 8, 50, 8, 0], progress
for field, value in (
    (1, -1), (1, 1 << 60), (3, -1), (3, 2), (4, -8), (4, 51), (5, -1), (5, 0), (6, 0), (6, -8),
    (7, -1), (7, 10),
):
    changed = progress.copy()
    changed[field] = value
    refused("has a damaged member", __amp_progress__=changed)
changed = progress.copy()
changed[7] = 4
refused("was saved by a run with --precision tf32, but this one is as written", __amp_progress__=changed)
changed = progress.copy()
changed[0] = 1
refused("is not a saved training state", __amp_progress__=changed)

# The same state, but another precision or another graph.
fails(
    "was saved by a run as written, without --precision, but this one is with --precision fp16; "
    "use --init for weights alone",
    *data, "--precision", "fp16", "--load", folder + "plain.npz",
)
ok(*data, "--precision", "bf16", "--steps", 1, "--save", folder + "bf16.npz")
fails(
    "was saved by a run with --precision bf16, but this one is with --precision f32",
    *data, "--precision", "f32", "--load", folder + "bf16.npz", "--steps", 1,
)
with open(MODEL) as f:
    text = f.read()
for name, old, new in (
    ("momentum", "momentum = 0.9", "momentum = 0.8"),
    ("spelling", "%loss", "%its_loss"),
    ("start", "value = 0.5>", "value = 0.25>"),
):
    assert old in text
    with open(folder + name + ".mlir", "w") as f:
        f.write("// " + name + "\n" + text.replace(old, new))
fails(
    another + "it has the state of this step, but other operations",
    *data, "--load", folder + "plain.npz", "--steps", 1, model=folder + "momentum.mlir",
)
# Names of values and initial values make no other graph, and "f16" is fp16.
for name in ("spelling", "start"):
    ok(*data, "--load", folder + "plain.npz", "--steps", 1, model=folder + name + ".mlir")
ok(*data, "--precision", "fp16", "--steps", 1, "--save", folder + "fp16.npz")
ok(*data, "--precision", "half", "--load", folder + "fp16.npz", "--steps", 1)

# "fp8" means the recipe current.
ok(*data, "--precision", "fp8", "--steps", 1, "--save", folder + "fp8.npz")
ok(*data, "--precision", "fp8-current", "--load", folder + "fp8.npz", "--steps", 1)
ok(*data, "--precision", "fp8-current", "--steps", 1, "--save", folder + "current.npz")
assert bytes_of("current.npz") == bytes_of("fp8.npz")
for run, other in (("fp8-rowwise", "fp8"), ("bf16", "fp8"), ("fp8", "bf16")):
    fails(
        f"{other}.npz' was saved by a run with --precision {other}, but this one is with --precision {run}; "
        "use --init for weights alone",
        *data, "--precision", run, "--load", folder + other + ".npz", "--steps", 1,
    )
# Other rules of the scaler: an error that names both, unless they are asked for.
fp16 = *data, "--precision", "fp16"
resumed = *fp16, "--load", folder + "fp16.npz", "--steps", 1
fails(
    "fp16.npz' was saved by a run whose loss scaling has exact_interval = false, max_scale = 3.40282347E+38, "
    "min_scale = 1, but that of this one has exact_interval = true, max_scale = 16777216, min_scale = 0; expected the "
    "same, or --other-scaler to go on with these rules",
    *resumed, "--pipeline", "scaler=mxnet",
)
fails(
    "whose loss scaling has scaler = amp.update_scale, but that of this one has scaler = amp.adapt_scale; expected",
    *resumed, "--loss-scale", "layerwise",
)
ok(*resumed, "--pipeline", "scaler=mxnet", "--other-scaler", "--save", folder + "mxnet.npz")

# A loss scale that cannot divide anything.
scaled = load(folder + "fp16.npz")
for scale, text in ((0, "0"), (-4, "-4"), (np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")):
    np.savez(folder + "bad.npz", **{**scaled, "loss_scale": np.float32(scale)})
    fails(
        f"bad.npz' has the loss scale 'loss_scale' = {text}, expected a positive finite number",
        *fp16, "--load", folder + "bad.npz", "--steps", 1,
    )
np.savez(folder + "small.npz", **{**scaled, "loss_scale": np.float32(2.0**-20)})
ok(*fp16, "--load", folder + "small.npz", "--steps", 1)
ok(*fp16, "--loss-scale", "layerwise", "--steps", 1, "--save", folder + "layers.npz")
layers = load(folder + "layers.npz")
name = next(key for key in layers if key.startswith("loss_scale."))
np.savez(folder + "bad.npz", **{**layers, name: np.float32(0)})
fails(
    f"bad.npz' has the loss scale '{name}' = 0, expected a positive finite number",
    *fp16, "--loss-scale", "layerwise", "--load", folder + "bad.npz", "--steps", 1,
)
assert load(folder + "mxnet.npz")["growth_tracker"] == 2
ok(*resumed, "--save", folder + "same.npz")
ok(*resumed, "--pipeline", "scaler=amp", "--save", folder + "named.npz")
assert bytes_of("same.npz") == bytes_of("named.npz")
# So are another constant, and none.
constant = *fp16, "--loss-scale", 1024
ok(*constant, "--steps", 1, "--save", folder + "constant.npz")
for scale, words in (("2048", "loss_scale = 2048"), ("none", "no loss_scale")):
    fails(
        "was saved by a run whose loss scaling has loss_scale = 1024, but that of this one has " + words,
        *fp16, "--loss-scale", scale, "--load", folder + "constant.npz", "--steps", 1,
    )
ok(*constant, "--load", folder + "constant.npz", "--steps", 1)
# A state from before files had them is not compared. A damaged one is an error.
rules = np.load(folder + "constant.npz")
old = {key: rules[key] for key in rules if key != "__amp_scaler__"}
np.savez(folder + "old.npz", **old)
ok(*fp16, "--loss-scale", "2048", "--load", folder + "old.npz", "--steps", 1)
np.savez(folder + "damaged.npz", **old, __amp_scaler__=np.zeros(3, np.float32))
fails("has a damaged member '__amp_scaler__'", *constant, "--load", folder + "damaged.npz", "--steps", 1)
fails("--other-scaler needs --load", *fp16, "--other-scaler", "--steps", 1)

# The batch size of the run goes on, unless another one is given.
unsized = data[:2]
ok(*unsized, "--load", folder + "plain.npz", "--steps", 3, "--save", folder + "more.npz")
assert load(folder + "more.npz")["__amp_progress__"][6] == 8
ok(*unsized, "--load", folder + "plain.npz", "--steps", 3, "--batch-size", 5, "--save", folder + "more.npz")
assert load(folder + "more.npz")["__amp_progress__"][6] == 5
np.savez(folder + "less.npz", **make_data(samples=40))
fails(
    "was trained on 50 samples, but this data set has 40",
    "--data", folder + "less.npz", "--batch-size", 8, "--load", folder + "plain.npz", "--steps", 1,
)
