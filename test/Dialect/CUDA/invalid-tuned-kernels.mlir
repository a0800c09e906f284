// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tuned kernels: operands, attributes, and memory on buffers.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @inputs(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{has 2 inputs, expected 1}}
  %0 = cuda.softmax ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) {axis = 1 : i64} -> tensor<4x8xf32>
  return
}

// -----

func.func @targets(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{has 2 outputs or results, expected 1}}
  %0:2 = cuda.softmax ins(%a : tensor<4x8xf32>) {axis = 1 : i64} -> tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @empty_input(%a: tensor<4x0xf32>) {
  // expected-error@+1 {{x has no elements}}
  %0 = cuda.softmax ins(%a : tensor<4x0xf32>) {axis = 1 : i64} -> tensor<4x0xf32>
  return
}

// -----

func.func @empty_target(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  // expected-error@+1 {{mean has no elements}}
  %0:3 = cuda.layer_norm ins(%a, %b, %c : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) {epsilon = 1.0e-5 : f64} -> tensor<4x8xf32>, tensor<0xf32>, tensor<4xf32>
  return
}

// -----

func.func @attribute(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{requires attribute 'axis'}}
  %0 = cuda.softmax ins(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @softmax_axis(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{has axis 2 for the shape [4, 8]}}
  %0 = cuda.softmax ins(%a : tensor<4x8xf32>) {axis = 2 : i64} -> tensor<4x8xf32>
  return
}

// -----

func.func @softmax_shape(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{y has shape [8, 4] of 'f32', expected [4, 8] of f16, bf16 or f32}}
  %0 = cuda.softmax ins(%a : tensor<4x8xf32>) {axis = 1 : i64} -> tensor<8x4xf32>
  return
}

// -----

func.func @log_softmax_axis(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{has axis 2 for the shape [4, 8]}}
  %0 = cuda.log_softmax ins(%a : tensor<4x8xf32>) {axis = 2 : i64} -> tensor<4x8xf32>
  return
}

// -----

func.func @log_softmax_shape(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{y has shape [8, 4] of 'f32', expected [4, 8] of f16, bf16 or f32}}
  %0 = cuda.log_softmax ins(%a : tensor<4x8xf32>) {axis = 1 : i64} -> tensor<8x4xf32>
  return
}

// -----

func.func @softmax_grad_axis(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{has axis 2 for the shape [4, 8]}}
  %0 = cuda.softmax_grad ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) {axis = 2 : i64} -> tensor<4x8xf32>
  return
}

// -----

func.func @softmax_grad_shape(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{dx has shape [8, 4] of 'f32', expected [4, 8] of f16, bf16 or f32}}
  %0 = cuda.softmax_grad ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) {axis = 1 : i64} -> tensor<8x4xf32>
  return
}

// -----

func.func @log_softmax_grad_axis(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{has axis 2 for the shape [4, 8]}}
  %0 = cuda.log_softmax_grad ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) {axis = 2 : i64} -> tensor<4x8xf32>
  return
}

// -----

func.func @log_softmax_grad_shape(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{dx has shape [8, 4] of 'f32', expected [4, 8] of f16, bf16 or f32}}
  %0 = cuda.log_softmax_grad ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) {axis = 1 : i64} -> tensor<8x4xf32>
  return
}

// -----

func.func @negative_axis(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{has axis -1 for the shape [4, 8]}}
  %0 = cuda.softmax ins(%a : tensor<4x8xf32>) {axis = -1 : i64} -> tensor<4x8xf32>
  return
}

// -----

func.func @softmax_f64(%a: tensor<4x8xf64>) {
  // expected-error@+1 {{x has shape [4, 8] of 'f64', expected [4, 8] of f16, bf16 or f32}}
  %0 = cuda.softmax ins(%a : tensor<4x8xf64>) {axis = 1 : i64} -> tensor<4x8xf64>
  return
}

// -----

func.func @softmax_integers(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{y has shape [4, 8] of 'i32', expected [4, 8] of f16, bf16 or f32}}
  %0 = cuda.softmax ins(%a : tensor<4x8xf32>) {axis = 1 : i64} -> tensor<4x8xi32>
  return
}

// -----

func.func @softmax_grad_operand(%a: tensor<4x8xf32>, %b: tensor<4x4xf32>) {
  // expected-error@+1 {{dy has shape [4, 4] of 'f32', expected [4, 8] of f16, bf16 or f32}}
  %0 = cuda.softmax_grad ins(%a, %b : tensor<4x8xf32>, tensor<4x4xf32>) {axis = 1 : i64} -> tensor<4x8xf32>
  return
}

