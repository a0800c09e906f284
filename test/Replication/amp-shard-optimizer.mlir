// Each rank keeps a part of the state. The check proves each result.
//
// RUN: amp-opt %s --split-input-file --amp-shard-optimizer="ranks=3 min-elements=5" --amp-check-replication=ranks=3 | FileCheck %s
// RUN: amp-opt %s --split-input-file --amp-shard-optimizer="ranks=3 min-elements=5" --amp-check-loss-scaling -o /dev/null
// RUN: amp-opt %s --split-input-file --amp-shard-optimizer="ranks=3 min-elements=5" --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: amp-opt %s --split-input-file --amp-shard-optimizer="ranks=3 min-elements=5" -o %t.once.mlir
// RUN: amp-opt %t.once.mlir --split-input-file --amp-shard-optimizer="ranks=3 min-elements=5" | diff %t.once.mlir -
// RUN: amp-opt %t.once.mlir --split-input-file --amp-shard-optimizer="ranks=3 min-elements=5" --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: amp-opt %s --split-input-file --amp-shard-optimizer --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: amp-opt %s --split-input-file --amp-shard-optimizer | FileCheck %s --check-prefix=SAME
//
// AGAIN: StateStaysWhole{{.*}}the state of the step stays whole: the ranks divide its state already
// ALONE: StateStaysWhole{{.*}}the state of the step stays whole: one rank keeps the whole state
// SAME-NOT: amp.rank_part
// SAME-NOT: amp.reduce_scatter

