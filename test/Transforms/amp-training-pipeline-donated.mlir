// Arguments that the passes add are laid out and donated like the parameters.
//
// RUN: amp-opt %s --allow-unregistered-dialect --amp-training-pipeline="precision=fp16 master-weights=copy" | FileCheck %s
// RUN: amp-opt %s --allow-unregistered-dialect --amp-training-pipeline="precision=bf16 master-weights=none update-rounding=kahan" | FileCheck %s --check-prefix=SUM

// The masters keep their attributes. A low copy has the sharding of its master,
// and the scaler is replicated. Each is an alias of the result that updates it.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %{{[^ ]*}}: tensor<8x8xf32> {amp.name = "w", amp.role = "parameter", mhlo.sharding = "{devices=[2,1]0,1}", tf.aliasing_output = 0 : i32}
// CHECK-SAME: tensor<8x8xf16> {{{.*}}amp.name = "w.low", amp.role = "parameter", mhlo.sharding = "{devices=[2,1]0,1}", tf.aliasing_output = 1 : i32}
// CHECK-SAME: amp.name = "loss_scale", amp.role = "scaler_state", mhlo.sharding = "{replicated}", tf.aliasing_output = 2 : i32}
// CHECK-SAME: -> ({{.*}}tensor<8x8xf16> {amp.updates = "w.low", mhlo.sharding = "{devices=[2,1]0,1}"}, tensor<f32> {amp.updates = "loss_scale", mhlo.sharding = "{replicated}"}
// SUM-LABEL: func.func @step
// SUM-SAME: amp.name = "w.compensation", amp.role = "optimizer_state", mhlo.sharding = "{devices=[2,1]0,1}", tf.aliasing_output = 1 : i32}
func.func @step(
    %w: tensor<8x8xf32> {amp.name = "w", amp.role = "parameter", mhlo.sharding = "{devices=[2,1]0,1}", tf.aliasing_output = 0 : i32},
    %x: tensor<8x8xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"})
    -> (tensor<8x8xf32> {amp.updates = "w", mhlo.sharding = "{devices=[2,1]0,1}"}) {
  %y = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %loss = train.mse %y, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %new = train.sgd %w, %g, %lr : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %new : tensor<8x8xf32>
}

// The same with the attributes of Shardy, and parameters that are donated without
// naming a result.
// CHECK-LABEL: func.func @shardy
// CHECK-SAME: amp.name = "w", amp.role = "parameter", jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, {{\[}}{"x"}, {}]>}
// CHECK-SAME: amp.name = "w.low", amp.role = "parameter", sdy.sharding = #sdy.sharding<@mesh, {{\[}}{"x"}, {}]>, tf.aliasing_output = 1 : i32}
// CHECK-SAME: amp.name = "loss_scale", amp.role = "scaler_state", tf.aliasing_output = 2 : i32}
// SUM-LABEL: func.func @shardy
// SUM-SAME: amp.name = "w.compensation", amp.role = "optimizer_state", sdy.sharding = #sdy.sharding<@mesh, {{\[}}{"x"}, {}]>, tf.aliasing_output = 1 : i32}
func.func @shardy(
    %w: tensor<8x8xf32> {amp.name = "w", amp.role = "parameter", jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %x: tensor<8x8xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"})
    -> (tensor<8x8xf32> {amp.updates = "w", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %y = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %loss = train.mse %y, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %new = train.sgd %w, %g, %lr : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %new : tensor<8x8xf32>
}

// Nothing is donated and nothing is sharded.
// CHECK-LABEL: func.func @plain
// CHECK-NOT: tf.aliasing_output
// CHECK-NOT: mhlo.sharding
// SUM-LABEL: func.func @plain
// SUM-NOT: tf.aliasing_output
func.func @plain(
    %w: tensor<8x8xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<8x8xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"})
    -> (tensor<8x8xf32> {amp.updates = "w"}) {
  %y = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %loss = train.mse %y, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %new = train.sgd %w, %g, %lr : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %new : tensor<8x8xf32>
}
