# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks of `tools/dev gpu`: their sizes, the settings of their training, and the operations
that a step needs."""

import dataclasses
import re

# The options of amp-model for all transformers. A constant rate makes short curves comparable.
ADAMW = {"optimizer": "adamw", "rate": 3e-4, "betas": [0.9, 0.95], "weight-decay": 0.1, "clip": 1.0}
BETAS = {"gpt2": 0.95, "decoder": 0.95, "bert": 0.999, "vit": 0.999}
SGD = {"optimizer": "sgd", "rate": 0.05, "momentum": 0.9, "weight-decay": 1e-4}
# Tokens of a text for reduced networks.
REDUCED_VOCABULARY = 400
TARGETS = ("a100", "h100", "h200", "b200")
# The recipes of 8-bit products, with the least and the largest compute capability of their products.
RECIPES = {"delayed": (89, 999), "current": (89, 999), "rowwise": (90, 90), "block-128": (90, 90), "mxfp8": (100, 999)}
CAPABILITIES = {"a100": 80, "h100": 90, "h200": 90, "b200": 100}


@dataclasses.dataclass
class Network:
    """A network with a batch size. `options` are options of amp-model."""

    model: str
    options: dict
    batch: int
    precisions: tuple
    # Whether torch.compile takes part. It takes minutes for a network.
    compiles: bool = False
    # Whether the recipes of 8-bit products take part.
    float8: bool = False

    def describe(self):
        """The network and its training, for peers."""
        settings = dict(SGD if self.model.startswith("resnet") else ADAMW)
        if self.model in BETAS:
            settings["betas"] = [0.9, BETAS[self.model]]
        return {"model": self.model, **self.options, **settings}

    def arguments(self):
        """The arguments of amp-model."""
        settings = self.describe()
        words = [self.model, *(f"--{name}={value}" for name, value in self.options.items())]
        words += [f"--optimizer={settings['optimizer']}", f"--lr={settings['rate']}", "--warmup-steps=0", "--decay-steps=0"]
        if settings["optimizer"] == "adamw":
            words += [f"--clip={settings['clip']}", f"--weight-decay={settings['weight-decay']}"]
        return words


    def reduce(self):
        """The same network with sizes for a trial on a CPU."""
        small = {"layers": 1, "width": 32, "heads": 2}
        if self.model in ("gpt2", "bert"):
            small.update({"vocabulary": REDUCED_VOCABULARY, "positions": 16, "sequence": 16})
        elif self.model == "decoder":
            small.update({"heads": 4, "key-heads": 2, "feed-forward": 24, "vocabulary": REDUCED_VOCABULARY, "sequence": 16})
        elif self.model == "vit":
            small.update({"image-size": 24, "patch": 8, "classes": 5})
        else:
            small = {"width": 8, "image-size": 32, "classes": 10}
        return dataclasses.replace(self, options=small, batch=4)


BILLION = {"layers": 16, "width": 2048, "heads": 32, "key-heads": 8, "feed-forward": 8192, "sequence": 2048}
NETWORKS = {
    "gpt2-b8": Network("gpt2", {"sequence": 1024}, 8, ("bf16", "fp16")),
    "gpt2-b64": Network("gpt2", {"sequence": 1024}, 64, ("bf16", "fp16"), compiles=True, float8=True),
    "gpt2-long": Network("gpt2", {"positions": 8192, "sequence": 8192}, 8, ("bf16",)),
    "decoder-300m": Network("decoder", {"sequence": 2048}, 16, ("bf16", "fp16"), compiles=True),
    "decoder-1b": Network("decoder", BILLION, 8, ("bf16",), float8=True),
    "resnet50": Network("resnet50", {}, 256, ("bf16", "fp16"), compiles=True),
    "bert": Network("bert", {"sequence": 512}, 64, ("bf16",)),
    "vit": Network("vit", {}, 256, ("bf16",)),
}


# The default options of amp-model.
DEFAULTS = {
    "gpt2": {"layers": 12, "width": 768, "heads": 12, "vocabulary": 50257, "positions": 1024},
    "decoder": {"layers": 24, "width": 1024, "heads": 16, "key-heads": 4, "feed-forward": 2816, "vocabulary": 32768,
                "sequence": 2048},
    "bert": {"layers": 12, "width": 768, "heads": 12, "vocabulary": 30522, "positions": 512},
    "vit": {"layers": 12, "width": 768, "heads": 12, "image-size": 224, "patch": 16, "classes": 1000},
    "resnet18": {"width": 64, "image-size": 224, "classes": 1000},
    "resnet50": {"width": 64, "image-size": 224, "classes": 1000},
}


def complete(options):
    """The description with the defaults of amp-model."""
    options = {**DEFAULTS.get(options["model"], {}), **options}
    if "sequence" not in options and "positions" in options:
        options["sequence"] = options["positions"]
    return options


# --- Operations -----------------------------------------------------------------
# Of a step: three times those of the forward pass. `needed` counts the products, half of the
# scores where attention is causal. `nominal` is the usual convention for language models, 6 N per
# token and 12 · layers · width · length, with all N parameters and all scores.


def count_blocks(o):
    """Multiply-adds per token of the products of the blocks, without the scores."""
    width = o["width"]
    if o["model"] == "decoder":
        keys = width // o["heads"] * o["key-heads"]
        return o["layers"] * width * (2 * width + 2 * keys + 3 * o["feed-forward"])
    return 12 * o["layers"] * width**2


def count_convolutions(o):
    """Multiply-adds per image of ResNet-50 as the dialect builds it."""
    width, total = o["width"], 0
    size = o["image-size"] // 2
    total += size**2 * 49 * 3 * width
    size //= 2
    channels = width
    for stage, blocks in enumerate((3, 4, 6, 3)):
        inner = width << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            after = size // stride
            total += size**2 * channels * inner + after**2 * (9 * inner * inner + 4 * inner * inner)
            if not block:
                total += after**2 * channels * 4 * inner
            channels, size = 4 * inner, after
    return total + channels * o["classes"]


def count_operations(o, batch, parameters):
    """{"units": name, "per step": units of a step, "nominal": ..., "needed": operations of a step}"""
    if o["model"] == "resnet50":
        needed = 6 * count_convolutions(o) * batch
        return {"units": "images", "per step": batch, "nominal": needed, "needed": needed}
    width, layers = o["width"], o["layers"]
    if o["model"] == "vit":
        length = (o["image-size"] // o["patch"]) ** 2 + 1
        per_token = 6 * (count_blocks(o) + 3 * o["patch"] ** 2 * width) + 12 * layers * width * length
        total = per_token * length * batch
        return {"units": "images", "per step": batch, "nominal": total, "needed": total}
    length = o["sequence"]
    tokens = batch * length
    causal = o["model"] != "bert"
    head = o["vocabulary"] * width if causal else 0
    needed = 6 * (count_blocks(o) + head) + (6 if causal else 12) * layers * width * length
    nominal = 6 * parameters + 12 * layers * width * length
    return {"units": "tokens", "per step": tokens, "nominal": nominal * tokens, "needed": needed * tokens}


def read_costs(text):
    """The figures of the report of --cuda-costs, in microseconds and bytes."""
    return {"roofline us": float(re.search(r"^roofline bound as written (\S+) us", text, re.M)[1]),
            "estimate us": float(re.search(r"^estimate (\S+) us", text, re.M)[1]),
            "memory": int(re.search(r"^memory (\d+) bytes", text, re.M)[1])}
