// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --convert-train-to-cuda --split-input-file | FileCheck %s
// RUN: amp-opt %s --convert-train-to-cuda --cuda-plan-memory=ranks=2 --split-input-file | FileCheck %s --check-prefix=PLAN
// RUN: not amp-opt %s --convert-train-to-cuda --cuda-plan-memory=ranks=-1 --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: cuda-plan-memory: expected 'ranks' not to be negative, got -1

// A collective begins after its last operand. What follows runs next to it, until
// something uses its memory.
// CHECK-LABEL: func.func @overlap
// CHECK: %[[G:.*]] = cuda.gemm named "product"
// CHECK-NEXT: %[[S:.*]] = cuda.all_reduce <sum> named "all_reduce" ins(%[[G]]
// CHECK-NEXT: cuda.gemm named "product_2"
// CHECK: } ins(%[[S]]
// PLAN-LABEL: cuda.program @overlap
// PLAN-SAME: ranks = 2
// PLAN: cuda.gemm named "product" ins({{.*}}) outs(%[[G:.*]] : memref<8x8xf32>)
// PLAN-NEXT: cuda.all_reduce <sum> named "all_reduce" ins(%[[G]] : memref<8x8xf32>) outs(%[[G]] : memref<8x8xf32>)
// PLAN-NEXT: cuda.gemm named "product_2"
// PLAN-NEXT: cuda.await "all_reduce"
// PLAN-NEXT: cuda.kernel
func.func @overlap(%x: tensor<8x8xf32> {amp.role = "batch", amp.name = "x"},
                   %w: tensor<8x8xf32> {amp.role = "optimizer_state", amp.name = "w"})
    -> (tensor<8x8xf32> {amp.updates = "w"}) {
  %0 = train.matmul %x, %x {transpose_a} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = amp.all_reduce sum %0 : tensor<8x8xf32>
  %3 = train.sub %2, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// -----

// A maximum of floats is one of integers in their order. The sum divides by N.
// CHECK-LABEL: func.func @maximum
// CHECK: arith.cmpf uno
// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK: cuda.all_reduce <max> {{.*}} -> tensor<4xi32>, tensor<3xi64>
// CHECK: arith.bitcast {{.*}} : i32 to f32
// CHECK: arith.truncf
// CHECK-NOT: amp.
func.func @maximum(%x: tensor<4xf16> {amp.role = "batch", amp.name = "x"},
                   %n: tensor<3xi64> {amp.role = "batch", amp.name = "n"})
    -> (tensor<4xf16> {amp.prediction = "y"}, tensor<3xi64> {amp.prediction = "m"}) {
  %0:2 = amp.all_reduce max %x, %n : tensor<4xf16>, tensor<3xi64>
  %1 = amp.divide_by_ranks %0#0 of 2 : tensor<4xf16>
  return %1, %0#1 : tensor<4xf16>, tensor<3xi64>
}

// -----

// A rank draws the random numbers of its part. A metric of reduced values is no
// reason to run a collective only in steps whose metrics are read.
// CHECK-LABEL: func.func @parts
// CHECK: cuda.dropout {{.*}} {divided_along = 1 : i64, key = 3 : i32, rate = 5.000000e-01 : f64}
// CHECK: cuda.reduce_scatter {{.*}} {along = 0 : i64}
// CHECK: cuda.all_gather {{.*}} {along = 0 : i64}
// PLAN-LABEL: cuda.program @parts
// PLAN: cuda.dropout
// PLAN-NOT: cuda.reader
// PLAN: cuda.reduce_scatter
// PLAN: cuda.all_gather
// PLAN: cuda.await
// PLAN: cuda.kernel
// PLAN: cuda.reader = #cuda.reader<metrics>
func.func @parts(%x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"},
                 %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng"})
    -> (tensor<2xi64> {amp.updates = "rng"}, tensor<f32> {amp.metric = "m"}) {
  %0 = train.dropout %x, %rng {rate = 0.5 : f64, key = 3 : i32, amp.divided_along = array<i64: 1, 2, 0>}
      : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  %1 = amp.reduce_scatter %0 along 0 : tensor<8x4xf32> to tensor<4x4xf32>
  %2 = amp.all_gather %1 along 0 : tensor<4x4xf32> to tensor<8x4xf32>
  %3 = train.reduce_sum %2 {dims = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
  %next = train.advance_rng %rng : tensor<2xi64>
  return %next, %3 : tensor<2xi64>, tensor<f32>
}
