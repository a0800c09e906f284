"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{amp.name = "params.c1", amp.role = "parameter"}, {amp.name = "params.c2", amp.role = "parameter"}, {amp.name = "params.d", amp.role = "parameter"}, {amp.name = "params.e", amp.role = "parameter"}, {amp.name = "params.g1", amp.role = "parameter"}, {amp.name = "params.g2", amp.role = "parameter"}, {amp.name = "params.o", amp.role = "parameter"}, {amp.name = "params.p", amp.role = "parameter"}, {amp.name = "params.u", amp.role = "parameter"}, {amp.name = "params.w", amp.role = "parameter"}, {amp.name = "params.wk", amp.role = "parameter"}, {amp.name = "params.wo", amp.role = "parameter"}, {amp.name = "params.wq", amp.role = "parameter"}, {amp.name = "params.wv", amp.role = "parameter"}, {amp.name = "state.m.c1", amp.role = "optimizer_state"}, {amp.name = "state.m.c2", amp.role = "optimizer_state"}, {amp.name = "state.m.d", amp.role = "optimizer_state"}, {amp.name = "state.m.e", amp.role = "optimizer_state"}, {amp.name = "state.m.g1", amp.role = "optimizer_state"}, {amp.name = "state.m.g2", amp.role = "optimizer_state"}, {amp.name = "state.m.o", amp.role = "optimizer_state"}, {amp.name = "state.m.p", amp.role = "optimizer_state"}, {amp.name = "state.m.u", amp.role = "optimizer_state"}, {amp.name = "state.m.w", amp.role = "optimizer_state"}, {amp.name = "state.m.wk", amp.role = "optimizer_state"}, {amp.name = "state.m.wo", amp.role = "optimizer_state"}, {amp.name = "state.m.wq", amp.role = "optimizer_state"}, {amp.name = "state.m.wv", amp.role = "optimizer_state"}, {amp.name = "state.t", amp.role = "optimizer_state"}, {amp.name = "state.v.c1", amp.role = "optimizer_state"}, {amp.name = "state.v.c2", amp.role = "optimizer_state"}, {amp.name = "state.v.d", amp.role = "optimizer_state"}, {amp.name = "state.v.e", amp.role = "optimizer_state"}, {amp.name = "state.v.g1", amp.role = "optimizer_state"}, {amp.name = "state.v.g2", amp.role = "optimizer_state"}, {amp.name = "state.v.o", amp.role = "optimizer_state"}, {amp.name = "state.v.p", amp.role = "optimizer_state"}, {amp.name = "state.v.u", amp.role = "optimizer_state"}, {amp.name = "state.v.w", amp.role = "optimizer_state"}, {amp.name = "state.v.wk", amp.role = "optimizer_state"}, {amp.name = "state.v.wo", amp.role = "optimizer_state"}, {amp.name = "state.v.wq", amp.role = "optimizer_state"}, {amp.name = "state.v.wv", amp.role = "optimizer_state"}, {amp.name = "batch.0", amp.role = "batch"}, {amp.name = "batch.1", amp.role = "batch"}, {amp.gradient_seed = "loss"}], function_type = (tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<16x16x16xf32>, tensor<16xi32>, tensor<f32>) -> (tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>), res_attrs = [{amp.updates = "params.c1", jax.result_info = "result[0]['c1']"}, {amp.updates = "params.c2", jax.result_info = "result[0]['c2']"}, {amp.updates = "params.d", jax.result_info = "result[0]['d']"}, {amp.updates = "params.e", jax.result_info = "result[0]['e']"}, {amp.updates = "params.g1", jax.result_info = "result[0]['g1']"}, {amp.updates = "params.g2", jax.result_info = "result[0]['g2']"}, {amp.updates = "params.o", jax.result_info = "result[0]['o']"}, {amp.updates = "params.p", jax.result_info = "result[0]['p']"}, {amp.updates = "params.u", jax.result_info = "result[0]['u']"}, {amp.updates = "params.w", jax.result_info = "result[0]['w']"}, {amp.updates = "params.wk", jax.result_info = "result[0]['wk']"}, {amp.updates = "params.wo", jax.result_info = "result[0]['wo']"}, {amp.updates = "params.wq", jax.result_info = "result[0]['wq']"}, {amp.updates = "params.wv", jax.result_info = "result[0]['wv']"}, {amp.updates = "state.m.c1", jax.result_info = "result[1]['m']['c1']"}, {amp.updates = "state.m.c2", jax.result_info = "result[1]['m']['c2']"}, {amp.updates = "state.m.d", jax.result_info = "result[1]['m']['d']"}, {amp.updates = "state.m.e", jax.result_info = "result[1]['m']['e']"}, {amp.updates = "state.m.g1", jax.result_info = "result[1]['m']['g1']"}, {amp.updates = "state.m.g2", jax.result_info = "result[1]['m']['g2']"}, {amp.updates = "state.m.o", jax.result_info = "result[1]['m']['o']"}, {amp.updates = "state.m.p", jax.result_info = "result[1]['m']['p']"}, {amp.updates = "state.m.u", jax.result_info = "result[1]['m']['u']"}, {amp.updates = "state.m.w", jax.result_info = "result[1]['m']['w']"}, {amp.updates = "state.m.wk", jax.result_info = "result[1]['m']['wk']"}, {amp.updates = "state.m.wo", jax.result_info = "result[1]['m']['wo']"}, {amp.updates = "state.m.wq", jax.result_info = "result[1]['m']['wq']"}, {amp.updates = "state.m.wv", jax.result_info = "result[1]['m']['wv']"}, {amp.updates = "state.t", jax.result_info = "result[1]['t']"}, {amp.updates = "state.v.c1", jax.result_info = "result[1]['v']['c1']"}, {amp.updates = "state.v.c2", jax.result_info = "result[1]['v']['c2']"}, {amp.updates = "state.v.d", jax.result_info = "result[1]['v']['d']"}, {amp.updates = "state.v.e", jax.result_info = "result[1]['v']['e']"}, {amp.updates = "state.v.g1", jax.result_info = "result[1]['v']['g1']"}, {amp.updates = "state.v.g2", jax.result_info = "result[1]['v']['g2']"}, {amp.updates = "state.v.o", jax.result_info = "result[1]['v']['o']"}, {amp.updates = "state.v.p", jax.result_info = "result[1]['v']['p']"}, {amp.updates = "state.v.u", jax.result_info = "result[1]['v']['u']"}, {amp.updates = "state.v.w", jax.result_info = "result[1]['v']['w']"}, {amp.updates = "state.v.wk", jax.result_info = "result[1]['v']['wk']"}, {amp.updates = "state.v.wo", jax.result_info = "result[1]['v']['wo']"}, {amp.updates = "state.v.wq", jax.result_info = "result[1]['v']['wq']"}, {amp.updates = "state.v.wv", jax.result_info = "result[1]['v']['wv']"}, {amp.metric = "loss", jax.result_info = "result[2]"}, {amp.gradient_of = "params.c1", jax.result_info = "result[3]['c1']"}, {amp.gradient_of = "params.c2", jax.result_info = "result[3]['c2']"}, {amp.gradient_of = "params.d", jax.result_info = "result[3]['d']"}, {amp.gradient_of = "params.e", jax.result_info = "result[3]['e']"}, {amp.gradient_of = "params.g1", jax.result_info = "result[3]['g1']"}, {amp.gradient_of = "params.g2", jax.result_info = "result[3]['g2']"}, {amp.gradient_of = "params.o", jax.result_info = "result[3]['o']"}, {amp.gradient_of = "params.p", jax.result_info = "result[3]['p']"}, {amp.gradient_of = "params.u", jax.result_info = "result[3]['u']"}, {amp.gradient_of = "params.w", jax.result_info = "result[3]['w']"}, {amp.gradient_of = "params.wk", jax.result_info = "result[3]['wk']"}, {amp.gradient_of = "params.wo", jax.result_info = "result[3]['wo']"}, {amp.gradient_of = "params.wq", jax.result_info = "result[3]['wq']"}, {amp.gradient_of = "params.wv", jax.result_info = "result[3]['wv']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg43: tensor<32xf32>, %arg44: tensor<32xf32>, %arg45: tensor<128xf32>, %arg46: tensor<16x32xf32>, %arg47: tensor<32xf32>, %arg48: tensor<32xf32>, %arg49: tensor<32x4xf32>, %arg50: tensor<16x32xf32>, %arg51: tensor<32x128xf32>, %arg52: tensor<128x32xf32>, %arg53: tensor<32x32xf32>, %arg54: tensor<32x32xf32>, %arg55: tensor<32x32xf32>, %arg56: tensor<32x32xf32>, %arg57: tensor<32xf32>, %arg58: tensor<32xf32>, %arg59: tensor<128xf32>, %arg60: tensor<16x32xf32>, %arg61: tensor<32xf32>, %arg62: tensor<32xf32>, %arg63: tensor<32x4xf32>, %arg64: tensor<16x32xf32>, %arg65: tensor<32x128xf32>, %arg66: tensor<128x32xf32>, %arg67: tensor<32x32xf32>, %arg68: tensor<32x32xf32>, %arg69: tensor<32x32xf32>, %arg70: tensor<32x32xf32>, %arg71: tensor<f32>, %arg72: tensor<32xf32>, %arg73: tensor<32xf32>, %arg74: tensor<128xf32>, %arg75: tensor<16x32xf32>, %arg76: tensor<32xf32>, %arg77: tensor<32xf32>, %arg78: tensor<32x4xf32>, %arg79: tensor<16x32xf32>, %arg80: tensor<32x128xf32>, %arg81: tensor<128x32xf32>, %arg82: tensor<32x32xf32>, %arg83: tensor<32x32xf32>, %arg84: tensor<32x32xf32>, %arg85: tensor<32x32xf32>, %arg86: tensor<16x16x16xf32>, %arg87: tensor<16xi32>, %arg88: tensor<f32>):
    %111 = "stablehlo.dot_general"(%arg86, %arg46) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x16xf32>, tensor<16x32xf32>) -> tensor<16x16x32xf32>
    %112 = "stablehlo.broadcast_in_dim"(%arg50) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %113 = "stablehlo.broadcast_in_dim"(%112) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x16x32xf32>) -> tensor<16x16x32xf32>
    %114 = "stablehlo.add"(%111, %113) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %115 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %116 = "stablehlo.reduce"(%114, %115) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg141: tensor<f32>, %arg142: tensor<f32>):
      %863 = "stablehlo.add"(%arg141, %arg142) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%863) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %117 = "stablehlo.broadcast_in_dim"(%116) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %118 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %119 = "stablehlo.broadcast_in_dim"(%118) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %120 = "stablehlo.divide"(%117, %119) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %121 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %122:5 = "func.call"(%114, %121) <{callee = @_var}> : (tensor<16x16x32xf32>, tensor<i32>) -> (tensor<16x16x1xf32>, tensor<16x16x32xf32>, tensor<f32>, tensor<i1>, tensor<16x16x1xf32>)
    %123 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %124 = "stablehlo.subtract"(%114, %123) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %125 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %126 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %127 = "stablehlo.add"(%122#0, %126) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %128 = "stablehlo.rsqrt"(%127) : (tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %129 = "stablehlo.divide"(%128, %127) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %130 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %131 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %132 = "stablehlo.multiply"(%131, %129) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %133 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %134 = "stablehlo.multiply"(%124, %133) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %135 = "stablehlo.broadcast_in_dim"(%arg47) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %136 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %137 = "stablehlo.multiply"(%134, %136) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %138 = "stablehlo.broadcast_in_dim"(%arg43) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %139 = "stablehlo.broadcast_in_dim"(%138) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %140 = "stablehlo.add"(%137, %139) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %141 = "stablehlo.dot_general"(%140, %arg55) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %142 = "stablehlo.reshape"(%141) : (tensor<16x16x32xf32>) -> tensor<16x16x4x8xf32>
    %143 = "stablehlo.transpose"(%142) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x16x4x8xf32>) -> tensor<16x4x16x8xf32>
    %144 = "stablehlo.dot_general"(%140, %arg53) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %145 = "stablehlo.reshape"(%144) : (tensor<16x16x32xf32>) -> tensor<16x16x4x8xf32>
    %146 = "stablehlo.transpose"(%145) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x16x4x8xf32>) -> tensor<16x4x16x8xf32>
    %147 = "stablehlo.dot_general"(%140, %arg56) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %148 = "stablehlo.reshape"(%147) : (tensor<16x16x32xf32>) -> tensor<16x16x4x8xf32>
    %149 = "stablehlo.transpose"(%148) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x16x4x8xf32>) -> tensor<16x4x16x8xf32>
    %150 = "stablehlo.transpose"(%146) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<16x4x16x8xf32>) -> tensor<16x4x8x16xf32>
    %151 = "stablehlo.dot_general"(%143, %150) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x8xf32>, tensor<16x4x8x16xf32>) -> tensor<16x4x16x16xf32>
    %152 = "stablehlo.constant"() <{value = dense<0.353553385> : tensor<f32>}> : () -> tensor<f32>
    %153 = "stablehlo.broadcast_in_dim"(%152) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16x16xf32>
    %154 = "stablehlo.multiply"(%151, %153) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %155 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %156 = "stablehlo.reduce"(%154, %155) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg139: tensor<f32>, %arg140: tensor<f32>):
      %862 = "stablehlo.maximum"(%arg139, %arg140) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%862) : (tensor<f32>) -> ()
    }) : (tensor<16x4x16x16xf32>, tensor<f32>) -> tensor<16x4x16xf32>
    %157 = "stablehlo.reshape"(%156) : (tensor<16x4x16xf32>) -> tensor<16x4x16x1xf32>
    %158 = "stablehlo.broadcast_in_dim"(%157) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x16x1xf32>) -> tensor<16x4x16x16xf32>
    %159 = "stablehlo.compare"(%154, %158) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xi1>
    %160 = "stablehlo.convert"(%159) : (tensor<16x4x16x16xi1>) -> tensor<16x4x16x16xf32>
    %161 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %162 = "stablehlo.reduce"(%160, %161) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg137: tensor<f32>, %arg138: tensor<f32>):
      %861 = "stablehlo.add"(%arg137, %arg138) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%861) : (tensor<f32>) -> ()
    }) : (tensor<16x4x16x16xf32>, tensor<f32>) -> tensor<16x4x16xf32>
    %163 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %164 = "stablehlo.broadcast_in_dim"(%163) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16xf32>
    %165 = "stablehlo.maximum"(%164, %156) : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %166 = "stablehlo.compare"(%156, %165) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xi1>
    %167 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %168 = "stablehlo.broadcast_in_dim"(%167) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16xf32>
    %169 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %170 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16xf32>
    %171 = "stablehlo.select"(%166, %168, %170) : (tensor<16x4x16xi1>, tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %172 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %173 = "stablehlo.broadcast_in_dim"(%172) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16xf32>
    %174 = "stablehlo.compare"(%173, %165) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xi1>
    %175 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %176 = "stablehlo.broadcast_in_dim"(%175) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16xf32>
    %177 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %178 = "stablehlo.broadcast_in_dim"(%177) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16xf32>
    %179 = "stablehlo.select"(%174, %176, %178) : (tensor<16x4x16xi1>, tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %180 = "stablehlo.divide"(%171, %179) : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %181 = "stablehlo.broadcast_in_dim"(%165) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x16xf32>) -> tensor<16x4x16x1xf32>
    %182 = "stablehlo.broadcast_in_dim"(%181) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x16x1xf32>) -> tensor<16x4x16x16xf32>
    %183 = "stablehlo.subtract"(%154, %182) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %184 = "stablehlo.exponential"(%183) : (tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %185 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %186 = "stablehlo.reduce"(%184, %185) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg135: tensor<f32>, %arg136: tensor<f32>):
      %860 = "stablehlo.add"(%arg135, %arg136) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%860) : (tensor<f32>) -> ()
    }) : (tensor<16x4x16x16xf32>, tensor<f32>) -> tensor<16x4x16xf32>
    %187 = "stablehlo.broadcast_in_dim"(%186) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x16xf32>) -> tensor<16x4x16x1xf32>
    %188 = "stablehlo.broadcast_in_dim"(%187) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x16x1xf32>) -> tensor<16x4x16x16xf32>
    %189 = "stablehlo.divide"(%184, %188) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %190 = "stablehlo.multiply"(%187, %187) : (tensor<16x4x16x1xf32>, tensor<16x4x16x1xf32>) -> tensor<16x4x16x1xf32>
    %191 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %192 = "stablehlo.broadcast_in_dim"(%191) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16x1xf32>
    %193 = "stablehlo.divide"(%192, %190) : (tensor<16x4x16x1xf32>, tensor<16x4x16x1xf32>) -> tensor<16x4x16x1xf32>
    %194 = "stablehlo.dot_general"(%189, %149) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x16xf32>, tensor<16x4x16x8xf32>) -> tensor<16x4x16x8xf32>
    %195 = "stablehlo.transpose"(%194) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x16x8xf32>) -> tensor<16x16x4x8xf32>
    %196 = "stablehlo.reshape"(%195) : (tensor<16x16x4x8xf32>) -> tensor<16x16x32xf32>
    %197 = "stablehlo.dot_general"(%196, %arg54) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %198 = "stablehlo.add"(%114, %197) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %199 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %200 = "stablehlo.reduce"(%198, %199) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg133: tensor<f32>, %arg134: tensor<f32>):
      %859 = "stablehlo.add"(%arg133, %arg134) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%859) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %201 = "stablehlo.broadcast_in_dim"(%200) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %202 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %203 = "stablehlo.broadcast_in_dim"(%202) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %204 = "stablehlo.divide"(%201, %203) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %205 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %206:5 = "func.call"(%198, %205) <{callee = @_var}> : (tensor<16x16x32xf32>, tensor<i32>) -> (tensor<16x16x1xf32>, tensor<16x16x32xf32>, tensor<f32>, tensor<i1>, tensor<16x16x1xf32>)
    %207 = "stablehlo.broadcast_in_dim"(%204) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %208 = "stablehlo.subtract"(%198, %207) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %209 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %210 = "stablehlo.broadcast_in_dim"(%209) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %211 = "stablehlo.add"(%206#0, %210) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %212 = "stablehlo.rsqrt"(%211) : (tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %213 = "stablehlo.divide"(%212, %211) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %214 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %215 = "stablehlo.broadcast_in_dim"(%214) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %216 = "stablehlo.multiply"(%215, %213) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %217 = "stablehlo.broadcast_in_dim"(%212) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %218 = "stablehlo.multiply"(%208, %217) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %219 = "stablehlo.broadcast_in_dim"(%arg48) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %220 = "stablehlo.broadcast_in_dim"(%219) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %221 = "stablehlo.multiply"(%218, %220) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %222 = "stablehlo.broadcast_in_dim"(%arg44) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %223 = "stablehlo.broadcast_in_dim"(%222) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %224 = "stablehlo.add"(%221, %223) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %225 = "stablehlo.dot_general"(%224, %arg51) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x128xf32>) -> tensor<16x16x128xf32>
    %226 = "stablehlo.broadcast_in_dim"(%arg45) <{broadcast_dimensions = array<i64: 2>}> : (tensor<128xf32>) -> tensor<1x1x128xf32>
    %227 = "stablehlo.broadcast_in_dim"(%226) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x128xf32>) -> tensor<16x16x128xf32>
    %228 = "stablehlo.add"(%225, %227) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %229 = "stablehlo.multiply"(%228, %228) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %230 = "stablehlo.multiply"(%229, %228) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %231 = "stablehlo.multiply"(%228, %228) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %232 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %233 = "stablehlo.broadcast_in_dim"(%232) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %234 = "stablehlo.multiply"(%233, %231) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %235 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %236 = "stablehlo.broadcast_in_dim"(%235) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %237 = "stablehlo.multiply"(%236, %230) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %238 = "stablehlo.add"(%228, %237) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %239 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %240 = "stablehlo.broadcast_in_dim"(%239) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %241 = "stablehlo.multiply"(%240, %238) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %242 = "stablehlo.tanh"(%241) : (tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %243 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %244 = "stablehlo.broadcast_in_dim"(%243) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %245 = "stablehlo.subtract"(%244, %242) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %246 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %247 = "stablehlo.broadcast_in_dim"(%246) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %248 = "stablehlo.add"(%247, %242) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %249 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %250 = "stablehlo.broadcast_in_dim"(%249) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %251 = "stablehlo.multiply"(%250, %248) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %252 = "stablehlo.multiply"(%228, %251) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %253 = "stablehlo.dot_general"(%252, %arg52) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x128xf32>, tensor<128x32xf32>) -> tensor<16x16x32xf32>
    %254 = "stablehlo.add"(%198, %253) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %255 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %256 = "stablehlo.reduce"(%254, %255) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg131: tensor<f32>, %arg132: tensor<f32>):
      %858 = "stablehlo.add"(%arg131, %arg132) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%858) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
    %257 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %258 = "stablehlo.broadcast_in_dim"(%257) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %259 = "stablehlo.divide"(%256, %258) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %260 = "stablehlo.dot_general"(%259, %arg49) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<32x4xf32>) -> tensor<16x4xf32>
    %261:3 = "func.call"(%260) <{callee = @log_softmax}> : (tensor<16x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x1xf32>)
    %262 = "stablehlo.broadcast_in_dim"(%arg87) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xi32>) -> tensor<16x1xi32>
    %263:2 = "func.call"(%261#0, %262) <{callee = @take_along_axis}> : (tensor<16x4xf32>, tensor<16x1xi32>) -> (tensor<16x1xf32>, tensor<16x1x1xi32>)
    %264 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %265 = "stablehlo.reduce"(%263#0, %264) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg129: tensor<f32>, %arg130: tensor<f32>):
      %857 = "stablehlo.add"(%arg129, %arg130) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%857) : (tensor<f32>) -> ()
    }) : (tensor<16x1xf32>, tensor<f32>) -> tensor<f32>
    %266 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %267 = "stablehlo.divide"(%265, %266) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %268 = "stablehlo.negate"(%267) : (tensor<f32>) -> tensor<f32>
    %269 = "stablehlo.negate"(%arg88) : (tensor<f32>) -> tensor<f32>
    %270 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %271 = "stablehlo.divide"(%269, %270) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %272 = "stablehlo.broadcast_in_dim"(%271) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %273 = "func.call"(%263#1, %272) <{callee = @take_along_axis_0}> : (tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x4xf32>
    %274 = "func.call"(%261#1, %261#2, %273) <{callee = @log_softmax_1}> : (tensor<16x4xf32>, tensor<16x1xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %275 = "stablehlo.dot_general"(%274, %259) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
    %276 = "stablehlo.transpose"(%275) <{permutation = array<i64: 1, 0>}> : (tensor<4x32xf32>) -> tensor<32x4xf32>
    %277 = "stablehlo.dot_general"(%274, %arg49) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4xf32>, tensor<32x4xf32>) -> tensor<16x32xf32>
    %278 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %279 = "stablehlo.broadcast_in_dim"(%278) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %280 = "stablehlo.divide"(%277, %279) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %281 = "stablehlo.broadcast_in_dim"(%280) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x32xf32>) -> tensor<16x16x32xf32>
    %282 = "stablehlo.dot_general"(%281, %252) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<16x16x128xf32>) -> tensor<32x128xf32>
    %283 = "stablehlo.transpose"(%282) <{permutation = array<i64: 1, 0>}> : (tensor<32x128xf32>) -> tensor<128x32xf32>
    %284 = "stablehlo.dot_general"(%281, %arg52) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<128x32xf32>) -> tensor<16x16x128xf32>
    %285 = "stablehlo.multiply"(%228, %284) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %286 = "stablehlo.multiply"(%284, %251) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %287 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %288 = "stablehlo.broadcast_in_dim"(%287) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %289 = "stablehlo.multiply"(%288, %285) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %290 = "stablehlo.multiply"(%289, %245) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %291 = "stablehlo.multiply"(%290, %242) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %292 = "stablehlo.add"(%290, %291) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %293 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %294 = "stablehlo.broadcast_in_dim"(%293) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %295 = "stablehlo.multiply"(%294, %292) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %296 = "stablehlo.add"(%286, %295) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %297 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %298 = "stablehlo.broadcast_in_dim"(%297) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %299 = "stablehlo.multiply"(%298, %295) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %300 = "stablehlo.multiply"(%299, %234) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %301 = "stablehlo.add"(%296, %300) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %302 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %303 = "stablehlo.reduce"(%301, %302) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg127: tensor<f32>, %arg128: tensor<f32>):
      %856 = "stablehlo.add"(%arg127, %arg128) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%856) : (tensor<f32>) -> ()
    }) : (tensor<16x16x128xf32>, tensor<f32>) -> tensor<128xf32>
    %304 = "stablehlo.reshape"(%303) : (tensor<128xf32>) -> tensor<1x1x128xf32>
    %305 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %306 = "stablehlo.reduce"(%304, %305) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg125: tensor<f32>, %arg126: tensor<f32>):
      %855 = "stablehlo.add"(%arg125, %arg126) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%855) : (tensor<f32>) -> ()
    }) : (tensor<1x1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %307 = "stablehlo.dot_general"(%301, %224) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x128xf32>, tensor<16x16x32xf32>) -> tensor<128x32xf32>
    %308 = "stablehlo.transpose"(%307) <{permutation = array<i64: 1, 0>}> : (tensor<128x32xf32>) -> tensor<32x128xf32>
    %309 = "stablehlo.dot_general"(%301, %arg51) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x128xf32>, tensor<32x128xf32>) -> tensor<16x16x32xf32>
    %310 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %311 = "stablehlo.reduce"(%309, %310) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg123: tensor<f32>, %arg124: tensor<f32>):
      %854 = "stablehlo.add"(%arg123, %arg124) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%854) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %312 = "stablehlo.reshape"(%311) : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %313 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %314 = "stablehlo.reduce"(%312, %313) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg121: tensor<f32>, %arg122: tensor<f32>):
      %853 = "stablehlo.add"(%arg121, %arg122) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%853) : (tensor<f32>) -> ()
    }) : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %315 = "stablehlo.multiply"(%218, %309) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %316 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %317 = "stablehlo.reduce"(%315, %316) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg119: tensor<f32>, %arg120: tensor<f32>):
      %852 = "stablehlo.add"(%arg119, %arg120) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%852) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %318 = "stablehlo.reshape"(%317) : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %319 = "stablehlo.broadcast_in_dim"(%219) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %320 = "stablehlo.multiply"(%309, %319) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %321 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %322 = "stablehlo.reduce"(%318, %321) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg117: tensor<f32>, %arg118: tensor<f32>):
      %851 = "stablehlo.add"(%arg117, %arg118) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%851) : (tensor<f32>) -> ()
    }) : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %323 = "stablehlo.multiply"(%208, %320) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %324 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %325 = "stablehlo.reduce"(%323, %324) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg115: tensor<f32>, %arg116: tensor<f32>):
      %850 = "stablehlo.add"(%arg115, %arg116) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%850) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %326 = "stablehlo.reshape"(%325) : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %327 = "stablehlo.broadcast_in_dim"(%212) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %328 = "stablehlo.multiply"(%320, %327) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %329 = "stablehlo.multiply"(%326, %216) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %330 = "stablehlo.negate"(%328) : (tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %331 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %332 = "stablehlo.reduce"(%330, %331) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg113: tensor<f32>, %arg114: tensor<f32>):
      %849 = "stablehlo.add"(%arg113, %arg114) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%849) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %333 = "stablehlo.reshape"(%332) : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %334 = "stablehlo.add"(%281, %328) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %335 = "func.call"(%206#1, %206#2, %206#3, %206#4, %329) <{callee = @_var_2}> : (tensor<16x16x32xf32>, tensor<f32>, tensor<i1>, tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %336 = "stablehlo.add"(%334, %335) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %337 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %338 = "stablehlo.broadcast_in_dim"(%337) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %339 = "stablehlo.divide"(%333, %338) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %340 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %341 = "stablehlo.reduce"(%339, %340) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg111: tensor<f32>, %arg112: tensor<f32>):
      %848 = "stablehlo.add"(%arg111, %arg112) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%848) : (tensor<f32>) -> ()
    }) : (tensor<16x16x1xf32>, tensor<f32>) -> tensor<16x16xf32>
    %342 = "stablehlo.broadcast_in_dim"(%341) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x32xf32>
    %343 = "stablehlo.add"(%336, %342) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %344 = "stablehlo.dot_general"(%343, %196) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<32x32xf32>
    %345 = "stablehlo.transpose"(%344) <{permutation = array<i64: 1, 0>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %346 = "stablehlo.dot_general"(%343, %arg54) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %347 = "stablehlo.reshape"(%346) : (tensor<16x16x32xf32>) -> tensor<16x16x4x8xf32>
    %348 = "stablehlo.transpose"(%347) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x16x4x8xf32>) -> tensor<16x4x16x8xf32>
    %349 = "stablehlo.dot_general"(%348, %189) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x8xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x8x16xf32>
    %350 = "stablehlo.transpose"(%349) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<16x4x8x16xf32>) -> tensor<16x4x16x8xf32>
    %351 = "stablehlo.dot_general"(%348, %149) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x8xf32>, tensor<16x4x16x8xf32>) -> tensor<16x4x16x16xf32>
    %352 = "stablehlo.broadcast_in_dim"(%193) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x16x1xf32>) -> tensor<16x4x16x16xf32>
    %353 = "stablehlo.multiply"(%351, %352) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %354 = "stablehlo.multiply"(%353, %184) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %355 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %356 = "stablehlo.reduce"(%354, %355) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg109: tensor<f32>, %arg110: tensor<f32>):
      %847 = "stablehlo.add"(%arg109, %arg110) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%847) : (tensor<f32>) -> ()
    }) : (tensor<16x4x16x16xf32>, tensor<f32>) -> tensor<16x4x16xf32>
    %357 = "stablehlo.reshape"(%356) : (tensor<16x4x16xf32>) -> tensor<16x4x16x1xf32>
    %358 = "stablehlo.negate"(%357) : (tensor<16x4x16x1xf32>) -> tensor<16x4x16x1xf32>
    %359 = "stablehlo.broadcast_in_dim"(%187) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x16x1xf32>) -> tensor<16x4x16x16xf32>
    %360 = "stablehlo.divide"(%351, %359) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %361 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %362 = "stablehlo.reduce"(%358, %361) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg107: tensor<f32>, %arg108: tensor<f32>):
      %846 = "stablehlo.add"(%arg107, %arg108) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%846) : (tensor<f32>) -> ()
    }) : (tensor<16x4x16x1xf32>, tensor<f32>) -> tensor<16x4x16xf32>
    %363 = "stablehlo.broadcast_in_dim"(%362) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x16xf32>) -> tensor<16x4x16x16xf32>
    %364 = "stablehlo.add"(%360, %363) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %365 = "stablehlo.multiply"(%364, %184) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %366 = "stablehlo.constant"() <{value = dense<0.353553385> : tensor<f32>}> : () -> tensor<f32>
    %367 = "stablehlo.broadcast_in_dim"(%366) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16x16xf32>
    %368 = "stablehlo.multiply"(%365, %367) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %369 = "stablehlo.dot_general"(%368, %143) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x16xf32>, tensor<16x4x16x8xf32>) -> tensor<16x4x16x8xf32>
    %370 = "stablehlo.transpose"(%369) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<16x4x16x8xf32>) -> tensor<16x4x8x16xf32>
    %371 = "stablehlo.dot_general"(%368, %150) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x16xf32>, tensor<16x4x8x16xf32>) -> tensor<16x4x16x8xf32>
    %372 = "stablehlo.transpose"(%370) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<16x4x8x16xf32>) -> tensor<16x4x16x8xf32>
    %373 = "stablehlo.transpose"(%350) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x16x8xf32>) -> tensor<16x16x4x8xf32>
    %374 = "stablehlo.reshape"(%373) : (tensor<16x16x4x8xf32>) -> tensor<16x16x32xf32>
    %375 = "stablehlo.dot_general"(%374, %140) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<32x32xf32>
    %376 = "stablehlo.transpose"(%375) <{permutation = array<i64: 1, 0>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %377 = "stablehlo.dot_general"(%374, %arg56) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %378 = "stablehlo.transpose"(%372) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x16x8xf32>) -> tensor<16x16x4x8xf32>
    %379 = "stablehlo.reshape"(%378) : (tensor<16x16x4x8xf32>) -> tensor<16x16x32xf32>
    %380 = "stablehlo.dot_general"(%379, %140) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<32x32xf32>
    %381 = "stablehlo.transpose"(%380) <{permutation = array<i64: 1, 0>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %382 = "stablehlo.dot_general"(%379, %arg53) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %383 = "stablehlo.add"(%377, %382) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %384 = "stablehlo.transpose"(%371) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x16x8xf32>) -> tensor<16x16x4x8xf32>
    %385 = "stablehlo.reshape"(%384) : (tensor<16x16x4x8xf32>) -> tensor<16x16x32xf32>
    %386 = "stablehlo.dot_general"(%385, %140) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<32x32xf32>
    %387 = "stablehlo.transpose"(%386) <{permutation = array<i64: 1, 0>}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %388 = "stablehlo.dot_general"(%385, %arg55) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %389 = "stablehlo.add"(%383, %388) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %390 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %391 = "stablehlo.reduce"(%389, %390) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg105: tensor<f32>, %arg106: tensor<f32>):
      %845 = "stablehlo.add"(%arg105, %arg106) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%845) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %392 = "stablehlo.reshape"(%391) : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %393 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %394 = "stablehlo.reduce"(%392, %393) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg103: tensor<f32>, %arg104: tensor<f32>):
      %844 = "stablehlo.add"(%arg103, %arg104) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%844) : (tensor<f32>) -> ()
    }) : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %395 = "stablehlo.multiply"(%134, %389) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %396 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %397 = "stablehlo.reduce"(%395, %396) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg101: tensor<f32>, %arg102: tensor<f32>):
      %843 = "stablehlo.add"(%arg101, %arg102) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%843) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<32xf32>
    %398 = "stablehlo.reshape"(%397) : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %399 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %400 = "stablehlo.multiply"(%389, %399) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %401 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %402 = "stablehlo.reduce"(%398, %401) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg99: tensor<f32>, %arg100: tensor<f32>):
      %842 = "stablehlo.add"(%arg99, %arg100) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%842) : (tensor<f32>) -> ()
    }) : (tensor<1x1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %403 = "stablehlo.multiply"(%124, %400) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %404 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %405 = "stablehlo.reduce"(%403, %404) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg97: tensor<f32>, %arg98: tensor<f32>):
      %841 = "stablehlo.add"(%arg97, %arg98) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%841) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %406 = "stablehlo.reshape"(%405) : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %407 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %408 = "stablehlo.multiply"(%400, %407) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %409 = "stablehlo.multiply"(%406, %132) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %410 = "stablehlo.negate"(%408) : (tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %411 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %412 = "stablehlo.reduce"(%410, %411) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg95: tensor<f32>, %arg96: tensor<f32>):
      %840 = "stablehlo.add"(%arg95, %arg96) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%840) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %413 = "stablehlo.reshape"(%412) : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %414 = "stablehlo.add"(%343, %408) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %415 = "func.call"(%122#1, %122#2, %122#3, %122#4, %409) <{callee = @_var_2}> : (tensor<16x16x32xf32>, tensor<f32>, tensor<i1>, tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %416 = "stablehlo.add"(%414, %415) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %417 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %418 = "stablehlo.broadcast_in_dim"(%417) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %419 = "stablehlo.divide"(%413, %418) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %420 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %421 = "stablehlo.reduce"(%419, %420) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg93: tensor<f32>, %arg94: tensor<f32>):
      %839 = "stablehlo.add"(%arg93, %arg94) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%839) : (tensor<f32>) -> ()
    }) : (tensor<16x16x1xf32>, tensor<f32>) -> tensor<16x16xf32>
    %422 = "stablehlo.broadcast_in_dim"(%421) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x32xf32>
    %423 = "stablehlo.add"(%416, %422) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %424 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %425 = "stablehlo.reduce"(%423, %424) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg91: tensor<f32>, %arg92: tensor<f32>):
      %838 = "stablehlo.add"(%arg91, %arg92) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%838) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
    %426 = "stablehlo.reshape"(%425) : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %427 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %428 = "stablehlo.reduce"(%426, %427) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg89: tensor<f32>, %arg90: tensor<f32>):
      %837 = "stablehlo.add"(%arg89, %arg90) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%837) : (tensor<f32>) -> ()
    }) : (tensor<1x16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
    %429 = "stablehlo.dot_general"(%423, %arg86) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<16x16x16xf32>) -> tensor<32x16xf32>
    %430 = "stablehlo.transpose"(%429) <{permutation = array<i64: 1, 0>}> : (tensor<32x16xf32>) -> tensor<16x32xf32>
    %431 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %432 = "stablehlo.add"(%arg71, %431) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %433 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %434 = "stablehlo.broadcast_in_dim"(%433) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %435 = "stablehlo.multiply"(%434, %arg57) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %436 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %437 = "stablehlo.broadcast_in_dim"(%436) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %438 = "stablehlo.multiply"(%437, %394) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %439 = "stablehlo.add"(%435, %438) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %440 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %441 = "stablehlo.broadcast_in_dim"(%440) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %442 = "stablehlo.multiply"(%441, %arg58) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %443 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %444 = "stablehlo.broadcast_in_dim"(%443) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %445 = "stablehlo.multiply"(%444, %314) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %446 = "stablehlo.add"(%442, %445) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %447 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %448 = "stablehlo.broadcast_in_dim"(%447) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %449 = "stablehlo.multiply"(%448, %arg59) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %450 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %451 = "stablehlo.broadcast_in_dim"(%450) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %452 = "stablehlo.multiply"(%451, %306) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %453 = "stablehlo.add"(%449, %452) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %454 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %455 = "stablehlo.broadcast_in_dim"(%454) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %456 = "stablehlo.multiply"(%455, %arg60) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %457 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %458 = "stablehlo.broadcast_in_dim"(%457) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %459 = "stablehlo.multiply"(%458, %430) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %460 = "stablehlo.add"(%456, %459) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %461 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %462 = "stablehlo.broadcast_in_dim"(%461) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %463 = "stablehlo.multiply"(%462, %arg61) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %464 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %465 = "stablehlo.broadcast_in_dim"(%464) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %466 = "stablehlo.multiply"(%465, %402) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %467 = "stablehlo.add"(%463, %466) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %468 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %469 = "stablehlo.broadcast_in_dim"(%468) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %470 = "stablehlo.multiply"(%469, %arg62) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %471 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %472 = "stablehlo.broadcast_in_dim"(%471) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %473 = "stablehlo.multiply"(%472, %322) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %474 = "stablehlo.add"(%470, %473) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %475 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %476 = "stablehlo.broadcast_in_dim"(%475) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4xf32>
    %477 = "stablehlo.multiply"(%476, %arg63) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %478 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %479 = "stablehlo.broadcast_in_dim"(%478) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4xf32>
    %480 = "stablehlo.multiply"(%479, %276) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %481 = "stablehlo.add"(%477, %480) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %482 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %483 = "stablehlo.broadcast_in_dim"(%482) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %484 = "stablehlo.multiply"(%483, %arg64) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %485 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %486 = "stablehlo.broadcast_in_dim"(%485) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %487 = "stablehlo.multiply"(%486, %428) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %488 = "stablehlo.add"(%484, %487) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %489 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %490 = "stablehlo.broadcast_in_dim"(%489) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x128xf32>
    %491 = "stablehlo.multiply"(%490, %arg65) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %492 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %493 = "stablehlo.broadcast_in_dim"(%492) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x128xf32>
    %494 = "stablehlo.multiply"(%493, %308) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %495 = "stablehlo.add"(%491, %494) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %496 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %497 = "stablehlo.broadcast_in_dim"(%496) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x32xf32>
    %498 = "stablehlo.multiply"(%497, %arg66) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %499 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %500 = "stablehlo.broadcast_in_dim"(%499) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x32xf32>
    %501 = "stablehlo.multiply"(%500, %283) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %502 = "stablehlo.add"(%498, %501) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %503 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %504 = "stablehlo.broadcast_in_dim"(%503) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %505 = "stablehlo.multiply"(%504, %arg67) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %506 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %507 = "stablehlo.broadcast_in_dim"(%506) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %508 = "stablehlo.multiply"(%507, %381) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %509 = "stablehlo.add"(%505, %508) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %510 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %511 = "stablehlo.broadcast_in_dim"(%510) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %512 = "stablehlo.multiply"(%511, %arg68) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %513 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %514 = "stablehlo.broadcast_in_dim"(%513) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %515 = "stablehlo.multiply"(%514, %345) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %516 = "stablehlo.add"(%512, %515) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %517 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %518 = "stablehlo.broadcast_in_dim"(%517) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %519 = "stablehlo.multiply"(%518, %arg69) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %520 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %521 = "stablehlo.broadcast_in_dim"(%520) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %522 = "stablehlo.multiply"(%521, %387) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %523 = "stablehlo.add"(%519, %522) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %524 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %525 = "stablehlo.broadcast_in_dim"(%524) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %526 = "stablehlo.multiply"(%525, %arg70) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %527 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %528 = "stablehlo.broadcast_in_dim"(%527) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %529 = "stablehlo.multiply"(%528, %376) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %530 = "stablehlo.add"(%526, %529) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %531 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %532 = "stablehlo.broadcast_in_dim"(%531) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %533 = "stablehlo.multiply"(%532, %arg72) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %534 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %535 = "stablehlo.broadcast_in_dim"(%534) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %536 = "stablehlo.multiply"(%535, %394) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %537 = "stablehlo.multiply"(%536, %394) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %538 = "stablehlo.add"(%533, %537) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %539 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %540 = "stablehlo.broadcast_in_dim"(%539) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %541 = "stablehlo.multiply"(%540, %arg73) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %542 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %543 = "stablehlo.broadcast_in_dim"(%542) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %544 = "stablehlo.multiply"(%543, %314) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %545 = "stablehlo.multiply"(%544, %314) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %546 = "stablehlo.add"(%541, %545) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %547 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %548 = "stablehlo.broadcast_in_dim"(%547) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %549 = "stablehlo.multiply"(%548, %arg74) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %550 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %551 = "stablehlo.broadcast_in_dim"(%550) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %552 = "stablehlo.multiply"(%551, %306) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %553 = "stablehlo.multiply"(%552, %306) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %554 = "stablehlo.add"(%549, %553) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %555 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %556 = "stablehlo.broadcast_in_dim"(%555) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %557 = "stablehlo.multiply"(%556, %arg75) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %558 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %559 = "stablehlo.broadcast_in_dim"(%558) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %560 = "stablehlo.multiply"(%559, %430) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %561 = "stablehlo.multiply"(%560, %430) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %562 = "stablehlo.add"(%557, %561) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %563 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %564 = "stablehlo.broadcast_in_dim"(%563) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %565 = "stablehlo.multiply"(%564, %arg76) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %566 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %567 = "stablehlo.broadcast_in_dim"(%566) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %568 = "stablehlo.multiply"(%567, %402) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %569 = "stablehlo.multiply"(%568, %402) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %570 = "stablehlo.add"(%565, %569) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %571 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %572 = "stablehlo.broadcast_in_dim"(%571) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %573 = "stablehlo.multiply"(%572, %arg77) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %574 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %575 = "stablehlo.broadcast_in_dim"(%574) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %576 = "stablehlo.multiply"(%575, %322) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %577 = "stablehlo.multiply"(%576, %322) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %578 = "stablehlo.add"(%573, %577) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %579 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %580 = "stablehlo.broadcast_in_dim"(%579) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4xf32>
    %581 = "stablehlo.multiply"(%580, %arg78) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %582 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %583 = "stablehlo.broadcast_in_dim"(%582) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4xf32>
    %584 = "stablehlo.multiply"(%583, %276) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %585 = "stablehlo.multiply"(%584, %276) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %586 = "stablehlo.add"(%581, %585) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %587 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %588 = "stablehlo.broadcast_in_dim"(%587) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %589 = "stablehlo.multiply"(%588, %arg79) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %590 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %591 = "stablehlo.broadcast_in_dim"(%590) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %592 = "stablehlo.multiply"(%591, %428) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %593 = "stablehlo.multiply"(%592, %428) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %594 = "stablehlo.add"(%589, %593) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %595 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %596 = "stablehlo.broadcast_in_dim"(%595) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x128xf32>
    %597 = "stablehlo.multiply"(%596, %arg80) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %598 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %599 = "stablehlo.broadcast_in_dim"(%598) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x128xf32>
    %600 = "stablehlo.multiply"(%599, %308) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %601 = "stablehlo.multiply"(%600, %308) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %602 = "stablehlo.add"(%597, %601) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %603 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %604 = "stablehlo.broadcast_in_dim"(%603) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x32xf32>
    %605 = "stablehlo.multiply"(%604, %arg81) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %606 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %607 = "stablehlo.broadcast_in_dim"(%606) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x32xf32>
    %608 = "stablehlo.multiply"(%607, %283) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %609 = "stablehlo.multiply"(%608, %283) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %610 = "stablehlo.add"(%605, %609) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %611 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %612 = "stablehlo.broadcast_in_dim"(%611) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %613 = "stablehlo.multiply"(%612, %arg82) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %614 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %615 = "stablehlo.broadcast_in_dim"(%614) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %616 = "stablehlo.multiply"(%615, %381) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %617 = "stablehlo.multiply"(%616, %381) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %618 = "stablehlo.add"(%613, %617) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %619 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %620 = "stablehlo.broadcast_in_dim"(%619) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %621 = "stablehlo.multiply"(%620, %arg83) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %622 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %623 = "stablehlo.broadcast_in_dim"(%622) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %624 = "stablehlo.multiply"(%623, %345) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %625 = "stablehlo.multiply"(%624, %345) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %626 = "stablehlo.add"(%621, %625) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %627 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %628 = "stablehlo.broadcast_in_dim"(%627) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %629 = "stablehlo.multiply"(%628, %arg84) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %630 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %631 = "stablehlo.broadcast_in_dim"(%630) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %632 = "stablehlo.multiply"(%631, %387) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %633 = "stablehlo.multiply"(%632, %387) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %634 = "stablehlo.add"(%629, %633) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %635 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %636 = "stablehlo.broadcast_in_dim"(%635) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %637 = "stablehlo.multiply"(%636, %arg85) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %638 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %639 = "stablehlo.broadcast_in_dim"(%638) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %640 = "stablehlo.multiply"(%639, %376) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %641 = "stablehlo.multiply"(%640, %376) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %642 = "stablehlo.add"(%637, %641) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %643 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %644 = "stablehlo.power"(%643, %432) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %645 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %646 = "stablehlo.subtract"(%645, %644) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %647 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %648 = "stablehlo.divide"(%647, %646) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %649 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %650 = "stablehlo.power"(%649, %432) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %651 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %652 = "stablehlo.subtract"(%651, %650) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %653 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %654 = "stablehlo.divide"(%653, %652) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %655 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %656 = "stablehlo.multiply"(%439, %655) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %657 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %658 = "stablehlo.broadcast_in_dim"(%657) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %659 = "stablehlo.multiply"(%658, %656) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %660 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %661 = "stablehlo.multiply"(%538, %660) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %662 = "stablehlo.sqrt"(%661) : (tensor<32xf32>) -> tensor<32xf32>
    %663 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %664 = "stablehlo.broadcast_in_dim"(%663) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %665 = "stablehlo.add"(%662, %664) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %666 = "stablehlo.divide"(%659, %665) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %667 = "stablehlo.subtract"(%arg43, %666) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %668 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %669 = "stablehlo.multiply"(%446, %668) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %670 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %671 = "stablehlo.broadcast_in_dim"(%670) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %672 = "stablehlo.multiply"(%671, %669) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %673 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %674 = "stablehlo.multiply"(%546, %673) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %675 = "stablehlo.sqrt"(%674) : (tensor<32xf32>) -> tensor<32xf32>
    %676 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %677 = "stablehlo.broadcast_in_dim"(%676) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %678 = "stablehlo.add"(%675, %677) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %679 = "stablehlo.divide"(%672, %678) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %680 = "stablehlo.subtract"(%arg44, %679) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %681 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %682 = "stablehlo.multiply"(%453, %681) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %683 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %684 = "stablehlo.broadcast_in_dim"(%683) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %685 = "stablehlo.multiply"(%684, %682) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %686 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %687 = "stablehlo.multiply"(%554, %686) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %688 = "stablehlo.sqrt"(%687) : (tensor<128xf32>) -> tensor<128xf32>
    %689 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %690 = "stablehlo.broadcast_in_dim"(%689) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %691 = "stablehlo.add"(%688, %690) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %692 = "stablehlo.divide"(%685, %691) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %693 = "stablehlo.subtract"(%arg45, %692) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %694 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %695 = "stablehlo.multiply"(%460, %694) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %696 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %697 = "stablehlo.broadcast_in_dim"(%696) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %698 = "stablehlo.multiply"(%697, %695) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %699 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %700 = "stablehlo.multiply"(%562, %699) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %701 = "stablehlo.sqrt"(%700) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %702 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %703 = "stablehlo.broadcast_in_dim"(%702) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %704 = "stablehlo.add"(%701, %703) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %705 = "stablehlo.divide"(%698, %704) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %706 = "stablehlo.subtract"(%arg46, %705) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %707 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %708 = "stablehlo.multiply"(%467, %707) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %709 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %710 = "stablehlo.broadcast_in_dim"(%709) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %711 = "stablehlo.multiply"(%710, %708) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %712 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %713 = "stablehlo.multiply"(%570, %712) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %714 = "stablehlo.sqrt"(%713) : (tensor<32xf32>) -> tensor<32xf32>
    %715 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %716 = "stablehlo.broadcast_in_dim"(%715) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %717 = "stablehlo.add"(%714, %716) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %718 = "stablehlo.divide"(%711, %717) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %719 = "stablehlo.subtract"(%arg47, %718) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %720 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %721 = "stablehlo.multiply"(%474, %720) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %722 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %723 = "stablehlo.broadcast_in_dim"(%722) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %724 = "stablehlo.multiply"(%723, %721) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %725 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %726 = "stablehlo.multiply"(%578, %725) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %727 = "stablehlo.sqrt"(%726) : (tensor<32xf32>) -> tensor<32xf32>
    %728 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %729 = "stablehlo.broadcast_in_dim"(%728) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %730 = "stablehlo.add"(%727, %729) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %731 = "stablehlo.divide"(%724, %730) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %732 = "stablehlo.subtract"(%arg48, %731) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %733 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4xf32>
    %734 = "stablehlo.multiply"(%481, %733) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %735 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %736 = "stablehlo.broadcast_in_dim"(%735) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4xf32>
    %737 = "stablehlo.multiply"(%736, %734) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %738 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4xf32>
    %739 = "stablehlo.multiply"(%586, %738) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %740 = "stablehlo.sqrt"(%739) : (tensor<32x4xf32>) -> tensor<32x4xf32>
    %741 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %742 = "stablehlo.broadcast_in_dim"(%741) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x4xf32>
    %743 = "stablehlo.add"(%740, %742) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %744 = "stablehlo.divide"(%737, %743) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %745 = "stablehlo.subtract"(%arg49, %744) : (tensor<32x4xf32>, tensor<32x4xf32>) -> tensor<32x4xf32>
    %746 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %747 = "stablehlo.multiply"(%488, %746) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %748 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %749 = "stablehlo.broadcast_in_dim"(%748) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %750 = "stablehlo.multiply"(%749, %747) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %751 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %752 = "stablehlo.multiply"(%594, %751) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %753 = "stablehlo.sqrt"(%752) : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %754 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %755 = "stablehlo.broadcast_in_dim"(%754) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %756 = "stablehlo.add"(%753, %755) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %757 = "stablehlo.divide"(%750, %756) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %758 = "stablehlo.subtract"(%arg50, %757) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %759 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x128xf32>
    %760 = "stablehlo.multiply"(%495, %759) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %761 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %762 = "stablehlo.broadcast_in_dim"(%761) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x128xf32>
    %763 = "stablehlo.multiply"(%762, %760) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %764 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x128xf32>
    %765 = "stablehlo.multiply"(%602, %764) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %766 = "stablehlo.sqrt"(%765) : (tensor<32x128xf32>) -> tensor<32x128xf32>
    %767 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %768 = "stablehlo.broadcast_in_dim"(%767) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x128xf32>
    %769 = "stablehlo.add"(%766, %768) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %770 = "stablehlo.divide"(%763, %769) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %771 = "stablehlo.subtract"(%arg51, %770) : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xf32>
    %772 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x32xf32>
    %773 = "stablehlo.multiply"(%502, %772) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %774 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %775 = "stablehlo.broadcast_in_dim"(%774) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x32xf32>
    %776 = "stablehlo.multiply"(%775, %773) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %777 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x32xf32>
    %778 = "stablehlo.multiply"(%610, %777) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %779 = "stablehlo.sqrt"(%778) : (tensor<128x32xf32>) -> tensor<128x32xf32>
    %780 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %781 = "stablehlo.broadcast_in_dim"(%780) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x32xf32>
    %782 = "stablehlo.add"(%779, %781) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %783 = "stablehlo.divide"(%776, %782) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %784 = "stablehlo.subtract"(%arg52, %783) : (tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x32xf32>
    %785 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %786 = "stablehlo.multiply"(%509, %785) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %787 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %788 = "stablehlo.broadcast_in_dim"(%787) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %789 = "stablehlo.multiply"(%788, %786) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %790 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %791 = "stablehlo.multiply"(%618, %790) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %792 = "stablehlo.sqrt"(%791) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %793 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %794 = "stablehlo.broadcast_in_dim"(%793) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %795 = "stablehlo.add"(%792, %794) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %796 = "stablehlo.divide"(%789, %795) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %797 = "stablehlo.subtract"(%arg53, %796) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %798 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %799 = "stablehlo.multiply"(%516, %798) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %800 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %801 = "stablehlo.broadcast_in_dim"(%800) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %802 = "stablehlo.multiply"(%801, %799) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %803 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %804 = "stablehlo.multiply"(%626, %803) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %805 = "stablehlo.sqrt"(%804) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %806 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %807 = "stablehlo.broadcast_in_dim"(%806) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %808 = "stablehlo.add"(%805, %807) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %809 = "stablehlo.divide"(%802, %808) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %810 = "stablehlo.subtract"(%arg54, %809) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %811 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %812 = "stablehlo.multiply"(%523, %811) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %813 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %814 = "stablehlo.broadcast_in_dim"(%813) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %815 = "stablehlo.multiply"(%814, %812) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %816 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %817 = "stablehlo.multiply"(%634, %816) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %818 = "stablehlo.sqrt"(%817) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %819 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %820 = "stablehlo.broadcast_in_dim"(%819) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %821 = "stablehlo.add"(%818, %820) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %822 = "stablehlo.divide"(%815, %821) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %823 = "stablehlo.subtract"(%arg55, %822) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %824 = "stablehlo.broadcast_in_dim"(%648) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %825 = "stablehlo.multiply"(%530, %824) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %826 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %827 = "stablehlo.broadcast_in_dim"(%826) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %828 = "stablehlo.multiply"(%827, %825) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %829 = "stablehlo.broadcast_in_dim"(%654) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %830 = "stablehlo.multiply"(%642, %829) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %831 = "stablehlo.sqrt"(%830) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %832 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %833 = "stablehlo.broadcast_in_dim"(%832) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x32xf32>
    %834 = "stablehlo.add"(%831, %833) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %835 = "stablehlo.divide"(%828, %834) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    %836 = "stablehlo.subtract"(%arg56, %835) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
    "func.return"(%667, %680, %693, %706, %719, %732, %745, %758, %771, %784, %797, %810, %823, %836, %439, %446, %453, %460, %467, %474, %481, %488, %495, %502, %509, %516, %523, %530, %432, %538, %546, %554, %562, %570, %578, %586, %594, %602, %610, %618, %626, %634, %642, %268, %394, %314, %306, %430, %402, %322, %276, %428, %308, %283, %381, %345, %387, %376) : (tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x16x32xf32>, tensor<i32>) -> (tensor<16x16x1xf32>, tensor<16x16x32xf32>, tensor<f32>, tensor<i1>, tensor<16x16x1xf32>), res_attrs = [{}, {}, {}, {}, {}], sym_name = "_var", sym_visibility = "private"}> ({
  ^bb0(%arg37: tensor<16x16x32xf32>, %arg38: tensor<i32>):
    %85 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %86 = "stablehlo.reduce"(%arg37, %85) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg41: tensor<f32>, %arg42: tensor<f32>):
      %110 = "stablehlo.add"(%arg41, %arg42) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%110) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %88 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %90 = "stablehlo.divide"(%87, %89) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %92 = "stablehlo.subtract"(%arg37, %91) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %93 = "chlo.square"(%92) : (tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %94 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x32xf32>
    %96 = "stablehlo.multiply"(%95, %92) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %97 = "stablehlo.convert"(%arg38) : (tensor<i32>) -> tensor<f32>
    %98 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %99 = "stablehlo.subtract"(%98, %97) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %100 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.reduce"(%93, %100) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg39: tensor<f32>, %arg40: tensor<f32>):
      %109 = "stablehlo.add"(%arg39, %arg40) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%109) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %103 = "stablehlo.broadcast_in_dim"(%99) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %104 = "stablehlo.divide"(%102, %103) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %105 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.compare"(%99, %105) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %107 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %108:2 = "func.call"(%106, %104, %107) <{callee = @_where}> : (tensor<i1>, tensor<16x16x1xf32>, tensor<f32>) -> (tensor<16x16x1xf32>, tensor<16x16x1xf32>)
    "func.return"(%108#0, %96, %99, %106, %108#1) : (tensor<16x16x1xf32>, tensor<16x16x32xf32>, tensor<f32>, tensor<i1>, tensor<16x16x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<16x16x1xf32>, tensor<f32>) -> (tensor<16x16x1xf32>, tensor<16x16x1xf32>), res_attrs = [{}, {}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg34: tensor<i1>, %arg35: tensor<16x16x1xf32>, %arg36: tensor<f32>):
    %80 = "stablehlo.convert"(%arg36) : (tensor<f32>) -> tensor<f32>
    %81 = "stablehlo.broadcast_in_dim"(%80) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %82 = "stablehlo.select"(%arg34, %arg35, %81) : (tensor<i1>, tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %83 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    "func.return"(%82, %84) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x1xf32>), res_attrs = [{}, {}, {}], sym_name = "log_softmax", sym_visibility = "private"}> ({
  ^bb0(%arg29: tensor<16x4xf32>):
    %63 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %64 = "stablehlo.reduce"(%arg29, %63) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg32: tensor<f32>, %arg33: tensor<f32>):
      %79 = "stablehlo.maximum"(%arg32, %arg33) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%79) : (tensor<f32>) -> ()
    }) : (tensor<16x4xf32>, tensor<f32>) -> tensor<16xf32>
    %65 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %67 = "stablehlo.maximum"(%66, %64) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %68 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %69 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x4xf32>
    %70 = "stablehlo.subtract"(%arg29, %69) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %71 = "stablehlo.exponential"(%70) : (tensor<16x4xf32>) -> tensor<16x4xf32>
    %72 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %73 = "stablehlo.reduce"(%71, %72) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg30: tensor<f32>, %arg31: tensor<f32>):
      %78 = "stablehlo.add"(%arg30, %arg31) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%78) : (tensor<f32>) -> ()
    }) : (tensor<16x4xf32>, tensor<f32>) -> tensor<16xf32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %75 = "stablehlo.log"(%74) : (tensor<16x1xf32>) -> tensor<16x1xf32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x4xf32>
    %77 = "stablehlo.subtract"(%70, %76) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    "func.return"(%77, %71, %74) : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x4xf32>, tensor<16x1xi32>) -> (tensor<16x1xf32>, tensor<16x1x1xi32>), res_attrs = [{}, {}], sym_name = "take_along_axis", sym_visibility = "private"}> ({
  ^bb0(%arg25: tensor<16x4xf32>, %arg26: tensor<16x1xi32>):
    %40 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x1xi32>
    %42 = "stablehlo.compare"(%arg26, %41) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi1>
    %43 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x1xi32>
    %45 = "stablehlo.add"(%arg26, %44) : (tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi32>
    %46 = "stablehlo.select"(%42, %45, %arg26) : (tensor<16x1xi1>, tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi32>
    %47 = "stablehlo.reshape"(%46) : (tensor<16x1xi32>) -> tensor<16x1x1xi32>
    %48 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %49 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x1x1xi32>
    %51 = "stablehlo.compare"(%47, %50) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %52 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 2>}> : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xi32>) -> tensor<16x1x1xi32>
    %54 = "stablehlo.compare"(%47, %53) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %55 = "stablehlo.and"(%51, %54) : (tensor<16x1x1xi1>, tensor<16x1x1xi1>) -> tensor<16x1x1xi1>
    %56 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %57 = "stablehlo.reduce"(%55, %56) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg27: tensor<i1>, %arg28: tensor<i1>):
      %62 = "stablehlo.and"(%arg27, %arg28) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%62) : (tensor<i1>) -> ()
    }) : (tensor<16x1x1xi1>, tensor<i1>) -> tensor<16x1xi1>
    %58 = "stablehlo.gather"(%arg25, %47) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<16x4xf32>, tensor<16x1x1xi32>) -> tensor<16x1xf32>
    %59 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %60 = "stablehlo.broadcast_in_dim"(%59) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %61 = "stablehlo.select"(%57, %58, %60) : (tensor<16x1xi1>, tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    "func.return"(%61, %47) : (tensor<16x1xf32>, tensor<16x1x1xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x4xf32>, res_attrs = [{}], sym_name = "take_along_axis_0", sym_visibility = "private"}> ({
  ^bb0(%arg21: tensor<16x1x1xi32>, %arg22: tensor<16x1xf32>):
    %36 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4xf32>
    %38 = "stablehlo.scatter"(%37, %arg21, %arg22) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %39 = "stablehlo.add"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%39) : (tensor<f32>) -> ()
    }) : (tensor<16x4xf32>, tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x4xf32>
    "func.return"(%38) : (tensor<16x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<16x4xf32>, tensor<16x1xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>, res_attrs = [{}], sym_name = "log_softmax_1", sym_visibility = "private"}> ({
  ^bb0(%arg14: tensor<16x4xf32>, %arg15: tensor<16x1xf32>, %arg16: tensor<16x4xf32>):
    %24 = "stablehlo.negate"(%arg16) : (tensor<16x4xf32>) -> tensor<16x4xf32>
    %25 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %26 = "stablehlo.reduce"(%24, %25) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %35 = "stablehlo.add"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%35) : (tensor<f32>) -> ()
    }) : (tensor<16x4xf32>, tensor<f32>) -> tensor<16xf32>
    %27 = "stablehlo.reshape"(%26) : (tensor<16xf32>) -> tensor<16x1xf32>
    %28 = "stablehlo.divide"(%27, %arg15) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %29 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.reduce"(%28, %29) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %34 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%34) : (tensor<f32>) -> ()
    }) : (tensor<16x1xf32>, tensor<f32>) -> tensor<16xf32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x4xf32>
    %32 = "stablehlo.multiply"(%31, %arg14) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %33 = "stablehlo.add"(%arg16, %32) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    "func.return"(%33) : (tensor<16x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<16x16x32xf32>, tensor<f32>, tensor<i1>, tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x32xf32>, res_attrs = [{}], sym_name = "_var_2", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<16x16x32xf32>, %arg4: tensor<f32>, %arg5: tensor<i1>, %arg6: tensor<16x16x1xf32>, %arg7: tensor<16x16x1xf32>):
    %3 = "func.call"(%arg5, %arg6, %arg7) <{callee = @_where_3}> : (tensor<i1>, tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %4 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %5 = "stablehlo.divide"(%3, %4) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %6 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.reduce"(%5, %6) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg12: tensor<f32>, %arg13: tensor<f32>):
      %23 = "stablehlo.add"(%arg12, %arg13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%23) : (tensor<f32>) -> ()
    }) : (tensor<16x16x1xf32>, tensor<f32>) -> tensor<16x16xf32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x32xf32>
    %9 = "stablehlo.multiply"(%8, %arg3) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %10 = "stablehlo.negate"(%9) : (tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %11 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.reduce"(%10, %11) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %22 = "stablehlo.add"(%arg10, %arg11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%22) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %13 = "stablehlo.reshape"(%12) : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %14 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %16 = "stablehlo.divide"(%13, %15) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %17 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.reduce"(%16, %17) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %21 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%21) : (tensor<f32>) -> ()
    }) : (tensor<16x16x1xf32>, tensor<f32>) -> tensor<16x16xf32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x32xf32>
    %20 = "stablehlo.add"(%9, %19) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    "func.return"(%20) : (tensor<16x16x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>, res_attrs = [{}], sym_name = "_where_3", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<16x16x1xf32>, %arg2: tensor<16x16x1xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %2 = "stablehlo.select"(%arg0, %arg2, %1) : (tensor<i1>, tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    "func.return"(%2) : (tensor<16x16x1xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
