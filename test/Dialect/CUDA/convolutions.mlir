// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s

// The three kinds, with steps, padding and dilations.
// CHECK-LABEL: func.func @kinds
func.func @kinds(%x: tensor<2x9x9x16xbf16>, %w: tensor<8x3x3x16xbf16>, %dy: tensor<2x4x9x8xbf16>) {
  // CHECK: cuda.conv_plan <forward> named "c" ins(%{{.*}}, %{{.*}} : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>)
  // CHECK-SAME: {padding = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 1>} -> tensor<2x4x9x8xbf16>
  %y = cuda.conv_plan <forward> named "c" ins(%x, %w : tensor<2x9x9x16xbf16>, tensor<8x3x3x16xbf16>)
      {padding = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 1>} -> tensor<2x4x9x8xbf16>
  // CHECK: cuda.conv_plan <input_grad> ins({{.*}}) {deterministic, padding = {{.*}}} -> tensor<2x9x9x16xbf16>
  %dx = cuda.conv_plan <input_grad> ins(%dy, %w : tensor<2x4x9x8xbf16>, tensor<8x3x3x16xbf16>)
      {deterministic, padding = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 1>} -> tensor<2x9x9x16xbf16>
  // CHECK: cuda.conv_plan <filter_grad> ins({{.*}}) {padding = {{.*}}} -> tensor<8x3x3x16xbf16>
  %dw = cuda.conv_plan <filter_grad> ins(%x, %dy : tensor<2x9x9x16xbf16>, tensor<2x4x9x8xbf16>)
      {padding = array<i64: 0, 0, 1, 1>, strides = array<i64: 2, 1>} -> tensor<8x3x3x16xbf16>
  return
}

// A bias and a relu, dilations, and groups.
// CHECK-LABEL: func.func @epilogue
func.func @epilogue(%x: tensor<2x9x9x16xf16>, %w: tensor<8x3x3x16xf16>, %b: tensor<8xf16>, %g: tensor<32x3x3x1xf16>) {
  // CHECK: cuda.conv_plan <forward> {{.*}} {activation = #cuda.activation<relu>, bias, dilations = array<i64: 2, 3>}
  %y = cuda.conv_plan <forward> ins(%x, %w, %b : tensor<2x9x9x16xf16>, tensor<8x3x3x16xf16>, tensor<8xf16>)
      {activation = #cuda.activation<relu>, bias, dilations = array<i64: 2, 3>} -> tensor<2x5x3x8xf16>
  // CHECK: cuda.conv_plan <forward> {{.*}} {groups = 16 : i64} -> tensor<2x7x7x32xf16>
  %z = cuda.conv_plan <forward> ins(%x, %g : tensor<2x9x9x16xf16>, tensor<32x3x3x1xf16>)
      {groups = 16 : i64} -> tensor<2x7x7x32xf16>
  return
}

// On buffers, with workspace: that of 3 channels holds a copy with 8.
// CHECK-LABEL: cuda.program @program
cuda.program @program arena 4194304 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<1x8x8x3xbf16>
  %w = cuda.buffer "w" at 512 {role = "batch"} : memref<8x3x3x3xbf16>
  %y = cuda.buffer "y" at 1024 : memref<1x6x6x8xbf16>
  %s = cuda.buffer "s" at 2048 : memref<2098176xi8>
  // CHECK: cuda.conv_plan <forward> named "c" ins({{.*}}) outs({{.*}}) scratch(%{{.*}} : memref<2098176xi8>)
  cuda.conv_plan <forward> named "c" ins(%x, %w : memref<1x8x8x3xbf16>, memref<8x3x3x3xbf16>)
      outs(%y : memref<1x6x6x8xbf16>) scratch(%s : memref<2098176xi8>)
}
