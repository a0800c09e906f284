# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# N ranks with a batch of B/N samples each compute, bit for bit, what one rank computes from N
# micro-batches. All ranks keep equal states.
#
# REQUIRES: full, mpi
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs
"""The micro-batches of the reference are slices of a fixed batch, with the mean of their losses.
The gradients of the whole batch are sums in another order, which cost a few ulps of f32."""

import sys

import numpy as np

sys.path.insert(0, sys.argv[2])
from rank_steps import BAD, BATCH, PARAMETERS, Runs, assert_equal, differentiate, forward, metric, module, states, whole, write_data  # noqa: E402

folder = sys.argv[1] + "/"
STEPS = 50
runs = Runs(folder, STEPS)
write, run, train = runs.write, runs.run, runs.train
rng = np.random.default_rng(3)
data = write_data(folder, STEPS, rng)
np.savez(folder + "few.npz", x=data["x"][:30], labels=data["labels"][:30])


def micro(parts):
    """One rank with `parts` micro-batches."""
    rows = BATCH // parts
    body, losses = f"  %parts = train.constant dense<{parts}.0> : tensor<f32>\n", []
    for k in range(parts):
        start = k * rows
        body += (f"  %x_{k} = tensor.extract_slice %x[{start}, 0] [{rows}, 8] [1, 1] : tensor<{BATCH}x8xf32> to tensor<{rows}x8xf32>\n"
                 f"  %t_{k} = tensor.extract_slice %t[{start}] [{rows}] [1] : tensor<{BATCH}xi64> to tensor<{rows}xi64>\n")
        body += forward(rows, f"_{k}")
        body += (f"  %own_{k} = train.cross_entropy %y_{k}, %t_{k} : (tensor<{rows}x4xf32>, tensor<{rows}xi64>) -> tensor<f32>\n"
                 f"  %loss_{k} = train.div %own_{k}, %parts : (tensor<f32>, tensor<f32>) -> tensor<f32>\n")
        body += differentiate(f"%loss_{k}", f"_{k}")
    sums = []
    for i, shape in enumerate(PARAMETERS.values()):
        sums.append(f"%g_0#{i}")
        for k in range(1, parts):
            body += f"  %sum{i}_{k} = train.add {sums[-1]}, %g_{k}#{i} : (tensor<{shape}xf32>, tensor<{shape}xf32>) -> tensor<{shape}xf32>\n"
            sums[-1] = f"%sum{i}_{k}"
    loss = "%own_0"
    for k in range(1, parts):
        body += f"  %all_{k} = train.add {loss}, %own_{k} : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
        loss = f"%all_{k}"
    body += f"  %mean = train.div {loss}, %parts : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
    return module(BATCH, body, sums, "%mean")


model = write("step.mlir", whole())
one, one_run = train(1, model, "one")
for ranks in (2, 3, 4):
    several, run_of_several = train(ranks, model, f"ranks{ranks}", "--check-ranks", f"--ranks={ranks}")
    parts, run_of_parts = train(1, write(f"micro{ranks}.mlir", micro(ranks)), f"micro{ranks}")
    assert_equal(states(several), states(parts), f"{ranks} ranks and micro-batches")
    assert metric(run_of_several, "loss") == metric(run_of_parts, "loss")
    # One rank saves the same file: the same graph, batch and position.
    assert_equal({"p": several["__amp_progress__"]}, {"p": one["__amp_progress__"]}, "progress")
    for key, value in states(one).items():
        assert np.allclose(several[key], value, rtol=1e-4, atol=1e-5), (ranks, key, np.abs(several[key] - value).max())

# Overflows of one rank: all ranks skip the step and lower the scale alike.
options = ["--precision", "fp16", "--master-weights", "copy", "--pipeline", "init-scale=1024", "--no-shuffle"]
_, alone = train(1, model, "fp16", *options, source="overflows.npz")
for ranks in (3, 4):
    _, together = train(ranks, model, f"fp16-{ranks}", *options, "--check-ranks=1", source="overflows.npz")
    skipped = [step for step, flag in enumerate(metric(together, "skipped")) if flag]
    assert skipped == list(BAD), skipped
    assert metric(together, "loss_scale") == metric(alone, "loss_scale")

