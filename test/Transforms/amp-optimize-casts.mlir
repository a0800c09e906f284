// Which casts the pass removes, and which it keeps.
//
// RUN: amp-opt %s --amp-optimize-casts --split-input-file > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --amp-optimize-casts --split-input-file | diff %t.once -

// Equal casts of one value become one.
// CHECK-LABEL: func.func @merge
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf32>
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[A]] inserted : tensor<4xf32> to tensor<4xf16>
// CHECK-NEXT: %[[B:.*]] = amp.cast %[[A]] inserted : tensor<4xf32> to tensor<4xbf16>
// CHECK-NEXT: return %[[L]], %[[L]], %[[B]]
func.func @merge(%a: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xbf16>) {
  %0 = amp.cast %a inserted : tensor<4xf32> to tensor<4xf16>
  %1 = amp.cast %a inserted : tensor<4xf32> to tensor<4xf16>
  %2 = amp.cast %a inserted : tensor<4xf32> to tensor<4xbf16>
  return %0, %1, %2 : tensor<4xf16>, tensor<4xf16>, tensor<4xbf16>
}

// -----

// A dominating cast replaces those in regions. Two casts that do not dominate
// each other move before the operation that contains both.
// CHECK-LABEL: func.func @dominance
// CHECK-SAME: %[[C:[^:]*]]: i1, %[[A:[^:]*]]: tensor<4xf32>, %[[B:[^:]*]]: tensor<4xf32>
// CHECK-NEXT: %[[LA:.*]] = amp.cast %[[A]] inserted
// CHECK-NEXT: %[[LB:.*]] = amp.cast %[[B]] inserted
// CHECK-NEXT: scf.if %[[C]]
// CHECK-NEXT: %[[S:.*]] = train.add %[[LA]], %[[LB]]
// CHECK-NEXT: scf.yield %[[S]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[LB]]
// CHECK-NOT: amp.cast
// CHECK: return
func.func @dominance(%c: i1, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf16> {
  %la = amp.cast %a inserted : tensor<4xf32> to tensor<4xf16>
  %r = scf.if %c -> tensor<4xf16> {
    %0 = amp.cast %a inserted : tensor<4xf32> to tensor<4xf16>
    %1 = amp.cast %b inserted : tensor<4xf32> to tensor<4xf16>
    %2 = train.add %0, %1 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
    scf.yield %2 : tensor<4xf16>
  } else {
    %1 = amp.cast %b inserted : tensor<4xf32> to tensor<4xf16>
    scf.yield %1 : tensor<4xf16>
  }
  %s = train.add %r, %la : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return %s : tensor<4xf16>
}

// -----

// Casts in blocks that precede the block of their value in the text.
// CHECK-LABEL: func.func @blocks
// CHECK: ^bb1:
// CHECK-NEXT: train.neg %[[L:.*]] : tensor<4xf16>
// CHECK: ^bb2:
// CHECK-NEXT: %[[V:.*]] = train.exp
// CHECK-NEXT: %[[L]] = amp.cast %[[V]] inserted
// CHECK-NEXT: cf.cond_br
// CHECK: ^bb3:
// CHECK-NEXT: train.abs %[[L]] : tensor<4xf16>
func.func @blocks(%c: i1, %a: tensor<4xf32>) -> tensor<4xf16> {
  cf.br ^bb2
^bb1:
  %0 = amp.cast %v inserted : tensor<4xf32> to tensor<4xf16>
  %1 = train.neg %0 : tensor<4xf16>
  return %1 : tensor<4xf16>
^bb2:
  %v = train.exp %a : tensor<4xf32>
  cf.cond_br %c, ^bb1, ^bb3
^bb3:
  %2 = amp.cast %v inserted : tensor<4xf32> to tensor<4xf16>
  %3 = train.abs %2 : tensor<4xf16>
  return %3 : tensor<4xf16>
}

// -----

// A widening followed by the narrowing back is exact, for inserted casts and
// casts of the user.
// CHECK-LABEL: func.func @widen_then_narrow
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf16>, %[[B:[^:]*]]: tensor<4xbf16>
// CHECK-NEXT: return %[[A]], %[[A]], %[[B]]
func.func @widen_then_narrow(%a: tensor<4xf16>, %b: tensor<4xbf16>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xbf16>) {
  %0 = amp.cast %a inserted : tensor<4xf16> to tensor<4xf32>
  %1 = amp.cast %0 inserted : tensor<4xf32> to tensor<4xf16>
  %2 = amp.cast %a : tensor<4xf16> to tensor<4xf64>
  %3 = amp.cast %2 : tensor<4xf64> to tensor<4xf16>
  %4 = amp.cast %b inserted : tensor<4xbf16> to tensor<4xf32>
  %5 = amp.cast %4 inserted : tensor<4xf32> to tensor<4xbf16>
  return %1, %3, %5 : tensor<4xf16>, tensor<4xf16>, tensor<4xbf16>
}

// -----

// A narrowing followed by a widening rounds and stays. So does a cast from one
// low type to the other, since neither type contains the other.
// CHECK-LABEL: func.func @narrow_then_widen
// CHECK-COUNT-6: amp.cast
// CHECK-NOT: amp.cast
// CHECK: return
func.func @narrow_then_widen(%a: tensor<4xf32>, %b: tensor<4xf16>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf16>) {
  %0 = amp.cast %a inserted : tensor<4xf32> to tensor<4xf16>
  %1 = amp.cast %0 inserted : tensor<4xf16> to tensor<4xf32>
  %2 = amp.cast %a : tensor<4xf32> to tensor<4xbf16>
  %3 = amp.cast %2 : tensor<4xbf16> to tensor<4xf32>
  %4 = amp.cast %b inserted : tensor<4xf16> to tensor<4xbf16>
  %5 = amp.cast %4 inserted : tensor<4xbf16> to tensor<4xf16>
  return %1, %3, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf16>
}

// -----

// A chain of inserted widenings becomes one. A chain of the user's widenings
// does not change.
// CHECK-LABEL: func.func @widenings
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[A]] inserted : tensor<4xf16> to tensor<4xf64>
// CHECK-NEXT: %[[U:.*]] = amp.cast %[[A]] : tensor<4xf16> to tensor<4xf32>
// CHECK-NEXT: %[[V:.*]] = amp.cast %[[U]] : tensor<4xf32> to tensor<4xf64>
// CHECK-NEXT: return %[[W]], %[[V]]
func.func @widenings(%a: tensor<4xf16>) -> (tensor<4xf64>, tensor<4xf64>) {
  %0 = amp.cast %a inserted : tensor<4xf16> to tensor<4xf32>
  %1 = amp.cast %0 inserted : tensor<4xf32> to tensor<4xf64>
  %2 = amp.cast %a : tensor<4xf16> to tensor<4xf32>
  %3 = amp.cast %2 : tensor<4xf32> to tensor<4xf64>
  return %1, %3 : tensor<4xf64>, tensor<4xf64>
}

