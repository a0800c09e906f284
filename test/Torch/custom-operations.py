# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A compiled step calls custom operations and their backward passes. Its losses and parameters
# match those of eager PyTorch. The report shows the slots of the calls as fixed. Operations
# that contradict their declarations are errors.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: custom-operations.py <folder>"""

import copy
import json
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import amp_torch
import custom_operations as custom
from eager_training import train_eagerly

folder = sys.argv[1]
STEPS = 10
torch.manual_seed(5)
BATCHES = [(torch.randn(size, 6), torch.randint(0, 3, (size,))) for size in (8, 8, 5, 8, 8, 8, 3, 8, 8, 8)]


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def compiled(model, **options):
    step = amp_torch.compile(model, F.cross_entropy, sgd(model), BATCHES[0], **options)
    return [step(x, y).item() for x, y in BATCHES]


def distance(losses, others):
    return max(abs(a - b) for a, b in zip(losses, others)) / max(others)


# Losses and parameters.
torch.manual_seed(1)
model = custom.Net()
reference = copy.deepcopy(model)
wide = train_eagerly(reference, sgd(reference), BATCHES)
report = folder + "/report.json"
error = distance(compiled(model, report=report), wide)
assert error <= 1e-5, error
for (name, mine), theirs in zip(model.named_parameters(), reference.parameters()):
    assert torch.allclose(mine, theirs, rtol=1e-4, atol=1e-5), name
    assert (mine - theirs).abs().max() <= 1e-5, name
print(f"f32: within {error:.1e} of eager")
for precision in ("bf16", "fp16"):
    torch.manual_seed(1)
    low = distance(compiled(custom.Net(), precision=precision, report=f"{folder}/{precision}.json"), wide)
    assert 0 < low <= 2e-2, (precision, low)
    print(f"{precision}: within {low:.1e} of eager f32")
with open(f"{folder}/bf16.json") as file:
    calls = [op for op in json.load(file)["functions"][0]["ops"] if op["name"] == "amp.call"]
rules = {slot["rule"] for call in calls for slot in call["slots"]}
assert len(calls) >= 6 and rules == {"fixed"}, (len(calls), rules)

# The backward pass uses the random numbers of the forward pass.
torch.manual_seed(2)
model = custom.Noisy()
reference = copy.deepcopy(model)
torch.manual_seed(3)
wide = train_eagerly(reference, sgd(reference), BATCHES)
torch.manual_seed(3)
error = distance(compiled(model), wide)
assert error <= 1e-5, error
print(f"random numbers: within {error:.1e} of eager")


class Sorted(nn.Module):
    """Calls operations of PyTorch that have no rule."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        values, _ = self.first(x).sort(-1)
        return self.last(torch.logcumsumexp(values, -1))


torch.manual_seed(2)
model = Sorted()
reference = copy.deepcopy(model)
error = distance(compiled(model), train_eagerly(reference, sgd(reference), BATCHES))
assert error <= 1e-5, error
print(f"operations of PyTorch: within {error:.1e} of eager")
# Gradient accumulation calls the operations once for each part.
torch.manual_seed(1)
model = custom.Net()
reference = copy.deepcopy(model)
x, y = BATCHES[0]
step = amp_torch.compile(model, F.cross_entropy, sgd(model), (x, y), accumulate=2)
losses = [step(x, y).item() for _ in range(3)]
optimizer = sgd(reference)
for mine in losses:
    optimizer.zero_grad()
    parts = [F.cross_entropy(reference(inputs), targets) / 2 for inputs, targets in zip(x.chunk(2), y.chunk(2))]
    for part in parts:
        part.backward()
    optimizer.step()
    assert abs(sum(part.item() for part in parts) - mine) <= 1e-5, (parts, mine)
print("accumulation: equal to eager")


# -- Errors ------------------------------------------------------------------------------


class Wrapped(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear, self.function = nn.Linear(6, 3), function

    def forward(self, x):
        return self.function(self.linear(x))


def expect(texts, function, error, run=True):
    model = Wrapped(function)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    try:
        step = amp_torch.compile(model, F.cross_entropy, sgd(model), BATCHES[0])
        step(*BATCHES[0])
    except error as found:
        message = str(found) + "".join(getattr(found, "__notes__", []))
        for text in [texts] if isinstance(texts, str) else texts:
            assert text in message, f"'{text}' is not in: {message}"
        # The step ended before the update.
        for key, value in model.state_dict().items():
            assert torch.equal(value, before[key]), key
        return
    raise AssertionError(f"no error with {texts}")


def define(name, fake, function=lambda x: x.clone(), backward=True):
    operation = torch.library.custom_op(f"amp_test::{name}", function, mutates_args=(), schema="(Tensor x) -> Tensor")
    operation.register_fake(fake)
    if backward:
        operation.register_autograd(lambda ctx, grad: grad.clone())
    return operation


RUNS = []


def failing(x):
    """Fails on every run after the eager pass that precedes the export."""
    RUNS.append(x)
    if len(RUNS) > 1:
        raise ValueError("no such kernel")
    return x.clone()


expect(["amp_test::wrong_shape returned float32 of 8x3 as result 0, but its fake kernel says float32 of 8x3x1",
        "correct the function of register_fake"],
       lambda x: define("wrong_shape", lambda x: x.new_empty(*x.shape, 1))(x).squeeze(-1), amp_torch.StepError)
expect("returned float64 of 8x3 as result 0, but its fake kernel says float32 of 8x3",
       define("wrong_type", torch.empty_like, lambda x: x.double()), amp_torch.StepError)
expect(["no such kernel"], define("failing", torch.empty_like, failing), ValueError)
advice = "a gradient needs its backward pass; register one with torch.library.register_autograd, or detach its result"
constant = define("constant", torch.empty_like, backward=False)
expect(f"amp_test::constant: {advice}", constant, amp_torch.UnsupportedModel)
# An operation that no gradient passes through needs no backward pass.
model = Wrapped(lambda x: x + constant(x.detach()) + constant(x).detach())
reference = copy.deepcopy(model)
error = distance(compiled(model), train_eagerly(reference, sgd(reference), BATCHES))
assert error <= 1e-5, error


# Operations of torch without a rule, whose decompositions contain others of this kind.
functions = [torch.nan_to_num, lambda x: torch.hypot(x, x + 1), lambda x: x * x.quantile(0.3, 1, keepdim=True)]
if torch.__version__.startswith("2.9."):
    # Export of this version compares the operands of quantile.
    expect("torch.export cannot capture the model: use torch.compile with amp_torch.backend", functions.pop(), amp_torch.UnsupportedModel)
for function in functions:
    model = Wrapped(function)
    reference = copy.deepcopy(model)
    error = distance(compiled(model), train_eagerly(reference, sgd(reference), BATCHES))
    assert error <= 1e-5, error


@torch.library.custom_op("amp_test::double_", mutates_args=("x",))
def double_(x: torch.Tensor) -> None:
    x.mul_(2)


def doubled(x):
    x = x.clone()
    double_(x)
    return x


expect(["amp_test::double_", "return a new tensor, with mutates_args=()"], doubled, amp_torch.UnsupportedModel)
# Exported files cannot contain custom operations.
try:
    model = Wrapped(lambda x: custom.noise(x, 0.5))
    amp_torch.export(model, F.cross_entropy, sgd(model), BATCHES[0], folder)
    raise AssertionError("a file with an operation of torch")
except amp_torch.UnsupportedModel as found:
    assert "use amp_torch.compile, which calls it" in str(found), found
print("every message as expected")
