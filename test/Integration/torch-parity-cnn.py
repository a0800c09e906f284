# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Training the convolutional network in f32 is what PyTorch does: from the same
# weights, on one batch, loss, parameters, optimizer state and the statistics of
# batch norm agree after three steps. Dropout draws other numbers there, so its
# rate is 0 here.
#
# REQUIRES: torch
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
import torch
from digits import DIGITS, metrics, model, state

STEPS, BATCH = 3, 128
folder = sys.argv[1]
with open(model("digits-cnn")) as f:
    text = f.read()
assert text.count("{rate = 0.1 : f64}") == 1
name = os.path.join(folder, "no-dropout")
with open(name + ".mlir", "w") as f:
    f.write(text.replace("{rate = 0.1 : f64}", "{rate = 0.0 : f64}"))
data = os.path.join(folder, "data.npz")
with np.load(DIGITS) as f:
    arrays = {key: f[key][:BATCH] for key in ("train_images", "train_labels")}
np.savez(data, **arrays)
labels = torch.from_numpy(arrays["train_labels"])

options = ("--precision", "f32", "--batch-size", BATCH, "--seed", 7)
start = state(name, *options, "--steps", 0, data=data)
end = state(name, *options, "--steps", STEPS, data=data)
steps, _ = metrics(name, *options, "--steps", STEPS, data=data)


class Net(torch.nn.Module):
    """The network, with its tensors under the names that the graph gives."""

    def __init__(self):
        super().__init__()
        for i, (inputs, outputs) in enumerate(((1, 16), (16, 32), (32, 32)), 1):
            setattr(self, f"conv{i}", torch.nn.Conv2d(inputs, outputs, 3, padding=1, bias=False))
            setattr(self, f"bn{i}", torch.nn.BatchNorm2d(outputs))
        self.fc = torch.nn.Linear(32, 10)

    def forward(self, images):
        x = images.reshape(-1, 1, 8, 8)
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.relu(self.bn2(self.conv2(x)))
        x = torch.nn.functional.max_pool2d(x, 2)
        x = torch.relu(self.bn3(self.conv3(x)))
        return self.fc(torch.nn.functional.avg_pool2d(x, 4).flatten(1))


net = Net()


def theirs():
    """The tensors of the network by our names, in our layout."""
    names = {"weight": "gamma", "bias": "beta"}
    for key, value in [*net.named_parameters(), *net.named_buffers()]:
        layer, _, kind = key.partition(".")
        if kind != "num_batches_tracked":
            yield f"{layer}.{names.get(kind, kind) if layer.startswith('bn') else kind}", value


def to_ours(value):
    """Torch has kernels as [out, in, height, width], we as [h, w, in, out]."""
    value = value.detach().numpy()
    return value.transpose(2, 3, 1, 0) if value.ndim == 4 else value.T


def to_theirs(value):
    value = value.transpose(3, 2, 0, 1) if value.ndim == 4 else value.T
    return torch.from_numpy(np.ascontiguousarray(value))


with torch.no_grad():
    for key, value in theirs():
        value.copy_(to_theirs(start[key]))
decaying = [value for value in net.parameters() if value.ndim > 1]
others = [value for value in net.parameters() if value.ndim == 1]
optimizer = torch.optim.SGD(
    [{"params": decaying, "weight_decay": 1e-4}, {"params": others}], lr=0.05, momentum=0.9
)
images = torch.from_numpy(arrays["train_images"])
losses = []
for _ in range(STEPS):
    loss = torch.nn.functional.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

ours = [step["loss"] for step in steps]
assert np.allclose(ours, losses, rtol=1e-4, atol=0), (ours, losses)


def check(key, reference):
    error = np.linalg.norm(end[key] - reference) / np.linalg.norm(reference)
    moved = np.linalg.norm(start[key] - reference) / np.linalg.norm(reference)
    assert error < 5e-3 and moved > 20 * error, (key, error, moved)


checked = {"rng"}
for key, value in theirs():
    check(key, to_ours(value))
    checked.add(key)
    if value.requires_grad:
        check(f"{key}.velocity", to_ours(optimizer.state[value]["momentum_buffer"]))
        checked.add(f"{key}.velocity")
assert checked == end.keys(), checked ^ end.keys()