// -----

// A product has the result type that its only reader needs, in both directions.
// CHECK-LABEL: func.func @into_product
// CHECK: train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK-NEXT: train.matmul {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
// CHECK-NEXT: return
func.func @into_product(%a: tensor<4x4xf16>) -> (tensor<4x4xf16>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  %1 = amp.cast %0 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  %2 = train.matmul %a, %a {transpose_a} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %3 = amp.cast %2 inserted : tensor<4x4xf16> to tensor<4x4xf32>
  return %1, %3 : tensor<4x4xf16>, tensor<4x4xf32>
}

// -----

// The pass does not change the result type of a product that has another
// reader, a cast of the user, a bias of the result's type, operands in f32 or
// in the other low type, a pin, or a result that is the gradient of a
// parameter.
// CHECK-LABEL: func.func @not_into_product
// CHECK-COUNT-7: amp.cast
// CHECK: return
func.func @not_into_product(%a: tensor<4x4xf16>, %b: tensor<4xf32>, %w: tensor<4x4xf32>, %h: tensor<4x4xbf16>)
    -> (tensor<4x4xf16>, tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>, tensor<4x4xf16>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  %1 = amp.cast %0 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  %2 = train.matmul %a, %a : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  %3 = amp.cast %2 : tensor<4x4xf32> to tensor<4x4xf16>
  %4 = train.linear %a, %a, %b : (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4xf32>) -> tensor<4x4xf32>
  %5 = amp.cast %4 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  %6 = train.matmul %w, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = amp.cast %6 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  %8 = train.matmul %h, %h : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %9 = amp.cast %8 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  %10 = train.matmul %a, %a {amp.precision = "low"} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %11 = amp.cast %10 inserted : tensor<4x4xf16> to tensor<4x4xf32>
  %12 = train.matmul %a, %a {amp.gradient_of = ["w"]} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  %13 = amp.cast %12 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  return %1, %0, %3, %5, %7, %9, %11, %13 : tensor<4x4xf16>, tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>, tensor<4x4xf16>
}

// -----

