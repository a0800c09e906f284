# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models with operations that a step calls, with numbers that Python code reads from
tensors, and with batches whose tensors have different first extents."""

import torch
import torch.nn.functional as F
from torch import nn

SIZE = 8


class Steeper(torch.autograd.Function):
    """A square whose backward pass is not its derivative, so a test sees if it is lost."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x * x

    @staticmethod
    def backward(ctx, grad):
        return 3 * ctx.factor * ctx.saved_tensors[0] * grad, None


class Rounded(torch.autograd.Function):
    """Returns two results, one without a gradient, and uses setup_context."""

    @staticmethod
    def forward(x, low, high):
        return x.round().clamp(low, high), x.abs().amax()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, grad, _):
        return grad * (ctx.saved_tensors[0].abs() < 2), None, None


class Reversed(torch.autograd.Function):
    """Returns a view of its operand."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -grad


#: Some modules bind the method before a step is compiled.
steeper = Steeper.apply


class Functions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.left, self.right = nn.Linear(6, 8), nn.Linear(8, 3), nn.Linear(8, 3)

    def forward(self, x):
        x = steeper(self.first(x), 0.5)
        rounded, largest = Rounded.apply(3 * x, -2.0, 2.0)
        return self.left(x + 0.1 * rounded / (1 + largest)) + self.right(Reversed.apply(x))


class Complex(nn.Module):
    """Rotations by complex numbers, a filter of frequencies, and a scale that depends on the
    magnitudes of the scaled numbers."""

    def __init__(self):
        super().__init__()
        self.query, self.last = nn.Linear(6, 8), nn.Linear(8, 3)
        self.filter = nn.Parameter(torch.randn(5, 8, 2) * 0.3)
        angles = torch.outer(torch.arange(5.0), 10.0 ** -torch.arange(4.0))
        self.register_buffer("turns", torch.polar(torch.ones(5, 4), angles))

    def forward(self, x):
        numbers = torch.view_as_complex(self.query(x).unflatten(-1, (4, 2)))
        turned = numbers * self.turns
        turned = turned / (1 + turned.abs().mean(1, keepdim=True))
        x = torch.view_as_real(turned).flatten(2)
        waves = torch.fft.fft(x, dim=1) * torch.view_as_complex(self.filter)
        return self.last((x + torch.fft.ifft(waves, dim=1).real).mean(1))


class Noisy(nn.Module):
    """Draws random numbers in the model, as variational networks do."""

    def __init__(self):
        super().__init__()
        self.encoder, self.last = nn.Linear(6, 8), nn.Linear(4, 3)

    def forward(self, x):
        mean, spread = self.encoder(x).chunk(2, -1)
        return self.last(mean + torch.randn_like(mean) * (0.5 * spread).exp() + 0.1 * torch.rand(mean.shape[1]))


class Sampled(nn.Module):
    """Indexing of two dimensions by data, within a spatial transformer."""

    def __init__(self):
        super().__init__()
        self.place, self.last = nn.Linear(16, 6), nn.Linear(16, 3)
        nn.init.zeros_(self.place.weight)
        self.place.bias.data = torch.tensor([1.0, 0.0, 0.1, 0.0, 1.0, 0.05])

    def forward(self, x):
        grid = F.affine_grid(self.place(x.flatten(1)).view(-1, 2, 3), x.size(), align_corners=False)
        return self.last(F.grid_sample(x, grid, align_corners=False).flatten(1))


class Graph(nn.Module):
    """Messages along edges that the batch contains, divided by a scalar of the batch."""

    def __init__(self):
        super().__init__()
        self.message, self.last = nn.Linear(12, 6), nn.Linear(6, 3)

    def forward(self, nodes, edges, temperature, both):
        messages = self.message(torch.cat([nodes[edges[0]], nodes[edges[1]]], -1)).relu()
        total = torch.zeros_like(nodes).index_add(0, edges[1], messages)
        return self.last(torch.where(both, nodes + total, total)) / temperature


class Masked(nn.Module):
    """PyTorch compares the mask with a causal one in Python."""

    def __init__(self, keeps):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        self.encoder, self.last = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(8, 3)
        if keeps:
            self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(4))

    def forward(self, x):
        mask = self.mask if hasattr(self, "mask") else torch.ones(4, 4, dtype=torch.bool).triu(1)
        return self.last(self.encoder(x, mask=mask).mean(1))


class Numbers(nn.Module):
    """Python code branches on numbers from constant tensors."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(6, 3)
        self.register_buffer("rounds", torch.tensor([2, 3]))

    def forward(self, x):
        mask = torch.ones(6)
        mask[2:4] = 0
        if mask.sum() == 4 and mask.bool().any():
            x = x * mask
        for _ in range(int(self.rounds[0])):
            x = x + x.tanh()
        return self.last(x)


def labels():
    return torch.randint(0, 3, (SIZE,))


def edges():
    return torch.randn(SIZE, 6), torch.randint(0, SIZE, (2, 20)), torch.rand(()) + 0.5, torch.tensor(True)


class Whitened(nn.Module):
    """Features without correlations, and a least-squares fit, by functions of linear algebra that torch decomposes."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 4), nn.Linear(8, 3)

    def forward(self, x):
        features = torch.tanh(self.first(x))
        covariance = features.t() @ features / SIZE + 0.1 * torch.eye(4)
        white = torch.linalg.solve_triangular(torch.linalg.cholesky(covariance), features.t(), upper=False).t()
        fitted = features @ torch.linalg.solve(covariance, covariance.diagonal().diag()) @ torch.linalg.inv(covariance + torch.eye(4))
        return self.last(torch.cat([white, fitted], 1))


MODELS = {
    "functions": (Functions, lambda: (torch.randn(SIZE, 6), labels())),
    "complex": (Complex, lambda: (torch.randn(SIZE, 5, 6), labels())),
    "noisy": (Noisy, lambda: (torch.randn(SIZE, 6), labels())),
    "sampled": (Sampled, lambda: (torch.randn(SIZE, 1, 4, 4), labels())),
    "graph": (Graph, lambda: (edges(), labels())),
    "mask of the model": (lambda: Masked(True), lambda: (torch.randn(SIZE, 4, 8), labels())),
    "mask of the pass": (lambda: Masked(False), lambda: (torch.randn(SIZE, 4, 8), labels())),
    "whitened": (Whitened, lambda: (torch.randn(SIZE, 6), labels())),
    "numbers": (Numbers, lambda: (torch.randn(SIZE, 6), labels())),
}
