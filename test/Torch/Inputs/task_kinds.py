# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of further tasks: losses over paths, margins, targets from another network, and layers
that solve for a fixed point or sort."""

import math

import torch
import torch.nn.functional as F
from torch import nn

SIZE = 8


def small(inputs, hidden, outputs, activation=nn.Tanh):
    return nn.Sequential(nn.Linear(inputs, hidden), activation(), nn.Linear(hidden, outputs))


class Performer(nn.Module):
    """Attention that is linear in the length, with positive features of fixed random projections."""

    def __init__(self):
        super().__init__()
        self.qkv, self.head = nn.Linear(6, 48), nn.Linear(16, 3)
        self.register_buffer("projection", torch.randn(16, 12) / 4)

    def features(self, x):
        return F.relu(x @ self.projection) + 1e-3

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = self.features(q), self.features(k)
        memory = torch.einsum("bnf,bnd->bfd", k, v)
        scale = 1 / torch.einsum("bnf,bf->bn", q, k.sum(1))
        return self.head(torch.einsum("bnf,bfd,bn->bnd", q, memory, scale).mean(1))


class TiedAutoencoder(nn.Module):
    """The decoder has the weight of the encoder. A penalty keeps the units sparse."""

    def __init__(self):
        super().__init__()
        self.encoder, self.bias = nn.Linear(12, 6), nn.Parameter(torch.zeros(12))

    def forward(self, x):
        code = torch.sigmoid(self.encoder(x))
        decoded = F.linear(code, self.encoder.weight.t(), self.bias)
        rate = code.mean(0)
        penalty = (0.1 * (0.1 / rate).log() + 0.9 * (0.9 / (1 - rate)).log()).sum()
        return F.mse_loss(decoded, x) + 0.01 * penalty


class Equilibrium(nn.Module):
    """Twelve steps to a fixed point without a gradient, then one with it."""

    def __init__(self):
        super().__init__()
        self.cell, self.input, self.head = nn.Linear(10, 10), nn.Linear(12, 10), nn.Linear(10, 3)
        self.norm = nn.LayerNorm(10)

    def forward(self, x):
        u = self.input(x)
        with torch.no_grad():
            z = torch.zeros_like(u)
            for _ in range(12):
                z = torch.tanh(self.norm(0.5 * self.cell(z) + u))
        return self.head(torch.tanh(self.norm(0.5 * self.cell(z) + u)))


class SuperResolution(nn.Module):
    """Two ways to a larger image, with a skip of its interpolation."""

    def __init__(self):
        super().__init__()
        self.first, self.shuffled = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 12, 3, padding=1)
        self.transposed, self.act = nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.PReLU(8)

    def forward(self, x, target):
        h = self.act(self.first(x))
        y = F.pixel_shuffle(self.shuffled(h), 2) + self.transposed(h)
        y = y + F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        error = ((y - target).square() + 1e-6).sqrt().mean()
        variation = (y[..., 1:] - y[..., :-1]).abs().mean() + (y[..., 1:, :] - y[..., :-1, :]).abs().mean()
        return error + 0.1 * variation


class RandomField(nn.Module):
    """The likelihood of a chain of labels, against all chains."""

    def __init__(self):
        super().__init__()
        self.scores, self.transitions = nn.Linear(6, 4), nn.Parameter(torch.randn(4, 4) * 0.1)

    def forward(self, x, labels):
        scores = self.scores(x)
        own = scores.gather(2, labels[..., None]).squeeze(2).sum(1) + self.transitions[labels[:, :-1], labels[:, 1:]].sum(1)
        total = scores[:, 0]
        for step in range(1, x.shape[1]):
            total = torch.logsumexp(total[:, :, None] + self.transitions, 1) + scores[:, step]
        return (torch.logsumexp(total, 1) - own).mean()


class ArcFace(nn.Module):
    """A margin at the angle between a code and its class."""

    def __init__(self):
        super().__init__()
        self.encoder, self.classes = small(12, 16, 8), nn.Parameter(torch.randn(5, 8))

    def forward(self, x, labels):
        cosine = F.linear(F.normalize(self.encoder(x)), F.normalize(self.classes)).clamp(-0.999, 0.999)
        own = F.one_hot(labels, 5).bool()
        return F.cross_entropy(8 * torch.where(own, (cosine.acos() + 0.3).cos(), cosine), labels)


class DeepQ(nn.Module):
    """A dueling network. The target is from another network, which does not train, and the action from this one."""

    def __init__(self):
        super().__init__()
        self.value, self.advantage = small(6, 16, 1, nn.ReLU), small(6, 16, 4, nn.ReLU)
        self.target = small(6, 16, 4, nn.ReLU).requires_grad_(False)

    def q(self, x):
        advantage = self.advantage(x)
        return self.value(x) + advantage - advantage.mean(1, keepdim=True)

    def forward(self, state, action, reward, after):
        with torch.no_grad():
            best = self.target(after).gather(1, self.q(after).argmax(1, keepdim=True)).squeeze(1)
        found = self.q(state).gather(1, action[:, None]).squeeze(1)
        return F.smooth_l1_loss(found, reward + 0.9 * best)


class Policy(nn.Module):
    """The clipped objective of a policy, the error of the value, and the entropy."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
        self.actor, self.critic = nn.Linear(16, 3), nn.Linear(16, 1)

    def forward(self, state, action, old, reward):
        hidden = self.body(state)
        logarithm, value = self.actor(hidden).log_softmax(-1), self.critic(hidden).squeeze(-1)
        advantage = (reward - value).detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = (logarithm.gather(1, action[:, None]).squeeze(1) - old).exp()
        gain = torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        entropy = -(logarithm.exp() * logarithm).sum(-1).mean()
        return -gain + 0.5 * F.mse_loss(value, reward) - 0.01 * entropy


