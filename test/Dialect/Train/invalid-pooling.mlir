// What pooling rejects.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{requires attribute 'window'}}
  %r = train.max_pool2d %x {strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'window' must be two positive numbers of 32 bits, got [2]}}
  %r = train.max_pool2d %x {window = array<i64: 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'window' must be two positive numbers of 32 bits, got [0, 2]}}
  %r = train.max_pool2d %x {window = array<i64: 0, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'strides' must be two positive numbers of 32 bits, got [0, 2]}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 0, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'padding' must be four non-negative numbers of 32 bits [top, bottom, left, right], got [0]}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'padding' must be smaller than 'window', got [2, 0, 0, 0] and [2, 2]}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 2, 0, 0, 0>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x8x4xf32>) {
  // expected-error@+1 {{expected tensors of rank 4, got 'tensor<8x8x4xf32>'}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<8x8x4xf32>) -> tensor<4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected tensors of rank 4, got 'tensor<f32>'}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<?x?x8x4xf32>) {
  // expected-error@+1 {{height and width must be static, got 'tensor<?x?x8x4xf32>'}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x?x8x4xf32>) -> tensor<?x?x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x1x1x4xf32>) {
  // expected-error@+1 {{a window of 2 elements, 1 apart, does not fit in dimension 1 of extent 1 with padding 0}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>} : (tensor<?x1x1x4xf32>) -> tensor<?x1x1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?x4x4x4xf32>', got 'tensor<?x4x4x5xf32>'}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{operands and result must have one element type, got 'f32' and 'f16'}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf16>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<?x8x8x4xi32>'}}
  %r = train.max_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xi32>) -> tensor<?x4x4x4xi32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{requires attribute 'window'}}
  %r = train.avg_pool2d %x {strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'window' must be two positive numbers of 32 bits, got [2]}}
  %r = train.avg_pool2d %x {window = array<i64: 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'window' must be two positive numbers of 32 bits, got [0, 2]}}
  %r = train.avg_pool2d %x {window = array<i64: 0, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'strides' must be two positive numbers of 32 bits, got [0, 2]}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 0, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'padding' must be four non-negative numbers of 32 bits [top, bottom, left, right], got [0]}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{'padding' must be smaller than 'window', got [2, 0, 0, 0] and [2, 2]}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 2, 0, 0, 0>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x8x4xf32>) {
  // expected-error@+1 {{expected tensors of rank 4, got 'tensor<8x8x4xf32>'}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<8x8x4xf32>) -> tensor<4x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected tensors of rank 4, got 'tensor<f32>'}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<?x?x8x4xf32>) {
  // expected-error@+1 {{height and width must be static, got 'tensor<?x?x8x4xf32>'}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x?x8x4xf32>) -> tensor<?x?x4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x1x1x4xf32>) {
  // expected-error@+1 {{a window of 2 elements, 1 apart, does not fit in dimension 1 of extent 1 with padding 0}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>} : (tensor<?x1x1x4xf32>) -> tensor<?x1x1x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?x4x4x4xf32>', got 'tensor<?x4x4x5xf32>'}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>) {
  // expected-error@+1 {{operands and result must have one element type, got 'f32' and 'f16'}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf16>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<?x8x8x4xi32>'}}
  %r = train.avg_pool2d %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xi32>) -> tensor<?x4x4x4xi32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>, %y: tensor<?x4x4x4xf32>, %dy: tensor<?x4x3x4xf32>) {
  // expected-error@+1 {{'grad' must have type 'tensor<?x4x4x4xf32>' as the pooled result, got 'tensor<?x4x3x4xf32>'}}
  %r = train.max_pool2d_grad %x, %y, %dy {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>, tensor<?x4x4x4xf32>, tensor<?x4x3x4xf32>) -> tensor<?x8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>, %y: tensor<?x4x3x4xf32>, %dy: tensor<?x4x4x4xf32>) {
  // expected-error@+1 {{'output' must have type 'tensor<?x4x4x4xf32>' as the pooled result, got 'tensor<?x4x3x4xf32>'}}
  %r = train.max_pool2d_grad %x, %y, %dy {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>, tensor<?x4x3x4xf32>, tensor<?x4x4x4xf32>) -> tensor<?x8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>, %y: tensor<?x4x4x4xf32>, %dy: tensor<?x4x4x4xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?x8x8x4xf32>', got 'tensor<?x8x8x5xf32>'}}
  %r = train.max_pool2d_grad %x, %y, %dy {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>, tensor<?x4x4x4xf32>, tensor<?x4x4x4xf32>) -> tensor<?x8x8x5xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>, %y: tensor<?x4x4x4xf32>, %dy: tensor<?x4x4x4xf16>) {
  // expected-error@+1 {{operands and result must have one element type, got 'f16' and 'f32'}}
  %r = train.max_pool2d_grad %x, %y, %dy {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>, tensor<?x4x4x4xf32>, tensor<?x4x4x4xf16>) -> tensor<?x8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>, %y: tensor<?x4x4x4xf32>, %dy: tensor<?x4x4x4xf32>) {
  // expected-error@+1 {{'padding' must be smaller than 'window', got [0, 0, 0, 2] and [2, 2]}}
  %r = train.max_pool2d_grad %x, %y, %dy {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 2>} : (tensor<?x8x8x4xf32>, tensor<?x4x4x4xf32>, tensor<?x4x4x4xf32>) -> tensor<?x8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %y: tensor<f32>, %dy: tensor<f32>) {
  // expected-error@+1 {{expected tensors of rank 4, got 'tensor<f32>'}}
  %r = train.max_pool2d_grad %x, %y, %dy {window = array<i64: 2, 2>} : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<?x8x8x4xf32>, %y: tensor<?x4x4x4xf32>, %dy: tensor<?x4x4x4xf32>) {
  // expected-error@+1 {{requires attribute 'window'}}
  %r = train.max_pool2d_grad %x, %y, %dy {strides = array<i64: 2, 2>} : (tensor<?x8x8x4xf32>, tensor<?x4x4x4xf32>, tensor<?x4x4x4xf32>) -> tensor<?x8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x3x4x4xf32>) {
  // expected-error@+1 {{'grad' must have type 'tensor<?x4x4x4xf32>' as the pooled result, got 'tensor<?x3x4x4xf32>'}}
  %r = train.avg_pool2d_grad %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x3x4x4xf32>) -> tensor<?x8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4x4x4xf32>) {
  // expected-error@+1 {{expected tensors of rank 4, got 'tensor<8x8x4xf32>'}}
  %r = train.avg_pool2d_grad %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x4x4x4xf32>) -> tensor<8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4x4x4xf16>) {
  // expected-error@+1 {{operands and result must have one element type, got 'f16' and 'f32'}}
  %r = train.avg_pool2d_grad %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x4x4x4xf16>) -> tensor<?x8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4x4x4xf32>) {
  // expected-error@+1 {{'strides' must be two positive numbers of 32 bits, got [-2, 2]}}
  %r = train.avg_pool2d_grad %x {window = array<i64: 2, 2>, strides = array<i64: -2, 2>} : (tensor<?x4x4x4xf32>) -> tensor<?x8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4x4x4xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?x8x8x4xf32>', got 'tensor<4x8x8x4xf32>'}}
  %r = train.avg_pool2d_grad %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x4x4x4xf32>) -> tensor<4x8x8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected tensors of rank 4, got 'tensor<f32>'}}
  %r = train.avg_pool2d_grad %x {window = array<i64: 2, 2>} : (tensor<f32>) -> tensor<f32>
  return
}
