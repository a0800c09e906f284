// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --split-input-file --convert-train-to-cuda | FileCheck %s
// RUN: amp-opt %s --split-input-file --convert-train-to-cuda | FileCheck %s --check-prefix=COUNT

// The scale of a tensor follows from its magnitude, in the kernel that finds
// it. The launch that quantises writes the order that the product reads: rows of
// x, and columns of w. Rows are padded in payloads only.
// CHECK-LABEL: func.func @current
// CHECK: %[[SCALE:.*]] = cuda.kernel {{.*}} reduce [0, 1] with <maximum>
// CHECK: math.absf
// CHECK: finish
// CHECK: arith.divf
// CHECK: cuda.quantize named "w_8bit" ins(%arg0, %{{.*}} : tensor<64x32xf32>, tensor<f32>) {format = f8E4M3FN, saturate, transposed} -> tensor<32x64xf8E4M3FN>, tensor<f32>
// CHECK: %[[Q:.*]]:2 = cuda.quantize {{.*}} : tensor<3x10x64xbf16>, tensor<f32>) {format = f8E4M3FN, payload, saturate} -> tensor<32x64xf8E4M3FN>, tensor<f32>
// CHECK: cuda.scaled_gemm {{.*}} : tensor<32x64xf8E4M3FN>, tensor<32x64xf8E4M3FN>, tensor<f32>, tensor<f32>, tensor<32xbf16>) {bias} -> tensor<30x32xbf16>
func.func @current(%w: tensor<64x32xf32> {amp.name = "w", amp.role = "parameter"},
                   %x: tensor<3x10x64xbf16> {amp.name = "x", amp.role = "batch"},
                   %b: tensor<32xbf16> {amp.name = "b", amp.role = "batch"})
    -> (tensor<64x32xf32> {amp.updates = "w"}, tensor<3x10x32xbf16> {amp.prediction = "y"}) {
  %0 = amp.amax %w : tensor<64x32xf32> -> tensor<f32>
  %1 = amp.scale_from_amax %0 for f8E4M3FN : tensor<f32>
  %2 = amp.quantize %w by %1 saturate : (tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf8E4M3FN>
  %3 = amp.amax %x : tensor<3x10x64xbf16> -> tensor<f32>
  %4 = amp.scale_from_amax %3 for f8E4M3FN : tensor<f32>
  %5 = amp.quantize %x by %4 saturate : (tensor<3x10x64xbf16>, tensor<f32>) -> tensor<3x10x64xf8E4M3FN>
  %6 = amp.scaled_matmul %5 by %4, %2 by %1 plus %b : tensor<32xbf16> : (tensor<3x10x64xf8E4M3FN>, tensor<f32>), (tensor<64x32xf8E4M3FN>, tensor<f32>) -> tensor<3x10x32xbf16>
  return %w, %6 : tensor<64x32xf32>, tensor<3x10x32xbf16>
}

// -----

// A scale of earlier steps: one launch reads x once, also for its magnitude.
// Two products read both orders. The gradient of a weight has neither operand in
// the order of its rows.
// COUNT-LABEL: func.func @delayed
// COUNT-COUNT-2: cuda.quantize
// COUNT-NOT: cuda.quantize
// COUNT-NOT: with <maximum>
// CHECK-LABEL: func.func @delayed
// CHECK: cuda.quantize {{.*}}(%arg1, %arg0 : tensor<32x64xf32>, tensor<f32>) {amax, format = f8E4M3FN, keep_non_finite, payload, saturate, transposed} -> tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<f32>, tensor<f32>
// CHECK: cuda.quantize {{.*}}(%arg2, %arg0 : tensor<32x48xbf16>, tensor<f32>) {format = f8E5M2, saturate, transposed} -> tensor<48x32xf8E5M2>, tensor<f32>
// CHECK: cuda.scaled_gemm {{.*}} : tensor<32x64xf8E4M3FN>, tensor<32x64xf8E4M3FN>, tensor<f32>, tensor<f32>) {fast_accumulation} -> tensor<32x32xf16>
// CHECK: cuda.scaled_gemm {{.*}} : tensor<64x32xf8E4M3FN>, tensor<48x32xf8E5M2>, tensor<f32>, tensor<f32>) -> tensor<64x48xf32>
func.func @delayed(%s: tensor<f32> {amp.name = "s", amp.role = "quantizer_state"},
                   %x: tensor<32x64xf32> {amp.name = "x", amp.role = "batch"},
                   %g: tensor<32x48xbf16> {amp.name = "g", amp.role = "batch"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<32x32xf16> {amp.prediction = "y"}, tensor<64x48xf32> {amp.prediction = "z"}) {
  %0 = amp.amax %x : tensor<32x64xf32> -> tensor<f32>
  %1 = amp.quantize %x by %s saturate {keep_non_finite} : (tensor<32x64xf32>, tensor<f32>) -> tensor<32x64xf8E4M3FN>
  %2 = amp.quantize %g by %s saturate : (tensor<32x48xbf16>, tensor<f32>) -> tensor<32x48xf8E5M2>
  %3 = amp.scaled_matmul %1 by %s, %1 by %s {transpose_b, accumulator_bits = 22 : i32} : (tensor<32x64xf8E4M3FN>, tensor<f32>), (tensor<32x64xf8E4M3FN>, tensor<f32>) -> tensor<32x32xf16>
  %4 = amp.scaled_matmul %1 by %s, %2 by %s {transpose_a, accumulator_bits = 22 : i32, promotion = 128 : i64} : (tensor<32x64xf8E4M3FN>, tensor<f32>), (tensor<32x48xf8E5M2>, tensor<f32>) -> tensor<64x48xf32>
  return %0, %3, %4 : tensor<f32>, tensor<32x32xf16>, tensor<64x48xf32>
}

// -----

// Columns of a result that are not a multiple of 16 are padded. The bias is then
// added to the f32 result, which is rounded once.
// COUNT-LABEL: func.func @columns
// CHECK-LABEL: func.func @columns
// CHECK: %[[P:.*]] = cuda.scaled_gemm {{.*}} -> tensor<32x32xf32>
// CHECK: cuda.kernel
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK: -> tensor<32x20xbf16>
func.func @columns(%s: tensor<f32> {amp.name = "s", amp.role = "model_state"},
                   %x: tensor<32x64xbf16> {amp.name = "x", amp.role = "batch"},
                   %w: tensor<20x64xbf16> {amp.name = "v", amp.role = "batch"},
                   %b: tensor<20xbf16> {amp.name = "b", amp.role = "batch"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<32x20xbf16> {amp.prediction = "y"}) {
  %0 = amp.quantize %x by %s : (tensor<32x64xbf16>, tensor<f32>) -> tensor<32x64xf8E4M3FN>
  %1 = amp.quantize %w by %s : (tensor<20x64xbf16>, tensor<f32>) -> tensor<20x64xf8E4M3FN>
  %2 = amp.scaled_matmul %0 by %s, %1 by %s plus %b : tensor<20xbf16> {transpose_b} : (tensor<32x64xf8E4M3FN>, tensor<f32>), (tensor<20x64xf8E4M3FN>, tensor<f32>) -> tensor<32x20xbf16>
  return %s, %2 : tensor<f32>, tensor<32x20xbf16>
}

// -----

// A norm and a kernel with known scales quantise their results. The result of the
// relu is also stored, because the function returns it. The kernel that computes the
// scale moves before the kernel that uses the scale.
// CHECK-LABEL: func.func @producers
// CHECK: %[[NORM:.*]]:4 = cuda.quantized_norm named {{.*}} ins(%arg1, %arg2, %arg0 : tensor<32x64xbf16>, tensor<64xf32>, tensor<f32>) {element = bf16, {{.*}}quantization = #cuda.quantization<rows = 32, columns = 64, format = f8E4M3FN, payload = true, amax = true, saturate = true>} -> tensor<32xf32>, tensor<32x64xf8E4M3FN>, tensor<f32>, tensor<f32>
// CHECK: %[[SCALE:.*]] = cuda.kernel {{.*}} over []
// CHECK: %[[RELU:.*]]:3 = cuda.kernel {{.*}} quantize <rows = 32, columns = 64, format = f8E4M3FN, payload = true, saturate = true> {
// CHECK: ins(%arg1, %[[SCALE]] : tensor<32x64xbf16>, tensor<f32>)
// CHECK: cuda.scaled_gemm {{.*}} ins(%[[NORM]]#1, %[[RELU]]#1, %[[NORM]]#2, %[[RELU]]#2
// COUNT-LABEL: func.func @producers
// COUNT-NOT: cuda.quantize {{named|ins}}
func.func @producers(%s: tensor<f32> {amp.name = "s", amp.role = "quantizer_state"},
                     %x: tensor<32x64xbf16> {amp.name = "x", amp.role = "batch"},
                     %g: tensor<64xf32> {amp.name = "g", amp.role = "parameter"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<64xf32> {amp.updates = "g"}, tensor<32x32xbf16> {amp.prediction = "y"}, tensor<32x64xbf16> {amp.prediction = "r"}) {
  %n, %rstd = train.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (tensor<32x64xbf16>, tensor<64xf32>) -> (tensor<32x64xbf16>, tensor<32xf32>)
  %r = train.relu %x : tensor<32x64xbf16>
  %half = arith.constant dense<5.0e-1> : tensor<f32>
  %t = train.mul %s, %half : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %0 = amp.amax %n : tensor<32x64xbf16> -> tensor<f32>
  %1 = amp.quantize %n by %s saturate : (tensor<32x64xbf16>, tensor<f32>) -> tensor<32x64xf8E4M3FN>
  %2 = amp.quantize %r by %t saturate : (tensor<32x64xbf16>, tensor<f32>) -> tensor<32x64xf8E4M3FN>
  %3 = amp.scaled_matmul %1 by %s, %2 by %t {transpose_b} : (tensor<32x64xf8E4M3FN>, tensor<f32>), (tensor<32x64xf8E4M3FN>, tensor<f32>) -> tensor<32x32xbf16>
  return %0, %g, %3, %r : tensor<f32>, tensor<64xf32>, tensor<32x32xbf16>, tensor<32x64xbf16>
}

// -----

// The scale depends on the magnitude of the tensor. The kernel that computes the
// tensor also computes its magnitude. A kernel of one element computes the scale.
// COUNT-LABEL: func.func @magnitude
// COUNT: cuda.quantize
// COUNT-NOT: cuda.quantize
// CHECK-LABEL: func.func @magnitude
// CHECK: %[[RELU:.*]]:2 = cuda.kernel {{.*}} quantize <rows = 32, columns = 64, amax = true> {
// CHECK: -> tensor<32x64xbf16>, tensor<f32>
// CHECK: %[[SCALE:.*]] = cuda.kernel named {{.*}} over []
// CHECK: arith.divf
// CHECK: ins(%[[RELU]]#1 : tensor<f32>) -> tensor<f32>
// CHECK: cuda.quantize {{.*}}ins(%[[RELU]]#0, %[[SCALE]]
func.func @magnitude(%s: tensor<f32> {amp.name = "s", amp.role = "model_state"},
                     %x: tensor<32x64xbf16> {amp.name = "x", amp.role = "batch"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<32x32xbf16> {amp.prediction = "y"}) {
  %r = train.relu %x : tensor<32x64xbf16>
  %0 = amp.amax %r : tensor<32x64xbf16> -> tensor<f32>
  %1 = amp.scale_from_amax %0 for f8E4M3FN : tensor<f32>
  %2 = amp.quantize %r by %1 saturate : (tensor<32x64xbf16>, tensor<f32>) -> tensor<32x64xf8E4M3FN>
  %3 = amp.scaled_matmul %2 by %1, %2 by %1 {transpose_b} : (tensor<32x64xf8E4M3FN>, tensor<f32>), (tensor<32x64xf8E4M3FN>, tensor<f32>) -> tensor<32x32xbf16>
  return %s, %3 : tensor<f32>, tensor<32x32xbf16>
}

// -----

// A launch that keeps rows finds their scales and writes their codes and factors. The scales
// of columns need a reduction.
// COUNT-LABEL: func.func @rows
// COUNT: reduce {{.*}} with <maximum>
// COUNT-NOT: with <maximum>
// CHECK-LABEL: func.func @rows
// CHECK-DAG: cuda.kernel {{.*}} reduce [{{[0-9]}}] with <maximum>
// CHECK-DAG: cuda.quantize_blocks {{.*}}ins(%arg1 : tensor<3x10x64xbf16>) {quantization = #cuda.quantization<rows = 30, columns = 64, format = f8E4M3FN, payload = true, saturate = true, blocks = <payload = [1, 0], powerOfTwo = true>>} -> tensor<32x64xf8E4M3FN>, tensor<32xf32>
// CHECK-DAG: cuda.quantize {{.*}} : tensor<64x40xf32>, tensor<1x40xf32>) {blocks = array<i64: 0, 1>, format = f8E4M3FN, saturate, transposed} -> tensor<48x64xf8E4M3FN>, tensor<48xf32>
// CHECK: cuda.scaled_gemm {{.*}} : tensor<32x64xf8E4M3FN>, tensor<48x64xf8E4M3FN>, tensor<32xf32>, tensor<48xf32>) {a_blocks = array<i64: 1, 0>, b_blocks = array<i64: 1, 0>} -> tensor<30x48xf32>
func.func @rows(%w: tensor<64x40xf32> {amp.name = "w", amp.role = "parameter"},
                %x: tensor<3x10x64xbf16> {amp.name = "x", amp.role = "batch"})
    -> (tensor<64x40xf32> {amp.updates = "w"}, tensor<3x10x40xbf16> {amp.prediction = "y"}) {
  %0 = amp.amax %w blocks [0, 1] : tensor<64x40xf32> -> tensor<1x40xf32>
  %1 = amp.scale_from_amax %0 for f8E4M3FN {power_of_two} : tensor<1x40xf32>
  %2 = amp.quantize %w by %1 blocks [0, 1] saturate : (tensor<64x40xf32>, tensor<1x40xf32>) -> tensor<64x40xf8E4M3FN>
  %3 = amp.amax %x blocks [1, 0] : tensor<3x10x64xbf16> -> tensor<30x1xf32>
  %4 = amp.scale_from_amax %3 for f8E4M3FN {power_of_two} : tensor<30x1xf32>
  %5 = amp.quantize %x by %4 blocks [1, 0] saturate : (tensor<3x10x64xbf16>, tensor<30x1xf32>) -> tensor<3x10x64xf8E4M3FN>
  %6 = amp.scaled_matmul %5 by %4 blocks [1, 0], %2 by %1 blocks [0, 1] : (tensor<3x10x64xf8E4M3FN>, tensor<30x1xf32>), (tensor<64x40xf8E4M3FN>, tensor<1x40xf32>) -> tensor<3x10x40xbf16>
  return %w, %6 : tensor<64x40xf32>, tensor<3x10x40xbf16>
}

// -----

// One launch finds the scales of the squares of a weight and writes both orders, with separate
// factors. The rows of the result are padded.
// COUNT-LABEL: func.func @squares
// COUNT-NOT: with <maximum>
// COUNT-COUNT-3: cuda.quantize_blocks
// COUNT-NOT: cuda.quantize
// CHECK-LABEL: func.func @squares
// CHECK-DAG: cuda.quantize_blocks {{.*}} : tensor<200x64xf32>) {{.*}}payload = true, transposed = true, saturate = true, blocks = <payload = [128, 128], transposed = [128, 128], powerOfTwo = true>>} -> tensor<208x128xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<2x4xf32>, tensor<1x4xf32>
// CHECK-DAG: cuda.quantize_blocks {{.*}} : tensor<30x200xbf16>) {{.*}}-> tensor<32x256xf8E4M3FN>, tensor<2x32xf32>
// CHECK-DAG: cuda.scaled_gemm {{.*}} {a_blocks = array<i64: 1, 128>, b_blocks = array<i64: 128, 128>} -> tensor<32x64xf32>
// CHECK-DAG: cuda.scaled_gemm {{.*}} {a_blocks = array<i64: 1, 128>, b_blocks = array<i64: 128, 128>} -> tensor<32x208xf32>
func.func @squares(%w: tensor<200x64xf32> {amp.name = "w", amp.role = "parameter"},
                   %x: tensor<30x200xbf16> {amp.name = "x", amp.role = "batch"},
                   %g: tensor<30x64xbf16> {amp.name = "g", amp.role = "batch"})
    -> (tensor<200x64xf32> {amp.updates = "w"}, tensor<30x64xbf16> {amp.prediction = "y"}, tensor<30x200xbf16> {amp.prediction = "z"}) {
  %0 = amp.amax %w blocks [128, 128] : tensor<200x64xf32> -> tensor<2x1xf32>
  %1 = amp.scale_from_amax %0 for f8E4M3FN {power_of_two} : tensor<2x1xf32>
  %2 = amp.quantize %w by %1 blocks [128, 128] saturate : (tensor<200x64xf32>, tensor<2x1xf32>) -> tensor<200x64xf8E4M3FN>
  %3 = amp.amax %x blocks [1, 128] : tensor<30x200xbf16> -> tensor<30x2xf32>
  %4 = amp.scale_from_amax %3 for f8E4M3FN {power_of_two} : tensor<30x2xf32>
  %5 = amp.quantize %x by %4 blocks [1, 128] saturate : (tensor<30x200xbf16>, tensor<30x2xf32>) -> tensor<30x200xf8E4M3FN>
  %6 = amp.amax %g blocks [1, 128] : tensor<30x64xbf16> -> tensor<30x1xf32>
  %7 = amp.scale_from_amax %6 for f8E4M3FN {power_of_two} : tensor<30x1xf32>
  %8 = amp.quantize %g by %7 blocks [1, 128] saturate : (tensor<30x64xbf16>, tensor<30x1xf32>) -> tensor<30x64xf8E4M3FN>
  %9 = amp.scaled_matmul %5 by %4 blocks [1, 128], %2 by %1 blocks [128, 128] : (tensor<30x200xf8E4M3FN>, tensor<30x2xf32>), (tensor<200x64xf8E4M3FN>, tensor<2x1xf32>) -> tensor<30x64xbf16>
  %10 = amp.scaled_matmul %8 by %7 blocks [1, 128], %2 by %1 blocks [128, 128] {transpose_b} : (tensor<30x64xf8E4M3FN>, tensor<30x1xf32>), (tensor<200x64xf8E4M3FN>, tensor<2x1xf32>) -> tensor<30x200xbf16>
  return %w, %9, %10 : tensor<200x64xf32>, tensor<30x64xbf16>, tensor<30x200xbf16>
}

// -----

// The magnitudes of blocks are not the magnitude of the tensor.
// COUNT-LABEL: func.func @both
// CHECK-LABEL: func.func @both
// CHECK-DAG: cuda.quantize {{.*}} : tensor<32x128xf32>, tensor<f32>) {
// CHECK-DAG: cuda.quantize_blocks {{.*}} : tensor<32x128xf32>) {
func.func @both(%s: tensor<f32> {amp.name = "s", amp.role = "quantizer_state"},
                %x: tensor<32x128xf32> {amp.name = "x", amp.role = "batch"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<32x32xf16> {amp.prediction = "y"}, tensor<32x32xf32> {amp.prediction = "z"}) {
  %0 = amp.amax %x : tensor<32x128xf32> -> tensor<f32>
  %1 = amp.quantize %x by %s saturate : (tensor<32x128xf32>, tensor<f32>) -> tensor<32x128xf8E4M3FN>
  %2 = amp.scaled_matmul %1 by %s, %1 by %s {transpose_b} : (tensor<32x128xf8E4M3FN>, tensor<f32>), (tensor<32x128xf8E4M3FN>, tensor<f32>) -> tensor<32x32xf16>
  %3 = amp.amax %x blocks [1, 0] : tensor<32x128xf32> -> tensor<32x1xf32>
  %4 = amp.scale_from_amax %3 for f8E4M3FN : tensor<32x1xf32>
  %5 = amp.quantize %x by %4 blocks [1, 0] saturate : (tensor<32x128xf32>, tensor<32x1xf32>) -> tensor<32x128xf8E4M3FN>
  %6 = amp.scaled_matmul %5 by %4 blocks [1, 0], %5 by %4 blocks [1, 0] {transpose_b} : (tensor<32x128xf8E4M3FN>, tensor<32x1xf32>), (tensor<32x128xf8E4M3FN>, tensor<32x1xf32>) -> tensor<32x32xf32>
  return %0, %2, %6 : tensor<f32>, tensor<32x32xf16>, tensor<32x32xf32>
}

// -----

// The kernel that computes a tensor writes the codes of its rows and columns, and finds their
// scales. A scale that is a result of the step needs a reduction, which reads the tensor.
// COUNT-LABEL: func.func @tiles
// COUNT-NOT: cuda.quantize
// CHECK-LABEL: func.func @tiles
// CHECK: cuda.kernel {{.*}} quantize <rows = 32, columns = 64, format = f8E4M3FN, payload = true, transposed = true, blocks = <payload = [1, 128], transposed = [128, 1], margin = 1, epsilon = 1.000000e+00 : f32, ignoreNonFinite = true>> {
// CHECK: -> tensor<32x64xbf16>, tensor<32x128xf8E4M3FN>, tensor<64x128xf8E4M3FN>, tensor<1x32xf32>, tensor<1x64xf32>
// CHECK: cuda.kernel {{.*}} with <maximum>
func.func @tiles(%s: tensor<f32> {amp.name = "s", amp.role = "model_state"},
                 %x: tensor<32x64xbf16> {amp.name = "x", amp.role = "batch"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<32x32xbf16> {amp.prediction = "y"}, tensor<64x64xbf16> {amp.prediction = "z"}, tensor<32x1xf32> {amp.prediction = "scales"}) {
  %r = train.relu %x : tensor<32x64xbf16>
  %0 = amp.amax %r blocks [1, 128] : tensor<32x64xbf16> -> tensor<32x1xf32>
  %1 = amp.scale_from_amax %0 for f8E4M3FN {margin = 1 : i32, epsilon = 1.0 : f32, ignore_non_finite} : tensor<32x1xf32>
  %2 = amp.quantize %r by %1 blocks [1, 128] : (tensor<32x64xbf16>, tensor<32x1xf32>) -> tensor<32x64xf8E4M3FN>
  %3 = amp.amax %r blocks [128, 1] : tensor<32x64xbf16> -> tensor<1x64xf32>
  %4 = amp.scale_from_amax %3 for f8E4M3FN {margin = 1 : i32, epsilon = 1.0 : f32, ignore_non_finite} : tensor<1x64xf32>
  %5 = amp.quantize %r by %4 blocks [128, 1] : (tensor<32x64xbf16>, tensor<1x64xf32>) -> tensor<32x64xf8E4M3FN>
  %6 = amp.scaled_matmul %2 by %1 blocks [1, 128], %2 by %1 blocks [1, 128] {transpose_b} : (tensor<32x64xf8E4M3FN>, tensor<32x1xf32>), (tensor<32x64xf8E4M3FN>, tensor<32x1xf32>) -> tensor<32x32xbf16>
  %7 = amp.scaled_matmul %5 by %4 blocks [128, 1], %5 by %4 blocks [128, 1] {transpose_a} : (tensor<32x64xf8E4M3FN>, tensor<1x64xf32>), (tensor<32x64xf8E4M3FN>, tensor<1x64xf32>) -> tensor<64x64xbf16>
  return %s, %6, %7, %1 : tensor<f32>, tensor<32x32xbf16>, tensor<64x64xbf16>, tensor<32x1xf32>
}

// -----

// A product in 16 bits reads the copy of an 8-bit product. A kernel widens the codes without
// their padding.
// COUNT-LABEL: func.func @widened
// CHECK-LABEL: func.func @widened
// CHECK: %[[Q:.*]]:3 = cuda.quantize {{.*}} -> tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<f32>
// CHECK: cuda.kernel
// CHECK: arith.bitcast %{{.*}} : f8E4M3FN to i8
// CHECK: ins({{.*}}%[[Q]]#0{{.*}} : {{.*}}tensor<32x64xf8E4M3FN>{{.*}}) -> tensor<30x64xbf16>
// CHECK: cuda.gemm {{.*}} : tensor<30x64xbf16>, tensor<30x48xbf16>) {transpose_a} -> tensor<64x48xbf16>
func.func @widened(%s: tensor<f32> {amp.name = "s", amp.role = "model_state"},
                   %g: tensor<30x48xbf16> {amp.name = "g", amp.role = "batch"},
                   %x: tensor<30x64xbf16> {amp.name = "x", amp.role = "batch"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<64x64xbf16> {amp.prediction = "y"}, tensor<64x48xbf16> {amp.prediction = "z"}) {
  %0 = amp.quantize %x by %s saturate : (tensor<30x64xbf16>, tensor<f32>) -> tensor<30x64xf8E4M3FN>
  %1 = amp.scaled_matmul %0 by %s, %0 by %s {transpose_a} : (tensor<30x64xf8E4M3FN>, tensor<f32>), (tensor<30x64xf8E4M3FN>, tensor<f32>) -> tensor<64x64xbf16>
  %2 = amp.dequantize %0 by %s : (tensor<30x64xf8E4M3FN>, tensor<f32>) -> tensor<30x64xbf16>
  %3 = train.matmul %2, %g {transpose_a} : (tensor<30x64xbf16>, tensor<30x48xbf16>) -> tensor<64x48xbf16>
  return %s, %1, %3 : tensor<f32>, tensor<64x64xbf16>, tensor<64x48xbf16>
}

// -----

// Codes of columns are stored transposed. The kernel that widens them reads them so. Scales of 32
// elements that are not powers of two have no exponents, and no product reads them here.
// COUNT-LABEL: func.func @turned
// CHECK-LABEL: func.func @turned
// CHECK-DAG: cuda.quantize {{.*}} -> tensor<64x32xf8E4M3FN>, tensor<64xf32>
// CHECK-DAG: cuda.quantize {{.*}} -> tensor<32x64xf8E4M3FN>, tensor<1x1x32x4x4xi8>
// CHECK-DAG: } ins({{.*}} : tensor<64x32xf8E4M3FN>, {{.*}}) -> tensor<30x64xbf16>
// CHECK-DAG: } ins({{.*}} : tensor<32x64xf8E4M3FN>, {{.*}}) -> tensor<30x64xbf16>
func.func @turned(%s: tensor<f32> {amp.name = "s", amp.role = "model_state"},
                  %x: tensor<30x64xbf16> {amp.name = "x", amp.role = "batch"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<30x64xbf16> {amp.prediction = "y"}, tensor<30x64xbf16> {amp.prediction = "z"}) {
  %0 = amp.amax %x blocks [0, 1] : tensor<30x64xbf16> -> tensor<1x64xf32>
  %1 = amp.scale_from_amax %0 for f8E4M3FN : tensor<1x64xf32>
  %2 = amp.quantize %x by %1 blocks [0, 1] : (tensor<30x64xbf16>, tensor<1x64xf32>) -> tensor<30x64xf8E4M3FN>
  %3 = amp.dequantize %2 by %1 blocks [0, 1] : (tensor<30x64xf8E4M3FN>, tensor<1x64xf32>) -> tensor<30x64xbf16>
  %4 = amp.amax %x blocks [1, 32] : tensor<30x64xbf16> -> tensor<30x2xf32>
  %5 = amp.scale_from_amax %4 for f8E4M3FN : tensor<30x2xf32>
  %6 = amp.quantize %x by %5 blocks [1, 32] : (tensor<30x64xbf16>, tensor<30x2xf32>) -> tensor<30x64xf8E4M3FN>
  %7 = amp.dequantize %6 by %5 blocks [1, 32] : (tensor<30x64xf8E4M3FN>, tensor<30x2xf32>) -> tensor<30x64xbf16>
  return %s, %3, %7 : tensor<f32>, tensor<30x64xbf16>, tensor<30x64xbf16>
}
