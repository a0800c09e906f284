// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step reads and writes as little as possible: products are not repeated,
// scales are part of them, and cheap values are computed where they are read.
//
// RUN: amp-opt %s --convert-train-to-cuda --split-input-file | FileCheck %s
// RUN: amp-opt %s --convert-train-to-cuda=strict-rounding --split-input-file | FileCheck %s --check-prefix=STRICT

// The saved sum of a gelu is the second result of its product, through views,
// too.
// CHECK-LABEL: func.func @gelu
// CHECK: cuda.gemm named "w" ins(%{{[^:]*}} : tensor<6x16xf16>, tensor<16x8xf16>, tensor<8xf16>) {activation = #cuda.activation<gelu_tanh>, auxiliary, bias} -> tensor<6x8xf16>, tensor<6x8xf16>
// CHECK: cuda.gemm {{.*}}activation = #cuda.activation<gelu_tanh_grad>
// CHECK-NOT: cuda.gemm
// CHECK: return
func.func @gelu(%x: tensor<2x3x16xf16> {amp.role = "batch", amp.name = "x"},
                %g: tensor<2x3x16xf16> {amp.role = "batch", amp.name = "g"},
                %w: tensor<16x8xf16> {amp.role = "parameter", amp.name = "w"},
                %v: tensor<8x16xf16> {amp.role = "parameter", amp.name = "v"},
                %b: tensor<8xf16> {amp.role = "parameter", amp.name = "b"})
    -> (tensor<2x3x8xf16> {amp.prediction = "a"}, tensor<2x3x8xf16> {amp.prediction = "d"}) {
  %0 = train.linear %x, %w, %b : (tensor<2x3x16xf16>, tensor<16x8xf16>, tensor<8xf16>) -> tensor<2x3x8xf16>
  %1 = train.gelu %0 {approximate = 1 : i32} : tensor<2x3x8xf16>
  %2 = train.linear %g, %v {transpose_weight} : (tensor<2x3x16xf16>, tensor<8x16xf16>) -> tensor<2x3x8xf16>
  %3 = train.gelu_grad %0, %2 {approximate = 1 : i32} : tensor<2x3x8xf16>
  return %1, %3 : tensor<2x3x8xf16>, tensor<2x3x8xf16>
}

// -----

