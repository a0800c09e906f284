"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{arg_attrs = [{amp.name = "params.c1", amp.role = "parameter"}, {amp.name = "params.c2", amp.role = "parameter"}, {amp.name = "params.d", amp.role = "parameter"}, {amp.name = "params.e", amp.role = "parameter"}, {amp.name = "params.g1", amp.role = "parameter"}, {amp.name = "params.g2", amp.role = "parameter"}, {amp.name = "params.o", amp.role = "parameter"}, {amp.name = "params.p", amp.role = "parameter"}, {amp.name = "params.u", amp.role = "parameter"}, {amp.name = "params.w", amp.role = "parameter"}, {amp.name = "params.wk", amp.role = "parameter"}, {amp.name = "params.wo", amp.role = "parameter"}, {amp.name = "params.wq", amp.role = "parameter"}, {amp.name = "params.wv", amp.role = "parameter"}, {amp.name = "batch.0", amp.role = "batch"}, {amp.name = "batch.1", amp.role = "batch"}], function_type = (tensor<32xf32>, tensor<32xf32>, tensor<128xf32>, tensor<16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x4xf32>, tensor<16x32xf32>, tensor<32x128xf32>, tensor<128x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<16x16x16xf32>, tensor<16xi32>) -> tensor<f32>, res_attrs = [{amp.metric = "loss", jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg18: tensor<32xf32>, %arg19: tensor<32xf32>, %arg20: tensor<128xf32>, %arg21: tensor<16x32xf32>, %arg22: tensor<32xf32>, %arg23: tensor<32xf32>, %arg24: tensor<32x4xf32>, %arg25: tensor<16x32xf32>, %arg26: tensor<32x128xf32>, %arg27: tensor<128x32xf32>, %arg28: tensor<32x32xf32>, %arg29: tensor<32x32xf32>, %arg30: tensor<32x32xf32>, %arg31: tensor<32x32xf32>, %arg32: tensor<16x16x16xf32>, %arg33: tensor<16xi32>):
    %66 = "stablehlo.dot_general"(%arg32, %arg21) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x16xf32>, tensor<16x32xf32>) -> tensor<16x16x32xf32>
    %67 = "stablehlo.broadcast_in_dim"(%arg25) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<16x32xf32>) -> tensor<1x16x32xf32>
    %68 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x16x32xf32>) -> tensor<16x16x32xf32>
    %69 = "stablehlo.add"(%66, %68) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %70 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.reduce"(%69, %70) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg44: tensor<f32>, %arg45: tensor<f32>):
      %189 = "stablehlo.add"(%arg44, %arg45) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%189) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %73 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %75 = "stablehlo.divide"(%72, %74) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %76 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %77 = "func.call"(%69, %76) <{callee = @_var}> : (tensor<16x16x32xf32>, tensor<i32>) -> tensor<16x16x1xf32>
    %78 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %79 = "stablehlo.subtract"(%69, %78) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %80 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.broadcast_in_dim"(%80) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %82 = "stablehlo.add"(%77, %81) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %83 = "stablehlo.rsqrt"(%82) : (tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %85 = "stablehlo.multiply"(%79, %84) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %86 = "stablehlo.broadcast_in_dim"(%arg22) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %88 = "stablehlo.multiply"(%85, %87) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %89 = "stablehlo.broadcast_in_dim"(%arg18) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %90 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %91 = "stablehlo.add"(%88, %90) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %92 = "stablehlo.dot_general"(%91, %arg30) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %93 = "stablehlo.reshape"(%92) : (tensor<16x16x32xf32>) -> tensor<16x16x4x8xf32>
    %94 = "stablehlo.transpose"(%93) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x16x4x8xf32>) -> tensor<16x4x16x8xf32>
    %95 = "stablehlo.dot_general"(%91, %arg28) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %96 = "stablehlo.reshape"(%95) : (tensor<16x16x32xf32>) -> tensor<16x16x4x8xf32>
    %97 = "stablehlo.transpose"(%96) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x16x4x8xf32>) -> tensor<16x4x16x8xf32>
    %98 = "stablehlo.dot_general"(%91, %arg31) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %99 = "stablehlo.reshape"(%98) : (tensor<16x16x32xf32>) -> tensor<16x16x4x8xf32>
    %100 = "stablehlo.transpose"(%99) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x16x4x8xf32>) -> tensor<16x4x16x8xf32>
    %101 = "stablehlo.transpose"(%97) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<16x4x16x8xf32>) -> tensor<16x4x8x16xf32>
    %102 = "stablehlo.dot_general"(%94, %101) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x8xf32>, tensor<16x4x8x16xf32>) -> tensor<16x4x16x16xf32>
    %103 = "stablehlo.constant"() <{value = dense<0.353553385> : tensor<f32>}> : () -> tensor<f32>
    %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16x16xf32>
    %105 = "stablehlo.multiply"(%102, %104) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %106 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %107 = "stablehlo.reduce"(%105, %106) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg42: tensor<f32>, %arg43: tensor<f32>):
      %188 = "stablehlo.maximum"(%arg42, %arg43) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%188) : (tensor<f32>) -> ()
    }) : (tensor<16x4x16x16xf32>, tensor<f32>) -> tensor<16x4x16xf32>
    %108 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %109 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x4x16xf32>
    %110 = "stablehlo.maximum"(%109, %107) : (tensor<16x4x16xf32>, tensor<16x4x16xf32>) -> tensor<16x4x16xf32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x16xf32>) -> tensor<16x4x16x1xf32>
    %112 = "stablehlo.broadcast_in_dim"(%111) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x16x1xf32>) -> tensor<16x4x16x16xf32>
    %113 = "stablehlo.subtract"(%105, %112) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %114 = "stablehlo.exponential"(%113) : (tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %115 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %116 = "stablehlo.reduce"(%114, %115) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg40: tensor<f32>, %arg41: tensor<f32>):
      %187 = "stablehlo.add"(%arg40, %arg41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%187) : (tensor<f32>) -> ()
    }) : (tensor<16x4x16x16xf32>, tensor<f32>) -> tensor<16x4x16xf32>
    %117 = "stablehlo.broadcast_in_dim"(%116) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x16xf32>) -> tensor<16x4x16x1xf32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<16x4x16x1xf32>) -> tensor<16x4x16x16xf32>
    %119 = "stablehlo.divide"(%114, %118) : (tensor<16x4x16x16xf32>, tensor<16x4x16x16xf32>) -> tensor<16x4x16x16xf32>
    %120 = "stablehlo.dot_general"(%119, %100) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x4x16x16xf32>, tensor<16x4x16x8xf32>) -> tensor<16x4x16x8xf32>
    %121 = "stablehlo.transpose"(%120) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<16x4x16x8xf32>) -> tensor<16x16x4x8xf32>
    %122 = "stablehlo.reshape"(%121) : (tensor<16x16x4x8xf32>) -> tensor<16x16x32xf32>
    %123 = "stablehlo.dot_general"(%122, %arg29) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x32xf32>) -> tensor<16x16x32xf32>
    %124 = "stablehlo.add"(%69, %123) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %125 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %126 = "stablehlo.reduce"(%124, %125) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg38: tensor<f32>, %arg39: tensor<f32>):
      %186 = "stablehlo.add"(%arg38, %arg39) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%186) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %127 = "stablehlo.broadcast_in_dim"(%126) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %128 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %129 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %130 = "stablehlo.divide"(%127, %129) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %131 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %132 = "func.call"(%124, %131) <{callee = @_var}> : (tensor<16x16x32xf32>, tensor<i32>) -> tensor<16x16x1xf32>
    %133 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %134 = "stablehlo.subtract"(%124, %133) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %135 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %136 = "stablehlo.broadcast_in_dim"(%135) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %137 = "stablehlo.add"(%132, %136) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %138 = "stablehlo.rsqrt"(%137) : (tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %139 = "stablehlo.broadcast_in_dim"(%138) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %140 = "stablehlo.multiply"(%134, %139) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %141 = "stablehlo.broadcast_in_dim"(%arg23) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %142 = "stablehlo.broadcast_in_dim"(%141) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %143 = "stablehlo.multiply"(%140, %142) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %144 = "stablehlo.broadcast_in_dim"(%arg19) <{broadcast_dimensions = array<i64: 2>}> : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %145 = "stablehlo.broadcast_in_dim"(%144) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x32xf32>) -> tensor<16x16x32xf32>
    %146 = "stablehlo.add"(%143, %145) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %147 = "stablehlo.dot_general"(%146, %arg26) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x32xf32>, tensor<32x128xf32>) -> tensor<16x16x128xf32>
    %148 = "stablehlo.broadcast_in_dim"(%arg20) <{broadcast_dimensions = array<i64: 2>}> : (tensor<128xf32>) -> tensor<1x1x128xf32>
    %149 = "stablehlo.broadcast_in_dim"(%148) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x128xf32>) -> tensor<16x16x128xf32>
    %150 = "stablehlo.add"(%147, %149) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %151 = "stablehlo.multiply"(%150, %150) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %152 = "stablehlo.multiply"(%151, %150) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %153 = "stablehlo.constant"() <{value = dense<4.471500e-02> : tensor<f32>}> : () -> tensor<f32>
    %154 = "stablehlo.broadcast_in_dim"(%153) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %155 = "stablehlo.multiply"(%154, %152) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %156 = "stablehlo.add"(%150, %155) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %157 = "stablehlo.constant"() <{value = dense<0.797884583> : tensor<f32>}> : () -> tensor<f32>
    %158 = "stablehlo.broadcast_in_dim"(%157) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %159 = "stablehlo.multiply"(%158, %156) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %160 = "stablehlo.tanh"(%159) : (tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %161 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %162 = "stablehlo.broadcast_in_dim"(%161) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %163 = "stablehlo.add"(%162, %160) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %164 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %165 = "stablehlo.broadcast_in_dim"(%164) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x128xf32>
    %166 = "stablehlo.multiply"(%165, %163) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %167 = "stablehlo.multiply"(%150, %166) : (tensor<16x16x128xf32>, tensor<16x16x128xf32>) -> tensor<16x16x128xf32>
    %168 = "stablehlo.dot_general"(%167, %arg27) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x16x128xf32>, tensor<128x32xf32>) -> tensor<16x16x32xf32>
    %169 = "stablehlo.add"(%124, %168) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %170 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %171 = "stablehlo.reduce"(%169, %170) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg36: tensor<f32>, %arg37: tensor<f32>):
      %185 = "stablehlo.add"(%arg36, %arg37) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%185) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x32xf32>
    %172 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %173 = "stablehlo.broadcast_in_dim"(%172) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x32xf32>
    %174 = "stablehlo.divide"(%171, %173) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %175 = "stablehlo.dot_general"(%174, %arg24) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x32xf32>, tensor<32x4xf32>) -> tensor<16x4xf32>
    %176 = "func.call"(%175) <{callee = @log_softmax}> : (tensor<16x4xf32>) -> tensor<16x4xf32>
    %177 = "stablehlo.broadcast_in_dim"(%arg33) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xi32>) -> tensor<16x1xi32>
    %178 = "func.call"(%176, %177) <{callee = @take_along_axis}> : (tensor<16x4xf32>, tensor<16x1xi32>) -> tensor<16x1xf32>
    %179 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %180 = "stablehlo.reduce"(%178, %179) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg34: tensor<f32>, %arg35: tensor<f32>):
      %184 = "stablehlo.add"(%arg34, %arg35) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%184) : (tensor<f32>) -> ()
    }) : (tensor<16x1xf32>, tensor<f32>) -> tensor<f32>
    %181 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %182 = "stablehlo.divide"(%180, %181) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %183 = "stablehlo.negate"(%182) : (tensor<f32>) -> tensor<f32>
    "func.return"(%183) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x16x32xf32>, tensor<i32>) -> tensor<16x16x1xf32>, res_attrs = [{}], sym_name = "_var", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<16x16x32xf32>, %arg13: tensor<i32>):
    %43 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %44 = "stablehlo.reduce"(%arg12, %43) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %65 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%65) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %46 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %48 = "stablehlo.divide"(%45, %47) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x16x1xf32>) -> tensor<16x16x32xf32>
    %50 = "stablehlo.subtract"(%arg12, %49) : (tensor<16x16x32xf32>, tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %51 = "chlo.square"(%50) : (tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %52 = "stablehlo.convert"(%arg13) : (tensor<i32>) -> tensor<f32>
    %53 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.subtract"(%53, %52) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %55 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %56 = "stablehlo.reduce"(%51, %55) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %64 = "stablehlo.add"(%arg14, %arg15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%64) : (tensor<f32>) -> ()
    }) : (tensor<16x16x32xf32>, tensor<f32>) -> tensor<16x16xf32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x16xf32>) -> tensor<16x16x1xf32>
    %58 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %59 = "stablehlo.divide"(%57, %58) : (tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    %60 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.compare"(%54, %60) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %62 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %63 = "func.call"(%61, %59, %62) <{callee = @_where}> : (tensor<i1>, tensor<16x16x1xf32>, tensor<f32>) -> tensor<16x16x1xf32>
    "func.return"(%63) : (tensor<16x16x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<16x16x1xf32>, tensor<f32>) -> tensor<16x16x1xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<i1>, %arg10: tensor<16x16x1xf32>, %arg11: tensor<f32>):
    %40 = "stablehlo.convert"(%arg11) : (tensor<f32>) -> tensor<f32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x16x1xf32>
    %42 = "stablehlo.select"(%arg9, %arg10, %41) : (tensor<i1>, tensor<16x16x1xf32>, tensor<16x16x1xf32>) -> tensor<16x16x1xf32>
    "func.return"(%42) : (tensor<16x16x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x4xf32>) -> tensor<16x4xf32>, res_attrs = [{}], sym_name = "log_softmax", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<16x4xf32>):
    %23 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.reduce"(%arg4, %23) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %39 = "stablehlo.maximum"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%39) : (tensor<f32>) -> ()
    }) : (tensor<16x4xf32>, tensor<f32>) -> tensor<16xf32>
    %25 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16xf32>
    %27 = "stablehlo.maximum"(%26, %24) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x4xf32>
    %30 = "stablehlo.subtract"(%arg4, %29) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    %31 = "stablehlo.exponential"(%30) : (tensor<16x4xf32>) -> tensor<16x4xf32>
    %32 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %33 = "stablehlo.reduce"(%31, %32) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %38 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%38) : (tensor<f32>) -> ()
    }) : (tensor<16x4xf32>, tensor<f32>) -> tensor<16xf32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %35 = "stablehlo.log"(%34) : (tensor<16x1xf32>) -> tensor<16x1xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x4xf32>
    %37 = "stablehlo.subtract"(%30, %36) : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
    "func.return"(%37) : (tensor<16x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<16x4xf32>, tensor<16x1xi32>) -> tensor<16x1xf32>, res_attrs = [{}], sym_name = "take_along_axis", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<16x4xf32>, %arg1: tensor<16x1xi32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x1xi32>
    %2 = "stablehlo.compare"(%arg1, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi1>
    %3 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x1xi32>
    %5 = "stablehlo.add"(%arg1, %4) : (tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi32>
    %6 = "stablehlo.select"(%2, %5, %arg1) : (tensor<16x1xi1>, tensor<16x1xi32>, tensor<16x1xi32>) -> tensor<16x1xi32>
    %7 = "stablehlo.reshape"(%6) : (tensor<16x1xi32>) -> tensor<16x1x1xi32>
    %8 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x1x1xi32>
    %11 = "stablehlo.compare"(%7, %10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %12 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 2>}> : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xi32>) -> tensor<16x1x1xi32>
    %14 = "stablehlo.compare"(%7, %13) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<16x1x1xi32>, tensor<16x1x1xi32>) -> tensor<16x1x1xi1>
    %15 = "stablehlo.and"(%11, %14) : (tensor<16x1x1xi1>, tensor<16x1x1xi1>) -> tensor<16x1x1xi1>
    %16 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %17 = "stablehlo.reduce"(%15, %16) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg2: tensor<i1>, %arg3: tensor<i1>):
      %22 = "stablehlo.and"(%arg2, %arg3) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%22) : (tensor<i1>) -> ()
    }) : (tensor<16x1x1xi1>, tensor<i1>) -> tensor<16x1xi1>
    %18 = "stablehlo.gather"(%arg0, %7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<16x4xf32>, tensor<16x1x1xi32>) -> tensor<16x1xf32>
    %19 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %21 = "stablehlo.select"(%17, %18, %20) : (tensor<16x1xi1>, tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    "func.return"(%21) : (tensor<16x1xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
