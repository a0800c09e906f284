// Angles of periodic functions stay f32: back through factors, movements and
// products without a sum. The operands of other products are low.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/step.mlir --allow-unregistered-dialect --split-input-file \
// RUN:   --auto-mixed-precision="precision=bf16 policy=%t/policy.yaml" | FileCheck %t/step.mlir
// RUN: amp-opt %t/step.mlir --allow-unregistered-dialect --split-input-file \
// RUN:   --auto-mixed-precision="precision=bf16 policy=%t/policy.yaml" \
// RUN:   --remarks-filter=amp 2>&1 | FileCheck %t/step.mlir --check-prefix=REMARK

//--- policy.yaml
version: 1
extends: default
linear: [toy.scale=product]
adapters:
  - dialect: toy
    cast: {op: convert}
    allow: [dot]
    infer: [scale]
    deny: [wave]
    operations:
      - {op: dot, slots: [{kind: compute, operands: [0, 1]}, {kind: storage, results: [0], implies: 0}]}
      - {op: wave, kind: storage, bounded: true, periodic: true}
//--- step.mlir
// A frequency times a position of the batch, and the product of both vectors.
// CHECK-LABEL: func.func @positions
// CHECK: train.mul {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: train.sin
// CHECK: train.matmul {{.*}} : (tensor<64x1xf32>, tensor<1x64xf32>)
// CHECK: train.cos
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// REMARK: an angle that a periodic function reads
func.func @positions(%p: tensor<64x64xf32>, %f: tensor<64x64xf32>, %q: tensor<64x1xf32>,
                     %g: tensor<1x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = train.mul %p, %f : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = train.sin %a : tensor<64x64xf32>
  %b = train.matmul %q, %g : (tensor<64x1xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
  %c = train.cos %b : tensor<64x64xf32>
  %r = train.matmul %s, %c : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Batches of products without a sum. The product of a layer has low operands.
// CHECK-LABEL: func.func @batches
// CHECK: linalg.batch_matmul ins(%{{.*}}, %{{.*}} : tensor<2x32x1xf32>, tensor<2x1x32xf32>)
// CHECK: math.sin {{.*}} : tensor<2x32x32xf32>
// CHECK: linalg.batch_matmul ins(%{{.*}}, %{{.*}} : tensor<2x32x32xbf16>, tensor<2x32x32xbf16>)
// CHECK: math.cos {{.*}} : tensor<2x32x32xf32>
func.func @batches(%p: tensor<2x32x1xf32>, %f: tensor<2x1x32xf32>, %w: tensor<2x32x32xf32>,
                   %o: tensor<2x32x32xf32>) -> tensor<2x32x32xf32> {
  %a = linalg.batch_matmul ins(%p, %f : tensor<2x32x1xf32>, tensor<2x1x32xf32>) outs(%o : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %s = math.sin %a : tensor<2x32x32xf32>
  %b = linalg.batch_matmul ins(%s, %w : tensor<2x32x32xf32>, tensor<2x32x32xf32>) outs(%o : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  %c = math.cos %b : tensor<2x32x32xf32>
  return %c : tensor<2x32x32xf32>
}

// -----

// A stream of residuals is not an angle, although a sine reads it.
// CHECK-LABEL: func.func @stream
// CHECK: train.add {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// CHECK: train.sin {{.*}} : tensor<64x64xf32>
func.func @stream(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = train.matmul %a, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = train.add %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = train.sin %h : tensor<64x64xf32>
  %c = train.matmul %h, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}

// -----

// A dialect that only the policy knows.
// CHECK-LABEL: func.func @foreign
// CHECK: "toy.scale"({{.*}}) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK: "toy.dot"({{.*}}) : (tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @foreign(%p: tensor<64x64xf32>, %f: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %a = "toy.scale"(%p, %f) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = "toy.wave"(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = "toy.dot"(%s, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}
