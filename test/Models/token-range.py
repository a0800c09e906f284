# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A token that the table of an embedding does not have is an error with its position.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import subprocess
import sys

import numpy as np

folder = sys.argv[1]
model = folder + "/gpt2.mlir"
small = ("--layers=1", "--width=8", "--heads=2", "--vocabulary=11", "--positions=4")
subprocess.run(["amp-model", "gpt2", *small, "-o", model], check=True)


def train(tokens):
    np.savez(folder + "/data.npz", tokens=tokens, targets=np.zeros((2, 4), np.int64))
    command = ["amp-run", model, "--data", folder + "/data.npz", "--batch-size", "2", "--steps", "1", "--quiet"]
    return subprocess.run(command, capture_output=True, text=True)


tokens = np.arange(8).reshape(2, 4)
assert train(tokens).returncode == 0
for wrong in (11, -1):
    tokens[1, 2] = wrong
    result = train(tokens)
    assert result.returncode != 0
    assert f"value {wrong} at element 6 of array 'tokens'" in result.stderr, result.stderr
    assert "out of range, expected 0 to 10" in result.stderr, result.stderr
