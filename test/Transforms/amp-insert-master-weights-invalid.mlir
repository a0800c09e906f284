// RUN: amp-opt %s --auto-mixed-precision --amp-insert-master-weights=mode=copy --split-input-file --verify-diagnostics -o /dev/null
//
// RUN: echo 'module {}' > %t.mlir
// RUN: not amp-opt %t.mlir --amp-insert-master-weights=mode=keep 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: error: amp-insert-master-weights: unknown mode 'keep', expected cast, copy, split, none or inference
// RUN: not amp-opt %t.mlir --amp-insert-master-weights='mode=none update-rounding=odd' 2>&1 | FileCheck %s --check-prefix=ROUNDING
// ROUNDING: error: amp-insert-master-weights: unknown update-rounding 'odd', expected nearest, stochastic or kahan
// RUN: not amp-opt %t.mlir --amp-insert-master-weights=moments=f16 2>&1 | FileCheck %s --check-prefix=MOMENTS
// MOMENTS: error: amp-insert-master-weights: unknown moments 'f16', expected f32 or bf16
// RUN: not amp-opt %t.mlir --amp-insert-master-weights='mode=copy update-rounding=kahan' 2>&1 | FileCheck %s --check-prefix=MASTER
// RUN: not amp-opt %t.mlir --amp-insert-master-weights=update-rounding=stochastic 2>&1 | FileCheck %s --check-prefix=MASTER
// MASTER: error: amp-insert-master-weights: update-rounding={{kahan|stochastic}} is for weights without a master, expected mode=none, got mode={{copy|cast}}
// RUN: not amp-opt %S/amp-insert-master-weights-rounding.mlir --auto-mixed-precision=precision=fp16 \
// RUN:   --amp-insert-master-weights='mode=none update-rounding=stochastic' 2>&1 | FileCheck %s --check-prefix=FP16
// FP16: error: stochastic rounding is to bf16, but parameter "w" is read in 'f16'

// expected-error@below {{cannot add the argument 'w.low': argument 1 has that 'amp.name'}}
func.func @name_clash(
    %w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x4xf32> {amp.role = "batch", amp.name = "w.low"}) -> (tensor<4x4xf32> {amp.prediction = "y"}) {
  %y = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// expected-error@below {{expected a step with a single block; control flow must be structured (scf)}}
func.func @several_blocks(%w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4x4xf32> {amp.prediction = "y"}) {
  %y = train.matmul %w, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  cf.br ^bb1
^bb1:
  return %y : tensor<4x4xf32>
}
