// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classifiers with their loss that the verifier rejects.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @inputs(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>) {
  // expected-error@+1 {{has 3 inputs, expected 4}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>) {chunk_rows = 16 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @targets(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{has 3 outputs or results, expected 4}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64, predict}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @ranks(%x: tensor<2x32x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{multiplies tensors of ranks 3 and 2, expected 2}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<2x32x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @elements(%x: tensor<64x32xbf16>, %w: tensor<32x50xf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{multiplies 'bf16' and 'f16', expected both to be f16, bf16 or f32}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @tf32(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{has 'tf32' but operands of 'bf16', expected f32}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64, tf32}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @depth(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{sums over 32 elements of x and 50 of w}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64, transpose_b}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @empty(%x: tensor<64x32xbf16>, %w: tensor<32x0xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{multiplies an empty tensor}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x0xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @labels(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xf32>, %g: tensor<f32>) {
  // expected-error@+1 {{the label has shape [64] of 'f32', expected [64] of 'i64'}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xf32>, tensor<f32>) {chunk_rows = 16 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @rows(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<32xi32>, %g: tensor<f32>) {
  // expected-error@+1 {{the label has shape [32] of 'i32', expected [64] of 'i32'}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<32xi32>, tensor<f32>) {chunk_rows = 16 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @seed(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<bf16>) {
  // expected-error@+1 {{the gradient of the loss has shape [] of 'bf16', expected [] of 'f32'}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<bf16>) {chunk_rows = 16 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @chunk(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{has chunks of 24 rows, expected a number that divides 64}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 24 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @no_chunk(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{has chunks of 0 rows, expected a number that divides 64}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 0 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @alignment(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{has chunks of 128 bytes of x, expected a multiple of 256}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 2 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @loss(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{the loss has shape [1] of 'f32', expected [] of 'f32'}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64}
      -> tensor<1xf32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}

// -----

func.func @input_grad(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{the gradient of x has shape [64, 32] of 'f16', expected [64, 32] of 'bf16'}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64}
      -> tensor<f32>, tensor<64x32xf16>, tensor<32x50xf32>
  return
}

// -----

func.func @weight_grad(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{the gradient of w has shape [32, 50] of 'bf16', expected [32, 50] of 'f32'}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xbf16>
  return
}

// -----

func.func @prediction(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{the prediction has shape [64] of 'i1', expected [64] of 'i64'}}
  %0:4 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64, predict}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>, tensor<64xi1>
  return
}

// -----

func.func @smoothing(%x: tensor<64x32xbf16>, %w: tensor<32x50xbf16>, %l: tensor<64xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{'cuda.linear_cross_entropy' op has a label smoothing of 1.000000e+00, expected at least 0 and less than 1}}
  %0:3 = cuda.linear_cross_entropy ins(%x, %w, %l, %g : tensor<64x32xbf16>, tensor<32x50xbf16>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64, label_smoothing = 1.0 : f64}
      -> tensor<f32>, tensor<64x32xbf16>, tensor<32x50xf32>
  return
}
