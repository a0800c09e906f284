# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# amp_torch.backend(watch=...) changes no bit of the training. Counts of arguments equal those of torch, and an overflow comes first.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir -p %t
# RUN: env TORCHINDUCTOR_CACHE_DIR=%t/inductor PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s %t

import json
import sys

import amp_torch
import torch
import torch.nn as nn
import torch.nn.functional as F
from amp_torch import guest_watch

folder = sys.argv[1]


class Net(nn.Module):
    """A running mean and dropout: an extra run must repeat neither."""

    def __init__(self, factor):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(16, 32), nn.BatchNorm1d(32), nn.Linear(32, 4)
        self.factor = factor

    def forward(self, x):
        return self.last(F.dropout(torch.relu(self.norm(self.first(x))), 0.3) * self.factor)


def train(inner, factor=1.0, precision="bf16", steps=6, **options):
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = Net(factor)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    backend = amp_torch.backend(precision, inner=inner, **options)
    compiled = torch.compile(lambda x, y: F.cross_entropy(model(x), y), backend=backend)
    generator, losses, first = torch.Generator().manual_seed(1), [], model.first.weight.detach().clone()
    for _ in range(steps):
        x, y = torch.randn(8, 16, generator=generator), torch.randint(0, 4, (8,), generator=generator)
        optimizer.zero_grad()
        loss = compiled(x, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [value.clone() for value in model.state_dict().values()], backend, first


for inner in ("eager",):
    losses, state, _, _ = train(inner)
    for every, sampled in ((1, [1, 2, 3, 4, 5, 6]), (4, [1, 5])):
        watched, other, backend, first = train(inner, watch=True, watch_every=every)
        assert watched == losses, (inner, every)
        assert all(torch.equal(a, b) for a, b in zip(state, other, strict=True)), (inner, every)
        report = backend.watch_report(f"{folder}/watch.html")
        assert report["steps"] == sampled and report["sampled"] == len(sampled) and report["low"] == "bf16"
        assert sorted(report["ranked"]) == list(range(len(report["values"])))
        names = {value["name"]: value for value in report["values"]}
        assert {value["part"] for value in report["values"]} == {"forward", "backward"}
        assert any(value["scope"] == "last" and value["op"] == "aten.addmm" for value in report["values"] if "scope" in value)
        # The weight before the first step, with the counts of torch.
        weight = names['argument "first.weight"']
        assert weight["to"] == "bf16" and weight["elements"] == len(sampled) * first.numel(), weight
        assert weight["series"]["largest"][0] == first.abs().max().item(), weight
        lost = first[first != 0].bfloat16() == 0
        assert weight["series"]["underflow"][0] == lost.sum().item()
        with open(f"{folder}/watch.html") as page:
            text = page.read()
        start = text.index('id="data">') + len('id="data">')
        assert json.loads(text[start : text.index("</script>", start)]) == report
    # A factor takes a product out of the range of f16. The first value of the report says so.
    *_, backend, _ = train(inner, factor=1e6, precision="fp16", steps=2, watch=True)
    report = backend.watch_report(f"{folder}/watch.json")
    with open(f"{folder}/watch.json") as file:
        assert json.load(file) == report
    worst = report["values"][report["ranked"][0]]
    assert worst["nan"] + worst["infinite"] + worst["overflow"], worst
    print(inner, worst["name"])

# A part of the values.
*_, backend, _ = train("eager", watch="last")
assert {value["scope"].split(".")[0] for value in backend.watch_report()["values"]} == {"last"}

# Statistics of special values, and a series of bounded length.
special = torch.tensor([0, -0.0, 1, 65504, 65520, -1e6, 2**-25, 2**-24, 1e-40, float("inf"), float("nan"), 3e38])
fields = guest_watch.count(special, torch.float16).tolist()
assert fields[:5] == [1, 1, 2, 3, 2] and sum(fields[7:]) == special.numel(), fields[:7]
assert guest_watch.to_number(fields[5]) == special[-1].item() and 0 < guest_watch.to_number(fields[6]) < 2e-40
watch = guest_watch.Watch(True, 1, "f16")
value = torch.fx.Graph().placeholder("x")
value.meta["val"] = special
record = watch.add_record(value, "argument", "forward", "f16", {})
for step in range(1, 5001):
    watch.num_steps = step
    watch.add_counts({record: guest_watch.count(torch.tensor([float(step)]))})
report = watch.report()
(only,) = report["values"]
assert len(report["steps"]) <= guest_watch.MOST_POINTS and report["merged"] == 16 and report["sampled"] == 5000
assert only["elements"] == 5000 and only["series"]["largest"][:2] == [16, 32] and only["smallest"] == 1, only["series"]["largest"]
assert report["steps"][:2] == [1, 17] and len(only["series"]["nan"]) == len(report["steps"])

for options, text in (({"watch": 1}, "expected True or a regular expression"), ({"watch": "("}, "expected a regular expression"),
                      ({"watch": True, "inner": "inductor"}, "with inner='eager'"),
                      ({"watch": True, "watch_every": 0}, "at least 1, got 0")):
    try:
        amp_torch.backend(**options)
    except amp_torch.GuestError as error:
        assert text in str(error), (text, error)
    else:
        raise AssertionError(text)
for backend, text in ((amp_torch.backend(), "pass watch=True"), (amp_torch.backend(watch=True), "no value was watched")):
    try:
        backend.watch_report()
    except amp_torch.GuestError as error:
        assert text in str(error), (text, error)
    else:
        raise AssertionError(text)
