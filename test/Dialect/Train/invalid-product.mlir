// What products and convolutions reject.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

func.func @f(%a: tensor<4xf32>, %b: tensor<4x8xf32>) {
  // expected-error@+1 {{operands must have one rank of at least 2, got 'tensor<4xf32>' and 'tensor<4x8xf32>'}}
  %r = train.matmul %a, %b : (tensor<4xf32>, tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{operands must have one rank of at least 2, got 'tensor<4xf32>' and 'tensor<4xf32>'}}
  %r = train.matmul %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<f32>, %b: tensor<f32>) {
  // expected-error@+1 {{operands must have one rank of at least 2, got 'tensor<f32>' and 'tensor<f32>'}}
  %r = train.matmul %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<2x4x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{operands must have one rank of at least 2, got 'tensor<2x4x3xf32>' and 'tensor<3x5xf32>'}}
  %r = train.matmul %a, %b : (tensor<2x4x3xf32>, tensor<3x5xf32>) -> tensor<2x4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{contracted dimensions differ: 'tensor<4x3xf32>' and 'tensor<4x5xf32>'}}
  %r = train.matmul %a, %b : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %b: tensor<5x3xf32>) {
  // expected-error@+1 {{contracted dimensions differ: 'tensor<4x3xf32>' and 'tensor<5x3xf32>'}}
  %r = train.matmul %a, %b : (tensor<4x3xf32>, tensor<5x3xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{contracted dimensions differ: 'tensor<4x3xf32>' (transposed) and 'tensor<3x5xf32>'}}
  %r = train.matmul %a, %b {transpose_a} : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{contracted dimensions differ: 'tensor<4x3xf32>' and 'tensor<3x5xf32>' (transposed)}}
  %r = train.matmul %a, %b {transpose_b} : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<2x4x3xf32>, %b: tensor<5x3x6xf32>) {
  // expected-error@+1 {{leading dimensions differ: 'tensor<2x4x3xf32>' and 'tensor<5x3x6xf32>'}}
  %r = train.matmul %a, %b : (tensor<2x4x3xf32>, tensor<5x3x6xf32>) -> tensor<2x4x6xf32>
  return
}

// -----

func.func @f(%a: tensor<?x4x3xf32>, %b: tensor<2x3x6xf32>) {
  // expected-error@+1 {{leading dimensions differ: 'tensor<?x4x3xf32>' and 'tensor<2x3x6xf32>'}}
  %r = train.matmul %a, %b : (tensor<?x4x3xf32>, tensor<2x3x6xf32>) -> tensor<?x4x6xf32>
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4x5xf32>', got 'tensor<4x6xf32>'}}
  %r = train.matmul %a, %b : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%a: tensor<4x3xf16>, %b: tensor<3x5xf16>) {
  // expected-error@+1 {{expected a result of 'f16' or 'f32' elements, got 'bf16'}}
  %r = train.matmul %a, %b : (tensor<4x3xf16>, tensor<3x5xf16>) -> tensor<4x5xbf16>
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{expected a result of 'f32' elements, got 'f16'}}
  %r = train.matmul %a, %b : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf16>
  return
}

// -----

func.func @f(%a: tensor<4x3xf16>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs} have same element type}}
  %r = train.matmul %a, %b : (tensor<4x3xf16>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%a: tensor<4x3xi32>, %b: tensor<3x5xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4x3xi32>'}}
  %r = train.matmul %a, %b : (tensor<4x3xi32>, tensor<3x5xi32>) -> tensor<4x5xi32>
  return
}

// -----

