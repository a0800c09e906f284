# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With the strategy `autocast`, losses and gradients of small models equal those of eager torch.autocast bit for bit, in bf16
# and fp16. Each model has one module or function of torch, or one way to use a value, that needs a rule: functions that autocast runs in
# f32, functions that convert their operands, values that several operations read, and changes in place. Recurrent layers
# are in the graph if Dynamo may trace them.
#
# REQUIRES: torch-export, full
# RUN: %torch_python %s
"""Usage: guest-parity.py [name...]: by default all."""

import copy
import operator
import sys

import torch
import torch._dynamo.config
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

import amp_torch

STEPS = 3
LOW = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Net(nn.Module):
    """Modules, a function of these and of the input, and the shape of the input."""

    def __init__(self, function, *modules, shape=(4, 8)):
        super().__init__()
        self.parts, self.function, self.shape = nn.ModuleList(modules), function, shape

    def forward(self, x):
        y = self.function(self.parts, x)
        return y if y.dim() == 0 else (y * torch.linspace(-1, 1, y.numel()).view(y.shape)).sum()


def chain(*modules, shape=(4, 8)):
    def run(parts, x):
        for part in parts:
            x = part(x)
        return x

    return lambda: Net(run, *modules_of(modules), shape=shape)


def modules_of(makers):
    return [maker() for maker in makers]


def dense():
    return nn.Linear(8, 8)


def conv():
    return nn.Conv2d(3, 8, 3)


IMAGE, VOLUME, SEQUENCE = (4, 3, 6, 6), (2, 2, 5, 5, 5), (4, 3, 8)


def after_dense(module):
    return chain(dense, module, dense)


def after_conv(module):
    return chain(conv, module, lambda: nn.Conv2d(8, 4, 1), shape=IMAGE)


def function(apply, count=1, make=dense, shape=(4, 8)):
    """`apply` to the results of `count` layers."""
    return lambda: Net(lambda parts, x: apply(*(part(x) for part in parts)), *(make() for _ in range(count)), shape=shape)


def loss(apply, count=1):
    return function(apply, count)


def unrolled(cell):
    def run(parts, x):
        state = parts[1](x[:, 0])
        for step in x.unbind(1):
            state = parts[0](step, state)
        return state

    return lambda: Net(run, cell(8, 8), dense(), shape=SEQUENCE)


def unrolled_lstm():
    def run(parts, x):
        state = (parts[1](x[:, 0]), torch.zeros(4, 8))
        for step in x.unbind(1):
            state = parts[0](step, state)
        return state[0] + state[1]

    return Net(run, nn.LSTMCell(8, 8), dense(), shape=SEQUENCE)


def residual(module):
    """The norm of an f32 value that others read too."""
    return lambda: Net(lambda parts, x: (h := x.exp() + parts[0](x)) + parts[2](parts[1](h)) * h, dense(), module(), dense())


def changed_part(parts, x):
    y = parts[0](x).clone()
    y[:, :2] = parts[1](x)[:, 2:4]
    return y * 1.1


def changed(write):
    """A low value that `write` changes in place with an f32 one, which has a gradient."""
    def run(parts, x):
        y = parts[0](x) * 1.1
        wide = x * parts[1].weight[:4]
        write(y, wide)
        return parts[1](y)

    return lambda: Net(run, dense(), dense())


def changed_often(y, wide):
    y += wide.cos()
    y *= wide
    y -= wide.sin()


def mixed(apply):
    """A function of a low value and an f32 one, which has a gradient."""
    return lambda: Net(lambda parts, x: apply(parts[0](x), x * parts[0].weight[:4]), dense())


def concatenated(parts, x):
    values = [parts[0](x)]
    for part in parts[1:]:
        values.append(F.relu(part(torch.cat(values, 1)[:, -8:])))
    return torch.cat(values, 1)


def broken(parts, x):
    """Two graphs. The first reads an f32 sum twice, and its results include views of others."""
    y = x.exp() + parts[0](x)
    z = parts[1](y.tanh())
    y = parts[0](y + z)
    turned = z.view(2, 2, 8).transpose(0, 1)
    torch._dynamo.graph_break()
    return y.float() * 1.1 + turned.float().reshape(4, 8)


