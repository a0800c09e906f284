// A tie is low only if a product needs the low values. Elsewhere low precision
// must save bytes.
//
// RUN: amp-opt %s --auto-mixed-precision | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Two operations read and write 16 elements: 128 bytes in f32, and 64 plus
// casts of 96 in f16. Two more operations make it a tie.
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

// After a product, the same chain has no additional cost in f16.
// CHECK-LABEL: func.func @product
// CHECK: train.matmul {{.*}} -> tensor<4x4xf16>
// CHECK: train.relu {{.*}} : tensor<4x4xf16>
func.func @product(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.relu %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
