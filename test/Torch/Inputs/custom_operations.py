# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom operations of a user, and networks that call them."""

from typing import List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


@torch.library.custom_op("amp_test::swish", mutates_args=())
def swish(x: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    return x * torch.sigmoid(beta * x)


@swish.register_fake
def _(x, beta):
    return torch.empty_like(x)


def swish_backward(ctx, grad):
    x, beta = ctx.saved_tensors
    gate = torch.sigmoid(beta * x)
    slope = x * gate * (1 - gate)
    return grad * (gate + beta * slope), (grad * x * slope).sum(0)


swish.register_autograd(swish_backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))


@torch.library.custom_op("amp_test::split_norm", mutates_args=())
def split_norm(x: torch.Tensor, eps: float, weight: Optional[torch.Tensor]) -> Tuple[torch.Tensor, torch.Tensor]:
    """Returns two results and takes an operand that may be None."""
    scale = (x.square().mean(-1, keepdim=True) + eps).rsqrt()
    y = x * scale
    return (y if weight is None else y * weight), scale.clone()


@split_norm.register_fake
def _(x, eps, weight):
    return torch.empty_like(x), x.new_empty(x.shape[0], 1)


def split_norm_backward(ctx, grad, grad_scale):
    x, weight = ctx.saved_tensors if ctx.has_weight else (*ctx.saved_tensors, None)
    with torch.enable_grad():
        inputs = [x.detach().requires_grad_()] + ([weight.detach().requires_grad_()] if weight is not None else [])
        scale = (inputs[0].square().mean(-1, keepdim=True) + ctx.eps).rsqrt()
        y = inputs[0] * scale * (inputs[1] if weight is not None else 1)
        found = torch.autograd.grad([y, scale], inputs, [grad, grad_scale])
    return found[0], None, found[1] if weight is not None else None


def split_norm_context(ctx, inputs, output):
    x, ctx.eps, weight = inputs
    ctx.has_weight = weight is not None
    ctx.save_for_backward(*([x] if weight is None else [x, weight]))


split_norm.register_autograd(split_norm_backward, setup_context=split_norm_context)


@torch.library.custom_op("amp_test::weighted_sum", mutates_args=())
def weighted_sum(values: List[torch.Tensor], weights: List[float]) -> torch.Tensor:
    return sum(value * weight for value, weight in zip(values, weights)).clone()


@weighted_sum.register_fake
def _(values, weights):
    return torch.empty_like(values[0])


def weighted_sum_context(ctx, inputs, output):
    ctx.weights = inputs[1]


weighted_sum.register_autograd(lambda ctx, grad: ([grad * weight for weight in ctx.weights], None),
                               setup_context=weighted_sum_context)


@torch.library.custom_op("amp_test::bucket", mutates_args=())
def bucket(x: torch.Tensor, count: int) -> torch.Tensor:
    """Computes integers from floats, without a derivative."""
    return x.detach().mul(3).floor().long().remainder(count)


@bucket.register_fake
def _(x, count):
    return torch.empty_like(x, dtype=torch.int64)


@torch.library.custom_op("amp_test::embed", mutates_args=())
def embed(table: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Selects rows of a parameter by integers."""
    return table[places]


@embed.register_fake
def _(table, places):
    return table.new_empty(*places.shape, table.shape[1])


def embed_backward(ctx, grad):
    (places,) = ctx.saved_tensors
    rows = grad.reshape(-1, grad.shape[-1])
    return torch.zeros(ctx.rows, grad.shape[-1]).index_add(0, places.reshape(-1), rows), None


def embed_context(ctx, inputs, output):
    ctx.rows = inputs[0].shape[0]
    ctx.save_for_backward(inputs[1])


embed.register_autograd(embed_backward, setup_context=embed_context)


@torch.library.custom_op("amp_test::noise", mutates_args=())
def noise(x: torch.Tensor, rate: float) -> torch.Tensor:
    """Drops elements. The backward pass needs the same mask."""
    return x * (torch.rand_like(x) > rate)


@noise.register_fake
def _(x, rate):
    return torch.empty_like(x)


# The mask is one where the result is not zero.
noise.register_autograd(lambda ctx, grad: (grad * (ctx.saved_tensors[0] != 0), None),
                        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output))


class Net(nn.Module):
    """Calls operations with several results, None, lists and integers in two parallel branches."""

    def __init__(self):
        super().__init__()
        self.first, self.left, self.right, self.last = (nn.Linear(*sizes) for sizes in ((6, 8), (8, 8), (8, 8), (8, 3)))
        self.beta = nn.Parameter(torch.ones(8))
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, 8))
        self.table = nn.Parameter(torch.randn(5, 8) * 0.1)

    def forward(self, x):
        x = self.first(x)
        left, scale = split_norm(self.left(swish(x, self.beta)), 1e-5, self.weight)
        right, _ = split_norm(self.right(x), 1e-5, None)
        x = weighted_sum([left, right, x], [0.5, 0.25, 1.0]) + 0.1 * scale
        return self.last(x + embed(self.table, bucket(x[:, 0].detach(), 5)))


class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.last(noise(F.relu(self.first(x)), 0.5))
