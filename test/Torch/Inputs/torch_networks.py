# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small networks as people write them in PyTorch, each with its loss and data."""

import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 16), nn.SiLU(), nn.Linear(16, 5))

    def forward(self, x):
        return self.layers(x)


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, 2, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(8)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = BasicBlock(8, 8, 1)
        self.layer2 = BasicBlock(8, 16, 2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avgpool(self.layer2(self.layer1(x))), 1))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        hidden = inputs * expand
        self.residual = stride == 1 and inputs == outputs
        self.conv = nn.Sequential(
            nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs),
        )

    def forward(self, x):
        return x + self.conv(x) if self.residual else self.conv(x)


class MobileNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.Hardswish(), InvertedResidual(8, 8, 1, 2), InvertedResidual(8, 12, 2, 2)
        )
        self.classifier = nn.Linear(12, 5)

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


class ViT(nn.Module):
    def __init__(self, width=16, patches=16):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 4, 4)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, patches + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 2, 32, 0.0, "gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.encoder(x)[:, 0])


class GPTBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(self.ln_1(x)).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).contiguous().view(b, t, c))
        return x + self.out(F.gelu(self.fc(self.ln_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    """With a head that is tied to the embedding, and its own loss."""

    def __init__(self, vocabulary=31, length=12, width=16):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.h = nn.ModuleList(GPTBlock(width, 2) for _ in range(2))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


class BERT(nn.Module):
    """An encoder with a padding mask from the batch, eager attention and padding_idx."""

    def __init__(self, vocabulary=31, length=10, width=16):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width, padding_idx=0)
        self.positions = nn.Embedding(length, width)
        self.register_buffer("position_ids", torch.arange(length)[None], persistent=False)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.dense = nn.Linear(width, width)
        self.pooler = nn.Linear(width, width)
        self.classifier = nn.Linear(width, 3)

    def forward(self, input_ids, attention_mask):
        x = self.norm(self.words(input_ids) + self.positions(self.position_ids[:, : input_ids.shape[1]]))
        hidden = (attention_mask[:, None, None, :] == 0)
        b, t, c = x.shape
        q, k, v = (m(x).view(b, t, 2, c // 2).permute(0, 2, 1, 3) for m in (self.q, self.k, self.v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(c // 2)
        # Under autocast the scores are low.
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        y = (scores.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(b, t, c)
        x = self.norm(x + self.dense(y))
        return self.classifier(torch.tanh(self.pooler(x[:, 0])))


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def rotate_half(x):
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


class Llama(nn.Module):
    """Grouped queries, rotary positions, SwiGLU, a causal mask of integers."""

    def __init__(self, vocabulary=31, width=16, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups, self.head = heads, groups, width // heads
        self.embed = nn.Embedding(vocabulary, width)
        self.norm1, self.norm2, self.norm = RMSNorm(width), RMSNorm(width), RMSNorm(width)
        self.q = nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, 2 * groups * self.head, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.gate, self.up = nn.Linear(width, 24, bias=False), nn.Linear(width, 24, bias=False)
        self.down = nn.Linear(24, width, bias=False)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.register_buffer("inv_freq", 1 / 10000 ** (torch.arange(0, self.head, 2) / self.head), persistent=False)

    def forward(self, tokens):
        b, t = tokens.shape
        x = self.embed(tokens)
        angles = torch.arange(t)[:, None] * self.inv_freq
        angles = torch.cat([angles, angles], -1)
        cos, sin = angles.cos(), angles.sin()
        h = self.norm1(x)
        q = self.q(h).view(b, t, self.heads, -1).transpose(1, 2)
        k, v = (y.view(b, t, self.groups, -1).transpose(1, 2) for y in self.kv(h).chunk(2, -1))
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = (y[:, :, None].expand(-1, -1, self.heads // self.groups, -1, -1).reshape(b, self.heads, t, -1) for y in (k, v))
        places = torch.arange(t)
        mask = (places[None, :] <= places[:, None])[None, None].expand(b, 1, t, t)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.o(y.transpose(1, 2).reshape(b, t, -1))
        h = self.norm2(x)
        x = x + self.down(F.silu(self.gate(h)) * self.up(h))
        return self.lm_head(self.norm(x)).transpose(1, 2)


class VAE(nn.Module):
    """The noise is a part of the batch."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 8))
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 12))

    def forward(self, x, noise):
        mean, logvar = self.encoder(x).chunk(2, 1)
        y = self.decoder(mean + noise * (0.5 * logvar).exp())
        divergence = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).sum(1).mean()
        return F.binary_cross_entropy_with_logits(y, x.sigmoid(), reduction="mean") * 12 + divergence


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.SiLU())
        self.middle = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1), nn.SiLU())
        self.up = nn.ConvTranspose2d(8, 8, 2, 2)
        self.out = nn.Conv2d(24, 2, 1)

    def forward(self, x):
        skip = self.down(x)
        low = self.middle(skip)
        return self.out(torch.cat([skip, self.up(low), F.interpolate(low, scale_factor=2, mode="bilinear")], 1))


class LSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(6, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 8)
        for step in range(x.shape[1]):
            h, c = self.cell(x[:, step], (h, c))
        return self.head(h)


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


# The network, its loss (None: it returns it), and the data of so many samples.
NETWORKS = {
    "mlp": (MLP, F.cross_entropy, lambda r, n: [normal(r, n, 20), r.integers(0, 5, n)]),
    "resnet": (ResNet, nn.CrossEntropyLoss(label_smoothing=0.1), lambda r, n: [normal(r, n, 3, 16, 16), r.integers(0, 5, n)]),
    "mobilenet": (MobileNet, F.cross_entropy, lambda r, n: [normal(r, n, 3, 12, 12), r.integers(0, 5, n)]),
    "vit": (ViT, F.cross_entropy, lambda r, n: [normal(r, n, 3, 16, 16), r.integers(0, 5, n)]),
    "gpt2": (GPT2, None, lambda r, n: [r.integers(0, 31, (n, 12)), r.integers(0, 31, (n, 12))]),
    "bert": (BERT, F.cross_entropy, lambda r, n: [
        r.integers(0, 31, (n, 10)), (np.arange(10) < r.integers(3, 11, (n, 1))).astype(np.int64), r.integers(0, 3, n)]),
    "llama": (Llama, F.cross_entropy, lambda r, n: [r.integers(0, 31, (n, 8)), r.integers(0, 31, (n, 8))]),
    "vae": (VAE, None, lambda r, n: [normal(r, n, 12), normal(r, n, 4)]),
    "unet": (UNet, F.cross_entropy, lambda r, n: [normal(r, n, 1, 8, 8), r.integers(0, 2, (n, 8, 8))]),
    "lstm": (LSTM, F.cross_entropy, lambda r, n: [normal(r, n, 5, 6), r.integers(0, 3, n)]),
}


def make(name, seed=0):
    torch.manual_seed(seed)
    network, loss, data = NETWORKS[name]
    return network(), loss, data(np.random.default_rng(seed), 16)


def batch_of(loss, arrays):
    """The arrays as the argument `batch` of export."""
    tensors = [torch.from_numpy(array) for array in arrays]
    if loss is None:
        return tuple(tensors)
    return (tensors[0] if len(tensors) == 2 else tuple(tensors[:-1])), tensors[-1]


def loss_of(loss):
    """The loss of a network as a function of the model and the arrays."""
    if loss is None:
        return lambda model, *arrays: model(*arrays)
    return lambda model, *arrays: loss(model(*arrays[:-1]), arrays[-1])


def optimizer_of(kind, model):
    """Two groups: vectors do not decay."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0, "lr": 0.02 if kind == "sgd" else 5e-4}]
    if kind == "sgd":
        return torch.optim.SGD(groups, lr=0.05, momentum=0.9, weight_decay=1e-3, nesterov=True)
    return torch.optim.AdamW(groups, lr=1e-3, weight_decay=0.05)
