# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which numbers of a program depend on the length of its sequences.

Kernels of a GPU take the numbers that vary as arguments. A translation for another length shows which
these are, before the first compilation."""

import hashlib
import os

import torch

#: The shortest length to halve. Kernels treat an extent of 1 in another way, so its half is at least 2.
SHORTEST = 4


def find_lengths(tensors):
    """The tensors that may be sequences, each with the axis of its length, the likely ones first. Tokens, labels and
    masks are integers or flags by sample and by place. Without these, floats by sample, place and feature, or by
    sample, feature and place."""
    kinds = (torch.int32, torch.int64, torch.bool)
    found = [(tensor, 1) for tensor in tensors if tensor.dtype in kinds and tensor.dim() > 1][:1]
    if not found:
        found = [(tensor, axis) for axis in (1, 2) for tensor in tensors if tensor.is_floating_point() and tensor.dim() == 3]
    return [(tensor, axis) for tensor, axis in found if tensor.shape[axis] >= SHORTEST]


def shorter(tensors):
    """Batches of these tensors at half of their length, the likely ones first. The other tensors have this length in
    all extents that are equal to it."""

    def shorten(tensor, sequence, axis):
        length = sequence.shape[axis]
        # The features of a sequence of floats may be as many as its places.
        is_alone = sequence.is_floating_point() and tensor.is_floating_point() and tensor.dim() == 3
        for other in [axis] if is_alone else range(1, tensor.dim()):
            if tensor.shape[other] == length:
                tensor = tensor.narrow(other, 0, length // 2)
        return tensor

    return [[shorten(tensor, sequence, axis) for tensor in tensors] for sequence, axis in find_lengths(tensors)]


def first_time(folder, *identity):
    """Whether the steps of this identity were not yet noted in the cache. Notes them."""
    digest = hashlib.sha256(repr(identity).encode()).hexdigest()[:32]
    path = os.path.join(folder, f"lengths-{digest}.txt")
    if os.path.exists(path):
        return False
    os.makedirs(folder, exist_ok=True)
    with open(path, "w"):
        pass
    return True
