// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions by plans of cuDNN, and those that stay products.
//
// RUN: amp-opt %s --convert-train-to-cuda=convolutions=cudnn --split-input-file | FileCheck %s
// RUN: amp-opt %s --convert-train-to-cuda="convolutions=cudnn deterministic=false" --split-input-file | FileCheck %s --check-prefix=FAST
// RUN: amp-opt %s --convert-train-to-cuda="convolutions=cudnn strict-rounding" --split-input-file | FileCheck %s --check-prefix=STRICT
// RUN: amp-opt %s --convert-train-to-cuda="convolutions=cudnn epilogues=false" --split-input-file | FileCheck %s --check-prefix=APART
// RUN: amp-opt %s --convert-train-to-cuda=convolutions=patches --split-input-file | FileCheck %s --check-prefix=PATCHES
// RUN: amp-opt %s --convert-train-to-cuda=convolutions=cudnn --split-input-file --remarks-filter=amp 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not amp-opt %s --convert-train-to-cuda=convolutions=fast --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG
// FAST-NOT: deterministic
// PATCHES-NOT: cuda.conv_plan
// WRONG: error: 'func.func' op cannot be lowered with convolutions 'fast', expected auto, cudnn or patches

// One transpose of the filter serves both directions, and the gradient of the
// filter gets the layout of the step.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<2x9x9x16xbf16> {{.*}}, %[[W:.*]]: tensor<3x3x16x8xbf16> {{.*}}, %[[DY:.*]]: tensor<2x5x5x8xbf16>
// CHECK: %[[F:.*]] = cuda.kernel named "transpose_conv2d"
// CHECK: ins(%[[W]] : {{.*}} -> tensor<8x3x3x16xbf16>
// CHECK: %[[Y:.*]] = cuda.conv_plan <forward> named "c" ins(%[[X]], %[[F]] : {{.*}}) {padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} -> tensor<2x5x5x8xbf16>
// CHECK: %[[DX:.*]] = cuda.conv_plan <input_grad> named "c_input_grad" ins(%[[DY]], %[[F]] : {{.*}}) {{{.*}}deterministic{{.*}}} -> tensor<2x9x9x16xbf16>
// CHECK: %[[DF:.*]] = cuda.conv_plan <filter_grad> named "c_weight_grad" ins(%[[X]], %[[DY]] : {{.*}}) {{{.*}}deterministic{{.*}}} -> tensor<8x3x3x16xbf16>
// CHECK: cuda.kernel named "transpose_conv2d_filter_grad"
// CHECK: ins(%[[DF]] : {{.*}} -> tensor<3x3x16x8xbf16>
func.func @step(%x: tensor<2x9x9x16xbf16> {amp.role = "batch", amp.name = "x"},
                %w: tensor<3x3x16x8xbf16> {amp.role = "parameter", amp.name = "c.weight"},
                %dy: tensor<2x5x5x8xbf16> {amp.role = "batch", amp.name = "dy"})
    -> (tensor<2x5x5x8xbf16> {amp.prediction = "y"}, tensor<2x9x9x16xbf16> {amp.prediction = "dx"},
        tensor<3x3x16x8xbf16> {amp.prediction = "dw"}) {
  %y = train.conv2d %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
      : (tensor<2x9x9x16xbf16>, tensor<3x3x16x8xbf16>) -> tensor<2x5x5x8xbf16>
  %dx = train.conv2d_input_grad %dy, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, amp.backward_of = 1}
      : (tensor<2x5x5x8xbf16>, tensor<3x3x16x8xbf16>) -> tensor<2x9x9x16xbf16>
  %dw = train.conv2d_filter_grad %x, %dy {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, amp.gradient_of = ["c.weight"]}
      : (tensor<2x9x9x16xbf16>, tensor<2x5x5x8xbf16>) -> tensor<3x3x16x8xbf16>
  return %y, %dx, %dw : tensor<2x5x5x8xbf16>, tensor<2x9x9x16xbf16>, tensor<3x3x16x8xbf16>
}

// -----

