// A slot that does not fit its operation is an error that names both, in
// release builds too.
//
// RUN: amp-test-opt %s --auto-mixed-precision="policy={{version: 1, allow: [test_slots.dot], adapters: [{dialect: test_slots, cast: {op: amp.cast}}]}}" --split-input-file --verify-diagnostics

func.func @operand(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'test_slots.dot' op describes its precision slots wrongly: slot 0 has operand 2, but the operation has 2 operands}}
  %0 = "test_slots.dot"(%a, %b) {operands = array<i64: 0, 2>, results = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @result(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'test_slots.dot' op describes its precision slots wrongly: slot 1 has result 7, but the operation has 1 results}}
  %0 = "test_slots.dot"(%a, %b) {operands = array<i64: 0, 1>, results = array<i64: 7>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @implied(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'test_slots.dot' op describes its precision slots wrongly: slot 2 is named, but there are 2}}
  %0 = "test_slots.dot"(%a, %b) {operands = array<i64: 0, 1>, results = array<i64: 0>, implies = array<i64: 2>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @entry(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'test_slots.dot' op describes its precision slots wrongly: slot 5 is named, but there are 2}}
  %0 = "test_slots.dot"(%a, %b) {operands = array<i64: 0, 1>, results = array<i64: 0>, numbers = array<i64: 5>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @many(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error@+1 {{'test_slots.dot' op describes its precision slots wrongly: slot 127 is one too many, expected at most 127}}
  %0 = "test_slots.dot"(%a, %b) {operands = array<i64: 0, 1>, results = array<i64: 0>, more = array<i64: 126>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Right ones are not an error.
func.func @right(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "test_slots.dot"(%a, %b) {operands = array<i64: 0, 1>, results = array<i64: 0>, implies = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
