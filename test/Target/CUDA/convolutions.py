# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Convolutional networks by plans of cuDNN and by patches, on the implementation of the
# plans on the CPU: states after a few steps are the same as in amp-run, or no farther than
# twice the distance of amp-run in the low type from f32. Two runs and a run without
# a graph give the same bits, and a plan that needs more workspace than is planned the same
# too. Each mistake that an emitter could make is detected.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from planned import Programs

CASES = [("lenet", "fp16"), ("resnet18", "fp16"), ("vit", "bf16")]
BASE = "lenet-fp16-cudnn"
MUTATIONS = {
    "another padding": ("c.padding[0] = 2, c.padding[1] = 2", "c.padding[0] = 1, c.padding[1] = 3"),
    "a filter of another extent": ("c.kernel_height = 5, c.kernel_width = 5, c.features = 6",
                                   "c.kernel_height = 3, c.kernel_width = 5, c.features = 6"),
    "a plan of the other direction": ("runCuDNNPlan(run, 0,", "runCuDNNPlan(run, 1,"),
    "the gradient of the filter for that of the image": ("AMP_CUDNN_CONVOLUTION_FILTER_GRAD", "AMP_CUDNN_CONVOLUTION_FORWARD"),
    "a result beyond its buffer": ("p[AMP_CUDNN_CONVOLUTION_RESULT] = ", "p[AMP_CUDNN_CONVOLUTION_RESULT] = (1 << 24) + "),
    "a pointer between elements of 16 bytes": ("p[AMP_CUDNN_CONVOLUTION_IMAGE] = ", "p[AMP_CUDNN_CONVOLUTION_IMAGE] = 1 + "),
    "f32 gradients of filters": ("c.type = c.result_type = AMP_CUDNN_F16, c.kind = AMP_CUDNN_CONVOLUTION_FILTER_GRAD",
                                 "c.type = AMP_CUDNN_F16, c.result_type = AMP_CUDNN_F32, c.kind = AMP_CUDNN_CONVOLUTION_FILTER_GRAD"),
}

programs = Programs(*sys.argv[1:4])
for model, precision in CASES:
    programs.add_model(model)
    for convolutions in ("cudnn", "patches"):
        text = programs.emit(f"{model}-{precision}-{convolutions}", model, precision, f"--convolutions={convolutions}")
        assert ("amp_cudnn_create_convolution" in text) == (convolutions == "cudnn"), (model, convolutions)
programs.mutate(BASE, MUTATIONS)
programs.build()
for model, precision in CASES:
    programs.train_on_cpu(model, precision)
    for convolutions in ("cudnn", "patches"):
        programs.check(f"{model}-{precision}-{convolutions}", model, precision)
programs.check_repeats(BASE, "lenet")
programs.check_mutants(MUTATIONS, "lenet", "fp16")
print(*programs.failures, sep="\n")
sys.exit(1 if programs.failures else 0)
