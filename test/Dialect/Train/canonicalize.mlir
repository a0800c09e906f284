// Folds, and cases that must not fold: NaN, infinities, signed zeros and
// rounding decide.
//
// RUN: amp-opt %s --canonicalize | FileCheck %s

//===----------------------------------------------------------------------===//
// Elementwise arithmetic
//===----------------------------------------------------------------------===//

// x + -0 is x for every x, -0 included; x + 0 turns -0 into 0.
// CHECK-LABEL: func.func @add_negative_zero(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf16>
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @add_negative_zero(%x: tensor<?x8xf16>) -> (tensor<?x8xf16>, tensor<?x8xf16>) {
  %z = train.constant dense<-0.0> : tensor<f16>
  %l = train.add %z, %x : (tensor<f16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %r = train.add %x, %z : (tensor<?x8xf16>, tensor<f16>) -> tensor<?x8xf16>
  return %l, %r : tensor<?x8xf16>, tensor<?x8xf16>
}

// CHECK-LABEL: func.func @add_zero(
// CHECK: %[[S:.*]] = train.add
// CHECK-NEXT: return %[[S]]
func.func @add_zero(%x: tensor<8xf32>) -> tensor<8xf32> {
  %z = train.constant dense<0.0> : tensor<f32>
  %r = train.add %x, %z : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// x - 0 is x for every x; x - -0 turns -0 into 0, 0 - x does not negate 0.
// CHECK-LABEL: func.func @sub_zero(
// CHECK-SAME: %[[X:.*]]: tensor<8xbf16>
// CHECK-NOT: train.sub
// CHECK: return %[[X]]
func.func @sub_zero(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %z = train.constant dense<0.0> : tensor<8xbf16>
  %r = train.sub %x, %z : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<8xbf16>
  return %r : tensor<8xbf16>
}

// CHECK-LABEL: func.func @sub_negative_zero(
// CHECK: %[[A:.*]] = train.sub
// CHECK: %[[B:.*]] = train.sub
// CHECK: %[[C:.*]] = train.sub
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @sub_negative_zero(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %p = train.constant dense<0.0> : tensor<f32>
  %n = train.constant dense<-0.0> : tensor<f32>
  %a = train.sub %x, %n : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = train.sub %p, %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  // inf - inf and NaN - NaN are not 0.
  %c = train.sub %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @mul_div_one(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]]
func.func @mul_div_one(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %one = train.constant dense<1.0> : tensor<f32>
  %a = train.mul %x, %one : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %b = train.mul %one, %x : (tensor<f32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %c = train.div %x, %one : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  return %a, %b, %c : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// NaN · 0 and inf · 0 are NaN; -1 · 0 is -0; 0 / 0 is NaN.
// CHECK-LABEL: func.func @mul_zero(
// CHECK: %[[A:.*]] = train.mul
// CHECK: %[[B:.*]] = train.div
// CHECK: %[[C:.*]] = train.div
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @mul_zero(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %z = train.constant dense<0.0> : tensor<f32>
  %one = train.constant dense<1.0> : tensor<f32>
  %a = train.mul %x, %z : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = train.div %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %c = train.div %one, %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  return %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A neutral element that broadcasts the other operand stays.
// CHECK-LABEL: func.func @broadcasting_identities(
// CHECK: %[[A:.*]] = train.add
// CHECK: %[[B:.*]] = train.mul
// CHECK: %[[C:.*]] = train.div
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @broadcasting_identities(%x: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>) {
  %z = train.constant dense<-0.0> : tensor<4x8xf32>
  %one = train.constant dense<1.0> : tensor<1x1xf32>
  %ones = train.constant dense<1.0> : tensor<2x1xf32>
  %a = train.add %x, %z : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = train.mul %x, %one : (tensor<8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %c = train.div %x, %ones : (tensor<8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  return %a, %b, %c : tensor<4x8xf32>, tensor<1x8xf32>, tensor<2x8xf32>
}

// CHECK-LABEL: func.func @not_quite_one(
// CHECK: %[[A:.*]] = train.mul
// CHECK: %[[B:.*]] = train.mul
// CHECK: return %[[A]], %[[B]]
func.func @not_quite_one(%x: tensor<2xf16>) -> (tensor<2xf16>, tensor<2xf16>) {
  %almost = train.constant dense<1.00098> : tensor<2xf16>
  %mixed = train.constant dense<[1.0, 2.0]> : tensor<2xf16>
  %a = train.mul %x, %almost : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %b = train.mul %x, %mixed : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  return %a, %b : tensor<2xf16>, tensor<2xf16>
}

// CHECK-LABEL: func.func @neg_neg(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK-NEXT: return %[[X]]
func.func @neg_neg(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = train.neg %x : tensor<?xf32>
  %b = train.neg %a : tensor<?xf32>
  return %b : tensor<?xf32>
}

// One constant per value.
// CHECK-LABEL: func.func @constants(
// CHECK-NEXT: %[[C:.*]] = train.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: train.add %{{.*}}, %[[C]]
// CHECK-NEXT: train.mul %{{.*}}, %[[C]]
// CHECK-NEXT: return
func.func @constants(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = train.constant dense<2.0> : tensor<f32>
  %s = train.add %x, %a : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %b = train.constant dense<2.0> : tensor<f32>
  %p = train.mul %s, %b : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %unused = train.constant dense<3.0> : tensor<f32>
  return %p : tensor<8xf32>
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @transpose_pair(
// CHECK-SAME: %[[X:.*]]: tensor<?x3x4xf32>
// CHECK-NEXT: return %[[X]], %[[X]]
func.func @transpose_pair(%x: tensor<?x3x4xf32>) -> (tensor<?x3x4xf32>, tensor<?x3x4xf32>) {
  %a = train.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<?x3x4xf32>) -> tensor<4x?x3xf32>
  %b = train.transpose %a {permutation = array<i64: 1, 2, 0>} : (tensor<4x?x3xf32>) -> tensor<?x3x4xf32>
  %c = train.transpose %x {permutation = array<i64: 0, 1, 2>} : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  return %b, %c : tensor<?x3x4xf32>, tensor<?x3x4xf32>
}

// The same rotation twice is another rotation, although the shapes agree.
// CHECK-LABEL: func.func @transpose_twice(
// CHECK: train.transpose
// CHECK: train.transpose
// CHECK: return
func.func @transpose_twice(%x: tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {
  %a = train.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  %b = train.transpose %a {permutation = array<i64: 2, 0, 1>} : (tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  return %b : tensor<4x4x4xf32>
}

// CHECK-LABEL: func.func @reshape_chain(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[Y:.*]]: tensor<?x64xf32>
// CHECK-NEXT: %[[A:.*]] = train.reshape %[[X]] : (tensor<4x6xf32>) -> tensor<24xf32>
// CHECK-NEXT: %[[B:.*]] = train.reshape %[[Y]] : (tensor<?x64xf32>) -> tensor<?x4x16xf32>
// CHECK-NEXT: return %[[A]], %[[X]], %[[B]], %[[Y]], %[[Y]]
func.func @reshape_chain(%x: tensor<4x6xf32>, %y: tensor<?x64xf32>)
    -> (tensor<24xf32>, tensor<4x6xf32>, tensor<?x4x16xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %a = train.reshape %x : (tensor<4x6xf32>) -> tensor<2x12xf32>
  %b = train.reshape %a : (tensor<2x12xf32>) -> tensor<24xf32>
  %c = train.reshape %a : (tensor<2x12xf32>) -> tensor<4x6xf32>
  %d = train.reshape %y : (tensor<?x64xf32>) -> tensor<?x8x8x1xf32>
  %e = train.reshape %d : (tensor<?x8x8x1xf32>) -> tensor<?x4x16xf32>
  %f = train.reshape %d : (tensor<?x8x8x1xf32>) -> tensor<?x64xf32>
  %g = train.reshape %y : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %b, %c, %e, %f, %g : tensor<24xf32>, tensor<4x6xf32>, tensor<?x4x16xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

// ?x6 to ?x4 in one step could not be verified.
// CHECK-LABEL: func.func @reshape_through_divisor(
// CHECK: train.reshape %{{.*}} -> tensor<?x2xf32>
// CHECK: train.reshape %{{.*}} -> tensor<?x4xf32>
func.func @reshape_through_divisor(%x: tensor<?x6xf32>) -> tensor<?x4xf32> {
  %a = train.reshape %x : (tensor<?x6xf32>) -> tensor<?x2xf32>
  %b = train.reshape %a : (tensor<?x2xf32>) -> tensor<?x4xf32>
  return %b : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @broadcast_like_static(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[S:.*]]: tensor<4x8xf32>, %[[D:.*]]: tensor<?x8xf32>
// CHECK-NEXT: %[[A:.*]] = train.broadcast %[[X]] {dims = array<i64: 0>, mean} : (tensor<8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[B:.*]] = train.broadcast %[[X]] like %[[D]] {dims = array<i64: 0>} : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @broadcast_like_static(%x: tensor<8xf32>, %s: tensor<4x8xf32>, %d: tensor<?x8xf32>) -> (tensor<4x8xf32>, tensor<?x8xf32>) {
  %a = train.broadcast %x like %s {dims = array<i64: 0>, mean} : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = train.broadcast %x like %d {dims = array<i64: 0>} : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @dropout(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf16>, %[[RNG:.*]]: tensor<2xi64>
// CHECK-NEXT: %[[A:.*]] = train.dropout %[[X]], %[[RNG]] {rate = 5.000000e-01 : f64}
// CHECK-NEXT: return %[[X]], %[[A]]
func.func @dropout(%x: tensor<?x8xf16>, %rng: tensor<2xi64>) -> (tensor<?x8xf16>, tensor<?x8xf16>) {
  %a = train.dropout %x, %rng {rate = 0.0 : f64} : (tensor<?x8xf16>, tensor<2xi64>) -> tensor<?x8xf16>
  %b = train.dropout %x, %rng {rate = 0.5 : f64} : (tensor<?x8xf16>, tensor<2xi64>) -> tensor<?x8xf16>
  return %a, %b : tensor<?x8xf16>, tensor<?x8xf16>
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

// Of two constants that are one number each. NaN equals nothing.
// CHECK-LABEL: func.func @compare_constants(
// CHECK-DAG: %[[T:.*]] = train.constant dense<true> : tensor<2xi1>
// CHECK-DAG: %[[F:.*]] = train.constant dense<false> : tensor<2xi1>
// CHECK: return %[[T]], %[[F]], %[[F]], %[[T]]
func.func @compare_constants() -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
  %one = train.constant dense<1.0> : tensor<2xf32>
  %two = train.constant dense<2.0> : tensor<f32>
  %nan = train.constant dense<0x7FC00000> : tensor<f32>
  %i = train.constant dense<-1> : tensor<2xi32>
  %j = train.constant dense<1> : tensor<i32>
  %0 = train.compare lt, %one, %two : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
  %1 = train.compare ge, %one, %two : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
  %2 = train.compare eq, %one, %nan : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
  %3 = train.compare lt, %i, %j : (tensor<2xi32>, tensor<i32>) -> tensor<2xi1>
  return %0, %1, %2, %3 : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
}
