// Low copies of parameters in the check of loss scaling. A new parameter may be
// too large for the low type for any gradients. This is not an infinity that a step
// computes from checked gradients.
// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null

// The step of another framework makes the copy in the guard, by a cast of a
// dialect that this project does not own.
func.func @copied_by_a_cast(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %low: tensor<4xf16> {amp.name = "w.low", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf16> {amp.updates = "w.low"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %ok = tensor.extract %finite[] : tensor<i1>
  %n:2 = scf.if %ok -> (tensor<4xf32>, tensor<4xf16>) {
    %stepped = arith.subf %w, %u : tensor<4xf32>
    %copy = arith.truncf %stepped : tensor<4xf32> to tensor<4xf16>
    scf.yield %stepped, %copy : tensor<4xf32>, tensor<4xf16>
  } else {
    scf.yield %w, %low : tensor<4xf32>, tensor<4xf16>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %n#0, %n#1, %next, %nt, %nh : tensor<4xf32>, tensor<4xf16>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

func.func @copied_by_amp_cast(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %low: tensor<4xf16> {amp.name = "w.low", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"},
    %t: tensor<i32> {amp.name = "t", amp.role = "scaler_state"},
    %h: tensor<i32> {amp.name = "h", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf16> {amp.updates = "w.low"}, tensor<f32> {amp.updates = "loss_scale"},
        tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %ok = tensor.extract %finite[] : tensor<i1>
  %n:2 = scf.if %ok -> (tensor<4xf32>, tensor<4xf16>) {
    %stepped = arith.subf %w, %u : tensor<4xf32>
    %copy = amp.cast %stepped : tensor<4xf32> to tensor<4xf16>
    scf.yield %stepped, %copy : tensor<4xf32>, tensor<4xf16>
  } else {
    scf.yield %w, %low : tensor<4xf32>, tensor<4xf16>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %n#0, %n#1, %next, %nt, %nh : tensor<4xf32>, tensor<4xf16>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// Gradients that are rounded on the way to the parameter are another matter:
// the parameter itself may become infinite.
func.func @rounded_update(
    %w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<4xf32> {amp.name = "x", amp.role = "batch"},
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
  // expected-error @below {{the update of "w" depends on gradients that may not be finite, expected no operation after their check that computes an infinity from finite gradients}}
  %n = scf.if %ok -> tensor<4xf32> {
    // expected-note @below {{what this computes can be infinite although the gradients are not}}
    %short = arith.truncf %u : tensor<4xf32> to tensor<4xf16>
    %wide = arith.extf %short : tensor<4xf16> to tensor<4xf32>
    %stepped = arith.subf %w, %wide : tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %n, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}
