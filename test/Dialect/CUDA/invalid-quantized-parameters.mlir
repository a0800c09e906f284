// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

// No such parameter.
func.func @f(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>, %q: tensor<16x16xf8E4M3FN>, %i: tensor<f32>) {
  // expected-error@+1 {{quantises parameter 1, expected one of 1, listed once}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<f32>, tensor<16x16xf8E4M3FN>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 1, source = f32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]} -> tensor<16x16xf32>, tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// A parameter that is listed twice.
func.func @f(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>, %q: tensor<16x16xf8E4M3FN>, %i: tensor<f32>) {
  // expected-error@+1 {{quantises parameter 0, expected one of 1, listed once}}
  %r:5 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i, %s, %q, %i : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<f32>, tensor<16x16xf8E4M3FN>, tensor<f32>, tensor<f32>, tensor<16x16xf8E4M3FN>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>, #cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]}
      -> tensor<16x16xf32>, tensor<16x16xf8E4M3FN>, tensor<f32>, tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// A format of gradients.
func.func @f(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>, %q: tensor<16x16xf8E5M2>, %i: tensor<f32>) {
  // expected-error@+1 {{quantises parameter 0 as #cuda.quantization<rows = 16, columns = 16, format = f8E5M2, payload = true>, expected codes of f8E4M3FN with a scale for the tensor}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<f32>, tensor<16x16xf8E5M2>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 16, columns = 16, format = f8E5M2, payload = true>>]} -> tensor<16x16xf32>, tensor<16x16xf8E5M2>, tensor<f32>
  return
}

// -----

// Another matrix.
func.func @f(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>, %q: tensor<16x32xf8E4M3FN>, %i: tensor<f32>) {
  // expected-error@+1 {{quantises parameter 0 as a matrix of 8 x 32, expected 16 x 16}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<f32>, tensor<16x32xf8E4M3FN>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 8, columns = 32, format = f8E4M3FN, payload = true>>]} -> tensor<16x16xf32>, tensor<16x32xf8E4M3FN>, tensor<f32>
  return
}

// -----

// Values that the launch does not have.
func.func @f(%w: tensor<16x16xbf16>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>, %q: tensor<16x16xf8E4M3FN>, %i: tensor<f32>) {
  // expected-error@+1 {{quantises 'f32' values of parameter 0 of 'bf16', expected the type of the parameter}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i : tensor<16x16xbf16>, tensor<16x16xf32>, tensor<f32>, tensor<f32>, tensor<16x16xf8E4M3FN>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]} -> tensor<16x16xbf16>, tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// A type that is not stored.
func.func @f(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>, %q: tensor<16x16xf8E4M3FN>, %i: tensor<f32>) {
  // expected-error@+1 {{quantises 'i32' values of parameter 0 of 'f32', expected f16, bf16 or f32}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<f32>, tensor<16x16xf8E4M3FN>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = i32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]} -> tensor<16x16xf32>, tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// The whole value of a split parameter.
func.func @f(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>, %q: tensor<16x16xf8E4M3FN>, %i: tensor<f32>) {
  // expected-error@+1 {{quantises 'f32' values of parameter 0 of 'f32', expected bf16}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<f32>, tensor<16x16xf8E4M3FN>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, splits = array<i64: 0>, quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]} -> tensor<16x16xf32>, tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// A scale for each row.
func.func @f(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<16xf32>, %q: tensor<16x16xf8E4M3FN>, %i: tensor<f32>) {
  // expected-error@+1 {{the scale has shape [16] of 'f32', expected [] of 'f32'}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<16xf32>, tensor<16x16xf8E4M3FN>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]} -> tensor<16x16xf32>, tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// Codes of another shape.
func.func @f(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>, %q: tensor<32x16xf8E4M3FN>, %i: tensor<f32>) {
  // expected-error@+1 {{the payload has shape [32, 16] of 'f8E4M3FN', expected [16, 16] of 'f8E4M3FN'}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<f32>, tensor<32x16xf8E4M3FN>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]} -> tensor<16x16xf32>, tensor<32x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// Old codes of another shape.
func.func @f(%w: tensor<16x16xf32>, %g: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>, %q: tensor<16x32xf8E4M3FN>, %i: tensor<f32>) {
  // expected-error@+1 {{an old 8-bit copy has shape [16, 32] of 'f8E4M3FN', expected [16, 16] of 'f8E4M3FN'}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %g, %lr, %s, %q, %i : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<f32>, tensor<16x32xf8E4M3FN>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]} -> tensor<16x16xf32>, tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// No old codes.
func.func @f(%w: tensor<16x16xf32>, %lr: tensor<f32>, %s: tensor<f32>) {
  // expected-error@+1 {{has 4 inputs, expected 6}}
  %r:3 = cuda.optimizer <sgd> ins(%w, %w, %lr, %s : tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]} -> tensor<16x16xf32>, tensor<16x16xf8E4M3FN>, tensor<f32>
  return
}

// -----

// A refresh of a state.
#map = affine_map<(d0) -> (d0)>
cuda.program @p arena 512 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %w = cuda.buffer "w" at 256 {role = "parameter"} : memref<4xf32>
  // expected-error@+1 {{'k' only refreshes copies, but writes 'w'}}
  cuda.kernel named "k" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%w : memref<4xf32>) {cuda.refreshes}
}

// -----

// A value that most steps do not compute.
#map = affine_map<(d0) -> (d0)>
cuda.program @p arena 768 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %p = cuda.buffer "p" at 256 {role = "prediction"} : memref<4xf32>
  %t = cuda.buffer "t" at 512 : memref<4xf32>
  cuda.kernel named "k" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%t : memref<4xf32>) {cuda.refreshes}
  // expected-error@+1 {{'l' reads a value that only steps with changed states compute, 't'}}
  cuda.kernel named "l" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%t : memref<4xf32>) outs(%p : memref<4xf32>)
}
