// OPTIONS: --allow-unregistered-dialect
// PIPELINE: auto-mixed-precision{policy=unregistered.yaml}
//
// CHECK: "other.convert"(%{{.*}}) {amp.inserted} : (tensor<4x4xf32>) -> tensor<4x4xf16>
// CHECK: "other.matmul"({{.*}}) : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: "other.relu"({{.*}}) : (tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: "other.secret"({{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "other.matmul"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "other.relu"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "other.secret"(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
