// What collectives of the amp dialect reject.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.all_reduce' op expected at least one tensor}}
  "amp.all_reduce"() {reduction = 0 : i32} : () -> ()
  return
}

// -----

func.func @f(%x: tensor<i1>) {
  // expected-error@+1 {{'amp.all_reduce' op reduction 'sum' combines numbers, got 'tensor<i1>'}}
  %r = amp.all_reduce sum %x : tensor<i1>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.all_reduce' op reduction 'and' combines booleans, got 'tensor<4xf32>'}}
  %r = amp.all_reduce and %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected string or keyword containing one of the following enum values for attribute 'reduction' [sum, max, and]}}
  %r = amp.all_reduce mean %x : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xi8>) {
  // expected-error@+1 {{operand #0 must be variadic of ranked tensor of f16, bf16, f32 or f64 values or ranked tensor of 1-bit signless integer or 32-bit signless integer or 64-bit signless integer values, but got 'tensor<4xi8>'}}
  %r = amp.all_reduce sum %x : tensor<4xi8>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.reduce_scatter' op expected 'along' to be a dimension of 'tensor<4xf32>', got 1}}
  %r = amp.reduce_scatter %x along 1 : tensor<4xf32> to tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{'amp.reduce_scatter' op expected a part of 'tensor<4x6xf32>' along dimension 1, got 'tensor<4x4xf32>'}}
  %r = amp.reduce_scatter %x along 1 : tensor<4x6xf32> to tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{'amp.all_gather' op expected a part of 'tensor<8x3xf32>' along dimension 0, got 'tensor<4x6xf32>'}}
  %r = amp.all_gather %x along 0 : tensor<4x6xf32> to tensor<8x3xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf16>) {
  // expected-error@+1 {{'amp.all_gather' op expected a part of 'tensor<8xf32>' along dimension 0, got 'tensor<4xf16>'}}
  %r = amp.all_gather %x along 0 : tensor<4xf16> to tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'amp.all_gather' op expected 'along' to be a dimension of 'tensor<f32>', got -1}}
  %r = amp.all_gather %x along -1 : tensor<f32> to tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf16>) {
  // expected-error@+1 {{'amp.divide_by_ranks' op attribute 'ranks' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %r = amp.divide_by_ranks %x of 0 : tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf16>) {
  // expected-error@+1 {{'amp.cast' op expected 'amp.divided_along' to be a dimension, or a dimension, the number of ranks and the number of a rank}}
  %r = amp.cast %x {amp.divided_along = array<i64: 0, 2, 2>} : tensor<4xf16> to tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'amp.reduce_scatter' op expected a flat part of 'tensor<8x4xf32>', with one dimension and n / N elements, rounded up, got 'tensor<12xf32>'}}
  %r = amp.reduce_scatter %x : tensor<8x4xf32> to tensor<12xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'amp.rank_part' op expected a flat part of 'tensor<8x4xf32>', with one dimension and n / N elements, rounded up, got 'tensor<2x4xf32>'}}
  %r = amp.rank_part %x : tensor<8x4xf32> to tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{'amp.all_gather' op expected a flat part of 'tensor<8xf32>', with one dimension and n / N elements, rounded up, got 'tensor<?xf32>'}}
  %r = amp.all_gather %x : tensor<?xf32> to tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{'amp.rank_part' op expected a part of 'tensor<8x4xf32>' along dimension 0, got 'tensor<3x4xf32>'}}
  %r = amp.rank_part %x along 0 : tensor<8x4xf32> to tensor<3x4xf32>
  return
}

// -----

// expected-error@+1 {{op argument 0: expected 'amp.part_of' to be the type of a tensor with a static shape}}
func.func @f(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.part_of = "whole"}) {
  return
}

// -----

// expected-error@+1 {{op argument 0: 'amp.part_of' belongs on states}}
func.func @f(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x", amp.part_of = tensor<8xf32>}) {
  return
}

// -----

// expected-error@+1 {{op argument 0: expected a flat part of 'tensor<8xf32>', with one dimension and n / N elements, rounded up, got 'tensor<4xf16>'}}
func.func @f(%x: tensor<4xf16> {amp.role = "parameter", amp.name = "w", amp.part_of = tensor<8xf32>}) {
  return
}
