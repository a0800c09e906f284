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

// -----

func.func @parameter_type(%p: tensor<4xf64>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{updates a parameter of 'f64', expected f16, bf16 or f32}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xf64>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>} -> tensor<4xf64>
  return
}

// -----

func.func @state_type(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>, %v: tensor<4xf16>) {
  // expected-error@+1 {{updates a state of 'f16', expected bf16 or f32}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %v, %lr : tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, velocity} -> tensor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @kept_type(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{an output of the optimizer has shape [4] of 'f32', expected [4] of 'bf16'}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xbf16>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>} -> tensor<4xf32>
  return
}

// -----

func.func @low_copy(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{copies a parameter of 'bf16', expected f32}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xbf16>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, copies = array<i64: 0>} -> tensor<4xbf16>, tensor<4xbf16>
  return
}

// -----

func.func @split_index(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{splits parameter 1 of 1}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, splits = array<i64: 1>} -> tensor<4xf32>
  return
}

// -----

func.func @split_low(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{splits parameter 0, expected it to be f32, without a copy and listed once}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xbf16>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, splits = array<i64: 0>} -> tensor<4xbf16>
  return
}

// -----

func.func @split_copy(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{splits parameter 0, expected it to be f32, without a copy and listed once}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>, splits = array<i64: 0>, copies = array<i64: 0>} -> tensor<4xf32>, tensor<4xbf16>
  return
}

// -----

func.func @compensation_index(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{compensates parameter 1 of 1}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %lr, %p : tensor<4xbf16>, tensor<4xf32>, tensor<f32>, tensor<4xbf16>)
      {weight_decay = array<f64: 0.0>, compensations = array<i64: 1>} -> tensor<4xbf16>, tensor<4xbf16>
  return
}

// -----

func.func @compensation_of_f32(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{compensates parameter 0, expected it to be f16 or bf16, without a rounding key and listed once}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %lr, %p : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>)
      {weight_decay = array<f64: 0.0>, compensations = array<i64: 0>} -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @compensation_by_chance(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>, %r: tensor<2xi64>) {
  // expected-error@+1 {{compensates parameter 0, expected it to be f16 or bf16, without a rounding key and listed once}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %lr, %r, %p : tensor<4xbf16>, tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<4xbf16>)
      {weight_decay = array<f64: 0.0>, compensations = array<i64: 0>, rounding_keys = array<i64: 3>} -> tensor<4xbf16>, tensor<4xbf16>
  return
}

// -----

func.func @compensation_type(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>, %e: tensor<4xf16>) {
  // expected-error@+1 {{a rounding error has shape [4] of 'f16', expected [4] of 'bf16'}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %lr, %e : tensor<4xbf16>, tensor<4xf32>, tensor<f32>, tensor<4xf16>)
      {weight_decay = array<f64: 0.0>, compensations = array<i64: 0>} -> tensor<4xbf16>, tensor<4xbf16>
  return
}

// -----

func.func @new_compensation_type(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{a new rounding error has shape [3] of 'bf16', expected [4] of 'bf16'}}
  %0:2 = cuda.optimizer <sgd> ins(%p, %g, %lr, %p : tensor<4xbf16>, tensor<4xf32>, tensor<f32>, tensor<4xbf16>)
      {weight_decay = array<f64: 0.0>, compensations = array<i64: 0>} -> tensor<4xbf16>, tensor<3xbf16>
  return
}

// -----

func.func @keys(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>, %r: tensor<2xi64>) {
  // expected-error@+1 {{has 2 rounding keys, expected one for each of 1 new parameters and states}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr, %r : tensor<4xbf16>, tensor<4xf32>, tensor<f32>, tensor<2xi64>)
      {weight_decay = array<f64: 0.0>, rounding_keys = array<i64: 0, 1>} -> tensor<4xbf16>
  return
}

// -----

func.func @key_of_f32(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>, %r: tensor<2xi64>) {
  // expected-error@+1 {{rounds output 0 of 'f32' with key 0, expected bf16 and 31 bits}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr, %r : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<2xi64>)
      {weight_decay = array<f64: 0.0>, rounding_keys = array<i64: 0>} -> tensor<4xf32>
  return
}

// -----

func.func @large_key(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>, %r: tensor<2xi64>) {
  // expected-error@+1 {{rounds output 0 of 'bf16' with key 4294967296, expected bf16 and 31 bits}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr, %r : tensor<4xbf16>, tensor<4xf32>, tensor<f32>, tensor<2xi64>)
      {weight_decay = array<f64: 0.0>, rounding_keys = array<i64: 4294967296>} -> tensor<4xbf16>
  return
}

