# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One case for each rule: a name, a function of activations and the module's own
parameters, and the shape of one sample. A case's function gets a module with what
`parts` makes, and the activations."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.functional import gaussian_nll_loss

CASES = {}


def case(name, function, *shape, parts=None):
    assert name not in CASES, name
    CASES[name] = (function, shape, parts or {})


def placed(x):
    """Writes to elements by constant indices, by a mask of constants and by one of the data."""
    rows, columns = torch.tensor([0, 2]), torch.tensor([4, -2])
    y = x.clone()
    y[:, rows, columns] = x[:, :2, 0] * 3
    y[:, :, torch.tensor([1, 3])] = x[:, :, :2] + 1
    y[:, torch.arange(4) > 2] = 0.5
    y[x > 0.9] = -1.0
    return torch.ops.aten.index_put(y, [None, rows[:, None], columns], x[:, :1, :2] * x[:, 1:3, :2], True)


# -- Elementwise -------------------------------------------------------------------

for _name in ("relu gelu silu sigmoid tanh mish softplus elu selu celu hardswish hardsigmoid hardtanh relu6"
              " leaky_relu logsigmoid softsign tanhshrink hardshrink softshrink").split():
    case(_name, lambda m, x, f=getattr(F, _name): f(x), 6)
for _name in "abs cos erf exp expm1 neg sign sin square".split():
    case(_name, lambda m, x, f=getattr(torch, _name): f(x), 5)
for _name in "log log1p reciprocal rsqrt sqrt".split():
    case(_name, lambda m, x, f=getattr(torch, _name): f(x * x + 0.5), 5)
case("gelu_tanh", lambda m, x: F.gelu(x, approximate="tanh"), 7)
case("glu", lambda m, x: F.glu(x, 1), 6, 3)
case("prelu", lambda m, x: m.p(x), 4, 3, parts={"p": lambda: nn.PReLU(4)})
case("clamp", lambda m, x: x.clamp(-0.5, 0.7) + x.clamp(min=0.1) + x.clamp(max=0.2), 5)
case("arithmetic", lambda m, x: 2 * x + 1 - x / 3 + (1 - x) * x - 0.5 / (x * x + 1), 4, 3)
case("broadcast", lambda m, x: x + m.a * x.mean(1, keepdim=True) - m.b, 4, 3,
     parts={"a": lambda: nn.Parameter(torch.full((4, 1), 0.3)), "b": lambda: nn.Parameter(torch.full((3,), 0.2))})
case("alpha", lambda m, x: torch.add(x, x * x, alpha=0.5) - torch.sub(x, 3.0, alpha=2), 4)
case("power", lambda m, x: x**2 + x**3 + (x * x + 1) ** 0.5 + (x * x + 1) ** 1.7 + 2 ** x, 4)
case("max_min", lambda m, x: torch.maximum(x, 0.3 * x) + torch.minimum(x, x * x), 4)
case("where", lambda m, x: torch.where(x > 0.1, x * 2, -x) + torch.where(x.abs() < 1, x, 0.0), 5)
case("masked_fill", lambda m, x: x.masked_fill(torch.ones(5, 5).tril() == 0, -2.0), 5, 5)
case("fill_diagonal", lambda m, x: (x.t() @ x).fill_diagonal_(-2.0) + (x.t() @ x.exp()).fill_diagonal_(float("-inf")).softmax(1), 5)
case("fill_diagonal_wide", lambda m, x: (x[:, :3].t() @ x).fill_diagonal_(0.5), 5)
case("masks", lambda m, x: torch.where((x > 0) & (x < 1) | ~(x > -1), x, 0.5 * x), 6)
case("lerp", lambda m, x: torch.lerp(x, x * x, 0.3) + torch.addcmul(x, x, x, value=0.2), 4)

