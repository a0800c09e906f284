// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s

// CHECK-LABEL: cuda.program @step arena 1536 bound 1536
cuda.program @step arena 1536 bound 1536 {
  // CHECK: %[[X:.*]] = cuda.buffer "x" at 0 {role = "batch"} : memref<4x8xf32>
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4x8xf32>
  // CHECK: %w.weight = cuda.buffer "w.weight" at 256 {init = #amp.init<ones>, role = "parameter"}
  %w = cuda.buffer "w.weight" at 256 {role = "parameter", init = #amp.init<ones>} : memref<8x2xf32>
  %y = cuda.buffer "y" at 512 {role = "prediction"} : memref<4x2xf32>
  %s = cuda.buffer "s" at 768 : memref<2xf32>
  %flag = cuda.buffer "flag" at 1024 {role = "batch"} : memref<i1>
  %scratch = cuda.buffer "scratch" at 1280 : memref<16xi8>
  // CHECK: cuda.gemm named "product" ins(%{{.*}}, %w.weight : memref<4x8xf32>, memref<8x2xf32>) outs(%{{.*}} : memref<4x2xf32>)
  cuda.gemm named "product" ins(%x, %w : memref<4x8xf32>, memref<8x2xf32>) outs(%y : memref<4x2xf32>)
  // CHECK: cuda.view %{{.*}} : memref<4x2xf32> to memref<8xf32>
  %v = cuda.view %y : memref<4x2xf32> to memref<8xf32>
  // CHECK: cuda.kernel named "sum" over [4, 2] maps [#{{.*}}, #{{.*}}] reduce [0] with <add> {
  // CHECK: } finish {
  // CHECK: } ins(%{{.*}} : memref<4x2xf32>) outs(%{{.*}} : memref<2xf32>) scratch(%{{.*}} : memref<16xi8>) if %{{.*}} : memref<i1>
  cuda.kernel named "sum" over [4, 2]
      maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] reduce [0] with <add> {
  ^bb0(%a: f32):
    cuda.yield %a : f32
  } finish {
  ^bb0(%a: f32):
    %0 = arith.negf %a : f32
    cuda.yield %0 : f32
  } ins(%y : memref<4x2xf32>) outs(%s : memref<2xf32>) scratch(%scratch : memref<16xi8>) if %flag : memref<i1>
  // CHECK: cuda.kernel named "gather"
  cuda.kernel named "gather" over [2] maps [affine_map<(d0) -> (d0)>] {
  ^bb0(%all: memref<8xf32>):
    // CHECK: cuda.index 0
    %i = cuda.index 0
    %0 = memref.load %all[%i] : memref<8xf32>
    cuda.yield %0 : f32
  } ins(%v : memref<8xf32>) outs(%s : memref<2xf32>)
}

