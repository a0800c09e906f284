// The rules of the strategy `grappler`. grappler-tensorflow.py compares it with
// TensorFlow.
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler > %t.once
// RUN: FileCheck %s --check-prefixes=CHECK,PLAIN < %t.once
// RUN: amp-opt %s --auto-mixed-precision="strategy=grappler sink-rule=true" | FileCheck %s --check-prefixes=CHECK,SINK
//
// A second run changes nothing.
// RUN: amp-opt %t.once --auto-mixed-precision=strategy=grappler | diff %t.once -
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY
// RUN: amp-opt %s --auto-mixed-precision="strategy=grappler sink-rule=true" --remarks-filter=amp 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=WHY-SINK

// Without an allowed operation nothing changes.
// CHECK-LABEL: func.func @nothing_allowed
// CHECK-NOT: xf16
func.func @nothing_allowed(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.relu %a : tensor<4x4xf32>
  %1 = train.tanh %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Infer between allowed operations is low, and so is the result of a product
// even if it is read in f32: TensorFlow has one type for operands and result.
// CHECK-LABEL: func.func @between
// CHECK-COUNT-2: amp.cast %{{.*}} inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NOT: amp.cast
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: amp.cast {{.*}} : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NEXT: return
// WHY-DAG: [[#@LINE+4]]:{{.*}} Low {{.*}} Op=train.matmul, Reason="allowed: low precision is fast here"
// WHY-DAG: [[#@LINE+4]]:{{.*}} Low {{.*}} Op=train.tanh, Reason="between operations in low precision"
func.func @between(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // The second cast converts %b, which both products read.
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.tanh %0 : tensor<4x4xf32>
  %2 = train.matmul %1, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// A denied operation taints infer operations, and clear ones that lead to them.
// A product stops the taint.
// CHECK-LABEL: func.func @poison
// CHECK: train.exp {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: train.relu {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: amp.cast
// CHECK-NEXT: train.neg {{.*}} : tensor<4x4xf16>
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// WHY-DAG: [[#@LINE+4]]:{{.*}} KeptF32 {{.*}} Op=train.exp, Reason="the values may leave the range of the low type"
// WHY-DAG: [[#@LINE+4]]:{{.*}} KeptF32 {{.*}} From=train.exp, FromSlot=0, Kind=storage, Op=train.relu, Path="train.exp > train.relu", Reason="computed from a value that must stay f32"
// WHY-DAG: [[#@LINE+4]]:{{.*}} KeptF32 {{.*}} From=train.exp, FromSlot=0, Kind=storage, Op=train.tanh, Path="train.exp > train.relu > train.tanh", Reason="computed from a value that must stay f32"
func.func @poison(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.exp %a : tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  %2 = train.tanh %1 : tensor<4x4xf32>
  // A clear tail between a denied operation and a product is not tainted.
  %3 = train.neg %2 : tensor<4x4xf32>
  %4 = train.matmul %3, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// An infer operation after a product is low, and so is a chain of them, unless
// a denied operation feeds it as well.
// CHECK-LABEL: func.func @follow
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xf16>
// CHECK-NEXT: train.sigmoid {{.*}} : tensor<4x4xf16>
// CHECK: train.add {{.*}} -> tensor<4x4xf32>
// WHY-DAG: [[#@LINE+3]]:{{.*}} Low {{.*}} Op=train.tanh, Reason="reads a value that is in low precision"
func.func @follow(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.tanh %0 : tensor<4x4xf32>
  %2 = train.sigmoid %1 : tensor<4x4xf32>
  %3 = train.exp %a : tensor<4x4xf32>
  %4 = train.add %0, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2, %4 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Low precision spreads through clear operations in both directions, and from
// one operand to the other.
// CHECK-LABEL: func.func @grow
// CHECK: train.relu {{.*}} : tensor<4x4xf16>
// CHECK: train.neg {{.*}} : tensor<4x4xf16>
// CHECK: train.maximum {{.*}} -> tensor<4x4xf16>
// CHECK: train.matmul
// CHECK: train.abs {{.*}} : tensor<4x4xf16>
// WHY-DAG: [[#@LINE+3]]:{{.*}} Low {{.*}} Op=train.neg, Reason="moves values of a neighbour in low precision"
func.func @grow(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.relu %a : tensor<4x4xf32>
  %1 = train.neg %b : tensor<4x4xf32>
  %2 = train.maximum %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.matmul %2, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = train.abs %1 : tensor<4x4xf32>
  return %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>
}

// TensorFlow lists no constants. A constant stays f32, is cast, and does not
// make its other readers low.
// CHECK-LABEL: func.func @constants
// CHECK: %[[C:.*]] = train.constant dense<5.000000e-01> : tensor<f32>
// CHECK: %[[L:.*]] = amp.cast %[[C]] inserted
// CHECK: train.maximum %{{.*}}, %[[L]]
// CHECK: train.minimum %{{.*}}, %[[C]]
func.func @constants(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c = train.constant dense<0.5> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.maximum %0, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.minimum %a, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// The operand and the result of a reduction are one vertex, as the type
// attribute of Max is in TensorFlow. Low precision passes through it in both
// directions.
// CHECK-LABEL: func.func @reduction
// CHECK: train.neg {{.*}} : tensor<4x4xf16>
// CHECK: train.reduce_max {{.*}} : (tensor<4x4xf16>) -> tensor<4xf16>
// CHECK: train.maximum {{.*}} -> tensor<4x4xf16>
func.func @reduction(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.neg %b : tensor<4x4xf32>
  %1 = train.reduce_max %0 {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %2 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.maximum %2, %1 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// A value that a loop carries has one type on every edge.
// CHECK-LABEL: func.func @loop_low
// CHECK: scf.for {{.*}} -> (tensor<4x4xf16>)
// CHECK-NEXT: train.matmul
// CHECK-NEXT: scf.yield {{.*}} : tensor<4x4xf16>
func.func @loop_low(%a: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<4x4xf32>) {
    %1 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// The carried value reaches a denied operation through clear ones.
// CHECK-LABEL: func.func @loop_denied
// CHECK: scf.for {{.*}} -> (tensor<4x4xf32>)
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK: train.exp {{.*}} : tensor<4x4xf32>
// CHECK: train.sqrt {{.*}} : tensor<4x4xf32>
// CHECK: scf.yield {{.*}} : tensor<4x4xf32>
// CHECK: train.tanh {{.*}} : tensor<4x4xf32>
func.func @loop_denied(%a: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<4x4xf32>) {
    %1 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = train.exp %1 : tensor<4x4xf32>
    %3 = train.sqrt %2 : tensor<4x4xf32>
    scf.yield %3 : tensor<4x4xf32>
  }
  %4 = train.tanh %0 : tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// The sink rule: an infer operation between a product and the end of the graph
// is low. TensorFlow makes it low only if it directly reads a product, or
// another infer operation that this rule made low.
// CHECK-LABEL: func.func @sink
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: train.neg {{.*}} : tensor<4x4xf16>
// PLAIN: train.add {{.*}} -> tensor<4x4xf32>
// SINK-NEXT: train.add {{.*}} -> tensor<4x4xf16>
// SINK-NEXT: amp.cast
// CHECK: return
// WHY-SINK: Low {{.*}} Op=train.add, Reason="between an operation in low precision and the end of the graph"
func.func @sink(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.neg %0 : tensor<4x4xf32>
  %2 = train.add %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// A path to a denied or unlisted operation is not a path to the end of the
// graph.
// CHECK-LABEL: func.func @no_sink
// CHECK: train.add {{.*}} -> tensor<4x4xf32>
// CHECK: train.add {{.*}} -> tensor<4x4xf32>
func.func @no_sink(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.neg %0 : tensor<4x4xf32>
  %2 = train.add %1, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.exp %2 : tensor<4x4xf32>
  %4 = train.add %1, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = math.tan %4 : tensor<4x4xf32>
  return %3, %5 : tensor<4x4xf32>, tensor<4x4xf32>
}
