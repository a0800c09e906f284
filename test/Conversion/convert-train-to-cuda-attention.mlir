// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention by plans of cuDNN, which read their operands where slices and
// transposes take them from, and attention that stays products and a softmax.
//
// RUN: amp-opt %s --convert-train-to-cuda=attention=cudnn --split-input-file | FileCheck %s
// RUN: amp-opt %s --convert-train-to-cuda="attention=cudnn deterministic=false" --split-input-file | FileCheck %s --check-prefix=FAST
// RUN: amp-opt %s --convert-train-to-cuda=attention=decomposed --split-input-file | FileCheck %s --check-prefix=DECOMPOSED
// RUN: amp-opt %s --convert-train-to-cuda=attention=cudnn --split-input-file --remarks-filter=amp 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: amp-opt %s --convert-train-to-cuda="attention=cudnn library-dropout" --split-input-file | FileCheck %s --check-prefix=DROPOUT
// RUN: not amp-opt %s --convert-train-to-cuda=documents=ragged --split-input-file 2>&1 | FileCheck %s --check-prefix=DOCUMENTS
// RUN: not amp-opt %s --convert-train-to-cuda=attention=flash --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not amp-opt %s --convert-train-to-cuda="attention=cudnn strict-rounding" --split-input-file 2>&1 | FileCheck %s --check-prefix=STRICT
// FAST-NOT: deterministic
// DECOMPOSED-NOT: cuda.sdpa
// WRONG: error: 'func.func' op cannot be lowered with attention 'flash', expected auto, cudnn or decomposed
// DOCUMENTS: error: 'func.func' op cannot be lowered with documents 'ragged', expected bias or offsets
// STRICT: error: 'func.func' op cannot be lowered with attention by cuDNN and strict rounding, expected one of them

