// What depends on the scale by a condition, and the scale times constants in f16.
// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null

// The rate is another one where the scale is large.
func.func @rate_chosen_by_the_scale(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4xf32> {amp.role = "batch", amp.name = "x"},
    %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"})
    -> (tensor<4xf32> {amp.updates = "w"}) {
  %bound = train.constant dense<300.0> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %ds = amp.scale %seed by %s : tensor<f32>
  %g = train.mul %x, %ds : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %ok = amp.unscale %g by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  %large = train.compare gt, %s, %bound : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %twice = train.add %lr, %lr : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %rate = train.select %large, %lr, %twice : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @below {{operand 2 is multiplied by}}
  %n = train.sgd %w, %u, %rate : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

// So is the number of iterations of a loop.
func.func @as_many_iterations_as_the_scale(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4xf32> {amp.role = "batch", amp.name = "x"},
    %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"})
    -> (tensor<4xf32> {amp.updates = "w"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %ds = amp.scale %seed by %s : tensor<f32>
  %g = train.mul %x, %ds : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %ok = amp.unscale %g by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  %number = tensor.extract %s[] : tensor<f32>
  %integer = arith.fptosi %number : f32 to i32
  %count = arith.index_cast %integer : i32 to index
  // expected-error @below {{the update "w" is multiplied by}}
  // expected-note @below {{the loss scale enters here}}
  %n = scf.for %i = %c0 to %count step %c1 iter_args(%c = %w) -> (tensor<4xf32>) {
    %next = train.sub %c, %u : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %n : tensor<4xf32>
}

// -----

// The scaler and metrics may read such a condition.
func.func @scaler_with_a_cap(
    %x: tensor<4xf32> {amp.role = "batch", amp.name = "x"},
    %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"},
    %skipped: tensor<f32> {amp.role = "scaler_state", amp.name = "skipped"})
    -> (tensor<f32> {amp.updates = "loss_scale"}, tensor<f32> {amp.updates = "skipped"}, tensor<f32> {amp.metric = "large"}) {
  %bound = train.constant dense<4096.0> : tensor<f32>
  %half = train.constant dense<0.5> : tensor<f32>
  %two = train.constant dense<2.0> : tensor<f32>
  %one = train.constant dense<1.0> : tensor<f32>
  %zero = train.constant dense<0.0> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %ds = amp.scale %seed by %s : tensor<f32>
  %g = train.mul %x, %ds : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %ok = amp.unscale %g by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  %large = train.compare ge, %s, %bound : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %grown = train.mul %s, %two : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %fallen = train.mul %s, %half : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %capped = train.select %large, %s, %grown : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %new = train.select %ok, %capped, %fallen : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %metric = train.select %large, %one, %zero : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %less = train.select %ok, %zero, %one : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %count = train.add %skipped, %less : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %new, %count, %metric : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// 65536 is beyond the range of f16.
func.func @seed_in_half(%x: tensor<4xf16> {amp.role = "batch", amp.name = "x"}) -> tensor<4xf32> {
  %s = train.constant dense<65536.0> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %ds = amp.scale %seed by %s : tensor<f32>
  // expected-note @below {{the factor passes through this 'amp.cast'}}
  // expected-error @below {{computes the loss scale times constants in 'f16', which overflows for the scales that the step may have, expected a scale of at most 2^15, or these values in f32}}
  %low = amp.cast %ds : tensor<f32> to tensor<f16>
  %g = train.mul %x, %low : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %u, %ok = amp.unscale %g by %s : (tensor<4xf16>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// The cap of the scaler counts, times the constant.
func.func @four_times_the_cap(
    %x: tensor<4xf16> {amp.role = "batch", amp.name = "x"},
    %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale", amp.init = #amp.init<constant, value = 256.0>},
    %t: tensor<i32> {amp.role = "scaler_state", amp.name = "t"},
    %h: tensor<i32> {amp.role = "scaler_state", amp.name = "h"})
    -> (tensor<4xf32> {amp.metric = "g"}, tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %four = train.constant dense<4.0> : tensor<f16>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %ds = amp.scale %seed by %s : tensor<f32>
  // expected-note @below {{the factor passes through this 'amp.cast'}}
  %low = amp.cast %ds : tensor<f32> to tensor<f16>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  // expected-error @below {{expected a scale of at most 2^13, or these values in f32}}
  %more = train.mul %low, %four : (tensor<f16>, tensor<f16>) -> tensor<f16>
  %g = train.mul %x, %more : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %u, %ok = amp.unscale %g by %s : (tensor<4xf16>) -> (tensor<4xf32>)
  %s1, %t1, %h1 = amp.update_scale %s, %t, %h, %ok {scaler = #amp.scaler<max_scale = 32768.0>}
  return %u, %s1, %t1, %h1 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// Within the cap all is finite.
func.func @up_to_the_cap(
    %x: tensor<4xf16> {amp.role = "batch", amp.name = "x"},
    %s: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale", amp.init = #amp.init<constant, value = 256.0>},
    %t: tensor<i32> {amp.role = "scaler_state", amp.name = "t"},
    %h: tensor<i32> {amp.role = "scaler_state", amp.name = "h"})
    -> (tensor<4xf32> {amp.metric = "g"}, tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "t"}, tensor<i32> {amp.updates = "h"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %ds = amp.scale %seed by %s : tensor<f32>
  %low = amp.cast %ds : tensor<f32> to tensor<f16>
  %g = train.mul %x, %low : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %u, %ok = amp.unscale %g by %s : (tensor<4xf16>) -> (tensor<4xf32>)
  %s1, %t1, %h1 = amp.update_scale %s, %t, %h, %ok {scaler = #amp.scaler<max_scale = 32768.0>}
  return %u, %s1, %t1, %h1 : tensor<4xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}
