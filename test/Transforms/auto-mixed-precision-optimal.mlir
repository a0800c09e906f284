// The assignment of least cost: its costs and its constraints. An f32 tensor of
// 4x4 elements has 64 bytes, and a cast of it moves 96.
//
// RUN: amp-opt %s --auto-mixed-precision --split-input-file | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision=strategy=optimal --split-input-file | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --split-input-file | sed 's/bf16/f16/g' | FileCheck %s

// Operations between two products are low. The last product has an f32 result.
// CHECK-LABEL: func.func @between
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: train.matmul {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: return
func.func @between(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.tanh %0 : tensor<4x4xf32>
  %2 = train.matmul %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// An operation that would save less than the cost of the cast after it stays
// f32: gelu would save 64 bytes, and the casts to the denied operation and the
// result would move 96.
// CHECK-LABEL: func.func @single_is_f32
// CHECK: train.gelu {{.*}} : tensor<4x4xf32>
func.func @single_is_f32(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.log %a : tensor<4x4xf32>
  %1 = train.gelu %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// After a product two of them pay off: 32 bytes for the product's result and 64 each for
// tanh and gelu, against one cast of 96.
// CHECK-LABEL: func.func @longer_tail_is_low
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.gelu {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: %[[T:.*]] = train.tanh {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[T]] inserted
// CHECK-NEXT: return %[[W]]
func.func @longer_tail_is_low(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.gelu %0 : tensor<4x4xf32>
  %2 = train.tanh %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// The cast is placed where the value is small: before the broadcast to the low
// type, and after the reduction back to f32.
// CHECK-LABEL: func.func @cast_where_it_is_small
// CHECK-SAME: %[[A:[^:]*]]: tensor<64x64xf32>, %[[V:[^:]*]]: tensor<64xf32>
// CHECK-DAG: amp.cast %[[V]] inserted : tensor<64xf32> to tensor<64xf16>
// CHECK: train.broadcast {{.*}} : (tensor<64xf16>) -> tensor<64x64xf16>
// CHECK: train.matmul {{.*}} -> tensor<64x64xf16>
// CHECK-NEXT: train.reduce_mean {{.*}} : (tensor<64x64xf16>) -> tensor<64xf{{16|32}}>
func.func @cast_where_it_is_small(%a: tensor<64x64xf32>, %v: tensor<64xf32>) -> tensor<64xf32> {
  %0 = train.broadcast %v {dims = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x64xf32>
  %1 = train.matmul %0, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = train.reduce_mean %1 {dims = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  return %2 : tensor<64xf32>
}

// -----

// A cast counts once for all its readers: three f32 readers of one low value do
// not outweigh the savings of the chain.
// CHECK-LABEL: func.func @shared_cast
// CHECK: %[[R:.*]] = train.tanh {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[R]] inserted : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: train.log %[[W]]
// CHECK-NEXT: train.log1p %[[W]]
// CHECK-NEXT: train.erf %[[W]]
func.func @shared_cast(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.gelu %0 : tensor<4x4xf32>
  %2 = train.tanh %1 : tensor<4x4xf32>
  %3 = train.log %2 : tensor<4x4xf32>
  %4 = train.log1p %2 : tensor<4x4xf32>
  %5 = train.erf %2 : tensor<4x4xf32>
  return %3, %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// At equal cost the slot is low: relu saves 64 bytes, the product's result 32,
// and the cast costs 96.
// CHECK-LABEL: func.func @tie_is_low
// CHECK: train.relu {{.*}} : tensor<4x4xf16>
func.func @tie_is_low(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Values computed from a range slot stay f32, up to a product.
// CHECK-LABEL: func.func @taint
// CHECK: train.exp {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: train.relu {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: amp.cast
// CHECK-NEXT: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: train.gelu {{.*}} : tensor<4x4xf16>
func.func @taint(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.exp %a : tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  %2 = train.tanh %1 : tensor<4x4xf32>
  %3 = train.matmul %2, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = train.tanh %3 : tensor<4x4xf32>
  %5 = train.gelu %4 : tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// A mean of tainted values is tainted, although it has its own slot.
// CHECK-LABEL: func.func @taint_through_reduction
// CHECK: train.reduce_mean {{.*}} : (tensor<64x64xf32>) -> tensor<64xf32>
// CHECK: train.mul {{.*}} : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
func.func @taint_through_reduction(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = train.matmul %a, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = train.exp %a : tensor<64x64xf32>
  %2 = train.reduce_mean %1 {dims = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %3 = train.mul %0, %2 : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %4 = train.matmul %3, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// -----

// The cast moves before pure data movement that feeds products. It does not
// move if the value has another reader.
// CHECK-LABEL: func.func @movement_is_released
// CHECK: %[[E:.*]] = train.exp {{.*}} : tensor<4x4xf32>
// CHECK: %[[L:.*]] = amp.cast %[[E]] inserted
// CHECK: train.neg %[[L]] : tensor<4x4xf16>
// CHECK: train.transpose {{.*}} : (tensor<4x4xf16>)
// CHECK: train.abs {{.*}} : tensor<4x4xf32>
func.func @movement_is_released(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.exp %a : tensor<4x4xf32>
  %1 = train.neg %0 : tensor<4x4xf32>
  %2 = train.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.abs %0 : tensor<4x4xf32>
  %4 = train.matmul %2, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = train.log %3 : tensor<4x4xf32>
  %7 = train.add %4, %5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %7, %6 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A written-out normalisation ends the taint, since its result is about 1 for
// any operand. Other readers of the variance stay f32.
// CHECK-LABEL: func.func @normalization
// CHECK: train.square {{.*}} : tensor<64x64xf32>
// CHECK: train.rsqrt {{.*}} : tensor<64x1xf32>
// CHECK: %[[N:.*]] = train.mul {{.*}} -> tensor<64x64xf16>
// CHECK: train.gelu {{.*}} : tensor<64x64xf16>
// CHECK: train.mul {{.*}} -> tensor<64x64xf32>
func.func @normalization(%a: tensor<64x64xf32>, %x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %p = train.matmul %a, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = train.reduce_mean %p {dims = array<i64: 1>, keep_dims} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %d = train.sub %p, %m : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %s = train.square %d : tensor<64x64xf32>
  %v = train.reduce_mean %s {dims = array<i64: 1>, keep_dims} : (tensor<64x64xf32>) -> tensor<64x1xf32>
  %eps = train.constant dense<1.0e-5> : tensor<f32>
  %e = train.add %v, %eps : (tensor<64x1xf32>, tensor<f32>) -> tensor<64x1xf32>
  %r = train.rsqrt %e : tensor<64x1xf32>
  %n = train.mul %d, %r : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %g = train.gelu %n : tensor<64x64xf32>
  %q = train.matmul %g, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %o = train.mul %p, %r : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x64xf32>
  %t = train.matmul %o, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %q, %t : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// The whole update of a parameter stays f32, and so does a learning rate.
// CHECK-LABEL: func.func @update
// CHECK: train.sqrt {{.*}} : tensor<f32>
// CHECK: train.div {{.*}} -> tensor<f32>
// CHECK: train.tanh {{.*}} : tensor<f32>
// CHECK: train.matmul {{.*}} : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
// CHECK: train.mul {{.*}} -> tensor<64x64xf32>
// CHECK: train.tanh {{.*}} : tensor<64x64xf32>
// CHECK: train.gelu {{.*}} : tensor<64x64xf32>
// CHECK: train.sigmoid {{.*}} : tensor<64x64xf32>
// CHECK: train.sub {{.*}} -> tensor<64x64xf32>
func.func @update(%w: tensor<64x64xf32> {amp.role = "parameter", amp.name = "w"},
                  %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
                  %x: tensor<64x64xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<64x64xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "rate"}) {
  %c = train.constant dense<100.0> : tensor<f32>
  %r0 = train.sqrt %lr : tensor<f32>
  %r1 = train.div %r0, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r2 = train.tanh %r1 : tensor<f32>
  %g = train.matmul %x, %w {amp.gradient_of = ["w"]} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = train.mul %g, %c : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %1 = train.tanh %0 : tensor<64x64xf32>
  %2 = train.gelu %1 : tensor<64x64xf32>
  %3 = train.sigmoid %2 : tensor<64x64xf32>
  %4 = train.sub %w, %3 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4, %r2 : tensor<64x64xf32>, tensor<f32>
}

// -----

// A constant with an f32 reader stays exact. Rounding it for other readers is
// free.
// CHECK-LABEL: func.func @constants
// CHECK: %[[C:.*]] = train.constant dense<1.{{.*}}> : tensor<4x4xf32>
// CHECK: train.constant {{.*}}: tensor<4x4xf16>
// CHECK: train.log %[[C]]
// CHECK: %[[L:.*]] = amp.cast %[[C]] inserted
// CHECK: train.matmul %{{.*}}, %[[L]]
func.func @constants(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c = train.constant dense<0.1> : tensor<4x4xf32>
  %d = train.constant dense<0.3> : tensor<4x4xf32>
  %0 = train.log %c : tensor<4x4xf32>
  %1 = train.matmul %a, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.matmul %1, %d : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A long chain between f32 values pays off without a product.
// CHECK-LABEL: func.func @chain
// CHECK-COUNT-4: : tensor<4x4xf16>
// CHECK: return
func.func @chain(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.tanh %a : tensor<4x4xf32>
  %1 = train.gelu %0 : tensor<4x4xf32>
  %2 = train.relu %1 : tensor<4x4xf32>
  %3 = train.sigmoid %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Operations in a loop cost once per iteration. A low carried value costs two
// casts outside, an f32 one a cast in each of the ten iterations.
// CHECK-LABEL: func.func @ten_times
// CHECK: scf.for {{.*}} -> (tensor<4x4xf16>)
func.func @ten_times(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %b = train.log %a : tensor<4x4xf32>
  %r = scf.for %k = %c0 to %c10 step %c1 iter_args(%x = %b) -> tensor<4x4xf32> {
    %y = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %y : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

// One iteration is not enough to pay for them.
// CHECK-LABEL: func.func @once
// CHECK: scf.for {{.*}} -> (tensor<4x4xf32>)
func.func @once(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = train.log %a : tensor<4x4xf32>
  %r = scf.for %k = %c0 to %c1 step %c1 iter_args(%x = %b) -> tensor<4x4xf32> {
    %y = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %y : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

// scf.while counts as often as its counter says: once is not enough.
// CHECK-LABEL: func.func @while_once
// CHECK: scf.while {{.*}} : (index, tensor<4x4xf32>)
func.func @while_once(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = train.log %a : tensor<4x4xf32>
  %r:2 = scf.while (%k = %c0, %x = %b) : (index, tensor<4x4xf32>) -> (tensor<4x4xf32>, index) {
    %go = arith.cmpi slt, %k, %c1 : index
    scf.condition(%go) %x, %k : tensor<4x4xf32>, index
  } do {
  ^bb0(%x: tensor<4x4xf32>, %k: index):
    %y = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %next = arith.addi %k, %c1 : index
    scf.yield %next, %y : index, tensor<4x4xf32>
  }
  return %r#0 : tensor<4x4xf32>
}

// -----

// Ten times is.
// CHECK-LABEL: func.func @while_ten_times
// CHECK: scf.while {{.*}} : (index, tensor<4x4xf16>)
func.func @while_ten_times(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %b = train.log %a : tensor<4x4xf32>
  %r:2 = scf.while (%k = %c10, %x = %b) : (index, tensor<4x4xf32>) -> (tensor<4x4xf32>, index) {
    %go = arith.cmpi sgt, %k, %c0 : index
    scf.condition(%go) %x, %k : tensor<4x4xf32>, index
  } do {
  ^bb0(%x: tensor<4x4xf32>, %k: index):
    %y = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %next = arith.subi %k, %c1 : index
    scf.yield %next, %y : index, tensor<4x4xf32>
  }
  return %r#0 : tensor<4x4xf32>
}
