// The policy gives the recipe of 8-bit products and its settings.
//
// RUN: split-file %s %t
// RUN: cd %t
//
// A preset is the same as the precision of its recipe.
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=fp8-current fp8-keep-last=0' > current.mlir
// RUN: amp-opt step.mlir --amp-training-pipeline='precision=fp8 fp8-keep-last=0' | diff current.mlir -
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=fp8-rowwise fp8-keep-last=0' > rowwise.mlir
// RUN: amp-opt step.mlir --amp-training-pipeline='precision=fp8-rowwise fp8-keep-last=0' | diff rowwise.mlir -
//
// An option wins over the policy. With another recipe, the values of the
// policy's recipe do not count.
// RUN: amp-opt step.mlir --amp-training-pipeline=policy=user.yaml | FileCheck %s --check-prefix=USER
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=user.yaml fp8-history-length=3' | FileCheck %s --check-prefix=LENGTH
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=user.yaml fp8-recipe=current' | FileCheck %s --check-prefix=OTHER
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=user.yaml precision=fp8' | FileCheck %s --check-prefix=USER
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=user.yaml precision=fp8-current' | FileCheck %s --check-prefix=OTHER
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=user.yaml precision=fp16' | FileCheck %s --check-prefix=FP16
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=user.yaml fp8-recipe=none' | FileCheck %s --check-prefix=OFF
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=user.yaml precision=f32' | FileCheck %s --check-prefix=OFF
// RUN: amp-opt step.mlir --amp-training-pipeline=policy=off.yaml | FileCheck %s --check-prefix=OFF
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=off.yaml precision=fp8' -o /dev/null
// USER: %{{.*}}: tensor<16xf32> {amp.init = #amp.init<zeros>, amp.name = "fp8.w.input.history", amp.role = "quantizer_state"}
// USER: amp.update_quantizer {{.*}} for f8E4M3FN {margin = 1 : i32, most_recent}
// USER-NOT: f8E5M2
// LENGTH: tensor<3xf32> {amp.init = #amp.init<zeros>, amp.name = "fp8.w.input.history"
// LENGTH: margin = 1 : i32
// OTHER-NOT: quantizer_state
// OTHER-NOT: margin
// OTHER: f8E5M2
// FP16: quantizer_state
// FP16: xf16>
// OFF-NOT: f8E
//
// A file that extends a policy with another recipe starts from the defaults.
// RUN: amp-opt --amp-print-policy=user.yaml | FileCheck %s --check-prefix=PRINT
// RUN: amp-opt --amp-print-policy=user.yaml > printed.yaml
// RUN: amp-opt --amp-print-policy=printed.yaml | diff printed.yaml -
// RUN: amp-opt --amp-print-policy=extends.yaml | FileCheck %s --check-prefix=EXTENDS
// PRINT: fp8:
// PRINT-NEXT: recipe: delayed
// PRINT-NEXT: formats: e4m3
// PRINT-NEXT: history-length: 16
// PRINT-NEXT: algorithm: most_recent
// PRINT-NEXT: margin: 1
// PRINT-NEXT: keep-last: 0
// EXTENDS: fp8:
// EXTENDS-NEXT: recipe: current
// EXTENDS-NEXT: keep:
// EXTENDS-NEXT: - 'v*'
// EXTENDS-NOT: margin
//
// Layers by name keep 16 bits, from the policy and from the option.
// RUN: amp-opt step.mlir --amp-training-pipeline='policy=extends.yaml fp8-keep-last=0' --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=KEEP
// RUN: amp-opt step.mlir --amp-training-pipeline='precision=fp8 fp8-keep=v* fp8-keep-last=0' --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=KEEP
// KEEP: [Missed] Kept16Bits {{.*}}Reason="the option 'keep' names its layer"
// KEEP-COUNT-2: Reason="it belongs to no layer with 8-bit operands"
//
// The backward pass in 16 bits from the 8-bit copies of the forward pass.
// RUN: amp-opt step.mlir --amp-training-pipeline='precision=fp8 fp8-backward=dequantized fp8-keep-last=0' --remarks-filter=amp 2>remarks > dequantized.mlir
// RUN: FileCheck %s --check-prefix=DEQ < dequantized.mlir
// RUN: FileCheck %s --check-prefix=DEQWHY < remarks
// RUN: amp-opt dequantized.mlir --amp-quantize-products | diff dequantized.mlir -
// DEQ-NOT: f8E5M2
// DEQ: %[[QX:.*]] = amp.quantize %{{.*}} by %[[SX:[^ ]*]] saturate : (tensor<?x4x8xf32>
// DEQ: amp.scaled_matmul %[[QX]] by %[[SX]]
// DEQ: %[[QR:.*]] = amp.quantize %{{.*}} by %[[SR:[^ ]*]] saturate : (tensor<?x4x16xbf16>
// DEQ: amp.dequantize %[[QR]] by %[[SR]] : (tensor<?x4x16xf8E4M3FN>, tensor<f32>) -> tensor<?x4x16xbf16>
// DEQ: amp.dequantize %[[QX]] by %[[SX]] : (tensor<?x4x8xf8E4M3FN>, tensor<f32>) -> tensor<?x4x8xf32>
// DEQWHY: Reason="it belongs to the backward pass, and reads the 8-bit copy of its layer in 16 bits"
//
// The formats of a recipe may change.
// RUN: amp-opt step.mlir --amp-training-pipeline='precision=fp8 fp8-formats=e4m3 fp8-keep-last=0' | FileCheck %s --check-prefix=E4M3
// RUN: amp-opt step.mlir --amp-training-pipeline='precision=fp8-rowwise fp8-formats=hybrid fp8-keep-last=0' | FileCheck %s --check-prefix=HYBRID
// E4M3-NOT: f8E5M2
// E4M3: f8E4M3FN
// HYBRID: amp.scale_from_amax %{{.*}} for f8E5M2 {power_of_two}
//
// Wrong values, in the policy and in options.
// RUN: not amp-opt step.mlir --amp-print-policy=policy=recipe.yaml 2>&1 | FileCheck %s --check-prefix=RECIPE
// RUN: not amp-opt step.mlir --amp-print-policy=policy=margin.yaml 2>&1 | FileCheck %s --check-prefix=MARGIN
// RUN: not amp-opt step.mlir --amp-print-policy=policy=formats.yaml 2>&1 | FileCheck %s --check-prefix=FORMATS
// RUN: not amp-opt step.mlir --amp-print-policy=policy=glob.yaml 2>&1 | FileCheck %s --check-prefix=GLOB
// RUN: not amp-opt step.mlir --amp-print-policy=policy=key.yaml 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not amp-opt step.mlir --amp-quantize-products=backward=low 2>&1 | FileCheck %s --check-prefix=BACKWARD
// RUN: not amp-opt step.mlir --amp-quantize-products=formats=e5m2 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not amp-opt step.mlir --amp-quantize-products=keep=[ 2>&1 | FileCheck %s --check-prefix=BRACKET
// RUN: not amp-opt step.mlir --amp-training-pipeline='precision=fp8 fp8-forward-only' 2>&1 | FileCheck %s --check-prefix=RENAMED
// RECIPE: recipe.yaml:2:6: error: policy: expected 'recipe' to be none, current, delayed, rowwise, block-128, mxfp8, got 'often'
// MARGIN: margin.yaml:2:32: error: policy: expected 'margin' to be from 0 to 64, got '65'
// FORMATS: formats.yaml:3:12: error: policy: expected 'formats' to be e4m3 or hybrid, got 'e5m2'
// GLOB: glob.yaml:2:14: error: policy: expected 'keep' to be globs of names of layers ({{.*}}), got '['
// KEY: key.yaml:2:7: error: {{.*}}unknown key 'history'
// BACKWARD: error: amp-quantize-products: expected 'backward' to be quantized, high or dequantized, got 'low'
// OPTION: error: amp-quantize-products: expected 'formats' to be e4m3 or hybrid, got 'e5m2'
// BRACKET: error: amp-quantize-products: expected 'keep' to be globs of names of layers ({{.*}}), got '['
// RENAMED: option 'fp8-forward-only' is now called 'fp8-backward=high'

