// The four spellings of the gradient of a mean loss in JAX, on four devices. The
// first is four times the gradient of one device. The last differs between the
// devices. The other two are right.
//
// RUN: amp-opt %s --amp-check-replication --allow-unregistered-dialect --split-input-file --verify-diagnostics -o /dev/null

// pmean(grad(loss)) where JAX already sums the gradient of a replicated value:
// the sum is N times the mean.
"builtin.module"() <{sym_name = "jit_a"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["d"=4]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "d", size = 4 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x3xf32>, tensor<16x8xf32>, tensor<16x3xf32>) -> tensor<8x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x3xf32>, %arg1: tensor<16x8xf32>, %arg2: tensor<16x3xf32>):
    // expected-error @below {{result 0 is declared equal on all ranks, but it is N times its value for the whole batch, expected a division by N, the number of ranks}}
    %0 = "sdy.manual_computation"(%arg0, %arg1, %arg2) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>]>, manual_axes = #sdy<manual_axes{"d"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}> ({
    ^bb0(%arg3: tensor<8x3xf32>, %arg4: tensor<4x8xf32>, %arg5: tensor<4x3xf32>):
      %1 = "stablehlo.dot_general"(%arg4, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
      %2 = "stablehlo.tanh"(%1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %5 = "stablehlo.subtract"(%4, %2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %6 = "stablehlo.subtract"(%2, %arg5) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %7 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %9 = "stablehlo.multiply"(%8, %6) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %10 = "stablehlo.constant"() <{value = dense<1.200000e+01> : tensor<f32>}> : () -> tensor<f32>
      %11 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %12 = "stablehlo.divide"(%11, %10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %14 = "stablehlo.multiply"(%13, %9) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %15 = "stablehlo.multiply"(%14, %5) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %16 = "stablehlo.multiply"(%15, %2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %17 = "stablehlo.add"(%15, %16) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %18 = "stablehlo.dot_general"(%17, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x3xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
      %19 = "stablehlo.transpose"(%18) <{permutation = array<i64: 1, 0>}> : (tensor<3x8xf32>) -> tensor<8x3xf32>
      %20 = "stablehlo.all_reduce"(%19) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
        %26 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%26) : (tensor<f32>) -> ()
      }) : (tensor<8x3xf32>) -> tensor<8x3xf32>
      // expected-note @below {{the power of N comes from this 'stablehlo.all_reduce'}}
      %21 = "stablehlo.all_reduce"(%20) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %25 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%25) : (tensor<f32>) -> ()
      }) : (tensor<8x3xf32>) -> tensor<8x3xf32>
      %22 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x3xf32>
      %24 = "stablehlo.divide"(%21, %23) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
      "sdy.return"(%24) : (tensor<8x3xf32>) -> ()
    }) : (tensor<8x3xf32>, tensor<16x8xf32>, tensor<16x3xf32>) -> tensor<8x3xf32>
    "func.return"(%0) : (tensor<8x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

// -----

// pmean(grad(loss)) without this sum.
"builtin.module"() <{sym_name = "jit_a"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["d"=4]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "d", size = 4 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x3xf32>, tensor<16x8xf32>, tensor<16x3xf32>) -> tensor<8x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x3xf32>, %arg1: tensor<16x8xf32>, %arg2: tensor<16x3xf32>):
    %0 = "sdy.manual_computation"(%arg0, %arg1, %arg2) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>]>, manual_axes = #sdy<manual_axes{"d"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}> ({
    ^bb0(%arg3: tensor<8x3xf32>, %arg4: tensor<4x8xf32>, %arg5: tensor<4x3xf32>):
      %1 = "stablehlo.dot_general"(%arg4, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
      %2 = "stablehlo.tanh"(%1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %5 = "stablehlo.subtract"(%4, %2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %6 = "stablehlo.subtract"(%2, %arg5) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %7 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %9 = "stablehlo.multiply"(%8, %6) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %10 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %11 = "stablehlo.constant"() <{value = dense<1.200000e+01> : tensor<f32>}> : () -> tensor<f32>
      %12 = "stablehlo.divide"(%10, %11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %14 = "stablehlo.multiply"(%13, %9) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %15 = "stablehlo.multiply"(%14, %5) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %16 = "stablehlo.multiply"(%15, %2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %17 = "stablehlo.add"(%15, %16) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %18 = "stablehlo.dot_general"(%17, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x3xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
      %19 = "stablehlo.transpose"(%18) <{permutation = array<i64: 1, 0>}> : (tensor<3x8xf32>) -> tensor<8x3xf32>
      %20 = "stablehlo.all_reduce"(%19) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %24 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%24) : (tensor<f32>) -> ()
      }) : (tensor<8x3xf32>) -> tensor<8x3xf32>
      %21 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x3xf32>
      %23 = "stablehlo.divide"(%20, %22) : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
      "sdy.return"(%23) : (tensor<8x3xf32>) -> ()
    }) : (tensor<8x3xf32>, tensor<16x8xf32>, tensor<16x3xf32>) -> tensor<8x3xf32>
    "func.return"(%0) : (tensor<8x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

// -----

// grad(pmean(loss)): the loss is divided, and JAX sums the gradient.
"builtin.module"() <{sym_name = "jit_b"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["d"=4]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "d", size = 4 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x3xf32>, tensor<16x8xf32>, tensor<16x3xf32>) -> tensor<8x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x3xf32>, %arg1: tensor<16x8xf32>, %arg2: tensor<16x3xf32>):
    %0 = "sdy.manual_computation"(%arg0, %arg1, %arg2) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>]>, manual_axes = #sdy<manual_axes{"d"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}> ({
    ^bb0(%arg3: tensor<8x3xf32>, %arg4: tensor<4x8xf32>, %arg5: tensor<4x3xf32>):
      %1 = "stablehlo.dot_general"(%arg4, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
      %2 = "stablehlo.tanh"(%1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %5 = "stablehlo.subtract"(%4, %2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %6 = "stablehlo.subtract"(%2, %arg5) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %7 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %9 = "stablehlo.multiply"(%8, %6) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %10 = "stablehlo.constant"() <{value = dense<1.200000e+01> : tensor<f32>}> : () -> tensor<f32>
      %11 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %12 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %13 = "stablehlo.divide"(%11, %12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %14 = "stablehlo.divide"(%13, %10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %16 = "stablehlo.multiply"(%15, %9) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %17 = "stablehlo.multiply"(%16, %5) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %18 = "stablehlo.multiply"(%17, %2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %19 = "stablehlo.add"(%17, %18) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %20 = "stablehlo.dot_general"(%19, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x3xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
      %21 = "stablehlo.transpose"(%20) <{permutation = array<i64: 1, 0>}> : (tensor<3x8xf32>) -> tensor<8x3xf32>
      %22 = "stablehlo.all_reduce"(%21) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %23 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%23) : (tensor<f32>) -> ()
      }) : (tensor<8x3xf32>) -> tensor<8x3xf32>
      "sdy.return"(%22) : (tensor<8x3xf32>) -> ()
    }) : (tensor<8x3xf32>, tensor<16x8xf32>, tensor<16x3xf32>) -> tensor<8x3xf32>
    "func.return"(%0) : (tensor<8x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

// -----

// grad(pmean(loss)) without this sum: each rank has its own gradient.
"builtin.module"() <{sym_name = "jit_b"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["d"=4]>, sym_name = "mesh"}> {stablehlo.mesh = {axes = [{name = "d", size = 4 : i64}]}} : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x3xf32>, tensor<16x8xf32>, tensor<16x3xf32>) -> tensor<8x3xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x3xf32>, %arg1: tensor<16x8xf32>, %arg2: tensor<16x3xf32>):
    // expected-error @below {{result 0 is declared equal on all ranks, but it is a partial sum over the ranks, expected a value that all ranks have}}
    %0 = "sdy.manual_computation"(%arg0, %arg1, %arg2) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"d"}, {}]>, <@mesh, [{"d"}, {}]>]>, manual_axes = #sdy<manual_axes{"d"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}> ({
    ^bb0(%arg3: tensor<8x3xf32>, %arg4: tensor<4x8xf32>, %arg5: tensor<4x3xf32>):
      %1 = "stablehlo.dot_general"(%arg4, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
      %2 = "stablehlo.tanh"(%1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %5 = "stablehlo.subtract"(%4, %2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %6 = "stablehlo.subtract"(%2, %arg5) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %7 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %9 = "stablehlo.multiply"(%8, %6) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %10 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %11 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %12 = "stablehlo.divide"(%10, %11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %13 = "stablehlo.all_reduce"(%12) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %23 = "stablehlo.add"(%arg6, %arg7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%23) : (tensor<f32>) -> ()
      }) : (tensor<f32>) -> tensor<f32>
      %14 = "stablehlo.constant"() <{value = dense<1.200000e+01> : tensor<f32>}> : () -> tensor<f32>
      %15 = "stablehlo.divide"(%13, %14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
      %17 = "stablehlo.multiply"(%16, %9) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %18 = "stablehlo.multiply"(%17, %5) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %19 = "stablehlo.multiply"(%18, %2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      %20 = "stablehlo.add"(%18, %19) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      // expected-note @below {{the partial sum comes from this 'stablehlo.dot_general'}}
      %21 = "stablehlo.dot_general"(%20, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x3xf32>, tensor<4x8xf32>) -> tensor<3x8xf32>
      %22 = "stablehlo.transpose"(%21) <{permutation = array<i64: 1, 0>}> : (tensor<3x8xf32>) -> tensor<8x3xf32>
      "sdy.return"(%22) : (tensor<8x3xf32>) -> ()
    }) : (tensor<8x3xf32>, tensor<16x8xf32>, tensor<16x3xf32>) -> tensor<8x3xf32>
    "func.return"(%0) : (tensor<8x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
