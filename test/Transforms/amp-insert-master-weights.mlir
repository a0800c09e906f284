// Low-precision copies of parameters with f32 masters.
//
// RUN: amp-opt %s --auto-mixed-precision --split-input-file > %t.mixed
// RUN: amp-opt %t.mixed --amp-insert-master-weights --split-input-file | diff %t.mixed -
// RUN: amp-opt %t.mixed --amp-insert-master-weights=mode=cast --split-input-file | diff %t.mixed -
// RUN: amp-opt %t.mixed --amp-insert-master-weights=mode=copy --split-input-file > %t.copy
// RUN: FileCheck %s < %t.copy
// RUN: amp-opt %t.copy --amp-insert-master-weights=mode=copy --split-input-file | diff %t.copy -
// RUN: amp-opt %t.copy --amp-insert-loss-scaling --split-input-file | FileCheck %s --check-prefix=GUARD
// RUN: amp-opt %t.mixed --amp-insert-loss-scaling --amp-insert-master-weights=mode=copy --split-input-file \
// RUN:   | FileCheck %s --check-prefix=AFTER
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --amp-insert-master-weights=mode=copy --split-input-file \
// RUN:   | FileCheck %s --check-prefix=BF16
// RUN: amp-opt %t.mixed --amp-insert-master-weights=mode=copy --remarks-filter=amp --split-input-file 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: amp-opt %t.mixed --amp-insert-master-weights=mode=none --split-input-file > %t.none
// RUN: FileCheck %s --check-prefix=NONE < %t.none
// RUN: amp-opt %t.none --amp-insert-master-weights=mode=none --split-input-file | diff %t.none -
// RUN: amp-opt %t.none --amp-insert-loss-scaling --split-input-file | FileCheck %s --check-prefix=NONE-GUARD

