# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps the tensors of a model, its optimizers and a GradScaler in the memory of a step.

Code of torch may replace a tensor at any time, as `Optimizer.load_state_dict` does. So
each object here has a `refresh`, which runs before each step, takes over the values of a
tensor that was replaced, and puts the memory of the step in its place again."""

import torch

AGAIN = "call amp_torch.compile again"


class StaleStep(RuntimeError):
    """A change of the model or of an optimizer that the compiled step does not follow."""


def take(view, value, what):
    """Copies a value from elsewhere into the memory of a step."""
    if tuple(value.shape) != tuple(view.shape):
        raise StaleStep(f"{what} now has the shape {tuple(value.shape)}, the step has {tuple(view.shape)}; {AGAIN}")
    if value.dtype != view.dtype:
        raise StaleStep(f"{what} is now {value.dtype}, the step has {view.dtype}; convert it back with .to({view.dtype})")
    if value.device != view.device:
        raise StaleStep(f"{what} is now on {value.device}, the step is on {view.device}; move it back with "
                        f".to('{view.device}')")
    view.copy_(value.detach())


class Storage:
    """A parameter or a statistic of a module. `slots` are the places of modules that
    refer to it, as (dictionary, key)."""

    def __init__(self, name, tensor, slots, view):
        self.name, self.tensor, self.slots, self.view = name, tensor, slots, view
        self.address = view.data_ptr()
        self.requires_grad = tensor.requires_grad
        self.is_parameter = isinstance(tensor, torch.nn.Parameter)

    def refresh(self):
        tensor = self.tensor
        for table, key in self.slots:
            if table.get(key) is not tensor:
                if self.is_parameter or table.get(key) is None:
                    raise StaleStep(f"'{self.name}' was replaced by another object; {AGAIN}")
                # Modules replace statistics when they move to another type.
                self.tensor = tensor = table[key]
        if tensor.requires_grad != self.requires_grad:
            raise StaleStep(f"requires_grad of '{self.name}' has changed; {AGAIN}")
        if tensor.data_ptr() != self.address or tensor.dtype != self.view.dtype:
            take(self.view, tensor, f"'{self.name}'")
            tensor.data = self.view


class Slot:
    """A state that an optimizer keeps for a parameter, such as `exp_avg`."""

    def __init__(self, optimizer, parameter, key, name, view):
        self.optimizer, self.parameter, self.key, self.name, self.view = optimizer, parameter, key, name, view

    def refresh(self):
        state = self.optimizer.state
        entry = state.get(self.parameter)
        value = None if entry is None else entry.get(self.key)
        if value is self.view:
            return
        # An optimizer without state is at its start, where these are zero.
        if value is None:
            self.view.zero_()
        else:
            take(self.view, value, f"the state '{self.name}' of the optimizer")
        state[self.parameter][self.key] = self.view


class PartSlot:
    """A state of an optimizer that the ranks divide. The optimizer has it only after `publish`,
    until the next step."""

    def __init__(self, optimizer, parameter, key, name, instance):
        self.optimizer, self.parameter, self.key, self.name, self.instance = optimizer, parameter, key, name, instance
        self.shown = None, 0
        _, dtype, self.shape = instance.parts[name]
        value = self.entry().pop(key, None)
        # All ranks start with the state of rank 0.
        given = torch.tensor([value is not None])
        instance.ranks.broadcast([given])
        if given:
            whole = torch.zeros(self.shape, dtype=dtype) if value is None else value.detach().to("cpu", dtype).clone()
            instance.ranks.broadcast([whole])
            instance.write_part(name, whole)

    def entry(self):
        return self.optimizer.state[self.parameter]

    def refresh(self):
        value = self.entry().pop(self.key, None)
        shown, version = self.shown
        self.shown = None, 0
        if value is None or value is shown and value._version == version:
            return
        if tuple(value.shape) != tuple(self.shape):
            raise StaleStep(f"the state '{self.name}' of the optimizer now has the shape {tuple(value.shape)}, the step has "
                            f"{tuple(self.shape)}; {AGAIN}")
        self.instance.write_part(self.name, value.to(self.instance.parts[self.name][1]))

    def publish(self, whole):
        self.entry()[self.key] = whole.to(self.parameter.device)
        self.shown = self.entry()[self.key], self.entry()[self.key]._version


class Counter:
    """The number of steps that the optimizer has made. Optimizers count for each
    parameter, and change these tensors in place, so each has its own."""

    def __init__(self, members, view):
        self.members, self.view = members, view
        self.tensors, self.versions = [None] * len(members), [0] * len(members)

    def entries(self):
        return [optimizer.state[parameter] for optimizer, parameter in self.members]

    def refresh(self):
        found = [entry.get("step") for entry in self.entries()]
        known = zip(found, self.tensors, self.versions)
        if all(value is mine and value is not None and value._version == version for value, mine, version in known):
            return
        counts = {0.0 if value is None else float(value) for value in found}
        if len(counts) > 1:
            raise StaleStep(f"parameters of one optimizer have made {sorted(counts)} steps, but share one count; {AGAIN}")
        self.view.fill_(counts.pop())
        self.tensors = [self.view.clone() for _ in found]
        for entry, tensor in zip(self.entries(), self.tensors):
            entry["step"] = tensor
        self.versions = [tensor._version for tensor in self.tensors]

    def publish(self):
        torch._foreach_copy_(self.tensors, [self.view] * len(self.tensors))
        self.versions = [tensor._version for tensor in self.tensors]


class Constant:
    """A buffer whose value is part of the program."""

    kind = "buffer"

    def __init__(self, name, table, key):
        self.name, self.table, self.key = name, table, key
        self.value = table[key].detach().clone()
        self.seen = table[key], table[key]._version

    def refresh(self):
        tensor = self.table.get(self.key)
        if tensor is self.seen[0] and tensor._version == self.seen[1]:
            return
        if tensor is None or tensor.shape != self.value.shape or not torch.equal(tensor.to(self.value), self.value):
            raise StaleStep(f"the {self.kind} '{self.name}' is a constant of the step and has changed; {AGAIN}")
        self.seen = tensor, tensor._version


class Attribute(Constant):
    """A tensor that a module has as a plain attribute. Some modules replace a table by one of another size when a longer
    sequence comes; the program has its own table for each size."""

    kind = "tensor"

    def refresh(self):
        tensor = self.table.get(self.key)
        if isinstance(tensor, torch.Tensor) and tensor.shape == self.value.shape:
            super().refresh()


class Groups:
    """The groups of the optimizers: learning rates are read before each step, the other
    settings are constants of the program."""

    FREE = {"params", "lr", "foreach", "fused", "capturable", "differentiable"}

    def __init__(self, optimizers, names):
        self.optimizers, self.names = optimizers, names
        self.settings = [
            {key: value for key, value in group.items() if key in optimizer.defaults and key not in self.FREE}
            for optimizer in optimizers for group in optimizer.param_groups
        ]
        self.members = [list(group["params"]) for optimizer in optimizers for group in optimizer.param_groups]

    def rates(self):
        """The learning rate of each group, by the name of the hyperparameter."""
        groups = [group for optimizer in self.optimizers for group in optimizer.param_groups]
        if len(groups) != len(self.settings):
            raise StaleStep(f"the optimizers have {len(groups)} groups, the step has {len(self.settings)}; {AGAIN}")
        for number, (group, settings, members) in enumerate(zip(groups, self.settings, self.members)):
            params = group["params"]
            if len(params) != len(members) or any(mine is not other for mine, other in zip(params, members)):
                raise StaleStep(f"group {number} of the optimizers has other parameters; {AGAIN}")
            for key, value in settings.items():
                if group.get(key) != value:
                    advice = " (of OneCycleLR and CyclicLR, pass cycle_momentum=False)" if key in ("momentum", "betas") else ""
                    raise StaleStep(f"{key} of group {number} has changed from {value} to {group.get(key)}, but is a "
                                    f"constant of the step; set it back{advice} or {AGAIN}")
        return {name: float(group["lr"]) for name, group in zip(self.names, groups)}


class Scaler:
    """The loss scale as that of a torch.amp.GradScaler, whose `get_scale`, `state_dict` and
    `load_state_dict` read and write the memory of the step."""

    SETTINGS = ("_growth_factor", "_backoff_factor", "_growth_interval")

    def __init__(self, scaler, scale, tracker):
        self.scaler, self.scale, self.tracker = scaler, scale, tracker
        self.settings = self.read()
        scale.fill_(scaler.get_scale())
        tracker.fill_(scaler._get_growth_tracker())
        scaler._scale, scaler._growth_tracker = scale, tracker

    def read(self):
        return [getattr(self.scaler, name) for name in self.SETTINGS]

    def refresh(self):
        scaler = self.scaler
        if self.read() != self.settings:
            raise StaleStep(f"the factors or the interval of the GradScaler have changed; {AGAIN}")
        if scaler._scale is not self.scale:
            self.scale.fill_(scaler.get_scale())
            self.tracker.fill_(scaler._get_growth_tracker())
            scaler._scale, scaler._growth_tracker = self.scale, self.tracker


HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def hooks_of(module):
    """The tables of hooks of a module, or with the module torch.nn.modules.module, those of all modules."""
    prefix = "" if isinstance(module, torch.nn.Module) else "_global"
    return [getattr(module, prefix + name) for name in HOOKS if hasattr(module, prefix + name)]


class Modes:
    """Whether each module trains, which modules it has, and the hooks, all of which the program fixes."""

    def __init__(self, modules):
        self.modules = [(name, module, module.training, dict(module._modules)) for name, module in modules]
        self.hooks = [(name, module, table, dict(table)) for name, module in [*modules, ("", torch.nn.modules.module)]
                      for table in hooks_of(module)]

    def refresh(self):
        for name, module, table, hooks in self.hooks:
            if table != hooks:
                place = f"module '{name}'" if name else "the model" if isinstance(module, torch.nn.Module) else "all modules"
                raise StaleStep(f"a hook of {place} was added or removed, which a compiled step does not follow; undo it, or {AGAIN}")
        for name, module, training, parts in self.modules:
            if module._modules != parts:
                changed = [key for key in {**parts, **module._modules} if module._modules.get(key) is not parts.get(key)]
                raise StaleStep(f"the module '{f'{name}.{changed[0]}'.lstrip('.')}' was replaced, added or removed; create the "
                                f"optimizer from the parameters that the model has now, and {AGAIN}")
            if module.training != training:
                if not name and training:
                    raise StaleStep("the model is in evaluation mode; call model.train() before the next step")
                now = "train" if module.training else "evaluation"
                raise StaleStep(f"module '{name}' is in {now} mode, but was not when the step was compiled; set it back, "
                                f"or {AGAIN}")
