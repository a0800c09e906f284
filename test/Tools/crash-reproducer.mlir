// A pipeline that fails leaves a file that repeats the failure: the module, and
// the passes with all of their options. The local form starts at the pass that
// failed.
//
// RUN: not amp-opt %s --mlir-pass-pipeline-crash-reproducer=%t.whole.mlir \
// RUN:   --pass-pipeline='builtin.module(auto-mixed-precision{precision=bf16},amp-insert-loss-scaling{mode=wrong})'
// RUN: FileCheck %s --check-prefix=WHOLE < %t.whole.mlir
// RUN: not amp-opt --run-reproducer %t.whole.mlir 2>&1 | FileCheck %s --check-prefix=FAILURE
//
// RUN: not amp-opt %s --mlir-pass-pipeline-crash-reproducer=%t.local.mlir \
// RUN:   --mlir-pass-pipeline-local-reproducer --mlir-disable-threading \
// RUN:   --pass-pipeline='builtin.module(auto-mixed-precision{precision=bf16},amp-insert-loss-scaling{mode=wrong})'
// RUN: FileCheck %s --check-prefix=LOCAL < %t.local.mlir
// RUN: not amp-opt --run-reproducer %t.local.mlir 2>&1 | FileCheck %s --check-prefix=FAILURE
//
// FAILURE: error: amp-insert-loss-scaling: unknown mode 'wrong', expected dynamic, layerwise, none or a number
//
// WHOLE: train.matmul {{.*}} (tensor<4x4xf32>, tensor<4x4xf32>)
// WHOLE: pipeline: "builtin.module(auto-mixed-precision{{[{].*}}precision=bf16{{.*[}]}}, amp-insert-loss-scaling{{[{].*}}mode=wrong {{.*[}]}})"
//
// LOCAL: train.matmul {{.*}} (tensor<4x4xbf16>, tensor<4x4xbf16>)
// LOCAL: pipeline: "builtin.module(amp-insert-loss-scaling{{[{].*}}mode=wrong {{.*[}]}})"
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  %2 = train.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
