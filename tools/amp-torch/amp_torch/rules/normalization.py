# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Norms."""

import math

import torch

from ..translate import Unsupported, Value, rule
from .products import channels_first, channels_last


def wide(dtype):
    return "f64" if dtype == "f64" else "f32"


def filled(t, number, shape, dtype):
    return t.builder.constant(torch.full(tuple(shape), number, dtype=torch.float64 if dtype == "f64" else torch.float32))


def layer_norm_of(t, x, gamma, beta, epsilon):
    statistics = (x.shape[: x.rank - gamma.rank], wide(x.dtype))
    results = [(x.shape, x.dtype), statistics, statistics]
    return t.builder.emit("layer_norm", [x, gamma, beta], results, {"epsilon": float(epsilon)})[0]


@rule("aten.layer_norm.default", "aten.native_layer_norm.default")
def layer_norm(t, x, shape, weight=None, bias=None, epsilon=1e-5, *args):
    shape = [t.number(extent) for extent in shape]
    gamma = filled(t, 1.0, shape, x.dtype) if weight is None else t.value(weight)
    beta = filled(t, 0.0, shape, x.dtype) if bias is None else t.value(bias)
    out = layer_norm_of(t, x, gamma, beta, t.number(epsilon))
    return [out, None, None] if "native" in str(t.node.target) else out


@rule("aten.rms_norm.default", "aten._fused_rms_norm.default")
def rms_norm(t, x, shape, weight=None, epsilon=None):
    if epsilon is None:
        epsilon = torch.finfo(torch.float64 if x.dtype == "f64" else torch.float32).eps
    shape = [t.number(extent) for extent in shape]
    gamma = filled(t, 1.0, shape, x.dtype) if weight is None else t.value(weight)
    results = [(x.shape, x.dtype), (x.shape[: x.rank - gamma.rank], wide(x.dtype))]
    out = t.builder.emit("rms_norm", [x, gamma], results, {"epsilon": float(t.number(epsilon))})[0]
    return [out, None] if "fused" in str(t.node.target) else out


def per_channel(t, values, rank):
    """[C] to the shape that multiplies [N, C, ...]."""
    return t.builder.reshape(values, (values.shape[0],) + (1,) * (rank - 2))


@rule("aten.group_norm.default", "aten.instance_norm.default", composite=True)
def group_norm(t, x, *args):
    """Layer norm of each group, then a factor and a term for each channel."""
    if "group" in str(t.node.target):
        groups, weight, bias, epsilon = [*args, None, None, 1e-5][:4] if len(args) < 4 else args[:4]
        epsilon = 1e-5 if epsilon is None else epsilon
    else:
        weight, bias, _, _, use_input_stats, _, epsilon = args[:7]
        groups = x.shape[1]
        if not use_input_stats:
            raise Unsupported("instance_norm by running statistics; set track_running_stats=False")
    count = x.shape[1] // groups * math.prod(x.shape[2:])
    if x.shape[1] < 0 or count < 0:
        raise Unsupported("a group of channels that the batch decides; export with dynamic_batch=False")
    rows = t.builder.reshape(x, (x.shape[0], groups, count))
    gamma, beta = filled(t, 1.0, (count,), x.dtype), filled(t, 0.0, (count,), x.dtype)
    out = t.builder.reshape(layer_norm_of(t, rows, gamma, beta, t.number(epsilon)), x.shape)
    if weight is not None:
        out = t.builder.binary("mul", out, per_channel(t, t.value(weight, x.dtype), x.rank))
    if bias is not None:
        out = t.builder.binary("add", out, per_channel(t, t.value(bias, x.dtype), x.rank))
    return out


def to_last(t, x):
    if x.rank == 4:
        return channels_last(t, x)
    return t.builder.transpose(x, [0, *range(2, x.rank), 1])


def to_first(t, x):
    if x.rank == 4:
        return channels_first(t, x)
    return t.builder.transpose(x, [0, x.rank - 1, *range(1, x.rank - 1)])


def batch_norm_operands(t, x, weight, bias, mean, var):
    channels = x.shape[1]
    dtype = wide(x.dtype)
    numbers = (1.0, 0.0, 0.0, 1.0)
    return [
        filled(t, number, (channels,), dtype) if value is None else t.value(value)
        for value, number in zip((weight, bias, mean, var), numbers)
    ]


@rule("aten._native_batch_norm_legit_functional.default", "aten._native_batch_norm_legit.no_stats")
def batch_norm_training(t, x, weight, bias, *rest):
    tracked = "functional" in str(t.node.target)
    mean, var, training, momentum, epsilon = rest if tracked else (None, None, *rest)
    if not training:
        return [batch_norm_inference(t, x, weight, bias, mean, var, epsilon), None, None, mean, var]
    operands = batch_norm_operands(t, x, weight, bias, mean, var)
    if tracked and not all(isinstance(value, Value) for value in (mean, var)):
        raise Unsupported("batch_norm with statistics that are not buffers of a module")
    statistics = (operands[0].shape, wide(x.dtype))
    last = to_last(t, x)
    attributes = {"epsilon": float(epsilon), "momentum": float(t.number(momentum))}
    results = [(last.shape, last.dtype)] + [statistics] * 4
    values = t.builder.emit("batch_norm_training", [last, *operands], results, attributes)
    return [to_first(t, values[0]), values[1], values[2], values[3], values[4]]


def batch_norm_inference(t, x, weight, bias, mean, var, epsilon):
    last = to_last(t, x)
    operands = batch_norm_operands(t, x, weight, bias, mean, var)
    attributes = {"epsilon": float(epsilon)}
    out = t.builder.emit("batch_norm_inference", [last, *operands], [(last.shape, last.dtype)], attributes)
    return to_first(t, out)


@rule("aten._native_batch_norm_legit_no_training.default")
def batch_norm_frozen(t, x, weight, bias, mean, var, momentum, epsilon):
    return [batch_norm_inference(t, x, weight, bias, mean, var, epsilon), None, None]


@rule("aten.batch_norm.default")
def batch_norm(t, x, weight, bias, mean, var, training, momentum, epsilon, cudnn):
    if training:
        raise Unsupported("batch_norm in training whose statistics move unseen; this torch is not supported")
    return batch_norm_inference(t, x, weight, bias, mean, var, epsilon)
