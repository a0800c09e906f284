# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The committed digits are what data/README.md says and what make_digits.py
# makes.
#
# RUN: %python %s %digits

import hashlib
import sys

import numpy as np

digits = np.load(sys.argv[1])
expected = {
    "train_images": (np.float32, (1437, 64), "af322d13d66451c16fbaafe30c9d2c1160ff5e227b5326ddb0c64d5c4245918e"),
    "train_labels": (np.int64, (1437,), "346cb136c28dff95088ca00d00f1790f6e5ce0bc696728e1c1495b51aebd79fc"),
    "test_images": (np.float32, (360, 64), "45119d8ec94518cb01693869016afe4f5f783dc05a0c641504daa56f19c7edf8"),
    "test_labels": (np.int64, (360,), "4e5bb85957af6c19b800fb3280b465d3de588d7a9a5fc8ce1aed925132f2eaf0"),
}
assert set(digits.files) == set(expected), digits.files
for key, (dtype, shape, sha256) in expected.items():
    array = digits[key]
    assert array.dtype == dtype, (key, array.dtype)
    assert array.shape == shape, (key, array.shape)
    assert hashlib.sha256(array.tobytes()).hexdigest() == sha256, key

# Grey levels are multiples of 1/16 in [0, 1]: exact in f16 and bf16.
images = np.concatenate([digits["train_images"], digits["test_images"]])
assert np.array_equal(images * 16, np.clip(np.round(images * 16), 0, 16))

# The two halves together are the whole table: the counts per digit as published.
labels = np.concatenate([digits["train_labels"], digits["test_labels"]])
assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
