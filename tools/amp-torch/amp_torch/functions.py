# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes of autograd.Function as operations of a graph. Export traces their forward passes
and drops their backward passes. This module makes each application one operation, which a step
calls."""

import contextlib
import dataclasses

import torch
from torch.utils import _pytree as pytree

from .calls import Operand


@dataclasses.dataclass
class Application:
    """A class with the arguments of one application, in which an Operand replaces each tensor.
    `places` are the positions of tensors in a tuple of `count` results. `count` is None if the
    result is not a tuple."""

    function: type
    forward: object
    arguments: list
    places: list = None
    count: int = None

    #: The names of operations have two parts.
    namespace = "autograd.Function"

    @property
    def _opname(self):
        return self.function.__name__

    def fill(self, tensors):
        return [tensors[item.index] if isinstance(item, Operand) else item for item in self.arguments]

    def describe(self, tensors):
        """Runs the original forward pass on fake tensors, and returns tensors like the results."""
        arguments = self.fill(tensors)
        if self.function.setup_context is torch.autograd.function._SingleLevelFunction.setup_context:
            context = torch.autograd.function.FunctionCtx()
            context.needs_input_grad = tuple(isinstance(item, torch.Tensor) for item in arguments)
            arguments = [context, *arguments]
        out = self.forward(*arguments)
        results = list(out) if isinstance(out, (tuple, list)) else [out]
        self.count = len(results) if isinstance(out, (tuple, list)) else None
        self.places = [place for place, result in enumerate(results) if isinstance(result, torch.Tensor)]
        return [torch.empty_like(results[place]) for place in self.places]

    def arrange(self, tensors):
        """Returns the results of the forward pass. `tensors` are the results that are tensors."""
        if self.count is None:
            return tensors[0]
        results = [None] * self.count
        for place, tensor in zip(self.places, tensors):
            results[place] = tensor
        return tuple(results)

    def __call__(self, tensors):
        out = self.function.apply(*self.fill(tensors))
        results = list(out) if isinstance(out, (tuple, list)) else [out]
        return [results[place] for place in self.places]


#: The applications in the captured graph, by the number in its operations.
APPLICATIONS = []


@torch.library.custom_op("amp_torch::function", mutates_args=(), schema="(Tensor[] tensors, int number) -> Tensor[]")
def apply(tensors, number):
    return [tensor.clone() for tensor in APPLICATIONS[number](tensors)]


@apply.register_fake
def _(tensors, number):
    return APPLICATIONS[number].describe(tensors)


def fix_number(item):
    """Returns the value of a symbolic number, and other items as they are."""
    for symbolic, number in ((torch.SymInt, int), (torch.SymFloat, float), (torch.SymBool, bool)):
        if isinstance(item, symbolic):
            return number(item)
    return item


def marked(function, forward):
    """Returns a forward pass that is one operation of the graph."""
    has_context = function.setup_context is torch.autograd.function._SingleLevelFunction.setup_context

    def mark(*arguments):
        arguments = list(arguments[1:] if has_context else arguments)
        tensors, placed = [], []
        for item in arguments:
            if isinstance(item, torch.Tensor):
                placed.append(Operand(len(tensors)))
                tensors.append(item)
            elif any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(item)):
                raise TypeError(f"autograd.Function {function.__name__} takes tensors in a list, through which PyTorch passes no "
                                "gradient; pass each as an argument")
            else:
                # A number that depends on the batch has its value in this graph only.
                placed.append(pytree.tree_map(fix_number, item))
        application = Application(function, forward, placed)
        APPLICATIONS.append(application)
        return application.arrange(apply(tensors, len(APPLICATIONS) - 1))

    return mark


@contextlib.contextmanager
def marked_functions(functions):
    """Makes applications of these classes operations of a graph while it is captured."""
    originals = [(function, function.__dict__.get("forward"), function.forward) for function in functions]
    APPLICATIONS.clear()
    for function, _, forward in originals:
        function.forward = staticmethod(marked(function, forward))
    try:
        yield
    finally:
        for function, own, _ in originals:
            if own is None:
                del function.forward
            else:
                function.forward = own


def application_of(node):
    """Returns the application for an operation of the graph, or None."""
    is_one = node.target is torch.ops.amp_torch.function.default
    return APPLICATIONS[node.args[1]] if is_one else None


__all__ = ["application_of", "marked_functions"]
