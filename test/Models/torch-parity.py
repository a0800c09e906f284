# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each model that amp-model writes, small, against the same network in PyTorch:
# from the same weights and on the same batch, the loss, the logits and the
# gradients of all parameters agree. One step of plain SGD with a large rate
# gives the gradients: the change of the weights. torch-parity-networks.test
# takes the larger ones.
#
# REQUIRES: torch, full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t mlp lenet gpt2 decoder
# RUN: not %python %s %t gpt2 --wrong 2>&1 | FileCheck %s
# CHECK: gpt2: gradient of

import json
import os
import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from networks import bert, decoder, gpt2, lenet, mlp, resnet, vit  # noqa: E402

folder = sys.argv[1]
BOUND = 1e-4
RATE = 256.0
rng = np.random.default_rng(5)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


mask = np.ones((4, 1, 1, 12), bool)
mask[1, ..., 7:] = mask[3, ..., 3:] = False
small = ("--layers=2", "--width=16", "--heads=2")
# The options, the network, and the batch.
MODELS = {
    "mlp": (("--features=20", "--hidden=16,12", "--classes=5"), mlp,
            {"x": normal(6, 20), "labels": rng.integers(0, 5, 6)}),
    "lenet": ((), lenet, {"images": normal(4, 28, 28, 1), "labels": rng.integers(0, 10, 4)}),
    "resnet18": (("--width=8", "--image-size=32", "--classes=10", "--label-smoothing=0.1"), resnet(18),
                 {"images": normal(8, 32, 32, 3), "labels": rng.integers(0, 10, 8)}),
    "resnet50": (("--width=4", "--image-size=32", "--classes=10"), resnet(50),
                 {"images": normal(8, 32, 32, 3), "labels": rng.integers(0, 10, 8)}),
    "gpt2": (("--vocabulary=31", "--positions=16", "--sequence=12", *small), gpt2,
             {"tokens": rng.integers(0, 31, (3, 12)), "targets": rng.integers(0, 31, (3, 12))}),
    "decoder": (("--vocabulary=31", "--sequence=12", "--layers=2", "--width=16", "--heads=4", "--key-heads=2",
                 "--feed-forward=24"), decoder,
                {"tokens": rng.integers(0, 31, (3, 12)), "targets": rng.integers(0, 31, (3, 12))}),
    "bert": (("--vocabulary=31", "--positions=16", "--sequence=12", *small), bert,
             {"tokens": rng.integers(0, 31, (4, 12)), "token_types": rng.integers(0, 2, (4, 12)),
              "mask": mask, "labels": rng.integers(0, 2, 4)}),
    "vit": (("--image-size=24", "--patch=8", "--classes=5", *small), vit,
            {"images": normal(5, 24, 24, 3), "labels": rng.integers(0, 5, 5)}),
}


def execute(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)


def check(name):
    options, forward, batch = MODELS[name]
    path = f"{folder}/{name}"
    execute("amp-model", name, *options, "--optimizer=sgd", "--momentum=0", f"--lr={RATE}", "--weight-decay=0",
            "--clip=0", "--warmup-steps=0", "--decay-steps=0", "-o", path + ".mlir")
    np.savez(path + ".npz", **batch)
    size = len(next(iter(batch.values())))
    run = ("amp-run", path + ".mlir", "--data", path + ".npz", "--batch-size", size, "--seed", 3, "--quiet")
    # Weights as they start, away from zeros and ones.
    execute(*run, "--steps", 0, "--save", path + "-init.npz")
    with np.load(path + "-init.npz") as file:
        start = {key: file[key] for key in file if not key.startswith("__amp") and "running" not in key}
    for key in sorted(start):
        start[key] = (start[key] + 0.1 * rng.standard_normal(start[key].shape)).astype(np.float32)
        # Where sixteen blocks add as much as there is, rounding decides: the
        # gradients of PyTorch itself in f32 and in f64 differ by 1e-3.
        if key.endswith("bn3.weight"):
            start[key] *= np.float32(0.2)
    np.savez(path + "-start.npz", **start)
    execute(*run, "--steps", 1, "--init", path + "-start.npz", "--save", path + "-end.npz",
            "--metrics-json", path + ".json")
    execute(*run, "--steps", 0, "--init", path + "-start.npz", "--predict", path + "-out.npz")
    with np.load(path + "-end.npz") as file:
        end = {key: file[key] for key in start}

    parameters = {key: torch.tensor(value, requires_grad=True) for key, value in start.items()}
    logits = forward(parameters, {key: torch.from_numpy(value) for key, value in batch.items()})
    labels = torch.from_numpy(batch.get("labels", batch.get("targets")))
    smoothing = 0.1 if "--label-smoothing=0.1" in options else 0.0
    loss = F.cross_entropy(logits.flatten(0, -2), labels.flatten(), label_smoothing=smoothing)
    loss.backward()

    def near(what, ours, theirs):
        error = np.linalg.norm(np.float64(ours) - theirs) / np.linalg.norm(theirs)
        assert error < BOUND, f"{name}: {what} differs by {error:.1e}"
        return error

    with open(path + ".json") as file:
        record = json.load(file)["runs"][0]["steps"]
    near("loss", record[0]["loss"], loss.item())
    # In inference norms take the running statistics, which is another function.
    if not name.startswith("resnet"):
        with np.load(path + "-out.npz") as file:
            near("logits", file["logits"], logits.detach().numpy())
    worst = 0.0
    for key, parameter in parameters.items():
        theirs = parameter.grad.numpy().astype(np.float64)
        if "--wrong" in sys.argv:
            theirs = theirs * 1.001
        ours = (start[key].astype(np.float64) - end[key]) / RATE
        # The remainder of the weight's last bit counts as well.
        error = np.linalg.norm(ours - theirs)
        slack = np.linalg.norm(np.spacing(np.maximum(abs(start[key]), abs(end[key])))) / RATE
        assert error < BOUND * np.linalg.norm(theirs) + slack, (
            f"{name}: gradient of {key} differs by {error:.1e}, its norm is {np.linalg.norm(theirs):.1e}"
        )
        worst = max(worst, error / np.linalg.norm(theirs))
    print(f"{name}: {len(parameters)} gradients, worst relative error {worst:.1e}")


for name in sys.argv[2:]:
    if name != "--wrong":
        check(name)
