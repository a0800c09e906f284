// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of one bit and of eight have the arithmetic of their width: the one
// bit of an i1 is its sign, so that true is -1 and less than false.
//
// RUN: amp-translate --mlir-to-cuda %s | FileCheck %s
//
// Other widths are not computed with.
// RUN: sed 's/extui %ex : i8 to i32/extui %ex : i8 to i48/;s/trunci %ext : i32/trunci %ext : i48/' %s | not amp-translate --mlir-to-cuda 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: 'arith.extui' op has a value of type 'i48', which has no spelling in CUDA C++

// CHECK: void __launch_bounds__(kThreads) bits(
// CHECK: const bool [[SUM:t[0-9]+]] = x0 != x1;
// CHECK: const bool [[DIFFERENCE:t[0-9]+]] = [[SUM]] != x1;
// CHECK: const bool [[PRODUCT:t[0-9]+]] = [[DIFFERENCE]] & x0;
// CHECK: const bool [[LESS:t[0-9]+]] = -int([[PRODUCT]]) < -int(x1);
// CHECK: const bool [[SAME:t[0-9]+]] = [[LESS]] == x0;
// CHECK: const bool [[MOST:t[0-9]+]] = -int([[SAME]]) > -int(x1) ? [[SAME]] : x1;
// CHECK: = float(-int([[MOST]]));
// CHECK: void __launch_bounds__(kThreads) bytes(
// CHECK: const int8_t [[LEAST:t[0-9]+]] = int8_t(uint8_t(x0) + uint8_t(int64_t(-128)));
// CHECK: const int32_t [[WIDE:t[0-9]+]] = int32_t(uint8_t([[LEAST]]));
// CHECK: = int8_t([[WIDE]]);
cuda.program @p arena 1280 {
  %a = cuda.buffer "a" at 0 {role = "batch"} : memref<4xi1>
  %b = cuda.buffer "b" at 256 {role = "batch"} : memref<4xi1>
  %c = cuda.buffer "c" at 512 {role = "batch"} : memref<4xi8>
  %y = cuda.buffer "y" at 768 {role = "prediction"} : memref<4xf32>
  %z = cuda.buffer "z" at 1024 {role = "prediction"} : memref<4xi8>
  cuda.kernel named "bits" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x0: i1, %x1: i1):
    %sum = arith.addi %x0, %x1 : i1
    %difference = arith.subi %sum, %x1 : i1
    %product = arith.muli %difference, %x0 : i1
    %less = arith.cmpi slt, %product, %x1 : i1
    %same = arith.cmpi eq, %less, %x0 : i1
    %most = arith.maxsi %same, %x1 : i1
    %number = arith.sitofp %most : i1 to f32
    cuda.yield %number : f32
  } ins(%a, %b : memref<4xi1>, memref<4xi1>) outs(%y : memref<4xf32>)
  cuda.kernel named "bytes" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x: i8):
    %least = arith.constant -128 : i8
    %ex = arith.addi %x, %least : i8
    %ext = arith.extui %ex : i8 to i32
    %result = arith.trunci %ext : i32 to i8
    cuda.yield %result : i8
  } ins(%c : memref<4xi8>) outs(%z : memref<4xi8>)
}
