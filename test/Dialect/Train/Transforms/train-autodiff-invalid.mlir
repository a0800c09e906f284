// RUN: amp-opt %s --split-input-file --verify-diagnostics --train-autodiff

func.func @no_derivative(%x: tensor<4xf32>, %lr: tensor<f32>) -> tensor<4xf32> {
  // expected-error @below {{'train.sgd' op has no derivative, but is between the loss and a value to differentiate by}}
  %0 = train.sgd %x, %x, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %loss = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

func.func @other_dialect(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'math.exp' op has no derivative, but is between}}
  %loss = math.exp %x : tensor<f32>
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func private @f(tensor<f32>) -> tensor<f32>
func.func @call(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' op has no derivative, but is between}}
  %loss = call @f(%x) : (tensor<f32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

// The region uses %x without having it as an operand.
func.func @region(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'scf.execute_region' op has no derivative: differentiation does not enter regions; inline or unroll them first}}
  %loss = scf.execute_region -> tensor<f32> {
    %0 = train.square %x : tensor<f32>
    scf.yield %0 : tensor<f32>
  }
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

// The data ends the loop.
func.func @while(%x: tensor<f32>, %limit: f32) -> tensor<f32> {
  // expected-error @below {{'scf.while' op has no derivative: its trip count depends on data, expected scf.for with constant bounds}}
  %loss = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %e = tensor.extract %a[] : tensor<f32>
    %c = arith.cmpf olt, %e, %limit : f32
    scf.condition(%c) %a : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    %0 = train.add %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %0 : tensor<f32>
  }
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

// No rule for the operations of a branch.
func.func @branch(%x: tensor<f32>, %c: i1) -> tensor<f32> {
  %loss = scf.if %c -> tensor<f32> {
    // expected-error @below {{'math.cbrt' op has no derivative, but is between the loss and a value to differentiate by}}
    %0 = math.cbrt %x : tensor<f32>
    scf.yield %0 : tensor<f32>
  } else {
    scf.yield %x : tensor<f32>
  }
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %g : tensor<f32>
}

// -----

func.func @loop_carried(%x: tensor<f32>, %lb: index, %ub: index, %step: index) -> tensor<f32> {
  // expected-error @below {{'scf.for' op has no derivative: the loss depends on an argument of its region, and a value to differentiate by is outside of it}}
  %0 = scf.for %i = %lb to %ub step %step iter_args(%a = %x) -> tensor<f32> {
    %loss = train.square %a : tensor<f32>
    %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %g : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

func.func @two_dynamic_dimensions(%x: tensor<?x?x4xf32>, %w: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{'train.linear' op has no derivative by its weight for an input with more than one dynamic dimension, got 'tensor<?x?x4xf32>'}}
  %0 = train.linear %x, %w : (tensor<?x?x4xf32>, tensor<4x2xf32>) -> tensor<?x?x2xf32>
  %loss = train.reduce_sum %0 {dims = array<i64: 0, 1, 2>} : (tensor<?x?x2xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %g : tensor<4x2xf32>
}

// -----

func.func @branch(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  cf.cond_br %c, ^join(%x : tensor<4xf32>), ^other
^other:
  %y = train.exp %x : tensor<4xf32>
  cf.br ^join(%y : tensor<4xf32>)
^join(%z: tensor<4xf32>):
  %loss = train.reduce_sum %z {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  // expected-error @below {{'train.gradients' op cannot differentiate through branches: the loss depends on the argument of a block}}
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

func.func @trip_count(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for' op has no derivative: its trip count is not known, expected constant bounds and a positive constant step of type index}}
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %1 = train.square %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %loss = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

func.func @saved_dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error @below {{'scf.for' op has no derivative: an iteration needs a value of type 'tensor<?xf32>', expected a static shape; 'train-set-batch' gives the batch dimension its size before the differentiation}}
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<?xf32> {
    %1 = train.square %a : tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  %loss = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<?xf32>) -> tensor<?xf32>
  return %g : tensor<?xf32>
}

// -----

func.func @inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    // expected-error @below {{'math.exp' op has no derivative, but is between}}
    %1 = math.exp %a : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  %loss = train.reduce_sum %0 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %g = train.gradients %loss wrt(%x) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
