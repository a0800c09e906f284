# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Training, evaluation and prediction against the same computation in NumPy.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import load, make_data, ok, results

folder = sys.argv[1] + "/"
data = make_data()
np.savez(folder + "data.npz", **data)


def epoch_order(epoch):
    command = ["amp-execution-test", "order", "50", "3", str(epoch), "1"]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    return [int(i) for i in text.split()]


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def reference(state, batches, lr):
    w, b, v = (state[k].astype(np.float64) for k in ("weight", "bias", "velocity"))
    losses = []
    for rows in batches:
        x, y = data["train_x"][rows].astype(np.float64), data["train_y"][rows]
        p = softmax(x @ w + b)
        losses.append(-np.log(p[range(len(y)), y]).mean())
        p[range(len(y)), y] -= 1
        v = 0.9 * v + x.T @ p / len(y)
        w = w - lr * v
        b = b - lr * p.mean(0)
    return {"weight": w, "bias": b, "velocity": v}, losses


def close(a, b, tolerance=2e-5):
    return np.abs(np.asarray(a) - np.asarray(b)).max() < tolerance


common = ("--data", folder + "data.npz", "--seed", 3)
ok(*common, "--steps", 0, "--save", folder + "start.npz")
start = load(folder + "start.npz")
assert start["weight"].shape == (4, 3) and (start["velocity"] == 0).all()

# Three epochs of two batches of 20; ten samples of each epoch are left out.
out = ok(
    *common, "--epochs", 3, "--batch-size", 20, "--set", "lr=0.25",
    "--save", folder + "end.npz", "--metrics-csv", folder + "m.csv",
    "--eval", "--predict", folder + "p.npz",
)
batches = [epoch_order(e)[i : i + 20] for e in range(3) for i in (0, 20)]
expected, losses = reference(start, batches, 0.25)
end = load(folder + "end.npz")
for name, value in expected.items():
    assert close(end[name], value), name
lines = [line.split(",") for line in open(folder + "m.csv").read().splitlines()]
assert lines[0] == ["precision", "seed", "step", "epoch", "loss"]
assert [line[:4] for line in lines[1:]] == [
    ["as written", "3", str(i + 1), str(i // 2)] for i in range(6)
]
assert close([float(line[4]) for line in lines[1:]], losses)
printed = results(out)
assert close(printed["final loss"], np.mean(losses[-2:]))

# All 21 held-out samples are judged.
logits = data["test_x"] @ end["weight"] + end["bias"]
predictions = load(folder + "p.npz")
assert list(predictions) == ["logits"]
assert predictions["logits"].dtype == np.float32
assert close(predictions["logits"], logits)
p = softmax(logits.astype(np.float64))
y = data["test_y"]
assert close(printed["eval loss"], -np.log(p[range(21), y]).mean())
assert close(printed["eval accuracy"], np.mean(logits.argmax(1) == y), 1e-8)

# The last batch of an epoch may be kept: ten samples, a step of their own.
ok(*common, "--epochs", 2, "--batch-size", 20, "--last-batch", "keep", "--save", folder + "keep.npz")
batches = [epoch_order(e)[i : i + 20] for e in range(2) for i in (0, 20, 40)]
expected, _ = reference(start, batches, 0.5)
end = load(folder + "keep.npz")
for name, value in expected.items():
    assert close(end[name], value), name

# States by name, rounded to their type; the rest has its initial values.
weight = np.arange(12, dtype=np.float64).reshape(4, 3) / 7
np.savez(folder + "w.npz", weight=weight, velocity=np.ones((4, 3), np.float32))
ok(*common, "--steps", 0, "--init", folder + "w.npz", "--save", folder + "w2.npz")
state = load(folder + "w2.npz")
assert (state["weight"] == weight.astype(np.float32)).all()
assert (state["velocity"] == 1).all() and (state["bias"] == 0).all()
# Of a checkpoint, the weights alone.
ok(*common, "--steps", 0, "--init", folder + "w2.npz", "--save", folder + "w3.npz")
state = load(folder + "w3.npz")
assert (state["weight"] == weight.astype(np.float32)).all() and (state["velocity"] == 0).all()

# Evaluation alone does not train.
out = ok("--data", folder + "data.npz", "--eval", "--init", folder + "w.npz", "--predict", folder + "p.npz")
logits = data["test_x"] @ weight
assert set(results(out)) == {"eval loss", "eval accuracy"}
assert close(load(folder + "p.npz")["logits"], logits)
# Predictions need no labels.
np.savez(folder + "unlabelled.npz", x=data["test_x"][:5])
ok("--data", folder + "unlabelled.npz", "--init", folder + "w.npz", "--predict", folder + "p5.npz")
assert close(load(folder + "p5.npz")["logits"], logits[:5])

# A graph that fixes its batch trains and predicts the same, the last and only
# partly filled batch of the held-out data included.
from runner import MODEL

with open(MODEL) as f:
    fixed = f.read().replace("?x", "20x")
with open(folder + "fixed.mlir", "w") as f:
    f.write(fixed)
for model, name in ((MODEL, "dynamic"), (folder + "fixed.mlir", "fixed")):
    size = () if name == "fixed" else ("--batch-size", 20)
    ok(*common, "--epochs", 2, *size, "--save", f"{folder}{name}.npz", "--predict", f"{folder}{name}-p.npz", model=model)
    assert load(f"{folder}{name}-p.npz")["logits"].shape == (21, 3)
assert close(load(folder + "fixed-p.npz")["logits"], load(folder + "dynamic-p.npz")["logits"])
assert (load(folder + "fixed.npz")["weight"] == load(folder + "dynamic.npz")["weight"]).all()

# Arrays may come from several files, one of them a single array.
np.savez(folder + "rest.npz", **{k: v for k, v in data.items() if k != "train_x"})
np.save(folder + "train_x.npy", data["train_x"])
files = ("--data", folder + "rest.npz", "--data", folder + "train_x.npy")
ok(*files, "--seed", 3, "--epochs", 2, "--batch-size", 20, "--save", folder + "files.npz")
assert (load(folder + "files.npz")["weight"] == load(folder + "dynamic.npz")["weight"]).all()
