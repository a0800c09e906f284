# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What amp_torch.compile and its steps refuse. Each message says what to do, and the step
# still runs after it.
#
# REQUIRES: torch-export
# RUN: %torch_python %s
"""Usage: compile-errors.py"""

import os

import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch

x, y = torch.randn(4, 6), torch.randint(0, 3, (4,))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(6, 3), nn.BatchNorm1d(3)
        self.register_buffer("shift", torch.ones(3))
        self.scale = torch.ones(3)

    def forward(self, x):
        return self.norm(self.fc(x)) * self.scale + self.shift


def expect(text, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except (amp_torch.StaleStep, amp_torch.StepError, amp_torch.UnsupportedModel, TypeError, ValueError) as error:
        assert text in str(error), f"expected '{text}' in '{error}'"
        return
    raise AssertionError(f"expected an error with '{text}'")


def compile(model, optimizer=None, batch=(x, y), **options):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return amp_torch.compile(model, F.cross_entropy, optimizer, batch, **options)


# The library is loaded once.
os.environ["AMP_STEP_LIBRARY"] = "/nowhere/libAMPStep.so"
expect("cannot load the library of compiled steps", compile, Net())
del os.environ["AMP_STEP_LIBRARY"]

# Arguments.
expect("precision: expected f32, fp16, bf16, fp8 or fp8- and a recipe, got fp9", compile, Net(), precision="fp9")
expect("unknown recipe 'row', expected current, delayed", compile, Net(), precision="fp8-row")
expect("clip_grad_norm: expected a positive number or None, got '1'", compile, Net(), clip_grad_norm="1")
expect("device: expected cpu or cuda, got meta", compile, Net(), device="meta")
expect("the model is there; call model.to_empty(device='cpu'), and initialise the parameters", compile, Net().to("meta"))
expect("device: expected cpu or cuda, got 'tpu'", compile, Net(), device="tpu")
expect("pass device='cpu'", compile, Net(), device="cuda")
expect("parameter 'fc.weight' is on meta, but the step is on cpu; call model.to_empty(device='cpu')", compile, Net().to("meta"),
       device="cpu")
expect("batch: a tensor is on meta", compile, Net(), batch=(x.to("meta"), y))
expect("scaler: expected a torch.amp.GradScaler, got bool", compile, Net(), scaler=True)
expect("pass one of both", compile, Net(), scaler=torch.amp.GradScaler("cpu"), loss_scale=8)
expect("cannot read policy 'nothing'", compile, Net(), policy="nothing", precision="bf16")
expect("wrong value of loss_scale", compile, Net(), loss_scale="often")
expect("call model.train() first", compile, Net().eval())
expect("model: expected a torch.nn.Module, got function", amp_torch.compile, lambda x: x, F.cross_entropy,
       torch.optim.SGD(Net().parameters()), (x, y))
for wrong in (-1, 0, "2"):
    expect("threads: expected a positive number of threads", compile, Net(), threads=wrong)
for batch in ((x.numpy(), y.numpy()), (x, y.numpy()), ({"x": x.numpy()}, y)):
    expect("got an array of numpy; call torch.from_numpy on it", compile, Net(), batch=batch)
for batch in ((x.double(), y), (x, y[:3])):
    expect("pass a batch on which loss_fn(model(inputs), targets) runs", compile, Net(), batch=batch)
expect("a tensor of the shape 0x6 has no elements; pass at least one sample", compile, Net(), batch=(x[:0], y[:0]))
expect("the model is a result of torch.jit, which has no code of Python", compile, torch.jit.script(nn.Linear(6, 3)))
expect("the module '1' is a result of torch.jit", compile, nn.Sequential(nn.Linear(6, 3), torch.jit.script(nn.ReLU())))
for register in (torch.nn.modules.module.register_module_full_backward_hook, torch.nn.modules.module.register_module_full_backward_pre_hook):
    hook = register(lambda *arguments: None)
    expect("a backward hook of all modules (torch.nn.modules.module): a compiled step does not call it; remove it", compile, Net())
    hook.remove()
for dtype, name in ((torch.float32, "f32"), (torch.bfloat16, "bf16"), (torch.float16, "fp16")):
    assert compile(Net(), precision=dtype).recipe.precision == name

# Rows that data choose. The message names the operation and the module.
class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = Net()

    def forward(self, x):
        return self.fc(x)[self.fc.fc(x).sum(1).nonzero().squeeze(1)]


def refused(lines, model, loss=F.cross_entropy, optimizer=None, **options):
    """Expects one error with exactly these lines."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    try:
        amp_torch.compile(model, loss, optimizer, (x, y), **options)
    except amp_torch.UnsupportedModel as error:
        found = str(error).splitlines()[1:]
        assert len(found) == len(lines) and all(line in text for line, text in zip(lines, found)), found
        return
    raise AssertionError(f"expected an error with {lines}")


for dynamic in (None, False):
    for name, loss in (("index.Tensor", lambda h, t: F.cross_entropy(h[t > 0], t[t > 0])),
                       ("index.Tensor", lambda h, t: F.cross_entropy(h[t >= 0], t)),
                       ("index.Tensor", lambda h, t: F.mse_loss(h[:, 0][t >= 0], t.float())),
                       ("masked_select.default", lambda h, t: h.masked_select(h > 0).mean()),
                       ("nonzero.default", lambda h, t: F.cross_entropy(h[(t >= 0).nonzero().squeeze(1)], t))):  # fmt: skip
        refused([f"aten.{name}: the number of rows that it chooses depends on data; keep all rows"], Net(), loss, dynamic_batch=dynamic)
refused(["aten.nonzero.default: the number of rows that it chooses depends on data"], Chosen())
refused(["0: aten.nonzero.default: the number of rows that it chooses depends on data"], nn.Sequential(Chosen()))

# Losses without a gradient.
refused(["the loss: has no gradient although it reads trained parameters; remove .detach()"], Net(),
        lambda h, t: F.cross_entropy(h.detach(), t))
refused(["the model: no parameter requires a gradient; call requires_grad_(True)"], Net().requires_grad_(False))
refused(["the loss: does not depend on a parameter that the optimizer trains; create the optimizer"], Net(),
        optimizer=torch.optim.SGD(Net().parameters(), lr=0.1))

# Functions that newer ones replace.
for name in ("weight_norm", "spectral_norm"):
    refused([f"0.weight: torch.nn.utils.{name}, which replaces a tensor in the forward pass: use torch.nn.utils.parametrizations.{name}"],
            nn.Sequential(getattr(nn.utils, name)(nn.Linear(6, 6)), nn.Linear(6, 3)))

# Batches.
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
step = compile(model, optimizer)
assert step(x, y).shape == ()
expect("'x' is torch.float64, but the step was compiled for torch.float32; call .to(torch.float32)", step, x.double(), y)
expect("'target' is torch.int32", step, x, y.int())
expect("'x' is on meta, but the step is on cpu; call .to('cpu')", step, x.to("meta"), y)
expect("'x' has the shape 6, but the step was compiled for ?x6; pass a tensor of rank 2", step, x[0], y)
expect("'x' 4x5", step, x[:, :5], y)
expect("the model does not take these shapes", step, x[:, :5], y)
expect("different numbers of samples: 'x' has 4, 'target' has 3", step, x, y[:3])
expect("no elements; pass at least one sample", step, x[:0], y[:0])
expect("call torch.from_numpy", step, x.numpy(), y)
expect("pass the same nesting", step, (x, x), y)
expect("the batch is [a list of 24 numbers, a tensor], but the step was compiled for [a tensor, a tensor]", step, x.tolist(), y)
expect("the batch is [None, a tensor]", step, None, y)
expect("expected step(inputs, targets), got 1 arguments", step, x)
expect("value 3 at element 0 of 'target' is out of range, expected 0 to 2", step, x, y * 0 + 3)
expect("value -100 at element 0 of 'target' is out of range, expected 0 to 2; if the loss ignores this label, pass "
       "ignore_index=True to amp_torch.compile, or an example batch with the label", step, x, y * 0 - 100)
assert torch.isfinite(compile(Net(), ignore_index=True)(x, torch.tensor([-100, 1, 2, -100])))

# Changes that the program does not follow, each undone.
def stale(text):
    expect(text, step, x, y)


model.eval()
stale("the model is in evaluation mode; call model.train()")
model.train()
model.norm.eval()
stale("module 'norm' is in evaluation mode, but was not")
model.train()
model.fc.weight.requires_grad_(False)
stale("requires_grad of 'fc.weight' has changed; call amp_torch.compile again")
model.fc.weight.requires_grad_(True)
weight = model.fc.weight
model.fc.weight = nn.Parameter(weight.detach().clone())
stale("'fc.weight' was replaced by another object")
model.fc.weight = weight
model.half()
stale("'fc.weight' is now torch.float16, the step has torch.float32; convert it back")
model.float()
model.shift.add_(1)
stale("the buffer 'shift' is a constant of the step and has changed")
model.shift.sub_(1)
model.scale.add_(1)
stale("the tensor 'scale' is a constant of the step and has changed; call amp_torch.compile again")
model.scale.sub_(1)
scale, model.scale = model.scale, torch.zeros(3)
stale("the tensor 'scale' is a constant of the step and has changed")
model.scale = scale
linear, model.fc = model.fc, nn.Linear(6, 3)
stale("the module 'fc' was replaced, added or removed; create the optimizer from the parameters that the model has now")
model.fc, model.other = linear, nn.Linear(6, 3)
stale("the module 'other' was replaced, added or removed")
del model.other
for register, place in ((model.fc.register_forward_hook, "module 'fc'"), (model.register_full_backward_hook, "the model"),
                        (torch.nn.modules.module.register_module_forward_hook, "all modules")):
    hook = register(lambda *arguments: None)
    stale(f"a hook of {place} was added or removed, which a compiled step does not follow; undo it, or call amp_torch.compile")
    hook.remove()
group = optimizer.param_groups[0]
group["momentum"] = 0.5
stale("momentum of group 0 has changed from 0.9 to 0.5, but is a constant of the step; set it back (of OneCycleLR")
group["momentum"] = 0.9
optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(1))]})
stale("the optimizers have 2 groups, the step has 1")
optimizer.param_groups.pop()
optimizer.state[weight]["momentum_buffer"] = torch.zeros(2)
stale("the state 'fc.weight.momentum_buffer' of the optimizer now has the shape (2,), the step has (3, 6)")
optimizer.state.clear()
assert torch.isfinite(step(x, y))

# Labels of a loss that ignores some.
step = compile(Net(), batch=(x, torch.tensor([0, -100, 2, 1])))
assert torch.isfinite(step(x, torch.tensor([-100, 1, 2, -100])))
for wrong in (3, -1):
    expect(f"'target' has the label {wrong}; expected classes from 0 to 2, or -100, which is ignored", step, x,
           torch.tensor([0, wrong, -100, 1]))
print("every message as expected")
