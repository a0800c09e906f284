// Products, convolutions and pooling.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @matmul(
func.func @matmul(
    %a: tensor<?x4xf16>,
    %b: tensor<4x8xf16>,
    %a_1: tensor<?x4xbf16>,
    %b_1: tensor<4x8xbf16>,
    %a_2: tensor<?x4xf32>,
    %b_2: tensor<4x8xf32>,
    %a_3: tensor<?x4xf64>,
    %b_3: tensor<4x8xf64>,
    %b_4: tensor<?x8xf16>,
    %b_5: tensor<8x4xf32>,
    %a_4: tensor<4x?xf32>,
    %a_5: tensor<?x3x4x5xf32>,
    %b_6: tensor<?x3x5x6xf32>,
    %a_6: tensor<2x4x5xf16>,
    %b_7: tensor<2x6x5xf16>) {
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf16>, tensor<4x8xf16>) -> tensor<?x8xf16>
  %r0 = train.matmul %a, %b : (tensor<?x4xf16>, tensor<4x8xf16>) -> tensor<?x8xf16>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xbf16>, tensor<4x8xbf16>) -> tensor<?x8xbf16>
  %r1 = train.matmul %a_1, %b_1 : (tensor<?x4xbf16>, tensor<4x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %r2 = train.matmul %a_2, %b_2 : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf64>, tensor<4x8xf64>) -> tensor<?x8xf64>
  %r3 = train.matmul %a_3, %b_3 : (tensor<?x4xf64>, tensor<4x8xf64>) -> tensor<?x8xf64>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf16>, tensor<4x8xf16>) -> tensor<?x8xf32>
  %r4 = train.matmul %a, %b : (tensor<?x4xf16>, tensor<4x8xf16>) -> tensor<?x8xf32>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xbf16>, tensor<4x8xbf16>) -> tensor<?x8xf32>
  %r5 = train.matmul %a_1, %b_1 : (tensor<?x4xbf16>, tensor<4x8xbf16>) -> tensor<?x8xf32>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} {transpose_a} : (tensor<?x4xf16>, tensor<?x8xf16>) -> tensor<4x8xf32>
  %r6 = train.matmul %a, %b_4 {transpose_a} : (tensor<?x4xf16>, tensor<?x8xf16>) -> tensor<4x8xf32>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} {transpose_b} : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
  %r7 = train.matmul %a_2, %b_5 {transpose_b} : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} {transpose_a, transpose_b} : (tensor<4x?xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
  %r8 = train.matmul %a_4, %b_5 {transpose_a, transpose_b} : (tensor<4x?xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x3x4x5xf32>, tensor<?x3x5x6xf32>) -> tensor<?x3x4x6xf32>
  %r9 = train.matmul %a_5, %b_6 : (tensor<?x3x4x5xf32>, tensor<?x3x5x6xf32>) -> tensor<?x3x4x6xf32>
  // CHECK: train.matmul %{{[^ ,)]+}}, %{{[^ ,)]+}} {transpose_b} : (tensor<2x4x5xf16>, tensor<2x6x5xf16>) -> tensor<2x4x6xf16>
  %r10 = train.matmul %a_6, %b_7 {transpose_b} : (tensor<2x4x5xf16>, tensor<2x6x5xf16>) -> tensor<2x4x6xf16>
  return
}

