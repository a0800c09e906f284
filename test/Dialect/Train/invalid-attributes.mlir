// MLIR ignores attributes that an operation does not know. A misspelled one
// would have its default value, so the dialects reject it.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

// Attributes of dialects pass, also those of dialects that are not loaded.
func.func @foreign(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {test.note = 1 : i64} {
  %0 = train.softmax %x {axis = 1 : i64, llvm.note, test.note = 1 : i64, __analysis__} : tensor<4x8xf32>
  %1 = train.exp %0 {train.stop_gradient, train.recomputed = 1 : i64} : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

func.func @letter(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'train.softmax' op has no attribute 'axs', did you mean 'axis'; it has 'axis'}}
  %0 = "train.softmax"(%x) {axis = 1 : i64, axs = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @abbreviation(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'train.layer_norm' op has no attribute 'eps', did you mean 'epsilon'; it has 'epsilon'}}
  %y, %m, %r = train.layer_norm %x, %g, %g {eps = 1.0e-3 : f64} : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  return %y : tensor<4x8xf32>
}

// -----

func.func @case(%w: tensor<8xf32>, %g: tensor<8xf32>, %lr: tensor<f32>) -> tensor<8xf32> {
  // expected-error@+1 {{'train.sgd' op has no attribute 'weightDecay', did you mean 'weight_decay'; it has}}
  %0 = train.sgd %w, %g, %lr {weightDecay = 0.1 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @far(%w: tensor<8xf32>, %g: tensor<8xf32>, %lr: tensor<f32>) -> tensor<8xf32> {
  // expected-error@+1 {{'train.sgd' op has no attribute 'dampening'; it has}}
  %0 = train.sgd %w, %g, %lr {dampening = 0.1 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @none(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{'train.relu' op has no attribute 'slope'; the operation has no attributes}}
  %0 = train.relu %x {slope = 0.1 : f64} : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @gradients(%l: tensor<f32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{'train.gradients' op has no attribute 'names', did you mean 'name'; it has 'name'}}
  %0 = train.gradients %l wrt(%w) {names = "a"} : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @cast(%x: tensor<8xf32>) -> tensor<8xf16> {
  // expected-error@+1 {{'amp.cast' op has no attribute 'insertd', did you mean 'inserted'; it has 'inserted'}}
  %0 = amp.cast %x {insertd} : tensor<8xf32> to tensor<8xf16>
  return %0 : tensor<8xf16>
}

// -----

// expected-error@+1 {{'func.func' op attribute 'train.sstep' is not one of the 'train' dialect}}
func.func private @step() attributes {train.sstep}

// -----

// expected-error@+1 {{'func.func' op argument 0: attribute 'train.name' is not one of the 'train' dialect}}
func.func private @argument(tensor<f32> {train.name = "x"})

// -----

// expected-error@+1 {{'func.func' op result 0: attribute 'train.updates' is not one of the 'train' dialect}}
func.func private @result() -> (tensor<f32> {train.updates = "x"})

// -----

func.func @stop(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{attribute 'train.stop_gradients' is not one of the 'train' dialect, did you mean 'train.stop_gradient'}}
  %0 = train.relu %x {train.stop_gradients} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @value(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected 'train.stop_gradient' to have no value}}
  %0 = train.relu %x {train.stop_gradient = false} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @group(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{expected 'train.recomputed' to be the number of a group}}
  %0 = train.relu %x {train.recomputed} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{attribute 'amp.mixed_precison' is not one of the 'amp' dialect, did you mean 'amp.mixed_precision'}}
func.func private @mixed() attributes {amp.mixed_precison = f16}

// -----

// expected-error@+1 {{expected 'amp.fp8_recipe' to be a string, on a function}}
func.func private @recipe() attributes {amp.fp8_recipe = 1 : i64}

// -----

// expected-error@+1 {{attribute 'amp.version' is not one of the 'amp' dialect}}
module attributes {amp.version = 1 : i64} {}