def sparsemax(x):
    """The projection on the simplex."""
    ordered = x.sort(dim=-1, descending=True).values
    total = ordered.cumsum(-1)
    count = torch.arange(1, x.shape[-1] + 1)
    support = (1 + count * ordered > total).sum(-1, keepdim=True)
    return F.relu(x - (total.gather(-1, support - 1) - 1) / support)


class SparseAttention(nn.Module):
    """Sparse weights, with a bias that falls with the distance."""

    def __init__(self):
        super().__init__()
        self.qkv, self.head = nn.Linear(6, 24), nn.Linear(8, 3)
        place = torch.arange(5)
        self.register_buffer("bias", -0.5 * (place[:, None] - place).abs().float())

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.head((sparsemax(q @ k.transpose(1, 2) / math.sqrt(8) + self.bias) @ v).mean(1))


class ConvLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates, self.head = nn.Conv2d(2 + 4, 16, 3, padding=1), nn.Conv2d(4, 2, 1)

    def forward(self, frames):
        h = c = torch.zeros(frames.shape[0], 4, 6, 6)
        for frame in frames[:, :-1].unbind(1):
            i, f, o, g = self.gates(torch.cat([frame, h], 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return F.binary_cross_entropy_with_logits(self.head(h), frames[:, -1].sigmoid())


class PointCloud(nn.Module):
    """A map of the coordinates that the points give, and the largest features of all points."""

    def __init__(self):
        super().__init__()
        self.transform, self.local = small(3, 16, 9, nn.ReLU), nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU())
        self.head = nn.Linear(16, 3)

    def forward(self, points, labels):
        turn = self.transform(points).amax(1).view(-1, 3, 3) + torch.eye(3)
        features = self.local(torch.bmm(points, turn).transpose(1, 2)).amax(2)
        penalty = (torch.bmm(turn, turn.transpose(1, 2)) - torch.eye(3)).norm(dim=(1, 2)).mean()
        return F.cross_entropy(self.head(features), labels) + 0.01 * penalty


class Twins(nn.Module):
    """The correlation of codes of two views is close to the identity."""

    def __init__(self):
        super().__init__()
        self.encoder, self.norm = small(12, 16, 6, nn.ReLU), nn.BatchNorm1d(6, affine=False)

    def forward(self, first, second):
        a, b = self.norm(self.encoder(first)), self.norm(self.encoder(second))
        c = a.t() @ b / first.shape[0]
        diagonal = torch.diagonal(c).add(-1).pow(2).sum()
        rest = c.flatten()[:-1].view(5, 7)[:, 1:].flatten().pow(2).sum()
        return diagonal + 0.05 * rest


class StraightThrough(nn.Module):
    """A one-hot code forward, with the gradient of the softmax."""

    def __init__(self):
        super().__init__()
        self.encoder, self.codes = small(12, 16, 8), nn.Parameter(torch.randn(8, 12))

    def forward(self, x):
        soft = (self.encoder(x) / 0.7).softmax(-1)
        hard = F.one_hot(soft.argmax(-1), 8).float()
        return F.mse_loss((hard - soft.detach() + soft) @ self.codes, x)


class Distilled(nn.Module):
    """A student learns the softened results of a teacher, its features, and labels that are smoothed and weighted."""

    def __init__(self):
        super().__init__()
        self.teacher, self.student = small(12, 32, 5).eval().requires_grad_(False), small(12, 8, 5)
        self.register_buffer("weights", torch.tensor([1.0, 2.0, 0.5, 1.0, 3.0]))

    def forward(self, x, labels):
        with torch.no_grad():
            wanted = (self.teacher(x) / 2).log_softmax(-1)
        found = self.student(x)
        alike = F.kl_div((found / 2).log_softmax(-1), wanted, reduction="batchmean", log_target=True) * 4
        return alike + F.cross_entropy(found, labels, weight=self.weights, label_smoothing=0.1)


class Splines(nn.Module):
    """Each edge has a function: a weighted sum of bumps, and a SiLU."""

    def __init__(self):
        super().__init__()
        self.register_buffer("centres", torch.linspace(-2, 2, 5))
        self.weights = nn.ParameterList([torch.randn(12, 5, 8) * 0.1, torch.randn(8, 5, 3) * 0.1])
        self.bases = nn.ModuleList([nn.Linear(12, 8), nn.Linear(8, 3)])

    def forward(self, x):
        for weight, base in zip(self.weights, self.bases):
            bumps = (1 - (x[..., None] - self.centres).abs()).clamp_min(0).pow(2)
            x = base(F.silu(x)) + torch.einsum("bic,ico->bo", bumps, weight)
        return x


class Focal(nn.Module):
    """Labels of several classes, most of which are absent."""

    def __init__(self):
        super().__init__()
        self.net = small(12, 16, 6, nn.GELU)

    def forward(self, x, labels):
        logits = self.net(x)
        cross = F.binary_cross_entropy_with_logits(logits, labels, reduction="none", pos_weight=torch.full((6,), 2.0))
        sure = torch.exp(-cross)
        return ((1 - sure) ** 2 * cross).mean() + 1 - (2 * (logits.sigmoid() * labels).sum() + 1) / (logits.sigmoid().sum() + labels.sum() + 1)


class Rotary(nn.Module):
    """Positions as turns of complex numbers."""

    def __init__(self):
        super().__init__()
        self.qkv, self.head = nn.Linear(6, 24), nn.Linear(8, 3)
        angles = torch.arange(5)[:, None] * 10.0 ** -torch.arange(4)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def turn(self, x):
        one, other = x.unflatten(-1, (4, 2)).unbind(-1)
        return torch.stack([one * self.cos - other * self.sin, one * self.sin + other * self.cos], -1).flatten(-2)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.head(F.scaled_dot_product_attention(self.turn(q)[:, None], self.turn(k)[:, None], v[:, None]).mean((1, 2)))


class Pairs(nn.Module):
    """A loss of all pairs of samples, in batches of two sizes."""

    def __init__(self):
        super().__init__()
        self.encoder = small(12, 16, 6)

    def forward(self, x):
        code = F.normalize(self.encoder(x))
        alike = code @ code.t() / 0.5
        spread = (code.t() @ code).square().mean() + F.linear(code[0], code, code[:, 0]).square().mean()
        return (alike.logsumexp(1) - F.linear(code, code).amax(1)).mean() + 0.1 * spread + 0.1 * (code.t() @ code[:, 0]).abs().sum()


def numbers(*shape):
    return torch.randn(SIZE, *shape)


def labels(count, *shape):
    return torch.randint(0, count, (SIZE, *shape))


# Name to the model, its loss and its batch, as in model_kinds.
TASKS = {
    "performer": (Performer, F.cross_entropy, lambda: (numbers(5, 6), labels(3))),
    "tied autoencoder": (TiedAutoencoder, None, lambda: (numbers(12),)),
    "equilibrium": (Equilibrium, F.cross_entropy, lambda: (numbers(12), labels(3))),
    "super resolution": (SuperResolution, None, lambda: (numbers(3, 6, 6), numbers(3, 12, 12))),
    "random field": (RandomField, None, lambda: (numbers(5, 6), labels(4, 5))),
    "arcface": (ArcFace, None, lambda: (numbers(12), labels(5))),
    "deep q": (DeepQ, None, lambda: (numbers(6), labels(4), numbers(), numbers(6))),
    "policy": (Policy, None, lambda: (numbers(6), labels(3), numbers().abs().neg(), numbers())),
    "sparse attention": (SparseAttention, F.cross_entropy, lambda: (numbers(5, 6), labels(3))),
    "conv lstm": (ConvLSTM, None, lambda: (numbers(4, 2, 6, 6),)),
    "points": (PointCloud, None, lambda: (numbers(10, 3), labels(3))),
    "twins": (Twins, None, lambda: (numbers(12), numbers(12))),
    "straight through": (StraightThrough, None, lambda: (numbers(12),)),
    "distilled": (Distilled, None, lambda: (numbers(12), labels(5))),
    "splines": (Splines, F.cross_entropy, lambda: (numbers(12), labels(3))),
    "focal": (Focal, None, lambda: (numbers(12), labels(2, 6).float())),
    "pairs": (Pairs, None, lambda: (torch.randn(torch.randint(4, 10, ()), 12),)),
    "rotary": (Rotary, F.cross_entropy, lambda: (numbers(5, 6), labels(3))),
}