// CHECK-LABEL: cuda.program @constants
cuda.program @constants arena 768 {
  // CHECK: cuda.buffer "steps" at 0 {role = "constant", value = dense<[1, 2, 4]> : tensor<3xi32>} : memref<3xi32>
  %t = cuda.buffer "steps" at 0 {role = "constant", value = dense<[1, 2, 4]> : tensor<3xi32>} : memref<3xi32>
  // CHECK: cuda.buffer "half" at 256 {role = "constant", value = dense<5.000000e-01> : tensor<2x2xbf16>} : memref<2x2xbf16>
  %h = cuda.buffer "half" at 256 {role = "constant", value = dense<0.5> : tensor<2x2xbf16>} : memref<2x2xbf16>
  // CHECK: cuda.buffer "where" at 512 {role = "constant", value = dense<[true, false]> : tensor<2xi1>} : memref<2xi1>
  %w = cuda.buffer "where" at 512 {role = "constant", value = dense<[true, false]> : tensor<2xi1>} : memref<2xi1>
}

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<4x8xf16>, %w: tensor<8x8xf16>, %b: tensor<8xf16>,
                   %p: tensor<8xf32>, %lr: tensor<f32>, %flag: tensor<i1>,
                   %image: tensor<1x4x4x2xf32>, %filter: tensor<3x3x2x5xf32>,
                   %rng: tensor<2xi64>, %bits: tensor<8xi1>) {
  // CHECK: cuda.gemm ins({{.*}}) {activation = #cuda.activation<relu>, auxiliary, bias} -> tensor<4x8xf16>, tensor<4x16xi8>
  %h, %mask = cuda.gemm ins(%x, %w, %b : tensor<4x8xf16>, tensor<8x8xf16>, tensor<8xf16>)
      {activation = #cuda.activation<relu>, auxiliary, bias} -> tensor<4x8xf16>, tensor<4x16xi8>
  // CHECK: cuda.gemm ins({{.*}}) {activation = #cuda.activation<relu_grad>, bias_grad, transpose_b} -> tensor<4x8xf32>, tensor<8xf32>
  %dx, %db = cuda.gemm ins(%h, %w, %mask : tensor<4x8xf16>, tensor<8x8xf16>, tensor<4x16xi8>)
      {activation = #cuda.activation<relu_grad>, bias_grad, transpose_b} -> tensor<4x8xf32>, tensor<8xf32>
  // CHECK: cuda.gemm ins({{.*}}) {bias_grad, bias_grad_a, transpose_a} -> tensor<8x8xf32>, tensor<8xf32>
  %dw, %dbias = cuda.gemm ins(%h, %x : tensor<4x8xf16>, tensor<4x8xf16>)
      {bias_grad, bias_grad_a, transpose_a} -> tensor<8x8xf32>, tensor<8xf32>
  // CHECK: cuda.conv <forward> ins({{.*}}) {padding = array<i64: 1, 1, 1, 1>} -> tensor<1x4x4x5xf32>
  %c = cuda.conv <forward> ins(%image, %filter : tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>)
      {padding = array<i64: 1, 1, 1, 1>} -> tensor<1x4x4x5xf32>
  // CHECK: cuda.check_gradients ins({{.*}}) {max_norm = 1.000000e+00 : f64, scaled} -> tensor<8xf32>, tensor<i1>, tensor<f32>
  %state, %finite, %norm = cuda.check_gradients ins(%db, %lr : tensor<8xf32>, tensor<f32>)
      {scaled, max_norm = 1.0 : f64} -> tensor<8xf32>, tensor<i1>, tensor<f32>
  // CHECK: cuda.optimizer <sgd> ins({{.*}}) if %{{.*}} : tensor<i1> {momentum = 9.000000e-01 : f64, multiplied, velocity, weight_decay = array<f64: 1.000000e-01>} -> tensor<8xf32>, tensor<8xf32>
  %w1, %v1 = cuda.optimizer <sgd> ins(%p, %db, %p, %lr, %state
      : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) if %flag : tensor<i1>
      {weight_decay = array<f64: 0.1>, velocity, multiplied, momentum = 0.9 : f64} -> tensor<8xf32>, tensor<8xf32>
  // CHECK: %[[HALF:.*]] = cuda.upper_half %{{.*}} : tensor<8xf32> to tensor<8xbf16>
  %half = cuda.upper_half %p : tensor<8xf32> to tensor<8xbf16>
  // CHECK: cuda.optimizer <sgd> ins({{.*}}) {rounding_keys = array<i64: -1, 3>, splits = array<i64: 0>, weight_decay = array<f64: 0.000000e+00, 0.000000e+00>} -> tensor<8xf32>, tensor<8xbf16>
  %split, %low = cuda.optimizer <sgd> ins(%p, %half, %db, %db, %lr, %rng
      : tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<2xi64>)
      {weight_decay = array<f64: 0.0, 0.0>, splits = array<i64: 0>, rounding_keys = array<i64: -1, 3>}
      -> tensor<8xf32>, tensor<8xbf16>
  // CHECK: cuda.optimizer <sgd> ins({{.*}}) {compensations = array<i64: 0>, weight_decay = array<f64: 0.000000e+00>} -> tensor<8xbf16>, tensor<8xbf16>
  %sum, %lost = cuda.optimizer <sgd> ins(%half, %db, %lr, %half
      : tensor<8xbf16>, tensor<8xf32>, tensor<f32>, tensor<8xbf16>)
      {weight_decay = array<f64: 0.0>, compensations = array<i64: 0>} -> tensor<8xbf16>, tensor<8xbf16>
  // CHECK: cuda.check_gradients ins({{.*}}) {scaled, strict} -> tensor<8xf32>, tensor<i1>, tensor<f32>
  %strict:3 = cuda.check_gradients ins(%db, %lr : tensor<8xf32>, tensor<f32>)
      {scaled, strict} -> tensor<8xf32>, tensor<i1>, tensor<f32>
  // CHECK: cuda.kernel over [8] maps {{.*}} reduce [0] with <statistics>
  %counts = cuda.kernel over [8] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>] reduce [0] with <statistics> {
  ^bb0(%e: i1):
    %f = arith.uitofp %e : i1 to f32
    cuda.yield %f, %f : f32, f32
  } ins(%bits : tensor<8xi1>) -> tensor<263xi64>
  // CHECK: cuda.kernel over [8] maps {{.*}} reduce [0] with <add>
  %odd = cuda.kernel over [8] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%e: i1):
    cuda.yield %e : i1
  } ins(%bits : tensor<8xi1>) -> tensor<i1>
  // CHECK: cuda.casts ins({{.*}}) -> tensor<8xf16>, tensor<8xf16>
  %l:2 = cuda.casts ins(%w1, %v1 : tensor<8xf32>, tensor<8xf32>) -> tensor<8xf16>, tensor<8xf16>
  return
}

// CHECK-LABEL: cuda.program @state
// CHECK-SAME: attributes {state = #cuda.state<precision = "fp16", fingerprint = 18446744073709551615, scaler = ["scaler = amp.update_scale", "min_scale = 1"]>}
cuda.program @state arena 0 attributes {state = #cuda.state<precision = "fp16",
    fingerprint = 18446744073709551615, scaler = ["scaler = amp.update_scale", "min_scale = 1"]>} {
}

// CHECK: #cuda.state<precision = "", fingerprint = 0, scaler = []>
cuda.program @as_written arena 0 attributes {state = #cuda.state<precision = "", fingerprint = 0, scaler = []>} {
}
