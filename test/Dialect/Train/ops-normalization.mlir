// Softmax and norms.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @softmax(
func.func @softmax(
    %x: tensor<?x10xf32>,
    %y: tensor<?x10xf32>,
    %dy: tensor<?x10xf32>,
    %x_1: tensor<4x10xf16>,
    %y_1: tensor<4x10xf16>,
    %dy_1: tensor<4x10xf16>,
    %x_2: tensor<?x10xbf16>,
    %y_2: tensor<?x10xbf16>,
    %dy_2: tensor<?x10xbf16>,
    %x_3: tensor<2x3x4xf64>,
    %y_3: tensor<2x3x4xf64>,
    %dy_3: tensor<2x3x4xf64>,
    %x_4: tensor<10xf32>) {
  // CHECK: train.softmax %{{[^ ,)]+}} {axis = 1 : i64} : tensor<?x10xf32>
  %r0 = train.softmax %x {axis = 1 : i64} : tensor<?x10xf32>
  // CHECK: train.log_softmax %{{[^ ,)]+}} {axis = 1 : i64} : tensor<?x10xf32>
  %r1 = train.log_softmax %x {axis = 1 : i64} : tensor<?x10xf32>
  // CHECK: train.softmax_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 1 : i64} : tensor<?x10xf32>
  %r2 = train.softmax_grad %y, %dy {axis = 1 : i64} : tensor<?x10xf32>
  // CHECK: train.log_softmax_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 0 : i64} : tensor<?x10xf32>
  %r3 = train.log_softmax_grad %y, %dy {axis = 0 : i64} : tensor<?x10xf32>
  // CHECK: train.softmax %{{[^ ,)]+}} {axis = 1 : i64} : tensor<4x10xf16>
  %r4 = train.softmax %x_1 {axis = 1 : i64} : tensor<4x10xf16>
  // CHECK: train.log_softmax %{{[^ ,)]+}} {axis = 1 : i64} : tensor<4x10xf16>
  %r5 = train.log_softmax %x_1 {axis = 1 : i64} : tensor<4x10xf16>
  // CHECK: train.softmax_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 1 : i64} : tensor<4x10xf16>
  %r6 = train.softmax_grad %y_1, %dy_1 {axis = 1 : i64} : tensor<4x10xf16>
  // CHECK: train.log_softmax_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 0 : i64} : tensor<4x10xf16>
  %r7 = train.log_softmax_grad %y_1, %dy_1 {axis = 0 : i64} : tensor<4x10xf16>
  // CHECK: train.softmax %{{[^ ,)]+}} {axis = 1 : i64} : tensor<?x10xbf16>
  %r8 = train.softmax %x_2 {axis = 1 : i64} : tensor<?x10xbf16>
  // CHECK: train.log_softmax %{{[^ ,)]+}} {axis = 1 : i64} : tensor<?x10xbf16>
  %r9 = train.log_softmax %x_2 {axis = 1 : i64} : tensor<?x10xbf16>
  // CHECK: train.softmax_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 1 : i64} : tensor<?x10xbf16>
  %r10 = train.softmax_grad %y_2, %dy_2 {axis = 1 : i64} : tensor<?x10xbf16>
  // CHECK: train.log_softmax_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 0 : i64} : tensor<?x10xbf16>
  %r11 = train.log_softmax_grad %y_2, %dy_2 {axis = 0 : i64} : tensor<?x10xbf16>
  // CHECK: train.softmax %{{[^ ,)]+}} {axis = 1 : i64} : tensor<2x3x4xf64>
  %r12 = train.softmax %x_3 {axis = 1 : i64} : tensor<2x3x4xf64>
  // CHECK: train.log_softmax %{{[^ ,)]+}} {axis = 1 : i64} : tensor<2x3x4xf64>
  %r13 = train.log_softmax %x_3 {axis = 1 : i64} : tensor<2x3x4xf64>
  // CHECK: train.softmax_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 1 : i64} : tensor<2x3x4xf64>
  %r14 = train.softmax_grad %y_3, %dy_3 {axis = 1 : i64} : tensor<2x3x4xf64>
  // CHECK: train.log_softmax_grad %{{[^ ,)]+}}, %{{[^ ,)]+}} {axis = 0 : i64} : tensor<2x3x4xf64>
  %r15 = train.log_softmax_grad %y_3, %dy_3 {axis = 0 : i64} : tensor<2x3x4xf64>
  // CHECK: train.softmax %{{[^ ,)]+}} {axis = 0 : i64} : tensor<10xf32>
  %r16 = train.softmax %x_4 {axis = 0 : i64} : tensor<10xf32>
  return
}

