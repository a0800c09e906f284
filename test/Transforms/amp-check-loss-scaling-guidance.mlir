// Warnings for steps that are valid but probably not intended, and operations
// that a policy declares linear.
// RUN: split-file %s %t
// RUN: amp-opt %t/steps.mlir --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null
//
// RUN: not amp-opt %t/foreign.mlir --amp-training-pipeline --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: amp-opt %t/foreign.mlir --amp-training-pipeline=policy=%t/policy.yaml --allow-unregistered-dialect | FileCheck %s --check-prefix=LINEAR
// RUN: amp-opt --amp-print-policy=%t/policy.yaml | FileCheck %s --check-prefix=PRINTED
// RUN: not amp-opt --amp-print-policy=%t/wrong.yaml 2>&1 | FileCheck %s --check-prefix=WRONG
// UNKNOWN: error: 'foreign.exchange' op has an operand that is multiplied by loss_scale, and its effect on the factor is unknown
// LINEAR: "foreign.exchange"
// PRINTED: linear:
// PRINTED-NEXT: - 'foreign.*'
// PRINTED-NEXT: - other.shuffle
// WRONG: wrong.yaml":3:10): error: policy: expected 'linear' to be a list of globs, got '['

//--- steps.mlir
// The results of an optimizer are not gradients, in any type.
func.func @low_parameter(%w: tensor<4xf16>, %x: tensor<4xf32>, %lr: tensor<f32>) -> tensor<4xf16> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %x, %seed : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %wide = amp.cast %w : tensor<4xf16> to tensor<4xf32>
  %new = train.sgd %wide, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %low = amp.cast %new : tensor<4xf32> to tensor<4xf16>
  return %low : tensor<4xf16>
}

// -----

func.func @low_backward_pass(%w: tensor<4xf16>, %x: tensor<4xf16>) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-warning @below {{the backward pass computes in f16 without a loss scale: gradients below 2^-25 become zero; expected a dynamic or constant loss scale, or bf16}}
  %s = amp.cast %seed : tensor<f32> to tensor<f16>
  %g = train.mul %x, %s : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %wide = amp.cast %g {amp.gradient_of = ["w"]} : tensor<4xf16> to tensor<4xf32>
  return %wide : tensor<4xf32>
}

// -----

// The loop carries an activation in f16 beside the gradient. It is not a part of
// the backward pass.
func.func @carried_activation(%x: tensor<4xf16>, %n: index) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %zero = train.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %g = %zero) -> (tensor<4xf16>, tensor<4xf32>) {
    %wide = amp.cast %a : tensor<4xf16> to tensor<4xf32>
    %p = train.mul %wide, %seed : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %sum = train.add %g, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %a, %sum : tensor<4xf16>, tensor<4xf32>
  }
  %g = train.mul %r#1, %r#1 {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// In a loop.
func.func @carried_gradient(%x: tensor<4xf16>, %n: index) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %zero = train.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %seed, %g = %zero) -> (tensor<f32>, tensor<4xf32>) {
    // expected-warning @below {{the backward pass computes in f16 without a loss scale}}
    %low = amp.cast %s : tensor<f32> to tensor<f16>
    %p = train.mul %x, %low : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
    %wide = amp.cast %p : tensor<4xf16> to tensor<4xf32>
    %sum = train.add %g, %wide : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s, %sum : tensor<f32>, tensor<4xf32>
  }
  %g = train.mul %r#1, %r#1 {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// An update that rounds to f16 is not the backward pass.
func.func @low_update(%x: tensor<4xf32>) -> tensor<4xf16> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %x, %seed {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %low = amp.cast %g : tensor<4xf32> to tensor<4xf16>
  return %low : tensor<4xf16>
}

// -----

func.func @scaled(%x: tensor<4xf16>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %scaled = amp.scale %seed by %scale : tensor<f32>
  %s = amp.cast %scaled : tensor<f32> to tensor<f16>
  %g = train.mul %x, %s {amp.gradient_of = ["w"]} : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %u, %finite = amp.unscale %g by %scale : (tensor<4xf16>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

//--- foreign.mlir
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                %x: tensor<4xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %h = train.mul %x, %seed : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %g = "foreign.exchange"(%h) {amp.gradient_of = ["w"]} : (tensor<4xf32>) -> tensor<4xf32>
  %n = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

//--- policy.yaml
version: 1
extends: base.yaml
linear: [other.shuffle]

//--- base.yaml
version: 1
extends: default
linear: ["foreign.*"]

//--- wrong.yaml
version: 1
linear: ["x.y",
         "["]