LABELS, WORDS = torch.tensor([0, 2, 1, 3]), torch.arange(8).view(4, 2)
SIGNS = torch.tensor([1.0, -1, 1, -1])
MODELS = {
    # Norms.
    "RMSNorm": after_dense(lambda: nn.RMSNorm(8)),
    "RMSNorm without weight": after_dense(lambda: nn.RMSNorm(8, elementwise_affine=False)),
    "RMSNorm of a residual": residual(lambda: nn.RMSNorm(8)),
    "LayerNorm of a residual": residual(lambda: nn.LayerNorm(8)),
    "LayerNorm without weight": after_dense(lambda: nn.LayerNorm(8, elementwise_affine=False)),
    "LayerNorm without bias": after_dense(lambda: nn.LayerNorm(8, bias=False)),
    "GroupNorm": after_conv(lambda: nn.GroupNorm(4, 8)),
    "GroupNorm without weight": after_conv(lambda: nn.GroupNorm(4, 8, affine=False)),
    "BatchNorm2d without weight": after_conv(lambda: nn.BatchNorm2d(8, affine=False)),
    "BatchNorm2d without statistics": after_conv(lambda: nn.BatchNorm2d(8, track_running_stats=False)),
    "BatchNorm2d without both": after_conv(lambda: nn.BatchNorm2d(8, affine=False, track_running_stats=False)),
    "InstanceNorm2d": after_conv(lambda: nn.InstanceNorm2d(8)),
    "InstanceNorm2d with weight": after_conv(lambda: nn.InstanceNorm2d(8, affine=True)),
    "InstanceNorm2d with weight and statistics": after_conv(lambda: nn.InstanceNorm2d(8, affine=True, track_running_stats=True)),
    "LocalResponseNorm": after_conv(lambda: nn.LocalResponseNorm(2)),
    "normalize": function(F.normalize),
    # Padding, interpolation and pooling.
    "circular padding": after_conv(lambda: nn.CircularPad2d(1)),
    "circular convolution": after_conv(lambda: nn.Conv2d(8, 8, 3, padding=1, padding_mode="circular")),
    "reflected padding": after_conv(lambda: nn.ReflectionPad2d(1)),
    "replicated padding": after_conv(lambda: nn.ReplicationPad2d(1)),
    "zero padding": after_conv(lambda: nn.ZeroPad2d(1)),
    "circular padding of a sequence": chain(lambda: nn.Conv1d(3, 8, 2), lambda: nn.CircularPad1d(1), shape=(4, 3, 8)),
    "nearest": after_conv(lambda: nn.Upsample(scale_factor=2)),
    "nearest-exact": after_conv(lambda: nn.Upsample(scale_factor=2, mode="nearest-exact")),
    "bilinear": after_conv(lambda: nn.Upsample(scale_factor=2, mode="bilinear")),
    "bicubic": after_conv(lambda: nn.Upsample(scale_factor=2, mode="bicubic")),
    "area": function(lambda y: F.interpolate(y, size=(2, 2), mode="area"), make=conv, shape=IMAGE),
    "trilinear": chain(lambda: nn.Conv3d(2, 4, 2), lambda: nn.Upsample(scale_factor=2, mode="trilinear"), shape=VOLUME),
    "AdaptiveAvgPool3d": chain(lambda: nn.Conv3d(2, 4, 2), lambda: nn.AdaptiveAvgPool3d(2), shape=VOLUME),
    "AdaptiveAvgPool3d of all": chain(lambda: nn.Conv3d(2, 4, 2), lambda: nn.AdaptiveAvgPool3d(1), shape=VOLUME),
    "AvgPool3d": chain(lambda: nn.Conv3d(2, 4, 2), lambda: nn.AvgPool3d(2), shape=VOLUME),
    "LPPool2d": after_conv(lambda: nn.LPPool2d(2, 2)),
    "PixelShuffle": after_conv(lambda: nn.Sequential(nn.PixelShuffle(2), nn.PixelUnshuffle(2))),
    # Parametrizations.
    "weight_norm of a linear layer": chain(lambda: parametrizations.weight_norm(dense())),
    "weight_norm of a convolution": chain(lambda: parametrizations.weight_norm(conv()), shape=IMAGE),
    "spectral_norm of a linear layer": chain(lambda: parametrizations.spectral_norm(dense())),
    "spectral_norm of a convolution": chain(lambda: parametrizations.spectral_norm(conv()), shape=IMAGE),
    # Cells, whose weights several products read.
    "RNNCell": unrolled(nn.RNNCell),
    "GRUCell": unrolled(nn.GRUCell),
    "LSTMCell": unrolled_lstm,
    "GRU": lambda: Net(lambda parts, x: parts[0](x)[0], nn.GRU(8, 8, 2, batch_first=True, bidirectional=True), shape=SEQUENCE),
    "RNN": lambda: Net(lambda parts, x: parts[0](x)[0], nn.RNN(8, 8, batch_first=True), shape=SEQUENCE),
    "a shared layer": lambda: Net(lambda parts, x: parts[0](parts[0](x).tanh()) + parts[0](x), dense()),
    "a shared convolution": lambda: Net(lambda parts, x: parts[0](x) + parts[0](x.flip(-1)), conv(), shape=IMAGE),
    "tied embeddings": lambda: Net(
        lambda parts, x: F.linear(parts[1](parts[0](WORDS)), parts[0].weight) + F.linear(parts[0](WORDS), parts[0].weight),
        nn.Embedding(10, 8), dense()),
    "a layer and einsum": lambda: Net(lambda parts, x: torch.einsum("bi,ij->bj", parts[0](x), parts[0].weight), dense()),
    # Sums of gradients.
    "Tanhshrink": after_dense(nn.Tanhshrink),
    "RReLU": after_dense(lambda: nn.RReLU(0.2, 0.2)),
    "concatenated values": lambda: Net(concatenated, dense(), dense(), dense()),
    "a change in place": function(lambda y, z: (y - z).mul_(z.sigmoid()).add_(y), 2),
    "a change of a part": lambda: Net(changed_part, dense(), dense()),
    # Changes in place keep the type of the changed value, though the other is f32.
    "a sum in place": changed(lambda y, z: operator.iadd(y, z)),
    "a sum in place that f32 reads": mixed(lambda y, z: y.mul(1.1).add_(z.exp(), alpha=2) * z),
    "a difference in place": changed(lambda y, z: y.sub_(z, alpha=2)),
    "a product in place": changed(lambda y, z: operator.imul(y, z)),
    "a quotient in place": changed(lambda y, z: operator.itruediv(y, z.abs() + 0.5)),
    "changes in place": changed(changed_often),
    "addcmul_": changed(lambda y, z: y.addcmul_(z, z.sin(), value=0.5)),
    "addcdiv_": changed(lambda y, z: y.addcdiv_(z, z.exp())),
    "clamp_": changed(lambda y, z: y.clamp_(-z.abs(), z.abs())),
    "atan2_": changed(lambda y, z: y.atan2_(z)),
    "pow_": changed(lambda y, z: y.abs_().add_(0.1).pow_(z)),
    "hypot_": changed(lambda y, z: y.hypot_(z)),
    "a product with a part in place": changed(lambda y, z: y[:, :4].mul_(z[:, 4:])),
    "a sum of transposed values in place": changed(lambda y, z: y.t().add_(z.t())),
    # Parts of the backward pass that read no gradient have the types of their operands.
    "atan2 of a low and an f32 value": mixed(torch.atan2),
    "atan2 of an f32 and a low value": mixed(lambda y, z: torch.atan2(z, y)),
    "hypot of a low and an f32 value": mixed(torch.hypot),
    "pow of a low and an f32 value": mixed(lambda y, z: torch.pow(y.abs() + 0.1, z)),
    "addcdiv of f32 and low values": mixed(lambda y, z: torch.addcdiv(z, z.sin(), y.exp())),
    "a difference": function(lambda y, z: (y - z) * (y + 2.0) - z, 2),
    "fused sums": function(lambda y, z: torch.addcmul(y, y, z) + torch.addcdiv(y, z, y.abs() + 1) + torch.lerp(y, z, 0.3), 2),
    "two norms of a value": lambda: Net(
        lambda parts, x: parts[1](h := parts[0](x)) * parts[2](h) + h, dense(), nn.RMSNorm(8), nn.RMSNorm(8)),
    "a graph break": lambda: Net(broken, dense(), dense()),
    "a checkpoint": lambda: Net(
        lambda parts, x: checkpoint(lambda y: parts[1](parts[0](y).tanh()), x * 1.5, use_reentrant=False) + x,
        dense(), nn.RMSNorm(8)),
    # Attention.
    "MultiheadAttention with own sizes": lambda: Net(
        lambda parts, x: parts[0](x, x[..., :6], x[..., :6], need_weights=False)[0],
        nn.MultiheadAttention(8, 2, kdim=6, vdim=6, batch_first=True), shape=SEQUENCE),
    "MultiheadAttention with weights": lambda: Net(
        lambda parts, x: parts[0](x, x, x)[0], nn.MultiheadAttention(8, 2, batch_first=True), shape=SEQUENCE),
    # Conversions in the model.
    "float": function(lambda y: (y.float() * 1.1).softmax(-1)),
    "float and type_as": function(lambda y: (y.float() * y.float().square().mean(-1, keepdim=True).rsqrt()).type_as(y) * y),
    "numbers that are zero in fp16": function(
        lambda y: y.clamp(-1e-9, 1.0) + y.masked_fill(y > 0, 1e-10) + torch.where(y < 0, y, 1e-11) + y.abs().clamp_min(1e-12).log1p()),
    "products of vectors": function(lambda y: torch.dot(y[0], y[1]) + (y @ y[1]).sum() + torch.mv(y, y[2]).sum()),
    # Functions that autocast runs in f32.
    "cross_entropy": loss(lambda y: F.cross_entropy(y, LABELS, label_smoothing=0.1)),
    "nll_loss": loss(lambda y: F.nll_loss(y.log_softmax(-1), LABELS)),
    "mse_loss": loss(F.mse_loss, 2),
    "l1_loss": loss(F.l1_loss, 2),
    "smooth_l1_loss": loss(F.smooth_l1_loss, 2),
    "huber_loss": loss(F.huber_loss, 2),
    "kl_div": loss(lambda y, z: F.kl_div(y.log_softmax(-1), z.softmax(-1), reduction="batchmean"), 2),
    "poisson_nll_loss": loss(lambda y, z: F.poisson_nll_loss(y, z.abs()), 2),
    "binary_cross_entropy_with_logits": loss(lambda y, z: F.binary_cross_entropy_with_logits(y, z.sigmoid()), 2),
    "soft_margin_loss": loss(lambda y: F.soft_margin_loss(y, SIGNS[:, None].expand(4, 8))),
    "hinge_embedding_loss": loss(lambda y: F.hinge_embedding_loss(y, SIGNS[:, None].expand(4, 8))),
    "margin_ranking_loss": loss(lambda y, z: F.margin_ranking_loss(y[:, 0], z[:, 0], SIGNS), 2),
    "cosine_embedding_loss": loss(lambda y, z: F.cosine_embedding_loss(y, z, SIGNS), 2),
    "triplet_margin_loss": loss(lambda y, z, u: F.triplet_margin_loss(y, z, u), 3),
    "multi_margin_loss": loss(lambda y: F.multi_margin_loss(y, LABELS)),
    "multilabel_margin_loss": loss(lambda y: F.multilabel_margin_loss(y, torch.tensor([[0, 1, -1, 0, 0, 0, 0, 0]] * 4))),
    "multilabel_soft_margin_loss": loss(lambda y: F.multilabel_soft_margin_loss(y, torch.ones(4, 8))),
    "a value in two losses": loss(lambda y: F.mse_loss(y, torch.ones(4, 8)) + F.l1_loss(y, torch.ones(4, 8)) + y.square().mean()),
    "cosine_similarity": loss(F.cosine_similarity, 2),
    "pairwise_distance": loss(F.pairwise_distance, 2),
    "cdist": loss(torch.cdist, 2),
    "prod": loss(lambda y: y.prod(1)),
}  # fmt: skip