// A scale after a product, and one before several, is their alpha; rounding
// between would be left out.
// CHECK-LABEL: func.func @scales
// CHECK-DAG: cuda.gemm {{.*}}{alpha = 2.500000e-01 : f32, transpose_b}
// CHECK-DAG: cuda.gemm {{.*}}{alpha = 5.000000e-01 : f32}
// CHECK-DAG: cuda.gemm {{.*}}{alpha = 5.000000e-01 : f32, transpose_a}
// CHECK-NOT: cuda.kernel
// CHECK: return
// STRICT-LABEL: func.func @scales
// STRICT-NOT: alpha
// STRICT: return
func.func @scales(%q: tensor<2x4x8xf16> {amp.role = "batch", amp.name = "q"},
                  %k: tensor<2x4x8xf16> {amp.role = "batch", amp.name = "k"},
                  %d: tensor<2x4x4xf16> {amp.role = "batch", amp.name = "d"})
    -> (tensor<2x4x4xf16> {amp.prediction = "s"}, tensor<2x4x8xf16> {amp.prediction = "dq"},
        tensor<2x4x8xf16> {amp.prediction = "dk"}) {
  %c = train.constant dense<0.25> : tensor<f16>
  %h = train.constant dense<0.5> : tensor<f16>
  %0 = train.matmul %q, %k {transpose_b} : (tensor<2x4x8xf16>, tensor<2x4x8xf16>) -> tensor<2x4x4xf16>
  %1 = train.mul %0, %c : (tensor<2x4x4xf16>, tensor<f16>) -> tensor<2x4x4xf16>
  %2 = train.mul %h, %d : (tensor<f16>, tensor<2x4x4xf16>) -> tensor<2x4x4xf16>
  %3 = train.matmul %2, %k : (tensor<2x4x4xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  %4 = train.matmul %2, %q {transpose_a} : (tensor<2x4x4xf16>, tensor<2x4x8xf16>) -> tensor<2x4x8xf16>
  return %1, %3, %4 : tensor<2x4x4xf16>, tensor<2x4x8xf16>, tensor<2x4x8xf16>
}

// -----

// Not a scale: a row, a sum that C is part of, zero, what others read as well.
// CHECK-LABEL: func.func @unscaled
// CHECK-NOT: alpha
// CHECK: return
func.func @unscaled(%x: tensor<4x8xf32> {amp.role = "batch", amp.name = "x"},
                    %r: tensor<4x8xf32> {amp.role = "batch", amp.name = "r"},
                    %u: tensor<8x8xf32> {amp.role = "parameter", amp.name = "u"},
                    %v: tensor<8x8xf32> {amp.role = "parameter", amp.name = "v"},
                    %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"},
                    %s: tensor<f32> {amp.role = "hyperparameter", amp.name = "s"})
    -> (tensor<4x8xf32> {amp.prediction = "a"}, tensor<4x8xf32> {amp.prediction = "b"},
        tensor<4x8xf32> {amp.prediction = "c"}, tensor<4x8xf32> {amp.prediction = "d"},
        tensor<4x8xf32> {amp.prediction = "e"}) {
  %row = train.constant dense<[1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<8xf32>
  %two = train.constant dense<2.0> : tensor<f32>
  %zero = train.constant dense<0.0> : tensor<f32>
  %0 = train.linear %x, %u : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = train.mul %0, %row : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = train.linear %x, %v : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = train.add %2, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = train.mul %3, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %5 = train.linear %r, %u : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %6 = train.mul %5, %zero : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %7 = train.mul %x, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %8 = train.linear %7, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %9 = train.add %7, %8 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = train.linear %r, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %11 = train.mul %10, %s : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %1, %4, %6, %9, %11 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// SiLU and its gradient each compute the sigmoid: one kernel forward, one
// backward, and only the low value is kept.
// CHECK-LABEL: func.func @silu
// CHECK-COUNT-1: cuda.kernel
// CHECK: cuda.gemm
// CHECK-COUNT-1: cuda.kernel
// CHECK-NOT: cuda.kernel
// CHECK: return
func.func @silu(%x: tensor<4x8xbf16> {amp.role = "batch", amp.name = "x"},
                %w: tensor<8x8xbf16> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<4x8xbf16> {amp.prediction = "a"}, tensor<4x8xbf16> {amp.prediction = "d"}) {
  %0 = train.silu %x : tensor<4x8xbf16>
  %1 = train.linear %0, %w : (tensor<4x8xbf16>, tensor<8x8xbf16>) -> tensor<4x8xbf16>
  %2 = train.silu_grad %x, %1 : tensor<4x8xbf16>
  return %0, %2 : tensor<4x8xbf16>, tensor<4x8xbf16>
}

// -----

// Two operands take more memory than their sum, which is stored.
// CHECK-LABEL: func.func @sum
// CHECK: %[[S:.*]] = cuda.kernel named "add"
// CHECK: } ins(%arg0, %arg1 :
// CHECK: math.tanh
// CHECK: } ins(%[[S]] :
// CHECK: %[[P:.*]] = cuda.gemm
// CHECK: } ins(%[[S]], %[[P]] :
// CHECK: return
func.func @sum(%x: tensor<4x8xf32> {amp.role = "batch", amp.name = "x"},
               %y: tensor<4x8xf32> {amp.role = "batch", amp.name = "y"},
               %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<4x8xf32> {amp.prediction = "d"}) {
  %0 = train.add %x, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = train.tanh %0 : tensor<4x8xf32>
  %2 = train.linear %1, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = train.mul %0, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// Parts of one matrix are copied when they are read, not all at first.
// CHECK-LABEL: func.func @parts
// CHECK: %[[A:.*]] = cuda.kernel
// CHECK: %[[P:.*]] = cuda.gemm {{.*}}ins(%[[A]],
// CHECK: %[[B:.*]] = cuda.kernel
// CHECK: cuda.gemm {{.*}}ins(%[[B]],
func.func @parts(%x: tensor<8x8xf32> {amp.role = "batch", amp.name = "x"},
                 %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<4x8xf32> {amp.prediction = "d"}, tensor<4x8xf32> {amp.prediction = "e"}) {
  %0 = train.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = train.linear %0, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = train.slice %x {offsets = array<i64: 4, 0>, sizes = array<i64: 4, 8>, strides = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = train.linear %2, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The widened input of a gelu has five readers, which become two kernels. Each
// reads the input in f16, and no f32 copy is stored.
// CHECK-LABEL: func.func @erf_gelu
// CHECK-NOT: tensor<64x32xf32>
// CHECK: cuda.kernel
// CHECK-NOT: tensor<64x32xf32>
// CHECK: cuda.kernel
// CHECK-NOT: tensor<64x32xf32>
// CHECK-NOT: cuda.kernel
// CHECK: return
func.func @erf_gelu(%x: tensor<64x32xf16> {amp.role = "batch", amp.name = "x"},
                    %w: tensor<32x32xf16> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<64x32xf16> {amp.prediction = "y"}, tensor<64x32xf16> {amp.prediction = "dx"}) {
  %0 = train.linear %x, %w : (tensor<64x32xf16>, tensor<32x32xf16>) -> tensor<64x32xf16>
  %1 = train.gelu %0 : tensor<64x32xf16>
  %2 = train.linear %1, %w : (tensor<64x32xf16>, tensor<32x32xf16>) -> tensor<64x32xf16>
  %3 = train.gelu_grad %0, %2 : tensor<64x32xf16>
  return %1, %3 : tensor<64x32xf16>, tensor<64x32xf16>
}

// -----

// Five readers of a widened value, which no fusion joins.
// CHECK-LABEL: func.func @many_readers
// CHECK-NOT: tensor<8x16xf32>
// CHECK: return
func.func @many_readers(%x: tensor<8x16xf16> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8xf32> {amp.prediction = "a"}, tensor<16xf32> {amp.prediction = "b"}, tensor<8xf32> {amp.prediction = "c"},
        tensor<16xf32> {amp.prediction = "d"}, tensor<f32> {amp.prediction = "e"}) {
  %w = amp.cast %x : tensor<8x16xf16> to tensor<8x16xf32>
  %s = train.mul %w, %w : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %a = train.reduce_sum %w {dims = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8xf32>
  %b = train.reduce_sum %w {dims = array<i64: 0>} : (tensor<8x16xf32>) -> tensor<16xf32>
  %c = train.reduce_max %w {dims = array<i64: 1>} : (tensor<8x16xf32>) -> tensor<8xf32>
  %d = train.reduce_max %w {dims = array<i64: 0>} : (tensor<8x16xf32>) -> tensor<16xf32>
  %e = train.reduce_sum %s {dims = array<i64: 0, 1>} : (tensor<8x16xf32>) -> tensor<f32>
  return %a, %b, %c, %d, %e : tensor<8xf32>, tensor<16xf32>, tensor<8xf32>, tensor<16xf32>, tensor<f32>
}

// -----

// A rotary embedding is one kernel, which reads both halves of its input.
// CHECK-LABEL: func.func @rotary
// CHECK-COUNT-1: cuda.kernel
// CHECK: ins(%[[X:.*]], %[[X]], %{{.*}} : tensor<2x4x16x2x32xbf16>, tensor<2x4x16x2x32xbf16>, tensor<16x1x32xf32>, tensor<16x1x32xf32>) -> tensor<2x4x16x2x32xbf16>
// CHECK-NOT: cuda.kernel
// CHECK: return
func.func @rotary(%x: tensor<2x4x16x64xbf16> {amp.role = "batch", amp.name = "x"}, %c: tensor<16x32xf32> {amp.role = "batch", amp.name = "c"},
                  %s: tensor<16x32xf32> {amp.role = "batch", amp.name = "s"}) -> (tensor<2x4x16x64xbf16> {amp.prediction = "y"}) {
  %0 = train.rotary_embedding %x, %c, %s : (tensor<2x4x16x64xbf16>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<2x4x16x64xbf16>
  return %0 : tensor<2x4x16x64xbf16>
}
