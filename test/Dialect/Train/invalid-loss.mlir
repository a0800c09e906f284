// What losses, gradients and optimizers reject.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

func.func @f(%a0: tensor<10xf32>, %a1: tensor<i64>) {
  // expected-error@+1 {{expected logits of rank at least 2 with a static number of classes, got 'tensor<10xf32>'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<10xf32>, tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4x?xf32>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{expected logits of rank at least 2 with a static number of classes, got 'tensor<4x?xf32>'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<4x?xf32>, tensor<4xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<f32>, %a1: tensor<i64>) {
  // expected-error@+1 {{expected logits of rank at least 2 with a static number of classes, got 'tensor<f32>'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<?x10xf32>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{'labels' must have type 'tensor<?xi64>', one label per row of logits, got 'tensor<4xi64>'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<?x10xf32>, tensor<4xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf32>, %a1: tensor<4x10xi64>) {
  // expected-error@+1 {{'labels' must have type 'tensor<4xi64>', one label per row of logits, got 'tensor<4x10xi64>'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<4x10xf32>, tensor<4x10xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf32>, %a1: tensor<4xf32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xf32>'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<4x10xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf16>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{result #0 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<f16>'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<4x10xf16>, tensor<4xi64>) -> tensor<f16>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf16>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{the loss and its gradient must be 'f32' for 'f16' inputs, got 'f64'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<4x10xf16>, tensor<4xi64>) -> tensor<f64>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf64>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{the loss and its gradient must be 'f64' for 'f64' inputs, got 'f32'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<4x10xf64>, tensor<4xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf32>, %a1: tensor<4xi64>) {
  // expected-error@+1 {{result #0 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<4xf32>'}}
  %r = train.cross_entropy %a0, %a1 : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<10xf32>, %a1: tensor<i64>, %a2: tensor<f32>) {
  // expected-error@+1 {{expected logits of rank at least 2 with a static number of classes, got 'tensor<10xf32>'}}
  %r = train.cross_entropy_grad %a0, %a1, %a2 : (tensor<10xf32>, tensor<i64>, tensor<f32>) -> tensor<10xf32>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf32>, %a1: tensor<5xi64>, %a2: tensor<f32>) {
  // expected-error@+1 {{'labels' must have type 'tensor<4xi64>', one label per row of logits, got 'tensor<5xi64>'}}
  %r = train.cross_entropy_grad %a0, %a1, %a2 : (tensor<4x10xf32>, tensor<5xi64>, tensor<f32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf16>, %a1: tensor<4xi64>, %a2: tensor<f64>) {
  // expected-error@+1 {{the loss and its gradient must be 'f32' for 'f16' inputs, got 'f64'}}
  %r = train.cross_entropy_grad %a0, %a1, %a2 : (tensor<4x10xf16>, tensor<4xi64>, tensor<f64>) -> tensor<4x10xf16>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf32>, %a1: tensor<4xi64>, %a2: tensor<f32>) {
  // expected-error@+1 {{failed to verify that all of {logits, result} have same element type}}
  %r = train.cross_entropy_grad %a0, %a1, %a2 : (tensor<4x10xf32>, tensor<4xi64>, tensor<f32>) -> tensor<4x10xf16>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf32>, %a1: tensor<4xi64>, %a2: tensor<f32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4x10xf32>', got 'tensor<4xf32>'}}
  %r = train.cross_entropy_grad %a0, %a1, %a2 : (tensor<4x10xf32>, tensor<4xi64>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<4x10xf32>, %a1: tensor<4xi64>, %a2: tensor<4xf32>) {
  // expected-error@+1 {{operand #2 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<4xf32>'}}
  %r = train.cross_entropy_grad %a0, %a1, %a2 : (tensor<4x10xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  // expected-error@+1 {{requires all operands to have the same type}}
  %r = train.mse %a0, %a1 : (tensor<4xf32>, tensor<5xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4x4xf32>) {
  // expected-error@+1 {{requires all operands to have the same type}}
  %r = train.mse %a0, %a1 : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf16>) {
  // expected-error@+1 {{requires all operands to have the same type}}
  %r = train.mse %a0, %a1 : (tensor<4xf32>, tensor<4xf16>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4xf16>, %a1: tensor<4xf16>) {
  // expected-error@+1 {{the loss and its gradient must be 'f32' for 'f16' inputs, got 'f64'}}
  %r = train.mse %a0, %a1 : (tensor<4xf16>, tensor<4xf16>) -> tensor<f64>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>) {
  // expected-error@+1 {{result #0 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<1xf32>'}}
  %r = train.mse %a0, %a1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xi32>, %a1: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.mse %a0, %a1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{failed to verify that all of {input, target, result} have same type}}
  %r = train.mse_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<5xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<f64>) {
  // expected-error@+1 {{the loss and its gradient must be 'f32' for 'f32' inputs, got 'f64'}}
  %r = train.mse_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{failed to verify that all of {input, target, result} have same type}}
  %r = train.mse_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>) {
  // expected-error@+1 {{operand #2 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<4xf32>'}}
  %r = train.mse_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{failed to verify that all of {input, target, result} have same type}}
  %r = train.mse_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>) {
  // expected-error@+1 {{requires all operands to have the same type}}
  %r = train.l1 %a0, %a1 : (tensor<4xf32>, tensor<5xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<?x4xf32>, %a1: tensor<4x4xf32>) {
  // expected-error@+1 {{requires all operands to have the same type}}
  %r = train.l1 %a0, %a1 : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf16>) {
  // expected-error@+1 {{requires all operands to have the same type}}
  %r = train.l1 %a0, %a1 : (tensor<4xf32>, tensor<4xf16>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4xf16>, %a1: tensor<4xf16>) {
  // expected-error@+1 {{the loss and its gradient must be 'f32' for 'f16' inputs, got 'f64'}}
  %r = train.l1 %a0, %a1 : (tensor<4xf16>, tensor<4xf16>) -> tensor<f64>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>) {
  // expected-error@+1 {{result #0 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<1xf32>'}}
  %r = train.l1 %a0, %a1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xi32>, %a1: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.l1 %a0, %a1 : (tensor<4xi32>, tensor<4xi32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<5xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{failed to verify that all of {input, target, result} have same type}}
  %r = train.l1_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<5xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<f64>) {
  // expected-error@+1 {{the loss and its gradient must be 'f32' for 'f32' inputs, got 'f64'}}
  %r = train.l1_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<4xf32>, tensor<f64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{failed to verify that all of {input, target, result} have same type}}
  %r = train.l1_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>) {
  // expected-error@+1 {{operand #2 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<4xf32>'}}
  %r = train.l1_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{failed to verify that all of {input, target, result} have same type}}
  %r = train.l1_grad %a0, %a1, %a2 : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%loss: tensor<f32>) {
  // expected-error@+1 {{expected at least one value to differentiate by}}
  %g = train.gradients %loss wrt() : (tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%loss: tensor<4xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<4xf32>'}}
  %g = train.gradients %loss wrt(%w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%loss: tensor<f16>, %w: tensor<4xf16>) {
  // expected-error@+1 {{operand #0 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<f16>'}}
  %g = train.gradients %loss wrt(%w) : (tensor<f16>, tensor<4xf16>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%loss: tensor<f32>, %w: tensor<4xi32>) {
  // expected-error@+1 {{operand #1 must be variadic of ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%loss: tensor<f32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{results must have the types of 'wrt', expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%loss: tensor<f32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{results must have the types of 'wrt', expected 'tensor<4xf32>', got 'tensor<4xf16>'}}
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%loss: tensor<f32>, %w: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{results must have the types of 'wrt', expected 'tensor<4xf32>', 'tensor<4xf32>', got 'tensor<4xf32>'}}
  %g = train.gradients %loss wrt(%w, %b) : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%loss: tensor<f32>, %w: tensor<0xf32>) {
  // expected-error@+1 {{expected tensors without an empty dimension, got 'tensor<0xf32>'}}
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<0xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected 1 or more operands, but found 0}}
  "train.gradients"() : () -> ()
  return
}

// -----

func.func @f(%loss: tensor<f32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'train.gradients' 'train.gradients' op attribute 'name' failed to satisfy constraint: string attribute}}
  %g = train.gradients %loss wrt(%w) {name = 1 : i32} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<7xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{'grad' must have the parameter's shape and no wider an element type, expected 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %r = train.sgd %a0, %a1, %a2 : (tensor<8xf32>, tensor<7xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf64>, %a2: tensor<f32>) {
  // expected-error@+1 {{'grad' must have the parameter's shape and no wider an element type, expected 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %r = train.sgd %a0, %a1, %a2 : (tensor<8xf32>, tensor<8xf64>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f64>) {
  // expected-error@+1 {{scalars must have the parameter's element type 'f32', got 'tensor<f64>'}}
  %r = train.sgd %a0, %a1, %a2 : (tensor<8xf32>, tensor<8xf32>, tensor<f64>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<8xf32>) {
  // expected-error@+1 {{operand #2 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<8xf32>'}}
  %r = train.sgd %a0, %a1, %a2 : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%a0: tensor<8xf16>, %a1: tensor<8xf16>, %a2: tensor<f32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float or 64-bit float values, but got 'tensor<8xf16>'}}
  %r = train.sgd %a0, %a1, %a2 : (tensor<8xf16>, tensor<8xf16>, tensor<f32>) -> tensor<8xf16>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<f32>) {
  // expected-error@+1 {{'velocity' must have the parameter's type 'tensor<8xf32>', got 'tensor<f32>'}}
  %r:2 = train.sgd %a0, %a1, %a2, %a3 {momentum = 0.9 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf64>) {
  // expected-error@+1 {{'velocity' must have the parameter's type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %r:2 = train.sgd %a0, %a1, %a2, %a3 {momentum = 0.9 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf64>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{results must have the parameter's type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %r = train.sgd %a0, %a1, %a2 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf64>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %r = train.sgd %a0, %a1, %a2 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>) {
  // expected-error@+1 {{expected a momentum buffer both as operand and as result, or neither}}
  %r = train.sgd %a0, %a1, %a2, %a3 {momentum = 0.9 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{expected a momentum buffer both as operand and as result, or neither}}
  %r:2 = train.sgd %a0, %a1, %a2 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{momentum needs a buffer as the last operand}}
  %r = train.sgd %a0, %a1, %a2 {momentum = 0.9 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>) {
  // expected-error@+1 {{momentum needs a buffer as the last operand}}
  %r = train.sgd %a0, %a1, %a2 {nesterov} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>) {
  // expected-error@+1 {{'momentum' must be finite and not negative, got -1.000000e-01}}
  %r:2 = train.sgd %a0, %a1, %a2, %a3 {momentum = -0.1 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>) {
  // expected-error@+1 {{'momentum' must be finite and not negative, got INF}}
  %r:2 = train.sgd %a0, %a1, %a2, %a3 {momentum = 0x7FF0000000000000 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>) {
  // expected-error@+1 {{'weight_decay' must be finite and not negative, got -1.000000e-01}}
  %r:2 = train.sgd %a0, %a1, %a2, %a3 {weight_decay = -0.1 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>) {
  // expected-error@+1 {{'weight_decay' must be finite and not negative, got nan}}
  %r:2 = train.sgd %a0, %a1, %a2, %a3 {weight_decay = 0x7FF8000000000000 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<7xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'grad' must have the parameter's shape and no wider an element type, expected 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<7xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf64>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'grad' must have the parameter's shape and no wider an element type, expected 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf64>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f64>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{scalars must have the parameter's element type 'f32', got 'tensor<f64>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f64>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<f32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'exp_avg' must have the parameter's type 'tensor<8xf32>', got 'tensor<f32>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf64>, %a5: tensor<f32>) {
  // expected-error@+1 {{'exp_avg_sq' must have the parameter's type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf64>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f64>) {
  // expected-error@+1 {{scalars must have the parameter's element type 'f32', got 'tensor<f64>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<8xf32>) {
  // expected-error@+1 {{operand #5 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<8xf32>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{results must have the parameter's type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf64>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{result 2 must have type 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<7xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xi32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<8xi32>'}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'beta1' must be in [0, 1), got 1.000000e+00}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 {beta1 = 1.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'beta1' must be in [0, 1), got -5.000000e-01}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 {beta1 = -0.5 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'beta2' must be in [0, 1), got 1.000000e+00}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 {beta2 = 1.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'beta2' must be in [0, 1), got nan}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 {beta2 = 0x7FF8000000000000 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'epsilon' must be finite and not negative, got -1.000000e+00}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 {epsilon = -1.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'epsilon' must be finite and not negative, got INF}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 {epsilon = 0x7FF0000000000000 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'weight_decay' must be finite and not negative, got -1.000000e+00}}
  %r:3 = train.adam %a0, %a1, %a2, %a3, %a4, %a5 {weight_decay = -1.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<7xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'grad' must have the parameter's shape and no wider an element type, expected 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<7xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf64>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'grad' must have the parameter's shape and no wider an element type, expected 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf64>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f64>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{scalars must have the parameter's element type 'f32', got 'tensor<f64>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f64>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<f32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'exp_avg' must have the parameter's type 'tensor<8xf32>', got 'tensor<f32>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf64>, %a5: tensor<f32>) {
  // expected-error@+1 {{'exp_avg_sq' must have the parameter's type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf64>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f64>) {
  // expected-error@+1 {{scalars must have the parameter's element type 'f32', got 'tensor<f64>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f64>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<8xf32>) {
  // expected-error@+1 {{operand #5 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<8xf32>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{results must have the parameter's type 'tensor<8xf32>', got 'tensor<8xf64>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf64>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{result 2 must have type 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<7xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xi32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<8xi32>'}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'beta1' must be in [0, 1), got 1.000000e+00}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 {beta1 = 1.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'beta1' must be in [0, 1), got -5.000000e-01}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 {beta1 = -0.5 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'beta2' must be in [0, 1), got 1.000000e+00}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 {beta2 = 1.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'beta2' must be in [0, 1), got nan}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 {beta2 = 0x7FF8000000000000 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'epsilon' must be finite and not negative, got -1.000000e+00}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 {epsilon = -1.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'epsilon' must be finite and not negative, got INF}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 {epsilon = 0x7FF0000000000000 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>, %a2: tensor<f32>, %a3: tensor<8xf32>, %a4: tensor<8xf32>, %a5: tensor<f32>) {
  // expected-error@+1 {{'weight_decay' must be finite and not negative, got -1.000000e+00}}
  %r:3 = train.adamw %a0, %a1, %a2, %a3, %a4, %a5 {weight_decay = -1.0 : f64} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected at least one gradient}}
  %r = train.clip_by_global_norm  {max_norm = 1.0 : f64} : () -> tensor<f32>
  return
}

// -----

func.func @f(%a0: tensor<8xf32>) {
  // expected-error@+1 {{'max_norm' must be positive, got 0.000000e+00}}
  %r:2 = train.clip_by_global_norm %a0 {max_norm = 0.0 : f64} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>) {
  // expected-error@+1 {{'max_norm' must be positive, got -1.000000e+00}}
  %r:2 = train.clip_by_global_norm %a0 {max_norm = -1.0 : f64} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>) {
  // expected-error@+1 {{'max_norm' must be positive, got nan}}
  %r:2 = train.clip_by_global_norm %a0 {max_norm = 0x7FF8000000000000 : f64} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>) {
  // expected-error@+1 {{requires attribute 'max_norm'}}
  %r:2 = train.clip_by_global_norm %a0 : (tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf32>) {
  // expected-error@+1 {{expected 3 results, got 2}}
  %r:2 = train.clip_by_global_norm %a0, %a1 {max_norm = 1.0 : f64} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>) {
  // expected-error@+1 {{expected clipped gradients of types 'tensor<8xf32>', got 'tensor<8xf16>'}}
  %r:2 = train.clip_by_global_norm %a0 {max_norm = 1.0 : f64} : (tensor<8xf32>) -> (tensor<8xf16>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %r:2 = train.clip_by_global_norm %a0 {max_norm = 1.0 : f64} : (tensor<8xf32>) -> (tensor<7xf32>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf64>) {
  // expected-error@+1 {{'norm' must be 'f64' for gradients of type 'tensor<8xf64>', got 'tensor<f32>'}}
  %r:2 = train.clip_by_global_norm %a0 {max_norm = 1.0 : f64} : (tensor<8xf64>) -> (tensor<8xf64>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<8xf32>, %a1: tensor<8xf64>) {
  // expected-error@+1 {{'norm' must be 'f64' for gradients of type 'tensor<8xf64>', got 'tensor<f32>'}}
  %r:3 = train.clip_by_global_norm %a0, %a1 {max_norm = 1.0 : f64} : (tensor<8xf32>, tensor<8xf64>) -> (tensor<8xf32>, tensor<8xf64>, tensor<f32>)
  return
}

// -----

func.func @f(%a0: tensor<8xi32>) {
  // expected-error@+1 {{operand #0 must be variadic of ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<8xi32>'}}
  %r:2 = train.clip_by_global_norm %a0 {max_norm = 1.0 : f64} : (tensor<8xi32>) -> (tensor<8xi32>, tensor<f32>)
  return
}
