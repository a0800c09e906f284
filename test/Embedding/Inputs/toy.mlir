// The step of the toy dialect in tools that do not have it: in generic form, on
// builtin tensors, by an adapter.
//
// TOOLS: amp-opt, installed amp-opt, mlir-opt
// OPTIONS: --allow-unregistered-dialect
// PIPELINE: auto-mixed-precision{policy=toy.yaml},amp-insert-loss-scaling,amp-insert-master-weights{mode=copy},canonicalize,amp-check-loss-scaling{linear=toy.matmul=product,toy.loss_grad=2,toy.relu_grad=0}
//
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x4xf32> {amp.name = "w"
// CHECK-SAME: tensor<8x4xf16> {amp.init = #amp.init<copy_of, source = "w">, amp.name = "w.low", amp.role = "parameter"}
// CHECK-NOT: amp.cast
// CHECK: "toy.convert"(%{{.*}}) {amp.inserted} : (tensor<2x8xf32>) -> tensor<2x8xf16>
// CHECK: "toy.matmul"({{.*}}) : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf16>
// CHECK: %[[SEED:.*]] = amp.gradient_seed "loss" : tensor<f32>
// CHECK: %[[SCALED:.*]] = amp.scale %[[SEED]] by
// CHECK: "toy.loss_grad"({{.*}}, %[[SCALED]])
// CHECK: %[[G:.*]] = "toy.matmul"({{.*}}) {{.*}} : (tensor<8x2xf16>, tensor<2x4xf16>) -> tensor<8x4xf32>
// CHECK: %[[U:.*]], %[[FINITE:.*]] = amp.unscale %[[G]] by
// CHECK: scf.if
// CHECK: "toy.descend"(%[[W]], %[[U]]) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK: amp.update_scale
func.func @step(
    %w: tensor<8x4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<2x8xf32> {amp.name = "x", amp.role = "batch"},
    %t: tensor<2x4xf32> {amp.name = "t", amp.role = "batch"})
    -> (tensor<8x4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %h = "toy.matmul"(%x, %w) : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %y = "toy.relu"(%h) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %loss = "toy.loss"(%y, %t) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = "toy.loss_grad"(%y, %t, %seed) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %dh = "toy.relu_grad"(%dy, %h) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %xt = "toy.transpose"(%x) : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %dw = "toy.matmul"(%xt, %dh) {amp.gradient_of = ["w"]} : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %new = "toy.descend"(%w, %dw) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %new, %loss : tensor<8x4xf32>, tensor<f32>
}
