# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models of amp-model, small: their options and batches."""

import numpy as np

_SMALL = ("--layers=1", "--width=32", "--heads=2", "--clip=1")
_TEXT = ("--vocabulary=31", "--positions=16", "--sequence=12", *_SMALL)
# Enough words that the gradient of their embedding sorts them.
_WORDS = 4200


def _normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def _images(size, channels, classes):
    def batches(rng, count):
        return {"images": _normal(rng, count, size, size, channels), "labels": rng.integers(0, classes, count)}
    return batches


def _gpt2(rng, count):
    return {"tokens": rng.integers(0, _WORDS, (count, 12)), "targets": rng.integers(0, _WORDS, (count, 12))}


def _decoder(rng, count):
    return {"tokens": rng.integers(0, 31, (count, 12)), "targets": rng.integers(0, 31, (count, 12))}


def _packed(rng, count):
    """Four documents, some empty, in sequences of which some are not full."""
    ends = np.sort(rng.integers(0, 13, (count, 4)), 1).astype(np.int32)
    return {**_decoder(rng, count), "documents": np.pad(ends, ((0, 0), (1, 0)))}


def _bert(rng, count):
    mask = np.arange(12) < rng.integers(3, 13, (count, 1, 1, 1))
    return {"tokens": rng.integers(0, 31, (count, 12)), "token_types": rng.integers(0, 2, (count, 12)),
            "mask": mask, "labels": rng.integers(0, 2, count)}


# The options, what makes the data of that many samples, and the batch size.
NETWORKS = {
    "lenet": ((), _images(28, 1, 10), 4),
    "resnet18": (("--width=8", "--image-size=32", "--classes=10", "--label-smoothing=0.1"), _images(32, 3, 10), 8),
    "gpt2": ((*_TEXT, f"--vocabulary={_WORDS}"), _gpt2, 3),
    "gpt2-dropout": ((*_TEXT, f"--vocabulary={_WORDS}", "--attention-dropout=0.3"), _gpt2, 3),
    "decoder": (("--vocabulary=31", "--sequence=12", "--layers=1", "--width=32", "--heads=4", "--key-heads=2",
                 "--feed-forward=24", "--clip=1"), _decoder, 3),
    "decoder-packed": (("--vocabulary=31", "--sequence=12", "--layers=1", "--width=32", "--heads=4", "--key-heads=2",
                        "--feed-forward=24", "--documents=4", "--clip=1"), _packed, 3),
    "bert": (_TEXT, _bert, 4),
    "vit": (("--image-size=24", "--patch=8", "--classes=5", *_SMALL), _images(24, 3, 5), 5),
}
# No rise of the rate, so that the first steps change something.
CONSTANT_RATE = ("--warmup-steps=0", "--decay-steps=0")
