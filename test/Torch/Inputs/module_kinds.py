# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models around one uncommon layer or loss each: layers of torchvision.ops and of
torch.nn, losses of distributions, weights from other networks, and many products of
several operands."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations

SIZE, WORDS = 8, 20


class Layer(nn.Module):
    """A function of a module with parts, between two linear layers."""

    def __init__(self, inner, outer, function, **parts):
        super().__init__()
        self.first, self.last = nn.Linear(12, inner), nn.Linear(outer, 3)
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x):
        return self.last(self.function(self, self.first(x)).flatten(1))


class EncoderDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 16)
        self.net = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, activation="gelu", batch_first=True,
                                  norm_first=True)
        self.head = nn.Linear(16, WORDS)

    def forward(self, source, target):
        mask = self.net.generate_square_subsequent_mask(target.shape[1])
        out = self.net(self.words(source), self.words(target), tgt_mask=mask, tgt_is_causal=True,
                       src_key_padding_mask=source == 0)
        return self.head(out).transpose(1, 2)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.head = nn.GRU(6, 8, 2, batch_first=True, bidirectional=True), nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.net(x)[0].mean(1))


class Shuffled(nn.Module):
    """Grouped and depthwise convolutions with a shuffle of channels."""

    def __init__(self):
        super().__init__()
        self.first, self.depthwise = nn.Conv2d(4, 8, 3, padding=1, groups=2), nn.Conv2d(8, 16, 3, 2, 1, groups=8)
        self.shuffle, self.norm, self.last = nn.ChannelShuffle(4), nn.InstanceNorm2d(16, affine=True), nn.Conv2d(16, 3, 1)

    def forward(self, x):
        return self.last(self.norm(self.shuffle(self.depthwise(self.first(x).relu())))).mean((2, 3))


class Quantised(nn.Module):
    """The nearest row of a codebook, with the gradient of a straight line."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(12, 8), nn.Linear(8, 12)
        self.codes = nn.Parameter(torch.randn(6, 8))

    def forward(self, x):
        z = self.encoder(x)
        chosen = F.embedding(torch.cdist(z, self.codes).argmin(-1), self.codes)
        loss = F.mse_loss(chosen, z.detach()) + 0.25 * F.mse_loss(z, chosen.detach())
        return F.mse_loss(self.decoder(z + (chosen - z).detach()), x) + loss


class Mixture(nn.Module):
    """The density of a mixture of normal distributions."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 12))

    def forward(self, x, y):
        weights, means, spreads = self.net(x).chunk(3, -1)
        density = torch.distributions.Normal(means, F.softplus(spreads) + 0.1, validate_args=False).log_prob(y[:, None])
        return -torch.logsumexp(weights.log_softmax(-1) + density, -1).mean()


class Graph(nn.Module):
    """Messages along fixed edges, added at their ends."""

    def __init__(self):
        super().__init__()
        self.message, self.last = nn.Linear(8, 8), nn.Linear(8, 3)
        self.register_buffer("edges", torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]]))

    def forward(self, x):
        nodes = x.view(-1, 4, 3).repeat(1, 1, 3)[..., :8]
        messages = self.message(nodes[:, self.edges[0]]).relu()
        nodes = nodes.index_add(1, self.edges[1], messages.to(nodes.dtype))
        return self.last(nodes.amax(1))


class Hyper(nn.Module):
    """A network whose weights another network gives."""

    def __init__(self):
        super().__init__()
        self.weights, self.last = nn.Linear(12, 12 * 5), nn.Linear(5, 3)

    def forward(self, x):
        weights = self.weights(x).view(-1, 5, 12)
        return self.last(torch.einsum("noi,ni->no", weights, x).tanh())


class Capsules(nn.Module):
    """Three rounds of routing by agreement."""

    def __init__(self):
        super().__init__()
        self.votes = nn.Parameter(torch.randn(4, 3, 3, 5) * 0.3)

    def forward(self, x):
        votes = torch.einsum("ncd,cdko->ncko", x.view(-1, 4, 3), self.votes)
        scores = torch.zeros(x.shape[0], 4, 3)
        for _ in range(3):
            total = (scores.softmax(-1)[..., None] * votes).sum(1)
            squares = total.square().sum(-1, keepdim=True)
            capsules = squares / (1 + squares) * total / (squares + 1e-6).sqrt()
            scores = scores + (votes * capsules[:, None]).sum(-1)
        return capsules.norm(dim=-1)


class Waves(nn.Module):
    """Gated causal convolutions with holes."""

    def __init__(self):
        super().__init__()
        self.gates = nn.ModuleList([nn.Conv1d(4, 8, 2, dilation=d) for d in (1, 2, 4)])
        self.first, self.last = nn.Conv1d(1, 4, 1), nn.Conv1d(4, 3, 1)

    def forward(self, x):
        x = self.first(x[:, None])
        for gate in self.gates:
            value, sigma = gate(F.pad(x, (gate.dilation[0], 0))).chunk(2, 1)
            x = x + value.tanh() * sigma.sigmoid()
        return self.last(x).mean(-1)


