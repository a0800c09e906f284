// RUN: amp-opt %s --split-input-file --verify-diagnostics --train-to-inference
// RUN: not amp-opt %models/digits-mlp.mlir --train-to-inference=entry=train 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not amp-opt %models/digits-mlp.mlir --train-to-inference=metrics 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not amp-opt %models/digits-mlp.mlir --train-to-inference=suffix= --mlir-print-op-on-diagnostic=false 2>&1 | FileCheck %s --check-prefix=SUFFIX

// ENTRY: the module has no function 'train' with a body to derive inference from
// OPTION: error: train-to-inference: unknown option 'metrics'
// SUFFIX: the forward function of 'step' would have this name; choose another 'suffix'

func.func @nothing_left(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  return %w : tensor<4xf32>
}
// The diagnostic names the forward function, at the step's location.
// expected-error @-4 {{the step has no result with 'amp.prediction', so its forward function would be empty}}

// -----

// expected-error @below {{the module has no training step: no function has arguments with 'amp.role'}}
module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{the module has 2 training steps, choose one with 'entry': 'a' 'b'}}
module {
  func.func @a(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.prediction = "y"}) {
    return %w : tensor<4xf32>
  }
  func.func @b(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.prediction = "y"}) {
    return %w : tensor<4xf32>
  }
}

// -----

// expected-error @below {{not a training step: argument 1 has no 'amp.role'}}
func.func @roles(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %x: tensor<4xf32>) -> (tensor<4xf32> {amp.prediction = "y"}) {
  return %w : tensor<4xf32>
}

// -----

func.func @prediction_is_gradient(%w: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.prediction = "y"}) {
  %loss = train.square %w : tensor<f32>
  // expected-error @below {{a prediction or metric of the forward function depends on gradients}}
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func private @block(%x: tensor<4xf32>, %rng: tensor<2xi64>) -> tensor<4xf32> {
  // expected-error @below {{cannot give a function that the step calls the form of inference; inline it first}}
  %0 = train.dropout %x, %rng {rate = 0.5 : f64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @step(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"}, %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng"})
    -> (tensor<4xf32> {amp.prediction = "y"}) {
  %0 = call @block(%x, %rng) : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{cannot replace the step, which is used elsewhere; set 'keep-step' to keep it}}
func.func @called(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<4xf32> {amp.prediction = "y"}) {
  return %x : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
