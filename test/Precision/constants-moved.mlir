// A constant outside of the f16 range keeps its readers in f32, products
// included. It may be one of many elements, or reach the reader through control
// flow or a call.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=fp16 --split-input-file | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision='precision=fp16 strategy=grappler' --split-input-file | FileCheck %s
//
// bf16 holds it.
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --split-input-file | FileCheck %s --check-prefix=BF16
// BF16-COUNT-5: train.matmul {{.*}} (tensor<4x4xbf16>, tensor<4x4xbf16>)

// CHECK-LABEL: func.func @concat
// CHECK-NOT: f16>
// CHECK: return
func.func @concat(%x: tensor<4x2xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = train.constant dense<1.0e5> : tensor<4x2xf32>
  %0 = train.concat %x, %c {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  %1 = train.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @select
// CHECK-NOT: f16>
// CHECK: return
func.func @select(%m: tensor<4x4xi1>, %x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = train.constant dense<1.0e5> : tensor<4x4xf32>
  %0 = train.select %m, %x, %c : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.matmul %1, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @branch
// CHECK-NOT: f16>
// CHECK: return
func.func @branch(%c: i1, %x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = train.constant dense<1.0e5> : tensor<4x4xf32>
  %0 = scf.if %c -> tensor<4x4xf32> {
    scf.yield %k : tensor<4x4xf32>
  } else {
    scf.yield %x : tensor<4x4xf32>
  }
  %1 = train.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @loop
// CHECK-NOT: f16>
// CHECK: return
func.func @loop(%n: index, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = train.constant dense<1.0e5> : tensor<4x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%v = %k) -> tensor<4x4xf32> {
    %1 = train.matmul %v, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @call
// CHECK-NOT: f16>
// CHECK: func.func private @callee
// CHECK-NOT: f16>
// CHECK: return
func.func @call(%w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = train.constant dense<1.0e5> : tensor<4x4xf32>
  %0 = call @callee(%k, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @callee(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
