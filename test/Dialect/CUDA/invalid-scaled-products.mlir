// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

// A format of 16 bits.
func.func @quantize(%x: tensor<16x16xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{has the format 'f16', expected f8E4M3FN or f8E5M2}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<16x16xf32>, tensor<f32>) {format = f16, payload} -> tensor<16x16xf16>, tensor<f32>
  return
}

// -----

// No copy.
func.func @quantize(%x: tensor<16x16xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{writes no codes, expected 'payload' or 'transposed'}}
  %r:1 = cuda.quantize ins(%x, %s : tensor<16x16xf32>, tensor<f32>) {format = f8E4M3FN} -> tensor<f32>
  return
}

// -----

// Integers.
func.func @quantize(%x: tensor<16x16xi32>, %s: tensor<f32>) {
  // expected-error@+1 {{quantises 'tensor<16x16xi32>', expected elements of f16, bf16 or f32}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<16x16xi32>, tensor<f32>) {format = f8E4M3FN, payload} -> tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// A payload without padding.
func.func @quantize(%x: tensor<30x16xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{the payload has shape [30, 16] of 'f8E4M3FN', expected [32, 16] of 'f8E4M3FN'}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<30x16xf32>, tensor<f32>) {format = f8E4M3FN, payload} -> tensor<30x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// The order of rows.
func.func @quantize(%x: tensor<30x16xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{the transposed payload has shape [32, 16] of 'f8E4M3FN', expected [16, 32] of 'f8E4M3FN'}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<30x16xf32>, tensor<f32>) {format = f8E4M3FN, transposed} -> tensor<32x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// A scale for each row.
func.func @quantize(%x: tensor<16x16xf32>, %s: tensor<16xf32>) {
  // expected-error@+1 {{the scale has shape [16] of 'f32', expected [] of 'f32'}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<16x16xf32>, tensor<16xf32>) {format = f8E4M3FN, payload} -> tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// Operands of 16 bits.
func.func @product(%a: tensor<32x64xf16>, %b: tensor<48x64xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{multiplies 'f16' and 'f8E4M3FN', expected both to be f8E4M3FN or f8E5M2}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s : tensor<32x64xf16>, tensor<48x64xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<32x48xbf16>
  return
}

// -----

// Two operands of few bits.
func.func @product(%a: tensor<32x64xf8E5M2>, %b: tensor<48x64xf8E5M2>, %s: tensor<f32>) {
  // expected-error@+1 {{multiplies f8E5M2 and f8E5M2, expected at most one of them}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s : tensor<32x64xf8E5M2>, tensor<48x64xf8E5M2>, tensor<f32>, tensor<f32>) -> tensor<32x48xbf16>
  return
}

// -----

// A result of 8 bits.
func.func @product(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{has a result of 'f8E4M3FN', expected f16, bf16 or f32}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<32x48xf8E4M3FN>
  return
}

// -----

// A batch.
func.func @product(%a: tensor<2x16x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{multiplies tensors of ranks 3 and 2 to one of rank 2, expected 2}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s : tensor<2x16x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<32x48xbf16>
  return
}

// -----

// Other depths.
func.func @product(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x32xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{sums over 64 elements of A and 32 of B}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s : tensor<32x64xf8E4M3FN>, tensor<48x32xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<32x48xbf16>
  return
}

// -----

// A depth without padding.
func.func @product(%a: tensor<32x24xf8E4M3FN>, %b: tensor<48x24xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{multiplies [M, 24] and [48, 24], expected multiples of 16}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s : tensor<32x24xf8E4M3FN>, tensor<48x24xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<32x48xbf16>
  return
}

// -----

// Fewer rows than those without padding.
func.func @product(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{has 16 rows of a result for 32 rows of A, expected as many without padding}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<16x48xbf16>
  return
}

// -----

// A wide bias.
func.func @product(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %s: tensor<f32>, %c: tensor<48xf32>) {
  // expected-error@+1 {{has a bias of f32, expected a result of 16 bits}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s, %c : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<f32>, tensor<f32>, tensor<48xf32>) {bias} -> tensor<32x48xf32>
  return
}

// -----

// A bias of another size.
func.func @product(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %s: tensor<f32>, %c: tensor<32xbf16>) {
  // expected-error@+1 {{the bias has shape [32] of 'bf16', expected [48] of 'bf16'}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s, %c : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<f32>, tensor<f32>, tensor<32xbf16>) {bias} -> tensor<32x48xbf16>
  return
}

// -----

// A history of two dimensions.
func.func @update(%s: tensor<f32>, %h: tensor<2x4xf32>, %a: tensor<f32>) {
  // expected-error@+1 {{has a history of rank 2, expected 1}}
  %r:2 = cuda.update_quantizer ins(%s, %h, %a : tensor<f32>, tensor<2x4xf32>, tensor<f32>) {format = f8E5M2} -> tensor<f32>, tensor<2x4xf32>
  return
}

// -----

// A margin that f32 does not hold.
func.func @update(%s: tensor<f32>, %h: tensor<4xf32>, %a: tensor<f32>) {
  // expected-error@+1 {{has a margin of 65, expected 0 to 64}}
  %r:2 = cuda.update_quantizer ins(%s, %h, %a : tensor<f32>, tensor<4xf32>, tensor<f32>) {format = f8E5M2, margin = 65 : i32} -> tensor<f32>, tensor<4xf32>
  return
}
