// One layer on the UCI handwritten digits: small enough to read before and
// after the training pipeline.

func.func @step(
    %w: tensor<64x10xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_uniform>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.5>},
    %images: tensor<?x64xf32> {amp.role = "batch", amp.name = "images"},
    %labels: tensor<?xi64> {amp.role = "batch", amp.name = "labels"})
    -> (tensor<64x10xf32> {amp.updates = "w"},
        tensor<f32> {amp.metric = "loss"},
        tensor<?x10xf32> {amp.prediction = "logits"}) {
  %logits = train.linear %images, %w : (tensor<?x64xf32>, tensor<64x10xf32>) -> tensor<?x10xf32>
  %loss = train.cross_entropy %logits, %labels : (tensor<?x10xf32>, tensor<?xi64>) -> tensor<f32>
  %grad = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<64x10xf32>) -> tensor<64x10xf32>
  %new = train.sgd %w, %grad, %lr : (tensor<64x10xf32>, tensor<64x10xf32>, tensor<f32>) -> tensor<64x10xf32>
  return %new, %loss, %logits : tensor<64x10xf32>, tensor<f32>, tensor<?x10xf32>
}
