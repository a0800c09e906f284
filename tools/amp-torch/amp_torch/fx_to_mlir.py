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


NORMS = {
    "native_layer_norm", "native_layer_norm_backward", "native_group_norm", "native_group_norm_backward",
    "native_batch_norm", "native_batch_norm_backward", "_native_batch_norm_legit",
}  # fmt: skip


def has_low_statistics(node):
    """Whether the statistics of a norm have the type of its input: without a weight, on the CPU."""
    if packet_of(node) not in NORMS:
        return False
    given = {argument.name: value for argument, value in zip(node.target._schema.arguments, node.args)}
    given.update(node.kwargs)
    values = flatten(given["input"].meta.get("val"))
    has_parameters = any(given.get(name) is not None for name in ("weight", "running_mean"))
    return not has_parameters and values[0].device.type == "cpu"


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


def source_of(node):
    """The call in the model's source that a node is a part of, or None."""
    stack = node.meta.get("source_fn_stack")
    return stack[-1] if stack else None


def puts_limit(node, value):
    """Whether `node` puts the largest or the lowest number of f32 into elements. Models take it from the
    type of their scores, torch.finfo(scores.dtype).min, so in a low type it is the limit of that type."""
    return packet_of(node) in NUMBERS and isinstance(value, float) and abs(value) == torch.finfo(torch.float32).max


def vanishes(value, low):
    """Whether `value` is zero in the type `low`, but not in f32."""
    return value != 0 and torch.tensor(value, dtype=low).item() == 0


def print_number(value):
    """A float as MLIR reads it, in f64."""
    import struct

    return "0x" + struct.pack(">d", value).hex().upper()


def is_backward(node):
    return node.meta.get("autograd_backward") or (
        node.meta.get("partitioner_tag") == "is_backward"
    )


# Operations that add something to their first operand.
ADDITIONS = {
    torch.ops.aten.add.Tensor, torch.ops.aten.sub.Tensor, torch.ops.aten.add.Scalar, torch.ops.aten.sub.Scalar,
    torch.ops.aten.addcmul.default, torch.ops.aten.addcdiv.default,
}  # fmt: skip


# The metadata of a mark that rounds the result of a change in place, and of an operation whose type depends on its operands
# alone. In the text, such an operation has no number that connects it to the other pass.
IN_PLACE, FOLLOWS = "amp_in_place", "amp_follows"


def find_addends(value):
    """The operands of the sum or difference `value` that get its gradient without a further operation."""
    if IN_PLACE in value.meta:
        value = value.args[0]
    if value.target not in ADDITIONS or is_backward(value):
        return []
    is_sum = value.target is torch.ops.aten.add.Tensor and not value.kwargs
    return value.all_input_nodes if is_sum else value.all_input_nodes[:1]


def with_addends(values):
    """`values`, and those of the same shape that are added to give them. The gradient of a sum is also the
    gradient of its addends, and autograd computes nothing for it."""
    found, worklist = set(values), list(values)
    while worklist:
        value = worklist.pop()
        for addend in find_addends(value):
            same = getattr(addend.meta.get("val"), "shape", None) == value.meta["val"].shape
            if same and addend not in found:
                found.add(addend)
                worklist.append(addend)
    return found


def find_concatenated(gradient, readers):
    """The value whose gradient is a slice of the gradient of a concatenation, or None."""
    if gradient.target is not torch.ops.aten.slice.Tensor or len(readers) != 1 or readers[0].target is not torch.ops.aten.cat.default:
        return None
    dim, start = (*gradient.args[1:], 0, 0)[:2]
    place = 0
    for value in readers[0].args[0]:
        if not isinstance(place, int) or not isinstance(start, int):
            return None
        if place == start:
            return value
        place += value.meta["val"].shape[dim]
    return None


