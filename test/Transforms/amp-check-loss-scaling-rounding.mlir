// The largest safe scale of values that are divided by rounded numbers, in a
// dialect that only a policy describes.
//
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.divide=quotient,toy.narrow intervals=toy.clamp=clamp,toy.ceil=ceil,toy.floor=floor,toy.round=round,toy.divide=divide,toy.narrow=convert,toy.number=constant:value})' --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s

// The smallest divisor is ceil(1.25) = 2.
// CHECK: SafeLossScale | {{.*}}Function=ceil | {{.*}}Exponent=16
func.func @ceil(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %low = "toy.number"() {value = dense<1.25> : tensor<f32>} : () -> tensor<f32>
  %high = "toy.number"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %c = "toy.clamp"(%low, %x, %high) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "toy.ceil"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %q = "toy.divide"(%sc, %r) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %h = "toy.narrow"(%q) : (tensor<4xf32>) -> tensor<4xf16>
  %u, %finite = amp.unscale %h by %s : (tensor<4xf16>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// The smallest divisor is floor(1.25) = 1.
// CHECK: SafeLossScale | {{.*}}Function=floor | {{.*}}Exponent=15
func.func @floor(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %low = "toy.number"() {value = dense<1.25> : tensor<f32>} : () -> tensor<f32>
  %high = "toy.number"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %c = "toy.clamp"(%low, %x, %high) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "toy.floor"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %q = "toy.divide"(%sc, %r) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %h = "toy.narrow"(%q) : (tensor<4xf32>) -> tensor<4xf16>
  %u, %finite = amp.unscale %h by %s : (tensor<4xf16>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// CHECK: SafeLossScale | {{.*}}Function=nearest | {{.*}}Exponent=16
func.func @nearest(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %low = "toy.number"() {value = dense<1.75> : tensor<f32>} : () -> tensor<f32>
  %high = "toy.number"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %c = "toy.clamp"(%low, %x, %high) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "toy.round"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %q = "toy.divide"(%sc, %r) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %h = "toy.narrow"(%q) : (tensor<4xf32>) -> tensor<4xf16>
  %u, %finite = amp.unscale %h by %s : (tensor<4xf16>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// A tie may become the even number, which is 0 here. The quotient has no bound.
// CHECK-NOT: SafeLossScale | {{.*}}Function=tie
// CHECK: LossScaleProved | {{.*}}Function=tie
func.func @tie(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %low = "toy.number"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %high = "toy.number"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %c = "toy.clamp"(%low, %x, %high) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "toy.round"(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %q = "toy.divide"(%sc, %r) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %h = "toy.narrow"(%q) : (tensor<4xf32>) -> tensor<4xf16>
  %u, %finite = amp.unscale %h by %s : (tensor<4xf16>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}
