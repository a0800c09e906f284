// Elementwise operations of one operand, and gradients of activations.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @unary_dynamic(
func.func @unary_dynamic(%x: tensor<?x8xf32>) {
  // CHECK: train.neg %{{[^ ,)]+}} : tensor<?x8xf32>
  %r0 = train.neg %x : tensor<?x8xf32>
  // CHECK: train.abs %{{[^ ,)]+}} : tensor<?x8xf32>
  %r1 = train.abs %x : tensor<?x8xf32>
  // CHECK: train.sign %{{[^ ,)]+}} : tensor<?x8xf32>
  %r2 = train.sign %x : tensor<?x8xf32>
  // CHECK: train.sin %{{[^ ,)]+}} : tensor<?x8xf32>
  %r3 = train.sin %x : tensor<?x8xf32>
  // CHECK: train.cos %{{[^ ,)]+}} : tensor<?x8xf32>
  %r4 = train.cos %x : tensor<?x8xf32>
  // CHECK: train.erf %{{[^ ,)]+}} : tensor<?x8xf32>
  %r5 = train.erf %x : tensor<?x8xf32>
  // CHECK: train.sqrt %{{[^ ,)]+}} : tensor<?x8xf32>
  %r6 = train.sqrt %x : tensor<?x8xf32>
  // CHECK: train.log %{{[^ ,)]+}} : tensor<?x8xf32>
  %r7 = train.log %x : tensor<?x8xf32>
  // CHECK: train.log1p %{{[^ ,)]+}} : tensor<?x8xf32>
  %r8 = train.log1p %x : tensor<?x8xf32>
  // CHECK: train.tanh %{{[^ ,)]+}} : tensor<?x8xf32>
  %r9 = train.tanh %x : tensor<?x8xf32>
  // CHECK: train.sigmoid %{{[^ ,)]+}} : tensor<?x8xf32>
  %r10 = train.sigmoid %x : tensor<?x8xf32>
  // CHECK: train.relu %{{[^ ,)]+}} : tensor<?x8xf32>
  %r11 = train.relu %x : tensor<?x8xf32>
  // CHECK: train.exp %{{[^ ,)]+}} : tensor<?x8xf32>
  %r12 = train.exp %x : tensor<?x8xf32>
  // CHECK: train.expm1 %{{[^ ,)]+}} : tensor<?x8xf32>
  %r13 = train.expm1 %x : tensor<?x8xf32>
  // CHECK: train.rsqrt %{{[^ ,)]+}} : tensor<?x8xf32>
  %r14 = train.rsqrt %x : tensor<?x8xf32>
  // CHECK: train.reciprocal %{{[^ ,)]+}} : tensor<?x8xf32>
  %r15 = train.reciprocal %x : tensor<?x8xf32>
  // CHECK: train.square %{{[^ ,)]+}} : tensor<?x8xf32>
  %r16 = train.square %x : tensor<?x8xf32>
  // CHECK: train.gelu %{{[^ ,)]+}} : tensor<?x8xf32>
  %r17 = train.gelu %x : tensor<?x8xf32>
  return
}

