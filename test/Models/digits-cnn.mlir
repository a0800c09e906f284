// A small convolutional network on the UCI handwritten digits: three 3x3
// convolutions with batch norm, max and average pooling, dropout, one linear
// layer; cross-entropy, SGD with momentum and weight decay. One function is one
// training step. Images are [batch, height, width, channels].

func.func @step(
    %w1: tensor<3x3x1x16xf32> {amp.role = "parameter", amp.name = "conv1.weight", amp.init = #amp.init<kaiming_normal>},
    %gamma1: tensor<16xf32> {amp.role = "parameter", amp.name = "bn1.gamma", amp.init = #amp.init<ones>},
    %beta1: tensor<16xf32> {amp.role = "parameter", amp.name = "bn1.beta", amp.init = #amp.init<zeros>},
    %w2: tensor<3x3x16x32xf32> {amp.role = "parameter", amp.name = "conv2.weight", amp.init = #amp.init<kaiming_normal>},
    %gamma2: tensor<32xf32> {amp.role = "parameter", amp.name = "bn2.gamma", amp.init = #amp.init<ones>},
    %beta2: tensor<32xf32> {amp.role = "parameter", amp.name = "bn2.beta", amp.init = #amp.init<zeros>},
    %w3: tensor<3x3x32x32xf32> {amp.role = "parameter", amp.name = "conv3.weight", amp.init = #amp.init<kaiming_normal>},
    %gamma3: tensor<32xf32> {amp.role = "parameter", amp.name = "bn3.gamma", amp.init = #amp.init<ones>},
    %beta3: tensor<32xf32> {amp.role = "parameter", amp.name = "bn3.beta", amp.init = #amp.init<zeros>},
    %w4: tensor<32x10xf32> {amp.role = "parameter", amp.name = "fc.weight", amp.init = #amp.init<xavier_uniform>},
    %b4: tensor<10xf32> {amp.role = "parameter", amp.name = "fc.bias", amp.init = #amp.init<zeros>},
    %v_w1: tensor<3x3x1x16xf32> {amp.role = "optimizer_state", amp.name = "conv1.weight.velocity", amp.init = #amp.init<zeros>},
    %v_gamma1: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "bn1.gamma.velocity", amp.init = #amp.init<zeros>},
    %v_beta1: tensor<16xf32> {amp.role = "optimizer_state", amp.name = "bn1.beta.velocity", amp.init = #amp.init<zeros>},
    %v_w2: tensor<3x3x16x32xf32> {amp.role = "optimizer_state", amp.name = "conv2.weight.velocity", amp.init = #amp.init<zeros>},
    %v_gamma2: tensor<32xf32> {amp.role = "optimizer_state", amp.name = "bn2.gamma.velocity", amp.init = #amp.init<zeros>},
    %v_beta2: tensor<32xf32> {amp.role = "optimizer_state", amp.name = "bn2.beta.velocity", amp.init = #amp.init<zeros>},
    %v_w3: tensor<3x3x32x32xf32> {amp.role = "optimizer_state", amp.name = "conv3.weight.velocity", amp.init = #amp.init<zeros>},
    %v_gamma3: tensor<32xf32> {amp.role = "optimizer_state", amp.name = "bn3.gamma.velocity", amp.init = #amp.init<zeros>},
    %v_beta3: tensor<32xf32> {amp.role = "optimizer_state", amp.name = "bn3.beta.velocity", amp.init = #amp.init<zeros>},
    %v_w4: tensor<32x10xf32> {amp.role = "optimizer_state", amp.name = "fc.weight.velocity", amp.init = #amp.init<zeros>},
    %v_b4: tensor<10xf32> {amp.role = "optimizer_state", amp.name = "fc.bias.velocity", amp.init = #amp.init<zeros>},
    %mean1: tensor<16xf32> {amp.role = "model_state", amp.name = "bn1.running_mean", amp.init = #amp.init<zeros>},
    %var1: tensor<16xf32> {amp.role = "model_state", amp.name = "bn1.running_var", amp.init = #amp.init<ones>},
    %mean2: tensor<32xf32> {amp.role = "model_state", amp.name = "bn2.running_mean", amp.init = #amp.init<zeros>},
    %var2: tensor<32xf32> {amp.role = "model_state", amp.name = "bn2.running_var", amp.init = #amp.init<ones>},
    %mean3: tensor<32xf32> {amp.role = "model_state", amp.name = "bn3.running_mean", amp.init = #amp.init<zeros>},
    %var3: tensor<32xf32> {amp.role = "model_state", amp.name = "bn3.running_var", amp.init = #amp.init<ones>},
    %rng: tensor<2xi64> {amp.role = "model_state", amp.name = "rng", amp.init = #amp.init<rng_state>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.05>},
    %images: tensor<?x64xf32> {amp.role = "batch", amp.name = "images"},
    %labels: tensor<?xi64> {amp.role = "batch", amp.name = "labels"})
    -> (tensor<3x3x1x16xf32> {amp.updates = "conv1.weight"},
        tensor<16xf32> {amp.updates = "bn1.gamma"},
        tensor<16xf32> {amp.updates = "bn1.beta"},
        tensor<3x3x16x32xf32> {amp.updates = "conv2.weight"},
        tensor<32xf32> {amp.updates = "bn2.gamma"},
        tensor<32xf32> {amp.updates = "bn2.beta"},
        tensor<3x3x32x32xf32> {amp.updates = "conv3.weight"},
        tensor<32xf32> {amp.updates = "bn3.gamma"},
        tensor<32xf32> {amp.updates = "bn3.beta"},
        tensor<32x10xf32> {amp.updates = "fc.weight"},
        tensor<10xf32> {amp.updates = "fc.bias"},
        tensor<3x3x1x16xf32> {amp.updates = "conv1.weight.velocity"},
        tensor<16xf32> {amp.updates = "bn1.gamma.velocity"},
        tensor<16xf32> {amp.updates = "bn1.beta.velocity"},
        tensor<3x3x16x32xf32> {amp.updates = "conv2.weight.velocity"},
        tensor<32xf32> {amp.updates = "bn2.gamma.velocity"},
        tensor<32xf32> {amp.updates = "bn2.beta.velocity"},
        tensor<3x3x32x32xf32> {amp.updates = "conv3.weight.velocity"},
        tensor<32xf32> {amp.updates = "bn3.gamma.velocity"},
        tensor<32xf32> {amp.updates = "bn3.beta.velocity"},
        tensor<32x10xf32> {amp.updates = "fc.weight.velocity"},
        tensor<10xf32> {amp.updates = "fc.bias.velocity"},
        tensor<16xf32> {amp.updates = "bn1.running_mean"},
        tensor<16xf32> {amp.updates = "bn1.running_var"},
        tensor<32xf32> {amp.updates = "bn2.running_mean"},
        tensor<32xf32> {amp.updates = "bn2.running_var"},
        tensor<32xf32> {amp.updates = "bn3.running_mean"},
        tensor<32xf32> {amp.updates = "bn3.running_var"},
        tensor<2xi64> {amp.updates = "rng"},
        tensor<f32> {amp.metric = "loss"},
        tensor<f32> {amp.metric = "accuracy"},
        tensor<?x10xf32> {amp.prediction = "logits"}) {
  // Forward.
  %x0 = train.reshape %images : (tensor<?x64xf32>) -> tensor<?x8x8x1xf32>
  %c1 = train.conv2d %x0, %w1 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x1xf32>, tensor<3x3x1x16xf32>) -> tensor<?x8x8x16xf32>
  %n1, %m1, %r1, %new_mean1, %new_var1 = train.batch_norm_training %c1, %gamma1, %beta1, %mean1, %var1
      : (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<?x8x8x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
  %a1 = train.relu %n1 : tensor<?x8x8x16xf32>
  %c2 = train.conv2d %a1, %w2 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<?x8x8x32xf32>
  %n2, %m2, %r2, %new_mean2, %new_var2 = train.batch_norm_training %c2, %gamma2, %beta2, %mean2, %var2
      : (tensor<?x8x8x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<?x8x8x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
  %a2 = train.relu %n2 : tensor<?x8x8x32xf32>
  %p2 = train.max_pool2d %a2 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<?x8x8x32xf32>) -> tensor<?x4x4x32xf32>
  %c3 = train.conv2d %p2, %w3 {padding = array<i64: 1, 1, 1, 1>} : (tensor<?x4x4x32xf32>, tensor<3x3x32x32xf32>) -> tensor<?x4x4x32xf32>
  %n3, %m3, %r3, %new_mean3, %new_var3 = train.batch_norm_training %c3, %gamma3, %beta3, %mean3, %var3
      : (tensor<?x4x4x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<?x4x4x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
  %a3 = train.relu %n3 : tensor<?x4x4x32xf32>
  %p3 = train.avg_pool2d %a3 {window = array<i64: 4, 4>, strides = array<i64: 4, 4>} : (tensor<?x4x4x32xf32>) -> tensor<?x1x1x32xf32>
  %flat = train.reshape %p3 : (tensor<?x1x1x32xf32>) -> tensor<?x32xf32>
  %kept = train.dropout %flat, %rng {rate = 0.1 : f64} : (tensor<?x32xf32>, tensor<2xi64>) -> tensor<?x32xf32>
  %new_rng = train.advance_rng %rng : tensor<2xi64>
  %logits = train.linear %kept, %w4, %b4 : (tensor<?x32xf32>, tensor<32x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  %loss = train.cross_entropy %logits, %labels : (tensor<?x10xf32>, tensor<?xi64>) -> tensor<f32>

  // Accuracy: the share of rows whose largest logit is the label's.
  %best = train.reduce_max %logits {dims = array<i64: 1>, keep_dims} : (tensor<?x10xf32>) -> tensor<?x1xf32>
  %is_best = train.compare ge, %logits, %best : (tensor<?x10xf32>, tensor<?x1xf32>) -> tensor<?x10xi1>
  %hot = train.one_hot %labels : (tensor<?xi64>) -> tensor<?x10xf32>
  %zero = train.constant dense<0.0> : tensor<f32>
  %hits = train.select %is_best, %hot, %zero : (tensor<?x10xi1>, tensor<?x10xf32>, tensor<f32>) -> tensor<?x10xf32>
  %hit = train.reduce_sum %hits {dims = array<i64: 1>} : (tensor<?x10xf32>) -> tensor<?xf32>
  %accuracy = train.reduce_mean %hit {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>

  // Backward, and the update. Norm parameters and biases do not decay.
  %g:11 = train.gradients %loss wrt(%w1, %gamma1, %beta1, %w2, %gamma2, %beta2, %w3, %gamma3, %beta3, %w4, %b4)
      : (tensor<f32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<3x3x32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>)
      -> (tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<3x3x32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>)
  %n_w1, %n_v_w1 = train.sgd %w1, %g#0, %lr, %v_w1 {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64} : (tensor<3x3x1x16xf32>, tensor<3x3x1x16xf32>, tensor<f32>, tensor<3x3x1x16xf32>) -> (tensor<3x3x1x16xf32>, tensor<3x3x1x16xf32>)
  %n_gamma1, %n_v_gamma1 = train.sgd %gamma1, %g#1, %lr, %v_gamma1 {momentum = 0.9 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %n_beta1, %n_v_beta1 = train.sgd %beta1, %g#2, %lr, %v_beta1 {momentum = 0.9 : f64} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>)
  %n_w2, %n_v_w2 = train.sgd %w2, %g#3, %lr, %v_w2 {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64} : (tensor<3x3x16x32xf32>, tensor<3x3x16x32xf32>, tensor<f32>, tensor<3x3x16x32xf32>) -> (tensor<3x3x16x32xf32>, tensor<3x3x16x32xf32>)
  %n_gamma2, %n_v_gamma2 = train.sgd %gamma2, %g#4, %lr, %v_gamma2 {momentum = 0.9 : f64} : (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
  %n_beta2, %n_v_beta2 = train.sgd %beta2, %g#5, %lr, %v_beta2 {momentum = 0.9 : f64} : (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
  %n_w3, %n_v_w3 = train.sgd %w3, %g#6, %lr, %v_w3 {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64} : (tensor<3x3x32x32xf32>, tensor<3x3x32x32xf32>, tensor<f32>, tensor<3x3x32x32xf32>) -> (tensor<3x3x32x32xf32>, tensor<3x3x32x32xf32>)
  %n_gamma3, %n_v_gamma3 = train.sgd %gamma3, %g#7, %lr, %v_gamma3 {momentum = 0.9 : f64} : (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
  %n_beta3, %n_v_beta3 = train.sgd %beta3, %g#8, %lr, %v_beta3 {momentum = 0.9 : f64} : (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
  %n_w4, %n_v_w4 = train.sgd %w4, %g#9, %lr, %v_w4 {momentum = 0.9 : f64, weight_decay = 1.0e-4 : f64} : (tensor<32x10xf32>, tensor<32x10xf32>, tensor<f32>, tensor<32x10xf32>) -> (tensor<32x10xf32>, tensor<32x10xf32>)
  %n_b4, %n_v_b4 = train.sgd %b4, %g#10, %lr, %v_b4 {momentum = 0.9 : f64} : (tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>)
  return %n_w1, %n_gamma1, %n_beta1, %n_w2, %n_gamma2, %n_beta2, %n_w3, %n_gamma3, %n_beta3, %n_w4, %n_b4, %n_v_w1, %n_v_gamma1, %n_v_beta1, %n_v_w2, %n_v_gamma2, %n_v_beta2, %n_v_w3, %n_v_gamma3, %n_v_beta3, %n_v_w4, %n_v_b4, %new_mean1, %new_var1, %new_mean2, %new_var2, %new_mean3, %new_var3, %new_rng, %loss, %accuracy, %logits
      : tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<3x3x32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>, tensor<3x3x1x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<3x3x16x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<3x3x32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>, tensor<16xf32>, tensor<16xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<2xi64>, tensor<f32>, tensor<f32>, tensor<?x10xf32>
}
