# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Captures a model and its loss as one graph of ATen operations."""

import contextlib
import io
import itertools
import math
import sys

import torch
import torch.fx.traceback as fx_traceback
import torch.utils.checkpoint

from .constants import known_numbers
from .data_shapes import selections_of
from .functions import marked_functions
from .regions import cut_complex_regions, touches_complex
from .translate import OTHER_DOOR, RULES, RANDOM, module_path
from .versions import annotate

GENERATORS = ("_checkpoint_without_reentrant_generator", "_checkpoint_without_reentrant_generator_impl")
#: How torch.library names the class of a registered backward.
CUSTOM_BACKWARD = "GeneratedBackwardFor_"


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
        with annotate({"amp_checkpoint": f"checkpoint.{next(numbers)}"}):
            yield

    for name in generators:
        setattr(checkpointing, name, marked)
    try:
        yield
    finally:
        for name, original in zip(generators, originals):
            setattr(checkpointing, name, original)


def averages_of(model):
    """Yields a problem for each norm with cumulative averages, which depend on the number of steps."""
    for path, module in model.named_modules():
        if isinstance(module, torch.nn.modules.batchnorm._NormBase) and module.momentum is None and module.running_mean is not None:
            yield (path, f"{type(module).__name__} with momentum=None", "set momentum to a number, such as 0.1")


def embeddings_of(model):
    """Yields a problem for each embedding with sparse gradients, or that changes its rows in the forward pass."""
    for path, module in model.named_modules():
        if getattr(module, "sparse", False) and isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag)):
            yield (path, "an embedding with sparse gradients", "pass sparse=False")
        if getattr(module, "max_norm", None) is not None and isinstance(module, (torch.nn.Embedding, torch.nn.EmbeddingBag)):
            yield (path, "an embedding with max_norm, which changes the parameter in the forward pass",
                   "divide the rows by their norm in forward, or limit them between the steps")


def problems_of(model):
    """Returns the problems of modules that a step cannot train as PyTorch does."""
    return [*global_hooks(), *hooks_of(model), *averages_of(model), *embeddings_of(model)]


class Attributes:
    """The tensors that modules hold as buffers or attributes, and the versions of parameters and attributes."""

    def __init__(self, whole):
        self.tensors = {(path, name): value for path, module in whole.named_modules()
                        for name, value in (*module._buffers.items(), *vars(module).items())
                        if isinstance(value, torch.Tensor)}  # fmt: skip
        self.versions = {path: parameter._version for path, parameter in whole.named_parameters()}
        self.attributes = {f"{path}.{name}": value._version for (path, name), value in self.tensors.items()
                           if name not in whole.get_submodule(path)._buffers}  # fmt: skip

    def rebound_since(self, before):
        """The places of tensors that another tensor has replaced."""
        return [place for place, value in before.tensors.items() if self.tensors.get(place) is not value]

    def written_since(self, before):
        """The paths of parameters that an operation has changed in place."""
        return [path for path, version in before.versions.items() if self.versions.get(path) != version]

    def attributes_written_since(self, before):
        """The paths of attributes, other than buffers, that an operation has changed in place."""
        return [path for path, version in before.attributes.items() if self.attributes.get(path, version) != version]


def changes_of(whole, arrays, before):
    """Yields a problem for each parameter that the forward pass changes, and for each buffer or attribute that it
    replaces each time. Some modules replace a table of constants once."""
    after = Attributes(whole)
    for path in after.written_since(before):
        yield (path.removeprefix("model."), "a parameter that the forward pass changes in place",
               "change it between the steps, or compute another tensor from it in forward")
    for path in after.attributes_written_since(before):
        yield (path.removeprefix("model."), "a tensor that is not a buffer and that the forward pass changes in place",
               "call register_buffer with it, which makes it a state of the step")
    if after.rebound_since(before):
        run_once(whole, arrays, [])
        for path, name in Attributes(whole).rebound_since(after):
            place = f"{path}.{name}".removeprefix("model.").lstrip(".")
            norm = old_norm(whole.get_submodule(path), name)
            if norm:
                yield (place, f"torch.nn.utils.{norm}, which replaces a tensor in the forward pass",
                       f"use torch.nn.utils.parametrizations.{norm}")
                continue
            yield (place, "a tensor that the forward pass replaces by another one",
                   "register a buffer and change it in place, for example with copy_")


def old_norm(module, name):
    """The function of torch.nn.utils that computes the tensor `name` of a module in a hook, or None."""
    for hook in module._forward_pre_hooks.values():
        if type(hook).__module__.startswith("torch.nn.utils.") and getattr(hook, "name", None) == name:
            return type(hook).__module__.rsplit(".", 1)[-1]
    return None