// CHECK-LABEL: func.func @linear(
func.func @linear(
    %x: tensor<?x64xf16>,
    %w: tensor<64x10xf16>,
    %b: tensor<10xf16>,
    %x_1: tensor<?x64xbf16>,
    %w_1: tensor<64x10xbf16>,
    %b_1: tensor<10xbf16>,
    %x_2: tensor<?x64xf32>,
    %w_2: tensor<64x10xf32>,
    %b_2: tensor<10xf32>,
    %x_3: tensor<?x64xf64>,
    %w_3: tensor<64x10xf64>,
    %b_3: tensor<10xf64>,
    %x_4: tensor<4x64xf32>,
    %w_4: tensor<10x64xf32>,
    %x_5: tensor<?x3x4x64xf32>,
    %x_6: tensor<64xf32>) {
  // CHECK: train.linear %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x64xf16>, tensor<64x10xf16>, tensor<10xf16>) -> tensor<?x10xf16>
  %r0 = train.linear %x, %w, %b : (tensor<?x64xf16>, tensor<64x10xf16>, tensor<10xf16>) -> tensor<?x10xf16>
  // CHECK: train.linear %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x64xbf16>, tensor<64x10xbf16>, tensor<10xbf16>) -> tensor<?x10xbf16>
  %r1 = train.linear %x_1, %w_1, %b_1 : (tensor<?x64xbf16>, tensor<64x10xbf16>, tensor<10xbf16>) -> tensor<?x10xbf16>
  // CHECK: train.linear %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  %r2 = train.linear %x_2, %w_2, %b_2 : (tensor<?x64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  // CHECK: train.linear %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x64xf64>, tensor<64x10xf64>, tensor<10xf64>) -> tensor<?x10xf64>
  %r3 = train.linear %x_3, %w_3, %b_3 : (tensor<?x64xf64>, tensor<64x10xf64>, tensor<10xf64>) -> tensor<?x10xf64>
  // CHECK: train.linear %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x64xf16>, tensor<64x10xf16>, tensor<10xf32>) -> tensor<?x10xf32>
  %r4 = train.linear %x, %w, %b_2 : (tensor<?x64xf16>, tensor<64x10xf16>, tensor<10xf32>) -> tensor<?x10xf32>
  // CHECK: train.linear %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x64xbf16>, tensor<64x10xbf16>) -> tensor<?x10xf32>
  %r5 = train.linear %x_1, %w_1 : (tensor<?x64xbf16>, tensor<64x10xbf16>) -> tensor<?x10xf32>
  // CHECK: train.linear %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {transpose_weight} : (tensor<4x64xf32>, tensor<10x64xf32>, tensor<10xf32>) -> tensor<4x10xf32>
  %r6 = train.linear %x_4, %w_4, %b_2 {transpose_weight} : (tensor<4x64xf32>, tensor<10x64xf32>, tensor<10xf32>) -> tensor<4x10xf32>
  // CHECK: train.linear %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x3x4x64xf32>, tensor<64x10xf32>) -> tensor<?x3x4x10xf32>
  %r7 = train.linear %x_5, %w_2 : (tensor<?x3x4x64xf32>, tensor<64x10xf32>) -> tensor<?x3x4x10xf32>
  // CHECK: train.linear %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<10xf32>
  %r8 = train.linear %x_6, %w_2, %b_2 : (tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return
}

// CHECK-LABEL: func.func @conv2d(
func.func @conv2d(
    %a: tensor<?x8x8x1xf16>,
    %b: tensor<3x3x1x16xf16>,
    %a_1: tensor<?x8x8x1xbf16>,
    %b_1: tensor<3x3x1x16xbf16>,
    %a_2: tensor<?x8x8x1xf32>,
    %b_2: tensor<3x3x1x16xf32>,
    %a_3: tensor<?x8x8x1xf64>,
    %b_3: tensor<3x3x1x16xf64>,
    %a_4: tensor<4x8x8x3xf32>,
    %b_4: tensor<1x1x3x5xf32>,
    %a_5: tensor<?x8x9x4xf32>,
    %b_5: tensor<3x2x2x6xf32>,
    %a_6: tensor<2x8x8x4xf32>,
    %b_6: tensor<8x8x1x4xf32>) {
  // CHECK: train.conv2d %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf16>, tensor<3x3x1x16xf16>) -> tensor<?x8x8x16xf16>
  %r0 = train.conv2d %a, %b {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf16>, tensor<3x3x1x16xf16>) -> tensor<?x8x8x16xf16>
  // CHECK: train.conv2d %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xbf16>, tensor<3x3x1x16xbf16>) -> tensor<?x8x8x16xbf16>
  %r1 = train.conv2d %a_1, %b_1 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xbf16>, tensor<3x3x1x16xbf16>) -> tensor<?x8x8x16xbf16>
  // CHECK: train.conv2d %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x16xf32>
  %r2 = train.conv2d %a_2, %b_2 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x16xf32>
  // CHECK: train.conv2d %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf64>, tensor<3x3x1x16xf64>) -> tensor<?x8x8x16xf64>
  %r3 = train.conv2d %a_3, %b_3 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf64>, tensor<3x3x1x16xf64>) -> tensor<?x8x8x16xf64>
  // CHECK: train.conv2d %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf16>, tensor<3x3x1x16xf16>) -> tensor<?x8x8x16xf32>
  %r4 = train.conv2d %a, %b {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf16>, tensor<3x3x1x16xf16>) -> tensor<?x8x8x16xf32>
  // CHECK: train.conv2d %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<4x8x8x3xf32>, tensor<1x1x3x5xf32>) -> tensor<4x8x8x5xf32>
  %r5 = train.conv2d %a_4, %b_4 : (tensor<4x8x8x3xf32>, tensor<1x1x3x5xf32>) -> tensor<4x8x8x5xf32>
  // CHECK: train.conv2d %{{[^ ,)]+}}, %{{[^ ,)]+}} {dilations = array<i64: 2, 1>, groups = 2 : i64, padding = array<i64: 0, 1, 2, 3>, strides = array<i64: 1, 2>} : (tensor<?x8x9x4xf32>, tensor<3x2x2x6xf32>) -> tensor<?x5x7x6xf32>
  %r6 = train.conv2d %a_5, %b_5 {dilations = array<i64: 2, 1>, groups = 2 : i64, padding = array<i64: 0, 1, 2, 3>, strides = array<i64: 1, 2>} : (tensor<?x8x9x4xf32>, tensor<3x2x2x6xf32>) -> tensor<?x5x7x6xf32>
  // CHECK: train.conv2d %{{[^ ,)]+}}, %{{[^ ,)]+}} {groups = 4 : i64} : (tensor<2x8x8x4xf32>, tensor<8x8x1x4xf32>) -> tensor<2x1x1x4xf32>
  %r7 = train.conv2d %a_6, %b_6 {groups = 4 : i64} : (tensor<2x8x8x4xf32>, tensor<8x8x1x4xf32>) -> tensor<2x1x1x4xf32>
  return
}

