# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of one step: compiled, in eager f32 and under eager autocast."""

import torch

import amp_torch

RATE = float(2**20)
SCALE = {"bf16": 1.0, "fp16": 1024.0}
LOW = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Gradients:
    """A step of SGD with a rate of 2^20 shows the gradient: the parameter before it has no weight in the one
    after it. `loss_of` is the loss as a function of the model and a batch."""

    def __init__(self, model, loss, loss_of, example, precision, policy, cache):
        self.model, self.loss_of, self.precision = model, loss_of, precision
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
        scale = "none" if precision == "bf16" else SCALE[precision]
        self.step = amp_torch.compile(model, loss, optimizer, example, precision=precision, policy=policy,
                                      cache=cache, threads=1, loss_scale=scale)

    def compiled(self, weights, call):
        """The gradients by name, from these weights; `call` runs the step on a batch."""
        self.model.load_state_dict(weights)
        before = {key: p.detach().double().clone() for key, p in self.model.named_parameters()}
        call(self.step)
        return {key: (before[key] - p.detach().double()) / RATE for key, p in self.model.named_parameters()}

    def eager(self, model, batch, autocast):
        scale = SCALE[self.precision] if autocast else 1.0
        model.zero_grad()
        with torch.autocast("cpu", LOW[self.precision], enabled=autocast):
            loss = self.loss_of(model, *batch)
        (loss * scale).backward()
        return {key: p.grad.double() / scale for key, p in model.named_parameters()}
