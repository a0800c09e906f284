// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%x: tensor<8x4xf16>, %w: tensor<4xf32>, %n: tensor<8xi64>, %dy: tensor<8x4xf16>)
    -> (tensor<8x4xf16>, tensor<i1>, tensor<8x4xf16>) {
  // CHECK: cuda.call "mylib::scaled" ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x4xf16>, tensor<4xf32>, tensor<8xi64>) -> tensor<8x4xf16>, tensor<i1>
  %0:2 = cuda.call "mylib::scaled" ins(%x, %w, %n : tensor<8x4xf16>, tensor<4xf32>, tensor<8xi64>) -> tensor<8x4xf16>, tensor<i1>
  // CHECK: cuda.call "mylib::scaled" named "slope" ins({{.*}}) {seeds = array<i64: 0>, wrt = array<i64: 0>} -> tensor<8x4xf16>
  %1 = cuda.call "mylib::scaled" named "slope" ins(%x, %w, %n, %dy : tensor<8x4xf16>, tensor<4xf32>, tensor<8xi64>, tensor<8x4xf16>) {seeds = array<i64: 0>, wrt = array<i64: 0>} -> tensor<8x4xf16>
  return %0#0, %0#1, %1 : tensor<8x4xf16>, tensor<i1>, tensor<8x4xf16>
}

// CHECK-LABEL: cuda.program @buffers
cuda.program @buffers arena 512 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %y = cuda.buffer "y" at 256 : memref<4xf32>
  // CHECK: cuda.call "mylib::make" named "make" ins() outs(%{{.*}} : memref<4xf32>)
  cuda.call "mylib::make" named "make" ins() outs(%y : memref<4xf32>)
  // CHECK: cuda.call "mylib::scaled" named "scaled" ins(%{{.*}} : memref<4xf32>) outs(%{{.*}} : memref<4xf32>)
  cuda.call "mylib::scaled" named "scaled" ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
}
