// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops, maps and bodies of kernels.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @maps(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 3 maps, expected one per element-wise input and one per output}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @map(%x: tensor<4xf32>) {
  // expected-error@+1 {{the map of input 0 is affine_map<(d0, d1) -> (d0)>, expected one of 1 loops to 1 dimensions}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0, d1) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @extent(%x: tensor<4xf32>) {
  // expected-error@+1 {{loop 0 has extent 0}}
  %0 = cuda.kernel over [0] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @combine(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs 'reduce' and 'with' together}}
  %0 = "cuda.kernel"(%x) <{extents = array<i64: 4>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], combine = #cuda.combine<add>, operandSegmentSizes = array<i32: 1, 0, 0, 0>}> ({
  ^bb0(%e: f32):
    cuda.yield %e : f32
  }, {
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @outputs(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduces to 2 outputs, expected one}}
  %0:2 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<f32>, tensor<f32>
  return
}

// -----

func.func @nothing(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduces over no loop}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] reduce [] with <add> {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @loop(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduces over loop 1 of 1}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] reduce [1] with <add> {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{output 0 has shape [5], expected the extents of the loops, [4]}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{has a body of 2 arguments, expected one per input, 1}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32, %f: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @yield(%x: tensor<4xf32>) {
  // expected-error@+1 {{the body must yield 'f16'}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @finish(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 'finish' but reduces nothing}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } finish {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @one(%x: tensor<4xf32>) {
  // expected-error@+1 {{the body of a reduction must yield one value}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%e: f32):
    cuda.yield %e, %e : f32, f32
  } ins(%x : tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @extremum(%x: tensor<4xi32>) {
  // expected-error@+1 {{cannot combine values of type 'i32' with 'maximum'; expected f32, f64, i1, i32 or i64 for add and mul, f32 for maximum and minimum, i1 for and and or}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <maximum> {
  ^bb0(%e: i32):
    cuda.yield %e : i32
  } ins(%x : tensor<4xi32>) -> tensor<i32>
  return
}

// -----

func.func @converts(%x: tensor<4xf32>) {
  // expected-error@+1 {{stores values of type 'f32' in an output of 'f16'; expected a 'finish' that converts them}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<f16>
  return
}

// -----

func.func @finish_argument(%x: tensor<4xf32>) {
  // expected-error@+1 {{'finish' must take one value of type 'f32'}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } finish {
  ^bb0(%e: f16):
    cuda.yield %e : f16
  } ins(%x : tensor<4xf32>) -> tensor<f16>
  return
}

// -----

func.func @finish_yield(%x: tensor<4xf32>) {
  // expected-error@+1 {{the 'finish' must yield 'f16'}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } finish {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<f16>
  return
}

// -----

func.func @outside() {
  // expected-error@+1 {{expected to be inside a 'cuda.kernel'}}
  %0 = cuda.index 0
  return
}

// -----

func.func @index(%x: tensor<4xf32>) {
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    // expected-error@+1 {{asks for loop 1 of 1}}
    %i = cuda.index 1
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @index_in_finish(%x: tensor<4xf32>) {
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } finish {
  ^bb0(%e: f32):
    // expected-error@+1 {{is in 'finish', which has no loops}}
    %i = cuda.index 0
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @codes(%x: tensor<4xf8E4M3FN>) {
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f8E4M3FN):
    // expected-error@+1 {{reads 'f8E4M3FN' in a kernel, expected arith.bitcast to its code, i8}}
    %f = arith.extf %e : f8E4M3FN to f32
    cuda.yield %f : f32
  } ins(%x : tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return
}

// -----

func.func @codes(%x: tensor<4xf32>) {
  // expected-error@+1 {{writes 'f8E4M3FN', expected another element type}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    %f = arith.truncf %e : f32 to f8E4M3FN
    cuda.yield %f : f8E4M3FN
  } ins(%x : tensor<4xf32>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @many_counts(%x: tensor<4xf32>) {
  // expected-error@+1 {{counts values for 5 outputs, expected 1 to 4}}
  %0:5 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>, affine_map<(d0) -> (0)>, affine_map<(d0) -> (0)>, affine_map<(d0) -> (0)>, affine_map<(d0) -> (0)>] reduce [0] with <statistics> {
  ^bb0(%e: f32):
    cuda.yield %e, %e : f32, f32
  } ins(%x : tensor<4xf32>) -> tensor<263xi64>, tensor<263xi64>, tensor<263xi64>, tensor<263xi64>, tensor<263xi64>
  return
}

// -----

func.func @part_of_loops(%x: tensor<4xf32>) {
  // expected-error@+1 {{counts values over 0 of 1 loops, expected all of them}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>] reduce [] with <statistics> {
  ^bb0(%e: f32):
    cuda.yield %e, %e : f32, f32
  } ins(%x : tensor<4xf32>) -> tensor<263xi64>
  return
}

// -----

func.func @count_map(%x: tensor<4xf32>) {
  // expected-error@+1 {{the map of output 0 is affine_map<(d0) -> (d0)>, expected affine_map<(d0) -> (0)>}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] reduce [0] with <statistics> {
  ^bb0(%e: f32):
    cuda.yield %e, %e : f32, f32
  } ins(%x : tensor<4xf32>) -> tensor<263xi64>
  return
}

// -----

func.func @count_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{output 0 has shape [4] of 'i64', expected [263] of 'i64'}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>] reduce [0] with <statistics> {
  ^bb0(%e: f32):
    cuda.yield %e, %e : f32, f32
  } ins(%x : tensor<4xf32>) -> tensor<4xi64>
  return
}

// -----

func.func @count_finish(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 'finish' but counts values}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>] reduce [0] with <statistics> {
  ^bb0(%e: f32):
    cuda.yield %e, %e : f32, f32
  } finish {
  ^bb0(%c: f32):
    cuda.yield %c : f32
  } ins(%x : tensor<4xf32>) -> tensor<263xi64>
  return
}

// -----

func.func @one_of_pair(%x: tensor<4xf32>) {
  // expected-error@+1 {{the body must yield 'f32', 'f32'}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (0)>] reduce [0] with <statistics> {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<263xi64>
  return
}

// -----

func.func @many_iterations(%x: tensor<16x16xf32>) {
  // expected-error@+1 {{has loops over [1099511627776, 16], expected extents whose product is at most 2^40}}
  %r = cuda.kernel over [1099511627776, 16] maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] {
  ^bb0(%a: f32):
    cuda.yield %a : f32
  } ins(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
  return
}

// -----

// The index of the input overflows.
func.func @large_index(%x: tensor<16x16xf32>) {
  // expected-error@+1 {{the map of input 0 is}}
  %r = cuda.kernel over [16, 16] maps [affine_map<(d0, d1) -> (d0 * 4611686018427387904, d1)>, affine_map<(d0, d1) -> (d0, d1)>] {
  ^bb0(%a: f32):
    cuda.yield %a : f32
  } ins(%x : tensor<16x16xf32>) -> tensor<16x16xf32>
  return
}
