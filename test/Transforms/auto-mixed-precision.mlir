// The rules of `strategy=grappler` for low slots, one function each.
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --split-input-file | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision="strategy=grappler precision=bf16" --split-input-file \
// RUN:   | sed 's/bf16/f16/g' | FileCheck %s

// Operands and result of an allowed operation become low.
// CHECK-LABEL: func.func @allow(
// CHECK-SAME: %[[A:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-SAME: amp.mixed_precision = f16
// CHECK-DAG: %[[LA:.*]] = amp.cast %[[A]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-DAG: %[[LB:.*]] = amp.cast %[[B]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: %[[P:.*]] = train.matmul %[[LA]], %[[LB]] : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[P]] inserted : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: return %[[W]] : tensor<4x4xf32>
func.func @allow(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A denied operation stays f32 between products.
// CHECK-LABEL: func.func @deny
// CHECK: %[[P:.*]] = train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[P]] inserted : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: %[[E:.*]] = train.exp %[[W]] : tensor<4x4xf32>
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[E]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: train.matmul %[[L]], {{.*}} -> tensor<4x4xf16>
func.func @deny(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.exp %0 : tensor<4x4xf32>
  %2 = train.matmul %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A denied producer taints infer operations, although a product reads them.
// CHECK-LABEL: func.func @poison_through_infer
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: amp.cast {{.*}} inserted : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: train.exp {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: %[[T:.*]] = train.tanh {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: amp.cast %[[T]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: train.matmul
func.func @poison_through_infer(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.exp %0 : tensor<4x4xf32>
  %2 = train.tanh %1 : tensor<4x4xf32>
  %3 = train.matmul %2, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// The taint passes through clear operations that lead to an infer one.
// CHECK-LABEL: func.func @poison_through_clear_to_infer
// CHECK: train.exp {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: train.relu {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: %[[T:.*]] = train.tanh {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: amp.cast %[[T]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
func.func @poison_through_clear_to_infer(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %1 = train.exp %a : tensor<4x4xf32>
  %2 = train.relu %1 : tensor<4x4xf32>
  %3 = train.tanh %2 : tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// A tail of clear operations is not tainted and follows the product.
// CHECK-LABEL: func.func @clear_tail_is_not_poisoned
// CHECK: %[[E:.*]] = train.exp {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: amp.cast %[[E]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: train.relu {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: train.neg {{.*}} : tensor<4x4xf16>
// CHECK: train.matmul
func.func @clear_tail_is_not_poisoned(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %1 = train.exp %a : tensor<4x4xf32>
  %2 = train.relu %1 : tensor<4x4xf32>
  %3 = train.neg %2 : tensor<4x4xf32>
  %4 = train.matmul %3, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// Products stop the taint: the operations after them are low again.
// CHECK-LABEL: func.func @products_stop_poison
// CHECK: train.exp {{.*}} : tensor<4x4xf32>
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xf16>
// CHECK: train.matmul
func.func @products_stop_poison(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.exp %a : tensor<4x4xf32>
  %1 = train.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.tanh %1 : tensor<4x4xf32>
  %3 = train.matmul %2, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Infer and clear operations between two products become low.
// CHECK-LABEL: func.func @between
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: train.reshape {{.*}} : (tensor<4x4xf16>) -> tensor<2x8xf16>
// CHECK-NEXT: train.reshape {{.*}} : (tensor<2x8xf16>) -> tensor<4x4xf16>
// CHECK-NEXT: train.softmax {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: train.matmul {{.*}} -> tensor<4x4xf16>
func.func @between(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.tanh %0 : tensor<4x4xf32>
  %2 = train.reshape %1 : (tensor<4x4xf32>) -> tensor<2x8xf32>
  %3 = train.reshape %2 : (tensor<2x8xf32>) -> tensor<4x4xf32>
  %4 = train.softmax %3 {axis = 1 : i64} : tensor<4x4xf32>
  %5 = train.matmul %4, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// An infer operation that only precedes products stays f32. One that follows
// them is low, as in TensorFlow.
// CHECK-LABEL: func.func @infer_before_and_after
// CHECK: train.tanh {{.*}} : tensor<4x4xf32>
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.softmax {{.*}} : tensor<4x4xf16>
// CHECK: train.log {{.*}} : tensor<4x4xf32>
func.func @infer_before_and_after(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.tanh %a : tensor<4x4xf32>
  %1 = train.matmul %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.softmax %1 {axis = 1 : i64} : tensor<4x4xf32>
  %3 = train.log %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Low precision spreads through clear operations in both directions, but not
// into infer ones.
// CHECK-LABEL: func.func @growth
// CHECK-SAME: %[[A:.*]]: tensor<4x4xf32>
// CHECK: train.tanh %[[A]] : tensor<4x4xf32>
// CHECK: train.neg {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: train.relu {{.*}} : tensor<4x4xf16>
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.abs {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: %[[M:.*]] = train.clip {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[M]] inserted : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: train.tanh %[[W]] : tensor<4x4xf32>
func.func @growth(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.tanh %a : tensor<4x4xf32>
  %1 = train.neg %0 : tensor<4x4xf32>
  %2 = train.relu %1 : tensor<4x4xf32>
  %3 = train.matmul %2, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = train.abs %3 : tensor<4x4xf32>
  %5 = train.clip %4 {min = 0.0 : f64, max = 6.0 : f64} : tensor<4x4xf32>
  %6 = train.tanh %5 : tensor<4x4xf32>
  return %6 : tensor<4x4xf32>
}

// -----

// A loss (infer here) reads low logits, and its result stays f32. A sum may
// leave the range, so it is denied together with its operand.
// CHECK-LABEL: func.func @loss_and_sum
// CHECK: %[[P:.*]] = train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK: train.cross_entropy %[[P]], {{.*}} : (tensor<4x4xf16>, tensor<4xi64>) -> tensor<f32>
// CHECK: train.reduce_sum %{{.*}} : (tensor<4x4xf32>) -> tensor<4xf32>
func.func @loss_and_sum(%a: tensor<4x4xf32>, %labels: tensor<4xi64>) -> (tensor<f32>, tensor<4xf32>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  %2 = train.matmul %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %loss = train.cross_entropy %0, %labels : (tensor<4x4xf32>, tensor<4xi64>) -> tensor<f32>
  %sum = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %loss, %sum : tensor<f32>, tensor<4xf32>
}

// -----

// One low operand suffices to make the operation low.
// CHECK-LABEL: func.func @one_low_operand
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x4xf32>, %[[T:[^:]*]]: tensor<4x4xf32>
// CHECK: %[[P:.*]] = train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[T]] inserted
// CHECK-NEXT: train.mse %[[P]], %[[L]] : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<f32>
func.func @one_low_operand(%a: tensor<4x4xf32>, %target: tensor<4x4xf32>) -> tensor<f32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %loss = train.mse %0, %target : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// The bias, which shares the slot of the result, is cast with it.
// CHECK-LABEL: func.func @bias
// CHECK-SAME: %[[W:[^:]*]]: tensor<4x4xf32>, %[[B:[^:]*]]: tensor<4xf32>
// CHECK: %[[LB:.*]] = amp.cast %[[B]] inserted : tensor<4xf32> to tensor<4xf16>
// CHECK: train.linear %{{.*}}, %{{.*}}, %[[LB]] : (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4xf16>) -> tensor<4x4xf16>
// CHECK: train.linear %{{.*}}, %{{.*}}, %[[LB]] : (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4xf16>) -> tensor<4x4xf16>
func.func @bias(%w: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = train.linear %w, %w, %b : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %1 = train.linear %0, %w, %b : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// One cast per value and type, which all users share.
// CHECK-LABEL: func.func @one_cast_per_value
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x4xf32>
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[A]] inserted
// CHECK-NOT: amp.cast %[[A]]
// CHECK: train.matmul %[[L]], %[[L]]
// CHECK-NOT: amp.cast %[[A]]
// CHECK: train.matmul %{{.*}}, %[[L]]
// CHECK-NOT: amp.cast %[[A]]
// CHECK: return
func.func @one_cast_per_value(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.matmul %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// One widening for the f32 readers of a low value.
// CHECK-LABEL: func.func @one_widening_per_value
// CHECK: %[[R:.*]] = train.relu {{.*}} : tensor<4x4xf16>
// CHECK: %[[W:.*]] = amp.cast %[[R]] inserted : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NOT: amp.cast %[[R]]
// CHECK: train.exp %[[W]]
// CHECK-NEXT: train.log %[[W]]
// CHECK-NEXT: return %[[W]],
func.func @one_widening_per_value(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  %2 = train.exp %1 : tensor<4x4xf32>
  %3 = train.log %1 : tensor<4x4xf32>
  return %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Casts of the user do not change.
// CHECK-LABEL: func.func @user_casts
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x4xf32>
// CHECK-NEXT: %[[N:.*]] = amp.cast %[[A]] : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[N]] : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[W]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: train.matmul %[[L]], %[[L]]
func.func @user_casts(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %n = amp.cast %a : tensor<4x4xf32> to tensor<4x4xf16>
  %w = amp.cast %n : tensor<4x4xf16> to tensor<4x4xf32>
  %0 = train.matmul %w, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Operations read only the extents of `like`. It is not cast because of a low
// operand.
// CHECK-LABEL: func.func @only_extents_are_read
// CHECK-SAME: %[[A:[^:]*]]: tensor<?x4xf32>, %[[X:[^:]*]]: tensor<?x4xf32>
// CHECK-NOT: amp.cast %[[X]]
// CHECK: train.broadcast %{{.*}} like %[[X]] {{.*}} : (tensor<4xf16>, tensor<?x4xf32>) -> tensor<?x4xf16>
func.func @only_extents_are_read(%a: tensor<?x4xf32>, %x: tensor<?x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
  %0 = train.broadcast %b like %x {dims = array<i64: 0>} : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = train.matmul %0, %w : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
