# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training step as a callable object that shares the state of the model."""

import contextlib
import json
import logging
import math
import os
import re
import tempfile
import warnings

import torch

from . import step_interface as c
from .aliases import Attribute, Constant, Counter, Groups, Modes, PartSlot, Scaler, Slot, StaleStep, Storage
from .builder import precision_name
from .cuda_wheels import find_compiler
from .decisions import slot_types, write_policy
from .export import check_types, tensors_of, trace
from .lengths import first_time, shorter
from .ranks import find_ranks
from .runtime import CudaDevice, HostDevice, Instance, Program, StepError, note_numbers

CONSTANT_INIT = re.compile(r"#amp\.init<constant, value = [^>]*>")
#: The number of shapes of a batch after which a program for another one is a warning.
MANY_SHAPES = 8


def structure_of(item):
    """The nesting of a batch, with all values that are not tensors."""
    if isinstance(item, torch.Tensor):
        return "a tensor"
    if isinstance(item, dict):
        return {key: structure_of(part) for key, part in item.items()}
    if isinstance(item, (list, tuple)):
        return [structure_of(part) for part in item]
    return "an array of numpy" if hasattr(item, "__array__") else item


#: The numbers of a nested list that a message shows.
MAX_NUMBERS = 4


def nesting_of(item):
    """What structure_of returned, for a message, which has no long lists of numbers."""
    if isinstance(item, dict):
        return "{" + ", ".join(f"{key!r}: {nesting_of(part)}" for key, part in item.items()) + "}"
    if isinstance(item, list):
        leaves = torch.utils._pytree.tree_leaves(item)
        if len(leaves) > MAX_NUMBERS and all(isinstance(leaf, (int, float)) for leaf in leaves):
            return f"a list of {len(leaves)} numbers"
        return "[" + ", ".join(map(nesting_of, item)) + "]"
    return item if item in ("a tensor", "an array of numpy") else repr(item)


def describe(shape):
    return "x".join("?" if extent < 0 else str(extent) for extent in shape) or "a scalar"


def fits(shape, declared):
    return len(shape) == len(declared) and all(mine in (own, -1) for own, mine in zip(shape, declared))


def moving(source, target):
    """The call that moves a model. On the device meta, parameters have no values that could move."""
    if source.type == "meta":
        return f"model.to_empty(device='{target}'), and initialise the parameters,"
    return f"model.to('{target}')"


def choose_device(device, model):
    """The device of a step, by default that of the model."""
    parameter = next(model.parameters(), None)
    if device is None:
        device = parameter.device if parameter is not None else "cpu"
    if isinstance(device, HostDevice):
        return device
    try:
        device = torch.device(device)
    except RuntimeError:
        raise ValueError(f"device: expected cpu or cuda, got {device!r}") from None
    if device.type == "cpu":
        return HostDevice()
    if device.type != "cuda":
        where = f"the model is there; call {moving(device, 'cpu')}" if parameter is not None and parameter.device == device else ""
        raise ValueError(f"device: expected cpu or cuda, got {device}" + (f"; {where}" if where else ""))
    if not torch.cuda.is_available():
        raise ValueError("device: this torch has no GPU (torch.cuda.is_available() is False); pass device='cpu'")
    return CudaDevice(device)


def default_cache():
    """The folder in which amp-run keeps compiled steps too."""
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "amp")


def quoted(value):
    """A value in the options of a pipeline."""
    return f'"{value}"' if any(letter in str(value) for letter in " ,={}") else str(value)


#: The policy of steps in bf16 and fp16.
DEFAULT_POLICY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "policies", "compiled.yaml")


