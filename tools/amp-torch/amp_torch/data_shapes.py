# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the operations of a model whose results have a shape that depends on data."""

import contextlib

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode

#: Operations whose results have a number of elements that the data decide.
SELECTIONS = ("nonzero", "masked_select", "unique", "_unique", "argwhere")
ADVICE = ("the number of rows that it chooses depends on data; keep all rows, and give those that do not count a label "
          "that the loss ignores (ignore_index) or a weight of 0 in the loss, or choose values with torch.where of three operands")


def is_mask(value):
    return isinstance(value, torch.Tensor) and value.dtype in (torch.bool, torch.uint8)


def selects(function, args):
    """Whether an operation of ATen chooses elements by data."""
    name = str(function).removeprefix("aten.")
    if name.startswith("index.Tensor"):
        return any(map(is_mask, args[1]))
    return name.startswith(SELECTIONS)


class Selections(TorchDispatchMode):
    """Records the operations that choose elements by data, with the module that calls them."""

    def __init__(self):
        super().__init__()
        self.modules, self.found = [], []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if selects(function, args):
            self.found.append((self.modules[-1] if self.modules else None, str(function)))
        return function(*args, **(kwargs or {}))


@contextlib.contextmanager
def recorded_selections():
    """Collects the operations that choose elements by data while a model runs, as pairs of a module and a name."""
    mode = Selections()
    hooks = [register_module_forward_pre_hook(lambda module, inputs: mode.modules.append(module)),
             register_module_forward_hook(lambda module, inputs, output: mode.modules.pop() and None)]  # fmt: skip
    try:
        with mode:
            yield mode.found
    finally:
        for hook in hooks:
            hook.remove()


def selections_of(whole, run):
    """The problems of operations that choose elements by data in one call of `run`. `whole` has the modules."""
    paths = {id(module): path.removeprefix("model").lstrip(".") for path, module in whole.named_modules()}
    with recorded_selections() as found:
        run()
    return [(paths.get(id(module), ""), name, ADVICE) for module, name in found]
