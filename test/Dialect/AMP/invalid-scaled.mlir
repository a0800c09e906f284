// Rejected operations on scaled values of eight bits.
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x8xbf16>) {
  // expected-error@+1 {{expected blocks of two sizes that are not negative, rows and columns, got [1]}}
  %0 = amp.amax %x blocks [1] : tensor<4x8xbf16> -> tensor<4x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>) {
  // expected-error@+1 {{expected blocks of two sizes that are not negative, rows and columns, got [1, -1]}}
  %0 = amp.amax %x blocks [1, -1] : tensor<4x8xbf16> -> tensor<4x1xf32>
  return
}

// -----

func.func @f(%x: tensor<bf16>) {
  // expected-error@+1 {{expected no blocks for the scalar 'tensor<bf16>'}}
  %0 = amp.amax %x blocks [1, 1] : tensor<bf16> -> tensor<1x1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>) {
  // expected-error@+1 {{maxima of 'tensor<4x8xbf16>' must be 'tensor<4x2xf32>', got 'tensor<4x3xf32>'}}
  %0 = amp.amax %x blocks [1, 5] : tensor<4x8xbf16> -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error@+1 {{expected the format f8E4M3FN or f8E5M2, got 'f8E4M3'}}
  %0 = amp.scale_from_amax %a for f8E4M3 : tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error@+1 {{expected a margin from 0 to 64, got -1}}
  %0 = amp.scale_from_amax %a for f8E5M2 {margin = -1 : i32} : tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error@+1 {{expected a finite epsilon of at least 0, got -1.0}}
  %0 = amp.scale_from_amax %a for f8E5M2 {epsilon = -1.0 : f32} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xbf16>, %s: tensor<4x1xf32>) {
  // expected-error@+1 {{scales of 'tensor<4x8xbf16>' must be 'tensor<f32>', got 'tensor<4x1xf32>'}}
  %0 = amp.quantize %x by %s : (tensor<4x8xbf16>, tensor<4x1xf32>) -> tensor<4x8xf8E5M2>
  return
}

// -----

func.func @f(%x: tensor<4x8xf8E5M2>, %s: tensor<4xf32>) {
  // expected-error@+1 {{scales of 'tensor<4x8xf8E5M2>' must be 'tensor<4x1xf32>', got 'tensor<4xf32>'}}
  %0 = amp.dequantize %x by %s blocks [1, 0] : (tensor<4x8xf8E5M2>, tensor<4xf32>) -> tensor<4x8xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf8E5M2>, %s: tensor<f32>) {
  // expected-error@+1 {{expected at most one operand of f8E5M2, got 'tensor<4x8xf8E5M2>' and 'tensor<4x8xf8E5M2>'}}
  %0 = amp.scaled_matmul %x by %s, %x by %s {transpose_b} : (tensor<4x8xf8E5M2>, tensor<f32>), (tensor<4x8xf8E5M2>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<f8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{expected operands of rank at least 1, got 'tensor<f8E4M3FN>' and 'tensor<f8E4M3FN>'}}
  %0 = amp.scaled_matmul %x by %s, %x by %s : (tensor<f8E4M3FN>, tensor<f32>), (tensor<f8E4M3FN>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf8E4M3FN>, %w: tensor<6x8xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{contracted dimensions differ: 'tensor<4x8xf8E4M3FN>' (transposed) and 'tensor<6x8xf8E4M3FN>' (transposed)}}
  %0 = amp.scaled_matmul %x by %s, %w by %s {transpose_a, transpose_b} : (tensor<4x8xf8E4M3FN>, tensor<f32>), (tensor<6x8xf8E4M3FN>, tensor<f32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x8xf8E4M3FN>, %w: tensor<6x8xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{expected the result 'tensor<2x4x6xbf16>', got 'tensor<8x6xbf16>'}}
  %0 = amp.scaled_matmul %x by %s, %w by %s {transpose_b} : (tensor<2x4x8xf8E4M3FN>, tensor<f32>), (tensor<6x8xf8E4M3FN>, tensor<f32>) -> tensor<8x6xbf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf8E4M3FN>, %s: tensor<f32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{expected a bias of the result's columns and type, got 'tensor<8xf32>' for 'tensor<4x4xf32>'}}
  %0 = amp.scaled_matmul %x by %s, %x by %s plus %b : tensor<8xf32> {transpose_b} : (tensor<4x8xf8E4M3FN>, tensor<f32>), (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%s: tensor<f32>, %h: tensor<?xf32>) {
  // expected-error@+1 {{expected a history of 1 to 65536 magnitudes, got 'tensor<?xf32>'}}
  %0:2 = amp.update_quantizer %s, %h, %s for f8E5M2 : tensor<?xf32>
  return
}

// -----

func.func @f(%s: tensor<f32>, %h: tensor<0xf32>) {
  // expected-error@+1 {{expected a history of 1 to 65536 magnitudes, got 'tensor<0xf32>'}}
  %0:2 = amp.update_quantizer %s, %h, %s for f8E5M2 : tensor<0xf32>
  return
}

// -----

func.func @f(%s: tensor<f32>, %h: tensor<4xf32>) {
  // expected-error@+1 {{expected the format f8E4M3FN or f8E5M2, got 'f8E4M3'}}
  %0:2 = amp.update_quantizer %s, %h, %s for f8E4M3 : tensor<4xf32>
  return
}

// -----

func.func @f(%s: tensor<f32>, %h: tensor<4xf32>) {
  // expected-error@+1 {{expected a margin from 0 to 64, got 65}}
  %0:2 = amp.update_quantizer %s, %h, %s for f8E5M2 {margin = 65 : i32} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{has 'keep_non_finite' without 'saturate', expected it where finite elements saturate}}
  %0 = amp.quantize %x by %s {keep_non_finite} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  return
}

// -----

func.func @f(%x: tensor<4x4xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{expected an accumulator of 10 to 32 bits, got 9}}
  %0 = amp.scaled_matmul %x by %s, %x by %s {accumulator_bits = 9 : i32} : (tensor<4x4xf8E4M3FN>, tensor<f32>), (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x4xf8E4M3FN>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a promotion that is not negative, got -1}}
  %0 = amp.scaled_matmul %x by %s, %x by %s {promotion = -1 : i64} : (tensor<4x4xf8E4M3FN>, tensor<f32>), (tensor<4x4xf8E4M3FN>, tensor<f32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @key_without_state(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected 'key' only with a random number state}}
  %0 = amp.quantize %x by %s {key = 3 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  return
}

// -----

// expected-note@+1 {{prior use here}}
func.func @state_of_another_type(%x: tensor<4xf32>, %s: tensor<f32>, %rng: tensor<3xi64>) {
  // expected-error@+1 {{expects different type than prior uses: 'tensor<2xi64>' vs 'tensor<3xi64>'}}
  %0 = amp.quantize %x by %s stochastic %rng key 3 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E5M2>
  return
}
