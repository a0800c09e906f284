// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batch norms take a residual, a relu and its gradient. Norms of rows read
// slices and transposes by strides, and their gradients take sums.
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

// -----

// The gradient of a norm takes the sum with the gradient of a residual.
// Rounding dx before the sum is skipped.
// CHECK-LABEL: func.func @residual
// CHECK: %[[D:.*]]:3 = cuda.layer_norm_grad {{.*}}ins(%arg1, %arg0, %arg2, %{{.*}}, %{{.*}}, %arg1 : {{.*}}) {accumulate}
// CHECK-NOT: cuda.kernel
// CHECK: %[[E:.*]]:2 = cuda.rms_norm_grad {{.*}}ins(%[[D]]#0, %arg0, %arg2, %{{.*}}, %arg1 : {{.*}}) {accumulate}
// CHECK-NOT: cuda.kernel
// CHECK: return %[[E]]#0
// STRICT-LABEL: func.func @residual
// STRICT: cuda.layer_norm_grad
// STRICT-NOT: accumulate
// STRICT: return
// PLAIN-LABEL: func.func @residual
// PLAIN-NOT: accumulate
// PLAIN: return
func.func @residual(%x: tensor<6x16xbf16> {amp.role = "batch", amp.name = "x"}, %r: tensor<6x16xbf16> {amp.role = "batch", amp.name = "r"},
               %g: tensor<16xf32> {amp.role = "parameter", amp.name = "g"})
    -> (tensor<6x16xbf16> {amp.prediction = "dx"}) {
  %0:3 = train.layer_norm %x, %g, %g : (tensor<6x16xbf16>, tensor<16xf32>, tensor<16xf32>) -> (tensor<6x16xbf16>, tensor<6xf32>, tensor<6xf32>)
  %1:3 = train.layer_norm_grad %r, %x, %g, %0#1, %0#2 : (tensor<6x16xbf16>, tensor<6x16xbf16>, tensor<16xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<6x16xbf16>, tensor<16xf32>, tensor<16xf32>)
  %2 = train.add %r, %1#0 : (tensor<6x16xbf16>, tensor<6x16xbf16>) -> tensor<6x16xbf16>
  %3:2 = train.rms_norm %x, %g : (tensor<6x16xbf16>, tensor<16xf32>) -> (tensor<6x16xbf16>, tensor<6xf32>)
  %4:2 = train.rms_norm_grad %2, %x, %g, %3#1 : (tensor<6x16xbf16>, tensor<6x16xbf16>, tensor<16xf32>, tensor<6xf32>) -> (tensor<6x16xbf16>, tensor<16xf32>)
  %5 = train.add %4#0, %r : (tensor<6x16xbf16>, tensor<6x16xbf16>) -> tensor<6x16xbf16>
  return %5 : tensor<6x16xbf16>
}

// -----

// Apart: a sum with what the launch gives, a second reader of dx, and an
// addend of another shape.
// CHECK-LABEL: func.func @sums_apart
// CHECK-NOT: accumulate
// CHECK: return
func.func @sums_apart(%x: tensor<6x16xbf16> {amp.role = "batch", amp.name = "x"}, %r: tensor<16xbf16> {amp.role = "batch", amp.name = "r"},
               %g: tensor<16xf32> {amp.role = "parameter", amp.name = "g"})
    -> (tensor<6x16xbf16> {amp.prediction = "a"}, tensor<6x16xbf16> {amp.prediction = "b"}, tensor<6x16xbf16> {amp.prediction = "c"}) {
  %0:2 = train.rms_norm %x, %g : (tensor<6x16xbf16>, tensor<16xf32>) -> (tensor<6x16xbf16>, tensor<6xf32>)
  %1:2 = train.rms_norm_grad %x, %x, %g, %0#1 : (tensor<6x16xbf16>, tensor<6x16xbf16>, tensor<16xf32>, tensor<6xf32>) -> (tensor<6x16xbf16>, tensor<16xf32>)
  %2 = train.add %1#0, %1#0 : (tensor<6x16xbf16>, tensor<6x16xbf16>) -> tensor<6x16xbf16>
  %3:2 = train.rms_norm_grad %0#0, %x, %g, %0#1 : (tensor<6x16xbf16>, tensor<6x16xbf16>, tensor<16xf32>, tensor<6xf32>) -> (tensor<6x16xbf16>, tensor<16xf32>)
  %4 = amp.cast %3#1 : tensor<16xf32> to tensor<16xbf16>
  %5 = train.mul %x, %4 : (tensor<6x16xbf16>, tensor<16xbf16>) -> tensor<6x16xbf16>
  %6 = train.add %3#0, %5 : (tensor<6x16xbf16>, tensor<6x16xbf16>) -> tensor<6x16xbf16>
  %7:2 = train.rms_norm_grad %6, %x, %g, %0#1 : (tensor<6x16xbf16>, tensor<6x16xbf16>, tensor<16xf32>, tensor<6xf32>) -> (tensor<6x16xbf16>, tensor<16xf32>)
  %8 = train.add %7#0, %r : (tensor<6x16xbf16>, tensor<16xbf16>) -> tensor<6x16xbf16>
  return %2, %6, %8 : tensor<6x16xbf16>, tensor<6x16xbf16>, tensor<6x16xbf16>
}

// -----

