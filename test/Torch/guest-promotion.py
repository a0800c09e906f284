# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With `optimal`, sums with an f32 residual and the norms of these stay f32, and so does the backward pass of the
# loss. With promote=False they are low. The backward pass computes exponentials of low values again. A mask
# with the limit of the type of its scores stays low.
#
# REQUIRES: torch-export
# RUN: env PYTHONPATH=%amp_src_root/tools/amp-torch:%S/Inputs %torch_python %s

import amp_torch
import torch
import torch.nn.functional as F
from amp_torch import guest
from torch import nn

LOW = torch.bfloat16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.norm = nn.Embedding(20, 64), nn.LayerNorm(64)
        self.up, self.down, self.head = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 20)

    def forward(self, ids, hidden):
        residual = self.tokens(ids)
        for _ in range(2):
            residual = residual + self.down(F.relu(self.up(self.norm(residual))))
        scores = self.head(self.norm(residual))
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        return F.cross_entropy(scores.flatten(0, 1), ids.flatten(), label_smoothing=0.1)


class Exponential(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(64, 64), nn.Linear(64, 20)

    def forward(self, x):
        return self.last(torch.exp(self.first(x) * 0.5) * x).float().square().mean()


def compile_and_run(model, *batch, **options):
    """The rewritten graph as a list of the name of the operation, its type and whether it is in the backward
    pass, and the backend."""
    torch._dynamo.reset()
    graphs, original = [], guest.rewrite_graph

    def record(graph, settings):
        graphs.append(original(graph, settings))
        return graphs[-1]

    guest.rewrite_graph = record
    try:
        backend = amp_torch.backend("bf16", **options)
        torch.compile(model, backend=backend)(*batch).backward()
    finally:
        guest.rewrite_graph = original
    ((graph, _),) = graphs
    found = []
    for node in graph.nodes:
        value = node.meta.get("val")
        value = value[0] if isinstance(value, (tuple, list)) else value
        if node.op == "call_function" and isinstance(value, torch.Tensor):
            found.append((guest.fx_apply.packet_of(node), value.dtype, bool(guest.fx_apply.is_backward(node))))
    return found, backend


def types(found, name, backward=False):
    return [dtype for packet, dtype, is_backward in found if packet == name and is_backward == backward]


torch.manual_seed(0)
ids, hidden = torch.randint(0, 10, (8, 16)), torch.arange(20) > 15
wide, _ = compile_and_run(Block(), ids, hidden)
free, _ = compile_and_run(Block(), ids, hidden, promote=False)
alike, _ = compile_and_run(Block(), ids, hidden, strategy="autocast")
for found, dtype in ((wide, torch.float32), (alike, torch.float32), (free, LOW)):
    assert set(types(found, "native_layer_norm")) == {dtype}, found
    assert types(found, "add")[:2] == [dtype] * 2, found
# The scores are low in all, with the mask in them.
for found in (wide, free, alike):
    assert types(found, "masked_fill")[0] == LOW, found
# The gradient of the loss.
assert LOW not in types(wide, "neg", backward=True), wide

x = torch.randn(8, 64)
found, backend = compile_and_run(Exponential(), x)
assert types(found, "exp") == types(found, "exp", backward=True) == [torch.float32], found
alike, other = compile_and_run(Exponential(), x, strategy="autocast")
assert backend.saved_bytes[0] <= other.saved_bytes[0], (backend.saved_bytes, other.saved_bytes)

# Groups of channels that change places between two convolutions stay low.
shuffle = nn.Sequential(nn.Conv2d(4, 8, 1, groups=2), nn.ChannelShuffle(4), nn.Conv2d(8, 1, 1), nn.Flatten(), nn.Linear(9, 4))
images = torch.randn(2, 4, 3, 3)
found, backend = compile_and_run(lambda: F.mse_loss(shuffle(images), torch.zeros(2, 4)))
assert types(found, "channel_shuffle") == [LOW] and not backend.reports[0].unlisted, (found, backend.reports[0].unlisted)

# A policy of the user says which strategy it means.
for text, strategy in (("{version: 1, strategy: grappler}", "grappler"), ("version: 1\nstrategy: 'autocast'\n", "autocast"),
                       ("{version: 1}", "optimal")):
    assert guest.Options(policy=text).effective_strategy() == strategy, text
assert guest.Options(policy="{version: 1, strategy: grappler}", strategy="optimal").effective_strategy() == "optimal"
