// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants are written when the program is created: those that count from two
// numbers, others from a table.
//
// RUN: amp-translate --mlir-to-cuda --emit-main %s -o %t.cu
// RUN: FileCheck %s < %t.cu
// RUN: %cuda_host_cxx %t.cu %cuda_host_lib -o %t
// RUN: %t --synthetic --steps 2 --seed 1 2>&1 | FileCheck %s --check-prefix=SUM

// CHECK: namespace elements {
// CHECK-NEXT: const double odd[] = {
// CHECK-NEXT:     0.1f, -0.0f, INFINITY, NAN,
// CHECK-NEXT: };
// CHECK-NEXT: const int64_t wide[] = {
// CHECK-NEXT:     INT64_MIN, 9007199254740993,
// CHECK-NEXT: };
// CHECK-NEXT: const int64_t where[] = {
// CHECK-NEXT:     1, 0, 1, 1,
// CHECK-NEXT: };
// CHECK-NEXT: } // namespace elements
// CHECK: {"odd", Role::Constant, Type::F32, 1, {4}, at::odd, InitInfo::table(elements::odd), 0},
// CHECK: {"wide", Role::Constant, Type::I64, 1, {2}, at::wide, InitInfo::table(elements::wide), 0},
// CHECK: {"where", Role::Constant, Type::Bool, 1, {4}, at::where, InitInfo::table(elements::where), 0},
// CHECK: {"half", Role::Constant, Type::F16, 2, {2, 2}, at::half, {InitInfo::Kind::Range, 0.5, -0.25}, 0},
// CHECK: {"count", Role::Constant, Type::I32, 1, {4}, at::count, {InitInfo::Kind::Range, 3.0, 2.0}, 0},

// 0.5 where `where` is true: 0.5, 0, -0.25; then 3 + 5 + 7 + 9; the largest
// integers; one NaN: 0.25 + 24 + 1 + 1.
// SUM: sum 26.25
cuda.program @p arena 8192 {
  %odd = cuda.buffer "odd" at 0 {role = "constant", value = dense<[0.1, -0.0, 0x7F800000, 0x7FC00000]> : tensor<4xf32>} : memref<4xf32>
  %wide = cuda.buffer "wide" at 256 {role = "constant", value = dense<[-9223372036854775808, 9007199254740993]> : tensor<2xi64>} : memref<2xi64>
  %where = cuda.buffer "where" at 512 {role = "constant", value = dense<[true, false, true, true]> : tensor<4xi1>} : memref<4xi1>
  %half = cuda.buffer "half" at 768 {role = "constant", value = dense<[[0.5, 0.25], [0.0, -0.25]]> : tensor<2x2xf16>} : memref<2x2xf16>
  %count = cuda.buffer "count" at 1024 {role = "constant", value = dense<[3, 5, 7, 9]> : tensor<4xi32>} : memref<4xi32>
  %x = cuda.buffer "x" at 1280 {role = "batch"} : memref<1xf32>
  %sum = cuda.buffer "sum" at 1536 {role = "metric"} : memref<f32>
  %arrival_counters = cuda.buffer "arrival_counters" at 1792 {role = "arrival_counters"} : memref<4096xi8>
  %each = cuda.buffer "each" at 6144 : memref<4xf32>
  %scratch = cuda.buffer "scratch" at 6400 : memref<512xi8>
  %flat = cuda.view %half : memref<2x2xf16> to memref<4xf16>
  cuda.kernel named "each" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>,
      affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%o: f32, %w: i1, %h: f16, %c: i32, %all: memref<2xi64>):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %least = arith.constant -9223372036854775808 : i64
    %large = arith.constant 9007199254740993 : i64
    %0 = arith.extf %h : f16 to f32
    %1 = arith.select %w, %0, %zero : f32
    %2 = arith.sitofp %c : i32 to f32
    %3 = arith.addf %1, %2 : f32
    %a = memref.load %all[%i0] : memref<2xi64>
    %b = memref.load %all[%i1] : memref<2xi64>
    %4 = arith.cmpi eq, %a, %least : i64
    %5 = arith.cmpi eq, %b, %large : i64
    %6 = arith.andi %4, %5 : i1
    %nan = arith.cmpf uno, %o, %o : f32
    %7 = arith.select %nan, %one, %zero : f32
    %quarter = arith.constant 0.25 : f32
    %8 = arith.select %6, %quarter, %zero : f32
    %9 = arith.addf %7, %8 : f32
    %10 = arith.addf %3, %9 : f32
    cuda.yield %10 : f32
  } ins(%odd, %where, %flat, %count, %wide : memref<4xf32>, memref<4xi1>, memref<4xf16>, memref<4xi32>, memref<2xi64>)
    outs(%each : memref<4xf32>)
  cuda.kernel named "total" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%a: f32):
    cuda.yield %a : f32
  } ins(%each : memref<4xf32>) outs(%sum : memref<f32>) scratch(%scratch : memref<512xi8>)
}
