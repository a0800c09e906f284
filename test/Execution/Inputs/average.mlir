// One layer, and the average of its weights, which reads their update.
func.func @step(
    %w: tensor<4x3xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_uniform>},
    %v: tensor<4x3xf32> {amp.role = "optimizer_state", amp.name = "v", amp.init = #amp.init<zeros>},
    %average: tensor<4x3xf32> {amp.role = "model_state", amp.name = "average", amp.init = #amp.init<zeros>},
    %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"},
    %labels: tensor<?xi64> {amp.role = "batch", amp.name = "y"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.1>})
    -> (tensor<4x3xf32> {amp.updates = "w"}, tensor<4x3xf32> {amp.updates = "v"},
        tensor<4x3xf32> {amp.updates = "average"}, tensor<f32> {amp.metric = "loss"}, tensor<f32> {amp.metric = "momentum"}) {
  %logits = train.matmul %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %loss = train.cross_entropy %logits, %labels : (tensor<?x3xf32>, tensor<?xi64>) -> tensor<f32>
  %grad = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %new, %velocity = train.sgd %w, %grad, %lr, %v {momentum = 0.9 : f64} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  %half = train.constant dense<0.5> : tensor<f32>
  %old = train.mul %average, %half : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %part = train.mul %new, %half : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %next = train.add %old, %part : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %momentum = train.reduce_sum %velocity {dims = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  return %new, %velocity, %next, %loss, %momentum : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>
}
