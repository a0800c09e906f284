// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trainer knows how many rows a table has that token ids choose from, and how
// many classes a loss with label smoothing has; so does the forward function.
//
// RUN: amp-translate --mlir-to-cuda --precision fp16 --emit-main %s | FileCheck %s

// CHECK: {"tokens", Role::Batch, Type::I64, 1, {24}, at::tokens, {}, 31},
// CHECK-NEXT: {"labels", Role::Batch, Type::I32, 1, {24}, at::labels, {}, 10},
// CHECK: namespace forward {
// CHECK: {"tokens", Role::Batch, Type::I64, 1, {24}, at::tokens, {}, 31},
func.func @step(
    %table: tensor<31x10xf32> {amp.role = "parameter", amp.name = "table", amp.init = #amp.init<xavier_uniform>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.05>},
    %tokens: tensor<24xi64> {amp.role = "batch", amp.name = "tokens"},
    %labels: tensor<24xi32> {amp.role = "batch", amp.name = "labels"})
    -> (tensor<31x10xf32> {amp.updates = "table"}, tensor<f32> {amp.metric = "loss"},
        tensor<24x10xf32> {amp.prediction = "rows"}) {
  %rows = train.gather %table, %tokens {axis = 0 : i64} : (tensor<31x10xf32>, tensor<24xi64>) -> tensor<24x10xf32>
  %loss = train.cross_entropy %rows, %labels {label_smoothing = 0.1 : f64} : (tensor<24x10xf32>, tensor<24xi32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%table) : (tensor<f32>, tensor<31x10xf32>) -> (tensor<31x10xf32>)
  %new = train.sgd %table, %g, %lr : (tensor<31x10xf32>, tensor<31x10xf32>, tensor<f32>) -> tensor<31x10xf32>
  return %new, %loss, %rows : tensor<31x10xf32>, tensor<f32>, tensor<24x10xf32>
}
