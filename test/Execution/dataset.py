# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Data are matched to batch arguments by name, checked before anything runs, and
# visited in a new, reproducible order each epoch.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import subprocess
import sys

import numpy as np

file = sys.argv[1] + "/data.npz"


def run(*arguments):
    return subprocess.run(
        ["amp-execution-test", *arguments], capture_output=True, text=True
    )


def dataset(arrays, *inputs, prefix="train_"):
    np.savez(file, **arrays)
    return run("dataset", file, prefix, *inputs)


def accepts(samples, *arguments, **options):
    result = dataset(*arguments, **options)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{samples} samples\n", result.stdout


def fails(message, *arguments, **options):
    result = dataset(*arguments, **options)
    assert result.returncode == 1, result
    assert message in result.stderr and result.stderr.count("\n") == 1, result.stderr


x = np.zeros((6, 4), np.float32)
y = np.array([0, 1, 2, 0, 1, 2])
inputs = ("images:f32:4", "labels:i32:scalar:3")

# By prefix, by plain name, the prefix first; i64 labels fit i32.
accepts(6, {"train_images": x, "train_labels": y}, *inputs)
accepts(6, {"images": x, "labels": y}, *inputs)
accepts(6, {"images": x, "labels": y}, *inputs, prefix="")
accepts(5, {"images": x, "labels": y, "train_images": x[:5], "train_labels": y[:5]}, *inputs)
# What loses nothing converts.
accepts(6, {"images": x.astype(np.uint8), "labels": y}, *inputs)
accepts(6, {"images": x.astype(np.float16), "labels": y.astype(np.uint8)}, *inputs)

fails("no array 'train_images' or 'images' for batch argument 'images'; it has labels", {"labels": y}, *inputs)
fails("no array 'labels' for batch", {"images": x}, *inputs, prefix="")
fails("array 'images' in", {"images": x.reshape(6, 2, 2), "labels": y}, *inputs)
fails("is 6x2x2xf32, expected ?x4xf32 for batch argument 'images'", {"images": x.reshape(6, 2, 2), "labels": y}, *inputs)
fails("is f32, expected ?x4xf32", {"images": np.float32(1), "labels": y}, *inputs)
fails("has element type f64, expected f32 for batch argument 'images'", {"images": x.astype(float), "labels": y}, *inputs)
fails("; store it by astype('f4')", {"images": x.astype(float), "labels": y}, *inputs)
fails("has element type f32, expected i32", {"images": x, "labels": y.astype(np.float32)}, *inputs)
fails("; store it by astype('i4')", {"images": x, "labels": y.astype(np.float32)}, *inputs)
fails("holds 2147483648 at element 1, which does not fit in i32", {"images": x, "labels": y * (1 << 31)}, *inputs)
fails("value 3 at element 5 of array 'labels'", {"images": x, "labels": y + (y == 2) * (np.arange(6) == 5)}, *inputs)
fails("out of range, expected 0 to 2", {"images": x, "labels": y + 1}, *inputs)
fails("value -1 at element 0", {"images": x, "labels": y - 1}, *inputs)
fails("array 'labels' in", {"images": x, "labels": y[:5]}, *inputs)
fails("has 5 samples, but 'images' has 6", {"images": x, "labels": y[:5]}, *inputs)
fails("has no samples", {"images": x[:0], "labels": y[:0]}, *inputs)


def orders(n, seed, epoch, count):
    lines = run("order", str(n), str(seed), str(epoch), str(count)).stdout
    return [[int(i) for i in line.split()] for line in lines.splitlines()]


def order(n, seed, epoch):
    return orders(n, seed, epoch, 1)[0]


# Orders are permutations, reproducible, and differ by seed and epoch.
first = order(1000, 1, 0)
assert sorted(first) == list(range(1000)) and first != sorted(first)
assert order(1000, 1, 0) == first
assert order(1000, 1, 1) != first and order(1000, 2, 0) != first
# Each of the six orders of three samples is about equally likely.
counts = {}
for key in map(tuple, orders(3, 5, 0, 3000)):
    counts[key] = counts.get(key, 0) + 1
assert len(counts) == 6 and sum((c - 500) ** 2 / 500 for c in counts.values()) < 20.5, counts


def batches(n, size, mode, count):
    lines = run("batches", str(n), str(size), mode, str(count)).stdout.splitlines()
    parsed = [line.split(": ") for line in lines]
    assert parsed[0][0] == "per epoch"
    steps = [(int(k.split()[1]), [int(i) for i in v.split()]) for k, v in parsed[1:]]
    return int(parsed[0][1]), steps


# The last partial batch: left out, or kept.
per_epoch, steps = batches(7, 3, "drop", 5)
assert per_epoch == 2
assert [(e, len(rows)) for e, rows in steps] == [(0, 3), (0, 3), (1, 3), (1, 3), (2, 3)]
assert steps[0][1] + steps[1][1] == order(7, 0, 0)[:6]
per_epoch, steps = batches(7, 3, "keep", 5)
assert per_epoch == 3
assert [(e, len(rows)) for e, rows in steps] == [(0, 3), (0, 3), (0, 1), (1, 3), (1, 3)]
assert sorted(sum((rows for _, rows in steps[:3]), [])) == list(range(7))
per_epoch, steps = batches(6, 3, "keep", 4)
assert per_epoch == 2 and [len(rows) for _, rows in steps] == [3] * 4
