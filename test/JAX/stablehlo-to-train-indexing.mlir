// What JAX writes for gelu, embeddings, masks, padding, average pooling and
// one-hot encodings, as one operation or a few.
//
// RUN: amp-opt --allow-unregistered-dialect --split-input-file %s --stablehlo-to-train | FileCheck %s --implicit-check-not=stablehlo

// CHECK-LABEL: func.func @gelu
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x8xf32>
// CHECK-NEXT: %[[Y:.*]] = train.gelu %[[X]]
// CHECK-NOT: approximate = 1
// CHECK: return %[[Y]]
func.func @gelu(%x: tensor<2x8xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<2x8xf32> {
  %0 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<2x8xf32>}> : () -> tensor<2x8xf32>
  %1 = "stablehlo.multiply"(%0, %x) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = "stablehlo.negate"(%x) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %3 = "stablehlo.constant"() <{value = dense<0.707106769> : tensor<2x8xf32>}> : () -> tensor<2x8xf32>
  %4 = "stablehlo.multiply"(%2, %3) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %5 = "chlo.erfc"(%4) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %6 = "stablehlo.multiply"(%1, %5) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %6 : tensor<2x8xf32>
}

// -----

// The form of jnp.take: an index from the end, and NaN out of range.

// CHECK-LABEL: func.func @embedding
// CHECK-SAME: %[[E:[^:]*]]: tensor<16x8xf32>{{.*}}, %[[T:[^:]*]]: tensor<2x5xi32>
// CHECK-NEXT: %[[Y:.*]] = train.gather %[[E]], %[[T]] {axis = 0 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @embedding(%e: tensor<16x8xf32> {amp.role = "parameter", amp.name = "e"}, %t: tensor<2x5xi32> {amp.role = "batch", amp.name = "t"}) -> tensor<2x5x8xf32> {
  %1 = "stablehlo.constant"() <{value = dense<0> : tensor<2x5xi32>}> : () -> tensor<2x5xi32>
  %2 = "stablehlo.compare"(%t, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<2x5xi32>, tensor<2x5xi32>) -> tensor<2x5xi1>
  %4 = "stablehlo.constant"() <{value = dense<16> : tensor<2x5xi32>}> : () -> tensor<2x5xi32>
  %5 = "stablehlo.add"(%t, %4) : (tensor<2x5xi32>, tensor<2x5xi32>) -> tensor<2x5xi32>
  %6 = "stablehlo.select"(%2, %5, %t) : (tensor<2x5xi1>, tensor<2x5xi32>, tensor<2x5xi32>) -> tensor<2x5xi32>
  %8 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x5xi32>) -> tensor<2x5x1xi32>
  %9 = "stablehlo.constant"() <{value = dense<15> : tensor<1xi32>}> : () -> tensor<1xi32>
  %11 = "stablehlo.constant"() <{value = dense<0> : tensor<2x5x1xi32>}> : () -> tensor<2x5x1xi32>
  %12 = "stablehlo.compare"(%8, %11) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<2x5x1xi32>, tensor<2x5x1xi32>) -> tensor<2x5x1xi1>
  %14 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 2>}> : (tensor<1xi32>) -> tensor<2x5x1xi32>
  %15 = "stablehlo.compare"(%8, %14) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<2x5x1xi32>, tensor<2x5x1xi32>) -> tensor<2x5x1xi1>
  %16 = "stablehlo.and"(%12, %15) : (tensor<2x5x1xi1>, tensor<2x5x1xi1>) -> tensor<2x5x1xi1>
  %17 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
  %18 = "stablehlo.reduce"(%16, %17) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %24 = "stablehlo.and"(%a, %b) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%24) : (tensor<i1>) -> ()
  }) : (tensor<2x5x1xi1>, tensor<i1>) -> tensor<2x5xi1>
  %19 = "stablehlo.gather"(%e, %8) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<2x5x1xi32>) -> tensor<2x5x8xf32>
  %20 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x5xi1>) -> tensor<2x5x8xi1>
  %21 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<2x5x8xf32>}> : () -> tensor<2x5x8xf32>
  %23 = "stablehlo.select"(%20, %19, %21) : (tensor<2x5x8xi1>, tensor<2x5x8xf32>, tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  return %23 : tensor<2x5x8xf32>
}

// -----

// Rows at constant indices; those out of range are clamped.

