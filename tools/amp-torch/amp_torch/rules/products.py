# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products, convolutions and attention."""

import math

import torch

from ..translate import Const, Unsupported, Value, rule


@rule("aten.linear.default")
def linear(t, x, weight, bias=None):
    x, weight = t.value(x, t.result_dtype), t.value(weight, t.result_dtype)
    bias = None if bias is None else t.value(bias, t.result_dtype)
    if x.rank == 1:
        row = affine(t, t.builder.reshape(x, (1, x.shape[0])), weight, bias)
        return t.builder.reshape(row, row.shape[1:])
    return affine(t, x, weight, bias)


def affine(t, x, weight, bias):
    if -1 in weight.shape:
        out = product(t, x, t.builder.transpose(weight, [1, 0]))
        return out if bias is None else t.builder.binary("add", out, bias)
    return t.builder.linear(x, weight, bias, transpose_weight=True)


def product(t, lhs, rhs):
    """A matrix product whose leading extents broadcast. The weight of train.linear has no open extent."""
    if rhs.rank == 2 and -1 not in rhs.shape:
        return t.builder.linear(lhs, rhs)
    rank = max(lhs.rank, rhs.rank)
    batch = t.result_shape[: rank - 2]
    lhs = t.expand(lhs, (*batch, *lhs.shape[-2:]))
    rhs = t.expand(rhs, (*batch, *rhs.shape[-2:]))
    return t.builder.matmul(lhs, rhs)


@rule("aten.matmul.default", "aten.mm.default", "aten.bmm.default")
def matmul(t, lhs, rhs):
    dtype = t.result_dtype
    lhs, rhs = t.value(lhs, dtype), t.value(rhs, dtype)
    if lhs.rank == 1 and rhs.rank == 1:
        return t.builder.reduce("sum", t.builder.binary("mul", lhs, rhs), [0])
    if lhs.rank == 1:
        turned = t.builder.transpose(rhs, [*range(rhs.rank - 2), rhs.rank - 1, rhs.rank - 2])
        column = t.builder.reshape(lhs, (lhs.shape[0], 1))
        return t.builder.reshape(product(t, turned, column), t.result_shape)
    if rhs.rank == 1:
        column = t.builder.reshape(rhs, (rhs.shape[0], 1))
        return t.builder.reshape(product(t, lhs, column), t.result_shape)
    return product(t, lhs, rhs)


@rule("aten.mv.default", "aten.dot.default")
def vector_product(t, lhs, rhs):
    return matmul(t, lhs, rhs)


@rule("aten.addmm.default", "aten.baddbmm.default")
def addmm(t, bias, lhs, rhs, beta=1, alpha=1):
    dtype = t.result_dtype
    bias, lhs, rhs = t.value(bias, dtype), t.value(lhs, dtype), t.value(rhs, dtype)
    if beta == 1 and alpha == 1 and bias.rank == 1 and rhs.rank == 2 and -1 not in rhs.shape and bias.shape[0] == rhs.shape[1]:
        return t.builder.linear(lhs, rhs, bias)
    out = product(t, lhs, rhs)
    if alpha != 1:
        out = t.builder.binary("mul", out, t.builder.scalar(float(alpha), dtype))
    if beta != 1:
        bias = t.builder.binary("mul", bias, t.builder.scalar(float(beta), dtype))
    return t.builder.binary("add", out, bias)


@rule("aten.bilinear.default")
def bilinear(t, lhs, rhs, weight, bias=None):
    """The sum of w[k, i, j] x[i] y[j]: a product with x, then a sum over y."""
    outputs, inputs, others = weight.shape
    matrix = t.builder.reshape(t.builder.transpose(weight, [1, 0, 2]), (inputs, outputs * others))
    terms = t.builder.linear(lhs, matrix)
    terms = t.builder.reshape(terms, (*lhs.shape[:-1], outputs, others))
    rows = t.builder.reshape(rhs, (*rhs.shape[:-1], 1, others))
    out = t.builder.reduce("sum", t.builder.binary("mul", terms, rows), [terms.rank - 1])
    return out if bias is None else t.builder.binary("add", out, bias)


