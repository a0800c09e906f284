// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A new value that is read before it is rounded for storage is guarded as well.
// The old value is widened before the guard, even if it is widened elsewhere
// too.
//
// RUN: amp-opt %s --amp-training-pipeline="precision=bf16 loss-scale=dynamic" | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[W:[^:]*]]: tensor<4x3xbf16>
// CHECK: %[[OLD:.*]] = amp.cast %[[W]] : tensor<4x3xbf16> to tensor<4x3xf32>
// CHECK: %[[NEW:.*]]:2 = scf.if
// CHECK: else
// CHECK-NEXT: scf.yield %[[W]], %[[OLD]] :
// CHECK: train.reduce_sum %[[NEW]]#1
func.func @step(
    %w: tensor<4x3xbf16> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_uniform>},
    %x: tensor<?x4xbf16> {amp.role = "batch", amp.name = "x"},
    %labels: tensor<?xi64> {amp.role = "batch", amp.name = "y"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.1>})
    -> (tensor<4x3xbf16> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"},
        tensor<f32> {amp.metric = "before"}, tensor<f32> {amp.metric = "after"}) {
  %wide = amp.cast %w : tensor<4x3xbf16> to tensor<4x3xf32>
  %logits = train.matmul %x, %w : (tensor<?x4xbf16>, tensor<4x3xbf16>) -> tensor<?x3xbf16>
  %loss = train.cross_entropy %logits, %labels : (tensor<?x3xbf16>, tensor<?xi64>) -> tensor<f32>
  %grad = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4x3xbf16>) -> tensor<4x3xbf16>
  %g = amp.cast %grad : tensor<4x3xbf16> to tensor<4x3xf32>
  %new = train.sgd %wide, %g, %lr : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %low = amp.cast %new : tensor<4x3xf32> to tensor<4x3xbf16>
  %after = train.reduce_sum %new {dims = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  %again = amp.cast %w : tensor<4x3xbf16> to tensor<4x3xf32>
  %before = train.reduce_sum %again {dims = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  return %low, %loss, %before, %after : tensor<4x3xbf16>, tensor<f32>, tensor<f32>, tensor<f32>
}
