// Where the reductions of a data-parallel step go. The check proves each result.
//
// RUN: amp-opt %s --split-input-file --amp-data-parallel --amp-check-replication | FileCheck %s
// RUN: amp-opt %s --split-input-file --amp-data-parallel=bucket-bytes=64 --amp-check-replication | FileCheck %s --check-prefix=SMALL
// RUN: amp-opt %s --split-input-file --amp-data-parallel=reduce-type=low --amp-check-replication | FileCheck %s --check-prefix=LOW
// RUN: amp-opt %s --split-input-file --amp-data-parallel=batch-norm=synchronized --amp-check-replication | FileCheck %s --check-prefix=SYNC
// RUN: amp-opt %s --split-input-file --amp-data-parallel --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: amp-opt %s --split-input-file --amp-data-parallel=reduce-type=low --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK-LOW
// RUN: amp-opt %s --split-input-file --amp-data-parallel -o %t.once.mlir
// RUN: amp-opt %t.once.mlir --split-input-file --amp-data-parallel | diff %t.once.mlir -
// RUN: amp-opt %s --split-input-file --amp-data-parallel --amp-set-ranks=ranks=1 | FileCheck %s --check-prefix=ONE
//
// One rank computes the step as it was.
// ONE-NOT: all_reduce
// ONE-NOT: divide_by_ranks
// ONE-NOT: amp.divided_along

