# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules in which each operation of linalg or tosa that can hold f32 occurs.

Each operation is in a separate function, with tensors of f32.
"""

import re


def tensor(shape, element="f32"):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + element + ">"


def named(name, inputs, output, attributes="", element="f32"):
    """One structured operation: shapes of the inputs (text: a type) and output."""
    types = [s if isinstance(s, str) else tensor(s, element) for s in inputs]
    out = tensor(output, element)
    arguments = [f"%a{i}: {type}" for i, type in enumerate(types)] + [f"%o: {out}"]
    ins = ", ".join(f"%a{i}" for i in range(len(types)))
    symbol = re.sub(r"\W", "_", name)
    read = f"ins({ins} : {', '.join(types)}) " if types else ""
    return (
        f"func.func @{symbol}({', '.join(arguments)}) -> {out} {{\n"
        f"  %r = linalg.{name} {attributes}{read}outs(%o : {out}) -> {out}\n"
        f"  return %r : {out}\n}}\n"
    )


M = [4, 4]
ELEMENTWISE = {
    1: "abs ceil copy erf exp floor log negf reciprocal round rsqrt sqrt square tanh",
    2: "add div max min mul powf sub",
}
PRODUCTS = {
    "matmul": ([M, M], M),
    "batch_matmul": ([[2, 4, 4], [2, 4, 4]], [2, 4, 4]),
    "batch_reduce_matmul": ([[2, 4, 4], [2, 4, 4]], M),
    "mmt4d": ([[2, 3, 4, 5], [6, 3, 7, 5]], [2, 6, 4, 7]),
    "batch_mmt4d": ([[2, 2, 3, 4, 5], [2, 6, 3, 7, 5]], [2, 2, 6, 4, 7]),
    "matvec": ([M, [4]], [4]),
    "vecmat": ([[4], M], [4]),
    "batch_matvec": ([[2, 4, 4], [2, 4]], [2, 4]),
    "batch_vecmat": ([[2, 4], [2, 4, 4]], [2, 4]),
    "dot": ([[4], [4]], []),
    "conv_1d": ([[6], [3]], [4]),
    "conv_1d_ncw_fcw": ([[2, 3, 6], [5, 3, 3]], [2, 5, 4]),
    "conv_1d_nwc_wcf": ([[2, 6, 3], [3, 3, 5]], [2, 4, 5]),
    "conv_2d": ([[6, 6], [3, 3]], M),
    "conv_2d_nchw_fchw": ([[2, 3, 6, 6], [5, 3, 3, 3]], [2, 5, 4, 4]),
    "conv_2d_ngchw_fgchw": ([[2, 2, 3, 6, 6], [5, 2, 3, 3, 3]], [2, 2, 5, 4, 4]),
    "conv_2d_ngchw_gfchw": ([[2, 2, 3, 6, 6], [2, 5, 3, 3, 3]], [2, 2, 5, 4, 4]),
    "conv_2d_nhwc_fhwc": ([[2, 6, 6, 3], [5, 3, 3, 3]], [2, 4, 4, 5]),
    "conv_2d_nhwc_hwcf": ([[2, 6, 6, 3], [3, 3, 3, 5]], [2, 4, 4, 5]),
    "conv_2d_nhwgc_gfhwc": ([[2, 6, 6, 2, 3], [2, 5, 3, 3, 3]], [2, 4, 4, 2, 5]),
    "conv_3d": ([[6, 6, 6], [3, 3, 3]], [4, 4, 4]),
    "conv_3d_ncdhw_fcdhw": ([[2, 3, 6, 6, 6], [5, 3, 3, 3, 3]], [2, 5, 4, 4, 4]),
    "conv_3d_ndhwc_dhwcf": ([[2, 6, 6, 6, 3], [3, 3, 3, 3, 5]], [2, 4, 4, 4, 5]),
    "depthwise_conv_1d_ncw_cw": ([[2, 3, 6], [3, 3]], [2, 3, 4]),
    "depthwise_conv_1d_nwc_wc": ([[2, 6, 3], [3, 3]], [2, 4, 3]),
    "depthwise_conv_1d_nwc_wcm": ([[2, 6, 3], [3, 3, 2]], [2, 4, 3, 2]),
    "depthwise_conv_2d_nchw_chw": ([[2, 3, 6, 6], [3, 3, 3]], [2, 3, 4, 4]),
    "depthwise_conv_2d_nhwc_hwc": ([[2, 6, 6, 3], [3, 3, 3]], [2, 4, 4, 3]),
    "depthwise_conv_2d_nhwc_hwcm": ([[2, 6, 6, 3], [3, 3, 3, 2]], [2, 4, 4, 3, 2]),
    "depthwise_conv_3d_ncdhw_cdhw": ([[2, 3, 6, 6, 6], [3, 3, 3, 3]], [2, 3, 4, 4, 4]),
    "depthwise_conv_3d_ndhwc_dhwc": ([[2, 6, 6, 6, 3], [3, 3, 3, 3]], [2, 4, 4, 4, 3]),
    "depthwise_conv_3d_ndhwc_dhwcm": (
        [[2, 6, 6, 6, 3], [3, 3, 3, 3, 2]],
        [2, 4, 4, 4, 3, 2],
    ),
}
# Products that subtract zero points, which are integers even with float operands.
ZERO_POINTS = ["i32", "i32"]
QUANTIZED = {
    "quantized_matmul": ([M, M], M),
    "quantized_batch_matmul": ([[2, 4, 4], [2, 4, 4]], [2, 4, 4]),
    "conv_2d_nchw_fchw_q": ([[2, 3, 6, 6], [5, 3, 3, 3]], [2, 5, 4, 4]),
    "conv_2d_ngchw_gfchw_q": ([[2, 2, 3, 6, 6], [2, 5, 3, 3, 3]], [2, 2, 5, 4, 4]),
    "conv_2d_nhwc_fhwc_q": ([[2, 6, 6, 3], [5, 3, 3, 3]], [2, 4, 4, 5]),
    "conv_2d_nhwc_hwcf_q": ([[2, 6, 6, 3], [3, 3, 3, 5]], [2, 4, 4, 5]),
    "conv_2d_nhwgc_gfhwc_q": ([[2, 6, 6, 2, 3], [2, 5, 3, 3, 3]], [2, 4, 4, 2, 5]),
    "conv_3d_ndhwc_dhwcf_q": ([[2, 6, 6, 6, 3], [3, 3, 3, 3, 5]], [2, 4, 4, 4, 5]),
    "depthwise_conv_2d_nhwc_hwc_q": ([[2, 6, 6, 3], [3, 3, 3]], [2, 4, 4, 3]),
    "depthwise_conv_2d_nhwc_hwcm_q": ([[2, 6, 6, 3], [3, 3, 3, 2]], [2, 4, 4, 3, 2]),
}
POOLING = {
    "nchw": ([2, 3, 6, 6], [3, 3], [2, 3, 4, 4], "max sum"),
    "ncw": ([2, 3, 6], [3], [2, 3, 4], "max sum"),
    "ndhwc": ([2, 6, 6, 6, 3], [3, 3, 3], [2, 4, 4, 4, 3], "max min sum"),
    "nhwc": ([2, 6, 6, 3], [3, 3], [2, 4, 4, 3], "max min sum"),
    "nwc": ([2, 6, 3], [3], [2, 4, 3], "max min sum"),
}

WRITTEN_OUT = """
func.func @select(%c: tensor<4x4xi1>, %a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.select ins(%c, %a, %a : tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @fill(%o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant 1.5 : f32
  %r = linalg.fill ins(%c : f32) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @fill_rng_2d(%l: f64, %h: f64, %s: i32, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.fill_rng_2d ins(%l, %h, %s : f64, f64, i32) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @broadcast(%a: tensor<4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.broadcast ins(%a : tensor<4xf32>) outs(%o : tensor<4x4xf32>) dimensions = [0]
  return %r : tensor<4x4xf32>
}
func.func @transpose(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.transpose ins(%a : tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) permutation = [1, 0]
  return %r : tensor<4x4xf32>
}
func.func @reduce(%a: tensor<4x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.reduce { arith.addf } ins(%a : tensor<4x4xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}
func.func @reduce_max(%a: tensor<4x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.reduce { arith.maximumf } ins(%a : tensor<4x4xf32>) outs(%o : tensor<4xf32>) dimensions = [1]
  return %r : tensor<4xf32>
}
func.func @map(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.map { math.sqrt } ins(%a : tensor<4x4xf32>) outs(%o : tensor<4x4xf32>)
  return %r : tensor<4x4xf32>
}
func.func @elementwise(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @contract(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @pack(%a: tensor<4x6xf32>, %o: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %c = arith.constant 0.0 : f32
  %r = linalg.pack %a padding_value(%c : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %o : tensor<4x6xf32> -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}
func.func @unpack(%a: tensor<1x2x4x4xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %o : tensor<1x2x4x4xf32> -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
func.func @softmax(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = linalg.softmax dimension(1) ins(%a : tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @generic(%a: tensor<4x4xf32>, %b: tensor<4xf32>, %o: tensor<4x4xf32>, %v: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<4x4xf32>, tensor<4xf32>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x4xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%x: f32, %z: f32):
    linalg.yield %x : f32
  } -> tensor<4x4xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func @winograd(%a: tensor<2x6x6x5xf32>, %f: tensor<2x3x3x5xf32>, %fo: tensor<6x6x5x2xf32>, %ao: tensor<6x6x1x1x2x5xf32>, %v: tensor<6x6x1x1x2x2xf32>, %vo: tensor<2x4x4x2xf32>) -> (tensor<6x6x5x2xf32>, tensor<6x6x1x1x2x5xf32>, tensor<2x4x4x2xf32>) {
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<2x3x3x5xf32>) outs(%fo : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  %1 = linalg.winograd_input_transform fmr(F_4_3) ins(%a : tensor<2x6x6x5xf32>) outs(%ao : tensor<6x6x1x1x2x5xf32>) -> tensor<6x6x1x1x2x5xf32>
  %2 = linalg.winograd_output_transform fmr(F_4_3) ins(%v : tensor<6x6x1x1x2x2xf32>) outs(%vo : tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
  return %0, %1, %2 : tensor<6x6x5x2xf32>, tensor<6x6x1x1x2x5xf32>, tensor<2x4x4x2xf32>
}
"""

# Operations of integers alone.
LINALG_INTEGERS = (
    "div_unsigned pooling_nhwc_max_unsigned pooling_nhwc_min_unsigned "
    "pooling_nwc_max_unsigned pooling_nwc_min_unsigned"
).split()


def linalg_module():
    functions = []
    for count, names in ELEMENTWISE.items():
        functions += [named(name, [M] * count, M) for name in names.split()]
    functions += [named(name, *shapes) for name, shapes in PRODUCTS.items()]
    for name, (inputs, output) in QUANTIZED.items():
        functions.append(named(name, inputs + ZERO_POINTS, output))
    for layout, (image, window, output, kinds) in POOLING.items():
        for kind in kinds.split():
            functions.append(named(f"pooling_{layout}_{kind}", [image, window], output))
    return "".join(functions) + WRITTEN_OUT


TOSA_UNARY = (
    "abs ceil cos erf exp floor identity log reciprocal rsqrt sigmoid sin tanh"
).split()
TOSA_BINARY = "add maximum minimum pow sub".split()
TOSA_COMPARE = "equal greater greater_equal".split()
TOSA_REDUCE = "reduce_max reduce_min reduce_product reduce_sum".split()

TOSA_CONVOLUTIONS = {
    "conv2d": ([2, 6, 6, 3], [5, 3, 3, 3], [5], [2, 4, 4, 5], 2),
    "conv3d": ([2, 6, 6, 6, 3], [5, 3, 3, 3, 3], [5], [2, 4, 4, 4, 5], 3),
    "depthwise_conv2d": ([2, 6, 6, 3], [3, 3, 3, 2], [6], [2, 4, 4, 6], 2),
}

TOSA_WRITTEN_OUT = """
func.func @transpose_conv2d(%i: tensor<2x4x4x3xf32>, %w: tensor<5x3x3x3xf32>, %b: tensor<5xf32>) -> tensor<2x6x6x5xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = tosa.transpose_conv2d %i, %w, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x4x4x3xf32>, tensor<5x3x3x3xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x6x6x5xf32>
  return %r : tensor<2x6x6x5xf32>
}
func.func @matmul(%a: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = tosa.matmul %a, %a, %z, %z : (tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x4xf32>
  return %r : tensor<2x4x4xf32>
}
func.func @pooling(%i: tensor<2x6x6x3xf32>) -> (tensor<2x3x3x3xf32>, tensor<2x3x3x3xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.avg_pool2d %i, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x6x6x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x3x3xf32>
  %1 = tosa.max_pool2d %i {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x6x6x3xf32>) -> tensor<2x3x3x3xf32>
  return %0, %1 : tensor<2x3x3x3xf32>, tensor<2x3x3x3xf32>
}
func.func @mul(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.mul %a, %a, %s : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @negate(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = tosa.negate %a, %z, %z : (tensor<4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @clamp(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = tosa.clamp %a {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @select(%c: tensor<4x4xi1>, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = tosa.select %c, %a, %a : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @argmax(%a: tensor<4x4xf32>) -> tensor<4xi32> {
  %r = tosa.argmax %a {axis = 1 : i32} : (tensor<4x4xf32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
func.func @shapes(%a: tensor<4x4xf32>, %p: tensor<1xf32>) -> (tensor<16xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<6x6xf32>, tensor<4x4xf32>) {
  %s = tosa.const_shape {values = dense<16> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %a, %s : (tensor<4x4xf32>, !tosa.shape<1>) -> tensor<16xf32>
  %1 = tosa.concat %a, %a {axis = 1 : i32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %m = tosa.const_shape {values = dense<[2, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %2 = tosa.tile %a, %m : (tensor<4x4xf32>, !tosa.shape<2>) -> tensor<8x4xf32>
  %3 = tosa.transpose %a {perms = array<i32: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %c = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %4 = tosa.slice %a, %b, %c : (tensor<4x4xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x4xf32>
  %d = tosa.const_shape {values = dense<[1, 1, 1, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %5 = tosa.pad %a, %d, %p : (tensor<4x4xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<6x6xf32>
  %6 = tosa.reverse %a {axis = 0 : i32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<16xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<6x6xf32>, tensor<4x4xf32>
}
func.func @gather(%a: tensor<2x4x3xf32>, %i: tensor<2x5xi32>) -> tensor<2x5x3xf32> {
  %r = tosa.gather %a, %i : (tensor<2x4x3xf32>, tensor<2x5xi32>) -> tensor<2x5x3xf32>
  return %r : tensor<2x5x3xf32>
}
func.func @scatter(%a: tensor<2x6x3xf32>, %i: tensor<2x5xi32>, %b: tensor<2x5x3xf32>) -> tensor<2x6x3xf32> {
  %r = tosa.scatter %a, %i, %b : (tensor<2x6x3xf32>, tensor<2x5xi32>, tensor<2x5x3xf32>) -> tensor<2x6x3xf32>
  return %r : tensor<2x6x3xf32>
}
func.func @resize(%a: tensor<1x2x2x3xf32>) -> tensor<1x3x3x3xf32> {
  %s = tosa.const_shape {values = dense<[2, 1, 2, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %o = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r = tosa.resize %a, %s, %o, %o {mode = BILINEAR} : (tensor<1x2x2x3xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x3x3x3xf32>
  return %r : tensor<1x3x3x3xf32>
}
func.func @fixed(%a: tensor<4x4xf32>, %r: tensor<2x8x16xf32>) -> (tensor<4x4xi32>, tensor<2x8x16xf32>, tensor<2x8x9xf32>, tensor<4x4xf32>) {
  %0 = tosa.cast %a : (tensor<4x4xf32>) -> tensor<4x4xi32>
  %1:2 = tosa.fft2d %r, %r {inverse = false} : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> (tensor<2x8x16xf32>, tensor<2x8x16xf32>)
  %2:2 = tosa.rfft2d %r : (tensor<2x8x16xf32>) -> (tensor<2x8x9xf32>, tensor<2x8x9xf32>)
  %3 = tosa.custom %a {domain_name = "d", implementation_attrs = "", operator_name = "o"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1#0, %2#0, %3 : tensor<4x4xi32>, tensor<2x8x16xf32>, tensor<2x8x9xf32>, tensor<4x4xf32>
}
"""

# State, control flow and block scaling, which may hold f32 and keep it, and
# operations of integers or shapes alone.
TOSA_OTHERS = (
    "add_shape apply_scale arithmetic_right_shift bitwise_and bitwise_not bitwise_or "
    "bitwise_xor cast_from_block_scaled cast_to_block_scaled clz concat_shape cond_if "
    "const_shape dim div_ceil_shape div_floor_shape exp2_shape intdiv log2_ceil_shape "
    "log2_floor_shape logical_and logical_left_shift logical_not logical_or "
    "logical_right_shift logical_xor matmul_t_block_scaled max_shape min_shape mod_shape "
    "mul_shape reduce_all reduce_any rescale slice_shape sub_shape table variable "
    "variable_read variable_write while_loop yield"
).split()


def tosa_module():
    matrix, row = "tensor<4x4xf32>", "tensor<4x1xf32>"
    functions = []

    def add(name, operands, result, attributes=""):
        types = ", ".join([matrix] * operands)
        values = ", ".join(["%a"] * operands)
        functions.append(
            f"func.func @{name}(%a: {matrix}) -> {result} {{\n"
            f"  %r = tosa.{name} {values}{attributes} : ({types}) -> {result}\n"
            f"  return %r : {result}\n}}\n"
        )

    for name in TOSA_UNARY:
        add(name, 1, matrix)
    for name in TOSA_BINARY:
        add(name, 2, matrix)
    for name in TOSA_COMPARE:
        add(name, 2, "tensor<4x4xi1>")
    for name in TOSA_REDUCE:
        add(name, 1, row, " {axis = 1 : i32}")
    for name, (image, weight, bias, output, rank) in TOSA_CONVOLUTIONS.items():
        ones = ", ".join(["1"] * rank)
        zeros = ", ".join(["0"] * (2 * rank))
        types = ", ".join([tensor(image), tensor(weight), tensor(bias)] + [tensor([1])] * 2)
        functions.append(
            f"func.func @{name}(%i: {tensor(image)}, %w: {tensor(weight)}, %b: {tensor(bias)})"
            f" -> {tensor(output)} {{\n"
            f'  %z = "tosa.const"() <{{values = dense<0.0> : tensor<1xf32>}}> : () -> tensor<1xf32>\n'
            f"  %r = tosa.{name} %i, %w, %b, %z, %z {{acc_type = f32, "
            f"dilation = array<i64: {ones}>, pad = array<i64: {zeros}>, "
            f"stride = array<i64: {ones}>}} : ({types}) -> {tensor(output)}\n"
            f"  return %r : {tensor(output)}\n}}\n"
        )
    return "".join(functions) + TOSA_WRITTEN_OUT
