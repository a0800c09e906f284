# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers of torch as update operations of the train dialect."""

import dataclasses
import math

import torch

from .builder import Value


@dataclasses.dataclass
class State:
    """An argument of the step that it also replaces."""

    name: str
    role: str
    value: Value
    init: str
    array: object = None
    result: Value = None


@dataclasses.dataclass
class Group:
    """A group of parameters: those that the step updates, and their settings."""

    settings: dict
    parameters: list
    rate: str
    kind: str
    optimizer: object


def kind_of(optimizer):
    """The operation of an optimizer, or None. Adam may decouple its decay."""
    for base in type(optimizer).__mro__:
        if base.__module__.startswith("torch.optim"):
            return {"SGD": "sgd", "Adam": "adam", "AdamW": "adamw", "Muon": "muon"}.get(base.__name__)
    return None


def problems(optimizers):
    """What the dialect cannot express of the optimizers, as texts."""
    found, owners = [], {}
    for optimizer in optimizers:
        name = type(optimizer).__name__
        if not isinstance(optimizer, torch.optim.Optimizer):
            found.append(f"optimizer {name}: expected a torch.optim.Optimizer, as torch.optim.SGD(model.parameters(), lr=0.1)")
            continue
        if kind_of(optimizer) is None or type(optimizer).step is not find_step(optimizer):
            found.append(f"optimizer {name} has no operation; use SGD, Adam, AdamW or Muon of torch.optim")
            continue
        hooks = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
        if any(getattr(optimizer, hook, None) for hook in hooks):
            found.append(f"optimizer {name} has hooks, which a compiled step does not call; remove them")
        for number, group in enumerate(optimizer.param_groups):
            where = f"optimizer {name}, group {number}"
            if any(owners.setdefault(id(parameter), optimizer) is not optimizer for parameter in group["params"]):
                found.append(f"{where}: another optimizer has one of its parameters; a step updates each parameter once")
            if group.get("dampening"):
                found.append(f"{where}: dampening has no operation; set dampening=0")
            if group.get("amsgrad"):
                found.append(f"{where}: amsgrad has no operation; set amsgrad=False")
            if group.get("differentiable"):
                found.append(f"{where}: differentiable steps have no operation")
    return found


def find_step(optimizer):
    """The method `step` of the class of torch.optim that an optimizer derives from."""
    for base in type(optimizer).__mro__:
        if base.__module__.startswith("torch.optim"):
            return base.step
    return None


