// Which casts fold: those that are exact, and those of constants. Collectives of
// constants fold too.
//
// RUN: amp-opt %s --canonicalize | FileCheck %s

// Widening is exact, so narrowing back gives the same value, whoever wrote it.
// CHECK-LABEL: func.func @widen_narrow(
// CHECK-SAME: %[[H:.*]]: tensor<?x8xf16>, %[[B:.*]]: tensor<4xbf16>, %[[F:.*]]: tensor<f32>
// CHECK-NEXT: return %[[H]], %[[H]], %[[B]], %[[F]]
func.func @widen_narrow(%h: tensor<?x8xf16>, %b: tensor<4xbf16>, %f: tensor<f32>)
    -> (tensor<?x8xf16>, tensor<?x8xf16>, tensor<4xbf16>, tensor<f32>) {
  %h32 = amp.cast %h : tensor<?x8xf16> to tensor<?x8xf32>
  %h16 = amp.cast %h32 inserted : tensor<?x8xf32> to tensor<?x8xf16>
  %h64 = amp.cast %h inserted : tensor<?x8xf16> to tensor<?x8xf64>
  %i16 = amp.cast %h64 : tensor<?x8xf64> to tensor<?x8xf16>
  %b32 = amp.cast %b : tensor<4xbf16> to tensor<4xf32>
  %b16 = amp.cast %b32 : tensor<4xf32> to tensor<4xbf16>
  %f64 = amp.cast %f : tensor<f32> to tensor<f64>
  %f32 = amp.cast %f64 : tensor<f64> to tensor<f32>
  return %h16, %i16, %b16, %f32 : tensor<?x8xf16>, tensor<?x8xf16>, tensor<4xbf16>, tensor<f32>
}

// Narrowing rounds, and stays, even if a pass inserted both casts.
// CHECK-LABEL: func.func @narrow_widen(
// CHECK: %[[A:.*]] = amp.cast %{{.*}} : tensor<4xf32> to tensor<4xf16>
// CHECK: %[[B:.*]] = amp.cast %[[A]] : tensor<4xf16> to tensor<4xf32>
// CHECK: %[[C:.*]] = amp.cast %{{.*}} inserted : tensor<4xf32> to tensor<4xbf16>
// CHECK: %[[D:.*]] = amp.cast %[[C]] inserted : tensor<4xbf16> to tensor<4xf32>
// CHECK: return %[[B]], %[[D]]
func.func @narrow_widen(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = amp.cast %x : tensor<4xf32> to tensor<4xf16>
  %b = amp.cast %a : tensor<4xf16> to tensor<4xf32>
  %c = amp.cast %x inserted : tensor<4xf32> to tensor<4xbf16>
  %d = amp.cast %c inserted : tensor<4xbf16> to tensor<4xf32>
  return %b, %d : tensor<4xf32>, tensor<4xf32>
}

// bf16 holds neither the digits of f16 nor f16 the range of bf16.
// CHECK-LABEL: func.func @between_low_types(
// CHECK: amp.cast %{{.*}} : tensor<4xf16> to tensor<4xbf16>
// CHECK: amp.cast %{{.*}} : tensor<4xbf16> to tensor<4xf16>
// CHECK: amp.cast %{{.*}} : tensor<4xbf16> to tensor<4xf16>
// CHECK: amp.cast %{{.*}} : tensor<4xf16> to tensor<4xbf16>
func.func @between_low_types(%h: tensor<4xf16>, %b: tensor<4xbf16>) -> (tensor<4xf16>, tensor<4xbf16>) {
  %a = amp.cast %h : tensor<4xf16> to tensor<4xbf16>
  %c = amp.cast %a : tensor<4xbf16> to tensor<4xf16>
  %d = amp.cast %b : tensor<4xbf16> to tensor<4xf16>
  %e = amp.cast %d : tensor<4xf16> to tensor<4xbf16>
  return %c, %e : tensor<4xf16>, tensor<4xbf16>
}

