// The strategy `autocast` rounds as the kernels of PyTorch do: once for each
// operation of the source, and never a number of the source.
//
// RUN: amp-opt %s --auto-mixed-precision="policy=pytorch-cpu" > %t.once
// RUN: FileCheck %s < %t.once
//
// A second run changes nothing, and the casts can be removed again.
// RUN: amp-opt %t.once --auto-mixed-precision="policy=pytorch-cpu" | diff %t.once -
// RUN: amp-opt %t.once --amp-strip-precision | FileCheck %s --check-prefix=STRIP
//
// The strategy `optimal` ignores composites.
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16" | FileCheck %s --check-prefix=OPTIMAL

// bf16 has no 0.3, so the product with it is f32.
// CHECK-LABEL: func.func @number
// CHECK: %[[N:.*]] = train.constant dense<3.000000e-01> : tensor<f32>
// CHECK: %[[P:.*]] = train.matmul
// CHECK: %[[WIDE:.*]] = amp.cast %[[P]] inserted : tensor<4x4xbf16> to tensor<4x4xf32>
// CHECK: %[[M:.*]] = train.mul %[[WIDE]], %[[N]] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
// CHECK: %[[R:.*]] = amp.cast %[[M]] inserted : tensor<4x4xf32> to tensor<4x4xbf16>
// CHECK: train.mul %[[R]], %{{.*}} : (tensor<4x4xbf16>, tensor<bf16>) -> tensor<4x4xbf16>
// STRIP-LABEL: func.func @number
// STRIP-NOT: bf16
func.func @number(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %n = train.constant dense<0.3> : tensor<f32>
  %h = train.constant dense<0.5> : tensor<f32>
  %0 = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.mul %0, %n : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.mul %1, %h : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %3 = train.matmul %2, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// The square is f32 inside, also an exponential, which has the list `deny` in
// other policies. All parts share the cast of the operand.
// CHECK-LABEL: func.func @composite
// CHECK: %[[P:.*]] = train.matmul {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[WIDE:.*]] = amp.cast %[[P]] inserted
// CHECK: %[[S:.*]] = train.square %[[WIDE]] {amp.composite = 0 : i64} : tensor<4x4xf32>
// CHECK: %[[M:.*]] = train.mul %[[S]], %[[WIDE]] {amp.composite = 0 : i64} : {{.*}} -> tensor<4x4xf32>
// CHECK: %[[R:.*]] = amp.cast %[[M]] inserted : tensor<4x4xf32> to tensor<4x4xbf16>
// CHECK: train.matmul %[[R]]
// STRIP-LABEL: func.func @composite
// STRIP-NOT: bf16
// OPTIMAL-LABEL: func.func @composite
// OPTIMAL: train.mul {{.*}} -> tensor<4x4xbf16>
func.func @composite(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.square %0 {amp.composite = 0 : i64} : tensor<4x4xf32>
  %2 = train.mul %1, %0 {amp.composite = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.matmul %2, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// A convolution rounds its sum with the bias, which is low as its other operands.
// CHECK-LABEL: func.func @bias
// CHECK: %[[C:.*]] = train.conv2d {{.*}} : (tensor<1x4x4x2xbf16>, tensor<1x1x2x3xbf16>) -> tensor<1x4x4x3xf32>
// CHECK: %[[B:.*]] = amp.cast %arg2 inserted : tensor<3xf32> to tensor<3xbf16>
// CHECK: %[[WB:.*]] = amp.cast %[[B]] inserted : tensor<3xbf16> to tensor<3xf32>
// CHECK: %[[S:.*]] = train.add %[[C]], %[[WB]] {amp.composite = 7 : i64} : {{.*}} -> tensor<1x4x4x3xf32>
// CHECK: %[[R:.*]] = amp.cast %[[S]] inserted : tensor<1x4x4x3xf32> to tensor<1x4x4x3xbf16>
// CHECK: train.relu %[[R]] : tensor<1x4x4x3xbf16>
func.func @bias(%x: tensor<1x4x4x2xf32>, %f: tensor<1x1x2x3xf32>, %b: tensor<3xf32>) -> tensor<1x4x4x3xf32> {
  %0 = train.conv2d %x, %f {amp.composite = 7 : i64} : (tensor<1x4x4x2xf32>, tensor<1x1x2x3xf32>) -> tensor<1x4x4x3xf32>
  %1 = train.add %0, %b {amp.composite = 7 : i64} : (tensor<1x4x4x3xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  %2 = train.relu %1 : tensor<1x4x4x3xf32>
  return %2 : tensor<1x4x4x3xf32>
}

// One f32 operand makes the whole composite f32, without a rounding between.
// CHECK-LABEL: func.func @widest
// CHECK: %[[M:.*]] = train.mul {{.*}} {amp.composite = 1 : i64} : {{.*}} -> tensor<4x4xf32>
// CHECK: train.add %{{.*}}, %[[M]] {amp.composite = 1 : i64} : {{.*}} -> tensor<4x4xf32>
func.func @widest(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.mul %0, %0 {amp.composite = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.add %a, %1 {amp.composite = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
