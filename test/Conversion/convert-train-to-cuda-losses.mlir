// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classifiers whose logits take too much memory go through their rows in chunks.
//
// RUN: amp-opt %s --train-autodiff --convert-train-to-cuda=logit-bytes=8192 --split-input-file | FileCheck %s
// RUN: amp-opt %s --train-autodiff --convert-train-to-cuda=logit-bytes=0 --split-input-file | FileCheck %s --check-prefix=WHOLE
// RUN: amp-opt %s --train-autodiff --convert-train-to-cuda --split-input-file | FileCheck %s --check-prefix=WHOLE
// RUN: amp-opt %s --train-autodiff --convert-train-to-cuda=logit-bytes=8192 --split-input-file --remarks-filter=amp 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not amp-opt %s --train-autodiff --convert-train-to-cuda=logit-bytes=-1 --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: 'func.func' op cannot be lowered with 'logit-bytes' -1, expected at least 0
// WHOLE-NOT: cuda.linear_cross_entropy

// 64 rows of 100 logits take 25600 bytes: chunks of 16 rows. The first largest
// class of each row comes from the same launch, and nothing else reads logits.
// CHECK-LABEL: func.func @classifier
// CHECK-NOT: cuda.gemm
// CHECK: %[[L:.*]]:4 = cuda.linear_cross_entropy {{.*}}ins(%arg0, %arg2, %arg1, %{{.*}} : tensor<64x32xf32>, tensor<32x100xf32>, tensor<64xi64>, tensor<f32>) {chunk_rows = 16 : i64, predict} -> tensor<f32>, tensor<64x32xf32>, tensor<32x100xf32>, tensor<64xi64>
// CHECK-NOT: cuda.gemm
// CHECK-NOT: 64x100
// CHECK: return
func.func @classifier(%x: tensor<64x32xf32> {amp.role = "parameter", amp.name = "x"}, %l: tensor<64xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xf32> {amp.role = "parameter", amp.name = "w"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<64x32xf32> {amp.updates = "x"}, tensor<32x100xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}, tensor<64xi64> {amp.metric = "best"}) {
  %y = train.linear %x, %w : (tensor<64x32xf32>, tensor<32x100xf32>) -> tensor<64x100xf32>
  %loss = train.cross_entropy %y, %l : (tensor<64x100xf32>, tensor<64xi64>) -> tensor<f32>
  %best = train.argmax %y {axis = 1 : i64} : (tensor<64x100xf32>) -> tensor<64xi64>
  %dx, %dw = train.gradients %loss wrt(%x, %w) : (tensor<f32>, tensor<64x32xf32>, tensor<32x100xf32>) -> (tensor<64x32xf32>, tensor<32x100xf32>)
  %1 = train.sgd %x, %dx, %lr : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %2 = train.sgd %w, %dw, %lr : (tensor<32x100xf32>, tensor<32x100xf32>, tensor<f32>) -> tensor<32x100xf32>
  return %1, %2, %loss, %best : tensor<64x32xf32>, tensor<32x100xf32>, tensor<f32>, tensor<64xi64>
}

// -----

