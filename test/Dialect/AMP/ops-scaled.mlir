// Operations on scaled values of eight bits.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @scales(
func.func @scales(%x: tensor<?x8x256xbf16>, %s: tensor<f32>, %m: tensor<f32>, %r: tensor<?x1xf32>, %h: tensor<1024xf32>) {
  // CHECK: amp.amax %{{[^ ,)]+}} : tensor<?x8x256xbf16> -> tensor<f32>
  %0 = amp.amax %x : tensor<?x8x256xbf16> -> tensor<f32>
  // CHECK: amp.amax %{{[^ ,)]+}} blocks [1, 128] : tensor<?x8x256xbf16> -> tensor<?x2xf32>
  %1 = amp.amax %x blocks [1, 128] : tensor<?x8x256xbf16> -> tensor<?x2xf32>
  // CHECK: amp.amax %{{[^ ,)]+}} blocks [0, 100] : tensor<?x8x256xbf16> -> tensor<1x3xf32>
  %2 = amp.amax %x blocks [0, 100] : tensor<?x8x256xbf16> -> tensor<1x3xf32>
  // CHECK: amp.scale_from_amax %{{[^ ,)]+}} for f8E4M3FN : tensor<f32>
  %3 = amp.scale_from_amax %m for f8E4M3FN : tensor<f32>
  // CHECK: amp.scale_from_amax %{{[^ ,)]+}} for f8E5M2 {epsilon = 1.000000e+00 : f32, ignore_non_finite, margin = 2 : i32, power_of_two} : tensor<?x1xf32>
  %4 = amp.scale_from_amax %r for f8E5M2 {epsilon = 1.0 : f32, ignore_non_finite, margin = 2 : i32, power_of_two} : tensor<?x1xf32>
  // CHECK: amp.update_quantizer %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} for f8E5M2 : tensor<1024xf32>
  %5:2 = amp.update_quantizer %s, %h, %m for f8E5M2 : tensor<1024xf32>
  // CHECK: amp.update_quantizer %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} for f8E4M3FN {margin = 2 : i32, most_recent} : tensor<1024xf32>
  %6:2 = amp.update_quantizer %s, %h, %m for f8E4M3FN {margin = 2 : i32, most_recent} : tensor<1024xf32>
  return
}

// CHECK-LABEL: func.func @products(
func.func @products(%x: tensor<?x8x4xf32>, %g: tensor<?x8x6xf16>, %w: tensor<4x6xbf16>, %s: tensor<f32>, %t: tensor<?x1xf32>, %b: tensor<6xbf16>, %rng: tensor<2xi64>) {
  // CHECK: %[[X:.*]] = amp.quantize %{{[^ ,)]+}} by %{{[^ ,)]+}} saturate : (tensor<?x8x4xf32>, tensor<f32>) -> tensor<?x8x4xf8E4M3FN>
  %0 = amp.quantize %x by %s saturate : (tensor<?x8x4xf32>, tensor<f32>) -> tensor<?x8x4xf8E4M3FN>
  // CHECK: %[[G:.*]] = amp.quantize %{{[^ ,)]+}} by %{{[^ ,)]+}} blocks [1, 0] : (tensor<?x8x6xf16>, tensor<?x1xf32>) -> tensor<?x8x6xf8E5M2>
  %1 = amp.quantize %g by %t blocks [1, 0] : (tensor<?x8x6xf16>, tensor<?x1xf32>) -> tensor<?x8x6xf8E5M2>
  // CHECK: amp.quantize %{{[^ ,)]+}} by %{{[^ ,)]+}} saturate {keep_non_finite} : (tensor<?x8x4xf32>
  %k = amp.quantize %x by %s saturate {keep_non_finite} : (tensor<?x8x4xf32>, tensor<f32>) -> tensor<?x8x4xf8E4M3FN>
  // CHECK: amp.quantize %{{[^ ,)]+}} by %{{[^ ,)]+}} blocks [1, 0] saturate stochastic %{{[^ ,)]+}} key 3 {keep_non_finite} : (tensor<?x8x6xf16>
  %sr = amp.quantize %g by %t blocks [1, 0] saturate stochastic %rng key 3 {keep_non_finite} : (tensor<?x8x6xf16>, tensor<?x1xf32>) -> tensor<?x8x6xf8E5M2>
  // CHECK: %[[W:.*]] = amp.quantize
  %2 = amp.quantize %w by %s saturate : (tensor<4x6xbf16>, tensor<f32>) -> tensor<4x6xf8E4M3FN>
  // CHECK: amp.dequantize %[[G]] by %{{[^ ,)]+}} blocks [1, 0] : (tensor<?x8x6xf8E5M2>, tensor<?x1xf32>) -> tensor<?x8x6xbf16>
  %3 = amp.dequantize %1 by %t blocks [1, 0] : (tensor<?x8x6xf8E5M2>, tensor<?x1xf32>) -> tensor<?x8x6xbf16>
  // CHECK: amp.scaled_matmul {{.*}} {accumulator_bits = 22 : i32, promotion = 128 : i64}
  %n = amp.scaled_matmul %0 by %s, %2 by %s {accumulator_bits = 22 : i32, promotion = 128 : i64} : (tensor<?x8x4xf8E4M3FN>, tensor<f32>), (tensor<4x6xf8E4M3FN>, tensor<f32>) -> tensor<?x8x6xbf16>
  // CHECK: amp.scaled_matmul %[[X]] by %{{[^ ,)]+}}, %[[W]] by %{{[^ ,)]+}} plus %{{[^ ,)]+}} : tensor<6xbf16> : (tensor<?x8x4xf8E4M3FN>, tensor<f32>), (tensor<4x6xf8E4M3FN>, tensor<f32>) -> tensor<?x8x6xbf16>
  %4 = amp.scaled_matmul %0 by %s, %2 by %s plus %b : tensor<6xbf16> : (tensor<?x8x4xf8E4M3FN>, tensor<f32>), (tensor<4x6xf8E4M3FN>, tensor<f32>) -> tensor<?x8x6xbf16>
  // CHECK: amp.scaled_matmul %[[X]] by %{{[^ ,)]+}}, %[[G]] by %{{[^ ,)]+}} blocks [1, 0] {transpose_a} : (tensor<?x8x4xf8E4M3FN>, tensor<f32>), (tensor<?x8x6xf8E5M2>, tensor<?x1xf32>) -> tensor<4x6xf32>
  %5 = amp.scaled_matmul %0 by %s, %1 by %t blocks [1, 0] {transpose_a} : (tensor<?x8x4xf8E4M3FN>, tensor<f32>), (tensor<?x8x6xf8E5M2>, tensor<?x1xf32>) -> tensor<4x6xf32>
  // CHECK: amp.scaled_matmul %[[G]] by %{{[^ ,)]+}} blocks [1, 0], %[[W]] by %{{[^ ,)]+}} {transpose_b} : (tensor<?x8x6xf8E5M2>, tensor<?x1xf32>), (tensor<4x6xf8E4M3FN>, tensor<f32>) -> tensor<?x8x4xf16>
  %6 = amp.scaled_matmul %1 by %t blocks [1, 0], %2 by %s {transpose_b} : (tensor<?x8x6xf8E5M2>, tensor<?x1xf32>), (tensor<4x6xf8E4M3FN>, tensor<f32>) -> tensor<?x8x4xf16>
  return
}
