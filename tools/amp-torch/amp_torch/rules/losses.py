# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses."""


import torch

from ..builder import TORCH_DTYPES
from ..translate import Unsupported, Value, rule
from .elementwise import clip, positive, scaled, softplus_of

REDUCTIONS = ("none", "mean", "sum")


def in_parts(t):
    """The builder for a loss that becomes several operations. Each of them is pinned to
    f32, as the loss is under torch.autocast."""
    t.builder.pin = t.builder.pin or "f32"
    return t.builder


def reduced(t, x, reduction):
    """0, 1 and 2 are torch's numbers for none, mean and sum."""
    if reduction == 0:
        return x
    return t.builder.reduce(REDUCTIONS[reduction], x, range(x.rank))


def classes_last(t, x):
    """[N, C, ...] to [N, ..., C]."""
    if x.rank <= 2:
        return x
    return t.builder.transpose(x, [0, *range(2, x.rank), 1])


def check_labels(t, labels, shape):
    if labels.shape != shape:
        raise Unsupported(f"labels of shape {labels.shape} for {shape}")


def labels_of(t, target):
    """Labels as a value, which has not been viewed in another shape. Labels may be
    constants, such as the positions of pairs in a contrastive loss."""
    if isinstance(target, Value):
        return t.builder.before_views(target)
    labels = t.value(target)
    t.example_values[labels.name] = t.constant_tensor(target)
    return labels


def ignores(t, labels, ignore_index):
    """Whether labels may have the index that is ignored: those of the example do, the
    caller said so, or it is the number of a class."""
    seen = t.example_values.get(labels.name)
    return t.force_ignore or ignore_index >= 0 or seen is None or bool((seen == ignore_index).any())


def picked(t, log_probabilities, labels, weight, reduction, ignore_index, smoothing):
    """The losses of samples from logarithms of probabilities, [..., C]: -w log p of the
    label, without what is ignored, and their mean over the sum of the weights."""
    b, dtype, classes = in_parts(t), log_probabilities.dtype, log_probabilities.shape[-1]
    one, zero = b.scalar(1.0, dtype), b.scalar(0.0, dtype)
    valid = None
    if ignores(t, labels, ignore_index):
        t.ignored.setdefault(labels.name, []).append((classes, ignore_index))
        kept = b.compare("ne", labels, b.scalar(ignore_index, labels.dtype))
        valid = b.select(kept, one, zero)
        # One-hot by comparison: readers of data take the operand of one_hot for an index
        # and would refuse labels that are not classes.
        numbers = torch.arange(classes).reshape(classes, *(1,) * labels.rank).to(TORCH_DTYPES[labels.dtype])
        numbers[numbers == ignore_index] = -1 if ignore_index != -1 else -2
        equal = b.compare("eq", labels, b.constant(numbers))
        hot = b.transpose(b.select(equal, one, zero), [*range(1, labels.rank + 1), 0])
    else:
        hot = b.one_hot(labels, classes, dtype)
    weighted = hot if weight is None else b.binary("mul", hot, weight)
    terms = b.binary("mul", weighted, log_probabilities)
    losses = b.unary("neg", b.reduce("sum", terms, [terms.rank - 1]))
    # The sum of the weights of the labels; ignored ones have none.
    counts = b.reduce("sum", weighted, [weighted.rank - 1])
    if smoothing:
        every = log_probabilities if weight is None else b.binary("mul", log_probabilities, weight)
        smooth = b.unary("neg", b.reduce("sum", every, [every.rank - 1]))
        if valid is not None:
            smooth = b.binary("mul", smooth, valid)
        losses = b.binary("add", scaled(t, losses, 1 - smoothing), scaled(t, smooth, smoothing / classes))
    if reduction == 0:
        return losses
    total = b.reduce("sum", losses, range(losses.rank))
    if reduction == 2:
        return total
    return b.binary("div", total, b.reduce("sum", counts, range(counts.rank)))


@rule("aten.cross_entropy_loss.default", composite=True)
def cross_entropy(t, x, target, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0):
    if x.rank == 1:
        raise Unsupported("cross_entropy of one sample without a batch; add a leading extent")
    x = classes_last(t, x)
    smoothing = float(t.number(label_smoothing))
    weight = None if weight is None else t.elementwise(weight, x.dtype)
    if target.is_float if isinstance(target, Value) else t.constant_tensor(target).is_floating_point():
        return soft_cross_entropy(t, x, classes_last(t, t.value(target, x.dtype)), weight, reduction, smoothing)
    labels = labels_of(t, target)
    if isinstance(target, Value) and labels is not target:
        x = t.builder.reshape(x, (*labels.shape, x.shape[-1]))
        if reduction == 0:
            raise Unsupported("cross_entropy without reduction of labels in another shape; reshape the logits instead")
    check_labels(t, labels, x.shape[:-1])
    if weight is None and reduction == 1 and not ignores(t, labels, ignore_index):
        attributes = {"label_smoothing": smoothing or None}
        dtype = "f64" if x.dtype == "f64" else "f32"
        t.classes[labels.name] = x.shape[-1]
        return t.builder.emit("cross_entropy", [x, labels], [((), dtype)], attributes)
    logs = in_parts(t).unary("log_softmax", x, axis=x.rank - 1)
    return picked(t, logs, labels, weight, reduction, ignore_index, smoothing)


