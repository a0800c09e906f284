// The check of a step in which each layer has its own scale.
// RUN: amp-opt %s --amp-check-loss-scaling --split-input-file --verify-diagnostics -o /dev/null

// A valid step. Gradients move between scales before they are added. Each is
// unscaled by its own scale, which adapts to its own magnitude and flag.
func.func @right(%x: tensor<4xf32>, %a: tensor<f32> {amp.name = "a"}, %b: tensor<f32> {amp.name = "b"})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %a : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %h = amp.rescale %g from %a to %b : tensor<4xf32>
  %i = train.mul %x, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %back = amp.rescale %i from %b to %a : tensor<4xf32>
  %sum = train.add %g, %back : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %ua, %fa = amp.unscale %sum by %a : (tensor<4xf32>) -> (tensor<4xf32>)
  %ub, %fb = amp.unscale %i by %b : (tensor<4xf32>) -> (tensor<4xf32>)
  %ma = amp.max_magnitude %g, %sum : tensor<4xf32>, tensor<4xf32>
  %mb = amp.max_magnitude %h, %i : tensor<4xf32>, tensor<4xf32>
  %na = amp.adapt_scale %a, %ma, %fa
  %nb = amp.adapt_scale %b, %mb, %fb
  return %ua, %ub, %na, %nb : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
}

// -----

// Zeros carry every scale.
func.func @zeros(%a: tensor<f32> {amp.name = "a"}, %b: tensor<f32> {amp.name = "b"}) -> tensor<4xf32> {
  %zeros = train.constant dense<0.0> : tensor<4xf32>
  %r = amp.rescale %zeros from %a to %b : tensor<4xf32>
  %u, %f = amp.unscale %r by %a : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

func.func @no_rescale(%x: tensor<4xf32>, %a: tensor<f32> {amp.name = "a"}, %b: tensor<f32> {amp.name = "b"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %a : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %h = amp.rescale %g from %a to %b : tensor<4xf32>
  // expected-error @below {{operand 0 is multiplied by a, but operand 1 by b, expected values with one factor}}
  %sum = train.add %g, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %u, %f = amp.unscale %sum by %a : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

func.func @from_another(%x: tensor<4xf32>, %a: tensor<f32> {amp.name = "a"}, %b: tensor<f32> {amp.name = "b"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %a : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-error @below {{the gradient is multiplied by a, expected b}}
  %h = amp.rescale %g from %b to %a : tensor<4xf32>
  %u, %f = amp.unscale %h by %a : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

func.func @unscaled_before(%g: tensor<4xf32>, %a: tensor<f32> {amp.name = "a"}, %b: tensor<f32> {amp.name = "b"}) -> tensor<4xf32> {
  // expected-error @below {{the gradient is multiplied by 1, expected a}}
  %h = amp.rescale %g from %a to %b : tensor<4xf32>
  %u, %f = amp.unscale %h by %b : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

func.func @adapted_to_another(%x: tensor<4xf32>, %a: tensor<f32> {amp.name = "a"}, %b: tensor<f32> {amp.name = "b"}) -> (tensor<4xf32>, tensor<f32>) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %s = amp.scale %seed by %a : tensor<f32>
  // expected-note @below {{the factor passes through this 'train.mul'}}
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-note @below {{the factor passes through this 'amp.max_magnitude'}}
  %m = amp.max_magnitude %g : tensor<4xf32>
  %h = amp.rescale %g from %a to %b : tensor<4xf32>
  %u, %f = amp.unscale %h by %b : (tensor<4xf32>) -> (tensor<4xf32>)
  // expected-error @below {{the magnitude is multiplied by a, expected b}}
  %n = amp.adapt_scale %b, %m, %f
  return %u, %n : tensor<4xf32>, tensor<f32>
}

// -----

func.func @adapted_to_unscaled(%x: tensor<4xf32>, %a: tensor<f32> {amp.name = "a"}) -> (tensor<4xf32>, tensor<f32>) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %a : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %u, %f = amp.unscale %g by %a : (tensor<4xf32>) -> (tensor<4xf32>)
  // expected-note @below {{it is unscaled from here on}}
  %m = amp.max_magnitude %u : tensor<4xf32>
  // expected-error @below {{the magnitude is multiplied by 1, expected a}}
  %n = amp.adapt_scale %a, %m, %f
  return %u, %n : tensor<4xf32>, tensor<f32>
}

// -----

func.func @another_flag(%x: tensor<4xf32>, %a: tensor<f32> {amp.name = "a"}, %b: tensor<f32> {amp.name = "b"})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %a : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %h = amp.rescale %g from %a to %b : tensor<4xf32>
  // expected-note @below {{this one is missing}}
  %ua, %fa = amp.unscale %g by %a : (tensor<4xf32>) -> (tensor<4xf32>)
  %ub, %fb = amp.unscale %h by %b : (tensor<4xf32>) -> (tensor<4xf32>)
  %m = amp.max_magnitude %g : tensor<4xf32>
  // expected-error @below {{does not see the finite flag of all gradients that its scale divides, expected their conjunction}}
  %n = amp.adapt_scale %a, %m, %fb
  return %ua, %ub, %n : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}
