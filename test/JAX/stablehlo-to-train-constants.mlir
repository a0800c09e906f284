// Integers that become numbers keep their sign.
//
// RUN: amp-opt --allow-unregistered-dialect %s --stablehlo-to-train | FileCheck %s

// CHECK-DAG: train.constant dense<-1.000000e+00>
// CHECK-DAG: train.constant dense<1.000000e+00>
// CHECK-NOT: E+19
"builtin.module"() ({
  "func.func"() <{arg_attrs = [{amp.name = "params.w", amp.role = "parameter"}], function_type = (tensor<4xf32>) -> tensor<f32>, res_attrs = [{amp.metric = "loss"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%w: tensor<4xf32>):
    %low = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %high = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %0 = "stablehlo.convert"(%low) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %2 = "stablehlo.maximum"(%1, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = "stablehlo.convert"(%high) : (tensor<i1>) -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %5 = "stablehlo.minimum"(%4, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %zero = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%5, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %7 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%7) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%6) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
