// amp-opt loads the plugin of another project, and runs its passes between its
// own.
//
// UNSUPPORTED: static-mlir, sanitizer
// RUN: amp-opt %s --load-dialect-plugin=%example_plugin --load-pass-plugin=%example_plugin \
// RUN:   --pass-pipeline='builtin.module(auto-mixed-precision,example-count{prefix=amp.})' \
// RUN:   | FileCheck %s
// RUN: not amp-opt %s --load-pass-plugin=%example_plugin \
// RUN:   --pass-pipeline='builtin.module(example-count)' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: operation being parsed with an unregistered dialect

// CHECK: module attributes {example.count = 2 : i64}
// CHECK: amp.cast
// CHECK: "example.op"
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "example.op"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
