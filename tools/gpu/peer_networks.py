# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks of amp-model as PyTorch modules, for peers.py. Parameters have the names of
amp-model. `write` and `read` convert their layouts: weights are [in, out] there, and filters
[height, width, in, out].

A description is a dictionary: "model" (mlp, gpt2, decoder, bert, vit, resnet18 or resnet50) and the
options of amp-model with their names, such as "layers"."""

import contextlib

import torch
import torch.nn.functional as F
from torch import nn

DEVIATION = 0.02


class Settings:
    """What a peer may choose to be fast: the kernel of attention, and whether the head and the loss
    are one function."""

    def __init__(self):
        self.attention, self.fuses_loss = None, False


def attend(q, k, v, settings, mask=None, causal=False):
    chosen = contextlib.nullcontext()
    if settings.attention is not None:
        from torch.nn.attention import sdpa_kernel

        chosen = sdpa_kernel(settings.attention)
    grouped = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}
    with chosen:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, **grouped)


def split(x, size):
    return x.unflatten(-1, (-1, size)).transpose(1, 2)


def join(x):
    return x.transpose(1, 2).flatten(2)


def linear_loss(x, weight, targets, settings):
    """The loss of a language model from the input of its head."""
    if settings.fuses_loss:
        low = torch.get_autocast_dtype(x.device.type) if torch.is_autocast_enabled(x.device.type) else x.dtype
        return F.linear_cross_entropy(x.flatten(0, -2).to(low), weight.to(low), targets.flatten(),
                                      options=nn.LinearCrossEntropyOptions())
    return F.cross_entropy(F.linear(x, weight).flatten(0, -2), targets.flatten())


class Attention(nn.Module):
    def __init__(self, width, heads, settings, causal=False):
        super().__init__()
        self.size, self.causal, self.settings = width // heads, causal, settings
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask=None):
        q, k, v = (split(part, self.size) for part in self.qkv(x).chunk(3, -1))
        return self.proj(join(attend(q, k, v, self.settings, mask, self.causal)))


class FeedForward(nn.Module):
    def __init__(self, width, approximate):
        super().__init__()
        self.fc, self.proj, self.approximate = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), approximate

    def forward(self, x):
        return self.proj(F.gelu(self.fc(x), approximate=self.approximate))


class Block(nn.Module):
    def __init__(self, options, settings, epsilon, causal=False, approximate="none", norms_first=True):
        super().__init__()
        width = options["width"]
        self.norms_first = norms_first
        self.ln_1, self.ln_2 = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)
        self.attn, self.mlp = Attention(width, options["heads"], settings, causal), FeedForward(width, approximate)

    def forward(self, x, mask=None):
        if self.norms_first:
            x = x + self.attn(self.ln_1(x), mask)
            return x + self.mlp(self.ln_2(x))
        x = self.ln_1(x + self.attn(x, mask))
        return self.ln_2(x + self.mlp(x))


class GPT2(nn.Module):
    def __init__(self, options, settings):
        super().__init__()
        self.settings = settings
        self.wte = nn.Embedding(options["vocabulary"], options["width"])
        self.wpe = nn.Embedding(options["positions"], options["width"])
        self.h = nn.ModuleList(Block(options, settings, 1e-5, True, "tanh") for _ in range(options["layers"]))
        self.ln_f = nn.LayerNorm(options["width"], 1e-5)

    def forward(self, batch):
        tokens = batch["tokens"]
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for block in self.h:
            x = block(x)
        return linear_loss(self.ln_f(x), self.wte.weight, batch["targets"], self.settings)


class RMSNorm(nn.Module):
    """The norm in the type of its input, for which torch has one kernel. An older
    torch, without the norm, still loads this file for the other networks."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight.to(x.dtype), self.eps)


class RotatedAttention(nn.Module):
    def __init__(self, options, settings):
        super().__init__()
        width, self.settings = options["width"], settings
        self.size = width // options["heads"]
        self.widths = [width, options["key-heads"] * self.size, options["key-heads"] * self.size]
        self.qkv, self.proj = nn.Linear(width, sum(self.widths), bias=False), nn.Linear(width, width, bias=False)
        self.q_norm, self.k_norm = RMSNorm(self.size, 1e-6), RMSNorm(self.size, 1e-6)

    def rotate(self, x, cosines, sines):
        a, b = x.float().chunk(2, -1)
        return torch.cat([a * cosines - b * sines, b * cosines + a * sines], -1).to(x.dtype)

    def forward(self, x, cosines, sines):
        q, k, v = (split(part, self.size) for part in self.qkv(x).split(self.widths, -1))
        q, k = (self.rotate(norm(part), cosines, sines) for norm, part in ((self.q_norm, q), (self.k_norm, k)))
        return self.proj(join(attend(q, k, v, self.settings, causal=True)))


