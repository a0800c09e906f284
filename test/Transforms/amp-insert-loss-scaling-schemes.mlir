// Several losses, several optimizers, micro-batches and published values.
//
// RUN: amp-opt %s --split-input-file --amp-insert-loss-scaling --amp-check-loss-scaling | FileCheck %s
// RUN: amp-opt %s --split-input-file --amp-insert-loss-scaling='per-loss guard-model-state gradient-norm count-skipped check=both' \
// RUN:   --amp-check-loss-scaling | FileCheck %s --check-prefix=ALL
// RUN: amp-opt %s --split-input-file --amp-insert-loss-scaling='mode=8 gradient-norm' --amp-check-loss-scaling | FileCheck %s --check-prefix=CONSTANT
// RUN: amp-opt %s --split-input-file --amp-insert-loss-scaling='mode=none gradient-norm' | FileCheck %s --check-prefix=NONE

// Two losses share a scale, or have one each. The gradients are added after the
// unscaling. The norm is computed as soon as all gradients exist, so that no
// gradient stays live for it.

// CHECK-LABEL: func @two_losses
// CHECK-SAME: %[[SCALE:arg[0-9]+]]: tensor<f32> {{{.*}}amp.name = "loss_scale"
// CHECK: %[[A:.*]] = amp.gradient_seed "a"
// CHECK: amp.scale %[[A]] by %[[SCALE]]
// CHECK: %[[B:.*]] = amp.gradient_seed "b"
// CHECK: amp.scale %[[B]] by %[[SCALE]]
// CHECK: %[[U:.*]]:2, %[[OK:.*]] = amp.unscale {{.*}} by %[[SCALE]]
// CHECK-NOT: amp.unscale
// CHECK: amp.update_scale %[[SCALE]], {{.*}}, %[[OK]]
// CHECK-NOT: amp.update_scale
//
// ALL-LABEL: func @two_losses
// ALL-SAME: %[[SA:arg[0-9]+]]: tensor<f32> {{{[^}]*}}amp.name = "loss_scale.a"
// ALL-SAME: %[[SB:arg[0-9]+]]: tensor<f32> {{{[^}]*}}amp.name = "loss_scale.b"
// ALL: amp.scale %{{.*}} by %[[SA]]
// ALL: amp.scale %{{.*}} by %[[SB]]
// ALL: %[[UA:.*]], %[[FA:.*]] = amp.unscale {{.*}} by %[[SA]] strict
// ALL: %[[UB:.*]], %[[FB:.*]] = amp.unscale {{.*}} by %[[SB]] strict
// ALL-NEXT: %[[SUM:.*]] = arith.addf %[[UA]], %[[UB]]
// ALL-NEXT: %[[NORM:.*]] = amp.global_norm %[[SUM]] :
// ALL: %[[XA:.*]] = tensor.extract %[[FA]]
// ALL: %[[XB:.*]] = tensor.extract %[[FB]]
// ALL: %[[AND:.*]] = arith.andi %[[XA]], %[[XB]]
// ALL: tensor.from_elements %[[AND]]
// ALL: scf.if
// ALL: train.add %[[UA]], %[[UB]]
// ALL: amp.update_scale %[[SA]], {{.*}}, %[[FA]]
// ALL: amp.update_scale %[[SB]], {{.*}}, %[[FB]]
// ALL: return {{.*}}%[[NORM]] :
//
// CONSTANT-LABEL: func @two_losses
// CONSTANT: %[[U:.*]]:2, %{{.*}} = amp.unscale
// CONSTANT: %[[SUM:.*]] = arith.addf %[[U]]#0, %[[U]]#1
// CONSTANT: amp.global_norm %[[SUM]] :
//
// NONE-LABEL: func @two_losses
// NONE-NOT: amp.unscale
// NONE: amp.global_norm
// NONE: train.sub
func.func @two_losses(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %a = amp.gradient_seed "a" : tensor<f32>
  %b = amp.gradient_seed "b" : tensor<f32>
  %ga = train.mul %w, %a {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %gb = train.mul %w, %b {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %g = train.add %ga, %gb : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

// The gradients of each optimizer have their own unscaling, check and guard.
// The scale is updated once, on the conjunction. A step count that belongs to
// no optimizer, and readers of both gradients, require all gradients to be
// finite.

// CHECK-LABEL: func @two_optimizers
// CHECK-SAME: %[[SCALE:arg[0-9]+]]: tensor<f32> {{{[^}]*}}amp.name = "loss_scale"
// CHECK: %[[UD:.*]], %[[FD:.*]] = amp.unscale {{.*}} by %[[SCALE]]
// CHECK: %[[UG:.*]], %{{.*}} = amp.unscale {{.*}} by %[[SCALE]]
// CHECK: %[[NG:.*]] = scf.if %{{.*}} -> (tensor<4xf32>) {
// CHECK: train.sub %{{.*}}, %[[UG]]
// CHECK: tensor.extract %[[FD]][] : tensor<i1>
// CHECK-NEXT: %[[ND:.*]]:2 = scf.if %{{.*}} -> (tensor<4xf32>, tensor<f32>) {
// CHECK: train.sub %{{.*}}, %[[UD]]
// CHECK: train.add
// CHECK: scf.if
// CHECK: amp.update_scale
// CHECK-NOT: amp.update_scale
// CHECK: return %[[ND]]#0, %[[NG]], %[[ND]]#1
//
// ALL-LABEL: func @two_optimizers
// ALL-SAME: {amp.metric = "skipped.d"}
// ALL-SAME: {amp.metric = "skipped.g"}
// ALL-SAME: {amp.metric = "skipped"}
// ALL-SAME: {amp.updates = "skipped_steps"}
// ALL-SAME: {amp.metric = "skipped_steps"}
// ALL-SAME: {amp.metric = "gradient_norm"}
// CONSTANT-LABEL: func @two_optimizers
// NONE-LABEL: func @two_optimizers
func.func @two_optimizers(
    %d: tensor<4xf32> {amp.role = "parameter", amp.name = "d", amp.optimizer = "d"},
    %g: tensor<4xf32> {amp.role = "parameter", amp.name = "g", amp.optimizer = "g"},
    %td: tensor<f32> {amp.role = "optimizer_state", amp.name = "td", amp.optimizer = "d"},
    %t: tensor<f32> {amp.role = "optimizer_state", amp.name = "t"})
    -> (tensor<4xf32> {amp.updates = "d"}, tensor<4xf32> {amp.updates = "g"},
        tensor<f32> {amp.updates = "td"}, tensor<f32> {amp.updates = "t"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %one = train.constant dense<1.0> : tensor<f32>
  %dd = train.mul %g, %seed {amp.gradient_of = ["d"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %dg = train.mul %d, %seed {amp.gradient_of = ["g"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %nd = train.sub %d, %dd : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %ng = train.sub %g, %dg : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %ntd = train.add %td, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %two = train.add %one, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %nt = train.add %t, %two : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %nd, %ng, %ntd, %nt : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
}

// -----

// Statistics of batches keep their value with guard-model-state; a random
// number state goes on.

// CHECK-LABEL: func @model_state
// CHECK: %[[N:.*]] = scf.if {{.*}} -> (tensor<4xf32>)
// CHECK: return %[[N]], %{{.*}}, %{{.*}},
//
// ALL-LABEL: func @model_state
// ALL: %[[MEAN:.*]] = train.reduce_mean
// ALL: %[[RNG:.*]] = train.advance_rng
// ALL: %[[N:.*]]:2 = scf.if {{.*}} -> (tensor<4xf32>, tensor<f32>)
// ALL: scf.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<f32>
// ALL: return %[[N]]#0, %[[N]]#1, %[[RNG]],
// CONSTANT-LABEL: func @model_state
// NONE-LABEL: func @model_state
func.func @model_state(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
    %mean: tensor<f32> {amp.role = "model_state", amp.name = "mean"},
    %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "mean"}, tensor<2xi64> {amp.updates = "rng"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %m = train.reduce_mean %w {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %next = train.advance_rng %rng : tensor<2xi64>
  %x = train.mul %w, %m : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %g = train.mul %x, %seed {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %n = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n, %m, %next : tensor<4xf32>, tensor<f32>, tensor<2xi64>
}

// -----

// The loop accumulates scaled gradients in f32. They are unscaled once, after
// the loop.

// CHECK-LABEL: func @micro_batches
// CHECK-SAME: %[[SCALE:arg[0-9]+]]: tensor<f32> {{{[^}]*}}amp.name = "loss_scale"
// CHECK: %[[SUM:.*]]:2 = scf.for
// CHECK: %[[SEED:.*]] = amp.gradient_seed
// CHECK: amp.scale %[[SEED]] by %[[SCALE]]
// CHECK-NOT: amp.unscale
// CHECK: scf.yield
// CHECK: amp.gradient_of = ["w", ""]
// CHECK: %[[U:.*]], %{{.*}} = amp.unscale %[[SUM]]#0 by %[[SCALE]]
// CHECK: scf.if
// CHECK: train.sub %{{.*}}, %[[U]]
// CHECK: amp.update_scale %[[SCALE]]
// CHECK: return %{{.*}}, %[[SUM]]#1,
// ALL-LABEL: func @micro_batches
// CONSTANT-LABEL: func @micro_batches
// CONSTANT: %[[SCALE:.*]] = arith.constant dense<8.0{{.*}}>
// CONSTANT: scf.for
// CONSTANT: amp.scale %{{.*}} by %[[SCALE]]
// CONSTANT: amp.unscale %{{.*}} by %[[SCALE]]
// NONE-LABEL: func @micro_batches
func.func @micro_batches(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = train.constant dense<0.0> : tensor<4xf32>
  %zero = train.constant dense<0.0> : tensor<f32>
  %sum:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zeros, %total = %zero) -> (tensor<4xf32>, tensor<f32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %product = train.mul %row, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = train.reduce_sum %product {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %exact = train.mul %row, %seed : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %g = amp.cast %exact : tensor<4xf32> to tensor<4xf16>
    %wide = amp.cast %g : tensor<4xf16> to tensor<4xf32>
    %next = train.add %acc, %wide : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %nextTotal = train.add %total, %loss : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %next, %nextTotal : tensor<4xf32>, tensor<f32>
  } {amp.gradient_of = ["w", ""]}
  %n = train.sub %w, %sum#0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n, %sum#1 : tensor<4xf32>, tensor<f32>
}