func.func @f(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{invalid properties {transpose_a = false} for op train.matmul: Invalid attribute `transpose_a` in property conversion: false}}
  %r = "train.matmul"(%a, %b) <{transpose_a = false}> : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{expected an input of rank at least 1 and a weight of rank 2, got 'tensor<f32>' and 'tensor<4x3xf32>'}}
  %r = train.linear %x, %w : (tensor<f32>, tensor<4x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>, %w: tensor<4xf32>) {
  // expected-error@+1 {{expected an input of rank at least 1 and a weight of rank 2, got 'tensor<?x4xf32>' and 'tensor<4xf32>'}}
  %r = train.linear %x, %w : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>, %w: tensor<2x4x3xf32>) {
  // expected-error@+1 {{expected an input of rank at least 1 and a weight of rank 2, got 'tensor<?x4xf32>' and 'tensor<2x4x3xf32>'}}
  %r = train.linear %x, %w : (tensor<?x4xf32>, tensor<2x4x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x?xf32>) {
  // expected-error@+1 {{the weight must have a static shape, got 'tensor<4x?xf32>'}}
  %r = train.linear %x, %w : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<?x5xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{weight must take as many features as the input's last dimension has, got 'tensor<4x3xf32>' for 'tensor<?x5xf32>'}}
  %r = train.linear %x, %w : (tensor<?x5xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{weight must take as many features as the input's last dimension has, got 'tensor<4x3xf32>' for 'tensor<?x?xf32>'}}
  %r = train.linear %x, %w : (tensor<?x?xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{weight must take as many features as the input's last dimension has, got 'tensor<4x3xf32>' (transposed) for 'tensor<?x4xf32>'}}
  %r = train.linear %x, %w {transpose_weight} : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{bias must have shape [3], got 'tensor<4xf32>'}}
  %r = train.linear %x, %w, %b : (tensor<?x4xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>, %b: tensor<1x3xf32>) {
  // expected-error@+1 {{bias must have shape [3], got 'tensor<1x3xf32>'}}
  %r = train.linear %x, %w, %b : (tensor<?x4xf32>, tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf16>, %w: tensor<4x3xf16>, %b: tensor<3xf16>) {
  // expected-error@+1 {{bias must have the result's element type 'f32', got 'f16'}}
  %r = train.linear %x, %w, %b : (tensor<?x4xf16>, tensor<4x3xf16>, tensor<3xf16>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf16>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, weight} have same element type}}
  %r = train.linear %x, %w : (tensor<?x4xf16>, tensor<4x3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?x3xf32>', got 'tensor<?x4xf32>'}}
  %r = train.linear %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>, %w: tensor<4x3xf32>) {
  // expected-error@+1 {{expected a result of 'f32' elements, got 'f16'}}
  %r = train.linear %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf16>
  return
}

// -----

func.func @f(%x: tensor<?x4xi64>, %w: tensor<4x3xi64>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<?x4xi64>'}}
  %r = train.linear %x, %w : (tensor<?x4xi64>, tensor<4x3xi64>) -> tensor<?x3xi64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 2 or more operands, but found 1}}
  %r = train.linear %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'strides' must be two positive numbers of 32 bits, got [1]}}
  %r = train.conv2d %a, %b {strides = array<i64: 1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x6x6x16xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'strides' must be two positive numbers of 32 bits, got [1]}}
  %r = train.conv2d_input_grad %a, %b {strides = array<i64: 1>} : (tensor<?x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{'strides' must be two positive numbers of 32 bits, got [1]}}
  %r = train.conv2d_filter_grad %a, %b {strides = array<i64: 1>} : (tensor<?x8x8x1xf32>, tensor<?x6x6x16xf32>) -> tensor<3x3x1x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'padding' must be four non-negative numbers of 32 bits [top, bottom, left, right], got [0, 0, 0, -1]}}
  %r = train.conv2d %a, %b {padding = array<i64: 0, 0, 0, -1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x6x6x16xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'padding' must be four non-negative numbers of 32 bits [top, bottom, left, right], got [0, 0, 0, -1]}}
  %r = train.conv2d_input_grad %a, %b {padding = array<i64: 0, 0, 0, -1>} : (tensor<?x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{'padding' must be four non-negative numbers of 32 bits [top, bottom, left, right], got [0, 0, 0, -1]}}
  %r = train.conv2d_filter_grad %a, %b {padding = array<i64: 0, 0, 0, -1>} : (tensor<?x8x8x1xf32>, tensor<?x6x6x16xf32>) -> tensor<3x3x1x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'dilations' must be two positive numbers of 32 bits, got [0, 1]}}
  %r = train.conv2d %a, %b {dilations = array<i64: 0, 1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x6x6x16xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'dilations' must be two positive numbers of 32 bits, got [0, 1]}}
  %r = train.conv2d_input_grad %a, %b {dilations = array<i64: 0, 1>} : (tensor<?x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{'dilations' must be two positive numbers of 32 bits, got [0, 1]}}
  %r = train.conv2d_filter_grad %a, %b {dilations = array<i64: 0, 1>} : (tensor<?x8x8x1xf32>, tensor<?x6x6x16xf32>) -> tensor<3x3x1x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'groups' must divide the numbers of channels and of filters, got 0 for 1 and 16}}
  %r = train.conv2d %a, %b {groups = 0 : i64} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x6x6x16xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'groups' must divide the numbers of channels and of filters, got 0 for 1 and 16}}
  %r = train.conv2d_input_grad %a, %b {groups = 0 : i64} : (tensor<?x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{'groups' must divide the numbers of channels and of filters, got 0 for 1 and 16}}
  %r = train.conv2d_filter_grad %a, %b {groups = 0 : i64} : (tensor<?x8x8x1xf32>, tensor<?x6x6x16xf32>) -> tensor<3x3x1x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'strides' must be two positive numbers of 32 bits, got []}}
  %r = train.conv2d %a, %b {strides = array<i64>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'strides' must be two positive numbers of 32 bits, got [1, 0]}}
  %r = train.conv2d %a, %b {strides = array<i64: 1, 0>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'strides' must be two positive numbers of 32 bits, got [4294967296, 1]}}
  %r = train.conv2d %a, %b {strides = array<i64: 4294967296, 1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'padding' must be four non-negative numbers of 32 bits [top, bottom, left, right], got [0, 0]}}
  %r = train.conv2d %a, %b {padding = array<i64: 0, 0>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'padding' must be four non-negative numbers of 32 bits [top, bottom, left, right], got [9223372036854775807, 1, 0, 0]}}
  %r = train.conv2d %a, %b {padding = array<i64: 9223372036854775807, 1, 0, 0>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'dilations' must be two positive numbers of 32 bits, got [1, 1, 1]}}
  %r = train.conv2d %a, %b {dilations = array<i64: 1, 1, 1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'dilations' must be two positive numbers of 32 bits, got [1, 9223372036854775807]}}
  %r = train.conv2d %a, %b {dilations = array<i64: 1, 9223372036854775807>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'groups' must divide the numbers of channels and of filters, got -1 for 1 and 16}}
  %r = train.conv2d %a, %b {groups = -1 : i64} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'groups' must divide the numbers of channels and of filters, got 3 for 1 and 16}}
  %r = train.conv2d %a, %b {groups = 3 : i64} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{a window of 3 elements, 4 apart, does not fit in dimension 1 of extent 8 with padding 0}}
  %r = train.conv2d %a, %b {dilations = array<i64: 4, 1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{expected tensors of rank 4}}
  %r = train.conv2d %a, %b : (tensor<8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1xf32>) {
  // expected-error@+1 {{expected tensors of rank 4}}
  %r = train.conv2d %a, %b : (tensor<?x8x8x1xf32>, tensor<3x3x1xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x6x6xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{expected tensors of rank 4}}
  %r = train.conv2d_input_grad %a, %b : (tensor<?x6x6xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf32>
  return
}

// -----

func.func @f(%a: tensor<?x6x6x16xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{expected tensors of rank 4}}
  %r = train.conv2d_input_grad %a, %b : (tensor<?x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{expected tensors of rank 4}}
  %r = train.conv2d_filter_grad %a, %b : (tensor<?x8x8x1xf32>, tensor<?x6x6x16xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<f32>, %b: tensor<f32>) {
  // expected-error@+1 {{expected tensors of rank 4}}
  %r = train.conv2d %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x?xf32>) {
  // expected-error@+1 {{the filter must have a static shape, got 'tensor<3x3x1x?xf32>'}}
  %r = train.conv2d %a, %b : (tensor<?x8x8x1xf32>, tensor<3x3x1x?xf32>) -> tensor<?x6x6x?xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x?xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{the number of channels must be static, got 'tensor<?x8x8x?xf32>'}}
  %r = train.conv2d %a, %b : (tensor<?x8x8x?xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x?x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{height and width must be static, got 'tensor<?x?x8x1xf32>'}}
  %r = train.conv2d %a, %b : (tensor<?x?x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x?x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x2x16xf32>) {
  // expected-error@+1 {{the filter must take 1 channels, got 'tensor<3x3x2x16xf32>'}}
  %r = train.conv2d %a, %b : (tensor<?x8x8x1xf32>, tensor<3x3x2x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x6xf32>, %b: tensor<3x3x6x4xf32>) {
  // expected-error@+1 {{the filter must take 3 channels, got 'tensor<3x3x6x4xf32>'}}
  %r = train.conv2d %a, %b {groups = 2 : i64} : (tensor<?x8x8x6xf32>, tensor<3x3x6x4xf32>) -> tensor<?x6x6x4xf32>
  return
}

// -----

func.func @f(%a: tensor<?x2x2x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{a window of 3 elements, 1 apart, does not fit in dimension 1 of extent 2 with padding 0}}
  %r = train.conv2d %a, %b : (tensor<?x2x2x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x1x1x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?x6x6x16xf32>', got 'tensor<?x8x8x16xf32>'}}
  %r = train.conv2d %a, %b : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf16>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{operands must have one element type, got 'f16' and 'f32'}}
  %r = train.conv2d %a, %b : (tensor<?x8x8x1xf16>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{expected a result of 'f32' elements, got 'f16'}}
  %r = train.conv2d %a, %b : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x6x6x16xf16>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xi32>, %b: tensor<3x3x1x16xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<?x8x8x1xi32>'}}
  %r = train.conv2d %a, %b : (tensor<?x8x8x1xi32>, tensor<3x3x1x16xi32>) -> tensor<?x6x6x16xi32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<3x3x0x16xf32>) {
  // expected-error@+1 {{expected tensors without an empty dimension, got 'tensor<3x3x0x16xf32>'}}
  %r = train.conv2d %a, %b : (tensor<?x8x8x1xf32>, tensor<3x3x0x16xf32>) -> tensor<?x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x5x6x16xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{'grad' must have type 'tensor<?x6x6x16xf32>' as the result of the convolution, got 'tensor<?x5x6x16xf32>'}}
  %r = train.conv2d_input_grad %a, %b : (tensor<?x5x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf32>
  return
}

// -----

func.func @f(%a: tensor<?x6x6x16xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?x8x8x1xf32>', got 'tensor<4x8x8x1xf32>'}}
  %r = train.conv2d_input_grad %a, %b : (tensor<?x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<4x8x8x1xf32>
  return
}

// -----

func.func @f(%a: tensor<?x6x6x16xf16>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{operands must have one element type, got 'f16' and 'f32'}}
  %r = train.conv2d_input_grad %a, %b : (tensor<?x6x6x16xf16>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf32>
  return
}

// -----

func.func @f(%a: tensor<?x6x6x16xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{expected a result of 'f32' elements, got 'f16'}}
  %r = train.conv2d_input_grad %a, %b : (tensor<?x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x1xf16>
  return
}

// -----

func.func @f(%a: tensor<?x6x6x16xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{the filter must take 2 channels, got 'tensor<3x3x1x16xf32>'}}
  %r = train.conv2d_input_grad %a, %b : (tensor<?x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x2xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<?x5x6x16xf32>) {
  // expected-error@+1 {{'grad' must have type 'tensor<?x6x6x16xf32>' as the result of the convolution, got 'tensor<?x5x6x16xf32>'}}
  %r = train.conv2d_filter_grad %a, %b : (tensor<?x8x8x1xf32>, tensor<?x5x6x16xf32>) -> tensor<3x3x1x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{the filter must have a static shape, got 'tensor<3x3x1x?xf32>'}}
  %r = train.conv2d_filter_grad %a, %b : (tensor<?x8x8x1xf32>, tensor<?x6x6x16xf32>) -> tensor<3x3x1x?xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf16>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{operands must have one element type, got 'f16' and 'f32'}}
  %r = train.conv2d_filter_grad %a, %b : (tensor<?x8x8x1xf16>, tensor<?x6x6x16xf32>) -> tensor<3x3x1x16xf32>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{expected a result of 'f32' elements, got 'f16'}}
  %r = train.conv2d_filter_grad %a, %b : (tensor<?x8x8x1xf32>, tensor<?x6x6x16xf32>) -> tensor<3x3x1x16xf16>
  return
}

