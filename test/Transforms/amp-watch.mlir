// The results that amp-watch adds, which values it watches, and its options.
//
// RUN: amp-opt %s --split-input-file --amp-watch --mlir-print-local-scope | FileCheck %s
// RUN: amp-opt %s --split-input-file --amp-watch --amp-watch --mlir-print-local-scope | FileCheck %s
// RUN: amp-opt %s --split-input-file --amp-watch=values | FileCheck %s --check-prefix=VALUES
// RUN: amp-opt %s --split-input-file --amp-watch='match=train.mul|argument..w' | FileCheck %s --check-prefix=MATCH
// RUN: not amp-opt %s --split-input-file --amp-watch='match=nothing' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not amp-opt %s --split-input-file --amp-watch='match=(' 2>&1 | FileCheck %s --check-prefix=WRONG

// NONE: error: 'nothing' selects no value to watch, expected a regular expression for a part of a name such as '
// WRONG: error: wrong value of 'match': '(', expected a regular expression

// CHECK-LABEL: func.func @step(
// CHECK-SAME: -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}
// CHECK-SAME: tensor<263xi64> {amp.prediction = "watch 0"}
// CHECK-SAME: tensor<263xi64> {amp.prediction = "watch 6"})
// VALUES-LABEL: func.func @step(
// VALUES-SAME: tensor<4xf32> {amp.prediction = "watch 0 in forward"}
// VALUES-SAME: tensor<4xf16> {amp.prediction = "watch 2 in forward"}
// VALUES-SAME: {amp.prediction = "watch 6 in backward"}
// VALUES-SAME: {amp.prediction = "watch 7 in update"})
// MATCH-LABEL: func.func @step(
// MATCH-SAME: tensor<263xi64> {amp.prediction = "watch 1"})
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                %x: tensor<4xf32> {amp.role = "batch", amp.name = "x"},
                %i: tensor<4xi32> {amp.role = "batch", amp.name = "i"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  // An argument, with its cast. Integers are not watched.
  // CHECK-DAG: amp.statistics %arg0 in "forward" : tensor<4xf32>
  // CHECK-DAG: amp.statistics %arg1 to f16 in "forward" : tensor<4xf32>
  // CHECK: amp.cast
  %h = amp.cast %x : tensor<4xf32> to tensor<4xf16>
  // CHECK: %[[MUL:.*]] = train.mul
  // CHECK-NEXT: amp.statistics %[[MUL]] in "forward" : tensor<4xf16>
  // MATCH: %[[MUL:.*]] = train.mul
  // MATCH-NEXT: amp.statistics %[[MUL]] in "forward" : tensor<4xf16>
  %m = train.mul %h, %h : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  // A widening changes no value.
  // CHECK: amp.cast {{.*}} to tensor<4xf32>
  // CHECK-NEXT: train.reduce_sum
  %e = amp.cast %m : tensor<4xf16> to tensor<4xf32>
  %loss = train.reduce_sum %e {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  // CHECK: amp.statistics %{{.*}} in "forward" : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // CHECK: amp.statistics %{{.*}} in "backward" : tensor<f32>
  // CHECK: %[[G:.*]] = train.broadcast
  // CHECK-NEXT: amp.statistics %[[G]] in "backward" : tensor<4xf32>
  %g = train.broadcast %seed {dims = array<i64: 0>, amp.gradient_of = ["w"]} : (tensor<f32>) -> tensor<4xf32>
  // CHECK: %[[NEW:.*]] = train.sub
  // CHECK-NEXT: amp.statistics %[[NEW]] in "update" : tensor<4xf32>
  %new = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // A constant is not watched.
  // CHECK: train.constant
  // CHECK-NEXT: return
  %c = train.constant dense<1.0> : tensor<4xf32>
  return %new, %loss : tensor<4xf32>, tensor<f32>
}

// -----

// Other dialects: any tensor of floats.
// CHECK-LABEL: func.func @foreign(
// CHECK: arith.addf
// CHECK-NEXT: amp.statistics %{{.*}} in "forward" : tensor<4xbf16>
func.func @foreign(%w: tensor<4xbf16> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xbf16> {amp.updates = "w"}) {
  %0 = arith.addf %w, %w : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// An empty tensor has no elements to watch.
// CHECK-LABEL: func.func @empty(
// CHECK: tensor.empty
// CHECK-NEXT: linalg.add
// CHECK-NEXT: amp.statistics %{{.*}} in "forward" : tensor<4xf32>
// CHECK-NEXT: return
func.func @empty(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.add ins(%w, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A function that is not a step stays.
// CHECK-LABEL: func.func @other(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NOT: amp.statistics
// CHECK: return
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// A result of control flow has the name of the operation that computes
// it.
// MATCH-LABEL: func.func @watched(
// MATCH: %[[IF:.*]] = scf.if
// MATCH: } else {
// MATCH: amp.statistics %[[IF]]
func.func @watched(%c: i1, %w: tensor<4xf32> {amp.role = "parameter", amp.name = "v"}) -> (tensor<4xf32> {amp.updates = "v"}) {
  %0 = scf.if %c -> tensor<4xf32> {
    %1 = train.mul %w, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Nothing has written the other elements of an empty tensor with a slice.
// CHECK-LABEL: func.func @slices(
func.func @slices(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                  %x: tensor<2xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}) {
  // CHECK: %[[EMPTY:.*]] = tensor.empty
  %empty = tensor.empty() : tensor<4xf32>
  %half = train.mul %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %[[ONE:.*]] = tensor.insert_slice %{{.*}} into %[[EMPTY]]
  // CHECK-NEXT: tensor.insert_slice %{{.*}} into %[[ONE]]
  // CHECK-NEXT: tensor.insert_slice %{{.*}} into %arg0
  // CHECK-NEXT: amp.statistics
  %one = tensor.insert_slice %half into %empty[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %both = tensor.insert_slice %half into %one[2] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %whole = tensor.insert_slice %half into %w[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %new = train.sub %whole, %both : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %new : tensor<4xf32>
}
