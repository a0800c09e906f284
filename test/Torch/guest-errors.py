# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Errors state the fault and the expectation; inference, reports, pins and open shapes work.
#
# REQUIRES: torch-export
# RUN: env PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s

import warnings

import amp_torch
import torch
from guest_models import MLP
from torch.fx.experimental.proxy_tensor import make_fx


def refused(text, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except amp_torch.GuestError as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"no error: {text}")


refused("unknown precision 'int8', expected one of bf16, fp16, f32", amp_torch.backend, "int8")
refused("unknown precision torch.int8", amp_torch.backend, torch.int8)
refused("target", amp_torch.backend, target="h999")
refused("policy", amp_torch.backend, policy="{version: 1, alow: []}")
refused("promote: expected True or False, got 1", amp_torch.backend, promote=1)
refused("unknown strategy 'best'", amp_torch.backend, strategy="best")
refused("unknown inner backend 'xla'", amp_torch.backend, inner="xla")
refused("there is no policy 'none.yaml'", amp_torch.backend, policy="none.yaml")
refused("pins: expected a dict from globs over module paths", amp_torch.backend, pins=["head"])
refused("unknown pin of 'head'", amp_torch.backend, pins={"head": "int8"})
refused("the option 'amp_opt' names 'none'", amp_torch.backend, amp_opt="none")
refused("expected a torch.fx.GraphModule", amp_torch.rewrite, torch.nn.Linear(2, 2))
traced = torch.fx.symbolic_trace(torch.nn.Linear(2, 2))
refused("the graph has no fake tensors", amp_torch.rewrite, traced)

# A separate graph: low inside, f32 outside, and valid.
graph = make_fx(lambda a, b: (a @ b).relu() @ b, tracing_mode="fake")(
    torch.randn(8, 8), torch.randn(8, 8)
)
amp_torch.rewrite(graph, precision="bf16")
report = graph.meta["amp"]
assert report.casts == 3 and report.low == 3, str(report)
assert any("aten.mm" in remark for remark in report.remarks), report.remarks
a, b = torch.randn(8, 8), torch.randn(8, 8)
result = graph(a, b)
low = b.bfloat16()
assert result.dtype == torch.float32
assert torch.equal(result, ((a.bfloat16() @ low).relu() @ low).float())

# Inference with an open batch; a pin by module.
model = MLP()
for pins, expected in ((None, 3), ({"last": "f32"}, 2)):
    torch._dynamo.reset()
    backend = amp_torch.backend("bf16", pins=pins)
    compiled = torch.compile(model, backend=backend, dynamic=True)
    with torch.no_grad():
        for size in (4, 7):
            x = torch.randn(size, 64)
            assert (compiled(x) - model(x)).abs().max() < 0.05
    assert len(backend.reports) == 1, len(backend.reports)

# A pin that matches no module is a warning, once, with the modules that the graph has.
for pins, unknown in (({"nothing*": "f32"}, ["nothing*"]), ({"last": "f32", "other": "low"}, ["other"]), ({"last": "f32"}, [])):
    torch._dynamo.reset()
    backend = amp_torch.backend("bf16", pins=pins)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.compile(model, backend=backend)(torch.randn(4, 64)).sum().backward()
    texts = [str(warning.message) for warning in caught if "pins:" in str(warning.message)]
    assert len(texts) == len(unknown), texts
    for pin, text in zip(unknown, texts):
        assert f"'{pin}' matches no module of the graph, which has " in text and "'last'" in text, text

# fp16 under a GradScaler.
torch._dynamo.reset()
backend = amp_torch.backend("fp16")
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
optimizer = torch.optim.SGD(model.parameters(), 0.05)
compiled = torch.compile(model.loss, backend=backend)
batch = model.batch()
losses = []
for _ in range(5):
    optimizer.zero_grad()
    loss = compiled(*batch)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    losses.append(loss.item())
assert losses[-1] < losses[0] and scaler.get_scale() == 1024.0, losses

# Types of torch name precisions.
for dtype, name in ((torch.bfloat16, "bf16"), (torch.float16, "fp16"), (torch.float32, "f32")):
    assert amp_torch.backend(dtype).options == amp_torch.backend(name).options

# The key of a cache follows the options.
keys = {amp_torch.backend(p, strategy=s).key() for p in ("bf16", "fp16")
        for s in ("optimal", "autocast")}
assert len(keys) == 4
assert amp_torch.backend("bf16", promote=False).key() not in keys

# torch has no fp16 kernel of RReLU on the CPU, which stays f32 then. With an open batch too.
activated = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.RReLU(), torch.nn.Linear(8, 2))
for dynamic in (False, True):
    torch._dynamo.reset()
    backend = amp_torch.backend("fp16", strategy="autocast")
    torch.compile(lambda x: activated(x).sum(), backend=backend, dynamic=dynamic)(torch.randn(4, 8)).backward()
    (reason,) = backend.reports[0].kept.values()
    assert "rrelu" in reason and "not implemented for 'Half'" in reason and backend.reports[0].low > 1, backend.reports[0]
