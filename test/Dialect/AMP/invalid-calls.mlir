// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --verify-diagnostics --split-input-file --train-autodiff

func.func @name(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.call' op expected the name of an operation}}
  %y = amp.call ""(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @results(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.call' op expected at least one result}}
  amp.call "f"(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @lists(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.call' op expected both 'seeds' and 'wrt', or neither}}
  %y = amp.call "f"(%x) {wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @extent(%x: tensor<?xf32>) {
  // expected-error@+1 {{'amp.call' op expected 'extent_of' to be the number of an operand and the number of one of its dimensions}}
  %y = amp.call "f"(%x) {extent_of = array<i64: 0, 1>} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @twice(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.call' op expected a derivative without 'differentiable'}}
  %y = amp.call "f"(%x, %x) {differentiable, seeds = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @seeds(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.call' op expected at least one number in 'seeds' and an operand for each, got 2 numbers and 1 operands}}
  %y = amp.call "f"(%x) {seeds = array<i64: 0, 1>, wrt = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @wrt(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.call' op expected a result for each number in 'wrt', got 2 numbers and 1 results}}
  %y = amp.call "f"(%x, %x, %x) {seeds = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @order(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.call' op expected the numbers of operands that are not gradients in 'wrt', got 1 for 1 such operands}}
  %y = amp.call "f"(%x, %x) {seeds = array<i64: 0>, wrt = array<i64: 1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.call' op expected the gradient of operand 0 to have its type and elements that are floats, got 'tensor<4xf64>' for 'tensor<4xf32>'}}
  %y = amp.call "f"(%x, %x) {seeds = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @floats(%x: tensor<4xf32>, %i: tensor<4xi64>) {
  // expected-error@+1 {{'amp.call' op expected a gradient of floats, got 'tensor<4xi64>'}}
  %y = amp.call "f"(%x, %i) {seeds = array<i64: 0>, wrt = array<i64: 0>} : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @backward(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'amp.call' op has no derivative: the operation "f" has no backward pass, but a gradient needs it}}
  %y = amp.call "f"(%x) : (tensor<f32>) -> tensor<f32>
  %g = train.gradients %y wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @second(%x: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'amp.call' op has no derivative: it is a derivative itself}}
  %y = amp.call "f"(%x, %x) {seeds = array<i64: 0>, wrt = array<i64: 0>} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = train.gradients %y wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @decreasing(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.call' op expected the numbers of 'seeds' to increase from 0, got 0}}
  %y = amp.call "f"(%x, %x, %x) {seeds = array<i64: 1, 0>, wrt = array<i64: 0>} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
