// RUN: amp-opt %s --auto-mixed-precision --amp-insert-master-weights=mode=copy --split-input-file --verify-diagnostics -o /dev/null
//
// RUN: echo 'module {}' > %t.mlir
// RUN: not amp-opt %t.mlir --amp-insert-master-weights=mode=keep 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: error: amp-insert-master-weights: unknown mode 'keep', expected cast, copy, none or inference

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
