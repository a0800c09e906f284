# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compares losses and parameters of compiled steps with eager PyTorch. The steps call classes
# of autograd.Function and operations on complex numbers or of linear algebra, read numbers from constant tensors in
# Python code, or take tensors with different first extents. Errors name the module.
#
# REQUIRES: torch-export, full
# RUN: %torch_python %s
"""Usage: called-parts.py [model...]: by default all of called_models; `errors` tests the errors."""

import contextlib
import copy
import io
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch
from called_models import MODELS

STEPS = 5
#: The models that train in bf16 too.
LOW = ("functions", "complex", "graph")


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def check(name):
    make, batch = MODELS[name]
    torch.manual_seed(4)
    model, batches = make(), [batch() for _ in range(2)]
    reference = copy.deepcopy(model)
    low = copy.deepcopy(model)
    optimizer, wanted = sgd(reference), []
    torch.manual_seed(9)
    batches = [batches[number % 2] for number in range(STEPS)]
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(reference(*inputs) if isinstance(inputs, tuple) else reference(inputs), targets)
        loss.backward()
        optimizer.step()
        wanted.append(loss.item())
    for kind, bound in ((model, 1e-5), (low, 2e-2))[: 1 + (name in LOW)]:
        torch.manual_seed(9)
        step = amp_torch.compile(kind, F.cross_entropy, sgd(kind), batches[0], precision="f32" if kind is model else "bf16")
        losses = [step(*batch).item() for batch in batches]
        error = max(abs(a - b) for a, b in zip(losses, wanted)) / max(wanted)
        assert error <= bound, f"{name}: {losses}, expected {wanted}"
    for (path, mine), theirs in zip(model.named_parameters(), reference.parameters()):
        assert (mine - theirs).abs().max() <= 1e-5, f"{name}: {path}"
    print(f"{name}: within {error:.1e} of eager in {'bf16' if name in LOW else 'f32'}", flush=True)


class Wrapped(nn.Module):
    """A linear layer, then `function`, which may use `parts` of this module."""

    def __init__(self, function, **parts):
        super().__init__()
        self.linear, self.function = nn.Linear(6, 3), function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x):
        return self.function(self, self.linear(x))


def expect(texts, function, **parts):
    model, written = Wrapped(function, **parts), io.StringIO()
    try:
        with contextlib.redirect_stderr(written):
            amp_torch.compile(model, F.cross_entropy, sgd(model), (torch.randn(4, 6), torch.tensor([0, 1, 2, 0])))
    except (amp_torch.UnsupportedModel, ValueError) as error:
        for text in texts:
            assert text in str(error), f"'{text}' is not in: {error}"
        # torch.export writes the graph before it fails.
        assert "torch.ops" not in written.getvalue(), written.getvalue()
        return
    raise AssertionError(f"no error with {texts}")


def counted(module, x):
    module.count += 1
    return x * 2 if module.count > 2 else x


def penalised(module, x):
    x = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(module.linear.weight.sum() * x.square().sum(), x, create_graph=True)
    return slope


def check_failure():
    """A matrix without a factor is an error of the step that computes with it. The next step runs."""
    model = Wrapped(lambda module, x: x + torch.linalg.cholesky(x.t() @ x).diagonal().log())
    batch = torch.randn(8, 6), torch.randint(0, 3, (8,))
    step = amp_torch.compile(model, F.cross_entropy, sgd(model), batch, precision="f32", dynamic_batch=False)
    try:
        step(torch.full((8, 6), 1e6), batch[1])
    except torch.linalg.LinAlgError as error:
        assert "not positive-definite" in str(error), error
    else:
        raise AssertionError("no error for a matrix without a Cholesky factor")
    assert torch.isfinite(step(*batch))


names = sys.argv[1:] or [*MODELS, "errors"]
for name in names:
    if name != "errors":
        check(name)
if "errors" in names:
    expect(["count: a number that Python code takes from a buffer", "use torch.where"], counted, count=nn.Buffer(torch.tensor(0)))
    expect(["norm: BatchNorm1d with momentum=None: set momentum to a number"], lambda m, x: m.norm(x),
           norm=nn.BatchNorm1d(3, momentum=None))
    expect(["scale: a parameter of complex numbers", "torch.view_as_complex"], lambda m, x: (x * m.scale).real,
           scale=nn.Parameter(torch.ones(3, dtype=torch.complex64)))
    expect(["control flow, a number or a shape that depends on the data"], lambda m, x: x if x.sum() > 0 else -x)
    expect(["a derivative within the model (torch.autograd.grad)", "try torch.compile with amp_torch.backend"], penalised)
    check_failure()
    print("every message as expected")