for _name in "floor ceil trunc round".split():
    # The fraction and a number that is detached, with halves and numbers that are integral in f32.
    case(_name, lambda m, x, f=getattr(torch, _name): x + (f(4 * x) / 4 - x).detach() + (3 * x - f(3 * x))
         + f(x * 0 + torch.tensor([-2.5, -1.5, -0.5, 0.5, 1.5, 3e9])) * 1e-9, 6)
case("remainder", lambda m, x: torch.remainder(x, 0.7) + x * torch.remainder(2 * x, -0.3) + torch.remainder(x, x * x + 1), 6)

# -- Shapes --------------------------------------------------------------------------

case("views", lambda m, x: x.view(-1, 2, 6).transpose(1, 2).reshape(x.shape[0], 4, 3).permute(0, 2, 1).flatten(1), 3, 4)
case("squeezes", lambda m, x: x.unsqueeze(1).unsqueeze(-1).squeeze(1).squeeze(-1)[:, None].squeeze(), 3, 4)
case("expand", lambda m, x: m.token.expand(x.shape[0], -1, -1) * x[:, :1].expand(-1, 3, -1), 2, 4,
     parts={"token": lambda: nn.Parameter(torch.linspace(0, 1, 12).view(1, 3, 4))})
case("slices", lambda m, x: x[:, 1:5:2] * x[:, -2:] + x[:, 2:4, 0:1] + x[:, 3, None], 6, 4)
case("splits", lambda m, x: sum(p * (i + 1) for i, p in enumerate(x.chunk(3, 1))) + torch.split(x, [2, 4], 1)[0]
     + x.unbind(2)[1][:, :2, None], 6, 4)
case("cat", lambda m, x: torch.cat([x, x[:, :1] * 2, torch.zeros(1, 1, 3).expand(x.shape[0], -1, -1)], 1), 2, 3)
case("stack", lambda m, x: torch.stack([x, x * x], 1).flatten(1), 2, 3)
case("pad", lambda m, x: F.pad(x, (1, 2, 0, 1), value=0.5) * 2 + F.pad(x, (1, 2, 1, 0)), 3, 4)
case("roll", lambda m, x: torch.roll(x, (1, -2), (1, 2)) * x, 4, 5)
case("flip", lambda m, x: x.flip(1, 2) * x, 4, 5)
case("repeat", lambda m, x: x.repeat(1, 2, 3) + x.repeat_interleave(2, 1).repeat(1, 1, 3), 2, 3)
case("tril", lambda m, x: x.tril() + x.triu(1) * 2, 4, 4)
case("writes", lambda m, x: written(x), 4, 5)
case("index_put", lambda m, x: placed(x), 4, 5)
case("index_add", lambda m, x: x.index_add(1, torch.tensor([2, 0, 2]), x[:, :3] * x[:, 1:4], alpha=0.5), 4, 5)
case("diagonal", lambda m, x: x.diagonal(dim1=-2, dim2=-1) * x[:, :, 1:].diagonal(-1, 1, 2)[:, :1]
     + torch.diag_embed(x[:, 0]).diagonal(0, 1, 2)[:, :4], 4, 5)
case("unfold_fold", lambda m, x: F.fold(F.unfold(x, 3, padding=1) ** 2, (4, 5), 3, padding=1, stride=1), 2, 4, 5)
case("empty", lambda m, x: torch.cat([x[..., :5] * 2, x[..., 5:]], -1) + x.narrow(1, 0, 4), 4, 5)
case("index", lambda m, x: x[:, torch.tensor([2, 0, 0])] + x[:, :, torch.tensor([-1, 1, 2, 3])][:, :3]
     + x[:, torch.tensor([[0, 1], [2, 1]]), torch.tensor([[1, 1], [0, 3]])].sum((1, 2), keepdim=True), 3, 4)
case("meshes", lambda m, x: x * torch.arange(4.0) + torch.arange(3.0)[:, None] ** 0.5 + torch.eye(3, 4), 3, 4)