// f64 to f16 by way of f32 rounds twice: not the same as once.
// CHECK-LABEL: func.func @narrow_narrow(
// CHECK: amp.cast %{{.*}} : tensor<4xf64> to tensor<4xf32>
// CHECK: amp.cast %{{.*}} : tensor<4xf32> to tensor<4xf16>
func.func @narrow_narrow(%x: tensor<4xf64>) -> tensor<4xf16> {
  %a = amp.cast %x : tensor<4xf64> to tensor<4xf32>
  %b = amp.cast %a : tensor<4xf32> to tensor<4xf16>
  return %b : tensor<4xf16>
}

// Ties to even, overflow to infinity, subnormals kept, signs of zeros and NaN
// kept: 2049, 2051, 65519, 65520, 2^-24, 2^-25, -0, inf, NaN. And f64 rounds to
// f16 once: by way of f32, 1 + 2^-11 + 2^-40 would become 1.
// CHECK-LABEL: func.func @constants(
// CHECK-DAG: %[[H:.*]] = train.constant dense<[2.048000e+03, 2.052000e+03, 6.550400e+04, 0x7C00, 5.960460e-08, 0.000000e+00, -0.000000e+00, 0x7C00, 0x7E00]> : tensor<9xf16>
// CHECK-DAG: %[[S:.*]] = train.constant dense<1.000980e+00> : tensor<4x8xf16>
// CHECK-DAG: %[[A:.*]] = arith.constant dense<3.320310e-01> : tensor<2xbf16>
// CHECK-NOT: amp.cast
// CHECK: return %[[H]], %[[S]], %[[A]]
func.func @constants() -> (tensor<9xf16>, tensor<4x8xf16>, tensor<2xbf16>) {
  %c = train.constant dense<[2049.0, 2051.0, 65519.0, 65520.0, 5.9604644775390625e-08, 2.98023223876953125e-08, -0.0, 0x7F800000, 0x7FC00000]> : tensor<9xf32>
  %s = train.constant dense<1.0004882812509> : tensor<4x8xf64>
  %a = arith.constant dense<0.333> : tensor<2xf32>
  %ch = amp.cast %c : tensor<9xf32> to tensor<9xf16>
  %sh = amp.cast %s inserted : tensor<4x8xf64> to tensor<4x8xf16>
  %ab = amp.cast %a : tensor<2xf32> to tensor<2xbf16>
  return %ch, %sh, %ab : tensor<9xf16>, tensor<4x8xf16>, tensor<2xbf16>
}

// The seed is opaque, and so is what scaling does to it.
// CHECK-LABEL: func.func @seed(
// CHECK: amp.gradient_seed "a"
// CHECK: amp.gradient_seed "b"
// CHECK: amp.scale
func.func @seed(%s: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %a = amp.gradient_seed "a" : tensor<f32>
  %b = amp.gradient_seed "b" : tensor<f32>
  %c = amp.scale %b by %s : tensor<f32>
  return %a, %c : tensor<f32>, tensor<f32>
}

// All ranks have the same constants, so no rank asks the others for a maximum or a conjunction. The
// sum of a constant depends on the number of ranks.
// CHECK-LABEL: func.func @all_reduce(
// CHECK-DAG: %[[F:.*]] = arith.constant dense<false> : tensor<i1>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[S:.*]] = amp.all_reduce sum %[[C]]
// CHECK-DAG: %[[M:.*]]:2 = amp.all_reduce max %[[C]], %{{.*}}
// CHECK: return %[[F]], %[[C]], %[[S]], %[[M]]#0, %[[M]]#1
func.func @all_reduce(%x: tensor<2xf32>) -> (tensor<i1>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %false = arith.constant dense<false> : tensor<i1>
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = amp.all_reduce and %false : tensor<i1>
  %1 = amp.all_reduce max %c : tensor<2xf32>
  %2 = amp.all_reduce sum %c : tensor<2xf32>
  %3:2 = amp.all_reduce max %c, %x : tensor<2xf32>, tensor<2xf32>
  return %0, %1, %2, %3#0, %3#1 : tensor<i1>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