// -----

func.func @generator(%p: tensor<4xbf16>, %g: tensor<4xf32>, %lr: tensor<f32>, %r: tensor<3xi64>) {
  // expected-error@+1 {{the state of the random generator has shape [3] of 'i64', expected [2] of 'i64'}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr, %r : tensor<4xbf16>, tensor<4xf32>, tensor<f32>, tensor<3xi64>)
      {weight_decay = array<f64: 0.0>, rounding_keys = array<i64: 0>} -> tensor<4xbf16>
  return
}

// -----

cuda.program @whole arena 2048 {
  %p = cuda.buffer "p" at 0 {role = "parameter", split} : memref<4xf32>
  %g = cuda.buffer "g" at 256 {role = "batch"} : memref<4xf32>
  %lr = cuda.buffer "lr" at 512 {role = "hyperparameter"} : memref<f32>
  %t = cuda.buffer "sgd.table" at 768 {role = "table"} : memref<80xi8>
  // expected-error@+1 {{uses 'p' as f32, but the halves of its elements are stored apart}}
  cuda.optimizer <sgd> named "sgd" ins(%p, %g, %lr : memref<4xf32>, memref<4xf32>, memref<f32>) outs(%p : memref<4xf32>)
      {weight_decay = array<f64: 0.0>}
}

// -----

cuda.program @not_split arena 2048 {
  %p = cuda.buffer "p" at 0 {role = "parameter"} : memref<4xf32>
  %g = cuda.buffer "g" at 256 {role = "batch"} : memref<4xf32>
  %lr = cuda.buffer "lr" at 512 {role = "hyperparameter"} : memref<f32>
  %t = cuda.buffer "sgd.table" at 768 {role = "table"} : memref<80xi8>
  // expected-error@+1 {{uses 'p' as a split parameter, which its buffer is not}}
  cuda.optimizer <sgd> named "sgd" ins(%p, %g, %lr : memref<4xf32>, memref<4xf32>, memref<f32>) outs(%p : memref<4xf32>)
      {weight_decay = array<f64: 0.0>, splits = array<i64: 0>}
}

// -----

cuda.program @half_of_whole arena 2048 {
  %p = cuda.buffer "p" at 0 {role = "parameter"} : memref<4xf32>
  %g = cuda.buffer "g" at 256 {role = "batch"} : memref<4xf32>
  %lr = cuda.buffer "lr" at 512 {role = "hyperparameter"} : memref<f32>
  %t = cuda.buffer "sgd.table" at 768 {role = "table"} : memref<80xi8>
  %y = cuda.buffer "y" at 1024 {role = "prediction"} : memref<4xbf16>
  %h = cuda.upper_half %p : memref<4xf32> to memref<4xbf16>
  // expected-error@+1 {{reads the upper half of 'p', expected the buffer to be split}}
  cuda.kernel named "k" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: bf16):
    cuda.yield %e : bf16
  } ins(%h : memref<4xbf16>) outs(%y : memref<4xbf16>)
}

// -----

cuda.program @writes_half arena 2048 {
  %p = cuda.buffer "p" at 0 {role = "parameter", split} : memref<4xf32>
  %g = cuda.buffer "g" at 256 {role = "batch"} : memref<4xf32>
  %lr = cuda.buffer "lr" at 512 {role = "hyperparameter"} : memref<f32>
  %t = cuda.buffer "sgd.table" at 768 {role = "table"} : memref<80xi8>
  %y = cuda.buffer "y" at 1024 {role = "batch"} : memref<4xbf16>
  %h = cuda.upper_half %p : memref<4xf32> to memref<4xbf16>
  // expected-error@+1 {{writes the upper half of 'p'}}
  cuda.kernel named "k" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: bf16):
    cuda.yield %e : bf16
  } ins(%y : memref<4xbf16>) outs(%h : memref<4xbf16>)
}

// -----

cuda.program @split_role arena 512 {
  // expected-error@+1 {{has 'split', expected the role 'parameter' and elements of type f32}}
  %p = cuda.buffer "p" at 0 {role = "batch", split} : memref<4xf32>
}

// -----

func.func @half(%p: tensor<4xf32>) {
  // expected-error@+1 {{takes 'tensor<4xf32>' as 'tensor<4xf16>', expected f32 and bf16 elements and one shape}}
  %0 = cuda.upper_half %p : tensor<4xf32> to tensor<4xf16>
  return
}

// -----

func.func @half(%p: memref<4xf32>) {
  // expected-error@+1 {{mixes tensors and buffers}}
  %0 = cuda.upper_half %p : memref<4xf32> to tensor<4xbf16>
  return
}
