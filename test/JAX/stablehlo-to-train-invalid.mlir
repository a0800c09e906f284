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

// Not a factor of x/2: 1 - erf would lose small values.
func.func @main(%a: tensor<4xf32> {amp.role = "parameter", amp.name = "a"}) -> tensor<4xf32> {
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x chlo.erfc}}
  %0 = "chlo.erfc"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<1x8x8x1xf32> {amp.role = "batch", amp.name = "x"}, %k: tensor<3x3x1x2xf32> {amp.role = "parameter", amp.name = "k"}) -> tensor<1x6x6x2xf32> {
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.convolution (expected no reversed window or batch groups)}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_reversal = array<i1: true, false>}> : (tensor<1x8x8x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x6x6x2xf32>
  return %0 : tensor<1x6x6x2xf32>
}

// -----

// A loop whose end the data decides is imported. What its regions do not support
// is named.
func.func @main(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %n: tensor<i32> {amp.role = "batch", amp.name = "n"}) -> tensor<4xf32> {
  %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%c0, %x) ({
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    %9 = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%9) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
    // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.fft, 1 x chlo.lgamma}}
    %8 = "stablehlo.fft"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %c1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.add"(%i, %c1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%9, %8) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  %1 = "chlo.lgamma"(%0#1) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %i: tensor<i32> {amp.role = "batch", amp.name = "i"}) -> tensor<4xf32> {
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.fft, 1 x stablehlo.case (an index that is not imported), 1 x stablehlo.while (it carries a value that is not imported)}}
  %0 = "stablehlo.fft"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %odd = "stablehlo.popcnt"(%i) : (tensor<i32>) -> tensor<i32>
  %1 = "stablehlo.case"(%odd) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
    "stablehlo.return"(%0) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  %2:2 = "stablehlo.while"(%odd, %1) ({
  ^bb0(%k: tensor<i32>, %a: tensor<4xf32>):
    %9 = "stablehlo.compare"(%k, %i) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%9) : (tensor<i1>) -> ()
  }, {
  ^bb0(%k: tensor<i32>, %a: tensor<4xf32>):
    "stablehlo.return"(%i, %a) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %2#1 : tensor<4xf32>
}

// -----

// A comparison by other than comparisons, and a product at several indices.
func.func @main(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "x"}, %i: tensor<2x1xi32> {amp.role = "batch", amp.name = "i"}) -> tensor<4xf32> {
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.sort (expected a comparison of its operands), 1 x stablehlo.scatter (expected an update of one tensor by set, add, max or min)}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.sine"(%a) : (tensor<f32>) -> tensor<f32>
    %d = "stablehlo.compare"(%c, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%d) : (tensor<i1>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %u = "stablehlo.slice"(%0) <{start_indices = array<i64: 0>, limit_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<2xf32>
  %1 = "stablehlo.scatter"(%0, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.multiply"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Unsupported operations of the body are named, once for all loops.
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

func.func @main(%x: tensor<1x2x3x4x6x5xf32> {amp.role = "parameter", amp.name = "x"}, %k: tensor<1x1x1x1x5x2xf32> {amp.role = "parameter", amp.name = "k"}) -> tensor<1x2x3x4x6x2xf32> {
  // expected-error @+1 {{unsupported here: 1 x stablehlo.convolution (expected one to three spatial dimensions)}}
  %0 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, 2, 3, f]x[0, 1, 2, 3, i, o]->[b, 0, 1, 2, 3, f]>, feature_group_count = 1 : i64}> : (tensor<1x2x3x4x6x5xf32>, tensor<1x1x1x1x5x2xf32>) -> tensor<1x2x3x4x6x2xf32>
  return %0 : tensor<1x2x3x4x6x2xf32>
}

// -----

// Operations without the operands that their meaning needs.
func.func @main(%a: tensor<4xf32> {amp.role = "parameter", amp.name = "a"}) -> tensor<4xf32> {
  %h = "stablehlo.constant"() <{value = dense<0.707106769> : tensor<4xf32>}> : () -> tensor<4xf32>
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.multiply (its operands do not fit), 1 x chlo.erfc, 1 x chlo.erfc (its operands do not fit), 1 x stablehlo.is_finite (its operands do not fit)}}
  %0 = "stablehlo.multiply"(%h) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "chlo.erfc"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "chlo.erfc"() : () -> tensor<4xf32>
  %3 = "stablehlo.is_finite"() : () -> tensor<4xi1>
  return %a : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4xf32> {amp.role = "parameter", amp.name = "a"}, %n: tensor<i32> {amp.role = "batch", amp.name = "n"}) -> tensor<4xf32> {
  %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%c0, %a) ({
  ^bb0(%i: tensor<i32>, %x: tensor<4xf32>):
    // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.compare (its operands do not fit)}}
    %9 = "stablehlo.compare"(%i) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%9) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %x: tensor<4xf32>):
    "stablehlo.return"(%i, %x) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// -----

// Sizes that 64 bits do not hold.
func.func @main(%a: tensor<1x4x4x2xf32> {amp.role = "parameter", amp.name = "a"}) -> tensor<1x4x4x2xf32> {
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 2 x stablehlo.reduce_window (its operands do not fit), 1 x stablehlo.pad (its operands do not fit)}}
  %0 = "stablehlo.reduce_window"(%a, %z) <{padding = dense<[[0, 0], [9223372036854775807, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  %1 = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 2147483648, 2147483648, 2147483648>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  %2 = "stablehlo.pad"(%a, %z) <{edge_padding_low = array<i64: 0, 0, 0, 0>, edge_padding_high = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 9223372036854775807, 0, 0>}> : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  return %a : tensor<1x4x4x2xf32>
}

// -----

// Results that differ from the operands.
func.func @main(%a: tensor<4x6xf32> {amp.role = "parameter", amp.name = "a"}, %i: tensor<i32> {amp.role = "batch", amp.name = "i"}) -> tensor<4x6xf32> {
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 1 x stablehlo.reduce (its operands do not fit), 1 x stablehlo.concatenate (its operands do not fit), 1 x stablehlo.dynamic_slice (its results have other types than it computes)}}
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
  %1 = "stablehlo.concatenate"(%a, %a) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<9x6xf32>
  %2 = "stablehlo.dynamic_slice"(%a, %i, %i) <{slice_sizes = array<i64: 2, 2>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return %a : tensor<4x6xf32>
}

// -----

// A whole step has its backward pass.
func.func @step(%w: tensor<f32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<f32> {amp.metric = "loss"}) {
  %loss = "stablehlo.exponential"(%w) : (tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{expected a loss without its backward pass, as 'amp_jax.lower_loss' writes it, got a training step}}
  %seed = amp.gradient_seed "loss" : tensor<f32>
  return %loss : tensor<f32>
}
