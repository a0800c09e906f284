// RUN: amp-opt %s --amp-finish-llvm --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: llvm.func @step_cpu
// CHECK-SAME: %arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64
// CHECK: %[[C:.*]] = llvm.mlir.constant(16256 : i16) : i16
// CHECK: %[[V:.*]] = llvm.load %arg0 : !llvm.ptr -> i16
// CHECK-NOT: bitcast
// CHECK: llvm.add %[[V]], %[[C]] : i16
// CHECK: llvm.getelementptr %arg1[%arg2] : (!llvm.ptr, i64) -> !llvm.ptr, i16
// CHECK: llvm.store %[[V]], %{{.*}} : i16
llvm.func @step_cpu(%a: !llvm.ptr, %b: !llvm.ptr, %i: i64) {
  %0 = llvm.mlir.constant(1.0 : bf16) : bf16
  %1 = llvm.load %a : !llvm.ptr -> bf16
  %2 = llvm.bitcast %1 : bf16 to i16
  %3 = llvm.bitcast %0 : bf16 to i16
  %4 = llvm.add %2, %3 : i16
  %5 = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, bf16
  llvm.store %1, %5 : bf16, !llvm.ptr
  llvm.store %4, %a : i16, !llvm.ptr
  llvm.return
}

// -----

llvm.func @computes(%a: bf16) -> bf16 {
  // expected-error @+1 {{'llvm.fadd' op computes on bf16, expected the computation to be widened}}
  %0 = llvm.fadd %a, %a : bf16
  llvm.return %0 : bf16
}
