// Products of a function that only the update calls stay f32, also if a loop of the
// update calls it.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 | FileCheck %s

// Only the update calls @root. Only the computation of the gradient calls
// @layer.
// CHECK-LABEL: func.func @calls
// CHECK-LABEL: func.func private @layer
// CHECK: train.matmul {{.*}} : (tensor<4x4xbf16>, tensor<4x4xbf16>)
// CHECK-LABEL: func.func private @root
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
func.func @calls(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = func.call @layer(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = train.matmul %0, %y {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = func.call @root(%g) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @layer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @root(%g: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %g, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK-LABEL: func.func private @hessian
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
func.func @loop(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = train.matmul %x, %y {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %g) -> tensor<4x4xf32> {
    %1 = func.call @hessian(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = train.matmul %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}
func.func private @hessian(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
