// RUN: amp-opt %s --split-input-file --train-autodiff | FileCheck %s
// Expanding twice is expanding once, and tags survive clean-up.
// RUN: amp-opt %s --split-input-file --train-autodiff > %t.once
// RUN: amp-opt %s --split-input-file --train-autodiff --train-autodiff | diff %t.once -
// RUN: amp-opt %s --split-input-file --train-autodiff --canonicalize --cse | FileCheck %s --check-prefix=TAGS
// RUN: amp-opt %s --split-input-file --train-autodiff --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC


// CHECK-LABEL: @dense
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[LABELS:.*]]: tensor<?xi64>, %[[W:[a-z0-9]+]]: tensor<8x4xf32>
// TAGS-LABEL: @dense
func.func @dense(%x: tensor<?x8xf32>, %labels: tensor<?xi64>,
                 %w: tensor<8x4xf32> {amp.name = "fc.weight"},
                 %b: tensor<4xf32> {amp.name = "fc.bias"}) -> (tensor<8x4xf32>, tensor<4xf32>) {
  // CHECK: %[[H:.*]] = train.linear {{.*}} {amp.id = 0 : i64}
  // CHECK: %[[LOSS:.*]] = train.cross_entropy {{.*}} {amp.id = 1 : i64}
  // CHECK: %[[SEED:.*]] = amp.gradient_seed "loss" : tensor<f32>
  // CHECK: %[[DH:.*]] = train.cross_entropy_grad %[[H]], %[[LABELS]], %[[SEED]] {amp.backward_of = 1 : i64}
  // CHECK: %[[DW:.*]] = train.matmul %[[X]], %[[DH]] {amp.backward_of = 0 : i64, amp.gradient_of = ["fc.weight"], transpose_a} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<8x4xf32>
  // CHECK: %[[DB:.*]] = train.reduce_sum %[[DH]] {amp.backward_of = 0 : i64, amp.gradient_of = ["fc.bias"], dims = array<i64: 0>}
  // CHECK-NOT: train.linear
  // CHECK: return %[[DW]], %[[DB]]
  // TAGS-DAG: amp.gradient_of = ["fc.weight"]
  // TAGS-DAG: amp.gradient_of = ["fc.bias"]
  // LOC: train.cross_entropy_grad {{.*}} loc(#[[AT:.*]])
  // LOC: #[[AT]] = loc("head")
  %h = train.linear %x, %w, %b : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %loss = train.cross_entropy %h, %labels : (tensor<?x4xf32>, tensor<?xi64>) -> tensor<f32> loc("head")
  %g:2 = train.gradients %loss wrt(%w, %b) : (tensor<f32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)
  return %g#0, %g#1 : tensor<8x4xf32>, tensor<4xf32>
}

// -----

// The contributions of several uses are added.

// CHECK-LABEL: @shared
func.func @shared(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[SEED:.*]] = amp.gradient_seed "objective"
  // CHECK: %[[D:.*]] = train.broadcast %[[SEED]] {amp.backward_of = 2 : i64, dims = array<i64: 0>}
  // CHECK: %[[A:.*]] = train.mul %[[D]], %{{.*}} {amp.backward_of = 1 : i64}
  // CHECK: %[[B:.*]] = train.mul %[[D]], %{{.*}} {amp.backward_of = 1 : i64}
  // CHECK: %[[C:.*]] = train.mul %[[B]], %arg1 {amp.backward_of = 0 : i64}
  // CHECK: %[[SUM:.*]] = train.add %[[A]], %[[C]] {amp.backward_of = 0 : i64}
  // CHECK: return %[[SUM]]
  %0 = train.mul %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = train.mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = train.reduce_sum %1 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%x) {name = "objective"} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// One value that is the gradient of two arguments, one of them through a
// reshape: each name has its own result, also after canonicalization.

// CHECK-LABEL: @same_gradient
// TAGS-LABEL: @same_gradient
func.func @same_gradient(%a: tensor<4xf32> {amp.name = "a"}, %b: tensor<4xf32> {amp.name = "b"},
                         %c: tensor<2x2xf32> {amp.name = "c"}) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) {
  // CHECK: %[[D:.*]] = train.broadcast %{{.*}} {amp.backward_of = [[ID:[0-9]+]] : i64, amp.gradient_of = ["a"], dims = array<i64: 0>}
  // CHECK: %[[DC:.*]] = train.reshape %[[D]] {amp.backward_of = {{[0-9]+}} : i64, amp.gradient_of = ["c"]}
  // CHECK: %[[DB:.*]] = train.broadcast %[[D]] {amp.backward_of = [[ID]] : i64, amp.gradient_of = ["b"], dims = array<i64>}
  // CHECK: return %[[D]], %[[DB]], %[[DC]]
  // TAGS-DAG: amp.gradient_of = ["a"]
  // TAGS-DAG: amp.gradient_of = ["b"]
  // TAGS-DAG: amp.gradient_of = ["c"]
  %c1 = train.reshape %c : (tensor<2x2xf32>) -> tensor<4xf32>
  %0 = train.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = train.add %0, %c1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = train.reduce_sum %1 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g:3 = train.gradients %loss wrt(%a, %b, %c) : (tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>)
  return %g#0, %g#1, %g#2 : tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
}

