// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics

#id = affine_map<(i) -> (i)>
// Bodies that do not commute with the operation.
func.func @exponential(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'tensor.extract'}}
  %scalar = tensor.extract %s[] : tensor<f32>
  // expected-note @below {{the factor passes through this 'tensor.splat'}}
  %g = tensor.splat %scalar : tensor<4xf32>
  // expected-error @below {{'linalg.generic' op does in its body what does not fit: 'math.exp' operand 0 is multiplied by loss_scale}}
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%g : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %u, %finite = amp.unscale %h by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
// The product of n elements has the scale n times.
func.func @product(%x: tensor<4xf32>, %one: tensor<f32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<f32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-note @below {{the factor passes through this 'tensor.extract'}}
  %scalar = tensor.extract %s[] : tensor<f32>
  // expected-note @below {{the factor passes through this 'tensor.splat'}}
  %g = tensor.splat %scalar : tensor<4xf32>
  // expected-error @below {{it accumulates values that are multiplied by loss_scale onto one that is multiplied by 1, expected one factor}}
  %p = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%g : tensor<4xf32>) outs(%one : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %r = arith.mulf %a, %acc : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %u, %finite = amp.unscale %p by %scale : (tensor<f32>) -> (tensor<f32>)
  return %u : tensor<f32>
}
