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


def shorter(tensors):
    """The tensors of a batch at half of their length, or None. Tokens, labels and masks are integers or flags
    by sample and by place. Tensors of all types have this length in the other extents that are equal to it."""
    kinds = (torch.int32, torch.int64, torch.bool)
    lengths = [t.shape[1] for t in tensors if t.dtype in kinds and t.dim() > 1 and t.shape[1] >= SHORTEST]
    if not lengths:
        return None

    def shorten(tensor):
        for axis in range(1, tensor.dim()):
            if tensor.shape[axis] == lengths[0]:
                tensor = tensor.narrow(axis, 0, lengths[0] // 2)
        return tensor

    return [shorten(tensor) for tensor in tensors]


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
