// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tools reject a step that calls operations of another program.
// Torch/custom-operations.py runs such steps.
//
// RUN: %python -c "import numpy; numpy.savez('%t.npz', x=numpy.zeros((8, 4), numpy.float32))"
// RUN: not amp-run %s --data %t.npz --steps 1 --batch-size 4 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not amp-translate --mlir-to-cuda %s --batch-size 4 -o %t.cu 2>&1 | FileCheck %s --check-prefix=CUDA

// CPU: error: the step calls the operation 'mylib::scaled' of the program that runs it, but there is no caller: pass one in amp_step_options, or run the step by amp_torch.compile
// CUDA: error: 'amp.call' op cannot be part of a program for a GPU
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>},
                %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %y = amp.call "mylib::scaled"(%x, %w) {differentiable, extent_of = array<i64: 0, 0>} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %l = train.reduce_sum %y {dims = array<i64: 0, 1>} : (tensor<?x4xf32>) -> tensor<f32>
  %g = train.gradients %l wrt(%w) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %n = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n, %l : tensor<4xf32>, tensor<f32>
}