class Recipe:
    """How programs are compiled: the options of amp_step_compile, without the batch."""

    def __init__(self, device, precision, policy, loss_scale, scaler, report, pipeline, shard_optimizer, compiler_options):
        self.device = device
        self.precision = precision_name(precision)
        if self.precision not in ("f32", "fp16", "bf16", "fp8") and not str(self.precision).startswith("fp8-"):
            raise ValueError(f"precision: expected f32, fp16, bf16, fp8 or fp8- and a recipe, got {precision}")
        self.loss_scale = None if loss_scale is None else str(loss_scale)
        if policy is None and self.precision in ("bf16", "fp16") and "policy=" not in (pipeline or ""):
            policy = DEFAULT_POLICY
        self.policy, self.report, self.pipeline = policy, report, pipeline
        self.compiler_options = compiler_options
        self.scaler, self.ranks = scaler, find_ranks()
        if self.ranks is not None:
            self.compiler_options = {**compiler_options, "num_ranks": self.ranks.size, "rank": self.ranks.rank,
                                     "flags": c.SHARD_OPTIMIZER if shard_optimizer else 0}
        elif shard_optimizer:
            warnings.warn("shard_optimizer has no effect, because this process trains alone; start several processes with "
                          "torchrun and call init_process_group", stacklevel=4)
        if scaler is not None:
            if not isinstance(scaler, torch.amp.GradScaler):
                raise TypeError(f"scaler: expected a torch.amp.GradScaler, got {type(scaler).__name__}")
            if self.loss_scale not in (None, "dynamic"):
                raise ValueError("loss_scale: a GradScaler has a dynamic scale; pass one of both")
            self.loss_scale = "dynamic" if scaler.is_enabled() else "none"

    def policy_text(self):
        """A policy with the constants of the GradScaler."""
        scaler = self.scaler
        return (
            f"version: 1\nextends: {json.dumps(self.policy or 'default')}\nloss-scaling: {{mode: dynamic, scaler: pytorch, "
            f"growth-factor: {scaler.get_growth_factor()}, backoff-factor: {scaler.get_backoff_factor()}, "
            f"growth-interval: {scaler.get_growth_interval()}}}\n"
        )

    def compile(self, text, extra, batch_size, types=None):
        """The program of a step. `types` are `slot-types` of the policy."""
        with self.options(extra, batch_size, types, self.report) as options:
            return Program(text, **options)

    def note(self, text, extra, batch_size, types=None, report=None):
        """Notes the numbers of a program for a GPU, and does not compile it."""
        with self.options(extra, batch_size, types, report) as options:
            note_numbers(text, **{**options, "flags": options.get("flags", 0) | c.NOTE_NUMBERS})

    @contextlib.contextmanager
    def options(self, extra, batch_size, types, report):
        """The options of amp_step_compile, while the policy that they name exists."""
        options = [self.pipeline, extra]
        own_rules = self.scaler is not None and self.scaler.is_enabled()
        with tempfile.TemporaryDirectory() as folder:
            policy = self.policy
            if own_rules:
                policy = os.path.join(folder, "policy.yaml")
                with open(policy, "w") as file:
                    file.write(self.policy_text())
            elif self.has_dynamic_scale() and not self.names_scaler():
                options.append("scaler=pytorch")
            if types:
                policy = write_policy(types, policy or "default", folder)
            if policy:
                options.append(f"policy={quoted(policy)}")
            if report:
                options.append(f"report={quoted(report)}")
            yield {"backend": self.device.backend, "device": self.device.ordinal, "batch_size": batch_size,
                   "precision": self.precision, "loss_scale": None if own_rules else self.loss_scale,
                   "pipeline": " ".join(option for option in options if option), **self.compiler_options}

    def find_types(self, text, extra, batch_size):
        """The types that the costs decide for this text, as `slot-types` of a policy."""
        if self.precision == "f32" or "policy=" in (self.pipeline or ""):
            return {}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            if self.device.backend == "cuda":
                self.note(text, extra, batch_size, report=path)
            else:
                with self.options(extra, batch_size, None, path) as options:
                    Program(text, **options)
            with open(path) as file:
                return slot_types(file.read())

    def has_dynamic_scale(self):
        """Whether the loss scale is dynamic unless the policy says otherwise. It is by default in fp16 alone."""
        return self.loss_scale == "dynamic" or (self.loss_scale is None and self.precision == "fp16")

    def names_scaler(self):
        """Whether the user chose the rules of the loss scale."""
        return "scaler=" in (self.pipeline or "") or self.policy not in (None, "default", DEFAULT_POLICY)


