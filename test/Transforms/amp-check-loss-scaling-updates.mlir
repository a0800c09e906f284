// The new value of a loss scale belongs to it and changes after an overflow.
// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null

// Each new scale replaces the other's old one.
func.func @two_scales_swapped(
    %v: tensor<4xf32> {amp.name = "v", amp.role = "parameter"},
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %a: tensor<f32> {amp.name = "loss_scale.a", amp.role = "scaler_state"},
    %b: tensor<f32> {amp.name = "loss_scale.b", amp.role = "scaler_state"},
    %t: tensor<i32>, %h: tensor<i32>)
    -> (tensor<4xf32> {amp.updates = "v"}, tensor<4xf32> {amp.updates = "w"},
        tensor<f32> {amp.updates = "loss_scale.a"}, tensor<f32> {amp.updates = "loss_scale.b"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sa = amp.scale %seed by %a : tensor<f32>
  %ga = train.mul %x, %sa : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %ua, %fa = amp.unscale %ga by %a : (tensor<4xf32>) -> (tensor<4xf32>)
  %sb = amp.scale %seed by %b : tensor<f32>
  %gb = train.mul %x, %sb : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %ub, %fb = amp.unscale %gb by %b : (tensor<4xf32>) -> (tensor<4xf32>)
  %oka = tensor.extract %fa[] : tensor<i1>
  %okb = tensor.extract %fb[] : tensor<i1>
  %nv = scf.if %oka -> tensor<4xf32> {
    %stepped = train.sgd %v, %ua, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %v : tensor<4xf32>
  }
  %nw = scf.if %okb -> tensor<4xf32> {
    %stepped = train.sgd %w, %ub, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  // expected-error @below {{the update of "loss_scale.b" is the new value of "loss_scale.a", expected the new value of its own scale}}
  %na, %ta, %ha = amp.update_scale %a, %t, %h, %fa
  // expected-error @below {{the update of "loss_scale.a" is the new value of "loss_scale.b", expected the new value of its own scale}}
  %nb, %tb, %hb = amp.update_scale %b, %t, %h, %fb
  return %nv, %nw, %nb, %na : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
}

// -----

// The scale is updated in the guard of the optimizer and never backs off.
func.func @update_within_the_guard(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-note @below {{these gradients are unscaled and checked here}}
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %ok = tensor.extract %finite[] : tensor<i1>
  // expected-error @below {{the update of "loss_scale" gives the old scale back where gradients are not finite, expected the new one, which is updated outside of the guard}}
  // expected-error @below {{the update of "t" gives the old value back, expected the new one, which is computed with the new scale}}
  // expected-error @below {{the update of "h" gives the old value back, expected the new one, which is computed with the new scale}}
  %new:4 = scf.if %ok -> (tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
    scf.yield %stepped, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  } else {
    scf.yield %w, %scale, %t, %h : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %new#0, %new#1, %new#2, %new#3 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The new scale is computed and not returned.
func.func @update_lost(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    // expected-error @below {{the update of "loss_scale" gives the old scale back where gradients are not finite}}
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-note @below {{these gradients are unscaled and checked here}}
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %ok = tensor.extract %finite[] : tensor<i1>
  %new = scf.if %ok -> tensor<4xf32> {
    %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %new, %scale, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// If the gradients are finite, the scale may keep its value.
func.func @kept_after_success(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %ok = tensor.extract %finite[] : tensor<i1>
  %new = scf.if %ok -> tensor<4xf32> {
    %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  %kept = scf.if %ok -> tensor<f32> {
    scf.yield %scale : tensor<f32>
  } else {
    scf.yield %next : tensor<f32>
  }
  return %new, %kept, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// Where the data of a batch skip the update of the scale alone, an overflow may
// repeat forever.
func.func @scale_skipped_by_data(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %y: tensor<f32> {amp.name = "y", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-note @below {{these gradients are unscaled and checked here}}
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %ok = tensor.extract %finite[] : tensor<i1>
  %small = train.compare lt, %y, %lr : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %good = tensor.extract %small[] : tensor<i1>
  %new = scf.if %ok -> tensor<4xf32> {
    %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  // expected-error @below {{the update of "loss_scale" gives the old scale back where gradients are not finite}}
  %next:3 = scf.if %good -> (tensor<f32>, tensor<i32>, tensor<i32>) {
    %a, %b, %c = amp.update_scale %scale, %t, %h, %finite
    scf.yield %a, %b, %c : tensor<f32>, tensor<i32>, tensor<i32>
  } else {
    scf.yield %scale, %t, %h : tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %new, %next#0, %next#1, %next#2 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The data skip the whole step.
func.func @step_skipped_by_data(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %y: tensor<f32> {amp.name = "y", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %ok = tensor.extract %finite[] : tensor<i1>
  %small = train.compare lt, %y, %lr : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %good = tensor.extract %small[] : tensor<i1>
  %both = arith.andi %ok, %good : i1
  %new = scf.if %both -> tensor<4xf32> {
    %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next:3 = scf.if %good -> (tensor<f32>, tensor<i32>, tensor<i32>) {
    %a, %b, %c = amp.update_scale %scale, %t, %h, %finite
    scf.yield %a, %b, %c : tensor<f32>, tensor<i32>, tensor<i32>
  } else {
    scf.yield %scale, %t, %h : tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %new, %next#0, %next#1, %next#2 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The gradients are computed where the scale is updated.
func.func @checked_where_updated(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %y: tensor<f32> {amp.name = "y", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %small = train.compare lt, %y, %lr : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %good = tensor.extract %small[] : tensor<i1>
  %next:4 = scf.if %good -> (tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
    %ok = tensor.extract %finite[] : tensor<i1>
    %new = scf.if %ok -> tensor<4xf32> {
      %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %stepped : tensor<4xf32>
    } else {
      scf.yield %w : tensor<4xf32>
    }
    %a, %b, %c = amp.update_scale %scale, %t, %h, %finite
    scf.yield %new, %a, %b, %c : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  } else {
    scf.yield %w, %scale, %t, %h : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %next#0, %next#1, %next#2, %next#3 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}
