# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Transformers with attention by plans of cuDNN, on the implementation of the plans on
# the CPU: states after five steps are the same as in amp-run, or no farther than twice
# the distance of amp-run in the low type from f32, with plans and with products. Two runs and a run
# without a graph give the same bits, and a plan that needs more workspace than is
# planned the same too. Each mistake that an emitter could make is detected.
# Documents as samples with offsets, in one and in several parts, have the states of documents as a bias.
# Dropout of the library has other masks: with a rate that drops nothing the states are
# those of amp-run, and with another rate the losses differ little from those with its masks.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from networks import NETWORKS
from planned import Programs

CASES = [("gpt2", "bf16"), ("decoder", "bf16"), ("decoder-packed", "bf16"), ("bert", "fp16"), ("vit", "bf16")]
# The usual weights make all scores nearly equal, which hides mistakes.
QKV_WEIGHT = re.compile(r'(#amp\.init<normal, value = )[-+.e\d]+( : f64>, amp\.name = "[^"]*qkv\.weight")')


def widen_scores(text):
    text, count = QKV_WEIGHT.subn(r"\g<1>0.3\2", text)
    assert count == 1, count
    return text


def swap_gradients(text):
    return (text.replace("p[AMP_CUDNN_QUERY_GRAD]", "p[@]").replace("p[AMP_CUDNN_KEY_GRAD]", "p[AMP_CUDNN_QUERY_GRAD]")
            .replace("p[@]", "p[AMP_CUDNN_KEY_GRAD]"))


MUTATIONS = {
    "no causal mask": ("a.right_bound = 0;", "a.right_bound = -1;"),
    "another scale": ("a.scale = 0.25;", "a.scale = 0.35;"),
    "keys for values": ("p[AMP_CUDNN_VALUE] = ", "p[AMP_CUDNN_VALUE] = -32 + "),
    "a stride of another tensor": ("a.strides[AMP_CUDNN_KEY] = {1152, 16, 96}", "a.strides[AMP_CUDNN_KEY] = {1152, 0, 96}"),
    "gradients in the wrong order": swap_gradients,
    "a gradient of another head": ("a.strides[AMP_CUDNN_VALUE_GRAD] = {1152, 16,", "a.strides[AMP_CUDNN_VALUE_GRAD] = {1152, 0,"),
    "a plan of the other direction": ("runCuDNNPlan(run, 1,", "runCuDNNPlan(run, 0,"),
    "an output beyond its buffer": ("p[AMP_CUDNN_OUTPUT] = ", "p[AMP_CUDNN_OUTPUT] = 8 + "),
    "a pointer between elements of 16 bytes": ("p[AMP_CUDNN_QUERY] = ", "p[AMP_CUDNN_QUERY] = 1 + "),
    "no workspace": ("run.at<void>(at::attention_grad_scratch)", "nullptr"),
}
PACKED_MUTATIONS = {
    "the documents of another sample": ("a.bias_batch = 3", "a.bias_batch = 1"),
    "no documents": ("a.bias_type = AMP_CUDNN_BF16", "a.bias_type = AMP_CUDNN_NO_BIAS"),
}
OFFSET_MUTATIONS = {
    "offsets of another tensor": ("+ AMP_CUDNN_VALUE] = run.at<int64_t>(at::document_offsets_1) + ",
                                  "+ AMP_CUDNN_VALUE] = run.at<int64_t>(at::document_offsets_1) + 0 * "),
    "lengths of the next documents": ("p[AMP_CUDNN_QUERY_LENGTHS] = ", "p[AMP_CUDNN_QUERY_LENGTHS] = 4 + "),
    "no causal mask": ("a.right_bound = 0;", "a.right_bound = -1;"),
    "documents without lengths": ("  a.has_lengths = 1;\n", ""),
    "a part of the documents twice": ("steps[AMP_CUDNN_OFFSETS + AMP_CUDNN_QUERY] = ",
                                      "steps[AMP_CUDNN_OFFSETS + AMP_CUDNN_QUERY] = 0 * "),
}
# Mistakes of a program with dropout by the library, whose rate drops nothing.
DROPOUT_MUTATIONS = {
    "weights that are dropped": ("a.dropout = ", "a.dropout = 0.3 + "),
    "no seed": ("p[AMP_CUDNN_DROPOUT_SEED] = ", "(void)"),
}


def keep_all(text):
    text, count = re.subn(r"dropout_rate = [-+.e\d]+", "dropout_rate = 1.0e-12", text)
    assert count, "the graph has no dropout"
    return text


