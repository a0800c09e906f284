# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling and resampling of images."""

import contextlib

import torch
import torch.nn.functional as F

from ..translate import Unsupported, rule
from .products import channels_first, channels_last, pair
from .reductions import last_axis


def window_padding(t, x, window, stride, padding):
    """[top, bottom, left, right] so that the result has the extents of torch's, with
    ceil_mode too."""
    sides, extra = [], False
    for axis in (0, 1):
        out, extent = t.result_of_first.shape[2 + axis], x.shape[2 + axis]
        out = t.extent(out)
        needed = (out - 1) * stride[axis] + window[axis] - extent - padding[axis]
        sides += [padding[axis], max(needed, 0) if needed > padding[axis] else padding[axis]]
        extra |= needed > padding[axis]
    return sides, extra


def pooled(t, kind, x, window, stride, sides):
    last = channels_last(t, x)
    spatial = [
        (last.shape[1 + axis] + sides[2 * axis] + sides[2 * axis + 1] - window[axis]) // stride[axis] + 1
        for axis in (0, 1)
    ]
    attributes = {"window": window, "strides": stride, "padding": sides}
    shape = (last.shape[0], *spatial, last.shape[3])
    return t.builder.emit(kind, [last], [(shape, x.dtype)], attributes)


def images(t, x):
    if x.rank != 4:
        raise Unsupported("pools a tensor that is not [N, C, H, W]; add a leading extent of 1")
    return x


@rule("aten.max_pool2d.default", "aten.max_pool2d_with_indices.default")
def max_pool2d(t, x, window, stride=(), padding=(0, 0), dilation=(1, 1), ceil_mode=False):
    window, padding = pair(window), pair(padding)
    stride = pair(stride) if stride else window
    if pair(dilation) != [1, 1]:
        raise Unsupported("max_pool2d with dilation")
    sides, _ = window_padding(t, images(t, x), window, stride, padding)
    out = channels_first(t, pooled(t, "max_pool2d", x, window, stride, sides))
    if "with_indices" not in str(t.node.target):
        return out
    return [out, None]


@rule("aten.avg_pool2d.default")
def avg_pool2d(t, x, window, stride=(), padding=(0, 0), ceil_mode=False, count_include_pad=True, divisor_override=None):
    window, padding = pair(window), pair(padding)
    stride = pair(stride) if stride else window
    sides, extra = window_padding(t, images(t, x), window, stride, padding)
    out = pooled(t, "avg_pool2d", x, window, stride, sides)
    if divisor_override or extra or (any(padding) and not count_include_pad):
        # Torch divides by another number than the size of the window.
        ones = torch.ones(1, 1, *x.shape[2:], dtype=torch.float64)
        wanted = F.avg_pool2d(ones, window, stride, padding, ceil_mode, count_include_pad, divisor_override)
        padded = F.pad(ones, (sides[2], sides[3], sides[0], sides[1]))
        factor = wanted / F.avg_pool2d(padded, window, stride)
        factor = factor.permute(0, 2, 3, 1)[0].to(torch.float64 if x.dtype == "f64" else torch.float32)
        out = t.builder.binary("mul", out, t.builder.constant(factor))
    return channels_first(t, out)


def along(t, x, axis, matrix):
    """Applies a constant matrix [out, in] along a dimension. Data, which no parameter changes, stay f32, because
    torch.autocast makes only products low, and torch has no product here."""
    with contextlib.nullcontext() if x.grad else t.builder.exact():
        weight = t.builder.constant(matrix.to(torch.float64 if x.dtype == "f64" else torch.float32))
        turned = t.builder.linear(last_axis(t, x, axis), weight, transpose_weight=True)
        return last_axis(t, turned, axis, back=True)


def separable(t, x, function):
    """A linear map that acts on each spatial dimension alike, as products."""
    for axis in range(2, x.rank):
        size = t.result_shape[axis]
        basis = torch.eye(x.shape[axis], dtype=torch.float64)[:, None, :]
        x = along(t, x, axis, function(basis, size).squeeze(1).T)
    return x


