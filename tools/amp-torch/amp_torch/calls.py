# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of torch that a compiled step calls: custom operations and others without a rule."""

import dataclasses

import torch
from torch.utils import _pytree as pytree

from . import step_interface as c
from .builder import Unsupported, Value, quote


@dataclasses.dataclass(frozen=True)
class Operand:
    """Marks the place of operand `index` of the step in the arguments of an operation."""

    index: int


@dataclasses.dataclass
class Call:
    """An operation that a step calls. `args` and `kwargs` contain an Operand for each tensor of
    the step, and constants. `results` are the types that the fake kernel returns."""

    name: str
    path: str
    target: object
    args: tuple
    kwargs: dict
    results: list
    node: object
    differentiable: bool

    def run(self, operands):
        """Runs the operation on `operands` and returns its tensors."""

        def fill(item):
            return operands[item.index] if isinstance(item, Operand) else item

        args, kwargs = pytree.tree_map(fill, (self.args, self.kwargs))
        out = self.target(*args, **kwargs)
        return list(out) if isinstance(out, (list, tuple)) else [out]


def written(target):
    """The name of an operation as its author wrote it."""
    return f"{target.namespace}::{target._opname}"


def has_backward(target):
    """Whether a gradient passes through an operation."""
    definitions = getattr(getattr(torch._library, "custom_ops", None), "OPDEFS", {})
    definition = definitions.get(written(target))
    if definition is not None and hasattr(definition, "_backward_fn"):
        # Every custom operation has an autograd kernel, which fails without a backward function.
        return definition._backward_fn is not None
    keys = ("Autograd", "AutogradCPU", "CompositeImplicitAutograd")
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(target.name(), key) for key in keys)


def why_not(target):
    """Returns why a step cannot call an operation and what to do, or None."""
    schema = target._schema
    if schema.is_mutable:
        return f"the operation {written(target)} writes an operand; return a new tensor, with mutates_args=() in its definition"
    if any(result.alias_info is not None for result in schema.returns):
        return f"the operation {written(target)} returns a view of an operand; return a new tensor"
    kinds = [str(result.type) for result in schema.returns]
    if not kinds or any(kind not in ("Tensor", "List[Tensor]") for kind in kinds):
        found = ", ".join(kinds) or "nothing"
        return f"the operation {written(target)} returns {found}; a compiled step calls operations that return tensors"
    return None


def emit_call(t, node, path, args, kwargs, whole=None):
    """Appends a call of the operation of a node, or of `whole`, a function that returns tensors and has a
    backward pass. Like the operation, returns a value or a list."""
    target = whole or node.target
    reason = None if whole else why_not(target)
    if reason:
        raise Unsupported(reason)
    check_extents(t, node)
    operands = []

    def place(item):
        if isinstance(item, Value):
            operands.append(t.builder.whole(item))
            return Operand(len(operands) - 1)
        if hasattr(item, "worlds"):
            value = t.number(item)
            return item.worlds[0].clone() if isinstance(item.worlds[0], torch.Tensor) else value
        return item

    args, kwargs = pytree.tree_map(place, (tuple(args), dict(kwargs)))
    meta = node.meta["val"]
    tensors = list(meta) if isinstance(meta, (list, tuple)) else [meta]
    types = [(t.shape(tensor), t.dtype_of(tensor.dtype)) for tensor in tensors]
    differentiable = whole is not None or has_backward(target)
    call = Call(f"{written(target)} {len(t.calls)}", path, target, args, kwargs, types, node, differentiable)
    t.calls[call.name] = call
    values = t.builder.call(call.name, operands, types, differentiable=differentiable, extent_of=open_extent(operands))
    return values if isinstance(meta, (list, tuple)) else values[0]


def check_extents(t, node):
    """Rejects a call with different open extents. The results take the open extent of the operands."""
    name = written(node.target)
    ins, outs = (
        {
            extent.node.expr
            for meta in metas
            for tensor in pytree.tree_leaves(meta)
            if isinstance(tensor, torch.Tensor)
            for extent in tensor.shape
            if isinstance(extent, torch.SymInt)
        }
        for metas in ([source.meta.get("val") for source in node.all_input_nodes], [node.meta["val"]])
    )
    if any(extent.free_symbols - {t.symbol} for extent in outs):
        raise Unsupported(f"the operation {name} has a result whose shape depends on data; use torch.where with three operands, "
                          "or multiply by a mask")
    if outs and len(ins | outs) > 1:
        raise Unsupported(f"the tensors of {name} have several extents that depend on the batch; export with "
                          "dynamic_batch=False")


def open_extent(operands):
    """Returns the indices of an operand with an open extent and of its open dimension, or None."""
    for number, operand in enumerate(operands):
        if -1 in operand.shape:
            return [number, operand.shape.index(-1)]
    return None


