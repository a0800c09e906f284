// Operations of StableHLO and what they do to parts of a batch.
//
// RUN: amp-opt %s --amp-check-replication=ranks=2 --split-input-file --verify-diagnostics --allow-unregistered-dialect -o /dev/null

// A table of embeddings: gather by parts of indices, scatter of their gradients.
func.func @embedding(%t: tensor<16x4xf32> {amp.role = "parameter", amp.name = "t"},
                     %i: tensor<6x1xi32> {amp.role = "batch", amp.name = "i"},
                     %zero: tensor<16x4xf32>) -> (tensor<16x4xf32> {amp.updates = "t"}) {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<16x4xf32>, tensor<6x1xi32>) -> tensor<6x4xf32>
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<16x4xf32>}> : () -> tensor<16x4xf32>
  %1 = "stablehlo.scatter"(%z, %i, %0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<16x4xf32>, tensor<6x1xi32>, tensor<6x4xf32>) -> tensor<16x4xf32>
  %2 = "stablehlo.all_reduce"(%1) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<16x4xf32>) -> tensor<16x4xf32>
  %3 = "stablehlo.subtract"(%t, %2) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  return %3 : tensor<16x4xf32>
}

// -----

// The gradient of a filter: the batch is a feature of the left operand.
func.func @filter(%f: tensor<3x3x1x4xf32> {amp.role = "parameter", amp.name = "f"},
                  %x: tensor<6x8x8x1xf32> {amp.role = "batch", amp.name = "x"},
                  %dy: tensor<6x6x6x4xf32> {amp.role = "batch", amp.name = "dy"}) -> (tensor<3x3x1x4xf32> {amp.updates = "f"}) {
  // expected-note @below {{the partial sum comes from this 'stablehlo.convolution'}}
  %0 = "stablehlo.convolution"(%x, %dy) <{dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}> : (tensor<6x8x8x1xf32>, tensor<6x6x6x4xf32>) -> tensor<3x3x1x4xf32>
  // expected-error @below {{the update "f" is a partial sum over the ranks}}
  %1 = "stablehlo.negate"(%0) : (tensor<3x3x1x4xf32>) -> tensor<3x3x1x4xf32>
  return %1 : tensor<3x3x1x4xf32>
}

// -----

// Groups of ranks have different sums.
func.func @groups(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                  %x: tensor<6x4xf32> {amp.role = "batch", amp.name = "x"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<6x4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{the update "w" varies between the ranks}}
  // expected-note @below {{the difference between the ranks comes from this 'stablehlo.all_reduce'}}
  %1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A collective in a conditional of StableHLO.
func.func @conditional(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %c: tensor<i1>) -> (tensor<4xf32> {amp.updates = "w"}) {
  %0 = "stablehlo.if"(%c) ({
    // expected-error @below {{is a collective in the conditional 'stablehlo.if', expected that all ranks execute it together}}
    %1 = "stablehlo.all_gather"(%w) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }, {
    "stablehlo.return"(%w) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A loop carries a parameter: what it adds is a part of a batch.
func.func @loop(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                // expected-note @below {{the difference between the ranks enters here}}
                %x: tensor<6x4xf32> {amp.role = "batch", amp.name = "x"},
                %n: tensor<i32>) -> (tensor<4xf32> {amp.updates = "w"}) {
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %m = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<6x4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{the update "w" varies between the ranks}}
  %0:2 = "stablehlo.while"(%w, %n) ({
  ^bb0(%v: tensor<4xf32>, %i: tensor<i32>):
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v: tensor<4xf32>, %i: tensor<i32>):
    %1 = "stablehlo.add"(%v, %m) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1, %i) : (tensor<4xf32>, tensor<i32>) -> ()
  }) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  return %0#0 : tensor<4xf32>
}
