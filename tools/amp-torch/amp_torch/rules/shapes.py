# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Views, parts, joins and repetitions."""

import functools
import math

import torch
import torch.nn.functional as F

from ..translate import Const, Unsupported, Value, rule


def through_floats(function):
    """Lets a rule that moves elements take booleans: as zeros and ones, and back."""

    @functools.wraps(function)
    def wrapped(t, x, *args, **kwargs):
        if not isinstance(x, Value) or x.dtype != "i1":
            return function(t, x, *args, **kwargs)
        moved = function(t, t.convert(x, "f32"), *args, **kwargs)
        return t.convert(moved, "i1") if isinstance(moved, Value) else [t.convert(part, "i1") for part in moved]

    return wrapped


@rule(
    "aten.view.default", "aten._unsafe_view.default", "aten.reshape.default", "aten.unsqueeze.default",
    "aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims", "aten.flatten.using_ints",
    "aten.unflatten.int", "aten.view_as.default", "aten.reshape_as.default", integers=True,
)
@through_floats
def reshape(t, x, *args):
    if x.shape == t.result_shape:
        return x
    if isinstance(x, Value) and not x.is_float:
        return t.builder.view(x, t.result_shape)
    return view(t, x, t.result_shape)


def view(t, x, shape):
    """A reshape. Where the known extents of both sides do not divide, it takes one row
    for each sample in between."""
    if -1 in x.shape and -1 in shape:
        before, after = -math.prod(x.shape), -math.prod(shape)
        if before % after and after % before:
            total = math.prod(t.evaluate(extent)[0] for extent in t.result_of_first.shape)
            if total % t.sizes[0] == 0:
                x = t.builder.reshape(x, (-1, total // t.sizes[0]))
    return t.builder.reshape(x, shape)


@rule("aten.permute.default")
@through_floats
def permute(t, x, dims):
    return t.builder.transpose(x, dims)


@rule("aten.transpose.int", "aten.swapaxes.default")
def transpose(t, x, first, second):
    order = list(range(x.rank))
    order[first], order[second] = order[second], order[first]
    return permute(t, x, order)


@rule("aten.t.default", "aten.numpy_T.default")
def matrix_transpose(t, x):
    return permute(t, x, list(reversed(range(x.rank))))


@rule("aten.mT.default")
def last_transpose(t, x):
    return transpose(t, x, x.rank - 2, x.rank - 1)


@rule("aten.movedim.int")
def movedim(t, x, source, destination):
    source, destination = source % x.rank, destination % x.rank
    order = [axis for axis in range(x.rank) if axis != source]
    order.insert(destination, source)
    return permute(t, x, order)


@rule("aten.expand.default", "aten.expand_as.default")
@through_floats
def expand(t, x, *args, **kwargs):
    if x.shape == t.result_shape:
        return x
    # A comparison or a choice broadcasts by itself.
    if not x.is_float and len(t.result_shape) == x.rank:
        return x
    return t.expand(x, t.result_shape)


@rule("aten.repeat.default")
@through_floats
def repeat(t, x, repeats):
    repeats = [t.number(count) for count in repeats]
    shape = [1] * (len(repeats) - x.rank) + list(x.shape)
    doubled, target = [], []
    for extent, count in zip(shape, repeats):
        doubled += [1, extent]
        target += [count, extent]
    x = t.expand(t.builder.reshape(x, doubled), target)
    return t.builder.reshape(x, t.result_shape)


@rule("aten.repeat_interleave.self_int")
def repeat_interleave(t, x, count, dim=None, output_size=None):
    if dim is None:
        x, dim = t.builder.reshape(x, (-1,) if -1 in x.shape else (torch.Size(x.shape).numel(),)), 0
    dim %= x.rank
    shape = [*x.shape[: dim + 1], 1, *x.shape[dim + 1 :]]
    target = [*x.shape[: dim + 1], t.number(count), *x.shape[dim + 1 :]]
    return t.builder.reshape(t.expand(t.builder.reshape(x, shape), target), t.result_shape)


@rule("aten.slice.Tensor")
@through_floats
def slice_(t, x, dim=0, start=None, end=None, step=1):
    if x.shape == t.result_shape and step == 1:
        return x
    dim %= x.rank
    size = t.result_shape[dim]
    if x.shape[dim] < 0 or size < 0:
        raise Unsupported("takes a part of the open batch; export with dynamic_batch=False")
    if size == 0:
        return nothing(t)
    start = 0 if start is None else t.number(start)
    start = min(max(start + x.shape[dim] if start < 0 else start, 0), x.shape[dim])
    return t.builder.slice(x, dim, start, size, step)


def nothing(t):
    """A tensor without elements, which a join leaves out."""
    return Const([torch.empty([t.evaluate(size)[index] for size in t.result.shape], dtype=t.result.dtype)
                  for index in range(len(t.sizes))])


@rule("aten.narrow.default")
def narrow(t, x, dim, start, length):
    return slice_(t, x, dim, start, None)


@rule("aten.select.int")
@through_floats
def select(t, x, dim, index):
    dim %= x.rank
    index = t.number(index)
    if x.shape[dim] < 0:
        raise Unsupported("takes one sample of the open batch; export with dynamic_batch=False")
    part = t.builder.slice(x, dim, index % x.shape[dim], 1)
    return t.builder.reshape(part, t.result_shape)


def parts(t, x, sizes, dim):
    dim %= x.rank
    values, start = [], 0
    for size in sizes:
        values.append(t.builder.slice(x, dim, start, size))
        start += size
    return values


@rule(
    "aten.split.Tensor", "aten.split_with_sizes.default", "aten.split.sizes", "aten.chunk.default",
    "aten.tensor_split.sections",
)
@through_floats
def split(t, x, sizes, dim=0):
    return parts(t, x, [t.shape(part)[dim] for part in t.result], dim)


@rule("aten.unbind.int")
@through_floats
def unbind(t, x, dim=0):
    dim %= x.rank
    if x.shape[dim] < 0:
        raise Unsupported("takes the samples of the open batch apart; export with dynamic_batch=False")
    shape = x.shape[:dim] + x.shape[dim + 1 :]
    return [t.builder.reshape(part, shape) for part in parts(t, x, [1] * x.shape[dim], dim)]


@rule("aten.cat.default", "aten.concat.default")
def cat(t, tensors, dim=0):
    dtype = t.result_dtype
    rank = len(t.result_shape)

    def is_joined(tensor):
        # torch ignores empty vectors.
        return tensor.rank == rank if isinstance(tensor, Value) else t.constant_tensor(tensor).numel() > 0

    return t.builder.concat([t.value(tensor, dtype) for tensor in tensors if is_joined(tensor)], dim % rank)


@rule("aten.stack.default")
def stack(t, tensors, dim=0):
    values = [t.value(tensor, t.result_dtype) for tensor in tensors]
    dim %= values[0].rank + 1
    shape = (*values[0].shape[:dim], 1, *values[0].shape[dim:])
    return t.builder.concat([t.builder.reshape(value, shape) for value in values], dim)


@rule("aten.constant_pad_nd.default", "aten.pad.default")
def constant_pad(t, x, padding, value=0, *rest):
    if isinstance(value, str):
        if value != "constant":
            return pad_by_elements(t, x, padding, value)
        value = rest[0] if rest and rest[0] is not None else 0
    low, high = [0] * x.rank, [0] * x.rank
    padding = [t.number(amount) for amount in padding]
    for position in range(len(padding) // 2):
        axis = x.rank - 1 - position
        low[axis], high[axis] = padding[2 * position], padding[2 * position + 1]
    for axis in range(x.rank):
        cut_low, cut_high = max(-low[axis], 0), max(-high[axis], 0)
        if cut_low or cut_high:
            x = t.builder.slice(x, axis, cut_low, x.shape[axis] - cut_low - cut_high)
    low, high = [max(amount, 0) for amount in low], [max(amount, 0) for amount in high]
    if not any(low) and not any(high):
        return x
    attributes = {"low": low, "high": high, "interior": [0] * x.rank, "value": float(t.number(value))}
    return t.builder.emit("pad", [x], [(t.result_shape, x.dtype)], attributes)


def pad_by_elements(t, x, padding, mode):
    """Pads with elements of the tensor, which an index along each dimension names."""
    padding = [t.number(amount) for amount in padding]
    for position in range(len(padding) // 2):
        axis = x.rank - 1 - position
        low, high = padding[2 * position : 2 * position + 2]
        if x.shape[axis] < 0:
            raise Unsupported("pads the open batch; export with dynamic_batch=False")
        if low or high:
            places = torch.arange(x.shape[axis], dtype=torch.float64)[None, None, :]
            chosen = F.pad(places, (low, high), mode=mode)[0, 0].to(torch.int64)
            x = t.builder.gather(x, t.builder.constant(chosen), axis)
    return x


@rule("aten.roll.default")
@through_floats
def roll(t, x, shifts, dims=()):
    if not dims:
        if -1 in x.shape:
            raise Unsupported("rolls all elements; name the dimensions")
        flat = roll(t, t.builder.reshape(x, (math.prod(x.shape),)), shifts, [0])
        return t.builder.reshape(flat, x.shape)
    for shift, dim in zip(shifts, dims):
        dim %= x.rank
        if x.shape[dim] < 0:
            raise Unsupported("rolls the open batch; export with dynamic_batch=False")
        shift = t.number(shift) % x.shape[dim]
        if shift:
            cut = x.shape[dim] - shift
            x = t.builder.concat([t.builder.slice(x, dim, cut, shift), t.builder.slice(x, dim, 0, cut)], dim)
    return x


@rule("aten.flip.default")
@through_floats
def flip(t, x, dims):
    for dim in dims:
        dim %= x.rank
        if x.shape[dim] < 0:
            raise Unsupported("reverses the open batch; export with dynamic_batch=False")
        x = t.builder.gather(x, t.builder.constant(torch.arange(x.shape[dim] - 1, -1, -1)), dim)
    return x


def replace(t, x, part, dim, start):
    """`x` with the elements from `start` on along `dim` replaced."""
    end = start + part.shape[dim]
    pieces = [t.builder.slice(x, dim, 0, start)] if start else []
    pieces.append(part)
    if end < x.shape[dim]:
        pieces.append(t.builder.slice(x, dim, end, x.shape[dim] - end))
    return t.builder.concat(pieces, dim)


@rule("aten.slice_scatter.default")
def slice_scatter(t, x, part, dim=0, start=None, end=None, step=1):
    x, part = t.value(x, t.result_dtype), t.value(part, t.result_dtype)
    dim %= x.rank
    if part.shape[dim] == x.shape[dim]:
        return part
    if step != 1:
        raise Unsupported("writes every n-th element; build the tensor with torch.stack")
    if x.shape[dim] < 0:
        raise Unsupported("writes a part of the open batch; export with dynamic_batch=False")
    start = 0 if start is None else t.number(start)
    return replace(t, x, part, dim, start + x.shape[dim] if start < 0 else start)


@rule("aten.select_scatter.default")
def select_scatter(t, x, part, dim, index):
    x, part = t.value(x, t.result_dtype), t.value(part, t.result_dtype)
    dim %= x.rank
    if x.shape[dim] < 0:
        raise Unsupported("writes one sample of the open batch; export with dynamic_batch=False")
    part = t.builder.reshape(part, (*x.shape[:dim], 1, *x.shape[dim + 1 :]))
    return replace(t, x, part, dim, t.number(index) % x.shape[dim])


@rule("aten.fill.Scalar", "aten.fill.Tensor", "aten.full_like.default", "aten.zeros_like.default",
      "aten.ones_like.default", "aten.new_zeros.default", "aten.new_full.default", "aten.new_ones.default",
      "aten.zero.default", "aten.zeros.default", integers=True)
def fill(t, x, *args, **kwargs):
    """A constant in the shape of a value."""
    name = str(t.node.target)
    if "zero" in name:
        number = 0
    elif "ones" in name:
        number = 1
    else:
        number = t.number(args[-1])
    result = t.result
    dtype = result.dtype
    worlds = [
        torch.full([t.evaluate(size)[index] for size in result.shape], number, dtype=dtype)
        for index in range(len(t.sizes))
    ]
    return Const(worlds)


@rule("aten.copy.default")
def copy(t, x, source, non_blocking=False):
    return t.expand(t.value(source, t.result_dtype), t.result_shape)


@rule("aten.tril.default", "aten.triu.default")
def triangle(t, x, diagonal=0):
    rows, columns = x.shape[-2:]
    kept = torch.ones(rows, columns, dtype=torch.bool)
    kept = kept.tril(diagonal) if "tril" in str(t.node.target) else kept.triu(diagonal)
    return t.builder.select(t.builder.constant(kept), x, t.builder.scalar(0.0, x.dtype))


@rule("aten.pixel_shuffle.default")
def pixel_shuffle(t, x, factor):
    n, c, h, w = x.shape
    x = t.builder.reshape(x, (n, c // factor**2, factor, factor, h, w))
    return t.builder.reshape(t.builder.transpose(x, [0, 1, 4, 2, 5, 3]), t.result_shape)


@rule("aten.pixel_unshuffle.default")
def pixel_unshuffle(t, x, factor):
    n, c, h, w = x.shape
    x = t.builder.reshape(x, (n, c, h // factor, factor, w // factor, factor))
    return t.builder.reshape(t.builder.transpose(x, [0, 1, 3, 5, 2, 4]), t.result_shape)
