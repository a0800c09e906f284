// A fill that is read in both types is there twice: the initial value of a
// product stays a fill of zeros in its own type. Stripping gives one again.
//
// RUN: amp-opt %s --auto-mixed-precision -o %t
// RUN: FileCheck %s < %t
// RUN: amp-opt %t --amp-strip-precision -o %t.stripped
// RUN: amp-opt %s -o %t.input
// RUN: diff %t.input %t.stripped

// CHECK-LABEL: func.func @relu
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.0
// CHECK-DAG: %[[F32:.*]] = linalg.fill {{.*}} ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<16x16xf32>)
// CHECK-DAG: %[[F16:.*]] = linalg.fill {{.*}} outs(%{{.*}} : tensor<16x16xf16>)
// CHECK: linalg.matmul {{.*}} outs(%[[F32]] : tensor<16x16xf32>)
// CHECK: linalg.max ins(%{{.*}}, %[[F16]] : tensor<16x16xf16>, tensor<16x16xf16>)
// CHECK: linalg.matmul {{.*}} outs(%[[F32]] : tensor<16x16xf32>)
// CHECK-NOT: arith.extf
// CHECK: return
func.func @relu(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %m = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = linalg.max ins(%m, %i : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %m2 = linalg.matmul ins(%r, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %m2 : tensor<16x16xf32>
}

// The fill stays f32 where an operation in f32 reads it too; low readers have
// another fill.
// CHECK-LABEL: func.func @low_copy
// CHECK: linalg.matmul {{.*}} -> tensor<16x16xf32>
// CHECK: return
func.func @low_copy(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %z = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %x = linalg.exp ins(%i : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %m = linalg.matmul ins(%a, %i : tensor<16x16xf32>, tensor<16x16xf32>) outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %m, %x : tensor<16x16xf32>, tensor<16x16xf32>
}

// Facts that an encoding states may not hold for other elements.
#csr = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>
// CHECK-LABEL: func.func @encoded
// CHECK: linalg.matmul ins(%{{.*}} : tensor<16x16xf32, #{{.*}}>, tensor<16x16xf32>)
func.func @encoded(%a: tensor<16x16xf32, #csr>, %b: tensor<16x16xf32>, %i: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = linalg.matmul ins(%a, %b : tensor<16x16xf32, #csr>, tensor<16x16xf32>) outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %m : tensor<16x16xf32>
}
