// Constructed: what small-updates.mlir is for. The same step, but its parameters
// are stored in f16, without a master copy: they are widened for the step, which
// is all in f32, and rounded after it. No update survives.

func.func @step(
    %g1: tensor<64x1024xf16> {amp.role = "parameter", amp.name = "fc1.gain", amp.init = #amp.init<ones>},
    %g2: tensor<1024x10xf16> {amp.role = "parameter", amp.name = "fc2.gain", amp.init = #amp.init<ones>},
    %m1: tensor<64x1024xf32> {amp.role = "optimizer_state", amp.name = "fc1.gain.exp_avg", amp.init = #amp.init<zeros>},
    %m2: tensor<1024x10xf32> {amp.role = "optimizer_state", amp.name = "fc2.gain.exp_avg", amp.init = #amp.init<zeros>},
    %v1: tensor<64x1024xf32> {amp.role = "optimizer_state", amp.name = "fc1.gain.exp_avg_sq", amp.init = #amp.init<zeros>},
    %v2: tensor<1024x10xf32> {amp.role = "optimizer_state", amp.name = "fc2.gain.exp_avg_sq", amp.init = #amp.init<zeros>},
    %t: tensor<f32> {amp.role = "optimizer_state", amp.name = "step", amp.init = #amp.init<zeros>},
    %r1: tensor<64x1024xf32> {amp.role = "model_state", amp.name = "fc1.draw", amp.init = #amp.init<kaiming_uniform, value = 3.0>},
    %r2: tensor<1024x10xf32> {amp.role = "model_state", amp.name = "fc2.draw", amp.init = #amp.init<xavier_uniform>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 2.0e-4>},
    %images: tensor<?x64xf32> {amp.role = "batch", amp.name = "images"},
    %labels: tensor<?xi64> {amp.role = "batch", amp.name = "labels"})
    -> (tensor<64x1024xf16> {amp.updates = "fc1.gain"},
        tensor<1024x10xf16> {amp.updates = "fc2.gain"},
        tensor<64x1024xf32> {amp.updates = "fc1.gain.exp_avg"},
        tensor<1024x10xf32> {amp.updates = "fc2.gain.exp_avg"},
        tensor<64x1024xf32> {amp.updates = "fc1.gain.exp_avg_sq"},
        tensor<1024x10xf32> {amp.updates = "fc2.gain.exp_avg_sq"},
        tensor<f32> {amp.updates = "step"},
        tensor<64x1024xf32> {amp.updates = "fc1.draw"},
        tensor<1024x10xf32> {amp.updates = "fc2.draw"},
        tensor<f32> {amp.metric = "loss"},
        tensor<f32> {amp.metric = "accuracy"},
        tensor<?x10xf32> {amp.prediction = "logits"}) {
  // The parameters as stored.
  %g1_wide = amp.cast %g1 : tensor<64x1024xf16> to tensor<64x1024xf32>
  %g2_wide = amp.cast %g2 : tensor<1024x10xf16> to tensor<1024x10xf32>

  // Forward.
  %w1 = train.mul %g1_wide, %r1 : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %h1 = train.linear %images, %w1 : (tensor<?x64xf32>, tensor<64x1024xf32>) -> tensor<?x1024xf32>
  %a1 = train.relu %h1 : tensor<?x1024xf32>
  %w2 = train.mul %g2_wide, %r2 : (tensor<1024x10xf32>, tensor<1024x10xf32>) -> tensor<1024x10xf32>
  %logits = train.linear %a1, %w2 : (tensor<?x1024xf32>, tensor<1024x10xf32>) -> tensor<?x10xf32>
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
  %d:2 = train.gradients %loss wrt(%g1_wide, %g2_wide)
      : (tensor<f32>, tensor<64x1024xf32>, tensor<1024x10xf32>)
      -> (tensor<64x1024xf32>, tensor<1024x10xf32>)
  %one = train.constant dense<1.0> : tensor<f32>
  %new_t = train.add %t, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %n_g1, %n_m1, %n_v1 = train.adam %g1_wide, %d#0, %lr, %m1, %v1, %new_t
      : (tensor<64x1024xf32>, tensor<64x1024xf32>, tensor<f32>, tensor<64x1024xf32>, tensor<64x1024xf32>, tensor<f32>) -> (tensor<64x1024xf32>, tensor<64x1024xf32>, tensor<64x1024xf32>)
  %n_g2, %n_m2, %n_v2 = train.adam %g2_wide, %d#1, %lr, %m2, %v2, %new_t
      : (tensor<1024x10xf32>, tensor<1024x10xf32>, tensor<f32>, tensor<1024x10xf32>, tensor<1024x10xf32>, tensor<f32>) -> (tensor<1024x10xf32>, tensor<1024x10xf32>, tensor<1024x10xf32>)

  // Stored again: here the updates are lost.
  %s_g1 = amp.cast %n_g1 : tensor<64x1024xf32> to tensor<64x1024xf16>
  %s_g2 = amp.cast %n_g2 : tensor<1024x10xf32> to tensor<1024x10xf16>
  return %s_g1, %s_g2, %n_m1, %n_m2, %n_v1, %n_v2, %new_t, %r1, %r2, %loss, %accuracy, %logits
      : tensor<64x1024xf16>, tensor<1024x10xf16>, tensor<64x1024xf32>, tensor<1024x10xf32>, tensor<64x1024xf32>,
        tensor<1024x10xf32>, tensor<f32>, tensor<64x1024xf32>, tensor<1024x10xf32>, tensor<f32>, tensor<f32>,
        tensor<?x10xf32>
}
