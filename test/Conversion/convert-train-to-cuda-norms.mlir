// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batch norms take a residual, a relu and its gradient.
//
// RUN: amp-opt %s --convert-train-to-cuda --split-input-file | FileCheck %s
// RUN: amp-opt %s --convert-train-to-cuda=strict-rounding --split-input-file | FileCheck %s --check-prefix=STRICT
// RUN: amp-opt %s --convert-train-to-cuda=epilogues=false --split-input-file | FileCheck %s --check-prefix=PLAIN

// The relu keeps a mask, which its gradient reads.
// CHECK-LABEL: func.func @relu
// CHECK: %[[Y:.*]]:6 = cuda.batch_norm_relu {{.*}}ins(%arg0, %arg2, %arg2, %arg3, %arg3 :
// CHECK: cuda.batch_norm_relu_grad {{.*}}ins(%arg1, %[[Y]]#5, %arg0, %arg2, %[[Y]]#1, %[[Y]]#2 :
// CHECK-NOT: cuda.kernel
// CHECK: return
// STRICT-LABEL: func.func @relu
// STRICT: cuda.batch_norm_relu
// STRICT: cuda.batch_norm_relu_grad
// PLAIN-LABEL: func.func @relu
// PLAIN: cuda.batch_norm_training
// PLAIN: cuda.batch_norm_grad
func.func @relu(%x: tensor<4x3x16xbf16> {amp.role = "batch", amp.name = "x"}, %r: tensor<4x3x16xbf16> {amp.role = "batch", amp.name = "r"},
               %g: tensor<16xf32> {amp.role = "parameter", amp.name = "g"}, %m: tensor<16xf32> {amp.role = "parameter", amp.name = "m"})
    -> (tensor<4x3x16xbf16> {amp.prediction = "y"}, tensor<4x3x16xbf16> {amp.prediction = "dx"}) {
  %0:5 = train.batch_norm_training %x, %g, %g, %m, %m : (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  %1 = train.relu %0#0 : tensor<4x3x16xbf16>
  %2 = train.relu_grad %1, %r : tensor<4x3x16xbf16>
  %3:3 = train.batch_norm_grad %2, %x, %g, %0#1, %0#2 : (tensor<4x3x16xbf16>, tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>)
  return %1, %3#0 : tensor<4x3x16xbf16>, tensor<4x3x16xbf16>
}

// -----

// The gradient of the relu is also the gradient of the residual. Rounding the norm
// before the sum is skipped, which strict rounding does not do.
// CHECK-LABEL: func.func @add_relu
// CHECK: %[[Y:.*]]:6 = cuda.batch_norm_add_relu {{.*}}ins(%arg0, %arg2, %arg2, %arg3, %arg3, %arg1 :
// CHECK: %[[D:.*]]:4 = cuda.batch_norm_add_relu_grad {{.*}}ins(%arg1, %[[Y]]#5, %arg0, %arg2, %[[Y]]#1, %[[Y]]#2 :
// CHECK-NOT: cuda.kernel
// CHECK: return %[[Y]]#0, %[[D]]#0, %[[D]]#3
// STRICT-LABEL: func.func @add_relu
// STRICT: cuda.batch_norm_training
// STRICT: cuda.kernel
// STRICT: cuda.batch_norm_grad
func.func @add_relu(%x: tensor<4x3x16xbf16> {amp.role = "batch", amp.name = "x"}, %r: tensor<4x3x16xbf16> {amp.role = "batch", amp.name = "r"},
               %g: tensor<16xf32> {amp.role = "parameter", amp.name = "g"}, %m: tensor<16xf32> {amp.role = "parameter", amp.name = "m"})
    -> (tensor<4x3x16xbf16> {amp.prediction = "y"}, tensor<4x3x16xbf16> {amp.prediction = "dx"}, tensor<4x3x16xbf16> {amp.prediction = "dr"}) {
  %0:5 = train.batch_norm_training %x, %g, %g, %m, %m : (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  %1 = train.add %r, %0#0 : (tensor<4x3x16xbf16>, tensor<4x3x16xbf16>) -> tensor<4x3x16xbf16>
  %2 = train.relu %1 : tensor<4x3x16xbf16>
  %3 = train.relu_grad %2, %r : tensor<4x3x16xbf16>
  %4:3 = train.batch_norm_grad %3, %x, %g, %0#1, %0#2 : (tensor<4x3x16xbf16>, tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>)
  return %2, %4#0, %3 : tensor<4x3x16xbf16>, tensor<4x3x16xbf16>, tensor<4x3x16xbf16>
}

// -----

// Apart: another reader of the norm, and a residual that the statistics are
// part of.
// CHECK-LABEL: func.func @readers
// CHECK: cuda.batch_norm_training
// CHECK-NOT: cuda.batch_norm
// CHECK: return
func.func @readers(%x: tensor<4x3x16xbf16> {amp.role = "batch", amp.name = "x"}, %r: tensor<4x3x16xbf16> {amp.role = "batch", amp.name = "r"},
               %g: tensor<16xf32> {amp.role = "parameter", amp.name = "g"}, %m: tensor<16xf32> {amp.role = "parameter", amp.name = "m"})
    -> (tensor<4x3x16xbf16> {amp.prediction = "y"}, tensor<4x3x16xbf16> {amp.prediction = "z"}) {
  %0:5 = train.batch_norm_training %x, %g, %g, %m, %m : (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  %1 = train.relu %0#0 : tensor<4x3x16xbf16>
  return %0#0, %1 : tensor<4x3x16xbf16>, tensor<4x3x16xbf16>
}

// -----

// CHECK-LABEL: func.func @statistics
// CHECK: cuda.batch_norm_training
// CHECK-NOT: cuda.batch_norm
// CHECK: return
func.func @statistics(%x: tensor<4x3x16xbf16> {amp.role = "batch", amp.name = "x"}, %r: tensor<4x3x16xbf16> {amp.role = "batch", amp.name = "r"},
               %g: tensor<16xf32> {amp.role = "parameter", amp.name = "g"}, %m: tensor<16xf32> {amp.role = "parameter", amp.name = "m"})
    -> (tensor<4x3x16xbf16> {amp.prediction = "y"}) {
  %0:5 = train.batch_norm_training %x, %g, %g, %m, %m : (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<4x3x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  %1 = amp.cast %0#1 : tensor<16xf32> to tensor<16xbf16>
  %2 = train.add %r, %1 : (tensor<4x3x16xbf16>, tensor<16xbf16>) -> tensor<4x3x16xbf16>
  %3 = train.add %2, %0#0 : (tensor<4x3x16xbf16>, tensor<4x3x16xbf16>) -> tensor<4x3x16xbf16>
  %4 = train.relu %3 : tensor<4x3x16xbf16>
  return %4 : tensor<4x3x16xbf16>
}

// -----

// Apart: 12 channels, whose bits fill no bytes.
// CHECK-LABEL: func.func @channels
// CHECK: cuda.batch_norm_training
// CHECK-NOT: cuda.batch_norm
// CHECK: return
func.func @channels(%x: tensor<4x3x12xbf16> {amp.role = "batch", amp.name = "x"}, %r: tensor<4x3x12xbf16> {amp.role = "batch", amp.name = "r"},
               %g: tensor<12xf32> {amp.role = "parameter", amp.name = "g"}, %m: tensor<12xf32> {amp.role = "parameter", amp.name = "m"})
    -> (tensor<4x3x12xbf16> {amp.prediction = "y"}) {
  %0:5 = train.batch_norm_training %x, %g, %g, %m, %m : (tensor<4x3x12xbf16>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) -> (tensor<4x3x12xbf16>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>)
  %1 = train.relu %0#0 : tensor<4x3x12xbf16>
  return %1 : tensor<4x3x12xbf16>
}
