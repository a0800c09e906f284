// Errors of passes that rewrite the body of a step.
//
// RUN: amp-opt %s --amp-insert-master-weights=mode=copy --allow-unregistered-dialect --verify-diagnostics --split-input-file -o /dev/null

// expected-error @+1 {{expected a step with a single block; control flow must be structured (scf)}}
func.func @blocks(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<4xf32> {amp.prediction = "y"}) {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected a step that ends with a return of its results, got 'other.end'}}
func.func @unknown_end(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<4xf32> {amp.prediction = "y"}) {
  "other.end"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()
}
