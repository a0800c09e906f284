# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions and softmax."""

import math

import torch

from ..translate import Unsupported, rule


def all_dims(x, dims):
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return list(range(x.rank))
    return [d % x.rank for d in (dims if isinstance(dims, (list, tuple)) else [dims])]


def reduced(t, kind, x, dims, keep_dims):
    if not x.is_float:
        x = t.convert(x, t.result_dtype)
    return t.builder.reduce(kind, x, all_dims(x, dims), keep_dims)


@rule("aten.sum.default", "aten.sum.dim_IntList")
def sum_(t, x, dims=None, keepdim=False, *, dtype=None):
    return reduced(t, "sum", x, dims, keepdim)


@rule("aten.mean.default", "aten.mean.dim")
def mean(t, x, dims=None, keepdim=False, *, dtype=None):
    return reduced(t, "mean", x, dims, keepdim)


@rule("aten.amax.default", "aten.max.default")
def amax(t, x, dims=None, keepdim=False):
    return reduced(t, "max", x, dims, keepdim)


@rule("aten.amin.default", "aten.min.default")
def amin(t, x, dims=None, keepdim=False):
    return t.builder.unary("neg", reduced(t, "max", t.builder.unary("neg", x), dims, keepdim))


@rule("aten.max.dim", "aten.min.dim")
def max_dim(t, x, dim, keepdim=False):
    is_min = "min" in str(t.node.target)
    values = (amin if is_min else amax)(t, x, [dim], keepdim)
    # The indices cost nothing where no operation reads them.
    if not any(user.args[1] == 1 and user.users for user in t.node.users):
        return [values, None]
    return [values, place_of_maximum(t, t.builder.unary("neg", x) if is_min else x, dim, keepdim)]


def place_of_maximum(t, x, dim, keepdim):
    """The index of the first largest element along a dimension."""
    axis = dim % x.rank
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    place = t.builder.emit("argmax", [x], [(shape, "i64")], {"axis": axis})
    return t.builder.view(place, (*shape[:axis], 1, *shape[axis:])) if keepdim else place


@rule("aten.argmax.default", "aten.argmin.default", integers=True)
def argmax(t, x, dim=None, keepdim=False):
    if dim is None:
        if -1 in x.shape:
            raise Unsupported("argmax over the open batch; name one dim")
        x, dim = t.builder.reshape(x, (math.prod(x.shape),)), 0
    x = t.convert(x, "f32") if not x.is_float else x
    if "argmin" in str(t.node.target):
        x = t.builder.unary("neg", x)
    return place_of_maximum(t, x, dim, keepdim and len(t.result_shape) == x.rank)


@rule("aten.topk.default")
def topk(t, x, count, dim=-1, largest=True, sorted=True):
    """The largest element, then the largest of the rest, and so on."""
    count, dim = t.number(count), dim % x.rank
    if count > 16:
        raise Unsupported("topk of more than 16 elements; use a threshold and a mask")
    x = last_axis(t, x, dim)
    sign = x if largest else t.builder.unary("neg", x)
    lowest, positions = t.builder.scalar(-math.inf, x.dtype), torch.arange(x.shape[-1])
    values, places = [], []
    for _ in range(count):
        place = place_of_maximum(t, sign, -1, True)
        is_place = t.builder.compare("eq", place, t.builder.constant(positions))
        values.append(t.builder.reduce("sum", t.builder.select(is_place, x, t.builder.scalar(0.0, x.dtype)), [-1], True))
        places.append(t.builder.numbers(place))
        sign = t.builder.select(is_place, lowest, sign)
    values = t.builder.concat(values, x.rank - 1)
    with t.builder.exact():
        places = t.builder.concat(places, x.rank - 1)
        places = t.builder.integers_of(last_axis(t, places, dim, back=True), "i64")
    return [last_axis(t, values, dim, back=True), places]


def last_axis(t, x, axis, back=False):
    """Moves an axis to the end, or the last axis back to its place."""
    axis %= x.rank
    order = [*range(axis), *range(axis + 1, x.rank), axis]
    if back:
        order = [*range(axis), x.rank - 1, *range(axis, x.rank - 1)]
    return t.builder.transpose(x, order)


def variance(t, x, dims, correction, keepdim):
    dims = all_dims(x, dims)
    average = t.builder.reduce("mean", x, dims, True)
    squares = t.builder.unary("square", t.builder.binary("sub", x, average))
    count = 1
    for d in dims:
        count *= x.shape[d]
    if count < 0:
        raise Unsupported("takes the variance over the open batch; export with dynamic_batch=False")
    if correction == 0:
        return t.builder.reduce("mean", squares, dims, keepdim), average
    total = t.builder.reduce("sum", squares, dims, keepdim)
    return t.builder.binary("div", total, t.builder.scalar(float(count - correction), x.dtype)), average


@rule("aten.var.correction", "aten.var.dim", "aten.var.default", composite=True)
def var(t, x, dims=None, unbiased=True, keepdim=False, *, correction=None):
    correction = (1 if unbiased else 0) if correction is None else t.number(correction)
    return variance(t, x, dims, correction, keepdim)[0]


