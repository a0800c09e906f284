# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Transformers with attention by plans of cuDNN, on the implementation of the plans on
# the CPU: states after five steps are the same as in amp-run, or no farther than twice
# the distance of amp-run in the low type from f32, with plans and with products. Two runs and a run
# without a graph give the same bits, and a plan that needs more workspace than is
# planned the same too. Each mistake that an emitter could make is detected.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
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
programs = Programs(*sys.argv[1:4])
for model, precision in CASES:
    programs.add_model(model, widen_scores)
    for attention in ("cudnn", "decomposed"):
        text = programs.emit(f"{model}-{precision}-{attention}", model, precision, f"--attention={attention}")
        assert ("amp_cudnn_create_attention" in text) == (attention == "cudnn"), (model, attention)
programs.mutate("gpt2-bf16-cudnn", MUTATIONS)
# All samples would read the documents of the first one.
programs.mutate("decoder-packed-bf16-cudnn", PACKED_MUTATIONS, "packed")
programs.build()
for model, precision in CASES:
    programs.train_on_cpu(model, precision)
    for attention in ("cudnn", "decomposed"):
        programs.check(f"{model}-{precision}-{attention}", model, precision)
programs.check_repeats("gpt2-bf16-cudnn", "gpt2")
programs.check_mutants(MUTATIONS, "gpt2", "bf16")
programs.check_mutants(PACKED_MUTATIONS, "decoder-packed", "bf16", "packed")
print(*programs.failures, sep="\n")
sys.exit(1 if programs.failures else 0)
