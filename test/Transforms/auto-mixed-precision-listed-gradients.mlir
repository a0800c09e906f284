// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of parameters that `low-gradients` lists are low where their
// operands are. All others are f32.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --split-input-file | FileCheck %s --check-prefixes=CHECK,LISTED,CAST,UPDATE
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16 strategy=grappler" --split-input-file | FileCheck %s --check-prefixes=CHECK,LISTED
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16 strategy=autocast" --split-input-file | FileCheck %s --check-prefixes=CHECK,LISTED,CAST,UPDATE
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16 policy=%S/Inputs/gradients-f32.yaml" --split-input-file | FileCheck %s --check-prefixes=CHECK,F32,UPDATE
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16 policy=%S/Inputs/gradients-f32.yaml" --remarks-filter=amp --split-input-file 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --remarks-filter=amp --split-input-file 2>&1 | FileCheck %s --check-prefix=FREE
// KEPT: Op=train.conv2d_filter_grad, Reason="the gradient of a parameter, which 'gradient-type' keeps f32"
// FREE-NOT: Op=train.conv2d_filter_grad, Reason="the gradient of a parameter

// The update stays f32, apart from the rules of grappler, and reads the low
// gradient through a cast. The gradient of a matrix is f32.
// CHECK-LABEL: func.func @filter
// LISTED: %[[DF:.*]] = train.conv2d_filter_grad {{.*}}amp.gradient_of = ["f"]{{.*}} -> tensor<3x3x16x8xbf16>
// CAST: amp.cast %{{.*}} inserted : tensor<3x3x16x8xbf16> to tensor<3x3x16x8xf32>
// F32: train.conv2d_filter_grad {{.*}} : (tensor<2x9x9x16xbf16>, tensor<2x7x7x8xbf16>) -> tensor<3x3x16x8xf32>
// UPDATE: train.mul {{.*}} : (tensor<3x3x16x8xf32>, tensor<f32>) -> tensor<3x3x16x8xf32>
// CHECK: train.matmul {{.*}} -> tensor<4x4xf32>
func.func @filter(%x: tensor<2x9x9x16xf32>, %dy: tensor<2x7x7x8xf32>, %a: tensor<4x4xf32>, %rate: tensor<f32>)
    -> (tensor<3x3x16x8xf32>, tensor<4x4xf32>) {
  %0 = train.conv2d_filter_grad %x, %dy {amp.gradient_of = ["f"]} : (tensor<2x9x9x16xf32>, tensor<2x7x7x8xf32>) -> tensor<3x3x16x8xf32>
  %1 = train.mul %0, %rate : (tensor<3x3x16x8xf32>, tensor<f32>) -> tensor<3x3x16x8xf32>
  %2 = train.matmul %a, %a {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<3x3x16x8xf32>, tensor<4x4xf32>
}

// -----

// A pin makes operands and gradient f32. Operands that are not f32 leave the
// gradient as it is.
// CHECK-LABEL: func.func @pinned
// CHECK: train.conv2d_filter_grad {{.*}}amp.precision = "f32"{{.*}} : (tensor<2x9x9x16xf32>, tensor<2x7x7x8xf32>) -> tensor<3x3x16x8xf32>
// CHECK: train.conv2d_filter_grad {{.*}} : (tensor<2x9x9x16xf16>, tensor<2x7x7x8xf16>) -> tensor<3x3x16x8xf32>
func.func @pinned(%x: tensor<2x9x9x16xf32>, %dy: tensor<2x7x7x8xf32>, %a: tensor<2x9x9x16xf16>, %da: tensor<2x7x7x8xf16>)
    -> (tensor<3x3x16x8xf32>, tensor<3x3x16x8xf32>) {
  %0 = train.conv2d_filter_grad %x, %dy {amp.gradient_of = ["f"], amp.precision = "f32"}
      : (tensor<2x9x9x16xf32>, tensor<2x7x7x8xf32>) -> tensor<3x3x16x8xf32>
  %1 = train.conv2d_filter_grad %a, %da {amp.gradient_of = ["g"]} : (tensor<2x9x9x16xf16>, tensor<2x7x7x8xf16>) -> tensor<3x3x16x8xf32>
  return %0, %1 : tensor<3x3x16x8xf32>, tensor<3x3x16x8xf32>
}

// -----

// The parameter has another layout than the gradient of the library. The
// operations that move the elements have the type of the gradient, and the
// update reads it through a cast.
// CHECK-LABEL: func.func @moved
// LISTED: %[[DF:.*]] = train.conv2d_filter_grad {{.*}} -> tensor<3x3x16x8xbf16>
// LISTED: %[[T:.*]] = train.transpose %[[DF]] {{.*}} : (tensor<3x3x16x8xbf16>) -> tensor<8x16x3x3xbf16>
// LISTED: %[[G:.*]] = train.reshape %[[T]] {{.*}}amp.gradient_of = ["f"]{{.*}} : (tensor<8x16x3x3xbf16>) -> tensor<8x144xbf16>
// CAST: amp.cast %[[G]] inserted : tensor<8x144xbf16> to tensor<8x144xf32>
// F32: train.conv2d_filter_grad {{.*}} -> tensor<3x3x16x8xf32>
// UPDATE: train.mul {{.*}} : (tensor<8x144xf32>, tensor<f32>) -> tensor<8x144xf32>
func.func @moved(%x: tensor<2x9x9x16xf32>, %dy: tensor<2x7x7x8xf32>, %rate: tensor<f32>) -> tensor<8x144xf32> {
  %0 = train.conv2d_filter_grad %x, %dy : (tensor<2x9x9x16xf32>, tensor<2x7x7x8xf32>) -> tensor<3x3x16x8xf32>
  %1 = train.transpose %0 {permutation = array<i64: 3, 2, 0, 1>} : (tensor<3x3x16x8xf32>) -> tensor<8x16x3x3xf32>
  %2 = train.reshape %1 {amp.gradient_of = ["f"]} : (tensor<8x16x3x3xf32>) -> tensor<8x144xf32>
  %3 = train.mul %2, %rate : (tensor<8x144xf32>, tensor<f32>) -> tensor<8x144xf32>
  return %3 : tensor<8x144xf32>
}

// -----

// A sum of gradients is f32, and so is the gradient of a matrix in another
// layout, while its elements move too.
// CHECK-LABEL: func.func @not_moved
// CHECK: train.add {{.*}} -> tensor<3x3x16x8xf32>
// CHECK: train.transpose {{.*}} -> tensor<4x4xf32>
// CHECK: train.reshape {{.*}} -> tensor<16xf32>
func.func @not_moved(%x: tensor<2x9x9x16xf32>, %dy: tensor<2x7x7x8xf32>, %a: tensor<4x4xf32>)
    -> (tensor<3x3x16x8xf32>, tensor<16xf32>) {
  %0 = train.conv2d_filter_grad %x, %dy : (tensor<2x9x9x16xf32>, tensor<2x7x7x8xf32>) -> tensor<3x3x16x8xf32>
  %2 = train.add %0, %0 {amp.gradient_of = ["f"]} : (tensor<3x3x16x8xf32>, tensor<3x3x16x8xf32>) -> tensor<3x3x16x8xf32>
  %3 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = train.transpose %3 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = train.reshape %4 {amp.gradient_of = ["w"]} : (tensor<4x4xf32>) -> tensor<16xf32>
  return %2, %5 : tensor<3x3x16x8xf32>, tensor<16xf32>
}
