// What reductions, data movement and randomness reject.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [2]}}
  %r = train.reduce_sum %x {dims = array<i64: 2>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [-1]}}
  %r = train.reduce_sum %x {dims = array<i64: -1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [1, 0]}}
  %r = train.reduce_sum %x {dims = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [1, 1]}}
  %r = train.reduce_sum %x {dims = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 0), got [0]}}
  %r = train.reduce_sum %x {dims = array<i64: 0>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %r = train.reduce_sum %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4x1xf32>', got 'tensor<4xf32>'}}
  %r = train.reduce_sum %x {dims = array<i64: 1>, keep_dims} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf16>) {
  // expected-error@+1 {{expected a result of 'f16' or 'f32' elements, got 'bf16'}}
  %r = train.reduce_sum %x {dims = array<i64: 1>} : (tensor<4x8xf16>) -> tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of 'f32' elements, got 'f16'}}
  %r = train.reduce_sum %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4x8xi32>'}}
  %r = train.reduce_sum %x {dims = array<i64: 1>} : (tensor<4x8xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{requires attribute 'dims'}}
  %r = train.reduce_sum %x : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [2]}}
  %r = train.reduce_mean %x {dims = array<i64: 2>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [-1]}}
  %r = train.reduce_mean %x {dims = array<i64: -1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [1, 0]}}
  %r = train.reduce_mean %x {dims = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [1, 1]}}
  %r = train.reduce_mean %x {dims = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 0), got [0]}}
  %r = train.reduce_mean %x {dims = array<i64: 0>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %r = train.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4x1xf32>', got 'tensor<4xf32>'}}
  %r = train.reduce_mean %x {dims = array<i64: 1>, keep_dims} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf16>) {
  // expected-error@+1 {{expected a result of 'f16' or 'f32' elements, got 'bf16'}}
  %r = train.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x8xf16>) -> tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of 'f32' elements, got 'f16'}}
  %r = train.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4x8xi32>'}}
  %r = train.reduce_mean %x {dims = array<i64: 1>} : (tensor<4x8xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{requires attribute 'dims'}}
  %r = train.reduce_mean %x : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [2]}}
  %r = train.reduce_max %x {dims = array<i64: 2>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [-1]}}
  %r = train.reduce_max %x {dims = array<i64: -1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [1, 0]}}
  %r = train.reduce_max %x {dims = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [1, 1]}}
  %r = train.reduce_max %x {dims = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 0), got [0]}}
  %r = train.reduce_max %x {dims = array<i64: 0>} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4xf32>', got 'tensor<8xf32>'}}
  %r = train.reduce_max %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4x1xf32>', got 'tensor<4xf32>'}}
  %r = train.reduce_max %x {dims = array<i64: 1>, keep_dims} : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf16>) {
  // expected-error@+1 {{expected a result of 'f16' or 'f32' elements, got 'bf16'}}
  %r = train.reduce_max %x {dims = array<i64: 1>} : (tensor<4x8xf16>) -> tensor<4xbf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of 'f32' elements, got 'f16'}}
  %r = train.reduce_max %x {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4x8xi32>'}}
  %r = train.reduce_max %x {dims = array<i64: 1>} : (tensor<4x8xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{requires attribute 'dims'}}
  %r = train.reduce_max %x : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{invalid properties {dims = [1]} for op train.reduce_sum: Invalid attribute `dims` in property conversion: [1]}}
  %r = "train.reduce_sum"(%x) <{dims = [1]}> : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{a dynamic dimension in 'dims' needs 'like'}}
  %r = train.broadcast %x {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [2]}}
  %r = train.broadcast %x {dims = array<i64: 2>} : (tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 2), got [-1]}}
  %r = train.broadcast %x {dims = array<i64: -1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{'dims' must be increasing and in [0, 3), got [1, 0]}}
  %r = train.broadcast %x {dims = array<i64: 1, 0>} : (tensor<8xf32>) -> tensor<4x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected a result of rank 2, the operand's plus one per entry of 'dims', got 'tensor<4x4x8xf32>'}}
  %r = train.broadcast %x {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<4x4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %l: tensor<8xf32>) {
  // expected-error@+1 {{expected 'like' of rank 2, the operand's plus one per entry of 'dims', got 'tensor<8xf32>'}}
  %r = train.broadcast %x like %l {dims = array<i64: 0>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>, %l: tensor<?x8xf32>) {
  // expected-error@+1 {{'like' must have the operand's extents in all dimensions but 'dims', expected 'tensor<?x5xf32>', got 'tensor<?x8xf32>'}}
  %r = train.broadcast %x like %l {dims = array<i64: 0>} : (tensor<5xf32>, tensor<?x8xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %l: tensor<?x8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<?x8xf32>', got 'tensor<4x8xf32>'}}
  %r = train.broadcast %x like %l {dims = array<i64: 0>} : (tensor<8xf32>, tensor<?x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf16>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same element type}}
  %r = train.broadcast %x {dims = array<i64: 0>} : (tensor<8xf16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4x8xf32>', got 'tensor<4x9xf32>'}}
  %r = train.broadcast %x {dims = array<i64: 0>} : (tensor<8xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected a result of rank 1, the operand's plus one per entry of 'dims', got 'tensor<f32>'}}
  %r = train.broadcast %x {dims = array<i64>} : (tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %l: tensor<4x8xi32>) {
  // expected-error@+1 {{operand #1 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4x8xi32>'}}
  %r = train.broadcast %x like %l {dims = array<i64: 0>} : (tensor<8xf32>, tensor<4x8xi32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{cannot reshape 'tensor<4x8xf32>' of 32 elements to 'tensor<4x9xf32>' of 36}}
  %r = train.reshape %x : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{at most one dimension of the operand and one of the result may be dynamic, got 'tensor<4x8xf32>' and 'tensor<?x?xf32>'}}
  %r = train.reshape %x : (tensor<4x8xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @f(%x: tensor<?x?xf32>) {
  // expected-error@+1 {{at most one dimension of the operand and one of the result may be dynamic, got 'tensor<?x?xf32>' and 'tensor<?xf32>'}}
  %r = train.reshape %x : (tensor<?x?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{cannot reshape 'tensor<?x8xf32>' to 'tensor<32xf32>'}}
  %r = train.reshape %x : (tensor<?x8xf32>) -> tensor<32xf32>
  return
}

// -----

func.func @f(%x: tensor<32xf32>) {
  // expected-error@+1 {{cannot reshape 'tensor<32xf32>' to 'tensor<?x5xf32>'}}
  %r = train.reshape %x : (tensor<32xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @f(%x: tensor<32xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4x8xf32>', got 'tensor<?x8xf32>'}}
  %r = train.reshape %x : (tensor<32xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @f(%x: tensor<?x6xf32>) {
  // expected-error@+1 {{cannot reshape 'tensor<?x6xf32>' to 'tensor<?x4xf32>'}}
  %r = train.reshape %x : (tensor<?x6xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same element type}}
  %r = train.reshape %x : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<?x0xf32>) {
  // expected-error@+1 {{expected tensors without an empty dimension, got 'tensor<?x0xf32>'}}
  %r = train.reshape %x : (tensor<?x0xf32>) -> tensor<?x0xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.reshape %x : (tensor<4xi32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @f(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error@+1 {{expected tensors of fewer than 2^48 elements, got 'tensor<4294967296x4294967296xf32>'}}
  %r = train.reshape %x : (tensor<4294967296x4294967296xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'permutation' must have 2 entries, one per dimension, got 1}}
  %r = train.transpose %x {permutation = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'permutation' must name each dimension once, got [1, 1]}}
  %r = train.transpose %x {permutation = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'permutation' must name each dimension once, got [1, 2]}}
  %r = train.transpose %x {permutation = array<i64: 1, 2>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'permutation' must name each dimension once, got [-1, 0]}}
  %r = train.transpose %x {permutation = array<i64: -1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<8x4xf32>', got 'tensor<4x8xf32>'}}
  %r = train.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same element type}}
  %r = train.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf16>
  return
}

// -----

func.func @f(%x: tensor<4x8xi1>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4x8xi1>'}}
  %r = train.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xi1>) -> tensor<8x4xi1>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'offsets' must have 2 entries, one per dimension, got 1}}
  %r = train.slice %x {offsets = array<i64: 0>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'sizes' must have 2 entries, one per dimension, got 1}}
  %r = train.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 3>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'strides' must have 2 entries, one per dimension, got 0}}
  %r = train.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: -1, 3>, strides = array<i64>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{dimension 0 is taken whole (size -1), so its offset must be 0 and its stride 1, got 1 and 1}}
  %r = train.slice %x {offsets = array<i64: 1, 0>, sizes = array<i64: -1, 3>, strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{dimension 0 is taken whole (size -1), so its offset must be 0 and its stride 1, got 0 and 2}}
  %r = train.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: -1, 3>, strides = array<i64: 2, 1>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<?x8xf32>) {
  // expected-error@+1 {{dynamic dimension 0 must be taken whole, with size -1, got 2}}
  %r = train.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 2, -1>, strides = array<i64: 1, 1>} : (tensor<?x8xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 0 of extent 8 has no 3 elements from 6 on with stride 1}}
  %r = train.slice %x {offsets = array<i64: 6>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 0 of extent 8 has no 3 elements from -1 on with stride 1}}
  %r = train.slice %x {offsets = array<i64: -1>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected tensors without an empty dimension, got 'tensor<0xf32>'}}
  %r = train.slice %x {offsets = array<i64: 0>, sizes = array<i64: 0>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<0xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 0 of extent 8 has no 1 elements from 0 on with stride 0}}
  %r = train.slice %x {offsets = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 0>} : (tensor<8xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 0 of extent 8 has no -2 elements from 0 on with stride 1}}
  %r = train.slice %x {offsets = array<i64: 0>, sizes = array<i64: -2>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 0 of extent 8 has no 3 elements from 0 on with stride 4}}
  %r = train.slice %x {offsets = array<i64: 0>, sizes = array<i64: 3>, strides = array<i64: 4>} : (tensor<8xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 0 of extent 8 has no 2 elements from 1 on with stride 9223372036854775807}}
  %r = train.slice %x {offsets = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 9223372036854775807>} : (tensor<8xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{dimension 0 of extent 8 has no 2 elements from 9223372036854775807 on with stride 1}}
  %r = train.slice %x {offsets = array<i64: 9223372036854775807>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<3xf32>', got 'tensor<4xf32>'}}
  %r = train.slice %x {offsets = array<i64: 0>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same element type}}
  %r = train.slice %x {offsets = array<i64: 0>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<8xf32>) -> tensor<3xf16>
  return
}