# A file of four ranks goes on with two, and with one.
half = STEPS // 2
train(4, model, "half", steps=half)
train(2, model, "half2", steps=half)
resumed, _ = train(2, model, "resumed", "--load", folder + "half2.npz", steps=half)
assert_equal(resumed, train(2, model, "straight")[0], "resumed")
for ranks in (2, 1):
    other, _ = train(ranks, model, "other", "--load", folder + "half.npz", steps=half)
    for key, value in states(one).items():
        assert np.allclose(other[key], value, rtol=1e-4, atol=1e-5), (ranks, key)

# A step may fix the batch size of each rank. Its checkpoint resumes on the same number of ranks.
fixed = write("fixed.mlir", whole().replace("?", str(BATCH // 2)))
assert_equal(states(train(2, fixed, "fixed", steps=half)[0]), states(train(2, model, "half2", steps=half)[0]), "fixed batch")
assert_equal(states(train(2, fixed, "fixed2", "--load", folder + "fixed.npz", steps=half)[0]), states(resumed), "resumed with a fixed batch")
failed = run(1, fixed, "--data", folder + "data.npz", "--load", folder + "fixed.npz", "--steps", half, expect=1)
assert f"with a batch size of {BATCH}, but that of this one is {BATCH // 2}" in failed.stderr, failed.stderr

# Dropout by the index in the whole batch: the masks of one rank.
model = write("dropout.mlir", whole("dropout"))
dropped, _ = train(1, model, "dropout", steps=10)
for ranks in (2, 4):
    several, _ = train(ranks, model, f"dropout{ranks}", steps=10)
    for key, value in states(dropped).items():
        assert np.allclose(several[key], value, rtol=1e-4, atol=1e-5), (ranks, key, np.abs(several[key] - value).max())

# Batch norm by the statistics of each part, and by those of the whole batch.
model = write("norm.mlir", whole("norm"))
normal, _ = train(1, model, "norm", steps=10)
for setting, close in (("local", False), ("synchronized", True)):
    several, _ = train(4, model, "norm4", "--precision", "f32", "--pipeline", f"batch-norm={setting}", "--check-ranks", steps=10)
    assert close == all(np.allclose(several[key], value, rtol=1e-4, atol=1e-5) for key, value in states(normal).items()), setting

# Labels that are ignored: the loss divides by the number of labels of all ranks, which have from
# a fifth of theirs to all.
IGNORED = """
func.func @step(
    %w: tensor<8xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 0.3>},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %kept: tensor<?xf32> {amp.role = "batch", amp.name = "kept"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.01>})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %n = train.reduce_sum %kept {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %xw = train.mul %x, %w : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %rows = train.reduce_sum %xw {dims = array<i64: 1>} : (tensor<?x8xf32>) -> tensor<?xf32>
  %sq = train.square %rows : tensor<?xf32>
  %some = train.mul %sq, %kept : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %total = train.reduce_sum %some {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %loss = train.div %total, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %new = train.sgd %w, %g, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %new, %loss : tensor<8xf32>, tensor<f32>
}
"""
kept = (rng.random((STEPS, BATCH)) < np.linspace(0.2, 1, BATCH)).astype(np.float32).reshape(-1)
np.savez(folder + "kept.npz", x=data["x"] % 4, kept=kept)
model = write("ignored.mlir", IGNORED)
alone, alone_run = train(1, model, "ignored", "--no-shuffle", steps=10, source="kept.npz")
several, several_run = train(3, model, "ignored3", "--no-shuffle", "--check-ranks", steps=10, source="kept.npz")
assert np.allclose(several["w"], alone["w"], rtol=1e-5, atol=1e-6), np.abs(several["w"] - alone["w"]).max()
assert np.allclose(metric(several_run, "loss"), metric(alone_run, "loss"), rtol=1e-5)

# Exchanged in a low type: near, and not equal.
low, _ = train(2, folder + "step.mlir", "low", "--precision", "bf16", "--pipeline", "reduce-type=low", "--check-ranks", steps=10)
wide, _ = train(2, folder + "step.mlir", "wide", "--precision", "bf16", steps=10)
assert any(low[key].tobytes() != wide[key].tobytes() for key in PARAMETERS)
assert all(np.allclose(low[key], wide[key], rtol=2**-6, atol=2**-8) for key in PARAMETERS)

# Magnitudes of 8-bit values, and the scales that follow from them, cover the whole batch.
# Recipes: one with histories, and one that takes the magnitude of each step.
for recipe in ("delayed", "current"):
    eight = "--precision", f"fp8-{recipe}", "--pipeline", "fp8-keep-last=0"
    alone, alone_run = train(1, folder + "step.mlir", "eight", *eight, steps=10)
    several, several_run = train(4, folder + "step.mlir", "eight4", *eight, "--check-ranks", steps=10)
    histories = [key for key in alone if key.endswith(".history")]
    assert bool(histories) == (recipe == "delayed"), alone.keys()
    for key in histories:
        assert alone[key][9] > 0 and np.allclose(several[key], alone[key], rtol=2**-6), (key, several[key], alone[key])
    assert np.allclose(metric(several_run, "loss"), metric(alone_run, "loss"), rtol=2**-6)

# A step that lets the ranks drift apart, with collectives of its own: the check of amp-run finds
# them before the step, and --check-ranks after it.
LOCAL = """
func.func @step(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>},
                %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %g = train.reduce_mean %x {dims = array<i64: 0>} : (tensor<?x8xf32>) -> tensor<8xf32>
  %all = amp.all_reduce sum %g : tensor<8xf32>
  %loss = train.reduce_sum %all {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<f32>
  %n = train.sub %w, %g : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %n, %loss : tensor<8xf32>, tensor<f32>
}
"""
done = run(2, write("local.mlir", LOCAL), "--data", folder + "data.npz", "--batch-size", BATCH, "--steps", 2, expect=1)
assert 'the update "w" is a partial sum over the ranks' in done.stderr, done.stderr
# One rank runs it as it is.
run(1, folder + "local.mlir", "--data", folder + "data.npz", "--batch-size", BATCH, "--steps", 2, "--ranks=1")

# Wrong input, said once.
for ranks, options, message in [
    (1, ["--ranks=2"], "--ranks=2, but this process was started alone; expected a start with mpirun -n 2"),
    (2, ["--ranks=4"], "--ranks=4, but 2 processes were started"),
    (2, ["--batch-size=25"], "a batch of 25 samples cannot be divided between 2 ranks, expected a multiple of 2"),
    (2, ["--watch"], "--watch is for one rank, but 2 processes were started"),
    (2, ["--check-ranks=-1"], "wrong value of --check-ranks: '-1', expected the number of steps between checks"),
    (4, ["--batch-size=28", "--last-batch=keep", "--data", folder + "few.npz"], "the last batch of an epoch has 2 samples, which cannot be divided between 4 ranks; expected --last-batch=drop"),
]:
    if "--data" not in options:
        options = [*options, "--data", folder + "data.npz"]
    done = run(ranks, folder + "step.mlir", "--steps", 1, *options, expect=1)
    assert message in done.stderr and done.stderr.count(message) <= ranks, (options, done.stderr)

# Options without effect are not errors, because the same command may run on one process and on several.
few = ["--data", folder + "data.npz", "--batch-size", BATCH, "--steps", 1, "--precision", "bf16"]
ALONE = "has no effect on one process; expected a start by mpirun or srun"
for ranks, options, named, reason in [
    (1, ["--shard-optimizer"], "--shard-optimizer", ALONE),
    (1, ["--rank-deadline=3"], "--rank-deadline", ALONE),
    (1, ["--check-ranks"], "--check-ranks", ALONE),
    (1, ["--pipeline", "bucket-bytes=4"], "bucket-bytes", ALONE),
    (1, ["--pipeline", "shard-min-elements=4"], "shard-min-elements", ALONE),
    (2, ["--pipeline", "shard-min-elements=4"], "shard-min-elements", "has no effect without --shard-optimizer"),
]:
    done = run(ranks, folder + "step.mlir", *few, *options)
    assert done.stderr.count(f"amp-run: warning: '{named}' {reason}") == 1 and done.stderr.count("warning") == 1, (options, done.stderr)
for options in [], ["--pipeline", "bucket-bytes=4"], ["--shard-optimizer", "--pipeline", "shard-min-elements=4", "--check-ranks", "--rank-deadline=60"]:
    done = run(2, folder + "step.mlir", *few, *options)
    assert "warning" not in done.stderr, (options, done.stderr)
