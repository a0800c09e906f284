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