def written(x):
    y = x.clone()
    y[:, 1] = 2 * x[:, 0]
    y[:, 2:, 1:3] = 0.5
    y += x
    y.mul_(0.5)
    return y


# -- Reductions ----------------------------------------------------------------------

case("sums", lambda m, x: x.sum(1) + x.mean(1) + x.amax(1) - x.amin(1) + x.max(1).values, 4, 3)
case("variance", lambda m, x: x.var(1) + x.std(1, unbiased=False) + torch.var_mean(x, 1)[1], 4, 3)
case("norms", lambda m, x: x / x.norm(dim=-1, keepdim=True) + F.normalize(x, dim=1) + x.norm(1, 2, True), 4, 3)
case("softmaxes", lambda m, x: x.softmax(1) + x.log_softmax(-1) + x.logsumexp(1, keepdim=True), 4, 3)
case("cumsum", lambda m, x: x.cumsum(1), 4, 3)
case("prod", lambda m, x: x.prod(1), 4, 3)
case("cosine", lambda m, x: F.cosine_similarity(x, x.roll(1, 1), dim=-1), 4, 3)

# -- Products ------------------------------------------------------------------------

case("linear", lambda m, x: m.a(x) + m.b(x), 3, 4,
     parts={"a": lambda: nn.Linear(4, 5), "b": lambda: nn.Linear(4, 5, bias=False)})
case("matmul", lambda m, x: x @ x.transpose(1, 2) @ m.w + x @ m.v, 3, 4,
     parts={"w": lambda: nn.Parameter(torch.full((3, 2), 0.3)), "v": lambda: nn.Parameter(torch.full((4, 2), 0.2))})
case("vectors", lambda m, x: x @ m.v + torch.bmm(x, x.mT).sum(2), 3, 4,
     parts={"v": lambda: nn.Parameter(torch.full((4,), 0.2))})
case("broadcast_matmul", lambda m, x: x[:, None] @ m.w, 3, 4,
     parts={"w": lambda: nn.Parameter(torch.linspace(-1, 1, 40).view(1, 2, 4, 5))})
case("einsum", lambda m, x: torch.einsum("bij,bkj->bik", x, x * x) + torch.einsum("bij,jk->bik", x, m.w), 3, 4,
     parts={"w": lambda: nn.Parameter(torch.full((4, 3), 0.3))})
case("bilinear", lambda m, x: m.b(x, x * x), 4, parts={"b": lambda: nn.Bilinear(4, 4, 3)})
case("conv2d", lambda m, x: m.c(x), 4, 7, 6, parts={"c": lambda: nn.Conv2d(4, 6, 3, 2, 1)})
case("conv2d_groups", lambda m, x: m.c(x), 4, 7, 6,
     parts={"c": lambda: nn.Conv2d(4, 8, (3, 2), 1, (2, 1), dilation=(2, 1), groups=2, bias=False)})
case("conv2d_depthwise", lambda m, x: m.c(x), 4, 7, 6, parts={"c": lambda: nn.Conv2d(4, 4, 3, padding="same", groups=4)})
case("conv1d", lambda m, x: m.c(x) + m.d(x)[..., :5], 4, 9,
     parts={"c": lambda: nn.Conv1d(4, 6, 3, 2, 1), "d": lambda: nn.Conv1d(4, 6, 2, padding="same", dilation=2)})
case("conv_transpose2d", lambda m, x: m.c(x), 4, 3, 5,
     parts={"c": lambda: nn.ConvTranspose2d(4, 3, 3, 2, 1, output_padding=1)})
case("conv_transpose2d_wide", lambda m, x: m.c(x), 2, 3, 4,
     parts={"c": lambda: nn.ConvTranspose2d(2, 3, (2, 3), (3, 1), dilation=(1, 2), bias=False)})


