// RUN: amp-opt %s --convert-train-to-linalg --split-input-file | FileCheck %s --implicit-check-not='train.'
// RUN: amp-opt %s --convert-train-to-linalg --split-input-file > %t.once
// RUN: amp-opt %t.once --convert-train-to-linalg --split-input-file | diff %t.once -

// Low types are storage: f32 in the body, one rounding.

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @add
// CHECK: linalg.generic {indexing_maps = [#[[$ID]], #[[$ROW]], #[[$ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %{{.*}}: bf16):
// CHECK: %[[WA:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK: %[[WB:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK: %[[S:.*]] = arith.addf %[[WA]], %[[WB]] : f32
// CHECK: %[[R:.*]] = arith.truncf %[[S]] : f32 to bf16
// CHECK: linalg.yield %[[R]] : bf16
func.func @add(%x: tensor<4x8xbf16>, %y: tensor<8xbf16>) -> tensor<4x8xbf16> {
  %0 = train.add %x, %y : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// -----

// A repeated dimension of 1 is read at 0.

// CHECK: affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func @compare
// CHECK: arith.cmpf oge
func.func @compare(%x: tensor<4x8xf64>, %y: tensor<4x1xf64>) -> tensor<4x8xi1> {
  %0 = train.compare ge, %x, %y : (tensor<4x8xf64>, tensor<4x1xf64>) -> tensor<4x8xi1>
  return %0 : tensor<4x8xi1>
}

// -----

// A sum of f16 accumulates in f32, also where its result is f16.

// CHECK-LABEL: func.func @sum
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<8xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf16>) outs(%[[ZERO]] : tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] : tensor<8xf32>) outs({{.*}} : tensor<8xf16>)
func.func @sum(%x: tensor<4x8xf16>) -> tensor<8xf16> {
  %0 = train.reduce_sum %x {dims = array<i64: 0>} : (tensor<4x8xf16>) -> tensor<8xf16>
  return %0 : tensor<8xf16>
}

// -----

// Loops m, k, n: the innermost one runs over contiguous elements.

// CHECK-DAG: #[[$LHS:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-DAG: #[[$RHS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @matmul
// CHECK: linalg.generic {indexing_maps = [#[[$LHS]], #[[$RHS]], #[[$OUT]]], iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK-SAME: ins(%arg0, %arg1 : tensor<16x4xf16>, tensor<16x8xf16>) outs({{.*}} : tensor<4x8xf32>)
func.func @matmul(%x: tensor<16x4xf16>, %y: tensor<16x8xf16>) -> tensor<4x8xf32> {
  %0 = train.matmul %x, %y {transpose_a} : (tensor<16x4xf16>, tensor<16x8xf16>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// The input's gradient: spread over the strides, filter turned.

// CHECK: affine_map<(d0, d1, d2, d3, d4) -> (-d0 + 2, -d1 + 2, d4, d3, d2)>
// CHECK-LABEL: func.func @conv2d_input_grad
// CHECK: tensor.insert_slice %arg0 into {{.*}}[0, 1, 1, 0] [2, 4, 4, 16] [1, 2, 2, 1] : tensor<2x4x4x16xf16> into tensor<2x10x10x16xf16>
func.func @conv2d_input_grad(%dy: tensor<2x4x4x16xf16>, %w: tensor<3x3x2x16xf16>) -> tensor<2x8x8x2xf16> {
  %0 = train.conv2d_input_grad %dy, %w {padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<2x4x4x16xf16>, tensor<3x3x2x16xf16>) -> tensor<2x8x8x2xf16>
  return %0 : tensor<2x8x8x2xf16>
}

// -----

// Splats are filled, not stored; scalars stay constants.

// CHECK-LABEL: func.func @constants
// CHECK-DAG: arith.constant dense<1.000000e+00> : tensor<f16>
// CHECK-DAG: linalg.fill {{.*}} -> tensor<100x100xf32>
func.func @constants() -> (tensor<f16>, tensor<100x100xf32>) {
  %0 = train.constant dense<1.0> : tensor<f16>
  %1 = train.constant dense<2.0> : tensor<100x100xf32>
  return %0, %1 : tensor<f16>, tensor<100x100xf32>
}
