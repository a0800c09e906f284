# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations, activations and comparisons."""

import functools
import math

import torch

from ..builder import FLOATS
from ..translate import Const, Unsupported, Value, rule

UNARY = (
    "abs cos erf exp expm1 log log1p neg reciprocal relu rsqrt sigmoid sign silu sin sqrt square tanh".split()
)


def register_unary(name):
    @rule(f"aten.{name}.default")
    def unary(t, x):
        if not x.is_float:
            raise Unsupported(f"applies {name} to {x.dtype}, expected floats")
        return t.builder.unary(name, x)

    return unary


for _name in UNARY:
    register_unary(_name)


@rule("aten.gelu.default")
def gelu(t, x, approximate="none"):
    return t.builder.unary("gelu", x, approximate="1 : i32" if approximate == "tanh" else None)


def clip(t, x, low=-math.inf, high=math.inf):
    return t.builder.unary("clip", x, min=float(low), max=float(high))


def open_clip(t, x, low, high):
    """A clip whose derivative at the bounds is 0. At a tie, the first operand of `maximum` and `minimum` gets the
    gradient."""
    if math.isfinite(low):
        x = t.builder.binary("maximum", t.builder.scalar(float(low), x.dtype), x)
    if math.isfinite(high):
        x = t.builder.binary("minimum", t.builder.scalar(float(high), x.dtype), x)
    return x


@functools.cache
def clamp_is_open():
    """Whether the derivative of `torch.clamp` at its bounds is 0. Versions of PyTorch differ."""
    x = torch.zeros((), requires_grad=True)
    x.clamp(min=0.0).backward()
    return x.grad.item() == 0


def clamped(t, x, low=-math.inf, high=math.inf):
    if x.grad and clamp_is_open():
        return open_clip(t, x, low, high)
    return clip(t, x, low, high)


@rule("aten.hardtanh.default", composite=True)
def hardtanh(t, x, low=-1.0, high=1.0):
    return open_clip(t, x, t.number(low), t.number(high))


@rule("aten.relu6.default", composite=True)
def relu6(t, x):
    return open_clip(t, x, 0.0, 6.0)


@rule("aten.clamp.default", "aten.clip.default", "aten.clamp_min.default", composite=True)
def clamp(t, x, low=None, high=None, *, min=None, max=None):
    low, high = low if min is None else min, high if max is None else max
    low = -math.inf if low is None else t.number(low)
    high = math.inf if high is None else t.number(high)
    return clamped(t, x, low, high)


@rule("aten.clamp_max.default", composite=True)
def clamp_max(t, x, high):
    return clamped(t, x, high=t.number(high))


def scaled(t, x, factor):
    return x if factor == 1 else t.builder.binary("mul", x, t.builder.scalar(float(factor), x.dtype))


def shifted(t, x, offset):
    return t.builder.binary("add", x, t.builder.scalar(float(offset), x.dtype))


def positive(t, x, bound=0.0):
    return t.builder.compare("gt", x, t.builder.scalar(float(bound), x.dtype))


@rule("aten.hardsigmoid.default", composite=True)
def hardsigmoid(t, x):
    return scaled(t, open_clip(t, shifted(t, x, 3.0), 0.0, 6.0), 1 / 6)


@rule("aten.hardswish.default", composite=True)
def hardswish(t, x):
    return t.builder.binary("mul", x, hardsigmoid(t, x))


@rule("aten.leaky_relu.default", composite=True)
def leaky_relu(t, x, slope=0.01):
    return t.builder.select(positive(t, x), x, scaled(t, x, slope))


@rule("aten.prelu.default", composite=True)
def prelu(t, x, weight):
    if weight.shape != (1,):
        weight = t.builder.reshape(weight, (weight.shape[0],) + (1,) * (x.rank - 2))
    return t.builder.select(positive(t, x), x, t.builder.binary("mul", x, weight))


@rule("aten.elu.default", "aten.selu.default", "aten.celu.default", composite=True)
def elu(t, x, alpha=1.0, scale=1.0, input_scale=1.0):
    name = str(t.node.target)
    if "selu" in name:
        alpha, scale = 1.6732632423543772, 1.0507009873554805
    elif "celu" in name:
        input_scale = 1.0 / alpha
    low = scaled(t, clip(t, x, high=0.0), input_scale)
    low = scaled(t, t.builder.unary("expm1", low), alpha)
    return scaled(t, t.builder.select(positive(t, x), x, low), scale)


def softplus_of(t, x):
    """ln(1 + exp(x)), with both branches finite everywhere."""
    below = t.builder.unary("log1p", t.builder.unary("exp", clip(t, x, high=0.0)))
    decay = t.builder.unary("exp", t.builder.unary("neg", clip(t, x, low=0.0)))
    above = t.builder.binary("add", x, t.builder.unary("log1p", decay))
    return t.builder.select(positive(t, x), above, below)


@rule("aten.softplus.default", composite=True)
def softplus(t, x, beta=1.0, threshold=20.0):
    product = scaled(t, x, beta)
    smooth = scaled(t, softplus_of(t, product), 1 / beta)
    return t.builder.select(positive(t, product, threshold), x, smooth)


