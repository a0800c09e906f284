// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of gradients, optimizers and casts of many tensors.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @checks_nothing() {
  // expected-error@+1 {{checks no gradients}}
  %0:3 = cuda.check_gradients ins() -> tensor<8xf32>, tensor<i1>, tensor<f32>
  return
}

// -----

func.func @checked_type(%g: tensor<4xi32>) {
  // expected-error@+1 {{checks a gradient of 'i32', expected f16, bf16 or f32}}
  %0:3 = cuda.check_gradients ins(%g : tensor<4xi32>) -> tensor<8xf32>, tensor<i1>, tensor<f32>
  return
}

// -----

func.func @strict(%g: tensor<4xf32>) {
  // expected-error@+1 {{has 'strict' without 'scaled': there is no multiplication to check the result of}}
  %0:3 = cuda.check_gradients ins(%g : tensor<4xf32>) {strict} -> tensor<8xf32>, tensor<i1>, tensor<f32>
  return
}

// -----

func.func @limit(%g: tensor<4xf32>) {
  // expected-error@+1 {{limits the norm to a value that is not positive}}
  %0:3 = cuda.check_gradients ins(%g : tensor<4xf32>) {max_norm = 0.0 : f64} -> tensor<8xf32>, tensor<i1>, tensor<f32>
  return
}

// -----

func.func @updates_nothing(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{updates no parameters}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64>} -> tensor<4xf32>
  return
}

// -----

func.func @velocity(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{has 'velocity', which belongs to sgd}}
  %0 = cuda.optimizer <adam> ins(%p, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, velocity} -> tensor<4xf32>
  return
}

// -----

func.func @gradient(%p: tensor<4xf32>, %g: tensor<4xi32>, %lr: tensor<f32>) {
  // expected-error@+1 {{takes a gradient of 'i32', expected f16, bf16 or f32}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xf32>, tensor<4xi32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>} -> tensor<4xf32>
  return
}

// -----

func.func @copies(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{copies parameter 1 of 1}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, copies = array<i64: 1>} -> tensor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @copy(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{has a copy of 'f32', expected f16 or bf16}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, copies = array<i64: 0>} -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @converts_nothing(%x: tensor<4xf32>) {
  // expected-error@+1 {{converts nothing}}
  %0 = cuda.casts ins() -> tensor<4xf16>
  return
}

// -----

func.func @converts_up(%x: tensor<4xf16>) {
  // expected-error@+1 {{converts 'f16' to 'f32', expected f32 to f16 or bf16}}
  %0 = cuda.casts ins(%x : tensor<4xf16>) -> tensor<4xf32>
  return
}
