// Loss scales in StableHLO, by the rules of the preset.
//
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=stablehlo})' -o /dev/null
// RUN: not amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling)' -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=none.yaml})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=POLICY
//
// Whole steps, in one pipeline.
// RUN: amp-opt %S/Inputs/mlp.mlir --allow-unregistered-dialect --amp-training-pipeline='policy=stablehlo precision=fp16' | FileCheck %s --check-prefix=STEP
// RUN: amp-opt %S/Inputs/convnet.mlir --allow-unregistered-dialect --amp-training-pipeline='policy=stablehlo precision=fp16' | FileCheck %s --check-prefix=STEP
// RUN: amp-opt %S/Inputs/transformer.mlir --allow-unregistered-dialect --amp-training-pipeline='policy=stablehlo precision=fp16' | FileCheck %s --check-prefix=STEP

// NONE: error: 'stablehlo.broadcast_in_dim' op has an operand that is multiplied by loss_scale
// POLICY: cannot read policy 'none.yaml'
// STEP: amp.gradient_seed "loss"
// STEP: amp.scale
// STEP: amp.unscale
// STEP: amp.update_scale

// What commutes with a factor, as a backward pass of JAX has it.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %zeros = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %c = "stablehlo.compare"(%x, %zeros) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = "stablehlo.select"(%c, %g, %zeros) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.divide"(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.pad"(%1, %zero) <{edge_padding_low = array<i64: 1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  %3 = "stablehlo.slice"(%2) : (tensor<5xf32>) -> tensor<4xf32>
  %4 = "stablehlo.reduce"(%3, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  // A norm: exponent 2, and back.
  %6 = "stablehlo.multiply"(%5, %5) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = "stablehlo.sqrt"(%6) : (tensor<4xf32>) -> tensor<4xf32>
  %8 = "stablehlo.add"(%7, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // Each value its own factor.
  %9:2 = "stablehlo.optimization_barrier"(%8, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %10 = "stablehlo.multiply"(%9#0, %9#1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // The largest first, where the gradient goes to another element.
  %i = "stablehlo.constant"() <{value = dense<0> : tensor<4x1xi32>}> : () -> tensor<4x1xi32>
  %11 = "stablehlo.scatter"(%zeros, %i, %10) ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<4xf32>
  %12 = "stablehlo.select_and_scatter"(%x, %11, %zero) ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.compare"(%u, %v) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%w) : (tensor<i1>) -> ()
  }, {
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %unscaled, %finite = amp.unscale %12 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// Control flow.
func.func @step(%x: tensor<4xf32>, %p: tensor<i1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.if"(%p) ({
    %n = "stablehlo.negate"(%g) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%n) : (tensor<4xf32>) -> ()
  }, {
    %z = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    "stablehlo.return"(%z) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  %1:2 = "stablehlo.while"(%p, %0) ({
  ^bb0(%q: tensor<i1>, %y: tensor<4xf32>):
    "stablehlo.return"(%q) : (tensor<i1>) -> ()
  }, {
  ^bb0(%q: tensor<i1>, %y: tensor<4xf32>):
    %2 = "stablehlo.multiply"(%y, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = "stablehlo.add"(%2, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%q, %3) : (tensor<i1>, tensor<4xf32>) -> ()
  }) : (tensor<i1>, tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>)
  %unscaled, %finite = amp.unscale %1#1 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %unscaled : tensor<4xf32>
}

// -----

// Complex zeros have every factor, too: the gradient of a Fourier transform.
func.func @complex(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<6xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%b, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = "stablehlo.fft"(%g) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  %zero = "stablehlo.constant"() <{value = dense<(0.0, 0.0)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
  %1 = "stablehlo.pad"(%0, %zero) <{edge_padding_high = array<i64: 3>}> : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
  %2 = "stablehlo.real"(%1) : (tensor<6xcomplex<f32>>) -> tensor<6xf32>
  %unscaled, %finite = amp.unscale %2 by %s : (tensor<6xf32>) -> (tensor<6xf32>)
  return %unscaled : tensor<6xf32>
}

// -----

// A scale that is moved is the same scale. The step multiplies and divides by
// hand.
func.func @moved(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"}) {
  %b = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %o = "stablehlo.optimization_barrier"(%s) : (tensor<f32>) -> tensor<f32>
  %r = "stablehlo.reshape"(%o) : (tensor<f32>) -> tensor<1xf32>
  %c = "stablehlo.broadcast"(%r) <{broadcast_sizes = array<i64: 4>}> : (tensor<1xf32>) -> tensor<4xf32>
  %u = "stablehlo.divide"(%g, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = "stablehlo.subtract"(%w, %u) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n, %s : tensor<4xf32>, tensor<f32>
}

// -----

// Powers with a constant exponent, and the angle of two values with one factor.
func.func @powers(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "loss_scale"}) {
  %b = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %g = "stablehlo.multiply"(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %four = "stablehlo.constant"() <{value = dense<4.0> : tensor<f32>}> : () -> tensor<f32>
  %fours = "stablehlo.broadcast_in_dim"(%four) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %fourth = "stablehlo.power"(%g, %fours) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %quarter = "stablehlo.constant"() <{value = dense<-0.25> : tensor<4xf32>}> : () -> tensor<4xf32>
  %inverse = "stablehlo.power"(%fourth, %quarter) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sign = "stablehlo.multiply"(%g, %inverse) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %angle = "stablehlo.atan2"(%g, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u = "stablehlo.multiply"(%angle, %sign) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = "stablehlo.subtract"(%w, %u) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n, %s : tensor<4xf32>, tensor<f32>
}