@rule("aten.log_sigmoid.default", composite=True)
def log_sigmoid(t, x):
    return t.builder.unary("neg", softplus_of(t, t.builder.unary("neg", x)))


@rule("aten.mish.default", composite=True)
def mish(t, x):
    return t.builder.binary("mul", x, t.builder.unary("tanh", softplus_of(t, x)))


@rule("aten.glu.default", composite=True)
def glu(t, x, axis=-1):
    axis %= x.rank
    half = x.shape[axis] // 2
    first, second = (t.builder.slice(x, axis, start, half) for start in (0, half))
    return t.builder.binary("mul", first, t.builder.unary("sigmoid", second))


def add_or_subtract(t, name, lhs, rhs, alpha):
    dtype = t.result_dtype
    alpha = t.number(alpha)
    rhs = t.elementwise(rhs, dtype)
    if alpha != 1:
        rhs = scaled(t, rhs, alpha)
    return t.finish(t.builder.binary(name, t.elementwise(lhs, dtype), rhs))


@rule("aten.add.Tensor", "aten.add.Scalar", composite=True)
def add(t, lhs, rhs, alpha=1):
    return add_or_subtract(t, "add", lhs, rhs, alpha)


@rule("aten.sub.Tensor", "aten.sub.Scalar", composite=True)
def sub(t, lhs, rhs, alpha=1):
    return add_or_subtract(t, "sub", lhs, rhs, alpha)


@rule("aten.rsub.Scalar", "aten.rsub.Tensor", composite=True)
def rsub(t, lhs, rhs, alpha=1):
    return add_or_subtract(t, "sub", rhs, lhs, alpha)


@rule("aten.mul.Tensor", "aten.mul.Scalar")
def mul(t, lhs, rhs):
    if t.result_dtype == "i1":
        return logical_and(t, lhs, rhs)
    return t.binary("mul", lhs, rhs)


@rule("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide.Tensor")
def div(t, lhs, rhs):
    return t.binary("div", lhs, rhs)


def larger_or_smaller(t, name, lhs, rhs):
    """At a tie, each operand gets half of the gradient."""
    b, dtype = t.builder, t.result_dtype
    lhs, rhs = t.elementwise(lhs, dtype), t.elementwise(rhs, dtype)
    chosen = b.binary(name, lhs, rhs)
    if not chosen.grad:
        return t.finish(chosen)
    mean = b.binary("add", scaled(t, lhs, 0.5), scaled(t, rhs, 0.5))
    return t.finish(b.select(b.compare("eq", lhs, rhs), mean, chosen))


@rule("aten.maximum.default", composite=True)
def maximum(t, lhs, rhs):
    return larger_or_smaller(t, "maximum", lhs, rhs)


@rule("aten.minimum.default", composite=True)
def minimum(t, lhs, rhs):
    return larger_or_smaller(t, "minimum", lhs, rhs)


@rule("aten.pow.Tensor_Scalar", composite=True)
def power(t, x, exponent):
    exponent = t.number(exponent)
    if exponent == 2:
        return t.builder.unary("square", x)
    if exponent == 3:
        return t.builder.binary("mul", t.builder.unary("square", x), x)
    if exponent == 1:
        return x
    names = {0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}
    if exponent in names:
        return t.builder.unary(names[exponent], x)
    return t.builder.binary("pow", x, t.builder.scalar(float(exponent), x.dtype))