// A mean loss: the start of the backward pass is divided, the sums are not. The loss travels with
// the last gradients.
// CHECK-LABEL: func.func @mean
// CHECK: %[[SEED:.*]] = amp.gradient_seed
// CHECK: %[[PART:.*]] = amp.divide_by_ranks %[[SEED]]
// CHECK: train.mse_grad {{.*}}, %[[PART]]
// CHECK: %[[G2:.*]] = train.matmul {{.*}}transpose_a
// CHECK-NOT: all_reduce
// CHECK: %[[B1:.*]] = train.reduce_sum
// CHECK: %[[G1:.*]] = train.matmul {{.*}}transpose_a
// CHECK-NEXT: %[[SUM:.*]]:4 = amp.all_reduce sum %[[G2]], %[[B1]], %[[G1]], %{{.*}} {amp.gradient_of = ["l2.w", "l1.b", "l1.w", ""]}
// CHECK-NEXT: %[[LOSS:.*]] = amp.divide_by_ranks %[[SUM]]#3
// CHECK: train.sgd %{{.*}}, %[[SUM]]#0
// CHECK: return {{.*}}, %[[LOSS]] :
//
// A bucket ends with a layer: the bias and the weight of l1 stay together.
// SMALL-LABEL: func.func @mean
// SMALL: %[[G2:.*]] = train.matmul {{.*}}transpose_a
// SMALL-NEXT: amp.all_reduce sum %[[G2]] {amp.gradient_of = ["l2.w"]}
// SMALL: %[[B1:.*]] = train.reduce_sum
// SMALL-NEXT: %[[G1:.*]] = train.matmul {{.*}}transpose_a
// SMALL-NEXT: amp.all_reduce sum %[[B1]], %[[G1]], %{{.*}} {amp.gradient_of = ["l1.b", "l1.w", ""]}
//
// REMARK: DataParallel{{.*}}Function=mean | Collectives=1, Gradients=3
// REMARK-LOW: ReducedInF32{{.*}}the step has no low type
func.func @mean(
    %w1: tensor<8x4xf32> {amp.role = "parameter", amp.name = "l1.w"},
    %b1: tensor<4xf32> {amp.role = "parameter", amp.name = "l1.b"},
    %w2: tensor<4x4xf32> {amp.role = "parameter", amp.name = "l2.w"},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %t: tensor<?x4xf32> {amp.role = "batch", amp.name = "t"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x4xf32> {amp.updates = "l1.w"}, tensor<4xf32> {amp.updates = "l1.b"},
        tensor<4x4xf32> {amp.updates = "l2.w"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.linear %x, %w1, %b1 : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %y = train.matmul %h, %w2 : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %loss = train.mse %y, %t : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mse_grad %y, %t, %seed : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %g2 = train.matmul %h, %dy {transpose_a, amp.gradient_of = ["l2.w"]} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<4x4xf32>
  %dh = train.matmul %dy, %w2 {transpose_b} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %gb = train.reduce_sum %dh {dims = array<i64: 0>, amp.gradient_of = ["l1.b"]} : (tensor<?x4xf32>) -> tensor<4xf32>
  %g1 = train.matmul %x, %dh {transpose_a, amp.gradient_of = ["l1.w"]} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<8x4xf32>
  %n2 = train.sgd %w2, %g2, %lr : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %nb = train.sgd %b1, %gb, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %n1 = train.sgd %w1, %g1, %lr : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %n1, %nb, %n2, %loss : tensor<8x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<f32>
}

// -----

// A gradient that is read at once is reduced at once. A sum needs no division.
// CHECK-LABEL: func.func @early
// CHECK-NOT: divide_by_ranks
// CHECK: %[[G:.*]] = train.reduce_sum %{{.*}}
// CHECK-NEXT: %[[SUM:.*]] = amp.all_reduce sum %[[G]]
// CHECK-NEXT: train.neg %[[SUM]]
// CHECK: %[[H:.*]] = train.reduce_sum
// CHECK-NEXT: amp.all_reduce sum %[[H]]
func.func @early(
    %w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
    %v: tensor<8xf32> {amp.role = "parameter", amp.name = "v"},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<8xf32> {amp.updates = "v"}) {
  %g = train.reduce_sum %x {dims = array<i64: 0>, amp.gradient_of = ["w"]} : (tensor<?x8xf32>) -> tensor<8xf32>
  %n = train.neg %g : tensor<8xf32>
  %h = train.reduce_sum %x {dims = array<i64: 0>, amp.gradient_of = ["v"]} : (tensor<?x8xf32>) -> tensor<8xf32>
  %a = train.sub %w, %n : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %b = train.sub %v, %h : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// -----

// The ranks add the number of labels that count before the loss divides by it.
// CHECK-LABEL: func.func @ignored
// CHECK: %[[OWN:.*]] = train.reduce_sum %{{.*}} : (tensor<?xf32>) -> tensor<f32>
// CHECK-NEXT: %[[ALL:.*]] = amp.all_reduce sum %[[OWN]]
// CHECK: train.div %{{.*}}, %[[ALL]]
// CHECK-NOT: divide_by_ranks
// CHECK: return
func.func @ignored(
    %w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %kept: tensor<?xf32> {amp.role = "batch", amp.name = "kept"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %n = train.reduce_sum %kept {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %xw = train.mul %x, %w : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %rows = train.reduce_sum %xw {dims = array<i64: 1>} : (tensor<?x8xf32>) -> tensor<?xf32>
  %some = train.mul %rows, %kept : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %total = train.reduce_sum %some {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %loss = train.div %total, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %ds = train.div %seed, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %dr = train.mul %kept, %ds : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %db = train.broadcast %dr like %x {dims = array<i64: 1>} : (tensor<?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %dxw = train.mul %db, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %g = train.reduce_sum %dxw {dims = array<i64: 0>, amp.gradient_of = ["w"]} : (tensor<?x8xf32>) -> tensor<8xf32>
  %new = train.sgd %w, %g, %lr : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %new, %loss : tensor<8xf32>, tensor<f32>
}

// -----

// After the loop over micro-batches, once. In the loop each seed is divided.
// CHECK-LABEL: func.func @accumulated
// CHECK: scf.for
// CHECK: %[[SEED:.*]] = amp.gradient_seed
// CHECK-NEXT: amp.divide_by_ranks %[[SEED]]
// CHECK-NOT: all_reduce
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: amp.all_reduce sum %{{.*}} {amp.gradient_of = ["w"]}
func.func @accumulated(
    %w: tensor<8x4xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %t: tensor<?x4xf32> {amp.role = "batch", amp.name = "t"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x4xf32> {amp.updates = "w"}) {
  %zero = train.constant dense<0.0> : tensor<8x4xf32>
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i4 = arith.constant 4 : index
  %g = scf.for %i = %i0 to %i4 step %i1 iter_args(%sum = %zero) -> (tensor<8x4xf32>) {
    %y = train.matmul %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %dy = train.mse_grad %y, %t, %seed : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    %own = train.matmul %x, %dy {transpose_a} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<8x4xf32>
    %next = train.add %sum, %own : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    scf.yield %next : tensor<8x4xf32>
  } {amp.gradient_of = ["w"]}
  %new = train.sgd %w, %g, %lr : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %new : tensor<8x4xf32>
}

// -----

// Low gradients are added in f32, and unscaled before they are rounded again. The flag needs no
// collective. With reduce-type=low all are exchanged in the low type of the step.
// CHECK-LABEL: func.func @low
// CHECK: %[[G:.*]] = train.reduce_sum {{.*}} -> tensor<8xf16>
// CHECK-NEXT: %[[H:.*]] = train.reduce_sum {{.*}} -> tensor<8xf32>
// CHECK-NEXT: %[[WIDE:.*]] = amp.cast %[[G]] inserted : tensor<8xf16> to tensor<8xf32>
// CHECK-NEXT: %[[SUM:.*]]:2 = amp.all_reduce sum %[[WIDE]], %[[H]] {amp.gradient_of = ["w", "v"]}
// CHECK-NEXT: amp.unscale %[[SUM]]#0, %[[SUM]]#1
// CHECK-NOT: all_reduce
//
// LOW-LABEL: func.func @low
// LOW: %[[LOW:.*]] = amp.cast %{{.*}} inserted : tensor<8xf32> to tensor<8xf16>
// LOW-NEXT: %[[SUM:.*]]:2 = amp.all_reduce sum %{{.*}}, %[[LOW]]
// LOW-NEXT: amp.unscale %[[SUM]]#0, %[[SUM]]#1 by %{{.*}} : (tensor<8xf16>, tensor<8xf16>)
//
// REMARK-LOW: ReducedLow{{.*}}gradients are exchanged in f16: half of the bytes, and each is rounded twice, with a relative error of up to 2^-11
func.func @low(
    %w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
    %v: tensor<8xf32> {amp.role = "parameter", amp.name = "v"},
    %x: tensor<?x8xf16> {amp.role = "batch", amp.name = "x"},
    %y: tensor<?x8xf32> {amp.role = "batch", amp.name = "y"},
    %scale: tensor<f32> {amp.role = "hyperparameter", amp.name = "scale"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<8xf32> {amp.updates = "v"})
    attributes {amp.mixed_precision = f16} {
  %g = train.reduce_sum %x {dims = array<i64: 0>, amp.gradient_of = ["w"]} : (tensor<?x8xf16>) -> tensor<8xf16>
  %h = train.reduce_sum %y {dims = array<i64: 0>, amp.gradient_of = ["v"]} : (tensor<?x8xf32>) -> tensor<8xf32>
  %u, %s, %ok = amp.unscale %g, %h by %scale : (tensor<8xf16>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %flag = tensor.extract %ok[] : tensor<i1>
  %a:2 = scf.if %flag -> (tensor<8xf32>, tensor<8xf32>) {
    %c = train.sub %w, %u : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %d = train.sub %v, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    scf.yield %c, %d : tensor<8xf32>, tensor<8xf32>
  } else {
    scf.yield %w, %v : tensor<8xf32>, tensor<8xf32>
  }
  return %a#0, %a#1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Statistics of a rank's part become the mean over the ranks. Dropout knows its dimension.
// CHECK-LABEL: func.func @state
// CHECK: train.dropout {{.*}}amp.divided_along = array<i64: 0>
// CHECK: %[[NEW:.*]]:2 = amp.all_reduce sum
// CHECK: amp.divide_by_ranks %[[NEW]]#0
// CHECK: amp.divide_by_ranks %[[NEW]]#1
//
// With the statistics of all ranks there is nothing to average.
// SYNC-LABEL: func.func @state
// SYNC: %[[OWN:.*]] = train.reduce_mean %{{.*}} {dims = array<i64: 0>} : (tensor<?x8xf64>)
// SYNC: %[[MEAN:.*]] = amp.cast %[[OWN]] inserted : tensor<8xf64> to tensor<8xf32>
// SYNC: %[[COUNT:.*]] = train.reduce_sum
// SYNC: %[[SUMS:.*]]:2 = amp.all_reduce sum %[[MEAN]], %[[COUNT]]
// SYNC: amp.divide_by_ranks %[[SUMS]]#0
// SYNC: amp.all_reduce sum
// SYNC: amp.divide_by_ranks
// SYNC-NOT: all_reduce
// SYNC: return
// REMARK: StateAveraged{{.*}}the model state mean covers only a rank's part of the batch
func.func @state(
    %mean: tensor<8xf32> {amp.role = "model_state", amp.name = "mean"},
    %var: tensor<8xf32> {amp.role = "model_state", amp.name = "var"},
    %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng"},
    %gamma: tensor<8xf32> {amp.role = "parameter", amp.name = "gamma"},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8xf32> {amp.updates = "mean"}, tensor<8xf32> {amp.updates = "var"}, tensor<?x8xf32> {amp.prediction = "y"}) {
  %y, %m, %r, %nm, %nv = train.batch_norm_training %x, %gamma, %gamma, %mean, %var
      : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %d = train.dropout %y, %rng {rate = 0.1 : f64} : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x8xf32>
  return %nm, %nv, %d : tensor<8xf32>, tensor<8xf32>, tensor<?x8xf32>
}

// -----

// Without a batch, and with collectives, nothing changes.
// CHECK-LABEL: func.func @no_batch
// CHECK-NEXT: return
func.func @no_batch(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<8xf32> {amp.updates = "w"}) {
  return %w : tensor<8xf32>
}

// CHECK-LABEL: func.func @parallel
// CHECK-COUNT-1: amp.all_reduce
// CHECK-NOT: amp.all_reduce
// REMARK: AlreadyParallel{{.*}}the step has collectives already
func.func @parallel(%w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
                    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<8xf32> {amp.updates = "w"}) {
  %g = train.reduce_sum %x {dims = array<i64: 0>, amp.gradient_of = ["w"]} : (tensor<?x8xf32>) -> tensor<8xf32>
  %sum = amp.all_reduce sum %g : tensor<8xf32>
  %new = train.sub %w, %sum : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %new : tensor<8xf32>
}
