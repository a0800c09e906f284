# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The model of PyTorch's machine, with which loss-scalers.py compares ours, against
# torch.amp.GradScaler("cpu") of a release that has it, from PyPI. Debian's has not.
#
# REQUIRES: long
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs
"""Usage: loss-scalers-torch.py <folder> <inputs>, or in the environment that it
makes: loss-scalers-torch.py --compare <inputs>"""

import os
import subprocess
import sys

PATTERNS, STEPS = 1000, 500


def compare(inputs):
    sys.path.insert(0, inputs)
    import numpy as np
    import torch
    from scalers import PyTorch

    assert tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 3), torch.__version__
    torch.set_num_threads(1)
    rng = np.random.default_rng(7)
    skips = grown = 0
    for pattern in range(PATTERNS):
        start = float(rng.choice([1.0, 3.0, 2.0**16, 2.0**126, 2.0**-120]))
        interval = int(rng.choice([1, 2, 3, 7, 100]))
        scaler = torch.amp.GradScaler("cpu", init_scale=start, growth_interval=interval)
        parameter = torch.zeros(3, requires_grad=True)
        optimizer = torch.optim.SGD([parameter], lr=1.0)
        model = PyTorch(start, 0, interval, 1)
        finite = rng.random(STEPS) >= rng.choice([0.002, 0.05, 0.2, 0.4])
        scaler.scale(torch.zeros(()))  # Which makes its state.
        for step in range(STEPS):
            value = scaler._scale.item() if finite[step] else float(rng.choice([np.inf, -np.inf, np.nan]))
            parameter.grad = torch.tensor([0.0, value, 0.0])
            before = parameter.detach().clone()
            scaler.step(optimizer)
            scaler.update()
            with np.errstate(over="ignore"):
                model.step(bool(finite[step]))
            got = scaler._scale.item(), scaler._growth_tracker.item()
            assert got == (float(model.scale), model.tracker), (pattern, step, got, model.scale, model.tracker)
            moved = not torch.equal(parameter.detach(), before)
            # Below 2^-128 the reciprocal overflows and torch steps with NaN.
            assert moved == bool(finite[step]) or not torch.isfinite(before).all() or got[0] < 2.0**-126, (pattern, step)
            skips += not finite[step]
        grown += got[0] > start
    assert skips and grown
    print(f"torch {torch.__version__}: {PATTERNS} patterns of {STEPS} steps, {skips} of them skipped")


def main(folder, inputs):
    environment = os.path.join(folder, "environment")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = os.path.join(environment, "bin", "python3")
    subprocess.run([python, "-m", "pip", "install", "-q", "torch>=2.3", "numpy"], check=True)
    subprocess.run([python, os.path.abspath(__file__), "--compare", inputs], check=True)


if __name__ == "__main__":
    compare(sys.argv[2]) if sys.argv[1] == "--compare" else main(*sys.argv[1:])
