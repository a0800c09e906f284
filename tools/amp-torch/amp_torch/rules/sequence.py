# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embeddings, indexing, running sums and dropout."""

import torch

from ..builder import TORCH_DTYPES
from ..translate import Const, Unsupported, Value, rule, shrink
from .elementwise import scaled
from .shapes import through_floats


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
        raise Unsupported("indexes several dimensions by values of the batch; use one index, or one_hot and a product")
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
    """Takes one element for each index along `dim`: a sum over a one-hot encoding."""
    if isinstance(x, Const):
        return gather_from_constant(t, t.constant_tensor(x), dim, as_index(t, indices))
    dim %= x.rank
    last = dim == x.rank - 1
    if not isinstance(indices, Value):
        raise Unsupported("gathers by constants; index with them")
    if not last or indices.shape[-1] != 1:
        raise Unsupported("gathers along a dimension other than the last, or more than one element; use one_hot")
    hot = t.builder.one_hot(as_index(t, indices), x.shape[-1], x.dtype)
    hot = t.builder.reshape(hot, x.shape)
    return t.builder.reduce("sum", t.builder.binary("mul", hot, x), [x.rank - 1], keep_dims=True)


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