@rule("aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def power_of_tensor(t, lhs, rhs):
    return t.binary("pow", lhs, rhs)


@rule("aten.addcmul.default", composite=True)
def addcmul(t, x, lhs, rhs, value=1):
    product = t.builder.binary("mul", t.elementwise(lhs), t.elementwise(rhs))
    return t.finish(t.builder.binary("add", t.elementwise(x), scaled(t, product, t.number(value))))


@rule("aten.lerp.Scalar", "aten.lerp.Tensor", composite=True)
def lerp(t, start, end, weight):
    dtype = t.result_dtype
    start, end, weight = (t.elementwise(x, dtype) for x in (start, end, weight))
    step = t.builder.binary("mul", weight, t.builder.binary("sub", end, start))
    return t.finish(t.builder.binary("add", start, step))


# -- Integral numbers ------------------------------------------------------------------

#: Floats from here on are integral in f32.
INTEGRAL = 2.0**23


def integral(t, x, function):
    """An integral number near each element, by a function of the number without its
    fraction. Its derivative is zero."""
    b = t.builder
    if x.dtype != "f32":
        return t.convert(integral(t, t.convert(x, "f32"), function), x.dtype)
    with b.exact():
        x = b.stop_gradient(x) if x.grad else x
        small = clip(t, x, -INTEGRAL, INTEGRAL)
        whole = b.numbers(b.integers(small, "i32"))
        is_small = b.compare("lt", b.unary("abs", x), b.scalar(INTEGRAL, "f32"))
        return b.select(is_small, function(small, whole), x)


def step_down(t, x, whole):
    """The largest integral number up to x, from x without its fraction."""
    return t.builder.select(t.builder.compare("gt", whole, x), shifted(t, whole, -1.0), whole)


@rule("aten.floor.default")
def floor(t, x):
    return integral(t, x, lambda x, whole: step_down(t, x, whole))


@rule("aten.ceil.default")
def ceil(t, x):
    return t.builder.unary("neg", floor(t, t.builder.unary("neg", x)))


@rule("aten.trunc.default")
def trunc(t, x):
    return integral(t, x, lambda x, whole: whole)


@rule("aten.round.default")
def round_(t, x):
    """The nearest integral number, of two the even one."""

    def nearest(x, whole):
        b = t.builder
        low = step_down(t, x, whole)
        half = scaled(t, low, 0.5)
        is_odd = b.compare("ne", half, step_down(t, half, b.numbers(b.integers(half, "i32"))))
        fraction = b.binary("sub", x, low)
        # The least fraction that goes up: one half, or the next number of f32.
        least = b.select(is_odd, b.scalar(0.5, "f32"), b.scalar(0.5 + 2.0**-24, "f32"))
        return b.select(b.compare("ge", fraction, least), shifted(t, low, 1.0), low)

    return integral(t, x, nearest)


@rule("aten.remainder.Scalar", "aten.remainder.Tensor")
def remainder(t, lhs, rhs):
    """What is left of a division towards minus infinity, with the sign of the divisor."""
    dtype = t.result_dtype
    lhs, rhs = t.elementwise(lhs, dtype), t.elementwise(rhs, dtype)
    return t.finish(t.builder.binary("sub", lhs, t.builder.binary("mul", rhs, floor(t, t.builder.binary("div", lhs, rhs)))))


# -- Comparisons and choices -------------------------------------------------------


def common_dtype(t, lhs, rhs):
    """The type that torch compares in."""
    for operand in (lhs, rhs):
        if isinstance(operand, Value) and operand.is_float:
            return operand.dtype
    first, second = (lhs, rhs) if isinstance(lhs, Value) else (rhs, lhs)
    is_fraction = isinstance(second, float) or isinstance(second, Const) and t.constant_tensor(second).is_floating_point()
    return "f32" if is_fraction else first.dtype


def register_compare(name):
    @rule(f"aten.{name}.Tensor", f"aten.{name}.Scalar")
    def compare(t, lhs, rhs):
        dtype = common_dtype(t, lhs, rhs)
        operands = t.elementwise(lhs, dtype), t.elementwise(rhs, dtype)
        if any(isinstance(operand, Value) and not operand.is_float for operand in (lhs, rhs)):
            with t.builder.exact():
                return t.builder.compare(name, *operands)
        return t.builder.compare(name, *operands)

    return compare


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    register_compare(_name)


def both(t, lhs, rhs):
    one, zero = t.builder.scalar(1.0, "f32"), t.builder.scalar(0.0, "f32")
    chosen = t.builder.select(lhs, t.builder.select(rhs, one, zero), zero)
    return t.builder.compare("ne", chosen, zero)


@rule("aten.logical_and.default", "aten.bitwise_and.Tensor", "aten.__and__.Tensor")
def logical_and(t, lhs, rhs):
    if t.result_dtype != "i1":
        raise Unsupported("combines the bits of integers; compute them in the data")
    return both(t, t.elementwise(lhs, "i1"), t.elementwise(rhs, "i1"))


def negation(t, x):
    return t.builder.compare("eq", x, t.builder.scalar(False, "i1"))


@rule("aten.logical_or.default", "aten.bitwise_or.Tensor", "aten.__or__.Tensor")
def logical_or(t, lhs, rhs):
    if t.result_dtype != "i1":
        raise Unsupported("combines the bits of integers; compute them in the data")
    return negation(t, both(t, *(negation(t, t.elementwise(x, "i1")) for x in (lhs, rhs))))


@rule("aten.logical_not.default", "aten.bitwise_not.default")
def logical_not(t, x):
    return negation(t, t.elementwise(x, "i1"))


@rule("aten.where.self", "aten.where.ScalarSelf", "aten.where.ScalarOther", "aten.where.Scalar")
def where(t, condition, on_true, on_false):
    dtype = t.result_dtype
    operands = (t.elementwise(condition, "i1"), t.elementwise(on_true, dtype), t.elementwise(on_false, dtype))
    return t.finish(t.builder.select(*operands))


@rule("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(t, x, mask, value):
    return where(t, mask, value, x)


# -- Types ---------------------------------------------------------------------------


@rule(
    "aten.clone.default", "aten.contiguous.default", "aten.alias.default", "aten.lift_fresh_copy.default",
    "aten.lift_fresh.default", integers=True,
)
def identity(t, x, memory_format=None):
    return x


@rule("aten.detach.default", "aten.detach_.default", integers=True)
def detach(t, x):
    return t.builder.stop_gradient(x) if x.grad else x


@rule("aten._to_copy.default", "aten.to.dtype", "aten.to.dtype_layout", "aten.to.device", "aten.type_as.default",
      integers=True)
def to_copy(t, x, *args, **kwargs):
    return t.convert(x, t.result_dtype)
