// RUN: amp-opt %s --amp-copies-to-loops | FileCheck %s
// RUN: amp-opt %s --amp-copies-to-loops > %t.once
// RUN: amp-opt %t.once --amp-copies-to-loops | diff %t.once -

// CHECK-LABEL: func.func @copies
// CHECK: memref.copy %arg0, %arg1 : memref<4x4xf32> to memref<4x4xf32>
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%arg0 : memref<4x4xf32>) outs(%arg2 : memref<4x4xf32, strided<[8, 2]>>)
func.func @copies(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32, strided<[8, 2]>>) {
  memref.copy %a, %b : memref<4x4xf32> to memref<4x4xf32>
  memref.copy %a, %c : memref<4x4xf32> to memref<4x4xf32, strided<[8, 2]>>
  return
}
