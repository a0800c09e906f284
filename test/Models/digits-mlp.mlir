// A multilayer perceptron on the UCI handwritten digits: 64 -> 128 -> 64 -> 10,
// cross-entropy, SGD with momentum. One function is one training step.

func.func @step(
    %w1: tensor<64x128xf32> {amp.role = "parameter", amp.name = "fc1.weight", amp.init = #amp.init<kaiming_uniform>},
    %b1: tensor<128xf32> {amp.role = "parameter", amp.name = "fc1.bias", amp.init = #amp.init<zeros>},
    %w2: tensor<128x64xf32> {amp.role = "parameter", amp.name = "fc2.weight", amp.init = #amp.init<kaiming_uniform>},
    %b2: tensor<64xf32> {amp.role = "parameter", amp.name = "fc2.bias", amp.init = #amp.init<zeros>},
    %w3: tensor<64x10xf32> {amp.role = "parameter", amp.name = "fc3.weight", amp.init = #amp.init<xavier_uniform>},
    %b3: tensor<10xf32> {amp.role = "parameter", amp.name = "fc3.bias", amp.init = #amp.init<zeros>},
    %v_w1: tensor<64x128xf32> {amp.role = "optimizer_state", amp.name = "fc1.weight.velocity", amp.init = #amp.init<zeros>},
    %v_b1: tensor<128xf32> {amp.role = "optimizer_state", amp.name = "fc1.bias.velocity", amp.init = #amp.init<zeros>},
    %v_w2: tensor<128x64xf32> {amp.role = "optimizer_state", amp.name = "fc2.weight.velocity", amp.init = #amp.init<zeros>},
    %v_b2: tensor<64xf32> {amp.role = "optimizer_state", amp.name = "fc2.bias.velocity", amp.init = #amp.init<zeros>},
    %v_w3: tensor<64x10xf32> {amp.role = "optimizer_state", amp.name = "fc3.weight.velocity", amp.init = #amp.init<zeros>},
    %v_b3: tensor<10xf32> {amp.role = "optimizer_state", amp.name = "fc3.bias.velocity", amp.init = #amp.init<zeros>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.05>},
    %images: tensor<?x64xf32> {amp.role = "batch", amp.name = "images"},
    %labels: tensor<?xi64> {amp.role = "batch", amp.name = "labels"})
    -> (tensor<64x128xf32> {amp.updates = "fc1.weight"},
        tensor<128xf32> {amp.updates = "fc1.bias"},
        tensor<128x64xf32> {amp.updates = "fc2.weight"},
        tensor<64xf32> {amp.updates = "fc2.bias"},
        tensor<64x10xf32> {amp.updates = "fc3.weight"},
        tensor<10xf32> {amp.updates = "fc3.bias"},
        tensor<64x128xf32> {amp.updates = "fc1.weight.velocity"},
        tensor<128xf32> {amp.updates = "fc1.bias.velocity"},
        tensor<128x64xf32> {amp.updates = "fc2.weight.velocity"},
        tensor<64xf32> {amp.updates = "fc2.bias.velocity"},
        tensor<64x10xf32> {amp.updates = "fc3.weight.velocity"},
        tensor<10xf32> {amp.updates = "fc3.bias.velocity"},
        tensor<f32> {amp.metric = "loss"},
        tensor<f32> {amp.metric = "accuracy"},
        tensor<?x10xf32> {amp.prediction = "logits"}) {
  // Forward.
  %h1 = train.linear %images, %w1, %b1 : (tensor<?x64xf32>, tensor<64x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
  %a1 = train.relu %h1 : tensor<?x128xf32>
  %h2 = train.linear %a1, %w2, %b2 : (tensor<?x128xf32>, tensor<128x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %a2 = train.relu %h2 : tensor<?x64xf32>
  %logits = train.linear %a2, %w3, %b3 : (tensor<?x64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  %loss = train.cross_entropy %logits, %labels : (tensor<?x10xf32>, tensor<?xi64>) -> tensor<f32>

  // Accuracy: the share of rows whose largest logit is the label's.
  %best = train.reduce_max %logits {dims = array<i64: 1>, keep_dims} : (tensor<?x10xf32>) -> tensor<?x1xf32>
  %is_best = train.compare ge, %logits, %best : (tensor<?x10xf32>, tensor<?x1xf32>) -> tensor<?x10xi1>
  %hot = train.one_hot %labels : (tensor<?xi64>) -> tensor<?x10xf32>
  %zero = train.constant dense<0.0> : tensor<f32>
  %hits = train.select %is_best, %hot, %zero : (tensor<?x10xi1>, tensor<?x10xf32>, tensor<f32>) -> tensor<?x10xf32>
  %hit = train.reduce_sum %hits {dims = array<i64: 1>} : (tensor<?x10xf32>) -> tensor<?xf32>
  %accuracy = train.reduce_mean %hit {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>

  // Backward, and the update.
  %g:6 = train.gradients %loss wrt(%w1, %b1, %w2, %b2, %w3, %b3)
      : (tensor<f32>, tensor<64x128xf32>, tensor<128xf32>, tensor<128x64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>)
      -> (tensor<64x128xf32>, tensor<128xf32>, tensor<128x64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>)
  %n_w1, %n_v_w1 = train.sgd %w1, %g#0, %lr, %v_w1 {momentum = 0.9 : f64} : (tensor<64x128xf32>, tensor<64x128xf32>, tensor<f32>, tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>)
  %n_b1, %n_v_b1 = train.sgd %b1, %g#1, %lr, %v_b1 {momentum = 0.9 : f64} : (tensor<128xf32>, tensor<128xf32>, tensor<f32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
  %n_w2, %n_v_w2 = train.sgd %w2, %g#2, %lr, %v_w2 {momentum = 0.9 : f64} : (tensor<128x64xf32>, tensor<128x64xf32>, tensor<f32>, tensor<128x64xf32>) -> (tensor<128x64xf32>, tensor<128x64xf32>)
  %n_b2, %n_v_b2 = train.sgd %b2, %g#3, %lr, %v_b2 {momentum = 0.9 : f64} : (tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  %n_w3, %n_v_w3 = train.sgd %w3, %g#4, %lr, %v_w3 {momentum = 0.9 : f64} : (tensor<64x10xf32>, tensor<64x10xf32>, tensor<f32>, tensor<64x10xf32>) -> (tensor<64x10xf32>, tensor<64x10xf32>)
  %n_b3, %n_v_b3 = train.sgd %b3, %g#5, %lr, %v_b3 {momentum = 0.9 : f64} : (tensor<10xf32>, tensor<10xf32>, tensor<f32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>)
  return %n_w1, %n_b1, %n_w2, %n_b2, %n_w3, %n_b3, %n_v_w1, %n_v_b1, %n_v_w2, %n_v_b2, %n_v_w3, %n_v_b3, %loss, %accuracy, %logits
      : tensor<64x128xf32>, tensor<128xf32>, tensor<128x64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>,
        tensor<64x128xf32>, tensor<128xf32>, tensor<128x64xf32>, tensor<64xf32>, tensor<64x10xf32>, tensor<10xf32>,
        tensor<f32>, tensor<f32>, tensor<?x10xf32>
}