def heads(x, count=2):
    return x.view(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


case("attention", lambda m, x: F.scaled_dot_product_attention(heads(x), heads(x * 2), heads(x + 1)), 5, 8)
case("attention_causal", lambda m, x: F.scaled_dot_product_attention(heads(x), heads(x), heads(x), is_causal=True), 5, 8)
case("attention_scale", lambda m, x: F.scaled_dot_product_attention(heads(x), heads(x)[..., :3, :], heads(x)[..., :3, :],
                                                                    scale=0.3), 5, 8)
case("attention_bool", lambda m, x: F.scaled_dot_product_attention(
    heads(x), heads(x), heads(x), attn_mask=torch.tensor([1, 1, 0, 1, 0], dtype=torch.bool)[None]), 5, 8)
case("attention_tril", lambda m, x: F.scaled_dot_product_attention(
    heads(x), heads(x), heads(x), attn_mask=torch.ones(5, 5, dtype=torch.bool).tril()[None, None].expand(x.shape[0], 1, 5, 5)), 5, 8)
case("attention_float_mask", lambda m, x: F.scaled_dot_product_attention(
    heads(x), heads(x), heads(x), attn_mask=torch.full((5, 5), torch.finfo(torch.float32).min).triu(1)), 5, 8)
case("attention_add", lambda m, x: F.scaled_dot_product_attention(heads(x), heads(x), heads(x), attn_mask=m.bias), 5, 8,
     parts={"bias": lambda: nn.Parameter(torch.linspace(-1, 1, 25).view(5, 5))})
case("attention_gqa", lambda m, x: F.scaled_dot_product_attention(
    heads(x, 4), heads(x[..., :4]), heads(x[..., 4:]), enable_gqa=True), 5, 8)
case("multihead", lambda m, x: m.a(x, x, x, need_weights=False)[0], 5, 8,
     parts={"a": lambda: nn.MultiheadAttention(8, 2, batch_first=True)})
case("multihead_weights", lambda m, x: torch.cat(m.a(x, x, x), 2), 5, 8,
     parts={"a": lambda: nn.MultiheadAttention(8, 2, batch_first=True)})

# -- Norms, pooling, resampling --------------------------------------------------------

case("layer_norm", lambda m, x: m.n(x) + F.layer_norm(x, (3, 4)), 3, 4, parts={"n": lambda: nn.LayerNorm(4)})
case("layer_norm_no_bias", lambda m, x: m.n(x), 3, 4, parts={"n": lambda: nn.LayerNorm(4, bias=False, eps=1e-3)})
case("rms_norm", lambda m, x: m.n(x) + F.rms_norm(x, (4,)), 3, 4, parts={"n": lambda: nn.RMSNorm(4, eps=1e-6)})
case("group_norm", lambda m, x: m.n(x), 6, 3, 4, parts={"n": lambda: nn.GroupNorm(3, 6)})
case("instance_norm", lambda m, x: m.n(x), 3, 3, 4, parts={"n": lambda: nn.InstanceNorm2d(3, affine=True)})
case("batch_norm2d", lambda m, x: m.n(x), 3, 3, 4, parts={"n": lambda: nn.BatchNorm2d(3)})
case("batch_norm1d", lambda m, x: m.n(x), 5, parts={"n": lambda: nn.BatchNorm1d(5, momentum=0.3, eps=1e-3)})
case("batch_norm_untracked", lambda m, x: m.n(x), 3, 4, parts={"n": lambda: nn.BatchNorm1d(3, track_running_stats=False)})
case("batch_norm_frozen", lambda m, x: m.n(x), 3, 4, 2, parts={"n": lambda: nn.BatchNorm2d(3).eval()})
case("max_pool2d", lambda m, x: F.max_pool2d(x, 3, 2, 1), 3, 7, 6)
case("max_pool2d_ceil", lambda m, x: F.max_pool2d(x, 3, 2, ceil_mode=True), 3, 8, 6)
case("avg_pool2d", lambda m, x: F.avg_pool2d(x, 2) + F.avg_pool2d(x, (2, 3), (2, 1), (1, 1))[..., :3, :3], 3, 6, 6)
case("avg_pool2d_ceil", lambda m, x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False), 3, 6, 7)
case("adaptive_avg_pool2d", lambda m, x: F.adaptive_avg_pool2d(x, 1) + F.adaptive_avg_pool2d(x, (3, 2)).sum((2, 3), True)
     + F.adaptive_avg_pool2d(x, (4, 5)).square().mean((2, 3), True), 3, 6, 8)
