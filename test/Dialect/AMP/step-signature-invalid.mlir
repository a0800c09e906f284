// Errors of a pass that needs the whole signature of a training step, for parts
// that the verifier does not require.
//
// RUN: amp-opt %s --train-to-inference -verify-diagnostics -split-input-file

// expected-error@+1 {{not a training step: argument 1 must be a ranked tensor, got 'f32'}}
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %lr: f32) {
  return
}

// -----

// expected-error@+1 {{not a training step: argument 1 has no 'amp.role' (add amp.role = "parameter", "optimizer_state", "model_state", "batch" or "hyperparameter")}}
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %x: tensor<4xf32> {amp.name = "x"}) {
  return
}

// -----

// expected-error@+1 {{not a training step: argument 1 has no 'amp.name' (add amp.name = "...")}}
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %x: tensor<4xf32> {amp.role = "batch"}) {
  return
}

// -----

// expected-error@+1 {{not a training step: result 0 must be a ranked tensor, got 'f32'}}
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (f32 {amp.metric = "loss"}) {
  %loss = arith.constant 0.0 : f32
  return %loss : f32
}

// -----

// expected-error@+1 {{not a training step: result 0 must have exactly one of 'amp.updates', 'amp.metric' and 'amp.prediction'}}
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error@+1 {{not a training step: result 0 must have exactly one of 'amp.updates', 'amp.metric' and 'amp.prediction'}}
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w", amp.prediction = "w"}) {
  return %w : tensor<4xf32>
}
