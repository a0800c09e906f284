// Values that control flow carries have one type throughout.
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --split-input-file --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @if_results
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (tensor<4x4xf16>) {
// CHECK: %[[P:.*]] = train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK: scf.yield %[[P]] : tensor<4x4xf16>
// CHECK: } else {
// CHECK: %[[N:.*]] = train.relu {{.*}} : tensor<4x4xf16>
// CHECK: scf.yield %[[N]] : tensor<4x4xf16>
// CHECK: train.matmul %[[R]], %[[R]]
func.func @if_results(%c: i1, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = scf.if %c -> tensor<4x4xf32> {
    %1 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  } else {
    %1 = train.relu %a : tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  %2 = train.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A branch that yields f32 is cast at its end.
// CHECK-LABEL: func.func @branches_agree
// CHECK: scf.if %{{.*}} -> (tensor<4x4xf16>) {
// CHECK: %[[E:.*]] = train.exp {{.*}} : tensor<4x4xf32>
// CHECK: %[[L:.*]] = amp.cast %[[E]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: scf.yield %[[L]] : tensor<4x4xf16>
// CHECK: } else {
// CHECK: scf.yield %{{.*}} : tensor<4x4xf16>
func.func @branches_agree(%c: i1, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = scf.if %c -> tensor<4x4xf32> {
    %1 = train.exp %a : tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  } else {
    %1 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  %2 = train.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// The taint passes through a branch to an infer operation.
// CHECK-LABEL: func.func @poison_through_branch
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (tensor<4x4xf32>) {
// CHECK: train.tanh %[[R]] : tensor<4x4xf32>
func.func @poison_through_branch(%c: i1, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = scf.if %c -> tensor<4x4xf32> {
    %1 = train.exp %a : tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  } else {
    %1 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  %2 = train.tanh %0 : tensor<4x4xf32>
  %3 = train.matmul %2, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// The initial value, the iteration argument, the yielded value and the result
// of a loop have one type. The outer weight is cast once, outside of the loop.
// CHECK-LABEL: func.func @for_iter_args
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x4xf32>, %[[W:[^:]*]]: tensor<4x4xf32>
// CHECK-DAG: %[[I:.*]] = amp.cast %[[A]] inserted
// CHECK-DAG: %[[LW:.*]] = amp.cast %[[W]] inserted
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[X:.*]] = %[[I]]) -> (tensor<4x4xf16>) {
// CHECK-NEXT: %[[P:.*]] = train.matmul %[[X]], %[[LW]] : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK-NEXT: %[[T:.*]] = train.tanh %[[P]] : tensor<4x4xf16>
// CHECK-NEXT: scf.yield %[[T]] : tensor<4x4xf16>
// CHECK: train.matmul %[[R]], %[[LW]]
func.func @for_iter_args(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<4x4xf32> {
    %1 = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = train.tanh %1 : tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  %3 = train.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A sum of products stays f32, and so does the value that the loop carries for
// it. The loop carries integers as well.
// CHECK-LABEL: func.func @for_accumulator
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<4x4xf32>, i32) {
// CHECK: %[[P:.*]] = train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: %[[W:.*]] = amp.cast %[[P]] inserted
// CHECK: train.add %[[X]], %[[W]] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: scf.yield {{.*}} : tensor<4x4xf32>, i32
func.func @for_accumulator(%a: tensor<4x4xf32>, %n: index, %k: i32) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %j = %k) -> (tensor<4x4xf32>, i32) {
    %1 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = train.add %x, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2, %j : tensor<4x4xf32>, i32
  }
  return %0#0 : tensor<4x4xf32>
}

// -----

// Two values that a loop swaps have one type.
// CHECK-LABEL: func.func @for_swap
// CHECK: scf.for {{.*}} -> (tensor<4x4xf16>, tensor<4x4xf16>) {
// CHECK: scf.yield {{.*}} : tensor<4x4xf16>, tensor<4x4xf16>
func.func @for_swap(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    scf.yield %y, %x : tensor<4x4xf32>, tensor<4x4xf32>
  }
  %1 = train.matmul %0#0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// The two regions of a while loop and its results have one type. The condition
// only reads it.
// CHECK-LABEL: func.func @while
// CHECK: %[[R:.*]] = scf.while (%[[X:.*]] = %{{.*}}) : (tensor<4x4xf16>) -> tensor<4x4xf16> {
// CHECK: %[[W:.*]] = amp.cast %[[X]] inserted
// CHECK: train.reduce_sum %[[W]] {{.*}} : (tensor<4x4xf32>) -> tensor<f32>
// CHECK: scf.condition(%{{.*}}) %[[X]] : tensor<4x4xf16>
// CHECK: ^bb0(%[[Y:.*]]: tensor<4x4xf16>):
// CHECK: %[[P:.*]] = train.matmul %[[Y]], %{{.*}} -> tensor<4x4xf16>
// CHECK: scf.yield %[[P]] : tensor<4x4xf16>
// CHECK: train.matmul %[[R]]
func.func @while(%a: tensor<4x4xf32>, %limit: f32) -> tensor<4x4xf32> {
  %0 = scf.while (%x = %a) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
    %s = train.reduce_sum %x {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
    %e = tensor.extract %s[] : tensor<f32>
    %c = arith.cmpf olt, %e, %limit : f32
    scf.condition(%c) %x : tensor<4x4xf32>
  } do {
  ^bb0(%y: tensor<4x4xf32>):
    %1 = train.matmul %y, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  %2 = train.matmul %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Nested loops: the types agree at both levels.
// CHECK-LABEL: func.func @nested
// CHECK: scf.for {{.*}} -> (tensor<4x4xf16>) {
// CHECK: scf.if {{.*}} -> (tensor<4x4xf16>) {
// CHECK: scf.for {{.*}} -> (tensor<4x4xf16>) {
// CHECK: scf.yield {{.*}} : tensor<4x4xf16>
// CHECK: scf.yield {{.*}} : tensor<4x4xf16>
// CHECK: scf.yield {{.*}} : tensor<4x4xf16>
// CHECK: scf.yield {{.*}} : tensor<4x4xf16>
func.func @nested(%c: i1, %a: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<4x4xf32> {
    %1 = scf.if %c -> tensor<4x4xf32> {
      %2 = scf.for %j = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<4x4xf32> {
        %3 = train.matmul %y, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        scf.yield %3 : tensor<4x4xf32>
      }
      scf.yield %2 : tensor<4x4xf32>
    } else {
      scf.yield %x : tensor<4x4xf32>
    }
    scf.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// A value that is read in a nested region and after it is cast before the
// region, where the cast dominates both readers.
// CHECK-LABEL: func.func @cast_dominates_nested_users
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x4xf32>
// CHECK: %[[L:.*]] = amp.cast %[[A]] inserted
// CHECK: scf.if
// CHECK: train.matmul %[[L]], %[[L]]
// CHECK: } else {
// CHECK: train.matmul %[[L]], %[[L]] {transpose_a}
// CHECK-NOT: amp.cast %[[A]]
// CHECK: train.matmul {{.*}}, %[[L]]
func.func @cast_dominates_nested_users(%c: i1, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = scf.if %c -> tensor<4x4xf32> {
    %1 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  } else {
    %1 = train.matmul %a, %a {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  %2 = train.matmul %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Block arguments of unstructured control flow keep their type. If other blocks
// read a value, its cast is in the block of the value.
// CHECK-LABEL: func.func @unstructured
// CHECK: %[[P:.*]] = train.relu
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[P]] inserted
// CHECK: cf.cond_br
// CHECK: ^bb1:
// CHECK: train.matmul %[[L]], %[[L]] : {{.*}} -> tensor<4x4xf16>
// CHECK: cf.br ^bb3(%{{.*}} : tensor<4x4xf32>)
// CHECK: ^bb2:
// CHECK: train.matmul %[[L]], %[[L]]
// CHECK: ^bb3(%{{.*}}: tensor<4x4xf32>):
func.func @unstructured(%c: i1, %a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.exp %a : tensor<4x4xf32>
  %1 = train.relu %0 {amp.precision = "f32"} : tensor<4x4xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %2 = train.matmul %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  cf.br ^bb3(%2 : tensor<4x4xf32>)
^bb2:
  %3 = train.matmul %1, %1 {transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  cf.br ^bb3(%3 : tensor<4x4xf32>)
^bb3(%r: tensor<4x4xf32>):
  return %r : tensor<4x4xf32>
}

// -----

// Parallel iterations share one tensor type: that of the initial tensor, the
// argument, the inserted slice and the result.
// CHECK-LABEL: func.func @forall
// CHECK: %[[A:.*]] = amp.cast
// CHECK: scf.forall {{.*}} shared_outs(%{{.*}} = %[[A]]) -> (tensor<4x4xf16>) {
// CHECK: %[[M:.*]] = train.matmul {{.*}} : (tensor<1x4xf16>, tensor<4x4xf16>) -> tensor<1x4xf16>
// CHECK: tensor.parallel_insert_slice %[[M]] into {{.*}} : tensor<1x4xf16> into tensor<4x4xf16>
func.func @forall(%a: tensor<4x4xf32>, %b: tensor<1x4xf32>) -> tensor<4x4xf32> {
  %0 = scf.forall (%i) in (4) shared_outs(%o = %a) -> tensor<4x4xf32> {
    %1 = train.matmul %b, %a : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
    }
  }
  return %0 : tensor<4x4xf32>
}

// -----

// A pin of the insertion holds for the shared tensor. An f64 tensor has no
// choice.
// CHECK-LABEL: func.func @forall_pinned
// CHECK: %[[W:.*]] = amp.cast %{{.*}} inserted : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK: scf.forall {{.*}} shared_outs(%[[O:.*]] = %[[W]], %{{.*}} = %{{.*}}) -> (tensor<4x4xf32>, tensor<4x4xf64>) {
// CHECK: arith.truncf %[[O]]
// CHECK: tensor.parallel_insert_slice {{.*}} : tensor<1x4xf32> into tensor<4x4xf32>
func.func @forall_pinned(%a: tensor<4x4xf32>, %d: tensor<4x4xf64>) -> (tensor<4x4xf32>, tensor<4x4xf64>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1:2 = scf.forall (%i) in (4) shared_outs(%o = %0, %p = %d) -> (tensor<4x4xf32>, tensor<4x4xf64>) {
    %2 = tensor.extract_slice %o[%i, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<1x4xf32>
    %3 = train.matmul %2, %a : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %4 = tensor.extract_slice %d[%i, 0] [1, 4] [1, 1] : tensor<4x4xf64> to tensor<1x4xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %3 into %o[%i, 0] [1, 4] [1, 1] {amp.precision = "f32"} : tensor<1x4xf32> into tensor<4x4xf32>
      tensor.parallel_insert_slice %4 into %p[%i, 0] [1, 4] [1, 1] : tensor<1x4xf64> into tensor<4x4xf64>
    }
  }
  return %1#0, %1#1 : tensor<4x4xf32>, tensor<4x4xf64>
}

// -----

// Functions without a body, and empty ones.
// CHECK-LABEL: func.func private @declaration(tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NOT: mixed_precision
// CHECK: func.func @empty
func.func private @declaration(%a: tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @empty() {
  return
}

// -----

// An unclassified operation keeps its type. The loop casts the carried value
// for it, as for any other reader.
// CHECK-LABEL: func.func @unlisted_reader
// CHECK: %[[R:.*]] = scf.for {{.*}} -> (tensor<8x8xf16>)
// CHECK: %[[F:.*]] = amp.cast %[[R]] inserted : tensor<8x8xf16> to tensor<8x8xf32>
// CHECK: "foreign.op"(%[[F]]) : (tensor<8x8xf32>) -> tensor<8x8xf32>
func.func @unlisted_reader(%n: index, %a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = train.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%x = %b) -> tensor<8x8xf32> {
    %y = train.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %y : tensor<8x8xf32>
  }
  %q = "foreign.op"(%r) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %q : tensor<8x8xf32>
}
