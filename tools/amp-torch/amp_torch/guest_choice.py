#===- guest_choice.py - The bound of the strategy optimal ----------------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Bounds the casts and the saved bytes of `optimal` by those of `autocast`.

Denied operations, kept promotions and casts that several readers share can make an assignment of `optimal` need more
than autocast does. The guest then assigns types as autocast does."""

import dataclasses

import torch
from torch import fx


@dataclasses.dataclass
class Assignment:
    """A graph with assigned types, and what it costs."""

    name: str
    graph: fx.Graph
    report: object
    saved: int

    @property
    def casts(self):
        return self.report.casts

    def is_within(self, other):
        return self.casts <= other.casts and self.saved <= other.saved

    def describe(self):
        return f"{self.name} ({self.casts} casts, {self.saved} saved bytes)"


def as_number(extent):
    """An extent, or the one of the example if it is open; 0 if that is unknown."""
    if isinstance(extent, int):
        return extent
    hint = getattr(extent.node, "hint", None)
    return hint if isinstance(hint, int) else 0


def count_saved(forward, num_outputs):
    """The bytes of values that a forward graph keeps for the backward pass, without its arguments."""
    output = next(node for node in forward.graph.nodes if node.op == "output")
    nodes = [node for node in output.args[0][num_outputs:] if isinstance(node, fx.Node) and node.op != "placeholder"]
    values = [node.meta["val"] for node in dict.fromkeys(nodes)]
    return sum(as_number(v.numel()) * v.element_size() for v in values if isinstance(v, torch.Tensor))


def measure_saved(graph, root, copy_graph):
    """The bytes that torch's default partitioner keeps of a joint graph, 0 of another graph. `root` is the module with the
    constants of the graph."""
    from functorch.compile import default_partition

    names = [node.name for node in graph.nodes if node.op == "placeholder"]
    if not any(name.startswith("tangents") for name in names):
        return 0
    # The last results of a joint graph are the gradients, one for each argument of the forward pass.
    output = next(node for node in graph.nodes if node.op == "output")
    num_outputs = len(output.args[0]) - sum(name.startswith("primals") for name in names)
    forward, _ = default_partition(fx.GraphModule(root, copy_graph(graph)), [], num_fwd_outputs=num_outputs)
    return count_saved(forward, num_outputs)


def is_bounded(options, device, policies):
    """Whether autocast bounds the assignment. A policy of the user decides alone, and autocast has lists for some devices."""
    is_optimal = options.policy is None and options.effective_strategy() == "optimal"
    return is_optimal and options.low_type() is not None and (policies / f"aten-autocast-{device}.yaml").exists()


def choose(graph, options, assign, copy_graph):
    """Returns the graph and the report of the assignment of `options`, or of autocast's if the former needs more.
    `assign` makes an assignment from options."""
    root = graph.owning_module if graph.owning_module is not None else torch.nn.Module()

    def make(name, settings):
        result, report = assign(graph, settings)
        return Assignment(name, result, report, measure_saved(result, root, copy_graph))

    own = make("optimal", options)
    as_autocast = dataclasses.replace(options, strategy="autocast", report=None)
    bound = make("autocast", as_autocast)
    taken, reason = own, f"{bound.describe()} needs no less"
    if not own.is_within(bound):
        taken, reason = bound, f"{own.describe()} needs more"
        if options.report:
            assign(graph, dataclasses.replace(as_autocast, report=options.report))
    taken.report.choice = f"took {taken.describe()}: {reason}"
    return taken.graph, taken.report
