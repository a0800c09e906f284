#===- fx_apply.py - Types and casts from the passes into an FX graph -----===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Applies what `amp-export-types` wrote to the graph that was printed, and checks
the result with fake tensors."""

import math
import operator
import re

import torch
from torch import fx
from torch.fx.passes.shape_prop import _extract_tensor_metadata

from .fx_to_mlir import (
    ELEMENT_TYPES, IDENTITIES, NUMBERS, OTHER, element_type, find_numbers, flatten, is_backward, packet_of, puts_limit, vanishes,
)  # fmt: skip

DTYPES = {name: dtype for dtype, name in ELEMENT_TYPES.items()}
LOW = (torch.bfloat16, torch.float16)
CAST = torch.ops.aten._to_copy.default


def is_cast(node):
    """Whether a node only changes the type of floats."""
    if node.op != "call_function" or node.target not in (
        CAST,
        torch.ops.prims.convert_element_type.default,
    ):
        return False
    before, after = node.args[0].meta.get("val"), node.meta.get("val")
    return (
        isinstance(before, torch.Tensor)
        and isinstance(after, torch.Tensor)
        and before.dtype.is_floating_point
        and after.dtype.is_floating_point
        and before.dtype != after.dtype
    )


def replace_at(node, place, value):
    """Puts `value` at `place` of the arguments of `node`."""

    def put(container, path):
        if not path:
            return value
        entries = list(container)
        entries[path[0]] = put(entries[path[0]], path[1:])
        return type(container)(entries) if isinstance(container, tuple) else entries

    if place[0] == "args":
        node.args = put(node.args, place[1:])
    else:
        node.kwargs = {**node.kwargs, place[1]: put(node.kwargs[place[1]], place[2:])}


class Application:
    """One application of `types`, the function that the passes wrote, to `graph`,
    which `printer` printed."""

    def __init__(self, printer, types):
        self.printer, self.types = printer, types
        self.graph = printer.graph
        self.nodes = {node.name: node for node in self.graph.nodes}
        self.items = {}
        for node in self.graph.nodes:
            if node.op == "call_function" and node.target is operator.getitem:
                self.items.setdefault((node.args[0], node.args[1]), node)
        # By operation of the list: the node, and the element types it should have.
        self.produced = []
        self.expected = {}
        self.casts = []

    def source(self, reference):
        operation, number = reference
        if operation == -1:
            return self.printer.arguments[number]
        node = self.produced[operation]
        if not isinstance(node.meta.get("val"), (tuple, list)):
            return node
        return self.item(node, number)

    def item(self, node, number):
        if (node, number) not in self.items:
            with self.graph.inserting_after(node):
                item = self.graph.call_function(operator.getitem, (node, number))
            item.meta.update({k: v for k, v in node.meta.items() if k != "val"})
            item.meta["val"] = node.meta["val"][number]
            self.items[node, number] = item
        return self.items[node, number]

    def add_cast(self, entry, before):
        source = self.source(entry["operands"][0])
        dtype = DTYPES[entry["types"][0]]
        with self.graph.inserting_before(before):
            cast = self.graph.call_function(CAST, (source,), {"dtype": dtype})
        context = source if source.op == "call_function" else before
        for key in ("stack_trace", "nn_module_stack", "fwd_nn_module_stack", "seq_nr"):
            if key in context.meta:
                cast.meta[key] = context.meta[key]
        # The partitioner must know to which half the cast belongs: to the first
        # that reads it, as the passes put it right before its first reader.
        for key in ("partitioner_tag", "autograd_backward"):
            if key in before.meta:
                cast.meta[key] = before.meta[key]
        cast.meta["val"] = source.meta["val"].to(dtype)
        self.casts.append(cast)
        return cast

    def set_dtype_arguments(self, node, dtype):
        """Makes the arguments of `node` that name f32 name the type of the result."""
        if not isinstance(node.target, torch._ops.OpOverload):
            return
        reads = bool(self.printer.operands[node])
        for i, argument in enumerate(node.target._schema.arguments):
            if "ScalarType" not in str(argument.type) and argument.name not in (
                "dtype",
                "input_dtype",
            ):
                continue
            given = node.args[i] if i < len(node.args) else node.kwargs.get(argument.name)
            # For an operation without operands, or whose result differs from them, the default is
            # not the type of the result.
            differs = reads and all(
                self.expected_type(o) != dtype for o in self.printer.operands[node]
            )
            if given is None and (differs or not reads) or given in (torch.float32, *LOW):
                if i < len(node.args):
                    node.args = (*node.args[:i], dtype, *node.args[i + 1 :])
                else:
                    node.kwargs = {**node.kwargs, argument.name: dtype}

    def expected_type(self, operand):
        node = self.reading.get(id(operand))
        value = node.meta["val"] if node else None
        return value.dtype if isinstance(value, torch.Tensor) else None

    def retype(self, node, entry):
        """Changes the operands of `node` to the casts, and its results to `types`."""
        self.reading = {}
        changed = False
        for operand, reference in zip(self.printer.operands[node], entry["operands"], strict=True):
            source = self.source(reference)
            self.reading[id(operand)] = source
            origin = operand.source
            if isinstance(origin.meta.get("val"), (tuple, list)):
                origin = self.items.get((origin, operand.result))
            if source is not origin:
                replace_at(node, operand.place, source)
            val = source.meta["val"]
            changed |= isinstance(val, torch.Tensor) and val.dtype in LOW
        if node.op == "output":
            return
        types = [DTYPES.get(name) for name in entry["types"]]
        self.expected[node] = entry["types"]
        before = [element_type(value) for value in flatten(node.meta.get("val"))]
        changed |= before != entry["types"]
        if changed and types and types[0] and types[0].is_floating_point:
            self.set_dtype_arguments(node, types[0])
        # Readers need the new type to tell which of their arguments change.
        values = [
            value.to(dtype) if isinstance(value, torch.Tensor) and dtype not in (None, value.dtype)
            else value
            for value, dtype in zip(flatten(node.meta.get("val")), types, strict=True)
        ]
        if isinstance(node.meta.get("val"), (tuple, list)):
            node.meta["val"] = type(node.meta["val"])(values)
            for number, value in enumerate(values):
                if (node, number) in self.items:
                    self.items[node, number].meta["val"] = value
        else:
            node.meta["val"] = values[0]

    def run(self):
        pending = []
        for entry in self.types["operations"]:
            if entry.get("key") is None and entry["op"] != "func.return":
                # A cast: it goes before the next node of the graph.
                pending.append((len(self.produced), entry))
                self.produced.append(None)
                continue
            if entry["op"] == "func.return":
                node = next(n for n in self.graph.nodes if n.op == "output")
            else:
                node = self.nodes[entry["key"]]
            for number, cast in pending:
                self.produced[number] = self.add_cast(cast, node)
            pending = []
            self.produced.append(node)
            self.retype(node, entry)
        return self


def has_mixed_kernel(node):
    """Whether fake tensors are wrong about a node: kernels of norms on the CPU with
    a low input and f32 parameters give f32 statistics and a low gradient of the
    input, as the policy says."""
    if not re.search("(layer|group|batch)_norm", str(node.target)):
        return False
    floats = [a.meta["val"] for a in node.args if isinstance(a, fx.Node)]
    floats = [v for v in floats if isinstance(v, torch.Tensor) and v.is_floating_point()]
    return all(v.device.type == "cpu" for v in floats) and len({v.dtype for v in floats}) > 1


def check(graph, expected):
    """Runs the operations on fake tensors in the new types, and updates the values
    of all nodes. Returns the nodes whose results have other types than `expected`,
    with a text each."""
    mismatches = []

    def value_of(node):
        return node.meta.get("val")

    for node in graph.nodes:
        if node.op != "call_function":
            continue
        if node not in expected and not (
            node.target is operator.getitem and node.args[0] in expected
        ):
            if not is_cast(node):
                continue
        args, kwargs = fx.map_arg((node.args, node.kwargs), value_of)
        mode = torch._guards.detect_fake_mode(
            [v for v in torch.utils._pytree.tree_leaves((args, kwargs))]
            + flatten(node.meta.get("val"))
        )
        try:
            with mode if mode else torch.no_grad():
                value = node.target(*args, **kwargs)
        except Exception as error:  # The kernel refuses the types.
            mismatches.append((node, str(error).split("\n")[0]))
            continue
        types = [element_type(v) for v in flatten(value)]
        wanted = expected.get(node, types)
        if types != wanted:
            if has_mixed_kernel(node):
                value = type(value)(
                    v.to(DTYPES[name]) if isinstance(v, torch.Tensor) else v
                    for v, name in zip(value, wanted, strict=True)
                )
            elif any(a != b and OTHER not in (a, b) for a, b in zip(types, wanted)):
                mismatches.append((node, f"gives {types}, expected {wanted}"))
        node.meta["val"] = value
    return mismatches


# Operations that select or move elements, without computing new ones.
MOVES = {
    "where", "masked_fill", "cat", "stack", "view", "_unsafe_view", "reshape", "_reshape_alias", "t", "transpose", "permute",
    "expand", "unsqueeze", "squeeze", "slice", "select", "clone", "alias", "detach", "repeat", "as_strided", "tril", "triu",
    "unfold", "flip", "copy", "copy_", "slice_scatter", "select_scatter", "as_strided_scatter", "constant_pad_nd",
}


def element_dtype(node):
    """The type of the float results of an operation, or of its operands if it has none, such as a comparison. None if they
    differ."""
    for values in (flatten(node.meta.get("val")), [operand.meta.get("val") for operand in node.all_input_nodes]):
        found = {v.dtype for v in values if isinstance(v, torch.Tensor) and v.dtype.is_floating_point}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def lower_numbers(nodes, finite):
    """Replaces the limits of f32 that operations put into low elements by those of the low type. With `finite`, numbers that
    are zero in the low type become the smallest one that is not."""
    for node in nodes:
        low = element_dtype(node)
        if low not in LOW:
            continue
        numbers = find_numbers(node).values() if finite else ()

        def lower(value):
            if puts_limit(node, value):
                return math.copysign(torch.finfo(low).max, value)
            if isinstance(value, float) and value in numbers and vanishes(value, low):
                return math.copysign(torch.finfo(low).tiny * torch.finfo(low).eps, value)
            return value

        node.args = tuple(lower(value) for value in node.args)
        node.kwargs = {name: lower(value) for name, value in node.kwargs.items()}


def keep_finite(casts):
    """Moves finite numbers that `casts` would make infinite to the nearest finite number of the low type.
    Masks of attentions are the lowest number of f32. With infinities, a row that is masked as a whole
    has a softmax and gradients of NaN."""
    seen = set()

    def visit(node, limit):
        if (node, limit) in seen or node.op != "call_function":
            return
        seen.add((node, limit))

        def clamp(value):
            if isinstance(value, float) and limit < abs(value) < float("inf"):
                return limit if value > 0 else -limit
            return value

        # A mask may be a product with the number, and a sum of masks.
        if packet_of(node) in NUMBERS or packet_of(node) == "mul":
            node.args = tuple(clamp(value) for value in node.args)
            node.kwargs = {name: clamp(value) for name, value in node.kwargs.items()}
        if packet_of(node) in MOVES or packet_of(node) == "add":
            for operand in node.all_input_nodes:
                visit(operand, limit)

    for cast in casts:
        low = cast.meta["val"].dtype
        if low in LOW:
            visit(cast.args[0], torch.finfo(low).max)


def describe_tensors(graph):
    """Writes the second description of values, 'tensor_meta'. The partitioner of torch 2.9 takes a value
    without it for a tuple."""
    for node in graph.nodes:
        if node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor):
            node.meta["tensor_meta"] = _extract_tensor_metadata(node.meta["val"])


def widen_again(graph):
    """Gives the backward pass its own casts from a low value to f32, so that the low value
    is kept for it and not the wide one. A cast has the same result wherever it runs."""
    for cast in [node for node in graph.nodes if is_cast(node) and not is_backward(node)]:
        if cast.args[0].meta["val"].dtype not in LOW:
            continue
        later = [user for user in cast.users if user.op == "call_function" and is_backward(user)]
        if not later:
            continue
        first = next(node for node in graph.nodes if node in later)
        copy = copy_before(graph, cast, first, {})
        for user in later:
            user.replace_input_with(cast, copy)


def copy_before(graph, node, place, copies):
    """Copies `node` into the pass of `place`, before it; operands in `copies` are replaced."""
    with graph.inserting_before(place):
        copy = graph.node_copy(node, lambda operand: copies.get(operand, operand))
    for key in ("partitioner_tag", "autograd_backward", "seq_nr"):
        copy.meta.pop(key, None)
        if key in place.meta:
            copy.meta[key] = place.meta[key]
    return copy



# Operations that compute each element from one element, at the cost of reading it.
ELEMENTWISE = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "sinh", "cosh", "tan",
    "tanh", "erf", "sigmoid", "softplus", "relu", "leaky_relu", "elu", "gelu", "silu", "mish", "hardtanh", "hardsigmoid",
    "hardswish", "neg", "abs", "add", "sub", "rsub", "mul", "div", "pow",
}
# Operations in a row that the backward pass computes again.
MAX_COMPUTED_AGAIN = 4


def find_low_origin(node):
    """The elementwise operations and the cast that compute the f32 value `node` from one low value, last first.
    Empty if other values are needed, or more than a few operations."""
    chain = []
    while len(node.all_input_nodes) == 1 and (node.target in IDENTITIES or packet_of(node) in ELEMENTWISE):
        chain.append(node)
        if sum(other.target not in IDENTITIES for other in chain) > MAX_COMPUTED_AGAIN:
            return []
        node = node.all_input_nodes[0]
        if is_cast(node):
            return [*chain, node] if node.args[0].meta["val"].dtype in LOW else []
    return []


def compute_again(graph):
    """Lets the backward pass compute f32 values again that a few elementwise operations compute from a low
    value, so that the low value is kept for it. The operations have the same results wherever they run."""
    for node in [node for node in graph.nodes if not is_backward(node)]:
        value = node.meta.get("val")
        later = [user for user in node.users if user.op == "call_function" and is_backward(user)]
        if not later or not isinstance(value, torch.Tensor) or value.dtype != torch.float32:
            continue
        if any(user.op == "output" for user in node.users):
            continue
        chain = find_low_origin(node)
        if not chain or value.numel() != chain[-1].meta["val"].numel():
            continue
        first = next(other for other in graph.nodes if other in later)
        copies = {}
        for original in reversed(chain):
            copies[original] = copy_before(graph, original, first, copies)
        for user in later:
            user.replace_input_with(node, copies[node])


def count_casts(graph):
    """The casts between float types in a graph."""
    return sum(is_cast(node) for node in graph.nodes)
