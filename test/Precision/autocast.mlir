// The rules of the strategy `autocast`. autocast-torch.py compares it with
// torch.autocast.
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=autocast > %t.once
// RUN: FileCheck %s < %t.once
//
// A second run changes nothing.
// RUN: amp-opt %t.once --auto-mixed-precision=strategy=autocast | diff %t.once -
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=autocast --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY

// Allow is low, deny f32, and everything else follows its operands; a cast is
// made once per value.
// CHECK-LABEL: func.func @follow
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x4xf32>, %[[W:[^:]*]]: tensor<4x4xf32>
// CHECK-NEXT: %[[LA:.*]] = amp.cast %[[A]] inserted
// CHECK-NEXT: %[[LW:.*]] = amp.cast %[[W]] inserted
// CHECK-NEXT: %[[P:.*]] = train.matmul %[[LA]], %[[LW]] : {{.*}} -> tensor<4x4xf16>
// CHECK-NEXT: %[[T:.*]] = train.tanh %[[P]] : tensor<4x4xf16>
// CHECK-NEXT: %[[WT:.*]] = amp.cast %[[T]] inserted
// CHECK-NEXT: %[[E:.*]] = train.exp %[[WT]] : tensor<4x4xf32>
// CHECK-NEXT: %[[N:.*]] = train.neg %[[E]] : tensor<4x4xf32>
// CHECK-NEXT: %[[LN:.*]] = amp.cast %[[N]] inserted
// CHECK-NEXT: train.matmul %[[LN]], %[[LW]]
// WHY-DAG: [[#@LINE+5]]:{{.*}} Low {{.*}} Op=train.matmul, Reason="allowed: low precision is fast here"
// WHY-DAG: [[#@LINE+5]]:{{.*}} Low {{.*}} Op=train.tanh, Reason="all of its operands are in low precision"
// WHY-DAG: [[#@LINE+5]]:{{.*}} KeptF32 {{.*}} Op=train.exp, Reason="the values may leave the range of the low type"
// WHY-DAG: [[#@LINE+5]]:{{.*}} KeptF32 {{.*}} Op=train.neg, Reason="an operand is f32"
func.func @follow(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.tanh %0 : tensor<4x4xf32>
  %2 = train.exp %1 : tensor<4x4xf32>
  %3 = train.neg %2 : tensor<4x4xf32>
  %4 = train.matmul %3, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// One f32 operand makes the operation f32.
// CHECK-LABEL: func.func @widest
// CHECK: train.add {{.*}} -> tensor<4x4xf32>
// CHECK: train.maximum {{.*}} -> tensor<4x4xf32>
// CHECK: train.sub {{.*}} -> tensor<4x4xf16>
func.func @widest(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.add %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.maximum %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.sub %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// A number has no fixed type. In a clear operation a scalar takes the type
// of the tensor. In an infer operation, which has the widest type, it does not.
// CHECK-LABEL: func.func @scalars
// CHECK: train.constant dense<{{.*}}> : tensor<f16>
// CHECK: train.mul {{.*}} : (tensor<4x4xf16>, tensor<f16>) -> tensor<4x4xf16>
// CHECK: train.maximum {{.*}} : (tensor<4x4xf16>, tensor<f16>) -> tensor<4x4xf16>
// CHECK: train.mul {{.*}} : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
// CHECK: train.neg {{.*}} : tensor<f32>
// CHECK: train.neg {{.*}} : tensor<f32>
// WHY-DAG: [[#@LINE+2]]:{{.*}} Low {{.*}} Op=train.constant, Reason="a constant that is read in low precision only"
func.func @scalars(%a: tensor<4x4xf32>, %s: tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) {
  %c = train.constant dense<0.5> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.mul %0, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = train.maximum %0, %s : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %3 = train.mul %0, %s : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %4 = train.neg %s : tensor<f32>
  // All operands are numbers: f32.
  %d = train.constant dense<2.0> : tensor<f32>
  %5 = train.neg %d : tensor<f32>
  return %1, %2, %3, %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>
}

// A slot that holds only results has the type of the slot that the operation
// reads. A sum may leave the range and has an f32 result.
// CHECK-LABEL: func.func @reductions
// CHECK: train.reduce_mean {{.*}} : (tensor<4x4xf16>) -> tensor<4xf16>
// CHECK: train.reduce_sum {{.*}} : (tensor<4x4xf16>) -> tensor<4xf32>
// CHECK: train.reduce_mean {{.*}} : (tensor<4x4xf32>) -> tensor<4xf32>
func.func @reductions(%a: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.reduce_mean %0 {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %2 = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %3 = train.reduce_mean %a {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A value that a loop carries is low if it is low on every incoming edge.
// CHECK-LABEL: func.func @loops
// CHECK: scf.for {{.*}} -> (tensor<4x4xf16>)
// CHECK: train.relu {{.*}} : tensor<4x4xf16>
// CHECK: scf.for {{.*}} -> (tensor<4x4xf32>)
// CHECK: train.relu {{.*}} : tensor<4x4xf32>
// CHECK: scf.for {{.*}} -> (tensor<4x4xf32>)
// CHECK: train.exp
func.func @loops(%a: tensor<4x4xf32>, %n: index) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %0) -> (tensor<4x4xf32>) {
    %4 = train.relu %x : tensor<4x4xf32>
    scf.yield %4 : tensor<4x4xf32>
  }
  %2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> (tensor<4x4xf32>) {
    %4 = train.relu %x : tensor<4x4xf32>
    %5 = train.matmul %4, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %5 : tensor<4x4xf32>
  }
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %0) -> (tensor<4x4xf32>) {
    %4 = train.exp %x : tensor<4x4xf32>
    scf.yield %4 : tensor<4x4xf32>
  }
  return %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Accumulation from zeros. The zeros are an f32 tensor, so the sum is f32.
// CHECK-LABEL: func.func @accumulate
// CHECK: scf.for {{.*}} -> (tensor<4x4xf32>)
// CHECK: train.add {{.*}} -> tensor<4x4xf32>
func.func @accumulate(%a: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeros = train.constant dense<0.0> : tensor<4x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zeros) -> (tensor<4x4xf32>) {
    %1 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = train.add %x, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// An existing backward pass. Each operation has the type of its forward
// operation, regardless of its operands.
// CHECK-LABEL: func.func @backward
// CHECK: train.exp {{.*}} : tensor<4x4xf32>
// CHECK: train.tanh_grad {{.*}} : tensor<4x4xf16>
// CHECK: train.mul {{.*}} -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}}transpose_b{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// WHY-DAG: Low {{.*}} Op=train.tanh_grad, Reason="has the type of its forward operation"
// WHY-DAG: KeptF32 {{.*}} Op=train.mul, Reason="has the type of its forward operation"
func.func @backward(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>, %g: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %w {amp.id = 0 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.tanh %0 {amp.id = 1 : i64} : tensor<4x4xf32>
  %2 = train.exp %1 {amp.id = 2 : i64} : tensor<4x4xf32>
  %3 = train.tanh_grad %1, %g {amp.backward_of = 1 : i64} : tensor<4x4xf32>
  %4 = train.mul %1, %1 {amp.backward_of = 2 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = train.matmul %3, %w {amp.backward_of = 0 : i64, transpose_b} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4, %5 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Pins take precedence.
// CHECK-LABEL: func.func @pins
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.neg {{.*}} : tensor<4x4xf16>
func.func @pins(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a {amp.precision = "f32"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.neg %0 {amp.precision = "low"} : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Before differentiation: train.gradients keeps its types and is not reported.
// CHECK-LABEL: func.func @step
// CHECK: train.linear {{.*}} -> tensor<4x4xf16>
// CHECK: train.mse
// CHECK: train.gradients %{{.*}} wrt({{.*}}) : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// WHY-NOT: Unlisted
func.func @step(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.linear %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.mse %0, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  %2 = train.gradients %1 wrt(%w) : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