// CHECK-LABEL: func.func @layer_norm(
func.func @layer_norm(
    %x: tensor<?x8xf16>,
    %gamma: tensor<8xf32>,
    %beta: tensor<8xf32>,
    %dy: tensor<?x8xf16>,
    %m: tensor<?xf32>,
    %s: tensor<?xf32>,
    %x_1: tensor<?x8xbf16>,
    %dy_1: tensor<?x8xbf16>,
    %x_2: tensor<?x8xf32>,
    %dy_2: tensor<?x8xf32>,
    %x_3: tensor<?x8xf64>,
    %gamma_1: tensor<8xf64>,
    %beta_1: tensor<8xf64>,
    %dy_3: tensor<?x8xf64>,
    %m_1: tensor<?xf64>,
    %s_1: tensor<?xf64>,
    %x_4: tensor<2x3x4xf32>,
    %gamma_2: tensor<3x4xf32>,
    %beta_2: tensor<3x4xf32>,
    %x_5: tensor<8xf32>) {
  // CHECK: train.layer_norm %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf16>, tensor<?xf32>, tensor<?xf32>)
  %r0, %mean0, %rstd0 = train.layer_norm %x, %gamma, %beta : (tensor<?x8xf16>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf16>, tensor<?xf32>, tensor<?xf32>)
  // CHECK: train.layer_norm_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf16>, tensor<?x8xf16>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xf16>, tensor<8xf32>, tensor<8xf32>)
  %dx1, %dg1, %db1 = train.layer_norm_grad %dy, %x, %gamma, %m, %s : (tensor<?x8xf16>, tensor<?x8xf16>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xf16>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.layer_norm %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xbf16>, tensor<?xf32>, tensor<?xf32>)
  %r2, %mean2, %rstd2 = train.layer_norm %x_1, %gamma, %beta : (tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xbf16>, tensor<?xf32>, tensor<?xf32>)
  // CHECK: train.layer_norm_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>)
  %dx3, %dg3, %db3 = train.layer_norm_grad %dy_1, %x_1, %gamma, %m, %s : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.layer_norm %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  %r4, %mean4, %rstd4 = train.layer_norm %x_2, %gamma, %beta : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  // CHECK: train.layer_norm_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  %dx5, %dg5, %db5 = train.layer_norm_grad %dy_2, %x_2, %gamma, %m, %s : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.layer_norm %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf64>, tensor<8xf64>, tensor<8xf64>) -> (tensor<?x8xf64>, tensor<?xf64>, tensor<?xf64>)
  %r6, %mean6, %rstd6 = train.layer_norm %x_3, %gamma_1, %beta_1 : (tensor<?x8xf64>, tensor<8xf64>, tensor<8xf64>) -> (tensor<?x8xf64>, tensor<?xf64>, tensor<?xf64>)
  // CHECK: train.layer_norm_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8xf64>, tensor<?x8xf64>, tensor<8xf64>, tensor<?xf64>, tensor<?xf64>) -> (tensor<?x8xf64>, tensor<8xf64>, tensor<8xf64>)
  %dx7, %dg7, %db7 = train.layer_norm_grad %dy_3, %x_3, %gamma_1, %m_1, %s_1 : (tensor<?x8xf64>, tensor<?x8xf64>, tensor<8xf64>, tensor<?xf64>, tensor<?xf64>) -> (tensor<?x8xf64>, tensor<8xf64>, tensor<8xf64>)
  // CHECK: train.layer_norm %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {epsilon = 0.000000e+00 : f64} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2xf32>, tensor<2xf32>)
  %r8, %mean8, %rstd8 = train.layer_norm %x_4, %gamma_2, %beta_2 {epsilon = 0.000000e+00 : f64} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2xf32>, tensor<2xf32>)
  // CHECK: train.layer_norm %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>, tensor<f32>)
  %r9, %mean9, %rstd9 = train.layer_norm %x_5, %gamma, %beta : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>, tensor<f32>)
  return
}