def run_once(whole, arrays, seen):
    """The loss of one forward pass, which changes no buffers. `seen` gets the names of functions of torch that a step
    cannot have."""
    saved = [(buffer, buffer.clone()) for buffer in whole.buffers()]
    gpus = {tensor.device.index for tensor in [*arrays, *whole.parameters()] if tensor.device.type == "cuda"}
    try:
        with torch.random.fork_rng(devices=sorted(gpus)), torch.enable_grad(), seen_calls(seen):
            return whole(*arrays)[0]
    except (RuntimeError, IndexError, ValueError) as error:
        first = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise ValueError(f"the model and the loss do not run on this batch in PyTorch: {first}; pass a batch on which "
                         "loss_fn(model(inputs), targets) runs") from error
    finally:
        with torch.no_grad():
            for buffer, value in saved:
                buffer.copy_(value)


def functions_of(whole, arrays):
    """Returns the classes of autograd.Function that the model runs, whose backward passes export silently
    drops, the functions of torch by which the model computes derivatives, and the problems of what the forward pass
    changes. Runs forward passes and restores the buffers."""
    found, calls, before = {}, [], Attributes(whole)
    loss = run_once(whole, arrays, calls)
    problems = list(changes_of(whole, arrays, before))
    if "register_hook" in calls:
        problems.append(("", "a hook on the gradient of a tensor (register_hook)",
                         f"a compiled step does not call it; remove it, or use {OTHER_DOOR}"))
    inner = [name for name in calls if name != "register_hook"]
    waiting, seen = [loss.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        waiting += [source for source, _ in node.next_functions]
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            # The graph contains an operation with a registered backward pass.
            if not type(node)._forward_cls.__name__.startswith(CUSTOM_BACKWARD):
                found[type(node)._forward_cls] = None
    return list(found), inner, problems


@contextlib.contextmanager
def seen_calls(found):
    """Collects the names of the functions of torch by which a model computes derivatives or observes them."""
    originals = [(owner, name, label, getattr(owner, name))
                 for owner, name, label in ((torch.autograd, "grad", "torch.autograd.grad"),
                                            (torch.autograd, "backward", "torch.autograd.backward"),
                                            (torch.func, "grad", "torch.func.grad"),
                                            (torch.Tensor, "register_hook", "register_hook"))]  # fmt: skip

    def seen(name, original):
        def call(*args, **kwargs):
            found.append(name)
            return original(*args, **kwargs)

        return call

    for owner, name, label, original in originals:
        setattr(owner, name, seen(label, original))
    try:
        yield
    finally:
        for owner, name, _, original in originals:
            setattr(owner, name, original)


def selections(model, loss, call, arrays):
    """The problems of operations of a model whose results have a shape that depends on data."""
    whole = Whole(model, loss, call)
    return selections_of(whole, lambda: run_once(whole, arrays, []))


def refused_functions(functions, calls):
    """Yields the problems of classes of autograd.Function. Without `calls`, a step supports none of them."""
    for function in functions:
        name = function.__name__
        advice = (f"export drops its backward pass; use amp_torch.compile, which calls it, write it with operations of "
                  f"torch, or use {OTHER_DOOR}")
        if name == "CheckpointFunction":
            yield ("", f"autograd.Function {name}", "pass use_reentrant=False to checkpoint")
        elif not calls:
            yield ("", f"autograd.Function {name}", advice)


def global_hooks():
    """Hooks of all modules on gradients, which a graph does not have."""
    module = torch.nn.modules.module
    for name in ("_global_backward_hooks", "_global_backward_pre_hooks"):
        if getattr(module, name, None):
            yield ("", "a backward hook of all modules (torch.nn.modules.module)", "a compiled step does not call it; remove it")


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


def data_errors():
    """Returns the errors of torch.export for graphs that depend on data."""
    return torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode, torch._dynamo.exc.UserError


class NotCaptured(Exception):
    """The error of torch.export, if it cannot capture a model."""


class Refused(Exception):
    """The problems of a model that prevent its export, as (module path, part, advice)."""

    def __init__(self, problems):
        super().__init__()
        self.problems = problems


def gaussian_nll(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Computes gaussian_nll_loss without the check for negative variances, which reads the data."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = torch.full_like(input, var)
    elif input.shape[:-1] == var.shape:
        var = var.unsqueeze(-1)
    elif var.shape != input.shape and var.shape != (*input.shape[:-1], 1):
        raise ValueError("var is of incorrect size")
    # The gradient ignores the bound.
    var = var + (var.clamp(min=eps) - var).detach()
    loss = 0.5 * (var.log() + (input - target).square() / var)
    loss = loss + 0.5 * math.log(2 * math.pi) if full else loss
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


def fill_diagonal(x, value, wrap=False):
    """Fills a diagonal by a mask. torch writes to a view with strides of its own."""
    if x.dim() != 2 or wrap:
        return torch.Tensor.fill_diagonal_(x, value, wrap)
    return x.masked_fill_(torch.eye(x.shape[0], x.shape[1], dtype=torch.bool, device=x.device), value)


class ReplacedFunctions(torch.overrides.TorchFunctionMode):
    """Replaces losses of torch that read the data, and fill_diagonal_, while a graph is captured. Models may
    hold references to them under any name."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.nn.functional.gaussian_nll_loss:
            function = gaussian_nll
        elif function is torch.Tensor.fill_diagonal_ or function is getattr(torch, "fill_diagonal_", None):
            function = fill_diagonal
        return function(*args, **(kwargs or {}))


def without_guards(program):
    """Removes the checks of operands from a program. Torch 2.9 cannot run them when it decomposes a
    graph with a variable number of arguments. A compiled step checks its batches itself."""
    program._guards_code = []
    return program


@contextlib.contextmanager
def without_partial_graph():
    """Drops what torch.export writes to stderr before it fails: the graph so far, in hundreds of lines."""
    written = io.StringIO()
    with contextlib.redirect_stderr(written):
        yield
    sys.stderr.write(written.getvalue())


def export(module, arrays, dynamic):
    """The program of a module for these arrays; the first extent of all is open."""
    shapes = None
    if dynamic:
        batch = torch.export.Dim("batch")
        shapes = ({0: batch},) * len(arrays)
        shapes = (shapes,)
    try:
        with without_partial_graph():
            program = torch.export.export(module, tuple(arrays), strict=False, dynamic_shapes=shapes)
        return without_guards(program)
    except data_errors():
        raise
    except Exception as error:
        first = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise NotCaptured(first[:200]) from error


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


def decompose(program, calls):
    """Makes the graph functional and decomposes operations that have no rule, if torch can. With `calls`,
    does not decompose an operation into parts that a step could call only without a gradient."""
    # Operations by name, since a decomposition copies them.
    whole = set()
    while True:
        result = decompose_once(program, calls, whole)
        parts = {str(node.meta.get("original_aten")) for node in depends_on_data(result) if is_part(node)} - {"None", *whole}
        if not calls or not parts:
            return result
        whole |= parts


def is_part(node):
    """Whether a node is a primitive of torch without a rule. Primitives have no backward pass."""
    return node.op == "call_function" and str(node.target).startswith("prims.") and not known(str(node.target))


#: Functions that raise an error for a matrix without a solution. Their parts do not, or torch drops the check.
CHECKED = {f"aten.{name}.default" for name in ("linalg_cholesky", "linalg_inv", "inverse", "linalg_solve", "linalg_tensorinv",
                                               "linalg_tensorsolve", "linalg_lu_factor", "linalg_ldl_factor")}  # fmt: skip


def decompose_once(program, calls, whole):
    """Decomposes all operations without a rule, except for operations in `whole` and, with `calls`,
    operations on complex numbers."""
    everything = {**torch._decomp.decomposition_table, **dict(torch.export.default_decompositions().items())}
    table, rounds = {}, 0
    while True:
        before = len(table)
        for node in depends_on_data(program):
            name = str(node.target)
            if node.op != "call_function" or known(name) or any(word in name for word in RANDOM):
                continue
            if name in whole or name in CHECKED or calls and touches_complex(node):
                continue
            if node.target in everything:
                table[node.target] = everything[node.target]
        if rounds and (len(table) == before or rounds == 4):
            return program
        # An empty table still makes the graph functional.
        program = without_guards(program.run_decompositions(table))
        rounds += 1


def changed_numbers(program, paths, read):
    """Yields a problem for each buffer that Python code reads as a number and the graph writes."""
    written = set(program.graph_signature.buffers_to_mutate.values())
    for path in sorted({paths[position] for position in read} & written):
        yield (path.removeprefix("model."), "a number that Python code takes from a buffer and the forward pass changes",
               "its value would stay as in the example; keep it a tensor, and use torch.where in place of if")


def capture(model, loss, call, arrays, dynamic, calls):
    """Returns the program and its unsupported parts, as (module path, part, advice). With `calls`,
    the step may call parts of the model."""
    whole = Whole(model, loss, call)
    found = problems_of(model)
    functions, inner, changes = functions_of(whole, arrays)
    found += [*changes, *refused_functions(functions, calls)]
    if changes:
        # At some of these torch.export fails, and torch 2.9 crashes.
        raise Refused(found)
    if inner:
        # Export would treat the derivative as a constant, or fail with another error.
        advice = f"a compiled step differentiates the loss once; train this part of the loss in eager PyTorch, or try {OTHER_DOOR.split(',')[0]}"
        raise Refused([*found, ("", f"a derivative within the model ({inner[0]})", advice)])
    # The first placeholders of the graph are the parameters and buffers.
    state = {**dict.fromkeys(dict(whole.named_parameters(remove_duplicate=False))),
             **dict(whole.named_buffers(remove_duplicate=False))}
    read = set()
    with contextlib.ExitStack() as stack:
        stack.enter_context(fx_traceback.preserve_node_meta())
        stack.enter_context(marked_checkpoints())
        stack.enter_context(ReplacedFunctions())
        stack.enter_context(known_numbers(list(state.values()), read))
        stack.enter_context(marked_functions(functions if calls and not found else []))
        program = export(whole, arrays, dynamic)
    inline_regions(program.graph_module)
    program = decompose(program, calls)
    if calls:
        cut_complex_regions(program.graph, depends_on_data(program))
    return program, found + list(changed_numbers(program, list(state), read))


__all__ = ["capture", "module_path"]
