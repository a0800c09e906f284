# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embeddings, indexing, running sums and dropout."""

import torch

from ..translate import Unsupported, Value, rule


@rule("aten.embedding.default")
def embedding(t, weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    if scale_grad_by_freq or sparse:
        raise Unsupported("embedding with scale_grad_by_freq or sparse; leave both out")
    if padding_idx >= 0 and isinstance(weight, Value):
        # The row is removed from the whole gradient of the table, not from one reader's.
        if any(
            user.target != t.node.target or list(user.args[2:3]) != [padding_idx] for user in t.node.args[0].users
        ):
            raise Unsupported("embedding with padding_idx whose table has another reader; leave padding_idx out")
        t.padding_rows[weight.name] = padding_idx
    if isinstance(weight, Value):
        t.embeddings[weight.name] = t.embeddings.get(weight.name, 0) + 1
    table = t.value(weight)
    if not isinstance(indices, Value):
        out = t.builder.gather(table, t.elementwise(indices, "i64"), 0)
        return t.expand(out, t.result_shape)
    original = t.relabel(indices, None)
    t.classes[original.name] = weight.shape[0]
    out = t.builder.gather(table, original, 0)
    return t.builder.reshape(out, (*indices.shape, *table.shape[1:]))


@rule("aten.index_select.default")
def index_select(t, x, dim, indices):
    dim %= x.rank
    if x.shape[dim] < 0:
        raise Unsupported("takes samples of the open batch; export with dynamic_batch=False")
    return t.builder.gather(x, t.value(indices), dim)


@rule("aten.index.Tensor", "aten._unsafe_index.Tensor")
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
        require_table(x)
        return t.builder.gather(x, item, axis)
    if any(isinstance(item, Value) for _, item in used):
        raise Unsupported("indexes several dimensions by values of the batch; use one index, or one_hot and a product")
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
    require_table(x)
    x = t.builder.reshape(x, (*x.shape[: axes[0]], total, *x.shape[axes[-1] + 1 :]))
    return t.builder.gather(x, t.builder.constant(flat), axes[0])


def require_table(x):
    if not x.is_float:
        raise Unsupported("indexes integers of the batch; do so in the data")


@rule("aten.gather.default")
def gather(t, x, dim, indices, sparse_grad=False):
    """Takes one element for each index along `dim`: a sum over a one-hot encoding."""
    dim %= x.rank
    last = dim == x.rank - 1
    if not isinstance(indices, Value):
        raise Unsupported("gathers by constants; index with them")
    if not last or indices.shape[-1] != 1:
        raise Unsupported("gathers along a dimension other than the last, or more than one element; use one_hot")
    hot = t.builder.one_hot(indices, x.shape[-1], x.dtype)
    hot = t.builder.reshape(hot, x.shape)
    return t.builder.reduce("sum", t.builder.binary("mul", hot, x), [x.rank - 1], keep_dims=True)


@rule("aten.one_hot.default")
def one_hot(t, indices, classes=-1):
    raise Unsupported("one_hot gives integers; compare with torch.arange(classes) and use torch.where")


@rule("aten.cumsum.default")
def cumsum(t, x, dim, dtype=None):
    if not x.is_float:
        raise Unsupported("sums integers of the batch; do so in the data")
    return t.builder.emit("cumsum", [x], [(x.shape, x.dtype)], {"axis": dim % x.rank})


@rule("aten.dropout.default", "aten.native_dropout.default")
def dropout(t, x, rate, training=True):
    native = "native" in str(t.node.target)
    if training and rate >= 1:
        raise Unsupported("dropout with p = 1 removes everything")
    out = t.dropout(x, rate) if training and rate > 0 else x
    return [out, None] if native else out


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