// The products read the weight and the bias in the low type. Forward and
// backward pass read the copies. The update reads and writes the masters, and
// writes the copies as well.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[^:]*]]: tensor<4x4xf32> {amp.name = "w", amp.role = "parameter"}, %[[B:[^:]*]]: tensor<4xf32>
// CHECK-SAME: %[[L:[^:]*]]: tensor<4x4xf16> {amp.init = #amp.init<copy_of, source = "w">, amp.name = "w.low", amp.role = "parameter"}
// CHECK-SAME: %[[LB:[^:]*]]: tensor<4xf16> {amp.init = #amp.init<copy_of, source = "b">, amp.name = "b.low", amp.role = "parameter"})
// CHECK-SAME: -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "b"}, tensor<f32> {amp.metric = "loss"}, tensor<4x4xf16> {amp.updates = "w.low"}, tensor<4xf16> {amp.updates = "b.low"})
// CHECK-NOT: amp.cast %[[W]]
// CHECK: %[[Y:.*]] = train.linear %{{.*}}, %[[L]], %[[LB]]
// CHECK: %[[G:.*]] = train.matmul {{.*}}amp.gradient_of = ["w"]
// CHECK: %[[W1:.*]] = train.sgd %[[W]], %[[G]]
// CHECK-NEXT: %[[L1:.*]] = amp.master_copy %[[W1]] : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: %[[B1:.*]] = train.sgd %[[B]],
// CHECK-NEXT: %[[LB1:.*]] = amp.master_copy %[[B1]]
// CHECK: return %[[W1]], %[[B1]], %{{.*}}, %[[L1]], %[[LB1]]
//
// Loss scaling after this pass puts the copy under the same guard.
// GUARD-LABEL: func.func @step(
// GUARD: scf.if %{{.*}} -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf16>, tensor<4xf16>) {
// GUARD: %[[W1:.*]] = train.sgd
// GUARD: amp.master_copy %[[W1]]
// GUARD: scf.yield
// GUARD: } else {
// GUARD-NEXT: scf.yield {{.*}} : tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf16>, tensor<4xf16>
//
// With loss scaling before this pass, the copy is made from the guarded value.
// AFTER-LABEL: func.func @step(
// AFTER: %[[NEW:.*]]:2 = scf.if
// AFTER: amp.master_copy %[[NEW]]#0
//
// BF16-LABEL: func.func @step(
// BF16-SAME: tensor<4x4xbf16> {amp.init = #amp.init<copy_of, source = "w">
// BF16: amp.master_copy %{{.*}} : tensor<4x4xf32> to tensor<4x4xbf16>
//
// Without masters, the parameters are low. The update is computed in f32 and
// rounded.
// NONE-LABEL: func.func @step(
// NONE-SAME: %[[W:[^:]*]]: tensor<4x4xf16> {amp.name = "w", amp.role = "parameter"}, %[[B:[^:]*]]: tensor<4xf16>
// NONE-SAME: -> (tensor<4x4xf16> {amp.updates = "w"}, tensor<4xf16> {amp.updates = "b"}, tensor<f32> {amp.metric = "loss"})
// NONE-DAG: %[[WW:.*]] = amp.cast %[[W]] inserted : tensor<4x4xf16> to tensor<4x4xf32>
// NONE-DAG: train.linear %{{.*}}, %[[W]], %[[B]]
// NONE: %[[W1:.*]] = train.sgd %[[WW]],
// NONE-NEXT: %[[L1:.*]] = amp.cast %[[W1]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// NONE: return %[[L1]], %{{.*}}, %{{.*}} : tensor<4x4xf16>, tensor<4xf16>, tensor<f32>
//
// NONE-GUARD-LABEL: func.func @step(
// NONE-GUARD: scf.if %{{.*}} -> (tensor<4x4xf16>, tensor<4xf16>) {
// NONE-GUARD: %[[W1:.*]] = train.sgd
// NONE-GUARD: amp.cast %[[W1]]
// NONE-GUARD: scf.yield
// NONE-GUARD: } else {
// NONE-GUARD-NEXT: scf.yield {{.*}} : tensor<4x4xf16>, tensor<4xf16>
//
// REMARK: remark: [Passed] Copy | Category:amp | Function=step | Parameter=w
func.func @step(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %b: tensor<4xf32> {amp.role = "parameter", amp.name = "b"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"},
    %t: tensor<4x4xf32> {amp.role = "batch", amp.name = "t"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "b"}, tensor<f32> {amp.metric = "loss"}) {
  %y = train.linear %x, %w, %b : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %loss = train.mse %y, %t : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mse_grad %y, %t, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %gb = train.reduce_sum %dy {dims = array<i64: 0>, amp.gradient_of = ["b"]} : (tensor<4x4xf32>) -> tensor<4xf32>
  %gw = train.matmul %x, %dy {transpose_a, amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1 = train.sgd %w, %gw, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %b1 = train.sgd %b, %gb, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %w1, %b1, %loss : tensor<4x4xf32>, tensor<4xf32>, tensor<f32>
}

// -----

// A weight that the loss also reads in f32: all that wants f32 reads the master,
// the penalty as well as the decay of the update.
// A gain that is only read in f32 needs no copy.
// REMARK: remark: [Missed] NoCopy | Category:amp | Function=mixed_uses | Parameter=gain, Reason="forward and backward read it in f32 only, or it has a copy already"
// CHECK-LABEL: func.func @mixed_uses(
// CHECK-SAME: %[[W:[^:]*]]: tensor<4x4xf32>
// CHECK-SAME: %[[L:[^:]*]]: tensor<4x4xf16> {amp.init
// CHECK-NOT: gain.low
// CHECK-NOT: amp.cast %[[L]]
// CHECK: train.mul %[[W]], %
// CHECK: train.matmul %{{.*}}, %[[L]]
// CHECK: %[[DECAYED:.*]] = train.add %{{.*}}, %[[W]]
// CHECK: %[[W1:.*]] = train.sgd %[[W]], %[[DECAYED]]
// CHECK-NEXT: amp.master_copy %[[W1]]
func.func @mixed_uses(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %gain: tensor<4x4xf32> {amp.role = "parameter", amp.name = "gain"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "penalty"}) {
  %weighed = train.mul %w, %gain : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sq = train.square %weighed : tensor<4x4xf32>
  %penalty = train.reduce_sum %sq {dims = array<i64: 0, 1>} : (tensor<4x4xf32>) -> tensor<f32>
  %y = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mse_grad %y, %x, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %g = train.matmul %x, %dy {transpose_a, amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %decayed = train.add %g, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1 = train.sgd %w, %decayed, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %w1, %penalty : tensor<4x4xf32>, tensor<f32>
}

// -----

// The copy of a frozen parameter is never written. A parameter that the step
// passes through has a copy of itself. A parameter that a region reads is
// replaced there.
// CHECK-LABEL: func.func @frozen(
// CHECK-SAME: %[[P:[^:]*]]: tensor<4x4xf32> {amp.name = "passed"
// CHECK-SAME: %[[FL:[^:]*]]: tensor<4x4xf16> {amp.init = #amp.init<copy_of, source = "frozen">
// CHECK-SAME: %[[PL:[^:]*]]: tensor<4x4xf16> {amp.init = #amp.init<copy_of, source = "passed">
// CHECK-SAME: -> (tensor<4x4xf32> {amp.updates = "passed"}, tensor<4x4xf32> {amp.prediction = "y"}, tensor<4x4xf16> {amp.updates = "passed.low"})
// CHECK: scf.if
// CHECK: train.matmul %{{.*}}, %[[FL]]
// CHECK: train.matmul %{{.*}}, %[[PL]]
// CHECK: %[[C:.*]] = amp.master_copy %[[P]]
// CHECK: return %[[P]], %{{.*}}, %[[C]]
func.func @frozen(
    %f: tensor<4x4xf32> {amp.role = "parameter", amp.name = "frozen"},
    %p: tensor<4x4xf32> {amp.role = "parameter", amp.name = "passed"},
    %c: tensor<i1> {amp.role = "batch", amp.name = "c"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "passed"}, tensor<4x4xf32> {amp.prediction = "y"}) {
  %cond = tensor.extract %c[] : tensor<i1>
  %0 = scf.if %cond -> tensor<4x4xf32> {
    %1 = train.matmul %x, %f : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  } else {
    scf.yield %x : tensor<4x4xf32>
  }
  %y = train.matmul %0, %p : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p, %y : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Functions that are not steps, and declarations.
// CHECK-LABEL: func.func @no_step
// CHECK-SAME: (%{{.*}}: tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @no_step(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @declaration(%w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"})
