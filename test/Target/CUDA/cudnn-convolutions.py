# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cuDNN itself has kernels for each plan of a convolution in the programs of the models in
# full size, deterministic ones and others, in both types on sm_80, sm_90 and sm_100. Each
# convolution of these programs that is not a product is a plan. Wrong descriptions
# have an error. Answers for want of a GPU count as unknown.
#
# REQUIRES: cudnn, full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %amp_cudnn

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import cudnn
from program import run

folder, path = sys.argv[1:3]
library = cudnn.Library(path)

MODELS = {"resnet50": 256, "resnet18": 256, "lenet": 512, "vit": 256}
failures, answers, seen = [], {}, set()
for model, batch in MODELS.items():
    graph = f"{folder}/{model}.mlir"
    run(["amp-model", model, f"--batch={batch}", "--locations=false", *(["--layers=1"] if model == "vit" else []), "-o", graph])
    for precision in ("fp16", "bf16"):
        source = run(["amp-translate", "--mlir-to-cuda", graph, "--precision", precision, "--convolutions=cudnn"])
        assert "ConvShape" not in source, (model, precision, "a convolution takes patches")
        plans = cudnn.read_convolutions(source)
        print(model, precision, len(plans), "convolutions", flush=True)
        assert {plan.kind for plan in plans.values()} >= {0, 2}, model
        for name, plan in plans.items():
            if bytes(plan) in seen:
                continue
            seen.add(bytes(plan))
            assert plan.deterministic == (plan.kind != 0), name
            for deterministic in {0, plan.deterministic}:
                plan.deterministic = deterministic
                for capability in cudnn.CAPABILITIES:
                    code, message = library.check(plan, capability)
                    answers[code] = answers.get(code, 0) + 1
                    if code not in (cudnn.OK, cudnn.UNKNOWN):
                        failures.append(f"{model} {precision} {name}, deterministic {deterministic}, on sm_{capability}: {code} {message}")
print("answers by code:", answers, flush=True)
assert answers.get(cudnn.OK), "cuDNN supports nothing: the library was asked nothing"

# A bias and a relu, and rejected input.
fields = (2, 8, 8, 16, 3, 3, 32, (1, 1), (1, 1, 1, 1), (1, 1), 1, 2, 2, 0)
for capability in cudnn.CAPABILITIES:
    assert library.check(cudnn.Convolution(*fields, 1, 1), capability)[0] in (cudnn.OK, cudnn.UNKNOWN)
for field, value, expected in (
        ("batch", 0, "sizes of a convolution must be positive"),
        ("strides", (0, 1), "must be positive"),
        ("padding", (0, 0, -1, 0), "must not be negative"),
        ("groups", 3, "groups of a convolution must divide"),
        ("kernel_height", 1000, "must fit the image"),
        ("type", 0, "takes f16 or bf16"),
        ("result_type", 1, "type of its operands or f32"),
        ("kind", 7, "unknown kind 7")):
    wrong = cudnn.Convolution(*fields)
    assert library.check(wrong, 90)[0] in (cudnn.OK, cudnn.UNKNOWN)
    setattr(wrong, field, type(getattr(wrong, field))(*value) if isinstance(value, tuple) else value)
    code, message = library.check(wrong, 90)
    assert code == cudnn.INVALID and expected in message, (field, code, message)
wrong = cudnn.Convolution(*fields, 0, 1)
wrong.kind = 1
code, message = library.check(wrong, 90)
assert code == cudnn.INVALID and "only a forward convolution takes a bias" in message, (code, message)
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
