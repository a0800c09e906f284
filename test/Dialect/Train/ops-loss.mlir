// Losses, gradients and optimizers.
//
// Printed, generic and bytecode forms all read back as the text here.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @losses(
func.func @losses(
    %x: tensor<?x10xf16>,
    %l: tensor<?xi64>,
    %g: tensor<f32>,
    %x_1: tensor<?x10xbf16>,
    %l_1: tensor<?xi32>,
    %x_2: tensor<?x10xf32>,
    %x_3: tensor<?x10xf64>,
    %g_1: tensor<f64>,
    %x_4: tensor<2x3x5xf32>,
    %l_2: tensor<2x3xi64>,
    %x_5: tensor<?x4xf16>,
    %y: tensor<?x4xf16>,
    %x_6: tensor<?x4xbf16>,
    %y_1: tensor<?x4xbf16>,
    %x_7: tensor<?x4xf32>,
    %y_2: tensor<?x4xf32>,
    %x_8: tensor<?x4xf64>,
    %y_3: tensor<?x4xf64>) {
  // CHECK: train.cross_entropy %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x10xf16>, tensor<?xi64>) -> tensor<f32>
  %loss0 = train.cross_entropy %x, %l : (tensor<?x10xf16>, tensor<?xi64>) -> tensor<f32>
  // CHECK: train.cross_entropy_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x10xf16>, tensor<?xi64>, tensor<f32>) -> tensor<?x10xf16>
  %dx1 = train.cross_entropy_grad %x, %l, %g : (tensor<?x10xf16>, tensor<?xi64>, tensor<f32>) -> tensor<?x10xf16>
  // CHECK: train.cross_entropy %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x10xbf16>, tensor<?xi32>) -> tensor<f32>
  %loss2 = train.cross_entropy %x_1, %l_1 : (tensor<?x10xbf16>, tensor<?xi32>) -> tensor<f32>
  // CHECK: train.cross_entropy_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x10xbf16>, tensor<?xi32>, tensor<f32>) -> tensor<?x10xbf16>
  %dx3 = train.cross_entropy_grad %x_1, %l_1, %g : (tensor<?x10xbf16>, tensor<?xi32>, tensor<f32>) -> tensor<?x10xbf16>
  // CHECK: train.cross_entropy %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x10xf32>, tensor<?xi64>) -> tensor<f32>
  %loss4 = train.cross_entropy %x_2, %l : (tensor<?x10xf32>, tensor<?xi64>) -> tensor<f32>
  // CHECK: train.cross_entropy_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x10xf32>, tensor<?xi64>, tensor<f32>) -> tensor<?x10xf32>
  %dx5 = train.cross_entropy_grad %x_2, %l, %g : (tensor<?x10xf32>, tensor<?xi64>, tensor<f32>) -> tensor<?x10xf32>
  // CHECK: train.cross_entropy %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x10xf64>, tensor<?xi32>) -> tensor<f64>
  %loss6 = train.cross_entropy %x_3, %l_1 : (tensor<?x10xf64>, tensor<?xi32>) -> tensor<f64>
  // CHECK: train.cross_entropy_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x10xf64>, tensor<?xi32>, tensor<f64>) -> tensor<?x10xf64>
  %dx7 = train.cross_entropy_grad %x_3, %l_1, %g_1 : (tensor<?x10xf64>, tensor<?xi32>, tensor<f64>) -> tensor<?x10xf64>
  // CHECK: train.cross_entropy %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<2x3x5xf32>, tensor<2x3xi64>) -> tensor<f32>
  %loss8 = train.cross_entropy %x_4, %l_2 : (tensor<2x3x5xf32>, tensor<2x3xi64>) -> tensor<f32>
  // CHECK: train.mse %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf16>, tensor<?x4xf16>) -> tensor<f32>
  %loss9 = train.mse %x_5, %y : (tensor<?x4xf16>, tensor<?x4xf16>) -> tensor<f32>
  // CHECK: train.mse_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf16>, tensor<?x4xf16>, tensor<f32>) -> tensor<?x4xf16>
  %dx10 = train.mse_grad %x_5, %y, %g : (tensor<?x4xf16>, tensor<?x4xf16>, tensor<f32>) -> tensor<?x4xf16>
  // CHECK: train.l1 %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf16>, tensor<?x4xf16>) -> tensor<f32>
  %loss11 = train.l1 %x_5, %y : (tensor<?x4xf16>, tensor<?x4xf16>) -> tensor<f32>
  // CHECK: train.l1_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf16>, tensor<?x4xf16>, tensor<f32>) -> tensor<?x4xf16>
  %dx12 = train.l1_grad %x_5, %y, %g : (tensor<?x4xf16>, tensor<?x4xf16>, tensor<f32>) -> tensor<?x4xf16>
  // CHECK: train.mse %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<f32>
  %loss13 = train.mse %x_6, %y_1 : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<f32>
  // CHECK: train.mse_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<f32>) -> tensor<?x4xbf16>
  %dx14 = train.mse_grad %x_6, %y_1, %g : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<f32>) -> tensor<?x4xbf16>
  // CHECK: train.l1 %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<f32>
  %loss15 = train.l1 %x_6, %y_1 : (tensor<?x4xbf16>, tensor<?x4xbf16>) -> tensor<f32>
  // CHECK: train.l1_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<f32>) -> tensor<?x4xbf16>
  %dx16 = train.l1_grad %x_6, %y_1, %g : (tensor<?x4xbf16>, tensor<?x4xbf16>, tensor<f32>) -> tensor<?x4xbf16>
  // CHECK: train.mse %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<f32>
  %loss17 = train.mse %x_7, %y_2 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<f32>
  // CHECK: train.mse_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %dx18 = train.mse_grad %x_7, %y_2, %g : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  // CHECK: train.l1 %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<f32>
  %loss19 = train.l1 %x_7, %y_2 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<f32>
  // CHECK: train.l1_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %dx20 = train.l1_grad %x_7, %y_2, %g : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  // CHECK: train.mse %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf64>, tensor<?x4xf64>) -> tensor<f64>
  %loss21 = train.mse %x_8, %y_3 : (tensor<?x4xf64>, tensor<?x4xf64>) -> tensor<f64>
  // CHECK: train.mse_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf64>, tensor<?x4xf64>, tensor<f64>) -> tensor<?x4xf64>
  %dx22 = train.mse_grad %x_8, %y_3, %g_1 : (tensor<?x4xf64>, tensor<?x4xf64>, tensor<f64>) -> tensor<?x4xf64>
  // CHECK: train.l1 %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf64>, tensor<?x4xf64>) -> tensor<f64>
  %loss23 = train.l1 %x_8, %y_3 : (tensor<?x4xf64>, tensor<?x4xf64>) -> tensor<f64>
  // CHECK: train.l1_grad %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<?x4xf64>, tensor<?x4xf64>, tensor<f64>) -> tensor<?x4xf64>
  %dx24 = train.l1_grad %x_8, %y_3, %g_1 : (tensor<?x4xf64>, tensor<?x4xf64>, tensor<f64>) -> tensor<?x4xf64>
  return
}