case("adaptive_max_pool2d", lambda m, x: F.adaptive_max_pool2d(x, (3, 2)), 3, 6, 8)
case("nearest", lambda m, x: F.interpolate(x, scale_factor=2) + F.interpolate(x, (6, 10)), 2, 3, 5)
case("nearest_odd", lambda m, x: F.interpolate(x, (5, 7), mode="nearest"), 2, 3, 4)
case("bilinear_resize", lambda m, x: F.interpolate(x, (5, 7), mode="bilinear")
     + F.interpolate(x, (5, 7), mode="bilinear", align_corners=True), 2, 3, 4)
case("pixel_shuffle", lambda m, x: F.pixel_shuffle(x, 2), 8, 3, 2)
case("lstm_cell", lambda m, x: m.c(x)[0], 4, parts={"c": lambda: nn.LSTMCell(4, 3)})
case("lstm", lambda m, x: m.c(x)[0], 3, 4, parts={"c": lambda: nn.LSTM(4, 3, batch_first=True)})
case("gru", lambda m, x: m.c(x)[0], 3, 4, parts={"c": lambda: nn.GRU(4, 3, batch_first=True)})

# -- Volumes, signals and resampling by other windows ------------------------------------

case("conv3d", lambda m, x: m.c(x), 4, 4, 5, 3, parts={"c": lambda: nn.Conv3d(4, 6, 3, (2, 1, 1), 1, groups=2)})
case("conv3d_same", lambda m, x: m.c(x), 2, 4, 5, 3,
     parts={"c": lambda: nn.Conv3d(2, 3, (2, 3, 1), padding="same", dilation=(2, 1, 1), bias=False)})
case("max_pool3d", lambda m, x: F.max_pool3d(x, 3, 2, 1) + F.max_pool3d(x, 2, ceil_mode=True), 2, 5, 5, 6)
case("avg_pool3d", lambda m, x: F.avg_pool3d(x, 2, 1, 1) + F.avg_pool3d(x, 2, 1, 1, count_include_pad=False), 2, 3, 4, 3)
case("adaptive_avg_pool3d", lambda m, x: F.adaptive_avg_pool3d(x, 1) + F.adaptive_avg_pool3d(x, (2, 3, 2)), 2, 3, 4, 3)
case("pools1d", lambda m, x: F.max_pool1d(x, 2) + F.avg_pool1d(x, 2) + F.adaptive_avg_pool1d(x, 4), 3, 8)
case("conv_transpose2d_groups", lambda m, x: m.c(x), 4, 3, 5, parts={"c": lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, groups=2)})
case("conv_transpose1d", lambda m, x: m.c(x), 4, 5,
     parts={"c": lambda: nn.ConvTranspose1d(4, 6, 3, 2, 1, output_padding=1, groups=2)})
case("linear_resize", lambda m, x: F.interpolate(x, 7, mode="linear"), 2, 4)
case("trilinear_resize", lambda m, x: F.interpolate(x, (3, 5, 2), mode="trilinear", align_corners=True), 2, 2, 3, 4)
case("nearest_volume", lambda m, x: F.interpolate(x, scale_factor=2) + F.interpolate(x, (4, 6, 8), mode="nearest-exact"), 2, 2, 3, 4)
case("bicubic_resize", lambda m, x: F.interpolate(x, scale_factor=1.5, mode="bicubic")
     + F.interpolate(x, (4, 6), mode="bicubic", antialias=True), 2, 3, 4)