@rule("aten.einsum.default")
def einsum(t, equation, operands, path=None):
    terms, output = explicit(equation, [operand.shape if isinstance(operand, Value) else t.constant_tensor(operand).shape
                                        for operand in operands])
    if any(len(set(term)) < len(term) for term in terms):
        raise Unsupported(f"einsum '{equation}' repeats an index of an operand; take the diagonal first")
    values = [t.value(operand, t.result_dtype) for operand in operands]
    value, term = alone(t, values[0], terms[0], {*output, *"".join(terms[1:])})
    for position in range(1, len(values)):
        kept = {*output, *"".join(terms[position + 1 :])}
        right, other = alone(t, values[position], terms[position], {*kept, *term})
        left, term = alone(t, value, term, {*kept, *other})
        value, term = contract(t, left, term, right, other, kept)
    return t.builder.transpose(value, [term.index(index) for index in output])


def explicit(equation, shapes):
    """The indices of each operand and of the result, with letters in the place of dots."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms, letters = inputs.split(","), [chr(code) for code in range(0x3B1, 0x3C9)]
    counts = [len(shape) - len(term.replace("...", "")) for term, shape in zip(terms, shapes)]
    longest = max((count for term, count in zip(terms, counts) if "..." in term), default=0)
    terms = [term.replace("...", "".join(letters[longest - count : longest])) for term, count in zip(terms, counts)]
    if arrow:
        return terms, output.replace("...", "".join(letters[:longest]))
    every = "".join(terms)
    once = sorted(index for index in set(every) if every.count(index) == 1 and index not in letters)
    return terms, "".join([*letters[:longest], *once])


def alone(t, value, term, kept):
    """Sums an operand over the indices that nothing else has."""
    lonely = [place for place, index in enumerate(term) if index not in kept]
    return t.builder.reduce("sum", value, lonely), "".join(index for index in term if index in kept)


def contract(t, lhs, left, rhs, right, kept):
    """The product of two operands, summed over common indices that are not kept."""
    batch = [i for i in left if i in right and i in kept]
    summed = [i for i in left if i in right and i not in kept]
    rows, columns = [i for i in left if i not in right], [i for i in right if i not in left]
    extents = {**dict(zip(left, lhs.shape)), **dict(zip(right, rhs.shape))}

    def flat(indices):
        sizes = [extents[index] for index in indices]
        return -1 if -1 in sizes else math.prod(sizes)

    def arrange(value, term, groups):
        order = [term.index(index) for group in groups for index in group]
        value = t.builder.transpose(value, order)
        shape = [extents[i] for i in groups[0]] + [flat(group) for group in groups[1:]]
        return t.builder.reshape(value, shape)

    first = arrange(lhs, left, (batch, rows, summed))
    second = arrange(rhs, right, (batch, summed, columns))
    order = [*batch, *rows, *columns]
    out = t.builder.reshape(t.builder.matmul(first, second), [extents[index] for index in order])
    return out, "".join(order)


# -- Convolutions ------------------------------------------------------------------


def channels_last(t, x):
    return t.builder.transpose(x, [0, 2, 3, 1])


def channels_first(t, x):
    return t.builder.transpose(x, [0, 3, 1, 2])


def pair(value):
    value = list(value) if isinstance(value, (list, tuple)) else [value]
    return value * 2 if len(value) == 1 else value


def convolution(t, x, weight, bias, stride, padding, dilation, groups):
    """`x` is [N, H, W, C], `weight` as torch stores it, `padding` as in train."""
    filters = t.builder.transpose(weight, [2, 3, 1, 0])
    spatial = []
    for axis in (0, 1):
        reach = dilation[axis] * (filters.shape[axis] - 1) + 1
        padded = x.shape[1 + axis] + padding[2 * axis] + padding[2 * axis + 1]
        spatial.append((padded - reach) // stride[axis] + 1)
    attributes = {"strides": stride, "padding": padding, "dilations": dilation, "groups": groups}
    shape = (x.shape[0], *spatial, filters.shape[3])
    out = t.builder.emit("conv2d", [x, filters], [(shape, x.dtype)], attributes)
    return out if bias is None else t.builder.binary("add", out, bias)


@rule("aten.conv2d.default", "aten.conv2d.padding", composite=True)
def conv2d(t, x, weight, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
    x, weight = t.value(x), t.value(weight)
    stride, dilation = pair(stride), pair(dilation)
    if padding == "same":
        total = [dilation[axis] * (weight.shape[2 + axis] - 1) for axis in (0, 1)]
        padding = [total[0] // 2, total[0] - total[0] // 2, total[1] // 2, total[1] - total[1] // 2]
    else:
        height, width = (0, 0) if padding == "valid" else pair(padding)
        padding = [height, height, width, width]
    unbatched = x.rank == 3
    if unbatched:
        x = t.builder.reshape(x, (1, *x.shape))
    out = convolution(t, channels_last(t, x), weight, bias, stride, padding, dilation, groups)
    out = channels_first(t, out)
    return t.builder.reshape(out, out.shape[1:]) if unbatched else out


@rule("aten.conv1d.default", "aten.conv1d.padding", composite=True)
def conv1d(t, x, weight, bias=None, stride=(1,), padding=(0,), dilation=(1,), groups=1):
    x, weight = t.value(x), t.value(weight)
    if x.rank != 3:
        raise Unsupported("conv1d without a batch; add a leading extent of 1")
    stride, dilation = [1, list(stride)[0]], [1, list(dilation)[0]]
    if padding == "same":
        total = dilation[1] * (weight.shape[2] - 1)
        sides = [total // 2, total - total // 2]
    else:
        sides = [0, 0] if padding == "valid" else [list(padding)[0]] * 2
    batch, channels, length = x.shape
    image = t.builder.transpose(t.builder.reshape(x, (batch, 1, channels, length)), [0, 1, 3, 2])
    kernel = t.builder.reshape(weight, (*weight.shape[:2], 1, weight.shape[2]))
    out = channels_first(t, convolution(t, image, kernel, bias, stride, [0, 0, *sides], dilation, groups))
    return t.builder.reshape(out, (out.shape[0], out.shape[1], out.shape[3]))


def turned_filter(t, weight, groups):
    """The filter of a transposed convolution [I, O / groups, ...] as that of the convolution
    that computes it, [O, I / groups, ...]."""
    for axis in range(2, weight.rank):
        if weight.shape[axis] > 1:
            turned = torch.arange(weight.shape[axis] - 1, -1, -1)
            weight = t.builder.gather(weight, t.builder.constant(turned), axis)
    inputs, outputs, *window = weight.shape
    if groups == 1:
        return t.builder.transpose(weight, [1, 0, *range(2, weight.rank)])
    weight = t.builder.reshape(weight, (groups, inputs // groups, outputs, *window))
    weight = t.builder.transpose(weight, [0, 2, 1, *range(3, weight.rank)])
    return t.builder.reshape(weight, (groups * outputs, inputs // groups, *window))


def transposed_convolution(t, x, weight, bias, stride, padding, extra, groups, dilation):
    """A convolution of the input [N, H, W, C] with zeros between its elements, by the turned
    filter."""
    weight, sides = turned_filter(t, weight, groups), []
    for axis in (0, 1):
        reach = dilation[axis] * (weight.shape[2 + axis] - 1) - padding[axis]
        sides += [reach, reach + extra[axis]]
    if min(sides) < 0:
        raise Unsupported("a transposed convolution whose padding exceeds the reach of its filter")
    low, high, interior = [0, sides[0], sides[2], 0], [0, sides[1], sides[3], 0], [0, stride[0] - 1, stride[1] - 1, 0]
    shape = [
        extent if extent < 0 else extent + low[d] + high[d] + interior[d] * (extent - 1)
        for d, extent in enumerate(x.shape)
    ]
    if shape != list(x.shape):
        x = t.builder.emit("pad", [x], [(shape, x.dtype)], {"low": low, "high": high, "interior": interior})
    return channels_first(t, convolution(t, x, weight, bias, [1, 1], [0] * 4, dilation, groups))


@rule("aten.conv_transpose2d.input", composite=True)
def conv_transpose2d(t, x, weight, bias=None, stride=(1, 1), padding=(0, 0), output_padding=(0, 0), groups=1, dilation=(1, 1)):
    x = channels_last(t, t.value(x))
    settings = pair(stride), pair(padding), pair(output_padding), groups, pair(dilation)
    return transposed_convolution(t, x, t.value(weight), bias, *settings)


@rule("aten.conv_transpose1d.default", composite=True)
def conv_transpose1d(t, x, weight, bias=None, stride=(1,), padding=(0,), output_padding=(0,), groups=1, dilation=(1,)):
    x, weight = t.value(x), t.value(weight)
    image = channels_last(t, t.builder.reshape(x, (*x.shape[:2], 1, x.shape[2])))
    kernel = t.builder.reshape(weight, (*weight.shape[:2], 1, weight.shape[2]))
    settings = ([neutral, pair(value)[0]] for value, neutral in ((stride, 1), (padding, 0), (output_padding, 0)))
    out = transposed_convolution(t, image, kernel, bias, *settings, groups, [1, pair(dilation)[0]])
    return t.builder.reshape(out, (out.shape[0], out.shape[1], out.shape[3]))


# -- Attention -----------------------------------------------------------------------


def attention_mask(t, mask, extents):
    """How a mask acts: ('causal' | 'none' | 'bool' | 'add', its value)."""
    if isinstance(mask, Value):
        return ("bool" if mask.dtype == "i1" else "add"), mask
    tensor = t.constant_tensor(mask)
    if tensor.dtype != torch.bool:
        # Scores that fall by this much have no weight next to any other score.
        hidden = tensor <= -1e30
        visible = ((tensor == 0) | hidden).all()
        if not visible or not (~hidden).any(-1).all():
            return "add", t.elementwise(mask, t.result_dtype)
        tensor = ~hidden
    if tensor.all():
        return "none", None
    rows, columns = extents
    if rows == columns and tensor.shape[-2:] == (rows, columns):
        if bool((tensor == torch.ones(rows, columns, dtype=torch.bool).tril()).all()):
            return "causal", None
    return "bool", t.elementwise(Const([tensor]))


@rule("aten.scaled_dot_product_attention.default")
def attention(t, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    dtype = t.result_dtype
    query, key, value = t.value(query, dtype), t.value(key, dtype), t.value(value, dtype)
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        key, value = (repeat_heads(t, x, query.shape[-3]) for x in (key, value))
    batch = query.shape[:-2]
    key, value = t.expand(key, (*batch, *key.shape[-2:])), t.expand(value, (*batch, *value.shape[-2:]))
    rows, columns = query.shape[-2], key.shape[-2]
    kind, mask = ("causal", None) if is_causal else ("none", None)
    if attn_mask is not None:
        kind, mask = attention_mask(t, attn_mask, (rows, columns))
    if kind == "causal" and rows != columns:
        kind, mask = "bool", t.builder.constant(torch.ones(rows, columns, dtype=torch.bool).tril())
    if kind == "add":
        return composed_attention(t, query, key, value, mask, dropout_p, scale)
    operands = [query, key, value] + ([mask] if kind == "bool" else [])
    attributes = {"causal": kind == "causal", "scale": None if scale is None else float(t.number(scale))}
    if dropout_p > 0:
        rng, key = t.next_dropout()
        operands.append(rng)
        attributes.update(dropout_rate=float(t.number(dropout_p)), dropout_key=key)
    results = [((*batch, rows, value.shape[-1]), dtype), ((*batch, rows), "f64" if dtype == "f64" else "f32")]
    return t.builder.emit("scaled_dot_product_attention", operands, results, attributes)[0]


def repeat_heads(t, x, heads):
    *batch, groups, length, width = x.shape
    x = t.builder.reshape(x, (*batch, groups, 1, length, width))
    x = t.expand(x, (*batch, groups, heads // groups, length, width))
    return t.builder.reshape(x, (*batch, heads, length, width))


def composed_attention(t, query, key, value, mask, dropout, scale):
    """Attention with numbers added to its scores."""
    b = t.builder
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else float(t.number(scale))
    scores = b.matmul(query, key, transpose_b=True)
    scores = b.binary("mul", scores, b.scalar(scale, scores.dtype))
    scores = b.binary("add", scores, t.convert(mask, scores.dtype))
    weights = b.unary("softmax", scores, axis=scores.rank - 1)
    if dropout > 0:
        weights = t.dropout(weights, dropout)
    return b.matmul(weights, value)
