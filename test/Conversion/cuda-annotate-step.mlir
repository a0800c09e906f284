// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash of each step as it is written, without its initial values, the names of
// values, and other steps.
//
// RUN: split-file %s %t
// RUN: amp-opt --cuda-annotate-step=precision=half %t/step.mlir | FileCheck %s
// RUN: amp-opt --cuda-annotate-step=precision=half %t/step.mlir | grep -o "fingerprint = [0-9]*" > %t/one
// RUN: sed 's/%%w/%%weight/; s/ones/zeros/; s/return %%w /return %%weight /' %t/step.mlir > %t/other.mlir
// RUN: amp-opt --cuda-annotate-step %t/other.mlir | grep -o "fingerprint = [0-9]*" | diff - %t/one
// RUN: cat %t/step.mlir %t/second.mlir > %t/both.mlir
// RUN: amp-opt --cuda-annotate-step %t/both.mlir | grep -o "fingerprint = [0-9]*" | head -1 | diff - %t/one
// RUN: sed 's/4xf32/5xf32/' %t/step.mlir > %t/wide.mlir
// RUN: amp-opt --cuda-annotate-step %t/wide.mlir | grep -o "fingerprint = [0-9]*" | not diff - %t/one
// RUN: amp-opt --cuda-annotate-step=precision=tf32 %t/step.mlir | FileCheck %s --check-prefix=TF32
// RUN: not amp-opt --cuda-annotate-step=precision=fp4 %t/step.mlir 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK: func.func @step(
// CHECK-SAME: attributes {cuda.state = #cuda.state<precision = "fp16", fingerprint = {{[0-9]+}}, scaler = []>}
// CHECK: func.func @helper() {
// TF32: precision = "tf32"
// WRONG: error: cuda-annotate-step has the unknown precision 'fp4', expected f32, tf32, fp16, bf16, fp8, fp8- and a recipe, or nothing

//--- step.mlir
func.func @step(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<ones>},
    %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}) {
  return %w : tensor<4xf32>
}
func.func @helper() {
  return
}
//--- second.mlir
func.func @second(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "v", amp.init = #amp.init<ones>},
    %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "v"}) {
  return %w : tensor<4xf32>
}
