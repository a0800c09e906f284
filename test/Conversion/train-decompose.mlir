// RUN: amp-opt %s --train-decompose --canonicalize --split-input-file | FileCheck %s
// RUN: amp-opt %s --train-decompose --split-input-file > %t.once
// RUN: amp-opt %t.once --train-decompose --split-input-file | diff %t.once -

// A composite in a low type: operands widened by casts that a pass may remove,
// one rounding at the end.

// CHECK-LABEL: func.func @sigmoid
// CHECK: %[[X:.*]] = amp.cast %arg0 inserted : tensor<?x4xf16> to tensor<?x4xf32>
// CHECK-NOT: amp.cast
// CHECK: %[[Y:.*]] = train.div {{.*}} -> tensor<?x4xf32>
// CHECK-NEXT: %[[R:.*]] = amp.cast %[[Y]] inserted : tensor<?x4xf32> to tensor<?x4xf16>
// CHECK-NEXT: return %[[R]]
func.func @sigmoid(%x: tensor<?x4xf16>) -> tensor<?x4xf16> {
  %0 = train.sigmoid %x : tensor<?x4xf16>
  return %0 : tensor<?x4xf16>
}

// -----

// f64 computes in f64: no cast at all.

// CHECK-LABEL: func.func @gelu
// CHECK-NOT: amp.cast
// CHECK: train.erf {{.*}} : tensor<4xf64>
func.func @gelu(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = train.gelu %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

// The product accumulates in f32 from f16 operands; the sum rounds once.

// CHECK-LABEL: func.func @linear
// CHECK: %[[X:.*]] = train.reshape %arg0 : (tensor<?x3x8xf16>) -> tensor<?x8xf16>
// CHECK: %[[P:.*]] = train.matmul %[[X]], %arg1 {transpose_b} : (tensor<?x8xf16>, tensor<5x8xf16>) -> tensor<?x5xf32>
// CHECK: %[[B:.*]] = amp.cast %arg2 inserted : tensor<5xf16> to tensor<5xf32>
// CHECK: %[[S:.*]] = train.add %[[P]], %[[B]] : (tensor<?x5xf32>, tensor<5xf32>) -> tensor<?x5xf32>
// CHECK: %[[L:.*]] = amp.cast %[[S]] inserted : tensor<?x5xf32> to tensor<?x5xf16>
// CHECK: train.reshape %[[L]] : (tensor<?x5xf16>) -> tensor<?x3x5xf16>
func.func @linear(%x: tensor<?x3x8xf16>, %w: tensor<5x8xf16>, %b: tensor<5xf16>) -> tensor<?x3x5xf16> {
  %0 = train.linear %x, %w, %b {transpose_weight} : (tensor<?x3x8xf16>, tensor<5x8xf16>, tensor<5xf16>) -> tensor<?x3x5xf16>
  return %0 : tensor<?x3x5xf16>
}

// -----

// The unbiased variance with a dynamic batch: the count is summed up at run time.

// CHECK-LABEL: func.func @dynamic_count
// CHECK: %[[ONES:.*]] = train.broadcast {{.*}} like {{.*}} -> tensor<?x4xf32>
// CHECK: %[[SUM:.*]] = train.reduce_sum %[[ONES]] {dims = array<i64: 0>}
// CHECK: %[[COUNT:.*]] = amp.cast %[[SUM]] inserted : tensor<4xf32> to tensor<4xf64>
// CHECK: %[[LESS:.*]] = train.add %[[COUNT]]
// CHECK: train.div {{.*}}, %[[LESS]] : (tensor<4xf64>, tensor<4xf64>)
func.func @dynamic_count(%x: tensor<?x4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0:5 = train.batch_norm_training %x, %c, %c, %c, %c : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#4 : tensor<4xf32>
}

// -----

// With a static one n / (n - 1) is a constant. The sums over the batch are f64.

// CHECK-LABEL: func.func @static_count
// CHECK-NOT: train.broadcast
// CHECK-DAG: %[[RATIO:.*]] = train.constant dense<1.0434782608695652> : tensor<f64>
// CHECK: train.reduce_mean {{.*}} : (tensor<6x4x4xf64>) -> tensor<4xf64>
// CHECK: %[[VARIANCE:.*]] = train.reduce_mean {{.*}} : (tensor<6x4x4xf64>) -> tensor<4xf64>
// CHECK: train.mul %[[VARIANCE]], %[[RATIO]]
func.func @static_count(%x: tensor<6x4x4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  %0:5 = train.batch_norm_training %x, %c, %c, %c, %c : (tensor<6x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<6x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#4 : tensor<4xf32>
}

// -----

// Inside regions too.

// CHECK-LABEL: func.func @guarded
// CHECK: scf.if
// CHECK-NOT: train.sgd
// CHECK: train.sub
func.func @guarded(%c: i1, %w: tensor<4xf32>, %lr: tensor<f32>) -> tensor<4xf32> {
  %0 = scf.if %c -> tensor<4xf32> {
    %1 = train.sgd %w, %w, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