class Pyramid(nn.Module):
    """Layers of torchvision.ops."""

    def __init__(self):
        super().__init__()
        from torchvision import ops

        self.trunk = ops.Conv2dNormActivation(3, 8, 3, 2, activation_layer=nn.Hardswish)
        self.squeeze, self.down = ops.SqueezeExcitation(8, 2), nn.Conv2d(8, 12, 3, 2, 1)
        self.pyramid = ops.FeaturePyramidNetwork([8, 12], 6)
        self.head = nn.Sequential(nn.AdaptiveMaxPool2d(2), nn.Flatten(), ops.MLP(24, [16, 3], activation_layer=nn.SiLU))

    def forward(self, x):
        high = self.squeeze(self.trunk(x))
        levels = self.pyramid({"high": high, "low": self.down(high)})
        return self.head(levels["high"]) + self.head(levels["low"])


class Detection(nn.Module):
    """Losses of torchvision.ops."""

    def __init__(self):
        super().__init__()
        self.label, self.box = nn.Linear(12, 3), nn.Linear(12, 4)

    def forward(self, x, labels, boxes):
        from torchvision import ops

        corner, size = self.box(x).sigmoid().chunk(2, -1)
        found = torch.cat([corner, corner + size + 0.1], -1)
        focal = ops.sigmoid_focal_loss(self.label(x), F.one_hot(labels, 3).float(), reduction="mean")
        return focal - ops.box_iou(found, boxes).diagonal().mean()


def circle(module, x):
    """The product of three tensors in a ring."""
    return torch.einsum("nabc,axb,byc,cza->nxyz", x.view(-1, 2, 2, 2), *module.cores)


def experts(module, x):
    """A mixture of all experts."""
    outputs = torch.stack([expert(x) for expert in module.experts], 1)
    return (module.gate(x).softmax(-1)[..., None] * outputs).sum(1)


def attention_with_weights(module, x):
    x = x.view(-1, 4, 8)
    out, weights = module.attention(x, x, x, key_padding_mask=module.padding.expand(x.shape[0], -1))
    return torch.cat([out, weights], -1)


def euler(module, x):
    for _ in range(4):
        x = x + 0.25 * module.field(x).tanh()
    return x


def fourier(module, x):
    angles = x[..., None] * 2.0 ** torch.arange(3) * math.pi
    return torch.cat([angles.sin(), angles.cos()], -1)


def addresses(module, x):
    """A read of a memory by similarity, shifted and sharpened."""
    weights = (5 * F.cosine_similarity(x[:, None], module.memory, dim=-1)).softmax(-1)
    weights = (weights + weights.roll(1, -1)).square()
    return weights / weights.sum(-1, keepdim=True) @ module.memory


def patches(module, x):
    """Overlapping parts of an image, and their sum."""
    columns = F.unfold(x.view(-1, 1, 6, 6), 3, padding=1)
    return F.fold(columns * module.weight, (6, 6), 3, padding=1)


def scan(module, x):
    """A linear recurrence with gates, step by step."""
    state, outputs, rows = torch.zeros(x.shape[0], 4), [], x.view(-1, 3, 8)
    for row in rows.unbind(1):
        gate, value = row.chunk(2, -1)
        state = value + gate.sigmoid() * (state - value)
        outputs.append(state)
    return torch.stack(outputs, 1)


def maxout(module, x):
    return x.view(-1, 6, 4).max(-1).values * x.view(-1, 6, 4).logsumexp(-1)


def matrices(module, x):
    """Triangles, diagonals, outer products and products of Kronecker."""
    square = x.view(-1, 4, 4)
    lower = torch.tril(square, -1) + torch.diag_embed(F.softplus(square.diagonal(dim1=-2, dim2=-1)))
    outer = square[:, 0, :, None] * square[:, 1, None, :]
    return torch.baddbmm(outer.flip(-1), lower, lower.mT) + torch.kron(module.weight, module.weight)


def layer(inner, outer, function, **parts):
    """A function that makes a Layer; `parts` make its parts."""
    return lambda: Layer(inner, outer, function, **{name: part() for name, part in parts.items()})


def volume():
    return nn.Sequential(nn.Conv3d(1, 4, 2), nn.BatchNorm3d(4), nn.ELU(), nn.AvgPool3d(2), nn.Flatten(), nn.Linear(32, 3))


