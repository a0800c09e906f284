// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @products
// CHECK: cuda.quantize ins(%arg0, %arg1 : tensor<30x64xbf16>, tensor<f32>) {amax, format = f8E4M3FN, payload, saturate, transposed} -> tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<f32>, tensor<f32>
// CHECK: cuda.quantize ins(%arg2, %arg1 : tensor<2x16x64xf32>, tensor<f32>) {format = f8E5M2, keep_non_finite, payload} -> tensor<32x64xf8E5M2>, tensor<f32>
// CHECK: cuda.scaled_gemm ins({{.*}} : tensor<32x64xf8E4M3FN>, tensor<32x64xf8E5M2>, tensor<f32>, tensor<f32>) {fast_accumulation} -> tensor<30x32xf32>
// CHECK: cuda.scaled_gemm ins({{.*}} : tensor<32x64xf8E5M2>, tensor<32x64xf8E4M3FN>, tensor<f32>, tensor<f32>, tensor<32xf16>) {bias} -> tensor<32x32xf16>
// CHECK: cuda.update_quantizer ins({{.*}} : tensor<f32>, tensor<4xf32>, tensor<f32>) {format = f8E5M2, margin = 1 : i32, most_recent} -> tensor<f32>, tensor<4xf32>
func.func @products(%x: tensor<30x64xbf16>, %s: tensor<f32>, %w: tensor<2x16x64xf32>, %b: tensor<32xf16>, %h: tensor<4xf32>) {
  %q, %t, %i, %a = cuda.quantize ins(%x, %s : tensor<30x64xbf16>, tensor<f32>) {amax, format = f8E4M3FN, payload, saturate, transposed}
      -> tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<f32>, tensor<f32>
  %p, %j = cuda.quantize ins(%w, %s : tensor<2x16x64xf32>, tensor<f32>) {format = f8E5M2, keep_non_finite, payload}
      -> tensor<32x64xf8E5M2>, tensor<f32>
  %y = cuda.scaled_gemm ins(%q, %p, %i, %j : tensor<32x64xf8E4M3FN>, tensor<32x64xf8E5M2>, tensor<f32>, tensor<f32>) {fast_accumulation} -> tensor<30x32xf32>
  %z = cuda.scaled_gemm ins(%p, %q, %j, %i, %b : tensor<32x64xf8E5M2>, tensor<32x64xf8E4M3FN>, tensor<f32>, tensor<f32>, tensor<32xf16>) {bias} -> tensor<32x32xf16>
  %u, %v = cuda.update_quantizer ins(%s, %h, %a : tensor<f32>, tensor<4xf32>, tensor<f32>) {format = f8E5M2, margin = 1 : i32, most_recent} -> tensor<f32>, tensor<4xf32>
  return
}
