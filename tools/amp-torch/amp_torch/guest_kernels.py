#===- guest_kernels.py - Operations without a kernel for a low type ------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Finds operations that torch has no kernel for in their new types. Fake tensors do not tell: torch fails when the
operation runs. So each operation runs once on zeros."""

import torch
from torch import fx

from .fx_apply import LOW
from .fx_to_mlir import flatten

# An operation on larger operands does not run, so that compilation stays fast.
MAX_ELEMENTS = 1 << 20
# By operation and the types and devices of its operands: the message of torch, or an empty text.
known = {}


def make_zeros(value):
    """A tensor like a fake one. Anything else stays as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=value.device).zero_()


def is_small(values):
    """Whether tensors have known extents and few elements, and there are no symbolic numbers."""
    if any(isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)) for value in values):
        return False
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    extents = [extent for tensor in tensors for extent in (*tensor.shape, *tensor.stride())]
    return all(isinstance(extent, int) for extent in extents) and sum(t.numel() for t in tensors) <= MAX_ELEMENTS


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
        args, kwargs = torch.utils._pytree.tree_map(make_zeros, (args, kwargs))
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