// The pass removes chains of unused casts.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%a: tensor<4xf32>) {
  %0 = amp.cast %a inserted : tensor<4xf32> to tensor<4xf16>
  %1 = amp.cast %0 inserted : tensor<4xf16> to tensor<4xbf16>
  %2 = amp.cast %1 inserted : tensor<4xbf16> to tensor<4xf32>
  return
}

// -----

// Casts of the user are merged with each other, not with inserted ones.
// CHECK-LABEL: func.func @user_casts
// CHECK-SAME: %[[A:[^:]*]]: tensor<4xf32>
// CHECK-NEXT: %[[U:.*]] = amp.cast %[[A]] : tensor<4xf32> to tensor<4xf16>
// CHECK-NEXT: %[[I:.*]] = amp.cast %[[A]] inserted : tensor<4xf32> to tensor<4xf16>
// CHECK-NEXT: return %[[U]], %[[U]], %[[I]]
func.func @user_casts(%a: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) {
  %0 = amp.cast %a : tensor<4xf32> to tensor<4xf16>
  %1 = amp.cast %a : tensor<4xf32> to tensor<4xf16>
  %2 = amp.cast %a inserted : tensor<4xf32> to tensor<4xf16>
  return %0, %1, %2 : tensor<4xf16>, tensor<4xf16>, tensor<4xf16>
}

// -----

// A conversion of integers takes the type of all its readers. A gradient keeps
// its name on the product that takes its type, and two equal ones keep both
// names.
// CHECK-LABEL: func.func @conversions
// CHECK: arith.sitofp %{{.*}} : tensor<4x4xi32> to tensor<4x4xf16>
// CHECK: %[[U:.*]] = arith.uitofp %{{.*}} : tensor<4x4xi32> to tensor<4x4xf32>
// CHECK-NEXT: amp.cast %[[U]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
func.func @conversions(%i: tensor<4x4xi32>) -> (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>) {
  %0 = arith.sitofp %i : tensor<4x4xi32> to tensor<4x4xf32>
  %1 = amp.cast %0 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  %2 = arith.uitofp %i : tensor<4x4xi32> to tensor<4x4xf32>
  %3 = amp.cast %2 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  return %1, %3, %2 : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @names_of_gradients
// CHECK: train.matmul {{.*}} {amp.gradient_of = ["w"], transpose_a} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
// CHECK: %[[S:.*]] = train.reduce_sum
// CHECK-NEXT: amp.cast %[[S]] inserted {amp.gradient_of = ["a"]}
// CHECK-NEXT: amp.cast %[[S]] inserted {amp.gradient_of = ["b"]}
func.func @names_of_gradients(%x: tensor<4x4xf16>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = train.matmul %x, %x {transpose_a} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %1 = amp.cast %0 inserted {amp.gradient_of = ["w"]} : tensor<4x4xf16> to tensor<4x4xf32>
  %2 = train.reduce_sum %x {dims = array<i64: 0>} : (tensor<4x4xf16>) -> tensor<4xf16>
  %3 = amp.cast %2 inserted {amp.gradient_of = ["a"]} : tensor<4xf16> to tensor<4xf32>
  %4 = amp.cast %2 inserted {amp.gradient_of = ["b"]} : tensor<4xf16> to tensor<4xf32>
  return %1, %3, %4 : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Where roundings are semantics, a product keeps the low result that is widened,
// and an integer is rounded as often as before. A narrowing folds, since it
// rounds the same sum once.
// CHECK-LABEL: func.func @keep_roundings
// CHECK: %[[P:.*]] = train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: amp.cast %[[P]] inserted {{.*}} to tensor<4x4xf32>
// CHECK: train.matmul {{.*}}transpose_a{{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: %[[I:.*]] = arith.sitofp %{{.*}} : tensor<4x4xi32> to tensor<4x4xf32>
// CHECK-NEXT: amp.cast %[[I]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
func.func @keep_roundings(%a: tensor<4x4xf16>, %i: tensor<4x4xi32>) -> (tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xf16>)
    attributes {amp.keep_roundings} {
  %0 = train.matmul %a, %a : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  %1 = amp.cast %0 inserted : tensor<4x4xf16> to tensor<4x4xf32>
  %2 = train.matmul %a, %a {transpose_a} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  %3 = amp.cast %2 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  %4 = arith.sitofp %i : tensor<4x4xi32> to tensor<4x4xf32>
  %5 = amp.cast %4 inserted : tensor<4x4xf32> to tensor<4x4xf16>
  return %1, %3, %5 : tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xf16>
}
