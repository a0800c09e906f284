// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --split-input-file --convert-train-to-cuda | FileCheck %s
// RUN: amp-opt %s --split-input-file --convert-train-to-cuda=epilogues=false | FileCheck %s --check-prefix=APART

// The scale of the next step follows from the magnitude of this one. The optimizer writes the copies of the
// weight with it, and the launch at the start only refreshes them.
// CHECK-LABEL: func.func @delayed
// CHECK: %[[Q:.+]]:4 = cuda.quantize {{.*}}ins(%arg0, %arg3 : tensor<32x32xf32>, tensor<f32>) {amax, cuda.refreshes, format = f8E4M3FN, payload, saturate, transposed}
// CHECK: %[[S:.+]]:2 = cuda.update_quantizer {{.*}}ins(%arg3, %arg4, %[[Q]]#3
// CHECK: cuda.optimizer <sgd> {{.*}}ins(%arg0, %{{.+}}, %arg2, %[[S]]#0, %[[Q]]#0, %[[Q]]#1, %[[Q]]#2, %[[Q]]#3 :
// CHECK-SAME: {quantized = [#cuda.quantized_parameter<index = 0, source = f32, quantization = <rows = 32, columns = 32, format = f8E4M3FN, payload = true, transposed = true, amax = true, saturate = true>>], weight_decay = array<f64: 0.000000e+00>}
// APART-LABEL: func.func @delayed
// APART-NOT: cuda.refreshes
// APART-NOT: quantized_parameter
func.func @delayed(%w: tensor<32x32xf32> {amp.init = #amp.init<ones>, amp.name = "w", amp.role = "parameter"},
    %x: tensor<16x32xf32> {amp.name = "x", amp.role = "batch"}, %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %s: tensor<f32> {amp.init = #amp.init<ones>, amp.name = "s", amp.role = "quantizer_state"},
    %h: tensor<4xf32> {amp.init = #amp.init<zeros>, amp.name = "h", amp.role = "quantizer_state"})
    -> (tensor<32x32xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"},
        tensor<16x32xbf16> {amp.prediction = "y"}, tensor<16x32xbf16> {amp.prediction = "z"}) {
  %qx = amp.quantize %x by %lr saturate : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf8E4M3FN>
  %q = amp.quantize %w by %s saturate : (tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf8E4M3FN>
  %y = amp.scaled_matmul %qx by %lr, %q by %s : (tensor<16x32xf8E4M3FN>, tensor<f32>), (tensor<32x32xf8E4M3FN>, tensor<f32>) -> tensor<16x32xbf16>
  %z = amp.scaled_matmul %qx by %lr, %q by %s {transpose_b} : (tensor<16x32xf8E4M3FN>, tensor<f32>), (tensor<32x32xf8E4M3FN>, tensor<f32>) -> tensor<16x32xbf16>
  %g = train.matmul %x, %x {transpose_a} : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
  %w1 = train.sgd %w, %g, %lr : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
  %a = amp.amax %w : tensor<32x32xf32> -> tensor<f32>
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  return %w1, %s1, %h1, %y, %z : tensor<32x32xf32>, tensor<f32>, tensor<4xf32>, tensor<16x32xbf16>, tensor<16x32xbf16>
}

// -----

// The scale of the next step depends on the weight that the optimizer computes. Another launch quantises.
// CHECK-LABEL: func.func @current
// CHECK-NOT: cuda.refreshes
// CHECK-NOT: quantized_parameter
func.func @current(%w: tensor<32x32xf32> {amp.init = #amp.init<ones>, amp.name = "w", amp.role = "parameter"},
    %x: tensor<16x32xf32> {amp.name = "x", amp.role = "batch"}, %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %s: tensor<f32> {amp.init = #amp.init<ones>, amp.name = "s", amp.role = "quantizer_state"},
    %h: tensor<4xf32> {amp.init = #amp.init<zeros>, amp.name = "h", amp.role = "quantizer_state"})
    -> (tensor<32x32xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "s"}, tensor<4xf32> {amp.updates = "h"},
        tensor<16x32xbf16> {amp.prediction = "y"}) {
  %qx = amp.quantize %x by %lr saturate : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf8E4M3FN>
  %q = amp.quantize %w by %s saturate : (tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf8E4M3FN>
  %y = amp.scaled_matmul %qx by %lr, %q by %s : (tensor<16x32xf8E4M3FN>, tensor<f32>), (tensor<32x32xf8E4M3FN>, tensor<f32>) -> tensor<16x32xbf16>
  %g = train.matmul %x, %x {transpose_a} : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
  %w1 = train.sgd %w, %g, %lr : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
  %a = amp.amax %w1 : tensor<32x32xf32> -> tensor<f32>
  %s1, %h1 = amp.update_quantizer %s, %h, %a for f8E4M3FN : tensor<4xf32>
  return %w1, %s1, %h1, %y : tensor<32x32xf32>, tensor<f32>, tensor<4xf32>, tensor<16x32xbf16>
}

// -----

// Codes of f8E5M2, and a new weight that another launch changes.
// CHECK-LABEL: func.func @other
// CHECK-NOT: cuda.refreshes
// CHECK-NOT: quantized_parameter
func.func @other(%w: tensor<32x32xf32> {amp.init = #amp.init<ones>, amp.name = "w", amp.role = "parameter"},
    %v: tensor<32x32xf32> {amp.init = #amp.init<ones>, amp.name = "v", amp.role = "parameter"},
    %x: tensor<16x32xf32> {amp.name = "x", amp.role = "batch"}, %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %s: tensor<f32> {amp.init = #amp.init<ones>, amp.name = "s", amp.role = "quantizer_state"})
    -> (tensor<32x32xf32> {amp.updates = "w"}, tensor<32x32xf32> {amp.updates = "v"}, tensor<f32> {amp.updates = "s"},
        tensor<16x32xbf16> {amp.prediction = "y"}, tensor<16x32xbf16> {amp.prediction = "z"}) {
  %qx = amp.quantize %x by %lr saturate : (tensor<16x32xf32>, tensor<f32>) -> tensor<16x32xf8E4M3FN>
  %q = amp.quantize %w by %s saturate : (tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf8E5M2>
  %p = amp.quantize %v by %s saturate : (tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf8E4M3FN>
  %y = amp.scaled_matmul %qx by %lr, %q by %s : (tensor<16x32xf8E4M3FN>, tensor<f32>), (tensor<32x32xf8E5M2>, tensor<f32>) -> tensor<16x32xbf16>
  %z = amp.scaled_matmul %qx by %lr, %p by %s : (tensor<16x32xf8E4M3FN>, tensor<f32>), (tensor<32x32xf8E4M3FN>, tensor<f32>) -> tensor<16x32xbf16>
  %g = train.matmul %x, %x {transpose_a} : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<32x32xf32>
  %w1 = train.sgd %w, %g, %lr : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
  %v0 = train.sgd %v, %g, %lr : (tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>) -> tensor<32x32xf32>
  %v1 = train.mul %v0, %v0 : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %s1 = train.mul %s, %lr : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %w1, %v1, %s1, %y, %z : tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<16x32xbf16>, tensor<16x32xbf16>
}