// CHECK-LABEL: func.func @batch_norm(
func.func @batch_norm(
    %x: tensor<?x8x8x16xf16>,
    %gamma: tensor<16xf32>,
    %beta: tensor<16xf32>,
    %rm: tensor<16xf32>,
    %rv: tensor<16xf32>,
    %m: tensor<16xf32>,
    %var: tensor<16xf32>,
    %dy: tensor<?x8x8x16xf16>,
    %s: tensor<16xf32>,
    %x_1: tensor<?x8x8x16xbf16>,
    %dy_1: tensor<?x8x8x16xbf16>,
    %x_2: tensor<?x8x8x16xf32>,
    %dy_2: tensor<?x8x8x16xf32>,
    %x_3: tensor<?x8x8x16xf64>,
    %gamma_1: tensor<16xf64>,
    %beta_1: tensor<16xf64>,
    %rm_1: tensor<16xf64>,
    %rv_1: tensor<16xf64>,
    %m_1: tensor<16xf64>,
    %var_1: tensor<16xf64>,
    %dy_3: tensor<?x8x8x16xf64>,
    %s_1: tensor<16xf64>,
    %x_4: tensor<4x8xf16>,
    %gamma_2: tensor<8xf32>,
    %beta_2: tensor<8xf32>,
    %rm_2: tensor<8xf32>,
    %rv_2: tensor<8xf32>,
    %m_2: tensor<8xf32>,
    %var_2: tensor<8xf32>) {
  // CHECK: train.batch_norm_training %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  %r0, %mean0, %rstd0, %rm10, %rv10 = train.batch_norm_training %x, %gamma, %beta, %rm, %rv : (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  // CHECK: train.batch_norm_inference %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x8x8x16xf16>
  %r1 = train.batch_norm_inference %x, %gamma, %beta, %m, %var : (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x8x8x16xf16>
  // CHECK: train.batch_norm_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xf16>, tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>)
  %dx2, %dg2, %db2 = train.batch_norm_grad %dy, %x, %gamma, %m, %s : (tensor<?x8x8x16xf16>, tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xf16>, tensor<16xf32>, tensor<16xf32>)
  // CHECK: train.batch_norm_training %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  %r3, %mean3, %rstd3, %rm13, %rv13 = train.batch_norm_training %x_1, %gamma, %beta, %rm, %rv : (tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  // CHECK: train.batch_norm_inference %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x8x8x16xbf16>
  %r4 = train.batch_norm_inference %x_1, %gamma, %beta, %m, %var : (tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x8x8x16xbf16>
  // CHECK: train.batch_norm_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xbf16>, tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>)
  %dx5, %dg5, %db5 = train.batch_norm_grad %dy_1, %x_1, %gamma, %m, %s : (tensor<?x8x8x16xbf16>, tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xbf16>, tensor<16xf32>, tensor<16xf32>)
  // CHECK: train.batch_norm_training %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  %r6, %mean6, %rstd6, %rm16, %rv16 = train.batch_norm_training %x_2, %gamma, %beta, %rm, %rv : (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  // CHECK: train.batch_norm_inference %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x8x8x16xf32>
  %r7 = train.batch_norm_inference %x_2, %gamma, %beta, %m, %var : (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<?x8x8x16xf32>
  // CHECK: train.batch_norm_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xf32>, tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>)
  %dx8, %dg8, %db8 = train.batch_norm_grad %dy_2, %x_2, %gamma, %m, %s : (tensor<?x8x8x16xf32>, tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>)
  // CHECK: train.batch_norm_training %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>) -> (tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>)
  %r9, %mean9, %rstd9, %rm19, %rv19 = train.batch_norm_training %x_3, %gamma_1, %beta_1, %rm_1, %rv_1 : (tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>) -> (tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>)
  // CHECK: train.batch_norm_inference %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>) -> tensor<?x8x8x16xf64>
  %r10 = train.batch_norm_inference %x_3, %gamma_1, %beta_1, %m_1, %var_1 : (tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>) -> tensor<?x8x8x16xf64>
  // CHECK: train.batch_norm_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x8x8x16xf64>, tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>) -> (tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>)
  %dx11, %dg11, %db11 = train.batch_norm_grad %dy_3, %x_3, %gamma_1, %m_1, %s_1 : (tensor<?x8x8x16xf64>, tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>, tensor<16xf64>) -> (tensor<?x8x8x16xf64>, tensor<16xf64>, tensor<16xf64>)
  // CHECK: train.batch_norm_training %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {epsilon = 1.000000e-03 : f64, momentum = 1.000000e+00 : f64} : (tensor<4x8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %r12, %mean12, %rstd12, %rm112, %rv112 = train.batch_norm_training %x_4, %gamma_2, %beta_2, %rm_2, %rv_2 {epsilon = 1.000000e-03 : f64, momentum = 1.000000e+00 : f64} : (tensor<4x8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.batch_norm_inference %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {epsilon = 1.000000e-03 : f64} : (tensor<4x8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf16>
  %r13 = train.batch_norm_inference %x_4, %gamma_2, %beta_2, %m_2, %var_2 {epsilon = 1.000000e-03 : f64} : (tensor<4x8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf16>
  return
}