// The same with smooth labels. Without chunks, one launch computes the loss and
// its gradient.
// CHECK-LABEL: func.func @smooth
// CHECK: cuda.linear_cross_entropy {{.*}}{chunk_rows = 16 : i64, label_smoothing = 1.000000e-01 : f64}
// WHOLE-LABEL: func.func @smooth
// WHOLE: cuda.cross_entropy_with_grad {{.*}}{label_smoothing = 1.000000e-01 : f64}
// WHOLE-NOT: cuda.linear_cross_entropy
func.func @smooth(%x: tensor<64x32xf32> {amp.role = "parameter", amp.name = "x"}, %l: tensor<64xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xf32> {amp.role = "parameter", amp.name = "w"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<64x32xf32> {amp.updates = "x"}, tensor<32x100xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %y = train.linear %x, %w : (tensor<64x32xf32>, tensor<32x100xf32>) -> tensor<64x100xf32>
  %loss = train.cross_entropy %y, %l {label_smoothing = 0.1 : f64} : (tensor<64x100xf32>, tensor<64xi64>) -> tensor<f32>
  %dx, %dw = train.gradients %loss wrt(%x, %w) : (tensor<f32>, tensor<64x32xf32>, tensor<32x100xf32>) -> (tensor<64x32xf32>, tensor<32x100xf32>)
  %1 = train.sgd %x, %dx, %lr : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %2 = train.sgd %w, %dw, %lr : (tensor<32x100xf32>, tensor<32x100xf32>, tensor<f32>) -> tensor<32x100xf32>
  return %1, %2, %loss : tensor<64x32xf32>, tensor<32x100xf32>, tensor<f32>
}

// -----

// Tied to a table that also has another gradient, with rows in two dimensions.
// The prediction computes the logits a second time.
// CHECK-LABEL: func.func @tied
// CHECK-DAG: cuda.gemm {{.*}}ins(%{{.*}}, %arg2 : {{.*}}transpose_b} -> tensor<64x100xf32>
// CHECK-DAG: cuda.linear_cross_entropy {{.*}}{chunk_rows = 16 : i64, transpose_b} -> tensor<f32>, tensor<64x32xf32>, tensor<100x32xf32>
// CHECK: return
func.func @tied(%t: tensor<4x16xi64> {amp.role = "batch", amp.name = "t"}, %l: tensor<4x16xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<100x32xf32> {amp.role = "parameter", amp.name = "w"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<100x32xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}, tensor<4x16x100xf32> {amp.prediction = "logits"}) {
  %x = train.gather %w, %t {axis = 0 : i64} : (tensor<100x32xf32>, tensor<4x16xi64>) -> tensor<4x16x32xf32>
  %y = train.linear %x, %w {transpose_weight} : (tensor<4x16x32xf32>, tensor<100x32xf32>) -> tensor<4x16x100xf32>
  %loss = train.cross_entropy %y, %l : (tensor<4x16x100xf32>, tensor<4x16xi64>) -> tensor<f32>
  %dw = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<100x32xf32>) -> tensor<100x32xf32>
  %1 = train.sgd %w, %dw, %lr : (tensor<100x32xf32>, tensor<100x32xf32>, tensor<f32>) -> tensor<100x32xf32>
  return %1, %loss, %y : tensor<100x32xf32>, tensor<f32>, tensor<4x16x100xf32>
}

// -----

// An update, or a metric, needs the logits of the whole batch.
// CHECK-LABEL: func.func @metric
// CHECK-NOT: cuda.linear_cross_entropy
// CHECK: return
// REMARK: LogitsWhole
// REMARK-SAME: another operation than the loss reads the logits
func.func @metric(%x: tensor<64x32xf32> {amp.role = "parameter", amp.name = "x"}, %l: tensor<64xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xf32> {amp.role = "parameter", amp.name = "w"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<64x32xf32> {amp.updates = "x"}, tensor<32x100xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}, tensor<f32> {amp.metric = "sum"}) {
  %y = train.linear %x, %w : (tensor<64x32xf32>, tensor<32x100xf32>) -> tensor<64x100xf32>
  %loss = train.cross_entropy %y, %l : (tensor<64x100xf32>, tensor<64xi64>) -> tensor<f32>
  %sum = train.reduce_sum %y {dims = array<i64: 0, 1>} : (tensor<64x100xf32>) -> tensor<f32>
  %dx, %dw = train.gradients %loss wrt(%x, %w) : (tensor<f32>, tensor<64x32xf32>, tensor<32x100xf32>) -> (tensor<64x32xf32>, tensor<32x100xf32>)
  %1 = train.sgd %x, %dx, %lr : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %2 = train.sgd %w, %dw, %lr : (tensor<32x100xf32>, tensor<32x100xf32>, tensor<f32>) -> tensor<32x100xf32>
  return %1, %2, %loss, %sum : tensor<64x32xf32>, tensor<32x100xf32>, tensor<f32>, tensor<f32>
}

// -----

// The logits come from another operation than a product alone.
// CHECK-LABEL: func.func @biased
// CHECK-NOT: cuda.linear_cross_entropy
// CHECK: return
// REMARK: LogitsWhole
// REMARK-SAME: its logits are not a product of two matrices alone
func.func @biased(%x: tensor<64x32xf32> {amp.role = "batch", amp.name = "x"}, %l: tensor<64xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xf32> {amp.role = "parameter", amp.name = "w"}, %b: tensor<100xf32> {amp.role = "parameter", amp.name = "b"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<32x100xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %y = train.linear %x, %w, %b : (tensor<64x32xf32>, tensor<32x100xf32>, tensor<100xf32>) -> tensor<64x100xf32>
  %loss = train.cross_entropy %y, %l : (tensor<64x100xf32>, tensor<64xi64>) -> tensor<f32>
  %dw = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<32x100xf32>) -> tensor<32x100xf32>
  %1 = train.sgd %w, %dw, %lr : (tensor<32x100xf32>, tensor<32x100xf32>, tensor<f32>) -> tensor<32x100xf32>
  return %1, %loss : tensor<32x100xf32>, tensor<f32>
}

