# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""States of a model, its optimizers and a GradScaler as files, with the names of a step."""

import json
import os

import numpy as np
import torch

RESERVED = "__amp_"
TYPES = "__amp_types__"
SCALER = ("loss_scale", "growth_tracker", "hysteresis_tracker")


def is_safetensors(path):
    suffix = os.path.splitext(path)[1]
    if suffix not in (".npz", ".safetensors"):
        raise ValueError(f"'{path}': expected a file .npz or .safetensors")
    return suffix == ".safetensors"


def safetensors():
    try:
        import safetensors.torch
    except ImportError:
        raise ImportError("files .safetensors need the package safetensors; call pip install safetensors, or use .npz") from None
    return safetensors.torch


def read(path):
    """The tensors of a file by name, and whether a run of amp-run saved it."""
    path = os.fspath(path)
    if is_safetensors(path):
        return safetensors().load_file(path)
    with np.load(path, allow_pickle=False) as file:
        types = json.loads(file[TYPES].tobytes()) if TYPES in file else {}
        tensors = {}
        for name in file:
            if name.startswith(RESERVED):
                continue
            # numpy has no bf16: such an array has the bits.
            bits = name in types
            array = np.array(file[name].view(np.int16) if bits else file[name])
            tensors[name] = torch.from_numpy(array).view(torch.bfloat16) if bits else torch.from_numpy(array)
    return tensors


def write(path, tensors):
    """Writes tensors by name, whole or not at all."""
    path = os.fspath(path)
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    scratch = path + ".new"
    if is_safetensors(path):
        safetensors().save_file(tensors, scratch)
    else:
        types = {name: "bf16" for name, tensor in tensors.items() if tensor.dtype == torch.bfloat16}
        arrays = {name: (tensor.view(torch.uint16) if name in types else tensor).numpy() for name, tensor in tensors.items()}
        if types:
            arrays[TYPES] = np.frombuffer(json.dumps(types).encode(), np.uint8)
        with open(scratch, "wb") as file:
            np.savez(file, **arrays)
    os.replace(scratch, path)


def listed(optimizer):
    if optimizer is None:
        return []
    return list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]


def members(optimizers):
    """The optimizer and each parameter, in the order of groups."""
    return [(optimizer, parameter) for optimizer in optimizers for group in optimizer.param_groups
            for parameter in group["params"] if parameter.requires_grad]


def counts_of(optimizers):
    """The name of each count of steps, as steps have it, with its value and parameters."""
    found = {}
    for optimizer, parameter in members(optimizers):
        entry = optimizer.state.get(parameter, {})
        count = float(entry["step"]) if "step" in entry else 0.0
        found.setdefault(count, []).append((optimizer, parameter))
    return {f"step.{number}" if number else "step": (count, owners) for number, (count, owners) in enumerate(found.items())}


def save_state(path, model, optimizer=None, scaler=None):
    """Writes the state of a model, compiled or not, by the names of a step: parameters
    and buffers as in state_dict, states of the optimizer as `<parameter>.<key>`, the steps
    of Adam as `step`, the scale of a GradScaler as `loss_scale` and `growth_tracker`.

    path   a file .npz, which `amp-run --init` reads too, or .safetensors."""
    tensors = {**dict(model.named_parameters()), **model.state_dict()}
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    optimizers = listed(optimizer)
    for one, parameter in members(optimizers):
        if id(parameter) not in names:
            raise ValueError("optimizer: it has a parameter that the model does not have")
        for key, value in one.state.get(parameter, {}).items():
            if key != "step" and isinstance(value, torch.Tensor):
                tensors[f"{names[id(parameter)]}.{key}"] = value
    if any("step" in one.state.get(parameter, {}) for one, parameter in members(optimizers)):
        tensors |= {name: torch.tensor(count) for name, (count, _) in counts_of(optimizers).items()}
    if scaler is not None and scaler.is_enabled():
        tensors["loss_scale"] = torch.tensor(scaler.get_scale(), dtype=torch.float32)
        tensors["growth_tracker"] = torch.tensor(scaler._get_growth_tracker(), dtype=torch.int32)
    write(path, tensors)


