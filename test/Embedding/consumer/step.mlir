// One step of a network of one layer, backward pass written out, on tensors of a
// type that is the dialect's own.
//
// Casts: the product reads f16, its gradient too; the loss is f32.
// Masters: w keeps f32 and has a copy in f16 that forward and backward read.
// Loss scaling: the seed is scaled, the gradient unscaled, the update guarded.
//
// CHECK-LABEL: toy.func @step
// CHECK-SAME: %[[W:[a-z0-9]+]]: !toy.tensor<8x4xf32> {amp.name = "w"
// CHECK-SAME: !toy.tensor<8x4xf16> {amp.init = #amp.init<copy_of, source = "w">, amp.name = "w.low", amp.role = "parameter"}
// CHECK-SAME: amp.name = "loss_scale", amp.role = "scaler_state"
// CHECK-NOT: amp.cast
// CHECK: toy.convert %{{.*}} {amp.inserted} : (!toy.tensor<2x8xf32>) -> !toy.tensor<2x8xf16>
// CHECK: toy.matmul {{.*}} : (!toy.tensor<2x8xf16>, !toy.tensor<8x4xf16>) -> !toy.tensor<2x4xf16>
// CHECK: toy.relu {{.*}} : (!toy.tensor<2x4xf16>) -> !toy.tensor<2x4xf16>
// CHECK: %[[SEED:.*]] = amp.gradient_seed "loss" : tensor<f32>
// CHECK: %[[SCALED:.*]] = amp.scale %[[SEED]] by
// CHECK: %[[ONE:.*]] = toy.convert %[[SCALED]] : (tensor<f32>) -> !toy.tensor<f32>
// CHECK: toy.loss_grad {{.*}}%[[ONE]]
// CHECK: %[[G:.*]] = toy.matmul {{.*}} : (!toy.tensor<8x2xf16>, !toy.tensor<2x4xf16>) -> !toy.tensor<8x4xf32>
// CHECK: %[[U:.*]], %[[FINITE:.*]] = amp.unscale %[[G]] by {{.*}} : (!toy.tensor<8x4xf32>) -> (!toy.tensor<8x4xf32>)
// CHECK: scf.if
// CHECK: toy.descend %[[W]], %[[U]] : (!toy.tensor<8x4xf32>, !toy.tensor<8x4xf32>) -> !toy.tensor<8x4xf32>
// CHECK: amp.master_copy {{.*}} : !toy.tensor<8x4xf32> to !toy.tensor<8x4xf16>
// CHECK: amp.update_scale
//
// The way back: what works on tensors of the dialect converts them first.
// BACK-LABEL: toy.func @step
// BACK-NOT: amp.
// BACK: %[[G:.*]] = toy.matmul {{.*}} -> !toy.tensor<8x4xf32>
// BACK: %[[T:.*]] = toy.convert %[[G]] : (!toy.tensor<8x4xf32>) -> tensor<8x4xf32>
// BACK: %[[U:.*]] = linalg.generic {{.*}} ins(%[[T]],
// BACK: %[[F:.*]] = toy.convert %[[U]] : (tensor<8x4xf32>) -> !toy.tensor<8x4xf32>
// BACK: scf.if
// BACK: toy.descend %{{.*}}, %[[F]]
// BACK-NOT: amp.
// BACK: toy.return
toy.func @step(
    %w: !toy.tensor<8x4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: !toy.tensor<2x8xf32> {amp.name = "x", amp.role = "batch"},
    %t: !toy.tensor<2x4xf32> {amp.name = "t", amp.role = "batch"})
    -> (!toy.tensor<8x4xf32> {amp.updates = "w"}, !toy.tensor<f32> {amp.metric = "loss"}) {
  %h = toy.matmul %x, %w : (!toy.tensor<2x8xf32>, !toy.tensor<8x4xf32>) -> !toy.tensor<2x4xf32>
  %y = toy.relu %h : (!toy.tensor<2x4xf32>) -> !toy.tensor<2x4xf32>
  %loss = toy.loss %y, %t : (!toy.tensor<2x4xf32>, !toy.tensor<2x4xf32>) -> !toy.tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %one = toy.convert %seed : (tensor<f32>) -> !toy.tensor<f32>
  %dy = toy.loss_grad %y, %t, %one : (!toy.tensor<2x4xf32>, !toy.tensor<2x4xf32>, !toy.tensor<f32>) -> !toy.tensor<2x4xf32>
  %dh = toy.relu_grad %dy, %h : (!toy.tensor<2x4xf32>, !toy.tensor<2x4xf32>) -> !toy.tensor<2x4xf32>
  %xt = toy.transpose %x : (!toy.tensor<2x8xf32>) -> !toy.tensor<8x2xf32>
  %dw = toy.matmul %xt, %dh {amp.gradient_of = ["w"]} : (!toy.tensor<8x2xf32>, !toy.tensor<2x4xf32>) -> !toy.tensor<8x4xf32>
  %new = toy.descend %w, %dw : (!toy.tensor<8x4xf32>, !toy.tensor<8x4xf32>) -> !toy.tensor<8x4xf32>
  toy.return %new, %loss : !toy.tensor<8x4xf32>, !toy.tensor<f32>
}
