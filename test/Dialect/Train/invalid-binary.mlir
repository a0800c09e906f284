// What operations of several operands and constants reject.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{operands of types 'tensor<4x3xf32>', 'tensor<4x2xf32>' do not broadcast to one shape}}
  %r = train.add %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs, result} have same element type}}
  %r = train.add %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{operands of types 'tensor<4x3xf32>', 'tensor<4x2xf32>' do not broadcast to one shape}}
  %r = train.sub %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs, result} have same element type}}
  %r = train.sub %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{operands of types 'tensor<4x3xf32>', 'tensor<4x2xf32>' do not broadcast to one shape}}
  %r = train.mul %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs, result} have same element type}}
  %r = train.mul %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{operands of types 'tensor<4x3xf32>', 'tensor<4x2xf32>' do not broadcast to one shape}}
  %r = train.div %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs, result} have same element type}}
  %r = train.div %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{operands of types 'tensor<4x3xf32>', 'tensor<4x2xf32>' do not broadcast to one shape}}
  %r = train.maximum %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs, result} have same element type}}
  %r = train.maximum %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{operands of types 'tensor<4x3xf32>', 'tensor<4x2xf32>' do not broadcast to one shape}}
  %r = train.minimum %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs, result} have same element type}}
  %r = train.minimum %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{operands of types 'tensor<4x3xf32>', 'tensor<4x2xf32>' do not broadcast to one shape}}
  %r = train.pow %x, %y : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs, result} have same element type}}
  %r = train.pow %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf16>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs, result} have same element type}}
  %r = train.add %x, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<2x1xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<2x4xf32>', got 'tensor<4xf32>'}}
  %r = train.add %x, %y : (tensor<4xf32>, tensor<2x1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8xf32>, %y: tensor<4x8xf32>) {
  // expected-error@+1 {{operands of types 'tensor<?x8xf32>', 'tensor<4x8xf32>' do not broadcast to one shape}}
  %r = train.add %x, %y : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.mul %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: vector<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'vector<4xf32>'}}
  %r = train.mul %x, %y : (vector<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8388608x8388608x1xf16>, %y: tensor<8xf16>) {
  // expected-error@+1 {{expected tensors of fewer than 2^48 elements, got 'tensor<8388608x8388608x8xf16>'}}
  %r = train.mul %x, %y : (tensor<8388608x8388608x1xf16>, tensor<8xf16>) -> tensor<8388608x8388608x8xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs} have same element type}}
  %r = train.compare lt, %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<4xf32>'}}
  %r = train.compare lt, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{operands of types 'tensor<4xf32>', 'tensor<3xf32>' do not broadcast to one shape}}
  %r = train.compare lt, %x, %y : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4xi1>', got 'tensor<2xi1>'}}
  %r = train.compare lt, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<2xi1>
  return
}

// -----

func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // expected-error@+1 {{i1 operands have no order, expected 'eq' or 'ne', got 'ge'}}
  %r = train.compare ge, %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xui8>, %y: tensor<4xui8>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float or 1-bit signless integer or 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xui8>'}}
  %r = train.compare lt, %x, %y : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'train.compare' expected string or keyword containing one of the following enum values for attribute 'predicate' [eq, ne, lt, le, gt, ge]}}
  %r = train.compare ult, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{invalid properties {predicate = 6 : i32} for op train.compare: Invalid attribute `predicate` in property conversion: 6 : i32}}
  %r = "train.compare"(%x, %y) <{predicate = 6 : i32}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @f(%c: tensor<4xf32>, %x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 1-bit signless integer values, but got 'tensor<4xf32>'}}
  %r = train.select %c, %x, %y : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{failed to verify that all of {on_true, on_false, result} have same element type}}
  %r = train.select %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%c: tensor<3xi1>, %x: tensor<4xf32>, %y: tensor<f32>) {
  // expected-error@+1 {{operands of types 'tensor<3xi1>', 'tensor<4xf32>', 'tensor<f32>' do not broadcast to one shape}}
  %r = train.select %c, %x, %y : (tensor<3xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%c: tensor<4xi1>, %x: tensor<f32>, %y: tensor<f32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4xf32>', got 'tensor<f32>'}}
  %r = train.select %c, %x, %y : (tensor<4xi1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%i: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xf32>'}}
  %r = train.one_hot %i : (tensor<4xf32>) -> tensor<4x10xf32>
  return
}

// -----

func.func @f(%i: tensor<4xi64>) {
  // expected-error@+1 {{the number of classes, the last dimension of the result, must be static, got 'tensor<f32>'}}
  %r = train.one_hot %i : (tensor<4xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%i: tensor<4xi64>) {
  // expected-error@+1 {{the number of classes, the last dimension of the result, must be static, got 'tensor<4x?xf32>'}}
  %r = train.one_hot %i : (tensor<4xi64>) -> tensor<4x?xf32>
  return
}

// -----

func.func @f(%i: tensor<4xi64>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4x10xf32>', got 'tensor<5x10xf32>'}}
  %r = train.one_hot %i : (tensor<4xi64>) -> tensor<5x10xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{result #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float or 1-bit signless integer or 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xi8>'}}
  %r = train.constant dense<1> : tensor<4xi8>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{result #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float or 1-bit signless integer or 32-bit signless integer or 64-bit signless integer values, but got 'vector<4xf32>'}}
  %r = train.constant dense<1.0> : vector<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected a dense or dense_resource value, got sparse<0, 1.000000e+00> : tensor<4xf32>}}
  %r = train.constant sparse<[[0]], [1.0]> : tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected tensors without an empty dimension, got 'tensor<0xf32>'}}
  %r = train.constant dense<> : tensor<0xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{custom op 'train.constant' invalid kind of attribute specified}}
  %r = train.constant 1.0 : f32
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{failed to verify that all of {value, result} have same type}}
  %r = "train.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<5xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{invalid properties {value = 1.000000e+00 : f32} for op train.constant: Invalid attribute `value` in property conversion: 1.000000e+00 : f32}}
  %r = "train.constant"() <{value = 1.0 : f32}> : () -> tensor<f32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{requires attribute 'value'}}
  %r = "train.constant"() : () -> tensor<f32>
  return
}
