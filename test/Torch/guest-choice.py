# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With `optimal`, no model has more casts or saved bytes in the guest than with `autocast`, in bf16 and fp16.
#
# REQUIRES: torch-models, full
# RUN: env PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s --fast
# RUN: %if long %{ env PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s %}
"""Usage: guest-choice.py [--fast] [model...]: by default the ten networks of torch_networks.py (`net:`), some models
of libraries (`library:`), and the models of model_kinds.py, module_kinds.py, task_kinds.py and guest_kinds.py (`own:`).
--fast takes a few of these."""

import argparse
import sys

import torch

import amp_torch
import guest_kinds
import library_models
import model_kinds
import module_kinds
import task_kinds
import torch_networks

OWN = {**model_kinds.KINDS, **module_kinds.MODULES, **task_kinds.TASKS, **guest_kinds.KINDS}
FAST = ["own:triplet", "own:flow"]
ALL = [f"net:{name}" for name in torch_networks.NETWORKS] + [
    f"library:{name}" for name in ("albert", "gpt2", "bert", "llama", "opt", "t5", "vit", "mobilenet_v3_small", "resnet18")
] + [f"own:{name}" for name in OWN]  # fmt: skip


def make(name):
    """The model, a function of it and of tensors that is the loss, and the tensors."""
    kind, name = name.split(":")
    torch.manual_seed(0)
    if kind == "own":
        network, loss, data = OWN[name]
        model, batch = network(), data()
        if loss is None:
            return model, lambda *tensors: model(*tensors), batch
        inputs, target = batch
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        return model, lambda *tensors: loss(model(*tensors[:-1]), tensors[-1]), (*inputs, target)
    if kind == "net":
        model, loss, arrays = torch_networks.make(name)
        compute = torch_networks.loss_of(loss)
    else:
        model, loss, arrays, names = library_models.make(name, 4)
        compute = library_models.loss_of(loss, names)
    return model, lambda *tensors: compute(model, *tensors), [torch.from_numpy(array) for array in arrays]


def measure(name, **settings):
    """The casts, the saved bytes and the reports."""
    torch._dynamo.reset()
    model, compute, batch = make(name)
    backend = amp_torch.backend(**settings)
    loss = torch.compile(compute, backend=backend)(*batch)
    loss.backward()
    assert torch.isfinite(loss), (name, settings)
    return sum(report.casts for report in backend.reports), sum(backend.saved_bytes), backend.reports


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("names", nargs="*", metavar="model")
    options = parser.parse_args()
    failures = 0
    for name in options.names or (FAST if options.fast else ALL):
        for precision in ("bf16", "fp16"):
            casts, saved, _ = measure(name, precision=precision, strategy="autocast")
            fewer, less, reports = measure(name, precision=precision)
            failed = fewer > casts or less > saved
            failures += failed
            print(f"{name} {precision}: casts {casts}, {fewer}; saved bytes {saved}, {less}"
                  + (" WRONG" if failed else ""), *(report.choice for report in reports), sep="; ", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
