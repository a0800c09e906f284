// Elementwise operations of several operands, and constants.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @binary_f16(
func.func @binary_f16(%x: tensor<?x8xf16>, %y: tensor<?x8xf16>) {
  // CHECK: train.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %r0 = train.add %x, %y : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  // CHECK: train.sub %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %r1 = train.sub %x, %y : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  // CHECK: train.mul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %r2 = train.mul %x, %y : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  // CHECK: train.div %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %r3 = train.div %x, %y : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  // CHECK: train.maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %r4 = train.maximum %x, %y : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  // CHECK: train.minimum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %r5 = train.minimum %x, %y : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  // CHECK: train.pow %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %r6 = train.pow %x, %y : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// CHECK-LABEL: func.func @binary_bf16(
func.func @binary_bf16(%x: tensor<?x8xbf16>, %y: tensor<?x8xbf16>) {
  // CHECK: train.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %r0 = train.add %x, %y : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.sub %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %r1 = train.sub %x, %y : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.mul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %r2 = train.mul %x, %y : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.div %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %r3 = train.div %x, %y : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %r4 = train.maximum %x, %y : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.minimum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %r5 = train.minimum %x, %y : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.pow %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %r6 = train.pow %x, %y : (tensor<?x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: func.func @binary_f32(
func.func @binary_f32(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) {
  // CHECK: train.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r0 = train.add %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.sub %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r1 = train.sub %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.mul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r2 = train.mul %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.div %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r3 = train.div %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r4 = train.maximum %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.minimum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r5 = train.minimum %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.pow %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r6 = train.pow %x, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: func.func @binary_f64(
func.func @binary_f64(%x: tensor<?x8xf64>, %y: tensor<?x8xf64>) {
  // CHECK: train.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %r0 = train.add %x, %y : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  // CHECK: train.sub %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %r1 = train.sub %x, %y : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  // CHECK: train.mul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %r2 = train.mul %x, %y : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  // CHECK: train.div %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %r3 = train.div %x, %y : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  // CHECK: train.maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %r4 = train.maximum %x, %y : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  // CHECK: train.minimum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %r5 = train.minimum %x, %y : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  // CHECK: train.pow %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  %r6 = train.pow %x, %y : (tensor<?x8xf64>, tensor<?x8xf64>) -> tensor<?x8xf64>
  return
}

// CHECK-LABEL: func.func @broadcasting(
func.func @broadcasting(
    %x: tensor<?x8xf32>,
    %y: tensor<8xf32>,
    %x_1: tensor<4x1xf16>,
    %y_1: tensor<1x8xf16>,
    %x_2: tensor<f32>,
    %y_2: tensor<?x3x8xf32>,
    %x_3: tensor<?x1xbf16>,
    %y_3: tensor<8xbf16>,
    %x_4: tensor<1x8xf32>,
    %y_4: tensor<?x8xf32>,
    %x_5: tensor<f64>,
    %y_5: tensor<f64>) {
  // CHECK: train.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %r0 = train.add %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: train.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  %r1 = train.add %x_1, %y_1 : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  // CHECK: train.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  %r2 = train.add %x_2, %y_2 : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  // CHECK: train.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  %r3 = train.add %x_3, %y_3 : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.sub %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %r4 = train.sub %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: train.sub %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  %r5 = train.sub %x_1, %y_1 : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  // CHECK: train.sub %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  %r6 = train.sub %x_2, %y_2 : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  // CHECK: train.sub %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  %r7 = train.sub %x_3, %y_3 : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.mul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %r8 = train.mul %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: train.mul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  %r9 = train.mul %x_1, %y_1 : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  // CHECK: train.mul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  %r10 = train.mul %x_2, %y_2 : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  // CHECK: train.mul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  %r11 = train.mul %x_3, %y_3 : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.div %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %r12 = train.div %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: train.div %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  %r13 = train.div %x_1, %y_1 : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  // CHECK: train.div %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  %r14 = train.div %x_2, %y_2 : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  // CHECK: train.div %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  %r15 = train.div %x_3, %y_3 : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %r16 = train.maximum %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: train.maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  %r17 = train.maximum %x_1, %y_1 : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  // CHECK: train.maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  %r18 = train.maximum %x_2, %y_2 : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  // CHECK: train.maximum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  %r19 = train.maximum %x_3, %y_3 : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.minimum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %r20 = train.minimum %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: train.minimum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  %r21 = train.minimum %x_1, %y_1 : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  // CHECK: train.minimum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  %r22 = train.minimum %x_2, %y_2 : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  // CHECK: train.minimum %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  %r23 = train.minimum %x_3, %y_3 : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.pow %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %r24 = train.pow %x, %y : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: train.pow %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  %r25 = train.pow %x_1, %y_1 : (tensor<4x1xf16>, tensor<1x8xf16>) -> tensor<4x8xf16>
  // CHECK: train.pow %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  %r26 = train.pow %x_2, %y_2 : (tensor<f32>, tensor<?x3x8xf32>) -> tensor<?x3x8xf32>
  // CHECK: train.pow %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  %r27 = train.pow %x_3, %y_3 : (tensor<?x1xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.add %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<1x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %r28 = train.add %x_4, %y_4 : (tensor<1x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.mul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %r29 = train.mul %x_5, %y_5 : (tensor<f64>, tensor<f64>) -> tensor<f64>
  return
}

// CHECK-LABEL: func.func @compare(
func.func @compare(
    %x: tensor<?x8xf32>,
    %y: tensor<?x1xf32>,
    %x_1: tensor<4xf16>,
    %y_1: tensor<f16>,
    %x_2: tensor<4xbf16>,
    %y_2: tensor<bf16>,
    %x_3: tensor<4xf64>,
    %y_3: tensor<f64>,
    %x_4: tensor<4xi32>,
    %y_4: tensor<i32>,
    %x_5: tensor<4xi64>,
    %y_5: tensor<i64>,
    %x_6: tensor<4xi1>,
    %y_6: tensor<4xi1>) {
  // CHECK: train.compare eq, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  %r0 = train.compare eq, %x, %y : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  // CHECK: train.compare ne, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  %r1 = train.compare ne, %x, %y : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  // CHECK: train.compare lt, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  %r2 = train.compare lt, %x, %y : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  // CHECK: train.compare le, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  %r3 = train.compare le, %x, %y : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  // CHECK: train.compare gt, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  %r4 = train.compare gt, %x, %y : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  // CHECK: train.compare ge, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  %r5 = train.compare ge, %x, %y : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xi1>
  // CHECK: train.compare lt, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4xf16>, tensor<f16>) -> tensor<4xi1>
  %r6 = train.compare lt, %x_1, %y_1 : (tensor<4xf16>, tensor<f16>) -> tensor<4xi1>
  // CHECK: train.compare lt, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xi1>
  %r7 = train.compare lt, %x_2, %y_2 : (tensor<4xbf16>, tensor<bf16>) -> tensor<4xi1>
  // CHECK: train.compare lt, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4xf64>, tensor<f64>) -> tensor<4xi1>
  %r8 = train.compare lt, %x_3, %y_3 : (tensor<4xf64>, tensor<f64>) -> tensor<4xi1>
  // CHECK: train.compare lt, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
  %r9 = train.compare lt, %x_4, %y_4 : (tensor<4xi32>, tensor<i32>) -> tensor<4xi1>
  // CHECK: train.compare lt, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
  %r10 = train.compare lt, %x_5, %y_5 : (tensor<4xi64>, tensor<i64>) -> tensor<4xi1>
  // CHECK: train.compare eq, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r11 = train.compare eq, %x_6, %y_6 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: train.compare ne, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %r12 = train.compare ne, %x_6, %y_6 : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @select(
func.func @select(
    %c: tensor<?x8xi1>,
    %x: tensor<?x8xf16>,
    %y: tensor<f16>,
    %x_1: tensor<?x8xbf16>,
    %y_1: tensor<bf16>,
    %x_2: tensor<?x8xf32>,
    %y_2: tensor<f32>,
    %x_3: tensor<?x8xf64>,
    %y_3: tensor<f64>,
    %c_1: tensor<i1>,
    %x_4: tensor<4x1xf32>,
    %y_4: tensor<8xf32>,
    %c_2: tensor<?x1xi1>,
    %x_5: tensor<8xf16>) {
  // CHECK: train.select %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xi1>, tensor<?x8xf16>, tensor<f16>) -> tensor<?x8xf16>
  %r0 = train.select %c, %x, %y : (tensor<?x8xi1>, tensor<?x8xf16>, tensor<f16>) -> tensor<?x8xf16>
  // CHECK: train.select %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xi1>, tensor<?x8xbf16>, tensor<bf16>) -> tensor<?x8xbf16>
  %r1 = train.select %c, %x_1, %y_1 : (tensor<?x8xi1>, tensor<?x8xbf16>, tensor<bf16>) -> tensor<?x8xbf16>
  // CHECK: train.select %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xi1>, tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %r2 = train.select %c, %x_2, %y_2 : (tensor<?x8xi1>, tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  // CHECK: train.select %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xi1>, tensor<?x8xf64>, tensor<f64>) -> tensor<?x8xf64>
  %r3 = train.select %c, %x_3, %y_3 : (tensor<?x8xi1>, tensor<?x8xf64>, tensor<f64>) -> tensor<?x8xf64>
  // CHECK: train.select %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<i1>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %r4 = train.select %c_1, %x_4, %y_4 : (tensor<i1>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: train.select %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x1xi1>, tensor<8xf16>, tensor<f16>) -> tensor<?x8xf16>
  %r5 = train.select %c_2, %x_5, %y : (tensor<?x1xi1>, tensor<8xf16>, tensor<f16>) -> tensor<?x8xf16>
  return
}

// CHECK-LABEL: func.func @one_hot(
func.func @one_hot(
    %i: tensor<?xi64>,
    %i_1: tensor<?xi32>,
    %i_2: tensor<i64>,
    %i_3: tensor<2x3xi32>) {
  // CHECK: train.one_hot %{{[^ ,)]+}} : (tensor<?xi64>) -> tensor<?x10xf32>
  %r0 = train.one_hot %i : (tensor<?xi64>) -> tensor<?x10xf32>
  // CHECK: train.one_hot %{{[^ ,)]+}} : (tensor<?xi32>) -> tensor<?x10xf16>
  %r1 = train.one_hot %i_1 : (tensor<?xi32>) -> tensor<?x10xf16>
  // CHECK: train.one_hot %{{[^ ,)]+}} : (tensor<?xi64>) -> tensor<?x10xbf16>
  %r2 = train.one_hot %i : (tensor<?xi64>) -> tensor<?x10xbf16>
  // CHECK: train.one_hot %{{[^ ,)]+}} : (tensor<?xi32>) -> tensor<?x10xf64>
  %r3 = train.one_hot %i_1 : (tensor<?xi32>) -> tensor<?x10xf64>
  // CHECK: train.one_hot %{{[^ ,)]+}} : (tensor<i64>) -> tensor<10xf32>
  %r4 = train.one_hot %i_2 : (tensor<i64>) -> tensor<10xf32>
  // CHECK: train.one_hot %{{[^ ,)]+}} : (tensor<2x3xi32>) -> tensor<2x3x5xf32>
  %r5 = train.one_hot %i_3 : (tensor<2x3xi32>) -> tensor<2x3x5xf32>
  return
}

// CHECK-LABEL: func.func @constant(
func.func @constant() {
  // CHECK: train.constant dense<5.000000e-01> : tensor<f32>
  %r0 = train.constant dense<5.000000e-01> : tensor<f32>
  // CHECK: train.constant dense<[1.000000e+00, -0.000000e+00]> : tensor<2xf16>
  %r1 = train.constant dense<[1.000000e+00, -0.000000e+00]> : tensor<2xf16>
  // CHECK: train.constant dense<0x7F80> : tensor<bf16>
  %r2 = train.constant dense<0x7F80> : tensor<bf16>
  // CHECK: train.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf64>
  %r3 = train.constant dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf64>
  // CHECK: train.constant dense<true> : tensor<i1>
  %r4 = train.constant dense<true> : tensor<i1>
  // CHECK: train.constant dense<[1, -2, 3]> : tensor<3xi32>
  %r5 = train.constant dense<[1, -2, 3]> : tensor<3xi32>
  // CHECK: train.constant dense<0> : tensor<2xi64>
  %r6 = train.constant dense<0> : tensor<2xi64>
  // CHECK: train.constant dense<0x7E00> : tensor<4xf16>
  %r7 = train.constant dense<0x7E00> : tensor<4xf16>
  // CHECK: train.constant dense_resource<weights> : tensor<2xf32>
  %r8 = train.constant dense_resource<weights> : tensor<2xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}
