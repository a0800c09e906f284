# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports a model, a loss and an optimizer as the files of a training step."""

import dataclasses
import inspect
import os
import pathlib

import numpy as np
import torch

from . import rules  # noqa: F401
from .accumulation import Carried, parts_of, whole_name, whole_shape, write_loop
from .buffers import is_counter, written_values
from .builder import DTYPES, FLOATS, INTEGERS, TORCH_DTYPES, Value, attribute_text, quote
from .calls import without_backward
from .capture import NotCaptured, Refused, capture, data_errors, problems_of, selections
from .optimizers import State, Updates, problems
from .translate import OTHER_DOOR, Const, Translator
from .versions import check_version


class UnsupportedModel(Exception):
    """All that keeps a model from becoming a step. `problems` lists (module path,
    operation, what to do)."""

    def __init__(self, found):
        self.problems = list(dict.fromkeys(found))
        lines = [
            f"  {path + ': ' if path else ''}{what}{': ' + advice if advice else ''}"
            for path, what, advice in self.problems
        ]
        super().__init__("the model cannot become a training step:\n" + "\n".join(lines))


@dataclasses.dataclass
class Export:
    """What `export` wrote, and what to pass on. `options` are options of the training
    pipeline that the model asks for. `fixed` says why the batch size is fixed, if it
    had to be."""

    step: pathlib.Path
    init: pathlib.Path
    batch: list
    rates: dict
    options: str = ""
    fixed: str = None


def tensors_of(item):
    """The tensors of a nested batch and the function that rebuilds it from others."""
    if isinstance(item, torch.Tensor):
        return [item], lambda arrays: arrays[0]
    if isinstance(item, dict):
        keys, parts = list(item), [tensors_of(part) for part in item.values()]

        def rebuild(arrays):
            return dict(zip(keys, split(parts, arrays)))

    elif isinstance(item, (list, tuple)):
        keys, parts = None, [tensors_of(part) for part in item]

        def rebuild(arrays):
            return tuple(split(parts, arrays))

    else:
        return [], lambda arrays: item
    return [tensor for tensors, _ in parts for tensor in tensors], rebuild


def has_arrays(item):
    """Whether a nested batch contains numpy arrays, which a step cannot take."""
    if isinstance(item, dict):
        return any(map(has_arrays, item.values()))
    if isinstance(item, (list, tuple)):
        return any(map(has_arrays, item))
    return isinstance(item, np.ndarray)


def split(parts, arrays):
    start = 0
    for tensors, rebuild in parts:
        yield rebuild(arrays[start : start + len(tensors)])
        start += len(tensors)


def call_model(model, inputs):
    if isinstance(inputs, dict):
        return model(**inputs)
    if isinstance(inputs, (list, tuple)):
        return model(*inputs)
    return model(inputs)


