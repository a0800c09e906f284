# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All classification models of torchvision, and the architectures of transformers that have
a language model or a classifier, in small configurations with random weights. Nothing is
downloaded. Rules by the names of settings make a configuration small, so that a new
architecture needs no entry here."""

import os
import re

import torch
import torch.nn.functional as F

os.environ["HF_HUB_OFFLINE"] = "1"

VOCABULARY, LENGTH, CLASSES, SAMPLES = 64, 12, 5, 2
#: A norm of few images amplifies roundings.
IMAGES = 8
#: More parameters than this take too long on a small machine.
LARGEST = 70_000_000


class NotTried(Exception):
    """Why a small configuration of an architecture is not a test: an error of PyTorch's own."""


# -- torchvision -----------------------------------------------------------------

#: Settings without which a model draws random numbers, by the prefix of its name.
QUIET = {
    "alexnet": {"dropout": 0.0}, "vgg": {"dropout": 0.0}, "squeezenet": {"dropout": 0.0}, "mobilenet": {"dropout": 0.0},
    "mnasnet": {"dropout": 0.0}, "efficientnet": {"dropout": 0.0, "stochastic_depth_prob": 0.0},
    "convnext": {"stochastic_depth_prob": 0.0}, "swin": {"stochastic_depth_prob": 0.0},
    "maxvit": {"stochastic_depth_prob": 0.0, "input_size": (224, 224)},
    "googlenet": {"aux_logits": False, "init_weights": False, "dropout": 0.0},
    "inception": {"aux_logits": False, "init_weights": False, "dropout": 0.0},
    "vit": {"image_size": 64},
}  # fmt: skip
#: Extents of images where 64 is too small.
SIZES = {"inception": 96, "maxvit": 224, "vgg": 32}


def of_prefix(table, name, default):
    return next((value for prefix, value in table.items() if name.startswith(prefix)), default)


def vision_names():
    from torchvision import models

    return models.list_models(module=models)


def make_vision(name):
    from torchvision import models

    torch.manual_seed(0)
    model = models.get_model(name, weights=None, num_classes=CLASSES, **of_prefix(QUIET, name, {}))
    size = of_prefix(SIZES, name, 64)
    batch = torch.randn(IMAGES, 3, size, size), torch.randint(0, CLASSES, (IMAGES,))
    return model.train(), F.cross_entropy, batch


# -- transformers ----------------------------------------------------------------

#: The mappings of transformers from architectures to models, in the order of preference.
TASKS = {
    "causal": "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "masked": "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "translation": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
    "image": "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES",
    "text": "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES",
}

#: What a setting becomes, by a pattern of its name: the first that matches. A list becomes
#: a list of the same length.
NUMBERS = [
    (r"vocab_size|.*_vocab_size|vocab_size_.*", VOCABULARY),
    (r"pad_token_id", 0), (r"bos_token_id", 1), (r"eos_token_id|decoder_start_token_id|sep_token_id", 2),
    (r".*_token_(id|index)", 3),
    (r".*(dropout|drop_rate|drop_prob|droppath|pdrop|drop_path_rate|layerdrop|jitter_noise).*", 0.0),
    (r"image_size|img_size", 64), (r"patch_size|patch_sizes", None),
    (r"max_position_embeddings|n_positions|max_sequence_length|max_seq_len|n_ctx|seq_length", 64),
    (r"(moe_|shared_expert_|dense_)?intermediate_size|.*ffn_dim|d_ff|n_inner|ffn_hidden_size|.*ffn_hidden_size|d_inner", 64),
    (r"num_key_value_heads|num_kv_heads|n_head_kv|multi_query_group_num", 2),
    (r"head_dim|d_kv|kv_channels|attention_head_size|qk_nope_head_dim|v_head_dim", 8), (r"qk_rope_head_dim", 8),
    (r"q_lora_rank|kv_lora_rank", 16),
    (r".*num_attention_heads|n_heads?|.*_attention_heads|num_heads|attention_heads", 4),
    (r"first_k_dense_replace", 1), (r"window_size", 4),
    (r"num_experts_per_tok|moe_k|moe_topk|num_experts_per_token|top_k_experts|moe_top_k", 2),
    (r"num_experts|num_local_experts|n_routed_experts|moe_num_experts|num_routed_experts", 4), (r"n_group|topk_group", 1),
    (r"depths|num_blocks", 1), (r"num_.*_layers|num_layers|n_layers?|.*_layers|num_hidden_groups", 2),
    (r"hidden_sizes|embed_dims|channels|neck_hidden_sizes", None),
    (r"(.*_)?hidden_size|d_model|n_embd|dim|embed_dim|hidden_dim|word_embed_proj_dim|embedding_size|d_embed|hidden_units", 32),
    (r"rotary_dim", 4), (r"(state|ssm_state)_size|mamba_d_state", 8), (r"time_step_rank", 4),
]  # fmt: skip


