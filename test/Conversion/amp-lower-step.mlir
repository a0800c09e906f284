// RUN: amp-opt %s --amp-lower-step --split-input-file | FileCheck %s
// RUN: amp-opt %s --amp-lower-step --split-input-file > %t.once
// RUN: amp-opt %t.once --amp-lower-step --split-input-file | diff %t.once -

// The state is written in place, the metric into a separate argument, and the
// batch is only read.

// CHECK-LABEL: func.func @step_cpu
// CHECK-SAME: (%[[W:.*]]: memref<4xf32> {llvm.noalias}, %[[X:.*]]: memref<4xf32> {llvm.noalias}, %[[OUT:.*]]: memref<f32> {llvm.noalias}) attributes {llvm.bareptr}
// CHECK: %[[TW:.*]] = bufferization.to_tensor %[[W]] restrict writable
// CHECK: %[[TX:.*]] = bufferization.to_tensor %[[X]] restrict :
// CHECK: %[[METRIC:.*]] = tensor.from_elements
// CHECK: bufferization.materialize_in_destination %[[METRIC]] in writable %[[OUT]]
// CHECK: %[[NEW:.*]] = bufferization.materialize_in_destination %{{.*}} in %[[TW]]
// CHECK: bufferization.materialize_in_destination %[[NEW]] in writable %[[W]]
// CHECK: return{{$}}
// CHECK-NOT: @unused
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                %x: tensor<4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "m"}) {
  %c0 = arith.constant 0 : index
  %0 = arith.addf %w, %x : tensor<4xf32>
  %1 = tensor.extract %0[%c0] : tensor<4xf32>
  %2 = tensor.from_elements %1 : tensor<f32>
  return %0, %2 : tensor<4xf32>, tensor<f32>
}
func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// The new value of a guard is written where it is computed. The guard moves
// after the last read of the old value.

// CHECK-LABEL: func.func @guard_cpu
// CHECK: %[[W:.*]] = bufferization.to_tensor %arg0 restrict writable
// CHECK: tensor.from_elements
// CHECK: scf.if
// CHECK: %[[N:.*]] = arith.addf
// CHECK: %[[M:.*]] = bufferization.materialize_in_destination %[[N]] in %[[W]]
// CHECK: scf.yield %[[M]]
// CHECK: scf.yield %[[W]]
func.func @guard(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                 %c: tensor<i1> {amp.role = "batch", amp.name = "c"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "m"}) {
  %c0 = arith.constant 0 : index
  %flag = tensor.extract %c[] : tensor<i1>
  %0 = scf.if %flag -> tensor<4xf32> {
    %1 = arith.addf %w, %w : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  %2 = tensor.extract %w[%c0] : tensor<4xf32>
  %3 = tensor.from_elements %2 : tensor<f32>
  return %0, %3 : tensor<4xf32>, tensor<f32>
}

// -----

// An old value that moves to another state is saved first.

// CHECK-LABEL: func.func @swap_cpu
// CHECK-DAG: %[[A:.*]] = bufferization.to_tensor %arg0
// CHECK-DAG: %[[B:.*]] = bufferization.to_tensor %arg1
// CHECK-DAG: %[[SA:.*]] = bufferization.alloc_tensor() copy(%[[A]])
// CHECK-DAG: %[[SB:.*]] = bufferization.alloc_tensor() copy(%[[B]])
// CHECK: bufferization.materialize_in_destination %[[SB]] in %[[A]]
// CHECK: bufferization.materialize_in_destination %[[SA]] in %[[B]]
func.func @swap(%a: tensor<4xf32> {amp.role = "parameter", amp.name = "a"},
                %b: tensor<4xf32> {amp.role = "parameter", amp.name = "b"})
    -> (tensor<4xf32> {amp.updates = "a"}, tensor<4xf32> {amp.updates = "b"}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// An output that operations compute into an empty tensor is computed in its
// buffer, which is kept to the end; one that is chosen among values is copied:
// the other values may be read after it is written.

// CHECK-LABEL: func.func @outputs_cpu
// CHECK-SAME: %[[SUM:[^:]*]]: memref<4xf32> {llvm.noalias}, %[[CHOSEN:[^:]*]]: memref<4xf32> {llvm.noalias})
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[SUM]] restrict writable
// CHECK: %[[S:.*]] = linalg.add
// CHECK: %[[IN:.*]] = bufferization.materialize_in_destination %[[S]] in %[[T]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[C:.*]] = arith.select
// CHECK: bufferization.materialize_in_destination %[[C]] in writable %[[CHOSEN]]
// CHECK: linalg.exp
// CHECK: bufferization.materialize_in_destination %[[IN]] in writable %[[SUM]]
func.func @outputs(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                   %c: tensor<i1> {amp.role = "batch", amp.name = "c"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.metric = "m"}, tensor<4xf32> {amp.metric = "n"}) {
  %flag = tensor.extract %c[] : tensor<i1>
  %empty = tensor.empty() : tensor<4xf32>
  %0 = linalg.add ins(%w, %w : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %1 = arith.select %flag, %0, %w : tensor<4xf32>
  %2 = linalg.exp ins(%0 : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %2, %0, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Each carried value starts from a separate tensor. Bufferization would let
// a loop within the loop share the buffer.
// CHECK-LABEL: func.func @shared_empty_cpu
// CHECK-DAG: %[[A:.*]] = tensor.empty()
// CHECK-DAG: %[[B:.*]] = tensor.empty()
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[B]], %{{.*}} = %[[A]])
func.func @shared_empty(%x: tensor<2x4xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<2x4xf32> {amp.prediction = "a"}, tensor<2x4xf32> {amp.prediction = "b"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<2x4xf32>
  %0:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %e, %b = %e) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
    %1 = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
    %2 = tensor.insert_slice %1 into %a[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
    %3 = tensor.insert_slice %1 into %b[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
    scf.yield %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>
  }
  return %0#0, %0#1 : tensor<2x4xf32>, tensor<2x4xf32>
}
