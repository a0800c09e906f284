// Products of layers get 8-bit operands, and products that read a tensor in the
// same way share a copy.
//
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8 fp8-keep-last=0' > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --amp-quantize-products | diff %t.once -
//
// The low types cannot be undone any more.
// RUN: amp-opt %t.once --auto-mixed-precision=precision=bf16 --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=AGAIN
// AGAIN: amp-quantize-products has quantised low operands
//
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8-rowwise fp8-keep-last=0' | FileCheck %s --check-prefix=ROW
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8-block-128 fp8-keep-last=0' | FileCheck %s --check-prefix=BLOCK
// RUN: amp-opt %s --amp-training-pipeline='precision=bf16 fp8-recipe=mxfp8 fp8-keep-last=0' | FileCheck %s --check-prefix=MX
//
// Options that keep products, and the remarks that say so.
// RUN: amp-opt %s --amp-training-pipeline=precision=fp8 --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=LAST
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8 fp8-keep-first=1 fp8-keep-last=0' --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=FIRST
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8 fp8-backward=high fp8-keep-last=0' --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=FORWARD
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8 fp8-high-weight-gradients fp8-keep-last=0' --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=WEIGHTS
// RUN: amp-opt %s --train-autodiff --amp-quantize-products --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=F32
//
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8 fp8-keep-last=2' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not amp-opt %s --amp-quantize-products=recipe=often 2>&1 | FileCheck %s --check-prefix=RECIPE
// RUN: not amp-opt %s --amp-quantize-products=keep-last=-1 2>&1 | FileCheck %s --check-prefix=NUMBER

// NONE: warning: no product has 8-bit operands, expected products of a parameter with 16-bit operands; remarks of the category 'amp' give the reasons
// RECIPE: error: amp-quantize-products: unknown recipe 'often', expected current, delayed, rowwise, block-128, mxfp8
// NUMBER: value invalid for uint argument
// F32: [Missed] NotMixed {{.*}}not rewritten by auto-mixed-precision
// LAST: [Passed] Quantized {{.*}}Op=train.linear
// LAST: [Missed] Kept16Bits {{.*}}Op=train.linear, Reason="it is one of the last layers"
// LAST-COUNT-2: Reason="it belongs to no layer with 8-bit operands"
// LAST: [Passed] Quantized {{.*}}Op=train.matmul
// FIRST: Reason="it is one of the first layers"
// FORWARD: Reason="it belongs to the backward pass"
// WEIGHTS: Op=train.matmul, Reason="it is the gradient of a weight"

// The payloads of x, of the weights and of the hidden layer are made once. The
// backward pass reads those of the forward pass. Weights and x are quantised from
// f32, and a gradient is f8E5M2.
// CHECK-LABEL: func.func @step(
// CHECK: %[[AV:.*]] = amp.amax %{{.*}} : tensor<6x16xf32> -> tensor<f32>
// CHECK-NEXT: %[[SV:.*]] = amp.scale_from_amax %[[AV]] for f8E4M3FN : tensor<f32>
// CHECK-NEXT: %[[QV:.*]] = amp.quantize %{{.*}} by %[[SV]] saturate : (tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf8E4M3FN>
// CHECK: %[[QW:.*]] = amp.quantize %{{.*}} by %[[SW:[^ ]*]] saturate : (tensor<8x16xf32>
// CHECK: %[[QX:.*]] = amp.quantize %{{.*}} by %[[SX:[^ ]*]] saturate : (tensor<?x4x8xf32>
// CHECK: %[[B:.*]] = amp.cast %{{.*}} inserted : tensor<16xf32> to tensor<16xbf16>
// CHECK-NEXT: %[[H:.*]] = amp.scaled_matmul %[[QX]] by %[[SX]], %[[QW]] by %[[SW]] plus %[[B]] : tensor<16xbf16> {amp.id = 0 : i64} {{.*}} -> tensor<?x4x16xbf16>
// CHECK-NEXT: %[[R:.*]] = train.relu %[[H]]
// CHECK: %[[QR:.*]] = amp.quantize %[[R]] by %[[SR:[^ ]*]] saturate : (tensor<?x4x16xbf16>
// CHECK: amp.scaled_matmul %[[QR]] by %[[SR]], %[[QV]] by %[[SV]] {amp.id = 2 : i64, transpose_b}
// CHECK: %[[G:.*]] = train.mse_grad
// CHECK: %[[QG:.*]] = amp.quantize %[[G]] by %[[SG:[^ ]*]] saturate : (tensor<?x4x6xbf16>, tensor<f32>) -> tensor<?x4x6xf8E5M2>
// CHECK-NEXT: amp.scaled_matmul %[[QG]] by %[[SG]], %[[QV]] by %[[SV]] {amp.backward_of = 2 : i64}
// CHECK-NEXT: amp.scaled_matmul %[[QG]] by %[[SG]], %[[QR]] by %[[SR]] {amp.backward_of = 2 : i64, amp.gradient_of = ["v"], transpose_a} {{.*}} -> tensor<6x16xf32>
// CHECK: amp.scaled_matmul %[[QX]] by %[[SX]], {{.*}} {amp.backward_of = 0 : i64, amp.gradient_of = ["w"], transpose_a} {{.*}} -> tensor<8x16xf32>
// CHECK-NOT: train.reshape

