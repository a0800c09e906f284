// All products in a loop of the update stay f32, even if they do not read values of
// the update. Products that read its results also stay f32. A loop from which a
// gradient is computed is not part of the update.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --split-input-file > %t
// RUN: FileCheck %s < %t
// RUN: amp-opt %t --auto-mixed-precision=precision=bf16 --split-input-file | diff %t -
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --split-input-file --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: Function=solve{{.*}}Op=train.matmul, Reason="computed from the gradient of a parameter, for its update"

// CHECK-LABEL: func.func @solve
// CHECK: train.matmul {{.*}} {amp.gradient_of = ["w"]} : (tensor<4x4xbf16>, tensor<4x4xbf16>)
// CHECK: scf.for
// CHECK-COUNT-2: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: scf.yield
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
func.func @solve(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %g = train.matmul %x, %y {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %g) -> tensor<4x4xf32> {
    %1 = train.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = train.matmul %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  %3 = train.matmul %0, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @accumulate
// CHECK: scf.for
// CHECK: train.matmul {{.*}} : (tensor<4x4xbf16>, tensor<4x4xbf16>)
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>)
func.func @accumulate(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = train.constant dense<0.0> : tensor<4x4xf32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> tensor<4x4xf32> {
    %1 = train.matmul %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = train.add %a, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  } {amp.gradient_of = ["w"]}
  %3 = train.matmul %0, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
