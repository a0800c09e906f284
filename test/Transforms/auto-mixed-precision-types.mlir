// Unchanged parts, shapes, foreign operations, and determinism.
//
// RUN: amp-opt %s --auto-mixed-precision --allow-unregistered-dialect > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %s --auto-mixed-precision --allow-unregistered-dialect | diff %t.once -
// RUN: amp-opt %s --auto-mixed-precision --auto-mixed-precision --allow-unregistered-dialect | diff %t.once -
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --allow-unregistered-dialect > %t.bf16
// RUN: amp-opt %t.once --auto-mixed-precision=precision=bf16 --allow-unregistered-dialect | diff %t.bf16 -
//
// RUN: amp-opt %s --allow-unregistered-dialect > %t.none
// RUN: amp-opt %s --auto-mixed-precision=precision=f32 --allow-unregistered-dialect | diff %t.none -
// RUN: amp-opt %s --auto-mixed-precision=precision=fp32 --allow-unregistered-dialect | diff %t.none -
//
// Every name of a type, and the form that a pipeline string takes.
// RUN: amp-opt %s --auto-mixed-precision=precision=f16 --allow-unregistered-dialect | diff %t.once -
// RUN: amp-opt %s --pass-pipeline='builtin.module(auto-mixed-precision{precision=half policy=default})' --allow-unregistered-dialect | diff %t.once -
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --allow-unregistered-dialect > %t.bf16
// RUN: amp-opt %s --auto-mixed-precision=precision=bfloat16 --allow-unregistered-dialect | diff %t.bf16 -
// RUN: FileCheck %s --check-prefix=BF16 < %t.bf16
//
// A policy that names operations without an interface.
// RUN: amp-opt %s --auto-mixed-precision=policy=%S/Inputs/foreign.yaml --allow-unregistered-dialect \
// RUN:   | FileCheck %s --check-prefix=FOREIGN

