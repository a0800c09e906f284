// A step in TOSA, with its backward pass.
//
// PIPELINE: auto-mixed-precision,amp-insert-master-weights{mode=copy},amp-insert-loss-scaling,amp-check-loss-scaling
//
// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<1x4x4xf16> {amp.init = #amp.init<copy_of, source = "w">, amp.name = "w.low", amp.role = "parameter"}
// CHECK-NOT: amp.cast
// CHECK: tosa.matmul {{.*}} : (tensor<1x4x4xf16>, tensor<1x4x4xf16>
// CHECK: amp.scale
// CHECK: tosa.matmul {{.*}}amp.gradient_of = ["w"]
// CHECK: amp.unscale
// CHECK-NOT: amp.cast
// CHECK: scf.if
// CHECK: amp.update_scale
func.func @step(
    %w: tensor<1x4x4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<1x4x4xf32> {amp.name = "x", amp.role = "batch"})
    -> (tensor<1x4x4xf32> {amp.updates = "w"}, tensor<1x4x4xf32> {amp.prediction = "y"}) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %shape = tosa.const_shape {values = dense<1> : tensor<3xindex>} : () -> !tosa.shape<3>
  %one = tosa.reshape %seed, %shape : (tensor<f32>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  %dy = tosa.mul %y, %one, %shift : (tensor<1x4x4xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4xf32>
  %xt = tosa.transpose %x {perms = array<i32: 0, 2, 1>} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %dw = tosa.matmul %xt, %dy, %zero, %zero {amp.gradient_of = ["w"]} : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %new = tosa.sub %w, %dw : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return %new, %y : tensor<1x4x4xf32>, tensor<1x4x4xf32>
}
