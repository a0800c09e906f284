// What TOSA does to a scaled gradient that loss scaling does not survive.
//
// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics

// A function that is not homogeneous.
func.func @function(%x: tensor<4x4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{the factor passes through this 'tosa.reshape'}}
  %s2 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<2>) -> tensor<1x1xf32>
  // expected-note @below {{the factor passes through this 'tosa.mul'}}
  %g = tosa.mul %x, %s2, %shift : (tensor<4x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  // expected-error @below {{'tosa.exp' op operand 0 is multiplied by loss_scale, expected an unscaled value: the operation does not commute with a factor}}
  %r = tosa.exp %g : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}

// -----

// Clipped before it is unscaled, against a limit that knows no scale.
func.func @clip(%x: tensor<4x4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{the factor passes through this 'tosa.reshape'}}
  %s2 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<2>) -> tensor<1x1xf32>
  // expected-note @below {{the factor passes through this 'tosa.mul'}}
  %g = tosa.mul %x, %s2, %shift : (tensor<4x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  // expected-error @below {{'tosa.clamp' op operand 0 is multiplied by loss_scale, expected an unscaled value}}
  %r = tosa.clamp %g {min_val = -1.0 : f32, max_val = 1.0 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}

// -----

// The largest number as a limit turns an overflow into a finite number.
func.func @hidden(%x: tensor<4x4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{the factor passes through this 'tosa.reshape'}}
  %s2 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<2>) -> tensor<1x1xf32>
  // expected-note @below {{the factor passes through this 'tosa.mul'}}
  %g = tosa.mul %x, %s2, %shift : (tensor<4x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  // expected-error @below {{'tosa.clamp' op operand 0 is multiplied by loss_scale, expected an unscaled value}}
  %r = tosa.clamp %g {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}

// -----

// Weight decay before the gradient is unscaled.
func.func @decay(%x: tensor<4x4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{the factor passes through this 'tosa.reshape'}}
  %s2 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<2>) -> tensor<1x1xf32>
  // expected-note @below {{the factor passes through this 'tosa.mul'}}
  %g = tosa.mul %x, %s2, %shift : (tensor<4x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  // expected-error @below {{'tosa.add' op operand 0 is multiplied by loss_scale, but operand 1 by 1, expected values with one factor}}
  %r = tosa.add %g, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}

// -----

// A comparison with a constant.
func.func @threshold(%x: tensor<4x4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{the factor passes through this 'tosa.reshape'}}
  %s2 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<2>) -> tensor<1x1xf32>
  // expected-note @below {{the factor passes through this 'tosa.mul'}}
  %g = tosa.mul %x, %s2, %shift : (tensor<4x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  %c = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  // expected-error @below {{'tosa.greater' op operand 0 is multiplied by loss_scale, but operand 1 by 1, expected values with one factor}}
  %p = tosa.greater %g, %c : (tensor<4x4xf32>, tensor<1x1xf32>) -> tensor<4x4xi1>
  %r = tosa.select %p, %g, %g : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}

// -----

// A bias that is not scaled on a product that is.
func.func @bias(%x: tensor<4x4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{the factor passes through this 'tosa.reshape'}}
  %s2 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<2>) -> tensor<1x1xf32>
  // expected-note @below {{the factor passes through this 'tosa.mul'}}
  %g = tosa.mul %x, %s2, %shift : (tensor<4x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %shape = tosa.const_shape {values = dense<[1, 1, 4, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %back = tosa.const_shape {values = dense<[4, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{the factor passes through this 'tosa.reshape'}}
  %image = tosa.reshape %g, %shape : (tensor<4x4xf32>, !tosa.shape<4>) -> tensor<1x1x4x4xf32>
  %wshape = tosa.const_shape {values = dense<[4, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %w = tosa.reshape %x, %wshape : (tensor<4x4xf32>, !tosa.shape<4>) -> tensor<4x1x1x4xf32>
  // expected-error @below {{'tosa.conv2d' op the bias, operand 2, is multiplied by 1, but the product that it is added to by loss_scale}}
  %c = tosa.conv2d %image, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %r = tosa.reshape %c, %back : (tensor<1x1x4x4xf32>, !tosa.shape<2>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}

// -----

// Rounded to an integer, it has lost the factor.
func.func @integer(%x: tensor<4x4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{the factor passes through this 'tosa.reshape'}}
  %s2 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<2>) -> tensor<1x1xf32>
  // expected-note @below {{the factor passes through this 'tosa.mul'}}
  %g = tosa.mul %x, %s2, %shift : (tensor<4x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  // expected-error @below {{'tosa.cast' op operand 0 is multiplied by loss_scale, expected an unscaled value}}
  %n = tosa.cast %g : (tensor<4x4xf32>) -> tensor<4x4xi32>
  %r = tosa.cast %n : (tensor<4x4xi32>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %r by %scale : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}

// -----

// The control flow of TOSA does not describe its carried values.
func.func @loop(%x: tensor<4x4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4x4xf32> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
  // expected-note @below {{the factor passes through this 'tosa.reshape'}}
  %s2 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<2>) -> tensor<1x1xf32>
  // expected-note @below {{the factor passes through this 'tosa.mul'}}
  %g = tosa.mul %x, %s2, %shift : (tensor<4x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x4xf32>
  %p = "tosa.const"() <{values = dense<true> : tensor<i1>}> : () -> tensor<i1>
  // expected-error @below {{'tosa.cond_if' op has an operand that is multiplied by loss_scale, and its effect on the factor is unknown}}
  %r = tosa.cond_if %p (%a = %g) : tensor<i1> (tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4xf32>):
    tosa.yield %a : tensor<4x4xf32>
  } else {
  ^bb0(%a: tensor<4x4xf32>):
    tosa.yield %a : tensor<4x4xf32>
  }
  %u, %finite = amp.unscale %r by %scale : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}
