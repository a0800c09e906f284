// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @nothing() {
  // expected-error@+1 {{has neither outputs nor results}}
  cuda.all_reduce <sum> ins()
  return
}

// -----

func.func @nothing_in_generic(%a: tensor<4xf32>) {
  // expected-error@+1 {{has 0 inputs, expected 1}}
  %0 = cuda.reduce_scatter ins() {along = 0 : i64} -> tensor<4xf32>
  return
}

// -----

func.func @counts(%a: tensor<4xf32>) {
  // expected-error@+1 {{has 2 outputs or results, expected 1}}
  %0:2 = cuda.all_reduce <sum> ins(%a : tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @sum_of_flags(%a: tensor<4xi1>) {
  // expected-error@+1 {{combines 'i1' by 'sum', expected floats, i32 or i64}}
  %0 = cuda.all_reduce <sum> ins(%a : tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @maximum_of_floats(%a: tensor<4xf32>) {
  // expected-error@+1 {{combines 'f32' by 'max', expected i32 or i64}}
  %0 = cuda.all_reduce <max> ins(%a : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_of_numbers(%a: tensor<4xi32>) {
  // expected-error@+1 {{combines 'i32' by 'and', expected i1}}
  %0 = cuda.all_reduce <and> ins(%a : tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @shape(%a: tensor<4xf32>) {
  // expected-error@+1 {{an output has shape [5] of 'f32', expected [4] of 'f32'}}
  %0 = cuda.all_reduce <sum> ins(%a : tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @guarded(%a: tensor<4xf32>, %f: tensor<i1>) {
  // expected-error@+1 {{has a predicate, but all ranks must execute it}}
  %0 = cuda.all_reduce <sum> ins(%a : tensor<4xf32>) if %f : tensor<i1> -> tensor<4xf32>
  return
}

// -----

func.func @reader(%a: tensor<4xf32>) {
  // expected-error@+1 {{has a reader, but all ranks must execute it in every step}}
  %0 = cuda.all_reduce <sum> ins(%a : tensor<4xf32>) {cuda.reader = #cuda.reader<metrics>} -> tensor<4xf32>
  return
}

// -----

func.func @axis(%a: tensor<4xf32>) {
  // expected-error@+1 {{has axis 1 for the shape [4]}}
  %0 = cuda.reduce_scatter ins(%a : tensor<4xf32>) {along = 1 : i64} -> tensor<2xf32>
  return
}

// -----

func.func @not_contiguous(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{divides dimension 1 of [4, 8], expected the extents before it to be 1}}
  %0 = cuda.reduce_scatter ins(%a : tensor<4x8xf32>) {along = 1 : i64} -> tensor<4x2xf32>
  return
}

// -----

func.func @part(%a: tensor<3x2xf32>) {
  // expected-error@+1 {{a part has shape [3, 2] of 'f32', expected [8, 2] of 'f32'}}
  %0 = cuda.all_gather ins(%a : tensor<3x2xf32>) {along = 0 : i64} -> tensor<8x2xf32>
  return
}

// -----

func.func @integers(%a: tensor<2xi32>) {
  // expected-error@+1 {{has elements of 'i32', expected floats}}
  %0 = cuda.all_gather ins(%a : tensor<2xi32>) {along = 0 : i64} -> tensor<4xi32>
  return
}

// -----

func.func @dropout(%a: tensor<4xf32>, %b: tensor<2xi64>) {
  // expected-error@+1 {{has axis 1 for the shape [4]}}
  %0 = cuda.dropout ins(%a, %b : tensor<4xf32>, tensor<2xi64>) {rate = 0.5 : f64, key = 0 : i32, divided_along = 1 : i64} -> tensor<4xf32>
  return
}

// -----

cuda.program @ranks arena 768 attributes {ranks = 4 : i64} {
  %g = cuda.buffer "g" at 0 {role = "batch"} : memref<8xf32>
  %p = cuda.buffer "p" at 256 {role = "prediction"} : memref<4xf32>
  // expected-error@+1 {{takes [4] as a part of [8], expected a part for each of 4 ranks}}
  cuda.reduce_scatter named "scatter" ins(%g : memref<8xf32>) outs(%p : memref<4xf32>) {along = 0 : i64}
  cuda.await "scatter"
}

// -----

cuda.program @never arena 256 {
  %g = cuda.buffer "g" at 0 {role = "optimizer_state"} : memref<8xf32>
  // expected-error@+1 {{is never awaited, expected a 'cuda.await' of its name}}
  cuda.all_reduce <sum> named "sum" ins(%g : memref<8xf32>) outs(%g : memref<8xf32>)
}

// -----

cuda.program @twice arena 256 {
  %g = cuda.buffer "g" at 0 {role = "optimizer_state"} : memref<8xf32>
  cuda.all_reduce <sum> named "sum" ins(%g : memref<8xf32>) outs(%g : memref<8xf32>)
  cuda.await "sum"
  // expected-error@+1 {{awaits 'sum', which is not a collective that runs at this place}}
  cuda.await "sum"
}

// -----

// Another buffer, in the same place: the temporaries are in use one after the
// other, except that the collective goes on.
#map = affine_map<(d0) -> (d0)>
cuda.program @too_early arena 768 {
  %g = cuda.buffer "g" at 0 {role = "batch"} : memref<8xf32>
  %y = cuda.buffer "y" at 256 {role = "optimizer_state"} : memref<4xf32>
  %a = cuda.buffer "a" at 512 : memref<8xf32>
  %b = cuda.buffer "b" at 512 : memref<8xf32>
  cuda.kernel named "write" over [8] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%g : memref<8xf32>) outs(%a : memref<8xf32>)
  // expected-note@+1 {{the collective is here}}
  cuda.reduce_scatter named "scatter" ins(%a : memref<8xf32>) outs(%y : memref<4xf32>) {along = 0 : i64}
  // expected-error@+1 {{'write_again' uses memory of a collective that runs, expected a 'cuda.await' before it}}
  cuda.kernel named "write_again" over [8] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%g : memref<8xf32>) outs(%b : memref<8xf32>)
  cuda.await "scatter"
}

// -----

func.func @counts_of_parts(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{has 1 outputs or results, expected 2}}
  %0 = cuda.reduce_scatter ins(%a, %b : tensor<4xf32>, tensor<4xf32>) {along = 0 : i64} -> tensor<2xf32>
  return
}

// -----

func.func @flat_part(%a: tensor<5x3xf32>) {
  // expected-error@+1 {{takes [9] of 'f32' as a part of [5, 3] of 'f32', expected one dimension and n / N elements, rounded up}}
  %0 = cuda.rank_part ins(%a : tensor<5x3xf32>) -> tensor<9xf32>
  return
}

// -----

cuda.program @part_of_other_ranks arena 512 attributes {ranks = 3 : i64} {
  %w = cuda.buffer "w" at 0 {role = "parameter"} : memref<5x3xf32>
  %p = cuda.buffer "p" at 256 {role = "prediction"} : memref<4xf32>
  // expected-error@+1 {{takes [4] as a part of [5, 3], expected a part for each of 3 ranks}}
  cuda.rank_part named "part" ins(%w : memref<5x3xf32>) outs(%p : memref<4xf32>)
}

// -----

// A reduce-scatter cannot work in place.
cuda.program @in_place arena 256 {
  %g = cuda.buffer "g" at 0 {role = "optimizer_state"} : memref<8xf32>
  // expected-error@+1 {{writes 'g' while it reads it}}
  cuda.reduce_scatter named "scatter" ins(%g : memref<8xf32>) outs(%g : memref<8xf32>) {along = 0 : i64}
  cuda.await "scatter"
}

// -----

cuda.program @state_without_ranks arena 256 {
  // expected-error@+1 {{is a part of a state, expected a program with 'ranks'}}
  %m = cuda.buffer "m" at 0 {part_of = tensor<5x3xf32>, role = "optimizer_state"} : memref<4xf32>
}

// -----

cuda.program @state_of_other_ranks arena 256 attributes {ranks = 2 : i64} {
  // expected-error@+1 {{has 4 elements of 'tensor<5x3xf32>', expected 8 for 2 ranks}}
  %m = cuda.buffer "m" at 0 {part_of = tensor<5x3xf32>, role = "optimizer_state"} : memref<4xf32>
}

// -----

cuda.program @part_of_batch arena 256 attributes {ranks = 4 : i64} {
  // expected-error@+1 {{has 'part_of', which belongs on states}}
  %m = cuda.buffer "m" at 0 {part_of = tensor<5x3xf32>, role = "batch"} : memref<4xf32>
}

// -----

cuda.program @part_of_shape arena 256 attributes {ranks = 4 : i64} {
  // expected-error@+1 {{is 'memref<2x2xf32>' as a part of 'tensor<5x3xf32>', expected one dimension and n / N elements, rounded up}}
  %m = cuda.buffer "m" at 0 {part_of = tensor<5x3xf32>, role = "optimizer_state"} : memref<2x2xf32>
}

// -----

// Parts that do not divide the whole evenly need the number of ranks.
cuda.program @uneven arena 1024 {
  %g = cuda.buffer "g" at 0 {role = "batch"} : memref<8xf32>
  %p = cuda.buffer "p" at 256 {role = "prediction"} : memref<3xf32>
  // expected-error@+1 {{takes [3] as a part of [8], expected a program with 'ranks'}}
  cuda.reduce_scatter named "scatter" ins(%g : memref<8xf32>) outs(%p : memref<3xf32>) {along = 0 : i64}
  cuda.await "scatter"
}

// -----

// Three parts of 22 elements end at byte 264, in the memory of another buffer.
cuda.program @after_whole arena 1024 attributes {ranks = 3 : i64} {
  // expected-note@+1 {{'g' lies from 0 to 264}}
  %g = cuda.buffer "g" at 0 {role = "batch"} : memref<64xf32>
  // expected-error@+1 {{overlaps 'g' while both are in use}}
  %p = cuda.buffer "p" at 256 {role = "prediction"} : memref<22xf32>
  cuda.reduce_scatter named "scatter" ins(%g : memref<64xf32>) outs(%p : memref<22xf32>) {along = 0 : i64}
  cuda.await "scatter"
}

// -----

cuda.program @beyond arena 512 attributes {ranks = 3 : i64} {
  %p = cuda.buffer "p" at 0 {role = "batch"} : memref<22xf32>
  %y = cuda.buffer "y" at 256 {role = "prediction"} : memref<64xf32>
  // expected-error@+1 {{uses 'y' up to 520, beyond the arena}}
  cuda.all_gather named "gather" ins(%p : memref<22xf32>) outs(%y : memref<64xf32>) {along = 0 : i64}
  cuda.await "gather"
}

// -----

// The part of three ranks needs two elements after the 64 of the whole.
#map = affine_map<(d0) -> (d0)>
cuda.program @reserved arena 512 predictions 1280 attributes {ranks = 3 : i64} {
  %m = cuda.buffer "m" at 0 {role = "optimizer_state"} : memref<22xf32>
  %g = cuda.buffer "g" at 256 {role = "optimizer_state"} : memref<64xf32>
  %y = cuda.buffer "y" at 1024 {role = "prediction"} : memref<64xf32>
  // expected-error@+1 {{uses 'g' up to 520, in part beyond the arena of 512 bytes}}
  cuda.reduce_scatter named "scatter" ins(%g : memref<64xf32>) outs(%m : memref<22xf32>) {along = 0 : i64}
  cuda.await "scatter"
  cuda.kernel named "first" over [64] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%g : memref<64xf32>) outs(%y : memref<64xf32>) {cuda.reader = #cuda.reader<predictions>}
}

// -----

// Parts without elements are valid.
cuda.program @empty arena 768 {
  %g = cuda.buffer "g" at 0 {role = "batch"} : memref<0xf32>
  %p = cuda.buffer "p" at 256 {role = "prediction"} : memref<0xf32>
  cuda.reduce_scatter named "scatter" ins(%g : memref<0xf32>) outs(%p : memref<0xf32>) {along = 0 : i64}
  cuda.await "scatter"
}

// -----

cuda.program @halves_of_a_part arena 256 {
  // expected-error@+1 {{has 'split' and 'part_of', expected at most one of them}}
  %w = cuda.buffer "w" at 0 {part_of = tensor<5x3xf32>, role = "parameter", split} : memref<4xf32>
}
