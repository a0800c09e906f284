// TOSA: casts are tosa.cast, zero points follow their tensors, accumulators and
// the results of products stay f32, limits change type.
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --auto-mixed-precision=strategy=grappler | diff %t.once -
// RUN: mlir-opt %t.once --allow-unregistered-dialect -o /dev/null

// CHECK-LABEL: func.func @conv
// CHECK-NOT: amp.cast
// CHECK-DAG: %[[Z:.*]] = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf16>}>
// CHECK-DAG: %[[I:.*]] = tosa.cast %{{.*}} {amp.inserted} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf16>
// CHECK: %[[C:.*]] = tosa.conv2d %[[I]], %{{.*}}, %{{.*}}, %[[Z]], %[[Z]] {acc_type = f32, {{.*}} -> tensor<1x4x4x8xf16>
// CHECK: tosa.clamp %[[C]] {max_val = 6.000000e+00 : f16, min_val = 0.000000e+00 : f16}
// CHECK: tosa.reshape
// CHECK: %[[M:.*]] = tosa.matmul %{{.*}}, %{{.*}}, %[[Z]], %[[Z]] : ({{.*}}, tensor<1xf16>) -> tensor<1x16x16xf32>
// CHECK: tosa.exp %[[M]] : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
func.func @conv(%i: tensor<1x4x4x4xf32>, %w: tensor<8x1x1x4xf32>, %b: tensor<8xf32>, %m: tensor<1x8x16xf32>) -> tensor<1x16x16xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %i, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<8x1x1x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %s = tosa.const_shape {values = dense<[1, 16, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %2 = tosa.reshape %1, %s : (tensor<1x4x4x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %3 = tosa.matmul %2, %m, %z, %z : (tensor<1x16x8xf32>, tensor<1x8x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16xf32>
  %4 = tosa.exp %3 : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  return %4 : tensor<1x16x16xf32>
}

// A matmul between matmuls accumulates in f32 and is rounded once. A zero point
// that is also read in f32 is copied, because it must stay a constant.
// CHECK-LABEL: func.func @shared_zero_point
// CHECK-DAG: "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}>
// CHECK-DAG: %[[Z:.*]] = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf16>}>
// CHECK: %[[M:.*]] = tosa.matmul {{.*}} -> tensor<1x4x4xf32>
// CHECK-NEXT: tosa.cast %[[M]] {amp.inserted} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf16>
func.func @shared_zero_point(%a: tensor<1x4x4xf32>) -> (tensor<1x4x4xf32>, tensor<1xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %a, %a, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %1 = tosa.tanh %0 : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %2 = tosa.matmul %1, %1, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %2, %z : tensor<1x4x4xf32>, tensor<1xf32>
}
