// The rules for constants, squares and sums hold where calls pass the values as
// arguments.
//
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=fp16 policy=stablehlo" --canonicalize --allow-unregistered-dialect | FileCheck %s
// The assignment is stable.
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=fp16 policy=stablehlo" --allow-unregistered-dialect -o %t
// RUN: amp-opt %t --split-input-file --auto-mixed-precision="precision=fp16 policy=stablehlo" --allow-unregistered-dialect | diff %t -

// A call passes the same value twice, so the product holds sums of squares. Its
// result stays f32, and so does what is computed from it.
// CHECK-LABEL: func.func @squares
// CHECK: call @gram({{.*}}) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
// CHECK: train.rsqrt {{.*}} : tensor<64x64xf32>
func.func @squares(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %g = call @gram(%h, %h) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %i = train.rsqrt %g : tensor<64x64xf32>
  %y = train.mul %h, %i : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
// CHECK-LABEL: func.func private @gram
// CHECK-SAME: -> tensor<64x64xf32>
// CHECK: train.matmul {{.*}} : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
func.func private @gram(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %g = train.matmul %a, %b {transpose_b} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %g : tensor<64x64xf32>
}

// -----

// Calls pass different values. The product is low.
// CHECK-LABEL: func.func @scores
// CHECK: call @multiply({{.*}}) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
func.func @scores(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = call @multiply(%h, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = train.matmul %s, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
func.func private @multiply(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %g = train.matmul %a, %b {transpose_b} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %g : tensor<64x64xf32>
}

// -----

// 300 * 300 does not fit. It is computed in a function and returned.
// CHECK-LABEL: func.func @numbers
// CHECK: call @square({{.*}}) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK: train.select {{.*}} : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>)
func.func @numbers(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %m: tensor<64x64xi1>) -> tensor<64x64xf32> {
  %c = train.constant dense<3.0e+02> : tensor<f32>
  %n = call @square(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = train.broadcast %n like %h {dims = array<i64: 0, 1>} : (tensor<f32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = train.select %m, %h, %b : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}
// CHECK-LABEL: func.func private @square
// CHECK: train.mul {{.*}} : (tensor<f32>, tensor<f32>)
func.func private @square(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %p = train.mul %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %p : tensor<f32>
}

// -----

// The decay of a loop is an argument of the function that the loop calls, behind
// a cast that does not change the type, as JAX emits it.
// CHECK-LABEL: func.func @average
// CHECK: call @decay({{.*}}) : (tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
func.func @average(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %n: index) -> tensor<64xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %h = "stablehlo.dot_general"(%x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %row = "stablehlo.slice"(%h) {limit_indices = array<i64: 1, 64>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<1x64xf32>
  %y = "stablehlo.reshape"(%row) : (tensor<1x64xf32>) -> tensor<64xf32>
  %start = "stablehlo.constant"() {value = dense<0.0> : tensor<64xf32>} : () -> tensor<64xf32>
  %c = "stablehlo.constant"() {value = dense<9.990000e-01> : tensor<f32>} : () -> tensor<f32>
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %start) -> tensor<64xf32> {
    %next = func.call @decay(%a, %y, %c) : (tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}
// CHECK-LABEL: func.func private @decay
// CHECK: "stablehlo.multiply"({{.*}}) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
func.func private @decay(%a: tensor<64xf32>, %y: tensor<64xf32>, %c: tensor<f32>) -> tensor<64xf32> {
  %0 = "stablehlo.convert"(%c) : (tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<64xf32>
  %2 = "stablehlo.multiply"(%1, %a) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %one = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %3 = "stablehlo.subtract"(%one, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = "stablehlo.broadcast_in_dim"(%3) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<64xf32>
  %5 = "stablehlo.multiply"(%4, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %6 = "stablehlo.add"(%2, %5) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %6 : tensor<64xf32>
}
