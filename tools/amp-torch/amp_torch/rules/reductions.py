# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions and softmax."""


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
    values, _ = t.node.meta["val"]
    if any(user.args[1] == 1 and user.users for user in t.node.users):
        raise Unsupported("uses the indices of a maximum; use argmax for the metric, outside of the step")
    if "min" in str(t.node.target):
        return [amin(t, x, [dim], keepdim), None]
    return [t.builder.reduce("max", x, [dim], keepdim), None]


@rule("aten.argmax.default")
def argmax(t, x, dim=None, keepdim=False):
    if dim is None or keepdim:
        raise Unsupported("argmax over everything or with keepdim; name one dim")
    axis = dim % x.rank
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    return t.builder.emit("argmax", [x], [(shape, "i64")], {"axis": axis})


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


@rule("aten.var.correction", "aten.var.dim", "aten.var.default")
def var(t, x, dims=None, unbiased=True, keepdim=False, *, correction=None):
    correction = (1 if unbiased else 0) if correction is None else t.number(correction)
    return variance(t, x, dims, correction, keepdim)[0]


@rule("aten.std.correction", "aten.std.dim", "aten.std.default")
def std(t, x, *args, **kwargs):
    return t.builder.unary("sqrt", var(t, x, *args, **kwargs))


@rule("aten.var_mean.correction")
def var_mean(t, x, dims=None, *, correction=1, keepdim=False):
    spread, average = variance(t, x, dims, t.number(correction), keepdim)
    shape = t.shape(t.result[1])
    return [spread, t.builder.reshape(average, shape)]


@rule("aten.linalg_vector_norm.default", "aten.norm.ScalarOpt_dim", "aten.norm.Scalar")
def vector_norm(t, x, order=2, dims=None, keepdim=False, *, dtype=None):
    order = t.number(order)
    if order == 2:
        total = reduced(t, "sum", t.builder.unary("square", x), dims, keepdim)
        return t.builder.unary("sqrt", total)
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
    if len(dims) != 1:
        raise Unsupported("logsumexp over several dimensions; flatten them first")
    axis = dims[0]
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    out = t.builder.emit("logsumexp", [x], [(shape, x.dtype)], {"axis": axis})
    return t.builder.reshape(out, t.result_shape) if keepdim else out


@rule("aten.prod.dim_int")
def prod(t, x, dim, keepdim=False):
    dim %= x.rank
    if not 0 < x.shape[dim] <= 64:
        raise Unsupported("a product over more than 64 elements, or over the open batch")
    out = t.builder.slice(x, dim, 0, 1)
    for position in range(1, x.shape[dim]):
        out = t.builder.binary("mul", out, t.builder.slice(x, dim, position, 1))
    return t.builder.reshape(out, t.result_shape)


@rule("aten.cosine_similarity.default")
def cosine_similarity(t, lhs, rhs, dim=1, eps=1e-8):
    b, dtype = t.builder, t.result_dtype
    lhs, rhs = t.value(lhs, dtype), t.value(rhs, dtype)

    def length(x):
        return b.unary("sqrt", b.reduce("sum", b.unary("square", x), [dim], True))

    smallest = b.scalar(float(eps), dtype)
    lhs = b.binary("div", lhs, b.binary("maximum", length(lhs), smallest))
    rhs = b.binary("div", rhs, b.binary("maximum", length(rhs), smallest))
    product = b.binary("mul", lhs, rhs)
    return b.reduce("sum", product, [dim])
