// A step in linalg and arith, with its backward pass.
//
// PIPELINE: auto-mixed-precision,amp-insert-master-weights{mode=copy},amp-insert-loss-scaling,amp-check-loss-scaling
//
// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<4x4xf16> {amp.init = #amp.init<copy_of, source = "w">, amp.name = "w.low", amp.role = "parameter"}
// CHECK-NOT: amp.cast
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>)
// CHECK: amp.scale
// CHECK: linalg.matmul {amp.gradient_of = ["w"]
// CHECK: amp.unscale
// CHECK-NOT: amp.cast
// CHECK: scf.if
// CHECK: amp.update_scale
func.func @step(
    %w: tensor<4x4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4x4xf32> {amp.name = "x", amp.role = "batch"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf32> {amp.prediction = "y"}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %one = tensor.extract %seed[] : tensor<f32>
  %ones = tensor.splat %one : tensor<4x4xf32>
  %dy = arith.mulf %y, %ones : tensor<4x4xf32>
  %xt = linalg.transpose ins(%x : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
  %dw = linalg.matmul {amp.gradient_of = ["w"]} ins(%xt, %dy : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %new = arith.subf %w, %dw : tensor<4x4xf32>
  return %new, %y : tensor<4x4xf32>, tensor<4x4xf32>
}
