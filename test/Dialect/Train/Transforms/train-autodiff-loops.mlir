// RUN: amp-opt %s --train-autodiff --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,STACK
// RUN: amp-opt %s --train-autodiff=loop-values=recompute --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AGAIN
// RUN: amp-opt %s --train-autodiff > %t.once
// RUN: amp-opt %t.once --train-autodiff | diff %t.once -
// RUN: not amp-opt %s --train-autodiff=loop-values=tape 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: train-autodiff: unknown loop-values 'tape', expected stack or recompute

// The slice of %x is read again. The sums of gradients are carried.
// CHECK-LABEL: func.func @rnn
// STACK: %[[F:.*]]:3 = scf.for %[[I:.*]] = {{.*}} iter_args(%[[H:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}) ->
// STACK: %[[NEW:.*]] = train.tanh
// STACK-DAG: tensor.insert_slice %[[NEW]] into %{{.*}}[%[[I]], 0] [1, 4] [1, 1]
// STACK-DAG: tensor.insert_slice %[[H]] into %{{.*}}[%[[I]], 0] [1, 4] [1, 1]
// AGAIN: scf.for {{.*}} -> (tensor<4xf32>, tensor<3x4xf32>)
// CHECK: amp.id = 0
// CHECK: amp.gradient_seed
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[DH:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[P:.*]] = arith.subi %{{.*}}, %[[J]]
// AGAIN: train.tanh
// STACK-NOT: train.tanh %
// CHECK: %[[DZ:.*]] = train.tanh_grad %{{.*}}, %[[DH]]
// CHECK-DAG: train.add %{{.*}}, %{{.*}} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-DAG: tensor.insert_slice %{{.*}} into %{{.*}}[%[[P]], 0] [1, 4] [1, 1]
// CHECK: amp.backward_of = 0 : i64, amp.gradient_of = ["", "{{[wx]}}", "{{[wx]}}"]
func.func @rnn(%x: tensor<3x4xf32> {amp.role = "parameter", amp.name = "x"}, %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %h: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %h) -> tensor<4xf32> {
    %1 = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
    %2 = train.mul %a, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %3 = train.add %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4 = train.tanh %3 : tensor<4xf32>
    scf.yield %4 : tensor<4xf32>
  }
  %loss = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g:2 = train.gradients %loss wrt(%x, %w) : (tensor<f32>, tensor<3x4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>)
  return %g#0, %g#1 : tensor<3x4xf32>, tensor<4xf32>
}

// Gradients inside a loop, by a value from outside. The loss reads a carried
// value as a constant.
// CHECK-LABEL: func.func @inside
func.func @inside(%w: tensor<4xf32>, %m: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[C:.*]] = %arg1)
  // CHECK: train.broadcast %[[C]] {{{.*}}train.stop_gradient}
  // CHECK: amp.gradient_seed
  // CHECK-NOT: train.gradients
  // CHECK: scf.yield
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = train.constant dense<0.0> : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%g = %zero, %c = %m) -> (tensor<4xf32>, tensor<4xf32>) {
    %k = train.broadcast %c {dims = array<i64>, train.stop_gradient} : (tensor<4xf32>) -> tensor<4xf32>
    %p = train.mul %k, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %loss = train.reduce_sum %p {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
    %dw = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    %s = train.add %g, %dw : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s, %p : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