// The packed product of queries, keys and values: one launch each way, and
// nothing that moves elements.
// CHECK-LABEL: func.func @packed
// CHECK-SAME: %[[QKV:.*]]: tensor<2x8x96xbf16>
// CHECK-NEXT: %[[Y:.*]]:2 = cuda.sdpa named "attention" ins(%[[QKV]], %[[QKV]], %[[QKV]] :
// CHECK-SAME: key = #cuda.heads<at 32 by 768, 16, 96>
// CHECK-SAME: output = #cuda.heads<at 0 by 256, 16, 32>
// CHECK-SAME: query = #cuda.heads<at 0 by 768, 16, 96>
// CHECK-SAME: right_bound = 0
// CHECK-SAME: scale = 2.500000e-01
// CHECK-SAME: value = #cuda.heads<at 64 by 768, 16, 96>
// CHECK-SAME: -> tensor<2x8x2x16xbf16>, tensor<2x2x8xf32>
// CHECK-NEXT: %[[FLAT:.*]] = cuda.view %[[Y]]#0
// CHECK-NEXT: %[[D:.*]] = cuda.sdpa_grad named "attention_grad" ins(%{{.*}}, %[[QKV]], %[[QKV]], %[[QKV]], %[[Y]]#0, %[[Y]]#1 :
// CHECK-SAME: deterministic
// CHECK-SAME: grad = #cuda.heads<at 0 by 256, 16, 32>
// CHECK-SAME: -> tensor<2x8x96xbf16>
// CHECK-NEXT: return %[[FLAT]], %[[D]]
func.func @packed(%qkv: tensor<2x8x96xbf16> {amp.role = "batch", amp.name = "qkv"},
                  %dy: tensor<2x8x32xbf16> {amp.role = "batch", amp.name = "dy"})
    -> (tensor<2x8x32xbf16> {amp.prediction = "y"}, tensor<2x8x96xbf16> {amp.prediction = "dqkv"}) {
  %0 = train.slice %qkv {offsets = array<i64: 0, 0, 0>, sizes = array<i64: -1, -1, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x8x96xbf16>) -> tensor<2x8x32xbf16>
  %1 = train.slice %qkv {offsets = array<i64: 0, 0, 32>, sizes = array<i64: -1, -1, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x8x96xbf16>) -> tensor<2x8x32xbf16>
  %2 = train.slice %qkv {offsets = array<i64: 0, 0, 64>, sizes = array<i64: -1, -1, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x8x96xbf16>) -> tensor<2x8x32xbf16>
  %3 = train.reshape %0 : (tensor<2x8x32xbf16>) -> tensor<2x8x2x16xbf16>
  %4 = train.reshape %1 : (tensor<2x8x32xbf16>) -> tensor<2x8x2x16xbf16>
  %5 = train.reshape %2 : (tensor<2x8x32xbf16>) -> tensor<2x8x2x16xbf16>
  %q = train.transpose %3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x8x2x16xbf16>) -> tensor<2x2x8x16xbf16>
  %k = train.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x8x2x16xbf16>) -> tensor<2x2x8x16xbf16>
  %v = train.transpose %5 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x8x2x16xbf16>) -> tensor<2x2x8x16xbf16>
  %y, %lse = train.scaled_dot_product_attention %q, %k, %v {causal}
      : (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>) -> (tensor<2x2x8x16xbf16>, tensor<2x2x8xf32>)
  %6 = train.transpose %y {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x8x16xbf16>) -> tensor<2x8x2x16xbf16>
  %7 = train.reshape %6 : (tensor<2x8x2x16xbf16>) -> tensor<2x8x32xbf16>
  %8 = train.reshape %dy : (tensor<2x8x32xbf16>) -> tensor<2x8x2x16xbf16>
  %9 = train.transpose %8 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x8x2x16xbf16>) -> tensor<2x2x8x16xbf16>
  %dq, %dk, %dv = train.scaled_dot_product_attention_grad %9, %q, %k, %v, %y, %lse {causal}
      : (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8xf32>)
      -> (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>)
  %10 = train.transpose %dv {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x8x16xbf16>) -> tensor<2x8x2x16xbf16>
  %11 = train.reshape %10 : (tensor<2x8x2x16xbf16>) -> tensor<2x8x32xbf16>
  %12 = train.pad %11 {high = array<i64: 0, 0, 0>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 64>} : (tensor<2x8x32xbf16>) -> tensor<2x8x96xbf16>
  %13 = train.transpose %dk {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x8x16xbf16>) -> tensor<2x8x2x16xbf16>
  %14 = train.reshape %13 : (tensor<2x8x2x16xbf16>) -> tensor<2x8x32xbf16>
  %15 = train.pad %14 {high = array<i64: 0, 0, 32>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 32>} : (tensor<2x8x32xbf16>) -> tensor<2x8x96xbf16>
  %16 = train.add %12, %15 : (tensor<2x8x96xbf16>, tensor<2x8x96xbf16>) -> tensor<2x8x96xbf16>
  %17 = train.transpose %dq {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x8x16xbf16>) -> tensor<2x8x2x16xbf16>
  %18 = train.reshape %17 : (tensor<2x8x2x16xbf16>) -> tensor<2x8x32xbf16>
  %19 = train.pad %18 {high = array<i64: 0, 0, 64>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 0>} : (tensor<2x8x32xbf16>) -> tensor<2x8x96xbf16>
  %20 = train.add %16, %19 : (tensor<2x8x96xbf16>, tensor<2x8x96xbf16>) -> tensor<2x8x96xbf16>
  return %7, %20 : tensor<2x8x32xbf16>, tensor<2x8x96xbf16>
}

// -----

// A mask becomes a bias, and rows without a key are zero.
// CHECK-LABEL: func.func @masked
// CHECK: cuda.sdpa named {{.*}} {bias, {{.*}} -> tensor<2x2x8x16xf16>, tensor<2x2x8xf32>
// CHECK: cuda.kernel
// CHECK: return
func.func @masked(%q: tensor<2x2x8x16xf16> {amp.role = "batch", amp.name = "q"},
                  %m: tensor<2x1x1x8xi1> {amp.role = "batch", amp.name = "m"})
    -> (tensor<2x2x8x16xf16> {amp.prediction = "y"}) {
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q, %m
      : (tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x1x1x8xi1>) -> (tensor<2x2x8x16xf16>, tensor<2x2x8xf32>)
  return %y : tensor<2x2x8x16xf16>
}

