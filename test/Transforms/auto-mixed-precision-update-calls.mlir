// Products of a function that only the update calls stay f32, also if a loop of the
// update calls it. A function that both call is copied for the update.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: amp-opt %t --auto-mixed-precision=precision=bf16 | diff - %t
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16 strategy=grappler" | FileCheck %s --check-prefix=GRAPPLER

// REMARK: remark: [Analysis] Split {{.*}}Function=shared_update{{.*}}the update calls a copy
// GRAPPLER-NOT: _update

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

// The gradients and the update call @shared, and @deep through @inner.
// CHECK-LABEL: func.func @both
// CHECK: call @shared(
// CHECK: call @inner(
// CHECK: amp.gradient_of
// CHECK: call @shared_update(
// CHECK: scf.for
// CHECK: call @inner_update(
// CHECK-LABEL: func.func private @shared(
// CHECK: train.matmul {{.*}} : (tensor<4x4xbf16>, tensor<4x4xbf16>)
// CHECK-LABEL: func.func private @shared_update(
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK-LABEL: func.func private @inner(
// CHECK: call @deep(
// CHECK-LABEL: func.func private @inner_update(
// CHECK: call @deep_update(
// CHECK-LABEL: func.func private @deep(
// CHECK: train.matmul {{.*}} : (tensor<4x4xbf16>, tensor<4x4xbf16>)
// CHECK-LABEL: func.func private @deep_update(
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
func.func @both(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %n: index) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = func.call @shared(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = func.call @inner(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = train.matmul %1, %y {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = func.call @shared(%g) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %g) -> tensor<4x4xf32> {
    %4 = func.call @inner(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %4 : tensor<4x4xf32>
  }
  return %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @shared(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @inner(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = func.call @deep(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @deep(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
