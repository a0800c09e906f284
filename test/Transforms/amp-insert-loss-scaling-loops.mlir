// A loop accumulates gradients. It also carries the loss, which has no factor,
// and a norm of the gradients, which is unscaled like them. The dependence on
// the seed is computed for each result of the loop.
//
// RUN: amp-opt %s --split-input-file --amp-insert-loss-scaling \
// RUN:   --amp-check-loss-scaling --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @accumulate
// CHECK: %[[SCALED:.*]] = amp.scale
// CHECK: %[[LOOP:.*]]:3 = scf.for
// CHECK: amp.unscale %[[LOOP]]#0, %[[LOOP]]#2 by
// CHECK-NOT: amp.unscale
// CHECK: scf.if
// CHECK: return {{.*}}, %[[LOOP]]#1,
func.func @accumulate(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"},
        tensor<f32> {amp.metric = "norm"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %rate = arith.constant dense<0.1> : tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sum, %loss, %norm = scf.for %i = %c0 to %c4 step %c1
      iter_args(%g = %zero, %l = %none, %n = %none)
      -> (tensor<4x4xf32>, tensor<f32>, tensor<f32>) {
    %h = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %value = train.reduce_mean %h {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    %s = train.broadcast %seed like %h {dims = array<i64: 0, 1>} : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %dw = train.matmul %x, %s {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %more = train.add %g, %dw : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %total = train.add %l, %value : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %abs = train.abs %dw : tensor<4x4xf32>
    %size = train.reduce_max %abs {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    %largest = train.maximum %n, %size : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %more, %total, %largest : tensor<4x4xf32>, tensor<f32>, tensor<f32>
  } {amp.gradient_of = ["w", "", ""]}
  %d = arith.mulf %sum, %rate : tensor<4x4xf32>
  %new = arith.subf %w, %d : tensor<4x4xf32>
  return %new, %loss, %norm : tensor<4x4xf32>, tensor<f32>, tensor<f32>
}

// -----

// The scale multiplies a squared norm twice and a sum of fourth powers four
// times. They are divided as often. The flags of all divisions guard the update.

// CHECK-LABEL: func.func @powers
// CHECK-SAME: %{{.*}}: tensor<4x4xf32> {{.*}}, %{{.*}}: tensor<4x4xf32> {{.*}}, %[[SCALE:[^:]*]]: tensor<f32>
// CHECK: %[[LOOP:.*]]:3 = scf.for
// CHECK: %[[ONE:.*]]:3, %[[F1:.*]] = amp.unscale %[[LOOP]]#0, %[[LOOP]]#1, %[[LOOP]]#2 by %[[SCALE]]
// CHECK-NEXT: %[[TWO:.*]]:2, %[[F2:.*]] = amp.unscale %[[ONE]]#1, %[[ONE]]#2 by %[[SCALE]]
// CHECK-NEXT: %[[THREE:.*]], %[[F3:.*]] = amp.unscale %[[TWO]]#1 by %[[SCALE]]
// CHECK-NEXT: %[[FOUR:.*]], %[[F4:.*]] = amp.unscale %[[THREE]] by %[[SCALE]]
// CHECK-DAG: tensor.extract %[[F1]][]
// CHECK-DAG: tensor.extract %[[F2]][]
// CHECK-DAG: tensor.extract %[[F3]][]
// CHECK-DAG: tensor.extract %[[F4]][]
// CHECK: amp.update_scale
// CHECK: return {{.*}}, %[[TWO]]#0, %[[FOUR]],
func.func @powers(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "squares"},
        tensor<f32> {amp.metric = "fourth"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %rate = arith.constant dense<0.1> : tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sum, %squares, %fourth = scf.for %i = %c0 to %c4 step %c1
      iter_args(%g = %zero, %l = %none, %n = %none)
      -> (tensor<4x4xf32>, tensor<f32>, tensor<f32>) {
    %s = train.broadcast %seed like %x {dims = array<i64: 0, 1>} : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %dw = train.matmul %x, %s {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %more = train.add %g, %dw : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %square = train.square %dw : tensor<4x4xf32>
    %size = train.reduce_sum %square {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    %sizes = train.add %l, %size : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %again = train.square %size : tensor<f32>
    %all = train.add %n, %again : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %more, %sizes, %all : tensor<4x4xf32>, tensor<f32>, tensor<f32>
  } {amp.gradient_of = ["w", "", ""]}
  %d = arith.mulf %sum, %rate : tensor<4x4xf32>
  %new = arith.subf %w, %d : tensor<4x4xf32>
  return %new, %squares, %fourth : tensor<4x4xf32>, tensor<f32>, tensor<f32>
}