// CHECK-LABEL: func.func @gradients(
func.func @gradients(
    %loss: tensor<f32>,
    %w: tensor<64x10xf32>,
    %b: tensor<10xf32>,
    %loss_1: tensor<f64>,
    %w_1: tensor<8xf64>,
    %w_2: tensor<?x8xf16>) {
  // CHECK: train.gradients %{{[^ ,)]+}} wrt(%{{[^ ,)]+}}, %{{[^ ,)]+}}) : (tensor<f32>, tensor<64x10xf32>, tensor<10xf32>) -> (tensor<64x10xf32>, tensor<10xf32>)
  %g0:2 = train.gradients %loss wrt(%w, %b) : (tensor<f32>, tensor<64x10xf32>, tensor<10xf32>) -> (tensor<64x10xf32>, tensor<10xf32>)
  // CHECK: train.gradients %{{[^ ,)]+}} wrt(%{{[^ ,)]+}}) {name = "aux"} : (tensor<f64>, tensor<8xf64>) -> tensor<8xf64>
  %g1 = train.gradients %loss_1 wrt(%w_1) {name = "aux"} : (tensor<f64>, tensor<8xf64>) -> tensor<8xf64>
  // CHECK: train.gradients %{{[^ ,)]+}} wrt(%{{[^ ,)]+}}) : (tensor<f32>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %g2 = train.gradients %loss wrt(%w_2) : (tensor<f32>, tensor<?x8xf16>) -> tensor<?x8xf16>
  return
}

