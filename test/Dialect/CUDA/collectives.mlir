// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// An await is not dead.
// RUN: amp-opt %s --canonicalize --cse | FileCheck %s

// CHECK-LABEL: @all_reduce
func.func @all_reduce(%a: tensor<8xf16>, %b: tensor<4x4xbf16>, %c: tensor<3xi64>, %d: tensor<i1>)
    -> (tensor<8xf16>, tensor<4x4xbf16>, tensor<3xi64>, tensor<i1>) {
  // CHECK: cuda.all_reduce <sum> ins(%{{.*}}, %{{.*}} : tensor<8xf16>, tensor<4x4xbf16>) -> tensor<8xf16>, tensor<4x4xbf16>
  %0:2 = cuda.all_reduce <sum> ins(%a, %b : tensor<8xf16>, tensor<4x4xbf16>) -> tensor<8xf16>, tensor<4x4xbf16>
  // CHECK: cuda.all_reduce <max> named "most" ins(%{{.*}} : tensor<3xi64>) -> tensor<3xi64>
  %1 = cuda.all_reduce <max> named "most" ins(%c : tensor<3xi64>) -> tensor<3xi64>
  // CHECK: cuda.all_reduce <and> ins(%{{.*}} : tensor<i1>) -> tensor<i1>
  %2 = cuda.all_reduce <and> ins(%d : tensor<i1>) -> tensor<i1>
  return %0#0, %0#1, %1, %2 : tensor<8xf16>, tensor<4x4xbf16>, tensor<3xi64>, tensor<i1>
}

// CHECK-LABEL: @parts
func.func @parts(%a: tensor<1x8x4xf32>) -> tensor<1x8x4xf32> {
  // CHECK: cuda.reduce_scatter ins(%{{.*}} : tensor<1x8x4xf32>) {along = 1 : i64} -> tensor<1x2x4xf32>
  %0 = cuda.reduce_scatter ins(%a : tensor<1x8x4xf32>) {along = 1 : i64} -> tensor<1x2x4xf32>
  // CHECK: cuda.all_gather ins(%{{.*}} : tensor<1x2x4xf32>) {along = 1 : i64} -> tensor<1x8x4xf32>
  %1 = cuda.all_gather ins(%0 : tensor<1x2x4xf32>) {along = 1 : i64} -> tensor<1x8x4xf32>
  return %1 : tensor<1x8x4xf32>
}

// Several operands form one bucket. A flat part may end with zeros.
// CHECK-LABEL: @buckets
func.func @buckets(%a: tensor<8xf32>, %b: tensor<16xf16>, %c: tensor<5x3xf32>) -> (tensor<8xf32>, tensor<16xf16>, tensor<4xf32>) {
  // CHECK: cuda.reduce_scatter ins(%{{.*}}, %{{.*}} : tensor<8xf32>, tensor<16xf16>) {along = 0 : i64} -> tensor<2xf32>, tensor<4xf16>
  %0:2 = cuda.reduce_scatter ins(%a, %b : tensor<8xf32>, tensor<16xf16>) {along = 0 : i64} -> tensor<2xf32>, tensor<4xf16>
  // CHECK: cuda.all_gather ins(%{{.*}}, %{{.*}} : tensor<2xf32>, tensor<4xf16>) {along = 0 : i64} -> tensor<8xf32>, tensor<16xf16>
  %1:2 = cuda.all_gather ins(%0#0, %0#1 : tensor<2xf32>, tensor<4xf16>) {along = 0 : i64} -> tensor<8xf32>, tensor<16xf16>
  // CHECK: cuda.rank_part ins(%{{.*}} : tensor<5x3xf32>) -> tensor<4xf32>
  %2 = cuda.rank_part ins(%c : tensor<5x3xf32>) -> tensor<4xf32>
  return %1#0, %1#1, %2 : tensor<8xf32>, tensor<16xf16>, tensor<4xf32>
}

// CHECK-LABEL: cuda.program @state
cuda.program @state arena 512 attributes {ranks = 4 : i64} {
  %w = cuda.buffer "w" at 0 {role = "parameter"} : memref<5x3xf32>
  // CHECK: cuda.buffer "m" at 256 {part_of = tensor<5x3xf32>, role = "optimizer_state"} : memref<4xf32>
  %m = cuda.buffer "m" at 256 {part_of = tensor<5x3xf32>, role = "optimizer_state"} : memref<4xf32>
  cuda.rank_part named "part" ins(%w : memref<5x3xf32>) outs(%m : memref<4xf32>)
}

// The second collective may read what the first one writes: they run in order.
// One await is for both.
// CHECK-LABEL: cuda.program @awaits arena 768 attributes {ranks = 2 : i64}
cuda.program @awaits arena 768 attributes {ranks = 2 : i64} {
  %g = cuda.buffer "g" at 0 {role = "batch"} : memref<8xf32>
  %p = cuda.buffer "p" at 256 : memref<4xf32>
  %y = cuda.buffer "y" at 512 {role = "prediction"} : memref<8xf32>
  // CHECK: cuda.reduce_scatter named "scatter" ins(%g : memref<8xf32>) outs(%p : memref<4xf32>) {along = 0 : i64}
  cuda.reduce_scatter named "scatter" ins(%g : memref<8xf32>) outs(%p : memref<4xf32>) {along = 0 : i64}
  // CHECK: cuda.all_gather named "gather"
  cuda.all_gather named "gather" ins(%p : memref<4xf32>) outs(%y : memref<8xf32>) {along = 0 : i64}
  // CHECK: cuda.await "gather"
  cuda.await "gather"
}
