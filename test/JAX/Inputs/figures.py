# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of a rewritten step, by JAX's own parser and verifier."""

import math
import re

from jax._src.interpreters import mlir
from jax.extend.mlir import ir

MADE_AGAIN = {
    f"stablehlo.{name}"
    for name in ("convert", "broadcast_in_dim", "reshape", "transpose", "pad", "slice")
}
WIDTH = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "i64": 8, "i32": 4, "i1": 1, "ui32": 4}


def parse(text):
    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse(text)
        assert module.operation.verify()
        return module


def without_locations(text):
    """The text of a module as the committed dumps have it."""
    return parse(text).operation.get_asm(print_generic_op_form=True)


def walk(block_owner):
    for region in block_owner.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                yield from walk(op.operation)


def tensor(value):
    type = ir.RankedTensorType(value.type)
    return list(type.shape), str(type.element_type)


def size(value):
    """In bytes."""
    shape, element = tensor(value)
    return math.prod(shape) * WIDTH[element]


def product_flops(op):
    shape, _ = tensor(op.results[0])
    other, _ = tensor(op.operands[1])
    text = str(op.attributes["dot_dimension_numbers" if "dot" in op.name else "dimension_numbers"])
    if "dot" in op.name:
        numbers = re.search(r"rhs_contracting_dimensions = \[([\d, ]*)\]", text)[1]
        inner = math.prod(other[int(number)] for number in numbers.split(","))
    else:
        kernel = re.search(r"x\[([^\]]*)\]", text)[1].split(", ")
        inner = math.prod(other) // other[kernel.index("o")]
    return 2 * math.prod(shape) * inner


def product_share(module):
    """The share of FLOPs in products that have low operands."""
    total = low = 0
    for op in walk(module.operation):
        if op.name in ("stablehlo.dot_general", "stablehlo.convolution"):
            flops = product_flops(op)
            total += flops
            types = {tensor(value)[1] for value in op.operands}
            if types <= {"bf16", "f16"}:
                low += flops
                assert tensor(op.results[0])[1] == "f32", "an accumulator is not f32"
    return low / total


def main_function(module):
    for op in module.body.operations:
        if ir.StringAttr(op.attributes["sym_name"]).value == "main":
            return op.operation
    raise AssertionError("no main")


def owner(value):
    """What computes `value`, or nothing for an argument."""
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def activation_share(module):
    """The share of low bytes among the values that the forward pass computes and the
    backward pass reads: a step before convert-amp-to-stablehlo, in which the seed can
    be told."""
    block = main_function(module).regions[0].blocks[0]
    body = [op.operation for op in block.operations]
    roles = main_function(module).attributes["arg_attrs"]
    data = {
        value
        for value, entry in zip(block.arguments, roles)
        if "amp.role" in entry and ir.StringAttr(entry["amp.role"]).value == "batch"
    }
    backward, forward, late, saved = set(), set(), set(), {}
    for op in body:
        # A seed may be anywhere.
        if any(maker.name != "amp.gradient_seed" for maker in backward):
            late.add(op)
        if op.name == "amp.gradient_seed" or any(owner(value) in backward for value in op.operands):
            backward.add(op)
        elif any(value in data or owner(value) in forward for value in op.operands):
            forward.add(op)
    # Operations in the backward pass that only it uses.
    serving = set(backward)
    for op in reversed(body):
        uses = [use.owner.operation for result in op.results for use in result.uses]
        if op in late and uses and all(use in serving for use in uses):
            serving.add(op)
    for op in body:
        if op not in backward:
            continue
        for value in op.operands:
            # What only moves or casts for the backward pass alone is made there,
            # unless the forward pass makes something smaller of it.
            while owner(value) in forward and owner(value).name in MADE_AGAIN:
                maker = owner(value)
                if maker not in late and size(value) < size(maker.operands[0]):
                    break
                if not all(use.owner.operation in serving for use in value.uses):
                    break
                value = owner(value).operands[0]
            if owner(value) in forward:
                saved[value] = None
    sizes = {"low": 0, "wide": 0}
    for value in saved:
        element = tensor(value)[1]
        if element in ("bf16", "f16", "f32"):
            sizes["wide" if element == "f32" else "low"] += size(value)
    return sizes["low"] / (sizes["low"] + sizes["wide"]), sizes