class Updates:
    """Writes the updates of all groups. `parameters` maps the id of a tensor to its
    State, `gradients` that of a trained one to its gradient."""

    def __init__(self, builder, optimizers, parameters):
        self.builder = builder
        self.states = []
        self.rates = []
        self.counters = {}
        self.groups = []
        total = sum(len(optimizer.param_groups) for optimizer in optimizers)
        for index, optimizer in enumerate(optimizers):
            for group in optimizer.param_groups:
                rate = "lr" if total == 1 else f"lr.{len(self.groups)}"
                members = [tensor for tensor in group["params"] if id(tensor) in parameters and tensor.requires_grad]
                self.groups.append(Group(group, members, rate, self.kind(optimizer, group), optimizer))
                value = Value(f"%lr{len(self.rates)}", (), "f32")
                self.rates.append((rate, value, float(group["lr"])))
        self.parameters = parameters
        self.trained = [tensor for group in self.groups for tensor in group.parameters]

    @staticmethod
    def kind(optimizer, group):
        kind = kind_of(optimizer)
        return "adamw" if kind == "adam" and group.get("decoupled_weight_decay") else kind

    def slot(self, parameter, suffix, tensor):
        """A state of the optimizer with the shape of a parameter."""
        value = Value(f"%s{len(self.states)}", parameter.value.shape, parameter.value.dtype)
        array = None if tensor is None else tensor.detach()
        init = "#amp.init<zeros>"
        self.states.append(State(f"{parameter.name}.{suffix}", "optimizer_state", value, init, array))
        return self.states[-1]

    def counter(self, count):
        """The number of this step, counted from 1, of parameters that took `count`."""
        if count not in self.counters:
            name = "step" if not self.counters else f"step.{len(self.counters)}"
            value = Value(f"%s{len(self.states)}", (), "f32")
            init = f"#amp.init<constant, value = {float(count)}>" if count else "#amp.init<zeros>"
            state = State(name, "optimizer_state", value, init, torch.tensor(float(count)))
            self.states.append(state)
            state.result = self.builder.binary("add", value, self.builder.scalar(1.0, "f32"))
            self.counters[count] = state
        return self.counters[count].result

    def write(self, gradients):
        """Appends the update of each trained parameter."""
        for group, (_, rate, _) in zip(self.groups, self.rates):
            for tensor in group.parameters:
                gradient = gradients[id(tensor)]
                if group.settings.get("maximize"):
                    gradient = self.builder.unary("neg", gradient)
                state = self.parameters[id(tensor)]
                self.builder.location = state.name
                past = group.optimizer.state.get(tensor, {})
                if group.kind == "sgd":
                    self.sgd(group.settings, state, gradient, rate, past)
                elif group.kind == "muon":
                    self.muon(group.settings, state, gradient, rate, past)
                else:
                    self.adam(group, state, gradient, rate, past)

    def sgd(self, settings, state, gradient, rate, past):
        attributes = {"weight_decay": float(settings["weight_decay"]) or None}
        operands, results = [state.value, gradient, rate], [(state.value.shape, state.value.dtype)]
        if settings["momentum"]:
            attributes.update(momentum=float(settings["momentum"]), nesterov=bool(settings["nesterov"]))
            slot = self.slot(state, "momentum_buffer", past.get("momentum_buffer"))
            values = self.builder.emit("sgd", [*operands, slot.value], results * 2, attributes)
            state.result, slot.result = values
        else:
            state.result = self.builder.emit("sgd", operands, results, attributes)

    def adam(self, group, state, gradient, rate, past):
        settings = group.settings
        step = self.counter(int(past["step"]) if "step" in past else 0)
        first = self.slot(state, "exp_avg", past.get("exp_avg"))
        second = self.slot(state, "exp_avg_sq", past.get("exp_avg_sq"))
        beta1, beta2 = settings["betas"]
        attributes = {
            "beta1": float(beta1),
            "beta2": float(beta2),
            "epsilon": float(settings["eps"]),
            "weight_decay": float(settings["weight_decay"]) or None,
        }
        operands = [state.value, gradient, rate, first.value, second.value, step]
        results = [(state.value.shape, state.value.dtype)] * 3
        state.result, first.result, second.result = self.builder.emit(group.kind, operands, results, attributes)

    def muon(self, settings, state, gradient, rate, past):
        """Momentum whose matrix is made orthogonal (K. Jordan, "Muon", 2024)."""
        b, momentum = self.builder, float(settings["momentum"])
        slot = self.slot(state, "momentum_buffer", past.get("momentum_buffer"))
        b.pin = "keep"
        slot.result = self.between(slot.value, gradient, 1 - momentum)
        update = self.between(gradient, slot.result, momentum) if settings["nesterov"] else slot.result
        update = b.cast(self.orthogonal(update, settings), state.value.dtype)
        step = b.binary("mul", rate, b.scalar(muon_factor(settings["adjust_lr_fn"], *state.value.shape), "f32"))
        decay = b.binary("mul", rate, b.scalar(float(settings["weight_decay"]), "f32"))
        kept = b.binary("sub", b.scalar(1.0, "f32"), decay)
        step, kept = b.cast(step, state.value.dtype), b.cast(kept, state.value.dtype)
        moved = b.binary("mul", update, step)
        state.result = b.binary("sub", b.binary("mul", state.value, kept), moved)
        b.pin = None

    def between(self, start, end, weight):
        """start + weight (end - start)."""
        b = self.builder
        return b.binary("add", start, b.binary("mul", b.binary("sub", end, start), b.scalar(weight, start.dtype)))

    def orthogonal(self, matrix, settings):
        """Newton-Schulz iterations in bf16: X becomes a X + (b A + c A A) X with A = X Xᵀ.
        Sums are f32 and are rounded once, as in torch.addmm."""
        b, (alpha, beta, gamma) = self.builder, (float(c) for c in settings["ns_coefficients"])
        is_tall = matrix.shape[0] > matrix.shape[1]
        x = b.cast(matrix, "bf16")
        x = b.transpose(x, [1, 0]) if is_tall else x
        squares = b.unary("square", b.cast(x, "f32"))
        norm = b.cast(b.unary("sqrt", b.reduce("sum", squares, [0, 1])), "bf16")
        x = b.binary("div", x, b.unary("clip", norm, min=float(settings["eps"]), max=float("inf")))

        def combined(factor, term, other_factor, lhs, rhs):
            product = b.matmul(lhs, rhs, dtype="f32")
            if other_factor != 1:
                product = b.binary("mul", product, b.scalar(other_factor, "f32"))
            term = b.binary("mul", b.cast(term, "f32"), b.scalar(factor, "f32"))
            return b.cast(b.binary("add", term, product), "bf16")

        for _ in range(settings["ns_steps"]):
            gram = b.matmul(x, x, transpose_b=True)
            x = combined(alpha, x, 1, combined(beta, gram, gamma, gram, gram), x)
        return b.transpose(x, [1, 0]) if is_tall else x


def muon_factor(rule, rows, columns):
    """The factor of the learning rate for a matrix, as torch.optim.Muon defines it."""
    if rule in (None, "original"):
        return math.sqrt(max(1, rows / columns))
    if rule == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(rows / columns)
