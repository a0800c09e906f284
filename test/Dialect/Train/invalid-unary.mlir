// What operations of one operand and gradients of activations reject.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.neg %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.abs %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.sign %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.sin %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.cos %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.erf %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.sqrt %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.log %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.log1p %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.tanh %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.sigmoid %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.relu %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.exp %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.expm1 %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.rsqrt %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.reciprocal %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.square %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.gelu %x : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<*xf32>) {
  // expected-error@+1 {{custom op 'train.neg' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf32>'}}
  %r = train.neg %x : tensor<*xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf8E5M2>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xf8E5M2>'}}
  %r = train.neg %x : tensor<4xf8E5M2>
  return
}

// -----

func.func @f(%x: tensor<4xf32, "layout">) {
  // expected-error@+1 {{expected tensors without an encoding, got 'tensor<4xf32, "layout">'}}
  %r = train.neg %x : tensor<4xf32, "layout">
  return
}

// -----

func.func @f(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{expected tensors without an empty dimension, got 'tensor<4x0xf32>'}}
  %r = train.neg %x : tensor<4x0xf32>
  return
}

// -----

func.func @f(%x: tensor<?x16777216x16777216xf32>) {
  // expected-error@+1 {{expected tensors of fewer than 2^48 elements, got 'tensor<?x16777216x16777216xf32>'}}
  %r = train.neg %x : tensor<?x16777216x16777216xf32>
  return
}

// -----

func.func @f(%x: tensor<9223372036854775807x2xf32>) {
  // expected-error@+1 {{expected tensors of fewer than 2^48 elements, got 'tensor<9223372036854775807x2xf32>'}}
  %r = train.neg %x : tensor<9223372036854775807x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "train.neg"(%x) : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "train.neg"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?xf32>', got 'tensor<4xf32>'}}
  %r = "train.neg"(%x) : (tensor<?xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{requires a single operand}}
  %r = "train.neg"() : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires one result}}
  %r:2 = "train.neg"(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'train.gelu' 'train.gelu' op attribute 'approximate' failed to satisfy constraint: form of gelu}}
  %r = train.gelu %x {approximate = 2 : i32} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{invalid properties {approximate = "tanh"} for op train.gelu: Invalid attribute `approximate` in property conversion: "tanh"}}
  %r = "train.gelu"(%x) <{approximate = "tanh"}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.clip %x {min = 0.0 : f64, max = 1.0 : f64} : tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'min' must not exceed 'max', got 1.000000e+00 and 0.000000e+00}}
  %r = train.clip %x {min = 1.0 : f64, max = 0.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'min' must not exceed 'max', got nan and 0.000000e+00}}
  %r = train.clip %x {min = 0x7FF8000000000000 : f64, max = 0.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{requires attribute 'max'}}
  %r = train.clip %x {min = 0.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'train.clip' 'train.clip' op attribute 'min' failed to satisfy constraint: 64-bit float attribute}}
  %r = train.clip %x {min = 0.0 : f32, max = 1.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>, %dy: tensor<4xi1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi1>'}}
  %r = train.relu_grad %x, %dy : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %dy: tensor<4xf32>) {
  // expected-error@+1 {{operands must have one type, got 'tensor<?xf32>', 'tensor<4xf32>'}}
  %r = "train.relu_grad"(%x, %dy) : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>, %dy: tensor<4xi1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi1>'}}
  %r = train.tanh_grad %x, %dy : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %dy: tensor<4xf32>) {
  // expected-error@+1 {{operands must have one type, got 'tensor<?xf32>', 'tensor<4xf32>'}}
  %r = "train.tanh_grad"(%x, %dy) : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>, %dy: tensor<4xi1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi1>'}}
  %r = train.sigmoid_grad %x, %dy : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %dy: tensor<4xf32>) {
  // expected-error@+1 {{operands must have one type, got 'tensor<?xf32>', 'tensor<4xf32>'}}
  %r = "train.sigmoid_grad"(%x, %dy) : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>, %dy: tensor<4xi1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi1>'}}
  %r = train.gelu_grad %x, %dy : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %dy: tensor<4xf32>) {
  // expected-error@+1 {{operands must have one type, got 'tensor<?xf32>', 'tensor<4xf32>'}}
  %r = "train.gelu_grad"(%x, %dy) : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi1>, %dy: tensor<4xi1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi1>'}}
  %r = train.clip_grad %x, %dy {min = 0.0 : f64, max = 1.0 : f64} : tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<?xf32>, %dy: tensor<4xf32>) {
  // expected-error@+1 {{operands must have one type, got 'tensor<?xf32>', 'tensor<4xf32>'}}
  %r = "train.clip_grad"(%x, %dy) <{min = 0.0 : f64, max = 1.0 : f64}> : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %dy: tensor<4xf16>) {
  // expected-error@+1 {{requires the same type for all operands and results}}
  %r = "train.relu_grad"(%x, %dy) : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %dy: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'train.gelu_grad' 'train.gelu_grad' op attribute 'approximate' failed to satisfy constraint: form of gelu}}
  %r = train.gelu_grad %x, %dy {approximate = -1 : i32} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %dy: tensor<4xf32>) {
  // expected-error@+1 {{'min' must not exceed 'max', got 2.000000e+00 and 1.000000e+00}}
  %r = train.clip_grad %x, %dy {min = 2.0 : f64, max = 1.0 : f64} : tensor<4xf32>
  return
}
