# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of torchvision and transformers as these packages define them, with small
configurations and random weights, each with data. Nothing is downloaded.

Dropout is off, since its masks differ between PyTorch and this compiler, and so is
stochastic depth."""

import os

import numpy as np
import torch

os.environ["HF_HUB_OFFLINE"] = "1"

VOCABULARY, LENGTH, CLASSES = 53, 12, 5
TEXT = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 64, "max_position_embeddings": 32, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}  # fmt: skip
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
GROUPS = {**TEXT, "num_key_value_heads": 2, "head_dim": 8, "attention_dropout": 0.0}
IMAGE = {"image_size": 32, "num_channels": 3, "num_labels": CLASSES}


def vision(name, size=64, **settings):
    """A classifier of torchvision, for images of `size` by `size`."""

    def make():
        import torchvision

        return getattr(torchvision.models, name)(weights=None, num_classes=CLASSES, **settings)

    return make, lambda rng, count: images(rng, count, size), torch.nn.functional.cross_entropy


def images(rng, count, size):
    return [rng.standard_normal((count, 3, size, size)).astype(np.float32), rng.integers(0, CLASSES, count)]


def transformer(name, configuration, data, **settings):
    """A model of transformers that returns its loss."""

    def make():
        import transformers

        return getattr(transformers, name)(getattr(transformers, configuration)(**settings))

    return make, data, None


def tokens(rng, count):
    """A language model predicts its own input; it shifts the labels itself."""
    ids = rng.integers(3, VOCABULARY, (count, LENGTH))
    return {"input_ids": ids, "labels": ids.copy()}


def masked_tokens(rng, count):
    """Some positions have no label."""
    ids = rng.integers(3, VOCABULARY, (count, LENGTH))
    return {"input_ids": ids, "labels": np.where(rng.random(ids.shape) < 0.5, ids, -100)}


def padded(rng, count):
    """Texts of several lengths, with one class each."""
    lengths = rng.integers(4, LENGTH + 1, (count, 1))
    mask = (np.arange(LENGTH) < lengths).astype(np.int64)
    ids = rng.integers(3, VOCABULARY, (count, LENGTH)) * mask
    return {"input_ids": ids, "attention_mask": mask, "labels": rng.integers(0, CLASSES, count)}


def tagged(rng, count):
    """One class for each position."""
    shape = (count, LENGTH)
    return {"input_ids": rng.integers(3, VOCABULARY, shape), "labels": rng.integers(0, CLASSES, shape)}


def pixels(rng, count):
    x, y = images(rng, count, 32)
    return {"pixel_values": x, "labels": y}


# A function that makes the model, one that makes data of so many samples, and the loss
# (None: the model returns it).
LIBRARY = {
    "resnet18": vision("resnet18"),
    "resnet50": vision("resnet50"),
    "alexnet": vision("alexnet", dropout=0.0),
    "vgg11_bn": vision("vgg11_bn", 32, dropout=0.0),
    "squeezenet1_1": vision("squeezenet1_1", dropout=0.0),
    "densenet121": vision("densenet121"),
    "mobilenet_v2": vision("mobilenet_v2", dropout=0.0),
    "mobilenet_v3_small": vision("mobilenet_v3_small", dropout=0.0),
    "shufflenet_v2_x0_5": vision("shufflenet_v2_x0_5"),
    "mnasnet0_5": vision("mnasnet0_5", dropout=0.0),
    "regnet_y_400mf": vision("regnet_y_400mf"),
    "efficientnet_b0": vision("efficientnet_b0", dropout=0.0, stochastic_depth_prob=0.0),
    "convnext_tiny": vision("convnext_tiny", stochastic_depth_prob=0.0),
    "googlenet": vision("googlenet", aux_logits=False, init_weights=False, dropout=0.0),
    "vit_b_32": vision("vit_b_32", image_size=64),
    "swin_t": vision("swin_t"),
    "gpt2": transformer("GPT2LMHeadModel", "GPT2Config", tokens, vocab_size=VOCABULARY, n_embd=32, n_layer=2, n_head=4,
                        n_positions=32, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0),  # fmt: skip
    "gpt_neox": transformer("GPTNeoXForCausalLM", "GPTNeoXConfig", tokens, **TEXT, hidden_dropout=0.0, attention_dropout=0.0),
    "opt": transformer("OPTForCausalLM", "OPTConfig", tokens, vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2,
                       ffn_dim=64, num_attention_heads=4, max_position_embeddings=32, dropout=0.0, word_embed_proj_dim=32),  # fmt: skip
    "llama": transformer("LlamaForCausalLM", "LlamaConfig", tokens, **GROUPS),
    "mistral": transformer("MistralForCausalLM", "MistralConfig", tokens, **GROUPS),
    "qwen2": transformer("Qwen2ForCausalLM", "Qwen2Config", tokens, **{k: v for k, v in GROUPS.items() if k != "head_dim"}),
    "qwen3": transformer("Qwen3ForCausalLM", "Qwen3Config", tokens, **GROUPS),
    "gemma": transformer("GemmaForCausalLM", "GemmaConfig", tokens, **GROUPS),
    "phi": transformer("PhiForCausalLM", "PhiConfig", tokens, **TEXT, resid_pdrop=0.0, embd_pdrop=0.0),
    "bert": transformer("BertForSequenceClassification", "BertConfig", padded, **TEXT, **NO_DROPOUT, num_labels=CLASSES),
    "bert_mlm": transformer("BertForMaskedLM", "BertConfig", masked_tokens, **TEXT, **NO_DROPOUT),
    "roberta": transformer("RobertaForSequenceClassification", "RobertaConfig", padded, **TEXT, **NO_DROPOUT, num_labels=CLASSES),
    "distilbert": transformer("DistilBertForSequenceClassification", "DistilBertConfig", padded, vocab_size=VOCABULARY, dim=32,
                              n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=32, dropout=0.0,
                              attention_dropout=0.0, seq_classif_dropout=0.0, num_labels=CLASSES),  # fmt: skip
    "electra": transformer("ElectraForSequenceClassification", "ElectraConfig", padded, **TEXT, **NO_DROPOUT, embedding_size=16,
                           num_labels=CLASSES),  # fmt: skip
    "albert": transformer("AlbertForSequenceClassification", "AlbertConfig", padded, **TEXT, **NO_DROPOUT, embedding_size=16,
                          classifier_dropout_prob=0.0, num_labels=CLASSES),  # fmt: skip
    "t5": transformer("T5ForTokenClassification", "T5Config", tagged, vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=64,
                      num_layers=2, num_heads=4, dropout_rate=0.0, num_labels=CLASSES),  # fmt: skip
    "vit": transformer("ViTForImageClassification", "ViTConfig", pixels, **IMAGE, **NO_DROPOUT, hidden_size=32, patch_size=8,
                       num_hidden_layers=2, num_attention_heads=4, intermediate_size=64),  # fmt: skip
    "convnextv2": transformer("ConvNextV2ForImageClassification", "ConvNextV2Config", pixels, **IMAGE, hidden_sizes=[8, 16, 24, 32],
                              depths=[1, 1, 2, 1]),  # fmt: skip
}


def make(name, count, seed=0):
    """The model in training mode, its loss, and the arrays with the names that `batch_of`
    needs, or None."""
    torch.manual_seed(seed)
    build, data, loss = LIBRARY[name]
    made = data(np.random.default_rng(seed), count)
    names = list(made) if isinstance(made, dict) else None
    return build().train(), loss, list(made.values()) if names else made, names


def batch_of(loss, arrays, names):
    """Tensors as the argument `batch` of export."""
    tensors = [torch.from_numpy(array) for array in arrays]
    return (tensors[0], tensors[1]) if loss is not None else dict(zip(names, tensors))


def loss_of(loss, names):
    """The loss as a function of the model and the tensors."""
    if loss is not None:
        return lambda model, x, y: loss(model(x), y)
    return lambda model, *tensors: model(**dict(zip(names, tensors))).loss
