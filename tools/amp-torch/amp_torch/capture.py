# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Captures a model and its loss as one graph of ATen operations."""

import contextlib
import itertools

import torch
import torch.fx.traceback as fx_traceback
import torch.utils.checkpoint

from .translate import OTHER_DOOR, RULES, RANDOM, module_path

GENERATORS = ("_checkpoint_without_reentrant_generator", "_checkpoint_without_reentrant_generator_impl")
#: How torch.library names the class of a registered backward.
CUSTOM_BACKWARD = "GeneratedBackwardFor_"
OLDEST, NEWEST = (2, 9), (2, 15)


def check_version():
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if not OLDEST <= version <= NEWEST:
        raise RuntimeError(
            f"amp_torch supports torch {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}, "
            f"this is {torch.__version__}"
        )


class Whole(torch.nn.Module):
    """The model and its loss as one module of the flat batch."""

    def __init__(self, model, loss, call):
        super().__init__()
        self.model = model
        if isinstance(loss, torch.nn.Module):
            self.loss = loss
        self.__dict__["call"] = call

    def forward(self, *arrays):
        return self.call(*arrays)


@contextlib.contextmanager
def marked_checkpoints():
    """While a graph is captured, marks what torch.utils.checkpoint runs. Models hold
    references to that function, so the function that it calls is replaced."""
    checkpointing = torch.utils.checkpoint
    # The name differs between versions.
    generators = [name for name in GENERATORS if hasattr(checkpointing, name)]
    originals = [getattr(checkpointing, name) for name in generators]
    numbers = itertools.count()

    def marked(*args, **kwargs):
        with fx_traceback.annotate({"amp_checkpoint": f"checkpoint.{next(numbers)}"}):
            yield

    for name in generators:
        setattr(checkpointing, name, marked)
    try:
        yield
    finally:
        for name, original in zip(generators, originals):
            setattr(checkpointing, name, original)