def small(name, value):
    """A setting in a small configuration; the same one where no rule matches."""
    number = next((number for pattern, number in NUMBERS if re.fullmatch(pattern, name)), None)
    if number is None or isinstance(value, bool):
        return value
    if isinstance(value, (list, tuple)):
        numbers = value and all(isinstance(item, (int, float)) for item in value)
        return [number] * len(value) if numbers else value
    if not isinstance(value, (int, float)):
        return value
    # Tokens must be in the small vocabulary. Nothing else grows.
    return number if value > number or name.endswith(("_token_id", "_token_index")) else value


def changes_of(settings):
    """The settings of a small configuration that differ, in nested ones too."""
    found = {}
    for name, value in settings.items():
        if isinstance(value, dict) and name.endswith("_config"):
            part = changes_of(value)
            if part:
                found[name] = part
        else:
            new = small(name, value)
            if new != value:
                found[name] = new
    heads, groups = settings.get("num_attention_heads"), settings.get("num_key_value_heads")
    if groups is not None and heads == groups and "num_key_value_heads" in found:
        found["num_key_value_heads"] = found["num_attention_heads"]
    return found


def language_names():
    """Each architecture with its task, in alphabetical order."""
    from transformers.models.auto import modeling_auto

    found = {}
    for task, table in TASKS.items():
        for name in getattr(modeling_auto, table):
            found.setdefault(name, task)
    return dict(sorted(found.items()))


def configuration(name):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    kind = CONFIG_MAPPING[name]
    changes = changes_of(kind().to_dict())
    if "num_labels" not in changes:
        changes["num_labels"] = CLASSES
    return kind(**changes)


def make_language(name):
    import transformers
    from transformers.models.auto import modeling_auto

    task = language_names()[name]
    classes = getattr(modeling_auto, TASKS[task])[name]
    kind = getattr(transformers, classes if isinstance(classes, str) else classes[0])
    settings = configuration(name)
    # A cache is for generation. Some encoders with decoders have no first token.
    settings.use_cache = False
    if task == "translation" and getattr(settings, "decoder_start_token_id", None) is None:
        settings.decoder_start_token_id = 0
    torch.manual_seed(0)
    with torch.device("meta"):
        count = sum(parameter.numel() for parameter in kind(settings).parameters())
    if count > LARGEST:
        raise NotTried(f"{count / 1e6:.0f} million parameters in the small configuration")
    model = kind(settings).train()
    if model._can_set_experts_implementation():
        # Others sort the samples by expert, or loop over parts whose sizes depend on data.
        model.set_experts_implementation("batched_mm")
    return model, None, batch_of(task, settings)


def batch_of(task, settings):
    if task == "image":
        settings = getattr(settings, "vision_config", settings)
        size = getattr(settings, "image_size", 64)
        height, width = size if isinstance(size, (list, tuple)) else (size, size)
        channels = getattr(settings, "num_channels", 3)
        return {"pixel_values": torch.randn(IMAGES, channels, height, width),
                "labels": torch.randint(0, CLASSES, (IMAGES,))}
    tokens = torch.randint(4, VOCABULARY, (SAMPLES, LENGTH))
    if task == "text":
        return {"input_ids": tokens, "labels": torch.randint(0, CLASSES, (SAMPLES,))}
    labels = tokens.clone()
    if task == "masked":
        labels[torch.rand(labels.shape) < 0.5] = -100
    return {"input_ids": tokens, "labels": labels}


#: Family to the names of its models and the function that makes one: a model, its loss and
#: its batch, as arguments of amp_torch.compile.
FAMILIES = {"torchvision": (vision_names, make_vision), "transformers": (language_names, make_language)}
