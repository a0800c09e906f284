# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embeddings, indexing, running sums and dropout."""

import math

import torch

from ..builder import TORCH_DTYPES
from ..translate import Const, Unsupported, Value, rule, shrink
from .elementwise import scaled
from .reductions import last_axis
from .shapes import through_floats


#: f32 represents all integers up to this number.
LARGEST_PLACE = 2**24


@rule("aten.embedding.default")
def embedding(t, weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    if scale_grad_by_freq or sparse:
        raise Unsupported("embedding with scale_grad_by_freq or sparse; leave both out")
    if padding_idx >= 0 and isinstance(weight, Value):
        if all(
            user.target == t.node.target and list(user.args[2:3]) == [padding_idx] for user in t.node.args[0].users
        ):
            # The row is removed from the whole gradient of the table.
            t.padding_rows[weight.name] = padding_idx
        elif isinstance(indices, Value):
            return without_gradient_of(t, embedding(t, weight, indices), indices, padding_idx)
    if isinstance(weight, Value):
        t.embeddings[weight.name] = t.embeddings.get(weight.name, 0) + 1
    table = t.value(weight)
    if not isinstance(indices, Value):
        out = t.builder.gather(table, t.elementwise(indices, "i64"), 0)
        return t.expand(out, t.result_shape)
    original = t.builder.before_views(indices)
    t.classes[original.name] = weight.shape[0]
    out = t.builder.gather(table, original, 0)
    return t.builder.reshape(out, (*indices.shape, *table.shape[1:]))


def without_gradient_of(t, rows, indices, padding_idx):
    """Rows of a table; those of `padding_idx` count as constants."""
    b = t.builder
    is_padding = b.compare("eq", indices, b.scalar(padding_idx, indices.dtype))
    is_padding = b.reshape(t.convert(is_padding, "f32"), (*indices.shape, 1))
    return b.select(t.convert(is_padding, "i1"), b.stop_gradient(rows), rows)


def as_index(t, indices):
    """Indices as integers, also where a rule computes integers as f32."""
    indices = t.value(indices)
    return t.convert(indices, "i64") if indices.is_float else indices


@rule("aten.index_select.default")
@through_floats
def index_select(t, x, dim, indices):
    dim %= x.rank
    if x.shape[dim] < 0:
        raise Unsupported("takes samples of the open batch; export with dynamic_batch=False")
    return t.builder.gather(x, as_index(t, indices), dim)


def one_axis(tensor):
    """The only axis along which a tensor is longer than 1, -1 without one, or None."""
    longer = [axis for axis, extent in enumerate(tensor.shape) if extent != 1]
    return None if len(longer) > 1 else longer[0] if longer else -1


def is_whole(t, item, axis):
    """Whether constant indices name all elements along an axis, in order."""
    sizes = t.evaluate(t.node.args[0].meta["val"].shape[axis])
    return all(torch.equal(world.flatten(), torch.arange(size)) for world, size in zip(item.worlds, sizes))


def index_each(t, x, used):
    """Indexing in which each index runs along a separate dimension, in the order of the
    dimensions of `x`; null otherwise."""
    order = [one_axis(item.worlds[0]) for _, item in used]
    if None in order or sorted(set(order)) != order or [axis for axis, _ in used] != list(range(len(used))):
        return None
    for axis, item in used:
        if is_whole(t, item, axis):
            continue
        if x.shape[axis] < 0:
            return None
        x = t.builder.gather(x, t.builder.constant(t.constant_tensor(item).flatten() % x.shape[axis]), axis)
    return t.builder.reshape(x, t.result_shape)


def pick_each(t, x, used):
    """x[arange(n), labels]: one element along the second dimension for each along the first;
    null for other indices."""
    if [axis for axis, _ in used] != [0, 1] or x.rank < 2 or not x.is_float:
        return None
    (_, first), (_, labels) = used
    if isinstance(first, Value) or not isinstance(labels, Value) or labels.rank != 1 or not is_whole(t, first, 0):
        return None
    return picked(t, t.builder.reshape(t.numbers(labels), (*labels.shape, *(1,) * (x.rank - 1))), x, 1)


def index_by_data(t, x, used):
    """Indexes several adjacent dimensions, some by values of the batch. Computes one index of the
    flattened dimensions in f32."""
    b, axes = t.builder, [axis for axis, _ in used]
    extents = [x.shape[axis] for axis in axes]
    if axes != list(range(axes[0], axes[0] + len(axes))):
        raise Unsupported("indexes dimensions that are not neighbours; transpose first")
    if -1 in extents:
        raise Unsupported("takes samples of the open batch; export with dynamic_batch=False")
    if math.prod(extents) > LARGEST_PLACE or any(t.dtype_of_operand(item) == "i1" for _, item in used):
        raise Unsupported("indexes many elements, or by a mask and an index; use one index, or one_hot and a product")
    flat = None
    with b.exact():
        for (_, item), extent in zip(used, extents):
            numbers = from_the_end(t, t.numbers(item), extent)
            flat = numbers if flat is None else b.binary("add", b.binary("mul", flat, b.scalar(float(extent), "f32")), numbers)
    x = b.reshape(x, (*x.shape[: axes[0]], math.prod(extents), *x.shape[axes[-1] + 1 :]))
    return b.gather(x, b.integers_of(flat, "i64"), axes[0])


def from_the_end(t, numbers, extent):
    """Replaces negative positions, which count from the end as in torch."""
    b = t.builder
    is_negative = b.compare("lt", numbers, b.scalar(0.0, "f32"))
    return b.select(is_negative, b.binary("add", numbers, b.scalar(float(extent), "f32")), numbers)


@rule("aten.index.Tensor", "aten._unsafe_index.Tensor")
@through_floats
def index(t, x, indices):
    used = [(axis, item) for axis, item in enumerate(indices) if item is not None]
    if len(used) == 1:
        axis, item = used[0]
        if item.dtype == "i1" if isinstance(item, Value) else t.constant_tensor(item).dtype == torch.bool:
            raise Unsupported("takes the elements where a mask is true, whose number depends on data; use torch.where")
        if x.shape[axis] < 0:
            raise Unsupported("takes samples of the open batch; export with dynamic_batch=False")
        if not isinstance(item, Value):
            # torch counts from the end where an index is negative.
            item = t.builder.constant(t.constant_tensor(item).to(torch.int64) % x.shape[axis])
        return t.builder.gather(x, as_index(t, item), axis)
    if any(isinstance(item, Value) for _, item in used):
        picked = pick_each(t, x, used)
        return index_by_data(t, x, used) if picked is None else picked
    out = index_each(t, x, used)
    if out is not None:
        return out
    # Constant indices of several dimensions are one index of the flattened ones.
    axes = [axis for axis, _ in used]
    if axes != list(range(axes[0], axes[0] + len(axes))):
        raise Unsupported("indexes dimensions that are not neighbours; transpose first")
    extents = [x.shape[axis] for axis in axes]
    if -1 in extents:
        raise Unsupported("takes samples of the open batch; export with dynamic_batch=False")
    tensors = torch.broadcast_tensors(*(t.constant_tensor(item).to(torch.int64) for _, item in used))
    flat = torch.zeros_like(tensors[0])
    for extent, tensor in zip(extents, tensors):
        flat = flat * extent + tensor % extent
    total = 1
    for extent in extents:
        total *= extent
    x = t.builder.reshape(x, (*x.shape[: axes[0]], total, *x.shape[axes[-1] + 1 :]))
    return t.builder.gather(x, t.builder.constant(flat), axes[0])


@rule("aten.gather.default")
def gather(t, x, dim, indices, sparse_grad=False):
    """Takes elements along `dim`: a sum over a one-hot encoding."""
    if isinstance(x, Const):
        return gather_from_constant(t, t.constant_tensor(x), dim, as_index(t, indices))
    if not isinstance(indices, Value):
        raise Unsupported("gathers by constants; index with them")
    x, indices = last_axis(t, x, dim), last_axis(t, t.numbers(indices), dim)
    if x.shape[:-1] != indices.shape[:-1]:
        raise Unsupported("gathers from a part of a tensor; slice it to the extents of the indices first")
    if indices.shape[-1] == 1:
        out = picked(t, indices, x, -1, keep_dims=True)
    else:
        rows = t.builder.reshape(x, (*x.shape[:-1], 1, x.shape[-1]))
        out = picked(t, t.builder.reshape(indices, (*indices.shape, 1)), rows, -1)
    return last_axis(t, out, dim, back=True)


def is_place(t, numbers, count):
    """Whether the position along the last axis is a number of [..., 1], which f32 holds."""
    with t.builder.exact():
        return t.builder.compare("eq", numbers, t.builder.constant(torch.arange(count, dtype=torch.float32)))


def picked(t, numbers, x, axis, keep_dims=False):
    """The elements along an axis at the places that numbers of extent 1 name."""
    chosen = is_place(t, last_axis(t, numbers, axis), x.shape[axis])
    if axis % x.rank != x.rank - 1:
        chosen = t.convert(last_axis(t, t.convert(chosen, "f32"), axis, back=True), "i1")
    parts = t.builder.select(chosen, x, t.builder.scalar(0.0, x.dtype))
    return t.builder.reduce("sum", parts, [axis], keep_dims)


@rule("aten.scatter.src", "aten.scatter.value", "aten.scatter_add.default")
def scatter(t, x, dim, indices, source):
    """Writes or adds elements along `dim`, each by a one-hot encoding of its place."""
    b, dtype = t.builder, t.result_dtype
    x, indices = last_axis(t, t.value(x, dtype), dim), last_axis(t, t.numbers(indices), dim)
    if x.shape[:-1] != indices.shape[:-1]:
        raise Unsupported("writes to a part of a tensor; slice it to the extents of the indices first")
    chosen = is_place(t, b.reshape(indices, (*indices.shape, 1)), x.shape[-1])
    zero = b.scalar(0.0, dtype)
    if isinstance(source, Value) or isinstance(source, Const) and t.constant_tensor(source).dim():
        source = last_axis(t, t.value(source, dtype), dim)
        if source.shape != indices.shape:
            raise Unsupported("writes a part of a tensor; slice it to the extents of the indices first")
        source = b.reshape(source, (*source.shape, 1))
    else:
        source = t.elementwise(source, dtype)
    written = b.select(chosen, source, zero)
    written = b.reduce("sum", written, [written.rank - 2])
    if "scatter_add" in str(t.node.target):
        out = b.binary("add", x, written)
    else:
        hits = b.select(chosen, b.scalar(1.0, "f32"), b.scalar(0.0, "f32"))
        is_written = b.compare("gt", b.reduce("sum", hits, [hits.rank - 2]), b.scalar(0.0, "f32"))
        out = b.select(is_written, written, x)
    return last_axis(t, out, dim, back=True)


@rule("aten.embedding_bag.padding_idx", "aten.embedding_bag.default")
def embedding_bag(t, weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, weights=None,
                  include_last=False, padding_idx=None):
    """A reduction over the rows of each bag. Bags have one size."""
    if scale_grad_by_freq or sparse or padding_idx is not None:
        raise Unsupported("embedding_bag with scale_grad_by_freq, sparse or padding_idx; leave these out")
    size, bags = bag_size(t, indices, offsets, include_last)
    original = t.builder.before_views(indices)
    t.classes[original.name] = weight.shape[0]
    t.embeddings[weight.name] = t.embeddings.get(weight.name, 0) + 1
    rows = t.builder.gather(t.value(weight), original, 0)
    rows = t.builder.reshape(rows, (bags, size, weight.shape[1]))
    if weights is not None:
        rows = t.builder.binary("mul", rows, t.builder.reshape(t.value(weights), (bags, size, 1)))
    return [t.builder.reduce(("sum", "mean", "max")[mode], rows, [1]), None, None, None]


def bag_size(t, indices, offsets, include_last):
    """The number of rows of each bag, and of bags."""
    if isinstance(offsets, Value) or not isinstance(indices, Value):
        raise Unsupported("embedding_bag whose offsets are data; pass indices of shape [bags, rows]")
    sizes = set()
    for world, count in zip(offsets.worlds, t.evaluate(t.node.args[1].meta["val"].shape[0])):
        ends = world if include_last else torch.cat([world, world.new_tensor([count])])
        sizes |= set(ends.diff().tolist())
    if len(sizes) != 1:
        raise Unsupported("embedding_bag whose bags differ in size; pad them, and pass indices of shape [bags, rows]")
    return sizes.pop(), t.shape(t.result[0])[0]


def gather_from_constant(t, table, dim, indices):
    """Elements of a vector that a constant repeats along its other dimensions."""
    vector = shrink(table.movedim(dim, -1))
    if vector.numel() > vector.shape[-1]:
        raise Unsupported("gathers from a constant with several rows; index with them")
    if vector.shape[-1] == 1:
        vector = vector.expand(*vector.shape[:-1], table.shape[dim])
    return t.builder.gather(t.builder.constant(vector.flatten().to(TORCH_DTYPES[t.result_dtype])), indices, 0)


@rule("aten.one_hot.default")
def one_hot(t, indices, classes=-1):
    return t.builder.one_hot(as_index(t, indices), t.number(t.result_shape[-1]), t.result_dtype)


@rule("aten.cumsum.default")
def cumsum(t, x, dim, dtype=None):
    x = t.convert(x, t.result_dtype)
    return t.builder.emit("cumsum", [x], [(x.shape, x.dtype)], {"axis": dim % x.rank})


@rule("aten.dropout.default", "aten.native_dropout.default")
def dropout(t, x, rate, training=True):
    native = "native" in str(t.node.target)
    if training and rate >= 1:
        raise Unsupported("dropout with p = 1 removes everything")
    out = t.dropout(x, rate) if training and rate > 0 else x
    return [out, None] if native else out


@rule("aten.bernoulli.p")
def bernoulli(t, x, probability, generator=None):
    """Ones with a probability: dropout without its factor."""
    probability = float(t.number(probability))
    if not 0 < probability < 1:
        raise Unsupported("bernoulli with a probability of 0 or 1; use a constant")
    ones = t.expand(t.builder.scalar(1.0, t.result_dtype), t.result_shape, [1] * len(t.result_shape))
    return scaled(t, t.dropout(ones, 1 - probability), probability)


@rule("aten.feature_dropout.default", "aten.alpha_dropout.default")
def feature_dropout(t, x, rate, training):
    if not training or rate == 0:
        return x
    if "alpha" in str(t.node.target):
        raise Unsupported("alpha_dropout has no operation in the dialect; use nn.Dropout")
    # Whole channels are dropped: a mask of ones without the spatial extents.
    ones = t.expand(t.builder.scalar(1.0, x.dtype), x.shape[:2], [1, 1])
    mask = t.builder.reshape(t.dropout(ones, rate), (*x.shape[:2], *(1,) * (x.rank - 2)))
    return t.builder.binary("mul", x, mask)
