# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data of networks without any package: batches from the tokens of a text, random images, files of
arrays, and the order in which a trainer visits samples."""

import array
import random
import struct
import sys
import zipfile

KINDS = {"q": "<i8", "f": "<f4", "B": "|b1"}


def write_arrays(path, arrays):
    """Writes arrays, by name a shape and an array.array, as .npz without compression."""
    with zipfile.ZipFile(path, "w") as file:
        for name, (shape, values) in arrays.items():
            if sys.byteorder == "big":
                values = values[:]
                values.byteswap()
            header = repr({"descr": KINDS[values.typecode], "fortran_order": False, "shape": tuple(shape)})
            header = header.ljust((len(header) + 10) // 64 * 64 + 53) + "\n"
            with file.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
                member.write(values.tobytes())


def read_tokens(path):
    tokens = array.array("H")
    tokens.frombytes(path.read_bytes())
    if sys.byteorder == "big":
        tokens.byteswap()
    return array.array("q", tokens)


def make_language_samples(tokens, length, most):
    """Windows of a text, and the tokens that follow."""
    count = min(most, (len(tokens) - 1) // length)
    if count < 1:
        raise ValueError(f"the text has {len(tokens)} tokens, expected more than {length}")
    return count, {"tokens": ((count, length), tokens[: count * length]),
                   "targets": ((count, length), tokens[1 : count * length + 1])}


def make_pair_samples(tokens, length, most, rng):
    """Pairs of passages. The label says whether the second one follows the first one in the text.
    Some pairs are shorter than the rest."""
    half = length // 2
    count = min(most, len(tokens) // length)
    words, kinds, mask, labels = array.array("q"), array.array("q"), array.array("B"), array.array("q")
    for index in range(count):
        begin, follows = index * length, rng.random() < 0.5
        other = begin + half if follows else rng.randrange(len(tokens) - length)
        taken = length if rng.random() < 0.75 else rng.randrange(half + 1, length + 1)
        words += tokens[begin : begin + half] + tokens[other : other + length - half]
        kinds.extend([0] * half + [1] * (length - half))
        mask.extend([1] * taken + [0] * (length - taken))
        labels.append(int(follows))
    return count, {"tokens": ((count, length), words), "token_types": ((count, length), kinds),
                   "mask": ((count, 1, 1, length), mask), "labels": ((count,), labels)}


def make_images(size, classes, count, rng):
    """Images of normal numbers. A row of numbers that repeats is quick to write."""
    numbers = array.array("f", (rng.gauss(0, 1) for _ in range(99991)))
    need = count * size * size * 3
    values = array.array("f")
    while len(values) < need:
        begin = rng.randrange(len(numbers))
        values += numbers[begin:] + numbers[:begin]
    labels = array.array("q", (rng.randrange(classes) for _ in range(count)))
    return count, {"images": ((count, size, size, 3), values[:need]), "labels": ((count,), labels)}


def make_samples(network, batch, steps, text):
    """The samples of a curve and how many there are. A text gives as many as it has."""
    rng = random.Random(17)
    if network["model"] in ("gpt2", "decoder"):
        return make_language_samples(read_tokens(text), network["sequence"], steps * batch)
    if network["model"] == "bert":
        return make_pair_samples(read_tokens(text), network["sequence"], steps * batch, rng)
    return make_images(network["image-size"], network["classes"], batch, rng)


# --- The order of the samples -----------------------------------------------------


def draw(seed, stream, index):
    """64 random bits: the first words of a block of Philox4x32-10, as in Philox.h."""
    low = 0xFFFFFFFF
    words = [index & low, index >> 32, stream & low, stream >> 32]
    key0, key1 = seed & low, seed >> 32
    for _ in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [second >> 32 ^ words[1] ^ key0, second & low, first >> 32 ^ words[3] ^ key1, first & low]
        key0, key1 = key0 + 0x9E3779B9 & low, key1 + 0xBB67AE85 & low
    return words[0] << 32 | words[1]


def permute_epoch(count, seed, epoch):
    """The order of `permuteEpoch` in Dataset.h."""
    stream = 0x6F72646572 + (epoch << 40)
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        j = draw(seed, stream, i) * (i + 1) >> 64
        order[i], order[j] = order[j], order[i]
    return order


def order_samples(count, batch, steps, seed):
    """The samples of each step, one after the other. An epoch leaves out what fills no batch."""
    order, epoch = [], 0
    while len(order) < steps * batch:
        order += permute_epoch(count, seed, epoch)[: count // batch * batch]
        epoch += 1
    return order[: steps * batch]
