#===- fx_to_mlir.py - An FX graph as text for the precision passes -------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Prints a graph of ATen operations as generic MLIR of unregistered dialects.

The text has the information that the passes need to choose types: operations with their names,
tensors and numbers, and their locations. The graph stays the master; only
types and casts come back, through the attribute `fx` (fx_apply.py).
"""

import math
import re

import torch
from torch import fx

from .builder import DTYPES

# The attribute with the name of the node.
KEY = "fx"

ELEMENT_TYPES = {
    **DTYPES,
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "ui8",
    torch.complex64: "complex<f32>",
    torch.complex128: "complex<f64>",
}

# Operations that autograd puts between a kept value and its reader.
IDENTITIES = (torch.ops.aten.detach.default, torch.ops.aten.alias.default)

# Operations that put a number into elements.
NUMBERS = {"masked_fill", "where", "full", "full_like", "new_full", "fill", "scalar_tensor", "constant_pad_nd"}

# A value that is not a tensor of a type above. It has a place, but no precision.
OTHER = "none"


def element_type(value):
    """The element type of a tensor, or `none`."""
    if not isinstance(value, torch.Tensor):
        return OTHER
    return ELEMENT_TYPES.get(value.dtype, OTHER)


def print_type(value):
    element = element_type(value)
    if element == OTHER:
        return OTHER
    extents = "".join(f"{e}x" if isinstance(e, int) else "?x" for e in value.shape)
    return f"tensor<{extents}{element}>"


def quote(text):
    """`text` as a string of MLIR."""
    out = []
    for byte in text.encode():
        char = chr(byte)
        out.append(char if 32 <= byte < 127 and char not in '"\\' else f"\\{byte:02X}")
    return '"' + "".join(out) + '"'


NORMS = {"native_layer_norm", "native_layer_norm_backward", "native_group_norm", "native_group_norm_backward"}


def has_low_statistics(node):
    """Whether the statistics of a norm have the type of its input: without a weight, on the CPU."""
    if packet_of(node) not in NORMS:
        return False
    given = {argument.name: value for argument, value in zip(node.target._schema.arguments, node.args)}
    given.update(node.kwargs)
    values = flatten(given["input"].meta.get("val"))
    return given.get("weight") is None and values[0].device.type == "cpu"


def operation_name(target):
    """The name of an operator: `aten.mm` for the overload `default`, otherwise
    with the overload, `aten.add.Tensor`. Anything else is in the dialect `fx`."""
    if isinstance(target, torch._ops.OpOverload):
        base = target._schema.name.replace("::", ".")
        overload = target._overloadname
        return base if overload == "default" else f"{base}.{overload}"
    name = getattr(target, "__name__", None) or type(target).__name__
    return "fx." + re.sub(r"[^A-Za-z0-9_.$]", "_", name)


def flatten(value):
    """The results of a node: one, or those of its tuple or list."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


def is_getitem(node):
    return (
        node.op == "call_function"
        and getattr(node.target, "__name__", "") == "getitem"
        and isinstance(node.args[0], fx.Node)
        and isinstance(node.args[0].meta.get("val"), (tuple, list))
    )


def holds_tensor(node):
    return any(isinstance(v, torch.Tensor) for v in flatten(node.meta.get("val")))


