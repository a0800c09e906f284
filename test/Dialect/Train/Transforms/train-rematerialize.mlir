// RUN: amp-opt %s --train-rematerialize --split-input-file > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --train-rematerialize --split-input-file | diff %t.once -
// RUN: amp-opt %s --train-rematerialize --split-input-file --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// Common subexpression elimination does not undo it.
// RUN: amp-opt %s --train-rematerialize --split-input-file --canonicalize --cse | FileCheck %s --check-prefix=CSE
// RUN: amp-opt %s --train-rematerialize=blocks=h.* --split-input-file --mlir-print-debuginfo 2>/dev/null > %t.blocks || true
// RUN: FileCheck %s --check-prefix=BLOCK < %t.blocks
// RUN: amp-opt %s --train-rematerialize=chain=0 --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: amp-opt %s --train-rematerialize=min-bytes=1000000 --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: not amp-opt %s --train-rematerialize=chain=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not amp-opt %s --train-rematerialize=blocks=layer.* --split-input-file 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not amp-opt %models/small-updates.mlir --train-rematerialize=blocks=h.* -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRADIENTS
// The pipeline has options for it.
// RUN: amp-model gpt2 --layers=2 --width=64 --heads=2 --positions=32 --vocabulary=64 --batch=2 -o %t.gpt
// RUN: amp-opt %t.gpt --amp-training-pipeline='precision=bf16 rematerialize' | FileCheck %s --check-prefix=CHEAP
// RUN: amp-opt %t.gpt --amp-training-pipeline='precision=bf16 recompute-blocks=h.*' | FileCheck %s --check-prefix=LAYERS
// A pattern behind another that matches the same locations matches too.
// RUN: amp-opt %t.gpt --train-autodiff --train-rematerialize=blocks=h.*,h.0,h.*.attn | FileCheck %s --check-prefix=LAYERS

// NONE-NOT: train.recomputed
// NEGATIVE: train-rematerialize: 'chain' and 'min-bytes' must not be negative, got -1 and 1024
// PATTERN: train-rematerialize: no location in the forward pass of a step matches 'layer.*' of 'blocks'
// GRADIENTS: error: 'train.gradients' op is not expanded, expected the backward pass; run train-autodiff first
// GRADIENTS-NOT: matches
// CHEAP: amp.gradient_seed
// CHEAP: train.gelu {{.*}}train.recomputed
// CHEAP-NOT: train.linear {{.*}}train.recomputed
// LAYERS: amp.gradient_seed
// LAYERS: train.scaled_dot_product_attention {{.*}}train.recomputed
// LAYERS: train.scaled_dot_product_attention {{.*}}train.recomputed

// CHECK-LABEL: func.func @activation
// CSE-LABEL: func.func @activation
// CSE-COUNT-2: train.gelu %
func.func @activation(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<16x64xf32>, tensor<f32>) {
  // CHECK: %[[A:.*]] = train.linear
  // CHECK: train.gelu %[[A]] {amp.id = 1 : i64}
  // CHECK: amp.gradient_seed
  // CHECK: train.broadcast %{{.*}} {dims = array<i64: 0, 1>}
  // CHECK: %[[B:.*]] = train.broadcast %[[A]] {dims = array<i64>, train.recomputed = 0 : i64}
  // CHECK: %[[H:.*]] = train.gelu %[[B]] {train.recomputed = 0 : i64}
  // CHECK: train.matmul %[[H]]
  // CHECK: train.gelu_grad %[[A]]
  // REMARK: [Passed] Recomputed {{.*}}Function=activation {{.*}}Bytes=4096, Op=train.gelu, Operations=1
  // REMARK: [Missed] Kept {{.*}}Function=activation {{.*}}Op=train.linear, Reason="train.linear is not cheap"
  %0 = train.linear %x, %w {amp.id = 0 : i64} : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %1 = train.gelu %0 {amp.id = 1 : i64} : tensor<16x64xf32>
  %loss = train.reduce_sum %1 {dims = array<i64: 0, 1>} : (tensor<16x64xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.broadcast %seed {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<16x64xf32>
  %again = train.matmul %1, %dy {transpose_a} : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
  %dx = train.gelu_grad %0, %dy : tensor<16x64xf32>
  return %again, %dx, %loss : tensor<64x64xf32>, tensor<16x64xf32>, tensor<f32>
}

// -----

// Why values are kept.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: train.recomputed
// CHECK: return
func.func @kept(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> (tensor<16x64xf32>, tensor<16x64xf32>) {
  // REMARK: [Missed] Kept {{.*}}Op=train.tanh, Reason="it is a result of the step"
  // REMARK: [Missed] Kept {{.*}}Op=train.linear, Reason="train.linear is not cheap"
  // REMARK: [Missed] Kept {{.*}}Op=train.exp, Reason="the values to keep instead of it are not smaller"
  // REMARK: [Missed] Kept {{.*}}Op=train.abs, Reason="it takes more than 4 operations"
  %0 = train.tanh %x : tensor<16x64xf32>
  %1 = train.linear %x, %w : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %2 = train.linear %0, %w : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %3 = train.exp %2 : tensor<16x64xf32>
  %4 = train.neg %x : tensor<16x64xf32>
  %5 = train.sin %4 : tensor<16x64xf32>
  %6 = train.cos %5 : tensor<16x64xf32>
  %7 = train.sigmoid %6 : tensor<16x64xf32>
  %8 = train.abs %7 : tensor<16x64xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %9 = train.add %0, %1 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %10 = train.add %9, %3 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %11 = train.add %10, %8 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  %12 = train.mul %11, %seed : (tensor<16x64xf32>, tensor<f32>) -> tensor<16x64xf32>
  return %0, %12 : tensor<16x64xf32>, tensor<16x64xf32>
}

// -----

// A block is computed again from what enters it; what leaves it is kept.
// BLOCK-LABEL: func.func @block
func.func @block(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>, %rng: tensor<2xi64>) -> tensor<64x64xf32> {
  // BLOCK: %[[Y:.*]] = train.linear
  // BLOCK: amp.gradient_seed
  // BLOCK: %[[B:.*]] = train.broadcast %arg0 {dims = array<i64>, train.recomputed = 0 : i64}
  // BLOCK: %[[V:.*]] = train.broadcast %arg1 {dims = array<i64>, train.recomputed = 0 : i64}
  // BLOCK: %[[A:.*]] = train.linear %[[B]], %[[V]] {train.recomputed = 0 : i64}
  // The same state and the same key give the same mask.
  // BLOCK: %[[D:.*]] = train.dropout %[[A]], %arg2 {key = 7 : i32, rate = 1.000000e-01 : f64, train.recomputed = 0 : i64}
  // BLOCK: train.matmul %[[D]], %
  %0 = train.linear %x, %w : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32> loc("h.0.fc")
  %1 = train.dropout %0, %rng {key = 7 : i32, rate = 0.1 : f64} : (tensor<16x64xf32>, tensor<2xi64>) -> tensor<16x64xf32> loc("h.0")
  %2 = train.linear %1, %w : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32> loc("h.0.proj")
  %loss = train.reduce_sum %2 {dims = array<i64: 0, 1>} : (tensor<16x64xf32>) -> tensor<f32> loc("loss")
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mul %2, %seed : (tensor<16x64xf32>, tensor<f32>) -> tensor<16x64xf32>
  %dw = train.matmul %1, %dy {transpose_a} : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
  return %dw : tensor<64x64xf32>
}
