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

// What is not taken at the index that is tested keeps its test.
func.func @main(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %t: tensor<4xi32> {amp.role = "batch", amp.name = "t"}) -> tensor<4xf32> {
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<4xi32>}> : () -> tensor<4xi32>
  %1 = "stablehlo.compare"(%t, %0) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %2 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<4xf32>}> : () -> tensor<4xf32>
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.select}}
  %3 = "stablehlo.select"(%1, %x, %2) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Indices from the end of another extent.
func.func @main(%e: tensor<8x2xf32> {amp.role = "parameter", amp.name = "e"}, %t: tensor<4x1xi32> {amp.role = "batch", amp.name = "t"}) -> tensor<4x2xf32> {
  %0 = "stablehlo.constant"() <{value = dense<0> : tensor<4x1xi32>}> : () -> tensor<4x1xi32>
  %1 = "stablehlo.compare"(%t, %0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
  %2 = "stablehlo.constant"() <{value = dense<7> : tensor<4x1xi32>}> : () -> tensor<4x1xi32>
  %3 = "stablehlo.add"(%t, %2) : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  %4 = "stablehlo.select"(%1, %3, %t) : (tensor<4x1xi1>, tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.gather}}
  %5 = "stablehlo.gather"(%e, %4) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<8x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  return %5 : tensor<4x2xf32>
}

// -----

// An integer of the data as a number.
func.func @main(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %t: tensor<4xi32> {amp.role = "batch", amp.name = "t"}) -> tensor<4xf32> {
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.convert}}
  %0 = "stablehlo.convert"(%t) : (tensor<4xi32>) -> tensor<4xf32>
  %1 = "stablehlo.multiply"(%x, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
