// With strategy=autocast precision is decided before differentiation, as in
// torch: the backward pass runs in the types that the forward pass saved.
//
// RUN: amp-opt %s --amp-training-pipeline="strategy=autocast" -o %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --amp-training-pipeline="strategy=autocast" | diff %t.once -
// RUN: amp-opt %s --amp-training-pipeline="strategy=autocast precision=bf16" | FileCheck %s --check-prefix=BF16
// RUN: amp-opt %s --amp-training-pipeline="strategy=autocast master-weights=copy" | FileCheck %s --check-prefix=COPY
// RUN: amp-opt %s --amp-training-pipeline="strategy=autocast mode=inference" | FileCheck %s --check-prefix=INFERENCE
//
// A pass that comes too late to undo what autodiff built on says so.
// RUN: amp-opt %s --auto-mixed-precision=strategy=autocast --train-autodiff -o %t.differentiated
// RUN: not amp-opt %t.differentiated --amp-strip-precision 2>&1 | FileCheck %s --check-prefix=STRIP
// STRIP: error: cannot undo mixed precision, because later passes built on it: a cast has been differentiated

// The gradient of the cast of %w is a cast back to f32, which folds into the
// product; that of the exponential, which is denied, is f32.
// CHECK-LABEL: func.func @step(
// CHECK: %[[LW:.*]] = amp.cast %{{.*}} inserted {amp.id = {{.*}}} : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: train.matmul %{{.*}}, %[[LW]] {amp.id = {{.*}}} : (tensor<8x4xf16>, tensor<4x4xf16>) -> tensor<8x4xf32>
// CHECK: train.exp {{.*}} : tensor<8x4xf32>
// CHECK: train.mse {{.*}} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f32>
// CHECK: %[[SEED:.*]] = amp.gradient_seed "loss" : tensor<f32>
// CHECK: amp.scale %[[SEED]]
// CHECK: train.mse_grad {{.*}} -> tensor<8x4xf32>
// CHECK: train.mul {{.*}} -> tensor<8x4xf32>
// CHECK: amp.cast %{{.*}} inserted {amp.backward_of = {{.*}}} : tensor<8x4xf32> to tensor<8x4xf16>
// CHECK: %[[G:.*]] = train.matmul {{.*}}amp.gradient_of = ["w"]{{.*}} : (tensor<8x4xf16>, tensor<8x4xf16>) -> tensor<4x4xf32>
// CHECK: amp.unscale %[[G]] by
// CHECK: train.sgd

// BF16: train.matmul {{.*}} : (tensor<8x4xbf16>, tensor<4x4xbf16>)
// BF16: train.matmul {{.*}}amp.gradient_of = ["w"]{{.*}} : (tensor<8x4xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>

// COPY-LABEL: func.func @step(
// COPY-SAME: %[[L:[^:]*]]: tensor<4x4xf16> {amp.init = #amp.init<copy_of, source = "w">
// COPY: train.matmul %{{.*}}, %[[L]]
// COPY: amp.master_copy

// INFERENCE: train.matmul {{.*}} : (tensor<8x4xf16>, tensor<4x4xf16>) -> tensor<8x4xf32>
// INFERENCE-NOT: train.mse_grad
func.func @step(%w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
                %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
                %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"},
                %y: tensor<8x4xf32> {amp.role = "batch", amp.name = "y"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"},
        tensor<8x4xf32> {amp.prediction = "p"}) {
  %0 = train.matmul %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1 = train.exp %0 : tensor<8x4xf32>
  %loss = train.mse %1, %y : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %new = train.sgd %w, %g, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %new, %loss, %1 : tensor<4x4xf32>, tensor<f32>, tensor<8x4xf32>
}