// CHECK-LABEL: func.func @unary_f16(
func.func @unary_f16(%x: tensor<4x8xf16>) {
  // CHECK: train.neg %{{[^ ,)]+}} : tensor<4x8xf16>
  %r0 = train.neg %x : tensor<4x8xf16>
  // CHECK: train.abs %{{[^ ,)]+}} : tensor<4x8xf16>
  %r1 = train.abs %x : tensor<4x8xf16>
  // CHECK: train.sign %{{[^ ,)]+}} : tensor<4x8xf16>
  %r2 = train.sign %x : tensor<4x8xf16>
  // CHECK: train.sin %{{[^ ,)]+}} : tensor<4x8xf16>
  %r3 = train.sin %x : tensor<4x8xf16>
  // CHECK: train.cos %{{[^ ,)]+}} : tensor<4x8xf16>
  %r4 = train.cos %x : tensor<4x8xf16>
  // CHECK: train.erf %{{[^ ,)]+}} : tensor<4x8xf16>
  %r5 = train.erf %x : tensor<4x8xf16>
  // CHECK: train.sqrt %{{[^ ,)]+}} : tensor<4x8xf16>
  %r6 = train.sqrt %x : tensor<4x8xf16>
  // CHECK: train.log %{{[^ ,)]+}} : tensor<4x8xf16>
  %r7 = train.log %x : tensor<4x8xf16>
  // CHECK: train.log1p %{{[^ ,)]+}} : tensor<4x8xf16>
  %r8 = train.log1p %x : tensor<4x8xf16>
  // CHECK: train.tanh %{{[^ ,)]+}} : tensor<4x8xf16>
  %r9 = train.tanh %x : tensor<4x8xf16>
  // CHECK: train.sigmoid %{{[^ ,)]+}} : tensor<4x8xf16>
  %r10 = train.sigmoid %x : tensor<4x8xf16>
  // CHECK: train.relu %{{[^ ,)]+}} : tensor<4x8xf16>
  %r11 = train.relu %x : tensor<4x8xf16>
  // CHECK: train.exp %{{[^ ,)]+}} : tensor<4x8xf16>
  %r12 = train.exp %x : tensor<4x8xf16>
  // CHECK: train.expm1 %{{[^ ,)]+}} : tensor<4x8xf16>
  %r13 = train.expm1 %x : tensor<4x8xf16>
  // CHECK: train.rsqrt %{{[^ ,)]+}} : tensor<4x8xf16>
  %r14 = train.rsqrt %x : tensor<4x8xf16>
  // CHECK: train.reciprocal %{{[^ ,)]+}} : tensor<4x8xf16>
  %r15 = train.reciprocal %x : tensor<4x8xf16>
  // CHECK: train.square %{{[^ ,)]+}} : tensor<4x8xf16>
  %r16 = train.square %x : tensor<4x8xf16>
  // CHECK: train.gelu %{{[^ ,)]+}} : tensor<4x8xf16>
  %r17 = train.gelu %x : tensor<4x8xf16>
  return
}

// CHECK-LABEL: func.func @unary_bf16(
func.func @unary_bf16(%x: tensor<4x8xbf16>) {
  // CHECK: train.neg %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r0 = train.neg %x : tensor<4x8xbf16>
  // CHECK: train.abs %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r1 = train.abs %x : tensor<4x8xbf16>
  // CHECK: train.sign %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r2 = train.sign %x : tensor<4x8xbf16>
  // CHECK: train.sin %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r3 = train.sin %x : tensor<4x8xbf16>
  // CHECK: train.cos %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r4 = train.cos %x : tensor<4x8xbf16>
  // CHECK: train.erf %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r5 = train.erf %x : tensor<4x8xbf16>
  // CHECK: train.sqrt %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r6 = train.sqrt %x : tensor<4x8xbf16>
  // CHECK: train.log %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r7 = train.log %x : tensor<4x8xbf16>
  // CHECK: train.log1p %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r8 = train.log1p %x : tensor<4x8xbf16>
  // CHECK: train.tanh %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r9 = train.tanh %x : tensor<4x8xbf16>
  // CHECK: train.sigmoid %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r10 = train.sigmoid %x : tensor<4x8xbf16>
  // CHECK: train.relu %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r11 = train.relu %x : tensor<4x8xbf16>
  // CHECK: train.exp %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r12 = train.exp %x : tensor<4x8xbf16>
  // CHECK: train.expm1 %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r13 = train.expm1 %x : tensor<4x8xbf16>
  // CHECK: train.rsqrt %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r14 = train.rsqrt %x : tensor<4x8xbf16>
  // CHECK: train.reciprocal %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r15 = train.reciprocal %x : tensor<4x8xbf16>
  // CHECK: train.square %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r16 = train.square %x : tensor<4x8xbf16>
  // CHECK: train.gelu %{{[^ ,)]+}} : tensor<4x8xbf16>
  %r17 = train.gelu %x : tensor<4x8xbf16>
  return
}