// A bias and a relu. Strict rounding keeps the bias apart, which rounds the
// convolution, and both stay apart without epilogues.
// CHECK-LABEL: func.func @epilogue
// CHECK: cuda.conv_plan <forward> {{.*}}ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}, tensor<8xf16>) {activation = #cuda.activation<relu>, bias} -> tensor<2x7x7x8xf16>
// CHECK-NOT: cuda.kernel {{.*}}relu
// STRICT-LABEL: func.func @epilogue
// STRICT: cuda.conv_plan <forward> {{.*}} -> tensor<2x7x7x8xf16>
// STRICT: cuda.kernel named "add_relu"
// APART-LABEL: func.func @epilogue
// APART: cuda.conv_plan <forward> {{.*}}ins(%{{.*}}, %{{.*}} : {{.*}}) -> tensor<2x7x7x8xf16>
func.func @epilogue(%x: tensor<2x9x9x16xf16> {amp.role = "batch", amp.name = "x"},
                    %w: tensor<3x3x16x8xf16> {amp.role = "parameter", amp.name = "c.weight"},
                    %b: tensor<8xf16> {amp.role = "parameter", amp.name = "c.bias"})
    -> (tensor<2x7x7x8xf16> {amp.prediction = "y"}) {
  %0 = train.conv2d %x, %w : (tensor<2x9x9x16xf16>, tensor<3x3x16x8xf16>) -> tensor<2x7x7x8xf16>
  %1 = train.add %0, %b : (tensor<2x7x7x8xf16>, tensor<8xf16>) -> tensor<2x7x7x8xf16>
  %2 = train.relu %1 : tensor<2x7x7x8xf16>
  return %2 : tensor<2x7x7x8xf16>
}

// -----

// Three channels take no bias.
// CHECK-LABEL: func.func @few_channels
// CHECK: cuda.conv_plan <forward> {{.*}}ins(%{{.*}}, %{{.*}} : {{.*}}) -> tensor<2x7x7x8xf16>
// CHECK: cuda.kernel named "add"
func.func @few_channels(%x: tensor<2x9x9x3xf16> {amp.role = "batch", amp.name = "x"},
                        %w: tensor<3x3x3x8xf16> {amp.role = "parameter", amp.name = "c.weight"},
                        %b: tensor<8xf16> {amp.role = "parameter", amp.name = "c.bias"})
    -> (tensor<2x7x7x8xf16> {amp.prediction = "y"}) {
  %0 = train.conv2d %x, %w : (tensor<2x9x9x3xf16>, tensor<3x3x3x8xf16>) -> tensor<2x7x7x8xf16>
  %1 = train.add %0, %b : (tensor<2x7x7x8xf16>, tensor<8xf16>) -> tensor<2x7x7x8xf16>
  return %1 : tensor<2x7x7x8xf16>
}

// -----

// A pointwise convolution is a product, with and without plans.
// CHECK-LABEL: func.func @pointwise
// CHECK: cuda.gemm
// CHECK-NOT: cuda.conv
func.func @pointwise(%x: tensor<2x9x9x16xf16> {amp.role = "batch", amp.name = "x"},
                     %w: tensor<1x1x16x8xf16> {amp.role = "parameter", amp.name = "c.weight"})
    -> (tensor<2x9x9x8xf16> {amp.prediction = "y"}) {
  %0 = train.conv2d %x, %w : (tensor<2x9x9x16xf16>, tensor<1x1x16x8xf16>) -> tensor<2x9x9x8xf16>
  return %0 : tensor<2x9x9x8xf16>
}

// -----

// What takes patches, and why.
// REMARK: ConvolutionByPatches | {{.*}}Op=train.conv2d, Reason="its operands are not of 16 bits"
// REMARK: ConvolutionByPatches | {{.*}}Op=train.conv2d_filter_grad, Reason="its result is wider than its operands"
// CHECK-LABEL: func.func @patches
// CHECK: cuda.conv <forward>
// CHECK: cuda.conv <filter_grad>
func.func @patches(%x: tensor<2x9x9x16xf32> {amp.role = "batch", amp.name = "x"},
                   %w: tensor<3x3x16x8xf32> {amp.role = "parameter", amp.name = "c.weight"},
                   %a: tensor<2x9x9x16xf16> {amp.role = "batch", amp.name = "a"},
                   %dy: tensor<2x7x7x8xf16> {amp.role = "batch", amp.name = "dy"})
    -> (tensor<2x7x7x8xf32> {amp.prediction = "y"}, tensor<3x3x16x8xf32> {amp.prediction = "dw"}) {
  %0 = train.conv2d %x, %w : (tensor<2x9x9x16xf32>, tensor<3x3x16x8xf32>) -> tensor<2x7x7x8xf32>
  %1 = train.conv2d_filter_grad %a, %dy : (tensor<2x9x9x16xf16>, tensor<2x7x7x8xf16>) -> tensor<3x3x16x8xf32>
  return %0, %1 : tensor<2x7x7x8xf32>, tensor<3x3x16x8xf32>
}