@rule("aten.std.correction", "aten.std.dim", "aten.std.default", composite=True)
def std(t, x, *args, **kwargs):
    return root(t, var(t, x, *args, **kwargs))


def root(t, squares):
    """The square root of sums of squares. At zero its derivative is zero, as in torch."""
    b = t.builder
    zero = b.scalar(0.0, squares.dtype)
    some = b.compare("gt", squares, zero)
    return b.select(some, b.unary("sqrt", b.select(some, squares, b.scalar(1.0, squares.dtype))), zero)


@rule("aten.var_mean.correction", composite=True)
def var_mean(t, x, dims=None, *, correction=1, keepdim=False):
    spread, average = variance(t, x, dims, t.number(correction), keepdim)
    shape = t.shape(t.result[1])
    return [spread, t.builder.reshape(average, shape)]


@rule("aten.linalg_vector_norm.default", "aten.norm.ScalarOpt_dim", "aten.norm.Scalar", composite=True)
def vector_norm(t, x, order=2, dims=None, keepdim=False, *, dtype=None):
    order = t.number(order)
    if order == 2:
        total = reduced(t, "sum", t.builder.unary("square", x), dims, keepdim)
        return root(t, total)
    if order == 1:
        return reduced(t, "sum", t.builder.unary("abs", x), dims, keepdim)
    if order == float("inf"):
        return reduced(t, "max", t.builder.unary("abs", x), dims, keepdim)
    raise Unsupported(f"a norm of order {order}; orders 1, 2 and infinity are possible")


@rule("aten.softmax.int", "aten._softmax.default", "aten._safe_softmax.default")
def softmax(t, x, dim, *args, **kwargs):
    return t.builder.unary("softmax", t.convert(x, t.result_dtype), axis=dim % x.rank)


@rule("aten.log_softmax.int", "aten._log_softmax.default")
def log_softmax(t, x, dim, *args, **kwargs):
    return t.builder.unary("log_softmax", t.convert(x, t.result_dtype), axis=dim % x.rank)


@rule("aten.logsumexp.default")
def logsumexp(t, x, dims, keepdim=False):
    dims = all_dims(x, dims)
    if len(dims) > 1:
        # One axis in place of several.
        kept = [axis for axis in range(x.rank) if axis not in dims]
        extents = [x.shape[axis] for axis in dims]
        if -1 in extents:
            raise Unsupported("logsumexp over the open batch; export with dynamic_batch=False")
        x = t.builder.transpose(x, [*kept, *dims])
        x = t.builder.reshape(x, (*x.shape[: len(kept)], math.prod(extents)))
        dims = [len(kept)]
    axis = dims[0]
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    out = t.builder.emit("logsumexp", [x], [(shape, x.dtype)], {"axis": axis})
    return t.builder.reshape(out, t.result_shape)


def products(t, x, dim):
    """Returns the cumulative products along a dimension, one slice for each element."""
    if not 0 < x.shape[dim] <= 64:
        raise Unsupported("a product over more than 64 elements, or over the open batch")
    found = [t.builder.slice(x, dim, 0, 1)]
    for position in range(1, x.shape[dim]):
        found.append(t.builder.binary("mul", found[-1], t.builder.slice(x, dim, position, 1)))
    return found


@rule("aten.prod.dim_int")
def prod(t, x, dim, keepdim=False):
    if x.rank == 0:
        return x
    return t.builder.reshape(products(t, x, dim % x.rank)[-1], t.result_shape)


@rule("aten.cumprod.default")
def cumprod(t, x, dim, dtype=None):
    if x.rank == 0:
        return t.convert(x, t.result_dtype)
    return t.builder.concat(products(t, t.convert(x, t.result_dtype), dim % x.rank), dim % x.rank)


@rule("aten.cdist.default", "aten._cdist_forward.default")
def cdist(t, lhs, rhs, order=2.0, compute_mode=None):
    """Distances between all rows of two matrices."""
    dtype = t.result_dtype
    lhs, rhs = t.value(lhs, dtype), t.value(rhs, dtype)
    lhs = t.builder.reshape(lhs, (*lhs.shape[:-1], 1, lhs.shape[-1]))
    rhs = t.builder.reshape(rhs, (*rhs.shape[:-2], 1, *rhs.shape[-2:]))
    return vector_norm(t, t.builder.binary("sub", lhs, rhs), order, [-1])


@rule("aten.cosine_similarity.default")
def cosine_similarity(t, lhs, rhs, dim=1, eps=1e-8):
    b, dtype = t.builder, t.result_dtype
    lhs, rhs = t.value(lhs, dtype), t.value(rhs, dtype)

    def length(x):
        return root(t, b.reduce("sum", b.unary("square", x), [dim], True))

    smallest = b.scalar(float(eps), dtype)
    lhs = b.binary("div", lhs, b.binary("maximum", length(lhs), smallest))
    rhs = b.binary("div", rhs, b.binary("maximum", length(rhs), smallest))
    product = b.binary("mul", lhs, rhs)
    return b.reduce("sum", product, [dim])
