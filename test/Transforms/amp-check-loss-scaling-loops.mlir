// Guarded steps within a loop: two optimizers with guards of their own, and a norm
// that the guard yields. Guarded steps within a region that always runs.
// RUN: amp-opt %s --split-input-file --verify-diagnostics --amp-check-loss-scaling -o /dev/null

// -----

// The guard yields the sum of norms of the steps that are made.
func.func @norm_in_guard(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %x: tensor<5x4xf32> {amp.role="batch", amp.name="x"},
   %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
   %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"}, %t: tensor<i32> {amp.role = "scaler_state", amp.name = "t"}, %h: tensor<i32> {amp.role = "scaler_state", amp.name = "h"})
   -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}, tensor<f32> {amp.metric = "norm"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %z = train.constant dense<0.0> : tensor<f32>
  %r:5 = scf.for %i = %c0 to %c5 step %c1 iter_args(%wi = %w, %si = %s, %ti = %t, %hi = %h, %ni = %z) -> (tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %sc = amp.scale %seed by %si : tensor<f32>
    %g = train.mul %xs, %sc : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %u, %ok = amp.unscale %g by %si : (tensor<4xf32>) -> (tensor<4xf32>)
    %sq = train.mul %u, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %sum = train.reduce_sum %sq {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %norm = train.sqrt %sum : tensor<f32>
    %okx = tensor.extract %ok[] : tensor<i1>
    %wn, %n1 = scf.if %okx -> (tensor<4xf32>, tensor<f32>) {
      %n = train.sgd %wi, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      %n2 = train.add %ni, %norm : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %n, %n2 : tensor<4xf32>, tensor<f32>
    } else { scf.yield %wi, %ni : tensor<4xf32>, tensor<f32> }
    %ns, %nt, %nh = amp.update_scale %si, %ti, %hi, %ok
    scf.yield %wn, %ns, %nt, %nh, %n1 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>
}

// -----

// The gradient of `v` depends on `w`, which earlier iterations updated. An
// iteration in which the gradient of `w` overflows may still update `v`.
func.func @two(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.optimizer = "a"}, %v: tensor<4xf32> {amp.role = "parameter", amp.name = "v", amp.optimizer = "b"}, %x: tensor<5x4xf32> {amp.role="batch", amp.name="x"},
   %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
   %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"}, %t: tensor<i32> {amp.role = "scaler_state", amp.name = "t"}, %h: tensor<i32> {amp.role = "scaler_state", amp.name = "h"})
   -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "v"}, tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:5 = scf.for %i = %c0 to %c5 step %c1 iter_args(%wi = %w, %vi = %v, %si = %s, %ti = %t, %hi = %h) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %sc = amp.scale %seed by %si : tensor<f32>
    %g = train.mul %xs, %sc : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %k = train.mul %wi, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u, %ok = amp.unscale %g by %si : (tensor<4xf32>) -> (tensor<4xf32>)
    %q, %ok2 = amp.unscale %k by %si : (tensor<4xf32>) -> (tensor<4xf32>)
    %okx = tensor.extract %ok[] : tensor<i1>
    %okx2 = tensor.extract %ok2[] : tensor<i1>
    %wn = scf.if %okx -> (tensor<4xf32>) {
      %n = train.sgd %wi, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } else { scf.yield %wi : tensor<4xf32> }
    %vn = scf.if %okx2 -> (tensor<4xf32>) {
      %n = train.sgd %vi, %q, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } else { scf.yield %vi : tensor<4xf32> }
    %both = arith.andi %ok, %ok2 : tensor<i1>
    %ns, %nt, %nh = amp.update_scale %si, %ti, %hi, %both
    scf.yield %wn, %vn, %ns, %nt, %nh : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The flag of the other optimizer.
func.func @guarded_by_the_other(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.optimizer = "a"}, %v: tensor<4xf32> {amp.role = "parameter", amp.name = "v", amp.optimizer = "b"}, %x: tensor<5x4xf32> {amp.role="batch", amp.name="x"},
   %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
   %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"}, %t: tensor<i32> {amp.role = "scaler_state", amp.name = "t"}, %h: tensor<i32> {amp.role = "scaler_state", amp.name = "h"})
   -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "v"}, tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  // expected-error @below {{the update of "v" depends on gradients that may not be finite, expected it within an 'scf.if'}}
  %r:5 = scf.for %i = %c0 to %c5 step %c1 iter_args(%wi = %w, %vi = %v, %si = %s, %ti = %t, %hi = %h) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %sc = amp.scale %seed by %si : tensor<f32>
    %g = train.mul %xs, %sc : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %k = train.mul %wi, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u, %ok = amp.unscale %g by %si : (tensor<4xf32>) -> (tensor<4xf32>)
    // expected-note @below {{these gradients are unscaled and checked here}}
    %q, %ok2 = amp.unscale %k by %si : (tensor<4xf32>) -> (tensor<4xf32>)
    %okx = tensor.extract %ok[] : tensor<i1>
    %okx2 = tensor.extract %ok2[] : tensor<i1>
    %wn = scf.if %okx -> (tensor<4xf32>) {
      %n = train.sgd %wi, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } else { scf.yield %wi : tensor<4xf32> }
    %vn = scf.if %okx -> (tensor<4xf32>) {
      %n = train.sgd %vi, %q, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } else { scf.yield %vi : tensor<4xf32> }
    %both = arith.andi %ok, %ok2 : tensor<i1>
    %ns, %nt, %nh = amp.update_scale %si, %ti, %hi, %both
    scf.yield %wn, %vn, %ns, %nt, %nh : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A skipped iteration gives `v` the value of `w`.
