// A linear layer with a mean loss on several ranks: the gradient is summed over
// the ranks and divided by their number, which is an argument of the check.
func.func @step(
    %w: tensor<8x4xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"},
    %target: tensor<?x4xf32> {amp.role = "batch", amp.name = "target"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<8x4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %n = train.constant dense<4.0> : tensor<f32>
  %y = train.matmul %x, %w : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %loss = train.mse %y, %target : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = train.mse_grad %y, %target, %seed : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %g = train.matmul %x, %dy {transpose_a} : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<8x4xf32>
  %sum:2 = amp.all_reduce sum %g, %loss : tensor<8x4xf32>, tensor<f32>
  %mean = train.div %sum#0, %n : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %mean_loss = train.div %sum#1, %n : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %new = train.sgd %w, %mean, %lr : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %new, %mean_loss : tensor<8x4xf32>, tensor<f32>
}