// One scale for each row of the contracted dimension: a copy for x in the
// forward product, and one for the gradient of the weight.
// ROW: amp.amax %[[X:.*]] blocks [0, 1] : tensor<?x4x8xf32> -> tensor<1x8xf32>
// ROW: amp.amax %{{.*}} blocks [1, 0] : tensor<6x16xf32> -> tensor<6x1xf32>
// ROW: amp.amax %[[X]] blocks [1, 0] : tensor<?x4x8xf32> -> tensor<?x1xf32>
// ROW: amp.scale_from_amax %{{.*}} for f8E4M3FN {power_of_two} : tensor<?x1xf32>
// ROW-NOT: f8E5M2

// Blocks of a weight are square, so one copy serves both products.
// BLOCK: amp.amax %[[X:.*]] blocks [128, 1] : tensor<?x4x8xf32> -> tensor<?x8xf32>
// BLOCK: amp.quantize %{{.*}} by %{{.*}} blocks [128, 128] saturate : (tensor<6x16xf32>, tensor<1x1xf32>)
// BLOCK-NOT: tensor<6x16xf32>, tensor
// BLOCK: amp.amax %[[X]] blocks [1, 128] : tensor<?x4x8xf32> -> tensor<?x1xf32>

// MX: amp.amax %{{.*}} blocks [1, 32] : tensor<?x4x8xf32> -> tensor<?x1xf32>

func.func @step(
    %x: tensor<?x4x8xf32> {amp.role = "batch", amp.name = "x"},
    %target: tensor<?x4x6xf32> {amp.role = "batch", amp.name = "target"},
    %w: tensor<8x16xf32> {amp.role = "parameter", amp.name = "w"},
    %b: tensor<16xf32> {amp.role = "parameter", amp.name = "b"},
    %v: tensor<6x16xf32> {amp.role = "parameter", amp.name = "v"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x16xf32> {amp.updates = "w"}, tensor<16xf32> {amp.updates = "b"}, tensor<6x16xf32> {amp.updates = "v"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.linear %x, %w, %b : (tensor<?x4x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<?x4x16xf32>
  %r = train.relu %h : tensor<?x4x16xf32>
  %y = train.linear %r, %v {transpose_weight} : (tensor<?x4x16xf32>, tensor<6x16xf32>) -> tensor<?x4x6xf32>
  %loss = train.mse %y, %target : (tensor<?x4x6xf32>, tensor<?x4x6xf32>) -> tensor<f32>
  %d:3 = train.gradients %loss wrt(%w, %b, %v) : (tensor<f32>, tensor<8x16xf32>, tensor<16xf32>, tensor<6x16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>, tensor<6x16xf32>)
  %w1 = train.sgd %w, %d#0, %lr : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %b1 = train.sgd %b, %d#1, %lr : (tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  %v1 = train.sgd %v, %d#2, %lr : (tensor<6x16xf32>, tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf32>
  return %w1, %b1, %v1, %loss : tensor<8x16xf32>, tensor<16xf32>, tensor<6x16xf32>, tensor<f32>
}
