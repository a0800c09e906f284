// Symbols in the properties of operations that are not registered are uses.
//
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision='precision=bf16 policy=stablehlo' --remarks-filter=amp 2>&1 | FileCheck %s

// CHECK-DAG: Function=f | Reason="another operation than a direct call uses it"
// CHECK-DAG: Function=g | Reason="another operation than a direct call uses it"
// CHECK: func.func private @f(%{{.*}}: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: func.func private @g(%{{.*}}: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: func.func private @h(%{{.*}}: tensor<4x4xbf16>) -> tensor<4x4xbf16>
func.func public @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.dot_general"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.composite"(%0) <{name = "my.f", decomposition = @f}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "stablehlo.custom_call"(%1) <{call_target_name = "f", called_computations = [@g]}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = func.call @f(%2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = func.call @g(%3) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = func.call @h(%4) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = "stablehlo.dot_general"(%5, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %6 : tensor<4x4xf32>
}
func.func private @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.dot_general"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @g(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.dot_general"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @h(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.dot_general"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