// -----

func.func @gain(%a: tensor<4x8xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{has gamma of shape [4] for x of shape [4, 8], expected the last dimensions of x}}
  %0:3 = cuda.layer_norm ins(%a, %b, %c : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) {epsilon = 1.0e-5 : f64} -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @beta(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<8xf16>) {
  // expected-error@+1 {{beta has shape [8] of 'f16', expected [8] of 'f32'}}
  %0:3 = cuda.layer_norm ins(%a, %b, %c : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf16>) {epsilon = 1.0e-5 : f64} -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @mean(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) {
  // expected-error@+1 {{mean has shape [8] of 'f32', expected [4] of 'f32'}}
  %0:3 = cuda.layer_norm ins(%a, %b, %c : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) {epsilon = 1.0e-5 : f64} -> tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>
  return
}

// -----

func.func @layer_norm_grad_gain(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<3xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{has gamma of shape [3] for x of shape [4, 8], expected the last dimensions of x}}
  %0:3 = cuda.layer_norm_grad ins(%a, %b, %c, %d, %e : tensor<4x8xf32>, tensor<4x8xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @dgamma(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<8xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{dgamma has shape [4] of 'f32', expected [8] of 'f32'}}
  %0:3 = cuda.layer_norm_grad ins(%a, %b, %c, %d, %e : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>
  return
}

// -----

func.func @channels(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>) {
  // expected-error@+1 {{normalises a scalar, expected channels as the last dimension}}
  %0:5 = cuda.batch_norm_training ins(%a, %b, %c, %d, %e : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64} -> tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

func.func @running_var(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %d: tensor<8xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{running_var has shape [4] of 'f32', expected [8] of 'f32'}}
  %0:5 = cuda.batch_norm_training ins(%a, %b, %c, %d, %e : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64} -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @inference_channels(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>) {
  // expected-error@+1 {{normalises a scalar, expected channels as the last dimension}}
  %0 = cuda.batch_norm_inference ins(%a, %b, %c, %d, %e : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {epsilon = 1.0e-5 : f64} -> tensor<f32>
  return
}

// -----

func.func @inference_var(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %d: tensor<8xf32>, %e: tensor<8xf16>) {
  // expected-error@+1 {{var has shape [8] of 'f16', expected [8] of 'f32'}}
  %0 = cuda.batch_norm_inference ins(%a, %b, %c, %d, %e : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf16>) {epsilon = 1.0e-5 : f64} -> tensor<4x8xf32>
  return
}

// -----

func.func @batch_norm_grad_channels(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>) {
  // expected-error@+1 {{normalises a scalar, expected channels as the last dimension}}
  %0:3 = cuda.batch_norm_grad ins(%a, %b, %c, %d, %e : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----

func.func @batch_norm_grad_rstd(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<8xf32>, %d: tensor<8xf32>, %e: tensor<4xf32>) {
  // expected-error@+1 {{rstd has shape [4] of 'f32', expected [8] of 'f32'}}
  %0:3 = cuda.batch_norm_grad ins(%a, %b, %c, %d, %e : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @mask_channels(%a: tensor<4x12xf32>, %b: tensor<12xf32>) {
  // expected-error@+1 {{has a mask for 12 channels, expected a multiple of 8}}
  %0:6 = cuda.batch_norm_relu ins(%a, %b, %b, %b, %b : tensor<4x12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64} -> tensor<4x12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<4x1xi8>
  return
}

// -----

func.func @mask_scalar(%a: tensor<f32>, %b: tensor<8xf32>, %m: tensor<1xi8>) {
  // expected-error@+1 {{normalises a scalar, expected channels as the last dimension}}
  %0:3 = cuda.batch_norm_relu_grad ins(%a, %m, %a, %b, %b, %b : tensor<f32>, tensor<1xi8>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<f32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @mask_shape(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{mask has shape [4, 8] of 'i8', expected [4, 1] of 'i8'}}
  %0:6 = cuda.batch_norm_add_relu ins(%a, %b, %b, %b, %b, %a : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>) {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64} -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xi8>
  return
}

// -----

func.func @residual(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %r: tensor<8xf32>) {
  // expected-error@+1 {{residual has shape [8] of 'f32', expected [4, 8]}}
  %0:6 = cuda.batch_norm_add_relu ins(%a, %b, %b, %b, %b, %r : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {epsilon = 1.0e-5 : f64, momentum = 0.1 : f64} -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x1xi8>
  return
}

// -----

func.func @relu_grad_mask(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %m: tensor<4x2xi8>) {
  // expected-error@+1 {{mask has shape [4, 2] of 'i8', expected [4, 1] of 'i8'}}
  %0:4 = cuda.batch_norm_add_relu_grad ins(%a, %m, %a, %b, %b, %b : tensor<4x8xf32>, tensor<4x2xi8>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @labels(%a: tensor<4x8xf32>, %b: tensor<3xi64>) {
  // expected-error@+1 {{has labels of shape [3] of 'i64' for logits of shape [4, 8], expected one i32 or i64 per row}}
  %0 = cuda.cross_entropy ins(%a, %b : tensor<4x8xf32>, tensor<3xi64>) -> tensor<f32>
  return
}

// -----

func.func @label_type(%a: tensor<4x8xf32>, %b: tensor<4xi8>, %c: tensor<f32>) {
  // expected-error@+1 {{has labels of shape [4] of 'i8' for logits of shape [4, 8], expected one i32 or i64 per row}}
  %0 = cuda.cross_entropy_grad ins(%a, %b, %c : tensor<4x8xf32>, tensor<4xi8>, tensor<f32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @labels_of_both(%a: tensor<f32>, %b: tensor<i64>, %c: tensor<f32>) {
  // expected-error@+1 {{has labels of shape [] of 'i64' for logits of shape [], expected one i32 or i64 per row}}
  %0:2 = cuda.cross_entropy_with_grad ins(%a, %b, %c : tensor<f32>, tensor<i64>, tensor<f32>) -> tensor<f32>, tensor<f32>
  return
}

// -----

func.func @loss(%a: tensor<4x8xf32>, %b: tensor<4xi64>) {
  // expected-error@+1 {{loss has shape [4] of 'f32', expected [] of 'f32'}}
  %0 = cuda.cross_entropy ins(%a, %b : tensor<4x8xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @dloss(%a: tensor<4x8xf32>, %b: tensor<4xi64>, %c: tensor<f16>) {
  // expected-error@+1 {{dloss has shape [] of 'f16', expected [] of 'f32'}}
  %0 = cuda.cross_entropy_grad ins(%a, %b, %c : tensor<4x8xf32>, tensor<4xi64>, tensor<f16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @smoothing(%a: tensor<4x8xf32>, %b: tensor<4xi64>) {
  // expected-error@+1 {{'cuda.cross_entropy' op has a label smoothing of -1.000000e-01, expected at least 0 and less than 1}}
  %0 = cuda.cross_entropy ins(%a, %b : tensor<4x8xf32>, tensor<4xi64>) {label_smoothing = -0.1 : f64} -> tensor<f32>
  return
}

// -----

func.func @dlogits(%a: tensor<4x8xf32>, %b: tensor<4xi64>, %c: tensor<f32>) {
  // expected-error@+1 {{dlogits has shape [4] of 'f32', expected [4, 8] of f16, bf16 or f32}}
  %0:2 = cuda.cross_entropy_with_grad ins(%a, %b, %c : tensor<4x8xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>, tensor<4xf32>
  return
}

// -----

func.func @window(%a: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{has 'window' [2], expected 2 integers of at least 1}}
  %0 = cuda.max_pool2d ins(%a : tensor<1x4x4x2xf32>) {window = array<i64: 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>} -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @strides(%a: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{has 'strides' [0, 2], expected 2 integers of at least 1}}
  %0 = cuda.avg_pool2d ins(%a : tensor<1x4x4x2xf32>) {window = array<i64: 2, 2>, strides = array<i64: 0, 2>, padding = array<i64: 0, 0, 0, 0>} -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @padding(%a: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{has 'padding' [0, 0, 0, -1], expected 4 integers of at least 0}}
  %0 = cuda.max_pool2d ins(%a : tensor<1x4x4x2xf32>) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, -1>} -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @pool_rank(%a: tensor<4x4x2xf32>) {
  // expected-error@+1 {{pools a tensor of rank 3, expected 4}}
  %0 = cuda.max_pool2d ins(%a : tensor<4x4x2xf32>) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>} -> tensor<2x2x2xf32>
  return
}

// -----

func.func @large_window(%a: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{has a window of 7 for an extent of 6 with its padding}}
  %0 = cuda.avg_pool2d ins(%a : tensor<1x4x4x2xf32>) {window = array<i64: 7, 2>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 0, 0>} -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @pool_images(%a: tensor<1x65536x65536x1xf32>) {
  // expected-error@+1 {{pools images with 2^31 elements or more}}
  %0 = cuda.avg_pool2d ins(%a : tensor<1x65536x65536x1xf32>) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>} -> tensor<1x32768x32768x1xf32>
  return
}

// -----

func.func @pooled(%a: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{y has shape [1, 4, 2, 2] of 'f32', expected [1, 2, 2, 2] of f16, bf16 or f32}}
  %0 = cuda.max_pool2d ins(%a : tensor<1x4x4x2xf32>) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>} -> tensor<1x4x2x2xf32>
  return
}

// -----

func.func @max_pool2d_grad(%a: tensor<1x4x4x2xf32>, %b: tensor<1x2x2x2xf32>, %c: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{dy has shape [1, 4, 4, 2] of 'f32', expected [1, 2, 2, 2] of f16, bf16 or f32}}
  %0 = cuda.max_pool2d_grad ins(%a, %b, %c : tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>, tensor<1x4x4x2xf32>) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>} -> tensor<1x4x4x2xf32>
  return
}

// -----

func.func @max_pool2d_grad_rank(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{pools a tensor of rank 1, expected 4}}
  %0 = cuda.max_pool2d_grad ins(%a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>} -> tensor<4xf32>
  return
}

// -----

func.func @avg_pool2d_grad(%a: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{dy has shape [1, 4, 4, 2] of 'f32', expected [1, 2, 2, 2] of f16, bf16 or f32}}
  %0 = cuda.avg_pool2d_grad ins(%a : tensor<1x4x4x2xf32>) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>} -> tensor<1x4x4x2xf32>
  return
}

// -----

func.func @avg_pool2d_grad_rank(%a: tensor<4xf32>) {
  // expected-error@+1 {{pools a tensor of rank 1, expected 4}}
  %0 = cuda.avg_pool2d_grad ins(%a : tensor<4xf32>) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>} -> tensor<4xf32>
  return
}

// -----

func.func @scatter_axis(%a: tensor<4x8xf32>, %b: tensor<4xi64>) {
  // expected-error@+1 {{has axis 2 for the shape [9, 8]}}
  %0 = cuda.scatter_add ins(%a, %b : tensor<4x8xf32>, tensor<4xi64>) {axis = 2 : i64} -> tensor<9x8xf32>
  return
}

// -----

func.func @scatter_indices(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{has indices of 'f32', expected i32 or i64}}
  %0 = cuda.scatter_add ins(%a, %b : tensor<4x8xf32>, tensor<4xf32>) {axis = 0 : i64} -> tensor<9x8xf32>
  return
}

// -----

func.func @scatter_updates(%a: tensor<4x8xf32>, %b: tensor<5xi64>) {
  // expected-error@+1 {{updates has shape [4, 8] of 'f32', expected [5, 8] of f16, bf16 or f32}}
  %0 = cuda.scatter_add ins(%a, %b : tensor<4x8xf32>, tensor<5xi64>) {axis = 0 : i64} -> tensor<9x8xf32>
  return
}

// -----

func.func @scatter_wide(%a: tensor<4x8xf32>, %b: tensor<4xi64>) {
  // expected-error@+1 {{result has shape [9, 8] of 'f64', expected [9, 8] of f16, bf16 or f32}}
  %0 = cuda.scatter_add ins(%a, %b : tensor<4x8xf32>, tensor<4xi64>) {axis = 0 : i64} -> tensor<9x8xf64>
  return
}

// -----

func.func @dropout_rate(%a: tensor<4xf32>, %b: tensor<2xi64>) {
  // expected-error@+1 {{has a rate of 1.000000e+00, expected at least 0 and less than 1}}
  %0 = cuda.dropout ins(%a, %b : tensor<4xf32>, tensor<2xi64>) {rate = 1.0 : f64, key = 0 : i32} -> tensor<4xf32>
  return
}

// -----

func.func @dropout_state(%a: tensor<4xf32>, %b: tensor<2xi32>) {
  // expected-error@+1 {{rng has shape [2] of 'i32', expected [2] of 'i64'}}
  %0 = cuda.dropout ins(%a, %b : tensor<4xf32>, tensor<2xi32>) {rate = 0.5 : f64, key = 0 : i32} -> tensor<4xf32>
  return
}

// -----

func.func @no_seeds(%b: tensor<2xi64>) {
  // expected-error@+1 {{has 0 keys, expected 1 to 512}}
  %0 = cuda.dropout_seeds ins(%b : tensor<2xi64>) {keys = array<i32>} -> tensor<1x2xi64>
  return
}

// -----

func.func @seeds(%b: tensor<2xi64>) {
  // expected-error@+1 {{seeds has shape [1, 2] of 'i64', expected [2, 2] of 'i64'}}
  %0 = cuda.dropout_seeds ins(%b : tensor<2xi64>) {keys = array<i32: 1, 2>} -> tensor<1x2xi64>
  return
}

// -----

func.func @stochastic_state(%a: tensor<4xf32>, %b: tensor<3xi64>) {
  // expected-error@+1 {{rng has shape [3] of 'i64', expected [2] of 'i64'}}
  %0 = cuda.stochastic_round ins(%a, %b : tensor<4xf32>, tensor<3xi64>) {key = 0 : i32} -> tensor<4xbf16>
  return
}

// -----

func.func @stochastic_source(%a: tensor<4xbf16>, %b: tensor<2xi64>) {
  // expected-error@+1 {{x has shape [4] of 'bf16', expected [4] of 'f32'}}
  %0 = cuda.stochastic_round ins(%a, %b : tensor<4xbf16>, tensor<2xi64>) {key = 0 : i32} -> tensor<4xbf16>
  return
}

// -----

func.func @stochastic_result(%a: tensor<4xf32>, %b: tensor<2xi64>) {
  // expected-error@+1 {{y has shape [4] of 'f16', expected [4] of 'bf16'}}
  %0 = cuda.stochastic_round ins(%a, %b : tensor<4xf32>, tensor<2xi64>) {key = 0 : i32} -> tensor<4xf16>
  return
}

// -----

func.func @growth_tracker(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i1>) {
  // expected-error@+1 {{growth_tracker has shape [] of 'f32', expected [] of 'i32'}}
  %0:3 = cuda.update_scale ins(%a, %b, %c, %d : tensor<f32>, tensor<f32>, tensor<i32>, tensor<i1>) -> tensor<f32>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @all_finite(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>) {
  // expected-error@+1 {{all_finite has shape [] of 'i32', expected [] of 'i1'}}
  %0:3 = cuda.update_scale ins(%a, %b, %c, %d : tensor<f32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @new_scale(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i1>) {
  // expected-error@+1 {{new_scale has shape [] of 'f16', expected [] of 'f32'}}
  %0:3 = cuda.update_scale ins(%a, %b, %c, %d : tensor<f32>, tensor<i32>, tensor<i32>, tensor<i1>) -> tensor<f16>, tensor<i32>, tensor<i32>
  return
}

// -----

cuda.program @scratch arena 1024 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4x8xf32>
  %l = cuda.buffer "l" at 256 {role = "batch"} : memref<4xi64>
  %y = cuda.buffer "y" at 512 {role = "metric"} : memref<f32>
  // expected-error@+1 {{has 0 bytes of scratch memory, expected at least 16}}
  cuda.cross_entropy named "loss" ins(%x, %l : memref<4x8xf32>, memref<4xi64>) outs(%y : memref<f32>)
}

// -----

cuda.program @in_place arena 2048 {
  %s = cuda.buffer "s" at 0 {role = "scaler_state"} : memref<f32>
  %g = cuda.buffer "g" at 256 {role = "scaler_state"} : memref<i32>
  %h = cuda.buffer "h" at 512 {role = "scaler_state"} : memref<i32>
  %f = cuda.buffer "f" at 768 {role = "batch"} : memref<i1>
  %t = cuda.buffer "t" at 1024 : memref<f32>
  // expected-error@+1 {{works in place, but output 0 lies at 1024 and input 0 at 0}}
  cuda.update_scale named "scale" ins(%s, %g, %h, %f : memref<f32>, memref<i32>, memref<i32>, memref<i1>)
      outs(%t, %g, %h : memref<f32>, memref<i32>, memref<i32>)
}

// -----

// No element of the result overlaps x: the operation does not promise it.
cuda.program @overwritten arena 1280 {
  %x = cuda.buffer "x" at 0 {role = "model_state"} : memref<4x8xf32>
  %g = cuda.buffer "g" at 256 {role = "parameter"} : memref<8xf32>
  // expected-error@+1 {{writes 'x' while it reads it}}
  cuda.batch_norm_inference named "norm" ins(%x, %g, %g, %g, %g
      : memref<4x8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>, memref<8xf32>)
      outs(%x : memref<4x8xf32>) {epsilon = 1.0e-5 : f64}
}

// -----

func.func @rms_norm_gain(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{has gamma of shape [4] for x of shape [4, 8], expected the last dimensions of x}}
  %0:2 = cuda.rms_norm ins(%a, %b : tensor<4x8xf32>, tensor<4xf32>) {epsilon = 1.0e-6 : f64} -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @rms_norm_rows(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{rstd has shape [8] of 'f32', expected [4] of 'f32'}}
  %0:2 = cuda.rms_norm_grad ins(%a, %a, %b, %b : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @apply_channels(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{rstd has shape [4] of 'f32', expected [8] of 'f32'}}
  %0 = cuda.batch_norm_apply ins(%a, %b, %b, %b, %c : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @apply_residual(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{residual has shape [8] of 'f32', expected [4, 8] of f16, bf16 or f32}}
  %0 = cuda.batch_norm_add_relu_apply ins(%a, %b, %b, %b, %b, %b : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @norm_again(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{beta has shape [4] of 'f32', expected [8] of 'f32'}}
  %0:4 = cuda.layer_norm_and_grad ins(%a, %a, %b, %c, %c, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @norm_again_shape(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{y has shape [8] of 'f32', expected [4, 8] of f16, bf16 or f32}}
  %0:3 = cuda.rms_norm_and_grad ins(%a, %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @rms_norm_addend(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{has 4 inputs, expected 5}}
  %0:2 = cuda.rms_norm_grad ins(%a, %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) {accumulate} -> tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @rms_norm_addend_rows(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{has 'accumulate' and 'dx_rows', expected one}}
  %0:2 = cuda.rms_norm_grad ins(%a, %a, %b, %c, %a : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<4x8xf32>)
      {accumulate, dx_rows = #cuda.heads<at 0 by 0, 0, 8>} -> tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @rms_norm_beyond_indices(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{x ends at an index that overflows 64 bits, but its tensor has 32}}
  %0:2 = cuda.rms_norm ins(%a, %b : tensor<4x8xf32>, tensor<8xf32>) {epsilon = 1.0e-6 : f64,
      x_rows = #cuda.heads<at 9223372036854775804 by 0, 0, 8>} -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @rms_norm_wide_stride(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{x ends at an index that overflows 64 bits, but its tensor has 32}}
  %0:2 = cuda.rms_norm ins(%a, %b : tensor<4x8xf32>, tensor<8xf32>) {epsilon = 1.0e-6 : f64,
      x_rows = #cuda.heads<at 0 by 0, 0, 4611686018427387904>} -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @rms_norm_end(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{x ends at element 35, but its tensor has 32}}
  %0:2 = cuda.rms_norm ins(%a, %b : tensor<4x8xf32>, tensor<8xf32>) {epsilon = 1.0e-6 : f64, x_rows = #cuda.heads<at 4 by 0, 0, 8>} -> tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @rms_norm_start(%a: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @+1 {{x has the offset or stride 2, expected a multiple of 4 elements}}
  %0:2 = cuda.rms_norm ins(%a, %b : tensor<4x8xf32>, tensor<8xf32>) {epsilon = 1.0e-6 : f64, x_rows = #cuda.heads<at 2 by 0, 0, 8>} -> tensor<3x8xf32>, tensor<3xf32>
  return
}

// -----

func.func @rms_norm_twice(%a: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{dx must fill the tensor, each element once}}
  %0:2 = cuda.rms_norm_grad ins(%a, %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<4xf32>) {dx_rows = #cuda.heads<at 0 by 0, 0, 0>} -> tensor<4x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @rms_norm_dimensions(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // expected-error @+1 {{has rows by strides, 2 normalised dimensions and results of shape [4, 8], expected one normalised dimension and at most four in all}}
  %0:2 = cuda.rms_norm ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32>) {epsilon = 1.0e-6 : f64, x_rows = #cuda.heads<at 0 by 0, 0, 8>} -> tensor<4x8xf32>, tensor<f32>
  return
}