// CHECK-LABEL: func.func @conv2d_input_grad(
func.func @conv2d_input_grad(
    %a: tensor<?x8x8x16xf16>,
    %b: tensor<3x3x1x16xf16>,
    %a_1: tensor<?x8x8x16xbf16>,
    %b_1: tensor<3x3x1x16xbf16>,
    %a_2: tensor<?x8x8x16xf32>,
    %b_2: tensor<3x3x1x16xf32>,
    %a_3: tensor<?x8x8x16xf64>,
    %b_3: tensor<3x3x1x16xf64>,
    %a_4: tensor<?x5x7x6xf32>,
    %b_4: tensor<3x2x2x6xf32>,
    %a_5: tensor<4x3x3x5xf32>,
    %b_5: tensor<2x2x3x5xf32>) {
  // CHECK: train.conv2d_input_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xf16>, tensor<3x3x1x16xf16>) -> tensor<?x8x8x1xf16>
  %r0 = train.conv2d_input_grad %a, %b {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xf16>, tensor<3x3x1x16xf16>) -> tensor<?x8x8x1xf16>
  // CHECK: train.conv2d_input_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xbf16>, tensor<3x3x1x16xbf16>) -> tensor<?x8x8x1xbf16>
  %r1 = train.conv2d_input_grad %a_1, %b_1 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xbf16>, tensor<3x3x1x16xbf16>) -> tensor<?x8x8x1xbf16>
  // CHECK: train.conv2d_input_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf32>
  %r2 = train.conv2d_input_grad %a_2, %b_2 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf32>
  // CHECK: train.conv2d_input_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xf64>, tensor<3x3x1x16xf64>) -> tensor<?x8x8x1xf64>
  %r3 = train.conv2d_input_grad %a_3, %b_3 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xf64>, tensor<3x3x1x16xf64>) -> tensor<?x8x8x1xf64>
  // CHECK: train.conv2d_input_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xbf16>, tensor<3x3x1x16xbf16>) -> tensor<?x8x8x1xf32>
  %r4 = train.conv2d_input_grad %a_1, %b_1 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xbf16>, tensor<3x3x1x16xbf16>) -> tensor<?x8x8x1xf32>
  // CHECK: train.conv2d_input_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {dilations = array<i64: 2, 1>, groups = 2 : i64, padding = array<i64: 0, 1, 2, 3>, strides = array<i64: 1, 2>} : (tensor<?x5x7x6xf32>, tensor<3x2x2x6xf32>) -> tensor<?x8x9x4xf32>
  %r5 = train.conv2d_input_grad %a_4, %b_4 {dilations = array<i64: 2, 1>, groups = 2 : i64, padding = array<i64: 0, 1, 2, 3>, strides = array<i64: 1, 2>} : (tensor<?x5x7x6xf32>, tensor<3x2x2x6xf32>) -> tensor<?x8x9x4xf32>
  // CHECK: train.conv2d_input_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {strides = array<i64: 2, 2>} : (tensor<4x3x3x5xf32>, tensor<2x2x3x5xf32>) -> tensor<4x7x7x3xf32>
  %r6 = train.conv2d_input_grad %a_5, %b_5 {strides = array<i64: 2, 2>} : (tensor<4x3x3x5xf32>, tensor<2x2x3x5xf32>) -> tensor<4x7x7x3xf32>
  return
}

