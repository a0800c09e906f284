// Saved activations are stored in the low type.
//
// RUN: amp-opt %s --amp-compress-activations --split-input-file --allow-unregistered-dialect > %t.once
// RUN: FileCheck %s < %t.once
//
// Running it again, and cleaning up, change nothing; stripping gives the input.
// RUN: amp-opt %t.once --amp-compress-activations --split-input-file --allow-unregistered-dialect | diff %t.once -
// RUN: amp-opt %t.once --amp-optimize-casts --split-input-file --allow-unregistered-dialect | diff %t.once -
// RUN: amp-opt %s --split-input-file --allow-unregistered-dialect > %t.input
// RUN: amp-opt %t.once --amp-strip-precision --split-input-file --allow-unregistered-dialect > %t.stripped
// RUN: amp-opt %t.input --amp-strip-precision --split-input-file --allow-unregistered-dialect | diff %t.stripped -
//
// RUN: amp-opt %s --amp-compress-activations --split-input-file --allow-unregistered-dialect --remarks-filter=amp 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark
//
// RUN: not amp-opt %s --amp-compress-activations=all --split-input-file 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: amp-compress-activations: unknown option 'all'

// The forward pass reads the exact value. The backward pass reads the rounded
// one, which is widened once, before its first reader.
// CHECK-LABEL: func.func @saved
// CHECK: %[[E:.*]] = train.exp
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[E]] inserted : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK-NEXT: %[[LOSS:.*]] = train.reduce_mean %[[E]]
// CHECK-NEXT: %[[SEED:.*]] = amp.gradient_seed
// CHECK-NEXT: %[[B:.*]] = train.broadcast %[[SEED]]
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[L]] inserted : tensor<4x8xbf16> to tensor<4x8xf32>
// CHECK-NEXT: %[[D:.*]] = train.mul %[[B]], %[[W]]
// CHECK-NEXT: %[[DD:.*]] = train.mul %[[D]], %[[W]]
// CHECK-NEXT: return %[[LOSS]], %[[DD]]
func.func @saved(%x: tensor<4x8xf32>) -> (tensor<f32>, tensor<4x8xf32>) attributes {amp.mixed_precision = bf16} {
  // REMARK: [[#@LINE+1]]:{{.*}} remark: [Passed] SavedLow | Category:amp | Function=saved | BytesAfter=64, BytesBefore=128, Op=train.exp
  %e = train.exp %x : tensor<4x8xf32>
  %loss = train.reduce_mean %e {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %b = train.broadcast %seed {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<4x8xf32>
  %d = train.mul %b, %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %dd = train.mul %d, %e : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %loss, %dd : tensor<f32>, tensor<4x8xf32>
}

// -----

// Readers within regions, and operations whose attributes alone determine the
// part of the step.
// CHECK-LABEL: func.func @regions
// CHECK: %[[E:.*]] = train.exp
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[E]] inserted
// CHECK-NEXT: %[[Q:.*]] = train.square
// CHECK-NEXT: %[[QL:.*]] = amp.cast %[[Q]] inserted
// CHECK-NEXT: %[[SEED:.*]] = amp.gradient_seed
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[L]] inserted
// CHECK-NEXT: scf.if
// CHECK-NEXT: train.mul %[[W]], %[[SEED]]
// CHECK: %[[QW:.*]] = amp.cast %[[QL]] inserted
// CHECK-NEXT: train.neg %[[QW]]
func.func @regions(%x: tensor<4x8xf32>, %c: i1) -> (tensor<4x8xf32>, tensor<4x8xf32>) attributes {amp.mixed_precision = bf16} {
  // REMARK: remark: [Passed] SavedLow {{.*}} Op=train.exp
  %e = train.exp %x : tensor<4x8xf32>
  // REMARK: remark: [Passed] SavedLow {{.*}} Op=train.square
  %q = train.square %x : tensor<4x8xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %r = scf.if %c -> tensor<4x8xf32> {
    %m = train.mul %e, %seed : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    scf.yield %m : tensor<4x8xf32>
  } else {
    scf.yield %x : tensor<4x8xf32>
  }
  %n = train.neg %q {amp.backward_of = 1 : i64} : tensor<4x8xf32>
  return %r, %n : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// In f16 only values that provably fit, with the cast of each dialect.
// CHECK-LABEL: func.func @range
// CHECK: train.sigmoid
// CHECK-NEXT: amp.cast {{.*}} to tensor<4x4xf16>
// CHECK-NEXT: train.exp
// CHECK-NEXT: amp.gradient_seed
func.func @range(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {amp.mixed_precision = f16} {
  // REMARK: remark: [Passed] SavedLow {{.*}} Op=train.sigmoid
  %s = train.sigmoid %x : tensor<4x4xf32>
  // REMARK: [[#@LINE+1]]:{{.*}} remark: [Missed] SavedInF32 {{.*}} Op=train.exp, Reason="nothing proves that it fits f16"
  %e = train.exp %x : tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %a = train.mul %s, %seed : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %b = train.mul %e, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %b : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @stay
// CHECK-NOT: amp.cast
// CHECK: return
func.func @stay(%x: tensor<4x8xf32>, %dynamic: tensor<?x8xf32>, %v: tensor<8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<?x8xf32>) attributes {amp.mixed_precision = bf16} {
  // REMARK: [[#@LINE+1]]:{{.*}} remark: [Missed] SavedInF32 {{.*}} Op=train.reduce_max, Reason="it is a statistic: the backward pass spreads it over a larger tensor"
  %m = train.reduce_max %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  // REMARK: [[#@LINE+1]]:{{.*}} remark: [Missed] SavedInF32 {{.*}} Op=train.broadcast, Reason="it is spread from smaller tensors, which are stored"
  %b = train.broadcast %m {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x8xf32>
  // REMARK: [[#@LINE+1]]:{{.*}} remark: [Missed] SavedInF32 {{.*}} Op=train.tanh, Reason="the step returns it, in f32"
  %t = train.tanh %x : tensor<4x8xf32>
  // REMARK: [[#@LINE+1]]:{{.*}} remark: [Missed] SavedInF32 {{.*}} Op=train.exp, Reason="amp.precision pins what gives or reads it"
  %p = train.exp %x {amp.precision = "f32"} : tensor<4x8xf32>
  // REMARK: [[#@LINE+1]]:{{.*}} remark: [Missed] SavedInF32 {{.*}} Op=train.tanh, Reason="it is a statistic: the backward pass spreads it over a larger tensor"
  %d = train.tanh %v : tensor<8xf32>
  // REMARK: [[#@LINE+1]]:{{.*}} remark: [Missed] SavedInF32 {{.*}} Op=foreign.op, Reason="no dialect around it has a cast"
  %f = "foreign.op"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %n = train.neg %seed : tensor<f32>
  %again = train.broadcast %m {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %1 = train.mul %again, %seed : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %2 = train.mul %b, %seed : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = train.mul %t, %seed : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %4 = train.mul %p, %seed : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %g = train.mul %dynamic, %seed : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %5 = train.mul %g, %d : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %6 = "foreign.op"(%f, %seed) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %t, %6, %5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<?x8xf32>
}

// -----

// A cast for the backward pass alone moves to the definition of its operand. A
// cast of an argument stays.
// CHECK-LABEL: func.func @moved
// CHECK: %[[E:.*]] = train.exp
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[E]] inserted : tensor<4x4xf32> to tensor<4x4xbf16>
// CHECK-NEXT: amp.gradient_seed
// CHECK-NEXT: amp.cast %{{.*}} inserted : tensor<f32> to tensor<bf16>
// CHECK-NEXT: amp.cast %{{.*}} inserted : tensor<4x4xf32> to tensor<4x4xbf16>
// CHECK-NEXT: train.mul %[[L]]
func.func @moved(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {amp.mixed_precision = bf16} {
  %e = train.exp %x : tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.cast %seed inserted : tensor<f32> to tensor<bf16>
  %a = amp.cast %x inserted : tensor<4x4xf32> to tensor<4x4xbf16>
  %el = amp.cast %e inserted : tensor<4x4xf32> to tensor<4x4xbf16>
  %0 = train.mul %el, %s : (tensor<4x4xbf16>, tensor<bf16>) -> tensor<4x4xbf16>
  %1 = train.mul %0, %a : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
  %w = amp.cast %1 inserted : tensor<4x4xbf16> to tensor<4x4xf32>
  return %w : tensor<4x4xf32>
}

// -----

// The batch may be dynamic. A value that only gives its shape is not stored.
// CHECK-LABEL: func.func @dynamic
// CHECK: train.exp
// CHECK-NEXT: amp.cast %{{.*}} inserted : tensor<?x8xf32> to tensor<?x8xbf16>
// CHECK-NEXT: amp.gradient_seed
// CHECK-NEXT: %[[T:.*]] = train.tanh
// CHECK-NEXT: train.broadcast %{{.*}} like %[[T]]
func.func @dynamic(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {amp.mixed_precision = bf16} {
  // REMARK: remark: [Passed] SavedLow | Category:amp | Function=dynamic | Op=train.exp{{$}}
  %e = train.exp %x : tensor<?x8xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %t = train.tanh %x : tensor<?x8xf32>
  %b = train.broadcast %seed like %t {dims = array<i64: 0, 1>} : (tensor<f32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = train.mul %e, %b : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// A value that the backward pass transposes is stored before the transpose.
// CHECK-LABEL: func.func @transposed
// CHECK: train.exp
// CHECK-NEXT: amp.cast
// CHECK-NEXT: amp.gradient_seed
// CHECK-NEXT: train.neg
// CHECK-NEXT: amp.cast
// CHECK-NEXT: train.transpose
func.func @transposed(%x: tensor<4x8xf32>) -> tensor<8x4xf32> attributes {amp.mixed_precision = bf16} {
  // REMARK: remark: [Passed] SavedLow {{.*}} Op=train.exp
  %e = train.exp %x : tensor<4x8xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %n = train.neg %seed : tensor<f32>
  %t = train.transpose %e {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %0 = train.mul %t, %n : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// The low type is unknown without a record of auto-mixed-precision.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: amp.cast
// REMARK: remark: [Missed] NotMixed {{.*}} Function=wide
func.func @wide(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = train.exp %x : tensor<4x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %a = train.mul %e, %seed : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}
