// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call becomes a launch. Launches that write parameters follow the last call.
//
// RUN: amp-opt %s --convert-train-to-cuda --split-input-file | FileCheck %s
// RUN: amp-opt %s --convert-train-to-cuda --cuda-plan-memory --split-input-file | FileCheck %s --check-prefix=PLAN

// CHECK-LABEL: func.func @step
// CHECK: cuda.call "mylib::scaled" named "call" ins(%{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>, tensor<8xi64>
// CHECK: cuda.call "mylib::scaled" {{.*}}seeds = array<i64: 0>, wrt = array<i64: 1>
// PLAN-LABEL: cuda.program @step
// The update of %v could run before both calls.
// PLAN: cuda.call "mylib::scaled"
// PLAN-NOT: outs(%v
// PLAN: cuda.call "mylib::scaled" {{.*}}seeds
// PLAN: cuda.kernel named "exp"
// PLAN: outs(%v : memref<4xf32>)
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                %v: tensor<4xf32> {amp.role = "parameter", amp.name = "v"},
                %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"},
                %dy: tensor<8x4xf32> {amp.role = "batch", amp.name = "dy"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "v"}, tensor<f32> {amp.metric = "loss"}) {
  %new = train.exp %v : tensor<4xf32>
  %y:2 = amp.call "mylib::scaled"(%x, %w) {differentiable} : (tensor<8x4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8xi64>)
  %l = train.reduce_sum %y#0 {dims = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
  %g = amp.call "mylib::scaled"(%x, %w, %dy) {seeds = array<i64: 0>, wrt = array<i64: 1>} : (tensor<8x4xf32>, tensor<4xf32>, tensor<8x4xf32>) -> tensor<4xf32>
  return %g, %new, %l : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}
