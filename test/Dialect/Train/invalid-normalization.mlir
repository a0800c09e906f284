// What softmax and norms reject.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 2), got 2}}
  %r = train.softmax %x {axis = 2 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 2), got -1}}
  %r = train.softmax %x {axis = -1 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'axis' must be in [0, 0), got 0}}
  %r = train.softmax %x {axis = 0 : i64} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.softmax %x {axis = 0 : i64} : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires attribute 'axis'}}
  %r = train.softmax %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 2), got 2}}
  %r = train.log_softmax %x {axis = 2 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 2), got -1}}
  %r = train.log_softmax %x {axis = -1 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'axis' must be in [0, 0), got 0}}
  %r = train.log_softmax %x {axis = 0 : i64} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.log_softmax %x {axis = 0 : i64} : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires attribute 'axis'}}
  %r = train.log_softmax %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 2), got 2}}
  %r = train.softmax_grad %x, %dy {axis = 2 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 2), got -1}}
  %r = train.softmax_grad %x, %dy {axis = -1 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %dy: tensor<f32>) {
  // expected-error@+1 {{'axis' must be in [0, 0), got 0}}
  %r = train.softmax_grad %x, %dy {axis = 0 : i64} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>, %dy: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.softmax_grad %x, %dy {axis = 0 : i64} : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %dy: tensor<4xf32>) {
  // expected-error@+1 {{operands must have one type, got 'tensor<?xf32>', 'tensor<4xf32>'}}
  %r = "train.softmax_grad"(%x, %dy) <{axis = 0 : i64}> : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 2), got 2}}
  %r = train.log_softmax_grad %x, %dy {axis = 2 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %dy: tensor<4x8xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 2), got -1}}
  %r = train.log_softmax_grad %x, %dy {axis = -1 : i64} : tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %dy: tensor<f32>) {
  // expected-error@+1 {{'axis' must be in [0, 0), got 0}}
  %r = train.log_softmax_grad %x, %dy {axis = 0 : i64} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>, %dy: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.log_softmax_grad %x, %dy {axis = 0 : i64} : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %dy: tensor<4xf32>) {
  // expected-error@+1 {{operands must have one type, got 'tensor<?xf32>', 'tensor<4xf32>'}}
  %r = "train.log_softmax_grad"(%x, %dy) <{axis = 0 : i64}> : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<7xf32>, %a2: tensor<7xf32>) {
  // expected-error@+1 {{'gamma' must have the trailing dimensions of the input, at least one and all static, got 'tensor<7xf32>' for 'tensor<?x8xf32>'}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf32>, tensor<7xf32>, tensor<7xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<?x8xf32>, %a2: tensor<?x8xf32>) {
  // expected-error@+1 {{'gamma' must have the trailing dimensions of the input, at least one and all static, got 'tensor<?x8xf32>' for 'tensor<8xf32>'}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<8xf32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<f32>, %a2: tensor<f32>) {
  // expected-error@+1 {{'gamma' must have the trailing dimensions of the input, at least one and all static, got 'tensor<f32>' for 'tensor<?x8xf32>'}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf32>, tensor<f32>, tensor<f32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<?x8xf32>, %a2: tensor<?x8xf32>) {
  // expected-error@+1 {{'gamma' must have the trailing dimensions of the input, at least one and all static, got 'tensor<?x8xf32>' for 'tensor<?x8xf32>'}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<8xf32>, %a2: tensor<7xf32>) {
  // expected-error@+1 {{'beta' must have type 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf32>, tensor<8xf32>, tensor<7xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf16>, %a1: tensor<8xf64>, %a2: tensor<8xf64>) {
  // expected-error@+1 {{parameters and statistics must be 'f32' for 'f16' inputs, got 'f64'}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf16>, tensor<8xf64>, tensor<8xf64>) -> (tensor<?x8xf16>, tensor<?xf64>, tensor<?xf64>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf64>, %a1: tensor<8xf32>, %a2: tensor<8xf32>) {
  // expected-error@+1 {{parameters and statistics must be 'f64' for 'f64' inputs, got 'f32'}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf64>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf64>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf16>, %a1: tensor<8xf16>, %a2: tensor<8xf16>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 32-bit float or 64-bit float values, but got 'tensor<8xf16>'}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf16>, tensor<8xf16>, tensor<8xf16>) -> (tensor<?x8xf16>, tensor<?xf16>, tensor<?xf16>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same element type}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf16>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf64>) {
  // expected-error@+1 {{failed to verify that all of {gamma, beta, mean, rstd} have same element type}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf64>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>) {
  // expected-error@+1 {{result 1 must have type 'tensor<?xf32>', got 'tensor<8xf32>'}}
  %r:3 = train.layer_norm %a0, %a1, %a2 : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>) {
  // expected-error@+1 {{'epsilon' must be finite and not negative, got -1.000000e+00}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {epsilon = -1.0 : f64} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>) {
  // expected-error@+1 {{'epsilon' must be finite and not negative, got INF}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {epsilon = 0x7FF0000000000000 : f64} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>) {
  // expected-error@+1 {{'epsilon' must be finite and not negative, got nan}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {epsilon = 0x7FF8000000000000 : f64} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>) {
  // expected-error@+1 {{custom op 'train.layer_norm' 'train.layer_norm' op attribute 'epsilon' failed to satisfy constraint: 64-bit float attribute}}
  %r:3 = train.layer_norm %a0, %a1, %a2 {epsilon = 1.0e-5 : f32} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x7xf32>, %a1: tensor<?x8xf32>, %a2: tensor<8xf32>, %a3: tensor<?xf32>, %a4: tensor<?xf32>) {
  // expected-error@+1 {{'grad' must have type 'tensor<?x8xf32>', got 'tensor<?x7xf32>'}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x7xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<?x8xf32>, %a2: tensor<7xf32>, %a3: tensor<?xf32>, %a4: tensor<?xf32>) {
  // expected-error@+1 {{'gamma' must have the trailing dimensions of the input, at least one and all static, got 'tensor<7xf32>' for 'tensor<?x8xf32>'}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<7xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<?x8xf32>, %a2: tensor<8xf32>, %a3: tensor<8xf32>, %a4: tensor<?xf32>) {
  // expected-error@+1 {{'mean' must have type 'tensor<?xf32>', got 'tensor<8xf32>'}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<?xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<?x8xf32>, %a2: tensor<8xf32>, %a3: tensor<?xf32>, %a4: tensor<f32>) {
  // expected-error@+1 {{'rstd' must have type 'tensor<?xf32>', got 'tensor<f32>'}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>, tensor<f32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf16>, %a1: tensor<?x8xf32>, %a2: tensor<8xf32>, %a3: tensor<?xf32>, %a4: tensor<?xf32>) {
  // expected-error@+1 {{failed to verify that all of {grad, input, input_grad} have same element type}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x8xf16>, tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<?x8xf32>, %a2: tensor<8xf32>, %a3: tensor<?xf32>, %a4: tensor<?xf64>) {
  // expected-error@+1 {{failed to verify that all of {gamma, mean, rstd, gamma_grad, beta_grad} have same element type}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>, tensor<?xf64>) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf32>, %a1: tensor<?x8xf32>, %a2: tensor<8xf32>, %a3: tensor<?xf32>, %a4: tensor<?xf32>) {
  // expected-error@+1 {{result 1 must have type 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xf32>, tensor<7xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x8xf64>, %a1: tensor<?x8xf64>, %a2: tensor<8xf32>, %a3: tensor<?xf32>, %a4: tensor<?xf32>) {
  // expected-error@+1 {{parameters and statistics must be 'f64' for 'f64' inputs, got 'f32'}}
  %r:3 = train.layer_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x8xf64>, tensor<?x8xf64>, tensor<8xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x8xf64>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<5xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'gamma' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<5xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'beta' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<5xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'running_mean' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<5xf32>) {
  // expected-error@+1 {{'running_var' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{expected an input of rank at least 2 with a static last dimension, got 'tensor<4xf32>'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<4x?xf32>, %a1: tensor<?xf32>, %a2: tensor<?xf32>, %a3: tensor<?xf32>, %a4: tensor<?xf32>) {
  // expected-error@+1 {{expected an input of rank at least 2 with a static last dimension, got 'tensor<4x?xf32>'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<4x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<4x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%a0: tensor<1x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{the variance of a batch needs more than one value per channel, got 'tensor<1x4xf32>'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<1x1x1x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{the variance of a batch needs more than one value per channel, got 'tensor<1x1x1x4xf32>'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<1x1x1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x1x1x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{result 2 must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf64>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{parameters and statistics must be 'f64' for 'f64' inputs, got 'f32'}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf16>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same element type}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf64>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {gamma, beta, running_mean, running_var, mean, rstd, new_running_mean, new_running_var} have same element type}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'momentum' must be in [0, 1], got 1.500000e+00}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 {momentum = 1.5 : f64} : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'momentum' must be in [0, 1], got -5.000000e-01}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 {momentum = -0.5 : f64} : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'momentum' must be in [0, 1], got nan}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 {momentum = 0x7FF8000000000000 : f64} : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'epsilon' must be finite and not negative, got -1.000000e+00}}
  %r:5 = train.batch_norm_training %a0, %a1, %a2, %a3, %a4 {epsilon = -1.0 : f64} : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<5xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'gamma' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = train.batch_norm_inference %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<5xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'beta' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = train.batch_norm_inference %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<5xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'mean' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = train.batch_norm_inference %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<5xf32>) {
  // expected-error@+1 {{'var' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = train.batch_norm_inference %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{expected an input of rank at least 2 with a static last dimension, got 'tensor<4xf32>'}}
  %r = train.batch_norm_inference %a0, %a1, %a2, %a3, %a4 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf64>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{parameters and statistics must be 'f64' for 'f64' inputs, got 'f32'}}
  %r = train.batch_norm_inference %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf64>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'epsilon' must be finite and not negative, got -1.000000e+00}}
  %r = train.batch_norm_inference %a0, %a1, %a2, %a3, %a4 {epsilon = -1.0 : f64} : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?x4xf32>', got 'tensor<?x5xf32>'}}
  %r = train.batch_norm_inference %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same element type}}
  %r = train.batch_norm_inference %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4xf16>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<?x4xf32>, %a2: tensor<5xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'gamma' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r:3 = train.batch_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<?x4xf32>, %a2: tensor<4xf32>, %a3: tensor<5xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'mean' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r:3 = train.batch_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<?x4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<5xf32>) {
  // expected-error@+1 {{'rstd' must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r:3 = train.batch_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x5xf32>, %a1: tensor<?x4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{'grad' must have type 'tensor<?x4xf32>', got 'tensor<?x5xf32>'}}
  %r:3 = train.batch_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x5xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{expected an input of rank at least 2 with a static last dimension, got 'tensor<4xf32>'}}
  %r:3 = train.batch_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<?x4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{result 1 must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r:3 = train.batch_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<5xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf64>, %a1: tensor<?x4xf64>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{parameters and statistics must be 'f64' for 'f64' inputs, got 'f32'}}
  %r:3 = train.batch_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf64>, tensor<?x4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf64>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xf16>, %a1: tensor<?x4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {grad, input, input_grad} have same element type}}
  %r:3 = train.batch_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xf16>, tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%a0: tensor<?x4xi32>, %a1: tensor<?x4xi32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<?x4xi32>'}}
  %r:3 = train.batch_norm_grad %a0, %a1, %a2, %a3, %a4 : (tensor<?x4xi32>, tensor<?x4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4xi32>, tensor<4xf32>, tensor<4xf32>)
  return
}
