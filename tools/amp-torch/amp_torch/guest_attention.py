#===- guest_attention.py - Attention without a fused kernel --------------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Attention as eager torch.autocast runs it on a CPU if no fused kernel takes its operands, such as a bias that has
a gradient: autocast rounds the operands, and torch computes the parts in f32. A trace in f32 has the parts alone."""

import torch

from .fx_apply import CAST
from .fx_to_mlir import flatten, is_backward

FUNCTION = "scaled_dot_product_attention"


def find_unfused(graph):
    """The nodes of the forward pass of each call of the function whose parts are in the graph."""
    calls = {}
    for node in graph.nodes:
        stack = node.meta.get("source_fn_stack")
        if node.op == "call_function" and stack and not is_backward(node):
            name, function = stack[-1]
            if FUNCTION in (function, getattr(function, "__name__", "")):
                calls.setdefault(name, []).append(node)
    return [nodes for nodes in calls.values() if not any("_scaled_dot_product" in str(node.target) for node in nodes)]


def comes_from(node, products, views):
    """Whether a value is the result of a product, or a view of one."""
    while node.target in views and node.all_input_nodes:
        node = node.all_input_nodes[0]
    return node.target in products


def add_rounding(graph, node, low, readers):
    """Lets `readers` read `node` rounded to `low`."""
    first = next(other for other in graph.nodes if other in readers)
    value = node
    with graph.inserting_before(first):
        for dtype in (low, torch.float32):
            cast = graph.call_function(CAST, (value,), {"dtype": dtype})
            cast.meta = {key: first.meta[key] for key in ("partitioner_tag", "autograd_backward") if key in first.meta}
            cast.meta["val"] = value.meta["val"].to(dtype)
            value = cast
    for reader in readers:
        reader.replace_input_with(node, value)


def find_gradient(graph, node, readers, call):
    """The node that computes the gradient of `node` in the backward pass of `call`, or None."""
    numbers = {reader.meta.get("seq_nr") for reader in readers}
    inside = {part.meta.get("seq_nr") for part in call}
    found = [
        other
        for other in graph.nodes
        if is_backward(other)
        and other.meta.get("seq_nr") in numbers
        and getattr(other.meta.get("val"), "shape", None) == node.meta["val"].shape
        and all(user.meta.get("seq_nr") not in inside for user in other.users)
    ]
    return found[0] if len(found) == 1 else None


def round_operands(graph, low, products, views):
    """Rounds the f32 operands of attention without a fused kernel, and their gradients. Products already round.
    Returns the nodes that compute in f32."""
    calls = find_unfused(graph)
    for call in calls:
        operands = {operand for node in call for operand in node.all_input_nodes} - set(call)
        for operand in sorted(operands, key=lambda node: node.name):
            (value, *_) = flatten(operand.meta.get("val"))
            if not isinstance(value, torch.Tensor) or value.dtype != torch.float32 or comes_from(operand, products, views):
                continue
            readers = [node for node in call if operand in node.all_input_nodes]
            gradient = find_gradient(graph, operand, readers, call)
            add_rounding(graph, operand, low, readers)
            if gradient is not None:
                add_rounding(graph, gradient, low, list(gradient.users))
    return [node for call in calls for node in call]
