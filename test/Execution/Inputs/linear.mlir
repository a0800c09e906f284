// A linear classifier of 4 features into 3 classes with SGD and momentum: small
// enough to be compiled in no time and computed again by NumPy.
func.func @step(
    %w: tensor<4x3xf32> {amp.role = "parameter", amp.name = "weight", amp.init = #amp.init<xavier_uniform>},
    %b: tensor<3xf32> {amp.role = "parameter", amp.name = "bias", amp.init = #amp.init<zeros>},
    %v: tensor<4x3xf32> {amp.role = "optimizer_state", amp.name = "velocity", amp.init = #amp.init<zeros>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.5>},
    %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"},
    %y: tensor<?xi32> {amp.role = "batch", amp.name = "y"})
    -> (tensor<4x3xf32> {amp.updates = "weight"}, tensor<3xf32> {amp.updates = "bias"},
        tensor<4x3xf32> {amp.updates = "velocity"},
        tensor<f32> {amp.metric = "loss"}, tensor<?x3xf32> {amp.prediction = "logits"}) {
  %logits = train.linear %x, %w, %b : (tensor<?x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %loss = train.cross_entropy %logits, %y : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<f32>
  %g:2 = train.gradients %loss wrt(%w, %b) : (tensor<f32>, tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  %nw, %nv = train.sgd %w, %g#0, %lr, %v {momentum = 0.9 : f64} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  %nb = train.sgd %b, %g#1, %lr : (tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %nw, %nb, %nv, %loss, %logits : tensor<4x3xf32>, tensor<3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<?x3xf32>
}
