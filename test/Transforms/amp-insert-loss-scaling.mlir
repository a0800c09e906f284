// Loss scaling of a step: scaling, unscaling, overflow guard and scale update.
//
// RUN: amp-opt %s --amp-insert-loss-scaling --split-input-file > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --amp-insert-loss-scaling --split-input-file | diff %t.once -
// RUN: amp-opt %s --amp-insert-loss-scaling=mode=1024 --split-input-file > %t.constant
// RUN: FileCheck %s --check-prefix=CONSTANT < %t.constant
// RUN: amp-opt %t.constant --amp-insert-loss-scaling=mode=1024 --split-input-file | diff %t.constant -
// RUN: amp-opt %s --split-input-file > %t.none
// RUN: amp-opt %s --amp-insert-loss-scaling=mode=none --split-input-file | diff %t.none -
//
// Every option, in the form that a pipeline string takes.
// RUN: amp-opt %s --split-input-file --pass-pipeline='builtin.module(amp-insert-loss-scaling{mode=dynamic init-scale=1024 growth-factor=4 backoff-factor=0.25 growth-interval=7 min-scale=0.5 max-scale=8192 hysteresis=3})' \
// RUN:   | FileCheck %s --check-prefix=OPTIONS

// RUN: amp-opt %s --split-input-file --amp-insert-loss-scaling=tracker-metrics | FileCheck %s --check-prefix=TRACKERS

// The trackers before the step are metrics.
// TRACKERS-LABEL: func.func @whole(
// TRACKERS-SAME: %[[TRACKER:[^:]*]]: tensor<i32> {amp.init = #amp.init<zeros>, amp.name = "growth_tracker"
// TRACKERS-SAME: %[[HYSTERESIS:[^:]*]]: tensor<i32> {{{[^}]*}}amp.name = "hysteresis_tracker"
// TRACKERS-SAME: tensor<i32> {amp.metric = "growth_tracker"}, tensor<i32> {amp.metric = "hysteresis_tracker"}
// TRACKERS: return {{.*}}, %[[TRACKER]], %[[HYSTERESIS]], %{{[^,]*}} :

