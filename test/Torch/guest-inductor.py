# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Inductor takes the rewritten graph, in training and in inference; its distance to
# f32 stays that of bf16.
#
# REQUIRES: torch-export, full
# RUN: env TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s

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
