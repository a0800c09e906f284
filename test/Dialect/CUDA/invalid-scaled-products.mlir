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

// -----

// A matrix without rows.
// expected-error@+1 {{quantises 0 rows of 16 columns, expected at least one, and a product of at most 2^40}}
func.func private @f() attributes {q = #cuda.quantization<rows = 0, columns = 16, amax = true>}

// -----

// A matrix with too many rows.
// expected-error@+1 {{quantises 9223372036854775807 rows of 16 columns, expected at least one, and a product of at most 2^40}}
func.func private @f() attributes {q = #cuda.quantization<rows = 9223372036854775807, columns = 16, amax = true>}

// -----

// An attribute without targets.
// expected-error@+1 {{writes nothing, expected 'payload', 'transposed' or 'amax'}}
func.func private @f() attributes {q = #cuda.quantization<rows = 16, columns = 16>}

// -----

// Settings of codes for a magnitude alone.
// expected-error@+1 {{has settings of codes without codes, expected 'payload' or 'transposed'}}
func.func private @f() attributes {q = #cuda.quantization<rows = 16, columns = 16, amax = true, saturate = true>}

// -----

// Codes without a format.
// expected-error@+1 {{has codes of another format, expected f8E4M3FN or f8E5M2}}
func.func private @f() attributes {q = #cuda.quantization<rows = 16, columns = 16, payload = true>}

// -----

// A norm of integers.
func.func @norm(%x: tensor<16x16xf32>, %g: tensor<16xf32>) {
  // expected-error@+1 {{rounds a norm of 'tensor<16x16xf32>' to 'i32', expected rows of f16, bf16 or f32}}
  %r:2 = cuda.quantized_norm ins(%x, %g : tensor<16x16xf32>, tensor<16xf32>) {element = i32, epsilon = 1.0e-5 : f64, quantization = #cuda.quantization<rows = 16, columns = 16, amax = true>} -> tensor<16xf32>, tensor<f32>
  return
}

// -----

// The rows of another matrix.
func.func @norm(%x: tensor<16x16xf32>, %g: tensor<16xf32>) {
  // expected-error@+1 {{quantises 8 rows of 16 columns, expected the rows and columns of 'tensor<16x16xf32>'}}
  %r:2 = cuda.quantized_norm ins(%x, %g : tensor<16x16xf32>, tensor<16xf32>) {element = f32, epsilon = 1.0e-5 : f64, quantization = #cuda.quantization<rows = 8, columns = 16, amax = true>} -> tensor<16xf32>, tensor<f32>
  return
}

// -----

// Columns that need padding.
func.func @norm(%x: tensor<16x24xf32>, %g: tensor<24xf32>) {
  // expected-error@+1 {{has rows of 24 elements, expected a multiple of 16 up to 6000}}
  %r:2 = cuda.quantized_norm ins(%x, %g : tensor<16x24xf32>, tensor<24xf32>) {element = f32, epsilon = 1.0e-5 : f64, quantization = #cuda.quantization<rows = 16, columns = 24, amax = true>} -> tensor<16xf32>, tensor<f32>
  return
}

// -----

// Statistics of another type.
func.func @norm(%x: tensor<16x16xf32>, %g: tensor<16xf32>) {
  // expected-error@+1 {{a statistic has shape [16] of 'f16', expected [16] of 'f32'}}
  %r:2 = cuda.quantized_norm ins(%x, %g : tensor<16x16xf32>, tensor<16xf32>) {element = f32, epsilon = 1.0e-5 : f64, quantization = #cuda.quantization<rows = 16, columns = 16, amax = true>} -> tensor<16xf16>, tensor<f32>
  return
}

// -----

// A reduction that quantises.
func.func @kernel(%x: tensor<16x16xf32>) {
  // expected-error@+1 {{combines 'quantize' with 'reduce' or a predicate, expected neither}}
  %r:2 = cuda.kernel over [16, 16] maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>] reduce [1] with <add>
      quantize <rows = 16, columns = 16, amax = true> {
  ^bb0(%a: f32):
    cuda.yield %a : f32
  } ins(%x : tensor<16x16xf32>) -> tensor<16xf32>, tensor<f32>
  return
}

// -----

// Codes without a scale.
func.func @kernel(%x: tensor<16x16xf32>) {
  // expected-error@+1 {{has 1 inputs and 2 targets, expected the inputs and targets of #cuda.quantization}}
  %r:2 = cuda.kernel over [16, 16] maps [affine_map<(d0, d1) -> (d0, d1)>] quantize <rows = 16, columns = 16, format = f8E5M2, payload = true> {
  ^bb0(%a: f32):
    cuda.yield %a : f32
  } ins(%x : tensor<16x16xf32>) -> tensor<16x16xf8E5M2>, tensor<f32>
  return
}

// -----

// A matrix with another number of elements.
func.func @kernel(%x: tensor<16x16xf32>) {
  // expected-error@+1 {{quantises 16 rows of 32 columns, expected 256 elements}}
  %r = cuda.kernel over [16, 16] maps [affine_map<(d0, d1) -> (d0, d1)>] quantize <rows = 16, columns = 32, amax = true> {
  ^bb0(%a: f32):
    cuda.yield %a : f32
  } ins(%x : tensor<16x16xf32>) -> tensor<f32>
  return
}

// -----

// No value to quantise.
func.func @kernel(%x: tensor<16x16xf32>) {
  // expected-error@+1 {{quantises no value of the body, expected a last one of f16, bf16 or f32}}
  %r:2 = cuda.kernel over [16, 16] maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] quantize <rows = 16, columns = 16, amax = true> {
  ^bb0(%a: f32):
    cuda.yield %a : f32
  } ins(%x : tensor<16x16xf32>) -> tensor<16x16xf32>, tensor<f32>
  return
}

// -----

// Blocks across the contracted dimension.
func.func @quantize(%x: tensor<16x16xf32>, %s: tensor<16x1xf32>) {
  // expected-error@+1 {{has blocks of [1, 0], expected [0, 1], [32, 1], [128, 1] or [128, 128]}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<16x16xf32>, tensor<16x1xf32>) {blocks = array<i64: 1, 0>, format = f8E4M3FN, transposed} -> tensor<16x16xf8E4M3FN>, tensor<16xf32>
  return
}

// -----

// Blocks that no GPU supports.
func.func @quantize(%x: tensor<16x16xf32>, %s: tensor<16x1xf32>) {
  // expected-error@+1 {{has blocks of [1, 64], expected [1, 0], [1, 32], [1, 128] or [128, 128]}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<16x16xf32>, tensor<16x1xf32>) {blocks = array<i64: 1, 64>, format = f8E4M3FN, payload} -> tensor<16x16xf8E4M3FN>, tensor<16xf32>
  return
}

// -----

// Blocks with one extent.
func.func @quantize(%x: tensor<16x16xf32>, %s: tensor<16x1xf32>) {
  // expected-error@+1 {{has blocks of [16], expected [1, 0]}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<16x16xf32>, tensor<16x1xf32>) {blocks = array<i64: 16>, format = f8E4M3FN, payload} -> tensor<16x16xf8E4M3FN>, tensor<16xf32>
  return
}

// -----

// Blocks with two orders of codes.
func.func @quantize(%x: tensor<16x16xf32>, %s: tensor<1x1xf32>) {
  // expected-error@+1 {{has scales of blocks with two orders or a magnitude, expected 'payload' or 'transposed'}}
  %r:3 = cuda.quantize ins(%x, %s : tensor<16x16xf32>, tensor<1x1xf32>) {blocks = array<i64: 128, 128>, format = f8E4M3FN, payload, transposed} -> tensor<16x128xf8E4M3FN>, tensor<16x128xf8E4M3FN>, tensor<1x4xf32>
  return
}

// -----

// One scale is missing.
func.func @quantize(%x: tensor<16x16xf32>, %s: tensor<15x1xf32>) {
  // expected-error@+1 {{the scales has shape [15, 1] of 'f32', expected [16, 1] of 'f32'}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<16x16xf32>, tensor<15x1xf32>) {blocks = array<i64: 1, 0>, format = f8E4M3FN, payload} -> tensor<16x16xf8E4M3FN>, tensor<16xf32>
  return
}

// -----

// Factors in the wrong order.
func.func @quantize(%x: tensor<16x256xf32>, %s: tensor<16x2xf32>) {
  // expected-error@+1 {{the factors has shape [16, 2] of 'f32', expected [2, 16] of 'f32'}}
  %r:2 = cuda.quantize ins(%x, %s : tensor<16x256xf32>, tensor<16x2xf32>) {blocks = array<i64: 1, 128>, format = f8E4M3FN, payload} -> tensor<16x256xf8E4M3FN>, tensor<16x2xf32>
  return
}

// -----

// Only one operand has factors of rows.
func.func @product(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %r: tensor<32xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{the factors of the operands cannot be combined}}
  %y = cuda.scaled_gemm ins(%a, %b, %r, %s : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<32xf32>, tensor<f32>) {a_blocks = array<i64: 1, 0>} -> tensor<32x48xbf16>
  return
}

// -----

// Blocks do not divide the contracted dimension.
func.func @product(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %r: tensor<1x32xf32>, %s: tensor<1x48xf32>) {
  // expected-error@+1 {{extents of 8-bit operands with factors of blocks are m 32 and k 64, expected multiples of 16 and 128}}
  %y = cuda.scaled_gemm ins(%a, %b, %r, %s : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<1x32xf32>, tensor<1x48xf32>) {a_blocks = array<i64: 1, 128>, b_blocks = array<i64: 1, 128>} -> tensor<32x48xbf16>
  return
}

// -----

// The wrong number of factors.
func.func @product(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %r: tensor<32xf32>) {
  // expected-error@+1 {{the factor of B has shape [32] of 'f32', expected [48] of 'f32'}}
  %y = cuda.scaled_gemm ins(%a, %b, %r, %r : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<32xf32>, tensor<32xf32>) {a_blocks = array<i64: 1, 0>, b_blocks = array<i64: 1, 0>} -> tensor<32x48xbf16>
  return
}

// -----

// Blocks do not support fast accumulation.
func.func @product(%a: tensor<32x128xf8E4M3FN>, %b: tensor<48x128xf8E4M3FN>, %r: tensor<1x32xf32>, %s: tensor<1x48xf32>) {
  // expected-error@+1 {{fast accumulation goes with factors of tensors or rows, not of blocks}}
  %y = cuda.scaled_gemm ins(%a, %b, %r, %s : tensor<32x128xf8E4M3FN>, tensor<48x128xf8E4M3FN>, tensor<1x32xf32>, tensor<1x48xf32>) {a_blocks = array<i64: 1, 128>, b_blocks = array<i64: 1, 128>, fast_accumulation} -> tensor<32x48xbf16>
  return
}

// -----

// Without blocks.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+1 {{has no blocks in #cuda.quantization<rows = 16}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// Blocks of an order that is not written.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+1 {{has blocks of other codes or with 'amax', expected blocks for each order of the codes alone}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, blocks = <transposed = [128, 1]>>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// A magnitude of the tensor.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+1 {{has blocks of other codes or with 'amax'}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, amax = true, blocks = <payload = [1, 128]>>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// Tiles hold no whole columns.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+2 {{has blocks of [0, 1], expected [32, 1], [128, 1] or [128, 128]}}
  // expected-error@+1 {{failed to parse CUDA_QuantizationAttr parameter 'blocks'}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, transposed = true, blocks = <transposed = [0, 1]>>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// Tiles hold no whole rows.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+2 {{has blocks of [1, 0], expected [1, 32], [1, 128] or [128, 128]}}
  // expected-error@+1 {{failed to parse CUDA_QuantizationAttr parameter 'blocks'}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, transposed = true, blocks = <payload = [1, 0], transposed = [128, 1]>>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// Exponents are powers of two.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+2 {{has scales of 32 elements without 'powerOfTwo'}}
  // expected-error@+1 {{failed to parse CUDA_QuantizationAttr parameter 'blocks'}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, blocks = <payload = [1, 32]>>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// No order.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+2 {{has no blocks, expected 'payload' or 'transposed'}}
  // expected-error@+1 {{failed to parse CUDA_QuantizationAttr parameter 'blocks'}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, blocks = <margin = 1>>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// A margin out of range.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+2 {{has a margin of 65, expected 0 to 64}}
  // expected-error@+1 {{failed to parse CUDA_QuantizationAttr parameter 'blocks'}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, blocks = <payload = [1, 128], margin = 65>>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// A negative epsilon.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+2 {{has an epsilon of -1.000000e+00 : f32, expected a finite f32 of at least 0}}
  // expected-error@+1 {{failed to parse CUDA_QuantizationAttr parameter 'blocks'}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, blocks = <payload = [1, 128], epsilon = -1.0 : f32>>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// Another matrix.
func.func @own(%x: tensor<16x256xf32>) {
  // expected-error@+1 {{quantises 16 rows of 128 columns, expected those of 'tensor<16x256xf32>'}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x256xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, blocks = <payload = [1, 128]>>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// No blocks.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+1 {{has no blocks in #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true>, expected those of each order of the codes}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true>} -> tensor<16x128xf8E4M3FN>, tensor<1x16xf32>
  return
}

// -----

// Factors in the wrong order.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+1 {{the factor of the payload has shape [16, 1] of 'f32', expected [1, 16] of 'f32'}}
  %r:2 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, blocks = <payload = [1, 128]>>} -> tensor<16x128xf8E4M3FN>, tensor<16x1xf32>
  return
}

// -----

// A missing operand.
func.func @own(%x: tensor<16x128xf32>) {
  // expected-error@+1 {{1 outputs}}
  %r:1 = cuda.quantize_blocks ins(%x : tensor<16x128xf32>) {quantization = #cuda.quantization<rows = 16, columns = 128, format = f8E4M3FN, payload = true, blocks = <payload = [1, 128]>>} -> tensor<16x128xf8E4M3FN>
  return
}

// -----

// A kernel has no whole rows.
func.func @kernel(%x: tensor<16x16xf32>) {
  // expected-error@+1 {{has scales of rows, expected blocks of 32, 128 or 128 x 128 elements}}
  %r:2 = cuda.kernel over [16, 16] maps [affine_map<(d0, d1) -> (d0, d1)>] quantize <rows = 16, columns = 16, format = f8E5M2, payload = true, blocks = <payload = [1, 0]>> {
  ^bb0(%a: f32):
    cuda.yield %a : f32
  } ins(%x : tensor<16x16xf32>) -> tensor<16x16xf8E5M2>, tensor<16xf32>
  return
}

// -----

// A norm has no blocks.
func.func @norm(%x: tensor<32x64xbf16>, %g: tensor<64xf32>) {
  // expected-error@+1 {{has scales of blocks, expected one scale}}
  %r:3 = cuda.quantized_norm ins(%x, %g : tensor<32x64xbf16>, tensor<64xf32>)
      {element = bf16, epsilon = 1.0e-5 : f64, quantization = #cuda.quantization<rows = 32, columns = 64, format = f8E4M3FN, payload = true, blocks = <payload = [1, 128]>>}
      -> tensor<32xf32>, tensor<32x128xf8E4M3FN>, tensor<1x32xf32>
  return
}
