# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks of amp-model in PyTorch, as functions of the parameters, by name,
and of the batch."""

import torch
import torch.nn.functional as F


def heads_first(x, heads):
    n, s, c = x.shape
    return x.reshape(n, s, heads, c // heads).transpose(1, 2)


def attention(p, name, x, heads, mask):
    """`mask` is added to the scores."""
    q, k, v = (heads_first(t, heads) for t in linear(p, name + ".qkv", x).chunk(3, -1))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + mask
    y = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(x.shape)
    return linear(p, name + ".proj", y)


def linear(p, name, x):
    return x @ p[name + ".weight"] + p[name + ".bias"]


def conv(p, name, x, stride, padding):
    weight = p[name + ".weight"].permute(3, 2, 0, 1)
    return F.conv2d(x, weight, p.get(name + ".bias"), stride, padding)


def norm(p, name, x, epsilon):
    return F.layer_norm(x, x.shape[-1:], p[name + ".weight"], p[name + ".bias"], epsilon)


def batch_norm(p, name, x):
    return F.batch_norm(x, None, None, p[name + ".weight"], p[name + ".bias"], training=True)


def mlp_block(p, name, x, approximate):
    return linear(p, name + ".proj", F.gelu(linear(p, name + ".fc", x), approximate=approximate))


def mlp(p, batch):
    x = batch["x"]
    for i in (1, 2):
        x = F.relu(linear(p, f"fc{i}", x))
    return linear(p, "fc3", x)


def lenet(p, batch):
    x = batch["images"].permute(0, 3, 1, 2)
    x = F.max_pool2d(F.relu(conv(p, "conv1", x, 1, 2)), 2)
    x = F.max_pool2d(F.relu(conv(p, "conv2", x, 1, 0)), 2)
    x = x.permute(0, 2, 3, 1).flatten(1)
    for i in (1, 2):
        x = F.relu(linear(p, f"fc{i}", x))
    return linear(p, "fc3", x)


def resnet(depth):
    def forward(p, batch):
        x = batch["images"].permute(0, 3, 1, 2)
        x = F.relu(batch_norm(p, "bn1", conv(p, "conv1", x, 2, 3)))
        x = F.max_pool2d(x, 3, 2, 1)
        for stage, blocks in enumerate((2, 2, 2, 2) if depth == 18 else (3, 4, 6, 3)):
            for block in range(blocks):
                name = f"layer{stage + 1}.{block}."
                stride = 2 if stage and not block else 1
                if depth == 18:
                    sizes, strides = (3, 3), (stride, 1)
                else:
                    sizes, strides = (1, 3, 1), (1, stride, 1)
                y = x
                for i, (size, step) in enumerate(zip(sizes, strides), 1):
                    y = batch_norm(p, f"{name}bn{i}", conv(p, f"{name}conv{i}", y, step, size // 2))
                    if i < len(sizes):
                        y = F.relu(y)
                if name + "downsample.0.weight" in p:
                    x = batch_norm(p, name + "downsample.1", conv(p, name + "downsample.0", x, stride, 0))
                x = F.relu(y + x)
        return linear(p, "fc", x.mean((2, 3)))

    return forward


def count(p, prefix):
    """How many layers there are parameters of."""
    return len({name[len(prefix):].split(".")[0] for name in p if name.startswith(prefix)})


def gpt2(p, batch, heads=2):
    tokens = batch["tokens"]
    s = tokens.shape[1]
    x = p["wte.weight"][tokens] + p["wpe.weight"][:s]
    mask = torch.full((s, s), float("-inf")).triu(1)
    for i in range(count(p, "h.")):
        x = x + attention(p, f"h.{i}.attn", norm(p, f"h.{i}.ln_1", x, 1e-5), heads, mask)
        x = x + mlp_block(p, f"h.{i}.mlp", norm(p, f"h.{i}.ln_2", x, 1e-5), "tanh")
    return norm(p, "ln_f", x, 1e-5) @ p["wte.weight"].T


def rms_norm(p, name, x, epsilon=1e-6):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + epsilon) * p[name + ".weight"]


def rotate(x, angles):
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def decoder(p, batch, heads=4, key_heads=2):
    x = p["embed.weight"][batch["tokens"]]
    n, s, c = x.shape
    size = c // heads
    angles = torch.arange(s)[:, None] * 10000.0 ** (-2.0 * torch.arange(size // 2) / size)
    mask = torch.full((s, s), float("-inf")).triu(1)
    for i in range(count(p, "h.")):
        name = f"h.{i}."
        qkv = rms_norm(p, name + "norm_1", x) @ p[name + "attn.qkv.weight"]
        q, k, v = (heads_first(t, t.shape[-1] // size) for t in qkv.split([c, key_heads * size, key_heads * size], -1))
        q, k = (rotate(rms_norm(p, f"{name}attn.{part}_norm", t), angles) for part, t in (("q", q), ("k", k)))
        k, v = (t.repeat_interleave(heads // key_heads, 1) for t in (k, v))
        y = torch.softmax(q @ k.transpose(-1, -2) / size ** 0.5 + mask, -1) @ v
        x = x + y.transpose(1, 2).reshape(n, s, c) @ p[name + "attn.proj.weight"]
        y = rms_norm(p, name + "norm_2", x)
        y = F.silu(y @ p[name + "mlp.gate.weight"]) * (y @ p[name + "mlp.up.weight"])
        x = x + y @ p[name + "mlp.down.weight"]
    return rms_norm(p, "norm", x) @ p["embed.weight"].T


def bert(p, batch, heads=2):
    tokens = batch["tokens"]
    x = p["embeddings.word.weight"][tokens] + p["embeddings.type.weight"][batch["token_types"]]
    x = norm(p, "embeddings.ln", x + p["embeddings.position.weight"][: tokens.shape[1]], 1e-12)
    mask = torch.where(batch["mask"], 0.0, float("-inf"))
    for i in range(count(p, "encoder.")):
        name = f"encoder.{i}."
        x = norm(p, name + "ln_1", x + attention(p, name + "attn", x, heads, mask), 1e-12)
        x = norm(p, name + "ln_2", x + mlp_block(p, name + "mlp", x, "none"), 1e-12)
    return linear(p, "classifier", torch.tanh(linear(p, "pooler", x[:, 0])))


def vit(p, batch, heads=2):
    x = conv(p, "embed.patch", batch["images"].permute(0, 3, 1, 2), 8, 0)
    x = x.flatten(2).transpose(1, 2)
    x = torch.cat([p["embed.class_token"].expand(len(x), 1, -1), x], 1) + p["embed.positions"]
    for i in range(count(p, "blocks.")):
        x = x + attention(p, f"blocks.{i}.attn", norm(p, f"blocks.{i}.ln_1", x, 1e-6), heads, 0.0)
        x = x + mlp_block(p, f"blocks.{i}.mlp", norm(p, f"blocks.{i}.ln_2", x, 1e-6), "none")
    return linear(p, "head", norm(p, "norm", x, 1e-6)[:, 0])