func.func @not_kept(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.optimizer = "a"}, %v: tensor<4xf32> {amp.role = "parameter", amp.name = "v", amp.optimizer = "b"}, %x: tensor<5x4xf32> {amp.role="batch", amp.name="x"},
   %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
   %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"}, %t: tensor<i32> {amp.role = "scaler_state", amp.name = "t"}, %h: tensor<i32> {amp.role = "scaler_state", amp.name = "h"})
   -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "v"}, tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  // expected-error @below {{the update of "v" does not give the old value back where gradients are not finite}}
  %r:5 = scf.for %i = %c0 to %c5 step %c1 iter_args(%wi = %w, %vi = %v, %si = %s, %ti = %t, %hi = %h) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %sc = amp.scale %seed by %si : tensor<f32>
    %g = train.mul %xs, %sc : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %k = train.mul %wi, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %u, %ok = amp.unscale %g by %si : (tensor<4xf32>) -> (tensor<4xf32>)
    // expected-note @below {{these gradients are unscaled and checked here}}
    %q, %ok2 = amp.unscale %k by %si : (tensor<4xf32>) -> (tensor<4xf32>)
    %okx = tensor.extract %ok[] : tensor<i1>
    %okx2 = tensor.extract %ok2[] : tensor<i1>
    %wn = scf.if %okx -> (tensor<4xf32>) {
      %n = train.sgd %wi, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } else { scf.yield %wi : tensor<4xf32> }
    %vn = scf.if %okx2 -> (tensor<4xf32>) {
      %n = train.sgd %vi, %q, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } else { scf.yield %wi : tensor<4xf32> }
    %both = arith.andi %ok, %ok2 : tensor<i1>
    %ns, %nt, %nh = amp.update_scale %si, %ti, %hi, %both
    scf.yield %wn, %vn, %ns, %nt, %nh : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// `w` is not guarded, and the gradient of `v` reads it in the next iteration.