// -----

// A constant mask that is a band becomes bounds: a window of two keys.
// CHECK-LABEL: func.func @window
// CHECK: cuda.sdpa
// CHECK-NOT: bias
// CHECK-SAME: left_bound = 2 : i64
// CHECK-SAME: right_bound = 0 : i64
// CHECK: return
func.func @window(%q: tensor<2x2x4x16xf16> {amp.role = "batch", amp.name = "q"})
    -> (tensor<2x2x4x16xf16> {amp.prediction = "y"}) {
  %m = arith.constant dense<[[true, false, false, false], [true, true, false, false],
                             [false, true, true, false], [false, false, true, true]]> : tensor<4x4xi1>
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q, %m
      : (tensor<2x2x4x16xf16>, tensor<2x2x4x16xf16>, tensor<2x2x4x16xf16>, tensor<4x4xi1>) -> (tensor<2x2x4x16xf16>, tensor<2x2x4xf32>)
  return %y : tensor<2x2x4x16xf16>
}

// -----

// Another constant mask is a bias. Each of its rows has a key.
// CHECK-LABEL: func.func @blocks
// CHECK: cuda.kernel
// CHECK: cuda.sdpa {{.*}} {bias,
// CHECK-NOT: cuda.kernel
// CHECK: return
func.func @blocks(%q: tensor<2x2x4x16xf16> {amp.role = "batch", amp.name = "q"})
    -> (tensor<2x2x4x16xf16> {amp.prediction = "y"}) {
  %m = arith.constant dense<[[true, true, false, false], [true, true, false, false],
                             [false, false, true, true], [false, false, true, true]]> : tensor<4x4xi1>
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q, %m
      : (tensor<2x2x4x16xf16>, tensor<2x2x4x16xf16>, tensor<2x2x4x16xf16>, tensor<4x4xi1>) -> (tensor<2x2x4x16xf16>, tensor<2x2x4xf32>)
  return %y : tensor<2x2x4x16xf16>
}

// -----

// Attention that cuDNN does not compute stays products.
// REMARK: AttentionDecomposed
// REMARK-SAME: its operands are not of 16 bits
// CHECK-LABEL: func.func @wide
// CHECK-NOT: cuda.sdpa
func.func @wide(%q: tensor<2x2x8x16xf32> {amp.role = "batch", amp.name = "q"})
    -> (tensor<2x2x8x16xf32> {amp.prediction = "y"}) {
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q
      : (tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>) -> (tensor<2x2x8x16xf32>, tensor<2x2x8xf32>)
  return %y : tensor<2x2x8x16xf32>
}

// -----

// REMARK: AttentionDecomposed
// REMARK-SAME: its heads have 12 elements, expected a multiple of 8 of at most 128
// CHECK-LABEL: func.func @odd
// CHECK-NOT: cuda.sdpa
func.func @odd(%q: tensor<2x2x8x12xf16> {amp.role = "batch", amp.name = "q"})
    -> (tensor<2x2x8x12xf16> {amp.prediction = "y"}) {
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q
      : (tensor<2x2x8x12xf16>, tensor<2x2x8x12xf16>, tensor<2x2x8x12xf16>) -> (tensor<2x2x8x12xf16>, tensor<2x2x8xf32>)
  return %y : tensor<2x2x8x12xf16>
}

// -----

// REMARK: AttentionDecomposed
// REMARK-SAME: its results are wider than its operands
// CHECK-LABEL: func.func @accumulated
// CHECK-NOT: cuda.sdpa
func.func @accumulated(%q: tensor<2x2x8x16xf16> {amp.role = "batch", amp.name = "q"})
    -> (tensor<2x2x8x16xf32> {amp.prediction = "y"}) {
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q
      : (tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>) -> (tensor<2x2x8x16xf32>, tensor<2x2x8xf32>)
  return %y : tensor<2x2x8x16xf32>
}

