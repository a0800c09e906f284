// Functions that round inputs to integers stay f32, and so do the operations
// that compute these inputs, in each dialect with such functions.
//
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" --canonicalize | FileCheck %s
// The assignment is stable.
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" -o %t
// RUN: amp-opt %t --split-input-file --auto-mixed-precision="precision=bf16" | diff %t -

// The buckets of a table.
// CHECK-LABEL: func.func @tosa
// CHECK: tosa.add {{.*}} : (tensor<1x64x64xf32>, tensor<1x64x64xf32>)
// CHECK: tosa.floor {{.*}} : (tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
// CHECK: tosa.matmul {{.*}} : (tensor<1x64x64xbf16>, tensor<1x64x64xbf16>
func.func @tosa(%x: tensor<1x64x64xf32>, %y: tensor<1x64x64xf32>, %w: tensor<1x64x64xf32>) -> tensor<1x64x64xf32> {
  %s = tosa.add %x, %y : (tensor<1x64x64xf32>, tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %f = tosa.floor %s : (tensor<1x64x64xf32>) -> tensor<1x64x64xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = tosa.matmul %f, %w, %z, %z : (tensor<1x64x64xf32>, tensor<1x64x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x64xf32>
  return %r : tensor<1x64x64xf32>
}

// -----

// CHECK-LABEL: func.func @math
// CHECK: arith.addf {{.*}} : tensor<64x64xf32>
// CHECK: math.roundeven {{.*}} : tensor<64x64xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @math(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = arith.addf %x, %y : tensor<64x64xf32>
  %f = math.roundeven %s : tensor<64x64xf32>
  %r = linalg.matmul ins(%f, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// CHECK-LABEL: func.func @named
// CHECK: linalg.add ins({{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: linalg.ceil ins({{.*}} : tensor<64x64xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @named(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %s = linalg.add ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = linalg.ceil ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%f, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @generic
// CHECK: linalg.add ins({{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xf32>)
// CHECK: math.trunc {{.*}} : f32
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @generic(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %s = linalg.add ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%u: f32, %v: f32):
    %t = math.trunc %u : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %r = linalg.matmul ins(%f, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// A product computes the value, so the low type holds its errors.
// CHECK-LABEL: func.func @of_a_product
// CHECK: math.floor {{.*}} : tensor<64x64xbf16>
func.func @of_a_product(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %h = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = math.floor %h : tensor<64x64xf32>
  %r = linalg.matmul ins(%f, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
