// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Optimizers of 16-bit parameters and moments, and of parameters whose halves
// are stored apart.
//
// RUN: amp-opt %s --convert-train-to-cuda --split-input-file --remarks-filter=amp 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t.remarks
// RUN: amp-opt %s --convert-train-to-cuda --cuda-plan-memory --split-input-file | FileCheck %s --check-prefix=PLAN

// If the model reads only the upper half of a parameter, its halves are stored
// apart. An optimizer rounds parameters and moments that are stored in bf16.
// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[W:[^:]*]]: tensor<8xf32> {amp.name = "w", amp.role = "parameter", cuda.split}
// CHECK-SAME: %[[L:[^:]*]]: tensor<8xbf16>
// CHECK: %[[H:.*]] = cuda.upper_half %[[W]] : tensor<8xf32> to tensor<8xbf16>
// CHECK: cuda.kernel
// CHECK: %[[NEW:.*]]:4 = cuda.optimizer <sgd> {{.*}}ins(%[[W]], %[[L]], {{.*}}rounding_keys = array<i64: -1, 4, -1, 5>, splits = array<i64: 0>,
// CHECK-NOT: amp.master_copy
// CHECK: return %[[NEW]]#0, %[[NEW]]#1, %[[NEW]]#2, %[[NEW]]#3
// PLAN: %[[P:.*]] = cuda.buffer "w" at 0 {role = "parameter", split} : memref<8xf32>
// PLAN: %[[U:.*]] = cuda.upper_half %[[P]] : memref<8xf32> to memref<8xbf16>
// PLAN: cuda.kernel {{.*}}
// PLAN: ins(%[[U]],
// PLAN: cuda.optimizer {{.*}}outs(%[[P]],
func.func @halves(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
                  %l: tensor<8xbf16> {amp.role = "parameter", amp.name = "l"},
                  %v: tensor<8xf32> {amp.role = "optimizer_state", amp.name = "v"},
                  %u: tensor<8xbf16> {amp.role = "optimizer_state", amp.name = "u"},
                  %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng"},
                  %x: tensor<8xbf16> {amp.role = "batch", amp.name = "x"},
                  %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<8xbf16> {amp.updates = "l"}, tensor<8xf32> {amp.updates = "v"},
        tensor<8xbf16> {amp.updates = "u"}, tensor<8xbf16> {amp.prediction = "y"}) {
  %h = amp.upper_half %w : tensor<8xf32> to tensor<8xbf16>
  %y = train.mul %h, %x : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  %g = amp.cast %y : tensor<8xbf16> to tensor<8xf32>
  %wide = amp.cast %l : tensor<8xbf16> to tensor<8xf32>
  %m = amp.cast %u : tensor<8xbf16> to tensor<8xf32>
  %0:2 = train.sgd %w, %g, %lr, %v {momentum = 0.9 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %1:2 = train.sgd %wide, %g, %lr, %m {momentum = 0.9 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %2 = amp.master_copy %1#0 stochastic %rng key 4 : tensor<8xf32> to tensor<8xbf16>
  %3 = amp.master_copy %1#1 stochastic %rng key 5 : tensor<8xf32> to tensor<8xbf16>
  return %0#0, %2, %0#1, %3, %y : tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>, tensor<8xbf16>, tensor<8xbf16>
}

// -----

// A parameter that another operation reads in f32 stays whole. A kernel removes
// the lower halves.
// CHECK-LABEL: func.func @read_whole(
// CHECK-NOT: cuda.split
// CHECK: arith.andi
// CHECK: cuda.optimizer <sgd>
// CHECK-NOT: splits
// CHECK: return
// REMARK: remark: {{.*}}NotSplit{{.*}}Function=read_whole{{.*}}Op=train.tanh, Reason="it reads a parameter in f32, whose halves are therefore not stored apart"
// PLAN-LABEL: cuda.program @read_whole
// PLAN-NOT: split
// PLAN: cuda.optimizer
func.func @read_whole(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
                      %g: tensor<8xf32> {amp.role = "batch", amp.name = "g"},
                      %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<8xbf16> {amp.prediction = "y"}, tensor<8xf32> {amp.prediction = "z"}) {
  %h = amp.upper_half %w : tensor<8xf32> to tensor<8xbf16>
  %y = train.tanh %h : tensor<8xbf16>
  %z = train.tanh %w : tensor<8xf32>
  %0 = train.sgd %w, %g, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %y, %z : tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>
}

// -----

// A parameter also stays whole if its new value has another use than the update,
// or if no optimizer updates it.
// CHECK-LABEL: func.func @observed(
// CHECK-NOT: cuda.split
// CHECK: return
// CHECK-LABEL: func.func @no_optimizer(
// CHECK-NOT: cuda.split
// CHECK: return
// REMARK: remark: {{.*}}NotSplit{{.*}}Function=observed{{.*}}Op=cuda.optimizer
// REMARK: remark: {{.*}}NotSplit{{.*}}Function=no_optimizer{{.*}}Op=train.sub
// PLAN-LABEL: cuda.program @observed
// PLAN-NOT: split
// PLAN-LABEL: cuda.program @no_optimizer
// PLAN-NOT: split
func.func @observed(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
                    %g: tensor<8xf32> {amp.role = "batch", amp.name = "g"},
                    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<8xbf16> {amp.prediction = "y"}, tensor<8xf32> {amp.prediction = "new"}) {
  %h = amp.upper_half %w : tensor<8xf32> to tensor<8xbf16>
  %y = train.tanh %h : tensor<8xbf16>
  %0 = train.sgd %w, %g, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %y, %0 : tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>
}
func.func @no_optimizer(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
                        %g: tensor<8xf32> {amp.role = "batch", amp.name = "g"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<8xbf16> {amp.prediction = "y"}) {
  %h = amp.upper_half %w : tensor<8xf32> to tensor<8xbf16>
  %y = train.tanh %h : tensor<8xbf16>
  %0 = train.sub %w, %g : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %y : tensor<8xf32>, tensor<8xbf16>
}
