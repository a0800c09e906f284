// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of loss scaling join what 'cuda-annotate-step' noted, and reach the
// program: those of the training pipeline, too.
//
// RUN: split-file %s %t
// RUN: amp-opt --cuda-annotate-scaler %t/step.mlir | FileCheck %s
// RUN: amp-opt --amp-cuda-pipeline="precision=fp16 loss-scale=1024 batch-size=4" %models/digits-mlp.mlir | FileCheck %s --check-prefix=PROGRAM
// RUN: amp-opt --amp-cuda-pipeline="precision=fp16 batch-size=4 inference=step" %models/digits-mlp.mlir | FileCheck %s --check-prefix=DYNAMIC

// CHECK: func.func @noted(
// CHECK-SAME: cuda.state = #cuda.state<precision = "fp16", fingerprint = 7, scaler = ["scaler = amp.update_scale", {{.*}}"hysteresis = {{[0-9]+}}{{.*}}]>
// CHECK: func.func @other(
// CHECK-NOT: cuda.state

// PROGRAM: cuda.program @step {{.*}} attributes {state = #cuda.state<precision = "fp16", fingerprint = {{[0-9]+}}, scaler = ["loss_scale = 1024"]>} {

// DYNAMIC: cuda.program @step {{.*}} scaler = ["scaler = amp.update_scale",
// DYNAMIC: cuda.program @step_inference
// DYNAMIC-NOT: cuda.state

//--- step.mlir
func.func @noted(
    %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"},
    %g: tensor<i32> {amp.role = "scaler_state", amp.name = "growth_tracker"},
    %h: tensor<i32> {amp.role = "scaler_state", amp.name = "hysteresis_tracker"},
    %f: tensor<i1> {amp.role = "batch", amp.name = "finite"})
    -> (tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "growth_tracker"},
        tensor<i32> {amp.updates = "hysteresis_tracker"})
    attributes {cuda.state = #cuda.state<precision = "fp16", fingerprint = 7, scaler = []>} {
  %r:3 = amp.update_scale %s, %g, %h, %f
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<i32>, tensor<i32>
}
func.func @other(
    %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"},
    %g: tensor<i32> {amp.role = "scaler_state", amp.name = "growth_tracker"},
    %h: tensor<i32> {amp.role = "scaler_state", amp.name = "hysteresis_tracker"},
    %f: tensor<i1> {amp.role = "batch", amp.name = "finite"})
    -> (tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "growth_tracker"},
        tensor<i32> {amp.updates = "hysteresis_tracker"}) {
  %r:3 = amp.update_scale %s, %g, %h, %f
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<i32>, tensor<i32>
}
