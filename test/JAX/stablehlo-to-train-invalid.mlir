// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --stablehlo-to-train
// RUN: not amp-opt %s --allow-unregistered-dialect --split-input-file --stablehlo-to-train='optimizer=lamb' 2>&1 | FileCheck %s --check-prefix=OPTIMIZER

// OPTIMIZER: stablehlo-to-train: unknown optimizer 'lamb', expected none, sgd or adam

func.func @main(%a: tensor<4x4xf32> {amp.role = "parameter", amp.name = "a"}) -> tensor<4x4xf32> {
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 2 x stablehlo.cholesky, 1 x stablehlo.fft}}
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.fft"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "stablehlo.cholesky"(%1) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// expected-error @+1 {{stablehlo-to-train: no function has arguments with 'amp.role'; expected a loss that is marked by position}}
module {
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %a : tensor<4x4xf32>
}
}

// -----

// Not a factor of x/2: 1 - erf would lose what is small.
func.func @main(%a: tensor<4xf32> {amp.role = "parameter", amp.name = "a"}) -> tensor<4xf32> {
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x chlo.erfc}}
  %0 = "chlo.erfc"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<1x8x8x1xf32> {amp.role = "batch", amp.name = "x"}, %k: tensor<3x3x1x2xf32> {amp.role = "parameter", amp.name = "k"}) -> tensor<1x5x6x2xf32> {
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.convolution}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<[[-1, 0], [0, 0]]> : tensor<2x2xi64>}> : (tensor<1x8x8x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x5x6x2xf32>
  return %0 : tensor<1x5x6x2xf32>
}

// -----

// An average times 9 is not the sum.
func.func @main(%x: tensor<1x3x3x1xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<1x1x1x1xf32> {
  %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.reduce_window}}
  %1 = "stablehlo.reduce_window"(%x, %0) <{window_dimensions = array<i64: 1, 3, 3, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %9 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%9) : (tensor<f32>) -> ()
  }) : (tensor<1x3x3x1xf32>, tensor<f32>) -> tensor<1x1x1x1xf32>
  %2 = "stablehlo.negate"(%1) : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}

// -----

// The trip count depends on the data.
func.func @main(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %n: tensor<i32> {amp.role = "batch", amp.name = "n"}) -> tensor<4xf32> {
  %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.while (its trip count is not a constant: expected a scan, or a fori_loop with constant bounds), 1 x stablehlo.fft}}
  %0:2 = "stablehlo.while"(%c0, %x) ({
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %9 = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%9) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %c1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.add"(%i, %c1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%9, %a) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  %1 = "stablehlo.fft"(%0#1) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What the body does not support is named, once for all loops.
func.func @main(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<4xf32> {
  %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%c0, %x) ({
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %c3 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.compare"(%i, %c3) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%9) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %c1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.add"(%i, %c1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    // expected-error @+1 {{stablehlo-to-train: unsupported here: 2 x stablehlo.fft}}
    %8 = "stablehlo.fft"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%9, %8) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  %1 = "stablehlo.fft"(%0#1) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A sum from 1 on.
func.func @main(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<f32> {
  %one = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{unsupported here: 1 x stablehlo.reduce (expected a sum, product, maximum or minimum from its neutral element)}}
  %0 = "stablehlo.reduce"(%x, %one) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %9 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%9) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @main(%x: tensor<1x2x3x4x5xf32> {amp.role = "parameter", amp.name = "x"}, %k: tensor<1x1x1x5x2xf32> {amp.role = "parameter", amp.name = "k"}) -> tensor<1x2x3x4x2xf32> {
  // expected-error @+1 {{unsupported here: 1 x stablehlo.convolution (expected one or two spatial dimensions)}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]>, feature_group_count = 1 : i64}> : (tensor<1x2x3x4x5xf32>, tensor<1x1x1x5x2xf32>) -> tensor<1x2x3x4x2xf32>
  return %0 : tensor<1x2x3x4x2xf32>
}