def functions_of(whole, arrays):
    """The classes of autograd.Function that the model runs, whose backward passes export
    drops without a word. One forward pass, which leaves buffers as they were, shows them."""
    saved = [(buffer, buffer.clone()) for buffer in whole.buffers()]
    try:
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            loss = whole(*arrays)[0]
    except RuntimeError as error:
        first = str(error).strip().splitlines()[0]
        raise ValueError(f"the model and the loss do not run on this batch in PyTorch: {first}; pass a batch on which "
                         "loss_fn(model(inputs), targets) runs") from error
    finally:
        with torch.no_grad():
            for buffer, value in saved:
                buffer.copy_(value)
    waiting, seen = [loss.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        waiting += [source for source, _ in node.next_functions]
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            name = type(node)._forward_cls.__name__
            if name.startswith(CUSTOM_BACKWARD):
                # The graph has the operation, and the translation refuses it with its path.
                continue
            advice = f"export drops its backward pass; write it with operations of torch, or use {OTHER_DOOR}"
            if name == "CheckpointFunction":
                advice = "pass use_reentrant=False to checkpoint"
            yield ("", f"autograd.Function {name}", advice)


def hooks_of(model):
    """Hooks on gradients, which a graph does not have."""
    for path, module in model.named_modules():
        if module._backward_hooks or getattr(module, "_backward_pre_hooks", None):
            yield (path, "a backward hook", "a compiled step does not call it; remove it")
    for path, parameter in model.named_parameters():
        if parameter._backward_hooks or getattr(parameter, "_post_accumulate_grad_hooks", None):
            yield (path, "a hook on a gradient", "a compiled step does not call it; remove it")


def inline_regions(graph_module):
    """Puts the operations of regions into the graph around them. Results of a region
    without gradient are detached. Operations where autocast is off get a pin; elsewhere
    the policy decides."""
    graph = graph_module.graph
    for node in list(graph.nodes):
        name = str(node.target)
        if node.op != "call_function" or not name.startswith("wrap_with_"):
            continue
        place = next(i for i, argument in enumerate(node.args) if getattr(argument, "op", "") == "get_attr")
        inner = getattr(graph_module, node.args[place].target)
        inline_regions(inner)
        pinned = name == "wrap_with_autocast" and node.args[2] is False
        stopped = name == "wrap_with_set_grad_enabled" and node.args[0] is False
        operands, copies, outputs = iter(node.args[place + 1 :]), {}, ()
        with graph.inserting_before(node):
            for part in inner.graph.nodes:
                if part.op == "placeholder":
                    copies[part] = next(operands)
                elif part.op == "output":
                    outputs = [copies[value] for value in part.args[0]]
                elif part.op == "call_function":
                    copies[part] = graph.node_copy(part, lambda source: copies[source])
                    copies[part].meta = dict(part.meta)
                    if pinned:
                        custom = copies[part].meta.get("custom") or {}
                        copies[part].meta["custom"] = {**custom, "amp_precision": "f32"}
            for user in list(node.users):
                value = outputs[user.args[1]]
                if stopped:
                    meta = dict(value.meta)
                    value = graph.call_function(torch.ops.aten.detach.default, (value,))
                    value.meta = meta
                user.replace_all_uses_with(value)
                graph.erase_node(user)
        graph.erase_node(node)
    graph_module.recompile()


def export(module, arrays, dynamic):
    """The program of a module for these arrays; the first extent of all is open."""
    shapes = None
    if dynamic:
        batch = torch.export.Dim("batch")
        shapes = ({0: batch},) * len(arrays)
        shapes = (shapes,)
    return torch.export.export(module, tuple(arrays), strict=False, dynamic_shapes=shapes)


def known(name):
    return name in RULES or "getitem" in name or name.startswith(("aten._assert", "aten.sym_", "aten._local_scalar"))


def depends_on_data(program):
    """The calls of a graph that constants alone do not decide."""
    signature = program.graph_signature
    varying = {*signature.inputs_to_parameters, *signature.user_inputs, *mutated_buffers(program)}
    found = set()
    for node in program.graph.nodes:
        if node.op == "placeholder":
            if node.name in varying:
                found.add(node)
        elif not isinstance(node.meta.get("val"), (int, torch.SymInt)):
            if any(source in found for source in node.all_input_nodes):
                found.add(node)
    return found


def mutated_buffers(program):
    """The placeholders of buffers that the graph writes. Before it is functional, only the
    statistics of norms are known."""
    signature = program.graph_signature
    buffers, written = signature.inputs_to_buffers, set(signature.buffers_to_mutate.values())
    yield from (name for name, path in buffers.items() if path in written)
    for node in program.graph.nodes:
        if node.op == "placeholder" and node.name in buffers and node.meta["val"].is_floating_point():
            if any(str(user.target).startswith("aten.batch_norm") for user in node.users):
                yield node.name


def decompose(program):
    """Makes the graph functional and decomposes operations that have no rule, if torch can."""
    everything = {**torch._decomp.decomposition_table, **dict(torch.export.default_decompositions().items())}
    table, rounds = {}, 0
    while True:
        before = len(table)
        for node in depends_on_data(program):
            name = str(node.target)
            if node.op != "call_function" or known(name) or any(word in name for word in RANDOM):
                continue
            if node.target in everything:
                table[node.target] = everything[node.target]
        if rounds and (len(table) == before or rounds == 4):
            return program
        # An empty table still makes the graph functional.
        program = program.run_decompositions(table)
        rounds += 1


def capture(model, loss, call, arrays, dynamic):
    """Returns the program and its unsupported parts, as (module path, part, advice)."""
    found = list(hooks_of(model))
    whole = Whole(model, loss, call)
    found += functions_of(whole, arrays)
    with fx_traceback.preserve_node_meta():
        with marked_checkpoints():
            program = export(whole, arrays, dynamic)
        inline_regions(program.graph_module)
        return decompose(program), found


__all__ = ["capture", "check_version", "module_path"]