def module_path(node):
    """Where a node comes from: the path of its module in the model. A node of the
    backward pass has that of the operation that it belongs to."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack") or {}
    if not stack:
        return ""
    path = list(stack.values())[-1]
    return clean_path(path[0] if isinstance(path, (tuple, list)) else str(path))


def clean_path(path):
    """The path of a module or a tensor in the model: L['self'].layers._modules['0'] and
    L['model'].layers[0] are layers.0."""
    path = re.sub(r"^[A-Z]\['[^']*'\]", "", path)
    path = re.sub(r"\._(modules|parameters|buffers|orig_mod)\b", "", path)
    path = re.sub(r"\[['\"]?([^\]'\"]*)['\"]?\]", r".\1", path)
    return re.sub(r"^\.|^self\.|^L__self___", "", path)


def print_location(node):
    """The path of the module, around the line of the source."""
    path = module_path(node)
    line = re.findall(r'File "([^"]*)", line (\d+)', node.meta.get("stack_trace") or "")
    source = f"{quote(line[-1][0])}:{line[-1][1]}:0" if line else ""
    if path:
        return f"loc({quote(path)}({source}))" if source else f"loc({quote(path)})"
    return f"loc({source})" if source else f"loc({quote(node.name)})"


class Operand:
    """A tensor that a node reads: the node and the result that it is, and its
    place in the arguments: ("args", 0) or ("kwargs", "x", 2) in a list."""

    def __init__(self, name, source, result, place):
        self.name, self.source, self.result, self.place = name, source, result, place


def resolve(node):
    """The node and the index of the result that `node` represents."""
    if is_getitem(node):
        return node.args[0], node.args[1]
    return node, 0


def find_operands(node):
    """The tensors that `node` reads, in order, with the names of the schema."""
    arguments = []
    if isinstance(node.target, torch._ops.OpOverload):
        names = [argument.name for argument in node.target._schema.arguments]
    else:
        names = []
    operands = []

    def add(name, value, place):
        if isinstance(value, fx.Node):
            if holds_tensor(value) and not isinstance(value.meta.get("val"), (tuple, list)):
                operands.append(Operand(name, *resolve(value), place))
        elif isinstance(value, (tuple, list)):
            for i, entry in enumerate(value):
                add(name, entry, (*place, i))

    for i, value in enumerate(node.args):
        arguments.append((names[i] if i < len(names) else str(i), value, ("args", i)))
    for name, value in node.kwargs.items():
        arguments.append((name, value, ("kwargs", name)))
    for name, value, place in arguments:
        add(name, value, place)
    return operands


def find_numbers(node):
    """The numbers that an operation combines with elements (`Scalar` in its
    schema), by name. Counts and rates such as `eps` are of other types."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return {}
    numbers = {}
    for i, argument in enumerate(node.target._schema.arguments):
        value = node.args[i] if i < len(node.args) else node.kwargs.get(argument.name)
        if "number" in str(argument.type).lower() or "scalar" in str(argument.type).lower():
            if isinstance(value, float):
                numbers[argument.name] = value
    return numbers


def packet_of(node):
    return node.target.overloadpacket.__name__ if isinstance(node.target, torch._ops.OpOverload) else ""


def puts_limit(node, value):
    """Whether `node` puts the largest or the lowest number of f32 into elements. Models take it from the
    type of their scores, torch.finfo(scores.dtype).min, so in a low type it is the limit of that type."""
    return packet_of(node) in NUMBERS and isinstance(value, float) and abs(value) == torch.finfo(torch.float32).max


def print_number(value):
    """A float as MLIR reads it, in f64."""
    import struct

    return "0x" + struct.pack(">d", value).hex().upper()


def is_backward(node):
    return node.meta.get("autograd_backward") or (
        node.meta.get("partitioner_tag") == "is_backward"
    )


def with_addends(values):
    """`values`, and those of the same shape that are added to give them. The gradient of a sum is also the
    gradient of its addends, and autograd computes nothing for it."""
    found, worklist = set(values), list(values)
    while worklist:
        value = worklist.pop()
        if value.target is not torch.ops.aten.add.Tensor or is_backward(value) or value.kwargs:
            continue
        for addend in value.all_input_nodes:
            same = getattr(addend.meta.get("val"), "shape", None) == value.meta["val"].shape
            if same and addend not in found:
                found.add(addend)
                worklist.append(addend)
    return found


