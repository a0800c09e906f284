// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of the runtime, and what ends a step.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @window(%x: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{needs the parameter 'window', 2 integers as array<i64: ...>}}
  %0 = cuda.call "max_pool2d" ins(%x : tensor<1x4x4x2xf32>) {parameters = {window = 2 : i64}} -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @negative_window(%x: tensor<1x4x4x2xf32>) {
  // expected-error@+1 {{needs the parameter 'strides', 2 integers as array<i64: ...>}}
  %0 = cuda.call "max_pool2d" ins(%x : tensor<1x4x4x2xf32>)
      {parameters = {window = array<i64: 2, 2>, strides = array<i64: 0, 2>}} -> tensor<1x2x2x2xf32>
  return
}

// -----

func.func @pool(%x: tensor<4x4x2xf32>) {
  // expected-error@+1 {{pools tensors that are not of rank 4}}
  %0 = cuda.call "max_pool2d" ins(%x : tensor<4x4x2xf32>)
      {parameters = {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>}} -> tensor<2x2x2xf32>
  return
}

// -----

func.func @shapes(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{has shapes [4, 8] and [8, 4], expected equal ones}}
  %0 = cuda.call "softmax" ins(%x : tensor<4x8xf32>) {parameters = {axis = 1 : i64}} -> tensor<8x4xf32>
  return
}

// -----

func.func @axis(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{has axis 2 of rank 2}}
  %0 = cuda.call "softmax" ins(%x : tensor<4x8xf32>) {parameters = {axis = 2 : i64}} -> tensor<4x8xf32>
  return
}

// -----

func.func @gain(%x: tensor<4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{has a gain of shape [4] for rows of [4, 8]}}
  %0:3 = cuda.call "layer_norm" ins(%x, %g, %g : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
      {parameters = {epsilon = 1.0e-5 : f64}} -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @wide(%x: tensor<4x8xf64>) {
  // expected-error@+1 {{is given f64, expected f32, f16 or bf16}}
  %0 = cuda.call "softmax" ins(%x : tensor<4x8xf64>) {parameters = {axis = 1 : i64}} -> tensor<4x8xf64>
  return
}

// -----

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

func.func @stochastic_state(%x: tensor<4xf32>, %rng: tensor<3xi64>) {
  // expected-error@+1 {{the generator state has shape [3] of 'i64', expected [2] of 'i64'}}
  %0 = cuda.call "stochastic_round" ins(%x, %rng : tensor<4xf32>, tensor<3xi64>) {parameters = {key = 0 : i32}} -> tensor<4xbf16>
  return
}

// -----

func.func @stochastic_key(%x: tensor<4xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{needs the parameter 'key', an integer}}
  %0 = cuda.call "stochastic_round" ins(%x, %rng : tensor<4xf32>, tensor<2xi64>) -> tensor<4xbf16>
  return
}

// -----

func.func @stochastic_source(%x: tensor<4xbf16>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{what is rounded has shape [4] of 'bf16', expected [4] of 'f32'}}
  %0 = cuda.call "stochastic_round" ins(%x, %rng : tensor<4xbf16>, tensor<2xi64>) {parameters = {key = 0 : i32}} -> tensor<4xbf16>
  return
}

// -----

func.func @stochastic_type(%x: tensor<4xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{the rounded tensor has shape [4] of 'f16', expected [4] of 'bf16'}}
  %0 = cuda.call "stochastic_round" ins(%x, %rng : tensor<4xf32>, tensor<2xi64>) {parameters = {key = 0 : i32}} -> tensor<4xf16>
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