// CHECK-LABEL: func.func @conv2d_filter_grad(
func.func @conv2d_filter_grad(
    %a: tensor<?x8x8x1xf16>,
    %b: tensor<?x8x8x16xf16>,
    %a_1: tensor<?x8x8x1xbf16>,
    %b_1: tensor<?x8x8x16xbf16>,
    %a_2: tensor<?x8x8x1xf32>,
    %b_2: tensor<?x8x8x16xf32>,
    %a_3: tensor<?x8x8x1xf64>,
    %b_3: tensor<?x8x8x16xf64>,
    %a_4: tensor<?x8x9x4xf32>,
    %b_4: tensor<?x5x7x6xf32>,
    %a_5: tensor<4x7x7x3xf32>,
    %b_5: tensor<4x3x3x5xf32>) {
  // CHECK: train.conv2d_filter_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf16>, tensor<?x8x8x16xf16>) -> tensor<3x3x1x16xf16>
  %r0 = train.conv2d_filter_grad %a, %b {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf16>, tensor<?x8x8x16xf16>) -> tensor<3x3x1x16xf16>
  // CHECK: train.conv2d_filter_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xbf16>, tensor<?x8x8x16xbf16>) -> tensor<3x3x1x16xbf16>
  %r1 = train.conv2d_filter_grad %a_1, %b_1 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xbf16>, tensor<?x8x8x16xbf16>) -> tensor<3x3x1x16xbf16>
  // CHECK: train.conv2d_filter_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf32>, tensor<?x8x8x16xf32>) -> tensor<3x3x1x16xf32>
  %r2 = train.conv2d_filter_grad %a_2, %b_2 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf32>, tensor<?x8x8x16xf32>) -> tensor<3x3x1x16xf32>
  // CHECK: train.conv2d_filter_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf64>, tensor<?x8x8x16xf64>) -> tensor<3x3x1x16xf64>
  %r3 = train.conv2d_filter_grad %a_3, %b_3 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf64>, tensor<?x8x8x16xf64>) -> tensor<3x3x1x16xf64>
  // CHECK: train.conv2d_filter_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf16>, tensor<?x8x8x16xf16>) -> tensor<3x3x1x16xf32>
  %r4 = train.conv2d_filter_grad %a, %b {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf16>, tensor<?x8x8x16xf16>) -> tensor<3x3x1x16xf32>
  // CHECK: train.conv2d_filter_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {dilations = array<i64: 2, 1>, groups = 2 : i64, padding = array<i64: 0, 1, 2, 3>, strides = array<i64: 1, 2>} : (tensor<?x8x9x4xf32>, tensor<?x5x7x6xf32>) -> tensor<3x2x2x6xf32>
  %r5 = train.conv2d_filter_grad %a_4, %b_4 {dilations = array<i64: 2, 1>, groups = 2 : i64, padding = array<i64: 0, 1, 2, 3>, strides = array<i64: 1, 2>} : (tensor<?x8x9x4xf32>, tensor<?x5x7x6xf32>) -> tensor<3x2x2x6xf32>
  // CHECK: train.conv2d_filter_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {strides = array<i64: 2, 2>} : (tensor<4x7x7x3xf32>, tensor<4x3x3x5xf32>) -> tensor<2x2x3x5xf32>
  %r6 = train.conv2d_filter_grad %a_5, %b_5 {strides = array<i64: 2, 2>} : (tensor<4x7x7x3xf32>, tensor<4x3x3x5xf32>) -> tensor<2x2x3x5xf32>
  return
}