// -----

func.func @f(%x: tensor<8xi64>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<8xi64>'}}
  %r = train.slice %x {offsets = array<i64: 0>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<8xi64>) -> tensor<3xi64>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'low' must have 2 entries, one per dimension, got 1}}
  %r = train.pad %x {low = array<i64: 0>, high = array<i64: 0, 0>, interior = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'high' must have 2 entries, one per dimension, got 1}}
  %r = train.pad %x {low = array<i64: 0, 0>, high = array<i64: 0>, interior = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{'interior' must have 2 entries, one per dimension, got 0}}
  %r = train.pad %x {low = array<i64: 0, 0>, high = array<i64: 0, 0>, interior = array<i64>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{padding of dimension 0 must not be negative}}
  %r = train.pad %x {low = array<i64: -1>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{padding of dimension 0 must not be negative}}
  %r = train.pad %x {low = array<i64: 0>, high = array<i64: -1>, interior = array<i64: 0>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{padding of dimension 0 must not be negative}}
  %r = train.pad %x {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: -1>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{cannot pad dynamic dimension 0}}
  %r = train.pad %x {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{padding of dimension 0 is too large}}
  %r = train.pad %x {low = array<i64: 9223372036854775807>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{padding of dimension 0 is too large}}
  %r = train.pad %x {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 9223372036854775807>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %r = train.pad %x {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same element type}}
  %r = train.pad %x {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected tensors of fewer than 2^48 elements, got 'tensor<281474976710660xf32>'}}
  %r = train.pad %x {low = array<i64: 281474976710656>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xf32>) -> tensor<281474976710660xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.pad %x {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected at least one operand}}
  %r = train.concat  {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 1), got 1}}
  %r = train.concat %x, %y {axis = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'axis' must be in [0, 1), got -1}}
  %r = train.concat %x, %y {axis = -1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>, %y: tensor<f32>) {
  // expected-error@+1 {{'axis' must be in [0, 0), got 0}}
  %r = train.concat %x, %y {axis = 0 : i64} : (tensor<f32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{operands and result must have one element type, got 'f32' and 'f16'}}
  %r = train.concat %x, %y {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{operands must agree in element type and in all dimensions but a static 'axis', got 'tensor<4xf32>' and 'tensor<4xf16>'}}
  %r = train.concat %x, %y {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf16>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{operands must agree in element type and in all dimensions but a static 'axis', got 'tensor<4x2xf32>' and 'tensor<4xf32>'}}
  %r = train.concat %x, %y {axis = 0 : i64} : (tensor<4x2xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error@+1 {{operands must agree in element type and in all dimensions but a static 'axis', got 'tensor<4x2xf32>' and 'tensor<4x3xf32>'}}
  %r = train.concat %x, %y {axis = 0 : i64} : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @f(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) {
  // expected-error@+1 {{operands must agree in element type and in all dimensions but a static 'axis', got 'tensor<?x2xf32>' and 'tensor<?x2xf32>'}}
  %r = train.concat %x, %y {axis = 0 : i64} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{result 0 must have type 'tensor<8xf32>', got 'tensor<9xf32>'}}
  %r = train.concat %x, %y {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be variadic of ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = train.concat %x, %y {axis = 0 : i64} : (tensor<4xi32>, tensor<4xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{'rate' must be in [0, 1), got 1.000000e+00}}
  %r = train.dropout %x, %rng {rate = 1.0 : f64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{'rate' must be in [0, 1), got -5.000000e-01}}
  %r = train.dropout %x, %rng {rate = -0.5 : f64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{'rate' must be in [0, 1), got nan}}
  %r = train.dropout %x, %rng {rate = 0x7FF8000000000000 : f64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<3xi64>) {
  // expected-error@+1 {{the state of the generator must be tensor<2xi64>, got 'tensor<3xi64>'}}
  %r = train.dropout %x, %rng {rate = 0.5 : f64} : (tensor<4xf32>, tensor<3xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<i64>) {
  // expected-error@+1 {{the state of the generator must be tensor<2xi64>, got 'tensor<i64>'}}
  %r = train.dropout %x, %rng {rate = 0.5 : f64} : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<?xi64>) {
  // expected-error@+1 {{operand #1 must be statically shaped tensor of 64-bit signless integer values, but got 'tensor<?xi64>'}}
  %r = train.dropout %x, %rng {rate = 0.5 : f64} : (tensor<4xf32>, tensor<?xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<2xi32>) {
  // expected-error@+1 {{operand #1 must be statically shaped tensor of 64-bit signless integer values, but got 'tensor<2xi32>'}}
  %r = train.dropout %x, %rng {rate = 0.5 : f64} : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{operand and result must have one type, got 'tensor<4xf32>' and 'tensor<4xf16>'}}
  %r = train.dropout %x, %rng {rate = 0.5 : f64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{result 0 must have type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = train.dropout %x, %rng {rate = 0.5 : f64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{custom op 'train.dropout' 'train.dropout' op attribute 'key' failed to satisfy constraint: 32-bit signless integer attribute}}
  %r = train.dropout %x, %rng {rate = 0.5 : f64, key = 1 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{requires attribute 'rate'}}
  %r = train.dropout %x, %rng {key = 1 : i32} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%rng: tensor<4xi64>) {
  // expected-error@+1 {{the state of the generator must be tensor<2xi64>, got 'tensor<4xi64>'}}
  %r = train.advance_rng %rng : tensor<4xi64>
  return
}

// -----

func.func @f(%rng: tensor<2xf32>) {
  // expected-error@+1 {{operand #0 must be statically shaped tensor of 64-bit signless integer values, but got 'tensor<2xf32>'}}
  %r = train.advance_rng %rng : tensor<2xf32>
  return
}
