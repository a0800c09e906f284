// A gradient penalty: the loss contains a gradient of another loss. The inner
// gradient is unscaled before its use, and so is the gradient that flows back from
// there. Each product of the second backward pass then has one factor.
// RUN: split-file %s %t
// RUN: amp-opt %t/penalty.mlir --train-autodiff | FileCheck %s --check-prefix=AUTODIFF
// RUN: amp-opt %t/penalty.mlir --train-autodiff --amp-insert-loss-scaling --amp-check-loss-scaling | FileCheck %s
// RUN: amp-opt %t/penalty.mlir --train-autodiff --amp-insert-loss-scaling=mode=1024 --amp-check-loss-scaling | FileCheck %s --check-prefix=CONSTANT
// RUN: amp-opt %t/penalty.mlir --train-autodiff --amp-insert-loss-scaling=mode=none | FileCheck %s --check-prefix=AUTODIFF
// RUN: amp-opt %t/penalty.mlir --amp-training-pipeline | FileCheck %s --check-prefix=FP16
// RUN: amp-opt %t/penalty.mlir --amp-training-pipeline -o /dev/null 2>&1 | count 0
// RUN: amp-opt %t/penalty.mlir --amp-training-pipeline=loss-scale=none -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNSCALED
// RUN: amp-opt %t/penalty.mlir --amp-training-pipeline=strategy=autocast -o /dev/null
// RUN: amp-opt %t/penalty.mlir --amp-training-pipeline=master-weights=copy -o /dev/null
// RUN: not amp-opt %t/penalty.mlir --amp-training-pipeline=scale-per-loss 2>&1 | FileCheck %s --check-prefix=PER-LOSS
// RUN: not amp-opt %t/forgotten.mlir --amp-check-loss-scaling 2>&1 | FileCheck %s --check-prefix=FORGOTTEN

// AUTODIFF: amp.gradient_seed "inner"
// AUTODIFF: %[[GX:.*]] = train.matmul
// AUTODIFF-NEXT: %[[TRUE:.*]] = amp.inner_gradient %[[GX]] {{.*}}: tensor<8x4xf32> to tensor<8x4xf32>
// AUTODIFF-NEXT: train.square %[[TRUE]]
// AUTODIFF: amp.gradient_seed "loss"
// AUTODIFF: amp.inner_gradient %{{.*}}: tensor<8x4xf32> to tensor<8x4xf32>
// AUTODIFF: amp.gradient_of = ["w"]
//
// CHECK: func.func @penalty(
// CHECK-SAME: %[[S:arg[0-9]+]]: tensor<f32> {{[{][^}]*}}amp.name = "loss_scale"
// CHECK: %[[INNER:.*]] = amp.gradient_seed "inner"
// CHECK: amp.scale %[[INNER]] by %[[S]]
// CHECK: amp.inner_gradient %{{.*}} by %[[S]]
// CHECK: %[[OUTER:.*]] = amp.gradient_seed "loss"
// CHECK: amp.scale %[[OUTER]] by %[[S]]
// CHECK: amp.inner_gradient %{{.*}} by %[[S]]
// CHECK: amp.unscale %{{.*}} by %[[S]]
// CHECK-NOT: amp.unscale
//
// CONSTANT: %[[S:.*]] = arith.constant dense<1.024000e+03>
// CONSTANT-COUNT-2: amp.inner_gradient %{{.*}} by %[[S]]
//
// FP16: amp.inner_gradient %{{.*}} by %{{.*}} : tensor<8x4xf{{16|32}}> to tensor<8x4xf32>
// FP16: train.matmul {{.*}}tensor<{{.*}}xf16>
//
// UNSCALED: warning: the backward pass computes in f16 without a loss scale
//
// PER-LOSS: error: 'amp.inner_gradient' op is a gradient on which another loss depends, expected one scale for all losses instead of one for each
//
// The check finds the inner gradient that is still scaled.
// FORGOTTEN: error: {{.*}}loss_scale

//--- penalty.mlir
func.func @penalty(
    %w: tensor<4x3xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<ones>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 1.0>},
    %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x3xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.matmul %x, %w : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %a = train.tanh %h : tensor<8x3xf32>
  %loss = train.reduce_mean %a {dims = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  %gx = train.gradients %loss wrt(%x) {name = "inner"} : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %sq = train.square %gx : tensor<8x4xf32>
  %pen = train.reduce_sum %sq {dims = array<i64: 0, 1>} : (tensor<8x4xf32>) -> tensor<f32>
  %total = train.add %loss, %pen : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = train.gradients %total wrt(%w) : (tensor<f32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %n = train.sgd %w, %g, %lr : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %n, %total : tensor<4x3xf32>, tensor<f32>
}

//--- forgotten.mlir
func.func @forgotten(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"})
    -> (tensor<f32> {amp.metric = "penalty"}) {
  %seed = amp.gradient_seed "inner" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %inner = amp.inner_gradient %g : tensor<4xf32> to tensor<4xf32>
  %sq = train.square %inner : tensor<4xf32>
  %pen = train.reduce_sum %sq {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  return %pen : tensor<f32>
}
