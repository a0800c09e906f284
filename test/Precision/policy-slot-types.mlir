// The key `slot-types` of a policy: types of the slots of single operations.
//
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: amp-opt step.mlir --auto-mixed-precision="policy=types.yaml" | FileCheck %s
// Another folder and a second run change nothing.
// RUN: mkdir other && cp step.mlir other && amp-opt other/step.mlir --auto-mixed-precision="policy=types.yaml" | FileCheck %s
// RUN: amp-opt step.mlir --auto-mixed-precision="policy=types.yaml" --auto-mixed-precision="policy=types.yaml" | FileCheck %s
//
// Operands of the first product are low and its result is f32. The second
// product of the name and the sum are f32, the range slot of the exponential is
// low, and `any` leaves the last product to the policy.
// CHECK-LABEL: func.func @step
// CHECK: train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.exp {{.*}} : tensor<4x4xf16>
// CHECK: train.add {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>)
//
// The printed policy means the same.
// RUN: amp-opt --amp-print-policy=types.yaml > printed.yaml
// RUN: FileCheck %s --check-prefix=PRINT < printed.yaml
// RUN: amp-opt step.mlir --auto-mixed-precision="policy=printed.yaml" | FileCheck %s
// PRINT: slot-types:
// PRINT-NEXT: 'train.matmul a b.mlir:1:1': [low, f32]
// PRINT-NEXT: 'train.matmul a b.mlir:1:1 #2': [f32, f32]
// PRINT-NEXT: 'train.exp step.mlir:3:1': [low]
//
// A policy that extends it may replace an entry.
// RUN: amp-opt step.mlir --auto-mixed-precision="policy=extends.yaml" | FileCheck %s --check-prefix=EXTENDS
// EXTENDS: train.matmul
// EXTENDS: train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>)
//
// RUN: amp-opt step.mlir --auto-mixed-precision="policy=types.yaml strategy=grappler" 2>&1 >/dev/null | FileCheck %s --check-prefix=IDLE
// IDLE: warning: auto-mixed-precision: 'slot-types' of the policy has no effect with strategy=grappler, expected strategy=optimal
// RUN: amp-opt step.mlir --auto-mixed-precision="policy=unknown.yaml" 2>&1 >/dev/null | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown.yaml:3:36: warning: policy: 'train.matmul else' matches no operation with slots
// RUN: not amp-opt --amp-print-policy=wrong.yaml 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: "wrong.yaml":2:36): error: policy: 'keep' is not a slot type, expected f32, low or any
//
// A number that the low type loses stays f32.
// RUN: amp-opt number.mlir --auto-mixed-precision="policy=number.yaml" | FileCheck %s --check-prefix=NUMBER
// NUMBER: train.clip {{.*}} : tensor<4xf32>

//--- types.yaml
version: 1
slot-types:
  "train.matmul a b.mlir:1:1": [low, f32]
  "train.matmul a b.mlir:1:1 #2": [f32, f32]
  "train.exp step.mlir:3:1": [low]
  "train.add step.mlir:4:1": [f32]
  "train.matmul step.mlir:5:1": [any, any]
extends: default

//--- extends.yaml
version: 1
extends: types.yaml
slot-types:
  "train.matmul a b.mlir:1:1 #2": [low, low]

//--- unknown.yaml
version: 1
extends: default
slot-types: {"train.matmul else": [f32]}

//--- wrong.yaml
version: 1
slot-types: {"train.matmul else": [keep]}

//--- number.yaml
version: 1
extends: default
slot-types: {"train.clip step.mlir:1:1": [low]}

//--- step.mlir
func.func @step(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["a", "/x/b.mlir":1:1])
  %1 = train.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["a", "/x/b.mlir":1:1])
  %2 = train.exp %1 : tensor<4x4xf32> loc("/x/step.mlir":3:1)
  %3 = train.add %2, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("/x/step.mlir":4:1)
  %4 = train.matmul %3, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("/x/step.mlir":5:1)
  return %4 : tensor<4x4xf32>
}

//--- number.mlir
func.func @number(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = train.clip %x {min = 0.0 : f64, max = 1.0e6 : f64} : tensor<4xf32> loc("step.mlir":1:1)
  return %0 : tensor<4xf32>
}
