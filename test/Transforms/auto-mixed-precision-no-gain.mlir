// A tie is low only where values are low for a product. Elsewhere low precision
// has to save bytes.
//
// RUN: amp-opt %s --auto-mixed-precision | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// 16 elements are read and written twice: 128 bytes in f32, and 64 with casts
// of 96 in f16. Twice more it is a tie.
// CHECK-LABEL: func.func @tie
// CHECK-NOT: f16>
// CHECK: return
// REMARK: [Missed] KeptF32 | Category:amp | Function=tie | {{.*}}Reason="low precision would gain nothing: no product is near, and casts cost as much as it saves"
func.func @tie(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.relu %a : tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  %2 = train.relu %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @gain
// CHECK: train.relu {{.*}} : tensor<4x4xf16>
func.func @gain(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.relu %a : tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  %2 = train.relu %1 : tensor<4x4xf32>
  %3 = train.relu %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// Behind a product the same chain costs nothing more in f16.
// CHECK-LABEL: func.func @product
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK: train.relu {{.*}} : tensor<4x4xf16>
func.func @product(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
