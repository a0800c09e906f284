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

// Scales of rows, of 128 elements, of squares and of 32 elements.
// CHECK-LABEL: func.func @blocks
// CHECK: cuda.quantize ins(%arg0, %arg1 : tensor<30x64xbf16>, tensor<30x1xf32>) {blocks = array<i64: 1, 0>, format = f8E4M3FN, payload, saturate} -> tensor<32x64xf8E4M3FN>, tensor<32xf32>
// CHECK: cuda.quantize ins(%arg0, %arg2 : tensor<30x64xbf16>, tensor<1x64xf32>) {blocks = array<i64: 0, 1>, format = f8E4M3FN, transposed} -> tensor<64x32xf8E4M3FN>, tensor<64xf32>
// CHECK: -> tensor<32x128xf8E4M3FN>, tensor<1x32xf32>
// CHECK: -> tensor<32x128xf8E4M3FN>, tensor<1x4xf32>
// CHECK: -> tensor<32x64xf8E4M3FN>, tensor<1x1x32x4x4xi8>
// CHECK: cuda.scaled_gemm {{.*}} {a_blocks = array<i64: 1, 0>, b_blocks = array<i64: 1, 0>, fast_accumulation} -> tensor<30x32xbf16>
// CHECK: cuda.scaled_gemm {{.*}} {a_blocks = array<i64: 1, 128>, b_blocks = array<i64: 128, 128>} -> tensor<32x32xf32>
// CHECK: cuda.scaled_gemm {{.*}} {a_blocks = array<i64: 1, 32>, b_blocks = array<i64: 1, 32>} -> tensor<32x32xf16>
func.func @blocks(%x: tensor<30x64xbf16>, %r: tensor<30x1xf32>, %c: tensor<1x64xf32>, %s: tensor<1x1xf32>, %v: tensor<30x2xf32>) {
  %0, %a = cuda.quantize ins(%x, %r : tensor<30x64xbf16>, tensor<30x1xf32>) {blocks = array<i64: 1, 0>, format = f8E4M3FN, payload, saturate}
      -> tensor<32x64xf8E4M3FN>, tensor<32xf32>
  %1, %b = cuda.quantize ins(%x, %c : tensor<30x64xbf16>, tensor<1x64xf32>) {blocks = array<i64: 0, 1>, format = f8E4M3FN, transposed}
      -> tensor<64x32xf8E4M3FN>, tensor<64xf32>
  %2, %d = cuda.quantize ins(%x, %r : tensor<30x64xbf16>, tensor<30x1xf32>) {blocks = array<i64: 1, 128>, format = f8E4M3FN, payload}
      -> tensor<32x128xf8E4M3FN>, tensor<1x32xf32>
  %3, %e = cuda.quantize ins(%x, %s : tensor<30x64xbf16>, tensor<1x1xf32>) {blocks = array<i64: 128, 128>, format = f8E4M3FN, payload}
      -> tensor<32x128xf8E4M3FN>, tensor<1x4xf32>
  %4, %f = cuda.quantize ins(%x, %v : tensor<30x64xbf16>, tensor<30x2xf32>) {blocks = array<i64: 1, 32>, format = f8E4M3FN, payload}
      -> tensor<32x64xf8E4M3FN>, tensor<1x1x32x4x4xi8>
  %5 = cuda.scaled_gemm ins(%0, %0, %a, %a : tensor<32x64xf8E4M3FN>, tensor<32x64xf8E4M3FN>, tensor<32xf32>, tensor<32xf32>) {a_blocks = array<i64: 1, 0>, b_blocks = array<i64: 1, 0>, fast_accumulation} -> tensor<30x32xbf16>
  %6 = cuda.scaled_gemm ins(%2, %3, %d, %e : tensor<32x128xf8E4M3FN>, tensor<32x128xf8E4M3FN>, tensor<1x32xf32>, tensor<1x4xf32>) {a_blocks = array<i64: 1, 128>, b_blocks = array<i64: 128, 128>} -> tensor<32x32xf32>
  %7 = cuda.scaled_gemm ins(%4, %4, %f, %f : tensor<32x64xf8E4M3FN>, tensor<32x64xf8E4M3FN>, tensor<1x1x32x4x4xi8>, tensor<1x1x32x4x4xi8>) {a_blocks = array<i64: 1, 32>, b_blocks = array<i64: 1, 32>} -> tensor<32x32xf16>
  return
}

