// Products that only an update needs stay in f32, like the rest of the update.
// Examples are a product of a gradient and a state, and a product of its result.
// Products of the forward and backward passes are low, even if they read a
// gradient.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --split-input-file > %t
// RUN: FileCheck %s < %t
// RUN: amp-opt %t --auto-mixed-precision=precision=bf16 --split-input-file | diff %t -
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --split-input-file --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: Function=update{{.*}}Op=train.matmul, Reason="computed from the gradient of a parameter, for its update"

// CHECK-LABEL: func.func @update
// CHECK: train.matmul {{.*}} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @update(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %m: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %g = train.matmul %x, %y {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = train.matmul %m, %g : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.add %0, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.matmul %1, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// The gradient of a bias that needs no sum is also a value of the backward pass.
// CHECK-LABEL: func.func @shared
// CHECK: train.matmul {{.*}} {transpose_a} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK: train.matmul {{.*}} {amp.gradient_of = ["w"]} : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
func.func @shared(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %z: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %x, %y {transpose_a} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = train.relu %0 {amp.gradient_of = ["b"]} : tensor<4x4xf32>
  %w = train.matmul %b, %z {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %b, %w : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A pin takes precedence.
// CHECK-LABEL: func.func @pinned
// CHECK: train.matmul {{.*}} {amp.precision = "low"} : (tensor<4x4xbf16>, tensor<4x4xbf16>)
func.func @pinned(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %g = train.matmul %x, %y {amp.gradient_of = ["w"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = train.matmul %g, %y {amp.precision = "low"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