@rule("aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default")
def adaptive_avg_pool2d(t, x, size):
    images(t, x)
    size = t.result_shape[2:]
    if size == (1, 1):
        return t.builder.reduce("mean", x, [2, 3], keep_dims=True)
    if all(extent % out == 0 for extent, out in zip(x.shape[2:], size)):
        window = [extent // out for extent, out in zip(x.shape[2:], size)]
        return channels_first(t, pooled(t, "avg_pool2d", x, window, window, [0] * 4))
    return separable(t, x, F.adaptive_avg_pool1d)


@rule("aten.adaptive_avg_pool1d.default", "aten.adaptive_avg_pool3d.default", "aten._adaptive_avg_pool3d.default")
def adaptive_avg_pool(t, x, size):
    if all(extent == 1 for extent in t.result_shape[2:]):
        return t.builder.reduce("mean", x, range(2, x.rank), keep_dims=True)
    return separable(t, x, F.adaptive_avg_pool1d)


@rule("aten.adaptive_max_pool2d.default")
def adaptive_max_pool2d(t, x, size):
    images(t, x)
    size = t.shape(t.result[0])[2:]
    if any(extent % out for extent, out in zip(x.shape[2:], size)):
        raise Unsupported("adaptive_max_pool2d whose windows differ in size; choose extents that divide")
    window = [extent // out for extent, out in zip(x.shape[2:], size)]
    return [channels_first(t, pooled(t, "max_pool2d", x, window, window, [0] * 4)), None]


@rule(
    "aten.upsample_nearest1d.vec", "aten.upsample_nearest2d.vec", "aten.upsample_nearest3d.vec",
    "aten.upsample_nearest1d.default", "aten.upsample_nearest2d.default", "aten.upsample_nearest3d.default",
    "aten._upsample_nearest_exact1d.vec", "aten._upsample_nearest_exact2d.vec", "aten._upsample_nearest_exact3d.vec",
)
def upsample_nearest(t, x, *args):
    mode = "nearest-exact" if "exact" in str(t.node.target) else "nearest"
    scales = args[1] if args[0] is None and len(args) > 1 else None
    for axis in range(2, x.rank):
        extent, size = x.shape[axis], t.result_shape[axis]
        places = torch.arange(extent, dtype=torch.float64)[None, None, :]
        if scales is not None:
            chosen = F.interpolate(places, scale_factor=scales[axis - 2], mode=mode)
        else:
            chosen = F.interpolate(places, size=size, mode=mode)
        x = t.builder.gather(x, t.builder.constant(chosen[0, 0].to(torch.int64)), axis)
    return x


@rule(
    "aten.upsample_linear1d.vec", "aten.upsample_bilinear2d.vec", "aten.upsample_trilinear3d.vec",
    "aten.upsample_linear1d.default", "aten.upsample_bilinear2d.default", "aten.upsample_trilinear3d.default",
    "aten.upsample_bicubic2d.vec", "aten.upsample_bicubic2d.default", "aten._upsample_bilinear2d_aa.vec",
    "aten._upsample_bilinear2d_aa.default", "aten._upsample_bicubic2d_aa.vec", "aten._upsample_bicubic2d_aa.default",
)
def upsample(t, x, size, align_corners, scales=None, *rest):
    """Interpolation is a linear map along each dimension: its columns are the interpolated
    unit vectors."""
    name = str(t.node.target)
    mode = "bicubic" if "bicubic" in name else "bilinear"
    factors = list(scales) if isinstance(scales, (list, tuple)) else [scales, *rest]
    factors = None if None in factors else factors
    for axis in range(2, x.rank):
        # With antialias, torch has other weights for images of width 1.
        basis = torch.eye(x.shape[axis], dtype=torch.float64)[:, None, :, None].repeat(1, 1, 1, 2)
        if factors is None:
            where = {"size": (t.result_shape[axis], 2)}
        else:
            where = {"scale_factor": (factors[axis - 2], 1.0)}
        matrix = F.interpolate(basis, mode=mode, align_corners=align_corners, antialias="_aa" in name, **where)
        x = along(t, x, axis, matrix[:, 0, :, 0].T)
    return x
