func.func @step(
    %p0: tensor<8x3x3x3xf32> {amp.role = "parameter", amp.name = "conv1.weight", amp.init = #amp.init<zeros>} loc("conv1.weight"),
    %p1: tensor<8xf32> {amp.role = "parameter", amp.name = "bn1.weight", amp.init = #amp.init<zeros>} loc("bn1.weight"),
    %p2: tensor<8xf32> {amp.role = "parameter", amp.name = "bn1.bias", amp.init = #amp.init<zeros>} loc("bn1.bias"),
    %p3: tensor<8x8x3x3xf32> {amp.role = "parameter", amp.name = "layer1.conv1.weight", amp.init = #amp.init<zeros>} loc("layer1.conv1.weight"),
    %p4: tensor<8xf32> {amp.role = "parameter", amp.name = "layer1.bn1.weight", amp.init = #amp.init<zeros>} loc("layer1.bn1.weight"),
    %p5: tensor<8xf32> {amp.role = "parameter", amp.name = "layer1.bn1.bias", amp.init = #amp.init<zeros>} loc("layer1.bn1.bias"),
    %p6: tensor<8x8x3x3xf32> {amp.role = "parameter", amp.name = "layer1.conv2.weight", amp.init = #amp.init<zeros>} loc("layer1.conv2.weight"),
    %p7: tensor<8xf32> {amp.role = "parameter", amp.name = "layer1.bn2.weight", amp.init = #amp.init<zeros>} loc("layer1.bn2.weight"),
    %p8: tensor<8xf32> {amp.role = "parameter", amp.name = "layer1.bn2.bias", amp.init = #amp.init<zeros>} loc("layer1.bn2.bias"),
    %p9: tensor<16x8x3x3xf32> {amp.role = "parameter", amp.name = "layer2.conv1.weight", amp.init = #amp.init<zeros>} loc("layer2.conv1.weight"),
    %p10: tensor<16xf32> {amp.role = "parameter", amp.name = "layer2.bn1.weight", amp.init = #amp.init<zeros>} loc("layer2.bn1.weight"),
    %p11: tensor<16xf32> {amp.role = "parameter", amp.name = "layer2.bn1.bias", amp.init = #amp.init<zeros>} loc("layer2.bn1.bias"),
    %p12: tensor<16x16x3x3xf32> {amp.role = "parameter", amp.name = "layer2.conv2.weight", amp.init = #amp.init<zeros>} loc("layer2.conv2.weight"),
    %p13: tensor<16xf32> {amp.role = "parameter", amp.name = "layer2.bn2.weight", amp.init = #amp.init<zeros>} loc("layer2.bn2.weight"),
    %p14: tensor<16xf32> {amp.role = "parameter", amp.name = "layer2.bn2.bias", amp.init = #amp.init<zeros>} loc("layer2.bn2.bias"),
    %p15: tensor<16x8x1x1xf32> {amp.role = "parameter", amp.name = "layer2.downsample.0.weight", amp.init = #amp.init<zeros>} loc("layer2.downsample.0.weight"),
    %p16: tensor<16xf32> {amp.role = "parameter", amp.name = "layer2.downsample.1.weight", amp.init = #amp.init<zeros>} loc("layer2.downsample.1.weight"),
    %p17: tensor<16xf32> {amp.role = "parameter", amp.name = "layer2.downsample.1.bias", amp.init = #amp.init<zeros>} loc("layer2.downsample.1.bias"),
    %p18: tensor<5x16xf32> {amp.role = "parameter", amp.name = "fc.weight", amp.init = #amp.init<zeros>} loc("fc.weight"),
    %p19: tensor<5xf32> {amp.role = "parameter", amp.name = "fc.bias", amp.init = #amp.init<zeros>} loc("fc.bias"),
    %s0: tensor<8x3x3x3xf32> {amp.role = "optimizer_state", amp.name = "conv1.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("conv1.weight.momentum_buffer"),
    %s1: tensor<8x8x3x3xf32> {amp.role = "optimizer_state", amp.name = "layer1.conv1.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer1.conv1.weight.momentum_buffer"),
    %s2: tensor<8x8x3x3xf32> {amp.role = "optimizer_state", amp.name = "layer1.conv2.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer1.conv2.weight.momentum_buffer"),
    %s3: tensor<16x8x3x3xf32> {amp.role = "optimizer_state", amp.name = "layer2.conv1.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer2.conv1.weight.momentum_buffer"),
    %s4: tensor<16x16x3x3xf32> {amp.role = "optimizer_state", amp.name = "layer2.conv2.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer2.conv2.weight.momentum_buffer"),
    %s5: tensor<16x8x1x1xf32> {amp.role = "optimizer_state", amp.name = "layer2.downsample.0.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer2.downsample.0.weight.momentum_buffer"),
    %s6: tensor<5x16xf32> {amp.role = "optimizer_state", amp.name = "fc.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("fc.weight.momentum_buffer"),
    %s7: tensor<8xf32> {amp.role = "optimizer_state", amp.name = "bn1.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("bn1.weight.momentum_buffer"),
    %s8: tensor<8xf32> {amp.role = "optimizer_state", amp.name = "bn1.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("bn1.bias.momentum_buffer"),
    %s9: tensor<8xf32> {amp.role = "optimizer_state", amp.name = "layer1.bn1.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer1.bn1.weight.momentum_buffer"),
    %s10: tensor<8xf32> {amp.role = "optimizer_state", amp.name = "layer1.bn1.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer1.bn1.bias.momentum_buffer"),
    %s11: tensor<8xf32> {amp.role = "optimizer_state", amp.name = "layer1.bn2.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer1.bn2.weight.momentum_buffer"),
    %s12: tensor<8xf32> {amp.role = "optimizer_state", amp.name = "layer1.bn2.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer1.bn2.bias.momentum_buffer"),
    %s13: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "layer2.bn1.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer2.bn1.weight.momentum_buffer"),
    %s14: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "layer2.bn1.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer2.bn1.bias.momentum_buffer"),
    %s15: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "layer2.bn2.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer2.bn2.weight.momentum_buffer"),
    %s16: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "layer2.bn2.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer2.bn2.bias.momentum_buffer"),
    %s17: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "layer2.downsample.1.weight.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer2.downsample.1.weight.momentum_buffer"),
    %s18: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "layer2.downsample.1.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("layer2.downsample.1.bias.momentum_buffer"),
    %s19: tensor<5xf32> {amp.role = "optimizer_state", amp.name = "fc.bias.momentum_buffer", amp.init = #amp.init<zeros>} loc("fc.bias.momentum_buffer"),
    %b0: tensor<8xf32> {amp.role = "model_state", amp.name = "bn1.running_mean", amp.init = #amp.init<zeros>} loc("bn1.running_mean"),
    %b1: tensor<8xf32> {amp.role = "model_state", amp.name = "bn1.running_var", amp.init = #amp.init<zeros>} loc("bn1.running_var"),
    %b2: tensor<8xf32> {amp.role = "model_state", amp.name = "layer1.bn1.running_mean", amp.init = #amp.init<zeros>} loc("layer1.bn1.running_mean"),
    %b3: tensor<8xf32> {amp.role = "model_state", amp.name = "layer1.bn1.running_var", amp.init = #amp.init<zeros>} loc("layer1.bn1.running_var"),
    %b4: tensor<8xf32> {amp.role = "model_state", amp.name = "layer1.bn2.running_mean", amp.init = #amp.init<zeros>} loc("layer1.bn2.running_mean"),
    %b5: tensor<8xf32> {amp.role = "model_state", amp.name = "layer1.bn2.running_var", amp.init = #amp.init<zeros>} loc("layer1.bn2.running_var"),
    %b6: tensor<16xf32> {amp.role = "model_state", amp.name = "layer2.bn1.running_mean", amp.init = #amp.init<zeros>} loc("layer2.bn1.running_mean"),
    %b7: tensor<16xf32> {amp.role = "model_state", amp.name = "layer2.bn1.running_var", amp.init = #amp.init<zeros>} loc("layer2.bn1.running_var"),
    %b8: tensor<16xf32> {amp.role = "model_state", amp.name = "layer2.bn2.running_mean", amp.init = #amp.init<zeros>} loc("layer2.bn2.running_mean"),
    %b9: tensor<16xf32> {amp.role = "model_state", amp.name = "layer2.bn2.running_var", amp.init = #amp.init<zeros>} loc("layer2.bn2.running_var"),
    %b10: tensor<16xf32> {amp.role = "model_state", amp.name = "layer2.downsample.1.running_mean", amp.init = #amp.init<zeros>} loc("layer2.downsample.1.running_mean"),
    %b11: tensor<16xf32> {amp.role = "model_state", amp.name = "layer2.downsample.1.running_var", amp.init = #amp.init<zeros>} loc("layer2.downsample.1.running_var"),
    %lr0: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr.0", amp.init = #amp.init<constant, value = 0.05>} loc("lr.0"),
    %lr1: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr.1", amp.init = #amp.init<constant, value = 0.02>} loc("lr.1"),
    %x0: tensor<?x3x16x16xf32> {amp.role = "batch", amp.name = "x"} loc("x"),
    %x1: tensor<?xi64> {amp.role = "batch", amp.name = "target"} loc("target"))
    -> (tensor<8x3x3x3xf32> {amp.updates = "conv1.weight"},
        tensor<8xf32> {amp.updates = "bn1.weight"},
        tensor<8xf32> {amp.updates = "bn1.bias"},
        tensor<8x8x3x3xf32> {amp.updates = "layer1.conv1.weight"},
        tensor<8xf32> {amp.updates = "layer1.bn1.weight"},
        tensor<8xf32> {amp.updates = "layer1.bn1.bias"},
        tensor<8x8x3x3xf32> {amp.updates = "layer1.conv2.weight"},
        tensor<8xf32> {amp.updates = "layer1.bn2.weight"},
        tensor<8xf32> {amp.updates = "layer1.bn2.bias"},
        tensor<16x8x3x3xf32> {amp.updates = "layer2.conv1.weight"},
        tensor<16xf32> {amp.updates = "layer2.bn1.weight"},
        tensor<16xf32> {amp.updates = "layer2.bn1.bias"},
        tensor<16x16x3x3xf32> {amp.updates = "layer2.conv2.weight"},
        tensor<16xf32> {amp.updates = "layer2.bn2.weight"},
        tensor<16xf32> {amp.updates = "layer2.bn2.bias"},
        tensor<16x8x1x1xf32> {amp.updates = "layer2.downsample.0.weight"},
        tensor<16xf32> {amp.updates = "layer2.downsample.1.weight"},
        tensor<16xf32> {amp.updates = "layer2.downsample.1.bias"},
        tensor<5x16xf32> {amp.updates = "fc.weight"},
        tensor<5xf32> {amp.updates = "fc.bias"},
        tensor<8x3x3x3xf32> {amp.updates = "conv1.weight.momentum_buffer"},
        tensor<8x8x3x3xf32> {amp.updates = "layer1.conv1.weight.momentum_buffer"},
        tensor<8x8x3x3xf32> {amp.updates = "layer1.conv2.weight.momentum_buffer"},
        tensor<16x8x3x3xf32> {amp.updates = "layer2.conv1.weight.momentum_buffer"},
        tensor<16x16x3x3xf32> {amp.updates = "layer2.conv2.weight.momentum_buffer"},
        tensor<16x8x1x1xf32> {amp.updates = "layer2.downsample.0.weight.momentum_buffer"},
        tensor<5x16xf32> {amp.updates = "fc.weight.momentum_buffer"},
        tensor<8xf32> {amp.updates = "bn1.weight.momentum_buffer"},
        tensor<8xf32> {amp.updates = "bn1.bias.momentum_buffer"},
        tensor<8xf32> {amp.updates = "layer1.bn1.weight.momentum_buffer"},
        tensor<8xf32> {amp.updates = "layer1.bn1.bias.momentum_buffer"},
        tensor<8xf32> {amp.updates = "layer1.bn2.weight.momentum_buffer"},
        tensor<8xf32> {amp.updates = "layer1.bn2.bias.momentum_buffer"},
        tensor<16xf32> {amp.updates = "layer2.bn1.weight.momentum_buffer"},
        tensor<16xf32> {amp.updates = "layer2.bn1.bias.momentum_buffer"},
        tensor<16xf32> {amp.updates = "layer2.bn2.weight.momentum_buffer"},
        tensor<16xf32> {amp.updates = "layer2.bn2.bias.momentum_buffer"},
        tensor<16xf32> {amp.updates = "layer2.downsample.1.weight.momentum_buffer"},
        tensor<16xf32> {amp.updates = "layer2.downsample.1.bias.momentum_buffer"},
        tensor<5xf32> {amp.updates = "fc.bias.momentum_buffer"},
        tensor<8xf32> {amp.updates = "bn1.running_mean"},
        tensor<8xf32> {amp.updates = "bn1.running_var"},
        tensor<8xf32> {amp.updates = "layer1.bn1.running_mean"},
        tensor<8xf32> {amp.updates = "layer1.bn1.running_var"},
        tensor<8xf32> {amp.updates = "layer1.bn2.running_mean"},
        tensor<8xf32> {amp.updates = "layer1.bn2.running_var"},
        tensor<16xf32> {amp.updates = "layer2.bn1.running_mean"},
        tensor<16xf32> {amp.updates = "layer2.bn1.running_var"},
        tensor<16xf32> {amp.updates = "layer2.bn2.running_mean"},
        tensor<16xf32> {amp.updates = "layer2.bn2.running_var"},
        tensor<16xf32> {amp.updates = "layer2.downsample.1.running_mean"},
        tensor<16xf32> {amp.updates = "layer2.downsample.1.running_var"},
        tensor<f32> {amp.metric = "loss"},
        tensor<?x5xf32> {amp.prediction = "output"}) {
  %0 = train.transpose %x0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x3x16x16xf32>) -> tensor<?x16x16x3xf32> loc("conv1")
  %1 = train.transpose %p0 {permutation = array<i64: 2, 3, 1, 0>} : (tensor<8x3x3x3xf32>) -> tensor<3x3x3x8xf32> loc("conv1")
  %2 = train.conv2d %0, %1 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x16x16x3xf32>, tensor<3x3x3x8xf32>) -> tensor<?x8x8x8xf32> loc("conv1")
  %3 = train.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32> loc("conv1")
  %4 = train.transpose %3 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32> loc("bn1")
  %5, %6, %7, %8, %9 = train.batch_norm_training %4, %p1, %p2, %b0, %b1 {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : (tensor<?x8x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x8x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) loc("bn1")
  %10 = train.transpose %5 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32> loc("bn1")
  %11 = train.relu %10 : tensor<?x8x8x8xf32> loc("forward")
  %12 = train.transpose %11 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x8x8xf32>) -> tensor<?x8x8x8xf32> loc("maxpool")
  %13 = train.max_pool2d %12 {window = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x8xf32>) -> tensor<?x4x4x8xf32> loc("maxpool")
  %14 = train.transpose %13 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x4x4x8xf32>) -> tensor<?x8x4x4xf32> loc("maxpool")
  %15 = train.transpose %14 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x4x4xf32>) -> tensor<?x4x4x8xf32> loc("layer1.conv1")
  %16 = train.transpose %p3 {permutation = array<i64: 2, 3, 1, 0>} : (tensor<8x8x3x3xf32>) -> tensor<3x3x8x8xf32> loc("layer1.conv1")
  %17 = train.conv2d %15, %16 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x4x8xf32>, tensor<3x3x8x8xf32>) -> tensor<?x4x4x8xf32> loc("layer1.conv1")
  %18 = train.transpose %17 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x4x4x8xf32>) -> tensor<?x8x4x4xf32> loc("layer1.conv1")
  %19 = train.transpose %18 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x4x4xf32>) -> tensor<?x4x4x8xf32> loc("layer1.bn1")
  %20, %21, %22, %23, %24 = train.batch_norm_training %19, %p4, %p5, %b2, %b3 {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : (tensor<?x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) loc("layer1.bn1")
  %25 = train.transpose %20 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x4x4x8xf32>) -> tensor<?x8x4x4xf32> loc("layer1.bn1")
  %26 = train.relu %25 : tensor<?x8x4x4xf32> loc("layer1.relu")
  %27 = train.transpose %26 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x4x4xf32>) -> tensor<?x4x4x8xf32> loc("layer1.conv2")
  %28 = train.transpose %p6 {permutation = array<i64: 2, 3, 1, 0>} : (tensor<8x8x3x3xf32>) -> tensor<3x3x8x8xf32> loc("layer1.conv2")
  %29 = train.conv2d %27, %28 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x4x8xf32>, tensor<3x3x8x8xf32>) -> tensor<?x4x4x8xf32> loc("layer1.conv2")
  %30 = train.transpose %29 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x4x4x8xf32>) -> tensor<?x8x4x4xf32> loc("layer1.conv2")
  %31 = train.transpose %30 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x4x4xf32>) -> tensor<?x4x4x8xf32> loc("layer1.bn2")
  %32, %33, %34, %35, %36 = train.batch_norm_training %31, %p7, %p8, %b4, %b5 {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : (tensor<?x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<?x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) loc("layer1.bn2")
  %37 = train.transpose %32 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x4x4x8xf32>) -> tensor<?x8x4x4xf32> loc("layer1.bn2")
  %38 = train.add %37, %14 : (tensor<?x8x4x4xf32>, tensor<?x8x4x4xf32>) -> tensor<?x8x4x4xf32> loc("layer1")
  %39 = train.relu %38 : tensor<?x8x4x4xf32> loc("layer1.relu")
  %40 = train.transpose %39 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x4x4xf32>) -> tensor<?x4x4x8xf32> loc("layer2.downsample.0")
  %41 = train.transpose %p15 {permutation = array<i64: 2, 3, 1, 0>} : (tensor<16x8x1x1xf32>) -> tensor<1x1x8x16xf32> loc("layer2.downsample.0")
  %42 = train.conv2d %40, %41 {strides = array<i64: 2, 2>, padding = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x4x8xf32>, tensor<1x1x8x16xf32>) -> tensor<?x2x2x16xf32> loc("layer2.downsample.0")
  %43 = train.transpose %42 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x2x2x16xf32>) -> tensor<?x16x2x2xf32> loc("layer2.downsample.0")
  %44 = train.transpose %43 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x16x2x2xf32>) -> tensor<?x2x2x16xf32> loc("layer2.downsample.1")
  %45, %46, %47, %48, %49 = train.batch_norm_training %44, %p16, %p17, %b10, %b11 {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : (tensor<?x2x2x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x2x2x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("layer2.downsample.1")
  %50 = train.transpose %45 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x2x2x16xf32>) -> tensor<?x16x2x2xf32> loc("layer2.downsample.1")
  %51 = train.transpose %39 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x4x4xf32>) -> tensor<?x4x4x8xf32> loc("layer2.conv1")
  %52 = train.transpose %p9 {permutation = array<i64: 2, 3, 1, 0>} : (tensor<16x8x3x3xf32>) -> tensor<3x3x8x16xf32> loc("layer2.conv1")
  %53 = train.conv2d %51, %52 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x4x8xf32>, tensor<3x3x8x16xf32>) -> tensor<?x2x2x16xf32> loc("layer2.conv1")
  %54 = train.transpose %53 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x2x2x16xf32>) -> tensor<?x16x2x2xf32> loc("layer2.conv1")
  %55 = train.transpose %54 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x16x2x2xf32>) -> tensor<?x2x2x16xf32> loc("layer2.bn1")
  %56, %57, %58, %59, %60 = train.batch_norm_training %55, %p10, %p11, %b6, %b7 {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : (tensor<?x2x2x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x2x2x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("layer2.bn1")
  %61 = train.transpose %56 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x2x2x16xf32>) -> tensor<?x16x2x2xf32> loc("layer2.bn1")
  %62 = train.relu %61 : tensor<?x16x2x2xf32> loc("layer2.relu")
  %63 = train.transpose %62 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x16x2x2xf32>) -> tensor<?x2x2x16xf32> loc("layer2.conv2")
  %64 = train.transpose %p12 {permutation = array<i64: 2, 3, 1, 0>} : (tensor<16x16x3x3xf32>) -> tensor<3x3x16x16xf32> loc("layer2.conv2")
  %65 = train.conv2d %63, %64 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x2x2x16xf32>, tensor<3x3x16x16xf32>) -> tensor<?x2x2x16xf32> loc("layer2.conv2")
  %66 = train.transpose %65 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x2x2x16xf32>) -> tensor<?x16x2x2xf32> loc("layer2.conv2")
  %67 = train.transpose %66 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x16x2x2xf32>) -> tensor<?x2x2x16xf32> loc("layer2.bn2")
  %68, %69, %70, %71, %72 = train.batch_norm_training %67, %p13, %p14, %b8, %b9 {epsilon = 1.0e-05 : f64, momentum = 0.1 : f64} : (tensor<?x2x2x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x2x2x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) loc("layer2.bn2")
  %73 = train.transpose %68 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x2x2x16xf32>) -> tensor<?x16x2x2xf32> loc("layer2.bn2")
  %74 = train.add %73, %50 : (tensor<?x16x2x2xf32>, tensor<?x16x2x2xf32>) -> tensor<?x16x2x2xf32> loc("layer2")
  %75 = train.relu %74 : tensor<?x16x2x2xf32> loc("layer2.relu")
  %76 = train.reduce_mean %75 {dims = array<i64: 2, 3>, keep_dims} : (tensor<?x16x2x2xf32>) -> tensor<?x16x1x1xf32> loc("avgpool")
  %77 = train.reshape %76 : (tensor<?x16x1x1xf32>) -> tensor<?x16xf32> loc("forward")
  %78 = train.linear %77, %p18, %p19 {transpose_weight} : (tensor<?x16xf32>, tensor<5x16xf32>, tensor<5xf32>) -> tensor<?x5xf32> loc("fc")
  %79 = train.cross_entropy %78, %x1 {label_smoothing = 0.1 : f64} : (tensor<?x5xf32>, tensor<?xi64>) -> tensor<f32> loc("loss")
  %80:20 = train.gradients %79 wrt(%p0, %p3, %p6, %p9, %p12, %p15, %p18, %p1, %p2, %p4, %p5, %p7, %p8, %p10, %p11, %p13, %p14, %p16, %p17, %p19) : (tensor<f32>, tensor<8x3x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16x16x3x3xf32>, tensor<16x8x1x1xf32>, tensor<5x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5xf32>) -> (tensor<8x3x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16x16x3x3xf32>, tensor<16x8x1x1xf32>, tensor<5x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5xf32>) loc("loss")
  %81, %82 = train.sgd %p0, %80#0, %lr0, %s0 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<8x3x3x3xf32>, tensor<8x3x3x3xf32>, tensor<f32>, tensor<8x3x3x3xf32>) -> (tensor<8x3x3x3xf32>, tensor<8x3x3x3xf32>) loc("conv1.weight")
  %83, %84 = train.sgd %p3, %80#1, %lr0, %s1 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<f32>, tensor<8x8x3x3xf32>) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) loc("layer1.conv1.weight")
  %85, %86 = train.sgd %p6, %80#2, %lr0, %s2 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<f32>, tensor<8x8x3x3xf32>) -> (tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>) loc("layer1.conv2.weight")
  %87, %88 = train.sgd %p9, %80#3, %lr0, %s3 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<f32>, tensor<16x8x3x3xf32>) -> (tensor<16x8x3x3xf32>, tensor<16x8x3x3xf32>) loc("layer2.conv1.weight")
  %89, %90 = train.sgd %p12, %80#4, %lr0, %s4 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<16x16x3x3xf32>, tensor<16x16x3x3xf32>, tensor<f32>, tensor<16x16x3x3xf32>) -> (tensor<16x16x3x3xf32>, tensor<16x16x3x3xf32>) loc("layer2.conv2.weight")
  %91, %92 = train.sgd %p15, %80#5, %lr0, %s5 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<16x8x1x1xf32>, tensor<16x8x1x1xf32>, tensor<f32>, tensor<16x8x1x1xf32>) -> (tensor<16x8x1x1xf32>, tensor<16x8x1x1xf32>) loc("layer2.downsample.0.weight")
  %93, %94 = train.sgd %p18, %80#6, %lr0, %s6 {weight_decay = 0.001 : f64, momentum = 0.9 : f64, nesterov} : (tensor<5x16xf32>, tensor<5x16xf32>, tensor<f32>, tensor<5x16xf32>) -> (tensor<5x16xf32>, tensor<5x16xf32>) loc("fc.weight")
  %95, %96 = train.sgd %p1, %80#7, %lr1, %s7 {momentum = 0.9 : f64, nesterov} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) loc("bn1.weight")
  %97, %98 = train.sgd %p2, %80#8, %lr1, %s8 {momentum = 0.9 : f64, nesterov} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) loc("bn1.bias")
  %99, %100 = train.sgd %p4, %80#9, %lr1, %s9 {momentum = 0.9 : f64, nesterov} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) loc("layer1.bn1.weight")
  %101, %102 = train.sgd %p5, %80#10, %lr1, %s10 {momentum = 0.9 : f64, nesterov} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) loc("layer1.bn1.bias")
  %103, %104 = train.sgd %p7, %80#11, %lr1, %s11 {momentum = 0.9 : f64, nesterov} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) loc("layer1.bn2.weight")
  %105, %106 = train.sgd %p8, %80#12, %lr1, %s12 {momentum = 0.9 : f64, nesterov} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) loc("layer1.bn2.bias")
  %107, %108 = train.sgd %p10, %80#13, %lr1, %s13 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("layer2.bn1.weight")
  %109, %110 = train.sgd %p11, %80#14, %lr1, %s14 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("layer2.bn1.bias")
  %111, %112 = train.sgd %p13, %80#15, %lr1, %s15 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("layer2.bn2.weight")
  %113, %114 = train.sgd %p14, %80#16, %lr1, %s16 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("layer2.bn2.bias")
  %115, %116 = train.sgd %p16, %80#17, %lr1, %s17 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("layer2.downsample.1.weight")
  %117, %118 = train.sgd %p17, %80#18, %lr1, %s18 {momentum = 0.9 : f64, nesterov} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) loc("layer2.downsample.1.bias")
  %119, %120 = train.sgd %p19, %80#19, %lr1, %s19 {momentum = 0.9 : f64, nesterov} : (tensor<5xf32>, tensor<5xf32>, tensor<f32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) loc("fc.bias")
  return %81, %95, %97, %83, %99, %101, %85, %103, %105, %87, %107, %109, %89, %111, %113, %91, %115, %117, %93, %119, %82, %84, %86, %88, %90, %92, %94, %96, %98, %100, %102, %104, %106, %108, %110, %112, %114, %116, %118, %120, %8, %9, %23, %24, %35, %36, %59, %60, %71, %72, %48, %49, %79, %78 : tensor<8x3x3x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8x3x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8x3x3xf32>, tensor<8xf32>, tensor<8xf32>, tensor<16x8x3x3xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x16x3x3xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x8x1x1xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5x16xf32>, tensor<5xf32>, tensor<8x3x3x3xf32>, tensor<8x8x3x3xf32>, tensor<8x8x3x3xf32>, tensor<16x8x3x3xf32>, tensor<16x16x3x3xf32>, tensor<16x8x1x1xf32>, tensor<5x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<5xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<?x5xf32>
}