// CHECK-LABEL: func.func @max_pool2d(
func.func @max_pool2d(
    %x: tensor<?x8x8x16xf16>,
    %x_1: tensor<?x8x8x16xbf16>,
    %x_2: tensor<?x8x8x16xf32>,
    %x_3: tensor<?x8x8x16xf64>,
    %x_4: tensor<2x8x8x3xf32>) {
  // CHECK: train.max_pool2d %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf16>) -> tensor<?x4x4x16xf16>
  %r0 = train.max_pool2d %x {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf16>) -> tensor<?x4x4x16xf16>
  // CHECK: train.max_pool2d %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xbf16>) -> tensor<?x4x4x16xbf16>
  %r1 = train.max_pool2d %x_1 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xbf16>) -> tensor<?x4x4x16xbf16>
  // CHECK: train.max_pool2d %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf32>) -> tensor<?x4x4x16xf32>
  %r2 = train.max_pool2d %x_2 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf32>) -> tensor<?x4x4x16xf32>
  // CHECK: train.max_pool2d %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf64>) -> tensor<?x4x4x16xf64>
  %r3 = train.max_pool2d %x_3 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf64>) -> tensor<?x4x4x16xf64>
  // CHECK: train.max_pool2d %{{[^ ,)]+}} {padding = array<i64: 1, 0, 0, 1>, window = array<i64: 3, 2>} : (tensor<2x8x8x3xf32>) -> tensor<2x7x8x3xf32>
  %r4 = train.max_pool2d %x_4 {padding = array<i64: 1, 0, 0, 1>, window = array<i64: 3, 2>} : (tensor<2x8x8x3xf32>) -> tensor<2x7x8x3xf32>
  return
}

// CHECK-LABEL: func.func @avg_pool2d(
func.func @avg_pool2d(
    %x: tensor<?x8x8x16xf16>,
    %x_1: tensor<?x8x8x16xbf16>,
    %x_2: tensor<?x8x8x16xf32>,
    %x_3: tensor<?x8x8x16xf64>,
    %x_4: tensor<2x8x8x3xf32>) {
  // CHECK: train.avg_pool2d %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf16>) -> tensor<?x4x4x16xf16>
  %r0 = train.avg_pool2d %x {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf16>) -> tensor<?x4x4x16xf16>
  // CHECK: train.avg_pool2d %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xbf16>) -> tensor<?x4x4x16xbf16>
  %r1 = train.avg_pool2d %x_1 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xbf16>) -> tensor<?x4x4x16xbf16>
  // CHECK: train.avg_pool2d %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf32>) -> tensor<?x4x4x16xf32>
  %r2 = train.avg_pool2d %x_2 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf32>) -> tensor<?x4x4x16xf32>
  // CHECK: train.avg_pool2d %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf64>) -> tensor<?x4x4x16xf64>
  %r3 = train.avg_pool2d %x_3 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf64>) -> tensor<?x4x4x16xf64>
  // CHECK: train.avg_pool2d %{{[^ ,)]+}} {padding = array<i64: 1, 0, 0, 1>, window = array<i64: 3, 2>} : (tensor<2x8x8x3xf32>) -> tensor<2x7x8x3xf32>
  %r4 = train.avg_pool2d %x_4 {padding = array<i64: 1, 0, 0, 1>, window = array<i64: 3, 2>} : (tensor<2x8x8x3xf32>) -> tensor<2x7x8x3xf32>
  return
}

