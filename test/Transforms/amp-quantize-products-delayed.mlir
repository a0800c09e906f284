// Scales of the recipe 'delayed' follow the magnitudes of earlier steps, which
// are state of the step.
//
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8-delayed fp8-keep-last=0 fp8-history-length=16' > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --amp-quantize-products=recipe=delayed | diff %t.once -
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8-delayed fp8-keep-last=0 fp8-algorithm=most_recent fp8-margin=2' | FileCheck %s --check-prefix=OPTIONS
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8 fp8-keep-last=0 fp8-accumulator-bits=22 fp8-promotion=128' | FileCheck %s --check-prefix=NARROW
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8 fp8-keep-last=0 fp8-margin=3' | FileCheck %s --check-prefix=CURRENT
//
// Under a loss scale, the magnitude of a gradient enters without it, and the
// scale of a gradient is divided by it. Other quantisers do not see it.
// RUN: amp-opt %s --amp-training-pipeline='precision=fp16 fp8-recipe=delayed fp8-keep-last=0' | FileCheck %s --check-prefix=SCALED
// RUN: amp-opt %s --amp-training-pipeline='precision=fp16 fp8-recipe=delayed fp8-keep-last=0 loss-scale=layerwise' | FileCheck %s --check-prefix=LAYERS
//
// A GPU must have such products.
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8-delayed target=h200' -o /dev/null
// RUN: amp-opt %s --amp-training-pipeline='precision=fp8-mxfp8 target=b200' -o /dev/null
// RUN: not amp-opt %s --amp-training-pipeline='precision=fp8 target=a100' 2>&1 | FileCheck %s --check-prefix=A100
// RUN: not amp-opt %s --amp-training-pipeline='precision=fp8-mxfp8 target=h100' 2>&1 | FileCheck %s --check-prefix=H100
// RUN: not amp-opt %s --amp-training-pipeline='precision=fp8-rowwise target=b200' 2>&1 | FileCheck %s --check-prefix=B200
// RUN: not amp-opt %s --amp-quantize-products=target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
//
// RUN: not amp-opt %s --amp-quantize-products=history-length=0 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: not amp-opt %s --amp-quantize-products=algorithm=min 2>&1 | FileCheck %s --check-prefix=ALGORITHM
// RUN: not amp-opt %s --amp-quantize-products=accumulator-bits=33 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not amp-opt %s --amp-quantize-products=promotion=-1 2>&1 | FileCheck %s --check-prefix=PROMOTION
// RUN: not amp-opt %s --amp-quantize-products=margin=65 2>&1 | FileCheck %s --check-prefix=MARGIN
//
// RUN: sed 's/amp.name = "x"/amp.name = "fp8.w.weight.scale"/' %s > %t.mlir
// RUN: not amp-opt %t.mlir --amp-training-pipeline='precision=fp8-delayed fp8-keep-last=0' 2>&1 | FileCheck %s --check-prefix=TAKEN

