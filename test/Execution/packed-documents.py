# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Documents that share a sequence train as the same documents in sequences of their
# own: rotary positions make attention a function of distances. With one document
# instead of two, the states differ. Lengths that are not cumulative are errors.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import subprocess
import sys

import numpy as np

folder = sys.argv[1]
OPTIONS = ["--vocabulary=31", "--layers=2", "--width=32", "--heads=4", "--key-heads=2", "--feed-forward=24",
           "--optimizer=sgd", "--clip=0", "--warmup-steps=0", "--decay-steps=0"]
STEPS = 3


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, (command, result.stderr)


def train(name, batch, precision, options, **arrays):
    path = os.path.join(folder, f"{name}-{precision}")
    run("amp-model", "decoder", *OPTIONS, *options, "-o", f"{path}.mlir")
    np.savez(f"{path}.npz", **{f"train_{key}": value for key, value in arrays.items()})
    run("amp-run", f"{path}.mlir", "--precision", precision, "--batch-size", str(batch), "--seed", "3", "--quiet",
        "--steps", str(STEPS), "--data", f"{path}.npz", "--save", f"{path}.state.npz")
    with np.load(f"{path}.state.npz") as state:
        return {key: state[key] for key in state.files if state[key].dtype == np.float32 and state[key].ndim}


rng = np.random.default_rng(0)
tokens, targets = rng.integers(0, 31, (2, 4, 12))
halves = np.tile(np.array([0, 6, 12], np.int32), (4, 1))
for precision, bound in (("f32", 1e-6), ("bf16", 4e-3)):
    alone = train("alone", 8, precision, ["--sequence=6"], tokens=tokens.reshape(8, 6), targets=targets.reshape(8, 6))
    found = {}
    # An empty document changes nothing, nor does a last one that is not listed.
    for name, lengths in (("packed", halves), ("empty", halves[:, [0, 1, 1, 2]]), ("open", halves[:, :2]),
                          ("one", halves[:, [0, 2]])):
        states = train(name, 4, precision, ["--sequence=12", f"--documents={lengths.shape[1] - 1}"],
                       tokens=tokens, targets=targets, documents=lengths)
        assert len(states) > 10 and states.keys() == alone.keys()
        found[name] = max(float(np.abs(states[key] - alone[key]).max()) for key in alone)
    print(precision, found, flush=True)
    assert max(found["packed"], found["empty"], found["open"]) <= bound < found["one"] / 2, (precision, found)

# Each row starts with 0 and ascends to at most the length of the sequence.
for wrong, message in (([0, 7, 5], "value 5 at element 5 of array 'train_documents' in '{}' is less than the 7 before it, expected rows that ascend"),
                       ([1, 7, 9], "value 1 at element 3 of array 'train_documents' in '{}' starts a row, expected 0"),
                       ([0, 7, 13], "value 13 at element 5 of array 'train_documents' in '{}' is out of range, expected 0 to 12")):
    lengths = halves.copy()
    lengths[1] = wrong
    np.savez(f"{folder}/wrong.npz", train_tokens=tokens, train_targets=targets, train_documents=lengths)
    result = subprocess.run(["amp-run", f"{folder}/packed-f32.mlir", "--batch-size", "4", "--steps", "1", "--quiet", "--data",
                             f"{folder}/wrong.npz"], capture_output=True, text=True)
    assert result.returncode == 1 and message.format("wrong.npz") in result.stderr.replace(folder + "/", ""), result.stderr
# Synthetic lengths are cumulative.
run("amp-run", f"{folder}/packed-f32.mlir", "--batch-size", "4", "--steps", "2", "--quiet", "--synthetic")
