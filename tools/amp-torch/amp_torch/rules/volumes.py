# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolution and pooling of volumes [N, C, D, H, W], as those of images."""

import torch
import torch.nn.functional as F

from ..translate import Unsupported, rule
from .products import convolution


def triple(value):
    value = list(value) if isinstance(value, (list, tuple)) else [value]
    return value * 3 if len(value) == 1 else value


def depth_slices(t, x, count, window, stride, dilation):
    """For each place of the window, the frames of [N, D, ...] that it meets."""
    for place in range(window):
        yield t.builder.slice(x, 1, place * dilation, count, stride)


@rule("aten.conv3d.default", "aten.conv3d.padding", composite=True)
def conv3d(t, x, weight, bias=None, stride=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), groups=1):
    """A convolution of images with the channels of all frames that a filter meets."""
    x, weight = t.value(x), t.value(weight)
    if x.rank != 5:
        raise Unsupported("conv3d without a batch; add a leading extent of 1")
    stride, dilation, window = triple(stride), triple(dilation), weight.shape[2:]
    if padding == "same":
        totals = [step * (extent - 1) for step, extent in zip(dilation, window)]
        sides = [(total // 2, total - total // 2) for total in totals]
    else:
        sides = [(amount, amount) for amount in ([0] * 3 if padding == "valid" else triple(padding))]
    batch, channels = x.shape[:2]
    frames = padded_depth(t, t.builder.transpose(x, [0, 2, 3, 4, 1]), sides[0], 0.0)
    depth, height, width = frames.shape[1:4]
    count = (depth - dilation[0] * (window[0] - 1) - 1) // stride[0] + 1
    grouped = (height, width, groups, channels // groups)
    met = [t.builder.reshape(part, (batch, count, *grouped))
           for part in depth_slices(t, frames, count, window[0], stride[0], dilation[0])]
    images = t.builder.reshape(t.builder.concat(met, 5), (flat(batch, count), height, width, channels * window[0]))
    filters = t.builder.transpose(weight, [0, 2, 1, 3, 4])
    filters = t.builder.reshape(filters, (weight.shape[0], window[0] * weight.shape[1], *window[1:]))
    out = convolution(t, images, filters, bias, stride[1:], [*sides[1], *sides[2]], dilation[1:], groups)
    out = t.builder.reshape(out, (batch, count, *out.shape[1:]))
    return t.builder.transpose(out, [0, 4, 1, 2, 3])


def flat(batch, count):
    return -1 if batch < 0 else batch * count


def padded_depth(t, x, sides, value):
    """[N, D, ...] with further frames of one value."""
    if not any(sides):
        return x
    shape = (x.shape[0], x.shape[1] + sum(sides), *x.shape[2:])
    rest = [0] * (x.rank - 2)
    attributes = {"low": [0, sides[0], *rest], "high": [0, sides[1], *rest], "interior": [0] * x.rank, "value": value}
    return t.builder.emit("pad", [x], [(shape, x.dtype)], attributes)


def pooled_axes(t, kind, x, window, stride, sides, out):
    """Pools [N, H, W, C] in two dimensions; `sides` are pairs of paddings."""
    attributes = {"window": window, "strides": stride, "padding": [amount for pair in sides for amount in pair]}
    return t.builder.emit(kind, [x], [((x.shape[0], *out, x.shape[3]), x.dtype)], attributes)


def pooled_volume(t, kind, x, window, stride, padding):
    """Pools each frame, then along the depth. Returns the result as [N, D, H, W, C]."""
    out = [t.extent(size) for size in t.result_of_first.shape[2:]]
    sides = [(amount, max((size - 1) * step + width - extent - amount, amount))
             for size, step, width, extent, amount in zip(out, stride, window, x.shape[2:], padding)]
    batch, channels, depth, height, width = x.shape
    x = t.builder.transpose(x, [0, 2, 3, 4, 1])
    x = t.builder.reshape(x, (flat(batch, depth), height, width, channels))
    x = pooled_axes(t, kind, x, window[1:], stride[1:], sides[1:], out[1:])
    x = t.builder.reshape(x, (batch, depth, out[1] * out[2], channels))
    x = pooled_axes(t, kind, x, [window[0], 1], [stride[0], 1], [sides[0], (0, 0)], [out[0], out[1] * out[2]])
    return t.builder.reshape(x, (batch, *out, channels)), sides


@rule("aten.max_pool3d.default", "aten.max_pool3d_with_indices.default")
def max_pool3d(t, x, window, stride=(), padding=(0, 0, 0), dilation=(1, 1, 1), ceil_mode=False):
    if triple(dilation) != [1, 1, 1] or x.rank != 5:
        raise Unsupported("max_pool3d with dilation or without a batch; add a leading extent of 1")
    window = triple(window)
    out, _ = pooled_volume(t, "max_pool2d", x, window, triple(stride) if stride else window, triple(padding))
    out = t.builder.transpose(out, [0, 4, 1, 2, 3])
    return [out, None] if "with_indices" in str(t.node.target) else out


@rule("aten.avg_pool3d.default")
def avg_pool3d(t, x, window, stride=(), padding=(0, 0, 0), ceil_mode=False, count_include_pad=True, divisor_override=None):
    if x.rank != 5:
        raise Unsupported("avg_pool3d without a batch; add a leading extent of 1")
    window, padding = triple(window), triple(padding)
    stride = triple(stride) if stride else window
    out, sides = pooled_volume(t, "avg_pool2d", x, window, stride, padding)
    # torch may divide by another number than the size of the window.
    ones = torch.ones(1, 1, *x.shape[2:], dtype=torch.float64)
    wanted = F.avg_pool3d(ones, window, stride, padding, ceil_mode, count_include_pad, divisor_override)
    given = F.avg_pool3d(F.pad(ones, [amount for pair in reversed(sides) for amount in pair]), window, stride)
    factor = (wanted / given).permute(0, 2, 3, 4, 1)[0]
    if bool((factor != 1).any()):
        factor = factor.to(torch.float64 if x.dtype == "f64" else torch.float32)
        out = t.builder.binary("mul", out, t.builder.constant(factor))
    return t.builder.transpose(out, [0, 4, 1, 2, 3])
