// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --stablehlo-to-train | FileCheck %s

// A loop carries neither its counter nor values that it passes on.
// CHECK-LABEL: func.func @scan
// CHECK: %[[LAST:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[H:.*]] = %arg1) -> (tensor<4xf32>)
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0[%[[I]], 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
// CHECK: %[[R:.*]] = train.reshape %[[X]]
// CHECK: %[[Y:.*]] = train.mul %[[R]], %[[H]]
// CHECK: scf.yield %[[Y]] : tensor<4xf32>
// CHECK: return %[[LAST]]
func.func @scan(%x: tensor<3x4xf32> {amp.role = "batch", amp.name = "x"}, %h: tensor<4xf32> {amp.role = "parameter", amp.name = "h"}) -> tensor<4xf32> {
  %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0:3 = "stablehlo.while"(%x, %c0, %h) ({
  ^bb0(%s: tensor<3x4xf32>, %i: tensor<i32>, %a: tensor<4xf32>):
    %c3 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.compare"(%i, %c3) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%9) : (tensor<i1>) -> ()
  }, {
  ^bb0(%s: tensor<3x4xf32>, %i: tensor<i32>, %a: tensor<4xf32>):
    %z = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %c1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.dynamic_slice"(%s, %i, %z) <{slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %6 = "stablehlo.reshape"(%5) : (tensor<1x4xf32>) -> tensor<4xf32>
    %7 = "stablehlo.multiply"(%6, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %8 = "stablehlo.add"(%i, %c1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%s, %8, %7) : (tensor<3x4xf32>, tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<3x4xf32>, tensor<i32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<i32>, tensor<4xf32>)
  return %0#2 : tensor<4xf32>
}

// -----

// A place from the data is clamped.
// CHECK-LABEL: func.func @place
// CHECK: %[[AT:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[LOW:.*]] = arith.maxsi %[[AT]], %{{.*}} : index
// CHECK: %[[HIGH:.*]] = arith.minsi %[[LOW]], %{{.*}} : index
// CHECK: tensor.extract_slice %arg0[%[[HIGH]]] [2] [1] : tensor<8xf32> to tensor<2xf32>
func.func @place(%x: tensor<8xf32> {amp.role = "parameter", amp.name = "x"}, %i: tensor<i32> {amp.role = "batch", amp.name = "i"}) -> tensor<2xf32> {
  %0 = "stablehlo.dynamic_slice"(%x, %i) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Unsigned bits become a float in [1, 2).
// CHECK-LABEL: func.func @bits
// CHECK-SAME: tensor<4xi32>
// CHECK: arith.shrui
// CHECK: arith.ori
// CHECK: arith.bitcast %{{.*}} : tensor<4xi32> to tensor<4xf32>
func.func @bits(%b: tensor<4xui32> {amp.role = "batch", amp.name = "b"}) -> tensor<4xf32> {
  %c9 = "stablehlo.constant"() <{value = dense<9> : tensor<4xui32>}> : () -> tensor<4xui32>
  %one = "stablehlo.constant"() <{value = dense<1065353216> : tensor<4xui32>}> : () -> tensor<4xui32>
  %0 = "stablehlo.shift_right_logical"(%b, %c9) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %1 = "stablehlo.or"(%0, %one) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %2 = "stablehlo.bitcast_convert"(%1) : (tensor<4xui32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A value that is not taken at the tested index keeps its test.
// CHECK-LABEL: func.func @kept
// CHECK: %[[C:.*]] = arith.cmpi sge, %arg1
// CHECK: train.select %[[C]], %arg0
func.func @kept(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %t: tensor<4xi32> {amp.role = "batch", amp.name = "t"}) -> tensor<4xf32> {
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<4xi32>}> : () -> tensor<4xi32>
  %1 = "stablehlo.compare"(%t, %0) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %2 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<4xf32>}> : () -> tensor<4xf32>
  %3 = "stablehlo.select"(%1, %x, %2) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Indices from the end of another extent.
// CHECK-LABEL: func.func @wrapped
// CHECK: arith.select
// CHECK: %[[LOW:.*]] = arith.maxsi
// CHECK: %[[AT:.*]] = arith.minsi %[[LOW]]
// CHECK: train.gather %arg0, %[[AT]]
func.func @wrapped(%e: tensor<8x2xf32> {amp.role = "parameter", amp.name = "e"}, %t: tensor<4x1xi32> {amp.role = "batch", amp.name = "t"}) -> tensor<4x2xf32> {
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<4x1xi32>}> : () -> tensor<4x1xi32>
  %1 = "stablehlo.compare"(%t, %0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
  %2 = "stablehlo.constant"() <{value = dense<7> : tensor<4x1xi32>}> : () -> tensor<4x1xi32>
  %3 = "stablehlo.add"(%t, %2) : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %4 = "stablehlo.select"(%1, %3, %t) : (tensor<4x1xi1>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %5 = "stablehlo.gather"(%e, %4) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<8x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  return %5 : tensor<4x2xf32>
}

// -----

// An integer of the data as a number.
// CHECK-LABEL: func.func @number
// CHECK: %[[N:.*]] = arith.sitofp %arg1 : tensor<4xi32> to tensor<4xf32>
// CHECK: train.mul %arg0, %[[N]]
func.func @number(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %t: tensor<4xi32> {amp.role = "batch", amp.name = "t"}) -> tensor<4xf32> {
  %0 = "stablehlo.convert"(%t) : (tensor<4xi32>) -> tensor<4xf32>
  %1 = "stablehlo.multiply"(%x, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
