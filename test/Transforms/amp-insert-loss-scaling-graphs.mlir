// Loss scaling of unusual steps.
//
// RUN: amp-opt %s --amp-insert-loss-scaling --split-input-file --allow-unregistered-dialect > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --amp-insert-loss-scaling --split-input-file --allow-unregistered-dialect | diff %t.once -
// RUN: amp-opt %s --amp-insert-loss-scaling --remarks-filter=amp --split-input-file --allow-unregistered-dialect 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Two losses are scaled by one scale; their gradients are unscaled at once.
// CHECK-LABEL: func.func @two_seeds(
// CHECK-COUNT-2: amp.scale %{{.*}} by %[[SCALE:.*]] : tensor<f32>
// CHECK-NOT: amp.scale
// CHECK: amp.unscale %{{.*}}, %{{.*}} by
// CHECK-NOT: amp.unscale
// CHECK: return
func.func @two_seeds(
    %a: tensor<4x4xf32> {amp.role = "parameter", amp.name = "a"},
    %b: tensor<4x4xf32> {amp.role = "parameter", amp.name = "b"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "a"}, tensor<4x4xf32> {amp.updates = "b"}) {
  %s1 = amp.gradient_seed "loss" : tensor<f32>
  %s2 = amp.gradient_seed "auxiliary" : tensor<f32>
  %d1 = train.mse_grad %a, %x, %s1 : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %d2 = train.l1_grad %a, %x, %s2 : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %ga = train.add %d1, %d2 {amp.gradient_of = ["a"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %gb = train.l1_grad %b, %x, %s2 {amp.gradient_of = ["b"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %a1 = train.sgd %a, %ga, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %b1 = train.sgd %b, %gb, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %a1, %b1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A step in upstream dialects. The attributes suffice.
// CHECK-LABEL: func.func @foreign(
// CHECK-SAME: %[[W:[^:]*]]: tensor<4xf32>
// CHECK: %[[SCALED:.*]] = amp.scale %{{.*}} by %[[SCALE:.*]] : tensor<f32>
// CHECK: tensor.extract %[[SCALED]][]
// CHECK: %[[G:.*]] = linalg.map {{.*}}{amp.gradient_of = ["w"]}
// CHECK: %[[U:.*]], %{{.*}} = amp.unscale %[[G]] by %[[SCALE]]
// CHECK: %[[NORM:.*]] = "foreign.norm"(%[[U]])
// CHECK: scf.if %{{.*}} -> (tensor<4xf32>) {
// CHECK: arith.mulf %[[U]], %{{.*}}
// CHECK: arith.subf %[[W]], %{{.*}}
// CHECK: return %{{.*}}, %[[NORM]],
func.func @foreign(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "norm"}) {
  %rate = arith.constant dense<0.1> : tensor<4xf32>
  %init = tensor.empty() : tensor<4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = tensor.extract %seed[] : tensor<f32>
  %g = linalg.map ins(%x : tensor<4xf32>) outs(%init : tensor<4xf32>) {amp.gradient_of = ["w"]}
    (%e: f32, %out: f32) {
      %p = arith.mulf %e, %s : f32
      linalg.yield %p : f32
    }
  %norm = "foreign.norm"(%g) : (tensor<4xf32>) -> tensor<f32>
  %delta = arith.mulf %g, %rate : tensor<4xf32>
  %n = arith.subf %w, %delta : tensor<4xf32>
  return %n, %norm : tensor<4xf32>, tensor<f32>
}

// -----

// A gradient that control flow returns, and an optimizer within a region. The
// gradient that the region reads from outside is replaced there.
// CHECK-LABEL: func.func @regions(
// CHECK: %[[G:.*]] = scf.if
// CHECK: } {amp.gradient_of = ["w"]}
// CHECK: %[[U:.*]], %{{.*}} = amp.unscale %[[G]]
// CHECK: %[[OK:.*]] = tensor.extract
// CHECK: scf.if %[[OK]] -> (tensor<4x4xf32>) {
// CHECK: scf.for
// CHECK: train.sgd %{{.*}}, %[[U]]
// CHECK: } else {
func.func @regions(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %c: tensor<i1> {amp.role = "batch", amp.name = "c"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<4x4xf32> {amp.updates = "w"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %cond = tensor.extract %c[] : tensor<i1>
  %g = scf.if %cond -> tensor<4x4xf32> {
    %0 = train.mse_grad %x, %w, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    scf.yield %0 : tensor<4x4xf32>
  } else {
    %0 = train.l1_grad %x, %w, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    scf.yield %0 : tensor<4x4xf32>
  } {amp.gradient_of = ["w"]}
  %n = scf.for %i = %c0 to %c1 step %c1 iter_args(%p = %w) -> tensor<4x4xf32> {
    %0 = train.sgd %p, %g, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    scf.yield %0 : tensor<4x4xf32>
  }
  return %n : tensor<4x4xf32>
}

// -----

// A parameter that the step passes through needs no guard; one that the forward
// pass replaces, and the backward pass reads, is guarded behind both.
// CHECK-LABEL: func.func @updated_in_forward(
// CHECK-SAME: %[[F:[^:]*]]: tensor<4x4xf32> {amp.name = "frozen"
// CHECK: %[[U1:.*]] = train.tanh
// CHECK: train.mse_grad %[[U1]]
// CHECK: %[[NEW:.*]]:2 = scf.if %{{.*}} -> (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: scf.yield %{{.*}}, %[[U1]]
// CHECK: return %[[F]], %[[NEW]]#0, %[[NEW]]#1,
func.func @updated_in_forward(
    %f: tensor<4x4xf32> {amp.role = "parameter", amp.name = "frozen"},
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %u: tensor<4x4xf32> {amp.role = "optimizer_state", amp.name = "u"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<4x4xf32> {amp.updates = "frozen"}, tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf32> {amp.updates = "u"}) {
  %u1 = train.tanh %u : tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %u1, %w, %seed {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %n = train.sgd %w, %g, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %f, %n, %u1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A gradient that is itself the new state, and gradients in f64.
// CHECK-LABEL: func.func @stored_gradient(
// CHECK: %[[U:.*]]:2, %{{.*}} = amp.unscale %{{.*}} : (tensor<4x4xf32>, tensor<4x4xf64>) -> (tensor<4x4xf32>, tensor<4x4xf64>)
// CHECK: scf.if
// CHECK: scf.yield %{{.*}}, %[[U]]#0
func.func @stored_gradient(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %last: tensor<4x4xf32> {amp.role = "optimizer_state", amp.name = "last"},
    %d: tensor<4x4xf64> {amp.role = "hyperparameter", amp.name = "d"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf32> {amp.updates = "last"}, tensor<4x4xf64> {amp.metric = "gradient"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %last, %w, %seed {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %gd = amp.cast %g {amp.gradient_of = ["d"]} : tensor<4x4xf32> to tensor<4x4xf64>
  %n = train.sgd %w, %g, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n, %g, %gd : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf64>
}

// -----

// Functions without a backward pass do not change.
// CHECK-LABEL: func.func @no_backward_pass
// CHECK-SAME: (%{{.*}}: tensor<4x4xf32> {amp.name = "w", amp.role = "parameter"}) -> (tensor<4x4xf32> {amp.prediction = "y"})
// REMARK: remark: [Missed] NoBackwardPass | Category:amp | Function=no_backward_pass
func.func @no_backward_pass(%w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4x4xf32> {amp.prediction = "y"}) {
  %0 = train.matmul %w, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// CHECK: func.func @several_blocks(%{{.*}}: i1) -> i1 {
func.func @several_blocks(%c: i1) -> i1 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb2
^bb2:
  return %c : i1
}
// CHECK: func.func private @declaration(tensor<4xf32>)
func.func private @declaration(%a: tensor<4xf32>)

// -----

// A step that the user scaled does not change.
// CHECK-LABEL: func.func @scaled_by_hand
// CHECK-SAME: %[[S:[^:]*]]: tensor<f32>{{.*}}) -> (tensor<4x4xf32> {amp.updates = "w"}) {
// CHECK-NOT: amp.update_scale
// REMARK: remark: [Missed] AlreadyScaled | Category:amp | Function=scaled_by_hand | Reason="the step has an amp.unscale"
func.func @scaled_by_hand(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %s: tensor<f32> {amp.role = "hyperparameter", amp.name = "s"}) -> (tensor<4x4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %scaled = amp.scale %seed by %s : tensor<f32>
  %g = train.mse_grad %w, %w, %scaled {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %g by %s : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  %n = train.sgd %w, %u, %s : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// -----

// Any function operation is a step.
// CHECK-LABEL: ml_program.func @other_function(
// CHECK-SAME: amp.name = "loss_scale"
// CHECK: amp.scale
// CHECK: amp.unscale
// CHECK: scf.if
// CHECK: amp.update_scale
// CHECK: ml_program.return
ml_program.func @other_function(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"}) -> (tensor<4x4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mse_grad %w, %w, %seed {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %n = train.sgd %w, %g, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  ml_program.return %n : tensor<4x4xf32>
}
