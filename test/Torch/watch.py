# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests amp_torch.compile(watch=...). Training results stay the same, bit for bit. The counts
# of a weight equal the counts of torch. The report ranks an overflow first. The CUDA programs
# run on the CPU implementation of CUDA.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir -p %t/cache
# RUN: %torch_python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root
"""Usage: watch.py <folder> <compiler> <library> <root of the source tree>"""

import json
import os
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../CudaHost/Inputs"))
import amp_torch
from emulated import EmulatedDevice
from host_compiler import write_compiler

folder, command, library, root = sys.argv[1:5]
nvcc, cache = folder + "/nvcc", folder + "/cache"
write_compiler(nvcc, command, library, root, flags="-Wl,-Bsymbolic")
torch.manual_seed(3)
BATCHES = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(6)]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last, self.factor = nn.Linear(6, 16), nn.Linear(16, 3), 1.0

    def forward(self, x):
        return self.last(torch.relu(self.first(x) * self.factor))


def train(cuda, factor=1.0, **options):
    torch.manual_seed(1)
    model = Net()
    model.factor = factor
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    device = {"device": EmulatedDevice(cache), "cuda_compiler": nvcc} if cuda else {}
    step = amp_torch.compile(model, F.cross_entropy, optimizer, BATCHES[0], precision="fp16", cache=cache, **device, **options)
    first = [parameter.detach().clone() for parameter in model.parameters()]
    losses = [step(x, y).item() for x, y in BATCHES]
    return step, losses, [parameter.detach().clone() for parameter in model.parameters()], first


for cuda in (False, True):
    _, losses, weights, first = train(cuda)
    for every, sampled in ((1, [1, 2, 3, 4, 5, 6]), (4, [1, 5])):
        step, watched_losses, watched_weights, _ = train(cuda, watch=True, watch_every=every)
        assert watched_losses == losses, (cuda, every)
        assert all(torch.equal(a, b) for a, b in zip(weights, watched_weights)), (cuda, every)
        report = step.watch_report(folder + "/watch.html")
        assert report["steps"] == sampled and report["low"] == "f16" and report["model"] == "Net", report["steps"]
        with open(folder + "/watch.html") as file:
            assert '"Net"' in file.read()
        step.watch_report(folder + "/watch.json")
        with open(folder + "/watch.json") as file:
            assert json.load(file) == report
        values = {value["name"]: value for value in report["values"]}
        assert {value["part"] for value in report["values"]} >= {"forward", "backward"}
        assert any("first" in name for name in values), list(values)
        # The counts of a weight before a sampled step match the values of torch.
        weight = values['argument "first.weight"']
        assert weight["elements"] == len(sampled) * first[0].numel() and weight["nan"] == weight["infinite"] == 0
        assert abs(weight["series"]["largest"][0] - first[0].abs().max().item()) < 1e-6
        exponents = torch.frexp(first[0])[1] - 1
        if every == 4:
            step, *_ = train(cuda, watch='argument "first.weight"', watch_every=100)
            (weight,) = step.watch_report()["values"]
            for exponent, count in weight["exponents"].items():
                assert (exponents == int(exponent)).sum() == count, (exponent, count)

    # If a product leaves the range of f16, the first value of the report has a non-finite
    # element or an overflow in a cast.
    step, *_ = train(cuda, factor=1e6, watch=True)
    report = step.watch_report()
    worst = report["values"][report["ranked"][0]]
    assert worst["nan"] + worst["infinite"] + worst["overflow"] > 0, worst
    print("cuda" if cuda else "cpu", worst["name"])

# Errors.
step, *_ = train(False)
for call, text in (
    (step.watch_report, "pass watch=True"),
    (lambda: train(False, watch=1), "expected True or a regular expression"),
    (lambda: train(False, watch=True, watch_every=0), "at least 1, got 0"),
    (lambda: train(False, watch="("), "expected a regular expression"),
    (lambda: train(False, watch="no.such.value"), "selects no value"),
):
    try:
        call()
    except (TypeError, ValueError, amp_torch.StepError) as error:
        assert text in str(error), (text, error)
    else:
        raise AssertionError(text)