class Variant:
    """A traced step and its instance, for some shapes of the batch."""

    def __init__(self, traced, instance):
        self.traced, self.instance = traced, instance

    def takes(self, tensors):
        return all(fits(tensor.shape, shape) for tensor, (_, _, shape) in zip(tensors, self.instance.batches))


class CompiledStep:
    """A training step: `loss = step(inputs, targets)` runs forward and backward passes and
    the update, and returns the loss as a tensor. Without a loss_fn, `step(inputs)`.

    metrics    the metrics of the last step by name, as tensors.
    scaler     a torch.amp.GradScaler with the loss scale of the step, or None.
    states     all states by name, as tensors over the memory of the step."""

    def __init__(self, model, loss_fn, optimizer, batch, recipe, seed, settings, watch_every=0):
        self.watch_every = watch_every
        self.model, self.loss_fn, self.recipe = model, loss_fn, recipe
        self.optimizers = list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]
        self.settings, self.seed = settings, seed
        self.structure = structure_of(batch)
        self.check_devices(batch)
        self.variants, self.types = [], None
        traced = self.trace(batch)
        if recipe.device.backend == "cuda":
            self.note_lengths(traced, batch)
        self.main = self.add_variant(traced, tensors_of(batch)[0])
        self.last = self.main
        self.bind()
        self.ranks = recipe.ranks
        if self.ranks is not None:
            # All ranks start with the state of rank 0, as with DistributedDataParallel.
            self.ranks.broadcast(self.states.values())
            for counter in self.counters:
                counter.publish()

    def __reduce__(self):
        raise TypeError("a compiled step cannot be copied or pickled; copy or save the model and the state_dict of the "
                        "optimizer, and compile a step for them")

    # -- Compiling ---------------------------------------------------------------

    def trace(self, batch, parts=None):
        settings = self.settings if parts is None else {**self.settings, "accumulate": parts}
        return trace(self.model, self.loss_fn, self.optimizers, batch, calls=True, **settings)

    def add_variant(self, traced, tensors, types=None):
        """Compiles a program for a batch of these shapes, with these types of slots."""
        program = self.recipe.compile(*self.sources(traced, tensors), types)
        variant = Variant(traced, Instance(program, self.recipe.device, self.seed or 0, traced.calls, self.recipe.ranks,
                                           traced.is_framed))
        if self.watch_every:
            variant.instance.call("watch", self.watch_every, -1)
        self.variants.append(variant)
        return variant

    def sources(self, traced, tensors):
        """The text, the options and the number of samples of the program for a batch of these shapes."""
        is_open = traced.fixed is None and self.settings["dynamic_batch"] is not False
        samples = tensors[0].shape[0] if is_open and self.recipe.device.backend == "cuda" else 0
        # Rates and counts are set from Python. As constants, each value of them would be
        # another program for the cache.
        return CONSTANT_INIT.sub("#amp.init<zeros>", traced.text), traced.options, samples

    def note_lengths(self, traced, batch):
        """Finds the numbers that depend on the length of a sequence, before the first compilation of this step."""
        tensors, rebuild = tensors_of(batch)
        others = shorter(tensors)
        source = self.sources(traced, tensors)
        if not others or not first_time(self.recipe.compiler_options["cuda_cache"], source, self.recipe.precision,
                                        self.recipe.policy, self.recipe.pipeline):
            return
        for other in others:
            try:
                # Not every model takes another length, or has the same structure for it.
                shorter_step = self.trace(rebuild(other))
                self.recipe.note(*self.sources(shorter_step, other), self.main_types(traced))
                return
            except Exception as error:
                logging.getLogger(__name__).debug("no program for another length: %s", error)

    def main_types(self, traced=None):
        """The types of slots in the program of the example batch. Programs for other shapes use them to share kernels."""
        if self.types is None:
            traced = traced or self.main.traced
            self.types = self.recipe.find_types(*self.sources(traced, traced.batch.tensors))
        return self.types

    def check_devices(self, batch):
        device = self.recipe.device.torch_device
        for name, parameter in self.model.named_parameters():
            if parameter.device != device:
                raise ValueError(f"parameter '{name}' is on {parameter.device}, but the step is on {device}; call "
                                 f"{moving(parameter.device, device)} before you create the optimizer")
        for tensor in tensors_of(batch)[0]:
            if tensor.device != device:
                raise ValueError(f"batch: a tensor is on {tensor.device}, but the step is on {device}; call .to('{device}')")

    # -- State -------------------------------------------------------------------

    def bind(self):
        """Moves the tensors of the model, the optimizers and the scaler into the step."""
        traced, instance = self.main.traced, self.main.instance
        self.states = instance.states
        views = self.states
        self.groups = Groups(self.optimizers, [name for name, _, _ in traced.updates.rates])
        whole = [("", self.model)] + ([("loss", self.loss_fn)] if isinstance(self.loss_fn, torch.nn.Module) else [])
        modules = [(f"{prefix}.{path}".strip("."), module) for prefix, root in whole
                   for path, module in root.named_modules()]
        self.modes = Modes(modules)
        divided = [state.name for state in [*traced.parameters.values(), *traced.buffers.values()] if state.name in instance.parts]
        if divided:
            raise ValueError(f"shard_optimizer: the ranks divide '{divided[0]}', which the model needs as a whole; pass "
                             "master-weights=cast in pipeline")
        self.part_slots = []
        self.aliases = [*self.bind_modules(modules, views), *self.bind_optimizers(views)]
        self.scaler = None
        if "loss_scale" in views:
            scaler = self.recipe.scaler
            if scaler is None:
                scaler = torch.amp.GradScaler(self.recipe.device.torch_device.type, init_scale=float(views["loss_scale"]))
            self.aliases.append(Scaler(scaler, views["loss_scale"], views["growth_tracker"]))
            self.scaler = scaler
        self.refresh()

    def refresh(self):
        """Takes over tensors that code of torch has replaced."""
        self.recipe.device.order(self.main.instance)
        for alias in self.aliases:
            alias.refresh()

    def bind_modules(self, modules, views):
        traced = self.main.traced
        slots, tensors, buffers, self.batch_counts = {}, {}, {}, []
        for path, module in modules:
            for key, tensor in module._parameters.items():
                if tensor is not None:
                    tensors[id(tensor)] = tensor
                    slots.setdefault(id(tensor), []).append((module._parameters, key))
            for key, tensor in module._buffers.items():
                if tensor is not None:
                    buffers[f"{path}.{key}".strip(".")] = module._buffers, key
        for key, state in traced.parameters.items():
            yield Storage(state.name, tensors[key], slots[key], views[state.name])
        updated = {state.name for state in traced.buffers.values()}
        for name, (table, key) in buffers.items():
            if name in updated:
                yield Storage(name, table[key], [(table, key)], views[name])
            elif name in traced.increments or key == "num_batches_tracked":
                self.batch_counts.append((name, table, key))
            else:
                yield Constant(name, table, key)
        for path, module in modules:
            for key, tensor in vars(module).items():
                if isinstance(tensor, torch.Tensor):
                    yield Attribute(f"{path}.{key}".strip("."), vars(module), key)

    def bind_optimizers(self, views):
        traced = self.main.traced
        updates = traced.updates
        owners = {}
        for group in updates.groups:
            for parameter in group.parameters:
                owners[traced.parameters[id(parameter)].name] = group.optimizer, parameter
        counters = {state.name for state in updates.counters.values()}
        members = {name: [] for name in counters}
        self.counters = []
        for state in updates.states:
            if state.name in counters:
                continue
            name, _, key = state.name.rpartition(".")
            is_part = state.name in self.main.instance.parts
            if name not in owners or not (is_part or state.name in views):
                continue
            optimizer, parameter = owners[name]
            if key == "exp_avg":
                counter = updates.counters[int(optimizer.state.get(parameter, {}).get("step", 0))]
                members[counter.name].append((optimizer, parameter))
            if is_part:
                self.part_slots.append(PartSlot(optimizer, parameter, key, state.name, self.main.instance))
                yield self.part_slots[-1]
            else:
                yield Slot(optimizer, parameter, key, state.name, views[state.name])
        for name, owned in members.items():
            self.counters.append(Counter(owned, views[name]))
            yield self.counters[-1]

    # -- Running -----------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        batch = self.gather(args, kwargs)
        tensors = self.check(batch)
        self.modes.refresh()
        self.refresh()
        rates = self.groups.rates()
        if self.ranks is not None:
            self.ranks.check_rows(tensors[0].shape[0] if tensors and tensors[0].dim() else 0)
        variant = self.choose(batch, tensors)
        if "rng" in self.states and self.seed is None:
            # As in eager mode, the generator of torch decides the masks.
            self.states["rng"].zero_()[:1].random_()
            if self.ranks is not None:
                self.ranks.broadcast([self.states["rng"]])
        if variant is not self.main:
            variant.instance.copy_states(self.main.instance)
        try:
            variant.instance.run(tensors, rates)
        except StepError as error:
            if not re.match("value -[0-9]+ at element", str(error)):
                raise
            raise StepError(f"{error}; if the loss ignores this label, pass ignore_index=True to amp_torch.compile, or an "
                            "example batch with the label") from error
        if variant is not self.main:
            self.main.instance.copy_states(variant.instance)
        self.last = variant
        self.finish()
        return variant.instance.metrics["loss"].clone()

    def finish(self):
        """What eager training does in Python after an update."""
        for counter in self.counters:
            counter.publish()
        traced = self.last.traced
        if self.batch_counts:
            # A module that runs several times in a pass counts each.
            counts = [(table[key], traced.increments.get(name, 0) * traced.parts) for name, table, key in self.batch_counts]
            torch._foreach_add_(*map(list, zip(*counts)))
        for optimizer in self.optimizers:
            # Schedulers warn if no step of the optimizer precedes their own.
            optimizer._opt_called = True

    def gather(self, args, kwargs):
        """The batch from the arguments of a call, nested as the example was."""
        if self.loss_fn is not None:
            if len(args) != 2 or kwargs:
                raise TypeError(f"expected step(inputs, targets), got {len(args)} arguments" +
                                (f" and {', '.join(kwargs)}" if kwargs else ""))
            return args
        if isinstance(self.structure, dict) and kwargs and not args:
            return kwargs
        alone = len(args) == 1 and not (isinstance(args[0], (list, tuple)) and len(self.structure) == len(args[0]))
        if isinstance(self.structure, list) and (len(args) != 1 or alone and len(self.structure) == 1) and not kwargs:
            return args
        if len(args) != 1 or kwargs:
            raise TypeError("expected step(inputs), with inputs as in the example batch")
        return args[0]

    def check(self, batch):
        """The tensors of a batch, or an error that says what differs from the example."""
        if structure_of(batch) != self.structure:
            if "an array of numpy" in str(structure_of(batch)):
                raise TypeError("the batch has an array of numpy; call torch.from_numpy on it")
            raise TypeError(f"the batch is {nesting_of(structure_of(batch))}, but the step was compiled for {nesting_of(self.structure)}; pass the "
                            "same nesting and the same numbers, or compile a step for it")
        every, _ = tensors_of(batch)
        entries = self.main.traced.batch
        tensors = [None] * len(entries.tensors)
        for tensor, place in zip(every, entries.places):
            if tensors[place] is not None and tensors[place] is not tensor:
                raise ValueError(f"'{entries.names[place]}' occurs twice in the example batch; pass one tensor for both")
            tensors[place] = tensor
        rows = {}
        for (name, dtype, declared), tensor in zip(self.main.instance.batches, tensors):
            self.check_tensor(name, dtype, declared, tensor)
            if declared and declared[0] < 0:
                rows[name] = tensor.shape[0]
        for place, limits in self.main.traced.labels.items():
            self.check_labels(self.main.instance.batches[place][0], tensors[place], limits)
        if len(set(rows.values())) > 1:
            listed = ", ".join(f"'{name}' has {count}" for name, count in rows.items())
            raise ValueError(f"the tensors of a batch have different numbers of samples: {listed}")
        return tensors

    def check_tensor(self, name, dtype, declared, tensor):
        device = self.recipe.device.torch_device
        if tensor.dtype != dtype:
            raise TypeError(f"'{name}' is {tensor.dtype}, but the step was compiled for {dtype}; call .to({dtype})")
        if tensor.device != device:
            raise ValueError(f"'{name}' is on {tensor.device}, but the step is on {device}; call .to('{device}')")
        if tensor.dim() != len(declared):
            raise ValueError(f"'{name}' has the shape {describe(tensor.shape)}, but the step was compiled for "
                             f"{describe(declared)}; pass a tensor of rank {len(declared)}")
        if tensor.numel() == 0:
            raise ValueError(f"'{name}' has the shape {describe(tensor.shape)} and no elements; pass at least one sample")

    def check_labels(self, name, labels, limits):
        """Refuses labels that would count as ignored. Labels on a GPU are not checked, since that would wait for it."""
        if self.recipe.device.backend != "cpu":
            return
        for classes, ignored in limits:
            wrong = labels[((labels < 0) | (labels >= classes)) & (labels != ignored)]
            if wrong.numel():
                raise ValueError(f"'{name}' has the label {wrong[0].item()}; expected classes from 0 to {classes - 1}, or "
                                 f"{ignored}, which is ignored")

    def choose(self, batch, tensors):
        """The variant for these shapes, which is compiled if it is new."""
        # A last batch may have fewer equal parts.
        parts = math.gcd(self.main.traced.parts, *(tensor.shape[0] for tensor in tensors if tensor.dim()))
        for variant in self.variants:
            if variant.takes(tensors) and variant.traced.parts == parts:
                return variant
        if len(self.variants) == MANY_SHAPES:
            warnings.warn(f"the step has programs for {MANY_SHAPES} shapes of the batch and compiles more; pad batches to a "
                          "few shapes", stacklevel=3)
        traced = self.main.traced
        is_open = traced.fixed is None and self.settings["dynamic_batch"] is not False
        same_rows = all(fits(tensor.shape[1:], example.shape[1:]) for tensor, example in zip(tensors, traced.batch.tensors))
        types = None
        if not (is_open and same_rows and traced.parts == parts):
            # Programs of a GPU share their kernels if their types are the same.
            if self.recipe.device.backend == "cuda" and traced.parts == parts:
                types = self.main_types()
            try:
                traced = self.trace(batch, parts)
            except Exception as error:
                got = ", ".join(f"'{name}' {describe(tensor.shape)}"
                                for (name, _, _), tensor in zip(self.main.instance.batches, tensors))
                want = ", ".join(f"'{name}' {describe(shape)}" for name, _, shape in self.main.instance.batches)
                raise ValueError(f"the batch has {got}, but the step was compiled for {want}, and the model does not take "
                                 f"these shapes: {str(error).strip().splitlines()[0]}") from error
        variant = self.add_variant(traced, tensors, types)
        if variant.instance.states.keys() != self.states.keys():
            self.variants.remove(variant)
            raise StaleStep("the optimizers have other states than when the step was compiled; call amp_torch.compile again")
        return variant

    def save(self, path):
        """Writes a checkpoint, as `amp-run --save`."""
        self.refresh()
        self.main.instance.call("save", os.fspath(path).encode())

    def load(self, path):
        """Reads a checkpoint of `save` or of `amp-run --save`, which must be one of the same
        step: exported with the same arguments, in the same precision."""
        self.refresh()
        self.main.instance.call("load", os.fspath(path).encode())
        for counter in self.counters:
            counter.publish()

    def consolidate(self):
        """Collects the states that the ranks divide. All ranks call this. On rank 0, the optimizers
        then have these states, for `state_dict`, until the next step."""
        self.refresh()
        if not self.part_slots:
            return
        whole = self.main.instance.gather_parts()
        if self.ranks.rank == 0:
            for slot in self.part_slots:
                slot.publish(whole[slot.name])

    def watch_report(self, path=None):
        """Returns the counts of the watched values as a dict with the content of --watch-json of
        amp-run. The counts include only batches that use the program of the example batch.
        With a path, also writes the counts to a file: a page if it ends in .html, else JSON."""
        if not self.watch_every:
            raise ValueError("the step counts no values; pass watch=True, or a regular expression for their names, to "
                             "amp_torch.compile")
        title = type(self.model).__name__
        text = self.main.instance.report_watched(c.WATCH_JSON, title)
        if path is not None:
            is_page = os.fspath(path).endswith(".html")
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.main.instance.report_watched(c.WATCH_PAGE, title) if is_page else text)
        return json.loads(text)

    @property
    def metrics(self):
        self.recipe.device.order(self.last.instance)
        return {name: tensor.clone() for name, tensor in self.last.instance.metrics.items()}


