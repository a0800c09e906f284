// RUN: amp-opt %s --convert-amp-to-linalg --split-input-file | FileCheck %s --implicit-check-not='amp.'
// RUN: amp-opt %s --convert-amp-to-linalg --split-input-file > %t.once
// RUN: amp-opt %t.once --convert-amp-to-linalg --split-input-file | diff %t.once -

// CHECK-LABEL: func.func @cast
// CHECK: linalg.generic
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @cast(%x: tensor<4xf32>) -> tensor<4xf16> {
  %0 = amp.cast %x : tensor<4xf32> to tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// Between the 16-bit types and from f64, once and by way of f32.

// CHECK-LABEL: func.func @narrow
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.ori
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @narrow(%x: tensor<4xf16>, %y: tensor<4xf64>) -> (tensor<4xbf16>, tensor<4xf16>) {
  %0 = amp.cast %x : tensor<4xf16> to tensor<4xbf16>
  %1 = amp.cast %y : tensor<4xf64> to tensor<4xf16>
  return %0, %1 : tensor<4xbf16>, tensor<4xf16>
}

// -----

// CHECK-LABEL: func.func @unscale
// CHECK: arith.divf {{.*}} : f64
// CHECK-NEXT: arith.truncf {{.*}} : f64 to f32
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.maxui
// CHECK: arith.cmpi ult
func.func @unscale(%g: tensor<8xf16>, %s: tensor<f32>) -> (tensor<8xf32>, tensor<i1>) {
  %0, %1 = amp.unscale %g by %s : (tensor<8xf16>) -> (tensor<8xf32>)
  return %0, %1 : tensor<8xf32>, tensor<i1>
}

// -----

// CHECK-LABEL: func.func @rest
// CHECK: arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK: arith.truncf {{.*}} : f32 to bf16
// CHECK: tensor.extract
// CHECK: tensor.from_elements
func.func @rest(%w: tensor<4xf32>, %s: tensor<f32>, %g: tensor<i32>, %h: tensor<i32>, %f: tensor<i1>) -> (tensor<f32>, tensor<4xbf16>, tensor<f32>) {
  %0 = amp.gradient_seed "loss" : tensor<f32>
  %1 = amp.scale %0 by %s : tensor<f32>
  %2 = amp.master_copy %w : tensor<4xf32> to tensor<4xbf16>
  %3:3 = amp.update_scale %s, %g, %h, %f
  return %1, %2, %3#0 : tensor<f32>, tensor<4xbf16>, tensor<f32>
}