// -----

// A rule with several results names each of them; the gradient of the loss by
// itself is not the seed, which loss scaling will multiply.

// CHECK-LABEL: @names
func.func @names(%x: tensor<?x8xf32>, %gamma: tensor<8xf32> {amp.name = "gamma"},
                 %beta: tensor<8xf32> {amp.name = "beta"}) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK: train.layer_norm_grad {{.*}} {amp.backward_of = 0 : i64, amp.gradient_of = ["", "gamma", "beta"]}
  %y, %mean, %rstd = train.layer_norm %x, %gamma, %beta : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  %loss = train.reduce_mean %y {dims = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<f32>
  %g:2 = train.gradients %loss wrt(%gamma, %beta) : (tensor<f32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %g#0, %g#1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: @loss_itself
func.func @loss_itself(%x: tensor<f32> {amp.name = "x"}) -> tensor<f32> {
  // CHECK: %[[SEED:.*]] = amp.gradient_seed "loss" : tensor<f32>
  // CHECK: train.broadcast %[[SEED]] {amp.gradient_of = ["x"], dims = array<i64>}
  %g = train.gradients %x wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

// Unused paths have a gradient of zeros; gradients that nothing uses cost
// nothing.

// CHECK-LABEL: @unused
// TAGS-LABEL: @unused
func.func @unused(%x: tensor<?x8xf32> {amp.name = "x"}, %u: tensor<4xf32> {amp.name = "u"}, %v: tensor<4xf32> {amp.name = "v"},
                  %d: tensor<?xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<?xf32>) {
  // CHECK-NOT: amp.gradient_seed
  // CHECK-DAG: train.broadcast %{{.*}} {amp.gradient_of = ["u"], dims = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32>
  // CHECK-DAG: train.broadcast %{{.*}} {amp.gradient_of = ["v"], dims = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32>
  // CHECK-DAG: train.broadcast %{{.*}} like %arg3 {dims = array<i64: 0>} : (tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK-NOT: train.exp
  // TAGS-DAG: amp.gradient_of = ["u"]
  // TAGS-DAG: amp.gradient_of = ["v"]
  %loss = train.reduce_sum %x {dims = array<i64: 0, 1>} : (tensor<?x8xf32>) -> tensor<f32>
  %g:4 = train.gradients %loss wrt(%x, %u, %v, %d) : (tensor<f32>, tensor<?x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?xf32>) -> (tensor<?x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<?xf32>)
  return %g#1, %g#2, %g#3 : tensor<4xf32>, tensor<4xf32>, tensor<?xf32>
}

// -----

// Operations off the path need no derivative.

// CHECK-LABEL: @off_the_path
func.func @off_the_path(%x: tensor<4xf32>, %y: tensor<4xf32>, %lr: tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: train.mul
  // CHECK: train.sgd
  %y1 = train.sgd %y, %y, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = train.mul %x, %y1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %x1 = train.sgd %x, %y, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %loss = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g, %x1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Second derivatives: the inner gradient is an intermediate value, so that
// only the outer one carries the name; ids go on where the inner ones ended.

// CHECK-LABEL: @second_derivative
func.func @second_derivative(%x: tensor<4xf32> {amp.name = "x"}) -> tensor<4xf32> {
  // CHECK: amp.gradient_seed "inner"
  // CHECK-NOT: amp.gradient_of
  // CHECK: amp.gradient_seed "outer"
  // CHECK: amp.gradient_of = ["x"]
  // CHECK-NOT: amp.gradient_of
  // CHECK: return
  %0 = train.exp %x : tensor<4xf32>
  %inner = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = train.gradients %inner wrt(%x) {name = "inner"} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = train.square %g : tensor<4xf32>
  %outer = train.reduce_sum %1 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %h = train.gradients %outer wrt(%x) {name = "outer"} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

// A low-precision product with an f32 result runs its backward products on low
// operands too.

// CHECK-LABEL: @wide_result
func.func @wide_result(%a: tensor<4x8xf16>, %b: tensor<8x2xf16>) -> tensor<4x8xf16> {
  // CHECK: %[[NARROW:.*]] = amp.cast %{{.*}} inserted {{.*}} : tensor<4x2xf32> to tensor<4x2xf16>
  // CHECK: train.matmul %[[NARROW]], %arg1 {{.*}}transpose_b{{.*}} : (tensor<4x2xf16>, tensor<8x2xf16>) -> tensor<4x8xf16>
  %0 = train.matmul %a, %b : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xf32>
  %loss = train.reduce_sum %0 {dims = array<i64: 0, 1>} : (tensor<4x2xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%a) : (tensor<f32>, tensor<4x8xf16>) -> tensor<4x8xf16>
  return %g : tensor<4x8xf16>
}

// -----

// The gradient by an intermediate value does not go through what produced it.

// CHECK-LABEL: @intermediate
func.func @intermediate(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  // CHECK: %[[ROW:.*]] = tensor.extract_slice
  // CHECK: %[[E:.*]] = train.exp %[[ROW]] {amp.id = 0 : i64}
  // CHECK: %[[D:.*]] = train.broadcast
  // CHECK: %[[G:.*]] = train.mul %[[D]], %[[E]]
  // CHECK: return %[[G]]
  %row = tensor.extract_slice %x[1, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
  %e = train.exp %row : tensor<4xf32>
  %loss = train.reduce_sum %e {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%row) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// One argument twice has one gradient.

// CHECK-LABEL: @twice
func.func @twice(%x: tensor<4xf32> {amp.name = "x"}) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[G:.*]] = train.broadcast %{{.*}} {amp.backward_of = 0 : i64, amp.gradient_of = ["x"], dims = array<i64: 0>}
  // CHECK: return %[[G]], %[[G]]
  %loss = train.reduce_sum %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g:2 = train.gradients %loss wrt(%x, %x) : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %g#0, %g#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// For a cast that a precision pass inserted, the gradient is the gradient of the
// value before it, in the type of the cast: the cast is not on the way to the
// loss.
// CHECK-LABEL: func.func @through_inserted_cast
// CHECK: %[[H:.*]] = train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK: %[[D:.*]] = train.tanh_grad {{.*}} : tensor<4x4xf16>
// CHECK: %[[G:.*]] = amp.cast %[[D]] inserted {{.*}}: tensor<4x4xf16> to tensor<4x4xf32>
// CHECK: return %[[G]]
func.func @through_inserted_cast(%x: tensor<4x4xf16>) -> tensor<4x4xf32> {
  %h = train.matmul %x, %x : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %t = train.tanh %h : tensor<4x4xf16>
  %l = train.reduce_sum %t {dims = array<i64: 0, 1>} : (tensor<4x4xf16>) -> tensor<f32>
  %w = amp.cast %h inserted : tensor<4x4xf16> to tensor<4x4xf32>
  %g = train.gradients %l wrt(%w) : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %g : tensor<4x4xf32>
}

// -----

// An operation with train.stop_gradient counts as a constant: only the other factor
// has a gradient, and what leads to the stopped one needs no derivative.

// CHECK-LABEL: @stopped
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @stopped(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[E:.*]] = train.exp %[[X]]
  // CHECK: %[[S:.*]] = train.broadcast %[[E]] {{.*}}train.stop_gradient
  // CHECK: %[[SEED:.*]] = amp.gradient_seed
  // CHECK: %[[D:.*]] = train.broadcast %[[SEED]]
  // CHECK: %[[G:.*]] = train.mul %[[D]], %[[S]]
  // CHECK-NOT: train
  // CHECK: return %[[G]]
  %e = train.exp %x : tensor<4xf32>
  %s = train.broadcast %e {dims = array<i64>, train.stop_gradient} : (tensor<4xf32>) -> tensor<4xf32>
  %m = train.mul %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = train.reduce_sum %m {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// Where each rounding is semantics, the gradients of a value are added in the
// reverse order of the program: product, sigmoid, tanh.

// CHECK-LABEL: @program_order
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16>)
func.func @program_order(%x: tensor<4xbf16>) -> tensor<4xbf16> attributes {amp.keep_roundings} {
  // CHECK: amp.gradient_seed
  // CHECK: %[[G:.*]] = train.mul %{{.*}}, %[[X]]
  // CHECK: %[[PRODUCT:.*]] = train.mul
  // CHECK: %[[SIGMOID:.*]] = train.sigmoid_grad
  // CHECK: %[[FIRST:.*]] = train.add %[[PRODUCT]], %[[SIGMOID]]
  // CHECK: %[[TANH:.*]] = train.tanh_grad
  // CHECK: %[[SUM:.*]] = train.add %[[FIRST]], %[[TANH]]
  // CHECK: return %[[SUM]]
  %a = train.tanh %x : tensor<4xbf16>
  %g = train.sigmoid %x : tensor<4xbf16>
  %k = train.mul %g, %x : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %q = train.add %k, %a : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  %loss = train.reduce_sum %q {dims = array<i64: 0>} : (tensor<4xbf16>) -> tensor<f32>
  %d = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<4xbf16>) -> tensor<4xbf16>
  return %d : tensor<4xbf16>
}
