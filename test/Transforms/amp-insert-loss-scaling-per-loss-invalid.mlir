// Steps that cannot have a scale for each loss.
// RUN: amp-opt %s --amp-insert-loss-scaling=per-loss --split-input-file --verify-diagnostics -o /dev/null

// With a scale for each loss, each gradient must depend on one loss.
func.func @gradient_of_two_losses(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  // expected-note@below {{it depends on this seed}}
  %a = amp.gradient_seed "a" : tensor<f32>
  // expected-note@below {{it depends on this seed}}
  %b = amp.gradient_seed "b" : tensor<f32>
  %ga = train.mul %w, %a : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %gb = train.mul %w, %b : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error@below {{gives a gradient of several losses that have a scale each, expected gradients of one loss that are added behind 'amp.gradient_of'}}
  %g = train.add %ga, %gb {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

func.func @loss_without_gradients(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %a = amp.gradient_seed "a" : tensor<f32>
  // expected-error@below {{has a scale of its own, but no gradient depends on it alone}}
  %b = amp.gradient_seed "b" : tensor<f32>
  %g = train.mul %w, %a {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %n = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}
