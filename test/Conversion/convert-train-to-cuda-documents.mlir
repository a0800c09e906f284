// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention by cuDNN that takes the documents of packed sequences as samples. Where no attention of a step can,
// the option is an error.
//
// RUN: amp-opt %s --convert-train-to-cuda="attention=cudnn documents=offsets" --split-input-file --verify-diagnostics | FileCheck %s
// RUN: not amp-opt %s --convert-train-to-cuda="attention=decomposed documents=offsets" --split-input-file 2>&1 | FileCheck %s --check-prefix=DECOMPOSED
// DECOMPOSED: error: 'func.func' op cannot be lowered with documents 'offsets' where products compute attention, expected attention by cuDNN

// Heads that are not packed are moved. One launch computes the offsets.
// CHECK-LABEL: func.func @documents
// CHECK: %[[D:.*]]:2 = cuda.document_offsets {{.*}}ins(%{{.*}} : tensor<2x4xi32>) {positions = 8 : i64, rows = array<i64: 2, 32>} -> tensor<8xi32>, tensor<2x10xi64>
// CHECK: %[[Q:.*]] = cuda.kernel
// CHECK: cuda.sdpa named {{.*}} ins(%[[Q]], %[[Q]], %[[Q]], %[[D]]#0, %[[D]]#1 :
// CHECK-SAME: documents = 4 : i64
// CHECK-SAME: query = #cuda.heads<at 0 by 256, 16, 32>
// CHECK-SAME: right_bound = 0
// CHECK-SAME: rows = array<i64: 2, 32>
// CHECK-SAME: -> tensor<2x8x2x16xf16>, tensor<2x8x2xf32>
func.func @documents(%q: tensor<2x2x8x16xf16> {amp.role = "batch", amp.name = "q"},
                     %l: tensor<2x4xi32> {amp.role = "batch", amp.name = "l"})
    -> (tensor<2x2x8x16xf16> {amp.prediction = "y"}) {
  %m = train.document_mask %l {positions = 8 : i64} : (tensor<2x4xi32>) -> tensor<2x1x8x8xi1>
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q, %m {causal}
      : (tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x1x8x8xi1>) -> (tensor<2x2x8x16xf16>, tensor<2x2x8xf32>)
  return %y : tensor<2x2x8x16xf16>
}

// -----

// Both directions of documents read one packed product. ln Σ exp stays packed, and the gradient is one tensor.
// CHECK-LABEL: func.func @packed_documents
// CHECK-SAME: %[[QKV:.*]]: tensor<2x8x96xbf16>
// CHECK-NEXT: %[[D:.*]]:2 = cuda.document_offsets {{.*}}rows = array<i64: 2, 32, 96>
// CHECK-NEXT: %[[Y:.*]]:2 = cuda.sdpa {{.*}}ins(%[[QKV]], %[[QKV]], %[[QKV]], %[[D]]#0, %[[D]]#1 :
// CHECK-SAME: -> tensor<2x8x2x16xbf16>, tensor<2x8x2xf32>
// CHECK: cuda.sdpa_grad {{.*}}ins(%{{.*}}, %[[QKV]], %[[QKV]], %[[QKV]], %[[Y]]#0, %[[Y]]#1, %[[D]]#0, %[[D]]#1 :
// CHECK-SAME: documents = 4 : i64
// CHECK-SAME: -> tensor<2x8x96xbf16>
// CHECK-NEXT: return
func.func @packed_documents(%qkv: tensor<2x8x96xbf16> {amp.role = "batch", amp.name = "qkv"},
                            %dy: tensor<2x8x32xbf16> {amp.role = "batch", amp.name = "dy"},
                            %l: tensor<2x4xi64> {amp.role = "batch", amp.name = "l"})
    -> (tensor<2x8x32xbf16> {amp.prediction = "y"}, tensor<2x8x96xbf16> {amp.prediction = "dqkv"}) {
  %m = train.document_mask %l {positions = 8 : i64} : (tensor<2x4xi64>) -> tensor<2x1x8x8xi1>
  %0 = train.slice %qkv {offsets = array<i64: 0, 0, 0>, sizes = array<i64: -1, -1, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x8x96xbf16>) -> tensor<2x8x32xbf16>
  %1 = train.slice %qkv {offsets = array<i64: 0, 0, 32>, sizes = array<i64: -1, -1, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x8x96xbf16>) -> tensor<2x8x32xbf16>
  %2 = train.slice %qkv {offsets = array<i64: 0, 0, 64>, sizes = array<i64: -1, -1, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x8x96xbf16>) -> tensor<2x8x32xbf16>
  %3 = train.reshape %0 : (tensor<2x8x32xbf16>) -> tensor<2x8x2x16xbf16>
  %4 = train.reshape %1 : (tensor<2x8x32xbf16>) -> tensor<2x8x2x16xbf16>
  %5 = train.reshape %2 : (tensor<2x8x32xbf16>) -> tensor<2x8x2x16xbf16>
  %q = train.transpose %3 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x8x2x16xbf16>) -> tensor<2x2x8x16xbf16>
  %k = train.transpose %4 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x8x2x16xbf16>) -> tensor<2x2x8x16xbf16>
  %v = train.transpose %5 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x8x2x16xbf16>) -> tensor<2x2x8x16xbf16>
  %y, %lse = train.scaled_dot_product_attention %q, %k, %v, %m {causal}
      : (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x1x8x8xi1>) -> (tensor<2x2x8x16xbf16>, tensor<2x2x8xf32>)
  %6 = train.transpose %y {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x8x16xbf16>) -> tensor<2x8x2x16xbf16>
  %7 = train.reshape %6 : (tensor<2x8x2x16xbf16>) -> tensor<2x8x32xbf16>
  %8 = train.reshape %dy : (tensor<2x8x32xbf16>) -> tensor<2x8x2x16xbf16>
  %9 = train.transpose %8 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x8x2x16xbf16>) -> tensor<2x2x8x16xbf16>
  %dq, %dk, %dv = train.scaled_dot_product_attention_grad %9, %q, %k, %v, %y, %lse, %m {causal}
      : (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8xf32>, tensor<2x1x8x8xi1>)
      -> (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>)
  %10 = train.transpose %dq {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x8x16xbf16>) -> tensor<2x8x2x16xbf16>
  %11 = train.transpose %dk {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x8x16xbf16>) -> tensor<2x8x2x16xbf16>
  %12 = train.transpose %dv {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x2x8x16xbf16>) -> tensor<2x8x2x16xbf16>
  %13 = train.reshape %10 : (tensor<2x8x2x16xbf16>) -> tensor<2x8x32xbf16>
  %14 = train.reshape %11 : (tensor<2x8x2x16xbf16>) -> tensor<2x8x32xbf16>
  %15 = train.reshape %12 : (tensor<2x8x2x16xbf16>) -> tensor<2x8x32xbf16>
  %16 = train.concat %13, %14, %15 {axis = 2 : i64} : (tensor<2x8x32xbf16>, tensor<2x8x32xbf16>, tensor<2x8x32xbf16>) -> tensor<2x8x96xbf16>
  return %7, %16 : tensor<2x8x32xbf16>, tensor<2x8x96xbf16>
}