// CHECK-LABEL: func.func @f64
// CHECK: train.matmul {{.*}} : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
func.func @f64(%a: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %0 = train.matmul %a, %a : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// A value that already has a low type keeps it.
// CHECK-LABEL: func.func @low_already
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x4xbf16>
// CHECK-NEXT: %[[P:.*]] = train.matmul %[[A]], %[[A]] : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[L:.*]] = amp.cast %[[P]] inserted : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK-NEXT: train.matmul %[[L]], %[[L]]
func.func @low_already(%a: tensor<4x4xbf16>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %1 = train.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @integers
// CHECK: train.one_hot %{{.*}} : (tensor<4xi64>) -> tensor<4x4xf16>
// CHECK: train.matmul
// CHECK: train.compare gt, {{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xi1>
func.func @integers(%labels: tensor<4xi64>, %a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xi1>) {
  %0 = train.one_hot %labels : (tensor<4xi64>) -> tensor<4x4xf32>
  %1 = train.matmul %0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.compare gt, %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xi1>
}

// Scalars, vectors, memrefs and unranked tensors do not take part.
// CHECK-LABEL: func.func @other_shaped_types
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.mulf {{.*}} : vector<4xf32>
// CHECK: memref.load {{.*}} : memref<4xf32>
// CHECK: tensor.cast %{{.*}} : tensor<*xf32> to tensor<4x4xf32>
// CHECK: amp.cast
// CHECK: train.matmul
func.func @other_shaped_types(%s: f32, %v: vector<4xf32>, %m: memref<4xf32>, %i: index, %u: tensor<*xf32>) -> (f32, vector<4xf32>, f32, tensor<4x4xf32>) {
  %0 = arith.mulf %s, %s : f32
  %1 = arith.mulf %v, %v : vector<4xf32>
  %2 = memref.load %m[%i] : memref<4xf32>
  %3 = tensor.cast %u : tensor<*xf32> to tensor<4x4xf32>
  %4 = train.matmul %3, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %4 : f32, vector<4xf32>, f32, tensor<4x4xf32>
}

// Casts keep dynamic dimensions.
// CHECK-LABEL: func.func @dynamic_shapes
// CHECK: amp.cast %{{.*}} inserted : tensor<?x4xf32> to tensor<?x4xf16>
// CHECK: train.matmul {{.*}} : (tensor<?x4xf16>, tensor<4x8xf16>) -> tensor<?x8xf16>
// CHECK: train.relu {{.*}} : tensor<?x8xf16>
// CHECK: amp.cast %{{.*}} inserted : tensor<?x8xf16> to tensor<?x8xf32>
func.func @dynamic_shapes(%a: tensor<?x4xf32>, %w: tensor<4x8xf32>) -> tensor<?x8xf32> {
  %0 = train.matmul %a, %w : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %1 = train.relu %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// A value with an encoding keeps its type, and so do the other values of its
// slot.
// FOREIGN-LABEL: func.func @encoding
// FOREIGN: "other.matmul"({{.*}}) : (tensor<4x4xf32, "rows">, tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @encoding(%a: tensor<4x4xf32, "rows">, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "other.matmul"(%a, %b) : (tensor<4x4xf32, "rows">, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// The operation in the middle is in no list and keeps its types.
// CHECK-LABEL: func.func @unlisted
// CHECK: train.matmul {{.*}} -> tensor<4x4xf32>
// CHECK: "foreign.first"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: "foreign.op"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// FOREIGN-LABEL: func.func @unlisted
// FOREIGN: train.matmul {{.*}} -> tensor<4x4xf16>
// FOREIGN: "foreign.first"(%{{.*}}) : (tensor<4x4xf16>) -> tensor<4x4xf16>
// FOREIGN: "foreign.op"(%{{.*}}) : (tensor<4x4xf16>) -> tensor<4x4xf16>
func.func @unlisted(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "foreign.first"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "foreign.op"(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = train.matmul %2, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// The pass cannot change a listed operation that mentions f32 outside the types
// of ranked f32 tensors. It keeps its types.
// FOREIGN-LABEL: func.func @listed_but_opaque
// FOREIGN: "foreign.scalar"(%{{.*}}) : (tensor<4x4xf32>) -> f32
// FOREIGN: "foreign.wide"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf64>
// FOREIGN: "foreign.unranked"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<*xf32>
// FOREIGN: arith.constant dense<2.000000e+00> : tensor<4x4xf16>
// FOREIGN: linalg.generic {{.*}} ins({{.*}} : tensor<4x4xf16>
func.func @listed_but_opaque(%a: tensor<4x4xf32>) -> (f32, tensor<4x4xf64>, tensor<*xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  %2 = "foreign.scalar"(%1) : (tensor<4x4xf32>) -> f32
  %3 = "foreign.wide"(%1) : (tensor<4x4xf32>) -> tensor<4x4xf64>
  %4 = "foreign.unranked"(%1) : (tensor<4x4xf32>) -> tensor<*xf32>
  %c = arith.constant dense<2.0> : tensor<4x4xf32>
  %5 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%1, %c : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %7 = arith.mulf %x, %y : f32
    linalg.yield %7 : f32
  } -> tensor<4x4xf32>
  %6 = train.matmul %5, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2, %3, %4, %6 : f32, tensor<4x4xf64>, tensor<*xf32>, tensor<4x4xf32>
}

// Range is the reason to keep this constant in f32: f16 cannot hold it, but
// bf16 can.
// FOREIGN-LABEL: func.func @range_of_constants
// FOREIGN: train.constant dense<1.000000e+09> : tensor<f32>
// BF16-LABEL: func.func @range_of_constants
// BF16: train.constant {{.*}} : tensor<bf16>
// BF16: train.mul {{.*}} : (tensor<4x4xbf16>, tensor<bf16>)
func.func @range_of_constants(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = train.constant dense<1.0e9> : tensor<f32>
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.mul %0, %c : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Arguments and results of functions keep their types, even if they are passed
// through. So do calls.
// CHECK-LABEL: func.func @signature
// CHECK-SAME: (%[[A:.*]]: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: call @f64
// CHECK: call @dynamic_shapes({{.*}}) : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
// CHECK: return %[[A]], %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
func.func @signature(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %d = arith.constant dense<1.0> : tensor<4x4xf64>
  %0 = func.call @f64(%d) : (tensor<4x4xf64>) -> tensor<4x4xf64>
  %1 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.relu %1 : tensor<4x4xf32>
  %3 = tensor.cast %2 : tensor<4x4xf32> to tensor<?x4xf32>
  %w = arith.constant dense<1.0> : tensor<4x8xf32>
  %4 = func.call @dynamic_shapes(%3, %w) : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  return %a, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