// -----

// The input has no gradient.
// CHECK-LABEL: func.func @one_gradient
// CHECK-NOT: cuda.linear_cross_entropy
// CHECK: return
// REMARK: LogitsWhole
// REMARK-SAME: a gradient of the classifier is missing
func.func @one_gradient(%x: tensor<64x32xf32> {amp.role = "batch", amp.name = "x"}, %l: tensor<64xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xf32> {amp.role = "parameter", amp.name = "w"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<32x100xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %y = train.linear %x, %w : (tensor<64x32xf32>, tensor<32x100xf32>) -> tensor<64x100xf32>
  %loss = train.cross_entropy %y, %l : (tensor<64x100xf32>, tensor<64xi64>) -> tensor<f32>
  %dw = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<32x100xf32>) -> tensor<32x100xf32>
  %1 = train.sgd %w, %dw, %lr : (tensor<32x100xf32>, tensor<32x100xf32>, tensor<f32>) -> tensor<32x100xf32>
  return %1, %loss : tensor<32x100xf32>, tensor<f32>
}

// -----

// 61 rows divide into no chunks of nearly 20.
// CHECK-LABEL: func.func @prime
// CHECK-NOT: cuda.linear_cross_entropy
// CHECK: return
// REMARK: LogitsWhole
// REMARK-SAME: no aligned chunk that is nearly as large as allowed divides the rows
func.func @prime(%x: tensor<61x32xf32> {amp.role = "parameter", amp.name = "x"}, %l: tensor<61xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xf32> {amp.role = "parameter", amp.name = "w"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<61x32xf32> {amp.updates = "x"}, tensor<32x100xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %y = train.linear %x, %w : (tensor<61x32xf32>, tensor<32x100xf32>) -> tensor<61x100xf32>
  %loss = train.cross_entropy %y, %l : (tensor<61x100xf32>, tensor<61xi64>) -> tensor<f32>
  %dx, %dw = train.gradients %loss wrt(%x, %w) : (tensor<f32>, tensor<61x32xf32>, tensor<32x100xf32>) -> (tensor<61x32xf32>, tensor<32x100xf32>)
  %1 = train.sgd %x, %dx, %lr : (tensor<61x32xf32>, tensor<61x32xf32>, tensor<f32>) -> tensor<61x32xf32>
  %2 = train.sgd %w, %dw, %lr : (tensor<32x100xf32>, tensor<32x100xf32>, tensor<f32>) -> tensor<32x100xf32>
  return %1, %2, %loss : tensor<61x32xf32>, tensor<32x100xf32>, tensor<f32>
}

// -----

// Products of low operands may give f32 logits, whose gradient a kernel casts.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: cuda.linear_cross_entropy
// CHECK: return
// REMARK: LogitsWhole
// REMARK-SAME: its logits have another type than the operands of their product
func.func @wide(%x: tensor<64x32xbf16> {amp.role = "parameter", amp.name = "x"}, %l: tensor<64xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xbf16> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<f32> {amp.metric = "loss"}, tensor<64x32xbf16> {amp.updates = "x"}, tensor<32x100xbf16> {amp.updates = "w"}) {
  %y = train.linear %x, %w : (tensor<64x32xbf16>, tensor<32x100xbf16>) -> tensor<64x100xf32>
  %loss = train.cross_entropy %y, %l : (tensor<64x100xf32>, tensor<64xi64>) -> tensor<f32>
  %dx, %dw = train.gradients %loss wrt(%x, %w) : (tensor<f32>, tensor<64x32xbf16>, tensor<32x100xbf16>) -> (tensor<64x32xbf16>, tensor<32x100xbf16>)
  return %loss, %dx, %dw : tensor<f32>, tensor<64x32xbf16>, tensor<32x100xbf16>
}

// -----

// A sum over chunks would round a low gradient in each of them.
// CHECK-LABEL: func.func @low_gradient
// CHECK-NOT: cuda.linear_cross_entropy
// CHECK: return
// REMARK: LogitsWhole
// REMARK-SAME: the gradient of its weight is not f32, but a sum over chunks is
func.func @low_gradient(%x: tensor<64x32xbf16> {amp.role = "parameter", amp.name = "x"}, %l: tensor<64xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xbf16> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<f32> {amp.metric = "loss"}, tensor<64x32xbf16> {amp.updates = "x"}, tensor<32x100xbf16> {amp.updates = "w"}) {
  %y = train.linear %x, %w : (tensor<64x32xbf16>, tensor<32x100xbf16>) -> tensor<64x100xbf16>
  %loss = train.cross_entropy %y, %l : (tensor<64x100xbf16>, tensor<64xi64>) -> tensor<f32>
  %dx, %dw = train.gradients %loss wrt(%x, %w) : (tensor<f32>, tensor<64x32xbf16>, tensor<32x100xbf16>) -> (tensor<64x32xbf16>, tensor<32x100xbf16>)
  return %loss, %dx, %dw : tensor<f32>, tensor<64x32xbf16>, tensor<32x100xbf16>
}

// -----

// The gradient of the logits has another reader.
// CHECK-LABEL: func.func @gradient_reader
// CHECK-NOT: cuda.linear_cross_entropy
// CHECK: return
// REMARK: LogitsWhole
// REMARK-SAME: another operation than two products reads the gradient of the logits
func.func @gradient_reader(%x: tensor<64x32xf32> {amp.role = "parameter", amp.name = "x"}, %l: tensor<64xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<f32> {amp.metric = "loss"}, tensor<64x32xf32> {amp.updates = "x"}, tensor<32x100xf32> {amp.updates = "w"}, tensor<64x100xf32> {amp.metric = "dy"}) {
  %y = train.linear %x, %w : (tensor<64x32xf32>, tensor<32x100xf32>) -> tensor<64x100xf32>
  %loss = train.cross_entropy %y, %l : (tensor<64x100xf32>, tensor<64xi64>) -> tensor<f32>
  %dx, %dw, %dy = train.gradients %loss wrt(%x, %w, %y) : (tensor<f32>, tensor<64x32xf32>, tensor<32x100xf32>, tensor<64x100xf32>) -> (tensor<64x32xf32>, tensor<32x100xf32>, tensor<64x100xf32>)
  return %loss, %dx, %dw, %dy : tensor<f32>, tensor<64x32xf32>, tensor<32x100xf32>, tensor<64x100xf32>
}

// -----

// CHECK-LABEL: func.func @other_product
// CHECK-NOT: cuda.linear_cross_entropy
// CHECK: return
// REMARK: LogitsWhole
// REMARK-SAME: a product with the gradient of the logits is not a gradient of the classifier
func.func @other_product(%x: tensor<64x32xf32> {amp.role = "parameter", amp.name = "x"}, %l: tensor<64xi64> {amp.role = "batch", amp.name = "l"},
    %w: tensor<32x100xf32> {amp.role = "parameter", amp.name = "w"}, %v: tensor<100x8xf32> {amp.role = "batch", amp.name = "v"})
    -> (tensor<f32> {amp.metric = "loss"}, tensor<64x32xf32> {amp.updates = "x"}, tensor<32x100xf32> {amp.updates = "w"}, tensor<64x8xf32> {amp.metric = "dy"}) {
  %y = train.linear %x, %w : (tensor<64x32xf32>, tensor<32x100xf32>) -> tensor<64x100xf32>
  %loss = train.cross_entropy %y, %l : (tensor<64x100xf32>, tensor<64xi64>) -> tensor<f32>
  %dx, %dw, %dy = train.gradients %loss wrt(%x, %w, %y) : (tensor<f32>, tensor<64x32xf32>, tensor<32x100xf32>, tensor<64x100xf32>) -> (tensor<64x32xf32>, tensor<32x100xf32>, tensor<64x100xf32>)
  %z = train.matmul %dy, %v : (tensor<64x100xf32>, tensor<100x8xf32>) -> tensor<64x8xf32>
  return %loss, %dx, %dw, %z : tensor<f32>, tensor<64x32xf32>, tensor<32x100xf32>, tensor<64x8xf32>
}
