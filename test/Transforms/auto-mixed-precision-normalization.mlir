// A written-out normalisation ends the taint only if every element is combined
// with the root of its own group and that root fits the low type.
//
// RUN: amp-opt %s --split-input-file --auto-mixed-precision | FileCheck %s

// A small epsilon: the reciprocal root of a constant row is 1e6. It is infinite
// in f16, and its product with 0 is NaN.
// CHECK-LABEL: func.func @epsilon
// CHECK: train.constant dense<9.99999996E-13> : tensor<4xf32>
// CHECK: train.add {{.*}} -> tensor<4xf32>
// CHECK: train.rsqrt {{.*}} : tensor<4xf32>
// CHECK: train.mul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.tanh {{.*}} : tensor<4x4xf32>
func.func @epsilon(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %eps = train.constant dense<1.0e-12> : tensor<4xf32>
  %m = train.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %mb = train.broadcast %m {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %c = train.sub %x, %mb : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = train.mul %c, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = train.reduce_mean %s {dims = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %e = train.add %v, %eps : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = train.rsqrt %e : tensor<4xf32>
  %rb = train.broadcast %r {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %n = train.mul %c, %rb : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = train.tanh %n : tensor<4x4xf32>
  %y = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The same with an epsilon that keeps the root below 317, through dimensions
// that are dropped and inserted again.
// CHECK-LABEL: func.func @fits
// CHECK: train.rsqrt {{.*}} : tensor<4xf32>
// CHECK: train.mul {{.*}} -> tensor<4x4xf16>
// CHECK: train.tanh {{.*}} : tensor<4x4xf16>
func.func @fits(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %eps = train.constant dense<1.0e-5> : tensor<4xf32>
  %m = train.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %mb = train.broadcast %m {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %c = train.sub %x, %mb : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = train.mul %c, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = train.reduce_mean %s {dims = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %e = train.add %v, %eps : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = train.rsqrt %e : tensor<4xf32>
  %ru = train.reshape %r : (tensor<4xf32>) -> tensor<4x1xf32>
  %n = train.mul %c, %ru : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %a = train.tanh %n : tensor<4x4xf32>
  %y = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// By the root mean square.
// CHECK-LABEL: func.func @rms
// CHECK: train.mul {{.*}} -> tensor<4x4xf16>
// CHECK: train.tanh {{.*}} : tensor<4x4xf16>
func.func @rms(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %eps = train.constant dense<1.0e-5> : tensor<f32>
  %s = train.square %x : tensor<4x4xf32>
  %v = train.reduce_mean %s {dims = array<i64: 1>, keep_dims} : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %e = train.add %eps, %v : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %r = train.rsqrt %e : tensor<4x1xf32>
  %n = train.mul %r, %x : (tensor<4x1xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = train.tanh %n : tensor<4x4xf32>
  %y = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The variance of columns, applied to rows: no bound.
// CHECK-LABEL: func.func @wrong_dimension
// CHECK: train.mul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.tanh {{.*}} : tensor<4x4xf32>
func.func @wrong_dimension(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %eps = train.constant dense<1.0e-5> : tensor<4xf32>
  %m = train.reduce_mean %x {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %mb = train.broadcast %m {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %c = train.sub %x, %mb : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = train.square %c : tensor<4x4xf32>
  %v = train.reduce_mean %s {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %e = train.add %v, %eps : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = train.rsqrt %e : tensor<4xf32>
  %rb = train.broadcast %r {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %n = train.mul %c, %rb : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = train.tanh %n : tensor<4x4xf32>
  %y = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// The variance of rows, but broadcast as for columns. There is no remark.
// CHECK-LABEL: func.func @aligned_at_the_end
// CHECK: train.tanh {{.*}} : tensor<4x4xf32>
func.func @aligned_at_the_end(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %eps = train.constant dense<1.0e-5> : tensor<f32>
  %s = train.square %x : tensor<4x4xf32>
  %v = train.reduce_mean %s {dims = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %e = train.add %v, %eps : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = train.rsqrt %e : tensor<4xf32>
  %n = train.mul %x, %r : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %a = train.tanh %n : tensor<4x4xf32>
  %y = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
