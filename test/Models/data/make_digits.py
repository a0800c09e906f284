# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes digits.npz from the copy of the UCI digits that scikit-learn ships.

Usage: make_digits.py <digits.csv.gz, or a scikit-learn wheel> <output.npz>

    pip download --no-deps scikit-learn
    python3 make_digits.py scikit_learn-*.whl digits.npz

Needs numpy only. The arrays are the same bit for bit with every version;
README.md next to this file describes them.
"""

import gzip
import hashlib
import io
import sys
import zipfile

import numpy as np

MEMBER = "sklearn/datasets/data/digits.csv.gz"
# Of the uncompressed table.
SHA256 = "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"
TEST_COUNT = 360
SEED = 20240229


def permutation(count, seed):
    """Fisher-Yates with splitmix64, so that it depends on no library version."""
    state = seed
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        word = state
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
        word ^= word >> 31
        # Modulo bias: below 2**-53 for so short a list.
        other = word % (last + 1)
        order[last], order[other] = order[other], order[last]
    return np.array(order)


def main(source, output):
    if source.endswith(".whl"):
        packed = zipfile.ZipFile(source).read(MEMBER)
    else:
        with open(source, "rb") as file:
            packed = file.read()
    text = gzip.decompress(packed)
    digest = hashlib.sha256(text).hexdigest()
    if digest != SHA256:
        sys.exit(f"{source}: table with SHA-256 {digest}, expected {SHA256}")

    table = np.loadtxt(io.BytesIO(text), delimiter=",")
    table = table[permutation(len(table), SEED)]
    # Grey levels 0 to 16: the division is exact, in f16 and bf16 too.
    images = (table[:, :64] / 16.0).astype(np.float32)
    labels = table[:, 64].astype(np.int64)
    np.savez_compressed(
        output,
        train_images=images[:-TEST_COUNT],
        train_labels=labels[:-TEST_COUNT],
        test_images=images[-TEST_COUNT:],
        test_labels=labels[-TEST_COUNT:],
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    main(sys.argv[1], sys.argv[2])
