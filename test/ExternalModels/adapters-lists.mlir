// A dialect for which the policy has only lists: denied operations and their
// dependents may leave the range. An operation that reads one value twice may
// square it. References to entities that are typed elsewhere keep their types.
//
// RUN: amp-opt %s --allow-unregistered-dialect --mlir-print-op-generic \
// RUN:   --auto-mixed-precision="policy={{version: 1, adapters: [{dialect: toy, cast: {op: convert}, allow: [dot], deny: [mean, rsqrt], infer: [sub, mul, add, composite], clear: [limit]}]}}" | FileCheck %s

// CHECK-LABEL: sym_name = "norm"
// CHECK: "toy.mean"{{.*}} -> tensor<8x8xf32>
// CHECK: "toy.sub"{{.*}} -> tensor<8x8xf32>
// CHECK: "toy.mul"{{.*}} -> tensor<8x8xf32>
// CHECK: "toy.mean"{{.*}} -> tensor<8x8xf32>
// CHECK: "toy.rsqrt"{{.*}} -> tensor<8x8xf32>
// CHECK: "toy.mul"{{.*}} -> tensor<8x8xf32>
// CHECK: "toy.dot"{{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @norm(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "toy.dot"(%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "toy.mean"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "toy.sub"(%0, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "toy.mul"(%2, %2) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "toy.mean"(%3) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = "toy.rsqrt"(%4) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = "toy.mul"(%2, %5) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = "toy.dot"(%6, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %7 : tensor<8x8xf32>
}

// CHECK-LABEL: sym_name = "square"
// CHECK: "toy.mul"{{.*}} -> tensor<8x8xf32>
// CHECK: "toy.mul"{{.*}} -> tensor<8x8xf16>
func.func @square(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "toy.dot"(%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "toy.mul"(%0, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "toy.dot"(%1, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "toy.dot"(%2, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "toy.mul"(%2, %3) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = "toy.dot"(%4, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// Properties of unregistered operations are attributes too.
// CHECK-LABEL: sym_name = "properties"
// CHECK: "toy.limit"{{.*}} -> tensor<8x8xf32>
// CHECK: "toy.limit"{{.*}} -> tensor<8x8xf16>
// CHECK: "toy.composite"{{.*}} -> tensor<8x8xf32>
func.func @properties(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "toy.dot"(%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "toy.limit"(%0) <{max = 128000.0 : f32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "toy.dot"(%1, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "toy.limit"(%2) <{max = 6.0 : f32}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "toy.dot"(%3, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = "toy.composite"(%4) <{decomposition = @norm}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = "toy.dot"(%5, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}

// CHECK-LABEL: sym_name = "attributes"
// CHECK: "toy.limit"{{.*}} -> tensor<8x8xf32>
// CHECK: "toy.limit"{{.*}} -> tensor<8x8xf16>
// CHECK: "toy.composite"{{.*}} -> tensor<8x8xf32>
func.func @attributes(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "toy.dot"(%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "toy.limit"(%0) {max = 128000.0 : f32} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "toy.dot"(%1, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = "toy.limit"(%2) {max = 6.0 : f32} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = "toy.dot"(%3, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = "toy.composite"(%4) {decomposition = @norm} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = "toy.dot"(%5, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}
