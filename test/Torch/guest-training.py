# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The guest trains as torch.autocast does, bit for bit, with strategy `autocast`;
# with `optimal` it has no more casts and keeps no more bytes for the backward pass.
#
# REQUIRES: torch-export, full
# RUN: env PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s | FileCheck %s
#
# CHECK: MLP: autocast is eager autocast
# CHECK: GPT2Block: autocast is eager autocast
# CHECK: ResNetBlock: autocast is eager autocast
# CHECK: VAE: autocast is eager autocast
# CHECK: UNet: autocast is eager autocast
# CHECK: ResponseNorm: autocast is eager autocast
# CHECK: BiasedAttention: autocast is eager autocast

import amp_torch
import torch
from guest_models import MODELS, train
from parity import in_autocast

OLD = torch.__version__.startswith("2.9.")


def guest(name, strategy):
    torch._dynamo.reset()
    backend = amp_torch.backend("bf16", strategy=strategy)
    losses = train(name, lambda function: torch.compile(function, backend=backend))
    (report,), (saved,) = backend.reports, backend.saved_bytes
    assert not report.kept and not report.unlisted, str(report)
    return losses, report.casts, saved


for name in MODELS:
    exact = train(name, lambda function: function)
    expected = train(name, in_autocast)
    losses, casts, saved = guest(name, "autocast")
    if OLD and name == "UNet":
        # torch 2.9 takes the gradient of silu apart when it traces, also for its own compiler.
        torch._dynamo.reset()
        expected = train(name, lambda function: torch.compile(in_autocast(function), backend="aot_eager"))
    assert losses == expected, (name, losses, expected)
    assert losses != exact, name
    optimal, fewer, less = guest(name, "optimal")
    assert fewer <= casts and less <= saved, (name, fewer, casts, less, saved)
    # Every model learns in both.
    assert optimal[-1] < optimal[0], (name, optimal)
    print(f"{name}: autocast is eager autocast; casts {casts}, optimal {fewer}; "
          f"saved bytes {saved}, optimal {less}")
