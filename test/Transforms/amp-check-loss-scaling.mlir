// The pass accepts valid steps, does not change them, and counts its proofs.
// RUN: amp-opt %s --amp-check-loss-scaling=linear=foreign.* --allow-unregistered-dialect -o %t
// RUN: amp-opt %s --allow-unregistered-dialect | diff %t -
// RUN: amp-opt %s --amp-check-loss-scaling=linear=foreign.* --allow-unregistered-dialect --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s
// RUN: not amp-opt %s --amp-check-loss-scaling --allow-unregistered-dialect -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'foreign.sum' op has an operand that is multiplied by loss_scale

// A foreign operation that the option declares linear.
// CHECK: LossScaleProved
// CHECK-SAME: Function=declared_linear
// CHECK-SAME: ScaledValues=3
// CHECK-SAME: UnscaledGradients=1
func.func @declared_linear(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %h = "foreign.sum"(%g) : (tensor<4xf32>) -> tensor<4xf32>
  %u, %finite = amp.unscale %h by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// The norm of scaled gradients, clipped at max_norm times the scale, and divided
// by hand: legal, since the exponents agree.
// CHECK: LossScaleProved
// CHECK-SAME: Function=clip_at_the_scaled_norm
func.func @clip_at_the_scaled_norm(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %q = train.square %g : tensor<4xf32>
  %sum = train.reduce_sum %q {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<f32>
  %norm = train.sqrt %sum : tensor<f32>
  %one = train.constant dense<1.0> : tensor<f32>
  %bound = train.mul %one, %scale : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %larger = train.maximum %norm, %bound : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %ratio = train.div %bound, %larger : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %clipped = train.mul %g, %ratio : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %inverse = train.reciprocal %scale : tensor<f32>
  %u = train.mul %clipped, %inverse : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %u : tensor<4xf32>
}

// Accumulation over micro-batches under one scale, from zero.
// CHECK: LossScaleProved
// CHECK-SAME: Function=accumulate
func.func @accumulate(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}, %lb: index, %ub: index, %step: index) -> tensor<4xf32> {
  %zero = train.constant dense<0.0> : tensor<4xf32>
  %sum = scf.for %i = %lb to %ub step %step iter_args(%acc = %zero) -> tensor<4xf32> {
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %s = amp.scale %seed by %scale : tensor<f32>
    %g = train.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %more = train.add %acc, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %more : tensor<4xf32>
  }
  %u, %finite = amp.unscale %sum by %scale : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// A loop of steps, each with the scale of the previous one.
// CHECK: LossScaleProved
// CHECK-SAME: Function=loop_of_steps
func.func @loop_of_steps(%x: tensor<f32>, %scale: tensor<f32> {amp.name = "loss_scale"}, %t: tensor<i32>, %h: tensor<i32>,
                         %lb: index, %ub: index, %step: index) -> (tensor<f32>, tensor<f32>) {
  %r:4 = scf.for %i = %lb to %ub step %step iter_args(%w = %x, %s = %scale, %a = %t, %b = %h)
      -> (tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %seed = amp.gradient_seed "loss" : tensor<f32>
    %scaled = amp.scale %seed by %s : tensor<f32>
    %g = train.mul %w, %scaled : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %u, %finite = amp.unscale %g by %s : (tensor<f32>) -> (tensor<f32>)
    %ok = tensor.extract %finite[] : tensor<i1>
    %new = scf.if %ok -> tensor<f32> {
      %d = train.sub %w, %u : (tensor<f32>, tensor<f32>) -> tensor<f32>
      scf.yield %d : tensor<f32>
    } else {
      scf.yield %w : tensor<f32>
    }
    %next, %na, %nb = amp.update_scale %s, %a, %b, %finite
    scf.yield %new, %next, %na, %nb : tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// Scaled in the caller, unscaled in a function that gets the scale as well.
// CHECK: LossScaleProved
// CHECK-SAME: Function=across_calls
func.func @across_calls(%x: tensor<f32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<f32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = call @enter(%seed, %scale) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %g = train.mul %x, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %u = call @leave(%g, %scale) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %u : tensor<f32>
}
func.func private @enter(%x: tensor<f32>, %scale: tensor<f32>) -> tensor<f32> {
  %0 = amp.scale %x by %scale : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @leave(%g: tensor<f32>, %scale: tensor<f32>) -> tensor<f32> {
  %u, %finite = amp.unscale %g by %scale : (tensor<f32>) -> (tensor<f32>)
  return %u : tensor<f32>
}

// One function is called with unscaled and with scaled values.
// CHECK: LossScaleProved
// CHECK-SAME: Function=called_twice
func.func @called_twice(%x: tensor<f32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<f32> {
  %y = call @twice(%x) : (tensor<f32>) -> tensor<f32>
  %s = amp.scale %y by %scale : tensor<f32>
  %g = call @twice(%s) : (tensor<f32>) -> tensor<f32>
  %u, %finite = amp.unscale %g by %scale : (tensor<f32>) -> (tensor<f32>)
  return %u : tensor<f32>
}
func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
  %0 = train.add %x, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// A function without a loss scale.
// CHECK-NOT: Function=plain
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
