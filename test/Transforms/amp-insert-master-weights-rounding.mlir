// Parameters without a master, with stochastic rounding or a compensation of
// rounding errors, and moments in bf16. The weight is tied: two operations read
// it, and it has one master and one copy.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 > %t.mixed
// RUN: amp-opt %t.mixed --amp-insert-master-weights='mode=none update-rounding=stochastic moments=bf16' | FileCheck %s
// RUN: amp-opt %t.mixed --amp-insert-master-weights='mode=none update-rounding=kahan' | FileCheck %s --check-prefix=KAHAN
// RUN: amp-opt %t.mixed --amp-insert-master-weights='mode=none update-rounding=kahan' --amp-insert-loss-scaling --amp-check-loss-scaling \
// RUN:   | FileCheck %s --check-prefix=GUARD
// RUN: amp-opt %t.mixed --amp-insert-master-weights=mode=copy | FileCheck %s --check-prefix=COPY
// RUN: amp-opt %t.mixed --amp-insert-master-weights=moments=bf16 | FileCheck %s --check-prefix=MOMENTS

// CHECK: func.func @step(%[[W:.*]]: tensor<4x4xbf16> {amp.name = "w", amp.role = "parameter"}, %[[M:.*]]: tensor<4x4xbf16> {amp.name = "m"
// CHECK-SAME: %[[RNG:[^ :]*]]: tensor<2xi64> {amp.init = #amp.init<rng_state>, amp.name = "update_rounding", amp.role = "model_state"}
// CHECK-DAG: %[[WM:.*]] = amp.cast %[[M]] inserted : tensor<4x4xbf16> to tensor<4x4xf32>
// CHECK-DAG: %[[WW:.*]] = amp.cast %[[W]] inserted : tensor<4x4xbf16> to tensor<4x4xf32>
// CHECK: %[[NEW:.*]], %[[NEWM:.*]] = train.sgd %[[WW]], %{{.*}}, %{{.*}}, %[[WM]]
// CHECK-DAG: %[[W1:.*]] = amp.master_copy %[[NEW]] stochastic %[[RNG]] key 0
// CHECK-DAG: %[[M1:.*]] = amp.master_copy %[[NEWM]] stochastic %[[RNG]] key 1
// CHECK: %[[C:.*]] = tensor.extract %[[RNG]][%[[ONE:.*]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[C]],
// CHECK: %[[RNG1:.*]] = tensor.insert %[[NEXT]] into %[[RNG]][%[[ONE]]]
// CHECK: return %[[W1]], %[[M1]], %{{.*}}, %[[RNG1]]
//
// The model reads the weight, the update weight and residual.
// KAHAN: func.func @step(%[[W:.*]]: tensor<4x4xbf16> {amp.name = "w"
// KAHAN-SAME: %[[R:[^ ]*]]: tensor<4x4xbf16> {amp.init = #amp.init<zeros>, amp.name = "w.compensation", amp.role = "optimizer_state"}
// KAHAN: %[[SUM:.*]] = amp.compensate %[[W]], %[[R]]
// KAHAN: train.matmul %{{.*}}, %[[W]] :
// KAHAN: train.matmul %{{.*}}, %[[W]] {transpose_b}
// KAHAN: %[[NEW:.*]], %[[NEWM:.*]] = train.sgd %[[SUM]],
// KAHAN: %[[W1:.*]] = amp.cast %[[NEW]] inserted
// KAHAN: %[[R1:.*]] = amp.residual %[[NEW]], %[[W1]]
// KAHAN: return %[[W1]], %[[NEWM]], %{{.*}}, %[[R1]]
//
// GUARD: scf.if {{.*}} -> (tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xbf16>)
// GUARD: train.sgd
// GUARD: amp.residual
// GUARD: scf.yield
//
// COPY: func.func @step(
// COPY-SAME: %[[L:[^ ]*]]: tensor<4x4xbf16> {amp.init = #amp.init<copy_of, source = "w">
// COPY: train.matmul %{{.*}}, %[[L]] :
// COPY: train.matmul %{{.*}}, %[[L]] {transpose_b}
// COPY: amp.master_copy
// COPY-NOT: amp.master_copy
//
// MOMENTS: func.func @step(%{{.*}}: tensor<4x4xf32> {amp.name = "w", {{.*}}: tensor<4x4xbf16> {amp.name = "m"
// MOMENTS: %[[NEW:.*]], %[[NEWM:.*]] = train.sgd
// MOMENTS: %[[M1:.*]] = amp.cast %[[NEWM]] inserted : tensor<4x4xf32> to tensor<4x4xbf16>
// MOMENTS: return %[[NEW]], %[[M1]]
func.func @step(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %m: tensor<4x4xf32> {amp.role = "optimizer_state", amp.name = "m"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf32> {amp.updates = "m"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = train.matmul %h, %w {transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %loss = train.mse %y, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mse_grad %y, %x, %seed : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %g = train.matmul %h, %dy {transpose_a, amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1, %m1 = train.sgd %w, %g, %lr, %m {momentum = 0.9 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %w1, %m1, %loss : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
}