// CHECK-LABEL: func.func @max_pool2d_grad(
func.func @max_pool2d_grad(
    %x: tensor<?x8x8x16xf16>,
    %y: tensor<?x4x4x16xf16>,
    %dy: tensor<?x4x4x16xf16>,
    %x_1: tensor<?x8x8x16xbf16>,
    %y_1: tensor<?x4x4x16xbf16>,
    %dy_1: tensor<?x4x4x16xbf16>,
    %x_2: tensor<?x8x8x16xf32>,
    %y_2: tensor<?x4x4x16xf32>,
    %dy_2: tensor<?x4x4x16xf32>,
    %x_3: tensor<?x8x8x16xf64>,
    %y_3: tensor<?x4x4x16xf64>,
    %dy_3: tensor<?x4x4x16xf64>,
    %x_4: tensor<2x8x8x3xf32>,
    %y_4: tensor<2x7x8x3xf32>,
    %dy_4: tensor<2x7x8x3xf32>) {
  // CHECK: train.max_pool2d_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf16>, tensor<?x4x4x16xf16>, tensor<?x4x4x16xf16>) -> tensor<?x8x8x16xf16>
  %r0 = train.max_pool2d_grad %x, %y, %dy {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf16>, tensor<?x4x4x16xf16>, tensor<?x4x4x16xf16>) -> tensor<?x8x8x16xf16>
  // CHECK: train.max_pool2d_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xbf16>, tensor<?x4x4x16xbf16>, tensor<?x4x4x16xbf16>) -> tensor<?x8x8x16xbf16>
  %r1 = train.max_pool2d_grad %x_1, %y_1, %dy_1 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xbf16>, tensor<?x4x4x16xbf16>, tensor<?x4x4x16xbf16>) -> tensor<?x8x8x16xbf16>
  // CHECK: train.max_pool2d_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf32>, tensor<?x4x4x16xf32>, tensor<?x4x4x16xf32>) -> tensor<?x8x8x16xf32>
  %r2 = train.max_pool2d_grad %x_2, %y_2, %dy_2 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf32>, tensor<?x4x4x16xf32>, tensor<?x4x4x16xf32>) -> tensor<?x8x8x16xf32>
  // CHECK: train.max_pool2d_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf64>, tensor<?x4x4x16xf64>, tensor<?x4x4x16xf64>) -> tensor<?x8x8x16xf64>
  %r3 = train.max_pool2d_grad %x_3, %y_3, %dy_3 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x8x8x16xf64>, tensor<?x4x4x16xf64>, tensor<?x4x4x16xf64>) -> tensor<?x8x8x16xf64>
  // CHECK: train.max_pool2d_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {padding = array<i64: 1, 0, 0, 1>, window = array<i64: 3, 2>} : (tensor<2x8x8x3xf32>, tensor<2x7x8x3xf32>, tensor<2x7x8x3xf32>) -> tensor<2x8x8x3xf32>
  %r4 = train.max_pool2d_grad %x_4, %y_4, %dy_4 {padding = array<i64: 1, 0, 0, 1>, window = array<i64: 3, 2>} : (tensor<2x8x8x3xf32>, tensor<2x7x8x3xf32>, tensor<2x7x8x3xf32>) -> tensor<2x8x8x3xf32>
  return
}

// CHECK-LABEL: func.func @avg_pool2d_grad(
func.func @avg_pool2d_grad(
    %dy: tensor<?x4x4x16xf16>,
    %dy_1: tensor<?x4x4x16xbf16>,
    %dy_2: tensor<?x4x4x16xf32>,
    %dy_3: tensor<?x4x4x16xf64>,
    %dy_4: tensor<2x7x8x3xf32>) {
  // CHECK: train.avg_pool2d_grad %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x4x4x16xf16>) -> tensor<?x8x8x16xf16>
  %r0 = train.avg_pool2d_grad %dy {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x4x4x16xf16>) -> tensor<?x8x8x16xf16>
  // CHECK: train.avg_pool2d_grad %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x4x4x16xbf16>) -> tensor<?x8x8x16xbf16>
  %r1 = train.avg_pool2d_grad %dy_1 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x4x4x16xbf16>) -> tensor<?x8x8x16xbf16>
  // CHECK: train.avg_pool2d_grad %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x4x4x16xf32>) -> tensor<?x8x8x16xf32>
  %r2 = train.avg_pool2d_grad %dy_2 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x4x4x16xf32>) -> tensor<?x8x8x16xf32>
  // CHECK: train.avg_pool2d_grad %{{[^ ,)]+}} {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x4x4x16xf64>) -> tensor<?x8x8x16xf64>
  %r3 = train.avg_pool2d_grad %dy_3 {strides = array<i64: 2, 2>, window = array<i64: 2, 2>} : (tensor<?x4x4x16xf64>) -> tensor<?x8x8x16xf64>
  // CHECK: train.avg_pool2d_grad %{{[^ ,)]+}} {padding = array<i64: 1, 0, 0, 1>, window = array<i64: 3, 2>} : (tensor<2x7x8x3xf32>) -> tensor<2x8x8x3xf32>
  %r4 = train.avg_pool2d_grad %dy_4 {padding = array<i64: 1, 0, 0, 1>, window = array<i64: 3, 2>} : (tensor<2x7x8x3xf32>) -> tensor<2x8x8x3xf32>
  return
}
