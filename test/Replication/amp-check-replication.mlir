// Notes, remarks and options of the check of ranks.
//
// RUN: amp-opt %s --amp-check-replication=ranks=4 --split-input-file --verify-diagnostics --allow-unregistered-dialect | FileCheck %s
// RUN: amp-opt %amp_src_root/docs/examples/data-parallel.mlir --amp-check-replication=ranks=4 --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=PROVED
// RUN: not amp-opt %amp_src_root/docs/examples/data-parallel.mlir --amp-check-replication=ranks=3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: amp-opt %amp_src_root/docs/examples/data-parallel.mlir --amp-check-replication --amp-check-replication -o /dev/null
// RUN: not amp-opt %s --amp-check-replication=ranks=-1 --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not amp-opt %s --amp-check-replication=rules=host.psum --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not amp-opt %s --amp-check-replication=rules=host.[=sum --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=GLOB
//
// PROVED: ReplicationProved
// PROVED-SAME: Collectives=1
// PROVED-SAME: Ranks=4
// THREE: error: 'train.sgd' op operand 1 is N times its value for the whole batch
// THREE: error: the metric "loss" is N times its value for the whole batch
// THREE: note: the partial sum comes from this 'train.mse'
// NEGATIVE: error: amp-check-replication: expected 'ranks' to be positive, or 0 if it is unknown, got -1
// RULE: error: amp-check-replication: expected 'rules' to be GLOB=RULE with a rule of sum, product, quotient, map, all-reduce, all-gather, rank and consumer, got 'host.psum'
// GLOB: error: amp-check-replication: expected 'rules' to be GLOB=RULE with a rule of sum, product, quotient, map, all-reduce, all-gather, rank and consumer, got 'host.[=sum'

// A function without roles has no batch.
// CHECK-LABEL: func.func @no_roles
func.func @no_roles(%w: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) -> tensor<4xf32> {
  %0 = train.sgd %w, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @missing(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                   %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"},
                   %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  // expected-note @below {{the partial sum comes from this 'train.reduce_sum'}}
  %g = train.reduce_sum %x {dims = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32>
  %n = train.neg %g : tensor<4xf32>
  // expected-error @below {{'train.sgd' op operand 1 is a partial sum over the ranks, expected a value that all ranks have: an optimizer steps on the gradient of the whole batch}}
  %0 = train.sgd %w, %n, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The sum of the elements of all ranks needs no division. Its mean does.
func.func @twice(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                 %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %g = train.reduce_sum %x {dims = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32>
  %sum = amp.all_reduce sum %g : tensor<4xf32>
  // expected-note @below {{the power of N comes from this 'amp.all_reduce'}}
  %again = amp.all_reduce sum %sum : tensor<4xf32>
  // expected-error @below {{the update "w" is N times its value for the whole batch, expected a division by N, the number of ranks}}
  %new = train.add %w, %again : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %new : tensor<4xf32>
}

// -----

// A guard that depends on the batch of a rank.
func.func @guard(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                 // expected-note @below {{the difference between the ranks enters here}}
                 %flags: tensor<8xi1> {amp.role = "batch", amp.name = "flags"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %i = arith.constant 0 : index
  %flag = tensor.extract %flags[%i] : tensor<8xi1>
  // expected-error @below {{the update "w" varies between the ranks, expected a value that all ranks have}}
  %new = scf.if %flag -> tensor<4xf32> {
    %n = train.neg %w : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  return %new : tensor<4xf32>
}

// -----

// A consumer of gradients in another dialect, and an operation without a rule.
func.func @unknown(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                   // expected-note @below {{the difference between the ranks enters here}}
                   %x: tensor<8x4xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  // expected-error @below {{the update "w" varies between the ranks, expected a value that all ranks have}}
  %new = "host.mystery"(%w, %x) : (tensor<4xf32>, tensor<8x4xf32>) -> tensor<4xf32>
  return %new : tensor<4xf32>
}

// -----

// Shardings that are not understood are an error.
func.func @manual(%w: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'sdy.manual_computation' op expected a sharding for each operand and for each result}}
  %0 = "sdy.manual_computation"(%w) <{in_shardings = #sdy.sharding_per_value<[]>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}]>]>}> ({
  ^bb0(%a: tensor<4xf32>):
    "sdy.return"(%a) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
