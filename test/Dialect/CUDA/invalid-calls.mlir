// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @name(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected the name of an operation}}
  %0 = cuda.call "" ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @nothing(%x: tensor<4xf32>) {
  // expected-error@+1 {{has neither outputs nor results}}
  cuda.call "mylib::scaled" ins(%x : tensor<4xf32>)
  return
}

// -----

func.func @predicate(%x: tensor<4xf32>, %p: tensor<i1>) {
  // expected-error@+1 {{has a predicate, but the host, which performs the call, does not know its value}}
  %0 = cuda.call "mylib::scaled" ins(%x : tensor<4xf32>) if %p : tensor<i1> -> tensor<4xf32>
  return
}

// -----

func.func @both(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected both 'seeds' and 'wrt', or neither}}
  %0 = cuda.call "mylib::scaled" ins(%x : tensor<4xf32>) {seeds = array<i64: 0>} -> tensor<4xf32>
  return
}

// -----

func.func @results(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a result for each number in 'wrt', got 2 numbers and 1 results}}
  %0 = cuda.call "mylib::scaled" ins(%x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {seeds = array<i64: 0>, wrt = array<i64: 0, 1>} -> tensor<4xf32>
  return
}

// -----

func.func @type(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected the gradient of operand 0 to have its type and elements that are floats, got 'tensor<5xf32>' for 'tensor<4xf32>'}}
  %0 = cuda.call "mylib::scaled" ins(%x, %x : tensor<4xf32>, tensor<4xf32>) {seeds = array<i64: 0>, wrt = array<i64: 0>} -> tensor<5xf32>
  return
}