def mean_loss(programs, name, model):
    """Of the last of many steps."""
    path = f"{programs.folder}/{name}.json"
    subprocess.run([f"{programs.folder}/{name}", "--seed", "3", "--quiet", "--steps", "60", "--data", f"{programs.folder}/{model}.npz",
                    "--metrics-json", path], check=True)
    with open(path) as file:
        losses = [step["loss"] for step in json.load(file)["runs"][0]["steps"]]
    return sum(losses[-30:]) / 30


programs = Programs(*sys.argv[1:4])
for model, precision in CASES:
    programs.add_model(model, widen_scores)
    for attention in ("cudnn", "decomposed"):
        text = programs.emit(f"{model}-{precision}-{attention}", model, precision, f"--attention={attention}")
        assert ("amp_cudnn_create_attention" in text) == (attention == "cudnn"), (model, attention)
programs.mutate("gpt2-bf16-cudnn", MUTATIONS)
# All samples would read the documents of the first one.
programs.mutate("decoder-packed-bf16-cudnn", PACKED_MUTATIONS, "packed")
# A batch of four, whose documents the gradient takes in parts of four.
NETWORKS["decoder-packedparts"] = (*NETWORKS["decoder-packed"][:2], 4)
programs.add_model("decoder-packedparts", widen_scores)
for model, options in (("decoder-packed", ()), ("decoder-packedparts", ("--attention-bytes=32768",))):
    text = programs.emit(f"{model}-bf16-offsets", model, "bf16", "--attention=cudnn", "--documents=offsets", *options)
    assert "a.has_offsets = 1" in text and "a.bias_type = AMP_CUDNN_BF16" not in text, model
    assert ("runCuDNNPlanInParts" in text) == bool(options), model
programs.mutate("decoder-packedparts-bf16-offsets", OFFSET_MUTATIONS, "offset")
# Dropout: no plan without the option; with it, a rate that drops nothing, and one of 0.3.
NETWORKS["gpt2-random"] = NETWORKS["gpt2-dropout"]
programs.add_model("gpt2-dropout", lambda text: widen_scores(keep_all(text)))
programs.add_model("gpt2-random", widen_scores)
for model in ("gpt2-dropout", "gpt2-random"):
    for kind, options in (("own", ()), ("library", ("--library-dropout",))):
        text = programs.emit(f"{model}-{kind}", model, "bf16", "--attention=cudnn", *options)
        # The forward function has no dropout, so it has a plan.
        step, _, forward = text.partition("namespace forward")
        assert ("amp_cudnn_create_attention" in step) == (kind == "library"), (model, kind)
        assert "amp_cudnn_create_attention" in forward, (model, kind)
programs.mutate("gpt2-dropout-library", DROPOUT_MUTATIONS, "dropout")
programs.build()
for model, precision in CASES:
    programs.train_on_cpu(model, precision)
    for attention in ("cudnn", "decomposed"):
        programs.check(f"{model}-{precision}-{attention}", model, precision)
programs.train_on_cpu("decoder-packedparts", "bf16")
for model in ("decoder-packed", "decoder-packedparts"):
    programs.check(f"{model}-bf16-offsets", model, "bf16")
for model in ("gpt2-dropout", "gpt2-random"):
    programs.train_on_cpu(model, "bf16")
    programs.check(f"{model}-own", model, "bf16")
programs.check("gpt2-dropout-library", "gpt2-dropout", "bf16")
assert programs.train("gpt2-random-library", "gpt2-random")[0]
programs.check_repeats("gpt2-random-library", "gpt2-random")
own, library = (mean_loss(programs, f"gpt2-random-{kind}", "gpt2-random") for kind in ("own", "library"))
print(f"mean losses with dropout: {own:.4f} with own masks, {library:.4f} with those of the library", flush=True)
assert own != library and abs(own - library) < 0.03 * own
programs.check_repeats("gpt2-bf16-cudnn", "gpt2")
programs.check_repeats("decoder-packedparts-bf16-offsets", "decoder-packedparts")
programs.check_mutants(MUTATIONS, "gpt2", "bf16")
programs.check_mutants(DROPOUT_MUTATIONS, "gpt2-dropout", "bf16", "dropout")
programs.check_mutants(OFFSET_MUTATIONS, "decoder-packedparts", "bf16", "offset")
programs.check_mutants(PACKED_MUTATIONS, "decoder-packed", "bf16", "packed")
print(*programs.failures, sep="\n")
sys.exit(1 if programs.failures else 0)
