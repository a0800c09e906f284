// Each wrong order that frameworks find at run time or never.
// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null
// RUN: not amp-opt %s --amp-check-loss-scaling=linear=[ 2>&1 | FileCheck %s --check-prefix=GLOB
// GLOB: error: amp-check-loss-scaling: expected 'linear' to be a list of globs, got '['

func.func @clip_before_unscale(%w: tensor<4xf32>, %x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{operand 0 is multiplied by loss_scale, expected an unscaled value: gradients are unscaled before they are clipped against a constant norm}}
  %c, %norm = train.clip_by_global_norm %g {max_norm = 1.0 : f64} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  %u, %finite = amp.unscale %c by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

func.func @clip_by_value_before_unscale(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{operand 0 is multiplied by loss_scale, expected an unscaled value: the bounds are constants}}
  %c = train.clip %g {min = -0.5 : f64, max = 0.5 : f64} : tensor<4xf32>
  %u, %finite = amp.unscale %c by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

func.func @unscale_twice(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-note @below {{it is unscaled from here on}}
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  // expected-error @below {{gradient 0 is multiplied by 1, expected loss_scale}}
  %v, %finite2 = amp.unscale %u by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %v : tensor<4xf32>
}

// -----

func.func @no_unscale(%w: tensor<4xf32>, %x: tensor<4xf32>, %lr: tensor<f32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{operand 1 is multiplied by loss_scale, expected an unscaled value: an optimizer steps on true gradients}}
  %new = train.sgd %w, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %new : tensor<4xf32>
}

// -----

// Unscaled by the scale of the next step.
func.func @update_before_unscale(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"},
                                 %t: tensor<i32>, %h: tensor<i32>, %ok: tensor<i1>) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %ok
  // expected-error @below {{gradient 0 is multiplied by loss_scale, expected the new loss_scale}}
  %u, %finite = amp.unscale %g by %next : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

func.func @optimizer_outside_the_guard(
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
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %finite
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// The guard looks at the gradients of the other optimizer only, and so does the
// update of the scale.
func.func @guarded_by_another_flag(
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
  // expected-note @below {{this one is missing}}
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %k = train.mul %g, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %v, %other = amp.unscale %k by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %ok = tensor.extract %other[] : tensor<i1>
  // expected-error @below {{the update of "w" depends on gradients that may not be finite}}
  %new = scf.if %ok -> tensor<4xf32> {
    %stepped = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %stepped : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  // expected-error @below {{does not see the finite flag of all gradients that its scale divides, expected their conjunction}}
  %next, %nt, %nh = amp.update_scale %scale, %t, %h, %other
  return %new, %next, %nt, %nh : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

func.func @metric_of_a_scaled_value(%loss: tensor<f32> {amp.name = "x", amp.role = "batch"},
                                    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "hyperparameter"})
    -> (tensor<f32> {amp.metric = "loss"}) {
  // expected-error @below {{the metric "loss" is multiplied by loss_scale, expected an unscaled value}}
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %loss by %scale : tensor<f32>
  return %s : tensor<f32>
}

// -----

func.func @two_scales(%x: tensor<4xf32>, %a: tensor<f32> {amp.name = "a"}, %b: tensor<f32> {amp.name = "b"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %sa = amp.scale %seed by %a : tensor<f32>
  %sb = amp.scale %seed by %b : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %ga = train.mul %x, %sa : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %gb = train.mul %x, %sb : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{operand 0 is multiplied by a, but operand 1 by b, expected values with one factor}}
  %g = train.add %ga, %gb : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

func.func @weight_decay_on_scaled_gradients(%w: tensor<4xf32>, %x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %rate = train.constant dense<0.01> : tensor<f32>
  %decay = train.mul %w, %rate : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{operand 0 is multiplied by loss_scale, but operand 1 by 1, expected values with one factor}}
  %sum = train.add %g, %decay : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

func.func @second_optimizer_left_unscaled(%w: tensor<4xf32>, %x: tensor<4xf32>, %lr: tensor<f32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  %first = train.sgd %w, %u, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{operand 1 is multiplied by loss_scale, expected an unscaled value: an optimizer steps on true gradients}}
  %second = train.sgd %w, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %first, %second : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @nonlinear(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  // expected-note @below {{the loss scale enters here}}
  %g = train.mul %x, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  // expected-note @below {{the factor passes through this 'train.square'}}
  %q = train.square %g : tensor<4xf32>
  // expected-note @below {{the factor passes through this 'train.reduce_sum'}}
  %sum = train.reduce_sum %q {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  // expected-error @below {{operand 0 is multiplied by loss_scale^2, expected an unscaled value: the operation does not commute with a factor}}
  %e = train.exp %sum : tensor<f32>
  return %u : tensor<4xf32>
}

// -----

func.func @unknown_operation(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{has an operand that is multiplied by loss_scale, and its effect on the factor is unknown: it does not implement LossScaleOpInterface}}
  %y = builtin.unrealized_conversion_cast %g : tensor<4xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @branches_disagree(%x: tensor<f32>, %c: i1, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<f32> {
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %x by %scale : tensor<f32>
  %y = scf.if %c -> tensor<f32> {
    scf.yield %x : tensor<f32>
  } else {
    // expected-error @below {{carries a value that is multiplied by loss_scale to where another one is multiplied by 1, expected one factor}}
    scf.yield %s : tensor<f32>
  }
  return %y : tensor<f32>
}

// -----

// Scaled gradients of two iterations, each with its own scale, do not add up.
func.func @accumulate_over_scales(%x: tensor<f32>, %scale: tensor<f32> {amp.name = "loss_scale"}, %t: tensor<i32>, %h: tensor<i32>,
                                  %ok: tensor<i1>, %lb: index, %ub: index, %step: index) -> tensor<f32> {
  %zero = train.constant dense<0.0> : tensor<f32>
  %sum:2 = scf.for %i = %lb to %ub step %step iter_args(%acc = %zero, %s = %scale) -> (tensor<f32>, tensor<f32>) {
    // expected-note @below {{the loss scale enters here}}
    %g = amp.scale %x by %s : tensor<f32>
    // expected-note @below {{the factor passes through this 'train.add'}}
    %more = train.add %acc, %g : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %next, %nt, %nh = amp.update_scale %s, %t, %h, %ok
    // expected-error @below {{a scale of this iteration alone, expected it to be unscaled}}
    scf.yield %more, %next : tensor<f32>, tensor<f32>
  }
  return %sum#0 : tensor<f32>
}

// -----

func.func private @inner(%g: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{operand 0 is multiplied by loss_scale, expected an unscaled value}}
  %0 = train.exp %g : tensor<f32>
  return %0 : tensor<f32>
}
func.func @through_a_call(%x: tensor<f32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<f32> {
  %s = amp.scale %x by %scale : tensor<f32>
  %0 = call @inner(%s) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @unstructured(%x: tensor<f32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<f32> {
  // expected-error @below {{uses a loss scale in unstructured control flow, expected structured control flow}}
  %s = amp.scale %x by %scale : tensor<f32>
  cf.br ^next
^next:
  return %s : tensor<f32>
}
