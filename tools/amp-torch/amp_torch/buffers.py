# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a graph does with the buffers that it writes."""

import torch

ADDITIONS = ("aten.add.Tensor", "aten.add.Scalar", "aten.add_.Tensor", "aten.add_.Scalar")


def written_values(program):
    """The node of the new value of each buffer that the functional graph writes, by path."""
    written = program.graph_signature.buffers_to_mutate
    nodes = {node.name: node for node in program.graph.nodes}
    return {path: nodes[name] for name, path in written.items()}


def is_counter(program, placeholder, result):
    """Whether the graph only adds constants to a buffer: `result` is its new value, and
    nothing else depends on the old one. Such a count needs no state of the step."""
    if placeholder.meta["val"].dim():
        return False
    node = result
    while node is not placeholder:
        if str(node.target) not in ADDITIONS or not isinstance(node.args[0], torch.fx.Node):
            return False
        if not all(reads_constants(program, argument) for argument in node.args[1:2]) or node.kwargs:
            return False
        users = set(node.users) - {output_of(program)}
        if len(users) > (node is not result) or node.name in program.graph_signature.user_outputs:
            return False
        node = node.args[0]
    return len(set(placeholder.users) - {output_of(program)}) <= 1


def reads_constants(program, argument):
    """Whether an operand is a number or a constant of the graph."""
    if not isinstance(argument, torch.fx.Node):
        return True
    if argument.op == "placeholder":
        return argument.name in program.graph_signature.inputs_to_lifted_tensor_constants
    return argument.op == "call_function" and bool(argument.args) and all(
        reads_constants(program, item) for item in argument.args)


def output_of(program):
    return next(node for node in reversed(program.graph.nodes) if node.op == "output")
