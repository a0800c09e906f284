// Histories of products that read the results of other products, and of
// products in loops.
//
// RUN: amp-opt %s --amp-training-pipeline='precision=fp16 fp8-recipe=delayed fp8-keep-last=0' --remarks-filter=amp 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.remarks
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8-rowwise fp8-keep-last=0' | FileCheck %s --check-prefix=ROW

// The gradient of the first layer's result is the result of a product of 8-bit
// operands. It has the factor of the loss scale all the same.
// CHECK-LABEL: func.func @chain(
// CHECK-COUNT-2: arith.divf
// CHECK: %[[D:.*]] = amp.scaled_matmul
// CHECK: amp.amax %[[D]]
// CHECK-COUNT-2: arith.divf
// CHECK: amp.scaled_matmul
// CHECK-COUNT-6: amp.update_quantizer
func.func @chain(
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %target: tensor<?x6xf32> {amp.role = "batch", amp.name = "target"},
    %w: tensor<8x16xf32> {amp.role = "parameter", amp.name = "w"},
    %v: tensor<16x6xf32> {amp.role = "parameter", amp.name = "v"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x16xf32> {amp.updates = "w"}, tensor<16x6xf32> {amp.updates = "v"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.matmul %x, %w : (tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
  %y = train.matmul %h, %v : (tensor<?x16xf32>, tensor<16x6xf32>) -> tensor<?x6xf32>
  %loss = train.mse %y, %target : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<f32>
  %d:2 = train.gradients %loss wrt(%w, %v) : (tensor<f32>, tensor<8x16xf32>, tensor<16x6xf32>) -> (tensor<8x16xf32>, tensor<16x6xf32>)
  %w1 = train.sgd %w, %d#0, %lr : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %v1 = train.sgd %v, %d#1, %lr : (tensor<16x6xf32>, tensor<16x6xf32>, tensor<f32>) -> tensor<16x6xf32>
  return %w1, %v1, %loss : tensor<8x16xf32>, tensor<16x6xf32>, tensor<f32>
}

// A loop multiplies again and again. Its history would be written more than
// once in a step.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
// CHECK: train.matmul
// CHECK-NOT: amp.update_quantizer
// WHY: Function=loop {{.*}}Reason="a region computes an operand, and a history is written once in each step"
// ROW-LABEL: func.func @loop(
// ROW: scf.for
// ROW: amp.scaled_matmul
func.func @loop(
    %x: tensor<4x8xf32> {amp.role = "batch", amp.name = "x"},
    %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<4x8xf32> {amp.prediction = "y"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %y = scf.for %i = %zero to %four step %one iter_args(%a = %x) -> (tensor<4x8xf32>) {
    %b = train.matmul %a, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    scf.yield %b : tensor<4x8xf32>
  }
  return %y : tensor<4x8xf32>
}
