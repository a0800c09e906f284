// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds for every launch and every buffer.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @both(%a: memref<4x4xf32>, %b: tensor<4x4xf32>) {
  // expected-error@+1 {{has outputs and results, expected one or the other}}
  %0 = cuda.gemm ins(%b, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : memref<4x4xf32>)
      {auxiliary, activation = #cuda.activation<relu>} -> tensor<4x16xi8>
  return
}

// -----

func.func @neither() {
  // expected-error@+1 {{has neither outputs nor results}}
  cuda.casts ins()
  return
}

// -----

cuda.program @inside arena 512 {
  %x = cuda.buffer "x" at 0 : memref<4xf32>
  %y = cuda.buffer "y" at 256 : memref<4xf16>
  // expected-error@+1 {{has results inside a 'cuda.program', expected outputs}}
  %0 = cuda.casts ins(%x : memref<4xf32>) -> tensor<4xf16>
}

// -----

func.func @mixed(%a: memref<4xf32>) {
  // expected-error@+1 {{mixes tensors and buffers}}
  %0 = cuda.casts ins(%a : memref<4xf32>) -> tensor<4xf16>
  return
}

// -----

cuda.program @layout arena 512 {
  %x = cuda.buffer "x" at 0 : memref<4xf32>
  %y = cuda.buffer "y" at 256 : memref<4xf16>
  %z = cuda.view %y : memref<4xf16> to memref<4xf16, strided<[2]>>
  // expected-error@+1 {{writes a buffer with a layout, expected it to be row-major and contiguous}}
  cuda.casts ins(%x : memref<4xf32>) outs(%z : memref<4xf16, strided<[2]>>)
}

// -----

cuda.program @scratch arena 1024 {
  %x = cuda.buffer "x" at 0 : memref<4xf32>
  %y = cuda.buffer "y" at 256 : memref<4xf16>
  %s = cuda.buffer "s" at 512 : memref<16xi8>
  %t = cuda.buffer "t" at 768 : memref<16xi8>
  // expected-error@+1 {{has several scratch buffers, expected one}}
  cuda.casts ins(%x : memref<4xf32>) outs(%y : memref<4xf16>) scratch(%s, %t : memref<16xi8>, memref<16xi8>)
}

// -----

cuda.program @large_buffer arena 512 {
  // expected-error@+1 {{has a value of type 'memref<9223372036854775807xf32>', expected extents whose product is at most 2^40}}
  %a = cuda.buffer "a" at 0 : memref<9223372036854775807xf32>
}

// -----

cuda.program @empty_name arena 256 {
  // expected-error@+1 {{has an empty name}}
  %x = cuda.buffer "" at 0 : memref<4xf32>
}

// -----

cuda.program @strided arena 256 {
  // expected-error@+1 {{has a layout, expected it to be row-major}}
  %x = cuda.buffer "x" at 0 : memref<4x4xf32, strided<[1, 4]>>
}

// -----

func.func @view(%x: tensor<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{mixes tensors and buffers}}
  %0 = cuda.view %x : tensor<4xf32> to memref<4xf32>
  return
}

// -----

func.func @elements(%x: tensor<4xf32>) {
  // expected-error@+1 {{takes 'tensor<4xf32>' as 'tensor<5xf32>', expected the same elements}}
  %0 = cuda.view %x : tensor<4xf32> to tensor<5xf32>
  return
}

// -----

// expected-error@+1 {{has an arena of -1 bytes}}
cuda.program @arena arena -1 {
}

// -----

cuda.program @circle arena 512 {
  %y = cuda.buffer "y" at 256 : memref<4xf16>
  %v = cuda.view %v : memref<4xf32> to memref<4xf32>
  // expected-error@+1 {{uses something that is not a buffer}}
  cuda.casts ins(%v : memref<4xf32>) outs(%y : memref<4xf16>)
}

// -----

cuda.program @twice arena 512 {
  %x = cuda.buffer "x" at 0 : memref<4xf32>
  %y = cuda.buffer "y" at 256 : memref<4xf16>
  // expected-error@+1 {{writes 'y' twice}}
  cuda.casts ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%y, %y : memref<4xf16>, memref<4xf16>)
}

// -----

cuda.program @negative_remainder arena 512 {
  %x = cuda.buffer "x" at 0 : memref<4xf32>
  %y = cuda.buffer "y" at 256 : memref<4xf32>
  // expected-error@+1 {{expected floordiv and mod of a non-negative value by a positive constant}}
  cuda.kernel over [4] maps [affine_map<(d0) -> ((d0 - 1) mod 4)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
}

// -----

func.func @many_elements(%a: tensor<32x64xf8E4M3FN>, %b: tensor<48x64xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{has a value of type 'tensor<9223372036854775807x48xbf16>', expected extents whose product is at most 2^40}}
  %r = cuda.scaled_gemm ins(%a, %b, %s, %s : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<f32>, tensor<f32>) -> tensor<9223372036854775807x48xbf16>
  return
}

// -----

func.func @many_elements_of_nothing(%x: tensor<0x1099511627776x2xf32>) {
  // expected-error@+1 {{has a value of type 'tensor<0x1099511627776x2xf32>', expected extents whose product is at most 2^40}}
  %0 = cuda.softmax ins(%x : tensor<0x1099511627776x2xf32>) {axis = 2 : i64} -> tensor<0x1099511627776x2xf32>
  return
}

// -----

func.func @large_integer(%x: tensor<2x8xf32>) {
  // expected-error@+1 {{has 9223372036854775807 in "axis", expected an integer from -2^40 to 2^40}}
  %0 = cuda.softmax ins(%x : tensor<2x8xf32>) {axis = 9223372036854775807 : i64} -> tensor<2x8xf32>
  return
}
