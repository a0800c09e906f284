// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions by plans.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @inputs(%x: tensor<2x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{has 2 inputs, expected 3}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>) {bias} -> tensor<2x7x7x8xbf16>
  return
}

// -----

func.func @targets(%x: tensor<2x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{has 2 outputs or results, expected 1}}
  %0:2 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>) -> tensor<2x7x7x8xbf16>, tensor<2x7x7x8xbf16>
  return
}

// -----

func.func @element(%x: tensor<2x9x9x16xf32>, %w: tensor<8x3x3x16xf32>) {
  // expected-error@+1 {{has operands of 'f32', expected f16 or bf16}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x16xf32>, tensor<8x3x3x16xf32>) -> tensor<2x7x7x8xf32>
  return
}

// -----

func.func @wide_result(%x: tensor<2x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{has operands and results of 'bf16' and 'f32', expected one type}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>) -> tensor<2x7x7x8xf32>
  return
}

// -----

func.func @rank(%x: tensor<9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{has an operand or result of rank 3, expected 4}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<9x9x16xbf16>, tensor<8x3x3x16xbf16>) -> tensor<2x7x7x8xbf16>
  return
}

// -----

func.func @empty(%x: tensor<0x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{has an operand or result without elements}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<0x9x9x16xbf16>, tensor<8x3x3x16xbf16>) -> tensor<0x7x7x8xbf16>
  return
}

// -----

func.func @strides(%x: tensor<2x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{has ill-formed strides, dilations, padding or groups}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>) {strides = array<i64: 1>} -> tensor<2x7x7x8xbf16>
  return
}

// -----

func.func @padding(%x: tensor<2x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{has a negative padding, expected at least 0}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>) {padding = array<i64: -1, 0, 0, 0>} -> tensor<2x6x7x8xbf16>
  return
}

// -----

func.func @layout(%x: tensor<2x9x9x16xbf16>, %w: tensor<3x3x16x8xbf16>) {
  // expected-error@+1 {{has 16 channels and 3 features, which do not fit a filter of 8 channels in 1 groups}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x16xbf16>, tensor<3x3x16x8xbf16>) -> tensor<2x7x7x8xbf16>
  return
}

// -----

func.func @shape(%x: tensor<2x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{the output of the convolution has shape [2, 8, 7, 8] of 'bf16', expected [2, 7, 7, 8] of 'bf16'}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>) -> tensor<2x8x7x8xbf16>
  return
}

// -----

func.func @activation(%x: tensor<2x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{has the activation gelu_tanh, expected none or relu}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>) {activation = #cuda.activation<gelu_tanh>} -> tensor<2x7x7x8xbf16>
  return
}

// -----

func.func @relu_of_gradient(%dy: tensor<2x7x7x8xbf16>, %w: tensor<8x3x3x16xbf16>) {
  // expected-error@+1 {{has a bias or an activation, which only a forward convolution takes}}
  %0 = cuda.conv_plan <input_grad> ins(%dy, %w : tensor<2x7x7x8xbf16>, tensor<8x3x3x16xbf16>) {activation = #cuda.activation<relu>} -> tensor<2x9x9x16xbf16>
  return
}

// -----

func.func @few_channels(%x: tensor<2x9x9x3xbf16>, %w: tensor<8x3x3x3xbf16>) {
  // expected-error@+1 {{has a bias or an activation with 3 channels and 8 features in 1 groups, expected multiples of 8 and one group}}
  %0 = cuda.conv_plan <forward> ins(%x, %w : tensor<2x9x9x3xbf16>, tensor<8x3x3x3xbf16>) {activation = #cuda.activation<relu>} -> tensor<2x7x7x8xbf16>
  return
}

// -----

func.func @bias(%x: tensor<2x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>, %b: tensor<4xbf16>) {
  // expected-error@+1 {{the bias has shape [4] of 'bf16', expected [8] of 'bf16'}}
  %0 = cuda.conv_plan <forward> ins(%x, %w, %b : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>, tensor<4xbf16>) {bias} -> tensor<2x7x7x8xbf16>
  return
}

// -----

cuda.program @predicate arena 4194304 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<1x8x8x8xbf16>
  %w = cuda.buffer "w" at 1024 {role = "batch"} : memref<8x3x3x8xbf16>
  %y = cuda.buffer "y" at 2304 : memref<1x6x6x8xbf16>
  %f = cuda.buffer "f" at 3072 {role = "batch"} : memref<i1>
  %s = cuda.buffer "s" at 3328 : memref<2097152xi8>
  // expected-error@+1 {{has an 'if', but a plan always writes}}
  cuda.conv_plan <forward> named "c" ins(%x, %w : memref<1x8x8x8xbf16>, memref<8x3x3x8xbf16>)
      outs(%y : memref<1x6x6x8xbf16>) scratch(%s : memref<2097152xi8>) if %f : memref<i1>
}

// -----

cuda.program @workspace arena 4194304 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<1x8x8x3xbf16>
  %w = cuda.buffer "w" at 512 {role = "batch"} : memref<8x3x3x3xbf16>
  %y = cuda.buffer "y" at 1024 : memref<1x6x6x8xbf16>
  %s = cuda.buffer "s" at 2048 : memref<2097152xi8>
  // expected-error@+1 {{has 2097152 bytes of scratch memory, expected at least 2098176}}
  cuda.conv_plan <forward> named "c" ins(%x, %w : memref<1x8x8x3xbf16>, memref<8x3x3x3xbf16>)
      outs(%y : memref<1x6x6x8xbf16>) scratch(%s : memref<2097152xi8>)
}
