// Reductions, data movement and randomness.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @reduce_sum(
func.func @reduce_sum(
    %x: tensor<?x8xf16>,
    %x_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %x_4: tensor<2x3x4xf32>,
    %x_5: tensor<2x3x4xf64>,
    %x_6: tensor<2x3xf16>,
    %x_7: tensor<f32>) {
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf16>
  %r0 = train.reduce_sum %x {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf16>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xbf16>) -> tensor<8xbf16>
  %r1 = train.reduce_sum %x_1 {dims = array<i64: 0>} : (tensor<?x8xbf16>) -> tensor<8xbf16>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf32>) -> tensor<8xf32>
  %r2 = train.reduce_sum %x_2 {dims = array<i64: 0>} : (tensor<?x8xf32>) -> tensor<8xf32>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf64>) -> tensor<8xf64>
  %r3 = train.reduce_sum %x_3 {dims = array<i64: 0>} : (tensor<?x8xf64>) -> tensor<8xf64>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf32>
  %r4 = train.reduce_sum %x {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf32>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64: 1>, keep_dims} : (tensor<?x8xbf16>) -> tensor<?x1xf32>
  %r5 = train.reduce_sum %x_1 {dims = array<i64: 1>, keep_dims} : (tensor<?x8xbf16>) -> tensor<?x1xf32>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<f32>
  %r6 = train.reduce_sum %x_2 {dims = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<f32>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %r7 = train.reduce_sum %x_4 {dims = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64: 0, 2>, keep_dims} : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
  %r8 = train.reduce_sum %x_5 {dims = array<i64: 0, 2>, keep_dims} : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64>} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %r9 = train.reduce_sum %x_6 {dims = array<i64>} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  // CHECK: train.reduce_sum %{{[^ ,)]+}} {dims = array<i64>} : (tensor<f32>) -> tensor<f32>
  %r10 = train.reduce_sum %x_7 {dims = array<i64>} : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @reduce_mean(
func.func @reduce_mean(
    %x: tensor<?x8xf16>,
    %x_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %x_4: tensor<2x3x4xf32>,
    %x_5: tensor<2x3x4xf64>,
    %x_6: tensor<2x3xf16>,
    %x_7: tensor<f32>) {
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf16>
  %r0 = train.reduce_mean %x {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf16>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xbf16>) -> tensor<8xbf16>
  %r1 = train.reduce_mean %x_1 {dims = array<i64: 0>} : (tensor<?x8xbf16>) -> tensor<8xbf16>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf32>) -> tensor<8xf32>
  %r2 = train.reduce_mean %x_2 {dims = array<i64: 0>} : (tensor<?x8xf32>) -> tensor<8xf32>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf64>) -> tensor<8xf64>
  %r3 = train.reduce_mean %x_3 {dims = array<i64: 0>} : (tensor<?x8xf64>) -> tensor<8xf64>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf32>
  %r4 = train.reduce_mean %x {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf32>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64: 1>, keep_dims} : (tensor<?x8xbf16>) -> tensor<?x1xf32>
  %r5 = train.reduce_mean %x_1 {dims = array<i64: 1>, keep_dims} : (tensor<?x8xbf16>) -> tensor<?x1xf32>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<f32>
  %r6 = train.reduce_mean %x_2 {dims = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<f32>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %r7 = train.reduce_mean %x_4 {dims = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64: 0, 2>, keep_dims} : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
  %r8 = train.reduce_mean %x_5 {dims = array<i64: 0, 2>, keep_dims} : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64>} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %r9 = train.reduce_mean %x_6 {dims = array<i64>} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  // CHECK: train.reduce_mean %{{[^ ,)]+}} {dims = array<i64>} : (tensor<f32>) -> tensor<f32>
  %r10 = train.reduce_mean %x_7 {dims = array<i64>} : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @reduce_max(
func.func @reduce_max(
    %x: tensor<?x8xf16>,
    %x_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %x_4: tensor<2x3x4xf32>,
    %x_5: tensor<2x3x4xf64>,
    %x_6: tensor<2x3xf16>,
    %x_7: tensor<f32>) {
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf16>
  %r0 = train.reduce_max %x {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf16>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xbf16>) -> tensor<8xbf16>
  %r1 = train.reduce_max %x_1 {dims = array<i64: 0>} : (tensor<?x8xbf16>) -> tensor<8xbf16>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf32>) -> tensor<8xf32>
  %r2 = train.reduce_max %x_2 {dims = array<i64: 0>} : (tensor<?x8xf32>) -> tensor<8xf32>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf64>) -> tensor<8xf64>
  %r3 = train.reduce_max %x_3 {dims = array<i64: 0>} : (tensor<?x8xf64>) -> tensor<8xf64>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf32>
  %r4 = train.reduce_max %x {dims = array<i64: 0>} : (tensor<?x8xf16>) -> tensor<8xf32>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64: 1>, keep_dims} : (tensor<?x8xbf16>) -> tensor<?x1xf32>
  %r5 = train.reduce_max %x_1 {dims = array<i64: 1>, keep_dims} : (tensor<?x8xbf16>) -> tensor<?x1xf32>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<f32>
  %r6 = train.reduce_max %x_2 {dims = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<f32>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  %r7 = train.reduce_max %x_4 {dims = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3xf32>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64: 0, 2>, keep_dims} : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
  %r8 = train.reduce_max %x_5 {dims = array<i64: 0, 2>, keep_dims} : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64>} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %r9 = train.reduce_max %x_6 {dims = array<i64>} : (tensor<2x3xf16>) -> tensor<2x3xf32>
  // CHECK: train.reduce_max %{{[^ ,)]+}} {dims = array<i64>} : (tensor<f32>) -> tensor<f32>
  %r10 = train.reduce_max %x_7 {dims = array<i64>} : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @broadcast(
func.func @broadcast(
    %x: tensor<8xf16>,
    %l: tensor<?x8xf16>,
    %x_1: tensor<8xbf16>,
    %l_1: tensor<?x8xbf16>,
    %x_2: tensor<8xf32>,
    %l_2: tensor<?x8xf32>,
    %x_3: tensor<8xf64>,
    %l_3: tensor<?x8xf64>,
    %x_4: tensor<?xf32>,
    %x_5: tensor<f32>,
    %x_6: tensor<?x4xf32>) {
  // CHECK: train.broadcast %{{[^ ,)]+}} like %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %r0 = train.broadcast %x like %l {dims = array<i64: 0>} : (tensor<8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  // CHECK: train.broadcast %{{[^ ,)]+}} like %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %r1 = train.broadcast %x_1 like %l_1 {dims = array<i64: 0>} : (tensor<8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.broadcast %{{[^ ,)]+}} like %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r2 = train.broadcast %x_2 like %l_2 {dims = array<i64: 0>} : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.broadcast %{{[^ ,)]+}} like %{{[^ ,)]+}} {dims = array<i64: 0>} : (tensor<8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %r3 = train.broadcast %x_3 like %l_3 {dims = array<i64: 0>} : (tensor<8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  // CHECK: train.broadcast %{{[^ ,)]+}} {dims = array<i64: 1>} : (tensor<?xf32>) -> tensor<?x8xf32>
  %r4 = train.broadcast %x_4 {dims = array<i64: 1>} : (tensor<?xf32>) -> tensor<?x8xf32>
  // CHECK: train.broadcast %{{[^ ,)]+}} {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<4x8xf32>
  %r5 = train.broadcast %x_5 {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<4x8xf32>
  // CHECK: train.broadcast %{{[^ ,)]+}} like %{{[^ ,)]+}} {dims = array<i64: 0, 1>, mean} : (tensor<f32>, tensor<?x8xf16>) -> tensor<?x8xf32>
  %r6 = train.broadcast %x_5 like %l {dims = array<i64: 0, 1>, mean} : (tensor<f32>, tensor<?x8xf16>) -> tensor<?x8xf32>
  // CHECK: train.broadcast %{{[^ ,)]+}} {dims = array<i64>} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %r7 = train.broadcast %x_6 {dims = array<i64>} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// CHECK-LABEL: func.func @reshape(
func.func @reshape(
    %x: tensor<?x64xf16>,
    %x_1: tensor<?x64xbf16>,
    %x_2: tensor<?x64xf32>,
    %x_3: tensor<?x64xf64>,
    %x_4: tensor<4x8xf32>,
    %x_5: tensor<1xf32>,
    %x_6: tensor<?x4x8xf32>,
    %x_7: tensor<?xf32>,
    %x_8: tensor<?x8xf32>) {
  // CHECK: train.reshape %{{[^ ,)]+}} : (tensor<?x64xf16>) -> tensor<?x8x8x1xf16>
  %r0 = train.reshape %x : (tensor<?x64xf16>) -> tensor<?x8x8x1xf16>
  // CHECK: train.reshape %{{[^ ,)]+}} : (tensor<?x64xbf16>) -> tensor<?x8x8x1xbf16>
  %r1 = train.reshape %x_1 : (tensor<?x64xbf16>) -> tensor<?x8x8x1xbf16>
  // CHECK: train.reshape %{{[^ ,)]+}} : (tensor<?x64xf32>) -> tensor<?x8x8x1xf32>
  %r2 = train.reshape %x_2 : (tensor<?x64xf32>) -> tensor<?x8x8x1xf32>
  // CHECK: train.reshape %{{[^ ,)]+}} : (tensor<?x64xf64>) -> tensor<?x8x8x1xf64>
  %r3 = train.reshape %x_3 : (tensor<?x64xf64>) -> tensor<?x8x8x1xf64>
  // CHECK: train.reshape %{{[^ ,)]+}} : (tensor<4x8xf32>) -> tensor<32xf32>
  %r4 = train.reshape %x_4 : (tensor<4x8xf32>) -> tensor<32xf32>
  // CHECK: train.reshape %{{[^ ,)]+}} : (tensor<1xf32>) -> tensor<f32>
  %r5 = train.reshape %x_5 : (tensor<1xf32>) -> tensor<f32>
  // CHECK: train.reshape %{{[^ ,)]+}} : (tensor<?x4x8xf32>) -> tensor<?x8xf32>
  %r6 = train.reshape %x_6 : (tensor<?x4x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.reshape %{{[^ ,)]+}} : (tensor<?xf32>) -> tensor<?x1xf32>
  %r7 = train.reshape %x_7 : (tensor<?xf32>) -> tensor<?x1xf32>
  // CHECK: train.reshape %{{[^ ,)]+}} : (tensor<?x8xf32>) -> tensor<2x?x8xf32>
  %r8 = train.reshape %x_8 : (tensor<?x8xf32>) -> tensor<2x?x8xf32>
  return
}

// CHECK-LABEL: func.func @transpose(
func.func @transpose(
    %x: tensor<?x8xf16>,
    %x_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %x_4: tensor<?x3x4x5xf32>,
    %x_5: tensor<f32>) {
  // CHECK: train.transpose %{{[^ ,)]+}} {permutation = array<i64: 1, 0>} : (tensor<?x8xf16>) -> tensor<8x?xf16>
  %r0 = train.transpose %x {permutation = array<i64: 1, 0>} : (tensor<?x8xf16>) -> tensor<8x?xf16>
  // CHECK: train.transpose %{{[^ ,)]+}} {permutation = array<i64: 1, 0>} : (tensor<?x8xbf16>) -> tensor<8x?xbf16>
  %r1 = train.transpose %x_1 {permutation = array<i64: 1, 0>} : (tensor<?x8xbf16>) -> tensor<8x?xbf16>
  // CHECK: train.transpose %{{[^ ,)]+}} {permutation = array<i64: 1, 0>} : (tensor<?x8xf32>) -> tensor<8x?xf32>
  %r2 = train.transpose %x_2 {permutation = array<i64: 1, 0>} : (tensor<?x8xf32>) -> tensor<8x?xf32>
  // CHECK: train.transpose %{{[^ ,)]+}} {permutation = array<i64: 1, 0>} : (tensor<?x8xf64>) -> tensor<8x?xf64>
  %r3 = train.transpose %x_3 {permutation = array<i64: 1, 0>} : (tensor<?x8xf64>) -> tensor<8x?xf64>
  // CHECK: train.transpose %{{[^ ,)]+}} {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x3x4x5xf32>) -> tensor<?x4x5x3xf32>
  %r4 = train.transpose %x_4 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x3x4x5xf32>) -> tensor<?x4x5x3xf32>
  // CHECK: train.transpose %{{[^ ,)]+}} {permutation = array<i64>} : (tensor<f32>) -> tensor<f32>
  %r5 = train.transpose %x_5 {permutation = array<i64>} : (tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @slice(
func.func @slice(
    %x: tensor<?x8xf16>,
    %x_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %x_4: tensor<4xf32>,
    %x_5: tensor<8xf32>) {
  // CHECK: train.slice %{{[^ ,)]+}} {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>} : (tensor<?x8xf16>) -> tensor<?x3xf16>
  %r0 = train.slice %x {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>} : (tensor<?x8xf16>) -> tensor<?x3xf16>
  // CHECK: train.slice %{{[^ ,)]+}} {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>} : (tensor<?x8xbf16>) -> tensor<?x3xbf16>
  %r1 = train.slice %x_1 {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>} : (tensor<?x8xbf16>) -> tensor<?x3xbf16>
  // CHECK: train.slice %{{[^ ,)]+}} {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>} : (tensor<?x8xf32>) -> tensor<?x3xf32>
  %r2 = train.slice %x_2 {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>} : (tensor<?x8xf32>) -> tensor<?x3xf32>
  // CHECK: train.slice %{{[^ ,)]+}} {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>} : (tensor<?x8xf64>) -> tensor<?x3xf64>
  %r3 = train.slice %x_3 {offsets = array<i64: 0, 2>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 2>} : (tensor<?x8xf64>) -> tensor<?x3xf64>
  // CHECK: train.slice %{{[^ ,)]+}} {offsets = array<i64: 3>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<1xf32>
  %r4 = train.slice %x_4 {offsets = array<i64: 3>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<1xf32>
  // CHECK: train.slice %{{[^ ,)]+}} {offsets = array<i64: 7>, sizes = array<i64: 1>, strides = array<i64: 9223372036854775807>} : (tensor<8xf32>) -> tensor<1xf32>
  %r5 = train.slice %x_5 {offsets = array<i64: 7>, sizes = array<i64: 1>, strides = array<i64: 9223372036854775807>} : (tensor<8xf32>) -> tensor<1xf32>
  return
}

// CHECK-LABEL: func.func @pad(
func.func @pad(
    %x: tensor<?x8xf16>,
    %x_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %x_4: tensor<3x4xf32>) {
  // CHECK: train.pad %{{[^ ,)]+}} {high = array<i64: 0, 2>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<?x8xf16>) -> tensor<?x11xf16>
  %r0 = train.pad %x {high = array<i64: 0, 2>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<?x8xf16>) -> tensor<?x11xf16>
  // CHECK: train.pad %{{[^ ,)]+}} {high = array<i64: 0, 2>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<?x8xbf16>) -> tensor<?x11xbf16>
  %r1 = train.pad %x_1 {high = array<i64: 0, 2>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<?x8xbf16>) -> tensor<?x11xbf16>
  // CHECK: train.pad %{{[^ ,)]+}} {high = array<i64: 0, 2>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<?x11xf32>
  %r2 = train.pad %x_2 {high = array<i64: 0, 2>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<?x11xf32>
  // CHECK: train.pad %{{[^ ,)]+}} {high = array<i64: 0, 2>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<?x8xf64>) -> tensor<?x11xf64>
  %r3 = train.pad %x_3 {high = array<i64: 0, 2>, interior = array<i64: 0, 0>, low = array<i64: 0, 1>} : (tensor<?x8xf64>) -> tensor<?x11xf64>
  // CHECK: train.pad %{{[^ ,)]+}} {high = array<i64: 0, 1>, interior = array<i64: 1, 2>, low = array<i64: 2, 0>, value = -1.000000e+00 : f64} : (tensor<3x4xf32>) -> tensor<7x11xf32>
  %r4 = train.pad %x_4 {high = array<i64: 0, 1>, interior = array<i64: 1, 2>, low = array<i64: 2, 0>, value = -1.000000e+00 : f64} : (tensor<3x4xf32>) -> tensor<7x11xf32>
  return
}

// CHECK-LABEL: func.func @concat(
func.func @concat(
    %x: tensor<?x3xf16>,
    %y: tensor<?x5xf16>,
    %x_1: tensor<?x3xbf16>,
    %y_1: tensor<?x5xbf16>,
    %x_2: tensor<?x3xf32>,
    %y_2: tensor<?x5xf32>,
    %x_3: tensor<?x3xf64>,
    %y_3: tensor<?x5xf64>,
    %x_4: tensor<3xf32>,
    %x_5: tensor<?x2x3xf32>,
    %y_4: tensor<?x2x5xf32>,
    %z: tensor<?x2x1xf32>) {
  // CHECK: train.concat %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 1 : i64} : (tensor<?x3xf16>, tensor<?x5xf16>) -> tensor<?x8xf16>
  %r0 = train.concat %x, %y {axis = 1 : i64} : (tensor<?x3xf16>, tensor<?x5xf16>) -> tensor<?x8xf16>
  // CHECK: train.concat %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 1 : i64} : (tensor<?x3xbf16>, tensor<?x5xbf16>) -> tensor<?x8xbf16>
  %r1 = train.concat %x_1, %y_1 {axis = 1 : i64} : (tensor<?x3xbf16>, tensor<?x5xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.concat %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 1 : i64} : (tensor<?x3xf32>, tensor<?x5xf32>) -> tensor<?x8xf32>
  %r2 = train.concat %x_2, %y_2 {axis = 1 : i64} : (tensor<?x3xf32>, tensor<?x5xf32>) -> tensor<?x8xf32>
  // CHECK: train.concat %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 1 : i64} : (tensor<?x3xf64>, tensor<?x5xf64>) -> tensor<?x8xf64>
  %r3 = train.concat %x_3, %y_3 {axis = 1 : i64} : (tensor<?x3xf64>, tensor<?x5xf64>) -> tensor<?x8xf64>
  // CHECK: train.concat %{{[^ ,)]+}} {axis = 0 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %r4 = train.concat %x_4 {axis = 0 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: train.concat %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 2 : i64} : (tensor<?x2x3xf32>, tensor<?x2x5xf32>, tensor<?x2x1xf32>) -> tensor<?x2x9xf32>
  %r5 = train.concat %x_5, %y_4, %z {axis = 2 : i64} : (tensor<?x2x3xf32>, tensor<?x2x5xf32>, tensor<?x2x1xf32>) -> tensor<?x2x9xf32>
  return
}

// CHECK-LABEL: func.func @randomness(
func.func @randomness(
    %x: tensor<?x8xf16>,
    %rng: tensor<2xi64>,
    %x_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %x_4: tensor<f32>) {
  // CHECK: train.dropout %{{[^ ,)]+}}, %{{[^ ,)]+}} {key = 3 : i32, rate = 1.000000e-01 : f64} : (tensor<?x8xf16>, tensor<2xi64>) -> tensor<?x8xf16>
  %r0 = train.dropout %x, %rng {key = 3 : i32, rate = 1.000000e-01 : f64} : (tensor<?x8xf16>, tensor<2xi64>) -> tensor<?x8xf16>
  // CHECK: train.dropout %{{[^ ,)]+}}, %{{[^ ,)]+}} {key = 3 : i32, rate = 1.000000e-01 : f64} : (tensor<?x8xbf16>, tensor<2xi64>) -> tensor<?x8xbf16>
  %r1 = train.dropout %x_1, %rng {key = 3 : i32, rate = 1.000000e-01 : f64} : (tensor<?x8xbf16>, tensor<2xi64>) -> tensor<?x8xbf16>
  // CHECK: train.dropout %{{[^ ,)]+}}, %{{[^ ,)]+}} {key = 3 : i32, rate = 1.000000e-01 : f64} : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  %r2 = train.dropout %x_2, %rng {key = 3 : i32, rate = 1.000000e-01 : f64} : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  // CHECK: train.dropout %{{[^ ,)]+}}, %{{[^ ,)]+}} {key = 3 : i32, rate = 1.000000e-01 : f64} : (tensor<?x8xf64>, tensor<2xi64>) -> tensor<?x8xf64>
  %r3 = train.dropout %x_3, %rng {key = 3 : i32, rate = 1.000000e-01 : f64} : (tensor<?x8xf64>, tensor<2xi64>) -> tensor<?x8xf64>
  // CHECK: train.dropout %{{[^ ,)]+}}, %{{[^ ,)]+}} {rate = 0.000000e+00 : f64} : (tensor<f32>, tensor<2xi64>) -> tensor<f32>
  %r4 = train.dropout %x_4, %rng {rate = 0.000000e+00 : f64} : (tensor<f32>, tensor<2xi64>) -> tensor<f32>
  // CHECK: train.advance_rng %{{[^ ,)]+}} : tensor<2xi64>
  %r5 = train.advance_rng %rng : tensor<2xi64>
  return
}