def soft_cross_entropy(t, x, target, weight, reduction, smoothing):
    b = in_parts(t)
    if smoothing:
        offset = b.scalar(smoothing / x.shape[-1], x.dtype)
        target = b.binary("add", scaled(t, target, 1 - smoothing), offset)
    terms = b.binary("mul", target, b.unary("log_softmax", x, axis=x.rank - 1))
    if weight is not None:
        terms = b.binary("mul", terms, weight)
    losses = b.unary("neg", b.reduce("sum", terms, [terms.rank - 1]))
    # The mean is over samples, also where each has several positions.
    return reduced(t, losses, reduction)


@rule("aten.nll_loss_nd.default", "aten.nll_loss.default", "aten.nll_loss2d.default", composite=True)
def nll_loss(t, x, target, weight=None, reduction=1, ignore_index=-100):
    x = classes_last(t, x)
    labels = labels_of(t, target)
    if labels.shape != x.shape[:-1]:
        x = t.builder.reshape(x, (*labels.shape, x.shape[-1]))
    check_labels(t, labels, x.shape[:-1])
    weight = None if weight is None else t.elementwise(weight, x.dtype)
    return picked(t, x, labels, weight, reduction, ignore_index, 0.0)


def difference(t, x, target):
    dtype = (x if isinstance(x, Value) else target).dtype
    x, target = t.elementwise(x, dtype), t.elementwise(target, dtype)
    return x, target, t.builder.binary("sub", x, target)


def plain_loss(t, name, function, x, target, reduction):
    if reduction == 1 and isinstance(x, Value) and isinstance(target, Value) and x.type == target.type:
        # Only the first operand has a gradient.
        if not target.grad:
            return t.builder.emit(name, [x, target], [((), "f64" if x.dtype == "f64" else "f32")])
    return reduced(t, in_parts(t).unary(function, difference(t, x, target)[2]), reduction)


@rule("aten.mse_loss.default")
def mse_loss(t, x, target, reduction=1):
    return plain_loss(t, "mse", "square", x, target, reduction)


@rule("aten.l1_loss.default")
def l1_loss(t, x, target, reduction=1):
    return plain_loss(t, "l1", "abs", x, target, reduction)


def huber(t, x, target, reduction, delta, divisor):
    """A parabola within delta of zero, lines outside."""
    b = in_parts(t)
    _, _, delta_x = difference(t, x, target)
    size = b.unary("abs", delta_x)
    near = scaled(t, b.unary("square", delta_x), 0.5 / divisor)
    far = scaled(t, b.binary("sub", size, b.scalar(0.5 * delta, size.dtype)), delta / divisor)
    inside = b.compare("lt", size, b.scalar(float(delta), size.dtype))
    return reduced(t, b.select(inside, near, far), reduction)


@rule("aten.smooth_l1_loss.default", composite=True)
def smooth_l1_loss(t, x, target, reduction=1, beta=1.0):
    return l1_loss(t, x, target, reduction) if beta == 0 else huber(t, x, target, reduction, beta, beta)


@rule("aten.huber_loss.default", composite=True)
def huber_loss(t, x, target, reduction=1, delta=1.0):
    return huber(t, x, target, reduction, delta, 1.0)


@rule("aten.binary_cross_entropy_with_logits.default", composite=True)
def bce_with_logits(t, x, target, weight=None, pos_weight=None, reduction=1):
    """(1 - y) x + (1 + (p - 1) y) ln(1 + exp(-x))."""
    b = in_parts(t)
    target = t.elementwise(target, x.dtype)
    one = b.scalar(1.0, x.dtype)
    rest = b.binary("mul", b.binary("sub", one, target), x)
    decay = softplus_of(t, b.unary("neg", x))
    if pos_weight is not None:
        excess = b.binary("sub", t.elementwise(pos_weight, x.dtype), one)
        decay = b.binary("mul", b.binary("add", one, b.binary("mul", excess, target)), decay)
    losses = b.binary("add", rest, decay)
    if weight is not None:
        losses = b.binary("mul", losses, t.elementwise(weight, x.dtype))
    return reduced(t, losses, reduction)


@rule("aten.binary_cross_entropy.default", composite=True)
def binary_cross_entropy(t, x, target, weight=None, reduction=1):
    """Logarithms are at least -100, as in torch."""
    b = in_parts(t)
    target, one = t.elementwise(target, x.dtype), b.scalar(1.0, x.dtype)
    hit = clip(t, b.unary("log", x), low=-100.0)
    miss = clip(t, b.unary("log", b.binary("sub", one, x)), low=-100.0)
    terms = b.binary("add", b.binary("mul", target, hit), b.binary("mul", b.binary("sub", one, target), miss))
    losses = b.unary("neg", terms)
    if weight is not None:
        losses = b.binary("mul", losses, t.elementwise(weight, x.dtype))
    return reduced(t, losses, reduction)


@rule("aten.kl_div.default")
def kl_div(t, x, target, reduction=1, *, log_target=False):
    b = in_parts(t)
    dtype = (x if isinstance(x, Value) else target).dtype
    x, target = t.value(x, dtype), t.value(target, dtype)
    if log_target:
        losses = b.binary("mul", b.unary("exp", target), b.binary("sub", target, x))
    else:
        # 0 ln 0 is 0.
        some = positive(t, target)
        logs = b.unary("log", b.select(some, target, b.scalar(1.0, dtype)))
        losses = b.binary("mul", target, b.binary("sub", logs, x))
    return reduced(t, losses, reduction)


@rule("aten.soft_margin_loss.default", composite=True)
def soft_margin_loss(t, x, target, reduction=1):
    product = in_parts(t).binary("mul", t.builder.unary("neg", x), t.elementwise(target, x.dtype))
    return reduced(t, softplus_of(t, product), reduction)


