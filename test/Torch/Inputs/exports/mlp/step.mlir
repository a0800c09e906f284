func.func @step(
    %p0: tensor<32x20xf32> {amp.role = "parameter", amp.name = "layers.0.weight", amp.init = #amp.init<zeros>} loc("layers.0.weight"),
    %p1: tensor<32xf32> {amp.role = "parameter", amp.name = "layers.0.bias", amp.init = #amp.init<zeros>} loc("layers.0.bias"),
    %p2: tensor<32xf32> {amp.role = "parameter", amp.name = "layers.2.weight", amp.init = #amp.init<zeros>} loc("layers.2.weight"),
    %p3: tensor<32xf32> {amp.role = "parameter", amp.name = "layers.2.bias", amp.init = #amp.init<zeros>} loc("layers.2.bias"),
    %p4: tensor<16x32xf32> {amp.role = "parameter", amp.name = "layers.3.weight", amp.init = #amp.init<zeros>} loc("layers.3.weight"),
    %p5: tensor<16xf32> {amp.role = "parameter", amp.name = "layers.3.bias", amp.init = #amp.init<zeros>} loc("layers.3.bias"),
    %p6: tensor<5x16xf32> {amp.role = "parameter", amp.name = "layers.5.weight", amp.init = #amp.init<zeros>} loc("layers.5.weight"),
    %p7: tensor<5xf32> {amp.role = "parameter", amp.name = "layers.5.bias", amp.init = #amp.init<zeros>} loc("layers.5.bias"),
    %s0: tensor<32x20xf32> {amp.role = "optimizer_state", amp.name = "layers.0.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layers.0.weight.momentum_buffer"),
    %s1: tensor<16x32xf32> {amp.role = "optimizer_state", amp.name = "layers.3.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layers.3.weight.momentum_buffer"),
    %s2: tensor<5x16xf32> {amp.role = "optimizer_state", amp.name = "layers.5.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layers.5.weight.momentum_buffer"),
    %s3: tensor<32xf32> {amp.role = "optimizer_state", amp.name = "layers.0.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("layers.0.bias.momentum_buffer"),
    %s4: tensor<32xf32> {amp.role = "optimizer_state", amp.name = "layers.2.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layers.2.weight.momentum_buffer"),
    %s5: tensor<32xf32> {amp.role = "optimizer_state", amp.name = "layers.2.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("layers.2.bias.momentum_buffer"),
    %s6: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "layers.3.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("layers.3.bias.momentum_buffer"),
    %s7: tensor<5xf32> {amp.role = "optimizer_state", amp.name = "layers.5.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("layers.5.bias.momentum_buffer"),
    %lr0: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr.0", amp.init = #amp.init<constant, value = 0.05>} loc("lr.0"),
    %lr1: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr.1", amp.init = #amp.init<constant, value = 0.02>} loc("lr.1"),
    %x0: tensor<?x20xf32> {amp.role = "batch", amp.name = "x"} loc("x"),
    %x1: tensor<?xi64> {amp.role = "batch", amp.name = "target"} loc("target"))
    -> (tensor<32x20xf32> {amp.updates = "layers.0.weight"},
        tensor<32xf32> {amp.updates = "layers.0.bias"},
        tensor<32xf32> {amp.updates = "layers.2.weight"},
        tensor<32xf32> {amp.updates = "layers.2.bias"},
        tensor<16x32xf32> {amp.updates = "layers.3.weight"},
        tensor<16xf32> {amp.updates = "layers.3.bias"},
        tensor<5x16xf32> {amp.updates = "layers.5.weight"},
        tensor<5xf32> {amp.updates = "layers.5.bias"},
        tensor<32x20xf32> {amp.updates = "layers.0.weight.momentum_buffer"},
        tensor<16x32xf32> {amp.updates = "layers.3.weight.momentum_buffer"},
        tensor<5x16xf32> {amp.updates = "layers.5.weight.momentum_buffer"},
        tensor<32xf32> {amp.updates = "layers.0.bias.momentum_buffer"},
        tensor<32xf32> {amp.updates = "layers.2.weight.momentum_buffer"},
        tensor<32xf32> {amp.updates = "layers.2.bias.momentum_buffer"},
        tensor<16xf32> {amp.updates = "layers.3.bias.momentum_buffer"},
        tensor<5xf32> {amp.updates = "layers.5.bias.momentum_buffer"},
        tensor<f32> {amp.metric = "loss"},
        tensor<?x5xf32> {amp.prediction = "output"}) {
  %0 = train.linear %x0, %p0, %p1 {transpose_weight} : (tensor<?x20xf32>, tensor<32x20xf32>, tensor<32xf32>) -> tensor<?x32xf32> loc("layers.0")
  %1 = train.gelu %0 : tensor<?x32xf32> loc("layers.1")
  %2, %3, %4 = train.layer_norm %1, %p2, %p3 {epsilon = 1.0e-05 : f64} : (tensor<?x32xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<?x32xf32>, tensor<?xf32>, tensor<?xf32>) loc("layers.2")
  %5 = train.linear %2, %p4, %p5 {transpose_weight} : (tensor<?x32xf32>, tensor<16x32xf32>, tensor<16xf32>) -> tensor<?x16xf32> loc("layers.3")
  %6 = train.silu %5 : tensor<?x16xf32> loc("layers.4")
  %7 = train.linear %6, %p6, %p7 {transpose_weight} : (tensor<?x16xf32>, tensor<5x16xf32>, tensor<5xf32>) -> tensor<?x5xf32> loc("layers.5")
  %8 = train.cross_entropy %7, %x1 : (tensor<?x5xf32>, tensor<?xi64>) -> tensor<f32> loc("forward")
  %9:8 = train.gradients %8 wrt(%p0, %p4, %p6, %p1, %p2, %p3, %p5, %p7) : (tensor<f32>, tensor<32x20xf32>, tensor<16x32xf32>, tensor<5x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16xf32>, tensor<5xf32>) -> (tensor<32x20xf32>, tensor<16x32xf32>, tensor<5x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16xf32>, tensor<5xf32>) loc("loss")
  %10, %11 = train.sgd %p0, %9#0, %lr0, %s0 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<32x20xf32>, tensor<32x20xf32>, tensor<f32>, tensor<32x20xf32>) -> (tensor<32x20xf32>, tensor<32x20xf32>) loc("layers.0.weight")
  %12, %13 = train.sgd %p4, %9#1, %lr0, %s1 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<f32>, tensor<16x32xf32>) -> (tensor<16x32xf32>, tensor<16x32xf32>) loc("layers.3.weight")
  %14, %15 = train.sgd %p6, %9#2, %lr0, %s2 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<5x16xf32>, tensor<5x16xf32>, tensor<f32>, tensor<5x16xf32>) -> (tensor<5x16xf32>, tensor<5x16xf32>) loc("layers.5.weight")
  %16, %17 = train.sgd %p1, %9#3, %lr1, %s3 {momentum = 0.9 : f64, nesterov} : (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) loc("layers.0.bias")
  %18, %19 = train.sgd %p2, %9#4, %lr1, %s4 {momentum = 0.9 : f64, nesterov} : (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) loc("layers.2.weight")
  %20, %21 = train.sgd %p3, %9#5, %lr1, %s5 {momentum = 0.9 : f64, nesterov} : (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>) loc("layers.2.bias")
  %22, %23 = train.sgd %p5, %9#6, %lr1, %s6 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("layers.3.bias")
  %24, %25 = train.sgd %p7, %9#7, %lr1, %s7 {momentum = 0.9 : f64, nesterov} : (tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) loc("layers.5.bias")
  return %10, %16, %18, %20, %12, %22, %14, %24, %11, %13, %15, %17, %19, %21, %23, %25, %8, %7 : tensor<32x20xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16x32xf32>, tensor<16xf32>, tensor<5x16xf32>, tensor<5xf32>, tensor<32x20xf32>, tensor<16x32xf32>, tensor<5x16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<16xf32>, tensor<5xf32>, tensor<f32>, tensor<?x5xf32>
}
