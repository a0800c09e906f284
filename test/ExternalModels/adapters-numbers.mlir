// Constants of a dialect that only an adapter describes, what moves them, and
// numbers in attributes: what f16 loses stays f32.
//
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision=policy=stablehlo --mlir-print-op-generic --split-input-file | FileCheck %s

// CHECK: "stablehlo.minimum"{{.*}} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
// CHECK: "stablehlo.minimum"{{.*}} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
// CHECK: "stablehlo.minimum"{{.*}} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
func.func @constants(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %large = "stablehlo.constant"() {value = dense<128000.0> : tensor<16x16xf32>} : () -> tensor<16x16xf32>
  %scalar = "stablehlo.constant"() {value = dense<128000.0> : tensor<f32>} : () -> tensor<f32>
  %small = "stablehlo.constant"() {value = dense<1.0> : tensor<16x16xf32>} : () -> tensor<16x16xf32>
  %0 = "stablehlo.dot"(%a, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = "stablehlo.minimum"(%0, %large) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = "stablehlo.dot"(%1, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = "stablehlo.broadcast_in_dim"(%scalar) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x16xf32>
  %4 = "stablehlo.minimum"(%2, %3) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %5 = "stablehlo.dot"(%4, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %6 = "stablehlo.minimum"(%5, %small) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %7 = "stablehlo.dot"(%6, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %7 : tensor<16x16xf32>
}

// Squares in each spelling.
// CHECK-LABEL: sym_name = "squares"
// CHECK: "stablehlo.multiply"{{.*}} : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
// CHECK: "chlo.square"{{.*}} : (tensor<16x16xf32>) -> tensor<16x16xf32>
// CHECK: "stablehlo.add"{{.*}} : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
func.func @squares(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = "stablehlo.dot"(%a, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = "stablehlo.multiply"(%0, %0) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = "stablehlo.dot"(%1, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = "chlo.square"(%2) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = "stablehlo.dot"(%3, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %5 = "stablehlo.add"(%4, %4) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %6 = "stablehlo.dot"(%5, %b) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %6 : tensor<16x16xf32>
}
