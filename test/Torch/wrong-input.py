# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Input that amp_torch.export refuses: each message names the fault and a remedy, and one error
# lists everything without a translation. Nothing is written then.
#
# REQUIRES: torch-export
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: wrong-input.py <folder>"""

import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch
from parity import refused

folder = sys.argv[1] + "/out"
x, y = torch.randn(4, 6), torch.randint(0, 3, (4,))


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


class Net(nn.Module):
    """A linear layer, and a function of its result."""

    def __init__(self, function=lambda x: x):
        super().__init__()
        self.fc = nn.Linear(6, 3)
        self.function = function

    def forward(self, x):
        return self.function(self.fc(x))


def sgd(model, **options):
    return torch.optim.SGD(model.parameters(), lr=0.1, **options)


def expect(text, model=None, optimizer=None, loss=F.cross_entropy, batch=(x, y), **options):
    model = Net() if model is None else model
    message = refused(model, loss, optimizer or sgd(model), batch, folder, **options)
    for part in [text] if isinstance(text, str) else text:
        assert part in message, f"expected '{part}' in '{message}'"
    assert not os.path.exists(folder), message


# Arguments.
expect("expected a torch.nn.Module, got function", model=F.relu, optimizer=sgd(Net()))
expect("call model.train() first", model=Net().eval())
expect("expected a pair (inputs, targets)", batch=x)
expect("expected at least one tensor", batch=(1, 2))
for dtype in (torch.float16, torch.float64):
    expect(f"2 parameters of type {dtype}, such as 'fc.weight': call model.float()", model=Net().to(dtype))
expect("a batch argument of type torch.float16", batch=(x.half(), y))
expect("names: expected 2 for ['x', 'target'], got 1", names=["only"])
expect("no common first extent", batch=(x[:1], y[:1]), dynamic_batch=True)
expect("use reduction='mean' or 'sum'", loss=lambda a, b: F.cross_entropy(a, b, reduction="none"), dynamic_batch=False)
# Optimizers.
model = Net()
expect("optimizer Adagrad has no operation; use SGD, Adam, AdamW or Muon", model, torch.optim.Adagrad(model.parameters()))
expect("group 0: dampening has no operation", model, sgd(model, momentum=0.9, dampening=0.5))
expect("amsgrad has no operation", model, torch.optim.Adam(model.parameters(), amsgrad=True))
expect("does not depend on a parameter", model, sgd(Net()), dynamic_batch=False)


class Mine(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)


expect("optimizer Mine has no operation", model, Mine(model.parameters(), lr=0.1))
# What export would drop without a word.
expect(["autograd.Function Double", "export drops its backward pass"], Net(Double.apply))
expect("or use torch.compile with amp_torch.backend, which runs it", Net(Double.apply))
hooked = Net()
hooked.fc.register_full_backward_hook(lambda module, before, after: None)
expect(["fc: a backward hook", "remove it"], hooked)
hooked = Net()
hooked.fc.weight.register_hook(lambda grad: grad)
expect("fc.weight: a hook on a gradient", hooked)
expect("a hook on the gradient of a tensor (register_hook)", Net(lambda x: (x.register_hook(lambda grad: grad * 0), x)[1]))
both = Net()
expect("optimizer SGD, group 0: another optimizer has one of its parameters", both, [sgd(both), sgd(both)])
words = torch.randint(0, 9, (4, 2))
for options, text in (({"sparse": True}, "sparse gradients: pass sparse=False"), ({"max_norm": 1.0}, "max_norm")):
    model = nn.Sequential(nn.Embedding(9, 3, **options), nn.Flatten(), nn.Linear(6, 3))
    expect(f"0: an embedding with {text}", model, batch=(words, y), dynamic_batch=False)


class Clipped(Net):
    def forward(self, x):
        with torch.no_grad():
            self.fc.weight.clamp_(-1, 1)
        return super().forward(x)


class Averaged(Net):
    def __init__(self, name):
        super().__init__()
        self.register_buffer("average", torch.zeros(3))
        self.other, self.name = torch.zeros(3), name

    def forward(self, x):
        x = super().forward(x)
        setattr(self, self.name, 0.9 * getattr(self, self.name) + 0.1 * x.detach().mean(0))
        return x + getattr(self, self.name)


class Cached(Net):
    """Replaces a table once, as some positional encodings do."""

    def __init__(self):
        super().__init__()
        self.table = torch.zeros(1)

    def forward(self, x):
        if len(self.table) < 3:
            self.table = torch.arange(3.0)
        return super().forward(x) + self.table


class Remembered(Averaged):
    def forward(self, x):
        x = Net.forward(self, x)
        self.other.copy_(x.detach().mean(0))
        return x + self.other


expect("other: a tensor that is not a buffer and that the forward pass changes in place: call register_buffer with it",
       Remembered("other"))
expect("fc.weight: a parameter that the forward pass changes in place: change it between the steps", Clipped())
expect("average: a tensor that the forward pass replaces by another one: register a buffer", Averaged("average"))
expect("other: a tensor that the forward pass replaces by another one", Averaged("other"))
model = Cached()
amp_torch.export(model, F.cross_entropy, sgd(model), (x, y), sys.argv[1] + "/cached")


# All that has no translation, with the paths of modules, in one error.
class Fft(nn.Module):
    def forward(self, x):
        return torch.fft.fft(x).real


class Sort(nn.Module):
    def forward(self, x):
        return x.sort(-1).values


nested = nn.Sequential(nn.Linear(6, 3), nn.Sequential(Fft()), Sort(), Sort())
expect(["1.0: ", "2: aten.sort", "3: aten.sort"], nested, dynamic_batch=False)


# Operations of the user, with a registered backward pass, without one, and one that writes its operand.
@torch.library.custom_op("mine::scaled", mutates_args=())
def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    return x * factor


@torch.library.custom_op("mine::double_", mutates_args=("x",))
def double_(x: torch.Tensor) -> None:
    x.mul_(2)


@torch.library.custom_op("mine::ramp", mutates_args=())
def ramp(count: int) -> torch.Tensor:
    return torch.arange(count, dtype=torch.float32)


def doubled(x):
    x = x.clone()
    double_(x)
    return x


scaled.register_fake(lambda x, factor: torch.empty_like(x))
ramp.register_fake(lambda count: torch.empty(count))
scaled.register_autograd(lambda ctx, grad: (grad * 2, None), setup_context=lambda ctx, inputs, output: None)
custom = "the custom operation mine::scaled, which exported files cannot contain; use amp_torch.compile, which calls"
nested = nn.Sequential(nn.Linear(6, 6), Net(lambda x: scaled(x, 2.0)))
message = refused(nested, F.cross_entropy, sgd(nested), (x, y), folder)
assert f"  1: mine.scaled.default: {custom}" in message and "GeneratedBackward" not in message, message
expect(f"mine.scaled.default: {custom}", Net(lambda x: scaled(x.detach(), 2.0) + x))
expect("the custom operation mine::double_ writes an operand, and a compiled step cannot call it", Net(doubled))
# All of them are named, also after another error. Operations on constants run when the step is exported.
expect(["aten.sort.default", custom, "mine::double_"], Net(lambda x: doubled(scaled(x.sort(-1).values, 2.0))))
model = Net(lambda x: x + ramp(3))
assert amp_torch.export(model, F.cross_entropy, sgd(model), (x, y), sys.argv[1] + "/constant").step.exists()
# Control flow and numbers that depend on data.
expect(["control flow, a number or a shape that depends on the data", "use torch.where or a mask"],
       Net(lambda x: x if x.sum() > 0 else -x), dynamic_batch=False)
expect("without .item() or float()", Net(lambda x: x * x.sum().item()), dynamic_batch=False)
expect("or torch.compile with amp_torch.backend", Net(lambda x: x.sort(-1).values), dynamic_batch=False)
# Another version of PyTorch.
version = torch.__version__
for wrong in ("2.8.0+cpu", "2.16.0a0"):
    torch.__version__ = wrong
    for call in (lambda: amp_torch.export(model, F.cross_entropy, sgd(model), (x, y), folder), lambda: amp_torch.backend("bf16")):
        try:
            call()
            raise AssertionError(f"torch {wrong} was accepted")
        except RuntimeError as error:
            assert f"amp_torch supports torch 2.9 to 2.15, this is {wrong}; install a supported version" in str(error), error
torch.__version__ = version
# What a new user may pass.
expect("pass the module itself, model._orig_mod", torch.compile(Net()), sgd(Net()))
expect("run the model once on a batch", nn.LazyLinear(3), sgd(Net()))
expect("got the class CrossEntropyLoss; pass CrossEntropyLoss()", loss=nn.CrossEntropyLoss)
expect("loss_fn: expected a function or a module, got str", loss="cross_entropy")
expect("return it without .item() or float()", loss=lambda a, b: F.cross_entropy(a, b).item())
expect("got a tensor of 4x3; pass a loss_fn, or reduce it in the model", loss=None, batch=x)
expect("expected a torch.optim.Optimizer, as torch.optim.SGD(model.parameters(), lr=0.1)", optimizer=torch.optim.SGD)
expect("create the optimizer from model.parameters()", optimizer=sgd(Net()), dynamic_batch=False)
expect("the model and the loss do not run on this batch in PyTorch: mat1 and mat2 must have the same dtype", batch=(x.double(), y))
expect("do not run on this batch in PyTorch: expected ", batch=(x, y.float()))
print("every message as expected")
