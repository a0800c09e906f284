// A dialect whose types are not registered, and a module that is already mixed.
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --auto-mixed-precision 2>&1 | FileCheck %s
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --auto-mixed-precision=policy=pytorch 2>&1 | FileCheck %s

// CHECK: warning: auto-mixed-precision: nothing became low: the type of a value of 'torch.aten.mm' is not registered, expected tensors of f32
// CHECK-LABEL: func.func @unknown
func.func @unknown(%x: !torch.vtensor<[2,3],f32>, %w: !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[2,4],f32> {
  %0 = "torch.aten.mm"(%x, %w) : (!torch.vtensor<[2,3],f32>, !torch.vtensor<[3,4],f32>) -> !torch.vtensor<[2,4],f32>
  return %0 : !torch.vtensor<[2,4],f32>
}

// -----

// CHECK-NOT: nothing became low
// CHECK-LABEL: func.func @mixed
func.func @mixed(%x: tensor<4x4xf64>) -> tensor<4x4xf64> attributes {amp.mixed_precision = bf16} {
  %0 = arith.addf %x, %x : tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}
