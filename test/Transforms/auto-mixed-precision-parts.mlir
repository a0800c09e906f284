// The cost counts the bytes that an operation reads of an operand. A cast is
// placed after an operation that shrinks the value, and before one that grows
// it.
//
// RUN: amp-opt %s --auto-mixed-precision --allow-unregistered-dialect | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision=policy=stablehlo --allow-unregistered-dialect | FileCheck %s --check-prefix=HLO

// Three rows of a large tensor.
// CHECK-LABEL: func.func @slices
// CHECK-COUNT-3: train.slice {{.*}} : (tensor<4096x4096xf32>) -> tensor<1x4096xf32>
// CHECK: return
func.func @slices(%a: tensor<4096x4096xf32>, %b: tensor<4096x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = train.slice %a {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 4096>, strides = array<i64: 1, 1>} : (tensor<4096x4096xf32>) -> tensor<1x4096xf32>
  %1 = train.slice %a {offsets = array<i64: 1, 0>, sizes = array<i64: 1, 4096>, strides = array<i64: 1, 1>} : (tensor<4096x4096xf32>) -> tensor<1x4096xf32>
  %2 = train.slice %a {offsets = array<i64: 2, 0>, sizes = array<i64: 1, 4096>, strides = array<i64: 1, 1>} : (tensor<4096x4096xf32>) -> tensor<1x4096xf32>
  %3 = train.matmul %0, %b : (tensor<1x4096xf32>, tensor<4096x64xf32>) -> tensor<1x64xf32>
  %4 = train.matmul %1, %b : (tensor<1x4096xf32>, tensor<4096x64xf32>) -> tensor<1x64xf32>
  %5 = train.matmul %2, %b : (tensor<1x4096xf32>, tensor<4096x64xf32>) -> tensor<1x64xf32>
  return %3, %4, %5 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// A few rows of a table, in a loop and after it.
// CHECK-LABEL: func.func @table
// CHECK-NOT: tensor<50000x64xf16>
// CHECK: return
func.func @table(%t: tensor<50000x64xf32>, %i: tensor<12xi32>, %b: tensor<64x64xf32>, %n: index) -> (tensor<12x64xf32>, tensor<12x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = train.constant dense<0.0> : tensor<12x64xf32>
  %0 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> tensor<12x64xf32> {
    %g = train.gather %t, %i {axis = 0 : i64} : (tensor<50000x64xf32>, tensor<12xi32>) -> tensor<12x64xf32>
    %m = train.matmul %g, %b : (tensor<12x64xf32>, tensor<64x64xf32>) -> tensor<12x64xf32>
    %r = train.maximum %m, %s : (tensor<12x64xf32>, tensor<12x64xf32>) -> tensor<12x64xf32>
    scf.yield %r : tensor<12x64xf32>
  }
  %g = train.gather %t, %i {axis = 0 : i64} : (tensor<50000x64xf32>, tensor<12xi32>) -> tensor<12x64xf32>
  %m = train.matmul %g, %b : (tensor<12x64xf32>, tensor<64x64xf32>) -> tensor<12x64xf32>
  return %0, %m : tensor<12x64xf32>, tensor<12x64xf32>
}

// The operation grows the value: the cast is before it.
// CHECK-LABEL: func.func @grows
// CHECK: amp.cast %{{.*}} inserted : tensor<64xf32> to tensor<64xf16>
// CHECK: train.broadcast {{.*}} -> tensor<512x64xf16>
func.func @grows(%v: tensor<64xf32>, %b: tensor<64x64xf32>) -> tensor<512x64xf32> {
  %0 = train.broadcast %v {dims = array<i64: 0>} : (tensor<64xf32>) -> tensor<512x64xf32>
  %1 = train.matmul %0, %b : (tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>
  return %1 : tensor<512x64xf32>
}

// Other dialects.
// CHECK-LABEL: func.func @tensor
// CHECK-NOT: tensor<4096x4096xf16>
// CHECK: return
func.func @tensor(%a: tensor<4096x4096xf32>, %b: tensor<4096x64xf32>, %n: index) -> (tensor<1x64xf32>, tensor<1x64xf32>, f32) {
  %0 = tensor.extract_slice %a[0, 0] [1, 4096] [1, 1] : tensor<4096x4096xf32> to tensor<1x4096xf32>
  %1 = tensor.extract_slice %a[%n, 0] [1, 4096] [1, 1] : tensor<4096x4096xf32> to tensor<1x4096xf32>
  %2 = train.matmul %0, %b : (tensor<1x4096xf32>, tensor<4096x64xf32>) -> tensor<1x64xf32>
  %3 = train.matmul %1, %b : (tensor<1x4096xf32>, tensor<4096x64xf32>) -> tensor<1x64xf32>
  %4 = tensor.extract %a[%n, %n] : tensor<4096x4096xf32>
  return %2, %3, %4 : tensor<1x64xf32>, tensor<1x64xf32>, f32
}

// HLO-LABEL: func.func @foreign
// HLO-NOT: tensor<4096x4096xf16>
// HLO: return
func.func @foreign(%a: tensor<4096x4096xf32>, %b: tensor<4096x64xf32>) -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %0 = "stablehlo.slice"(%a) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 4096>, strides = array<i64: 1, 1>} : (tensor<4096x4096xf32>) -> tensor<1x4096xf32>
  %1 = "stablehlo.slice"(%a) {start_indices = array<i64: 1, 0>, limit_indices = array<i64: 2, 4096>, strides = array<i64: 1, 1>} : (tensor<4096x4096xf32>) -> tensor<1x4096xf32>
  %2 = "stablehlo.slice"(%a) {start_indices = array<i64: 2, 0>, limit_indices = array<i64: 3, 4096>, strides = array<i64: 1, 1>} : (tensor<4096x4096xf32>) -> tensor<1x4096xf32>
  %3 = "stablehlo.dot"(%0, %b) : (tensor<1x4096xf32>, tensor<4096x64xf32>) -> tensor<1x64xf32>
  %4 = "stablehlo.dot"(%1, %b) : (tensor<1x4096xf32>, tensor<4096x64xf32>) -> tensor<1x64xf32>
  %5 = "stablehlo.dot"(%2, %b) : (tensor<1x4096xf32>, tensor<4096x64xf32>) -> tensor<1x64xf32>
  return %3, %4, %5 : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}
