# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cuDNN itself has kernels for each convolution of the models in full size, and for
# both gradients, in both types on sm_80, sm_90 and sm_100. The gradient of a filter has
# 16 bits. Wrong descriptions have an error. Answers for want of a GPU count as
# unknown.
#
# REQUIRES: cudnn, full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %amp_cudnn

import ctypes
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from program import run

folder, path = sys.argv[1:3]
OK, INVALID, UNAVAILABLE, UNSUPPORTED, UNKNOWN = range(5)
F32, F16, BF16 = range(3)
KINDS = {"forward": 0, "input_grad": 1, "filter_grad": 2}
EXTENTS = "batch height width channels kernel_height kernel_width features".split()


class Convolution(ctypes.Structure):
    """amp_cudnn_convolution."""

    _fields_ = [(name, ctypes.c_int64) for name in EXTENTS] + [
        ("strides", ctypes.c_int64 * 2), ("padding", ctypes.c_int64 * 4), ("dilations", ctypes.c_int64 * 2),
        ("groups", ctypes.c_int64), ("type", ctypes.c_int32), ("result_type", ctypes.c_int32), ("kind", ctypes.c_int32)]


library = ctypes.CDLL(path)
library.amp_cudnn_last_error.restype = ctypes.c_char_p


def check(convolution, capability):
    """The code and the message."""
    code = library.amp_cudnn_check_convolution(ctypes.byref(convolution), capability)
    return code, library.amp_cudnn_last_error().decode(errors="replace")


def read_convolutions(text):
    """The different convolutions of a step, as tuples of kind, extents, strides, padding, dilations and groups."""
    found = set()
    for kind, inputs, attributes, result in re.findall(r"cuda\.conv <(\w+)>.*? ins\(.*? : (.*?)\)(.*?) -> tensor<(\S+)xbf16>", text):
        first, second = (tuple(map(int, shape.split("x"))) for shape in re.findall(r"tensor<([\dx]+)xbf16>", inputs)[:2])
        result = tuple(map(int, result.split("x")))
        image, kernel = {"forward": (first, second), "input_grad": (result, second), "filter_grad": (first, result)}[kind]

        def get(name, default):
            values = re.search(rf"\b{name} = array<i64: ([-\d, ]+)>", attributes)
            return tuple(map(int, values[1].split(","))) if values else default

        groups = re.search(r"\bgroups = (\d+)", attributes)
        found.add((kind, (*image, kernel[0], kernel[1], kernel[3]), get("strides", (1, 1)), get("padding", (0,) * 4),
                   get("dilations", (1, 1)), int(groups[1]) if groups else 1))
    return sorted(found)


MODELS = {"resnet50": 256, "resnet18": 256, "lenet": 512, "vit": 256}
failures, answers = [], {}
for model, batch in MODELS.items():
    graph = f"{folder}/{model}.mlir"
    run(["amp-model", model, f"--batch={batch}", "--locations=false", *(["--layers=1"] if model == "vit" else []), "-o", graph])
    text = run(["amp-opt", graph, "--amp-training-pipeline=precision=bf16", "--convert-train-to-cuda"])
    # The gradient of a filter is f32 in the step, and 16 bits here.
    text = re.sub(r"(cuda\.conv <filter_grad>.*? -> tensor<[\dx]+)xf32>", r"\1xbf16>", text)
    convolutions = read_convolutions(text)
    print(model, len(convolutions), "convolutions", flush=True)
    assert convolutions and {kind for kind, *_ in convolutions} >= {"forward", "filter_grad"}, model
    for kind, extents, strides, padding, dilations, groups in convolutions:
        for element in (F16, BF16):
            convolution = Convolution(*extents, strides, padding, dilations, groups, element, element, KINDS[kind])
            for capability in (80, 90, 100):
                code, message = check(convolution, capability)
                answers[code] = answers.get(code, 0) + 1
                if code not in (OK, UNKNOWN):
                    failures.append(f"{model} {kind} {extents} strides {strides} type {element} on sm_{capability}: {code}\n{message[-500:]}")
print("answers by code:", answers, flush=True)
assert answers.get(OK), "cuDNN supports nothing: the library was asked nothing"

# Rejected input.
for field, value, expected in (
        ("batch", 0, "sizes of a convolution must be positive"),
        ("strides", (0, 1), "must be positive"),
        ("padding", (0, 0, -1, 0), "must not be negative"),
        ("groups", 3, "groups of a convolution must divide"),
        ("kernel_height", 1000, "must fit the image"),
        ("type", F32, "takes f16 or bf16"),
        ("result_type", F16, "type of its operands or f32"),
        ("kind", 7, "unknown kind 7")):
    wrong = Convolution(2, 8, 8, 16, 3, 3, 32, (1, 1), (1, 1, 1, 1), (1, 1), 1, BF16, BF16, 0)
    assert check(wrong, 90)[0] in (OK, UNKNOWN)
    setattr(wrong, field, type(getattr(wrong, field))(*value) if isinstance(value, tuple) else value)
    code, message = check(wrong, 90)
    assert code == INVALID and expected in message, (field, code, message)
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
