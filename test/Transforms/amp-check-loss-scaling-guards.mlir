// The proof that an overflow does not change guarded states. It does not depend
// on the function that has an operation, or on the name of a value.
// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null

// A called function unscales the gradients and updates the parameters.
func.func private @opt(%w: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>, %scale: tensor<f32>) -> (tensor<4xf32>, tensor<i1>) {
  // expected-note @below {{these gradients are unscaled and checked here}}
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  // expected-error @below {{the update of "w" depends on gradients that may not be finite, expected it within an 'scf.if' on the conjunction of their finite flags}}
  %new = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %new, %finite : tensor<4xf32>, tensor<i1>
}
func.func @unscaled_by_a_callee(
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
  %new, %finite = call @opt(%w, %g, %lr, %scale) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<i1>)
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A called function updates the scale.
func.func private @upd(%s: tensor<f32>, %t: tensor<i32>, %h: tensor<i32>, %f: tensor<i1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %next, %nt, %nh = amp.update_scale %s, %t, %h, %f
  return %next, %nt, %nh : tensor<f32>, tensor<i32>, tensor<i32>
}
func.func @updated_by_a_callee(
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
  // expected-error @below {{the update of "w" depends on gradients that may not be finite, expected it within an 'scf.if' on the conjunction of their finite flags}}
  %new = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %next, %nt, %nh = call @upd(%scale, %t, %h, %finite) : (tensor<f32>, tensor<i32>, tensor<i32>, tensor<i1>) -> (tensor<f32>, tensor<i32>, tensor<i32>)
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The gradients are unscaled by a copy of the same scale.
func.func @unscaled_by_a_copy(
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
  %e = tensor.extract %scale[] : tensor<f32>
  %sc3 = tensor.from_elements %e : tensor<f32>
  // expected-note @below {{these gradients are unscaled and checked here}}
  // expected-note @below {{this one is missing}}
  %u, %finite = amp.unscale %g by %sc3 : (tensor<4xf32>) -> (tensor<4xf32>)
  // expected-error @below {{the update of "w" depends on gradients that may not be finite, expected it within an 'scf.if' on the conjunction of their finite flags}}
  %new = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %true = arith.constant dense<true> : tensor<i1>
  // expected-error @below {{does not see the finite flag of all gradients that its scale divides, expected their conjunction}}
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %true
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A gradient within a loss is not checked.
func.func @inner_gradient_stepped_on(
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
  // expected-note @below {{they are unscaled here without a check, expected an operation that gives a flag, such as 'amp.unscale'}}
  %u = amp.inner_gradient %g by %scale : tensor<4xf32> to tensor<4xf32>
  // expected-error @below {{the update of "w" depends on gradients that may not be finite, expected it within an 'scf.if' on the conjunction of their finite flags}}
  %new = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %true = arith.constant dense<true> : tensor<i1>
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %true
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A quotient is not checked either.
func.func @divided_by_the_scale(
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
  // expected-note @below {{they are unscaled here without a check, expected an operation that gives a flag, such as 'amp.unscale'}}
  %u = train.div %g, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{the update of "w" depends on gradients that may not be finite, expected it within an 'scf.if' on the conjunction of their finite flags}}
  %new = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %true = arith.constant dense<true> : tensor<i1>
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %true
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The guard does not keep the old value.
func.func @reset_to_zero(
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
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %ok = tensor.extract %finite[] : tensor<i1>
  // expected-error @below {{the update of "w" does not give the old value back where gradients are not finite, expected the argument from the 'else' branch of its guard}}
  %new = scf.if %ok -> tensor<4xf32> {
      %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %stepped : tensor<4xf32>
    } else {
      scf.yield %z : tensor<4xf32>
    }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The weights decay in a step that is skipped.
func.func @decayed_anyway(
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
  %c = arith.constant dense<0.9> : tensor<f32>
  %dec = train.mul %w, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{the update of "w" does not give the old value back where gradients are not finite, expected the argument from the 'else' branch of its guard}}
  %new = scf.if %ok -> tensor<4xf32> {
    %stepped = train.sgd %dec, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %dec : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A moment decays, and the count of steps increases, in a step that is skipped.
func.func @counted_anyway(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %m: tensor<4xf32> {amp.name = "m", amp.role = "optimizer_state"},
    %v: tensor<4xf32> {amp.name = "v", amp.role = "optimizer_state"},
    %n: tensor<f32> {amp.name = "n", amp.role = "optimizer_state"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "m"}, tensor<4xf32> {amp.updates = "v"}, tensor<f32> {amp.updates = "n"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-note @below {{these gradients are unscaled and checked here}}
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %one = arith.constant dense<1.0> : tensor<f32>
  // expected-error @below {{the update of "n" is made even if no gradient of its optimizer is finite, expected it within the guard}}
  %n1 = arith.addf %n, %one : tensor<f32>
  %decay = arith.constant dense<0.9> : tensor<4xf32>
  %mz = arith.mulf %m, %decay : tensor<4xf32>
  %ok = tensor.extract %finite[] : tensor<i1>
  // expected-error @below {{the update of "m" does not give the old value back where gradients are not finite, expected the argument from the 'else' branch of its guard}}
  %r:3 = scf.if %ok -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
      %a:3 = train.adam %w, %u, %lr, %m, %v, %n1 : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
      scf.yield %a#0, %a#1, %a#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    } else {
      scf.yield %w, %mz, %v : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %r#0, %r#1, %r#2, %n1, %next, %nt, %nh : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The state of the scaler is a loss scale for any reader.
func.func @scaled_by_arithmetic(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = train.mul %seed, %scale : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{operand 1 is multiplied by loss_scale, expected an unscaled value: an optimizer steps on true gradients}}
  %new = train.sgd %w, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %next = arith.mulf %scale, %two : tensor<f32>
  %nt = arith.addi %t, %t : tensor<i32>
  %nh = arith.addi %h, %h : tensor<i32>
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// Arithmetic may update the state of the scaler.
func.func @updated_by_arithmetic(
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
  // expected-note @below {{they are unscaled here without a check, expected an operation that gives a flag, such as 'amp.unscale'}}
  %u = train.div %g, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{the update of "w" depends on gradients that may not be finite, expected it within an 'scf.if' on the conjunction of their finite flags}}
  %new = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %two = arith.constant dense<2.0> : tensor<f32>
  // expected-error @below {{the update of "loss_scale" grows where gradients are not finite, expected it to fall}}
  %next = arith.mulf %scale, %two : tensor<f32>
  return %new, %next, %t, %h : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// Two updates of one scale in a step.
func.func @updated_twice(
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
  // expected-note @below {{it is updated here}}
  %first, %ft, %fh = amp.update_scale %scale, %t, %h, %finite
  // expected-error @below {{updates a scale that was updated before, expected one update of each scale in a step}}
  %next, %nt, %nh = amp.update_scale %first, %ft, %fh, %finite
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// All parts may be in functions if the calls connect them correctly.
func.func private @unscale(%g: tensor<4xf32>, %s: tensor<f32>) -> (tensor<4xf32>, tensor<i1>) {
  %u, %finite = amp.unscale %g by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u, %finite : tensor<4xf32>, tensor<i1>
}
func.func private @keep(%finite: tensor<i1>, %new: tensor<4xf32>, %old: tensor<4xf32>) -> tensor<4xf32> {
  %ok = tensor.extract %finite[] : tensor<i1>
  %r = arith.select %ok, %new, %old : tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @update(%s: tensor<f32>, %t: tensor<i32>, %h: tensor<i32>, %f: tensor<i1>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  %next, %nt, %nh = amp.update_scale %s, %t, %h, %f
  return %next, %nt, %nh : tensor<f32>, tensor<i32>, tensor<i32>
}
func.func @in_callees(
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
  %u, %finite = call @unscale(%g, %scale) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<i1>)
  %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %new = call @keep(%finite, %stepped, %w) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %next, %nt, %nh = call @update(%scale, %t, %h, %finite) : (tensor<f32>, tensor<i32>, tensor<i32>, tensor<i1>) -> (tensor<f32>, tensor<i32>, tensor<i32>)
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// An old value that was widened and rounded again is still the old value.
func.func @widened_and_stored_again(
    %w: tensor<4xf16> {amp.name = "w", amp.role = "parameter"},
    %n: tensor<f32> {amp.name = "n", amp.role = "optimizer_state"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf16> {amp.updates = "w"}, tensor<f32> {amp.updates = "n"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %wide = amp.cast %w : tensor<4xf16> to tensor<4xf32>
  %ok = tensor.extract %finite[] : tensor<i1>
  %new, %count = scf.if %ok -> (tensor<4xf32>, tensor<f32>) {
    %stepped = train.sgd %wide, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %one = arith.constant dense<1.0> : tensor<f32>
    %n1 = arith.addf %n, %one : tensor<f32>
    scf.yield %stepped, %n1 : tensor<4xf32>, tensor<f32>
  } else {
    scf.yield %wide, %n : tensor<4xf32>, tensor<f32>
  }
  %low = amp.cast %new : tensor<4xf32> to tensor<4xf16>
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %low, %count, %next, %nt, %nh : tensor<4xf16>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A constant that cannot divide anything.
func.func @constant_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %scale = arith.constant dense<0.0> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-error @below {{has the constant loss scale 0, expected a positive one that is finite in f32, and so is its reciprocal}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// A constant that cannot divide anything.
func.func @constant_negative(%x: tensor<4xf32>) -> tensor<4xf32> {
  %scale = arith.constant dense<-4.0> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-error @below {{has the constant loss scale -4, expected a positive one that is finite in f32, and so is its reciprocal}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// A constant that cannot divide anything.
func.func @constant_nan(%x: tensor<4xf32>) -> tensor<4xf32> {
  %scale = arith.constant dense<0x7FC00000> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-error @below {{has the constant loss scale NaN, expected a positive one that is finite in f32, and so is its reciprocal}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// A constant that cannot divide anything.
func.func @constant_infinite(%x: tensor<4xf32>) -> tensor<4xf32> {
  %scale = arith.constant dense<0x7F800000> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-error @below {{has the constant loss scale +Inf, expected a positive one that is finite in f32, and so is its reciprocal}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// Several steps in a loop, each with its own scale and guard.
func.func @steps_in_a_loop(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %r:5 = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %w, %prev = %z, %sc = %scale, %tt = %t, %hh = %h) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %s = amp.scale %seed by %sc : tensor<f32>
    %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %u, %finite = amp.unscale %g by %sc : (tensor<4xf32>) -> (tensor<4xf32>)
    %ok = tensor.extract %finite[] : tensor<i1>
    %n = scf.if %ok -> tensor<4xf32> {
      %stepped = train.sgd %p, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %stepped : tensor<4xf32>
    } else {
      scf.yield %p : tensor<4xf32>
    }
    %next, %nt, %nh = amp.update_scale %sc, %tt, %hh, %finite
    scf.yield %n, %prev, %next, %nt, %nh : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %r#0, %r#2, %r#3, %r#4 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// One of them keeps the initial value of the loop instead.
func.func @back_to_the_start(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @below {{the update of "w" does not give the old value back where gradients are not finite}}
  %r:5 = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %w, %prev = %z, %sc = %scale, %tt = %t, %hh = %h) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %s = amp.scale %seed by %sc : tensor<f32>
    %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // expected-note @below {{these gradients are unscaled and checked here}}
    %u, %finite = amp.unscale %g by %sc : (tensor<4xf32>) -> (tensor<4xf32>)
    %ok = tensor.extract %finite[] : tensor<i1>
    %n = scf.if %ok -> tensor<4xf32> {
      %stepped = train.sgd %p, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      scf.yield %stepped : tensor<4xf32>
    } else {
      scf.yield %w : tensor<4xf32>
    }
    %next, %nt, %nh = amp.update_scale %sc, %tt, %hh, %finite
    scf.yield %n, %prev, %next, %nt, %nh : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %r#0, %r#2, %r#3, %r#4 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// A low copy of the guarded master, made outside of the guard. It keeps its
// value if the master does.
func.func @copy_of_a_kept_master(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %low: tensor<4xf16> {amp.name = "w.low", amp.role = "parameter"},
    %x: tensor<4xf16> {amp.name = "x", amp.role = "batch"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf16> {amp.updates = "w.low"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %y = train.mul %x, %low : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %f = amp.cast %y : tensor<4xf16> to tensor<4xf32>
  %g = train.mul %f, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %ok = tensor.extract %finite[] : tensor<i1>
  %n = scf.if %ok -> tensor<4xf32> {
    %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %copy = amp.master_copy %n : tensor<4xf32> to tensor<4xf16>
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %n, %copy, %next, %nt, %nh : tensor<4xf32>, tensor<4xf16>, tensor<f32>, tensor<i32>, tensor<i32>
}
