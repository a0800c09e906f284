# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models as users write them, whose structure the other tests do not have: losses over
all pairs of a batch, experts chosen by a gate, cross attention, several outputs, buffers
that move, weights in two factors."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations

SIZE, WORDS = 8, 20


class ConvNeXtBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.gamma = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        return x + (self.gamma * self.down(F.gelu(self.up(y)))).permute(0, 3, 1, 2)


class SqueezeExcite(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width // 4, 1), nn.SiLU(),
                                  nn.Conv2d(width // 4, width, 1), nn.Sigmoid())

    def forward(self, x):
        return x * self.gate(x)


class Clip(nn.Module):
    """The labels of a contrastive loss are positions in the batch."""

    def __init__(self):
        super().__init__()
        self.image, self.text = nn.Sequential(nn.Linear(10, 16), nn.GELU(), nn.Linear(16, 8)), nn.Linear(7, 8)
        self.scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, image, text):
        image, text = F.normalize(self.image(image), dim=-1), F.normalize(self.text(text), dim=-1)
        logits = self.scale.exp().clamp(max=100) * image @ text.t()
        labels = torch.arange(image.shape[0])
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


class SimCLR(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))

    def forward(self, first, second):
        z, n = F.normalize(torch.cat([self.encoder(first), self.encoder(second)]), dim=1), first.shape[0]
        scores = (z @ z.t() / 0.5).masked_fill(torch.eye(2 * n, dtype=torch.bool), -math.inf)
        return F.cross_entropy(scores, torch.cat([torch.arange(n, 2 * n), torch.arange(n)]))


class Experts(nn.Module):
    """Two of four experts, by the largest values of a gate."""

    def __init__(self):
        super().__init__()
        self.gate, self.head = nn.Linear(16, 4), nn.Linear(16, 3)
        self.up, self.down = nn.Parameter(torch.randn(4, 16, 32) * 0.1), nn.Parameter(torch.randn(4, 32, 16) * 0.1)

    def forward(self, x):
        values, places = self.gate(x).topk(2, -1)
        weights = torch.full((x.shape[0], 4), -math.inf).scatter(-1, places, values.float()).softmax(-1)
        hidden = torch.einsum("nd,edh->neh", x, self.up).relu()
        return self.head(x + torch.einsum("ne,neh,ehd->nd", weights, hidden, self.down))


class Decoder(nn.Module):
    """Cross attention with padding in the memory; the last weight is the embedding."""

    def __init__(self):
        super().__init__()
        self.words, self.positions = nn.Embedding(WORDS, 16), nn.Parameter(torch.randn(1, 6, 16) * 0.1)
        layer = nn.TransformerDecoderLayer(16, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.layers, self.head = nn.TransformerDecoder(layer, 1, norm=nn.LayerNorm(16)), nn.Linear(16, WORDS)
        self.head.weight = self.words.weight

    def forward(self, text, memory, padding):
        mask = nn.Transformer.generate_square_subsequent_mask(text.shape[1])
        return self.head(self.layers(self.words(text) + self.positions, memory, tgt_mask=mask, tgt_is_causal=True,
                                     memory_key_padding_mask=padding))


class Detector(nn.Module):
    """Several outputs and targets by name, and weights in two factors."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(parametrizations.weight_norm(nn.Linear(8, 16)), nn.SiLU(),
                                   parametrizations.spectral_norm(nn.Linear(16, 16)), nn.SELU())
        self.label, self.box = nn.Linear(16, 3), nn.Linear(16, 4)

    def forward(self, x):
        x = self.trunk(x)
        return {"label": self.label(x), "box": self.box(x)}


class Signal(nn.Module):
    """A network of signals, from bags of words."""

    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(WORDS, 16)
        self.net = nn.Sequential(nn.Conv1d(1, 8, 3, padding=2, padding_mode="circular"), nn.BatchNorm1d(8), nn.GLU(1),
                                 nn.MaxPool1d(2), nn.ConvTranspose1d(4, 4, 4, 2, 1, groups=2), nn.Flatten(), nn.LazyLinear(3))
        self.net(torch.randn(2, 1, 16))

    def forward(self, x):
        return self.net(self.bag(x)[:, None])


def detection_loss(output, target):
    return F.cross_entropy(output["label"], target["label"]) + F.smooth_l1_loss(output["box"], target["box"], beta=0.1)


def text_loss(output, target):
    return F.cross_entropy(output.transpose(1, 2), target, label_smoothing=0.1)


def images():
    return nn.Sequential(nn.Conv2d(3, 8, 2, 2), ConvNeXtBlock(8), SqueezeExcite(8), nn.GroupNorm(2, 8), nn.Conv2d(8, 12, 1),
                         nn.PixelShuffle(2), nn.Upsample(size=(5, 6), mode="bicubic"), nn.Flatten(), nn.Linear(90, 5))


def labels(count):
    return torch.randint(0, count, (SIZE,))


def padding():
    return torch.arange(5).expand(SIZE, 5) > torch.randint(2, 5, (SIZE, 1))


#: Name to the model, its loss and its batch.
KINDS = {
    "images": (images, nn.CrossEntropyLoss(torch.tensor([1.0, 2.0, 0.5, 1.0, 3.0])), lambda: (torch.randn(SIZE, 3, 8, 8), labels(5))),
    "clip": (Clip, None, lambda: (torch.randn(SIZE, 10), torch.randn(SIZE, 7))),
    "simclr": (SimCLR, None, lambda: (torch.randn(SIZE, 10), torch.randn(SIZE, 10))),
    "experts": (Experts, F.cross_entropy, lambda: (torch.randn(SIZE, 16), labels(3))),
    "decoder": (Decoder, text_loss, lambda: ((torch.randint(0, WORDS, (SIZE, 6)), torch.randn(SIZE, 5, 16), padding()),
                                             torch.randint(0, WORDS, (SIZE, 6)))),
    "detector": (Detector, detection_loss, lambda: (torch.randn(SIZE, 8), {"label": labels(3), "box": torch.rand(SIZE, 4)})),
    "signal": (Signal, F.cross_entropy, lambda: (torch.randint(0, WORDS, (SIZE, 6)), labels(3))),
}
