# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models with a loss and one batch, for the tests of the guest."""

import torch
import torch.nn.functional as F
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(64, 128), nn.Linear(128, 128)
        self.last = nn.Linear(128, 10)

    def forward(self, x):
        return self.last(F.gelu(self.second(F.relu(self.first(x)))))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)

    def batch(self):
        return torch.randn(32, 64), torch.randint(0, 10, (32,))


class GPT2Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(50, 32), nn.Embedding(16, 32)
        self.norm1, self.norm2 = nn.LayerNorm(32), nn.LayerNorm(32)
        self.qkv, self.project = nn.Linear(32, 96), nn.Linear(32, 32)
        self.up, self.down = nn.Linear(32, 128), nn.Linear(128, 32)
        self.head = nn.Linear(32, 50, bias=False)

    def forward(self, x):
        batch, length = x.shape
        h = self.tokens(x) + self.positions(torch.arange(length))
        q, k, v = (
            t.view(batch, length, 4, 8).transpose(1, 2)
            for t in self.qkv(self.norm1(h)).split(32, 2)
        )
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        h = h + self.project(a.transpose(1, 2).reshape(batch, length, 32))
        return self.head(h + self.down(F.gelu(self.up(self.norm2(h)))))

    def loss(self, x, y):
        return F.cross_entropy(self(x).flatten(0, 1), y.flatten())

    def batch(self):
        return torch.randint(0, 50, (4, 16)), torch.randint(0, 50, (4, 16))


class ResNetBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.conv1 = nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(16, 16, 3, padding=1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(16), nn.BatchNorm2d(16)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return self.head(F.max_pool2d(F.relu(x + y), 2).mean((2, 3)))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)

    def batch(self):
        return torch.randn(8, 3, 16, 16), torch.randint(0, 10, (8,))


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.mean, self.log = nn.Linear(32, 24), nn.Linear(24, 8), nn.Linear(24, 8)
        self.decode, self.output = nn.Linear(8, 24), nn.Linear(24, 32)

    def loss(self, x, noise):
        h = torch.tanh(self.encode(x))
        mean, log = self.mean(h), self.log(h)
        z = mean + torch.exp(0.5 * log) * noise
        y = torch.sigmoid(self.output(F.elu(self.decode(z))))
        divergence = (1 + log - mean.pow(2) - log.exp()).mean()
        return F.mse_loss(y, x.sigmoid()) - 0.01 * divergence

    def batch(self):
        return torch.randn(16, 32), torch.randn(16, 8)


class UNet(nn.Module):
    """The statistics of its group norm stay f32; interpolation is one operation."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.middle = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1), nn.SiLU())
        self.up, self.out = nn.ConvTranspose2d(8, 8, 2, 2), nn.Conv2d(24, 2, 1)

    def loss(self, x, y):
        skip = self.down(x)
        low = self.middle(skip)
        wide = F.interpolate(low, scale_factor=2, mode="bilinear")
        return F.cross_entropy(self.out(torch.cat([skip, self.up(low), wide], 1)), y)

    def batch(self):
        return torch.randn(4, 1, 8, 8), torch.randint(0, 2, (4, 8, 8))


class ResponseNorm(nn.Module):
    """Global response normalisation, as in ConvNeXt V2. autocast runs the norm of a vector in the type of the vector."""

    def __init__(self):
        super().__init__()
        self.up, self.down, self.head = nn.Linear(16, 64), nn.Linear(64, 16), nn.Linear(16, 5)
        self.weight, self.bias = nn.Parameter(torch.randn(64)), nn.Parameter(torch.zeros(64))

    def loss(self, x, y):
        h = F.gelu(self.up(x))
        norm = torch.linalg.vector_norm(h, dim=1, keepdim=True)
        h = self.weight * (h * (norm / (norm.mean(-1, keepdim=True) + 1e-6))) + self.bias + h
        return F.cross_entropy(self.head((x + self.down(h)).mean(1)), y)

    def batch(self):
        return torch.randn(8, 12, 16), torch.randint(0, 5, (8,))


class BiasedAttention(nn.Module):
    """Attention with a bias that has a gradient, as in T5: no kernel of the CPU takes it."""

    def __init__(self):
        super().__init__()
        self.tokens, self.bias = nn.Embedding(30, 32), nn.Embedding(23, 4)
        self.qkv = nn.ModuleList(nn.Linear(32, 96) for _ in range(2))
        self.out = nn.ModuleList(nn.Linear(32, 32) for _ in range(2))
        self.head = nn.Linear(32, 30)

    def loss(self, x, y):
        h = self.tokens(x)
        places = torch.arange(12)
        bias = self.bias(places[:, None] - places + 11).permute(2, 0, 1)[None]
        for qkv, out in zip(self.qkv, self.out):
            q, k, v = (t.view(4, 12, 4, 8).transpose(1, 2) for t in qkv(h).split(32, 2))
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
            h = h + out(a.transpose(1, 2).reshape(4, 12, 32))
        return F.cross_entropy(self.head(h).flatten(0, 1), y.flatten())

    def batch(self):
        return torch.randint(0, 30, (4, 12)), torch.randint(0, 30, (4, 12))


MODELS = {model.__name__: model for model in (MLP, GPT2Block, ResNetBlock, VAE, UNet, ResponseNorm, BiasedAttention)}


def train(name, wrap, steps=20):
    """The losses of `steps` steps of SGD; `wrap` makes the loss function."""
    torch.manual_seed(0)
    model = MODELS[name]()
    torch.manual_seed(1)
    batch = model.batch()
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    loss_of = wrap(lambda *arguments: model.loss(*arguments))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(*batch)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
