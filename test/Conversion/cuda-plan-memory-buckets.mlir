// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --cuda-plan-memory=ranks=3 --split-input-file | FileCheck %s
// RUN: sed '/^.. -----/,$d' %s | amp-opt --cuda-plan-memory=ranks=3 | amp-translate --mlir-to-cuda | FileCheck %s --check-prefix=BUCKET
// RUN: sed '1,/^.. -----/d' %s | amp-opt --cuda-plan-memory=ranks=3 | amp-translate --mlir-to-cuda | FileCheck %s --check-prefix=PADDED

#map = affine_map<(d0) -> (d0)>

// The values of a bucket are contiguous, each aligned to 256 bytes. One call of NCCL
// reduces the floats: 64 + 2 elements. Integers follow and need another call.
// CHECK-LABEL: cuda.program @bucket
// CHECK-DAG: cuda.buffer "a" at 1280 : memref<2xf32>
// CHECK-DAG: cuda.buffer "b" at 1536 : memref<2xf32>
// CHECK-DAG: cuda.buffer "n" at 1792 : memref<1xi32>
// BUCKET: operands[] = {
// BUCKET-NEXT: {run.at<float>(at::a), run.at<float>(at::a), 66, ncclFloat32},
// BUCKET-NEXT: {run.at<int32_t>(at::n), run.at<int32_t>(at::n), 1, ncclInt32},
// BUCKET-NEXT: };
func.func @bucket(%x: tensor<2xf32> {amp.role = "batch", amp.name = "x"}, %i: tensor<1xi32> {amp.role = "batch", amp.name = "i"},
                  %w: tensor<2xf32> {amp.role = "parameter", amp.name = "w"}, %u: tensor<2xf32> {amp.role = "parameter", amp.name = "u"},
                  %k: tensor<1xi32> {amp.role = "model_state", amp.name = "k"})
    -> (tensor<2xf32> {amp.updates = "w"}, tensor<2xf32> {amp.updates = "u"}, tensor<1xi32> {amp.updates = "k"}) {
  %n = cuda.kernel named "n" over [1] maps [#map, #map] {
  ^bb0(%a: i32):
    cuda.yield %a : i32
  } ins(%i : tensor<1xi32>) -> tensor<1xi32>
  %0 = cuda.kernel named "a" over [2] maps [#map, #map, #map] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    cuda.yield %m : f32
  } ins(%x, %w : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = cuda.kernel named "b" over [2] maps [#map, #map, #map] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    cuda.yield %m : f32
  } ins(%x, %u : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %s:3 = cuda.all_reduce <sum> named "reduce" ins(%0, %n, %1 : tensor<2xf32>, tensor<1xi32>, tensor<2xf32>) -> tensor<2xf32>, tensor<1xi32>, tensor<2xf32>
  %2 = cuda.kernel named "new_w" over [2] maps [#map, #map, #map] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    cuda.yield %m : f32
  } ins(%w, %s#0 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = cuda.kernel named "new_u" over [2] maps [#map, #map, #map] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    cuda.yield %m : f32
  } ins(%u, %s#2 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = cuda.kernel named "new_k" over [1] maps [#map, #map, #map] {
  ^bb0(%a: i32, %b: i32):
    %m = arith.addi %a, %b : i32
    cuda.yield %m : i32
  } ins(%k, %s#1 : tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  return %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<1xi32>
}

// -----

#map = affine_map<(d0) -> (d0)>

// Three ranks scatter 64 elements in parts of 22. No other buffer uses the two
// elements after "g" or after the parameter.
// CHECK-LABEL: cuda.program @padded arena
// CHECK: %w = cuda.buffer "w" at [[#%u,W:]] {role = "parameter"} : memref<64xf32>
// CHECK-NEXT: cuda.buffer "x" at [[#W+512]]
// CHECK: %[[G:.*]] = cuda.buffer "g" at
// CHECK: cuda.reduce_scatter named "scatter" ins(%[[G]] : memref<64xf32>) outs(%[[P:.*]] : memref<22xf32>)
// CHECK: cuda.all_gather named "gather" ins(%{{.*}} : memref<22xf32>) outs(%w : memref<64xf32>)
// PADDED: {run.at<float>(at::g), run.at<float>(at::scatter), 22, ncclFloat32, 64},
// PADDED: {run.at<float>(at::scatter), run.at<float>(at::w), 22, ncclFloat32},
func.func @padded(%w: tensor<64xf32> {amp.role = "parameter", amp.name = "w"}, %x: tensor<64xf32> {amp.role = "batch", amp.name = "x"},
                  %v: tensor<22xf32> {amp.role = "optimizer_state", amp.name = "v", amp.part_of = tensor<64xf32>})
    -> (tensor<64xf32> {amp.updates = "w"}, tensor<22xf32> {amp.updates = "v"}) {
  %0 = cuda.kernel named "g" over [64] maps [#map, #map, #map] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    cuda.yield %m : f32
  } ins(%x, %w : tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = cuda.reduce_scatter named "scatter" ins(%0 : tensor<64xf32>) {along = 0 : i64} -> tensor<22xf32>
  %2:2 = cuda.kernel named "new" over [22] maps [#map, #map, #map, #map] {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    %n = arith.mulf %a, %b : f32
    cuda.yield %m, %n : f32, f32
  } ins(%v, %1 : tensor<22xf32>, tensor<22xf32>) -> tensor<22xf32>, tensor<22xf32>
  %3 = cuda.all_gather named "gather" ins(%2#1 : tensor<22xf32>) {along = 0 : i64} -> tensor<64xf32>
  return %3, %2#0 : tensor<64xf32>, tensor<22xf32>
}
