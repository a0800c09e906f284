#===- guest_kernels.py - Operations without a kernel for a low type ------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Finds operations that torch has no kernel for in their new types. Fake tensors do not tell: torch fails when the
operation runs. So each operation runs once on zeros."""

import math

import torch
from torch import fx

from .fx_apply import LOW
from .fx_to_mlir import flatten
from .guest_choice import as_number

# An operation on larger operands does not run, so that compilation stays fast.
MAX_ELEMENTS = 1 << 20
# By operation and the types and devices of its operands: the message of torch, or an empty text.
known = {}


def make_concrete(value):
    """Zeros for a fake tensor, with the extents of the example where they are open, and the number for an open extent."""
    if isinstance(value, torch.SymInt):
        return as_number(value)
    if not isinstance(value, torch.Tensor):
        return value
    shape, strides = ([as_number(number) for number in numbers] for numbers in (value.shape, value.stride()))
    # Expanded tensors have strides of 0, and operations in place refuse these.
    size = 0 if 0 in shape else 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides))
    return torch.zeros(size, dtype=value.dtype, device=value.device).as_strided(shape, strides)


def is_small(values):
    """Whether tensors have few elements, and no number is open other than extents."""
    if any(isinstance(value, (torch.SymFloat, torch.SymBool)) for value in values):
        return False
    return sum(math.prod(map(as_number, v.shape)) for v in values if isinstance(v, torch.Tensor)) <= MAX_ELEMENTS


def has_low(values):
    return any(isinstance(value, torch.Tensor) and value.dtype in LOW for value in values)


def describe(value):
    """What the choice of a kernel depends on."""
    if isinstance(value, torch.Tensor):
        return value.dtype, value.device.type
    return value if isinstance(value, torch.dtype) else None


def find_reason(node):
    """The message of torch if it has no kernel for `node`, else an empty text."""
    args, kwargs = fx.map_arg((node.args, node.kwargs), lambda operand: operand.meta.get("val"))
    values = torch.utils._pytree.tree_leaves((args, kwargs))
    if not has_low([*values, *flatten(node.meta.get("val"))]) or not is_small(values):
        return ""
    key = (node.target, *map(describe, values))
    if key not in known:
        known[key] = ""
        args, kwargs = torch.utils._pytree.tree_map(make_concrete, (args, kwargs))
        try:
            node.target(*args, **kwargs)
        except Exception as error:
            # Zeros may be wrong operands for other reasons.
            if "not implemented for" in str(error):
                known[key] = str(error).split("\n")[0]
    return known[key]


def find_missing(graph, nodes):
    """Those of `nodes`, operations of `graph` with fake tensors of their new types, that torch has no kernel for, with
    the message of torch."""
    devices = {v.device for node in nodes for v in flatten(node.meta.get("val")) if isinstance(v, torch.Tensor)}
    missing = []
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad(), torch.random.fork_rng(
        [device for device in devices if device.type == "cuda"]
    ):
        for node in graph.nodes:
            if node in nodes and isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "aten":
                reason = find_reason(node)
                if reason:
                    missing.append((node, reason))
    return missing