# Models with a function that torch has no fp16 kernel for. Eager torch.autocast fails, and the guest keeps the function f32.
WITHOUT_FP16 = {"RReLU"}


def train(model, batch, precision, guest):
    """The loss and the gradients of each step."""
    torch._dynamo.reset()
    model, found = copy.deepcopy(model), []
    optimizer = torch.optim.SGD(model.parameters(), 0.02, momentum=0.9)
    call = torch.compile(model, backend=amp_torch.backend(precision=precision, strategy="autocast")) if guest else model
    for _ in range(STEPS):
        optimizer.zero_grad()
        torch.manual_seed(2)
        with torch.autocast("cpu", LOW.get(precision), enabled=not guest):
            value = call(batch)
        value.float().backward()
        found.append([value.float().detach(), *(p.grad for p in model.parameters())])
        optimizer.step()
    return found


def differences_without_kernel(name, model, batch):
    try:
        train(model, batch, "fp16", False)
        yield f"fp16 {name}: torch has a kernel"
    except NotImplementedError:
        pass
    exact = train(model, batch, "f32", True)
    for one, other in zip(train(model, batch, "fp16", True)[0], exact[0], strict=True):
        if not (one - other).norm() <= 0.01 * other.norm():
            yield f"fp16 {name}: differs from f32 by {(one - other).norm()} of {other.norm()}"


def differences(name, precision):
    torch.manual_seed(0)
    model = MODELS[name]()
    batch = torch.randn(model.shape)
    if precision == "fp16" and name in WITHOUT_FP16:
        yield from differences_without_kernel(name, model, batch)
        return
    for step, pair in enumerate(zip(*(train(model, batch, precision, guest) for guest in (False, True)))):
        names = ["loss", *(name for name, _ in model.named_parameters())]
        for part, eager, guest in zip(names, *pair, strict=True):
            if (eager is None) != (guest is None) or eager is not None and not torch.equal(eager, guest):
                yield f"{precision} {name}, step {step}: {part} differs by {(eager - guest).abs().max()} of {eager.abs().max()}"


def main():
    torch._dynamo.config.allow_rnn = True
    failures = 0
    for name in sys.argv[1:] or MODELS:
        for precision in LOW:
            wrong = list(differences(name, precision))[:3]
            failures += len(wrong)
            print(*wrong, sep="\n", end="\n" if wrong else "", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