// Heads of queries: the norm reads the rows of the packed product, and its
// gradient writes them in the order of the transpose.
// CHECK-LABEL: func.func @heads
// CHECK: %[[Y:.*]]:2 = cuda.rms_norm {{.*}}ins(%arg0, %arg2 : tensor<2x4x48xbf16>, tensor<8xf32>) {{.*}}x_rows = #cuda.heads<at 16 by 192, 8, 48>} -> tensor<2x4x4x8xbf16>, tensor<2x4x4xf32>
// CHECK-NOT: cuda.kernel
// CHECK: cuda.rms_norm_grad {{.*}}ins(%arg1, %arg0, %arg2, %[[Y]]#1 : tensor<2x4x4x8xbf16>, tensor<2x4x48xbf16>, tensor<8xf32>, tensor<2x4x4xf32>) {dx_rows = #cuda.heads<at 0 by 128, 8, 32>, x_rows = #cuda.heads<at 16 by 192, 8, 48>} -> tensor<2x4x4x8xbf16>, tensor<8xf32>
// CHECK-NOT: cuda.kernel
// CHECK: return
func.func @heads(%p: tensor<2x4x48xbf16> {amp.role = "batch", amp.name = "p"}, %dy: tensor<2x4x4x8xbf16> {amp.role = "batch", amp.name = "dy"},
               %g: tensor<8xf32> {amp.role = "parameter", amp.name = "g"})
    -> (tensor<2x4x4x8xbf16> {amp.prediction = "y"}, tensor<2x4x32xbf16> {amp.prediction = "dx"}) {
  %0 = train.slice %p {offsets = array<i64: 0, 0, 16>, sizes = array<i64: 2, 4, 32>, strides = array<i64: 1, 1, 1>} : (tensor<2x4x48xbf16>) -> tensor<2x4x32xbf16>
  %1 = train.reshape %0 : (tensor<2x4x32xbf16>) -> tensor<2x4x4x8xbf16>
  %2 = train.transpose %1 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x4x8xbf16>) -> tensor<2x4x4x8xbf16>
  %3:2 = train.rms_norm %2, %g : (tensor<2x4x4x8xbf16>, tensor<8xf32>) -> (tensor<2x4x4x8xbf16>, tensor<2x4x4xf32>)
  %4:2 = train.rms_norm_grad %dy, %2, %g, %3#1 : (tensor<2x4x4x8xbf16>, tensor<2x4x4x8xbf16>, tensor<8xf32>, tensor<2x4x4xf32>) -> (tensor<2x4x4x8xbf16>, tensor<8xf32>)
  %5 = train.transpose %4#0 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<2x4x4x8xbf16>) -> tensor<2x4x4x8xbf16>
  %6 = train.reshape %5 : (tensor<2x4x4x8xbf16>) -> tensor<2x4x32xbf16>
  return %3#0, %6 : tensor<2x4x4x8xbf16>, tensor<2x4x32xbf16>
}

// -----

// Apart: a small part of a tensor, and rows that begin in the middle of 16
// bytes.
// CHECK-LABEL: func.func @rows_apart
// CHECK-NOT: x_rows
// CHECK: return
func.func @rows_apart(%p: tensor<2x9x48xbf16> {amp.role = "batch", amp.name = "p"}, %q: tensor<2x12xbf16> {amp.role = "batch", amp.name = "q"},
               %g: tensor<48xf32> {amp.role = "parameter", amp.name = "g"}, %h: tensor<8xf32> {amp.role = "parameter", amp.name = "h"})
    -> (tensor<2x48xbf16> {amp.prediction = "y"}, tensor<2x8xbf16> {amp.prediction = "z"}) {
  %0 = train.slice %p {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 2, 1, 48>, strides = array<i64: 1, 1, 1>} : (tensor<2x9x48xbf16>) -> tensor<2x1x48xbf16>
  %1 = train.reshape %0 : (tensor<2x1x48xbf16>) -> tensor<2x48xbf16>
  %2:2 = train.rms_norm %1, %g : (tensor<2x48xbf16>, tensor<48xf32>) -> (tensor<2x48xbf16>, tensor<2xf32>)
  %3 = train.slice %q {offsets = array<i64: 0, 4>, sizes = array<i64: 2, 8>, strides = array<i64: 1, 1>} : (tensor<2x12xbf16>) -> tensor<2x8xbf16>
  %4:2 = train.rms_norm %3, %h : (tensor<2x8xbf16>, tensor<8xf32>) -> (tensor<2x8xbf16>, tensor<2xf32>)
  return %2#0, %4#0 : tensor<2x48xbf16>, tensor<2x8xbf16>
}

// -----

// A dropout takes the sum with the residual.
// CHECK-LABEL: func.func @dropout
// CHECK: cuda.dropout {{.*}}ins(%arg0, %arg2, %arg1 : {{.*}}) {accumulate,
// CHECK-NOT: cuda.kernel
// CHECK: return
// STRICT-LABEL: func.func @dropout
// STRICT: cuda.kernel
func.func @dropout(%x: tensor<6x16xbf16> {amp.role = "batch", amp.name = "x"}, %r: tensor<6x16xbf16> {amp.role = "batch", amp.name = "r"},
               %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng"})
    -> (tensor<6x16xbf16> {amp.prediction = "y"}) {
  %0 = train.dropout %x, %rng {rate = 1.0e-1 : f64, key = 3 : i32} : (tensor<6x16xbf16>, tensor<2xi64>) -> tensor<6x16xbf16>
  %1 = train.add %r, %0 : (tensor<6x16xbf16>, tensor<6x16xbf16>) -> tensor<6x16xbf16>
  return %1 : tensor<6x16xbf16>
}