class GatedFeedForward(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up = nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class DecoderBlock(nn.Module):
    def __init__(self, options, settings):
        super().__init__()
        width = options["width"]
        self.norm_1, self.norm_2 = RMSNorm(width, 1e-6), RMSNorm(width, 1e-6)
        self.attn, self.mlp = RotatedAttention(options, settings), GatedFeedForward(width, options["feed-forward"])

    def forward(self, x, cosines, sines):
        x = x + self.attn(self.norm_1(x), cosines, sines)
        return x + self.mlp(self.norm_2(x))


class Decoder(nn.Module):
    def __init__(self, options, settings):
        super().__init__()
        self.settings = settings
        self.embed = nn.Embedding(options["vocabulary"], options["width"])
        self.h = nn.ModuleList(DecoderBlock(options, settings) for _ in range(options["layers"]))
        self.norm = RMSNorm(options["width"], 1e-6)
        half = options["width"] // options["heads"] // 2
        angles = torch.arange(options["sequence"])[:, None] * 10000.0 ** (-torch.arange(half) / half)
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def forward(self, batch):
        x = self.embed(batch["tokens"])
        for block in self.h:
            x = block(x, self.cosines, self.sines)
        return linear_loss(self.norm(x), self.embed.weight, batch["targets"], self.settings)


class Bert(nn.Module):
    def __init__(self, options, settings):
        super().__init__()
        width = options["width"]
        self.embeddings = nn.ModuleDict({
            "word": nn.Embedding(options["vocabulary"], width), "position": nn.Embedding(options["positions"], width),
            "kind": nn.Embedding(2, width), "ln": nn.LayerNorm(width, 1e-12)})
        self.encoder = nn.ModuleList(Block(options, settings, 1e-12, norms_first=False) for _ in range(options["layers"]))
        self.pooler, self.classifier = nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, batch):
        tokens, parts = batch["tokens"], self.embeddings
        x = parts["word"](tokens) + parts["kind"](batch["token_types"]) + parts["position"].weight[: tokens.shape[1]]
        x = parts["ln"](x)
        for block in self.encoder:
            x = block(x, batch["mask"])
        return F.cross_entropy(self.classifier(torch.tanh(self.pooler(x[:, 0]))), batch["labels"])


class ViT(nn.Module):
    def __init__(self, options, settings):
        super().__init__()
        width, patch = options["width"], options["patch"]
        self.embed = nn.Module()
        self.embed.patch = nn.Conv2d(3, width, patch, patch)
        self.embed.class_token = nn.Parameter(torch.zeros(1, width))
        self.embed.positions = nn.Parameter(torch.zeros((options["image-size"] // patch) ** 2 + 1, width))
        self.blocks = nn.ModuleList(Block(options, settings, 1e-6) for _ in range(options["layers"]))
        self.norm, self.head = nn.LayerNorm(width, 1e-6), nn.Linear(width, options["classes"])

    def forward(self, batch):
        x = self.embed.patch(batch["images"].permute(0, 3, 1, 2)).flatten(2).transpose(1, 2)
        x = torch.cat([self.embed.class_token.to(x.dtype).expand(len(x), 1, -1), x], 1) + self.embed.positions
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.norm(x)[:, 0]), batch["labels"])


class ResidualBlock(nn.Module):
    """A bottleneck, or a basic block of two convolutions."""

    def __init__(self, inputs, outputs, stride, is_bottleneck):
        super().__init__()
        last = 4 * outputs if is_bottleneck else outputs
        sizes = ((inputs, outputs, 1, 1), (outputs, outputs, 3, stride), (outputs, last, 1, 1)) if is_bottleneck else (
            (inputs, outputs, 3, stride), (outputs, outputs, 3, 1))
        self.count = len(sizes)
        for i, (before, after, size, step) in enumerate(sizes, 1):
            self.add_module(f"conv{i}", nn.Conv2d(before, after, size, step, size // 2, bias=False))
            self.add_module(f"bn{i}", nn.BatchNorm2d(after))
        self.downsample = None
        if stride != 1 or inputs != last:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, last, 1, stride, bias=False), nn.BatchNorm2d(last))

    def forward(self, x):
        y = x
        for i in range(1, self.count + 1):
            y = getattr(self, f"bn{i}")(getattr(self, f"conv{i}")(y))
            y = F.relu(y) if i < self.count else y
        return F.relu(y + (self.downsample(x) if self.downsample else x))


class ResNet(nn.Module):
    def __init__(self, options, settings):
        super().__init__()
        is_deep, width = options["model"] == "resnet50", options["width"]
        self.conv1, self.bn1 = nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width)
        channels, stages = width, []
        for stage, blocks in enumerate((3, 4, 6, 3) if is_deep else (2, 2, 2, 2)):
            layers, outputs = [], width << stage
            for block in range(blocks):
                layers.append(ResidualBlock(channels, outputs, 2 if stage and not block else 1, is_deep))
                channels = 4 * outputs if is_deep else outputs
            stages.append(nn.Sequential(*layers))
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.fc = nn.Linear(channels, options["classes"])
        self.smoothing = options.get("label-smoothing", 0.0)

    def forward(self, batch):
        x = F.relu(self.bn1(self.conv1(batch["images"].permute(0, 3, 1, 2))))
        x = F.max_pool2d(x, 3, 2, 1)
        for stage in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = stage(x)
        return F.cross_entropy(self.fc(x.mean((2, 3))), batch["labels"], label_smoothing=self.smoothing)


