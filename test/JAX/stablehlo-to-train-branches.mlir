// RUN: amp-opt %s --allow-unregistered-dialect --stablehlo-to-train | FileCheck %s

// The last branch is also the one of an index out of range.
// CHECK-LABEL: func.func @three
// CHECK: %[[I:.*]] = tensor.extract
// CHECK: arith.cmpi eq, %[[I]], %c0_i32
// CHECK: scf.if
// CHECK-NEXT: train.sin
// CHECK: else
// CHECK: arith.cmpi eq, %[[I]], %c1_i32
// CHECK: scf.if
// CHECK-NEXT: train.cos
// CHECK: else
// CHECK-NEXT: train.tanh
func.func @three(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %i: tensor<i32> {amp.role = "batch", amp.name = "i"}) -> tensor<4xf32> {
  %0 = "stablehlo.case"(%i) ({
    %1 = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.cosine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A constant index leaves one branch.
// CHECK-LABEL: func.func @chosen
// CHECK-NEXT: %[[R:.*]] = train.cos
// CHECK-NEXT: return %[[R]]
func.func @chosen(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<4xf32> {
  %false = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
  %0 = "stablehlo.if"(%false) ({
    %1 = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.cosine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The data ends the loop.
// CHECK-LABEL: func.func @halve
// CHECK: scf.while (%[[A:.*]] = %arg0)
// CHECK: train.compare gt, %[[A]]
// CHECK: scf.condition
// CHECK: do
// CHECK: train.mul
func.func @halve(%x: tensor<f32> {amp.role = "batch", amp.name = "x"}) -> tensor<f32> {
  %one = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  %half = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<f32>):
    %1 = "stablehlo.compare"(%a, %one) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>):
    %1 = "stablehlo.multiply"(%a, %half) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