// CHECK-LABEL: func.func @optimizers(
func.func @optimizers(
    %w: tensor<8xf32>,
    %g: tensor<8xf32>,
    %lr: tensor<f32>,
    %v: tensor<8xf32>,
    %m: tensor<8xf32>,
    %t: tensor<f32>,
    %g_1: tensor<8xf16>,
    %g_2: tensor<8xbf16>,
    %w_1: tensor<8xf64>,
    %g_3: tensor<8xf64>,
    %lr_1: tensor<f64>,
    %v_1: tensor<8xf64>,
    %m_1: tensor<8xf64>,
    %t_1: tensor<f64>,
    %w_2: tensor<f32>,
    %g_4: tensor<f16>) {
  // CHECK: train.sgd %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %w10 = train.sgd %w, %g, %lr {weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  // CHECK: train.sgd %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {momentum = 9.000000e-01 : f64, nesterov} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %w11, %v11 = train.sgd %w, %g, %lr, %v {momentum = 9.000000e-01 : f64, nesterov} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.adam %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %w12, %m12, %v12 = train.adam %w, %g, %lr, %m, %v, %t : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.adamw %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {beta1 = 0.000000e+00 : f64, beta2 = 5.000000e-01 : f64, epsilon = 1.000000e-04 : f64, weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %w13, %m13, %v13 = train.adamw %w, %g, %lr, %m, %v, %t {beta1 = 0.000000e+00 : f64, beta2 = 5.000000e-01 : f64, epsilon = 1.000000e-04 : f64, weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.sgd %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xf16>, tensor<f32>) -> tensor<8xf32>
  %w14 = train.sgd %w, %g_1, %lr {weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xf16>, tensor<f32>) -> tensor<8xf32>
  // CHECK: train.sgd %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {momentum = 9.000000e-01 : f64, nesterov} : (tensor<8xf32>, tensor<8xf16>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %w15, %v15 = train.sgd %w, %g_1, %lr, %v {momentum = 9.000000e-01 : f64, nesterov} : (tensor<8xf32>, tensor<8xf16>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.adam %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<8xf32>, tensor<8xf16>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %w16, %m16, %v16 = train.adam %w, %g_1, %lr, %m, %v, %t : (tensor<8xf32>, tensor<8xf16>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.adamw %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {beta1 = 0.000000e+00 : f64, beta2 = 5.000000e-01 : f64, epsilon = 1.000000e-04 : f64, weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xf16>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %w17, %m17, %v17 = train.adamw %w, %g_1, %lr, %m, %v, %t {beta1 = 0.000000e+00 : f64, beta2 = 5.000000e-01 : f64, epsilon = 1.000000e-04 : f64, weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xf16>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.sgd %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xbf16>, tensor<f32>) -> tensor<8xf32>
  %w18 = train.sgd %w, %g_2, %lr {weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xbf16>, tensor<f32>) -> tensor<8xf32>
  // CHECK: train.sgd %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {momentum = 9.000000e-01 : f64, nesterov} : (tensor<8xf32>, tensor<8xbf16>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %w19, %v19 = train.sgd %w, %g_2, %lr, %v {momentum = 9.000000e-01 : f64, nesterov} : (tensor<8xf32>, tensor<8xbf16>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.adam %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<8xf32>, tensor<8xbf16>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %w110, %m110, %v110 = train.adam %w, %g_2, %lr, %m, %v, %t : (tensor<8xf32>, tensor<8xbf16>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.adamw %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {beta1 = 0.000000e+00 : f64, beta2 = 5.000000e-01 : f64, epsilon = 1.000000e-04 : f64, weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xbf16>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %w111, %m111, %v111 = train.adamw %w, %g_2, %lr, %m, %v, %t {beta1 = 0.000000e+00 : f64, beta2 = 5.000000e-01 : f64, epsilon = 1.000000e-04 : f64, weight_decay = 1.000000e-02 : f64} : (tensor<8xf32>, tensor<8xbf16>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  // CHECK: train.sgd %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {weight_decay = 1.000000e-02 : f64} : (tensor<8xf64>, tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  %w112 = train.sgd %w_1, %g_3, %lr_1 {weight_decay = 1.000000e-02 : f64} : (tensor<8xf64>, tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  // CHECK: train.sgd %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {momentum = 9.000000e-01 : f64, nesterov} : (tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>)
  %w113, %v113 = train.sgd %w_1, %g_3, %lr_1, %v_1 {momentum = 9.000000e-01 : f64, nesterov} : (tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<8xf64>) -> (tensor<8xf64>, tensor<8xf64>)
  // CHECK: train.adam %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<8xf64>, tensor<8xf64>, tensor<f64>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>)
  %w114, %m114, %v114 = train.adam %w_1, %g_3, %lr_1, %m_1, %v_1, %t_1 : (tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<8xf64>, tensor<8xf64>, tensor<f64>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>)
  // CHECK: train.adamw %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} {beta1 = 0.000000e+00 : f64, beta2 = 5.000000e-01 : f64, epsilon = 1.000000e-04 : f64, weight_decay = 1.000000e-02 : f64} : (tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<8xf64>, tensor<8xf64>, tensor<f64>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>)
  %w115, %m115, %v115 = train.adamw %w_1, %g_3, %lr_1, %m_1, %v_1, %t_1 {beta1 = 0.000000e+00 : f64, beta2 = 5.000000e-01 : f64, epsilon = 1.000000e-04 : f64, weight_decay = 1.000000e-02 : f64} : (tensor<8xf64>, tensor<8xf64>, tensor<f64>, tensor<8xf64>, tensor<8xf64>, tensor<f64>) -> (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>)
  // CHECK: train.sgd %{{[^ ,)]+}}, %{{[^ ,)]+}}, %{{[^ ,)]+}} : (tensor<f32>, tensor<f16>, tensor<f32>) -> tensor<f32>
  %w116 = train.sgd %w_2, %g_4, %lr : (tensor<f32>, tensor<f16>, tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @clip_by_global_norm(
func.func @clip_by_global_norm(
    %g0: tensor<8xf32>,
    %g1: tensor<4xf16>,
    %g: tensor<8xf64>,
    %g_1: tensor<?xbf16>) {
  // CHECK: train.clip_by_global_norm %{{[^ ,)]+}}, %{{[^ ,)]+}} {max_norm = 1.000000e+00 : f64} : (tensor<8xf32>, tensor<4xf16>) -> (tensor<8xf32>, tensor<4xf16>, tensor<f32>)
  %c0:2, %norm0 = train.clip_by_global_norm %g0, %g1 {max_norm = 1.000000e+00 : f64} : (tensor<8xf32>, tensor<4xf16>) -> (tensor<8xf32>, tensor<4xf16>, tensor<f32>)
  // CHECK: train.clip_by_global_norm %{{[^ ,)]+}} {max_norm = 5.000000e-01 : f64} : (tensor<8xf64>) -> (tensor<8xf64>, tensor<f64>)
  %c1, %norm1 = train.clip_by_global_norm %g {max_norm = 5.000000e-01 : f64} : (tensor<8xf64>) -> (tensor<8xf64>, tensor<f64>)
  // CHECK: train.clip_by_global_norm %{{[^ ,)]+}} {max_norm = 5.000000e-01 : f64} : (tensor<?xbf16>) -> (tensor<?xbf16>, tensor<f32>)
  %c2, %norm2 = train.clip_by_global_norm %g_1 {max_norm = 5.000000e-01 : f64} : (tensor<?xbf16>) -> (tensor<?xbf16>, tensor<f32>)
  return
}
