# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Ranks that divide the state of the optimizers train as ranks that all keep it: every bit of the
# state files is equal.
#
# REQUIRES: full, mpi
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs
"""Two parameters of 128 and 64 elements and two of 16 and 4: with 3 ranks every part but that of
the second bias is padded."""

import sys

import numpy as np

sys.path.insert(0, sys.argv[2])
from rank_steps import BAD, BATCH, PARAMETERS, Runs, assert_equal, metric, states, whole, write_data  # noqa: E402

folder = sys.argv[1] + "/"
STEPS = 50
runs = Runs(folder, STEPS)
write_data(folder, STEPS, np.random.default_rng(3))
train = runs.train
ALL = "--shard-optimizer", "--pipeline", "shard-min-elements=1"


def read(name):
    with open(f"{folder}{name}.npz", "rb") as file:
        return file.read()


def assert_same(ranks, model, options=(), pipeline="", **settings):
    """Trains with whole states and with parts. Returns the records of the latter run."""
    _, common = train(ranks, model, "whole", "--pipeline", pipeline, *options, **settings)
    parts = "--shard-optimizer", "--pipeline", f"{pipeline} shard-min-elements=1"
    _, divided = train(ranks, model, "parts", *parts, *options, "--check-ranks", **settings)
    assert metric(common, "loss") == metric(divided, "loss"), (ranks, options)
    assert read("whole") == read("parts"), (ranks, options)
    return divided


sgd = runs.write("sgd.mlir", whole())
adamw = runs.write("adamw.mlir", whole(optimizer="adamw"))
for ranks in (2, 3, 4):
    assert_same(ranks, adamw, ["--precision=f32"])
assert_same(3, sgd, ["--precision=f32"])

# Overflows of one rank: all ranks have its flag, and collectives run on skipped steps too.
fp16 = ["--precision", "fp16", "--no-shuffle"]
for ranks, masters, model in ((4, "copy", sgd), (3, "cast", sgd), (3, "copy", adamw)):
    together = assert_same(ranks, model, [*fp16, "--master-weights", masters], "init-scale=1024", source="overflows.npz")
    skipped = [step for step, flag in enumerate(metric(together, "skipped")) if flag]
    # With AdamW some of these rows have no gradient.
    assert skipped == list(BAD) if model == sgd else skipped, skipped

# bf16 with masters, and gradients that are exchanged in bf16.
bf16 = ["--precision", "bf16", "--master-weights", "copy"]
assert_same(4, adamw, bf16)
assert_same(3, sgd, bf16, "reduce-type=low")

# A clip adds the squares of all parts in another order, in f64.
clipped = runs.write("clipped.mlir", whole(optimizer="adamw", clip=0.05))
assert_same(3, clipped, ["--precision=f32"])
free, _ = train(3, adamw, "free", "--precision=f32")
clips, _ = train(3, clipped, "clips", "--precision=f32")
assert any(not np.allclose(free[key], clips[key], rtol=1e-2, atol=1e-2) for key in PARAMETERS)
assert_same(4, clipped, [*fp16, "--master-weights=copy"], "init-scale=1024", source="overflows.npz")

# So does the metric of all gradients, with a clip and without one, and also next to whole parameters.
for model, ranks, options in ((adamw, 3, ["--precision=f32"]), (clipped, 4, [*fp16, "--master-weights=copy"])):
    for least in ("", " shard-min-elements=65"):
        _, common = train(ranks, model, "whole", "--pipeline", "gradient-norm", *options, source="overflows.npz")
        _, divided = train(ranks, model, "parts", "--shard-optimizer", "--pipeline", "gradient-norm" + (least or " shard-min-elements=1"), *options, source="overflows.npz")
        norms = [metric(record, "gradient_norm") for record in (common, divided)]
        assert str(norms[0]) == str(norms[1]) and len(set(map(str, norms[0]))) > STEPS / 2, norms
        assert read("whole") == read("parts"), (ranks, options, least)

# The scale of a layer follows its largest gradient on all ranks.
layers = [*fp16, "--loss-scale=layerwise", "--master-weights=copy"]
assert_same(3, sgd, layers, source="overflows.npz")

# State files do not depend on the number of ranks, nor on who keeps the state: from 4 ranks with
# parts to 2 and to 1, with parts or without.
half = STEPS // 2
train(4, adamw, "half", "--precision=f32", *ALL, steps=half)
load = ["--precision=f32", "--load", folder + "half.npz"]
for ranks in (2, 1):
    train(ranks, adamw, "whole", *load, steps=half)
    train(ranks, adamw, "parts", *load, *ALL, steps=half)
    assert read("whole") == read("parts"), ranks
straight, _ = train(1, adamw, "straight", "--precision=f32")
resumed, _ = train(2, adamw, "resumed", *load, *ALL, steps=half)
for key, value in states(straight).items():
    assert np.allclose(resumed[key], value, rtol=1e-3, atol=1e-4), (key, np.abs(resumed[key] - value).max())

# Small parameters stay whole by default. Evaluation and predictions need no part.
train(2, adamw, "small", "--precision=f32", "--shard-optimizer")
train(2, adamw, "whole", "--precision=f32")
assert read("small") == read("whole")

done = runs.run(2, adamw, "--data", folder + "data.npz", "--batch-size", BATCH, "--steps", 1, "--precision=f32", "--shard-optimizer", "--pipeline", "shard-min-elements=0", expect=1)
assert "amp-shard-optimizer: expected 'min-elements' to be positive, got 0" in done.stderr, done.stderr
