// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comments say where the passes of a step begin.
//
// RUN: split-file %s %t
// RUN: amp-translate --mlir-to-cuda %t/step.mlir | FileCheck %s
// RUN: amp-translate --mlir-to-cuda %t/update.mlir | FileCheck %s --check-prefix=NONE
// RUN: amp-translate --mlir-to-cuda %t/order.mlir | FileCheck %s --check-prefix=NONE
// RUN: amp-model gpt2 --layers=2 --width=32 --heads=2 --vocabulary=31 --positions=16 -o %t/gpt2.mlir
// RUN: amp-translate --mlir-to-cuda %t/gpt2.mlir --batch-size=4 --precision=bf16 --attention=cudnn | FileCheck %s --check-prefix=GPT2

// GPT2: Status enqueue(
// GPT2-NOT: _grad
// GPT2: {{^}}  //===-- The forward pass{{$}}
// GPT2-NOT: _grad
// GPT2: train.scaled_dot_product_attention, h.0.attn:
// GPT2-NOT: _grad
// GPT2: train.scaled_dot_product_attention, h.1.attn:
// GPT2-NOT: _grad
// GPT2: {{^}}  //===-- The loss and the backward pass{{$}}
// GPT2-EMPTY:
// GPT2-NEXT: // train.cross_entropy, train.cross_entropy_grad:
// GPT2: train.scaled_dot_product_attention_grad, h.1.attn:
// GPT2: train.scaled_dot_product_attention_grad, h.0.attn:
// GPT2: {{^}}  //===-- The update{{$}}
// GPT2-NOT: train.{{[a-z_]*}}_grad
// GPT2: train.adamw, update.wte.weight
// GPT2-NOT: //===--
// GPT2: return Status();

// A loss that something else computes.
// CHECK: {{^}}  //===-- The forward pass{{$}}
// CHECK: train.tanh
// CHECK: {{^}}  //===-- The backward pass{{$}}
// CHECK: train.tanh_grad
// CHECK: {{^}}  //===-- The update{{$}}
// CHECK: train.sgd
// NONE: Status enqueue(
// NONE-NOT: //===-- The

//--- step.mlir
func.func @step(%w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"},
                %x: tensor<4x8xf32> {amp.role = "batch", amp.name = "x"},
                %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x8xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.linear %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %y = train.tanh %h : tensor<4x8xf32>
  %loss = train.reduce_mean %y {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  %d = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = train.sgd %w, %d, %lr : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %n, %loss : tensor<8x8xf32>, tensor<f32>
}

// A step that gets its gradient from outside.
//--- update.mlir
func.func @step(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
                %g: tensor<8xf32> {amp.role = "batch", amp.name = "g"},
                %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8xf32> {amp.updates = "w"}) {
  %n = train.sgd %w, %g, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %n : tensor<8xf32>
}

// A program with a gradient behind an update.
//--- order.mlir
cuda.program @step arena 2048 {
  %p = cuda.buffer "p" at 0 {role = "parameter"} : memref<4xf32>
  %g = cuda.buffer "g" at 256 {role = "batch"} : memref<4xf32>
  %lr = cuda.buffer "lr" at 512 {role = "hyperparameter"} : memref<f32>
  %t = cuda.buffer "sgd.table" at 768 {role = "table"} : memref<80xi8>
  %y = cuda.buffer "y" at 1024 : memref<4xf32>
  %d = cuda.buffer "d" at 1280 : memref<4xf32>
  %e = cuda.buffer "e" at 1536 : memref<4xf32>
  cuda.kernel named "tanh" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x: f32):
    cuda.yield %x : f32
  } ins(%g : memref<4xf32>) outs(%y : memref<4xf32>) loc("train.tanh")
  cuda.kernel named "tanh_grad" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x: f32):
    cuda.yield %x : f32
  } ins(%y : memref<4xf32>) outs(%d : memref<4xf32>) loc("train.tanh_grad")
  cuda.optimizer <sgd> named "sgd" ins(%p, %d, %lr : memref<4xf32>, memref<4xf32>, memref<f32>) outs(%p : memref<4xf32>)
      {weight_decay = array<f64: 0.0>}
  cuda.kernel named "silu_grad" over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%x: f32):
    cuda.yield %x : f32
  } ins(%d : memref<4xf32>) outs(%e : memref<4xf32>) loc("train.silu_grad")
}
