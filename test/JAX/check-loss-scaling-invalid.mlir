// Faults of loss scaling in StableHLO, by the rules of the preset.
//
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics=only-expected --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=stablehlo})'

// A metric that is still multiplied.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> (tensor<4xf32>, tensor<f32> {amp.metric = "norm"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{the metric "norm" is multiplied by loss_scale, expected an unscaled value}}
  %0 = "stablehlo.reduce"(%g, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %unscaled, %finite = amp.unscale %g by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled, %0 : tensor<4xf32>, tensor<f32>
}

// -----

// A sum of a value with a factor and one without.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{'stablehlo.add' op operand 0 is multiplied by loss_scale, but operand 1 by 1, expected values with one factor}}
  %0 = "stablehlo.add"(%g, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %0 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// No power.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{'stablehlo.tanh' op has an operand that is multiplied by loss_scale, and its effect on the factor is unknown}}
  %0 = "stablehlo.tanh"(%g) : (tensor<4xf32>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %0 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// A limit other than zero.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{'stablehlo.clamp' op operand 1 is multiplied by loss_scale, but operand 2 by 1, expected values with one factor}}
  %0 = "stablehlo.clamp"(%zero, %g, %one) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %0 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// A product of elements.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{'stablehlo.reduce' op has a region that computes a value that is multiplied by loss_scale^2 from elements that are multiplied by loss_scale, expected one factor}}
  %1 = "stablehlo.reduce"(%g, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.multiply"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %0 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %0 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// Numbers that are rounded to integers.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{'stablehlo.convert' op loses a factor: it gives no float that could have it}}
  %1 = "stablehlo.convert"(%g) : (tensor<4xf32>) -> tensor<4xi32>
  %0 = "stablehlo.convert"(%1) : (tensor<4xi32>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %0 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// One branch has the factor, the other one has not.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%g) : (tensor<4xf32>) -> ()
  }, {
    // expected-error @+1 {{carries a value that is multiplied by 1 to where another one is multiplied by loss_scale}}
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %0 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// A loop that multiplies again and again.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0:2 = "stablehlo.while"(%p, %g) ({
  ^bb0(%q: tensor<i1>, %y: tensor<4xf32>):
    "stablehlo.return"(%q) : (tensor<i1>) -> ()
  }, {
  ^bb0(%q: tensor<i1>, %y: tensor<4xf32>):
    %2 = "stablehlo.multiply"(%y, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{carries a value that is multiplied by loss_scale^2 to where another one is multiplied by loss_scale}}
    "stablehlo.return"(%q, %2) : (tensor<i1>, tensor<4xf32>) -> ()
  }) : (tensor<i1>, tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>)
  %unscaled, %finite = amp.unscale %0#1 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// A region that reads a value with a factor.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{'stablehlo.reduce' op is declared linear, expected regions of one block that read nothing scaled from outside}}
  %2 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %sc) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %0 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %0 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// A complex number that is not zero has no factor.
func.func @complex(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.complex"(%b, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  %one = "stablehlo.constant"() <{value = dense<(0.0, 1.0)> : tensor<4xcomplex<f32>>}> : () -> tensor<4xcomplex<f32>>
  // expected-error @below {{operand 0 is multiplied by loss_scale, but operand 1 by 1, expected values with one factor}}
  %0 = "stablehlo.add"(%g, %one) : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  %1 = "stablehlo.real"(%0) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %1 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// The exponent of a power is data, or a number that is negated.
func.func @data(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{'stablehlo.power' op has an exponent that is not known, expected a constant with one number}}
  %0 = "stablehlo.power"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %0 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

func.func @negated(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %minus = "stablehlo.negate"(%one) : (tensor<f32>) -> tensor<f32>
  %ones = "stablehlo.broadcast_in_dim"(%minus) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{'stablehlo.power' op has an exponent that is not known, expected a constant with one number}}
  %0 = "stablehlo.power"(%b, %ones) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %0 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}