case("antialias_resize", lambda m, x: F.interpolate(x, (3, 2), mode="bilinear", antialias=True), 2, 6, 5)
case("pixel_unshuffle", lambda m, x: F.pixel_unshuffle(x, 2), 2, 4, 6)
case("pad_modes", lambda m, x: F.pad(x, (1, 2, 2, 0), mode="reflect") * F.pad(x, (1, 2, 2, 0), mode="replicate")
     + F.pad(x, (1, 2, 2, 0), mode="circular"), 2, 4, 5)
case("unfold", lambda m, x: F.unfold(x, 3, stride=2, padding=1), 2, 5, 6)
case("local_response_norm", lambda m, x: F.local_response_norm(x, 3), 4, 3, 3)

# -- Choices by data -------------------------------------------------------------------

case("topk", lambda m, x: x.topk(2, -1).values * x.topk(3, 1, largest=False).values[:, :1, :2], 4, 5)
case("topk_gate", lambda m, x: torch.full_like(x, -torch.inf).scatter(-1, x.topk(2).indices, x.topk(2).values).softmax(-1), 6)
case("places", lambda m, x: x.gather(1, x.max(1, keepdim=True).indices) + x.gather(1, x.argmin(1, keepdim=True))
     + x.gather(-1, x.topk(3, -1).indices).sum(-1, keepdim=True), 4, 5)
case("scatter", lambda m, x: x.scatter(1, x.argmax(1, keepdim=True), 0.5)
     + torch.zeros_like(x).scatter_add(2, x.topk(2, -1).indices, x[..., :2]), 4, 5)
case("pick", lambda m, x: x[torch.arange(x.shape[0]), x[:, :, 0].argmax(1)], 4, 5)

# -- Products of several, distances and derivatives at zero ------------------------------

case("einsum_many", lambda m, x: torch.einsum("...ij,jk,k->...ik", x, m.w, m.w[0]) + torch.einsum("bij->bi", x)[..., None]
     + 0.05 * torch.einsum("bij,bij", x, x).mean(), 3, 4, parts={"w": lambda: nn.Parameter(torch.linspace(-1, 1, 12).view(4, 3))})
case("einsum_experts", lambda m, x: torch.einsum("bd,edh->beh", x, m.w).relu().sum(1), 4,
     parts={"w": lambda: nn.Parameter(torch.linspace(-1, 1, 24).view(2, 4, 3))})
case("cdist", lambda m, x: torch.cdist(x, m.w) + torch.cdist(x, m.w, p=1), 3, 4,
     parts={"w": lambda: nn.Parameter(torch.linspace(-1, 1, 20).view(5, 4))})
case("norms_of_zero", lambda m, x: (x * m.mask).norm(dim=-1) + (x * m.mask).std(-1) + F.normalize(x * m.mask, dim=-1).sum(-1), 2, 4,
     parts={"mask": lambda: nn.Parameter(torch.tensor([[0.0], [1.0]]), requires_grad=False)})
case("logsumexp_of_several", lambda m, x: x.logsumexp((1, 3)) + x.logsumexp((2, 3), keepdim=True).sum((2, 3)).mean(1, keepdim=True), 3, 2, 4)
case("weight_norm", lambda m, x: m.l(x), 4, parts={"l": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))})
case("constant_weight", lambda m, x: F.prelu(x, torch.tensor([0.2])) + F.layer_norm(x, (4,), torch.linspace(0, 1, 4)), 3, 4)
case("embedding_bag", lambda m, x: torch.cat([F.embedding_bag((x * 3).long().clamp(0, 4), m.e, mode=mode)
                                              for mode in ("sum", "mean", "max")], 1) + x.sum(1, keepdim=True), 6,
     parts={"e": lambda: nn.Parameter(torch.linspace(-1, 1, 20).view(5, 4))})