class Loader:
    """Gives the tensors of a file to their owners. Nothing changes before all of them fit."""

    def __init__(self, path, tensors, model):
        self.path, self.tensors, self.model = path, tensors, model
        self.used, self.copies, self.states = set(), [], []
        self.parameters = dict(model.named_parameters())

    def load_model(self):
        own = {**self.parameters, **self.model.state_dict()}
        missing = [name for name in self.parameters if name not in self.tensors]
        if missing:
            raise ValueError(f"'{self.path}' has no {', '.join(map(repr, missing))}, which the model has")
        for name, tensor in own.items():
            if name in self.tensors:
                self.copies.append((tensor, self.take(name, tensor.shape)))

    def take(self, name, shape):
        value = self.tensors[name]
        if tuple(value.shape) != tuple(shape):
            raise ValueError(f"'{self.path}' has '{name}' with the shape {tuple(value.shape)}, expected {tuple(shape)}")
        self.used.add(name)
        return value

    def load_optimizers(self, optimizers):
        owners = {id(parameter): optimizer for optimizer, parameter in members(optimizers)}
        known = set(self.parameters) | set(self.model.state_dict())
        for name in self.tensors:
            owner, _, key = name.rpartition(".")
            parameter = self.parameters.get(owner)
            if name in known or parameter is None or id(parameter) not in owners:
                continue
            value = self.take(name, parameter.shape).to(device=parameter.device, dtype=parameter.dtype, copy=True)
            self.states.append((owners[id(parameter)], parameter, key, value))
        counts = [name for name in self.tensors if name == "step" or name.startswith("step.") and name[5:].isdigit()]
        counts = [name for name in counts if name not in known]
        groups = counts_of(optimizers) if len(counts) > 1 else {"step": (0.0, members(optimizers))}
        if counts and set(counts) != set(groups):
            raise ValueError(f"'{self.path}' has {len(counts)} counts of steps, but the optimizer has {len(groups)}; load "
                             "the state of the optimizer that the step was exported with first")
        moved = {id(parameter) for _, parameter, key, _ in self.states if key == "exp_avg"}
        for name in counts:
            value = self.take(name, ())
            for optimizer, parameter in groups[name][1]:
                if id(parameter) in moved:
                    self.states.append((optimizer, parameter, "step", value.to(torch.float32, copy=True)))

    def apply(self):
        with torch.no_grad():
            for tensor, value in self.copies:
                tensor.copy_(value)
        for optimizer, parameter, key, value in self.states:
            optimizer.state[parameter][key] = value


def load_state(path, model, optimizer=None, scaler=None, strict=True):
    """Reads a state that save_state, `amp-run --save` or a step wrote into a model, compiled
    or not, and into its optimizers and GradScaler. With `strict`, a state without an owner
    is an error."""
    loader = Loader(path, read(path), model)
    loader.load_model()
    loader.load_optimizers(listed(optimizer))
    scaled = scaler is not None and "loss_scale" in loader.tensors
    # Random numbers of a step and the hysteresis of a scaler have no place in torch.
    loader.used |= {"rng", "hysteresis_tracker"} | (set(SCALER) if scaled else set())
    rest = [name for name in loader.tensors if name not in loader.used]
    if strict and rest:
        advice = "scaler=" if rest[0] in SCALER else "optimizer="
        raise ValueError(f"'{path}' has {', '.join(map(repr, rest))}, which nothing takes; pass {advice}, or strict=False")
    loader.apply()
    if scaled:
        state = scaler.state_dict()
        state.update(scale=float(loader.tensors["loss_scale"]), _growth_tracker=int(loader.tensors["growth_tracker"]))
        scaler.load_state_dict(state)


__all__ = ["load_state", "save_state"]
