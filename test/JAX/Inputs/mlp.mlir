"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{arg_attrs = [{amp.name = "params.b1", amp.role = "parameter"}, {amp.name = "params.b2", amp.role = "parameter"}, {amp.name = "params.b3", amp.role = "parameter"}, {amp.name = "params.w1", amp.role = "parameter"}, {amp.name = "params.w2", amp.role = "parameter"}, {amp.name = "params.w3", amp.role = "parameter"}, {amp.name = "state.m.b1", amp.role = "optimizer_state"}, {amp.name = "state.m.b2", amp.role = "optimizer_state"}, {amp.name = "state.m.b3", amp.role = "optimizer_state"}, {amp.name = "state.m.w1", amp.role = "optimizer_state"}, {amp.name = "state.m.w2", amp.role = "optimizer_state"}, {amp.name = "state.m.w3", amp.role = "optimizer_state"}, {amp.name = "state.t", amp.role = "optimizer_state"}, {amp.name = "state.v.b1", amp.role = "optimizer_state"}, {amp.name = "state.v.b2", amp.role = "optimizer_state"}, {amp.name = "state.v.b3", amp.role = "optimizer_state"}, {amp.name = "state.v.w1", amp.role = "optimizer_state"}, {amp.name = "state.v.w2", amp.role = "optimizer_state"}, {amp.name = "state.v.w3", amp.role = "optimizer_state"}, {amp.name = "batch.0", amp.role = "batch"}, {amp.name = "batch.1", amp.role = "batch"}, {amp.gradient_seed = "loss"}], function_type = (tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>, tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>, tensor<f32>, tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>, tensor<16x64xf32>, tensor<16xi32>, tensor<f32>) -> (tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>, tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>, tensor<f32>, tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>, tensor<f32>, tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>), res_attrs = [{amp.updates = "params.b1", jax.result_info = "result[0]['b1']"}, {amp.updates = "params.b2", jax.result_info = "result[0]['b2']"}, {amp.updates = "params.b3", jax.result_info = "result[0]['b3']"}, {amp.updates = "params.w1", jax.result_info = "result[0]['w1']"}, {amp.updates = "params.w2", jax.result_info = "result[0]['w2']"}, {amp.updates = "params.w3", jax.result_info = "result[0]['w3']"}, {amp.updates = "state.m.b1", jax.result_info = "result[1]['m']['b1']"}, {amp.updates = "state.m.b2", jax.result_info = "result[1]['m']['b2']"}, {amp.updates = "state.m.b3", jax.result_info = "result[1]['m']['b3']"}, {amp.updates = "state.m.w1", jax.result_info = "result[1]['m']['w1']"}, {amp.updates = "state.m.w2", jax.result_info = "result[1]['m']['w2']"}, {amp.updates = "state.m.w3", jax.result_info = "result[1]['m']['w3']"}, {amp.updates = "state.t", jax.result_info = "result[1]['t']"}, {amp.updates = "state.v.b1", jax.result_info = "result[1]['v']['b1']"}, {amp.updates = "state.v.b2", jax.result_info = "result[1]['v']['b2']"}, {amp.updates = "state.v.b3", jax.result_info = "result[1]['v']['b3']"}, {amp.updates = "state.v.w1", jax.result_info = "result[1]['v']['w1']"}, {amp.updates = "state.v.w2", jax.result_info = "result[1]['v']['w2']"}, {amp.updates = "state.v.w3", jax.result_info = "result[1]['v']['w3']"}, {amp.metric = "loss", jax.result_info = "result[2]"}, {amp.gradient_of = "params.b1", jax.result_info = "result[3]['b1']"}, {amp.gradient_of = "params.b2", jax.result_info = "result[3]['b2']"}, {amp.gradient_of = "params.b3", jax.result_info = "result[3]['b3']"}, {amp.gradient_of = "params.w1", jax.result_info = "result[3]['w1']"}, {amp.gradient_of = "params.w2", jax.result_info = "result[3]['w2']"}, {amp.gradient_of = "params.w3", jax.result_info = "result[3]['w3']"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg21: tensor<128xf32>, %arg22: tensor<128xf32>, %arg23: tensor<10xf32>, %arg24: tensor<64x128xf32>, %arg25: tensor<128x128xf32>, %arg26: tensor<128x10xf32>, %arg27: tensor<128xf32>, %arg28: tensor<128xf32>, %arg29: tensor<10xf32>, %arg30: tensor<64x128xf32>, %arg31: tensor<128x128xf32>, %arg32: tensor<128x10xf32>, %arg33: tensor<f32>, %arg34: tensor<128xf32>, %arg35: tensor<128xf32>, %arg36: tensor<10xf32>, %arg37: tensor<64x128xf32>, %arg38: tensor<128x128xf32>, %arg39: tensor<128x10xf32>, %arg40: tensor<16x64xf32>, %arg41: tensor<16xi32>, %arg42: tensor<f32>):
    %59 = "stablehlo.dot_general"(%arg40, %arg24) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>
    %60 = "stablehlo.broadcast_in_dim"(%arg21) <{broadcast_dimensions = array<i64: 1>}> : (tensor<128xf32>) -> tensor<1x128xf32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x128xf32>) -> tensor<16x128xf32>
    %62 = "stablehlo.add"(%59, %61) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %63 = "func.call"(%62) <{callee = @relu}> : (tensor<16x128xf32>) -> tensor<16x128xf32>
    %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x128xf32>
    %66 = "stablehlo.compare"(%62, %65) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xi1>
    %67 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %68 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x128xf32>
    %69 = "stablehlo.dot_general"(%63, %arg25) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x128xf32>, tensor<128x128xf32>) -> tensor<16x128xf32>
    %70 = "stablehlo.broadcast_in_dim"(%arg22) <{broadcast_dimensions = array<i64: 1>}> : (tensor<128xf32>) -> tensor<1x128xf32>
    %71 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x128xf32>) -> tensor<16x128xf32>
    %72 = "stablehlo.add"(%69, %71) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %73 = "func.call"(%72) <{callee = @relu}> : (tensor<16x128xf32>) -> tensor<16x128xf32>
    %74 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %75 = "stablehlo.broadcast_in_dim"(%74) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x128xf32>
    %76 = "stablehlo.compare"(%72, %75) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xi1>
    %77 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x128xf32>
    %79 = "stablehlo.dot_general"(%73, %arg26) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x128xf32>, tensor<128x10xf32>) -> tensor<16x10xf32>
    %80 = "stablehlo.broadcast_in_dim"(%arg23) <{broadcast_dimensions = array<i64: 1>}> : (tensor<10xf32>) -> tensor<1x10xf32>
    %81 = "stablehlo.broadcast_in_dim"(%80) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x10xf32>) -> tensor<16x10xf32>
    %82 = "stablehlo.add"(%79, %81) : (tensor<16x10xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %83:3 = "func.call"(%82) <{callee = @log_softmax}> : (tensor<16x10xf32>) -> (tensor<16x10xf32>, tensor<16x10xf32>, tensor<16x1xf32>)
    %84 = "stablehlo.broadcast_in_dim"(%arg41) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xi32>) -> tensor<16x1xi32>
    %85:2 = "func.call"(%83#0, %84) <{callee = @take_along_axis}> : (tensor<16x10xf32>, tensor<16x1xi32>) -> (tensor<16x1xf32>, tensor<16x1x1xi32>)
    %86 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %87 = "stablehlo.reduce"(%85#0, %86) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg55: tensor<f32>, %arg56: tensor<f32>):
      %314 = "stablehlo.add"(%arg55, %arg56) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%314) : (tensor<f32>) -> ()
    }) : (tensor<16x1xf32>, tensor<f32>) -> tensor<f32>
    %88 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %89 = "stablehlo.divide"(%87, %88) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %90 = "stablehlo.negate"(%89) : (tensor<f32>) -> tensor<f32>
    %91 = "stablehlo.negate"(%arg42) : (tensor<f32>) -> tensor<f32>
    %92 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %93 = "stablehlo.divide"(%91, %92) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %94 = "stablehlo.broadcast_in_dim"(%93) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %95 = "func.call"(%85#1, %94) <{callee = @take_along_axis_0}> : (tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x10xf32>
    %96 = "func.call"(%83#1, %83#2, %95) <{callee = @log_softmax_1}> : (tensor<16x10xf32>, tensor<16x1xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>
    %97 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %98 = "stablehlo.reduce"(%96, %97) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg53: tensor<f32>, %arg54: tensor<f32>):
      %313 = "stablehlo.add"(%arg53, %arg54) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%313) : (tensor<f32>) -> ()
    }) : (tensor<16x10xf32>, tensor<f32>) -> tensor<10xf32>
    %99 = "stablehlo.reshape"(%98) : (tensor<10xf32>) -> tensor<1x10xf32>
    %100 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.reduce"(%99, %100) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg51: tensor<f32>, %arg52: tensor<f32>):
      %312 = "stablehlo.add"(%arg51, %arg52) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%312) : (tensor<f32>) -> ()
    }) : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %102 = "stablehlo.dot_general"(%96, %73) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x10xf32>, tensor<16x128xf32>) -> tensor<10x128xf32>
    %103 = "stablehlo.transpose"(%102) <{permutation = array<i64: 1, 0>}> : (tensor<10x128xf32>) -> tensor<128x10xf32>
    %104 = "stablehlo.dot_general"(%96, %arg26) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x10xf32>, tensor<128x10xf32>) -> tensor<16x128xf32>
    %105 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.broadcast_in_dim"(%105) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x128xf32>
    %107 = "stablehlo.select"(%76, %104, %106) : (tensor<16x128xi1>, tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %108 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %109 = "stablehlo.reduce"(%107, %108) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg49: tensor<f32>, %arg50: tensor<f32>):
      %311 = "stablehlo.add"(%arg49, %arg50) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%311) : (tensor<f32>) -> ()
    }) : (tensor<16x128xf32>, tensor<f32>) -> tensor<128xf32>
    %110 = "stablehlo.reshape"(%109) : (tensor<128xf32>) -> tensor<1x128xf32>
    %111 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %112 = "stablehlo.reduce"(%110, %111) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg47: tensor<f32>, %arg48: tensor<f32>):
      %310 = "stablehlo.add"(%arg47, %arg48) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%310) : (tensor<f32>) -> ()
    }) : (tensor<1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %113 = "stablehlo.dot_general"(%107, %63) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<128x128xf32>
    %114 = "stablehlo.transpose"(%113) <{permutation = array<i64: 1, 0>}> : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %115 = "stablehlo.dot_general"(%107, %arg25) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x128xf32>, tensor<128x128xf32>) -> tensor<16x128xf32>
    %116 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %117 = "stablehlo.broadcast_in_dim"(%116) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x128xf32>
    %118 = "stablehlo.select"(%66, %115, %117) : (tensor<16x128xi1>, tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    %119 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %120 = "stablehlo.reduce"(%118, %119) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg45: tensor<f32>, %arg46: tensor<f32>):
      %309 = "stablehlo.add"(%arg45, %arg46) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%309) : (tensor<f32>) -> ()
    }) : (tensor<16x128xf32>, tensor<f32>) -> tensor<128xf32>
    %121 = "stablehlo.reshape"(%120) : (tensor<128xf32>) -> tensor<1x128xf32>
    %122 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %123 = "stablehlo.reduce"(%121, %122) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg43: tensor<f32>, %arg44: tensor<f32>):
      %308 = "stablehlo.add"(%arg43, %arg44) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%308) : (tensor<f32>) -> ()
    }) : (tensor<1x128xf32>, tensor<f32>) -> tensor<128xf32>
    %124 = "stablehlo.dot_general"(%118, %arg40) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x128xf32>, tensor<16x64xf32>) -> tensor<128x64xf32>
    %125 = "stablehlo.transpose"(%124) <{permutation = array<i64: 1, 0>}> : (tensor<128x64xf32>) -> tensor<64x128xf32>
    %126 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %127 = "stablehlo.add"(%arg33, %126) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %128 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %129 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %130 = "stablehlo.multiply"(%129, %arg27) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %131 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %132 = "stablehlo.broadcast_in_dim"(%131) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %133 = "stablehlo.multiply"(%132, %123) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %134 = "stablehlo.add"(%130, %133) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %135 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %136 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %137 = "stablehlo.multiply"(%136, %arg28) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %138 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %139 = "stablehlo.broadcast_in_dim"(%138) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %140 = "stablehlo.multiply"(%139, %112) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %141 = "stablehlo.add"(%137, %140) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %142 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %143 = "stablehlo.broadcast_in_dim"(%142) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %144 = "stablehlo.multiply"(%143, %arg29) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %145 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %146 = "stablehlo.broadcast_in_dim"(%145) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %147 = "stablehlo.multiply"(%146, %101) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %148 = "stablehlo.add"(%144, %147) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %149 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
    %151 = "stablehlo.multiply"(%150, %arg30) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %152 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %153 = "stablehlo.broadcast_in_dim"(%152) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
    %154 = "stablehlo.multiply"(%153, %125) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %155 = "stablehlo.add"(%151, %154) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %156 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %157 = "stablehlo.broadcast_in_dim"(%156) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x128xf32>
    %158 = "stablehlo.multiply"(%157, %arg31) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %159 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %160 = "stablehlo.broadcast_in_dim"(%159) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x128xf32>
    %161 = "stablehlo.multiply"(%160, %114) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %162 = "stablehlo.add"(%158, %161) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %163 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %164 = "stablehlo.broadcast_in_dim"(%163) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x10xf32>
    %165 = "stablehlo.multiply"(%164, %arg32) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %166 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %167 = "stablehlo.broadcast_in_dim"(%166) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x10xf32>
    %168 = "stablehlo.multiply"(%167, %103) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %169 = "stablehlo.add"(%165, %168) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %170 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %171 = "stablehlo.broadcast_in_dim"(%170) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %172 = "stablehlo.multiply"(%171, %arg34) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %173 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %174 = "stablehlo.broadcast_in_dim"(%173) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %175 = "stablehlo.multiply"(%174, %123) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %176 = "stablehlo.multiply"(%175, %123) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %177 = "stablehlo.add"(%172, %176) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %178 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %179 = "stablehlo.broadcast_in_dim"(%178) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %180 = "stablehlo.multiply"(%179, %arg35) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %181 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %182 = "stablehlo.broadcast_in_dim"(%181) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %183 = "stablehlo.multiply"(%182, %112) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %184 = "stablehlo.multiply"(%183, %112) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %185 = "stablehlo.add"(%180, %184) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %186 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %187 = "stablehlo.broadcast_in_dim"(%186) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %188 = "stablehlo.multiply"(%187, %arg36) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %189 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %190 = "stablehlo.broadcast_in_dim"(%189) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %191 = "stablehlo.multiply"(%190, %101) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %192 = "stablehlo.multiply"(%191, %101) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %193 = "stablehlo.add"(%188, %192) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %194 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %195 = "stablehlo.broadcast_in_dim"(%194) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
    %196 = "stablehlo.multiply"(%195, %arg37) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %197 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %198 = "stablehlo.broadcast_in_dim"(%197) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
    %199 = "stablehlo.multiply"(%198, %125) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %200 = "stablehlo.multiply"(%199, %125) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %201 = "stablehlo.add"(%196, %200) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %202 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %203 = "stablehlo.broadcast_in_dim"(%202) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x128xf32>
    %204 = "stablehlo.multiply"(%203, %arg38) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %205 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %206 = "stablehlo.broadcast_in_dim"(%205) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x128xf32>
    %207 = "stablehlo.multiply"(%206, %114) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %208 = "stablehlo.multiply"(%207, %114) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %209 = "stablehlo.add"(%204, %208) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %210 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %211 = "stablehlo.broadcast_in_dim"(%210) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x10xf32>
    %212 = "stablehlo.multiply"(%211, %arg39) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %213 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %214 = "stablehlo.broadcast_in_dim"(%213) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x10xf32>
    %215 = "stablehlo.multiply"(%214, %103) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %216 = "stablehlo.multiply"(%215, %103) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %217 = "stablehlo.add"(%212, %216) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %218 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %219 = "stablehlo.power"(%218, %127) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %220 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %221 = "stablehlo.subtract"(%220, %219) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %222 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %223 = "stablehlo.divide"(%222, %221) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %224 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %225 = "stablehlo.power"(%224, %127) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %226 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %227 = "stablehlo.subtract"(%226, %225) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %228 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %229 = "stablehlo.divide"(%228, %227) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %230 = "stablehlo.broadcast_in_dim"(%223) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %231 = "stablehlo.multiply"(%134, %230) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %232 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %233 = "stablehlo.broadcast_in_dim"(%232) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %234 = "stablehlo.multiply"(%233, %231) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %235 = "stablehlo.broadcast_in_dim"(%229) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %236 = "stablehlo.multiply"(%177, %235) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %237 = "stablehlo.sqrt"(%236) : (tensor<128xf32>) -> tensor<128xf32>
    %238 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %239 = "stablehlo.broadcast_in_dim"(%238) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %240 = "stablehlo.add"(%237, %239) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %241 = "stablehlo.divide"(%234, %240) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %242 = "stablehlo.subtract"(%arg21, %241) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %243 = "stablehlo.broadcast_in_dim"(%223) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %244 = "stablehlo.multiply"(%141, %243) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %245 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %246 = "stablehlo.broadcast_in_dim"(%245) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %247 = "stablehlo.multiply"(%246, %244) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %248 = "stablehlo.broadcast_in_dim"(%229) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %249 = "stablehlo.multiply"(%185, %248) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %250 = "stablehlo.sqrt"(%249) : (tensor<128xf32>) -> tensor<128xf32>
    %251 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %252 = "stablehlo.broadcast_in_dim"(%251) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %253 = "stablehlo.add"(%250, %252) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %254 = "stablehlo.divide"(%247, %253) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %255 = "stablehlo.subtract"(%arg22, %254) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %256 = "stablehlo.broadcast_in_dim"(%223) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %257 = "stablehlo.multiply"(%148, %256) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %258 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %259 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %260 = "stablehlo.multiply"(%259, %257) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %261 = "stablehlo.broadcast_in_dim"(%229) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %262 = "stablehlo.multiply"(%193, %261) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %263 = "stablehlo.sqrt"(%262) : (tensor<10xf32>) -> tensor<10xf32>
    %264 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %265 = "stablehlo.broadcast_in_dim"(%264) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %266 = "stablehlo.add"(%263, %265) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %267 = "stablehlo.divide"(%260, %266) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %268 = "stablehlo.subtract"(%arg23, %267) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %269 = "stablehlo.broadcast_in_dim"(%223) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
    %270 = "stablehlo.multiply"(%155, %269) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %271 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %272 = "stablehlo.broadcast_in_dim"(%271) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
    %273 = "stablehlo.multiply"(%272, %270) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %274 = "stablehlo.broadcast_in_dim"(%229) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
    %275 = "stablehlo.multiply"(%201, %274) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %276 = "stablehlo.sqrt"(%275) : (tensor<64x128xf32>) -> tensor<64x128xf32>
    %277 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %278 = "stablehlo.broadcast_in_dim"(%277) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
    %279 = "stablehlo.add"(%276, %278) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %280 = "stablehlo.divide"(%273, %279) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %281 = "stablehlo.subtract"(%arg24, %280) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
    %282 = "stablehlo.broadcast_in_dim"(%223) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x128xf32>
    %283 = "stablehlo.multiply"(%162, %282) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %284 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %285 = "stablehlo.broadcast_in_dim"(%284) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x128xf32>
    %286 = "stablehlo.multiply"(%285, %283) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %287 = "stablehlo.broadcast_in_dim"(%229) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x128xf32>
    %288 = "stablehlo.multiply"(%209, %287) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %289 = "stablehlo.sqrt"(%288) : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %290 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %291 = "stablehlo.broadcast_in_dim"(%290) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x128xf32>
    %292 = "stablehlo.add"(%289, %291) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %293 = "stablehlo.divide"(%286, %292) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %294 = "stablehlo.subtract"(%arg25, %293) : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    %295 = "stablehlo.broadcast_in_dim"(%223) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x10xf32>
    %296 = "stablehlo.multiply"(%169, %295) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %297 = "stablehlo.constant"() <{value = dense<3.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %298 = "stablehlo.broadcast_in_dim"(%297) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x10xf32>
    %299 = "stablehlo.multiply"(%298, %296) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %300 = "stablehlo.broadcast_in_dim"(%229) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x10xf32>
    %301 = "stablehlo.multiply"(%217, %300) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %302 = "stablehlo.sqrt"(%301) : (tensor<128x10xf32>) -> tensor<128x10xf32>
    %303 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %304 = "stablehlo.broadcast_in_dim"(%303) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x10xf32>
    %305 = "stablehlo.add"(%302, %304) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %306 = "stablehlo.divide"(%299, %305) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %307 = "stablehlo.subtract"(%arg26, %306) : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    "func.return"(%242, %255, %268, %281, %294, %307, %134, %141, %148, %155, %162, %169, %127, %177, %185, %193, %201, %209, %217, %90, %123, %112, %101, %125, %114, %103) : (tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>, tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>, tensor<f32>, tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>, tensor<f32>, tensor<128xf32>, tensor<128xf32>, tensor<10xf32>, tensor<64x128xf32>, tensor<128x128xf32>, tensor<128x10xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x128xf32>) -> tensor<16x128xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<16x128xf32>):
    %56 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x128xf32>
    %58 = "stablehlo.maximum"(%arg20, %57) : (tensor<16x128xf32>, tensor<16x128xf32>) -> tensor<16x128xf32>
    "func.return"(%58) : (tensor<16x128xf32>) -> ()
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
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x1x1xi32>, tensor<16x1xf32>) -> tensor<16x10xf32>, res_attrs = [{}], sym_name = "take_along_axis_0", sym_visibility = "private"}> ({
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
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<16x10xf32>, tensor<16x1xf32>, tensor<16x10xf32>) -> tensor<16x10xf32>, res_attrs = [{}], sym_name = "log_softmax_1", sym_visibility = "private"}> ({
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