// The complete step, in order.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME: %[[W:[^:]*]]: tensor<4x4xf32>
// CHECK-SAME: %[[M:[^:]*]]: tensor<4x4xf32> {amp.name = "m"
// CHECK-SAME: %[[SCALE:[^:]*]]: tensor<f32> {amp.init = #amp.init<constant, value = 6.553600e+04 : f64>, amp.name = "loss_scale", amp.role = "scaler_state"}
// CHECK-SAME: %[[TRACKER:[^:]*]]: tensor<i32> {amp.init = #amp.init<zeros>, amp.name = "growth_tracker", amp.role = "scaler_state"}
// CHECK-SAME: %[[HYSTERESIS:[^:]*]]: tensor<i32> {amp.init = #amp.init<constant, value = 1.000000e+00 : f64>, amp.name = "hysteresis_tracker", amp.role = "scaler_state"}
// CHECK-SAME: -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf32> {amp.updates = "m"}, tensor<f32> {amp.metric = "loss"},
// CHECK-SAME: tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "growth_tracker"}, tensor<i32> {amp.updates = "hysteresis_tracker"},
// CHECK-SAME: tensor<f32> {amp.metric = "loss_scale"}, tensor<i1> {amp.metric = "skipped"})
// CHECK: %[[Y:.*]] = train.matmul
// CHECK-NEXT: %[[LOSS:.*]] = train.mse %[[Y]]
// CHECK-NEXT: %[[SEED:.*]] = amp.gradient_seed "loss"
// CHECK-NEXT: %[[SCALED:.*]] = amp.scale %[[SEED]] by %[[SCALE]] : tensor<f32>
// CHECK-NEXT: %[[DY:.*]] = train.mse_grad %[[Y]], %{{.*}}, %[[SCALED]]
// CHECK-NEXT: %[[G:.*]] = train.matmul %{{.*}}, %[[DY]] {{.*}}amp.gradient_of = ["w"]
// CHECK-NEXT: %[[U:.*]], %[[FINITE:.*]] = amp.unscale %[[G]] by %[[SCALE]] : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
// CHECK-NEXT: %[[OK:.*]] = tensor.extract %[[FINITE]][] : tensor<i1>
// CHECK-NEXT: %[[NEW:.*]]:2 = scf.if %[[OK]] -> (tensor<4x4xf32>, tensor<4x4xf32>) {
// CHECK-NEXT: %[[W1:.*]], %[[M1:.*]] = train.sgd %[[W]], %[[U]], %{{.*}}, %[[M]]
// CHECK-NEXT: scf.yield %[[W1]], %[[M1]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[W]], %[[M]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[S1:.*]], %[[T1:.*]], %[[H1:.*]] = amp.update_scale %[[SCALE]], %[[TRACKER]], %[[HYSTERESIS]], %[[FINITE]]
// CHECK: %[[SKIPPED:.*]] = tensor.from_elements %{{.*}} : tensor<i1>
// CHECK-NEXT: return %[[NEW]]#0, %[[NEW]]#1, %[[LOSS]], %[[S1]], %[[T1]], %[[H1]], %[[SCALE]], %[[SKIPPED]]
//
// With a constant scale the signature does not change, and there is no guard.
// CONSTANT-LABEL: func.func @whole(
// CONSTANT-SAME: %[[W:[^:]*]]: tensor<4x4xf32>
// CONSTANT-NOT: scaler_state
// CONSTANT: %[[SCALE:.*]] = arith.constant dense<1.024000e+03> : tensor<f32>
// CONSTANT: %[[SCALED:.*]] = amp.scale %{{.*}} by %[[SCALE]]
// CONSTANT: train.mse_grad %{{.*}}, %{{.*}}, %[[SCALED]]
// CONSTANT: %[[U:.*]], %{{.*}} = amp.unscale %{{.*}} by %[[SCALE]]
// CONSTANT-NOT: scf.if
// CONSTANT: train.sgd %[[W]], %[[U]]
// CONSTANT-NOT: amp.update_scale
// CONSTANT: return
//
// OPTIONS-LABEL: func.func @whole(
// OPTIONS-SAME: #amp.init<constant, value = 1.024000e+03 : f64>, amp.name = "loss_scale"
// OPTIONS-SAME: #amp.init<constant, value = 3.000000e+00 : f64>, amp.name = "hysteresis_tracker"
// OPTIONS: amp.update_scale {{.*}} {scaler = #amp.scaler<growth_factor = 4, backoff_factor = 0.25, growth_interval = 7, min_scale = 0.5, max_scale = 8192, hysteresis = 3>}
func.func @whole(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %m: tensor<4x4xf32> {amp.role = "optimizer_state", amp.name = "m"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"},
    %t: tensor<4x4xf32> {amp.role = "batch", amp.name = "t"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf32> {amp.updates = "m"}, tensor<f32> {amp.metric = "loss"}) {
  %y = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %loss = train.mse %y, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mse_grad %y, %t, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %g = train.matmul %x, %dy {transpose_a, amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1, %m1 = train.sgd %w, %g, %lr, %m {momentum = 0.9 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %w1, %m1, %loss : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
}

// -----

// Consumers of gradients read unscaled ones: weight decay, the clip, the
// reported norm. The backward pass reads scaled ones. The consumers of a
// gradient move after the computation of the last gradient. The clip moves into
// the guard, since only updates read it. The reported norm does not.
// CHECK-LABEL: func.func @consumers(
// CHECK: %[[SCALED:.*]] = amp.scale
// CHECK: %[[DY:.*]] = train.mse_grad %{{.*}}, %{{.*}}, %[[SCALED]]
// CHECK-NEXT: %[[G1:.*]] = train.matmul %{{.*}}, %[[DY]] {{.*}}amp.gradient_of = ["w1"]
// CHECK-NOT: train.square
// CHECK: %[[G2:.*]] = train.transpose %[[G1]] {{.*}}amp.gradient_of = ["w2"]
// CHECK-NEXT: %[[U:.*]]:2, %{{.*}} = amp.unscale %[[G1]], %[[G2]] by
// CHECK-NEXT: %[[SQ:.*]] = train.square %[[U]]#0
// CHECK-NEXT: %[[NORM:.*]] = train.reduce_sum %[[SQ]]
// CHECK: scf.if
// CHECK-NEXT: %[[DECAYED:.*]] = train.add %[[U]]#0, %{{.*}}
// CHECK-NEXT: %[[CLIPPED:.*]]:2, %{{.*}} = train.clip_by_global_norm %[[DECAYED]], %[[U]]#1
// CHECK-NEXT: train.sgd %{{.*}}, %[[CLIPPED]]#0
// CHECK-NEXT: train.sgd %{{.*}}, %[[CLIPPED]]#1
// CHECK-NEXT: scf.yield
// CHECK: return %{{.*}}#0, %{{.*}}#1, %[[NORM]],
func.func @consumers(
    %w1: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w1"},
    %w2: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w2"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w1"}, tensor<4x4xf32> {amp.updates = "w2"}, tensor<f32> {amp.metric = "norm"}) {
  %y = train.matmul %x, %w1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mse_grad %y, %w2, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %g1 = train.matmul %x, %dy {transpose_a, amp.gradient_of = ["w1"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sq = train.square %g1 : tensor<4x4xf32>
  %norm = train.reduce_sum %sq {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
  %decayed = train.add %g1, %w1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g2 = train.transpose %g1 {permutation = array<i64: 1, 0>, amp.gradient_of = ["w2"]} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %clipped:3 = train.clip_by_global_norm %decayed, %g2 {max_norm = 1.0 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>)
  %n1 = train.sgd %w1, %clipped#0, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %n2 = train.sgd %w2, %clipped#1, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n1, %n2, %norm : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
}

// -----

// A clip whose norm is reported stays outside of the guard, unlike its update.
// CHECK-LABEL: func.func @reported_clip(
// CHECK: %[[U:.*]], %{{.*}} = amp.unscale
// CHECK-NEXT: %[[C:.*]], %[[NORM:.*]] = train.clip_by_global_norm %[[U]]
// CHECK: scf.if
// CHECK-NEXT: train.sgd %{{.*}}, %[[C]]
// CHECK: return %{{.*}}, %[[NORM]],
func.func @reported_clip(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "norm"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %x, %w, %seed {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c, %norm = train.clip_by_global_norm %g {max_norm = 1.0 : f64} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<f32>)
  %n = train.sgd %w, %c, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n, %norm : tensor<4x4xf32>, tensor<f32>
}

// -----

// A clip by value sees true gradients, too.
// CHECK-LABEL: func.func @clip_by_value(
// CHECK: %[[U:.*]], %{{.*}} = amp.unscale
// CHECK: scf.if
// CHECK-NEXT: %[[C:.*]] = train.clip %[[U]]
// CHECK-NEXT: train.sgd %{{.*}}, %[[C]]
func.func @clip_by_value(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %x, %w, %seed {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %c = train.clip %g {min = -0.5 : f64, max = 0.5 : f64} : tensor<4x4xf32>
  %n = train.sgd %w, %c, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// -----

// A gradient in f16 is unscaled into f32. A cast that widened it disappears.
// Readers in f16 get the rounded unscaled gradient.
// CHECK-LABEL: func.func @low_gradients(
// CHECK: %[[G:.*]] = amp.cast %{{.*}} {amp.gradient_of = ["w"]} : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: %[[U:.*]], %{{.*}} = amp.unscale %[[G]] by %{{.*}} : (tensor<4x4xf16>) -> (tensor<4x4xf32>)
// CHECK-NEXT: %[[N:.*]] = amp.cast %[[U]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: %[[A:.*]] = train.abs %[[N]] : tensor<4x4xf16>
// CHECK: scf.if
// CHECK-NEXT: train.sgd %{{.*}}, %[[U]], %{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>)
// CHECK: return %{{.*}}, %[[A]],
func.func @low_gradients(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf16> {amp.metric = "magnitude"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %wide = train.mse_grad %x, %w, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %g = amp.cast %wide {amp.gradient_of = ["w"]} : tensor<4x4xf32> to tensor<4x4xf16>
  %magnitude = train.abs %g : tensor<4x4xf16>
  %g32 = amp.cast %g inserted : tensor<4x4xf16> to tensor<4x4xf32>
  %n = train.sgd %w, %g32, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n, %magnitude : tensor<4x4xf32>, tensor<4x4xf16>
}

// -----

// The step counter belongs to the optimizer and does not count a skipped step.
// Statistics of batch norms and the random state belong to the model and
// advance.
// CHECK-LABEL: func.func @what_is_guarded(
// CHECK-SAME: %[[W:[^:]*]]: tensor<4xf32> {amp.name = "w"
// CHECK-SAME: %[[T:[^:]*]]: tensor<f32> {amp.name = "t"
// CHECK: %[[RNG1:.*]] = train.advance_rng
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[RM:.*]], %[[RV:.*]] = train.batch_norm_training
// CHECK: %[[NEW:.*]]:4 = scf.if %{{.*}} -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
// CHECK-NEXT: %[[ONE:.*]] = train.constant dense<1.0{{.*}}> : tensor<f32>
// CHECK-NEXT: %[[T1:.*]] = train.add %[[T]], %[[ONE]]
// CHECK-NEXT: %{{.*}}, %{{.*}}, %{{.*}} = train.adam %[[W]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[T1]]
// CHECK-NEXT: scf.yield {{.*}}, %[[T1]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[W]], %{{.*}}, %{{.*}}, %[[T]]
// CHECK: return %[[NEW]]#0, %[[NEW]]#1, %[[NEW]]#2, %[[NEW]]#3, %[[RM]], %[[RV]], %[[RNG1]],
func.func @what_is_guarded(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
    %m: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "m"},
    %v: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "v"},
    %t: tensor<f32> {amp.role = "optimizer_state", amp.name = "t"},
    %rm: tensor<4xf32> {amp.role = "model_state", amp.name = "rm"},
    %rv: tensor<4xf32> {amp.role = "model_state", amp.name = "rv"},
    %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "m"}, tensor<4xf32> {amp.updates = "v"}, tensor<f32> {amp.updates = "t"},
        tensor<4xf32> {amp.updates = "rm"}, tensor<4xf32> {amp.updates = "rv"}, tensor<2xi64> {amp.updates = "rng"}) {
  %one = train.constant dense<1.0> : tensor<f32>
  %t1 = train.add %t, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %rng1 = train.advance_rng %rng : tensor<2xi64>
  %d = train.dropout %x, %rng {rate = 0.1 : f64, key = 3 : i32} : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<4x4xf32>
  %y, %mean, %rstd, %rm1, %rv1 = train.batch_norm_training %d, %w, %w, %rm, %rv {momentum = 0.1 : f64} : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mse_grad %y, %x, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %dx, %g, %dbeta = train.batch_norm_grad %dy, %d, %w, %mean, %rstd {amp.gradient_of = ["", "w", ""]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %w1, %m1, %v1 = train.adam %w, %g, %lr, %m, %v, %t1 : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %w1, %m1, %v1, %t1, %rm1, %rv1, %rng1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<2xi64>
}

// -----

// Readers of an updated value read the guarded value: in a metric that is
// computed from it, and in one that returns it. An average of the parameters is
// itself an update and moves into the guard.
// CHECK-LABEL: func.func @observers(
// CHECK: %[[NEW:.*]]:2 = scf.if
// CHECK-NEXT: %[[N:.*]] = train.sgd
// CHECK-NEXT: %[[E:.*]] = train.add %{{.*}}, %[[N]]
// CHECK-NEXT: scf.yield %[[N]], %[[E]]
// CHECK: %[[SUM:.*]] = train.reduce_sum %[[NEW]]#0
// CHECK: return %[[NEW]]#0, %[[NEW]]#1, %[[SUM]], %[[NEW]]#0,
func.func @observers(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %ema: tensor<4x4xf32> {amp.role = "optimizer_state", amp.name = "ema"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf32> {amp.updates = "ema"}, tensor<f32> {amp.metric = "sum"}, tensor<4x4xf32> {amp.prediction = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %x, %w, %seed {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %n = train.sgd %w, %g, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %sum = train.reduce_sum %n {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
  %e = train.add %ema, %n : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %n, %e, %sum, %n : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>
}

// -----

// One value replaces two states. Each state keeps its own value in a skipped
// step.
// CHECK-LABEL: func.func @one_value_for_two_states(
// CHECK-SAME: %[[W:[^:]*]]: tensor<4x4xf32> {amp.name = "w"
// CHECK-SAME: %[[P:[^:]*]]: tensor<4x4xf32> {amp.name = "previous"
// CHECK: %[[NEW:.*]]:2 = scf.if
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[W]], %[[P]]
// CHECK: return %[[NEW]]#0, %[[NEW]]#1,
func.func @one_value_for_two_states(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %p: tensor<4x4xf32> {amp.role = "optimizer_state", amp.name = "previous"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf32> {amp.updates = "previous"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %x, %w, %seed {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %n = train.sgd %w, %g, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n, %n : tensor<4x4xf32>, tensor<4x4xf32>
}
