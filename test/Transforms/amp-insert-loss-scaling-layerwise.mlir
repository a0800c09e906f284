// A loss scale for each layer.
//
// RUN: amp-opt %s --split-input-file --amp-insert-loss-scaling=mode=layerwise --amp-check-loss-scaling | FileCheck %s
// RUN: amp-opt %s --split-input-file --amp-insert-loss-scaling='mode=layerwise init-scale=256 growth-factor=4 backoff-factor=0.5 min-scale=0.125 max-scale=1024 layer-target=100 check=both count-skipped' \
// RUN:   --amp-check-loss-scaling | FileCheck %s --check-prefix=OPTIONS
// Twice is once.
// RUN: amp-opt %s --split-input-file --amp-insert-loss-scaling=mode=layerwise --amp-insert-loss-scaling=mode=layerwise --amp-check-loss-scaling \
// RUN:   --remarks-filter=amp 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t.remarks

// REMARK-DAG: [Passed] LayerScales | Category:amp | Function=two_layers | Layers=2
// REMARK-DAG: [Missed] AlreadyScaled | Category:amp | Function=two_layers

// Each layer has an argument and an update. The gradient changes its scale at
// the product with the weight. Each layer has its own guard, magnitude and
// finite flag. The step count increases if any layer was updated.

// CHECK-LABEL: func.func @two_layers(
// CHECK-SAME: %[[W1:[^:]*]]: tensor<4x8xf32>
// CHECK-SAME: %[[W2:[^:]*]]: tensor<8x4xf32>
// CHECK-SAME: %[[S2:[^:]*]]: tensor<f32> {amp.init = #amp.init<constant, value = 6.553600e+04 : f64>, amp.name = "loss_scale.w2", amp.role = "scaler_state"}
// CHECK-SAME: %[[S1:[^:]*]]: tensor<f32> {amp.init = #amp.init<constant, value = 6.553600e+04 : f64>, amp.name = "loss_scale.w1", amp.role = "scaler_state"}
// CHECK-SAME: {amp.updates = "loss_scale.w2"}
// CHECK-SAME: {amp.metric = "loss_scale.w2"}
// CHECK-SAME: {amp.metric = "skipped.w2"}
// CHECK-SAME: {amp.updates = "loss_scale.w1"}
// CHECK-SAME: {amp.metric = "loss_scale.w1"}
// CHECK-SAME: {amp.metric = "skipped.w1"}
// CHECK-SAME: {amp.metric = "skipped"}
// CHECK: %[[T:.*]] = train.add
// CHECK: %[[SEED:.*]] = amp.gradient_seed "loss"
// CHECK-NEXT: %[[SCALED:.*]] = amp.scale %[[SEED]] by %[[S2]]
// CHECK-NEXT: %[[G:.*]] = train.mse_grad %{{.*}}, %{{.*}}, %[[SCALED]]
// CHECK-NEXT: %[[R:.*]] = amp.rescale %[[G]] from %[[S2]] to %[[S1]] : tensor<4x4xf32>
// CHECK-NEXT: %[[G2:.*]] = train.matmul %{{.*}}, %[[G]]
// CHECK-NEXT: %[[U2:.*]], %[[F2:.*]] = amp.unscale %[[G2]] by %[[S2]]
// CHECK: %[[M2:.*]] = amp.max_magnitude %[[G]], %[[G2]]
// CHECK-NEXT: %[[GX:.*]] = train.matmul %[[R]], %[[W2]]
// CHECK-NEXT: %[[G1:.*]] = train.matmul %{{.*}}, %[[GX]]
// CHECK-NEXT: %[[U1:.*]], %[[F1:.*]] = amp.unscale %[[G1]] by %[[S1]]
// CHECK: arith.ori
// CHECK: %[[M1:.*]] = amp.max_magnitude %[[R]], %[[G1]]
// CHECK: scf.if %{{.*}} -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
// CHECK-NEXT: train.adam %[[W1]], %[[U1]], {{.*}}, %[[T]] :
// CHECK: scf.if %{{.*}} -> (tensor<8x4xf32>) {
// CHECK-NEXT: train.sgd %[[W2]], %[[U2]]
// CHECK: amp.adapt_scale %[[S2]], %[[M2]], %[[F2]]{{$}}
// CHECK: amp.adapt_scale %[[S1]], %[[M1]], %[[F1]]{{$}}
//
// OPTIONS-LABEL: func.func @two_layers(
// OPTIONS-SAME: amp.init = #amp.init<constant, value = 2.560000e+02 : f64>, amp.name = "loss_scale.w2"
// OPTIONS: amp.unscale {{.*}} strict
// OPTIONS: amp.adapt_scale {{.*}} {scaler = #amp.layer_scaler<target = 100, growth_factor = 4, backoff_factor = 0.5, min_scale = 0.125, max_scale = 1024>}
func.func @two_layers(
    %w1: tensor<4x8xf32> {amp.role = "parameter", amp.name = "w1"},
    %w2: tensor<8x4xf32> {amp.role = "parameter", amp.name = "w2"},
    %m: tensor<4x8xf32> {amp.role = "optimizer_state", amp.name = "m"},
    %v: tensor<4x8xf32> {amp.role = "optimizer_state", amp.name = "v"},
    %t: tensor<f32> {amp.role = "optimizer_state", amp.name = "t"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x8xf32> {amp.updates = "w1"}, tensor<8x4xf32> {amp.updates = "w2"}, tensor<4x8xf32> {amp.updates = "m"},
        tensor<4x8xf32> {amp.updates = "v"}, tensor<f32> {amp.updates = "t"}) {
  %one = train.constant dense<1.0> : tensor<f32>
  %t1 = train.add %t, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %h = train.matmul %x, %w1 : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = train.matmul %h, %w2 : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %y, %x, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %g2 = train.matmul %h, %g {transpose_a, amp.gradient_of = ["w2"]} : (tensor<4x8xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %gx = train.matmul %g, %w2 {transpose_b} : (tensor<4x4xf32>, tensor<8x4xf32>) -> tensor<4x8xf32>
  %g1 = train.matmul %x, %gx {transpose_a, amp.gradient_of = ["w1"]} : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %n1, %m1, %v1 = train.adam %w1, %g1, %lr, %m, %v, %t1 : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %n2 = train.sgd %w2, %g2, %lr : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %n1, %n2, %m1, %v1, %t1 : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<f32>
}

// -----

// y = x·w0; y + (y·w1)·w2: the value that bypasses the branch and the branch's
// result are added in the scale of the latter. The scale of w1's layer is that
// of the product with w2, and the sum has w0's.

// CHECK-LABEL: func.func @residual(
// CHECK-SAME: %[[S2:[^:]*]]: tensor<f32> {{{[^}]*}}amp.name = "loss_scale.w2"
// CHECK-SAME: %[[S1:[^:]*]]: tensor<f32> {{{[^}]*}}amp.name = "loss_scale.w1"
// CHECK-SAME: %[[S0:[^:]*]]: tensor<f32> {{{[^}]*}}amp.name = "loss_scale.w0"
// CHECK: %[[G:.*]] = train.mse_grad
// CHECK-DAG: %[[AROUND:.*]] = amp.rescale %[[G]] from %[[S2]] to %[[S0]]
// CHECK-DAG: %[[IN:.*]] = amp.rescale %[[G]] from %[[S2]] to %[[S1]]
// CHECK: %[[GH:.*]] = train.matmul %[[IN]], %{{.*}} {transpose_b}
// CHECK-NEXT: %[[OUT:.*]] = amp.rescale %[[GH]] from %[[S1]] to %[[S0]]
// CHECK: %[[GY:.*]] = train.matmul %[[OUT]], %{{.*}} {transpose_b}
// CHECK-NEXT: %[[SUM:.*]] = train.add %[[AROUND]], %[[GY]]
// CHECK-NEXT: %[[G0:.*]] = train.matmul %{{.*}}, %[[SUM]]
// CHECK-NEXT: amp.unscale %[[G0]] by %[[S0]]
// CHECK: amp.max_magnitude %[[OUT]], %[[AROUND]], %[[G0]]
func.func @residual(
    %w0: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w0"},
    %w1: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w1"},
    %w2: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w2"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w0"}, tensor<4x4xf32> {amp.updates = "w1"}, tensor<4x4xf32> {amp.updates = "w2"}) {
  %y = train.matmul %x, %w0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = train.matmul %y, %w1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = train.matmul %h, %w2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = train.add %y, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %r, %x, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %g2 = train.matmul %h, %g {transpose_a, amp.gradient_of = ["w2"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %gh = train.matmul %g, %w2 {transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g1 = train.matmul %y, %gh {transpose_a, amp.gradient_of = ["w1"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %gy = train.matmul %gh, %w1 {transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = train.add %g, %gy : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g0 = train.matmul %x, %sum {transpose_a, amp.gradient_of = ["w0"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %n0 = train.sgd %w0, %g0, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %n1 = train.sgd %w1, %g1, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %n2 = train.sgd %w2, %g2, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n0, %n1, %n2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A tied weight has gradients of two layers, which are added in one scale. The
// two layers then share a scale, since the other has no separate gradient. A
// frozen layer has no scale.

// CHECK-LABEL: func.func @tied(
// CHECK-SAME: amp.name = "loss_scale.w"
// CHECK-NOT: loss_scale.f
// CHECK: %[[G:.*]] = train.mse_grad
// CHECK: amp.unscale
// CHECK-NOT: amp.unscale
// CHECK: amp.adapt_scale
// CHECK-NOT: amp.adapt_scale
func.func @tied(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %f: tensor<4x4xf32> {amp.role = "parameter", amp.name = "f"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}) {
  %a = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = train.matmul %a, %f : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = train.matmul %b, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %c, %x, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %gw = train.matmul %b, %g {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %gb = train.matmul %g, %w {transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %ga = train.matmul %gb, %f {transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %gv = train.matmul %x, %ga {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = train.add %gw, %gv {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = train.sgd %w, %sum, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// -----

// In a loop over micro-batches, everything has the scale of the seed. A clip by
// the norm of all gradients needs all of them finite.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[S:[^:]*]]: tensor<f32> {{{[^}]*}}amp.name = "loss_scale.w1"
// CHECK-NOT: amp.rescale
// CHECK: scf.for
// CHECK: amp.scale %{{.*}} by %[[S]]
// CHECK: %[[U:.*]]:2, %{{.*}} = amp.unscale %{{.*}}#0, %{{.*}}#1 by %[[S]]
// CHECK: scf.if
// CHECK-NEXT: train.clip_by_global_norm %[[U]]#0, %[[U]]#1
// CHECK-NOT: scf.if
func.func @loop(
    %w1: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w1"},
    %w2: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w2"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w1"}, tensor<4x4xf32> {amp.updates = "w2"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zeros = train.constant dense<0.0> : tensor<4x4xf32>
  %sum:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a1 = %zeros, %a2 = %zeros) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %h = train.matmul %x, %w1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = train.matmul %h, %w2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %g = train.mse_grad %y, %x, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    %g2 = train.matmul %h, %g {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %gh = train.matmul %g, %w2 {transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %g1 = train.matmul %x, %gh {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %n1 = train.add %a1, %g1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %n2 = train.add %a2, %g2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %n1, %n2 : tensor<4x4xf32>, tensor<4x4xf32>
  } {amp.gradient_of = ["w1", "w2"]}
  %c:3 = train.clip_by_global_norm %sum#0, %sum#1 {max_norm = 1.0 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>)
  %n1 = train.sgd %w1, %c#0, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %n2 = train.sgd %w2, %c#1, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n1, %n2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// With several losses, a weight has a gradient in several layers. Each layer has
// a unique name.

// CHECK-LABEL: func.func @two_losses(
// CHECK-SAME: amp.name = "loss_scale.w"
// CHECK-SAME: amp.name = "loss_scale.w.2"
// CHECK-SAME: {amp.metric = "skipped.w"}
// CHECK-SAME: {amp.metric = "skipped.w.2"}
func.func @two_losses(%w: tensor<4x4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4x4xf32> {amp.name = "x", amp.role = "batch"})
    -> (tensor<4x4xf32> {amp.updates = "w"}) {
  %a = amp.gradient_seed "a" : tensor<f32>
  %ga = train.broadcast %a {dims = array<i64: 0, 1>, mean} : (tensor<f32>) -> tensor<4x4xf32>
  %g1 = train.matmul %x, %ga {transpose_a, amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = amp.gradient_seed "b" : tensor<f32>
  %gb = train.broadcast %b {dims = array<i64: 0, 1>, mean} : (tensor<f32>) -> tensor<4x4xf32>
  %h = train.matmul %gb, %w {transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g2 = train.matmul %x, %h {transpose_a, amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = train.add %g1, %g2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = train.sub %w, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}
