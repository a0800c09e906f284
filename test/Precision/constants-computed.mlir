// A constant that is computed from constants is denied like a constant, if its
// interval leaves f16: by the interface, or by the intervals of a policy. The
// strategy does not matter.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/step.mlir --allow-unregistered-dialect --split-input-file \
// RUN:   --auto-mixed-precision="precision=fp16 policy=%t/policy.yaml" | FileCheck %t/step.mlir
// RUN: amp-opt %t/step.mlir --allow-unregistered-dialect --split-input-file \
// RUN:   --auto-mixed-precision="precision=fp16 policy=%t/policy.yaml strategy=grappler" | FileCheck %t/step.mlir
// RUN: amp-opt %t/step.mlir --allow-unregistered-dialect --split-input-file \
// RUN:   --auto-mixed-precision="precision=fp16 policy=%t/policy.yaml strategy=autocast" | FileCheck %t/step.mlir
//
// bf16 has these numbers.
// RUN: amp-opt %t/step.mlir --allow-unregistered-dialect --split-input-file \
// RUN:   --auto-mixed-precision="precision=bf16 policy=%t/policy.yaml" | FileCheck %t/step.mlir --check-prefix=BF16

//--- policy.yaml
version: 1
extends: default
linear: [toy.times=product]
intervals: [toy.times=multiply, toy.spread=reshape, toy.where=select]
adapters:
  - dialect: toy
    cast: {op: convert}
    allow: [dot]
    infer: [times]
    clear: [spread, where, number]
    moves: [spread, where]
    operations:
      - {op: dot, slots: [{kind: compute, operands: [0, 1]}, {kind: storage, results: [0], implies: 0}]}
      - {op: times, kind: storage}
      - {op: number, attributes: [value]}
//--- step.mlir
// CHECK-LABEL: func.func @foreign
// CHECK: "toy.times"({{.*}}) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: "toy.where"({{.*}}) : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// BF16-LABEL: func.func @foreign
// BF16: "toy.where"({{.*}}) -> tensor<4x4xbf16>
func.func @foreign(%m: tensor<4x4xi1>, %x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %h = "toy.dot"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = "toy.number"() {value = dense<300.0> : tensor<f32>} : () -> tensor<f32>
  %b = "toy.spread"(%a) : (tensor<f32>) -> tensor<4x4xf32>
  %c = "toy.times"(%b, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = "toy.where"(%m, %h, %c) : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "toy.dot"(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// One of two numbers is beyond f16, and data choose.
// CHECK-LABEL: func.func @choice
// CHECK: train.mul {{.*}} -> tensor<4x4xf32>
// CHECK: train.maximum {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
func.func @choice(%m: tensor<4x4xi1>, %x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %h = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %zero = train.constant dense<0.0> : tensor<4x4xf32>
  %a = train.constant dense<400.0> : tensor<4x4xf32>
  %s = train.select %m, %zero, %a : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = train.mul %s, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = train.maximum %h, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
