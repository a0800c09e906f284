#===- guest_pins.py - Types that nodes have before the passes decide -----===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Pins the nodes of a graph of ATen whose types follow from the functions of torch and from autograd: parts of functions
that autocast treats as one, and sums of gradients."""

import torch
from torch import fx

from .fx_to_mlir import Printer, is_backward, is_getitem, source_of
from .guest_units import F32_FUNCTIONS, WIDEN, is_leaf, plain_name

aten = torch.ops.aten
PRODUCTS = {aten.mm.default, aten.bmm.default, aten.addmm.default, aten.baddbmm.default,
            aten.mv.default, aten.linear.default, aten.matmul.default,
            aten.convolution.default}  # fmt: skip
VIEWS = {aten.t.default, aten.view.default, aten._unsafe_view.default, aten.expand.default,
         aten.transpose.int, aten.permute.default, aten.clone.default, aten.unsqueeze.default,
         aten.squeeze.dim, aten.reshape.default}  # fmt: skip

PARTS = {aten.split.Tensor, aten.split_with_sizes.default, aten.slice.Tensor, aten.chunk.default, aten.unbind.int, aten.select.int}
# Products that autocast runs in the low type as a part of other functions, such as matmul, but not if the model calls them.
UNLISTED_PRODUCTS = {aten.mv.default: "mv", aten.dot.default: "dot", aten.vdot.default: "vdot"}
# Functions of products that autocast does not list. It converts the operands of their products, after their views.
UNLISTED_FUNCTIONS = {"einsum", "tensordot", "bilinear", "inner", "outer", "kron", "chainmatmul", "multidot", "mv", "dot", "vdot"}


def pin_functions(graph, device):
    """Pins what autocast treats as one function although the graph has its parts:
    f32 functions with all parts, and products with the views of their operands and
    with a bias that is added separately. Autocast casts before these parts run."""
    pins = {}
    functions = F32_FUNCTIONS.get(device, set())
    for node in reversed(graph.nodes):
        if node.op != "call_function" or is_backward(node):
            continue
        source = source_of(node)
        if source:
            if plain_name(source[1]) in functions:
                pins[node.name] = "f32"
                continue
        users = [user for user in node.users if not is_backward(user)]
        if node.target in VIEWS and users:
            if all(
                source_of(user) == source and (user.target in PRODUCTS or pins.get(user.name) == "low")
                for user in users
            ):
                pins[node.name] = "low"
        elif node.target is torch.ops.aten.add.Tensor and is_bias_of_product(node):
            pins[node.name] = "low"
        elif node.target in UNLISTED_PRODUCTS and source and plain_name(source[1]) != UNLISTED_PRODUCTS[node.target]:
            pins[node.name] = "low"
    return pins


def is_bias_of_product(node):
    """Whether a node adds a vector to a product, within one call of the model."""
    product, bias = node.args[:2]
    if not isinstance(bias, fx.Node) or bias.meta["val"].dim() != 1:
        return False
    # The parts of one parameter are the biases of an attention.
    while is_getitem(bias) or bias.target in PARTS:
        bias = bias.args[0]
    if bias.op != "placeholder":
        return False
    while isinstance(product, fx.Node) and product.target in VIEWS:
        product = product.args[0]
    return (
        isinstance(product, fx.Node)
        and product.target in PRODUCTS
        and source_of(node) is not None
        and source_of(node) == source_of(product)
    )


def reads_rounded(gradient, value, printer, pins):
    """Whether `gradient` is one of the rounded copy of `value`, which autocast makes once for a parameter."""
    if pins.get(gradient.name) == "low" and printer.is_sum_of_gradients(gradient):
        return True
    number = (gradient.args[0] if is_getitem(gradient) else gradient).meta.get("seq_nr")
    readers = [node for node in printer.forward_nodes.get(number, []) if value in node.all_input_nodes]
    if any(source_of(node) and plain_name(source_of(node)[1]) in UNLISTED_FUNCTIONS for node in readers):
        return False
    return bool(readers) and all(node.target in PRODUCTS or pins.get(node.name) == "low" for node in readers)


def add_all(graph, place, parts):
    """The sum of `parts` in order, as sums like `place` before it."""
    value = parts[0]
    for part in parts[1:]:
        with graph.inserting_before(place):
            total = graph.node_copy(place)
        total.args = (value, part)
        value = total
    return value


def erase_unused(graph, total):
    """Erases a sum without a reader, and the sums that only it reads."""
    if not total.users:
        operands = total.args
        graph.erase_node(total)
        for operand in operands:
            if operand.target is total.target:
                erase_unused(graph, operand)


def group_rounded(graph, pins):
    """Adds the gradients of the rounded copy of a parameter before those of the parameter itself. Autograd does so: it
    adds their sum where the last of them is."""
    printer = Printer(graph)

    def list_parts(total, is_last):
        if not printer.is_sum_of_gradients(total) or not is_last and len(total.users) != 1:
            return [total]
        return [*list_parts(total.args[0], False), total.args[1]]

    for node in list(graph.nodes):
        if node.op != "call_function" or not printer.is_sum_of_gradients(node):
            continue
        value = printer.find_summed(node)
        if value is None or not is_leaf(value) or any(printer.is_sum_of_gradients(user) for user in node.users):
            continue
        parts = list_parts(node, True)
        rounded = [part for part in parts if reads_rounded(part, value, printer, pins)]
        if len(rounded) < 2 or parts[: len(rounded)] == rounded:
            continue
        last = parts.index(rounded[-1])
        before = [part for part in parts[:last] if part not in rounded]
        total = add_all(graph, node, [add_all(graph, node, before), add_all(graph, node, rounded), *parts[last + 1 :]])
        node.replace_all_uses_with(total)
        erase_unused(graph, node)


def pin_sums(graph, pins):
    """Pins sums of gradients whose type is not that of the value. Autograd adds the gradients of a value that a mark
    widens in f32. Autocast rounds a parameter once, and autograd adds the gradients of the rounded parameter."""
    group_rounded(graph, pins)
    printer = Printer(graph)
    for node in graph.nodes:
        if node.op != "call_function" or not printer.is_sum_of_gradients(node):
            continue
        value = printer.find_summed(node)
        if value is not None and value.target is WIDEN:
            pins[node.name] = "f32"
        elif value is not None and value.op == "placeholder":
            rounded = is_leaf(value) and all(reads_rounded(part, value, printer, pins) for part in node.all_input_nodes)
            pins[node.name] = "low" if rounded else "f32"
