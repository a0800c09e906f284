# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of a graph that a compiled step calls as one operation. They contain the operations on
complex numbers, which the dialect does not support."""

import operator

import torch
from torch.utils import _pytree as pytree

#: The types of complex numbers.
COMPLEX = (torch.complex64, torch.complex128)


class Region:
    """A function that runs several operations of a graph on the values that they read."""

    namespace = "amp_torch"

    def __init__(self, graph, names):
        self.module = torch.fx.GraphModule({}, graph)
        self._opname = " and ".join(names)
        self.__name__ = "region"

    def __call__(self, *operands):
        return self.module(*operands)

    def __str__(self):
        return "a region of complex numbers"


def is_complex(node):
    """Whether a node returns complex numbers."""
    values = pytree.tree_leaves(node.meta.get("val"))
    return any(isinstance(value, torch.Tensor) and value.dtype in COMPLEX for value in values)


def touches_complex(node):
    return is_complex(node) or any(map(is_complex, node.all_input_nodes))


def groups_of(graph, varying):
    """Groups the operations on complex numbers that depend on data. Operations in a group are
    connected by complex values. Returns the group of each operation."""
    group = {}
    for node in graph.nodes:
        if node.op != "call_function" or node not in varying or not touches_complex(node):
            continue
        group[node] = {node}
        for source in node.all_input_nodes:
            if source in group and is_complex(source):
                merge(group, group[node], group[source])
    return group


def merge(group, first, second):
    if first is not second:
        first |= second
        for node in second:
            group[node] = first


def close(graph, group):
    """Adds the operations between operations of a group, so that no value leaves the group and
    returns to it."""
    changed = True
    while changed:
        changed = False
        for members in {id(members): members for members in group.values()}.values():
            after, before = set(members), set(members)
            for node in graph.nodes:
                if any(source in after for source in node.all_input_nodes):
                    after.add(node)
            for node in reversed(graph.nodes):
                if node in before:
                    before.update(node.all_input_nodes)
            for node in (after & before) - members:
                merge(group, members, group.setdefault(node, {node}))
                changed = True
            if changed:
                break


def replace(graph, members):
    """Replaces the operations of a group by one call."""
    inner, copies, outside = torch.fx.Graph(), {}, []
    ordered = [node for node in graph.nodes if node in members]
    for node in ordered:
        for source in node.all_input_nodes:
            if source not in members and source not in copies:
                copies[source] = inner.placeholder(f"operand{len(outside)}")
                outside.append(source)
    for node in ordered:
        copies[node] = inner.node_copy(node, lambda source: copies[source])
    results = [node for node in ordered if any(user not in members for user in node.users)]
    inner.output(tuple(copies[node] for node in results))
    names = dict.fromkeys(str(node.meta.get("original_aten") or node.target) for node in ordered if is_complex(node))
    with graph.inserting_before(graph.output_node()):
        call = graph.call_function(Region(inner, list(names)[:3]), tuple(outside))
        call.meta = {**ordered[0].meta, "val": [node.meta["val"] for node in results]}
        for number, node in enumerate(results):
            part = graph.call_function(operator.getitem, (call, number))
            part.meta = dict(node.meta)
            node.replace_all_uses_with(part, lambda user: user not in members)
    for node in reversed(ordered):
        graph.erase_node(node)


def sort(graph):
    """Moves each node after the nodes that it reads."""
    placed, last = set(), graph.output_node()
    for start in list(graph.nodes):
        waiting = [start]
        while waiting:
            node = waiting[-1]
            missing = [source for source in node.all_input_nodes if source not in placed]
            waiting += missing
            if not missing:
                waiting.pop()
                if node not in placed and node is not last:
                    last.prepend(node)
                placed.add(node)


def cut_complex_regions(graph, varying):
    """Replaces operations on complex numbers that depend on the nodes `varying` by calls."""
    group = groups_of(graph, varying)
    if not group:
        return
    close(graph, group)
    for members in {id(members): members for members in group.values()}.values():
        replace(graph, members)
    sort(graph)


__all__ = ["Region", "cut_complex_regions", "touches_complex"]
