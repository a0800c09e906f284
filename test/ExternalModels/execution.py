# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# linalg and TOSA before and after, run on the CPU: f32 against NumPy in f64, low
# precision within the rounding of its type. The modules are small networks in
# the style of torch-mlir's linalg output (a linear layer as transpose, fill,
# matmul and a generic with bias and relu) and of TFLite's TOSA output (conv2d
# with zero points, a clamp for relu6, pooling, reshape, matmul).
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/../Conversion/Inputs

import os
import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, tensor, wide  # noqa: E402

rng = np.random.default_rng(7)
TOSA = ("--pass-pipeline=builtin.module({},func.func(tosa-to-linalg-named,tosa-to-linalg,"
        "tosa-to-tensor,tosa-to-arith),amp-cpu-pipeline)")
LINALG = "--pass-pipeline=builtin.module({},amp-cpu-pipeline)"


def linalg_mlp():
    x, w1, b1 = rng.normal(size=(8, 16)), rng.normal(size=(32, 16)) / 4, rng.normal(size=32)
    w2, b2 = rng.normal(size=(4, 32)) / 5, rng.normal(size=4)
    step = Step()
    names = [step.input(tensor(v, "f32")) for v in (x, w1, b1, w2, b2)]
    step.line("%zero = arith.constant 0.0 : f32")
    value = names[0]
    for layer, (w, b, n, k) in enumerate([(names[1], names[2], 32, 16), (names[3], names[4], 4, 32)]):
        i = f"{layer}"
        step.line(f"%t{i} = tensor.empty() : tensor<{k}x{n}xf32>")
        step.line(f"%wt{i} = linalg.transpose ins({w} : tensor<{n}x{k}xf32>) outs(%t{i} : tensor<{k}x{n}xf32>) permutation = [1, 0]")
        step.line(f"%e{i} = tensor.empty() : tensor<8x{n}xf32>")
        step.line(f"%f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : tensor<8x{n}xf32>) -> tensor<8x{n}xf32>")
        step.line(f"%p{i} = linalg.matmul ins({value}, %wt{i} : tensor<8x{k}xf32>, tensor<{k}x{n}xf32>) outs(%f{i} : tensor<8x{n}xf32>) -> tensor<8x{n}xf32>")
        relu = "%m = arith.maximumf %s, %zero : f32\n    linalg.yield %m : f32" if layer == 0 else "linalg.yield %s : f32"
        step.line(
            f"%y{i} = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], "
            f'iterator_types = ["parallel", "parallel"]}} ins(%p{i}, {b} : tensor<8x{n}xf32>, tensor<{n}xf32>) outs(%e{i} : tensor<8x{n}xf32>) {{\n'
            f"  ^bb0(%in: f32, %bias: f32, %out: f32):\n    %s = arith.addf %in, %bias : f32\n    {relu}\n  }} -> tensor<8x{n}xf32>")
        value = f"%y{i}"
    step.output(value, (8, 4), "f32")
    expected = np.maximum(x @ w1.T + b1, 0) @ w2.T + b2
    return step, expected, LINALG


def tosa_convnet():
    image, filters, bias = rng.normal(size=(2, 6, 6, 3)), rng.normal(size=(8, 3, 3, 3)) / 4, rng.normal(size=8)
    weight = rng.normal(size=(1, 32, 5)) / 6
    step = Step()
    i, f, b, w = (step.input(tensor(v, "f32")) for v in (image, filters, bias, weight))
    step.line('%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>')
    step.line(f"%c = tosa.conv2d {i}, {f}, {b}, %z, %z {{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}} : (tensor<2x6x6x3xf32>, tensor<8x3x3x3xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x4x8xf32>")
    step.line("%r = tosa.clamp %c {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32>")
    step.line("%m = tosa.max_pool2d %r {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x4x4x8xf32>) -> tensor<2x2x2x8xf32>")
    step.line("%s = tosa.const_shape {values = dense<[1, 2, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>")
    step.line("%v = tosa.reshape %m, %s : (tensor<2x2x2x8xf32>, !tosa.shape<3>) -> tensor<1x2x32xf32>")
    step.line(f"%y = tosa.matmul %v, {w}, %z, %z : (tensor<1x2x32xf32>, tensor<1x32x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x5xf32>")
    step.output("%y", (1, 2, 5), "f32")
    conv = np.zeros((2, 4, 4, 8))
    for dy in range(3):
        for dx in range(3):
            conv += image[:, dy:dy + 4, dx:dx + 4] @ filters[:, dy, dx].T
    clamped = np.clip(conv + bias, 0, 6)
    pooled = clamped.reshape(2, 2, 2, 2, 2, 8).max((2, 4))
    return step, (pooled.reshape(2, 32) @ weight[0])[None], TOSA