// A kernel and norms that quantise their results. The kernel also stores its value, but the
// layer norm does not. A launch that only finds the magnitude needs no scale.
// CHECK-LABEL: func.func @producers
// CHECK: cuda.kernel over [3, 10, 64] maps [#{{.*}}, #{{.*}}] quantize <rows = 30, columns = 64, format = f8E5M2, payload = true, transposed = true, amax = true, saturate = true, keepNonFinite = true> {
// CHECK: cuda.yield %{{.*}}, %{{.*}} : bf16, bf16
// CHECK: -> tensor<3x10x64xbf16>, tensor<32x64xf8E5M2>, tensor<64x32xf8E5M2>, tensor<f32>, tensor<f32>
// CHECK: cuda.quantized_norm ins({{.*}}) {centered, element = bf16, epsilon = 1.000000e-05 : f64, quantization = #cuda.quantization<rows = 30, columns = 64, format = f8E4M3FN, transposed = true>} -> tensor<3x10xf32>, tensor<3x10xf32>, tensor<64x32xf8E4M3FN>, tensor<f32>
// CHECK: cuda.quantized_norm ins({{.*}}) {element = bf16, epsilon = 1.000000e-05 : f64, quantization = #cuda.quantization<rows = 30, columns = 64, amax = true>, stored} -> tensor<3x10x64xbf16>, tensor<3x10xf32>, tensor<f32>
func.func @producers(%x: tensor<3x10x64xbf16>, %s: tensor<f32>, %g: tensor<64xf32>, %b: tensor<64xf32>) {
  %y, %q, %t, %i, %a = cuda.kernel over [3, 10, 64]
      maps [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>]
      quantize <rows = 30, columns = 64, format = f8E5M2, payload = true, transposed = true, amax = true, saturate = true, keepNonFinite = true> {
  ^bb0(%e: bf16, %scale: tensor<f32>):
    %0 = arith.negf %e : bf16
    cuda.yield %0, %0 : bf16, bf16
  } ins(%x, %s : tensor<3x10x64xbf16>, tensor<f32>)
      -> tensor<3x10x64xbf16>, tensor<32x64xf8E5M2>, tensor<64x32xf8E5M2>, tensor<f32>, tensor<f32>
  %mean, %rstd, %u, %j = cuda.quantized_norm ins(%x, %g, %b, %s : tensor<3x10x64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<f32>)
      {centered, element = bf16, epsilon = 1.0e-5 : f64, quantization = #cuda.quantization<rows = 30, columns = 64, format = f8E4M3FN, transposed = true>}
      -> tensor<3x10xf32>, tensor<3x10xf32>, tensor<64x32xf8E4M3FN>, tensor<f32>
  %n, %r, %m = cuda.quantized_norm ins(%x, %g : tensor<3x10x64xbf16>, tensor<64xf32>)
      {element = bf16, epsilon = 1.0e-5 : f64, stored, quantization = #cuda.quantization<rows = 30, columns = 64, amax = true>}
      -> tensor<3x10x64xbf16>, tensor<3x10xf32>, tensor<f32>
  return
}

// Scales of the blocks of the same matrix: both orders in one launch, rows alone, and a kernel
// that finds the scales of the value that it computes.
// CHECK-LABEL: func.func @own
// CHECK: cuda.quantize_blocks ins(%arg0 : tensor<30x64xbf16>) {quantization = #cuda.quantization<rows = 30, columns = 64, format = f8E4M3FN, payload = true, transposed = true, saturate = true, blocks = <payload = [1, 128], transposed = [128, 128], margin = 2, powerOfTwo = true>>} -> tensor<32x128xf8E4M3FN>, tensor<64x128xf8E4M3FN>, tensor<1x32xf32>, tensor<1x4xf32>
// CHECK: cuda.quantize_blocks ins(%arg0 : tensor<30x64xbf16>) {quantization = #cuda.quantization<rows = 30, columns = 64, format = f8E5M2, payload = true, blocks = <payload = [1, 0], epsilon = 1.000000e-03 : f32, ignoreNonFinite = true>>} -> tensor<32x64xf8E5M2>, tensor<32xf32>
// CHECK: cuda.kernel over [30, 64] maps [#{{.*}}] quantize <rows = 30, columns = 64, format = f8E4M3FN, transposed = true, blocks = <transposed = [32, 1], powerOfTwo = true>> {
// CHECK: -> tensor<64x32xf8E4M3FN>, tensor<1x1x32x4x4xi8>
func.func @own(%x: tensor<30x64xbf16>) {
  %q, %t, %f, %g = cuda.quantize_blocks ins(%x : tensor<30x64xbf16>)
      {quantization = #cuda.quantization<rows = 30, columns = 64, format = f8E4M3FN, payload = true, transposed = true, saturate = true,
        blocks = <payload = [1, 128], transposed = [128, 128], margin = 2, powerOfTwo = true>>}
      -> tensor<32x128xf8E4M3FN>, tensor<64x128xf8E4M3FN>, tensor<1x32xf32>, tensor<1x4xf32>
  %r, %h = cuda.quantize_blocks ins(%x : tensor<30x64xbf16>)
      {quantization = #cuda.quantization<rows = 30, columns = 64, format = f8E5M2, payload = true,
        blocks = <payload = [1, 0], epsilon = 1.0e-3 : f32, ignoreNonFinite = true>>}
      -> tensor<32x64xf8E5M2>, tensor<32xf32>
  %k, %e = cuda.kernel over [30, 64] maps [affine_map<(d0, d1) -> (d0, d1)>]
      quantize <rows = 30, columns = 64, format = f8E4M3FN, transposed = true, blocks = <transposed = [32, 1], powerOfTwo = true>> {
  ^bb0(%a: bf16):
    %0 = arith.negf %a : bf16
    cuda.yield %0 : bf16
  } ins(%x : tensor<30x64xbf16>) -> tensor<64x32xf8E4M3FN>, tensor<1x1x32x4x4xi8>
  return
}
