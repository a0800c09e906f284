// The policy key `promotions`: with `keep`, the strategy `optimal` leaves
// operations of the forward pass in f32 that autocast promotes. Operations that
// the policy denies do not promote others. Gradients are free, except those of
// operations with a pin.
//
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16" | FileCheck %s --check-prefix=COST
// RUN: amp-opt %s --auto-mixed-precision="policy=%amp_src_root/tools/amp-torch/amp_torch/policies/compiled.yaml precision=bf16" | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision="policy=%amp_src_root/tools/amp-torch/amp_torch/policies/compiled.yaml precision=bf16" --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY
// RUN: amp-opt --amp-print-policy=%amp_src_root/tools/amp-torch/amp_torch/policies/compiled.yaml | FileCheck %s --check-prefix=PRINT
// PRINT: promotions: keep

// A residual sum with an f32 operand. Without the key, all of it is low.
// COST-LABEL: func.func @residual
// COST: train.add {{.*}} -> tensor<64x64xbf16>
// CHECK-LABEL: func.func @residual
// CHECK: train.add {{.*}} -> tensor<64x64xf32>
// CHECK: train.tanh {{.*}} : tensor<64x64xbf16>
// CHECK: train.mul {{.*}} {amp.backward_of = 0 : i64} : {{.*}} -> tensor<64x64xbf16>
// WHY: KeptF32 {{.*}} Op=train.add, Reason="an operand is f32"
// WHY-NOT: KeptF32 {{.*}} Op=train.mul, Reason="an operand is f32"
// WHY: KeptF32 {{.*}} Op=train.mul, Reason="has the type of its forward operation"
func.func @residual(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = train.add %x, %0 {amp.id = 0 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = train.matmul %1, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = train.tanh %2 : tensor<64x64xf32>
  %4 = train.matmul %3, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = train.mul %4, %4 {amp.backward_of = 0 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %6 = train.matmul %5, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %6 : tensor<64x64xf32>
}

// The policy denies the sine, and autocast has other lists. The product with its
// result is low.
// CHECK-LABEL: func.func @denied
// CHECK: train.sin {{.*}} : tensor<64x64xf32>
// CHECK: train.mul {{.*}} -> tensor<64x64xbf16>
func.func @denied(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = train.sin %0 : tensor<64x64xf32>
  %2 = train.mul %0, %1 : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = train.matmul %2, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// A pin marks a function that the framework runs in f32 as a whole. Its gradient
// is f32 too.
// COST-LABEL: func.func @pinned
// COST: train.mul {{.*}} {amp.backward_of = 0 : i64} : {{.*}} -> tensor<64x64xbf16>
// CHECK-LABEL: func.func @pinned
// CHECK: train.mul {{.*}} {amp.backward_of = 0 : i64} : {{.*}} -> tensor<64x64xf32>
func.func @pinned(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = train.tanh %0 {amp.id = 0 : i64, amp.precision = "f32"} : tensor<64x64xf32>
  %2 = train.matmul %1, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = train.mul %2, %2 {amp.backward_of = 0 : i64} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = train.matmul %3, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}
