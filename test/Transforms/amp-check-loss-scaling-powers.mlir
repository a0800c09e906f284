// The rule `power` for a function with a constant exponent, in a dialect that
// only a policy describes.
//
// RUN: amp-opt %s --allow-unregistered-dialect --verify-diagnostics --split-input-file -o /dev/null --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.pow=power,toy.sqrt=power:1/2,toy.divide=quotient,toy.number=constant,toy.subtract})'

// A root of scaled gradients, divided by the root of the scale.
func.func @root(%w: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %half = "toy.number"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %r = "toy.pow"(%sc, %half) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t = "toy.sqrt"(%s) : (tensor<f32>) -> tensor<f32>
  %q = "toy.divide"(%r, %t) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %n = "toy.subtract"(%w, %q) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

// The exponent is not the inverse of the root.
func.func @square(%w: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @+1 {{the loss scale enters here}}
  %sc = amp.scale %seed by %s : tensor<f32>
  %two = "toy.number"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  // expected-note @+1 {{the factor passes through this 'toy.pow'}}
  %r = "toy.pow"(%sc, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t = "toy.sqrt"(%s) : (tensor<f32>) -> tensor<f32>
  // expected-note @+1 {{the factor passes through this 'toy.divide'}}
  %q = "toy.divide"(%r, %t) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{'toy.subtract' op operand 0 is multiplied by 1, but operand 1 by loss_scale^3/2, expected values with one factor}}
  %n = "toy.subtract"(%w, %q) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

// A power of the scale that is not constant.
func.func @unknown(%w: tensor<4xf32>, %p: tensor<f32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<f32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @+1 {{the loss scale enters here}}
  %sc = amp.scale %seed by %s : tensor<f32>
  // expected-error @+1 {{'toy.pow' op has an exponent that is not known, expected a constant with one number}}
  %r = "toy.pow"(%sc, %p) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// A power of 0 is 0 or 1, whatever the exponent.
func.func @zero(%p: tensor<f32>, %w: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %zero = "toy.number"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %r = "toy.pow"(%zero, %p) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %n = "toy.subtract"(%w, %r) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

// A scaled exponent.
func.func @exponent(%p: tensor<f32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<f32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @+1 {{the loss scale enters here}}
  %sc = amp.scale %seed by %s : tensor<f32>
  // expected-error @+1 {{'toy.pow' op has an exponent that is not known, expected a constant with one number}}
  %r = "toy.pow"(%p, %sc) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