# -- Losses ------------------------------------------------------------------------------
# A sample adds the loss of the batch to its activations.


def loss_case(name, function, *shape, **options):
    def both(m, x):
        target = m.t.expand_as(x)
        parts = [function(x, target, reduction=kind) for kind in ("mean", "sum")]
        return function(x, target, reduction="none") + x * parts[0] + 0.1 * parts[1]

    case(name, both, *shape, parts={"t": lambda: nn.Parameter(torch.linspace(0.1, 0.9, shape[-1]), requires_grad=False)}, **options)


for _name in "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy_with_logits kl_div soft_margin_loss".split():
    loss_case(_name, getattr(F, _name), 4, 5)
loss_case("smooth_l1_beta", lambda x, y, reduction: F.smooth_l1_loss(x, y, beta=0.3, reduction=reduction), 5)
loss_case("huber_delta", lambda x, y, reduction: F.huber_loss(x, y, delta=0.3, reduction=reduction), 5)
loss_case("kl_div_of_logs", lambda x, y, reduction: F.kl_div(x, -y, log_target=True, reduction=reduction), 5)
loss_case("bce", lambda x, y, reduction: F.binary_cross_entropy(x.sigmoid(), y, reduction=reduction), 5)
loss_case("bce_weights", lambda x, y, reduction: F.binary_cross_entropy_with_logits(
    x, y, torch.linspace(1, 2, 5), pos_weight=torch.linspace(2, 3, 5), reduction=reduction), 5)
loss_case("soft_labels", lambda x, y, reduction: F.cross_entropy(
    x, y / y.sum(-1, keepdim=True), label_smoothing=0.1, reduction=reduction).reshape(-1, *(1,) * (reduction == "none")), 5)
loss_case("cross_entropy", lambda x, y, reduction: F.cross_entropy(
    x, x.detach().argmin(-1), torch.linspace(1, 2, 5), label_smoothing=0.1, reduction=reduction).reshape(-1, *(1,) * (reduction == "none")), 5)
case("cross_entropy_of_images", lambda m, x: x * F.cross_entropy(x, x.detach().argmin(1)) + F.nll_loss(
    x.log_softmax(1), x.detach().argmin(1), reduction="none")[:, None], 3, 4, 2)
case("nll_loss", lambda m, x: x * F.nll_loss(x.log_softmax(-1), x.detach().argmin(-1), ignore_index=1), 5)
case("triplet", lambda m, x: x + F.triplet_margin_loss(x, x * x, x.flip(-1), swap=True), 5)
case("margins", lambda m, x: x + F.multi_margin_loss(x, x.detach().argmin(-1)) + F.multilabel_soft_margin_loss(x, (x > 0).float())
     + F.hinge_embedding_loss(x, (x > 0).float() * 2 - 1) + F.poisson_nll_loss(x, x * x), 5)

# -- Later cases ---------------------------------------------------------------------------

# Each case takes its data after the cases before it, so new cases come last.
case("cumprod", lambda m, x: x.cumprod(1), 4, 3)
case("places_of_data", lambda m, x: x[:, m.w.argmax(0), m.w.argmin(0) - 2]
     + x.index_add(1, m.w.argmin(0), x[:, :3] * x[:, 1:4], alpha=0.5).sum((1, 2))[:, None], 4, 5,
     parts={"w": lambda: nn.Parameter(torch.tensor([[0.0, 3, 1], [2, 1, 0], [1, 2, 3]]))})
case("gaussian", lambda m, x: x[:, :2] + 0.1 * F.gaussian_nll_loss(x[:, :2], x[:, 2:4], x[:, 4:6] ** 2 + 0.5, eps=0.7)
     + 0.1 * gaussian_nll_loss(x[:, :2], x[:, 2:4], x[:, :1] ** 2 + 1, full=True, reduction="none"), 6)