func.func @unguarded(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.optimizer = "a"}, %v: tensor<4xf32> {amp.role = "parameter", amp.name = "v", amp.optimizer = "b"}, %x: tensor<5x4xf32> {amp.role="batch", amp.name="x"},
   %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
   %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"}, %t: tensor<i32> {amp.role = "scaler_state", amp.name = "t"}, %h: tensor<i32> {amp.role = "scaler_state", amp.name = "h"})
   -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "v"}, tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  // expected-error @below {{the update of "w" depends on gradients that may not be finite}}
  // expected-error @below {{the update of "v" depends on gradients that may not be finite}}
  %r:5 = scf.for %i = %c0 to %c5 step %c1 iter_args(%wi = %w, %vi = %v, %si = %s, %ti = %t, %hi = %h) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %sc = amp.scale %seed by %si : tensor<f32>
    %g = train.mul %xs, %sc : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %k = train.mul %wi, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // expected-note @below {{these gradients are unscaled and checked here}}
    %u, %ok = amp.unscale %g by %si : (tensor<4xf32>) -> (tensor<4xf32>)
    %q, %ok2 = amp.unscale %k by %si : (tensor<4xf32>) -> (tensor<4xf32>)
    %okx = tensor.extract %ok[] : tensor<i1>
    %okx2 = tensor.extract %ok2[] : tensor<i1>
    %wn = train.sgd %wi, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %vn = scf.if %okx2 -> (tensor<4xf32>) {
      %n = train.sgd %vi, %q, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %n : tensor<4xf32>
    } else { scf.yield %vi : tensor<4xf32> }
    %both = arith.andi %ok, %ok2 : tensor<i1>
    %ns, %nt, %nh = amp.update_scale %si, %ti, %hi, %both
    scf.yield %wn, %vn, %ns, %nt, %nh : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A region that always runs is not a part of the guard.
func.func @region(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %m: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "m"}, %x: tensor<4xf32> {amp.role="batch", amp.name="x"},
   %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
   %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"}, %t: tensor<i32> {amp.role = "scaler_state", amp.name = "t"}, %h: tensor<i32> {amp.role = "scaler_state", amp.name = "h"})
   -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "m"}, tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}, tensor<f32> {amp.metric = "k"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %one = train.constant dense<1.0> : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %g = train.mul %x, %sc : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %ok = amp.unscale %g by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  %f = tensor.extract %ok[] : tensor<i1>
  %wn, %mn = scf.execute_region -> (tensor<4xf32>, tensor<4xf32>) {
    %r:2 = scf.if %f -> (tensor<4xf32>, tensor<4xf32>) {
    %m1 = train.add %m, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d = train.mul %m1, %lr : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %w1 = train.sub %w, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      scf.yield %w1, %m1 : tensor<4xf32>, tensor<4xf32>
    } else {
      scf.yield %w, %m : tensor<4xf32>, tensor<4xf32>
    }
    scf.yield %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
  }
  %ns, %nt, %nh = amp.update_scale %s, %t, %h, %ok
  return %wn, %mn, %ns, %nt, %nh, %one : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>
}

// -----

// The guard in it gives the old states back, but exchanged.
func.func @region_crossed(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %m: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "m"}, %x: tensor<4xf32> {amp.role="batch", amp.name="x"},
   %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
   %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"}, %t: tensor<i32> {amp.role = "scaler_state", amp.name = "t"}, %h: tensor<i32> {amp.role = "scaler_state", amp.name = "h"})
   -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "m"}, tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}, tensor<f32> {amp.metric = "k"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %one = train.constant dense<1.0> : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %g = train.mul %x, %sc : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-note @below {{these gradients are unscaled and checked here}}
  %u, %ok = amp.unscale %g by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  %f = tensor.extract %ok[] : tensor<i1>
  // expected-error @below {{the update of "w" does not give the old value back where gradients are not finite}}
  // expected-error @below {{the update of "m" does not give the old value back where gradients are not finite}}
  %wn, %mn = scf.execute_region -> (tensor<4xf32>, tensor<4xf32>) {
    %r:2 = scf.if %f -> (tensor<4xf32>, tensor<4xf32>) {
    %m1 = train.add %m, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %d = train.mul %m1, %lr : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %w1 = train.sub %w, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      scf.yield %w1, %m1 : tensor<4xf32>, tensor<4xf32>
    } else {
      scf.yield %m, %w : tensor<4xf32>, tensor<4xf32>
    }
    scf.yield %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
  }
  %ns, %nt, %nh = amp.update_scale %s, %t, %h, %ok
  return %wn, %mn, %ns, %nt, %nh, %one : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<f32>
}
