// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s

// Only the second parameter has 8-bit copies.
// CHECK-LABEL: func.func @copies
// CHECK: cuda.optimizer <sgd> ins(
// CHECK-SAME: {quantized = [#cuda.quantized_parameter<index = 1, source = bf16, quantization = <rows = 16, columns = 32, format = f8E4M3FN, payload = true, transposed = true, amax = true, saturate = true>>], weight_decay = array<f64: 0.000000e+00, 0.000000e+00>}
// CHECK-SAME: -> tensor<4xf32>, tensor<16x32xf32>, tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<f32>, tensor<f32>
func.func @copies(%b: tensor<4xf32>, %w: tensor<16x32xf32>, %gb: tensor<4xf32>, %gw: tensor<16x32xf32>, %lr: tensor<f32>, %scale: tensor<f32>,
                  %q: tensor<16x32xf8E4M3FN>, %t: tensor<32x16xf8E4M3FN>, %i: tensor<f32>, %a: tensor<f32>) {
  %r:6 = cuda.optimizer <sgd> ins(%b, %w, %gb, %gw, %lr, %scale, %q, %t, %i, %a
      : tensor<4xf32>, tensor<16x32xf32>, tensor<4xf32>, tensor<16x32xf32>, tensor<f32>, tensor<f32>,
        tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<f32>, tensor<f32>)
      {weight_decay = array<f64: 0.0, 0.0>, quantized = [#cuda.quantized_parameter<index = 1, source = bf16,
        quantization = <rows = 16, columns = 32, format = f8E4M3FN, payload = true, transposed = true, amax = true, saturate = true>>]}
      -> tensor<4xf32>, tensor<16x32xf32>, tensor<16x32xf8E4M3FN>, tensor<32x16xf8E4M3FN>, tensor<f32>, tensor<f32>
  return
}

// A copy is refreshed at the start, and updated in place at the end.
// CHECK-LABEL: cuda.program @program
// CHECK: cuda.quantize named "refresh" {{.*}} {cuda.refreshes, format = f8E4M3FN, payload}
// CHECK: cuda.optimizer <sgd> named "update"
cuda.program @program arena 2048 {
  %w = cuda.buffer "w" at 0 {role = "parameter"} : memref<16x16xbf16>
  %s = cuda.buffer "s" at 512 {role = "quantizer_state"} : memref<f32>
  %lr = cuda.buffer "lr" at 768 {role = "hyperparameter"} : memref<f32>
  %g = cuda.buffer "g" at 1024 {role = "batch"} : memref<16x16xbf16>
  %q = cuda.buffer "q" at 1536 {role = "copy"} : memref<16x16xf8E4M3FN>
  %i = cuda.buffer "i" at 1792 {role = "copy"} : memref<f32>
  cuda.quantize named "refresh" ins(%w, %s : memref<16x16xbf16>, memref<f32>) outs(%q, %i : memref<16x16xf8E4M3FN>, memref<f32>)
      {cuda.refreshes, format = f8E4M3FN, payload}
  cuda.optimizer <sgd> named "update" ins(%w, %g, %lr, %s, %q, %i
      : memref<16x16xbf16>, memref<16x16xbf16>, memref<f32>, memref<f32>, memref<16x16xf8E4M3FN>, memref<f32>)
      outs(%w, %q, %i : memref<16x16xbf16>, memref<16x16xf8E4M3FN>, memref<f32>)
      {weight_decay = array<f64: 0.0>, quantized = [#cuda.quantized_parameter<index = 0, source = bf16,
        quantization = <rows = 16, columns = 16, format = f8E4M3FN, payload = true>>]}
}
