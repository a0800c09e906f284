# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Small models whose gradients equal those of eager autocast, with the policy `pytorch-cpu`: each has
# one operation of torch between two layers. Its kernel computes in f32 and rounds once, reads numbers
# of the source in f32, and adds a bias before it rounds. Convolutions are compared on processors for which
# PyTorch has kernels that add in f32.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: autocast-rounding.py <folder> [model...]: by default all."""

import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from distances import LOW, SCALE, Gradients

SEEDS = 3


class Net(nn.Module):
    def __init__(self, first, last, function):
        super().__init__()
        self.first, self.last, self.function = first(), last(), function

    def forward(self, x):
        return self.last(self.function(self.first(x)))


def dense(function, outputs=16):
    return (lambda: Net(lambda: nn.Linear(16, outputs), lambda: nn.Linear(16, 8), function)), (16, 16)


def image(function, bias=True):
    first, last = (lambda: nn.Conv2d(4, 8, 3, padding=1, bias=bias)), (lambda: nn.Conv2d(8, 4, 1, bias=bias))
    return (lambda: Net(first, last, function)), (16, 4, 4, 4)


# The model, the shape of its input, its loss, and the least share of equal elements in bf16 and fp16.
# A function such as exp may round to the other neighbour in the low type. In fp16, convolutions of
# PyTorch add the bias after a rounding.
MODELS = {
    "number": (*dense(lambda x: x * 0.3), F.mse_loss, 1, 1),
    "quotient": (*dense(lambda x: x / 7.0), F.mse_loss, 1, 1),
    "elu": (*dense(F.elu), F.mse_loss, 0.98, 0.98),
    "hardswish": (*dense(F.hardswish), F.mse_loss, 0.98, 0.98),
    "softplus": (*dense(F.softplus), F.mse_loss, 0.98, 0.98),
    "addcmul": (*dense(lambda x: torch.addcmul(x, x.tanh(), x.sigmoid(), value=0.3)), F.mse_loss, 0.85, 0.85),
    "binary_cross_entropy": (*dense(lambda x: x), lambda y, t: F.binary_cross_entropy_with_logits(y, t.sigmoid()), 0.95, 0.95),
    "convolution": (*image(lambda x: x), F.mse_loss, 0.98, 0),
    "pooling": (*image(lambda x: F.max_pool2d(x, 2)), F.mse_loss, 0.98, 0),
}


# Models with convolutions.
IMAGES = {"convolution", "pooling"}


def convolutions_round_once():
    """Whether the convolutions of PyTorch for this processor add numbers of bf16 in f32. Without AVX-512 they add
    in bf16."""
    numbers = [torch.randint(-15, 16, shape).float() for shape in ((4, 16, 8, 8), (16, 16, 3, 3))]
    found = []
    for dtype in (torch.bfloat16, torch.float32):
        operands = [part.to(dtype, copy=True).requires_grad_() for part in numbers]
        result = F.conv2d(*operands, padding=1)
        result.backward(torch.full_like(result, 3))
        found.append([part.to(torch.bfloat16) for part in (result, *(operand.grad for operand in operands))])
    return all(map(torch.equal, *found))


def share(name, precision, folder):
    """The share of equal elements, and the least of a parameter."""
    make, shape, loss, *_ = MODELS[name]
    torch.manual_seed(0)
    model, x = make(), torch.randn(shape)
    with torch.no_grad():
        y = torch.randn_like(model(x))
    gradients = Gradients(model, loss, lambda model, x, y: loss(model(x), y), (x, y), precision, "pytorch-cpu", folder)
    equal = []
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        eager, x = make(), torch.randn(shape)
        ours = gradients.compiled(eager.state_dict(), lambda step: step(x, y))
        theirs = gradients.eager(eager, (x, y), True)
        for key, value in theirs.items():
            mine, other = ((part * SCALE[precision]).to(LOW[precision]) for part in (ours[key], value))
            equal.append((mine == other).double().mean().item())
    return sum(equal) / len(equal)


def main():
    folder, *names = sys.argv[1:]
    wrong = []
    chosen = names or list(MODELS)
    if not convolutions_round_once():
        print(f"not compared on this processor: {', '.join(sorted(IMAGES))}")
        chosen = [name for name in chosen if name not in IMAGES]
    for name in chosen:
        for precision, least in zip(LOW, MODELS[name][3:]):
            found = share(name, precision, folder)
            print(f"{name} {precision}: {100 * found:.1f} % equal", flush=True)
            if found < least:
                wrong.append(f"{name} {precision}: {100 * found:.1f} % equal, expected {100 * least} %")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