def without_backward(t, loss):
    """Yields a problem for each call without a backward pass that a gradient of the loss needs."""
    nodes = {call.node: call for call in t.calls.values() if not call.differentiable}
    waiting, seen = [loss], set()
    while waiting and nodes:
        node = waiting.pop()
        if node in seen or not any(isinstance(value, Value) and value.grad for value in pytree.tree_leaves(t.env.get(node))):
            continue
        seen.add(node)
        waiting += node.all_input_nodes
        if node in nodes:
            advice = "a gradient needs its backward pass; register one with torch.library.register_autograd, or detach its result"
            yield (nodes[node].path, written(node.target), advice)


# -- While a step runs -------------------------------------------------------------------


class CallError(RuntimeError):
    """The tensors that an operation returned differ from those of its fake kernel."""


def describe(dtype, shape):
    return f"{str(dtype).removeprefix('torch.')} of {'x'.join(map(str, shape)) or 'one element'}"


class Caller:
    """Runs the calls of a step on a device. `error` is the last exception of an operation."""

    def __init__(self, calls, device):
        self.calls, self.device = calls, device
        self.error = self.failed = None
        self.generators = {}
        self.function = c.CALL(self.run)

    def options(self):
        """Returns the options that a step with calls needs."""
        return {"caller": c.Caller(None, self.function)} if self.calls else {}

    def run(self, _, pointer):
        """Runs a call of the C interface. Returns 0, or 1 after an exception."""
        try:
            call = pointer.contents
            own = self.calls[call.name.decode()]
            self.failed = own
            autocast = torch.autocast(self.device.torch_device.type, enabled=False)
            with self.device.calling(call.stream), torch.inference_mode(False), autocast:
                operands = [self.tensor(call.operands[i]) for i in range(call.num_operands)]
                results = [self.tensor(call.results[i]) for i in range(call.num_results)]
                if call.num_seeds:
                    self.differentiate(own, call, operands, results)
                else:
                    self.forward(own, operands, results)
        except BaseException as error:  # noqa: B902
            self.error = error
            return 1
        return 0

    def tensor(self, tensor):
        dtype = getattr(torch, c.NAMES[tensor.type])
        return self.device.view(tensor.data, dtype, c.shape_of(tensor), None)

    def forward(self, own, operands, results):
        self.generators[own.name] = self.device.random_state()
        with torch.no_grad():
            found = own.run(operands)
        self.check(own, found, results)
        for result, tensor in zip(results, found):
            result.copy_(tensor)

    def check(self, own, found, results):
        name = written(own.target)
        if len(found) != len(results):
            raise CallError(f"{name} returned {len(found)} tensors, but its fake kernel returns {len(results)}; correct the "
                            "function of register_fake")
        for place, (tensor, result) in enumerate(zip(found, results)):
            if not isinstance(tensor, torch.Tensor):
                raise CallError(f"{name} returned {type(tensor).__name__} as result {place}, expected a tensor")
            if (tensor.dtype, tensor.shape, tensor.device) != (result.dtype, result.shape, result.device):
                where = f" on {tensor.device}" if tensor.device != result.device else ""
                raise CallError(f"{name} returned {describe(tensor.dtype, tensor.shape)}{where} as result {place}, but its fake "
                                f"kernel says {describe(result.dtype, result.shape)}; correct the function of register_fake")

    def differentiate(self, own, call, operands, results):
        """Runs the operation again with the random numbers of its last run, then runs its
        backward pass."""
        count = call.num_operands - call.num_seeds
        seeds = [call.seeds[i] for i in range(call.num_seeds)]
        wanted = [call.wrt[i] for i in range(call.num_results)]
        operands, gradients = operands[:count], operands[count:]
        inputs = [tensor.detach().requires_grad_(place in wanted) for place, tensor in enumerate(operands)]
        state = self.device.random_state()
        self.device.set_random_state(self.generators.get(own.name, state))
        try:
            with torch.enable_grad():
                outputs = own.run(inputs)
        finally:
            self.device.set_random_state(state)
        pairs = [(outputs[seed], gradient) for seed, gradient in zip(seeds, gradients) if outputs[seed].requires_grad]
        found = [None] * len(wanted)
        if pairs:
            heads, tails = zip(*pairs)
            found = torch.autograd.grad(heads, [inputs[place] for place in wanted], tails, allow_unused=True)
        for result, gradient in zip(results, found):
            if gradient is None:
                result.zero_()
            else:
                result.copy_(gradient)

    def take_error(self):
        """Returns and clears the exception that ended the last run, or None."""
        error, self.error = self.error, None
        if error is not None and self.failed is not None and hasattr(error, "add_note"):
            where = f" in '{self.failed.path}'" if self.failed.path else ""
            error.add_note(f"raised by {written(self.failed.target)}{where}, which a compiled step called")
        return error


__all__ = ["CallError", "Caller", "emit_call", "without_backward"]