// -----

func.func @f(%a: tensor<?x8x8x1xf32>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{the filter must take 1 channels, got 'tensor<3x3x2x16xf32>'}}
  %r = train.conv2d_filter_grad %a, %b : (tensor<?x8x8x1xf32>, tensor<?x6x6x16xf32>) -> tensor<3x3x2x16xf32>
  return
}

// -----

func.func @f(%a: tensor<4x8x8x1xf32>, %b: tensor<?x6x6x16xf32>) {
  // expected-error@+1 {{'grad' must have type 'tensor<4x6x6x16xf32>' as the result of the convolution, got 'tensor<?x6x6x16xf32>'}}
  %r = train.conv2d_filter_grad %a, %b : (tensor<4x8x8x1xf32>, tensor<?x6x6x16xf32>) -> tensor<3x3x1x16xf32>
  return
}

// -----

func.func @f(%a: tensor<1x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{invalid properties {strides = array<i32: 1, 1>} for op train.conv2d: Invalid attribute `strides` in property conversion: array<i32: 1, 1>}}
  %r = "train.conv2d"(%a, %b) <{strides = array<i32: 1, 1>}> : (tensor<1x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<1x6x6x16xf32>
  return
}

// -----

func.func @f(%a: tensor<1x8x8x1xf32>, %b: tensor<3x3x1x16xf32>) {
  // expected-error@+1 {{attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "train.conv2d"(%a, %b) <{groups = 1 : i32}> : (tensor<1x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<1x6x6x16xf32>
  return
}
