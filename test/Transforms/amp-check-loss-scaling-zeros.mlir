// A converted integer 0 has every factor, as a float 0 has.
// RUN: amp-opt %s --allow-unregistered-dialect --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=stablehlo})' --split-input-file --verify-diagnostics -o /dev/null

func.func private @where(%c: tensor<4xi1>, %g: tensor<4xf32>, %k: tensor<i32>) -> tensor<4xf32> {
  %f = "stablehlo.convert"(%k) : (tensor<i32>) -> tensor<f32>
  %all = "stablehlo.broadcast_in_dim"(%f) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %r = "stablehlo.select"(%c, %g, %all) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func @zero(%x: tensor<4xf32>, %c: tensor<4xi1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %g = train.mul %x, %sc : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %k = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %r = call @where(%c, %g, %k) : (tensor<4xi1>, tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %r by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// Another integer has no factor.
func.func @one(%x: tensor<4xf32>, %c: tensor<4xi1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %sc = amp.scale %seed by %s : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %sc : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %k = "stablehlo.constant"() <{value = dense<1> : tensor<4xi32>}> : () -> tensor<4xi32>
  %f = "stablehlo.convert"(%k) : (tensor<4xi32>) -> tensor<4xf32>
  // expected-error @below {{operand 1 is multiplied by loss_scale, but operand 2 by 1, expected values with one factor}}
  %r = "stablehlo.select"(%c, %g, %f) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %r by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}
