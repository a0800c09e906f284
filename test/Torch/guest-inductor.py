# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Inductor takes the rewritten graph, in training and in inference; its distance to
# f32 stays that of bf16. Norms of low values keep their statistics in f32.
#
# REQUIRES: torch-export, full
# RUN: env TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s

import copy

import amp_torch
import torch
from guest_models import MODELS, train

for name in ("MLP",):
    torch._dynamo.reset()
    exact = train(name, lambda function: function, 5)
    backend = amp_torch.backend("bf16", inner="inductor")
    losses = train(name, lambda function: torch.compile(function, backend=backend), 5)
    assert len(backend.reports) == 1 and backend.reports[0].casts, backend.reports
    assert losses != exact
    assert max(abs(a - b) for a, b in zip(losses, exact)) < 0.01, (losses, exact)
    model = MODELS[name]()
    x = model.batch()[0]
    with torch.no_grad():
        compiled = torch.compile(model, backend=backend)
        # Low, so neither equal nor far.
        assert 1e-5 < (compiled(x) - model(x)).abs().max() < 0.05

nn = torch.nn


class Normalized(nn.Module):
    """A norm after a product, whose results are low."""

    def __init__(self, norm, image):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, bias=False) if image else nn.Linear(16, 8)
        self.norm, self.last = norm, nn.Linear(8, 4)

    def forward(self, x):
        hidden = torch.relu(self.norm(self.first(x)))
        return self.last(hidden.mean((2, 3)) if hidden.dim() == 4 else hidden)


def gradients(model, inner, precision, x, labels):
    torch._dynamo.reset()
    model = copy.deepcopy(model)
    backend = amp_torch.backend(precision, inner=inner)
    torch.compile(lambda x: nn.functional.cross_entropy(model(x), labels), backend=backend)(x).backward()
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


torch.manual_seed(0)
image, row = torch.randn(4, 3, 8, 8), torch.randn(4, 16)
labels = torch.tensor([0, 1, 2, 3])
for precision, norm, x in (
    ("bf16", nn.BatchNorm1d(8), row),
    ("fp16", nn.BatchNorm1d(8), row),
    ("bf16", nn.BatchNorm2d(8), image),
    ("bf16", nn.LayerNorm(8), row),
    ("bf16", nn.GroupNorm(4, 8), image),
    ("fp16", nn.InstanceNorm2d(8, affine=True), image),
    ("bf16", nn.RMSNorm(8), row),
):
    model = Normalized(norm, x is image)
    eager, compiled = (gradients(model, inner, precision, x, labels) for inner in ("eager", "inductor"))
    # Both compute the same graph. Sums in another order may round a value to the next number of the low type.
    bound = torch.finfo(torch.bfloat16 if precision == "bf16" else torch.float16).eps
    assert (eager - compiled).abs().max() < bound * eager.abs().max(), (precision, norm, eager, compiled)
