// RUN: amp-opt %s --train-autodiff --canonicalize --cse | FileCheck %s
// RUN: amp-opt %s --train-autodiff > %t.once
// RUN: amp-opt %t.once --train-autodiff | diff %t.once -

// The backward branch computes the square again. A value that only one branch
// reads has a gradient of zero in the other.
// CHECK-LABEL: func.func @two
// CHECK: %[[ZERO:.*]] = train.constant dense<0.0
// CHECK: %[[F:.*]] = scf.if %[[C:.*]] -> (tensor<4xf32>) {
// CHECK: amp.id = 0
// CHECK: %[[DF:.*]] = train.broadcast
// CHECK: scf.if %[[C]] -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %[[A:.*]] = train.tanh %arg0
// CHECK-NEXT: %[[DX:.*]] = train.tanh_grad %[[A]], %[[DF]]
// CHECK-NEXT: scf.yield %[[DX]], %[[ZERO]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT: } else {
// CHECK-DAG: %[[L:.*]] = train.mul %[[DF]], %arg1
// CHECK-DAG: %[[R:.*]] = train.mul %[[DF]], %arg0
// CHECK: scf.yield %[[L]], %[[R]]
// CHECK: amp.backward_of = 0 : i64, amp.gradient_of = ["x", "w"]
func.func @two(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %c: i1) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = scf.if %c -> tensor<4xf32> {
    %1 = train.tanh %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    %1 = train.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %loss = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g:2 = train.gradients %loss wrt(%x, %w) : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %loss, %g#0, %g#1 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}

// Branches that yield values from outside.
// CHECK-LABEL: func.func @outside
// CHECK: %[[ZERO:.*]] = train.constant dense<0.0
// CHECK: %[[S:.*]] = amp.gradient_seed
// CHECK-DAG: arith.select %arg2, %[[S]], %[[ZERO]]
// CHECK-DAG: arith.select %arg2, %[[ZERO]], %[[S]]
func.func @outside(%x: tensor<f32>, %y: tensor<f32>, %c: i1) -> (tensor<f32>, tensor<f32>) {
  %a = train.sin %x : tensor<f32>
  %b = train.cos %y : tensor<f32>
  %loss = scf.if %c -> tensor<f32> {
    scf.yield %a : tensor<f32>
  } else {
    scf.yield %b : tensor<f32>
  }
  %g:2 = train.gradients %loss wrt(%x, %y) : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %g#0, %g#1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @select
// CHECK: %[[S:.*]] = amp.gradient_seed
// CHECK-DAG: arith.select %arg2, %[[S]], %{{.*}}
// CHECK-DAG: arith.select %arg2, %{{.*}}, %[[S]]
func.func @select(%x: tensor<f32>, %y: tensor<f32>, %c: i1) -> (tensor<f32>, tensor<f32>) {
  %a = train.sin %x : tensor<f32>
  %b = train.cos %y : tensor<f32>
  %loss = arith.select %c, %a, %b : tensor<f32>
  %g:2 = train.gradients %loss wrt(%x, %y) : (tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %g#0, %g#1 : tensor<f32>, tensor<f32>
}
