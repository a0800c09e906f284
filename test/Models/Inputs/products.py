# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the parts of a step's text: operations, casts, and the operations
of its products, by the type of their operands."""

import math
import re

PRODUCT = re.compile(
    r"train\.(linear|matmul|conv2d|conv2d_input_grad|conv2d_filter_grad|scaled_dot_product_attention"
    r"|scaled_dot_product_attention_grad) (.*?): \((.*?)\) -> (.*)$"
)
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+)>")


def tensors(text):
    return [([int(n) for n in shape.split("x")[:-1]], type) for shape, type in TENSOR.findall(text)]


def product_flops(line):
    """The operations of the product on this line and the type of its operands,
    or nothing."""
    match = PRODUCT.search(line)
    if not match:
        return None
    kind, attributes, operands, results = match.groups()
    operands, results = tensors(operands), tensors(results)
    (a, type), (b, _) = operands[:2]
    out = results[0][0]
    if kind == "linear":
        count = math.prod(out) * a[-1]
    elif kind == "matmul":
        count = math.prod(out) * a[-2 if "transpose_a" in attributes else -1]
    elif kind == "conv2d":
        count = math.prod(out) * math.prod(b[:3])
    elif kind == "conv2d_input_grad":
        count = math.prod(a) * math.prod(b[:3])
    elif kind == "conv2d_filter_grad":
        count = math.prod(b) * math.prod(out[:3])
    else:
        grad = kind.endswith("_grad")
        query, value = operands[1 if grad else 0][0], operands[3 if grad else 2][0]
        width = 3 * query[-1] + 2 * value[-1] if grad else query[-1] + value[-1]
        count = math.prod(query[:-1]) * value[-2] * width
    return 2 * count, type


class Counts:
    def __init__(self, text):
        self.operations = self.casts = self.flops = self.low_flops = 0
        self.exceptions = []
        for line in text.splitlines():
            self.operations += bool(re.search(r"^\s+(%.* = )?\"?(train|amp|scf|arith|tensor)\.", line))
            self.casts += " amp.cast " in line
            product = product_flops(line)
            if product:
                count, type = product
                self.flops += count
                if type in ("f16", "bf16"):
                    self.low_flops += count
                else:
                    self.exceptions.append(line.strip())

    @property
    def low_share(self):
        return self.low_flops / self.flops