// -----

// The forward function of a step has its options, but need not have its attention.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: cuda.sdpa
func.func @forward(%x: tensor<8x16xf16> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8x16xf16> {amp.prediction = "y"}) attributes {amp.inference_of = "step"} {
  %y = train.relu %x : tensor<8x16xf16>
  return %y : tensor<8x16xf16>
}

// -----

// expected-error@+1 {{cannot be lowered with documents 'offsets', because no attention by cuDNN has the documents of its samples as its mask; expected such an attention without dropout, or documents 'bias'}}
func.func @no_documents(%q: tensor<2x2x8x16xf16> {amp.role = "batch", amp.name = "q"})
    -> (tensor<2x2x8x16xf16> {amp.prediction = "y"}) {
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q {causal}
      : (tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>) -> (tensor<2x2x8x16xf16>, tensor<2x2x8xf32>)
  return %y : tensor<2x2x8x16xf16>
}

// -----

// All samples share the documents.
// expected-error@+1 {{cannot be lowered with documents 'offsets', because no attention by cuDNN has the documents of its samples as its mask}}
func.func @shared(%q: tensor<2x2x8x16xf16> {amp.role = "batch", amp.name = "q"},
                  %l: tensor<4xi32> {amp.role = "batch", amp.name = "l"})
    -> (tensor<2x2x8x16xf16> {amp.prediction = "y"}) {
  %m = train.document_mask %l {positions = 8 : i64} : (tensor<4xi32>) -> tensor<8x8xi1>
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q, %m {causal}
      : (tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<2x2x8x16xf16>, tensor<8x8xi1>) -> (tensor<2x2x8x16xf16>, tensor<2x2x8xf32>)
  return %y : tensor<2x2x8x16xf16>
}

// -----

// Products compute attention in f32.
// expected-error@+1 {{cannot be lowered with documents 'offsets', because no attention by cuDNN has the documents of its samples as its mask}}
func.func @wide(%q: tensor<2x2x8x16xf32> {amp.role = "batch", amp.name = "q"},
                %l: tensor<2x4xi32> {amp.role = "batch", amp.name = "l"})
    -> (tensor<2x2x8x16xf32> {amp.prediction = "y"}) {
  %m = train.document_mask %l {positions = 8 : i64} : (tensor<2x4xi32>) -> tensor<2x1x8x8xi1>
  %y, %lse = train.scaled_dot_product_attention %q, %q, %q, %m {causal}
      : (tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x2x8x16xf32>, tensor<2x1x8x8xi1>) -> (tensor<2x2x8x16xf32>, tensor<2x2x8xf32>)
  return %y : tensor<2x2x8x16xf32>
}