def parametrised():
    return nn.Sequential(parametrizations.weight_norm(nn.Conv2d(2, 6, 3)), nn.PixelUnshuffle(2), nn.PReLU(24),
                         parametrizations.spectral_norm(nn.Conv2d(24, 8, 1)), nn.PixelShuffle(2),
                         nn.LocalResponseNorm(3), nn.LPPool2d(2, 2), nn.Flatten(), nn.Linear(8, 3))  # fmt: skip


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.last = nn.EmbeddingBag(WORDS, 8, mode="sum"), nn.Linear(8, 3)

    def forward(self, words, weights):
        return self.last(self.bag(words, per_sample_weights=weights))


def dice(output, target):
    chances, truth = output.softmax(-1), F.one_hot(target, 3)
    return 1 - ((2 * (chances * truth).sum(0) + 1) / (chances.sum(0) + truth.sum(0) + 1)).mean()


def several(output, target):
    """Losses of torch.nn.functional, each of its own part."""
    truth = F.one_hot(target, 3).float()
    return (F.triplet_margin_loss(output, truth, truth.roll(1, -1)) + F.multi_margin_loss(output, target)
            + F.poisson_nll_loss(output, truth)
            + F.huber_loss(output, truth, delta=0.5) + F.soft_margin_loss(output, 2 * truth - 1)
            + F.multilabel_soft_margin_loss(output, truth) + F.kl_div(output.log_softmax(-1), truth.softmax(-1))
            + F.cosine_embedding_loss(output, truth, torch.ones(len(target)))
            + F.hinge_embedding_loss(output, 2 * truth - 1) + F.margin_ranking_loss(output, truth, torch.ones_like(truth)))


def labels():
    return torch.randint(0, 3, (SIZE,))


def rows():
    return torch.randn(SIZE, 12), labels()


def words(length):
    return torch.randint(1, WORDS, (SIZE, length))


def padded():
    source = words(5)
    source[:2, 3:] = 0
    return source


def boxes():
    corner = torch.rand(SIZE, 2)
    return torch.cat([corner, corner + 0.2 + torch.rand(SIZE, 2)], -1)


CE = F.cross_entropy
#: Name to the model, its loss and its batch, as in model_kinds.
MODULES = {
    "transformer": (EncoderDecoder, CE, lambda: ((padded(), words(4)), words(4))),
    "gru": (Recurrent, CE, lambda: (torch.randn(SIZE, 5, 6), labels())),
    "shuffled": (Shuffled, dice, lambda: (torch.randn(SIZE, 4, 8, 8), labels())),
    "quantised": (Quantised, None, lambda: (torch.randn(SIZE, 12),)),
    "mixture": (Mixture, None, lambda: (torch.randn(SIZE, 12), torch.randn(SIZE))),
    "graph": (Graph, CE, rows),
    "hyper": (Hyper, CE, rows),
    "capsules": (Capsules, CE, rows),
    "waves": (Waves, CE, rows),
    "pyramid": (Pyramid, CE, lambda: (torch.randn(SIZE, 3, 16, 16), labels())),
    "detection": (Detection, None, lambda: (torch.randn(SIZE, 12), labels(), boxes())),
    "volume": (volume, CE, lambda: (torch.randn(SIZE, 1, 5, 5, 5), labels())),
    "parametrised": (parametrised, CE, lambda: (torch.randn(SIZE, 2, 6, 6), labels())),
    "bag": (Bag, CE, lambda: ((words(6), torch.rand(SIZE, 6)), labels())),
    "losses": (lambda: nn.Linear(12, 3), several, rows),
    "ring": (layer(8, 27, circle, cores=lambda: nn.ParameterList([torch.randn(2, 3, 2) for _ in range(3)])), CE, rows),
    "soft experts": (layer(8, 8, experts, gate=lambda: nn.Linear(8, 3),
                           experts=lambda: nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])), CE, rows),
    "attention": (layer(32, 48, attention_with_weights, attention=lambda: nn.MultiheadAttention(8, 2, batch_first=True),
                        padding=lambda: nn.Buffer(torch.arange(4) > 2)), CE, rows),
    "euler": (layer(8, 8, euler, field=lambda: nn.Linear(8, 8)), CE, rows),
    "fourier": (layer(4, 24, fourier), CE, rows),
    "radial": (layer(6, 5, lambda m, x: (-m.width.exp() * torch.cdist(x, m.centres).square()).exp(),
                     centres=lambda: nn.Parameter(torch.randn(5, 6)), width=lambda: nn.Parameter(torch.zeros(5))), CE, rows),
    "memory": (layer(6, 6, addresses, memory=lambda: nn.Parameter(torch.randn(7, 6))), CE, rows),
    "patches": (layer(36, 36, patches, weight=lambda: nn.Parameter(torch.randn(9, 1))), CE, rows),
    "scan": (layer(24, 12, scan), CE, rows),
    "maxout": (layer(24, 6, maxout), CE, rows),
    "matrices": (layer(16, 16, matrices, weight=lambda: nn.Parameter(torch.randn(2, 2))), CE, rows),
}
