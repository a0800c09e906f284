# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The gradients of exported steps against the joint graph of AOTAutograd, by the names of
# parameters. One step of SGD with a rate of 2^20 shows the gradient: the parameter before
# it has no weight in the one after it.
#
# REQUIRES: torch-export, full
# RUN: rm -rf %t && mkdir %t
# RUN: %torch_python %s %t
"""Usage: gradients.py <folder> [network...]: by default all."""

import sys

import torch
from torch._functorch.aot_autograd import aot_export_module

import amp_torch
from parity import amp_run, batches
from torch_networks import NETWORKS, batch_of, loss_of, make

SIZE, RATE = 4, float(2**20)


class Whole(torch.nn.Module):
    def __init__(self, model, loss):
        super().__init__()
        self.model, self.__dict__["compute"] = model, loss_of(loss)

    def forward(self, *tensors):
        return (self.compute(self.model, *tensors),)


def joint_gradients(model, loss, tensors):
    """The gradients that the joint graph gives, by the names of state_dict."""
    whole = Whole(model, loss)
    graph, signature = aot_export_module(whole, tensors, trace_joint=True, output_loss_index=0)
    state = {**dict(whole.named_parameters(remove_duplicate=False)), **dict(whole.named_buffers())}
    arguments = [state[name].detach().clone() for name in [*signature.parameters, *signature.buffers]]
    with torch.no_grad():
        results = graph(*arguments, *tensors)
    outputs = next(node for node in graph.graph.nodes if node.op == "output").args[0]
    named = {node.name: value for node, value in zip(outputs, results) if node is not None}
    names = {id(tensor): name.removeprefix("model.") for name, tensor in whole.named_parameters()}
    gradients = {}
    for output, name in signature.backward_signature.gradients_to_parameters.items():
        # The graph has a gradient for each place of a tied parameter.
        key = names[id(state[name])]
        gradients[key] = gradients[key] + named[output] if key in gradients else named[output]
    return gradients


def check(folder, name):
    model, loss, arrays = make(name)
    rows = next(batches(arrays, SIZE, 1))
    tensors = tuple(torch.from_numpy(row) for row in rows)
    expected = joint_gradients(model, loss, tensors)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    export = amp_torch.export(model, loss, optimizer, batch_of(loss, [array[:SIZE] for array in arrays]), folder)
    _, state = amp_run(folder, export.batch, arrays, SIZE, 1)
    largest = max(gradient.abs().max().item() for gradient in expected.values())
    worst, trained = 0.0, {key for key, _ in model.named_parameters()}
    assert set(expected) == trained, set(expected) ^ trained
    for key, gradient in expected.items():
        before = model.get_parameter(key).detach().double()
        ours = (before - torch.from_numpy(state[key]).double()) / RATE
        error = (ours - gradient.double()).abs().max().item() / max(gradient.abs().max().item(), 1e-3 * largest)
        assert error <= 1e-4, f"{name}: the gradient of {key} differs by {error:.1e} of its largest element"
        worst = max(worst, error)
    print(f"{name}: {len(expected)} gradients within {worst:.1e}", flush=True)


if __name__ == "__main__":
    for network in sys.argv[2:] or NETWORKS:
        check(sys.argv[1], network)
