# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A step for a GPU calls custom operations, classes of autograd.Function, operations on complex
# numbers and random numbers, on the CPU implementation of CUDA. The launches between the calls
# are graphs. Losses and parameters match those of eager PyTorch. After a call that fails, the
# parameters are unchanged.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir -p %t/cache
# RUN: %torch_python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root
"""Usage: calls-cuda.py <folder> <compiler> <library> <root of the source tree>"""

import copy
import json
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../CudaHost/Inputs"))
import amp_torch
import custom_operations as custom
from called_models import MODELS
from eager_training import train_eagerly
from emulated import EmulatedDevice
from host_compiler import count_calls, write_compiler

folder, command, library, root = sys.argv[1:5]
nvcc, cache = folder + "/nvcc", folder + "/cache"
write_compiler(nvcc, command, library, root, flags="-Wl,-Bsymbolic")
torch.manual_seed(5)
BATCHES = [(torch.randn(size, 6), torch.randint(0, 3, (size,))) for size in (8, 8, 8, 5, 8, 8)]


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def compiled(model, batches, **options):
    device = EmulatedDevice(cache)
    step = amp_torch.compile(model, F.cross_entropy, sgd(model), batches[0], device=device, cuda_compiler=nvcc, cache=cache,
                             **options)
    losses = []
    for number, (x, y) in enumerate(batches):
        # Torch works on another stream after some steps.
        device.number = int(number >= 4)
        losses.append(step(x, y).item())
    return losses, device, step


def check(name, make, batches, number_of_calls=None, seed=4):
    """Compares a compiled step with eager PyTorch. All steps make the same calls."""
    torch.manual_seed(seed)
    model = make()
    reference = copy.deepcopy(model)
    torch.manual_seed(9)
    theirs = train_eagerly(reference, sgd(reference), batches)
    torch.manual_seed(9)
    mine, device, _ = compiled(model, batches)
    error = max(abs(a - b) for a, b in zip(mine, theirs)) / max(theirs)
    assert error <= 1e-5, (name, mine, theirs)
    for (path, own), other in zip(model.named_parameters(), reference.parameters()):
        assert (own - other).abs().max() <= 1e-5, (name, path)
    number_of_calls = number_of_calls or len(device.calls) // len(batches)
    assert 0 < len(device.calls) == number_of_calls * len(batches), (name, len(device.calls))
    assert len({stream for _, stream in device.calls}) > 1, "the calls did not follow the stream of torch"
    print(f"{name}: within {error:.1e} of eager, {number_of_calls} calls", flush=True)


check("custom operations", custom.Net, BATCHES, 11)
check("the random numbers of the backward pass", custom.Noisy, BATCHES, 2)
for name in ("functions", "complex", "noisy"):
    make, batch = MODELS[name]
    torch.manual_seed(2)
    samples = [batch() for _ in range(2)]
    check(name, make, [samples[number % 2] for number in range(6)])

# Low precision. The report shows the slots of calls as fixed.
torch.manual_seed(4)
model = custom.Net()
reference = copy.deepcopy(model)
wide = train_eagerly(reference, sgd(reference), BATCHES)
losses, _, _ = compiled(model, BATCHES, precision="fp16", report=f"{folder}/fp16.json")
error = max(abs(a - b) for a, b in zip(losses, wide)) / max(wide)
assert 0 < error <= 2e-2, (losses, wide)
with open(f"{folder}/fp16.json") as file:
    calls = [op for op in json.load(file)["functions"][0]["ops"] if op["name"] == "amp.call"]
assert calls and {slot["rule"] for call in calls for slot in call["slots"]} == {"fixed"}, calls
print(f"fp16: within {error:.1e} of eager f32")

# A call that fails ends the step before the update.
RUNS = []


def failing(x):
    RUNS.append(x)
    if len(RUNS) > 3:
        raise ValueError("no such kernel")
    return x.clone()


operation = torch.library.custom_op("amp_test::sometimes", failing, mutates_args=(), schema="(Tensor x) -> Tensor")
operation.register_fake(torch.empty_like)
operation.register_autograd(lambda ctx, grad: grad.clone())


class Failing(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        return self.last(operation(self.first(x)))


model = Failing()
device = EmulatedDevice(cache)
step = amp_torch.compile(model, F.cross_entropy, sgd(model), BATCHES[0], device=device, cuda_compiler=nvcc, cache=cache)
step(*BATCHES[0])
before = {key: value.clone() for key, value in model.state_dict().items()}
try:
    step(*BATCHES[0])
    raise AssertionError("no error of a call")
except ValueError as error:
    text = str(error) + "".join(getattr(error, "__notes__", []))
    assert "no such kernel" in text and "which a compiled step called" in text, text
device.order(step.main.instance)
for key, value in model.state_dict().items():
    assert torch.equal(value, before[key]), key
# The step goes on afterwards.
RUNS.clear()
step(*BATCHES[0])
device.order(step.main.instance)
assert any(not torch.equal(value, before[key]) for key, value in model.state_dict().items())
print("an operation that fails leaves the parameters as they were")

# A program that starts again is not compiled again.
made = count_calls(nvcc)
torch.manual_seed(4)
compiled(custom.Net(), BATCHES)
assert count_calls(nvcc) == made
print("cached")