def compile(model, loss_fn, optimizer, batch, *, precision="f32", policy=None, device=None, loss_scale=None, scaler=None,
            seed=None, report=None, pipeline=None, threads=None, cuda_compiler=None, cache=None, dynamic_batch=None,
            clip_grad_norm=None, clip_grad_value=None, ignore_index=False, prediction=False, accumulate=1, watch=None,
            watch_every=1, shard_optimizer=False):
    """Compiles a training step and moves the state of the model and the optimizer into it.

    model, loss_fn, optimizer, batch, dynamic_batch, clip_grad_norm, clip_grad_value,
    ignore_index, prediction, accumulate
                  as for `export`. The batch is an example. By default without prediction.
    precision     "f32", "bf16", "fp16" or their types of torch, "fp8" (bf16 and 8-bit products) or
                  "fp8-" and a recipe.
                  Parameters stay in f32.
    policy        the name of a preset or a YAML file; by default, for bf16 and fp16,
                  policies/compiled.yaml of this package, whose steps are as near to f32
                  as autocast.
    device        "cpu" or "cuda"; by default that of the model.
    loss_scale    "dynamic", "layerwise", "none" or a number; by default dynamic for fp16.
    scaler        a torch.amp.GradScaler, whose constants and state the step takes over.
    seed          None: torch's generator decides the masks of dropout, as in eager mode;
                  a number: the step has its own random numbers, which are state.
    report        a file (.html or .json) for the decisions on precision.
    pipeline      further options of amp-training-pipeline, as text.
    threads       threads of a step of the CPU; by default as for amp-run.
    cuda_compiler as --cuda-compiler of amp-run.
    cache         a folder for compiled code, by default that of amp-run.
    watch         True, or a regular expression for names of values: the step counts these
                  values, and `watch_report()` returns the counts.
    watch_every   counts in one of so many steps.
    shard_optimizer
                  True: each process of torch.distributed keeps a part of the states of the
                  optimizers. `consolidate()` collects them.

    Returns a CompiledStep. Raises UnsupportedModel if the model has no translation, and
    StepError if the step does not compile."""
    check_types(model, loss_fn)
    if threads is not None and (not isinstance(threads, int) or threads < 1):
        raise ValueError(f"threads: expected a positive number of threads, got {threads!r}; leave it out for the default")
    device = choose_device(device, model)
    cache = os.fspath(cache or default_cache())
    if device.backend == "cuda" and cuda_compiler is None:
        cuda_compiler = find_compiler(cache)
    if watch is not None and not isinstance(watch, (bool, str)):
        raise TypeError(f"watch: expected True or a regular expression for names of values, got {watch!r}")
    if not isinstance(watch_every, int) or watch_every < 1:
        raise ValueError(f"watch_every: expected a number of steps of at least 1, got {watch_every!r}")
    compiler_options = {"threads": threads, "cuda_compiler": cuda_compiler, f"{device.backend}_cache": cache,
                        "watch": "." if watch is True else watch or None}
    if not isinstance(shard_optimizer, bool):
        raise TypeError(f"shard_optimizer: expected True or False, got {shard_optimizer!r}")
    recipe = Recipe(device, precision, policy, loss_scale, scaler, report, pipeline, shard_optimizer, compiler_options)
    settings = {"dynamic_batch": dynamic_batch, "clip_grad_norm": clip_grad_norm, "clip_grad_value": clip_grad_value,
                "ignore_index": ignore_index, "prediction": prediction, "accumulate": accumulate}
    return CompiledStep(model, loss_fn, optimizer, batch, recipe, seed, settings, watch_every if watch else 0)


__all__ = ["CompiledStep", "StaleStep", "StepError", "compile"]
