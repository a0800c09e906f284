"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{amp.name = "params.b", amp.role = "parameter"}, {amp.name = "params.b1", amp.role = "parameter"}, {amp.name = "params.b2", amp.role = "parameter"}, {amp.name = "params.k1", amp.role = "parameter"}, {amp.name = "params.k2", amp.role = "parameter"}, {amp.name = "params.w", amp.role = "parameter"}, {amp.name = "state.m.b", amp.role = "optimizer_state"}, {amp.name = "state.m.b1", amp.role = "optimizer_state"}, {amp.name = "state.m.b2", amp.role = "optimizer_state"}, {amp.name = "state.m.k1", amp.role = "optimizer_state"}, {amp.name = "state.m.k2", amp.role = "optimizer_state"}, {amp.name = "state.m.w", amp.role = "optimizer_state"}, {amp.name = "state.t", amp.role = "optimizer_state"}, {amp.name = "state.v.b", amp.role = "optimizer_state"}, {amp.name = "state.v.b1", amp.role = "optimizer_state"}, {amp.name = "state.v.b2", amp.role = "optimizer_state"}, {amp.name = "state.v.k1", amp.role = "optimizer_state"}, {amp.name = "state.v.k2", amp.role = "optimizer_state"}, {amp.name = "state.v.w", amp.role = "optimizer_state"}, {amp.name = "batch.0", amp.role = "batch"}, {amp.name = "batch.1", amp.role = "batch"}, {amp.gradient_seed = "loss"}], function_type = (tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>, tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>, tensor<f32>, tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>, tensor<16x64xf32>, tensor<16xi32>, tensor<f32>) -> (tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>, tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>, tensor<f32>, tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>, tensor<f32>, tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>), res_attrs = [{amp.updates = "params.b", jax.result_info = "result[0]['b']"}, {amp.updates = "params.b1", jax.result_info = "result[0]['b1']"}, {amp.updates = "params.b2", jax.result_info = "result[0]['b2']"}, {amp.updates = "params.k1", jax.result_info = "result[0]['k1']"}, {amp.updates = "params.k2", jax.result_info = "result[0]['k2']"}, {amp.updates = "params.w", jax.result_info = "result[0]['w']"}, {amp.updates = "state.m.b", jax.result_info = "result[1]['m']['b']"}, {amp.updates = "state.m.b1", jax.result_info = "result[1]['m']['b1']"}, {amp.updates = "state.m.b2", jax.result_info = "result[1]['m']['b2']"}, {amp.updates = "state.m.k1", jax.result_info = "result[1]['m']['k1']"}, {amp.updates = "state.m.k2", jax.result_info = "result[1]['m']['k2']"}, {amp.updates = "state.m.w", jax.result_info = "result[1]['m']['w']"}, {amp.updates = "state.t", jax.result_info = "result[1]['t']"}, {amp.updates = "state.v.b", jax.result_info = "result[1]['v']['b']"}, {amp.updates = "state.v.b1", jax.result_info = "result[1]['v']['b1']"}, {amp.updates = "state.v.b2", jax.result_info = "result[1]['v']['b2']"}, {amp.updates = "state.v.k1", jax.result_info = "result[1]['v']['k1']"}, {amp.updates = "state.v.k2", jax.result_info = "result[1]['v']['k2']"}, {amp.updates = "state.v.w", jax.result_info = "result[1]['v']['w']"}, {amp.metric = "loss", jax.result_info = "result[2]"}, {amp.gradient_of = "params.b", jax.result_info = "result[3]['b']"}, {amp.gradient_of = "params.b1", jax.result_info = "result[3]['b1']"}, {amp.gradient_of = "params.b2", jax.result_info = "result[3]['b2']"}, {amp.gradient_of = "params.k1", jax.result_info = "result[3]['k1']"}, {amp.gradient_of = "params.k2", jax.result_info = "result[3]['k2']"}, {amp.gradient_of = "params.w", jax.result_info = "result[3]['w']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg22: tensor<10xf32>, %arg23: tensor<8xf32>, %arg24: tensor<16xf32>, %arg25: tensor<3x3x1x8xf32>, %arg26: tensor<3x3x8x16xf32>, %arg27: tensor<256x10xf32>, %arg28: tensor<10xf32>, %arg29: tensor<8xf32>, %arg30: tensor<16xf32>, %arg31: tensor<3x3x1x8xf32>, %arg32: tensor<3x3x8x16xf32>, %arg33: tensor<256x10xf32>, %arg34: tensor<f32>, %arg35: tensor<10xf32>, %arg36: tensor<8xf32>, %arg37: tensor<16xf32>, %arg38: tensor<3x3x1x8xf32>, %arg39: tensor<3x3x8x16xf32>, %arg40: tensor<256x10xf32>, %arg41: tensor<16x64xf32>, %arg42: tensor<16xi32>, %arg43: tensor<f32>):
    %62 = "stablehlo.reshape"(%arg41) : (tensor<16x64xf32>) -> tensor<16x8x8x1xf32>
    %63 = "stablehlo.convolution"(%62, %arg25) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<16x8x8x1xf32>, tensor<3x3x1x8xf32>) -> tensor<16x8x8x8xf32>
    %64 = "stablehlo.broadcast_in_dim"(%arg23) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<16x8x8x8xf32>
    %66 = "stablehlo.add"(%63, %65) : (tensor<16x8x8x8xf32>, tensor<16x8x8x8xf32>) -> tensor<16x8x8x8xf32>
    %67 = "func.call"(%66) <{callee = @relu}> : (tensor<16x8x8x8xf32>) -> tensor<16x8x8x8xf32>
    %68 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %69 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x8x8x8xf32>
    %70 = "stablehlo.compare"(%66, %69) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<16x8x8x8xf32>, tensor<16x8x8x8xf32>) -> tensor<16x8x8x8xi1>
    %71 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x8x8x8xf32>
    %73 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %75 = "stablehlo.reduce_window"(%67, %74) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg62: tensor<f32>, %arg63: tensor<f32>):
      %330 = "stablehlo.maximum"(%arg62, %arg63) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%330) : (tensor<f32>) -> ()
    }) : (tensor<16x8x8x8xf32>, tensor<f32>) -> tensor<16x4x4x8xf32>
    %76 = "stablehlo.convolution"(%75, %arg26) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<16x4x4x8xf32>, tensor<3x3x8x16xf32>) -> tensor<16x4x4x16xf32>
    %77 = "stablehlo.broadcast_in_dim"(%arg24) <{broadcast_dimensions = array<i64: 3>}> : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<16x4x4x16xf32>
    %79 = "stablehlo.add"(%76, %78) : (tensor<16x4x4x16xf32>, tensor<16x4x4x16xf32>) -> tensor<16x4x4x16xf32>
    %80 = "func.call"(%79) <{callee = @relu_0}> : (tensor<16x4x4x16xf32>) -> tensor<16x4x4x16xf32>
    %81 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %82 = "stablehlo.broadcast_in_dim"(%81) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x4x16xf32>
    %83 = "stablehlo.compare"(%79, %82) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<16x4x4x16xf32>, tensor<16x4x4x16xf32>) -> tensor<16x4x4x16xi1>
    %84 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x4x16xf32>
    %86 = "stablehlo.reshape"(%80) : (tensor<16x4x4x16xf32>) -> tensor<16x256xf32>
    %87 = "stablehlo.dot_general"(%86, %arg27) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x256xf32>, tensor<256x10xf32>) -> tensor<16x10xf32>
    %88 = "stablehlo.broadcast_in_dim"(%arg22) <{broadcast_dimensions = array<i64: 1>}> : (tensor<10xf32>) -> tensor<1x10xf32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x10xf32>) -> tensor<16x10xf32>
    %90 = "stablehlo.add"(%87, %89) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %91:3 = "func.call"(%90) <{callee = @log_softmax}> : (tensor<16x10xf32>) -> (tensor<16x10xf32>, tensor<16x10xf32>, tensor<16x1xf32>)
    %92 = "stablehlo.broadcast_in_dim"(%arg42) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xi32>) -> tensor<16x1xi32>
    %93:2 = "func.call"(%91#0, %92) <{callee = @take_along_axis}> : (tensor<16x10xf32>, tensor<16x1xi32>) -> (tensor<16x1xf32>, tensor<16x1x1xi32>)
    %94 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.reduce"(%93#0, %94) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg60: tensor<f32>, %arg61: tensor<f32>):
      %329 = "stablehlo.add"(%arg60, %arg61) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%329) : (tensor<f32>) -> ()
    }) : (tensor<16x1xf32>, tensor<f32>) -> tensor<f32>
    %96 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %97 = "stablehlo.divide"(%95, %96) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %98 = "stablehlo.negate"(%97) : (tensor<f32>) -> tensor<f32>
    %99 = "stablehlo.negate"(%arg43) : (tensor<f32>) -> tensor<f32>
    %100 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.divide"(%99, %100) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %103 = "func.call"(%93#1, %102) <{callee = @take_along_axis_1}> : (tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x10xf32>
    %104 = "func.call"(%91#1, %91#2, %103) <{callee = @log_softmax_2}> : (tensor<16x10xf32>, tensor<16x1xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %105 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.reduce"(%104, %105) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg58: tensor<f32>, %arg59: tensor<f32>):
      %328 = "stablehlo.add"(%arg58, %arg59) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%328) : (tensor<f32>) -> ()
    }) : (tensor<16x10xf32>, tensor<f32>) -> tensor<10xf32>
    %107 = "stablehlo.reshape"(%106) : (tensor<10xf32>) -> tensor<1x10xf32>
    %108 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %109 = "stablehlo.reduce"(%107, %108) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg56: tensor<f32>, %arg57: tensor<f32>):
      %327 = "stablehlo.add"(%arg56, %arg57) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%327) : (tensor<f32>) -> ()
    }) : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %110 = "stablehlo.dot_general"(%104, %86) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x10xf32>, tensor<16x256xf32>) -> tensor<10x256xf32>
    %111 = "stablehlo.transpose"(%110) <{permutation = array<i64: 1, 0>}> : (tensor<10x256xf32>) -> tensor<256x10xf32>
    %112 = "stablehlo.dot_general"(%104, %arg27) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x10xf32>, tensor<256x10xf32>) -> tensor<16x256xf32>
    %113 = "stablehlo.reshape"(%112) : (tensor<16x256xf32>) -> tensor<16x4x4x16xf32>
    %114 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %115 = "stablehlo.broadcast_in_dim"(%114) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x4x16xf32>
    %116 = "stablehlo.select"(%83, %113, %115) : (tensor<16x4x4x16xi1>, tensor<16x4x4x16xf32>, tensor<16x4x4x16xf32>) -> tensor<16x4x4x16xf32>
    %117 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %118 = "stablehlo.reduce"(%116, %117) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg54: tensor<f32>, %arg55: tensor<f32>):
      %326 = "stablehlo.add"(%arg54, %arg55) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%326) : (tensor<f32>) -> ()
    }) : (tensor<16x4x4x16xf32>, tensor<f32>) -> tensor<16xf32>
    %119 = "stablehlo.reshape"(%118) : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %120 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %121 = "stablehlo.reduce"(%119, %120) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg52: tensor<f32>, %arg53: tensor<f32>):
      %325 = "stablehlo.add"(%arg52, %arg53) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%325) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x16xf32>, tensor<f32>) -> tensor<16xf32>
    %122 = "stablehlo.convolution"(%75, %116) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<16x4x4x8xf32>, tensor<16x4x4x16xf32>) -> tensor<3x3x8x16xf32>
    %123 = "stablehlo.reverse"(%arg26) <{dimensions = array<i64: 0, 1>}> : (tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %124 = "stablehlo.convolution"(%116, %123) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<16x4x4x16xf32>, tensor<3x3x8x16xf32>) -> tensor<16x4x4x8xf32>
    %125 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %126 = "stablehlo.pad"(%67, %125) <{edge_padding_high = array<i64: 0, 0, 0, 0>, edge_padding_low = array<i64: 0, 0, 0, 0>, interior_padding = array<i64: 0, 0, 0, 0>}> : (tensor<16x8x8x8xf32>, tensor<f32>) -> tensor<16x8x8x8xf32>
    %127 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %128 = "stablehlo.select_and_scatter"(%126, %124, %127) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg50: tensor<f32>, %arg51: tensor<f32>):
      %324 = "stablehlo.compare"(%arg50, %arg51) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%324) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg48: tensor<f32>, %arg49: tensor<f32>):
      %323 = "stablehlo.add"(%arg48, %arg49) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%323) : (tensor<f32>) -> ()
    }) : (tensor<16x8x8x8xf32>, tensor<16x4x4x8xf32>, tensor<f32>) -> tensor<16x8x8x8xf32>
    %129 = "stablehlo.slice"(%128) <{limit_indices = array<i64: 16, 8, 8, 8>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<16x8x8x8xf32>) -> tensor<16x8x8x8xf32>
    %130 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %131 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x8x8x8xf32>
    %132 = "stablehlo.select"(%70, %129, %131) : (tensor<16x8x8x8xi1>, tensor<16x8x8x8xf32>, tensor<16x8x8x8xf32>) -> tensor<16x8x8x8xf32>
    %133 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %134 = "stablehlo.reduce"(%132, %133) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg46: tensor<f32>, %arg47: tensor<f32>):
      %322 = "stablehlo.add"(%arg46, %arg47) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%322) : (tensor<f32>) -> ()
    }) : (tensor<16x8x8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %135 = "stablehlo.reshape"(%134) : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %136 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %137 = "stablehlo.reduce"(%135, %136) <{dimensions = array<i64: 0, 1, 2>}> ({
    ^bb0(%arg44: tensor<f32>, %arg45: tensor<f32>):
      %321 = "stablehlo.add"(%arg44, %arg45) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%321) : (tensor<f32>) -> ()
    }) : (tensor<1x1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %138 = "stablehlo.convolution"(%62, %132) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<16x8x8x1xf32>, tensor<16x8x8x8xf32>) -> tensor<3x3x1x8xf32>
    %139 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %140 = "stablehlo.add"(%arg34, %139) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %141 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %142 = "stablehlo.broadcast_in_dim"(%141) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %143 = "stablehlo.multiply"(%142, %arg28) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %144 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %145 = "stablehlo.broadcast_in_dim"(%144) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %146 = "stablehlo.multiply"(%145, %109) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %147 = "stablehlo.add"(%143, %146) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %148 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %149 = "stablehlo.broadcast_in_dim"(%148) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %150 = "stablehlo.multiply"(%149, %arg29) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %151 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %152 = "stablehlo.broadcast_in_dim"(%151) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %153 = "stablehlo.multiply"(%152, %137) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %154 = "stablehlo.add"(%150, %153) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %155 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %156 = "stablehlo.broadcast_in_dim"(%155) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %157 = "stablehlo.multiply"(%156, %arg30) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %158 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %159 = "stablehlo.broadcast_in_dim"(%158) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %160 = "stablehlo.multiply"(%159, %121) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %161 = "stablehlo.add"(%157, %160) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %162 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %163 = "stablehlo.broadcast_in_dim"(%162) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x8xf32>
    %164 = "stablehlo.multiply"(%163, %arg31) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %165 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %166 = "stablehlo.broadcast_in_dim"(%165) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x8xf32>
    %167 = "stablehlo.multiply"(%166, %138) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %168 = "stablehlo.add"(%164, %167) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %169 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %170 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x16xf32>
    %171 = "stablehlo.multiply"(%170, %arg32) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %172 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %173 = "stablehlo.broadcast_in_dim"(%172) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x16xf32>
    %174 = "stablehlo.multiply"(%173, %122) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %175 = "stablehlo.add"(%171, %174) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %176 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %177 = "stablehlo.broadcast_in_dim"(%176) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x10xf32>
    %178 = "stablehlo.multiply"(%177, %arg33) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %179 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %180 = "stablehlo.broadcast_in_dim"(%179) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x10xf32>
    %181 = "stablehlo.multiply"(%180, %111) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %182 = "stablehlo.add"(%178, %181) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %183 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %184 = "stablehlo.broadcast_in_dim"(%183) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %185 = "stablehlo.multiply"(%184, %arg35) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %186 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %187 = "stablehlo.broadcast_in_dim"(%186) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %188 = "stablehlo.multiply"(%187, %109) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %189 = "stablehlo.multiply"(%188, %109) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %190 = "stablehlo.add"(%185, %189) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %191 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %192 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %193 = "stablehlo.multiply"(%192, %arg36) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %194 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %195 = "stablehlo.broadcast_in_dim"(%194) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %196 = "stablehlo.multiply"(%195, %137) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %197 = "stablehlo.multiply"(%196, %137) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %198 = "stablehlo.add"(%193, %197) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %199 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %200 = "stablehlo.broadcast_in_dim"(%199) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %201 = "stablehlo.multiply"(%200, %arg37) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %202 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %203 = "stablehlo.broadcast_in_dim"(%202) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %204 = "stablehlo.multiply"(%203, %121) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %205 = "stablehlo.multiply"(%204, %121) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %206 = "stablehlo.add"(%201, %205) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %207 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %208 = "stablehlo.broadcast_in_dim"(%207) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x8xf32>
    %209 = "stablehlo.multiply"(%208, %arg38) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %210 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %211 = "stablehlo.broadcast_in_dim"(%210) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x8xf32>
    %212 = "stablehlo.multiply"(%211, %138) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %213 = "stablehlo.multiply"(%212, %138) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %214 = "stablehlo.add"(%209, %213) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %215 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %216 = "stablehlo.broadcast_in_dim"(%215) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x16xf32>
    %217 = "stablehlo.multiply"(%216, %arg39) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %218 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %219 = "stablehlo.broadcast_in_dim"(%218) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x16xf32>
    %220 = "stablehlo.multiply"(%219, %122) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %221 = "stablehlo.multiply"(%220, %122) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %222 = "stablehlo.add"(%217, %221) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %223 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %224 = "stablehlo.broadcast_in_dim"(%223) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x10xf32>
    %225 = "stablehlo.multiply"(%224, %arg40) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %226 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %227 = "stablehlo.broadcast_in_dim"(%226) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x10xf32>
    %228 = "stablehlo.multiply"(%227, %111) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %229 = "stablehlo.multiply"(%228, %111) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %230 = "stablehlo.add"(%225, %229) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %231 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %232 = "stablehlo.power"(%231, %140) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %233 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %234 = "stablehlo.subtract"(%233, %232) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %235 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %236 = "stablehlo.divide"(%235, %234) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %237 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %238 = "stablehlo.power"(%237, %140) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %239 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %240 = "stablehlo.subtract"(%239, %238) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %241 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %242 = "stablehlo.divide"(%241, %240) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %243 = "stablehlo.broadcast_in_dim"(%236) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %244 = "stablehlo.multiply"(%147, %243) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %245 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %246 = "stablehlo.broadcast_in_dim"(%245) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %247 = "stablehlo.multiply"(%246, %244) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %248 = "stablehlo.broadcast_in_dim"(%242) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %249 = "stablehlo.multiply"(%190, %248) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %250 = "stablehlo.sqrt"(%249) : (tensor<10xf32>) -> tensor<10xf32>
    %251 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %252 = "stablehlo.broadcast_in_dim"(%251) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %253 = "stablehlo.add"(%250, %252) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %254 = "stablehlo.divide"(%247, %253) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %255 = "stablehlo.subtract"(%arg22, %254) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %256 = "stablehlo.broadcast_in_dim"(%236) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %257 = "stablehlo.multiply"(%154, %256) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %258 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %259 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %260 = "stablehlo.multiply"(%259, %257) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %261 = "stablehlo.broadcast_in_dim"(%242) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %262 = "stablehlo.multiply"(%198, %261) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %263 = "stablehlo.sqrt"(%262) : (tensor<8xf32>) -> tensor<8xf32>
    %264 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %265 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %266 = "stablehlo.add"(%263, %265) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %267 = "stablehlo.divide"(%260, %266) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %268 = "stablehlo.subtract"(%arg23, %267) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %269 = "stablehlo.broadcast_in_dim"(%236) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %270 = "stablehlo.multiply"(%161, %269) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %271 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %272 = "stablehlo.broadcast_in_dim"(%271) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %273 = "stablehlo.multiply"(%272, %270) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %274 = "stablehlo.broadcast_in_dim"(%242) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %275 = "stablehlo.multiply"(%206, %274) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %276 = "stablehlo.sqrt"(%275) : (tensor<16xf32>) -> tensor<16xf32>
    %277 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %278 = "stablehlo.broadcast_in_dim"(%277) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %279 = "stablehlo.add"(%276, %278) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %280 = "stablehlo.divide"(%273, %279) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %281 = "stablehlo.subtract"(%arg24, %280) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %282 = "stablehlo.broadcast_in_dim"(%236) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x8xf32>
    %283 = "stablehlo.multiply"(%168, %282) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %284 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %285 = "stablehlo.broadcast_in_dim"(%284) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x8xf32>
    %286 = "stablehlo.multiply"(%285, %283) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %287 = "stablehlo.broadcast_in_dim"(%242) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x8xf32>
    %288 = "stablehlo.multiply"(%214, %287) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %289 = "stablehlo.sqrt"(%288) : (tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %290 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %291 = "stablehlo.broadcast_in_dim"(%290) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x1x8xf32>
    %292 = "stablehlo.add"(%289, %291) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %293 = "stablehlo.divide"(%286, %292) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %294 = "stablehlo.subtract"(%arg25, %293) : (tensor<3x3x1x8xf32>, tensor<3x3x1x8xf32>) -> tensor<3x3x1x8xf32>
    %295 = "stablehlo.broadcast_in_dim"(%236) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x16xf32>
    %296 = "stablehlo.multiply"(%175, %295) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %297 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %298 = "stablehlo.broadcast_in_dim"(%297) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x16xf32>
    %299 = "stablehlo.multiply"(%298, %296) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %300 = "stablehlo.broadcast_in_dim"(%242) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x16xf32>
    %301 = "stablehlo.multiply"(%222, %300) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %302 = "stablehlo.sqrt"(%301) : (tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %303 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %304 = "stablehlo.broadcast_in_dim"(%303) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3x8x16xf32>
    %305 = "stablehlo.add"(%302, %304) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %306 = "stablehlo.divide"(%299, %305) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %307 = "stablehlo.subtract"(%arg26, %306) : (tensor<3x3x8x16xf32>, tensor<3x3x8x16xf32>) -> tensor<3x3x8x16xf32>
    %308 = "stablehlo.broadcast_in_dim"(%236) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x10xf32>
    %309 = "stablehlo.multiply"(%182, %308) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %310 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %311 = "stablehlo.broadcast_in_dim"(%310) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x10xf32>
    %312 = "stablehlo.multiply"(%311, %309) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %313 = "stablehlo.broadcast_in_dim"(%242) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x10xf32>
    %314 = "stablehlo.multiply"(%230, %313) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %315 = "stablehlo.sqrt"(%314) : (tensor<256x10xf32>) -> tensor<256x10xf32>
    %316 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %317 = "stablehlo.broadcast_in_dim"(%316) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<256x10xf32>
    %318 = "stablehlo.add"(%315, %317) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %319 = "stablehlo.divide"(%312, %318) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    %320 = "stablehlo.subtract"(%arg27, %319) : (tensor<256x10xf32>, tensor<256x10xf32>) -> tensor<256x10xf32>
    "func.return"(%255, %268, %281, %294, %307, %320, %147, %154, %161, %168, %175, %182, %140, %190, %198, %206, %214, %222, %230, %98, %109, %137, %121, %138, %122, %111) : (tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>, tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>, tensor<f32>, tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>, tensor<f32>, tensor<10xf32>, tensor<8xf32>, tensor<16xf32>, tensor<3x3x1x8xf32>, tensor<3x3x8x16xf32>, tensor<256x10xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x8x8x8xf32>) -> tensor<16x8x8x8xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg21: tensor<16x8x8x8xf32>):
    %59 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x8x8x8xf32>
    %61 = "stablehlo.maximum"(%arg21, %60) : (tensor<16x8x8x8xf32>, tensor<16x8x8x8xf32>) -> tensor<16x8x8x8xf32>
    "func.return"(%61) : (tensor<16x8x8x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x4x4x16xf32>) -> tensor<16x4x4x16xf32>, res_attrs = [{}], sym_name = "relu_0", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<16x4x4x16xf32>):
    %56 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x4x16xf32>
    %58 = "stablehlo.maximum"(%arg20, %57) : (tensor<16x4x4x16xf32>, tensor<16x4x4x16xf32>) -> tensor<16x4x4x16xf32>
    "func.return"(%58) : (tensor<16x4x4x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x10xf32>) -> (tensor<16x10xf32>, tensor<16x10xf32>, tensor<16x1xf32>), res_attrs = [{}, {}, {}], sym_name = "log_softmax", sym_visibility = "private"}> ({
  ^bb0(%arg15: tensor<16x10xf32>):
    %39 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.reduce"(%arg15, %39) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %55 = "stablehlo.maximum"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%55) : (tensor<f32>) -> ()
    }) : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %41 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %43 = "stablehlo.maximum"(%42, %40) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x10xf32>
    %46 = "stablehlo.subtract"(%arg15, %45) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %47 = "stablehlo.exponential"(%46) : (tensor<16x10xf32>) -> tensor<16x10xf32>
    %48 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.reduce"(%47, %48) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %54 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%54) : (tensor<f32>) -> ()
    }) : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %51 = "stablehlo.log"(%50) : (tensor<16x1xf32>) -> tensor<16x1xf32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x10xf32>
    %53 = "stablehlo.subtract"(%46, %52) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    "func.return"(%53, %47, %50) : (tensor<16x10xf32>, tensor<16x10xf32>, tensor<16x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x10xf32>, tensor<16x1xi32>) -> (tensor<16x1xf32>, tensor<16x1x1xi32>), res_attrs = [{}, {}], sym_name = "take_along_axis", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<16x10xf32>, %arg12: tensor<16x1xi32>):
    %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x1xi32>
    %18 = "stablehlo.compare"(%arg12, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi1>
    %19 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x1xi32>
    %21 = "stablehlo.add"(%arg12, %20) : (tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi32>
    %22 = "stablehlo.select"(%18, %21, %arg12) : (tensor<16x1xi1>, tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi32>
    %23 = "stablehlo.reshape"(%22) : (tensor<16x1xi32>) -> tensor<16x1x1xi32>
    %24 = "stablehlo.constant"() <{value = dense<9> : tensor<1xi32>}> : () -> tensor<1xi32>
    %25 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x1x1xi32>
    %27 = "stablehlo.compare"(%23, %26) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %28 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 2>}> : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xi32>) -> tensor<16x1x1xi32>
    %30 = "stablehlo.compare"(%23, %29) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %31 = "stablehlo.and"(%27, %30) : (tensor<16x1x1xi1>, tensor<16x1x1xi1>) -> tensor<16x1x1xi1>
    %32 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %33 = "stablehlo.reduce"(%31, %32) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg13: tensor<i1>, %arg14: tensor<i1>):
      %38 = "stablehlo.and"(%arg13, %arg14) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%38) : (tensor<i1>) -> ()
    }) : (tensor<16x1x1xi1>, tensor<i1>) -> tensor<16x1xi1>
    %34 = "stablehlo.gather"(%arg11, %23) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<16x10xf32>, tensor<16x1x1xi32>) -> tensor<16x1xf32>
    %35 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %37 = "stablehlo.select"(%33, %34, %36) : (tensor<16x1xi1>, tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    "func.return"(%37, %23) : (tensor<16x1xf32>, tensor<16x1x1xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x10xf32>, res_attrs = [{}], sym_name = "take_along_axis_1", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<16x1x1xi32>, %arg8: tensor<16x1xf32>):
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x10xf32>
    %14 = "stablehlo.scatter"(%13, %arg7, %arg8) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %15 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%15) : (tensor<f32>) -> ()
    }) : (tensor<16x10xf32>, tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x10xf32>
    "func.return"(%14) : (tensor<16x10xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<16x10xf32>, tensor<16x1xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>, res_attrs = [{}], sym_name = "log_softmax_2", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<16x10xf32>, %arg1: tensor<16x1xf32>, %arg2: tensor<16x10xf32>):
    %0 = "stablehlo.negate"(%arg2) : (tensor<16x10xf32>) -> tensor<16x10xf32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %11 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%11) : (tensor<f32>) -> ()
    }) : (tensor<16x10xf32>, tensor<f32>) -> tensor<16xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<16xf32>) -> tensor<16x1xf32>
    %4 = "stablehlo.divide"(%3, %arg1) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%4, %5) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %10 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%10) : (tensor<f32>) -> ()
    }) : (tensor<16x1xf32>, tensor<f32>) -> tensor<16xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x10xf32>
    %8 = "stablehlo.multiply"(%7, %arg0) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %9 = "stablehlo.add"(%arg2, %8) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    "func.return"(%9) : (tensor<16x10xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
