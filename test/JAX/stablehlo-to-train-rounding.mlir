// Numbers are rounded to the types that they pass through, as StableHLO does.
//
// RUN: amp-opt --allow-unregistered-dialect %s --split-input-file --verify-diagnostics --stablehlo-to-train | FileCheck %s

// 0.1 in bf16; 65520 in f16, which is infinite; 2.9 and -2.9 towards zero;
// other numbers than zero are true.
// CHECK-LABEL: func.func @rounded
// CHECK-DAG: train.constant dense<0.100097656>
// CHECK-DAG: train.constant dense<0x7F800000>
// CHECK-DAG: train.constant dense<2.000000e+00>
// CHECK-DAG: train.constant dense<-2.000000e+00>
// CHECK-DAG: train.constant dense<1.000000e+00>
func.func @rounded(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = "stablehlo.constant"() <{value = dense<0.1> : tensor<4xf32>}> : () -> tensor<4xf32>
  %a1 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xbf16>
  %a2 = "stablehlo.convert"(%a1) : (tensor<4xbf16>) -> tensor<4xf32>
  %b = "stablehlo.constant"() <{value = dense<65520.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %b1 = "stablehlo.convert"(%b) : (tensor<4xf32>) -> tensor<4xf16>
  %b2 = "stablehlo.convert"(%b1) : (tensor<4xf16>) -> tensor<4xf32>
  %c = "stablehlo.constant"() <{value = dense<2.9> : tensor<4xf32>}> : () -> tensor<4xf32>
  %c1 = "stablehlo.convert"(%c) : (tensor<4xf32>) -> tensor<4xi8>
  %c2 = "stablehlo.convert"(%c1) : (tensor<4xi8>) -> tensor<4xf32>
  %d = "stablehlo.constant"() <{value = dense<-2.9> : tensor<4xf32>}> : () -> tensor<4xf32>
  %d1 = "stablehlo.convert"(%d) : (tensor<4xf32>) -> tensor<4xi32>
  %d2 = "stablehlo.convert"(%d1) : (tensor<4xi32>) -> tensor<4xf32>
  %e1 = "stablehlo.convert"(%d) : (tensor<4xf32>) -> tensor<4xi1>
  %e2 = "stablehlo.convert"(%e1) : (tensor<4xi1>) -> tensor<4xf32>
  return %a2, %b2, %c2, %d2, %e2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Other numbers have no defined result.
func.func @range(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<4xf32> {
  %a = "stablehlo.constant"() <{value = dense<3.0e+10> : tensor<4xf32>}> : () -> tensor<4xf32>
  %b = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xi8>
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.convert}}
  %c = "stablehlo.convert"(%b) : (tensor<4xi8>) -> tensor<4xf32>
  %d = "stablehlo.multiply"(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
