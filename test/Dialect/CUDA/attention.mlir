// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s

#sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 64, keys = 64, head_size = 16, value_size = 16>
#few = #cuda.attention<batch = 2, heads = 4, key_heads = 2, queries = 64, keys = 32, head_size = 16, value_size = 8>

// The heads of one product, and its gradient.
// CHECK-LABEL: func.func @packed
func.func @packed(%qkv: tensor<2x64x192xbf16>, %dy: tensor<2x64x64xbf16>) -> tensor<2x64x192xbf16> {
  // CHECK: %[[R:.*]]:2 = cuda.sdpa named "attn" ins(%[[QKV:.*]], %[[QKV]], %[[QKV]] :
  // CHECK-SAME: key = #cuda.heads<at 64 by 12288, 16, 192>
  // CHECK-SAME: right_bound = 0 : i64
  // CHECK-SAME: sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 64, keys = 64, head_size = 16, value_size = 16>
  // CHECK-SAME: -> tensor<2x64x64xbf16>, tensor<2x4x64xf32>
  %y, %lse = cuda.sdpa named "attn" ins(%qkv, %qkv, %qkv
      : tensor<2x64x192xbf16>, tensor<2x64x192xbf16>, tensor<2x64x192xbf16>)
      {sizes = #sizes, scale = 2.5e-1 : f64, right_bound = 0 : i64,
       query = #cuda.heads<at 0 by 12288, 16, 192>, key = #cuda.heads<at 64 by 12288, 16, 192>,
       value = #cuda.heads<at 128 by 12288, 16, 192>, output = #cuda.heads<at 0 by 4096, 16, 64>}
      -> tensor<2x64x64xbf16>, tensor<2x4x64xf32>
  // CHECK: cuda.sdpa_grad ins(%{{.*}}, %[[QKV]], %[[QKV]], %[[QKV]], %[[R]]#0, %[[R]]#1 :
  // CHECK-SAME: deterministic
  // CHECK-SAME: parts = 2 : i64
  // CHECK-SAME: value_grad = #cuda.heads<at 128 by 12288, 16, 192>
  // CHECK-SAME: -> tensor<2x64x192xbf16>
  %dqkv = cuda.sdpa_grad ins(%dy, %qkv, %qkv, %qkv, %y, %lse
      : tensor<2x64x64xbf16>, tensor<2x64x192xbf16>, tensor<2x64x192xbf16>,
        tensor<2x64x192xbf16>, tensor<2x64x64xbf16>, tensor<2x4x64xf32>)
      {sizes = #sizes, scale = 2.5e-1 : f64, right_bound = 0 : i64, deterministic, parts = 2 : i64,
       query = #cuda.heads<at 0 by 12288, 16, 192>, key = #cuda.heads<at 64 by 12288, 16, 192>,
       value = #cuda.heads<at 128 by 12288, 16, 192>, output = #cuda.heads<at 0 by 4096, 16, 64>,
       grad = #cuda.heads<at 0 by 4096, 16, 64>, query_grad = #cuda.heads<at 0 by 12288, 16, 192>,
       key_grad = #cuda.heads<at 64 by 12288, 16, 192>, value_grad = #cuda.heads<at 128 by 12288, 16, 192>}
      -> tensor<2x64x192xbf16>
  return %dqkv : tensor<2x64x192xbf16>
}

// Fewer heads of keys, a bias, lengths, a sliding window, and three gradients.
// CHECK-LABEL: func.func @apart
func.func @apart(%q: tensor<2x4x64x16xf16>, %k: tensor<2x2x32x16xf16>, %v: tensor<2x2x32x8xf16>,
                 %bias: tensor<1x4x64x32xf32>, %n: tensor<2xi32>, %dy: tensor<2x4x64x8xf16>) {
  // CHECK: cuda.sdpa {{.*}} {bias, {{.*}}left_bound = 8 : i64, lengths
  %y, %lse = cuda.sdpa ins(%q, %k, %v, %bias, %n, %n : tensor<2x4x64x16xf16>, tensor<2x2x32x16xf16>,
      tensor<2x2x32x8xf16>, tensor<1x4x64x32xf32>, tensor<2xi32>, tensor<2xi32>)
      {sizes = #few, scale = 1.0 : f64, left_bound = 8 : i64, bias, lengths,
       query = #cuda.heads<at 0 by 4096, 1024, 16>, key = #cuda.heads<at 0 by 1024, 512, 16>,
       value = #cuda.heads<at 0 by 512, 256, 8>, output = #cuda.heads<at 0 by 2048, 512, 8>}
      -> tensor<2x4x64x8xf16>, tensor<2x4x64xf32>
  // CHECK: cuda.sdpa_grad
  // CHECK-SAME: -> tensor<2x4x64x16xf16>, tensor<2x2x32x16xf16>, tensor<2x2x32x8xf16>
  %dq, %dk, %dv = cuda.sdpa_grad ins(%dy, %q, %k, %v, %y, %lse, %bias, %n, %n : tensor<2x4x64x8xf16>,
      tensor<2x4x64x16xf16>, tensor<2x2x32x16xf16>, tensor<2x2x32x8xf16>, tensor<2x4x64x8xf16>,
      tensor<2x4x64xf32>, tensor<1x4x64x32xf32>, tensor<2xi32>, tensor<2xi32>)
      {sizes = #few, scale = 1.0 : f64, left_bound = 8 : i64, bias, lengths,
       query = #cuda.heads<at 0 by 4096, 1024, 16>, key = #cuda.heads<at 0 by 1024, 512, 16>,
       value = #cuda.heads<at 0 by 512, 256, 8>, output = #cuda.heads<at 0 by 2048, 512, 8>,
       grad = #cuda.heads<at 0 by 2048, 512, 8>, query_grad = #cuda.heads<at 0 by 4096, 1024, 16>,
       key_grad = #cuda.heads<at 0 by 1024, 512, 16>, value_grad = #cuda.heads<at 0 by 512, 256, 8>}
      -> tensor<2x4x64x16xf16>, tensor<2x2x32x16xf16>, tensor<2x2x32x8xf16>
  return
}

// Dropout by the numbers of the library, in both directions from one row of seeds.
// CHECK-LABEL: func.func @dropout
func.func @dropout(%q: tensor<2x4x64x16xf16>, %rng: tensor<2xi64>) {
  // CHECK: cuda.dropout_seeds ins(%{{.*}} : tensor<2xi64>) {by_rank, keys = array<i32: 0, -3>} -> tensor<2x2xi64>
  %seeds = cuda.dropout_seeds ins(%rng : tensor<2xi64>) {by_rank, keys = array<i32: 0, -3>} -> tensor<2x2xi64>
  // CHECK: cuda.sdpa {{.*}}dropout = 1.000000e-01 : f64, {{.*}}seed_row = 1 : i64
  %y, %lse = cuda.sdpa ins(%q, %q, %q, %seeds : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x2xi64>)
      {sizes = #sizes, scale = 1.0 : f64, dropout = 0.1 : f64, seed_row = 1 : i64,
       query = #cuda.heads<at 0 by 4096, 1024, 16>, key = #cuda.heads<at 0 by 4096, 1024, 16>,
       value = #cuda.heads<at 0 by 4096, 1024, 16>, output = #cuda.heads<at 0 by 4096, 1024, 16>}
      -> tensor<2x4x64x16xf16>, tensor<2x4x64xf32>
  // CHECK: cuda.sdpa_grad {{.*}}dropout = 1.000000e-01 : f64, {{.*}}seed_row = 1 : i64
  %dq, %dk, %dv = cuda.sdpa_grad ins(%y, %q, %q, %q, %y, %lse, %seeds : tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>,
      tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64xf32>, tensor<2x2xi64>)
      {sizes = #sizes, scale = 1.0 : f64, dropout = 0.1 : f64, seed_row = 1 : i64,
       query = #cuda.heads<at 0 by 4096, 1024, 16>, key = #cuda.heads<at 0 by 4096, 1024, 16>,
       value = #cuda.heads<at 0 by 4096, 1024, 16>, output = #cuda.heads<at 0 by 4096, 1024, 16>,
       grad = #cuda.heads<at 0 by 4096, 1024, 16>, query_grad = #cuda.heads<at 0 by 4096, 1024, 16>,
       key_grad = #cuda.heads<at 0 by 4096, 1024, 16>, value_grad = #cuda.heads<at 0 by 4096, 1024, 16>}
      -> tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>, tensor<2x4x64x16xf16>
  return
}

// Four documents in each sample, as samples of the plans. The gradient takes them in two parts.
// CHECK-LABEL: func.func @documents
func.func @documents(%qkv: tensor<2x64x192xbf16>, %dy: tensor<2x64x64xbf16>, %c: tensor<2x4xi32>) -> tensor<2x64x192xbf16> {
  // CHECK: %[[L:.*]]:2 = cuda.document_offsets ins(%{{.*}} : tensor<2x4xi32>) {positions = 64 : i64, rows = array<i64: 4, 64, 192>} -> tensor<8xi32>, tensor<3x10xi64>
  %lengths, %offsets = cuda.document_offsets ins(%c : tensor<2x4xi32>)
      {positions = 64 : i64, rows = array<i64: 4, 64, 192>} -> tensor<8xi32>, tensor<3x10xi64>
  // CHECK: cuda.sdpa {{.*}}%[[L]]#0, %[[L]]#1 : {{.*}}documents = 4 : i64
  // CHECK-SAME: rows = array<i64: 4, 64, 192>
  // CHECK-SAME: -> tensor<2x64x64xbf16>, tensor<2x64x4xf32>
  %y, %lse = cuda.sdpa ins(%qkv, %qkv, %qkv, %lengths, %offsets
      : tensor<2x64x192xbf16>, tensor<2x64x192xbf16>, tensor<2x64x192xbf16>, tensor<8xi32>, tensor<3x10xi64>)
      {sizes = #sizes, scale = 2.5e-1 : f64, right_bound = 0 : i64, documents = 4 : i64, rows = array<i64: 4, 64, 192>,
       query = #cuda.heads<at 0 by 12288, 16, 192>, key = #cuda.heads<at 64 by 12288, 16, 192>,
       value = #cuda.heads<at 128 by 12288, 16, 192>, output = #cuda.heads<at 0 by 4096, 16, 64>}
      -> tensor<2x64x64xbf16>, tensor<2x64x4xf32>
  // CHECK: cuda.sdpa_grad {{.*}}documents = 4 : i64
  // CHECK-SAME: parts = 2 : i64
  %dqkv = cuda.sdpa_grad ins(%dy, %qkv, %qkv, %qkv, %y, %lse, %lengths, %offsets
      : tensor<2x64x64xbf16>, tensor<2x64x192xbf16>, tensor<2x64x192xbf16>, tensor<2x64x192xbf16>,
        tensor<2x64x64xbf16>, tensor<2x64x4xf32>, tensor<8xi32>, tensor<3x10xi64>)
      {sizes = #sizes, scale = 2.5e-1 : f64, right_bound = 0 : i64, deterministic, parts = 2 : i64,
       documents = 4 : i64, rows = array<i64: 4, 64, 192>,
       query = #cuda.heads<at 0 by 12288, 16, 192>, key = #cuda.heads<at 64 by 12288, 16, 192>,
       value = #cuda.heads<at 128 by 12288, 16, 192>, output = #cuda.heads<at 0 by 4096, 16, 64>,
       grad = #cuda.heads<at 0 by 4096, 16, 64>, query_grad = #cuda.heads<at 0 by 12288, 16, 192>,
       key_grad = #cuda.heads<at 64 by 12288, 16, 192>, value_grad = #cuda.heads<at 128 by 12288, 16, 192>}
      -> tensor<2x64x192xbf16>
  return %dqkv : tensor<2x64x192xbf16>
}