// -----

// The documents of packed sequences are a bias of each sample, which all heads share.
// No row is empty, so that nothing looks for such rows.
// REMARK: AttentionBias
// REMARK-SAME: Function=documents
// REMARK-SAME: Bytes=256
// CHECK-LABEL: func.func @documents
// CHECK: cuda.sdpa named {{.*}} ins(%{{.*}} : tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x1x8x8xf16>) {bias,
// CHECK-SAME: right_bound = 0
// CHECK-NOT: cuda.kernel
// CHECK: return
// DECOMPOSED-LABEL: func.func @documents
// DECOMPOSED-NOT: train.
func.func @documents(%q: tensor<2x2x8x16xf16> {amp.role = "batch", amp.name = "q"},
                     %l: tensor<2x4xi32> {amp.role = "batch", amp.name = "l"})
    -> (tensor<2x2x8x16xf16> {amp.prediction = "y"}) {
  %m = train.document_mask %l {positions = 8 : i64} : (tensor<2x4xi32>) -> tensor<2x1x8x8xi1>
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q, %m {causal}
      : (tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x1x8x8xi1>) -> (tensor<2x2x8x16xf16>, tensor<2x2x8xf32>)
  return %y : tensor<2x2x8x16xf16>
}

// -----

// Dropout has the masks of the CPU, by products. With library-dropout it is part of the plans. One launch
// computes the seeds of all attentions, and both directions of one read the same row.
// REMARK: AttentionDecomposed
// REMARK-SAME: its dropout has the random numbers of the CPU, expected 'library-dropout' to take those of cuDNN
// CHECK-LABEL: func.func @dropout
// CHECK-NOT: cuda.sdpa
// CHECK: cuda.dropout named
// DROPOUT-LABEL: func.func @dropout
// DROPOUT-SAME: %[[RNG:[a-z0-9]+]]: tensor<2xi64>
// DROPOUT-NEXT: %[[SEEDS:.*]] = cuda.dropout_seeds {{.*}}ins(%[[RNG]] : tensor<2xi64>) {keys = array<i32: 4, 2>} -> tensor<2x2xi64>
// DROPOUT-NEXT: %[[A:.*]]:2 = cuda.sdpa {{.*}}%[[SEEDS]] : {{.*}}{dropout = 2.500000e-01 : f64, {{.*}}output
// DROPOUT: %[[B:.*]]:2 = cuda.sdpa {{.*}}%[[SEEDS]] : {{.*}}{dropout = 5.000000e-01 : f64, {{.*}}seed_row = 1 : i64
// DROPOUT: cuda.sdpa_grad {{.*}}%[[SEEDS]] : {{.*}}dropout = 5.000000e-01 : f64, {{.*}}seed_row = 1 : i64
// DROPOUT-NOT: cuda.dropout named
func.func @dropout(%rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng"},
                   %q: tensor<2x2x8x16xbf16> {amp.role = "batch", amp.name = "q"})
    -> (tensor<2xi64> {amp.updates = "rng"}, tensor<2x2x8x16xbf16> {amp.prediction = "dq"}) {
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q, %rng {dropout_rate = 0.25 : f64, dropout_key = 4 : i32}
      : (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2xi64>) -> (tensor<2x2x8x16xbf16>, tensor<2x2x8xf32>)
  %z, %lse1 = train.scaled_dot_product_attention %y, %y, %y, %rng {causal, dropout_rate = 0.5 : f64, dropout_key = 2 : i32}
      : (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2xi64>) -> (tensor<2x2x8x16xbf16>, tensor<2x2x8xf32>)
  %dq, %dk, %dv = train.scaled_dot_product_attention_grad %q, %y, %y, %y, %z, %lse1, %rng {causal, dropout_rate = 0.5 : f64, dropout_key = 2 : i32}
      : (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8xf32>, tensor<2xi64>) -> (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>)
  %next = train.advance_rng %rng : tensor<2xi64>
  return %next, %dq : tensor<2xi64>, tensor<2x2x8x16xbf16>
}