class Perceptron(nn.Module):
    def __init__(self, options, settings):
        super().__init__()
        layers = options["layers"]
        for i, (inputs, outputs) in enumerate(zip(layers, layers[1:]), 1):
            self.add_module(f"fc{i}", nn.Linear(inputs, outputs))
        self.count = len(layers) - 1

    def forward(self, batch):
        x = batch["x"]
        for i in range(1, self.count + 1):
            x = getattr(self, f"fc{i}")(F.relu(x) if i > 1 else x)
        return F.cross_entropy(x, batch["labels"])


NETWORKS = {"mlp": Perceptron, "gpt2": GPT2, "decoder": Decoder, "bert": Bert, "vit": ViT, "resnet18": ResNet,
            "resnet50": ResNet}


def build(options, settings, device):
    network = NETWORKS[options["model"]](options, settings).to(device)
    return network.to(memory_format=torch.channels_last) if options["model"].startswith("resnet") else network


@torch.no_grad()
def initialize(network, options):
    """Weights that training can start from: normal numbers, in residual networks by the fan-out."""
    if options["model"] == "mlp":
        return
    scale = (2.0 * options.get("layers", 1)) ** -0.5
    for name, parameter in network.named_parameters():
        if parameter.ndim == 4 and options["model"].startswith("resnet"):
            nn.init.kaiming_normal_(parameter, mode="fan_out")
        elif parameter.ndim >= 2 and not name.endswith("class_token"):
            nn.init.normal_(parameter, std=DEVIATION * (scale if name.endswith(("proj.weight", "down.weight")) else 1.0))
        elif name.endswith(".bias"):
            nn.init.zeros_(parameter)


def parameters(network):
    """The parameters by the names of amp-model. A module has a method with one of these names."""
    return {name.replace("embeddings.kind.", "embeddings.type."): value for name, value in network.named_parameters()}


def layouts(network):
    """The permutation of each parameter into its layout in amp-model, and the inverse."""
    found = {}
    for prefix, module in network.named_modules():
        if isinstance(module, nn.Linear):
            found[f"{prefix}.weight"] = (1, 0), (1, 0)
        elif isinstance(module, nn.Conv2d):
            found[f"{prefix}.weight"] = (2, 3, 1, 0), (3, 2, 0, 1)
    return found


@torch.no_grad()
def write(network):
    """The parameters as arrays in the layout of amp-model."""
    orders = layouts(network)
    return {name: (parameter.permute(orders[name][0]) if name in orders else parameter).float().cpu().contiguous().numpy()
            for name, parameter in parameters(network).items()}


@torch.no_grad()
def read(network, arrays):
    orders = layouts(network)
    for name, parameter in parameters(network).items():
        value = torch.from_numpy(arrays[name])
        parameter.copy_(value.permute(orders[name][1]) if name in orders else value)


def decays(name, parameter):
    """Whether amp-model lets weight decay act on the parameter."""
    return parameter.ndim >= 2 and name not in ("embed.class_token", "embed.positions")


def make_batch(options, size):
    """Random inputs of one step, on the CPU."""
    model, batch = options["model"], {}

    def integers(most, *shape):
        return torch.randint(most, (size, *shape))

    if model in ("gpt2", "decoder", "bert"):
        batch["tokens"] = integers(options["vocabulary"], options["sequence"])
    if model in ("gpt2", "decoder"):
        batch["targets"] = integers(options["vocabulary"], options["sequence"])
    elif model == "bert":
        lengths = 1 + integers(options["sequence"])
        batch["token_types"] = integers(2, options["sequence"])
        batch["mask"] = (torch.arange(options["sequence"]) < lengths[:, None])[:, None, None]
        batch["labels"] = integers(2)
    elif model == "mlp":
        batch["x"], batch["labels"] = torch.randn(size, options["layers"][0]), integers(options["layers"][-1])
    else:
        batch["images"] = torch.randn(size, options["image-size"], options["image-size"], 3)
        batch["labels"] = integers(options["classes"])
    return batch
