// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls can be parsed, printed, differentiated and given static shapes.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --train-autodiff | FileCheck %s --check-prefix=GRADIENT
// RUN: amp-opt %s --train-autodiff --train-set-batch=batch-size=3 | FileCheck %s --check-prefix=STATIC
// RUN: amp-opt %s --amp-training-pipeline=precision=fp16 | FileCheck %s --check-prefix=LOW
// RUN: amp-opt %s --train-autodiff --train-set-batch=batch-size=3 --amp-cpu-pipeline=to-llvm=false \
// RUN:   | FileCheck %s --check-prefix=CODE

// CHECK-LABEL: func @step(
// CHECK: %{{.*}}:2 = amp.call "mylib::scaled"(%{{.*}}, %{{.*}}) {differentiable, extent_of = array<i64: 0, 0>} : (tensor<?x4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?xi64>)
// GRADIENT: amp.call "mylib::scaled"(%[[X:.*]], %[[W:.*]]) {amp.id = 0 : i64, differentiable
// GRADIENT: amp.call "mylib::scaled"(%[[X]], %[[W]], %{{.*}}) {amp.backward_of = 0 : i64, amp.gradient_of = ["w"], seeds = array<i64: 0>, wrt = array<i64: 1>} : (tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<4xf32>
// STATIC: amp.call "mylib::scaled"({{.*}}) -> (tensor<3x4xf32>, tensor<3xi64>)
// Operands and results keep their types. The loss scale passes through the derivative.
// LOW: amp.call "mylib::scaled"({{.*}}) {{.*}} : (tensor<?x4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?xi64>)
// LOW: amp.call "mylib::scaled"({{.*}}) {{.*}}seeds{{.*}} : (tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<4xf32>
// LOW: amp.unscale
// CODE-DAG: memref.global "private" constant @[[NAME:.*]] : memref<13xi8> = dense<[109, 121, 108, 105, 98, 58, 58, 115, 99, 97, 108, 101, 100]>
// CODE-DAG: memref.global "private" constant @[[PLAIN:.*]] : memref<2xi64> = dense<[2, 0]>
// CODE-DAG: memref.global "private" constant @[[SLOPE:.*]] : memref<4xi64> = dense<[3, 1, 0, 1]>
// CODE: func.func @step
// CODE-COUNT-3: call @amp_call_add_f32
// CODE: call @amp_call_add_i64
// CODE: memref.get_global @[[NAME]]
// CODE: memref.get_global @[[PLAIN]]
// CODE-NOT: memref.dealloc
// CODE: call @amp_call_run
// No buffer is freed before its release.
// CODE-NOT: memref.dealloc
// CODE-COUNT-3: call @amp_call_release_f32
// CODE: call @amp_call_release_i64
// CODE-COUNT-4: call @amp_call_add_f32
// CODE: memref.get_global @[[SLOPE]]
// CODE: call @amp_call_run
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %y:2 = amp.call "mylib::scaled"(%x, %w) {differentiable, extent_of = array<i64: 0, 0>} : (tensor<?x4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<?xi64>)
  %z = train.relu %y#0 : tensor<?x4xf32>
  %l = train.reduce_sum %z {dims = array<i64: 0, 1>} : (tensor<?x4xf32>) -> tensor<f32>
  %g = train.gradients %l wrt(%w) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %n = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n, %l : tensor<4xf32>, tensor<f32>
}