def generic(step, name, inputs, body, shape="8x16"):
    """An elementwise linalg.generic of (value, type, map) that fills a new tensor."""
    values, types, maps = zip(*inputs)
    identity = "affine_map<(d0, d1) -> (d0, d1)>"
    arguments = ", ".join(f"%a{i}: {t.split('x')[-1][:-1]}" for i, t in enumerate(types))
    step.line(f"{name}_e = tensor.empty() : tensor<{shape}xf32>")
    step.line(
        f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}, {identity}], "
        f'iterator_types = ["parallel", "parallel"]}} ins({", ".join(values)} : {", ".join(types)}) '
        f"outs({name}_e : tensor<{shape}xf32>) {{\n  ^bb0({arguments}, %out: f32):\n    {body}\n"
        f"    linalg.yield %r : f32\n  }} -> tensor<{shape}xf32>")


def linalg_inputs():
    """Data minus their mean, the sine of times, and the logarithm of a difference, with broadcasts in the maps."""
    x, times, rates = 1000 + rng.normal(size=(8, 16)), 200 * rng.random((8, 16)), rng.random(16) + 0.5
    x, times, rates = (v.astype(np.float32).astype(float) for v in (x, times, rates))
    mean, p = np.full(16, 1000.0), 1 - 2.0 ** -rng.integers(8, 12, (8, 16))
    weights = [rng.normal(size=(16, 4)) / 4 for _ in range(3)]
    step = Step()
    names = [step.input(tensor(v, "f32")) for v in (x, times, mean, rates, p, *weights)]
    square, row = "tensor<8x16xf32>", "tensor<16xf32>"
    both, columns = "affine_map<(d0, d1) -> (d0, d1)>", "affine_map<(d0, d1) -> (d1)>"
    step.line("%zero = arith.constant 0.0 : f32")
    step.line("%one = arith.constant 1.0 : f32")
    generic(step, "%d", [(names[0], square, both), (names[2], row, columns)], "%r = arith.subf %a0, %a1 : f32")
    generic(step, "%t", [(names[1], square, both), (names[3], row, columns)], "%r = arith.mulf %a0, %a1 : f32")
    generic(step, "%s", [("%t", square, both)], "%r = math.sin %a0 : f32")
    generic(step, "%q", [(names[4], square, both)], "%r = arith.subf %one, %a0 : f32")
    generic(step, "%l", [("%q", square, both)], "%r = math.log %a0 : f32")
    step.line("%e = tensor.empty() : tensor<8x4xf32>")
    step.line("%f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>")
    sums = "%f"
    for i, value in enumerate(("%d", "%s", "%l")):
        step.line(f"%y{i} = linalg.matmul ins({value}, {names[5 + i]} : {square}, tensor<16x4xf32>) outs({sums} : tensor<8x4xf32>) -> tensor<8x4xf32>")
        sums = f"%y{i}"
    step.output(sums, (8, 4), "f32")
    parts = ((x - mean), np.sin(times * rates), np.log(1 - p))
    return step, sum(v @ w for v, w in zip(parts, weights)), LINALG


# Only `optimal` has rules for inputs.
for name, build, strategies in (
    ("mlp", linalg_mlp, ("optimal", "grappler")),
    ("convnet", tosa_convnet, ("optimal", "grappler")),
    ("inputs", linalg_inputs, ("optimal",)),
):
    step, expected, pipeline = build()
    scale = np.abs(expected).max()
    errors = {}
    for precision, bound in ("f32", 1e-5), ("fp16", 4e-3), ("bf16", 3e-2):
        for strategy in strategies:
            rewrite = f"auto-mixed-precision{{precision={precision} strategy={strategy}}}"
            step.compile(os.path.join(folder, f"{name}-{precision}-{strategy}"), [pipeline.format(rewrite)])
            _, (out,) = step.call()
            error = np.abs(wide(out) - expected).max() / scale
            assert error < bound, (name, precision, strategy, error)
            errors[precision] = error
    # The low types do round.
    assert errors["f32"] < errors["fp16"] / 10 < errors["bf16"], (name, errors)
