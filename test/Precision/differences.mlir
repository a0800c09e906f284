// Differences that steep functions read stay f32, and so do their values: back
// through factors and movements, up to the result of a product. Its operands are
// low.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/step.mlir --allow-unregistered-dialect --split-input-file \
// RUN:   --auto-mixed-precision="precision=bf16 policy=%t/policy.yaml" | FileCheck %t/step.mlir
// RUN: amp-opt %t/step.mlir --allow-unregistered-dialect --split-input-file \
// RUN:   --auto-mixed-precision="precision=bf16 policy=%t/policy.yaml" \
// RUN:   --remarks-filter=amp 2>&1 | FileCheck %t/step.mlir --check-prefix=REMARK

//--- policy.yaml
version: 1
extends: default
linear: [toy.scale=product, toy.minus, toy.plus]
intervals: [toy.minus=subtract, toy.plus=add, toy.ln=log, toy.scale=multiply]
adapters:
  - dialect: toy
    cast: {op: convert}
    allow: [dot]
    infer: [scale, minus, plus, squash]
    deny: [ln]
    operations:
      - {op: dot, slots: [{kind: compute, operands: [0, 1]}, {kind: storage, results: [0], implies: 0}]}
      - {op: ln, kind: storage}
      - {op: minus, kind: storage}
      - {op: plus, kind: storage}
      - {op: squash, bounded: true}
//--- step.mlir
// The logarithm of 1 - p, where a product reads p too.
// CHECK-LABEL: func.func @complement
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// CHECK: train.sigmoid {{.*}} : tensor<64x64xf32>
// CHECK: train.sub {{.*}} : (tensor<f32>, tensor<64x64xf32>)
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// REMARK: a difference that a steep function reads
func.func @complement(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %one = train.constant dense<1.0> : tensor<f32>
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = train.sigmoid %h : tensor<64x64xf32>
  %d = train.sub %one, %p : (tensor<f32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %l = train.log %d : tensor<64x64xf32>
  %r = train.matmul %p, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %l, %r : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// 1 - a * a with a limit, back through the square.
// CHECK-LABEL: func.func @squashed
// CHECK: train.tanh {{.*}} : tensor<64x64xf32>
// CHECK: train.sub {{.*}} : (tensor<f32>, tensor<64x64xf32>)
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @squashed(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %one = train.constant dense<1.0> : tensor<f32>
  %least = train.constant dense<1.0e-6> : tensor<f32>
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = train.tanh %h : tensor<64x64xf32>
  %s = train.mul %a, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = train.sub %one, %s : (tensor<f32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = train.maximum %d, %least : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %l = train.log %m : tensor<64x64xf32>
  %r = train.matmul %a, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %l, %r : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// The divisor is a difference of two products. Their operands are low.
// CHECK-LABEL: func.func @divisor
// CHECK-COUNT-2: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
// CHECK: train.sub {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>)
func.func @divisor(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = train.matmul %x, %v : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = train.sub %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = train.div %a, %d : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = train.matmul %q, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// A margin, a sum with a positive number, and a row minus its maximum.
// CHECK-LABEL: func.func @others
// CHECK: train.matmul {{.*}} -> tensor<64x64xbf16>
// CHECK: train.sigmoid {{.*}} : tensor<64x64xbf16>
// CHECK: train.sub {{.*}} : (tensor<bf16>, tensor<64x64xbf16>)
// CHECK: train.matmul {{.*}} -> tensor<64x64xbf16>
func.func @others(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %one = train.constant dense<1.0> : tensor<f32>
  %least = train.constant dense<1.0e-6> : tensor<f32>
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = train.sigmoid %h : tensor<64x64xf32>
  %margin = train.sub %one, %p : (tensor<f32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %hinge = train.relu %margin : tensor<64x64xf32>
  %s = train.add %p, %least : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %l = train.log %s : tensor<64x64xf32>
  %a = train.matmul %hinge, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = train.reduce_max %a {dims = array<i64: 1>, keep_dims} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %z = train.sub %a, %m : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %e = train.exp %z : tensor<64x64xf32>
  %r = train.matmul %a, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %l, %e, %r : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Functions of another dialect, by the names of their intervals.
// CHECK-LABEL: func.func @foreign
// CHECK: "toy.squash"({{.*}}) : (tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK: "toy.minus"({{.*}}) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK: "toy.dot"({{.*}}) : (tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @foreign(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %one = train.constant dense<1.0> : tensor<64x64xf32>
  %two = train.constant dense<2.0> : tensor<64x64xf32>
  %h = "toy.dot"(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = "toy.squash"(%h) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = "toy.minus"(%one, %p) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = "toy.scale"(%d, %two) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %l = "toy.ln"(%s) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = "toy.dot"(%p, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %l, %r : tensor<64x64xf32>, tensor<64x64xf32>
}
