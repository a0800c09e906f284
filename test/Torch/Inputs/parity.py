# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains an exported step in amp-run, and the same model in PyTorch, on the same batches."""

import json
import subprocess

import numpy as np
import torch

import amp_torch


def philox(seed, stream, index):
    """Philox4x32-10, as in Runtime/Host/Philox.h."""
    mask = 0xFFFFFFFF
    counter = [index & mask, index >> 32, stream & mask, stream >> 32]
    key = [seed & mask, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [second >> 32 ^ counter[1] ^ key[0], second & mask, first >> 32 ^ counter[3] ^ key[1], first & mask]
        key = [key[0] + 0x9E3779B9 & mask, key[1] + 0xBB67AE85 & mask]
    return counter


def epoch_order(count, seed, epoch):
    """The order of samples of an epoch, as in Runtime/Host/Dataset.h."""
    order = list(range(count))
    for i in range(count - 1, 0, -1):
        words = philox(seed, 0x6F72646572 + (epoch << 40), i)
        j = (words[0] << 32 | words[1]) * (i + 1) >> 64
        order[i], order[j] = order[j], order[i]
    return order


def batches(arrays, size, steps, seed=0):
    """The batches that amp-run reads, as lists of arrays."""
    count, epoch, order = len(arrays[0]), -1, []
    for _ in range(steps):
        if len(order) < size:
            epoch += 1
            order = epoch_order(count, seed, epoch)
        rows, order = order[:size], order[size:]
        yield [array[rows] for array in arrays]


def amp_run(folder, names, arrays, size, steps, *options, start=None):
    """Runs the step in `folder`, from its weights or as the options `start` say; returns
    the losses and the state."""
    np.savez(f"{folder}/data.npz", **dict(zip(names, arrays)))
    command = ["amp-run", f"{folder}/step.mlir", "--data", f"{folder}/data.npz",
               *(start or ["--init", f"{folder}/init.npz"]), "--batch-size", str(size), "--steps", str(steps), "--quiet", "--metrics-json", f"{folder}/run.json",
               "--save", f"{folder}/state.npz", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[-3000:]
    with open(f"{folder}/run.json") as file:
        run = json.load(file)["runs"][0]
    with np.load(f"{folder}/state.npz") as file:
        state = {key: file[key] for key in file if not key.startswith("__amp")}
    return [float(step["loss"]) for step in run["steps"]], state


def train(model, loss_of, optimizers, arrays, size, steps, clip=None, autocast=None, scaler=None, scales=None):
    """Trains in PyTorch on the batches of amp-run; returns the losses. The loss scale after each
    step goes to the list `scales`."""
    losses = []
    for rows in batches(arrays, size, steps):
        tensors = [torch.from_numpy(row) for row in rows]
        for optimizer in optimizers:
            optimizer.zero_grad()
        with torch.autocast("cpu", autocast or torch.bfloat16, enabled=autocast is not None):
            loss = loss_of(model, *tensors)
        (loss if scaler is None else scaler.scale(loss)).backward()
        for optimizer in optimizers:
            if scaler is not None:
                scaler.unscale_(optimizer)
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for optimizer in optimizers:
            optimizer.step() if scaler is None else scaler.step(optimizer)
        if scaler is not None:
            scaler.update()
            if scales is not None:
                scales.append(scaler.get_scale())
        losses.append(loss.item())
    return losses


def in_autocast(function):
    """`function` under autocast on a CPU in bf16."""
    def run(*arguments):
        with torch.autocast("cpu", torch.bfloat16):
            return function(*arguments)

    return run


def loss_of_step(step, loss, batch):
    """Runs a compiled step on a batch as `batch_of` makes it."""
    return step(batch) if loss is None else step(*batch)


def refused(*args, **kwargs):
    """The text of the error that an export ends in."""
    try:
        amp_torch.export(*args, **kwargs)
    except (amp_torch.UnsupportedModel, ValueError, TypeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("expected an error")