// CHECK-LABEL: func.func @unary_f32(
func.func @unary_f32(%x: tensor<4x8xf32>) {
  // CHECK: train.neg %{{[^ ,)]+}} : tensor<4x8xf32>
  %r0 = train.neg %x : tensor<4x8xf32>
  // CHECK: train.abs %{{[^ ,)]+}} : tensor<4x8xf32>
  %r1 = train.abs %x : tensor<4x8xf32>
  // CHECK: train.sign %{{[^ ,)]+}} : tensor<4x8xf32>
  %r2 = train.sign %x : tensor<4x8xf32>
  // CHECK: train.sin %{{[^ ,)]+}} : tensor<4x8xf32>
  %r3 = train.sin %x : tensor<4x8xf32>
  // CHECK: train.cos %{{[^ ,)]+}} : tensor<4x8xf32>
  %r4 = train.cos %x : tensor<4x8xf32>
  // CHECK: train.erf %{{[^ ,)]+}} : tensor<4x8xf32>
  %r5 = train.erf %x : tensor<4x8xf32>
  // CHECK: train.sqrt %{{[^ ,)]+}} : tensor<4x8xf32>
  %r6 = train.sqrt %x : tensor<4x8xf32>
  // CHECK: train.log %{{[^ ,)]+}} : tensor<4x8xf32>
  %r7 = train.log %x : tensor<4x8xf32>
  // CHECK: train.log1p %{{[^ ,)]+}} : tensor<4x8xf32>
  %r8 = train.log1p %x : tensor<4x8xf32>
  // CHECK: train.tanh %{{[^ ,)]+}} : tensor<4x8xf32>
  %r9 = train.tanh %x : tensor<4x8xf32>
  // CHECK: train.sigmoid %{{[^ ,)]+}} : tensor<4x8xf32>
  %r10 = train.sigmoid %x : tensor<4x8xf32>
  // CHECK: train.relu %{{[^ ,)]+}} : tensor<4x8xf32>
  %r11 = train.relu %x : tensor<4x8xf32>
  // CHECK: train.exp %{{[^ ,)]+}} : tensor<4x8xf32>
  %r12 = train.exp %x : tensor<4x8xf32>
  // CHECK: train.expm1 %{{[^ ,)]+}} : tensor<4x8xf32>
  %r13 = train.expm1 %x : tensor<4x8xf32>
  // CHECK: train.rsqrt %{{[^ ,)]+}} : tensor<4x8xf32>
  %r14 = train.rsqrt %x : tensor<4x8xf32>
  // CHECK: train.reciprocal %{{[^ ,)]+}} : tensor<4x8xf32>
  %r15 = train.reciprocal %x : tensor<4x8xf32>
  // CHECK: train.square %{{[^ ,)]+}} : tensor<4x8xf32>
  %r16 = train.square %x : tensor<4x8xf32>
  // CHECK: train.gelu %{{[^ ,)]+}} : tensor<4x8xf32>
  %r17 = train.gelu %x : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @unary_f64(
func.func @unary_f64(%x: tensor<4x8xf64>) {
  // CHECK: train.neg %{{[^ ,)]+}} : tensor<4x8xf64>
  %r0 = train.neg %x : tensor<4x8xf64>
  // CHECK: train.abs %{{[^ ,)]+}} : tensor<4x8xf64>
  %r1 = train.abs %x : tensor<4x8xf64>
  // CHECK: train.sign %{{[^ ,)]+}} : tensor<4x8xf64>
  %r2 = train.sign %x : tensor<4x8xf64>
  // CHECK: train.sin %{{[^ ,)]+}} : tensor<4x8xf64>
  %r3 = train.sin %x : tensor<4x8xf64>
  // CHECK: train.cos %{{[^ ,)]+}} : tensor<4x8xf64>
  %r4 = train.cos %x : tensor<4x8xf64>
  // CHECK: train.erf %{{[^ ,)]+}} : tensor<4x8xf64>
  %r5 = train.erf %x : tensor<4x8xf64>
  // CHECK: train.sqrt %{{[^ ,)]+}} : tensor<4x8xf64>
  %r6 = train.sqrt %x : tensor<4x8xf64>
  // CHECK: train.log %{{[^ ,)]+}} : tensor<4x8xf64>
  %r7 = train.log %x : tensor<4x8xf64>
  // CHECK: train.log1p %{{[^ ,)]+}} : tensor<4x8xf64>
  %r8 = train.log1p %x : tensor<4x8xf64>
  // CHECK: train.tanh %{{[^ ,)]+}} : tensor<4x8xf64>
  %r9 = train.tanh %x : tensor<4x8xf64>
  // CHECK: train.sigmoid %{{[^ ,)]+}} : tensor<4x8xf64>
  %r10 = train.sigmoid %x : tensor<4x8xf64>
  // CHECK: train.relu %{{[^ ,)]+}} : tensor<4x8xf64>
  %r11 = train.relu %x : tensor<4x8xf64>
  // CHECK: train.exp %{{[^ ,)]+}} : tensor<4x8xf64>
  %r12 = train.exp %x : tensor<4x8xf64>
  // CHECK: train.expm1 %{{[^ ,)]+}} : tensor<4x8xf64>
  %r13 = train.expm1 %x : tensor<4x8xf64>
  // CHECK: train.rsqrt %{{[^ ,)]+}} : tensor<4x8xf64>
  %r14 = train.rsqrt %x : tensor<4x8xf64>
  // CHECK: train.reciprocal %{{[^ ,)]+}} : tensor<4x8xf64>
  %r15 = train.reciprocal %x : tensor<4x8xf64>
  // CHECK: train.square %{{[^ ,)]+}} : tensor<4x8xf64>
  %r16 = train.square %x : tensor<4x8xf64>
  // CHECK: train.gelu %{{[^ ,)]+}} : tensor<4x8xf64>
  %r17 = train.gelu %x : tensor<4x8xf64>
  return
}

// CHECK-LABEL: func.func @unary_scalar(
func.func @unary_scalar(%x: tensor<f32>) {
  // CHECK: train.neg %{{[^ ,)]+}} : tensor<f32>
  %r0 = train.neg %x : tensor<f32>
  // CHECK: train.abs %{{[^ ,)]+}} : tensor<f32>
  %r1 = train.abs %x : tensor<f32>
  // CHECK: train.sign %{{[^ ,)]+}} : tensor<f32>
  %r2 = train.sign %x : tensor<f32>
  // CHECK: train.sin %{{[^ ,)]+}} : tensor<f32>
  %r3 = train.sin %x : tensor<f32>
  // CHECK: train.cos %{{[^ ,)]+}} : tensor<f32>
  %r4 = train.cos %x : tensor<f32>
  // CHECK: train.erf %{{[^ ,)]+}} : tensor<f32>
  %r5 = train.erf %x : tensor<f32>
  // CHECK: train.sqrt %{{[^ ,)]+}} : tensor<f32>
  %r6 = train.sqrt %x : tensor<f32>
  // CHECK: train.log %{{[^ ,)]+}} : tensor<f32>
  %r7 = train.log %x : tensor<f32>
  // CHECK: train.log1p %{{[^ ,)]+}} : tensor<f32>
  %r8 = train.log1p %x : tensor<f32>
  // CHECK: train.tanh %{{[^ ,)]+}} : tensor<f32>
  %r9 = train.tanh %x : tensor<f32>
  // CHECK: train.sigmoid %{{[^ ,)]+}} : tensor<f32>
  %r10 = train.sigmoid %x : tensor<f32>
  // CHECK: train.relu %{{[^ ,)]+}} : tensor<f32>
  %r11 = train.relu %x : tensor<f32>
  // CHECK: train.exp %{{[^ ,)]+}} : tensor<f32>
  %r12 = train.exp %x : tensor<f32>
  // CHECK: train.expm1 %{{[^ ,)]+}} : tensor<f32>
  %r13 = train.expm1 %x : tensor<f32>
  // CHECK: train.rsqrt %{{[^ ,)]+}} : tensor<f32>
  %r14 = train.rsqrt %x : tensor<f32>
  // CHECK: train.reciprocal %{{[^ ,)]+}} : tensor<f32>
  %r15 = train.reciprocal %x : tensor<f32>
  // CHECK: train.square %{{[^ ,)]+}} : tensor<f32>
  %r16 = train.square %x : tensor<f32>
  // CHECK: train.gelu %{{[^ ,)]+}} : tensor<f32>
  %r17 = train.gelu %x : tensor<f32>
  return
}

// CHECK-LABEL: func.func @gelu_tanh(
func.func @gelu_tanh(%x: tensor<?x8xf16>) {
  // CHECK: train.gelu %{{[^ ,)]+}} {approximate = 1 : i32} : tensor<?x8xf16>
  %r0 = train.gelu %x {approximate = 1 : i32} : tensor<?x8xf16>
  return
}

// CHECK-LABEL: func.func @clip(
func.func @clip(
    %x: tensor<?x8xf16>,
    %x_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %x_4: tensor<f32>) {
  // CHECK: train.clip %{{[^ ,)]+}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xf16>
  %r0 = train.clip %x {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xf16>
  // CHECK: train.clip %{{[^ ,)]+}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xbf16>
  %r1 = train.clip %x_1 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xbf16>
  // CHECK: train.clip %{{[^ ,)]+}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xf32>
  %r2 = train.clip %x_2 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xf32>
  // CHECK: train.clip %{{[^ ,)]+}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xf64>
  %r3 = train.clip %x_3 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xf64>
  // CHECK: train.clip %{{[^ ,)]+}} {max = 0x7FF0000000000000 : f64, min = -1.000000e+00 : f64} : tensor<f32>
  %r4 = train.clip %x_4 {max = 0x7FF0000000000000 : f64, min = -1.000000e+00 : f64} : tensor<f32>
  return
}

// CHECK-LABEL: func.func @activation_gradients(
func.func @activation_gradients(
    %y: tensor<?x8xf32>,
    %dy: tensor<?x8xf32>,
    %x: tensor<?x8xf32>,
    %y_1: tensor<4x8xf16>,
    %dy_1: tensor<4x8xf16>,
    %x_1: tensor<4x8xf16>,
    %y_2: tensor<4xbf16>,
    %dy_2: tensor<4xbf16>,
    %x_2: tensor<4xbf16>,
    %y_3: tensor<f64>,
    %dy_3: tensor<f64>,
    %x_3: tensor<f64>) {
  // CHECK: train.relu_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<?x8xf32>
  %r0 = train.relu_grad %y, %dy : tensor<?x8xf32>
  // CHECK: train.tanh_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<?x8xf32>
  %r1 = train.tanh_grad %y, %dy : tensor<?x8xf32>
  // CHECK: train.sigmoid_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<?x8xf32>
  %r2 = train.sigmoid_grad %y, %dy : tensor<?x8xf32>
  // CHECK: train.gelu_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<?x8xf32>
  %r3 = train.gelu_grad %x, %dy : tensor<?x8xf32>
  // CHECK: train.relu_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<4x8xf16>
  %r4 = train.relu_grad %y_1, %dy_1 : tensor<4x8xf16>
  // CHECK: train.tanh_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<4x8xf16>
  %r5 = train.tanh_grad %y_1, %dy_1 : tensor<4x8xf16>
  // CHECK: train.sigmoid_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<4x8xf16>
  %r6 = train.sigmoid_grad %y_1, %dy_1 : tensor<4x8xf16>
  // CHECK: train.gelu_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<4x8xf16>
  %r7 = train.gelu_grad %x_1, %dy_1 : tensor<4x8xf16>
  // CHECK: train.relu_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<4xbf16>
  %r8 = train.relu_grad %y_2, %dy_2 : tensor<4xbf16>
  // CHECK: train.tanh_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<4xbf16>
  %r9 = train.tanh_grad %y_2, %dy_2 : tensor<4xbf16>
  // CHECK: train.sigmoid_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<4xbf16>
  %r10 = train.sigmoid_grad %y_2, %dy_2 : tensor<4xbf16>
  // CHECK: train.gelu_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<4xbf16>
  %r11 = train.gelu_grad %x_2, %dy_2 : tensor<4xbf16>
  // CHECK: train.relu_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<f64>
  %r12 = train.relu_grad %y_3, %dy_3 : tensor<f64>
  // CHECK: train.tanh_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<f64>
  %r13 = train.tanh_grad %y_3, %dy_3 : tensor<f64>
  // CHECK: train.sigmoid_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<f64>
  %r14 = train.sigmoid_grad %y_3, %dy_3 : tensor<f64>
  // CHECK: train.gelu_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} : tensor<f64>
  %r15 = train.gelu_grad %x_3, %dy_3 : tensor<f64>
  // CHECK: train.gelu_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {approximate = 1 : i32} : tensor<?x8xf32>
  %r16 = train.gelu_grad %x, %dy {approximate = 1 : i32} : tensor<?x8xf32>
  // CHECK: train.clip_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xf32>
  %r17 = train.clip_grad %x, %dy {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<?x8xf32>
  // CHECK: train.clip_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<4x8xf16>
  %r18 = train.clip_grad %x_1, %dy_1 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<4x8xf16>
  // CHECK: train.clip_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<4xbf16>
  %r19 = train.clip_grad %x_2, %dy_2 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<4xbf16>
  // CHECK: train.clip_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<f64>
  %r20 = train.clip_grad %x_3, %dy_3 {max = 6.000000e+00 : f64, min = 0.000000e+00 : f64} : tensor<f64>
  return
}
