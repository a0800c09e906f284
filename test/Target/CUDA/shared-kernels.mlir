// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches of equal kernels share one kernel, with the name of the first launch.
// Kernels with other extents, types or constants are separate.
//
// RUN: amp-translate --mlir-to-cuda %s -o %t.cu && FileCheck %s < %t.cu
// RUN: grep -c '^__global__' %t.cu | FileCheck %s --check-prefix=COUNT
// COUNT: {{^4$}}

// CHECK: //   a: f32[4] -> b: f32[4]
// CHECK-NEXT: // Launched as first, second.
// CHECK-NEXT: #ifndef P_HAS_first
// CHECK-NEXT: __global__ void __launch_bounds__(kThreads) first(float *out0, const float *in0) {
// CHECK: //   b: f32[4] -> c: f32[4]
// CHECK-NEXT: #ifndef P_HAS_constant
// CHECK: __launch_bounds__(kThreads) narrow(__half *out0, const float *in0) {
// CHECK: // t.a, t.b, t.c, t.d, t.e, t.f, ...
// CHECK: __launch_bounds__(kThreads) shorter(
// CHECK: launch("first", run.stream, elementwiseShape(4, 4), kernels::first,
// CHECK-NEXT: run.at<float>(at::b),
// CHECK-NEXT: run.at<float>(at::a)));
// CHECK: launch("constant", run.stream, elementwiseShape(4, 4), kernels::constant,
// CHECK: launch("second", run.stream, elementwiseShape(4, 4), kernels::first,
// CHECK-NEXT: run.at<float>(at::d),
// CHECK-NEXT: run.at<float>(at::c)));
// CHECK: // t.a, t.b, t.c, t.d, t.e, t.f, ...:
cuda.program @p arena 1792 {
  %a = cuda.buffer "a" at 0 {role = "batch"} : memref<4xf32>
  %s = cuda.buffer "s" at 256 {role = "batch"} : memref<2xf32>
  %b = cuda.buffer "b" at 512 {role = "prediction"} : memref<4xf32>
  %c = cuda.buffer "c" at 768 {role = "prediction"} : memref<4xf32>
  %d = cuda.buffer "d" at 1024 {role = "prediction"} : memref<4xf32>
  %e = cuda.buffer "e" at 1280 {role = "prediction"} : memref<4xf16>
  %f = cuda.buffer "f" at 1536 {role = "prediction"} : memref<2xf32>
  cuda.kernel named "first" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x: f32):
    %k = arith.constant 2.0 : f32
    %y = arith.mulf %x, %k : f32
    cuda.yield %y : f32
  } ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
  cuda.kernel named "constant" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x: f32):
    %k = arith.constant 3.0 : f32
    %y = arith.mulf %x, %k : f32
    cuda.yield %y : f32
  } ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
  cuda.kernel named "second" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x: f32):
    %k = arith.constant 2.0 : f32
    %y = arith.mulf %x, %k : f32
    cuda.yield %y : f32
  } ins(%c : memref<4xf32>) outs(%d : memref<4xf32>)
  cuda.kernel named "narrow" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f16
    cuda.yield %y : f16
  } ins(%a : memref<4xf32>) outs(%e : memref<4xf16>)
  cuda.kernel named "shorter" over [2] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x: f32):
    %k = arith.constant 2.0 : f32
    %y = arith.mulf %x, %k : f32
    cuda.yield %y : f32
  } ins(%s : memref<2xf32>) outs(%f : memref<2xf32>)
    loc(fused["t.a", "t.b", "t.c", "t.d", "t.e", "t.f", "t.g"])
}
