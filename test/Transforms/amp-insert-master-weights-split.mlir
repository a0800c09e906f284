// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forward and backward passes read the upper half of the weight in two
// places. No operation reads the gain in bf16.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 > %t.mixed
// RUN: amp-opt %t.mixed --amp-insert-master-weights=mode=split > %t.split
// RUN: FileCheck %s --input-file=%t.split
// RUN: amp-opt %t.split --amp-insert-master-weights=mode=split | diff %t.split -
// RUN: amp-opt %t.split --auto-mixed-precision=precision=bf16 | diff %t.split -
// RUN: amp-opt %t.mixed --amp-insert-master-weights=mode=split --remarks-filter=amp -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: amp-opt %t.split --amp-check-loss-scaling | diff %t.split -
// RUN: not amp-opt %s --auto-mixed-precision=precision=fp16 --amp-insert-master-weights=mode=split 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FP16
// RUN: not amp-opt %t.mixed --amp-insert-master-weights='mode=split update-rounding=stochastic' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROUNDING
// RUN: not amp-opt %t.split --amp-strip-precision 2>&1 | FileCheck %s --check-prefix=STRIP

// CHECK: func.func @step(%[[W:.*]]: tensor<4x4xf32> {amp.name = "w", amp.role = "parameter"}
// CHECK: %[[H:.*]] = amp.upper_half %[[W]] : tensor<4x4xf32> to tensor<4x4xbf16>
// CHECK-NOT: amp.upper_half
// CHECK: train.matmul %{{.*}}, %[[H]] :
// CHECK: train.matmul %{{.*}}, %[[H]] {transpose_b}
// CHECK: %[[NEW:.*]] = train.sgd %[[W]],
// CHECK: return %[[NEW]]
// REMARK-DAG: remark: {{.*}}Split | {{.*}}Parameter=w
// REMARK-DAG: remark: {{.*}}NotSplit | {{.*}}Parameter=g, Reason="forward and backward read it in f32 only
// FP16: error: the upper half of an f32 is a bf16, but parameter "w" is read in 'f16'; expected precision bf16, or master-weights=copy
// ROUNDING: error: amp-insert-master-weights: update-rounding=stochastic is for weights without a master, expected mode=none, got mode=split
// STRIP: error: cannot undo mixed precision, because later passes built on it
func.func @step(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %g: tensor<4xf32> {amp.role = "parameter", amp.name = "g"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "g"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = train.matmul %h, %w {transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %loss = train.mse %y, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mse_grad %y, %x, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %d = train.matmul %h, %dy {transpose_a, amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1 = train.sgd %w, %d, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %w1, %g, %loss : tensor<4x4xf32>, tensor<4xf32>, tensor<f32>
}
