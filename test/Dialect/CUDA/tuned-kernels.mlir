// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tuned kernels on tensors and on buffers.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<32x10xf16>) {
  // CHECK: cuda.softmax ins({{.*}} : tensor<32x10xf16>) {axis = 1 : i64} -> tensor<32x10xf16>
  %y = cuda.softmax ins(%x : tensor<32x10xf16>) {axis = 1 : i64} -> tensor<32x10xf16>
  return
}

// CHECK-LABEL: @log_softmax
func.func @log_softmax(%x: tensor<32x10xf32>) {
  // CHECK: cuda.log_softmax ins({{.*}} : tensor<32x10xf32>) {axis = 1 : i64} -> tensor<32x10xf32>
  %y = cuda.log_softmax ins(%x : tensor<32x10xf32>) {axis = 1 : i64} -> tensor<32x10xf32>
  return
}

// CHECK-LABEL: @softmax_grad
func.func @softmax_grad(%y: tensor<32x10xf16>, %dy: tensor<32x10xf16>) {
  // CHECK: cuda.softmax_grad ins({{.*}} : tensor<32x10xf16>, tensor<32x10xf16>) {axis = 1 : i64} -> tensor<32x10xf16>
  %dx = cuda.softmax_grad ins(%y, %dy : tensor<32x10xf16>, tensor<32x10xf16>)
      {axis = 1 : i64} -> tensor<32x10xf16>
  return
}

// CHECK-LABEL: @log_softmax_grad
func.func @log_softmax_grad(%y: tensor<32x10xf32>, %dy: tensor<32x10xf32>) {
  // CHECK: cuda.log_softmax_grad ins({{.*}} : tensor<32x10xf32>, tensor<32x10xf32>) {axis = 1 : i64} -> tensor<32x10xf32>
  %dx = cuda.log_softmax_grad ins(%y, %dy : tensor<32x10xf32>, tensor<32x10xf32>)
      {axis = 1 : i64} -> tensor<32x10xf32>
  return
}

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<32x64xf16>, %gamma: tensor<64xf32>, %beta: tensor<64xf32>) {
  // CHECK: cuda.layer_norm ins({{.*}} : tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>) {epsilon = 1.000000e-05 : f64} -> tensor<32x64xf16>, tensor<32xf32>, tensor<32xf32>
  %y, %mean, %rstd = cuda.layer_norm ins(%x, %gamma, %beta
      : tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>) {epsilon = 1.0e-5 : f64}
      -> tensor<32x64xf16>, tensor<32xf32>, tensor<32xf32>
  return
}

// CHECK-LABEL: @layer_norm_grad
func.func @layer_norm_grad(%dy: tensor<32x64xf16>, %x: tensor<32x64xf16>, %gamma: tensor<64xf32>, %mean: tensor<32xf32>, %rstd: tensor<32xf32>) {
  // CHECK: cuda.layer_norm_grad ins({{.*}} : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>
  %dx, %dgamma, %dbeta = cuda.layer_norm_grad ins(%dy, %x, %gamma, %mean, %rstd
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>)
      -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>
  return
}