def positional_names(function, skip):
    """The known names of the parameters of a function."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in kinds]


def names_of(item, known, default):
    """The name of each tensor of a part of the batch."""
    if isinstance(item, torch.Tensor):
        return [known[0] if known else default]
    if isinstance(item, dict):
        return [name for key, part in item.items() for name in names_of(part, [], str(key))]
    if isinstance(item, (list, tuple)):
        names = []
        for position, part in enumerate(item):
            label = known[position] if position < len(known) else f"{default}{position}"
            names += names_of(part, [label], label)
        return names
    return []


class Batch:
    """The batch as a list of tensors with names; the same tensor twice is one."""

    def __init__(self, model, loss, batch, names):
        self.has_loss = loss is not None
        if self.has_loss and (not isinstance(batch, (list, tuple)) or len(batch) != 2):
            raise ValueError(
                "batch: expected a pair (inputs, targets), or with loss_fn=None the inputs of a model that returns its loss"
            )
        if has_arrays(batch):
            raise TypeError("batch: expected tensors, got an array of numpy; call torch.from_numpy on it")
        every, self.rebuild = tensors_of(batch)
        if not every:
            raise ValueError("batch: expected at least one tensor")
        for tensor in every:
            if tensor.numel() == 0:
                shape = "x".join(map(str, tensor.shape))
                raise ValueError(f"batch: a tensor of the shape {shape} has no elements; pass at least one sample")
        if self.has_loss:
            function = loss.forward if isinstance(loss, torch.nn.Module) else loss
            found = names_of(batch[0], positional_names(model.forward, 0), "input")
            found += names_of(batch[1], positional_names(function, 1), "target")
        else:
            found = names_of(batch, positional_names(model.forward, 0), "input")
        self.tensors, self.places = [], []
        self.names = []
        for tensor, name in zip(every, found):
            for place, other in enumerate(self.tensors):
                if other is tensor:
                    self.places.append(place)
                    break
            else:
                self.places.append(len(self.tensors))
                self.tensors.append(tensor)
                self.names.append(name)
        if names is not None:
            if len(names) != len(self.tensors):
                raise ValueError(f"names: expected {len(self.tensors)} for {self.names}, got {len(names)}")
            self.names = list(names)
        taken = set()
        for position, name in enumerate(self.names):
            while name in taken:
                name += "_"
            taken.add(name)
            self.names[position] = name

    def restore(self, arrays):
        return self.rebuild([arrays[place] for place in self.places])


def loss_of(output):
    """The loss in the output of a model, as transformers return it."""
    if isinstance(output, torch.Tensor):
        return output
    if hasattr(output, "loss"):
        return output.loss
    if isinstance(output, dict) and "loss" in output:
        return output["loss"]
    if isinstance(output, (list, tuple)):
        return output[0]
    raise ValueError("loss_fn=None expects a model that returns its loss, alone, first, or as `.loss`")


def logits_of(output):
    """The one tensor that a model predicts, or None."""
    if isinstance(output, torch.Tensor):
        return output
    if getattr(output, "logits", None) is not None:
        return output.logits
    return None


def check_loss(loss, function):
    """Rejects a value that is not a loss, with a remedy."""
    if not isinstance(loss, torch.Tensor):
        raise ValueError(f"the loss must be a tensor of one number, got {type(loss).__name__}; return it without .item() or float()")
    if loss.numel() != 1:
        shape = "x".join(map(str, loss.shape))
        advice = "use reduction='mean' or 'sum'" if function is not None else "pass a loss_fn, or reduce it in the model"
        raise ValueError(f"the loss must be one number, got a tensor of {shape}; {advice}")


class Step:
    """One export: its arguments and the resulting function."""

    def __init__(self, model, loss, optimizers, batch, clip_grad_norm, clip_grad_value, prediction, parts, calls):
        self.model, self.loss, self.batch = model, loss, batch
        self.optimizers = optimizers
        self.clip_grad_norm, self.clip_grad_value = clip_grad_norm, clip_grad_value
        self.parts, self.has_calls = parts, calls
        # Tensors with different first extents, or without one, form one sample. Each of them gets
        # a leading extent of 1.
        first = {tensor.shape[:1] for tensor in batch.tensors}
        self.is_framed = parts == 1 and (len(first) > 1 or () in first)
        # A loop over parts has no place for the outputs of all.
        self.prediction = prediction and parts == 1 and not self.is_framed

    def call(self, *arrays):
        batch = self.batch.restore(arrays)
        if self.loss is None:
            output = call_model(self.model, batch)
            loss, logits = loss_of(output), logits_of(output)
            logits = None if logits is loss else logits
        else:
            output = call_model(self.model, batch[0])
            targets = batch[1] if isinstance(batch[1], tuple) else (batch[1],)
            loss, logits = self.loss(output, *targets), logits_of(output)
        check_loss(loss, self.loss)
        return (loss, logits) if self.prediction and logits is not None else (loss,)

    def translate(self, dynamic, force_ignore):
        arrays = self.batch.tensors if self.parts == 1 else parts_of(self.batch.tensors, self.parts)
        try:
            program, found = capture(self.model, self.loss, self.call, arrays, dynamic, self.has_calls)
        except data_errors() as error:
            # A size that depends on data comes from an operation, and other conditions from Python code.
            chosen = [] if "Size-like symbols: none" in str(error) else selections(self.model, self.loss, self.call, arrays)
            raise UnsupportedModel([*problems_of(self.model), *(chosen or [data_dependent(error)])]) from error
        except Refused as error:
            raise UnsupportedModel(error.problems) from error
        except NotCaptured as error:
            advice = f"use {OTHER_DOOR} (torch: {error})"
            raise UnsupportedModel([*problems_of(self.model), ("", "torch.export cannot capture the model", advice)]) from error
        symbol, size = None, 0
        if dynamic:
            extents = [n.meta["val"].shape[0] for n in program.graph.nodes if n.op == "placeholder"
                       and n.name in program.graph_signature.user_inputs]
            if not all(isinstance(extent, torch.SymInt) for extent in extents):
                raise FixedBatch("the model or the loss computes with the batch size of the example")
            symbol, size = extents[0].node.expr, arrays[0].shape[0]
        translator = Translator(symbol, [size, size + 1])
        translator.force_ignore = force_ignore
        translator.errors = found
        translator.calls = {} if self.has_calls else None
        self.arguments(program, translator)
        outputs = translator.run(program.graph)
        if translator.calls:
            losses = program.graph.output_node().args[0][len(program.graph_signature.buffers_to_mutate):]
            translator.errors += without_backward(translator, losses[0])
        self.calls = translator.calls
        self.labels = {place: translator.ignored[value.name] for place, value in enumerate(self.inputs)
                       if value.name in translator.ignored}
        if translator.errors:
            raise UnsupportedModel(translator.errors)
        return self.finish(program, translator, outputs)

    # -- Arguments ---------------------------------------------------------------

    def arguments(self, program, t):
        """Gives each placeholder a value: parameters, the batch and buffers that the graph
        writes are arguments of the step; other buffers are constants."""
        signature = program.graph_signature
        whole = torch.nn.Module()
        whole.model = self.model
        if isinstance(self.loss, torch.nn.Module):
            whole.loss = self.loss
        grouped = {id(p) for o in self.optimizers for g in o.param_groups for p in g["params"]}
        self.parameters, self.buffers, self.inputs = {}, {}, []
        # Buffers to which a pass only adds a number, by path, and these numbers by name.
        self.counters, self.increments = {}, {}
        for name, tensor in whole.named_parameters():
            name = name.removeprefix("model.")
            value = Value(f"%p{len(self.parameters)}", tuple(tensor.shape), t.dtype_of(tensor.dtype),
                          tensor.requires_grad and id(tensor) in grouped)
            self.parameters[id(tensor)] = State(name, "parameter", value, "#amp.init<zeros>", tensor.detach())
        written = written_values(program)
        for node in program.graph.nodes:
            if node.op != "placeholder":
                continue
            if node.name in signature.inputs_to_parameters:
                tensor = whole.get_parameter(signature.inputs_to_parameters[node.name])
                t.env[node] = self.parameters[id(tensor)].value
            elif node.name in signature.inputs_to_buffers:
                path = signature.inputs_to_buffers[node.name]
                counts = path in written and is_counter(program, node, written[path])
                t.env[node] = self.buffer(t, path, whole.get_buffer(path), path in written, counts)
            elif node.name in signature.user_inputs:
                t.env[node] = self.input(t, node)
            else:
                target = signature.inputs_to_lifted_tensor_constants.get(node.name)
                t.env[node] = constant(t, program.constants[target])

    def buffer(self, t, path, tensor, is_written, counts):
        if not is_written:
            return constant(t, tensor)
        if counts and not tensor.is_floating_point():
            self.counters[path] = tensor
            return constant(t, tensor)
        name = path.removeprefix("model.")
        dtype = DTYPES.get(tensor.dtype)
        if dtype not in (*FLOATS, *INTEGERS):
            advice = "register it as f32, int32 or int64, or change it outside of the forward pass"
            t.errors.append((name, f"a buffer of type {tensor.dtype} that the model changes", advice))
            return constant(t, tensor)
        value = Value(f"%b{len(self.buffers)}", tuple(tensor.shape), dtype)
        self.buffers[path] = State(name, "model_state", value, "#amp.init<zeros>", tensor.detach())
        return value

    def input(self, t, node):
        position = len(self.inputs)
        meta = node.meta["val"]
        is_bytes = meta.dtype == torch.uint8
        value = Value(f"%x{position}", (1,) * self.is_framed + t.shape(meta), "i8" if is_bytes else t.dtype_of(meta.dtype))
        self.inputs.append(value)
        t.example_values[value.name] = self.batch.tensors[position]
        if is_bytes:
            value = t.builder.bytes(value)
        if self.is_framed:
            return self.without_frame(t, value)
        if value.rank and (t.batch_reference is None or value.is_float and not t.batch_reference.is_float):
            t.batch_reference = value
        return value

    @staticmethod
    def without_frame(t, value):
        """Returns an argument without its leading extent of 1."""
        if value.is_float:
            return t.builder.reshape(value, value.shape[1:])
        if value.dtype in INTEGERS:
            return t.builder.view(value, value.shape[1:])
        with t.builder.exact():
            return t.convert(t.builder.reshape(t.convert(value, "f32"), value.shape[1:]), "i1")

    # -- The function ------------------------------------------------------------

    def finish(self, program, t, outputs):
        b = t.builder
        b.location, b.pin = "loss", None
        named = dict(zip(program.graph_signature.user_outputs, outputs[len(program.graph_signature.buffers_to_mutate):]))
        results = list(named.values())
        mutations = dict(zip(program.graph_signature.buffers_to_mutate.values(), outputs))
        for path, state in self.buffers.items():
            result = t.value(mutations[path], state.value.dtype)
            state.result = t.expand(b.whole(result), state.value.shape)
        for path, tensor in self.counters.items():
            self.increments[path.removeprefix("model.")] = int(mutations[path].worlds[0]) - int(tensor)
        loss = results[0]
        if not isinstance(loss, Value) or not loss.grad:
            raise UnsupportedModel([self.loss_without_gradient(program)])
        loss = b.reshape(t.convert(loss, "f32"), ())
        if self.parts > 1:
            loss = b.binary("mul", loss, b.scalar(1 / self.parts, "f32"))
        updates = Updates(b, self.optimizers, self.parameters)
        reached = self.reached(program)
        trained = [p for p in updates.trained if id(p) in reached]
        for group in updates.groups:
            group.parameters = [p for p in group.parameters if id(p) in reached]
        values = [self.parameters[id(p)].value for p in trained]
        kinds = ", ".join(value.type for value in values)
        first = b.fresh()
        listed = ", ".join(value.name for value in values)
        count = f":{len(values)}" if len(values) > 1 else ""
        b.append(f"{first}{count} = train.gradients {loss.name} wrt({listed}) : ({loss.type}, {kinds}) -> "
                 + (f"({kinds})" if len(values) > 1 else kinds))
        gradients = [
            Value(f"{first}#{index}" if count else first, value.shape, value.dtype) for index, value in enumerate(values)
        ]
        names = [self.parameters[id(p)].name for p in trained]
        self.rng = t.rng, None
        if self.parts > 1:
            loss, gradients = self.accumulate(b, loss, gradients, names)
        gradients = [self.without_padding(t, value, gradient) for value, gradient in zip(values, gradients)]
        metrics = {"loss": loss}
        if self.clip_grad_norm is not None:
            types = [(gradient.shape, gradient.dtype) for gradient in gradients] + [((), "f32")]
            attributes = {"max_norm": float(self.clip_grad_norm)}
            *gradients, metrics["grad_norm"] = b.emit("clip_by_global_norm", gradients, types, attributes)
        if self.clip_grad_value is not None:
            bound = float(self.clip_grad_value)
            gradients = [b.unary("clip", gradient, min=-bound, max=bound) for gradient in gradients]
        updates.write({id(p): gradient for p, gradient in zip(trained, gradients)})
        prediction = results[1] if len(results) > 1 and isinstance(results[1], Value) else None
        return self.text(t, updates, metrics, prediction), updates

    def loss_without_gradient(self, program):
        """The problem of a loss that no trained parameter changes."""
        grouped = {id(p) for o in self.optimizers for g in o.param_groups for p in g["params"]}
        own = list(self.model.parameters()) + (list(self.loss.parameters()) if isinstance(self.loss, torch.nn.Module) else [])
        if own and not any(p.requires_grad for p in own):
            return "", "the model", "no parameter requires a gradient; call requires_grad_(True) on those that the step trains"
        reached = self.reached(program)
        if any(p.requires_grad and id(p) in grouped and id(p) in reached for p in own):
            return ("", "the loss", "has no gradient although it reads trained parameters; remove .detach(), torch.no_grad() or a "
                                    "conversion to integers between them and the loss")
        return "", "the loss", "does not depend on a parameter that the optimizer trains; create the optimizer from model.parameters()"

    def accumulate(self, b, loss, gradients, names):
        """Puts all operations so far into a loop over the parts of the batch. Returns the
        sums of the loss and of the gradients."""
        carried = []
        for index, (value, name) in enumerate(zip([*gradients, loss], [*names, ""])):
            total = dataclasses.replace(value, name=f"%sum{index}")
            carried.append(Carried(f"%zero{index}", total, b.binary("add", total, value), name))
        updated = list(self.buffers.values())
        carried += [Carried(whole_name(state.value), state.value, state.result) for state in updated]
        rng = self.rng[0]
        if rng is not None:
            carried.append(Carried(whole_name(rng), rng, b.unary("advance_rng", rng)))
        results = write_loop(b, self.inputs, self.parts, carried)
        for state, result in zip(updated, results[len(gradients) + 1:]):
            state.value, state.result = dataclasses.replace(state.value, name=whole_name(state.value)), result
        if rng is not None:
            self.rng = dataclasses.replace(rng, name=whole_name(rng)), results[-1]
        return results[len(gradients)], results[: len(gradients)]

    def reached(self, program):
        """The ids of the parameters that the graph reads."""
        whole = torch.nn.Module()
        whole.model, whole.loss = self.model, self.loss if isinstance(self.loss, torch.nn.Module) else None
        paths = program.graph_signature.inputs_to_parameters
        return {
            id(whole.get_parameter(paths[node.name]))
            for node in program.graph.nodes
            if node.op == "placeholder" and node.name in paths and node.users
        }

    def without_padding(self, t, value, gradient):
        """The gradient of an embedding without the row of padding_idx."""
        row = t.padding_rows.get(value.name)
        if row is None:
            return gradient
        kept = torch.ones(value.shape[0], 1)
        kept[row] = 0
        return t.builder.binary("mul", gradient, t.builder.constant(kept))

    def text(self, t, updates, metrics, prediction):
        b = t.builder
        arguments, results, returned = [], [], []

        def state(item, result):
            arguments.append((item.value, item.name, f'amp.role = "{item.role}"', item.init))
            if result is not None:
                results.append(f"{result.type} {{amp.updates = {quote(item.name)}}}")
                returned.append(result)

        for item in [*self.parameters.values(), *updates.states, *self.buffers.values()]:
            state(item, item.result)
        rng, advanced = self.rng
        if rng is not None:
            b.location = "rng"
            state(State("rng", "model_state", rng, "#amp.init<rng_state>"), advanced or b.unary("advance_rng", rng))
        for name, value, rate in updates.rates:
            init = f"#amp.init<constant, value = {attribute_text(rate).split()[0]}>"
            arguments.append((value, name, 'amp.role = "hyperparameter"', init))
        for value, name in zip(self.inputs, self.batch.names):
            if self.parts > 1:
                value = Value(whole_name(value), whole_shape(value, self.parts), value.dtype)
            arguments.append((value, name, 'amp.role = "batch"', None))
        for name, value in metrics.items():
            results.append(f'{value.type} {{amp.metric = "{name}"}}')
            returned.append(value)
        if prediction is not None and prediction.is_float and prediction.rank and self.per_sample(prediction):
            results.append(f'{prediction.type} {{amp.prediction = "output"}}')
            returned.append(prediction)
        lines = ["func.func @step("]
        for position, (value, name, role, init) in enumerate(arguments):
            end = ")" if position == len(arguments) - 1 else ","
            initial = f", amp.init = {init}" if init else ""
            lines.append(f"    {value.name}: {value.type} {{{role}, amp.name = {quote(name)}{initial}}} loc({quote(name)}){end}")
        lines.append("    -> (" + ",\n        ".join(results) + ") {")
        lines += ["  " + line for line in b.lines]
        names, types = ", ".join(v.name for v in returned), ", ".join(v.type for v in returned)
        return "\n".join([*lines, f"  return {names} : {types}", "}", ""])

    def per_sample(self, value):
        first = self.inputs[0]
        return bool(first.rank) and value.shape[0] == first.shape[0]


def data_dependent(error):
    """The entry of UnsupportedModel for control flow that the values of tensors decide."""
    reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return ("", "control flow, a number or a shape that depends on the data of a batch",
            f"use torch.where or a mask in place of Python's if, and tensors in place of .item() (torch: {reason.strip()[:200]})")


class FixedBatch(Exception):
    """Why a graph holds for one batch size only."""


def constant(t, tensor):
    return Const([tensor.detach().cpu()] * len(t.sizes))


def check_types(model, loss_fn):
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model: expected a torch.nn.Module, got {type(model).__name__}")
    if isinstance(model, torch._dynamo.eval_frame.OptimizedModule):
        raise TypeError("model: a result of torch.compile cannot be exported; pass the module itself, model._orig_mod")
    scripted = [name for name, module in model.named_modules() if isinstance(module, torch.jit.ScriptModule)]
    if scripted:
        part = f"the module '{scripted[0]}'" if scripted[0] else "the model"
        raise TypeError(f"model: {part} is a result of torch.jit, which has no code of Python to capture; pass the module "
                        "from which torch.jit.script or torch.jit.trace made it")
    if any(torch.nn.parameter.is_lazy(parameter) for parameter in model.parameters()):
        raise ValueError("model: a lazy module has no shapes yet; run the model once on a batch before you create the optimizer")
    if isinstance(loss_fn, type):
        raise TypeError(f"loss_fn: expected a loss, got the class {loss_fn.__name__}; pass {loss_fn.__name__}()")
    if loss_fn is not None and not callable(loss_fn):
        raise TypeError(f"loss_fn: expected a function or a module, got {type(loss_fn).__name__}")


def check_arguments(model, optimizers, batch):
    if not model.training:
        raise ValueError("model is in evaluation mode; call model.train() first")
    found = [("", text, "") for text in problems(optimizers)]
    for name, parameter in model.named_parameters():
        if parameter.is_complex():
            advice = "keep its real and imaginary parts as an f32 parameter, and call torch.view_as_complex on it in forward"
            found.append((name, "a parameter of complex numbers", advice))
    # A line for each type, since a model can have hundreds of parameters.
    for dtype in dict.fromkeys(p.dtype for p in model.parameters() if not p.is_complex() and p.dtype != torch.float32):
        names = [name for name, parameter in model.named_parameters() if parameter.dtype == dtype]
        count = "a parameter" if len(names) == 1 else f"{len(names)} parameters"
        found.append(("", f"{count} of type {dtype}, such as '{names[0]}'",
                      "call model.float(); parameters are f32, and the passes choose low types"))
    for name, tensor in zip(batch.names, batch.tensors):
        if tensor.dtype not in (*TORCH_DTYPES.values(), torch.uint8) or tensor.dtype in (torch.float16, torch.bfloat16):
            found.append((name, f"a batch argument of type {tensor.dtype}", "pass f32, f64, int32, int64, uint8 or bool"))
    if found:
        raise UnsupportedModel(found)


def export(model, loss_fn, optimizer, batch, out, *, dynamic_batch=None, clip_grad_norm=None, clip_grad_value=None,
           ignore_index=False, prediction=True, names=None, accumulate=1):
    """Writes a training step for amp-run and amp-translate: `step.mlir`, and `init.npz`
    with the names of state_dict, into the folder `out`.

    model          an nn.Module in training mode, with parameters of f32.
    loss_fn        called as loss_fn(model(inputs), targets); None if the model returns
                   its loss, alone, first, or as `.loss`.
    optimizer      SGD, Adam, AdamW or Muon of torch.optim, with any groups; or a list.
                   Learning rates become hyperparameters, by name `lr` or `lr.<group>`.
    batch          (inputs, targets), or inputs without a loss_fn. Inputs are a tensor, a
                   tuple (positional) or a dict (by name). The example decides shapes and
                   types, and whether labels with the loss's ignore_index occur.
    dynamic_batch  True: any batch size; False: that of the example; None: any, if the
                   model allows it.
    clip_grad_norm, clip_grad_value
                   as clip_grad_norm_ and clip_grad_value_ with this bound.
    ignore_index   True: labels may be ignored, although the example has none of these.
    prediction     whether the model's output is a result too, for evaluation.
    names          names of the batch's tensors, in order; by default those of arguments.
    accumulate     the number of equal parts of a batch that run one after the other, before
                   one update by the mean of their gradients. Without a prediction.

    Returns an Export. Raises UnsupportedModel with all that has no translation."""
    traced = trace(model, loss_fn, optimizer, batch, dynamic_batch=dynamic_batch, clip_grad_norm=clip_grad_norm,
                   clip_grad_value=clip_grad_value, ignore_index=ignore_index, prediction=prediction, names=names,
                   accumulate=accumulate)
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / "step.mlir", lambda path: path.write_text(traced.text))
    arrays = {state.name: state.array.cpu().numpy() for state in traced.states if state.array is not None}
    replace(folder / "init.npz", lambda path: np.savez(open(path, "wb"), **arrays))
    rates = {name: rate for name, _, rate in traced.updates.rates}
    return Export(folder / "step.mlir", folder / "init.npz", traced.batch.names, rates, traced.options, traced.fixed)


@dataclasses.dataclass
class Traced:
    """A step as text, and where its arguments come from. `states` are its parameters,
    buffers and states of optimizers. `increments` are what a pass adds to counters, such as
    num_batches_tracked, by name. `calls` are the operations of torch that the step calls.
    `is_framed` says whether each tensor of the batch has an additional leading extent of 1.
    `labels` has, by position in the batch, pairs of a number of classes and the label that is ignored."""

    text: str
    parameters: dict
    buffers: dict
    updates: Updates
    batch: Batch
    options: str
    fixed: str
    parts: int
    increments: dict
    calls: dict
    is_framed: bool
    labels: dict

    @property
    def states(self):
        return [*self.parameters.values(), *self.buffers.values(), *self.updates.states]


def trace(model, loss_fn, optimizer, batch, *, dynamic_batch=None, clip_grad_norm=None, clip_grad_value=None,
          ignore_index=False, prediction=True, names=None, accumulate=1, calls=False):
    """Returns the step of `export` in memory. `export` documents the other arguments. With
    `calls`, the step may call operations of torch that have no rule."""
    check_version()
    check_types(model, loss_fn)
    optimizers = list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]
    entries = Batch(model, loss_fn, batch, names)
    check_arguments(model, optimizers, entries)
    for name, bound in (("clip_grad_norm", clip_grad_norm), ("clip_grad_value", clip_grad_value)):
        if bound is not None and (not isinstance(bound, (int, float)) or not bound > 0):
            raise ValueError(f"{name}: expected a positive number or None, got {bound!r}")
    if not isinstance(accumulate, int) or accumulate < 1:
        raise ValueError(f"accumulate: expected a positive number of parts of a batch, got {accumulate}")
    step = Step(model, loss_fn, optimizers, entries, clip_grad_norm, clip_grad_value, prediction, accumulate, calls)
    parts = parts_of(entries.tensors, accumulate) if accumulate > 1 else entries.tensors
    leading = {tensor.shape[:1] for tensor in parts}
    fixed = None
    if dynamic_batch is not False and (len(leading) > 1 or () in leading or next(iter(leading))[0] < 2):
        fixed = "the tensors of the batch have no common first extent of 2 or more"
    if dynamic_batch and fixed:
        raise ValueError(f"dynamic_batch=True: {fixed}")
    if dynamic_batch is not False and fixed is None:
        try:
            text, updates = step.translate(True, ignore_index)
        except (FixedBatch, UnsupportedModel, torch._dynamo.exc.UserError, RuntimeError) as error:
            if dynamic_batch:
                raise
            fixed = str(error).strip().splitlines()[0]
    if dynamic_batch is False or fixed is not None:
        text, updates = step.translate(False, ignore_index)
    options = "recompute-blocks=checkpoint.*" if 'loc("checkpoint.' in text else ""
    return Traced(text, step.parameters, step.buffers, updates, entries, options, fixed, accumulate,
                  step.increments, step.calls or {}, step.is_framed, step.labels)


def replace(path, write):
    """Writes a file whole or not at all."""
    scratch = path.with_name(path.name + ".new")
    write(scratch)
    os.replace(scratch, path)


__all__ = ["Export", "UnsupportedModel", "export"]
