// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// amp-run and trainers have no operations that a step could call. Step/calls.py and
// Torch/custom-operations.py run such steps. A program for a GPU has parts. The parts with
// odd numbers are calls.
//
// RUN: %python -c "import numpy; numpy.savez('%t.npz', x=numpy.zeros((8, 4), numpy.float32))"
// RUN: not amp-run %s --data %t.npz --steps 1 --batch-size 4 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: amp-translate --mlir-to-cuda %s --batch-size 4 | FileCheck %s --check-prefix=CUDA

// CPU: error: the step calls the operation 'mylib::scaled' of the program that runs it, but there is no caller: pass one in amp_step_options, or run the step by amp_torch.compile
// CUDA: #include "amp/Runtime/CUDA/Calls.h"
// CUDA: const char *const kCallees[] = {
// CUDA-NEXT: "mylib::scaled",
// CUDA-NEXT: "mylib::scaled",
// CUDA-NEXT: };
// CUDA: Status part0(
// CUDA: // A call, on the host.
// CUDA-NEXT: Status part1(
// CUDA: const int64_t extents[] = {4, 4, 4, 4, 4, 0};
// CUDA-NEXT: const CallTensor tensors[] = {
// CUDA-NEXT: {run.at<float>(at::x), Type::F32, 2, extents + 0},
// CUDA-NEXT: {run.at<float>(at::w), Type::F32, 1, extents + 2},
// CUDA-NEXT: {run.at<float>(at::call), Type::F32, 2, extents + 3},
// CUDA: callOperation(run, {"mylib::scaled", tensors, 2, 1, nullptr, 0})
// CUDA: Status part3(
// CUDA: static const int64_t numbers[] = {0, 1};
// CUDA: callOperation(run, {"mylib::scaled", tensors, 3, 1, numbers, 1})
// CUDA: return enqueueParts(run, {part0, part1, part2, part3, part4});
// CUDA: kCallees, 2
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>},
                %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %y = amp.call "mylib::scaled"(%x, %w) {differentiable, extent_of = array<i64: 0, 0>} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %l = train.reduce_sum %y {dims = array<i64: 0, 1>} : (tensor<?x4xf32>) -> tensor<f32>
  %g = train.gradients %l wrt(%w) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %n = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n, %l : tensor<4xf32>, tensor<f32>
}
