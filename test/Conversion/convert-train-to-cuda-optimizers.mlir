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

// -----

// One launch adds rounding errors to the parameters, updates the sums and keeps
// what is lost again, beside a parameter that has no rounding error. Under a guard
// all of them keep their old values.
// CHECK-LABEL: func.func @compensated(
// CHECK-SAME: %[[W:[^:]*]]: tensor<8xf16> {{[^%]*}}%[[C:[^:]*]]: tensor<8xf16> {{[^%]*}}%[[B:[^:]*]]: tensor<8xf32>
// CHECK-NOT: cuda.kernel
// CHECK: %[[NEW:.*]]:3 = cuda.optimizer <sgd> {{.*}}ins(%[[W]], %[[B]], %{{.*}}, %{{.*}}, %{{.*}}, %[[C]] : {{.*}}) if %{{.*}} : tensor<i1> {compensations = array<i64: 0>,
// CHECK-NOT: cuda.kernel
// CHECK: return %[[NEW]]#0, %[[NEW]]#2, %[[NEW]]#1
// PLAN-LABEL: cuda.program @compensated
// PLAN-DAG: %[[W:.*]] = cuda.buffer "w" at
// PLAN-DAG: %[[C:.*]] = cuda.buffer "w.compensation" at
// PLAN-DAG: %[[B:.*]] = cuda.buffer "b" at
// PLAN: cuda.optimizer {{.*}}outs(%[[W]], %[[B]], %[[C]] :
func.func @compensated(%w: tensor<8xf16> {amp.role = "parameter", amp.name = "w"},
                       %c: tensor<8xf16> {amp.role = "optimizer_state", amp.name = "w.compensation"},
                       %b: tensor<8xf32> {amp.role = "parameter", amp.name = "b"},
                       %g: tensor<8xf32> {amp.role = "batch", amp.name = "g"},
                       %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
                       %ok: tensor<i1> {amp.role = "batch", amp.name = "ok"})
    -> (tensor<8xf16> {amp.updates = "w"}, tensor<8xf16> {amp.updates = "w.compensation"}, tensor<8xf32> {amp.updates = "b"}) {
  %sum = amp.compensate %w, %c : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf32>
  %new = train.sgd %sum, %g, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %low = amp.cast %new inserted : tensor<8xf32> to tensor<8xf16>
  %lost = amp.residual %new, %low : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf16>
  %bias = train.sgd %b, %g, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %0 = train.select %ok, %low, %w : (tensor<i1>, tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %1 = train.select %ok, %lost, %c : (tensor<i1>, tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %2 = train.select %ok, %bias, %b : (tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf16>, tensor<8xf16>, tensor<8xf32>
}

// -----

// If something else reads the new value in f32, kernels compute what rounding
// loses.
// CHECK-LABEL: func.func @compensated_and_read(
// CHECK: cuda.optimizer <sgd>
// CHECK-NOT: compensations
// CHECK: return
// PLAN-LABEL: cuda.program @compensated_and_read
func.func @compensated_and_read(%w: tensor<8xbf16> {amp.role = "parameter", amp.name = "w"},
                                %c: tensor<8xbf16> {amp.role = "optimizer_state", amp.name = "w.compensation"},
                                %g: tensor<8xf32> {amp.role = "batch", amp.name = "g"},
                                %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8xbf16> {amp.updates = "w"}, tensor<8xbf16> {amp.updates = "w.compensation"}, tensor<8xf32> {amp.prediction = "y"}) {
  %sum = amp.compensate %w, %c : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xf32>
  %new = train.sgd %sum, %g, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %low = amp.cast %new inserted : tensor<8xf32> to tensor<8xbf16>
  %lost = amp.residual %new, %low : (tensor<8xf32>, tensor<8xbf16>) -> tensor<8xbf16>
  %y = train.tanh %new : tensor<8xf32>
  return %low, %lost, %y : tensor<8xbf16>, tensor<8xbf16>, tensor<8xf32>
}
