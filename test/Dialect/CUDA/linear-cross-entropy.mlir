// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A classifier with its loss.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %v: tensor<50x32xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // CHECK: cuda.linear_cross_entropy ins({{.*}} : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64} -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  %loss, %dx, %dw = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>)
      {chunk_rows = 16 : i64} -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  // CHECK: cuda.linear_cross_entropy ins({{.*}}) {chunk_rows = 64 : i64, predict, transpose_b} -> tensor<f32>, tensor<64x32xf32>, tensor<50x32xf32>, tensor<64xi32>
  %0:4 = cuda.linear_cross_entropy ins(%x, %v, %l, %g : tensor<64x32xbf16>, tensor<50x32xbf16>, tensor<64xi64>, tensor<f32>)
      {chunk_rows = 64 : i64, transpose_b, predict} -> tensor<f32>, tensor<64x32xf32>, tensor<50x32xf32>, tensor<64xi32>
  return
}

// CHECK-LABEL: cuda.program @buffers
cuda.program @buffers arena 8192 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<64x4xf32>
  %w = cuda.buffer "w" at 1024 {role = "parameter"} : memref<4x8xf32>
  %l = cuda.buffer "l" at 1280 {role = "batch"} : memref<64xi32>
  %g = cuda.buffer "g" at 1536 {role = "hyperparameter"} : memref<f32>
  %loss = cuda.buffer "loss" at 1792 {role = "metric"} : memref<f32>
  %dx = cuda.buffer "dx" at 2048 : memref<64x4xf32>
  %dw = cuda.buffer "dw" at 3072 : memref<4x8xf32>
  %s = cuda.buffer "s" at 3328 : memref<768xi8>
  // CHECK: cuda.linear_cross_entropy named "head" ins({{.*}}) outs({{.*}}) scratch({{.*}} : memref<768xi8>) {chunk_rows = 16 : i64, tf32}
  cuda.linear_cross_entropy named "head" ins(%x, %w, %l, %g : memref<64x4xf32>, memref<4x8xf32>, memref<64xi32>, memref<f32>)
      outs(%loss, %dx, %dw : memref<f32>, memref<64x4xf32>, memref<4x8xf32>) scratch(%s : memref<768xi8>) {chunk_rows = 16 : i64, tf32}
}
