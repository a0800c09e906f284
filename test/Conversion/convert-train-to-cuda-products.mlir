// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of one matrix become one, where that moves fewer bytes.
//
// RUN: amp-opt %s --convert-train-to-cuda --split-input-file | FileCheck %s
// RUN: amp-opt %s --convert-train-to-cuda=strict-rounding --split-input-file | FileCheck %s --check-prefix=STRICT

// Queries and keys: weights and biases are joined, and the kernels that read
// columns of the product are those that turn the heads.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: %[[X:.*]]: tensor<96x8xf32> {amp.name = "x"
// CHECK-DAG: %[[W:.*]] = cuda.kernel {{.*}} over [8, 12]
// CHECK-DAG: %[[B:.*]] = cuda.kernel {{.*}} over [12]
// CHECK: %[[Y:.*]] = cuda.gemm named "attn_q_k" ins(%[[X]], %[[W]], %[[B]] : {{.*}}) {bias} -> tensor<96x12xf32>
// CHECK-NOT: cuda.gemm
// CHECK: cuda.kernel {{.*}} over [4, 2, 24, 4]
// CHECK: cuda.kernel {{.*}} over [4, 1, 24, 4]
// CHECK-NOT: cuda.kernel
// CHECK: return
func.func @heads(%x: tensor<96x8xf32> {amp.role = "batch", amp.name = "x"},
                 %q: tensor<8x8xf32> {amp.role = "parameter", amp.name = "attn.q.weight"},
                 %a: tensor<8xf32> {amp.role = "parameter", amp.name = "attn.q.bias"},
                 %k: tensor<8x4xf32> {amp.role = "parameter", amp.name = "attn.k.weight"},
                 %b: tensor<4xf32> {amp.role = "parameter", amp.name = "attn.k.bias"})
    -> (tensor<4x2x24x4xf32> {amp.prediction = "q"}, tensor<4x1x24x4xf32> {amp.prediction = "k"}) {
  %0 = train.linear %x, %q, %a : (tensor<96x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<96x8xf32>
  %1 = train.linear %x, %k, %b : (tensor<96x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<96x4xf32>
  %2 = train.reshape %0 : (tensor<96x8xf32>) -> tensor<4x24x2x4xf32>
  %3 = train.transpose %2 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x24x2x4xf32>) -> tensor<4x2x24x4xf32>
  %4 = train.reshape %1 : (tensor<96x4xf32>) -> tensor<4x24x1x4xf32>
  %5 = train.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<4x24x1x4xf32>) -> tensor<4x1x24x4xf32>
  %6 = train.tanh %5 : tensor<4x1x24x4xf32>
  return %3, %6 : tensor<4x2x24x4xf32>, tensor<4x1x24x4xf32>
}

// -----

// Apart: few rows, for which joining the weights would move more bytes; and a
// relu, which the separate product takes.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-4: cuda.gemm
func.func @apart(%x: tensor<8x8xf32> {amp.role = "batch", amp.name = "x"},
                 %z: tensor<96x8xf32> {amp.role = "batch", amp.name = "z"},
                 %v: tensor<8x8xf32> {amp.role = "parameter", amp.name = "v"},
                 %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<8x8xf32> {amp.prediction = "a"}, tensor<8x8xf32> {amp.prediction = "b"},
        tensor<96x8xf32> {amp.prediction = "c"}, tensor<96x8xf32> {amp.prediction = "d"}) {
  %0 = train.linear %x, %v : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.linear %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.tanh %0 : tensor<8x8xf32>
  %3 = train.tanh %1 : tensor<8x8xf32>
  %4 = train.linear %z, %v : (tensor<96x8xf32>, tensor<8x8xf32>) -> tensor<96x8xf32>
  %5 = train.linear %z, %w : (tensor<96x8xf32>, tensor<8x8xf32>) -> tensor<96x8xf32>
  %6 = train.relu %4 : tensor<96x8xf32>
  %7 = train.tanh %5 : tensor<96x8xf32>
  return %2, %3, %6, %7 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<96x8xf32>, tensor<96x8xf32>
}

// -----

// With strict rounding a product does not fuse an operation if that skips a
// rounding to f16: a residual, gelu, a widening that was inserted. relu skips
// none.
// CHECK-LABEL: func.func @rounding
// CHECK: cuda.gemm {{.*}}{accumulate}
// CHECK: cuda.gemm {{.*}}activation = #cuda.activation<gelu_tanh>
// CHECK: cuda.gemm {{.*}}-> tensor<16x8xf32>
// CHECK: cuda.gemm {{.*}}activation = #cuda.activation<relu>
// STRICT-LABEL: func.func @rounding
// STRICT-NOT: accumulate
// STRICT-NOT: gelu_tanh>
// STRICT-NOT: cuda.gemm {{.*}}-> tensor<16x8xf32>
// STRICT: cuda.gemm {{.*}}activation = #cuda.activation<relu>
func.func @rounding(%x: tensor<16x8xf16> {amp.role = "batch", amp.name = "x"},
                    %r: tensor<16x8xf16> {amp.role = "batch", amp.name = "r"},
                    %u: tensor<8x8xf16> {amp.role = "parameter", amp.name = "u"},
                    %v: tensor<8x8xf16> {amp.role = "parameter", amp.name = "v"},
                    %w: tensor<8x8xf16> {amp.role = "parameter", amp.name = "w"},
                    %s: tensor<8x8xf16> {amp.role = "parameter", amp.name = "s"})
    -> (tensor<16x8xf16> {amp.prediction = "a"}, tensor<16x8xf16> {amp.prediction = "b"},
        tensor<16x8xf32> {amp.prediction = "c"}, tensor<16x8xf16> {amp.prediction = "d"}) {
  %0 = train.linear %x, %u : (tensor<16x8xf16>, tensor<8x8xf16>) -> tensor<16x8xf16>
  %1 = train.add %0, %r : (tensor<16x8xf16>, tensor<16x8xf16>) -> tensor<16x8xf16>
  %2 = train.linear %x, %v : (tensor<16x8xf16>, tensor<8x8xf16>) -> tensor<16x8xf16>
  %3 = train.gelu %2 {approximate = 1 : i32} : tensor<16x8xf16>
  %4 = train.linear %x, %w : (tensor<16x8xf16>, tensor<8x8xf16>) -> tensor<16x8xf16>
  %5 = amp.cast %4 inserted : tensor<16x8xf16> to tensor<16x8xf32>
  %6 = train.linear %x, %s : (tensor<16x8xf16>, tensor<8x8xf16>) -> tensor<16x8xf16>
  %7 = train.relu %6 : tensor<16x8xf16>
  return %1, %3, %5, %7 : tensor<16x8xf16>, tensor<16x8xf16>, tensor<16x8xf32>, tensor<16x8xf16>
}