class Printer:
    """Prints one graph. Afterwards `operands` has the operands of each printed node,
    and `arguments` the placeholders in order."""

    def __init__(self, graph, precisions=None, low=None):
        self.graph = graph
        # The low type of torch, or None.
        self.low = low
        # Pins by the name of the node: f32, low or keep.
        self.precisions = precisions or {}
        self.operands = {}
        self.arguments = []
        self.lines = []
        forward = [n.meta.get("seq_nr") for n in self.graph.nodes if not is_backward(n)]
        self.summed = {}
        self.forward_nodes = {}
        for node in self.graph.nodes:
            if node.op == "call_function" and not is_backward(node):
                self.forward_nodes.setdefault(node.meta.get("seq_nr"), []).append(node)
        self.last_number = max((n for n in forward if isinstance(n, int)), default=-1)

    def value(self, source, result):
        count = len(flatten(source.meta.get("val")))
        if source.op in ("placeholder", "get_attr") or not isinstance(
            source.meta.get("val"), (tuple, list)
        ):
            return f"%{source.name}"
        return f"%{source.name}#{result}" if count > 1 else f"%{source.name}"

    def type_of(self, source, result):
        return print_type(flatten(source.meta.get("val"))[result])

    def is_sum_of_gradients(self, node):
        """Whether autograd adds the gradients of two uses of a value here. Such a
        node belongs to no operation; it has the number of the last one."""
        return (
            node.target is torch.ops.aten.add.Tensor
            and is_backward(node)
            and node.meta.get("seq_nr") == self.last_number
            and not node.meta.get("fwd_nn_module_stack")
            and not node.meta.get("fwd_source_fn_stack")
        )

    def candidates(self, node):
        """The values whose gradient `node` may be: the operands of the operation that
        the node belongs to."""
        if is_getitem(node):
            node = node.args[0]
        if self.is_sum_of_gradients(node):
            value = self.find_summed(node)
            return {value} if value is not None else set()
        readers = self.forward_nodes.get(node.meta.get("seq_nr"), [])
        return {value for reader in readers for value in reader.all_input_nodes}

    def find_summed(self, node):
        """The value whose gradients autograd adds in `node`, if it is known."""
        if node not in self.summed:
            first, second = self.candidates(node.args[0]), self.candidates(node.args[1])
            both = first & second or (first & with_addends(second)) | (with_addends(first) & second)
            shape = node.meta["val"].shape
            both = [v for v in both if getattr(v.meta.get("val"), "shape", None) == shape]
            self.summed[node] = both[0] if len(both) == 1 else None
        return self.summed[node]

    def backward_number(self, node):
        """The number of the operation that a node of the backward pass belongs to, or None.
        Where the backward pass reads a value that the forward pass kept, such as the f32
        statistics of a norm, the value keeps its type.
        Autograd adds the gradients of a value in the type of the value, so a sum
        of them belongs to the operation that gave the value."""
        if node.target in IDENTITIES:
            return None
        if not self.is_sum_of_gradients(node):
            return node.meta.get("seq_nr")
        value = self.find_summed(node)
        return value.meta.get("seq_nr") if value is not None else None

    def attributes(self, node, operands):
        entries = [f"{KEY} = {quote(node.name)}"]
        names = ", ".join(quote(operand.name) for operand in operands)
        entries.append(f"operand_names = [{names}]")
        backward = is_backward(node)
        number = self.backward_number(node) if backward else node.meta.get("seq_nr")
        if isinstance(number, int) and number >= 0:
            entries.append(f"{'amp.backward_of' if backward else 'amp.id'} = {number} : i64")
        if node.name in self.precisions:
            entries.append(f"amp.precision = {quote(self.precisions[node.name])}")
        for name, value in find_numbers(node).items():
            if self.low and puts_limit(node, value):
                value = math.copysign(torch.finfo(self.low).max, value)
            entries.append(f"{name} = {print_number(value)} : f64")
        return "{" + ", ".join(entries) + "}"

    def print_node(self, node):
        operands = find_operands(node)
        results = flatten(node.meta.get("val"))
        if not operands and not holds_tensor(node):
            return
        self.operands[node] = operands
        count = len(results)
        result = f"%{node.name}" + (f":{count}" if count > 1 else "")
        name = operation_name(node.target) + (".no_weight" if has_low_statistics(node) else "")
        values = ", ".join(self.value(o.source, o.result) for o in operands)
        types = ", ".join(self.type_of(o.source, o.result) for o in operands)
        outs = [print_type(value) for value in results]
        left = f"{result} = " if count else ""
        self.lines.append(
            f"  {left}{quote(name)}({values}) "
            f"{self.attributes(node, operands)} : ({types}) -> ({', '.join(outs)}) "
            f"{print_location(node)}"
        )

    def print(self):
        """The text of a module with the graph as its only function."""
        signature = []
        for node in self.graph.nodes:
            if node.op in ("placeholder", "get_attr"):
                if holds_tensor(node):
                    self.arguments.append(node)
                    signature.append(f"%{node.name}: {self.type_of(node, 0)}")
            elif node.op == "call_function":
                if not is_getitem(node):
                    self.print_node(node)
            elif node.op == "output":
                operands = find_operands(node)
                self.operands[node] = operands
                values = ", ".join(self.value(o.source, o.result) for o in operands)
                types = ", ".join(self.type_of(o.source, o.result) for o in operands)
                results = types
                end = f'  "func.return"({values}) : ({types}) -> ()'
            else:
                raise ValueError(
                    f"the node '{node.name}' calls a module or a method; expected a graph of "
                    "ATen operations, as make_fx, torch.export or AOTAutograd give it"
                )
        head = f"func.func @graph({', '.join(signature)}) -> ({results}) {{"
        return "\n".join([head, *self.lines, end, "}", ""])
