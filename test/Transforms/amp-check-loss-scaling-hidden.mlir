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
