# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the arrays of a character-level language model from kjv.txt: windows of
tokens and of the tokens that follow them, the last tenth of the text held out.

Usage: make_text.py <out.npz> [<length of a window>]
Prints the number of characters that occur and the entropy of a character given
the one before it, in nats: what counting pairs would reach."""

import pathlib
import sys

import numpy as np

LENGTH = int(sys.argv[2]) if len(sys.argv) > 2 else 64


def bigram_entropy(ids, count):
    pairs = np.zeros((count, count))
    np.add.at(pairs, (ids[:-1], ids[1:]), 1)
    given = pairs.sum(1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(pairs > 0, np.log(pairs / given), 0)
    return -(pairs * logs).sum() / pairs.sum()


def windows(ids, step):
    starts = range(0, len(ids) - LENGTH, step)
    tokens = np.stack([ids[i : i + LENGTH] for i in starts])
    targets = np.stack([ids[i + 1 : i + LENGTH + 1] for i in starts])
    return tokens.astype(np.int64), targets.astype(np.int64)


text = (pathlib.Path(__file__).parent / "kjv.txt").read_text()
letters = sorted(set(text))
ids = np.array([letters.index(c) for c in text])
border = len(ids) * 9 // 10
train, test = windows(ids[:border], LENGTH // 2), windows(ids[border:], LENGTH)
np.savez(sys.argv[1], train_tokens=train[0], train_targets=train[1], test_tokens=test[0], test_targets=test[1])
print(f"{len(letters)} characters, bigram entropy {bigram_entropy(ids, len(letters)):.4f}")
