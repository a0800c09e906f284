// RUN: amp-opt %s --convert-train-to-linalg --convert-amp-to-linalg --amp-fuse-elementwise --split-input-file | FileCheck %s

// A chain becomes one loop in which every rounding stays.

// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.extf
// CHECK: arith.mulf
// CHECK: %[[LOW:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.extf %[[LOW]] : f16 to f32
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %0 = train.mul %x, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %1 = train.add %0, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}

// -----

// Into a reduction, but not where an element would be computed once per
// repetition: the logarithm stays a separate loop.

// CHECK-LABEL: func.func @repeated
// CHECK: linalg.generic
// CHECK: math.log
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: arith.addf
func.func @repeated(%x: tensor<4x1xf32>, %y: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = train.log %x : tensor<4x1xf32>
  %1 = train.mul %0, %y : (tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = train.reduce_sum %1 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A value that two read is computed once.

// CHECK-LABEL: func.func @shared
// CHECK-COUNT-3: linalg.generic
func.func @shared(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = train.exp %x : tensor<4xf32>
  %1 = train.neg %0 : tensor<4xf32>
  %2 = train.abs %0 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
