// The loss scale in steps written in TOSA.
//
// RUN: amp-opt %s --amp-check-loss-scaling --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s

// A linear layer: the seed enters by a product, the gradient is low on its way.
// CHECK: LossScaleProved
// CHECK-SAME: Function=products
// CHECK-SAME: UnscaledGradients=2
func.func @products(%x: tensor<1x2x4xf32>, %w: tensor<1x4x3xf32>, %t: tensor<1x2x3xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> (tensor<1x4x3xf32>, tensor<1x1x3xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %low_zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf16>}> : () -> tensor<1xf16>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %y = tosa.matmul %x, %w, %zero, %zero : (tensor<1x2x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3xf32>
  %d = tosa.sub %y, %t : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %d2 = tosa.mul %d, %two, %shift : (tensor<1x2x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x3xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s3 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  %g = tosa.mul %d2, %s3, %shift : (tensor<1x2x3xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x3xf32>
  %low = tosa.cast %g : (tensor<1x2x3xf32>) -> tensor<1x2x3xf16>
  %xt = tosa.transpose %x {perms = array<i32: 0, 2, 1>} : (tensor<1x2x4xf32>) -> tensor<1x4x2xf32>
  %xl = tosa.cast %xt : (tensor<1x4x2xf32>) -> tensor<1x4x2xf16>
  %dw = tosa.matmul %xl, %low, %low_zero, %low_zero : (tensor<1x4x2xf16>, tensor<1x2x3xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<1x4x3xf32>
  %db = tosa.reduce_sum %g {axis = 1 : i32} : (tensor<1x2x3xf32>) -> tensor<1x1x3xf32>
  %u:2, %finite = amp.unscale %dw, %db by %scale : (tensor<1x4x3xf32>, tensor<1x1x3xf32>) -> (tensor<1x4x3xf32>, tensor<1x1x3xf32>)
  return %u#0, %u#1 : tensor<1x4x3xf32>, tensor<1x1x3xf32>
}

// The rest that keeps, moves or compares a factor, and powers that cancel.
// CHECK: LossScaleProved
// CHECK-SAME: Function=others
// CHECK-SAME: UnscaledGradients=3
func.func @others(%x: tensor<1x4x4x2xf32>, %w: tensor<2x1x1x2xf32>, %p: tensor<1x4x4x2xi1>, %i: tensor<1x4xi32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> (tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>, tensor<1x4x4x2xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero2 = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero4 = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %half = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %ones = tosa.const_shape {values = dense<1> : tensor<4xindex>} : () -> !tosa.shape<4>
  %s4 = tosa.reshape %s, %ones : (tensor<f32>, !tosa.shape<4>) -> tensor<1x1x1x1xf32>
  %g = tosa.mul %x, %s4, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // A product without a bias, zero for the one, a limit at zero and at infinity.
  %c = tosa.conv2d %g, %w, %zero2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %n = tosa.negate %c, %zero, %zero : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %a = tosa.abs %n : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %k = tosa.clamp %a {min_val = 0.0 : f32, max_val = 0x7F800000 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %m = tosa.maximum %k, %zero4 : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xf32>
  // A gate by the gradient's own sign, and one by something else.
  %q = tosa.greater %g, %zero4 : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xi1>
  %e = tosa.select %q, %m, %zero4 : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xf32>
  %f = tosa.select %p, %e, %g : (tensor<1x4x4x2xi1>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  // Windows and movements.
  %v = tosa.avg_pool2d %f, %zero, %zero {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %j = tosa.argmax %g {axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4xi32>
  // (g ^ 2) ^ 1/2, and g / |g|, of exponent 0, times g.
  %square = tosa.mul %g, %g, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %root = tosa.pow %square, %half : (tensor<1x4x4x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x4x2xf32>
  %inverse = tosa.reciprocal %root : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %again = tosa.rsqrt %square : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %both = tosa.add %inverse, %again : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %sign = tosa.mul %g, %both, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  // Of exponent 0, any function takes it.
  %t = tosa.tanh %sign : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %h = tosa.mul %t, %g, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %u:3, %finite = amp.unscale %f, %v, %h by %scale : (tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>, tensor<1x4x4x2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>, tensor<1x4x4x2xf32>)
  return %u#0, %u#1, %u#2 : tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>, tensor<1x4x4x2xf32>
}
