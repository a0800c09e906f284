#===- guest_units.py - Functions of torch that convert operands ----------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Marks the functions of torch that convert their operands, before AOTAutograd takes them apart.

Under torch.autocast, some functions convert operands to f32: those that autocast runs in f32, `rms_norm`, and `float`.
`type_as` converts to the type of another value. A trace in f32 has no conversions. Two operations mark their places:
`widen` gives its operand in f32, and `round_as` gives a value in the type of another one. Autograd differentiates both,
so gradients are rounded and added where autocast does so. The passes choose the type of the operand of a mark, and
`resolve` replaces the mark by a cast or by its operand.

A change in place keeps the type of the changed value. The trace has an ordinary operation in its place, which would promote
its operands. `mark_changes` finds these by the call in the source, and rounds their results."""

import torch
from torch import fx

from .fx_apply import CAST, MOVES, is_cast
from .fx_to_mlir import FOLLOWS, IDENTITIES, IN_PLACE, Printer, is_backward, packet_of, source_of


@torch.library.custom_op("amp_torch::widen", mutates_args=())
def widen(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.float32, copy=True)


@torch.library.custom_op("amp_torch::round_as", mutates_args=())
def round_as(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return x.to(like.dtype, copy=True)


widen.register_fake(lambda x: torch.empty_like(x, dtype=torch.float32))
round_as.register_fake(lambda x, like: torch.empty_like(x, dtype=like.dtype))
widen.register_autograd(
    lambda ctx, gradient: round_as(gradient, *ctx.saved_tensors),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)
round_as.register_autograd(lambda ctx, gradient: (widen(gradient), None))

WIDEN, ROUND_AS = torch.ops.amp_torch.widen.default, torch.ops.amp_torch.round_as.default
MARKS = (WIDEN, ROUND_AS)

# Functions that torch.autocast runs in f32 as a whole on each kind of device,
# although a graph shows their parts. Names without underscores in lower case,
# since modules and functions spell them differently.
F32_FUNCTIONS = {
    "cpu": {"crossentropy", "crossentropyloss", "l1loss", "kldiv", "kldivloss",
            "binarycrossentropywithlogits", "bcewithlogitsloss", "bceloss", "binarycrossentropy",
            "cosineembeddingloss", "hingeembeddingloss", "marginrankingloss", "poissonnllloss",
            "softmarginloss", "tripletmarginloss", "nllloss", "mseloss", "smoothl1loss",
            "huberloss", "multimarginloss", "multilabelmarginloss", "ctcloss", "gridsample", "cdist", "prod",
            "trace", "stft", "adaptiveavgpool3d", "avgpool3d", "quantile", "nanquantile", "pinverse"},
    "cuda": {"l1loss", "kldiv", "kldivloss", "binarycrossentropywithlogits",
             "bcewithlogitsloss", "cosineembeddingloss", "hingeembeddingloss",
             "marginrankingloss", "poissonnllloss", "softmarginloss", "tripletmarginloss",
             "nllloss", "mseloss", "smoothl1loss", "cosinesimilarity", "groupnorm",
             "layernorm", "rmsnorm", "softmax", "logsoftmax", "cumsum", "cumprod", "dist",
             "renorm", "logsumexp", "softplus"},
}  # fmt: skip
# Functions that compute in f32 and round their result to the type of the first operand.
ROUNDING_FUNCTIONS = {"cpu": {"rmsnorm"}, "cuda": set()}


def plain_name(function):
    """The name of a function or a module as the sets above spell it."""
    name = function if isinstance(function, str) else getattr(function, "__name__", "")
    return name.replace("_", "").lower()


def is_f32(node):
    """Whether a node of Dynamo's graph is a tensor that a trace has in f32 and autocast perhaps in the low type.
    Arguments of the whole graph are f32."""
    value = node.meta.get("example_value") if isinstance(node, fx.Node) else None
    is_argument = not isinstance(node, fx.Node) or node.op == "get_attr" or node.op == "placeholder" and not node.meta.get("amp_inner")
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32 and not is_argument


def add_mark(graph, target, operands, origin):
    """Adds a mark. `origin` is the node whose place in the source it has."""
    mark = graph.call_function(target, operands)
    mark.meta = {key: origin.meta[key] for key in ("stack_trace", "nn_module_stack") if key in origin.meta}
    mark.meta["example_value"] = operands[0].meta["example_value"]
    return mark


def widen_operands(graph, node):
    """Lets a function read its operands in f32. Each occurrence is a conversion of its own."""
    with graph.inserting_before(node):
        node.args, node.kwargs = fx.map_arg(
            (node.args, node.kwargs),
            lambda operand: add_mark(graph, WIDEN, (operand,), node) if is_f32(operand) else operand,
        )


def replace_by_mark(graph, node, target, operands):
    with graph.inserting_before(node):
        mark = add_mark(graph, target, operands, node)
    node.replace_all_uses_with(mark)
    graph.erase_node(node)


def mark_node(graph, node, device):
    name = plain_name(node.target)
    operands = [operand for operand in node.args if is_f32(operand)]
    first = node.args[0] if node.args else None
    if name in F32_FUNCTIONS.get(device, ()):
        widen_operands(graph, node)
    elif name in ROUNDING_FUNCTIONS.get(device, ()) and is_f32(first):
        widen_operands(graph, node)
        with graph.inserting_after(node):
            mark = add_mark(graph, ROUND_AS, (node, first), node)
        node.replace_all_uses_with(mark, delete_user_cb=lambda user: user is not mark)
    elif node.op == "call_method" and name == "float" and is_f32(first):
        replace_by_mark(graph, node, WIDEN, (first,))
    elif node.op == "call_method" and name in ("typeas", "to") and len(node.args) == 2 and is_f32(first) and not node.kwargs:
        if isinstance(node.args[1], fx.Node) and isinstance(node.args[1].meta.get("example_value"), torch.Tensor):
            like = node.args[1]
            if like.meta["example_value"].dtype == torch.float32 and like.meta["example_value"].device == first.meta["example_value"].device:
                replace_by_mark(graph, node, ROUND_AS, (first, like))


# Functions of Python that change their first operand, and other names of functions of torch.
OTHER_NAMES = {
    "iadd": "add", "isub": "sub", "imul": "mul", "itruediv": "div", "ifloordiv": "floor_divide", "imod": "remainder", "ipow": "pow",
    "subtract_": "sub", "multiply_": "mul", "divide_": "div", "true_divide_": "div", "clip_": "clamp", "arctan2_": "atan2",
}  # fmt: skip
# Functions of several values whose backward pass has parts that read no gradient. Autocast has no rule for them.
PROMOTING = {"atan2", "hypot", "addcdiv", "addcmul", "xlogy", "logaddexp", "logaddexp2", "remainder", "fmod"}
# Operations that choose between values of several types.
CHOICES = {"where", "masked_fill"}


def changes_in_place(node):
    """Whether an operation of the forward pass computes what a call of the model writes over its first operand."""
    source = source_of(node)
    if source is None or is_backward(node):
        return False
    call = source[1]
    name = call if isinstance(call, str) else getattr(call, "__name__", "")
    plain = OTHER_NAMES.get(name) or (name[:-1] if name.endswith("_") and not name.endswith("__") else "")
    return bool(plain) and packet_of(node) == plain


def mark_changes(graph):
    """Rounds the results of changes in place, and the gradients of these, to the type of the changed value."""
    marks, addends = {}, {}
    for node in list(graph.nodes):
        if node.op != "call_function" or not changes_in_place(node) or len(node.all_input_nodes) < 2:
            continue
        values = [value.meta.get("val") if isinstance(value, fx.Node) else None for value in (node, node.args[0])]
        if any(not isinstance(value, torch.Tensor) or value.dtype != torch.float32 for value in values):
            continue
        with graph.inserting_after(node):
            mark = graph.call_function(ROUND_AS, (node, node.args[0]))
        mark.meta = {**node.meta, IN_PLACE: True}
        node.replace_all_uses_with(mark, delete_user_cb=lambda user: user is not mark)
        # Backward operations that only move elements have the type of the changed value.
        node.meta[FOLLOWS] = True
        marks[node.meta.get("seq_nr")] = mark
        # Autograd computes nothing for an addend, so its operation reads the gradient of the sum.
        value = node.args[1] if packet_of(node) in ("add", "sub") else None
        if isinstance(value, fx.Node) and sum(not is_backward(user) for user in value.users) == 1:
            addends[value.meta.get("seq_nr")] = mark
    follow_operands(graph, marks, addends)


def read_as(graph, node, operands, like):
    """Lets `node` read `operands` in the type of the value `like`."""
    for operand in operands:
        with graph.inserting_before(node):
            mark = graph.call_function(ROUND_AS, (operand, like))
        mark.meta = {**node.meta, "val": operand.meta["val"], FOLLOWS: True}
        node.replace_input_with(operand, mark)


def follow_operands(graph, marks, addends):
    """Finds operations of the backward pass that have the type of their operands, and not the type of the forward operation:
    those of changes in place, which read a gradient of the type of the changed value, and parts of other functions that read
    no gradient."""
    printer = Printer(graph)
    for node in [node for node in graph.nodes if node.op == "call_function" and is_backward(node)]:
        if packet_of(node) in (MOVES - CHOICES) | {"new_empty_strided"} or printer.is_sum_of_gradients(node):
            continue
        number = printer.forward_number(node.meta.get("seq_nr"))
        gradients = [value for value in node.all_input_nodes if is_gradient(value, node)]
        if not isinstance(number, int):
            continue
        if number in marks:
            node.meta[FOLLOWS] = True
            read_as(graph, node, gradients, marks[number])
            power = marks[number].args[0]
            if packet_of(node) == "log" and packet_of(power) == "pow":
                # The gradient of an exponent has the logarithm of the base in the promoted type.
                read_as(graph, node, node.all_input_nodes, power)
        elif number in addends:
            own = node.meta.get("seq_nr")
            read_as(graph, node, [value for value in gradients if value.meta.get("seq_nr") != own], addends[number])
        elif not gradients and any(packet_of(reader) in PROMOTING for reader in printer.forward_nodes.get(number, [])):
            node.meta[FOLLOWS] = True


def is_gradient(value, reader):
    """Whether `value`, an operand of an operation of the backward pass, is a gradient that the operation gets."""
    if not is_backward(value):
        return value.op == "placeholder" and value.name.startswith("tangents")
    is_part = FOLLOWS in value.meta and value.meta.get("seq_nr") == reader.meta.get("seq_nr")
    return value.target not in IDENTITIES and not is_part


def find_leaves(graph):
    """The names that AOTAutograd gives the arguments of a graph of Dynamo with a gradient of their own."""
    values = [node.meta.get("example_value") for node in graph.nodes if node.op == "placeholder"]
    return {
        f"primals_{number}"
        for number, value in enumerate(values, 1)
        if isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad
    }


def set_leaves(graph, names):
    for node in graph.nodes:
        if node.op == "placeholder" and node.name in names:
            node.meta["amp_leaf"] = True


def is_leaf(node):
    return node.op == "placeholder" and "amp_leaf" in node.meta


def mark(graph_module):
    """Puts marks into a graph of Dynamo. Returns the names of the parameters."""
    # Checkpoints have graphs of their own.
    modules = [module for module in graph_module.modules() if isinstance(module, fx.GraphModule)]
    values = [node.meta.get("example_value") for module in modules for node in module.graph.nodes]
    kinds = {value.device.type for value in values if isinstance(value, torch.Tensor)}
    device = next((kind for kind in sorted(kinds) if kind != "cpu"), "cpu")
    for module in modules:
        for node in list(module.graph.nodes):
            if node.op == "placeholder":
                node.meta["amp_inner"] = module is not graph_module
            elif node.op in ("call_function", "call_method"):
                mark_node(module.graph, node, device)
        module.recompile()
    return find_leaves(graph_module.graph)


def list_parts(printer, total):
    """The gradients that autograd adds in `total`, in order."""
    if not printer.is_sum_of_gradients(total) or len(total.users) != 1:
        return [total]
    return [*list_parts(printer, total.args[0]), total.args[1]]


def add_in_order(graph, user, gradient):
    """Lets `user`, a sum of gradients, add the parts of `gradient` one by one. Autograd does so for gradients of one
    value without a conversion in between."""
    value = user.args[0]
    for part in list_parts(Printer(graph), gradient):
        with graph.inserting_before(user):
            value_of_sum = graph.node_copy(user)
        value_of_sum.args = (value, part)
        value = value_of_sum
    user.replace_all_uses_with(value)
    graph.erase_node(user)


def find_nested_sum(graph, mark, source):
    """The sum of gradients that has the sum `source` as its second operand without the mark, or None."""
    printer = Printer(graph)
    users = list(mark.users)
    if len(users) != 1 or len(source.users) != 1 or not printer.is_sum_of_gradients(source):
        return None
    return users[0] if printer.is_sum_of_gradients(users[0]) and users[0].args[1] is mark else None


def resolve(graph):
    """Replaces marks by casts, or by their operands if these have the type already."""
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target not in MARKS:
            continue
        source, dtype = node.args[0], node.meta["val"].dtype
        if is_cast(source) and source.args[0].meta["val"].dtype == dtype and node.target is ROUND_AS:
            source = source.args[0]
        if source.meta["val"].dtype != dtype:
            with graph.inserting_before(node):
                cast = graph.call_function(CAST, (source,), {"dtype": dtype})
            cast.meta = dict(node.meta)
            node.replace_all_uses_with(cast)
        else:
            total = find_nested_sum(graph, node, source) if is_backward(node) else None
            node.replace_all_uses_with(source)
            if total is not None:
                add_in_order(graph, total, source)
        operand = node.args[0]
        graph.erase_node(node)
        if is_cast(operand) and not operand.users:
            graph.erase_node(operand)