// The parameter is whole because the forward pass reads it, and the velocity is a part. The metric
// stays in the bucket. The bias is small, and the parameter of the third sum has no state.
// CHECK-LABEL: func.func @momentum(
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<8x4xf32> {amp.name = "w", amp.role = "parameter"}
// CHECK-SAME: %[[V:[a-z0-9]*]]: tensor<11xf32> {amp.init = #amp.init<zeros>, amp.name = "w.v", amp.part_of = tensor<8x4xf32>, amp.role = "optimizer_state"}
// CHECK-SAME: -> (tensor<8x4xf32> {amp.updates = "w"}, tensor<11xf32> {amp.updates = "w.v"}
// CHECK: %[[LOSS:.*]] = train.mse %
// CHECK: %[[OWN:.*]] = train.matmul %{{.*}} {transpose_a}
// CHECK: %[[REST:.*]]:3 = amp.all_reduce sum %{{.*}}, %{{.*}}, %[[LOSS]] {amp.gradient_of = ["b", "u", ""]} : tensor<4xf32>, tensor<6xf32>, tensor<f32>
// CHECK-NEXT: %[[G:.*]] = amp.reduce_scatter %[[OWN]] {amp.gradient_of = ["w"]} : tensor<8x4xf32> to tensor<11xf32>
// CHECK: %[[PART:.*]] = amp.rank_part %[[W]] : tensor<8x4xf32> to tensor<11xf32>
// CHECK-NEXT: %[[NEW:.*]], %[[V1:.*]] = train.sgd %[[PART]], %[[G]], %{{.*}}, %[[V]] {momentum = 9.000000e-01 : f64}
// CHECK: train.sgd %{{.*}}, %[[REST]]#0
// CHECK: train.sgd %{{.*}}, %[[REST]]#1
// CHECK: %[[ALL:.*]] = amp.all_gather %[[NEW]] : tensor<11xf32> to tensor<8x4xf32>
// CHECK-NEXT: return %[[ALL]], %[[V1]],
//
// REMARK: NotSharded{{.*}}Function=momentum{{.*}}the parameter 'b' stays whole: it has 4 elements, fewer than min-elements=5
// REMARK: NotSharded{{.*}}Function=momentum{{.*}}the parameter 'u' stays whole: it has no state that only its update reads
// REMARK: ShardedOptimizer{{.*}}Function=momentum | BytesPerRank=44, BytesWhole=128, Parameters=1
func.func @momentum(
    %w: tensor<8x4xf32> {amp.role = "parameter", amp.name = "w"},
    %v: tensor<8x4xf32> {amp.role = "optimizer_state", amp.name = "w.v", amp.init = #amp.init<zeros>},
    %b: tensor<4xf32> {amp.role = "parameter", amp.name = "b"},
    %vb: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "b.v"},
    %u: tensor<6xf32> {amp.role = "parameter", amp.name = "u"},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %z: tensor<?x6xf32> {amp.role = "batch", amp.name = "z"},
    %t: tensor<?x4xf32> {amp.role = "batch", amp.name = "t"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x4xf32> {amp.updates = "w"}, tensor<8x4xf32> {amp.updates = "w.v"},
        tensor<4xf32> {amp.updates = "b"}, tensor<4xf32> {amp.updates = "b.v"},
        tensor<6xf32> {amp.updates = "u"}, tensor<f32> {amp.metric = "loss"}) {
  %y = train.linear %x, %w, %b : (tensor<?x8xf32>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %loss = train.mse %y, %t : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %mean = amp.divide_by_ranks %seed : tensor<f32>
  %dy = train.mse_grad %y, %t, %mean : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %g = train.matmul %x, %dy {transpose_a} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<8x4xf32>
  %gb = train.reduce_sum %dy {dims = array<i64: 0>} : (tensor<?x4xf32>) -> tensor<4xf32>
  %zu = train.mul %z, %u : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  %gu = train.reduce_sum %zu {dims = array<i64: 0>} : (tensor<?x6xf32>) -> tensor<6xf32>
  %sum:4 = amp.all_reduce sum %g, %gb, %gu, %loss {amp.gradient_of = ["w", "b", "u", ""]} : tensor<8x4xf32>, tensor<4xf32>, tensor<6xf32>, tensor<f32>
  %total = amp.divide_by_ranks %sum#3 : tensor<f32>
  %nw, %nv = train.sgd %w, %sum#0, %lr, %v {momentum = 0.9 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  %nb, %nvb = train.sgd %b, %sum#1, %lr, %vb {momentum = 0.9 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %nu = train.sgd %u, %sum#2, %lr : (tensor<6xf32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  return %nw, %nv, %nb, %nvb, %nu, %total : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<6xf32>, tensor<f32>
}

// -----

// The master and both moments are parts. The low copy is joined outside of the guard, so also when
// the step is skipped. The flag and the norm cover all parts, and the clip leaves the guard.
// CHECK-LABEL: func.func @guarded(
// CHECK-SAME: %[[MASTER:[a-z0-9]*]]: tensor<11xf32> {amp.init = #amp.init<kaiming_uniform>, amp.name = "w", amp.part_of = tensor<8x4xf32>
// CHECK-SAME: %[[COPY:[a-z0-9]*]]: tensor<8x4xf16> {amp.init = #amp.init<copy_of, source = "w">
// CHECK: %[[G:.*]] = amp.reduce_scatter
// CHECK: %[[U:.*]], %[[FINITE:.*]] = amp.unscale %[[G]] by %{{.*}} : (tensor<11xf32>) -> (tensor<11xf32>)
// CHECK-NEXT: %[[ALL:.*]] = amp.all_reduce and %[[FINITE]] : tensor<i1>
// CHECK: %[[OK:.*]] = tensor.extract %[[ALL]][]
// CHECK: %[[WIDE:.*]] = amp.cast %[[U]] inserted : tensor<11xf32> to tensor<11xf64>
// CHECK-NEXT: %[[SQUARE:.*]] = train.square %[[WIDE]] : tensor<11xf64>
// CHECK-NEXT: train.reduce_sum %[[SQUARE]]
// CHECK: amp.all_reduce sum %{{.*}} : tensor<f64>
// CHECK: train.sqrt
// CHECK: %[[C:.*]] = train.mul %[[U]], %{{.*}} : (tensor<11xf32>, tensor<f32>) -> tensor<11xf32>
// CHECK: %[[OLD:.*]] = amp.rank_part %[[COPY]] : tensor<8x4xf16> to tensor<11xf16>
// CHECK: %[[NEXT:.*]]:4 = scf.if %[[OK]] -> (tensor<11xf32>, tensor<11xf32>, tensor<11xf32>, tensor<11xf16>)
// CHECK: train.adamw %[[MASTER]], %[[C]],
// CHECK: amp.master_copy %{{.*}} : tensor<11xf32> to tensor<11xf16>
// CHECK: scf.yield %[[MASTER]], %{{.*}}, %{{.*}}, %[[OLD]]
// CHECK: amp.update_scale %{{.*}}, %[[ALL]]
// CHECK: %[[NEW:.*]] = amp.all_gather %[[NEXT]]#3 : tensor<11xf16> to tensor<8x4xf16>
// CHECK-NEXT: return %[[NEXT]]#0, %[[NEXT]]#1, %[[NEXT]]#2, %[[NEW]],
//
// REMARK: ShardedOptimizer{{.*}}Function=guarded | BytesPerRank=132, BytesWhole=384, Parameters=1
func.func @guarded(
    %w: tensor<8x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<kaiming_uniform>},
    %low: tensor<8x4xf16> {amp.role = "parameter", amp.name = "w.low", amp.init = #amp.init<copy_of, source = "w">},
    %m: tensor<8x4xf32> {amp.role = "optimizer_state", amp.name = "m"},
    %v: tensor<8x4xf32> {amp.role = "optimizer_state", amp.name = "v"},
    %one: tensor<f32> {amp.role = "hyperparameter", amp.name = "t"},
    %x: tensor<?x8xf16> {amp.role = "batch", amp.name = "x"},
    %t: tensor<?x4xf16> {amp.role = "batch", amp.name = "target"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %scale: tensor<f32> {amp.role = "scaler_state", amp.name = "loss_scale"},
    %growth: tensor<i32> {amp.role = "scaler_state", amp.name = "growth"},
    %hysteresis: tensor<i32> {amp.role = "scaler_state", amp.name = "hysteresis"})
    -> (tensor<8x4xf32> {amp.updates = "w"}, tensor<8x4xf32> {amp.updates = "m"},
        tensor<8x4xf32> {amp.updates = "v"}, tensor<8x4xf16> {amp.updates = "w.low"},
        tensor<f32> {amp.updates = "loss_scale"}, tensor<i32> {amp.updates = "growth"},
        tensor<i32> {amp.updates = "hysteresis"}) {
  %y = train.matmul %x, %low : (tensor<?x8xf16>, tensor<8x4xf16>) -> tensor<?x4xf16>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %mean = amp.divide_by_ranks %seed : tensor<f32>
  %scaled = amp.scale %mean by %scale : tensor<f32>
  %dy = train.mse_grad %y, %t, %scaled : (tensor<?x4xf16>, tensor<?x4xf16>, tensor<f32>) -> tensor<?x4xf16>
  %g = train.matmul %x, %dy {transpose_a} : (tensor<?x8xf16>, tensor<?x4xf16>) -> tensor<8x4xf32>
  %sum = amp.all_reduce sum %g {amp.gradient_of = ["w"]} : tensor<8x4xf32>
  %u, %finite = amp.unscale %sum by %scale : (tensor<8x4xf32>) -> (tensor<8x4xf32>)
  %ok = tensor.extract %finite[] : tensor<i1>
  %next:4 = scf.if %ok -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf16>) {
    %c, %norm = train.clip_by_global_norm %u {max_norm = 1.0 : f64} : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<f32>)
    %nw, %nm, %nv = train.adamw %w, %c, %lr, %m, %v, %one : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>)
    %copy = amp.master_copy %nw : tensor<8x4xf32> to tensor<8x4xf16>
    scf.yield %nw, %nm, %nv, %copy : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf16>
  } else {
    scf.yield %w, %m, %v, %low : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf16>
  }
  %ns, %ng, %nh = amp.update_scale %scale, %growth, %hysteresis, %finite
  return %next#0, %next#1, %next#2, %next#3, %ns, %ng, %nh : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf16>, tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

// Whole gradients that other operations read: an orthogonalised one (Muon), and a norm inside the
// guard of a value that is computed there.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: reduce_scatter
// CHECK: return
//
// REMARK: NotSharded{{.*}}Function=whole{{.*}}the parameter 'w' stays whole: 'train.matmul' does not work element by element
// REMARK: NotSharded{{.*}}Function=whole{{.*}}the parameter 'u' stays whole: 'train.clip_by_global_norm', which reads all elements, is in a conditional
// REMARK: NotSharded{{.*}}Function=whole{{.*}}the parameter 'z' stays whole: 'train.mul' reads a value that differs between the ranks
// REMARK: NotSharded{{.*}}Function=whole{{.*}}the parameter 'row' stays whole: 'train.mul' does not work element by element
// REMARK: NotSharded{{.*}}Function=whole{{.*}}the parameter 'scalar' stays whole: it has no static shape of at least one dimension
// REMARK-NOT: ShardedOptimizer{{.*}}Function=whole
func.func @whole(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %m: tensor<4x4xf32> {amp.role = "optimizer_state", amp.name = "m"},
    %u: tensor<6xf32> {amp.role = "parameter", amp.name = "u"},
    %v: tensor<6xf32> {amp.role = "optimizer_state", amp.name = "v"},
    %z: tensor<6xf32> {amp.role = "parameter", amp.name = "z"},
    %zm: tensor<6xf32> {amp.role = "optimizer_state", amp.name = "zm"},
    %row: tensor<2x6xf32> {amp.role = "parameter", amp.name = "row"},
    %rm: tensor<2x6xf32> {amp.role = "optimizer_state", amp.name = "rm"},
    %scalar: tensor<f32> {amp.role = "parameter", amp.name = "scalar"},
    %x: tensor<?x4x4xf32> {amp.role = "batch", amp.name = "x"},
    %y: tensor<?x6xf32> {amp.role = "batch", amp.name = "y"},
    %flag: tensor<i1> {amp.role = "hyperparameter", amp.name = "flag"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4x4xf32> {amp.updates = "m"},
        tensor<6xf32> {amp.updates = "u"}, tensor<6xf32> {amp.updates = "v"},
        tensor<6xf32> {amp.updates = "z"}, tensor<6xf32> {amp.updates = "zm"},
        tensor<2x6xf32> {amp.updates = "row"}, tensor<2x6xf32> {amp.updates = "rm"},
        tensor<f32> {amp.updates = "scalar"}) {
  %gw = train.reduce_sum %x {dims = array<i64: 0>} : (tensor<?x4x4xf32>) -> tensor<4x4xf32>
  %gu = train.reduce_sum %y {dims = array<i64: 0>} : (tensor<?x6xf32>) -> tensor<6xf32>
  %gs = train.reduce_sum %gu {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<f32>
  %gr = train.broadcast %gu {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<2x6xf32>
  %sum:5 = amp.all_reduce sum %gw, %gu, %gu, %gr, %gs {amp.gradient_of = ["w", "u", "z", "row", "scalar"]} : tensor<4x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<2x6xf32>, tensor<f32>
  %square = train.matmul %sum#0, %sum#0 {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %nw, %nm = train.sgd %w, %square, %lr, %m {momentum = 0.9 : f64} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %ok = tensor.extract %flag[] : tensor<i1>
  %next:2 = scf.if %ok -> (tensor<6xf32>, tensor<6xf32>) {
    %half = train.mul %sum#1, %lr : (tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    %c, %norm = train.clip_by_global_norm %half {max_norm = 1.0 : f64} : (tensor<6xf32>) -> (tensor<6xf32>, tensor<f32>)
    %nu, %nv = train.sgd %u, %c, %lr, %v {momentum = 0.9 : f64} : (tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
    scf.yield %nu, %nv : tensor<6xf32>, tensor<6xf32>
  } else {
    scf.yield %u, %v : tensor<6xf32>, tensor<6xf32>
  }
  %odd = train.mul %sum#2, %gu : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %local = amp.all_reduce max %odd : tensor<6xf32>
  %nz, %nzm = train.sgd %z, %local, %lr, %zm {momentum = 0.9 : f64} : (tensor<6xf32>, tensor<6xf32>, tensor<f32>, tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>)
  %scaled = train.mul %sum#3, %z : (tensor<2x6xf32>, tensor<6xf32>) -> tensor<2x6xf32>
  %nr, %nrm = train.sgd %row, %scaled, %lr, %rm {momentum = 0.9 : f64} : (tensor<2x6xf32>, tensor<2x6xf32>, tensor<f32>, tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
  %ns = train.sgd %scalar, %sum#4, %lr : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return %nw, %nm, %next#0, %next#1, %nz, %nzm, %nr, %nrm, %ns : tensor<4x4xf32>, tensor<4x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<2x6xf32>, tensor<2x6xf32>, tensor<f32>
}

// -----

// The norm of all gradients adds the squares of parts over the ranks, and those of whole gradients
// once. A largest magnitude that the ranks compare later is not compared twice.
// CHECK-LABEL: func.func @numbers(
// CHECK-SAME: %[[V:[a-z0-9]*]]: tensor<11xf32> {amp.name = "w.v", amp.part_of = tensor<8x4xf32>
// CHECK: %[[REST:.*]] = amp.all_reduce sum %{{.*}} {amp.gradient_of = ["b"]}
// CHECK: %[[G:.*]] = amp.reduce_scatter
// CHECK-NEXT: %[[OWN:.*]] = amp.square_sum %[[G]] : tensor<11xf32>
// CHECK-NEXT: %[[PARTS:.*]] = amp.all_reduce sum %[[OWN]] : tensor<f64>
// CHECK-NEXT: %[[WHOLE:.*]] = amp.square_sum %[[REST]] : tensor<4xf32>
// CHECK-NEXT: %[[ALL:.*]] = arith.addf %[[WHOLE]], %[[PARTS]] : tensor<f64>
// CHECK-NEXT: %[[SHORT:.*]] = arith.truncf %[[ALL]] : tensor<f64> to tensor<f32>
// CHECK-NEXT: %[[NORM:.*]] = math.sqrt %[[SHORT]] : tensor<f32>
// CHECK-NEXT: %[[TOP:.*]] = amp.max_magnitude %[[G]] : tensor<11xf32>
// CHECK-NEXT: %[[MOST:.*]] = amp.all_reduce max %[[TOP]] : tensor<f32>
// CHECK-NEXT: %[[FIRST:.*]] = amp.max_magnitude %[[G]], %{{.*}} : tensor<11xf32>, tensor<?x4xf32>
// CHECK-NEXT: %[[LARGEST:.*]] = amp.all_reduce max %[[FIRST]] : tensor<f32>
// CHECK: return %{{.*}}, %[[NORM]], %[[MOST]], %[[LARGEST]] :
//
// REMARK: ShardedOptimizer{{.*}}Function=numbers | BytesPerRank=88, BytesWhole=256, Parameters=1
func.func @numbers(
    %w: tensor<8x4xf32> {amp.role = "parameter", amp.name = "w"},
    %v: tensor<8x4xf32> {amp.role = "optimizer_state", amp.name = "w.v"},
    %b: tensor<4xf32> {amp.role = "parameter", amp.name = "b"},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %dy: tensor<?x4xf32> {amp.role = "batch", amp.name = "dy"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x4xf32> {amp.updates = "w"}, tensor<8x4xf32> {amp.updates = "w.v"}, tensor<4xf32> {amp.updates = "b"},
        tensor<f32> {amp.metric = "norm"}, tensor<f32> {amp.metric = "most"}, tensor<f32> {amp.metric = "largest"}) {
  %g = train.matmul %x, %dy {transpose_a} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<8x4xf32>
  %gb = train.reduce_sum %dy {dims = array<i64: 0>} : (tensor<?x4xf32>) -> tensor<4xf32>
  %sum:2 = amp.all_reduce sum %g, %gb {amp.gradient_of = ["w", "b"]} : tensor<8x4xf32>, tensor<4xf32>
  %norm = amp.global_norm %sum#0, %sum#1 : tensor<8x4xf32>, tensor<4xf32>
  %most = amp.max_magnitude %sum#0 : tensor<8x4xf32>
  %own = amp.max_magnitude %sum#0, %dy : tensor<8x4xf32>, tensor<?x4xf32>
  %largest = amp.all_reduce max %own : tensor<f32>
  %nw, %nv = train.sgd %w, %sum#0, %lr, %v {momentum = 0.9 : f64} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  %nb = train.sgd %b, %sum#1, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %nw, %nv, %nb, %norm, %most, %largest : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// Without sums over ranks there is nothing to divide.
// CHECK-LABEL: func.func @alone(
// CHECK-SAME: %{{.*}}: tensor<8xf32> {amp.name = "m", amp.role = "optimizer_state"}
//
// REMARK: StateStaysWhole{{.*}}Function=alone{{.*}}the state of the step stays whole: it has no sums over ranks (amp-data-parallel)
func.func @alone(%m: tensor<8xf32> {amp.role = "optimizer_state", amp.name = "m"}) -> (tensor<8xf32> {amp.updates = "m"}) {
  return %m : tensor<8xf32>
}
