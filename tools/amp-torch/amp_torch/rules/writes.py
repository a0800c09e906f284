# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes to elements that constant indices or a mask name, and diagonals."""

import math

import torch

from ..translate import Unsupported, Value, rule
from .sequence import as_index
from .shapes import through_floats

#: The number of values that one element may receive.
MOST_VALUES = 64


def front(x, axes):
    """The permutation that moves axes to the front, and the one that moves them back."""
    order = [*axes, *(axis for axis in range(x.rank) if axis not in axes)]
    return order, [order.index(axis) for axis in range(x.rank)]


def places_of(t, x, axes, tensors):
    """Constant indices of several axes as one index of the flattened axes, broadcast."""
    extents = [x.shape[axis] for axis in axes]
    if -1 in extents:
        raise Unsupported("writes samples of the open batch; export with dynamic_batch=False")
    flat = torch.zeros((), dtype=torch.int64)
    for extent, tensor in zip(extents, torch.broadcast_tensors(*(tensor.to(torch.int64) for tensor in tensors))):
        flat = flat * extent + tensor % extent
    return flat, math.prod(extents)


def sources(places, total, accumulate):
    """For each of `total` elements, the positions of its values: lists of equal length, in
    which the number of values means none."""
    count = places.numel()
    lists = [[] for _ in range(total)]
    for position, place in enumerate(places.flatten().tolist()):
        # The last of several values is written.
        lists[place] = [*(lists[place] if accumulate else []), position]
    most = max(map(len, lists))
    if most > MOST_VALUES:
        raise Unsupported(f"adds {most} values to one element, expected at most {MOST_VALUES}; use a product with a constant")
    return [torch.tensor([own[k] if k < len(own) else count for own in lists]) for k in range(most)]


def write(t, x, axes, places, total, values, accumulate):
    """Writes or adds `values`, of the shape of `places` and the other axes of `x`, at constant
    places of the flattened axes: rows of a table, which a gather reads."""
    b = t.builder
    order, back = front(x, axes)
    moved = b.transpose(x, order)
    rest = moved.shape[len(axes):]
    rows = b.reshape(moved, (total, *rest))
    values = b.reshape(values, (places.numel(), *rest))
    if accumulate:
        none = b.binary("mul", b.slice(values, 0, 0, 1), b.scalar(0.0, values.dtype))
        table = b.concat([values, none], 0)
        for chosen in sources(places, total, True):
            rows = b.binary("add", rows, b.gather(table, b.constant(chosen), 0))
    else:
        kept = torch.arange(total) + places.numel()
        for chosen in sources(places, total, False):
            kept = torch.where(chosen < places.numel(), chosen, kept)
        rows = b.gather(b.concat([values, rows], 0), b.constant(kept), 0)
    return b.transpose(b.reshape(rows, moved.shape), back)


def values_in_front(t, x, axes, shape, values):
    """Values that broadcast to x[indices], with the dimensions of the indices in front."""
    adjacent = axes == list(range(axes[0], axes[0] + len(axes)))
    rest = [extent for axis, extent in enumerate(x.shape) if axis not in axes]
    first = axes[0] if adjacent else 0
    target = [*rest[:first], *shape, *rest[first:]]
    values = t.value(values, t.result_dtype)
    values = t.expand(t.builder.reshape(values, [1] * (len(target) - values.rank) + list(values.shape)), target,
                      [1] * len(target))
    moved = [*range(first, first + len(shape)), *range(first), *range(first + len(shape), len(target))]
    return t.builder.transpose(values, moved)


@rule("aten.index_put.default", "aten._unsafe_index_put.default")
@through_floats
def index_put(t, x, indices, values, accumulate=False):
    x, used = t.value(x, t.result_dtype), [(axis, item) for axis, item in enumerate(indices) if item is not None]
    if any(isinstance(item, Value) for _, item in used):
        return write_by_mask(t, x, used, values, accumulate)
    tensors = [t.constant_tensor(item) for _, item in used]
    if any(tensor.dtype == torch.bool for tensor in tensors):
        if len(used) != 1:
            raise Unsupported("writes by a mask and an index; use torch.where")
        axis = used[0][0]
        used = [(axis + number, None) for number in range(tensors[0].dim())]
        tensors = list(tensors[0].nonzero(as_tuple=True))
    axes = [axis for axis, _ in used]
    places, total = places_of(t, x, axes, tensors)
    if not places.numel():
        return x
    return write(t, x, axes, places, total, values_in_front(t, x, axes, places.shape, values), accumulate)


def write_by_mask(t, x, used, values, accumulate):
    """x[mask] = number, for a mask of the batch."""
    (axis, mask), *others = used
    values = t.value(values, t.result_dtype)
    if others or axis or not isinstance(mask, Value) or mask.dtype != "i1" or accumulate or math.prod(values.shape) != 1:
        raise Unsupported("writes at places that depend on data; use torch.where, scatter, or one_hot and a product")
    mask = t.builder.reshape(t.convert(mask, "f32"), (*mask.shape, *(1,) * (x.rank - mask.rank)))
    return t.builder.select(t.convert(mask, "i1"), t.builder.reshape(values, ()), x)


def add_at(t, x, dim, index, source):
    """Adds slices of `source` along a dimension, at positions that the batch contains."""
    if x.shape[dim] < 0:
        raise Unsupported("adds at samples of the open batch; export with dynamic_batch=False")
    index = as_index(t, index)
    if index.rank == 0:
        index = t.builder.reshape(t.builder.numbers(index), (1,))
        index = t.builder.integers_of(index, "i64")
    summed = t.builder.emit("scatter_add", [source, index], [(x.shape, x.dtype)], {"axis": dim})
    return t.builder.binary("add", x, summed)


@rule("aten.index_add.default")
def index_add(t, x, dim, index, source, alpha=1):
    x, source = t.value(x, t.result_dtype), t.value(source, t.result_dtype)
    if t.number(alpha) != 1:
        source = t.builder.binary("mul", source, t.builder.scalar(float(t.number(alpha)), source.dtype))
    dim %= x.rank
    if isinstance(index, Value):
        return add_at(t, x, dim, index, source)
    places, total = places_of(t, x, [dim], [t.constant_tensor(index)])
    order, _ = front(source, [dim])
    return write(t, x, [dim], places, total, t.builder.transpose(source, order), True)


@rule("aten.diagonal.default")
@through_floats
def diagonal(t, x, offset=0, dim1=0, dim2=1):
    axes = [dim1 % x.rank, dim2 % x.rank]
    rows, columns = (x.shape[axis] for axis in axes)
    if min(rows, columns) < 0:
        raise Unsupported("takes a diagonal of the open batch; export with dynamic_batch=False")
    order, _ = front(x, axes)
    moved = t.builder.transpose(x, order)
    places = torch.arange(rows * columns).view(rows, columns).diagonal(offset)
    if not places.numel():
        raise Unsupported("takes a diagonal without elements; use an offset within the matrix")
    flat = t.builder.reshape(moved, (rows * columns, *moved.shape[2:]))
    out = t.builder.gather(flat, t.builder.constant(places), 0)
    return t.builder.transpose(out, [*range(1, out.rank), 0])
