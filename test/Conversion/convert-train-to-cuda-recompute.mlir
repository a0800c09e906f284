// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the forward pass that the backward pass computes again.
//
// RUN: amp-opt %s --train-autodiff --convert-train-to-cuda=recompute-rate=1 --split-input-file --remarks-filter=amp 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t.remarks
// RUN: amp-opt %s --train-autodiff --convert-train-to-cuda=recompute-rate=0 --split-input-file | FileCheck %s --check-prefix=KEPT
// RUN: amp-opt %s --train-autodiff --convert-train-to-cuda --split-input-file | FileCheck %s --check-prefix=KEPT
// RUN: not amp-opt %s --train-autodiff --convert-train-to-cuda=recompute-rate=-1 --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: 'func.func' op cannot be lowered with 'recompute-rate' -1, expected at least 0
// RUN: not amp-opt %s --train-autodiff --convert-train-to-cuda=attention-bytes=-1 --split-input-file 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: error: 'func.func' op cannot be lowered with 'attention-bytes' -1, expected at least 0

// The kernel of a gelu's gradient also computes the gelu, which the gradient of
// the next weight reads: both read the same sum. The last gelu is read at once.
// Small values are not worth a launch by default.
// CHECK-LABEL: func.func @gelus
// CHECK: %[[H1:.*]] = cuda.gemm {{.*}}ins(%arg0, %arg2
// CHECK: %[[G1:.*]] = cuda.kernel
// CHECK: ins(%[[H1]] : tensor<512x64xf32>)
// CHECK: %[[H2:.*]] = cuda.gemm {{.*}}ins(%[[G1]], %arg3
// CHECK: %[[D:.*]] = cuda.gemm {{.*}}transpose_b
// CHECK: %[[BOTH:.*]]:2 = cuda.kernel
// CHECK: -> tensor<512x64xf32>, tensor<512x64xf32>
// CHECK: cuda.gemm {{.*}}ins(%[[BOTH]]#{{[01]}}, %{{.*}}transpose_a
// CHECK: return
// REMARK: Recomputed
// REMARK-SAME: is computed again for the backward pass
// KEPT-LABEL: func.func @gelus
// KEPT-NOT: -> tensor<512x64xf32>, tensor<512x64xf32>
// KEPT: return
func.func @gelus(%x: tensor<512x64xf32> {amp.role = "batch", amp.name = "x"}, %l: tensor<512xi64> {amp.role = "batch", amp.name = "l"},
    %w1: tensor<64x64xf32> {amp.role = "parameter", amp.name = "w1"}, %w2: tensor<64x64xf32> {amp.role = "parameter", amp.name = "w2"},
    %w3: tensor<64x8xf32> {amp.role = "parameter", amp.name = "w3"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<64x64xf32> {amp.updates = "w1"}, tensor<64x64xf32> {amp.updates = "w2"}, tensor<64x8xf32> {amp.updates = "w3"},
        tensor<f32> {amp.metric = "loss"}) {
  %h1 = train.linear %x, %w1 : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %g1 = train.gelu %h1 : tensor<512x64xf32>
  %h2 = train.linear %g1, %w2 : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %g2 = train.gelu %h2 : tensor<512x64xf32>
  %y = train.linear %g2, %w3 : (tensor<512x64xf32>, tensor<64x8xf32>) -> tensor<512x8xf32>
  %loss = train.cross_entropy %y, %l : (tensor<512x8xf32>, tensor<512xi64>) -> tensor<f32>
  %d:3 = train.gradients %loss wrt(%w1, %w2, %w3) : (tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x8xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x8xf32>)
  %1 = train.sgd %w1, %d#0, %lr : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %2 = train.sgd %w2, %d#1, %lr : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %3 = train.sgd %w3, %d#2, %lr : (tensor<64x8xf32>, tensor<64x8xf32>, tensor<f32>) -> tensor<64x8xf32>
  return %1, %2, %3, %loss : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x8xf32>, tensor<f32>
}

// -----

// A norm with a relu, and one with a residual, from their statistics.
// CHECK-LABEL: func.func @norms
// CHECK: %[[N1:.*]]:6 = cuda.batch_norm_relu named "[[NAME:.*]]" ins(%[[H1:[^,]*]],
// CHECK: cuda.batch_norm_add_relu
// CHECK: cuda.batch_norm_apply named "[[NAME]]_again" ins(%[[H1]], %arg5, %arg5, %[[N1]]#1, %[[N1]]#2 : {{.*}}{relu}
// CHECK: return
// KEPT-LABEL: func.func @norms
// KEPT-NOT: _again
// KEPT: return
func.func @norms(%x: tensor<512x64xf32> {amp.role = "batch", amp.name = "x"}, %l: tensor<512xi64> {amp.role = "batch", amp.name = "l"},
    %w1: tensor<64x64xf32> {amp.role = "parameter", amp.name = "w1"}, %w2: tensor<64x64xf32> {amp.role = "parameter", amp.name = "w2"},
    %w3: tensor<64x8xf32> {amp.role = "parameter", amp.name = "w3"}, %g: tensor<64xf32> {amp.role = "parameter", amp.name = "g"},
    %m: tensor<64xf32> {amp.role = "model_state", amp.name = "m"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<64x64xf32> {amp.updates = "w1"}, tensor<64x64xf32> {amp.updates = "w2"}, tensor<64x8xf32> {amp.updates = "w3"},
        tensor<64xf32> {amp.updates = "m"}, tensor<f32> {amp.metric = "loss"}) {
  %h1 = train.linear %x, %w1 : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %n1:5 = train.batch_norm_training %h1, %g, %g, %m, %m : (tensor<512x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<512x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
  %r1 = train.relu %n1#0 : tensor<512x64xf32>
  %h2 = train.linear %r1, %w2 : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %n2:5 = train.batch_norm_training %h2, %g, %g, %m, %m : (tensor<512x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<512x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
  %s = train.add %n2#0, %x : (tensor<512x64xf32>, tensor<512x64xf32>) -> tensor<512x64xf32>
  %r2 = train.relu %s : tensor<512x64xf32>
  %y = train.linear %r2, %w3 : (tensor<512x64xf32>, tensor<64x8xf32>) -> tensor<512x8xf32>
  %loss = train.cross_entropy %y, %l : (tensor<512x8xf32>, tensor<512xi64>) -> tensor<f32>
  %d:3 = train.gradients %loss wrt(%w1, %w2, %w3) : (tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x8xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x8xf32>)
  %1 = train.sgd %w1, %d#0, %lr : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %2 = train.sgd %w2, %d#1, %lr : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %3 = train.sgd %w3, %d#2, %lr : (tensor<64x8xf32>, tensor<64x8xf32>, tensor<f32>) -> tensor<64x8xf32>
  return %1, %2, %3, %n1#3, %loss : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x8xf32>, tensor<64xf32>, tensor<f32>
}

// -----

// The gradient of a norm of rows computes the norm too. The gradient of the
// weight, which reads the norm, follows it.
// CHECK-LABEL: func.func @rows
// CHECK: %[[N:.*]]:3 = cuda.layer_norm {{.*}}ins(%[[H:[^,]*]], %arg4, %arg4
// CHECK: %[[B:.*]]:4 = cuda.layer_norm_and_grad {{.*}}ins(%{{[^,]*}}, %[[H]], %arg4, %[[N]]#1, %[[N]]#2, %arg4 :
// CHECK: cuda.gemm {{.*}}ins(%[[B]]#3, %{{.*}}transpose_a
// CHECK-NOT: cuda.layer_norm_grad
// CHECK: return
// KEPT-LABEL: func.func @rows
// KEPT-NOT: cuda.layer_norm_and_grad
// KEPT: return
func.func @rows(%x: tensor<512x64xf32> {amp.role = "batch", amp.name = "x"}, %l: tensor<512xi64> {amp.role = "batch", amp.name = "l"},
    %w1: tensor<64x64xf32> {amp.role = "parameter", amp.name = "w1"}, %w2: tensor<64x64xf32> {amp.role = "parameter", amp.name = "w2"},
    %g: tensor<64xf32> {amp.role = "parameter", amp.name = "g"}, %w3: tensor<64x8xf32> {amp.role = "parameter", amp.name = "w3"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<64x64xf32> {amp.updates = "w1"}, tensor<64x64xf32> {amp.updates = "w2"}, tensor<64xf32> {amp.updates = "g"},
        tensor<64x8xf32> {amp.updates = "w3"}, tensor<f32> {amp.metric = "loss"}) {
  %h1 = train.linear %x, %w1 : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %n:3 = train.layer_norm %h1, %g, %g : (tensor<512x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<512x64xf32>, tensor<512xf32>, tensor<512xf32>)
  %h2 = train.linear %n#0, %w2 : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  %g2 = train.gelu %h2 : tensor<512x64xf32>
  %y = train.linear %g2, %w3 : (tensor<512x64xf32>, tensor<64x8xf32>) -> tensor<512x8xf32>
  %loss = train.cross_entropy %y, %l : (tensor<512x8xf32>, tensor<512xi64>) -> tensor<f32>
  %d:4 = train.gradients %loss wrt(%w1, %w2, %g, %w3) : (tensor<f32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x8xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x8xf32>)
  %1 = train.sgd %w1, %d#0, %lr : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %2 = train.sgd %w2, %d#1, %lr : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %3 = train.sgd %g, %d#2, %lr : (tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %4 = train.sgd %w3, %d#3, %lr : (tensor<64x8xf32>, tensor<64x8xf32>, tensor<f32>) -> tensor<64x8xf32>
  return %1, %2, %3, %4, %loss : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x8xf32>, tensor<f32>
}
