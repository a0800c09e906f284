// Whether an operation limits its values by a number near 1 depends on what it
// computes, not on its list. The first policy lists additions, products and
// quotients as clear. The second one lists minimum as infer.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/step.mlir --auto-mixed-precision="precision=bf16 policy=pytorch strategy=optimal" | FileCheck %t/step.mlir --check-prefixes=CHECK,LISTED
// RUN: amp-opt %t/step.mlir --auto-mixed-precision="precision=bf16 policy=%t/infer.yaml" | FileCheck %t/step.mlir

//--- infer.yaml
version: 1
extends: default
infer: [train.minimum]
//--- step.mlir
// CHECK-LABEL: func.func @factors
// LISTED: train.mul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// LISTED: train.div {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// LISTED: train.add {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// LISTED: train.sub {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @factors(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %near = train.constant dense<0.9999> : tensor<64x64xf32>
  %p = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = train.mul %p, %near : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = train.div %a, %near : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = train.add %b, %near : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = train.sub %c, %near : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = train.matmul %d, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %q : tensor<64x64xf32>
}

// CHECK-LABEL: func.func @limit
// CHECK: train.minimum {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: train.relu {{.*}} : tensor<64x64xf32>
func.func @limit(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %near = train.constant dense<0.9999> : tensor<64x64xf32>
  %p = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = train.minimum %p, %near : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = train.relu %a : tensor<64x64xf32>
  %q = train.matmul %b, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %q : tensor<64x64xf32>
}
