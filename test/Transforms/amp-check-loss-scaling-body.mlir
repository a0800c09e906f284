// An operation whose region takes its operands and yields its results: the factor
// goes in and comes out.
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=toy.manual=body})'

func.func @through(%x: tensor<4x4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4x4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %scaled = amp.scale %seed by %s : tensor<f32>
  %dw, %y = "toy.manual"(%x, %scaled) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<f32>):
    %c = train.broadcast %b like %a {dims = array<i64: 0, 1>} : (tensor<f32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = train.matmul %a, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    "toy.return"(%d, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
  }) : (tensor<4x4xf32>, tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  %u, %finite = amp.unscale %dw by %s : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  %sum = train.add %u, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %sum : tensor<4x4xf32>
}

// -----

func.func @stays_scaled(%x: tensor<4x4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<f32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note@below {{the loss scale enters here}}
  %scaled = amp.scale %seed by %s : tensor<f32>
  // expected-error@below {{the result 0 is multiplied by loss_scale, expected an unscaled value}}
  // expected-note@below {{the factor passes through this 'toy.manual'}}
  %y = "toy.manual"(%x, %scaled) ({
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<f32>):
    "toy.return"(%b) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
