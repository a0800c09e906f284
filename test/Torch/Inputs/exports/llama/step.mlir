func.func @step(
    %p0: tensor<31x16xf32> {amp.role = "parameter", amp.name = "embed.weight", amp.init = #amp.init<zeros>} loc("embed.weight"),
    %p1: tensor<16xf32> {amp.role = "parameter", amp.name = "norm1.weight", amp.init = #amp.init<zeros>} loc("norm1.weight"),
    %p2: tensor<16xf32> {amp.role = "parameter", amp.name = "norm2.weight", amp.init = #amp.init<zeros>} loc("norm2.weight"),
    %p3: tensor<16xf32> {amp.role = "parameter", amp.name = "norm.weight", amp.init = #amp.init<zeros>} loc("norm.weight"),
    %p4: tensor<16x16xf32> {amp.role = "parameter", amp.name = "q.weight", amp.init = #amp.init<zeros>} loc("q.weight"),
    %p5: tensor<16x16xf32> {amp.role = "parameter", amp.name = "kv.weight", amp.init = #amp.init<zeros>} loc("kv.weight"),
    %p6: tensor<16x16xf32> {amp.role = "parameter", amp.name = "o.weight", amp.init = #amp.init<zeros>} loc("o.weight"),
    %p7: tensor<24x16xf32> {amp.role = "parameter", amp.name = "gate.weight", amp.init = #amp.init<zeros>} loc("gate.weight"),
    %p8: tensor<24x16xf32> {amp.role = "parameter", amp.name = "up.weight", amp.init = #amp.init<zeros>} loc("up.weight"),
    %p9: tensor<16x24xf32> {amp.role = "parameter", amp.name = "down.weight", amp.init = #amp.init<zeros>} loc("down.weight"),
    %p10: tensor<31x16xf32> {amp.role = "parameter", amp.name = "lm_head.weight", amp.init = #amp.init<zeros>} loc("lm_head.weight"),
    %s0: tensor<31x16xf32> {amp.role = "optimizer_state", amp.name = "embed.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("embed.weight.momentum_buffer"),
    %s1: tensor<16x16xf32> {amp.role = "optimizer_state", amp.name = "q.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("q.weight.momentum_buffer"),
    %s2: tensor<16x16xf32> {amp.role = "optimizer_state", amp.name = "kv.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("kv.weight.momentum_buffer"),
    %s3: tensor<16x16xf32> {amp.role = "optimizer_state", amp.name = "o.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("o.weight.momentum_buffer"),
    %s4: tensor<24x16xf32> {amp.role = "optimizer_state", amp.name = "gate.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("gate.weight.momentum_buffer"),
    %s5: tensor<24x16xf32> {amp.role = "optimizer_state", amp.name = "up.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("up.weight.momentum_buffer"),
    %s6: tensor<16x24xf32> {amp.role = "optimizer_state", amp.name = "down.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("down.weight.momentum_buffer"),
    %s7: tensor<31x16xf32> {amp.role = "optimizer_state", amp.name = "lm_head.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("lm_head.weight.momentum_buffer"),
    %s8: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "norm1.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("norm1.weight.momentum_buffer"),
    %s9: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "norm2.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("norm2.weight.momentum_buffer"),
    %s10: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "norm.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("norm.weight.momentum_buffer"),
    %lr0: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr.0", amp.init = #amp.init<constant, value = 0.05>} loc("lr.0"),
    %lr1: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr.1", amp.init = #amp.init<constant, value = 0.02>} loc("lr.1"),
    %x0: tensor<?x8xi64> {amp.role = "batch", amp.name = "tokens"} loc("tokens"),
    %x1: tensor<?x8xi64> {amp.role = "batch", amp.name = "target"} loc("target"))
    -> (tensor<31x16xf32> {amp.updates = "embed.weight"},
        tensor<16xf32> {amp.updates = "norm1.weight"},
        tensor<16xf32> {amp.updates = "norm2.weight"},
        tensor<16xf32> {amp.updates = "norm.weight"},
        tensor<16x16xf32> {amp.updates = "q.weight"},
        tensor<16x16xf32> {amp.updates = "kv.weight"},
        tensor<16x16xf32> {amp.updates = "o.weight"},
        tensor<24x16xf32> {amp.updates = "gate.weight"},
        tensor<24x16xf32> {amp.updates = "up.weight"},
        tensor<16x24xf32> {amp.updates = "down.weight"},
        tensor<31x16xf32> {amp.updates = "lm_head.weight"},
        tensor<31x16xf32> {amp.updates = "embed.weight.momentum_buffer"},
        tensor<16x16xf32> {amp.updates = "q.weight.momentum_buffer"},
        tensor<16x16xf32> {amp.updates = "kv.weight.momentum_buffer"},
        tensor<16x16xf32> {amp.updates = "o.weight.momentum_buffer"},
        tensor<24x16xf32> {amp.updates = "gate.weight.momentum_buffer"},
        tensor<24x16xf32> {amp.updates = "up.weight.momentum_buffer"},
        tensor<16x24xf32> {amp.updates = "down.weight.momentum_buffer"},
        tensor<31x16xf32> {amp.updates = "lm_head.weight.momentum_buffer"},
        tensor<16xf32> {amp.updates = "norm1.weight.momentum_buffer"},
        tensor<16xf32> {amp.updates = "norm2.weight.momentum_buffer"},
        tensor<16xf32> {amp.updates = "norm.weight.momentum_buffer"},
        tensor<f32> {amp.metric = "loss"},
        tensor<?x31x8xf32> {amp.prediction = "output"}) {
  %0 = train.gather %p0, %x0 {axis = 0 : i64} : (tensor<31x16xf32>, tensor<?x8xi64>) -> tensor<?x8x16xf32> loc("embed")
  %1 = train.square %0 : tensor<?x8x16xf32> loc("norm1")
  %2 = train.reduce_mean %1 {dims = array<i64: 2>, keep_dims} : (tensor<?x8x16xf32>) -> tensor<?x8x1xf32> loc("norm1")
  %3 = train.constant dense<9.999999974752427e-07> : tensor<f32> loc("norm1")
  %4 = train.add %2, %3 : (tensor<?x8x1xf32>, tensor<f32>) -> tensor<?x8x1xf32> loc("norm1")
  %5 = train.rsqrt %4 : tensor<?x8x1xf32> loc("norm1")
  %6 = train.mul %0, %5 : (tensor<?x8x16xf32>, tensor<?x8x1xf32>) -> tensor<?x8x16xf32> loc("norm1")
  %7 = train.mul %p1, %6 : (tensor<16xf32>, tensor<?x8x16xf32>) -> tensor<?x8x16xf32> loc("norm1")
  %8 = train.linear %7, %p4 {transpose_weight} : (tensor<?x8x16xf32>, tensor<16x16xf32>) -> tensor<?x8x16xf32> loc("q")
  %9 = train.reshape %8 : (tensor<?x8x16xf32>) -> tensor<?x8x4x4xf32> loc("forward")
  %10 = train.transpose %9 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x8x4x4xf32>) -> tensor<?x4x8x4xf32> loc("forward")
  %11 = train.linear %7, %p5 {transpose_weight} : (tensor<?x8x16xf32>, tensor<16x16xf32>) -> tensor<?x8x16xf32> loc("kv")
  %12 = train.slice %11 {offsets = array<i64: 0, 0, 0>, sizes = array<i64: -1, 8, 8>, strides = array<i64: 1, 1, 1>} : (tensor<?x8x16xf32>) -> tensor<?x8x8xf32> loc("forward")
  %13 = train.slice %11 {offsets = array<i64: 0, 0, 8>, sizes = array<i64: -1, 8, 8>, strides = array<i64: 1, 1, 1>} : (tensor<?x8x16xf32>) -> tensor<?x8x8xf32> loc("forward")
  %14 = train.reshape %12 : (tensor<?x8x8xf32>) -> tensor<?x8x2x4xf32> loc("forward")
  %15 = train.transpose %14 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x8x2x4xf32>) -> tensor<?x2x8x4xf32> loc("forward")
  %16 = train.reshape %13 : (tensor<?x8x8xf32>) -> tensor<?x8x2x4xf32> loc("forward")
  %17 = train.transpose %16 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x8x2x4xf32>) -> tensor<?x2x8x4xf32> loc("forward")
  %18 = train.constant dense<"0x0000803F0000803F0000803F0000803F41510A3FB9FC7F3F41510A3FB9FC7F3F3311D5BEE5F27F3F3311D5BEE5F27F3F26707DBF83E27F3F26707DBF83E27F3F305527BF94CB7F3F305527BF94CB7F3F2C3C913E19AE7F3F2C3C913E19AE7F3FB8CD753F128A7F3FB8CD753F128A7F3FBDFF403F815F7F3FBDFF403F815F7F3F"> : tensor<8x4xf32> loc("forward")
  %19 = train.mul %10, %18 : (tensor<?x4x8x4xf32>, tensor<8x4xf32>) -> tensor<?x4x8x4xf32> loc("forward")
  %20 = train.slice %10 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: -1, 4, 8, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<?x4x8x4xf32>) -> tensor<?x4x8x2xf32> loc("forward")
  %21 = train.slice %10 {offsets = array<i64: 0, 0, 0, 2>, sizes = array<i64: -1, 4, 8, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<?x4x8x4xf32>) -> tensor<?x4x8x2xf32> loc("forward")
  %22 = train.neg %21 : tensor<?x4x8x2xf32> loc("forward")
  %23 = train.concat %22, %20 {axis = 3 : i64} : (tensor<?x4x8x2xf32>, tensor<?x4x8x2xf32>) -> tensor<?x4x8x4xf32> loc("forward")
  %24 = train.constant dense<"0x00000000000000000000000000000000A46A573F57D6233CA46A573F57D6233CB7C7683F3ED4A33CB7C7683F3ED4A33CC381103E1FB9F53CC381103E1FB9F53CCFBD41BFDBCB233DCFBD41BFDBCB233D107C75BFF4B64C3D107C75BFF4B64C3D8C0F8FBED19C753D8C0F8FBED19C753D4630283F323E8F3D4630283F323E8F3D"> : tensor<8x4xf32> loc("forward")
  %25 = train.mul %23, %24 : (tensor<?x4x8x4xf32>, tensor<8x4xf32>) -> tensor<?x4x8x4xf32> loc("forward")
  %26 = train.add %19, %25 : (tensor<?x4x8x4xf32>, tensor<?x4x8x4xf32>) -> tensor<?x4x8x4xf32> loc("forward")
  %27 = train.mul %15, %18 : (tensor<?x2x8x4xf32>, tensor<8x4xf32>) -> tensor<?x2x8x4xf32> loc("forward")
  %28 = train.slice %15 {offsets = array<i64: 0, 0, 0, 0>, sizes = array<i64: -1, 2, 8, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<?x2x8x4xf32>) -> tensor<?x2x8x2xf32> loc("forward")
  %29 = train.slice %15 {offsets = array<i64: 0, 0, 0, 2>, sizes = array<i64: -1, 2, 8, 2>, strides = array<i64: 1, 1, 1, 1>} : (tensor<?x2x8x4xf32>) -> tensor<?x2x8x2xf32> loc("forward")
  %30 = train.neg %29 : tensor<?x2x8x2xf32> loc("forward")
  %31 = train.concat %30, %28 {axis = 3 : i64} : (tensor<?x2x8x2xf32>, tensor<?x2x8x2xf32>) -> tensor<?x2x8x4xf32> loc("forward")
  %32 = train.mul %31, %24 : (tensor<?x2x8x4xf32>, tensor<8x4xf32>) -> tensor<?x2x8x4xf32> loc("forward")
  %33 = train.add %27, %32 : (tensor<?x2x8x4xf32>, tensor<?x2x8x4xf32>) -> tensor<?x2x8x4xf32> loc("forward")
  %34 = train.reshape %33 : (tensor<?x2x8x4xf32>) -> tensor<?x2x1x8x4xf32> loc("forward")
  %35 = train.reshape %34 : (tensor<?x2x1x8x4xf32>) -> tensor<?x2x8x4xf32> loc("forward")
  %36 = train.broadcast %35 {dims = array<i64: 2>} : (tensor<?x2x8x4xf32>) -> tensor<?x2x2x8x4xf32> loc("forward")
  %37 = train.reshape %36 : (tensor<?x2x2x8x4xf32>) -> tensor<?x4x8x4xf32> loc("forward")
  %38 = train.reshape %17 : (tensor<?x2x8x4xf32>) -> tensor<?x2x1x8x4xf32> loc("forward")
  %39 = train.reshape %38 : (tensor<?x2x1x8x4xf32>) -> tensor<?x2x8x4xf32> loc("forward")
  %40 = train.broadcast %39 {dims = array<i64: 2>} : (tensor<?x2x8x4xf32>) -> tensor<?x2x2x8x4xf32> loc("forward")
  %41 = train.reshape %40 : (tensor<?x2x2x8x4xf32>) -> tensor<?x4x8x4xf32> loc("forward")
  %42, %43 = train.scaled_dot_product_attention %26, %37, %41 {causal} : (tensor<?x4x8x4xf32>, tensor<?x4x8x4xf32>, tensor<?x4x8x4xf32>) -> (tensor<?x4x8x4xf32>, tensor<?x4x8xf32>) loc("forward")
  %44 = train.transpose %42 {permutation = array<i64: 0, 2, 1, 3>} : (tensor<?x4x8x4xf32>) -> tensor<?x8x4x4xf32> loc("forward")
  %45 = train.reshape %44 : (tensor<?x8x4x4xf32>) -> tensor<?x8x16xf32> loc("forward")
  %46 = train.linear %45, %p6 {transpose_weight} : (tensor<?x8x16xf32>, tensor<16x16xf32>) -> tensor<?x8x16xf32> loc("o")
  %47 = train.add %0, %46 : (tensor<?x8x16xf32>, tensor<?x8x16xf32>) -> tensor<?x8x16xf32> loc("forward")
  %48 = train.square %47 : tensor<?x8x16xf32> loc("norm2")
  %49 = train.reduce_mean %48 {dims = array<i64: 2>, keep_dims} : (tensor<?x8x16xf32>) -> tensor<?x8x1xf32> loc("norm2")
  %50 = train.add %49, %3 : (tensor<?x8x1xf32>, tensor<f32>) -> tensor<?x8x1xf32> loc("norm2")
  %51 = train.rsqrt %50 : tensor<?x8x1xf32> loc("norm2")
  %52 = train.mul %47, %51 : (tensor<?x8x16xf32>, tensor<?x8x1xf32>) -> tensor<?x8x16xf32> loc("norm2")
  %53 = train.mul %p2, %52 : (tensor<16xf32>, tensor<?x8x16xf32>) -> tensor<?x8x16xf32> loc("norm2")
  %54 = train.linear %53, %p7 {transpose_weight} : (tensor<?x8x16xf32>, tensor<24x16xf32>) -> tensor<?x8x24xf32> loc("gate")
  %55 = train.silu %54 : tensor<?x8x24xf32> loc("forward")
  %56 = train.linear %53, %p8 {transpose_weight} : (tensor<?x8x16xf32>, tensor<24x16xf32>) -> tensor<?x8x24xf32> loc("up")
  %57 = train.mul %55, %56 : (tensor<?x8x24xf32>, tensor<?x8x24xf32>) -> tensor<?x8x24xf32> loc("forward")
  %58 = train.linear %57, %p9 {transpose_weight} : (tensor<?x8x24xf32>, tensor<16x24xf32>) -> tensor<?x8x16xf32> loc("down")
  %59 = train.add %47, %58 : (tensor<?x8x16xf32>, tensor<?x8x16xf32>) -> tensor<?x8x16xf32> loc("forward")
  %60 = train.square %59 : tensor<?x8x16xf32> loc("norm")
  %61 = train.reduce_mean %60 {dims = array<i64: 2>, keep_dims} : (tensor<?x8x16xf32>) -> tensor<?x8x1xf32> loc("norm")
  %62 = train.add %61, %3 : (tensor<?x8x1xf32>, tensor<f32>) -> tensor<?x8x1xf32> loc("norm")
  %63 = train.rsqrt %62 : tensor<?x8x1xf32> loc("norm")
  %64 = train.mul %59, %63 : (tensor<?x8x16xf32>, tensor<?x8x1xf32>) -> tensor<?x8x16xf32> loc("norm")
  %65 = train.mul %p3, %64 : (tensor<16xf32>, tensor<?x8x16xf32>) -> tensor<?x8x16xf32> loc("norm")
  %66 = train.linear %65, %p10 {transpose_weight} : (tensor<?x8x16xf32>, tensor<31x16xf32>) -> tensor<?x8x31xf32> loc("lm_head")
  %67 = train.transpose %66 {permutation = array<i64: 0, 2, 1>} : (tensor<?x8x31xf32>) -> tensor<?x31x8xf32> loc("forward")
  %68 = train.transpose %67 {permutation = array<i64: 0, 2, 1>} : (tensor<?x31x8xf32>) -> tensor<?x8x31xf32> loc("forward")
  %69 = train.cross_entropy %68, %x1 : (tensor<?x8x31xf32>, tensor<?x8xi64>) -> tensor<f32> loc("forward")
  %70:11 = train.gradients %69 wrt(%p0, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p1, %p2, %p3) : (tensor<f32>, tensor<31x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<24x16xf32>, tensor<24x16xf32>, tensor<16x24xf32>, tensor<31x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<31x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<24x16xf32>, tensor<24x16xf32>, tensor<16x24xf32>, tensor<31x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("loss")
  %71, %72 = train.sgd %p0, %70#0, %lr0, %s0 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<31x16xf32>, tensor<31x16xf32>, tensor<f32>, tensor<31x16xf32>) -> (tensor<31x16xf32>, tensor<31x16xf32>) loc("embed.weight")
  %73, %74 = train.sgd %p4, %70#1, %lr0, %s1 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) loc("q.weight")
  %75, %76 = train.sgd %p5, %70#2, %lr0, %s2 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) loc("kv.weight")
  %77, %78 = train.sgd %p6, %70#3, %lr0, %s3 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<f32>, tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) loc("o.weight")
  %79, %80 = train.sgd %p7, %70#4, %lr0, %s4 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<24x16xf32>, tensor<24x16xf32>, tensor<f32>, tensor<24x16xf32>) -> (tensor<24x16xf32>, tensor<24x16xf32>) loc("gate.weight")
  %81, %82 = train.sgd %p8, %70#5, %lr0, %s5 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<24x16xf32>, tensor<24x16xf32>, tensor<f32>, tensor<24x16xf32>) -> (tensor<24x16xf32>, tensor<24x16xf32>) loc("up.weight")
  %83, %84 = train.sgd %p9, %70#6, %lr0, %s6 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<16x24xf32>, tensor<16x24xf32>, tensor<f32>, tensor<16x24xf32>) -> (tensor<16x24xf32>, tensor<16x24xf32>) loc("down.weight")
  %85, %86 = train.sgd %p10, %70#7, %lr0, %s7 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<31x16xf32>, tensor<31x16xf32>, tensor<f32>, tensor<31x16xf32>) -> (tensor<31x16xf32>, tensor<31x16xf32>) loc("lm_head.weight")
  %87, %88 = train.sgd %p1, %70#8, %lr1, %s8 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("norm1.weight")
  %89, %90 = train.sgd %p2, %70#9, %lr1, %s9 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("norm2.weight")
  %91, %92 = train.sgd %p3, %70#10, %lr1, %s10 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("norm.weight")
  return %71, %87, %89, %91, %73, %75, %77, %79, %81, %83, %85, %72, %74, %76, %78, %80, %82, %84, %86, %88, %90, %92, %69, %67 : tensor<31x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<24x16xf32>, tensor<24x16xf32>, tensor<16x24xf32>, tensor<31x16xf32>, tensor<31x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<24x16xf32>, tensor<24x16xf32>, tensor<16x24xf32>, tensor<31x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<?x31x8xf32>
}
