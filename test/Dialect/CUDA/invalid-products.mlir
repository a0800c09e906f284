// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products and convolutions.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @targets(%a: tensor<4x4xf16>) {
  // expected-error@+1 {{has 2 outputs or results, expected 1}}
  %0:2 = cuda.gemm ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>, tensor<4x4xf16>
  return
}

// -----

func.func @alpha(%a: tensor<4x4xf16>) {
  // expected-error@+1 {{has an alpha that is zero, denormal or not finite}}
  %0 = cuda.gemm ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>) {alpha = 0.0 : f32} -> tensor<4x4xf16>
  return
}

// -----

func.func @inputs(%a: tensor<4x4xf16>) {
  // expected-error@+1 {{has 3 inputs, expected 2}}
  %0 = cuda.gemm ins(%a, %a, %a : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return
}

// -----

func.func @bias_before_gradient(%a: tensor<4x4xf16>, %b: tensor<4xf16>, %m: tensor<4x16xi8>) {
  // expected-error@+1 {{adds a bias before the gradient of an activation}}
  %0 = cuda.gemm ins(%a, %a, %b, %m : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4xf16>, tensor<4x16xi8>)
      {bias, activation = #cuda.activation<relu_grad>} -> tensor<4x4xf16>
  return
}

// -----

func.func @ranks(%a: tensor<4x4xf16>, %b: tensor<2x4x4xf16>) {
  // expected-error@+1 {{multiplies tensors of ranks 2 and 3 to one of rank 2, expected equal ranks of at least 2}}
  %0 = cuda.gemm ins(%a, %b : tensor<4x4xf16>, tensor<2x4x4xf16>) -> tensor<4x4xf16>
  return
}

// -----

func.func @result(%a: tensor<4x4xf16>) {
  // expected-error@+1 {{has a result of 'bf16', expected 'f16' or f32}}
  %0 = cuda.gemm ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xbf16>
  return
}

// -----

func.func @leading(%a: tensor<2x4x4xf16>, %b: tensor<3x4x4xf16>) {
  // expected-error@+1 {{has unequal leading dimensions}}
  %0 = cuda.gemm ins(%a, %b : tensor<2x4x4xf16>, tensor<3x4x4xf16>) -> tensor<2x4x4xf16>
  return
}

// -----

func.func @gelu(%a: tensor<4x4xf16>) {
  // expected-error@+1 {{saves the input of gelu for rows of 4 elements, expected a multiple of 8}}
  %0:2 = cuda.gemm ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>)
      {auxiliary, activation = #cuda.activation<gelu_tanh>} -> tensor<4x4xf16>, tensor<4x4xf16>
  return
}

// -----

func.func @conv_operands(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x5xf16>) {
  // expected-error@+1 {{has operands of 'f32' and 'f16', expected both to be f16, bf16 or f32}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf32>, tensor<3x3x2x5xf16>) -> tensor<1x2x2x5xf32>
  return
}

// -----

func.func @conv_result(%x: tensor<1x4x4x2xf16>, %w: tensor<3x3x2x5xf16>) {
  // expected-error@+1 {{has a result of 'bf16', expected 'f16' or f32}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf16>, tensor<3x3x2x5xf16>) -> tensor<1x2x2x5xbf16>
  return
}

// -----

func.func @conv_tf32(%x: tensor<1x4x4x2xf16>, %w: tensor<3x3x2x5xf16>) {
  // expected-error@+1 {{has 'tf32' but operands of 'f16', expected f32}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf16>, tensor<3x3x2x5xf16>) {tf32} -> tensor<1x2x2x5xf16>
  return
}

// -----

func.func @conv_rank(%x: tensor<4x4x2xf32>, %w: tensor<3x3x2x5xf32>) {
  // expected-error@+1 {{has an operand or result of rank 3, expected 4}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x2x2x5xf32>
  return
}

// -----

func.func @conv_strides(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x5xf32>) {
  // expected-error@+1 {{has ill-formed strides, dilations, padding or groups}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>)
      {strides = array<i64: 0, 1>} -> tensor<1x2x2x5xf32>
  return
}

// -----

func.func @conv_padding(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x5xf32>) {
  // expected-error@+1 {{has 9223372036854775807 in "padding", expected an integer from -2^40 to 2^40}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>)
      {padding = array<i64: 9223372036854775807, 1, 1, 1>} -> tensor<1x2x2x5xf32>
  return
}

// -----

func.func @conv_dilations(%x: tensor<1x4x4x2xf32>, %w: tensor<1073741824x3x2x5xf32>) {
  // expected-error@+1 {{has a filter of 1073741824 elements with the dilation 1099511627776, which ends at an index that overflows 64 bits}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf32>, tensor<1073741824x3x2x5xf32>)
      {dilations = array<i64: 1099511627776, 1>} -> tensor<1x2x2x5xf32>
  return
}

// -----

// Each tensor has at most 2^40 elements, but not the patches.
func.func @conv_work(%x: tensor<1x1073741824x4x2xf32>, %w: tensor<536870913x1x2x5xf32>) {
  // expected-error@+1 {{has 2147483648 windows and filters of 5368709130 elements, expected a product of at most 2^56}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x1073741824x4x2xf32>, tensor<536870913x1x2x5xf32>)
      -> tensor<1x536870912x4x5xf32>
  return
}

// -----

func.func @conv_channels(%x: tensor<1x4x4x3xf32>, %w: tensor<3x3x2x5xf32>) {
  // expected-error@+1 {{has 3 channels and 5 features, which do not fit a filter of 2 channels in 1 groups}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x3xf32>, tensor<3x3x2x5xf32>) -> tensor<1x2x2x5xf32>
  return
}

// -----

func.func @conv_activation(%x: tensor<1x4x4x2xf16>, %w: tensor<3x3x2x5xf16>) {
  // expected-error@+1 {{has the activation gelu_tanh, expected none or relu}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf16>, tensor<3x3x2x5xf16>)
      {activation = #cuda.activation<gelu_tanh>} -> tensor<1x2x2x5xf16>
  return
}

// -----

func.func @conv_filter_relu(%x: tensor<1x4x4x2xf16>, %dy: tensor<1x2x2x5xf16>) {
  // expected-error@+1 {{has a bias or an activation, which only a forward convolution takes}}
  %0 = cuda.conv <filter_grad> ins(%x, %dy : tensor<1x4x4x2xf16>, tensor<1x2x2x5xf16>)
      {activation = #cuda.activation<relu>} -> tensor<3x3x2x5xf16>
  return
}

// -----

func.func @conv_auxiliary(%x: tensor<1x4x4x2xf16>, %w: tensor<3x3x2x5xf16>) {
  // expected-error@+1 {{has 'auxiliary' without a relu}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf16>, tensor<3x3x2x5xf16>)
      {auxiliary} -> tensor<1x2x2x5xf16>
  return
}

// -----

func.func @conv_bias_grad(%x: tensor<1x4x4x2xf16>, %w: tensor<3x3x2x5xf16>) {
  // expected-error@+1 {{has 'bias_grad', which only a filter gradient takes}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf16>, tensor<3x3x2x5xf16>)
      {bias_grad} -> tensor<1x2x2x5xf16>
  return
}

// -----

func.func @conv_groups(%x: tensor<1x4x4x2xf16>, %w: tensor<3x3x1x4xf16>) {
  // expected-error@+1 {{has 2 groups, which allow neither a bias nor an activation}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf16>, tensor<3x3x1x4xf16>)
      {activation = #cuda.activation<relu>, groups = 2 : i64} -> tensor<1x2x2x4xf16>
  return
}

// -----

func.func @conv_bias(%x: tensor<1x4x4x2xf16>, %w: tensor<3x3x2x5xf16>, %b: tensor<4xf16>) {
  // expected-error@+1 {{the bias has shape [4] of 'f16', expected [5] of 'f16'}}
  %0 = cuda.conv <forward> ins(%x, %w, %b : tensor<1x4x4x2xf16>, tensor<3x3x2x5xf16>, tensor<4xf16>)
      {bias} -> tensor<1x2x2x5xf16>
  return
}

// -----

func.func @conv_mask(%x: tensor<1x4x4x2xf16>, %w: tensor<3x3x2x5xf16>) {
  // expected-error@+1 {{the auxiliary matrix}}
  %0:2 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf16>, tensor<3x3x2x5xf16>)
      {activation = #cuda.activation<relu>, auxiliary} -> tensor<1x2x2x5xf16>, tensor<1x2x2x8xi8>
  return
}

// -----

func.func @conv_sums(%x: tensor<1x4x4x2xf16>, %dy: tensor<1x2x2x5xf16>) {
  // expected-error@+1 {{the bias gradient}}
  %0:2 = cuda.conv <filter_grad> ins(%x, %dy : tensor<1x4x4x2xf16>, tensor<1x2x2x5xf16>)
      {bias_grad} -> tensor<3x3x2x5xf16>, tensor<4xf16>
  return
}

// -----

func.func @conv_images(%x: tensor<1x65536x65536x1xf16>, %w: tensor<1x1x1x1xf16>) {
  // expected-error@+1 {{has images with 2^31 elements or more, or as many of their patches}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x65536x65536x1xf16>, tensor<1x1x1x1xf16>) -> tensor<1x65536x65536x1xf16>
  return
}

// -----

func.func @conv_patches(%x: tensor<1x16384x16384x1xf16>, %w: tensor<3x3x1x1xf16>) {
  // expected-error@+1 {{has images with 2^31 elements or more, or as many of their patches}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x16384x16384x1xf16>, tensor<3x3x1x1xf16>) -> tensor<1x16382x16382x1xf16>
  return
}

// -----

// Many small images have no limit.
func.func @conv_many(%x: tensor<16777216x8x8x3xf16>, %w: tensor<3x3x3x8xf16>) {
  %0 = cuda.conv <forward> ins(%x, %w : tensor<16777216x8x8x3xf16>, tensor<3x3x3x8xf16>) -> tensor<16777216x6x6x8xf16>
  return
}
