// Scaled gradients that are replaced where they are not finite. Their finite flag is
// then always true.
// RUN: amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=stablehlo})' --split-input-file --verify-diagnostics -o /dev/null

// Zeros in place of infinities, by a rule of the policy.
func.func @zeroed_by_a_rule(
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
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = "stablehlo.is_finite"(%g) : (tensor<4xf32>) -> tensor<4xi1>
  // expected-error @below {{replaces scaled gradients that are not finite before their finite flag is computed, so that no step is skipped and the scale never falls; expected the replacement after the gradients are unscaled}}
  %r = "stablehlo.select"(%c, %g, %zero) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %flag = arith.andi %finite, %finite : tensor<i1>
  %take = tensor.extract %flag[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %flag
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// By an operation of math.
func.func @zeroed_by_math(
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
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = math.isfinite %g : tensor<4xf32>
  // expected-error @below {{replaces scaled gradients that are not finite before their finite flag is computed, so that no step is skipped and the scale never falls; expected the replacement after the gradients are unscaled}}
  %r = arith.select %c, %g, %zero : tensor<4xi1>, tensor<4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %flag = arith.andi %finite, %finite : tensor<i1>
  %take = tensor.extract %flag[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %flag
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A value that is not equal to itself is NaN.
func.func @compared_with_itself(
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
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = arith.cmpf oeq, %g, %g : tensor<4xf32>
  // expected-error @below {{replaces scaled gradients that are not finite before their finite flag is computed, so that no step is skipped and the scale never falls; expected the replacement after the gradients are unscaled}}
  %r = arith.select %c, %g, %zero : tensor<4xi1>, tensor<4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %flag = arith.andi %finite, %finite : tensor<i1>
  %take = tensor.extract %flag[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %flag
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A comparison with infinity, negated.
func.func @compared_with_infinity(
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
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %inf = arith.constant dense<0x7F800000> : tensor<4xf32>
  %true = arith.constant dense<true> : tensor<4xi1>
  %a = train.abs %g : tensor<4xf32>
  %b = arith.cmpf ueq, %a, %inf : tensor<4xf32>
  %c = arith.xori %b, %true : tensor<4xi1>
  // expected-error @below {{replaces scaled gradients that are not finite before their finite flag is computed, so that no step is skipped and the scale never falls; expected the replacement after the gradients are unscaled}}
  %r = arith.select %c, %g, %zero : tensor<4xi1>, tensor<4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %flag = arith.andi %finite, %finite : tensor<i1>
  %take = tensor.extract %flag[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %flag
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The data of the batch decide, not the gradients.
func.func @data_decide(
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
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = math.isfinite %x : tensor<4xf32>
  %r = arith.select %c, %g, %zero : tensor<4xi1>, tensor<4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %flag = arith.andi %finite, %finite : tensor<i1>
  %take = tensor.extract %flag[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %flag
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The flag also decides the update and the scale, so the step is skipped.
func.func @seen_by_the_scale(
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
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c = math.isfinite %g : tensor<4xf32>
  %r = arith.select %c, %g, %zero : tensor<4xi1>, tensor<4xf32>
  %c0 = arith.constant 0 : index
  %one = tensor.extract %c[%c0] : tensor<4xi1>
  %each = tensor.from_elements %one : tensor<i1>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %flag = arith.andi %finite, %each : tensor<i1>
  %take = tensor.extract %flag[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %flag
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// In the body of an operation.
func.func @zeroed_in_a_body(
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
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%g : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = math.isnan %in : f32
    // expected-error @below {{replaces scaled gradients that are not finite before their finite flag is computed, so that no step is skipped and the scale never falls; expected the replacement after the gradients are unscaled}}
    %z = arith.select %c, %zero, %in : f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %take = tensor.extract %finite[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A body that tests each element, and a selection.
func.func @zeroed_by_two_bodies(
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
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %m = tensor.empty() : tensor<4xi1>
  %c = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%g : tensor<4xf32>) outs(%m : tensor<4xi1>) {
  ^bb0(%in: f32, %out: i1):
    %test = arith.cmpf uno, %in, %in : f32
    linalg.yield %test : i1
  } -> tensor<4xi1>
  // expected-error @below {{replaces scaled gradients that are not finite before their finite flag is computed, so that no step is skipped and the scale never falls; expected the replacement after the gradients are unscaled}}
  %r = linalg.select ins(%c, %zero, %g : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %take = tensor.extract %finite[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A body that reads scaled gradients from outside.
func.func @zeroed_by_capture(
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
  %zero = arith.constant 0.0 : f32
  %r = tensor.generate {
  ^bb0(%i: index):
    %in = tensor.extract %g[%i] : tensor<4xf32>
    %c = math.isfinite %in : f32
    // expected-error @below {{replaces scaled gradients that are not finite before their finite flag is computed, so that no step is skipped and the scale never falls; expected the replacement after the gradients are unscaled}}
    %z = arith.select %c, %in, %zero : f32
    tensor.yield %z : f32
  } : tensor<4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %take = tensor.extract %finite[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A body that tests data may replace scaled gradients.
func.func @data_decide_in_a_body(
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
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%g, %x : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %data: f32, %out: f32):
    %c = math.isnan %data : f32
    %z = arith.select %c, %zero, %in : f32
    linalg.yield %z : f32
  } -> tensor<4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %take = tensor.extract %finite[] : tensor<i1>
  %new = scf.if %take -> (tensor<4xf32>) {
    %n = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}
