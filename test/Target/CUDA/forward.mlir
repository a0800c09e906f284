// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forward function of a step: a second program that the trainer uses to
// predict and evaluate.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/step.mlir --amp-cuda-pipeline="precision=fp16 inference=step" --mlir-print-debuginfo -o %t/programs.mlir
// RUN: FileCheck %s --check-prefix=PROGRAM < %t/programs.mlir
// RUN: amp-translate --mlir-to-cuda --precision fp16 --emit-main %t/step.mlir -o %t/step.cu
// RUN: FileCheck %s --check-prefix=SOURCE < %t/step.cu
// The same of the programs, printed and read again.
// RUN: amp-translate --mlir-to-cuda --emit-main %t/programs.mlir | sed 1d > %t/again.cu
// RUN: sed 1d %t/step.cu | diff - %t/again.cu
// Without a trainer the second program is absent.
// RUN: amp-translate --mlir-to-cuda %t/programs.mlir | FileCheck %s --check-prefix=ALONE
// By its name it is a program like others.
// RUN: amp-translate --mlir-to-cuda --entry step_inference %t/programs.mlir | FileCheck %s --check-prefix=NAMED
//
// RUN: amp-translate --mlir-to-cuda --emit-main %t/gradient.mlir -o %t/gradient.cu 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: FileCheck %s --check-prefix=WITHOUT < %t/gradient.cu
// RUN: not amp-translate --mlir-to-cuda --emit-main %t/dynamic.mlir -o %t/dynamic.cu 2>&1 | FileCheck %s --check-prefix=DYNAMIC

// PROGRAM: cuda.program @step arena {{.*}} {
// PROGRAM: cuda.optimizer
// PROGRAM: cuda.program @step_inference arena {{.*}} attributes {evaluation = [#cuda.evaluation<mse of "y" by "targets">], inference_of = @step} {
// PROGRAM: cuda.buffer "fc.weight" at {{[0-9]+}} {{.*}}role = "parameter"
// PROGRAM-NOT: targets
// PROGRAM-NOT: cuda.optimizer

// SOURCE: #include "amp/Runtime/CUDA/ProgramInterface.h"
// SOURCE: //===-- The forward function
// SOURCE: {{^}}namespace {
// SOURCE-NEXT: namespace forward {
// SOURCE: {"y", Role::Prediction,
// SOURCE: const ProgramInfo kProgram = {
// SOURCE-NEXT: "step_inference",
// SOURCE: const EvaluationRule kRules[] = {
// SOURCE-NEXT: {EvaluationRule::Kind::MSE, "y", "targets"},
// SOURCE-NEXT: };
// SOURCE-NEXT: const ForwardInfo kForward = {&kProgram, kRules, 1};
// SOURCE: interface(kProgram, forward::kForward);
// SOURCE: return trainerMain(argc, argv, kProgram, forward::kForward);

// ALONE-NOT: namespace forward
// NAMED: // One step of 'step_inference':

// WARNING: amp-translate: warning: the trainer has neither --eval nor --predict: a prediction or metric of the forward function depends on gradients
// WITHOUT: return trainerMain(argc, argv, kProgram);

// DYNAMIC-NOT: warning
// DYNAMIC: error: the step leaves its batch open, expected --batch-size

//--- step.mlir
func.func @step(
    %w: tensor<8x4xf32> {amp.role = "parameter", amp.name = "fc.weight", amp.init = #amp.init<kaiming_uniform>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.05>},
    %x: tensor<16x8xf32> {amp.role = "batch", amp.name = "x"},
    %t: tensor<16x4xf32> {amp.role = "batch", amp.name = "targets"})
    -> (tensor<8x4xf32> {amp.updates = "fc.weight"}, tensor<f32> {amp.metric = "loss"},
        tensor<16x4xf32> {amp.prediction = "y"}) {
  %y = train.linear %x, %w : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %loss = train.mse %y, %t : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8x4xf32>) -> (tensor<8x4xf32>)
  %w1 = train.sgd %w, %g, %lr : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %w1, %loss, %y : tensor<8x4xf32>, tensor<f32>, tensor<16x4xf32>
}
//--- gradient.mlir
func.func @step(
    %w: tensor<8x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>},
    %x: tensor<16x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8x4xf32> {amp.prediction = "gradient"}) {
  %y = train.matmul %x, %w : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %loss = train.reduce_sum %y {dims = array<i64: 0, 1>} : (tensor<16x4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8x4xf32>) -> (tensor<8x4xf32>)
  return %g : tensor<8x4xf32>
}
//--- dynamic.mlir
func.func @step(%x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<?x8xf32> {amp.prediction = "y"}) {
  %y = train.relu %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
