// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --convert-train-to-cuda=ranks=4 | FileCheck %s
// RUN: amp-opt %s --convert-train-to-cuda=ranks=4 --cuda-plan-memory=ranks=4 | FileCheck %s --check-prefix=PLAN
// RUN: not amp-opt %s --convert-train-to-cuda=ranks=3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'amp.reduce_scatter' op divides 'tensor<5x3xf32>' into flat parts of 4 elements, expected 5 for 3 ranks
// RUN: not amp-opt %s --convert-train-to-cuda -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'amp.reduce_scatter' op divides 'tensor<5x3xf32>' into flat parts of 4 elements for an unknown number of ranks, expected the option 'ranks'
// RUN: not amp-opt %s --convert-train-to-cuda=ranks=-1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: cannot be lowered for 'ranks' -1, expected at least 0

// Adjacent sums form one bucket. No tensor is copied, although 4 does not divide
// the first one. The state keeps the type of the whole tensor.
// CHECK-LABEL: func.func @parts
// CHECK: %[[G:.*]] = cuda.kernel named "mul" over [5, 3]
// CHECK: %[[P:.*]] = cuda.view %[[G]] : tensor<5x3xf32> to tensor<15xf32>
// CHECK: cuda.reduce_scatter named "scatter_w" ins(%[[P]], %{{.*}} : tensor<15xf32>, tensor<8xf32>) {along = 0 : i64} -> tensor<4xf32>, tensor<2xf32>
// CHECK: cuda.rank_part {{.*}} ins(%{{.*}} : tensor<5x3xf32>) -> tensor<4xf32>
// CHECK: cuda.all_gather named "gather_w" ins(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<2xf32>) {along = 0 : i64} -> tensor<15xf32>, tensor<8xf32>
// PLAN-LABEL: cuda.program @parts
// PLAN: cuda.buffer "v" at {{.*}} {part_of = tensor<5x3xf32>, role = "optimizer_state"} : memref<4xf32>
// PLAN: %[[W:.*]] = cuda.view %w : memref<5x3xf32> to memref<15xf32>
// PLAN: cuda.all_gather named "gather_w" ins({{.*}}) outs(%[[W]], %u : memref<15xf32>, memref<8xf32>)
// PLAN-NEXT: cuda.await "gather_w"
// PLAN-NOT: cuda.kernel
func.func @parts(%w: tensor<5x3xf32> {amp.role = "parameter", amp.name = "w"},
                 %u: tensor<8xf32> {amp.role = "parameter", amp.name = "u"},
                 %v: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "v", amp.part_of = tensor<5x3xf32>},
                 %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
                 %x: tensor<5x3xf32> {amp.role = "batch", amp.name = "x"},
                 %y: tensor<8xf32> {amp.role = "batch", amp.name = "y"})
    -> (tensor<5x3xf32> {amp.updates = "w"}, tensor<8xf32> {amp.updates = "u"}, tensor<4xf32> {amp.updates = "v"}) {
  %0 = train.mul %x, %w {amp.gradient_of = ["w"]} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %1 = train.mul %y, %u : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = amp.reduce_scatter %0 {amp.gradient_of = ["w"]} : tensor<5x3xf32> to tensor<4xf32>
  %3 = amp.reduce_scatter %1 : tensor<8xf32> to tensor<2xf32>
  %4 = amp.rank_part %w : tensor<5x3xf32> to tensor<4xf32>
  %5, %6 = train.sgd %4, %2, %lr, %v {momentum = 0.9 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %7 = amp.all_gather %5 : tensor<4xf32> to tensor<5x3xf32>
  %8 = amp.all_gather %3 : tensor<2xf32> to tensor<8xf32>
  return %7, %8, %6 : tensor<5x3xf32>, tensor<8xf32>, tensor<4xf32>
}
