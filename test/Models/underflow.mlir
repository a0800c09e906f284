// Constructed: gradients that f16 cannot hold. A multilayer perceptron on the UCI
// handwritten digits minimises 2^-19 times the cross-entropy, with a learning rate
// of 0.3 times 2^19, so that in exact arithmetic it learns as if neither factor
// were there. With batches of 64 rows, no gradient of a logit exceeds
// 2^-6 · 2^-19 = 2^-25, half the smallest positive number of f16: without loss
// scaling all gradients of all three layers are zero in fp16, and nothing is
// learned. Those of the parameters are mostly in [2^-27, 2^-24) and below;
// times the usual scale of 2^16 they fit. In f32 and bf16 nothing is lost.

func.func @step(
    %w1: tensor<64x64xf32> {amp.role = "parameter", amp.name = "fc1.weight", amp.init = #amp.init<kaiming_uniform>},
    %b1: tensor<64xf32> {amp.role = "parameter", amp.name = "fc1.bias", amp.init = #amp.init<zeros>},
    %w2: tensor<64x32xf32> {amp.role = "parameter", amp.name = "fc2.weight", amp.init = #amp.init<kaiming_uniform>},
    %b2: tensor<32xf32> {amp.role = "parameter", amp.name = "fc2.bias", amp.init = #amp.init<zeros>},
    %w3: tensor<32x10xf32> {amp.role = "parameter", amp.name = "fc3.weight", amp.init = #amp.init<xavier_uniform>},
    %b3: tensor<10xf32> {amp.role = "parameter", amp.name = "fc3.bias", amp.init = #amp.init<zeros>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 157286.4>},
    %images: tensor<?x64xf32> {amp.role = "batch", amp.name = "images"},
    %labels: tensor<?xi64> {amp.role = "batch", amp.name = "labels"})
    -> (tensor<64x64xf32> {amp.updates = "fc1.weight"},
        tensor<64xf32> {amp.updates = "fc1.bias"},
        tensor<64x32xf32> {amp.updates = "fc2.weight"},
        tensor<32xf32> {amp.updates = "fc2.bias"},
        tensor<32x10xf32> {amp.updates = "fc3.weight"},
        tensor<10xf32> {amp.updates = "fc3.bias"},
        tensor<f32> {amp.metric = "loss"},
        tensor<f32> {amp.metric = "accuracy"},
        tensor<?x10xf32> {amp.prediction = "logits"}) {
  // Forward.
  %h1 = train.linear %images, %w1, %b1 : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %a1 = train.relu %h1 : tensor<?x64xf32>
  %h2 = train.linear %a1, %w2, %b2 : (tensor<?x64xf32>, tensor<64x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
  %a2 = train.relu %h2 : tensor<?x32xf32>
  %logits = train.linear %a2, %w3, %b3 : (tensor<?x32xf32>, tensor<32x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
  %loss = train.cross_entropy %logits, %labels : (tensor<?x10xf32>, tensor<?xi64>) -> tensor<f32>

  // Accuracy: the share of rows whose largest logit is the label's.
  %best = train.reduce_max %logits {dims = array<i64: 1>, keep_dims} : (tensor<?x10xf32>) -> tensor<?x1xf32>
  %is_best = train.compare ge, %logits, %best : (tensor<?x10xf32>, tensor<?x1xf32>) -> tensor<?x10xi1>
  %hot = train.one_hot %labels : (tensor<?xi64>) -> tensor<?x10xf32>
  %zero = train.constant dense<0.0> : tensor<f32>
  %hits = train.select %is_best, %hot, %zero : (tensor<?x10xi1>, tensor<?x10xf32>, tensor<f32>) -> tensor<?x10xf32>
  %hit = train.reduce_sum %hits {dims = array<i64: 1>} : (tensor<?x10xf32>) -> tensor<?xf32>
  %accuracy = train.reduce_mean %hit {dims = array<i64: 0>} : (tensor<?xf32>) -> tensor<f32>

  // Backward from 2^-19 times the loss, and the update with 2^19 times the rate.
  %tiny = train.constant dense<1.9073486328125e-6> : tensor<f32>
  %objective = train.mul %loss, %tiny : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g:6 = train.gradients %objective wrt(%w1, %b1, %w2, %b2, %w3, %b3)
      : (tensor<f32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>)
      -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>)
  %n_w1 = train.sgd %w1, %g#0, %lr : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %n_b1 = train.sgd %b1, %g#1, %lr : (tensor<64xf32>, tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %n_w2 = train.sgd %w2, %g#2, %lr : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<f32>) -> tensor<64x32xf32>
  %n_b2 = train.sgd %b2, %g#3, %lr : (tensor<32xf32>, tensor<32xf32>, tensor<f32>) -> tensor<32xf32>
  %n_w3 = train.sgd %w3, %g#4, %lr : (tensor<32x10xf32>, tensor<32x10xf32>, tensor<f32>) -> tensor<32x10xf32>
  %n_b3 = train.sgd %b3, %g#5, %lr : (tensor<10xf32>, tensor<10xf32>, tensor<f32>) -> tensor<10xf32>
  return %n_w1, %n_b1, %n_w2, %n_b2, %n_w3, %n_b3, %loss, %accuracy, %logits
      : tensor<64x64xf32>, tensor<64xf32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32x10xf32>, tensor<10xf32>, tensor<f32>,
        tensor<f32>, tensor<?x10xf32>
}