// CHECK-LABEL: func.func @rows
// CHECK: train.constant dense<{{\[\[}}0], [3], [3]]> : tensor<3x1xi32>
// CHECK: train.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<8x3x1xf32>
// CHECK: train.transpose
// CHECK-SAME: tensor<3x8xf32>
func.func @rows(%e: tensor<8x4xf32> {amp.role = "parameter", amp.name = "e"}) -> tensor<3x8xf32> {
  %0 = "stablehlo.constant"() <{value = dense<[[-1], [3], [4]]> : tensor<3x1xi32>}> : () -> tensor<3x1xi32>
  %1 = "stablehlo.gather"(%e, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 8, 1>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// -----

// CHECK-LABEL: func.func @causal
// CHECK-DAG: %[[M:.*]] = train.constant dense<{{\[\[\[}}true, false, false], [true, true, false], [true, true, true]]]> : tensor<1x3x3xi1>
// CHECK-DAG: train.constant dense<0xFF800000> : tensor<2x3x3xf32>
// CHECK: train.select %[[M]], %{{.*}} : (tensor<1x3x3xi1>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
func.func @causal(%x: tensor<2x3x3xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<2x3x3xf32> {
  %0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x3xi32>
  %1 = "stablehlo.constant"() <{value = dense<0> : tensor<3x3xi32>}> : () -> tensor<3x3xi32>
  %2 = "stablehlo.add"(%0, %1) : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi32>
  %3 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x3xi32>
  %4 = "stablehlo.compare"(%2, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
  %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<3x3xi1>) -> tensor<2x3x3xi1>
  %6 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<2x3x3xf32>}> : () -> tensor<2x3x3xf32>
  %7 = "stablehlo.select"(%5, %x, %6) : (tensor<2x3x3xi1>, tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  return %7 : tensor<2x3x3xf32>
}

// -----

// Integers wrap around and divide towards zero; transposes move them.

// CHECK-LABEL: func.func @integers
// CHECK: train.constant dense<{{\[\[}}-2.000000e+00, -1.000000e+00, 0.000000e+00], [-2.14748365E+9, 1.000000e+00, 2.000000e+00]]> : tensor<2x3xf32>
func.func @integers(%x: tensor<2x3xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<2x3xf32> {
  %0 = "stablehlo.constant"() <{value = dense<[[-5, 2147483647], [-3, 2], [1, 4]]> : tensor<3x2xi32>}> : () -> tensor<3x2xi32>
  %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<3x2xi32>) -> tensor<2x3xi32>
  %6 = "stablehlo.constant"() <{value = dense<[[2, 2, 2], [1, 2, 2]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
  %7 = "stablehlo.divide"(%1, %6) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %8 = "stablehlo.constant"() <{value = dense<[[0, 0, 0], [1, 0, 0]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
  %9 = "stablehlo.add"(%7, %8) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %10 = "stablehlo.convert"(%9) : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %11 = "stablehlo.add"(%x, %10) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %11 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @one_hot
// CHECK-SAME: %[[T:[^:]*]]: tensor<2xi32>
// CHECK: train.one_hot %[[T]] : (tensor<2xi32>) -> tensor<2x5xf32>
// CHECK: train.mul
func.func @one_hot(%x: tensor<2x5xf32> {amp.role = "parameter", amp.name = "x"}, %t: tensor<2xi32> {amp.role = "batch", amp.name = "t"}) -> tensor<2x5xf32> {
  %0 = "stablehlo.broadcast_in_dim"(%t) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xi32>) -> tensor<2x1xi32>
  %1 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x5xi32>
  %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xi32>) -> tensor<2x5xi32>
  %3 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x5xi32>) -> tensor<2x5xi32>
  %4 = "stablehlo.compare"(%2, %3) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<2x5xi32>, tensor<2x5xi32>) -> tensor<2x5xi1>
  %5 = "stablehlo.convert"(%4) : (tensor<2x5xi1>) -> tensor<2x5xf32>
  %6 = "stablehlo.multiply"(%x, %5) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  return %6 : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: func.func @edges
// CHECK: train.pad %{{.*}} {high = array<i64: 0, 3>, interior = array<i64: 0, 1>, low = array<i64: 1, 0>, value = 2.000000e+00 : f64} : (tensor<2x4xf32>) -> tensor<3x10xf32>
// CHECK: train.slice %{{.*}} {offsets = array<i64: 0, 2>, sizes = array<i64: 3, 8>, strides = array<i64: 1, 1>}
// CHECK: train.concat %{{.*}} {axis = 0 : i64} : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
func.func @edges(%x: tensor<2x4xf32> {amp.role = "parameter", amp.name = "x"}, %y: tensor<1x8xf32> {amp.role = "parameter", amp.name = "y"}) -> tensor<4x8xf32> {
  %0 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %1 = "stablehlo.convert"(%0) : (tensor<i32>) -> tensor<f32>
  %2 = "stablehlo.pad"(%x, %1) <{edge_padding_high = array<i64: 0, 3>, edge_padding_low = array<i64: 1, -2>, interior_padding = array<i64: 0, 1>}> : (tensor<2x4xf32>, tensor<f32>) -> tensor<3x8xf32>
  %3 = "stablehlo.concatenate"(%2, %y) <{dimension = 0 : i64}> : (tensor<3x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// The average over 9 elements; a sum over 4 is 4 times the average, exactly.

// CHECK-LABEL: func.func @average
// CHECK: %[[A:.*]] = train.avg_pool2d %{{.*}} {padding = array<i64: 1, 1, 1, 1>,{{.*}} window = array<i64: 3, 3>}
// CHECK-NOT: train.mul
// CHECK: %[[B:.*]] = train.avg_pool2d %[[A]]
// CHECK-NEXT: %[[C:.*]] = train.constant dense<4.000000e+00>
// CHECK-NEXT: train.mul %[[B]], %[[C]]
func.func @average(%x: tensor<1x4x4x2xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<1x2x2x2xf32> {
  %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.reduce_window"(%x, %0) <{padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 1, 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %9 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%9) : (tensor<f32>) -> ()
  }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  %2 = "stablehlo.constant"() <{value = dense<9.000000e+00> : tensor<1x4x4x2xf32>}> : () -> tensor<1x4x4x2xf32>
  %3 = "stablehlo.divide"(%1, %2) : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %4 = "stablehlo.reduce_window"(%3, %0) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %9 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%9) : (tensor<f32>) -> ()
  }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  return %4 : tensor<1x2x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @is_finite
// CHECK-DAG: %[[A:.*]] = train.abs
// CHECK-DAG: %[[I:.*]] = train.constant dense<0x7F800000> : tensor<f32>
// CHECK: %[[C:.*]] = train.compare lt, %[[A]], %[[I]]
// CHECK: train.select %[[C]]
func.func @is_finite(%x: tensor<2xf32> {amp.role = "parameter", amp.name = "x"}) -> tensor<2xf32> {
  %0 = "stablehlo.is_finite"(%x) : (tensor<2xf32>) -> tensor<2xi1>
  %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
  %2 = "stablehlo.select"(%0, %x, %1) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}