// CHECK-LABEL: @layer_norm_and_grad
func.func @layer_norm_and_grad(%dy: tensor<32x64xf16>, %gamma: tensor<64xf32>, %rows: tensor<32xf32>) {
  // CHECK: cuda.layer_norm_and_grad ins({{.*}} : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>, tensor<64xf32>) -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<32x64xf16>
  %dx, %dgamma, %dbeta, %y = cuda.layer_norm_and_grad ins(%dy, %dy, %gamma, %rows, %rows, %gamma
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>, tensor<32xf32>, tensor<64xf32>)
      -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<32x64xf16>
  // CHECK: cuda.rms_norm_and_grad ins({{.*}} : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>) -> tensor<32x64xf16>, tensor<64xf32>, tensor<32x64xf16>
  %dr, %dg, %r = cuda.rms_norm_and_grad ins(%dy, %dy, %gamma, %rows
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>)
      -> tensor<32x64xf16>, tensor<64xf32>, tensor<32x64xf16>
  return
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<32x64xf16>, %dy: tensor<32x64xf16>, %gamma: tensor<64xf32>) {
  // CHECK: cuda.rms_norm ins({{.*}} : tensor<32x64xf16>, tensor<64xf32>) {epsilon = 9.9999999999999995E-7 : f64} -> tensor<32x64xf16>, tensor<32xf32>
  %y, %rstd = cuda.rms_norm ins(%x, %gamma : tensor<32x64xf16>, tensor<64xf32>)
      {epsilon = 1.0e-6 : f64} -> tensor<32x64xf16>, tensor<32xf32>
  // CHECK: cuda.rms_norm_grad ins({{.*}} : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>) -> tensor<32x64xf16>, tensor<64xf32>
  %dx, %dgamma = cuda.rms_norm_grad ins(%dy, %x, %gamma, %rstd
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>)
      -> tensor<32x64xf16>, tensor<64xf32>
  // CHECK: cuda.rms_norm_grad ins({{.*}}) {accumulate, x_rows = #cuda.heads<at 0 by 0, 0, 64>} -> tensor<32x64xf16>, tensor<64xf32>
  %da, %dag = cuda.rms_norm_grad ins(%dy, %x, %gamma, %rstd, %dy
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<32xf32>, tensor<32x64xf16>)
      {accumulate, x_rows = #cuda.heads<at 0 by 0, 0, 64>} -> tensor<32x64xf16>, tensor<64xf32>
  return
}

// CHECK-LABEL: @batch_norm_apply
func.func @batch_norm_apply(%x: tensor<4x16xf16>, %c: tensor<16xf32>) {
  // CHECK: %[[Y:.*]] = cuda.batch_norm_apply ins({{.*}}) {relu} -> tensor<4x16xf16>
  %y = cuda.batch_norm_apply ins(%x, %c, %c, %c, %c
      : tensor<4x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      {relu} -> tensor<4x16xf16>
  // CHECK: cuda.batch_norm_add_relu_apply ins({{.*}}, %[[Y]] : {{.*}}) -> tensor<4x16xf16>
  %z = cuda.batch_norm_add_relu_apply ins(%x, %c, %c, %c, %c, %y
      : tensor<4x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<4x16xf16>)
      -> tensor<4x16xf16>
  return
}

// CHECK-LABEL: @batch_norm_training
func.func @batch_norm_training(%x: tensor<32x8x8x16xf16>, %gamma: tensor<16xf32>, %beta: tensor<16xf32>, %rm: tensor<16xf32>, %rv: tensor<16xf32>) {
  // CHECK: cuda.batch_norm_training ins({{.*}} : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {epsilon = 1.000000e-05 : f64, momentum = 1.000000e-01 : f64} -> tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  %y, %mean, %rstd, %rm1, %rv1 = cuda.batch_norm_training ins(%x, %gamma, %beta, %rm, %rv
      : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
      -> tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return
}

// CHECK-LABEL: @batch_norm_inference
func.func @batch_norm_inference(%x: tensor<32x8x8x16xf16>, %gamma: tensor<16xf32>, %beta: tensor<16xf32>, %mean: tensor<16xf32>, %var: tensor<16xf32>) {
  // CHECK: cuda.batch_norm_inference ins({{.*}} : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {epsilon = 1.000000e-05 : f64} -> tensor<32x8x8x16xf16>
  %y = cuda.batch_norm_inference ins(%x, %gamma, %beta, %mean, %var
      : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      {epsilon = 1.0e-5 : f64} -> tensor<32x8x8x16xf16>
  return
}

// CHECK-LABEL: @batch_norm_grad
func.func @batch_norm_grad(%dy: tensor<32x64xf16>, %x: tensor<32x64xf16>, %gamma: tensor<64xf32>, %mean: tensor<64xf32>, %rstd: tensor<64xf32>) {
  // CHECK: cuda.batch_norm_grad ins({{.*}} : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>
  %dx, %dgamma, %dbeta = cuda.batch_norm_grad ins(%dy, %x, %gamma, %mean, %rstd
      : tensor<32x64xf16>, tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
      -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>
  return
}

// CHECK-LABEL: @batch_norm_relu
func.func @batch_norm_relu(%x: tensor<32x8x8x16xf16>, %gamma: tensor<16xf32>, %beta: tensor<16xf32>, %rm: tensor<16xf32>, %rv: tensor<16xf32>) {
  // CHECK: cuda.batch_norm_relu ins({{.*}} : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {epsilon = 1.000000e-05 : f64, momentum = 1.000000e-01 : f64} -> tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x8x8x2xi8>
  %y, %mean, %rstd, %rm1, %rv1, %mask = cuda.batch_norm_relu ins(%x, %gamma, %beta, %rm, %rv
      : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
      -> tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x8x8x2xi8>
  return
}

// CHECK-LABEL: @batch_norm_add_relu
func.func @batch_norm_add_relu(%x: tensor<32x8x8x16xf16>, %gamma: tensor<16xf32>, %beta: tensor<16xf32>, %rm: tensor<16xf32>, %rv: tensor<16xf32>, %r: tensor<32x8x8x16xf16>) {
  // CHECK: cuda.batch_norm_add_relu ins({{.*}} : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x8x8x16xf16>) {epsilon = 1.000000e-05 : f64, momentum = 1.000000e-01 : f64} -> tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x8x8x2xi8>
  %y, %mean, %rstd, %rm1, %rv1, %mask = cuda.batch_norm_add_relu ins(%x, %gamma, %beta, %rm, %rv, %r
      : tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x8x8x16xf16>) {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
      -> tensor<32x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32x8x8x2xi8>
  return
}

// CHECK-LABEL: @batch_norm_relu_grad
func.func @batch_norm_relu_grad(%dy: tensor<32x64xf16>, %m: tensor<32x8xi8>, %x: tensor<32x64xf16>, %gamma: tensor<64xf32>, %mean: tensor<64xf32>, %rstd: tensor<64xf32>) {
  // CHECK: cuda.batch_norm_relu_grad ins({{.*}} : tensor<32x64xf16>, tensor<32x8xi8>, tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>
  %dx, %dgamma, %dbeta = cuda.batch_norm_relu_grad ins(%dy, %m, %x, %gamma, %mean, %rstd
      : tensor<32x64xf16>, tensor<32x8xi8>, tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
      -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>
  // CHECK: cuda.batch_norm_add_relu_grad ins({{.*}} : tensor<32x64xf16>, tensor<32x8xi8>, tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<32x64xf16>
  %0:4 = cuda.batch_norm_add_relu_grad ins(%dy, %m, %x, %gamma, %mean, %rstd
      : tensor<32x64xf16>, tensor<32x8xi8>, tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
      -> tensor<32x64xf16>, tensor<64xf32>, tensor<64xf32>, tensor<32x64xf16>
  return
}

// CHECK-LABEL: @cross_entropy
func.func @cross_entropy(%logits: tensor<32x10xf16>, %labels: tensor<32xi64>) {
  // CHECK: cuda.cross_entropy ins({{.*}} : tensor<32x10xf16>, tensor<32xi64>) -> tensor<f32>
  %loss = cuda.cross_entropy ins(%logits, %labels : tensor<32x10xf16>, tensor<32xi64>)
      -> tensor<f32>
  return
}

// CHECK-LABEL: @cross_entropy_grad
func.func @cross_entropy_grad(%logits: tensor<32x10xf16>, %labels: tensor<32xi64>, %dloss: tensor<f32>) {
  // CHECK: cuda.cross_entropy_grad ins({{.*}} : tensor<32x10xf16>, tensor<32xi64>, tensor<f32>) -> tensor<32x10xf16>
  %dx = cuda.cross_entropy_grad ins(%logits, %labels, %dloss
      : tensor<32x10xf16>, tensor<32xi64>, tensor<f32>) -> tensor<32x10xf16>
  return
}

// CHECK-LABEL: @cross_entropy_with_grad
func.func @cross_entropy_with_grad(%logits: tensor<32x10xf16>, %labels: tensor<32xi64>, %dloss: tensor<f32>) {
  // CHECK: cuda.cross_entropy_with_grad ins({{.*}} : tensor<32x10xf16>, tensor<32xi64>, tensor<f32>) -> tensor<f32>, tensor<32x10xf16>
  %loss, %dx = cuda.cross_entropy_with_grad ins(%logits, %labels, %dloss
      : tensor<32x10xf16>, tensor<32xi64>, tensor<f32>) -> tensor<f32>, tensor<32x10xf16>
  // CHECK: cuda.cross_entropy_with_grad ins({{.*}}) {label_smoothing = 1.000000e-01 : f64}
  %0:2 = cuda.cross_entropy_with_grad ins(%logits, %labels, %dloss
      : tensor<32x10xf16>, tensor<32xi64>, tensor<f32>) {label_smoothing = 0.1 : f64} -> tensor<f32>, tensor<32x10xf16>
  return
}

// CHECK-LABEL: @max_pool2d
func.func @max_pool2d(%x: tensor<32x8x8x16xf16>) {
  // CHECK: cuda.max_pool2d ins({{.*}} : tensor<32x8x8x16xf16>) {padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} -> tensor<32x4x4x16xf16>
  %y = cuda.max_pool2d ins(%x : tensor<32x8x8x16xf16>)
      {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>}
      -> tensor<32x4x4x16xf16>
  return
}

// CHECK-LABEL: @max_pool2d_grad
func.func @max_pool2d_grad(%x: tensor<32x8x8x16xf16>, %y: tensor<32x4x4x16xf16>, %dy: tensor<32x4x4x16xf16>) {
  // CHECK: cuda.max_pool2d_grad ins({{.*}} : tensor<32x8x8x16xf16>, tensor<32x4x4x16xf16>, tensor<32x4x4x16xf16>) {padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>, window = array<i64: 2, 2>} -> tensor<32x8x8x16xf16>
  %dx = cuda.max_pool2d_grad ins(%x, %y, %dy
      : tensor<32x8x8x16xf16>, tensor<32x4x4x16xf16>, tensor<32x4x4x16xf16>)
      {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>}
      -> tensor<32x8x8x16xf16>
  return
}

// CHECK-LABEL: @avg_pool2d
func.func @avg_pool2d(%x: tensor<32x4x4x16xf32>) {
  // CHECK: cuda.avg_pool2d ins({{.*}} : tensor<32x4x4x16xf32>) {padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 4, 4>, window = array<i64: 4, 4>} -> tensor<32x1x1x16xf32>
  %y = cuda.avg_pool2d ins(%x : tensor<32x4x4x16xf32>)
      {window = array<i64: 4, 4>, strides = array<i64: 4, 4>, padding = array<i64: 0, 0, 0, 0>}
      -> tensor<32x1x1x16xf32>
  return
}

// CHECK-LABEL: @avg_pool2d_grad
func.func @avg_pool2d_grad(%dy: tensor<32x1x1x16xf32>) {
  // CHECK: cuda.avg_pool2d_grad ins({{.*}} : tensor<32x1x1x16xf32>) {padding = array<i64: 0, 0, 0, 0>, strides = array<i64: 4, 4>, window = array<i64: 4, 4>} -> tensor<32x4x4x16xf32>
  %dx = cuda.avg_pool2d_grad ins(%dy : tensor<32x1x1x16xf32>)
      {window = array<i64: 4, 4>, strides = array<i64: 4, 4>, padding = array<i64: 0, 0, 0, 0>}
      -> tensor<32x4x4x16xf32>
  return
}

// CHECK-LABEL: @scatter_add
func.func @scatter_add(%dy: tensor<8x16x64xf16>, %tokens: tensor<8x16xi64>) {
  // CHECK: cuda.scatter_add ins({{.*}} : tensor<8x16x64xf16>, tensor<8x16xi64>) {axis = 0 : i64} -> tensor<256x64xf32>
  %dtable = cuda.scatter_add ins(%dy, %tokens : tensor<8x16x64xf16>, tensor<8x16xi64>)
      {axis = 0 : i64} -> tensor<256x64xf32>
  return
}

// CHECK-LABEL: @dropout
func.func @dropout(%x: tensor<32x64xf16>, %rng: tensor<2xi64>) {
  // CHECK: cuda.dropout ins({{.*}} : tensor<32x64xf16>, tensor<2xi64>) {key = 3 : i32, rate = 1.000000e-01 : f64} -> tensor<32x64xf16>
  %y = cuda.dropout ins(%x, %rng : tensor<32x64xf16>, tensor<2xi64>)
      {key = 3 : i32, rate = 1.0e-1 : f64} -> tensor<32x64xf16>
  return
}

// CHECK-LABEL: @stochastic_round
func.func @stochastic_round(%x: tensor<8x4xf32>, %rng: tensor<2xi64>) {
  // CHECK: cuda.stochastic_round ins({{.*}} : tensor<8x4xf32>, tensor<2xi64>) {key = 3 : i32} -> tensor<8x4xbf16>
  %y = cuda.stochastic_round ins(%x, %rng : tensor<8x4xf32>, tensor<2xi64>)
      {key = 3 : i32} -> tensor<8x4xbf16>
  return
}

// CHECK-LABEL: @update_scale
func.func @update_scale(%scale: tensor<f32>, %growth: tensor<i32>, %hysteresis: tensor<i32>, %finite: tensor<i1>) {
  // CHECK: cuda.update_scale ins({{.*}} : tensor<f32>, tensor<i32>, tensor<i32>, tensor<i1>) {scaler = #amp.scaler<growth_interval = 1000>} -> tensor<f32>, tensor<i32>, tensor<i32>
  %s, %g, %h = cuda.update_scale ins(%scale, %growth, %hysteresis, %finite
      : tensor<f32>, tensor<i32>, tensor<i32>, tensor<i1>) {scaler = #amp.scaler<growth_interval = 1000>}
      -> tensor<f32>, tensor<i32>, tensor<i32>
  return
}

// On buffers, each in the place of a buffer that it may overwrite. Scratch
// memory and buffers that a launch updates in place are ordinary operands.
// CHECK-LABEL: cuda.program @buffers
cuda.program @buffers arena 16384 {
  %flag = cuda.buffer "flag" at 0 {role = "batch"} : memref<i1>
  %labels = cuda.buffer "labels" at 256 {role = "batch"} : memref<4xi64>
  %scale = cuda.buffer "scale" at 512 {role = "scaler_state"} : memref<f32>
  %growth = cuda.buffer "growth" at 768 {role = "scaler_state"} : memref<i32>
  %left = cuda.buffer "left" at 1024 {role = "scaler_state"} : memref<i32>
  %gamma = cuda.buffer "gamma" at 1280 {role = "parameter"} : memref<8xf32>
  %rm = cuda.buffer "running_mean" at 1536 {role = "model_state"} : memref<8xf32>
  %rv = cuda.buffer "running_var" at 1792 {role = "model_state"} : memref<8xf32>
  %rng = cuda.buffer "rng" at 2048 {role = "model_state"} : memref<2xi64>
  %x = cuda.buffer "x" at 2304 {role = "model_state"} : memref<4x8xf32>
  %dy = cuda.buffer "dy" at 2560 {role = "model_state"} : memref<4x8xf32>
  %rows = cuda.buffer "rows" at 2816 {role = "model_state"} : memref<4xf32>
  %mean = cuda.buffer "mean" at 3072 {role = "metric"} : memref<8xf32>
  %rstd = cuda.buffer "rstd" at 3328 {role = "metric"} : memref<8xf32>
  %y = cuda.buffer "y" at 3584 {role = "metric"} : memref<4x8xf32>
  %dgamma = cuda.buffer "dgamma" at 3840 {role = "metric"} : memref<8xf32>
  %dbeta = cuda.buffer "dbeta" at 4096 {role = "metric"} : memref<8xf32>
  %loss = cuda.buffer "loss" at 4352 {role = "metric"} : memref<f32>
  %s = cuda.buffer "scratch" at 4608 {role = "workspace"} : memref<8192xi8>
  // CHECK: cuda.softmax named "softmax" ins(%x {{.*}} outs(%x
  cuda.softmax named "softmax" ins(%x : memref<4x8xf32>) outs(%x : memref<4x8xf32>) {axis = 1 : i64}
  // CHECK: cuda.log_softmax_grad named "log_grad" ins(%x, %dy {{.*}} outs(%dy
  cuda.log_softmax_grad named "log_grad" ins(%x, %dy : memref<4x8xf32>, memref<4x8xf32>)
      outs(%dy : memref<4x8xf32>) {axis = 0 : i64}
  // CHECK: cuda.layer_norm_grad named "layer_grad" ins(%dy, %x, %gamma, %rows, %rows {{.*}} outs(%dy, %dgamma, %dbeta {{.*}} scratch(%scratch : memref<8192xi8>)
  cuda.layer_norm_grad named "layer_grad" ins(%dy, %x, %gamma, %rows, %rows
      : memref<4x8xf32>, memref<4x8xf32>, memref<8xf32>, memref<4xf32>, memref<4xf32>)
      outs(%dy, %dgamma, %dbeta : memref<4x8xf32>, memref<8xf32>, memref<8xf32>) scratch(%s : memref<8192xi8>)
  // CHECK: cuda.batch_norm_training named "batch_norm" ins(%x, %gamma, %gamma, %running_mean, %running_var {{.*}} outs(%y, %mean, %rstd, %running_mean, %running_var {{.*}} scratch(
  cuda.batch_norm_training named "batch_norm" ins(%x, %gamma, %gamma, %rm, %rv
      : memref<4x8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>)
      outs(%y, %mean, %rstd, %rm, %rv : memref<4x8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>)
      scratch(%s : memref<8192xi8>) {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64}
  // CHECK: cuda.dropout named "dropout" ins(%y, %rng {{.*}} outs(%y
  cuda.dropout named "dropout" ins(%y, %rng : memref<4x8xf32>, memref<2xi64>) outs(%y : memref<4x8xf32>)
      {key = 3 : i32, rate = 0.5 : f64}
  // CHECK: cuda.cross_entropy_with_grad named "loss" ins(%x, %labels, %scale {{.*}} outs(%loss, %x
  cuda.cross_entropy_with_grad named "loss" ins(%x, %labels, %scale : memref<4x8xf32>, memref<4xi64>, memref<f32>)
      outs(%loss, %x : memref<f32>, memref<4x8xf32>) scratch(%s : memref<8192xi8>)
  // CHECK: cuda.update_scale named "update_scale" ins(%scale, %growth, %left, %flag {{.*}} outs(%scale, %growth, %left {{.*}}) {scaler = #amp.scaler<hysteresis_refill = growth, after_backoff = hold>}
  cuda.update_scale named "update_scale" ins(%scale, %growth, %left, %flag
      : memref<f32>, memref<i32>, memref<i32>, memref<i1>)
      outs(%scale, %growth, %left : memref<f32>, memref<i32>, memref<i32>)
      {scaler = #amp.scaler<hysteresis_refill = growth, after_backoff = hold>}
}