class Printer:
    """Prints one graph. Afterwards `operands` has the operands of each printed node,
    and `arguments` the placeholders in order."""

    def __init__(self, graph, precisions=None, low=None, drop_vanishing=False):
        self.graph = graph
        # The low type of torch, or None.
        self.low = low
        # Whether to leave out numbers that are zero in the low type, which keep operations f32.
        self.drop_vanishing = drop_vanishing
        # Pins by the name of the node: f32, low or keep.
        self.precisions = precisions or {}
        self.operands = {}
        self.arguments = []
        self.lines = []
        forward = [n.meta.get("seq_nr") for n in self.graph.nodes if not is_backward(n)]
        self.summed = {}
        # The operations of each pass by their number, and the numbers that forward_number found.
        self.forward_nodes, self.backward_nodes, self.changes = {}, {}, {}
        for node in self.graph.nodes:
            if node.op == "call_function":
                nodes = self.backward_nodes if is_backward(node) else self.forward_nodes
                nodes.setdefault(node.meta.get("seq_nr"), []).append(node)
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
        node belongs to no operation; it has the number of the last one, or the next number."""
        return (
            node.target is torch.ops.aten.add.Tensor
            and is_backward(node)
            and (node.meta.get("seq_nr") or 0) >= self.last_number
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
        readers = self.forward_nodes.get(self.forward_number(node.meta.get("seq_nr")), [])
        part = find_concatenated(node, readers)
        return {part} if part is not None else {value for reader in readers for value in reader.all_input_nodes}

    def find_summed(self, node):
        """The value whose gradients autograd adds in `node`, if it is known."""
        if node not in self.summed:
            first, second = self.candidates(node.args[0]), self.candidates(node.args[1])
            first_and, second_and = with_addends(first), with_addends(second)
            both = first & second or (first & second_and) | (first_and & second) or first_and & second_and
            shape = node.meta["val"].shape
            both = [v for v in both if getattr(v.meta.get("val"), "shape", None) == shape]
            if len(both) != 1:
                both = [v for v in self.find_produced(node) if not both or v in both]
            self.summed[node] = both[0] if len(both) == 1 else None
        return self.summed[node]

    def find_produced(self, node):
        """The values of the shape of `node`, a sum of gradients, that come from the operations whose backward pass
        reads it. The gradient of a sum goes to the operations of its addends, so addends do not count."""
        readers, worklist = set(), [node]
        while worklist:
            for user in worklist.pop().users:
                if self.is_sum_of_gradients(user):
                    worklist.append(user)
                elif is_backward(user):
                    readers.add(self.forward_number(user.meta.get("seq_nr")))
        values = [value for number in readers for value in self.forward_nodes.get(number, [])]
        values = [v for v in values if not any(v in find_addends(user) for user in v.users)]
        return [v for v in values if getattr(v.meta.get("val"), "shape", None) == node.meta["val"].shape]

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

    def forward_number(self, number):
        """The number of a forward operation for that of a backward one. They differ if the model changes a value in
        place: the copy of the value has the number, and the operation the next one. A write to a part of a value has
        two numbers, and its operations have the first."""
        if number in self.forward_nodes or not isinstance(number, int):
            return number
        if number not in self.changes:
            others = [n for n in self.forward_nodes if isinstance(n, int)]
            after = min((n for n in others if n > number), default=number)
            values = {value for node in self.forward_nodes.get(after, []) for value in (node, *node.all_input_nodes)}
            read = {value for node in self.backward_nodes.get(number, []) for value in node.all_input_nodes}
            before = max((n for n in others if n < number), default=number)
            self.changes[number] = after if values & read else before
        return self.changes[number]

    def attributes(self, node, operands):
        entries = [f"{KEY} = {quote(node.name)}"]
        names = ", ".join(quote(operand.name) for operand in operands)
        entries.append(f"operand_names = [{names}]")
        backward = is_backward(node)
        number = self.forward_number(self.backward_number(node)) if backward else node.meta.get("seq_nr")
        if isinstance(number, int) and number >= 0 and FOLLOWS not in node.meta:
            entries.append(f"{'amp.backward_of' if backward else 'amp.id'} = {number} : i64")
        if node.name in self.precisions:
            entries.append(f"amp.precision = {quote(self.precisions[node.name])}")
        for name, value in find_numbers(node).items():
            if self.low and puts_limit(node, value):
                value = math.copysign(torch.finfo(self.low).max, value)
            if self.drop_vanishing and self.low and vanishes(value, self.low):
                continue
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