//--- user.yaml
version: 1
extends: default
precision: bf16
fp8: {recipe: delayed, formats: e4m3, history-length: 16, algorithm: most_recent, margin: 1, keep-last: 0}
//--- off.yaml
version: 1
extends: user.yaml
fp8: none
//--- extends.yaml
version: 1
extends: user.yaml
fp8: {recipe: current, keep: ["v*"]}
//--- recipe.yaml
version: 1
fp8: often
//--- margin.yaml
version: 1
fp8: {recipe: current, margin: 65}
//--- formats.yaml
version: 1
fp8:
  formats: e5m2
//--- glob.yaml
version: 1
fp8: {keep: ["["]}
//--- key.yaml
version: 1
fp8: {history: 16}
//--- step.mlir
func.func @step(
    %x: tensor<?x4x8xf32> {amp.role = "batch", amp.name = "x"},
    %target: tensor<?x4x6xf32> {amp.role = "batch", amp.name = "target"},
    %w: tensor<8x16xf32> {amp.role = "parameter", amp.name = "w"},
    %v: tensor<6x16xf32> {amp.role = "parameter", amp.name = "v"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x16xf32> {amp.updates = "w"}, tensor<6x16xf32> {amp.updates = "v"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.linear %x, %w : (tensor<?x4x8xf32>, tensor<8x16xf32>) -> tensor<?x4x16xf32>
  %r = train.relu %h : tensor<?x4x16xf32>
  %y = train.linear %r, %v {transpose_weight} : (tensor<?x4x16xf32>, tensor<6x16xf32>) -> tensor<?x4x6xf32>
  %loss = train.mse %y, %target : (tensor<?x4x6xf32>, tensor<?x4x6xf32>) -> tensor<f32>
  %d:2 = train.gradients %loss wrt(%w, %v) : (tensor<f32>, tensor<8x16xf32>, tensor<6x16xf32>) -> (tensor<8x16xf32>, tensor<6x16xf32>)
  %w1 = train.sgd %w, %d#0, %lr : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %v1 = train.sgd %v, %d#1, %lr : (tensor<6x16xf32>, tensor<6x16xf32>, tensor<f32>) -> tensor<6x16xf32>
  return %w1, %v1, %loss : tensor<8x16xf32>, tensor<6x16xf32>, tensor<f32>
}
