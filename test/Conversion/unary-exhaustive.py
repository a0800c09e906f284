# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every unary operation on every f16 and every bf16 value, subnormals, infinities
# and NaNs included: the low result is the rounding, bit for bit, of the f32
# result, and the f32 result is within 2 ulp of the function in f64.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs %amp_src_root

import math
import pathlib
import re
import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, check, check_same_bits, elementwise, tensor, wide  # noqa: E402


erf = elementwise(math.erf)
erfc = elementwise(math.erfc)


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))),
                    np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def gelu(x):
    # -inf · 0, as the formula has it.
    return np.where(x == -np.inf, np.nan, x * erfc(-x / math.sqrt(2)) / 2)


def gelu_tanh(x):
    z = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return np.where(x == -np.inf, np.nan, x * sigmoid(2 * z))


# The attribute dictionary, the function, and the error beyond 2 ulp that the
# formula itself makes in f32, relative to |x|.
OPS = {
    "neg": ("", np.negative, 0),
    "abs": ("", np.abs, 0),
    "sign": ("", np.sign, 0),
    "sin": ("", np.sin, 0),
    "cos": ("", np.cos, 0),
    "erf": ("", erf, 0),
    "sqrt": ("", np.sqrt, 0),
    "log": ("", np.log, 0),
    "log1p": ("", np.log1p, 0),
    "tanh": ("", np.tanh, 0),
    "sigmoid": ("", sigmoid, 0),
    "silu": ("", lambda x: x * sigmoid(x), 2.0**-23),
    "relu": ("", lambda x: np.where(np.isnan(x), x, np.maximum(x, 0)), 0),
    "exp": ("", np.exp, 0),
    "expm1": ("", np.expm1, 0),
    "rsqrt": ("", lambda x: 1 / np.sqrt(x), 0),
    "reciprocal": ("", lambda x: 1 / x, 0),
    "square": ("", np.square, 0),
    # 1 + erf cancels where the factor is small.
    "gelu": ("{approximate = 0 : i32}", gelu, 2.0**-24),
    "gelu#tanh": ("{approximate = 1 : i32}", gelu_tanh, 2.0**-23),
    "clip": ("{min = -0.75 : f64, max = 6.5 : f64}", lambda x: np.clip(x, -0.75, 6.5), 0),
}

# Every operation of one float tensor and the same type is in the list.
definitions = "".join(
    path.read_text() for path in pathlib.Path(sys.argv[3]).glob("include/amp/Dialect/Train/IR/*.td")
)
unary = set(re.findall(r'^def \w+ *: *Train_Unary\w*<"(\w+)"', definitions, re.M))
listed = {name.split("#")[0] for name in OPS}
assert len(unary) >= 19 and unary == listed, unary ^ listed

every = np.arange(65536, dtype=np.uint16)
for low in ("f16", "bf16"):
    x = (every.view(np.float16) if low == "f16" else every, low)
    x32 = tensor(wide(x), "f32")
    step = Step()
    narrow, full = step.input(x), step.input(x32)
    for name, (attributes, _, _) in OPS.items():
        for value, type in ((narrow, low), (full, "f32")):
            result = step.op(
                f"train.{name.split('#')[0]} {value} {attributes} : tensor<65536x{type}>",
                type,
            )
            step.output(result, [65536], type)
    outputs = step.run(f"{folder}/{low}")
    for (name, (_, function, slack)), actual, actual32 in zip(
        OPS.items(), outputs[::2], outputs[1::2]
    ):
        check_same_bits(actual, tensor(actual32[0], low), f"{name} on {low}")
        with np.errstate(all="ignore"):
            expected = function(wide(x))
            absolute = np.nan_to_num(slack * np.abs(wide(x)), posinf=0)
        check(actual32, expected, 2, absolute, f"{name} on the {low} values in f32")
print("ok")
