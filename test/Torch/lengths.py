# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Other lengths of a sequence get the types of the example batch, although the costs prefer others,
# so the programs of a GPU differ only in numbers. A translation for half of the length shows which, so no
# other length compiles. On the CPU implementation of CUDA.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir -p %t/cache
# RUN: %torch_python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root
"""Usage: lengths.py <folder> <compiler> <library> <root of the source tree>"""

import os
import sys

import torch
import torch.nn as nn

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../CudaHost/Inputs"))
import amp_torch
from amp_torch.lengths import shorter
from emulated import EmulatedDevice
from host_compiler import count_calls, write_compiler

folder, command, library, root = sys.argv[1:5]
nvcc, cache = folder + "/nvcc", folder + "/cache"
write_compiler(nvcc, command, library, root, flags="-Wl,-Bsymbolic")
TOKENS, POSITIONS, WIDTH = 11, 16, 8
LENGTHS = (4, 14, 12, 4, 13)


class Tagger(nn.Module):
    """The costs depend on the length: one cast of all positions, or one of those that occur."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(TOKENS, WIDTH), nn.Embedding(POSITIONS, WIDTH)
        self.hidden, self.norm, self.head = nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.norm(torch.tanh(self.hidden(x)))).transpose(1, 2)


def make(length, **options):
    torch.manual_seed(1)
    model = Tagger()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return amp_torch.compile(model, nn.functional.cross_entropy, optimizer, batch_of(length), precision="bf16",
                             policy="default", cache=cache, **options)


def batch_of(length):
    generator = torch.Generator().manual_seed(length)
    return [torch.randint(0, TOKENS, (4, length), generator=generator) for _ in range(2)]


# The costs alone give the lengths other types.
decided = [make(length).main_types() for length in LENGTHS[:2]]
assert decided[0] and decided[0].keys() == decided[1].keys()
other = [name for name, types in decided[0].items() if decided[1][name] != types]
assert other, "the lengths were chosen to have other types"
print("types that depend on the length:", ", ".join(other))

step = make(LENGTHS[0], device=EmulatedDevice(cache), cuda_compiler=nvcc)
losses, calls = [], []
for length in LENGTHS:
    losses.append(step(*batch_of(length)).item())
    calls.append(count_calls(nvcc))
print("compilations:", calls)
assert calls == [1] * 5, calls
# A step of the CPU decides for each length by itself, so it is near and not equal.
plain = make(LENGTHS[0])
expected = [plain(*batch_of(length)).item() for length in LENGTHS]
assert all(abs(a - b) <= 2e-2 for a, b in zip(losses, expected)), (losses, expected)


class Series(nn.Module):
    """Sequences of floats: an average over the places, weighted by scores."""

    def __init__(self):
        super().__init__()
        self.hidden, self.score, self.head = nn.Linear(5, WIDTH), nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 3)

    def forward(self, x):
        x = torch.tanh(self.hidden(x))
        return self.head((self.score(x).softmax(1) * x).sum(1))


def series_of(length):
    generator = torch.Generator().manual_seed(length)
    return torch.randn(4, length, 5, generator=generator), torch.randint(0, 3, (4,), generator=generator)


def train_series(**options):
    torch.manual_seed(1)
    model = Series()
    step = amp_torch.compile(model, nn.functional.cross_entropy, torch.optim.SGD(model.parameters(), lr=0.1),
                             series_of(LENGTHS[0]), precision="bf16", cache=cache, **options)
    return [step(*series_of(length)).item() for length in LENGTHS]


before = count_calls(nvcc)
losses = train_series(device=EmulatedDevice(cache), cuda_compiler=nvcc)
print("compilations for sequences of floats:", count_calls(nvcc) - before)
assert count_calls(nvcc) == before + 1
assert all(abs(a - b) <= 2e-2 for a, b in zip(losses, train_series())), losses

# Floats by sample, place and feature, with as many features as places, or by sample, feature and place. Masks of integers
# have priority.
x, mask = torch.zeros(2, 6, 6), torch.zeros(2, 8, dtype=torch.bool)
assert [[tuple(t.shape) for t in other] for other in shorter([x])] == [[(2, 3, 6)], [(2, 6, 3)]]
assert [[tuple(t.shape) for t in other] for other in shorter([torch.zeros(2, 8, 8), mask])] == [[(2, 4, 4), (2, 4)]]
assert not shorter([torch.zeros(2, 8), torch.zeros(2, 3, 8, 8)])

# A process that starts with another length gives it its own types, and compiles for them.
again = make(LENGTHS[1], device=EmulatedDevice(cache), cuda_compiler=nvcc)
assert again.main_types() == decided[1]
print("losses", losses)
