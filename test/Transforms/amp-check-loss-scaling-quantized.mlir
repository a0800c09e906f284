// The check of steps with quantised values: a payload carries its scale as a
// factor until an operation divides by it.
// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null

// A forward and a backward product under a loss scale. The scale of the gradient
// follows its magnitude, so its payload has no factor of the loss scale.
func.func @right(%x: tensor<4x8xbf16>, %w: tensor<8x6xbf16>, %loss_scale: tensor<f32> {amp.name = "loss_scale"}) -> (tensor<4x6xf32>, tensor<8x6xf32>) {
  %ax = amp.amax %x : tensor<4x8xbf16> -> tensor<f32>
  %sx = amp.scale_from_amax %ax for f8E4M3FN : tensor<f32>
  %qx = amp.quantize %x by %sx saturate : (tensor<4x8xbf16>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %aw = amp.amax %w blocks [0, 1] : tensor<8x6xbf16> -> tensor<1x6xf32>
  %sw = amp.scale_from_amax %aw for f8E4M3FN {power_of_two} : tensor<1x6xf32>
  %qw = amp.quantize %w by %sw blocks [0, 1] saturate : (tensor<8x6xbf16>, tensor<1x6xf32>) -> tensor<8x6xf8E4M3FN>
  %y = amp.scaled_matmul %qx by %sx, %qw by %sw blocks [0, 1] : (tensor<4x8xf8E4M3FN>, tensor<f32>), (tensor<8x6xf8E4M3FN>, tensor<1x6xf32>) -> tensor<4x6xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %scaled = amp.scale %seed by %loss_scale : tensor<f32>
  %g = train.mul %y, %scaled : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %ag = amp.amax %g : tensor<4x6xf32> -> tensor<f32>
  %sg = amp.scale_from_amax %ag for f8E5M2 : tensor<f32>
  %qg = amp.quantize %g by %sg saturate : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf8E5M2>
  %d = amp.scaled_matmul %qx by %sx, %qg by %sg {transpose_a} : (tensor<4x8xf8E4M3FN>, tensor<f32>), (tensor<4x6xf8E5M2>, tensor<f32>) -> tensor<8x6xf32>
  %u, %f = amp.unscale %d by %loss_scale : (tensor<8x6xf32>) -> (tensor<8x6xf32>)
  return %y, %u : tensor<4x6xf32>, tensor<8x6xf32>
}

// -----

// A scale that an argument holds, such as one of the last step.
func.func @argument(%x: tensor<4x8xf32>, %s: tensor<f32> {amp.name = "s"}) -> tensor<4x8xf32> {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %d = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @stale(%x: tensor<4x8xf32>, %old: tensor<f32> {amp.name = "old"}, %new: tensor<f32> {amp.name = "new"}) -> tensor<4x8xf32> {
  // expected-note @below {{the scale of quantisation enters here}}
  %q = amp.quantize %x by %new saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  // expected-error @below {{the payload is multiplied by new, but this operation divides by the scale old, expected one scale}}
  %d = amp.dequantize %q by %old : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

func.func @exchanged(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %s: tensor<f32> {amp.name = "s"}, %t: tensor<f32> {amp.name = "t"}) -> tensor<4x6xf32> {
  // expected-note @below {{the scale of quantisation enters here}}
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %r = amp.quantize %w by %t saturate : (tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf8E4M3FN>
  // expected-error @below {{the payload is multiplied by s, but this operation divides by the scale t, expected one scale}}
  %y = amp.scaled_matmul %q by %t, %r by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>), (tensor<8x6xf8E4M3FN>, tensor<f32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

func.func @exchanged_right(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %s: tensor<f32> {amp.name = "s"}, %t: tensor<f32> {amp.name = "t"}) -> tensor<4x6xf32> {
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  // expected-note @below {{the scale of quantisation enters here}}
  %r = amp.quantize %w by %t saturate : (tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf8E4M3FN>
  // expected-error @below {{the payload is multiplied by t, but this operation divides by the scale s, expected one scale}}
  %y = amp.scaled_matmul %q by %s, %r by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>), (tensor<8x6xf8E4M3FN>, tensor<f32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// A payload that no quantisation of the step scaled.
func.func @missing(%q: tensor<4x8xf8E4M3FN>, %s: tensor<f32> {amp.name = "s"}) -> tensor<4x8xf32> {
  // expected-error @below {{the payload is multiplied by 1, but this operation divides by the scale s, expected one scale}}
  %d = amp.dequantize %q by %s : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// -----

// A payload that leaves the step without its scale.
func.func @kept(%x: tensor<4x8xf32>, %s: tensor<f32> {amp.name = "s"}) -> (tensor<4x8xf8E4M3FN> {amp.prediction = "q"}) {
  // expected-note @below {{the scale of quantisation enters here}}
  // expected-error @below {{the prediction "q" is multiplied by s, expected an unscaled value}}
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  return %q : tensor<4x8xf8E4M3FN>
}

// -----

// A least magnitude is absolute, and a scaled gradient is not.
func.func @epsilon(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "s"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %scaled = amp.scale %seed by %s : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %scaled : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-note @below {{the factor passes through this 'amp.amax'}}
  %a = amp.amax %g : tensor<4xf32> -> tensor<f32>
  // expected-error @below {{operand 0 is multiplied by s, expected an unscaled value: it is compared with 'epsilon'}}
  %t = amp.scale_from_amax %a for f8E5M2 {epsilon = 1.0e-12 : f32} : tensor<f32>
  %q = amp.quantize %g by %t saturate : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  %d = amp.dequantize %q by %t : (tensor<4xf8E5M2>, tensor<f32>) -> tensor<4xf32>
  %u, %f = amp.unscale %d by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

func.func @bias(%x: tensor<4x8xf32>, %b: tensor<4xf32>, %s: tensor<f32> {amp.name = "s"}, %l: tensor<f32> {amp.name = "l"}) -> tensor<4x4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %scaled = amp.scale %seed by %l : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %b, %scaled : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %q = amp.quantize %x by %s saturate : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  // expected-error @below {{the bias is multiplied by l, but the product by 1}}
  %y = amp.scaled_matmul %q by %s, %q by %s plus %g : tensor<4xf32> {transpose_b} : (tensor<4x8xf8E4M3FN>, tensor<f32>), (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