// A100: error: amp-quantize-products: the target 'a100' has no products of 8-bit floats, expected a GPU of compute capability 8.9 or later
// H100: error: amp-quantize-products: the recipe 'mxfp8' does not run on the target 'h100', expected current, delayed, rowwise, block-128
// B200: error: amp-quantize-products: the recipe 'rowwise' does not run on the target 'b200', expected current, delayed, mxfp8
// TARGET: error: amp-quantize-products: unknown target 'abacus', expected a100, h100, h200, b200
// LENGTH: error: amp-quantize-products: expected 'history-length' to be from 1 to 65536, got 0
// ALGORITHM: error: amp-quantize-products: expected 'algorithm' to be max or most_recent, got 'min'
// BITS: error: amp-quantize-products: expected 'accumulator-bits' to be from 10 to 32, got 33
// PROMOTION: error: amp-quantize-products: expected 'promotion' to be at least 0, got -1
// MARGIN: error: amp-quantize-products: expected 'margin' to be from 0 to 64, got 65
// TAKEN: error: cannot add the argument 'fp8.w.weight.scale': argument 0 has that 'amp.name'

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[SX:[^:]*]]: tensor<f32> {amp.init = #amp.init<ones>, amp.name = "fp8.w.input.scale", amp.role = "quantizer_state"}
// CHECK-SAME: %[[HX:[^:]*]]: tensor<16xf32> {amp.init = #amp.init<zeros>, amp.name = "fp8.w.input.history", amp.role = "quantizer_state"}
// CHECK-SAME: amp.name = "fp8.w.weight.scale"
// CHECK-SAME: amp.name = "fp8.v.input.scale"
// CHECK-SAME: amp.name = "fp8.v.weight.scale"
// CHECK-SAME: %[[SG:[^:]*]]: tensor<f32> {amp.init = #amp.init<ones>, amp.name = "fp8.v.gradient.scale"
// CHECK-SAME: amp.name = "fp8.w.gradient.scale"
// CHECK-SAME: -> ({{.*}}tensor<f32> {amp.updates = "fp8.w.input.scale"}, tensor<16xf32> {amp.updates = "fp8.w.input.history"}
// CHECK: %[[AX:.*]] = amp.amax %[[X:.*]] : tensor<?x8xf32> -> tensor<f32>
// CHECK: %[[QX:.*]] = amp.quantize %[[X]] by %[[SX]] saturate {keep_non_finite} : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf8E4M3FN>
// CHECK: amp.scaled_matmul %[[QX]] by %[[SX]],
// CHECK: amp.quantize %{{.*}} by %[[SG]] saturate {keep_non_finite} : {{.*}}f8E5M2>
// CHECK: amp.update_quantizer %[[SX]], %[[HX]], %[[AX]] for f8E4M3FN : tensor<16xf32>
// CHECK-COUNT-3: amp.update_quantizer {{.*}} for f8E4M3FN
// CHECK-COUNT-2: amp.update_quantizer {{.*}} for f8E5M2
// CHECK-NOT: amp.update_quantizer

// OPTIONS-COUNT-6: amp.update_quantizer {{.*}} {margin = 2 : i32, most_recent} : tensor<1024xf32>
// NARROW-COUNT-5: amp.scaled_matmul {{.*}}accumulator_bits = 22 : i32, {{.*}}promotion = 128 : i64
// CURRENT: amp.scale_from_amax {{.*}} {margin = 3 : i32}

// SCALED: %[[S:[^ ]*]]: tensor<f32> {{{[^}]*}}amp.name = "loss_scale"
// SCALED: %[[SG:[^ ]*]]: tensor<f32> {amp.init = #amp.init<ones>, amp.name = "fp8.v.gradient.scale"
// SCALED-NOT: arith.divf
// SCALED: %[[AG:.*]] = amp.amax %{{.*}} : tensor<?x6xf16> -> tensor<f32>
// SCALED: %[[USED:.*]] = arith.divf %[[SG]], %[[S]] : tensor<f32>
// SCALED: %[[MG:.*]] = arith.divf %[[AG]], %[[S]] : tensor<f32>
// SCALED: amp.quantize %{{.*}} by %[[USED]] saturate {keep_non_finite} : {{.*}}f8E5M2>
// SCALED: amp.update_quantizer %[[SG]], %{{.*}}, %[[MG]] for f8E5M2

// LAYERS: arith.divf %{{.*}}, %[[S:.*]] : tensor<f32>
// LAYERS: amp.update_quantizer
func.func @step(
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %target: tensor<?x6xf32> {amp.role = "batch", amp.name = "target"},
    %w: tensor<8x16xf32> {amp.role = "parameter", amp.name = "w"},
    %v: tensor<16x6xf32> {amp.role = "parameter", amp.name = "v"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x16xf32> {amp.updates = "w"}, tensor<16x6xf32> {amp.updates = "v"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.matmul %x, %w : (tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
  %r = train.relu %h : tensor<?x16xf32>
  %y = train.matmul %r, %v : (tensor<?x16xf32>, tensor<16x6xf32>) -> tensor<?x6xf32>
  %loss = train.mse %y, %target : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<f32>
  %d:2 = train.gradients %loss wrt(%w, %v) : (tensor<f32>, tensor<8x16xf32>, tensor<16x6xf32>) -> (tensor<8x16xf32>, tensor<16x6xf32>)
  %w1 = train.sgd %w, %d#0, %lr : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %v1 = train.sgd %v, %d#1, %lr : (tensor<16x6xf32>, tensor<16x6xf32>, tensor<f32>) -> tensor<16x6xf32>
  return %w1, %v1, %loss : tensor<8x16xf32>, tensor<16x6xf32>, tensor<f32>
}
