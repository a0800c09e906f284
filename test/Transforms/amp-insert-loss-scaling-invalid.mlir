// Steps that lack a part, or that have conflicting parts.
//
// RUN: amp-opt %s --amp-insert-loss-scaling --split-input-file --verify-diagnostics -o /dev/null
//
// One wrong option each. No diagnostic names a file or prints a module.
// RUN: echo 'module {}' > %t.mlir
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=mode=static 2>&1 | FileCheck %s --check-prefix=MODE
// MODE: error: amp-insert-loss-scaling: unknown mode 'static', expected dynamic, layerwise, none or a number
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=linear=toy.dot=sum 2>&1 | FileCheck %s --check-prefix=LINEAR
// LINEAR: error: amp-insert-loss-scaling: expected 'linear' to be a list of globs, {{.*}}, got 'toy.dot=sum'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=policy=none-such 2>&1 | FileCheck %s --check-prefix=POLICY
// POLICY: error: {{.*}}none-such
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=mode=0 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=mode=-8 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=mode=nan 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=mode=1e39 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=mode=1e-40 2>&1 | FileCheck %s --check-prefix=SCALE
// SCALE: error: amp-insert-loss-scaling: the scale must be positive, and it and its reciprocal finite in f32, got {{0|-8|nan|1e39|1e-40}}
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise scaler=apex' 2>&1 | FileCheck %s --check-prefix=LAYER-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise growth-interval=9' 2>&1 | FileCheck %s --check-prefix=LAYER-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise hysteresis=2' 2>&1 | FileCheck %s --check-prefix=LAYER-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise hysteresis-refill=growth' 2>&1 | FileCheck %s --check-prefix=LAYER-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise after-backoff=hold' 2>&1 | FileCheck %s --check-prefix=LAYER-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise growth-guard=off' 2>&1 | FileCheck %s --check-prefix=LAYER-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise interval-rule=equal' 2>&1 | FileCheck %s --check-prefix=LAYER-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise per-loss' 2>&1 | FileCheck %s --check-prefix=LAYER-OTHER
// LAYER-OTHER: error: amp-insert-loss-scaling: '{{scaler|growth-interval|hysteresis|hysteresis-refill|after-backoff|growth-guard|interval-rule|per-loss}}' does not apply to mode=layerwise, whose scales follow the gradients of their layers
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 scaler=apex' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 init-scale=8' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 growth-factor=4' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 backoff-factor=0.25' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 growth-interval=9' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 min-scale=2' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 max-scale=2' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 hysteresis=2' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 hysteresis-refill=growth' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 after-backoff=hold' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 growth-guard=off' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 interval-rule=equal' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 check=both' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 layer-target=8' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 per-loss' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 guard-model-state' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 count-skipped' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 tracker-metrics' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 check=foo' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 scaler=foo' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=1024 growth-factor=0.5' 2>&1 | FileCheck %s --check-prefix=CONSTANT-OTHER
// CONSTANT-OTHER: error: amp-insert-loss-scaling: '{{scaler|init-scale|growth-factor|backoff-factor|growth-interval|min-scale|max-scale|hysteresis|hysteresis-refill|after-backoff|growth-guard|interval-rule|check|layer-target|per-loss|tracker-metrics|guard-model-state|count-skipped}}' does not apply to a constant scale, which no step changes or checks
// Very low numbers are errors and do not select the default.
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=init-scale=-1e308 2>&1 | FileCheck %s --check-prefix=INIT
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=growth-factor=-1.7e308 2>&1 | FileCheck %s --check-prefix=GROWTH
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=growth-interval=-2000000000 2>&1 | FileCheck %s --check-prefix=INTERVAL
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=hysteresis=-2147483647 2>&1 | FileCheck %s --check-prefix=HYSTERESIS
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise init-scale=3' 2>&1 | FileCheck %s --check-prefix=LAYER-POWER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise min-scale=0.3' 2>&1 | FileCheck %s --check-prefix=LAYER-POWER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise max-scale=inf' 2>&1 | FileCheck %s --check-prefix=LAYER-POWER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise min-scale=0' 2>&1 | FileCheck %s --check-prefix=LAYER-POWER
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise init-scale=1e-40' 2>&1 | FileCheck %s --check-prefix=INIT
// LAYER-POWER: error: amp-insert-loss-scaling: expected '{{init|min|max}}-scale' to be a power of two from 2^-126 to 2^126, got {{3|'0.3'|'inf'|'0'}}
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise growth-factor=1' 2>&1 | FileCheck %s --check-prefix=LAYER-GROWTH
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise growth-factor=3' 2>&1 | FileCheck %s --check-prefix=LAYER-GROWTH
// LAYER-GROWTH: error: amp-insert-loss-scaling: expected 'growth-factor' to be a power of two from 2 to 2^126, got '{{1|3}}'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise backoff-factor=1' 2>&1 | FileCheck %s --check-prefix=LAYER-BACKOFF
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise backoff-factor=0.3' 2>&1 | FileCheck %s --check-prefix=LAYER-BACKOFF
// LAYER-BACKOFF: error: amp-insert-loss-scaling: expected 'backoff-factor' to be a power of two from 2^-126 to 0.5, got '{{1|0.3}}'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise init-scale=4 max-scale=2' 2>&1 | FileCheck %s --check-prefix=LAYER-BETWEEN
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise init-scale=4 min-scale=8' 2>&1 | FileCheck %s --check-prefix=LAYER-BETWEEN
// LAYER-BETWEEN: error: amp-insert-loss-scaling: expected 'init-scale' to lie between 'min-scale' and 'max-scale', got 4, {{1.52588e-05 and 2|8 and 1.09951e\+12}}
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise layer-target=0' 2>&1 | FileCheck %s --check-prefix=LAYER-TARGET
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise layer-target=nan' 2>&1 | FileCheck %s --check-prefix=LAYER-TARGET
// LAYER-TARGET: error: amp-insert-loss-scaling: expected 'layer-target' to be a positive number, got '{{0|nan}}'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='layer-target=8' 2>&1 | FileCheck %s --check-prefix=TARGET-ALONE
// TARGET-ALONE: error: amp-insert-loss-scaling: 'layer-target' does not apply to mode=dynamic, which has one scale for all layers
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='mode=layerwise check=some' 2>&1 | FileCheck %s --check-prefix=LAYER-CHECK
// LAYER-CHECK: error: amp-insert-loss-scaling: expected 'check' to be scaled or both, got 'some'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=init-scale=0 2>&1 | FileCheck %s --check-prefix=INIT
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=init-scale=inf 2>&1 | FileCheck %s --check-prefix=INIT
// INIT: error: amp-insert-loss-scaling: expected 'init-scale' to be positive and, with its reciprocal, finite in f32, got
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=growth-factor=1 2>&1 | FileCheck %s --check-prefix=GROWTH
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=growth-factor=1.00000001 2>&1 | FileCheck %s --check-prefix=GROWTH
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=growth-factor=inf 2>&1 | FileCheck %s --check-prefix=GROWTH
// GROWTH: error: amp-insert-loss-scaling: expected 'growth-factor' to be a number greater than 1, got
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=backoff-factor=1 2>&1 | FileCheck %s --check-prefix=BACKOFF
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=backoff-factor=0 2>&1 | FileCheck %s --check-prefix=BACKOFF
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=backoff-factor=1e-60 2>&1 | FileCheck %s --check-prefix=BACKOFF
// BACKOFF: error: amp-insert-loss-scaling: expected 'backoff-factor' to be a number between 0 and 1, got
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=growth-interval=0 2>&1 | FileCheck %s --check-prefix=INTERVAL
// INTERVAL: error: amp-insert-loss-scaling: expected 'growth-interval' to be a positive integer, got '{{0|-2000000000|often}}'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=hysteresis=0 2>&1 | FileCheck %s --check-prefix=HYSTERESIS
// HYSTERESIS: error: amp-insert-loss-scaling: expected 'hysteresis' to be a positive integer, got '{{0|-2147483647}}'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=min-scale=-1 2>&1 | FileCheck %s --check-prefix=MIN
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling='min-scale=2 max-scale=1' 2>&1 | FileCheck %s --check-prefix=MIN
// MIN: error: amp-insert-loss-scaling: expected 'min-scale' to be {{a number of at least 0, got '-1'|at most 'max-scale', got 2 and 1}}
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=max-scale=1024 2>&1 | FileCheck %s --check-prefix=BETWEEN
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=init-scale=0.5 2>&1 | FileCheck %s --check-prefix=BETWEEN
// BETWEEN: error: amp-insert-loss-scaling: expected 'init-scale' to lie between 'min-scale' and 'max-scale', got
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=scaler=jax 2>&1 | FileCheck %s --check-prefix=SCALER
// SCALER: error: amp-insert-loss-scaling: unknown scaler 'jax', expected amp, pytorch, apex, deepspeed, megatron, tf-keras, keras, mxnet, paddle
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=hysteresis-refill=never 2>&1 | FileCheck %s --check-prefix=REFILL
// REFILL: error: amp-insert-loss-scaling: expected 'hysteresis-refill' to be clean or growth, got 'never'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=after-backoff=stop 2>&1 | FileCheck %s --check-prefix=AFTER
// AFTER: error: amp-insert-loss-scaling: expected 'after-backoff' to be count, hold or refill, got 'stop'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=growth-guard=yes 2>&1 | FileCheck %s --check-prefix=GUARD
// GUARD: error: amp-insert-loss-scaling: expected 'growth-guard' to be on or off, got 'yes'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=interval-rule=less 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: error: amp-insert-loss-scaling: expected 'interval-rule' to be at-least or equal, got 'less'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=check=none 2>&1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: error: amp-insert-loss-scaling: expected 'check' to be scaled or both, got 'none'
// RUN: not amp-opt %t.mlir --amp-insert-loss-scaling=growth-interval=often 2>&1 | FileCheck %s --check-prefix=INTERVAL

// expected-error@below {{the step has gradients but no gradient seed; expected an amp.gradient_seed where the backward pass starts, and a loss that depends on parameters}}
func.func @no_seed(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %g = train.neg %w {amp.gradient_of = ["w"]} : tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// expected-error@below {{the step has a gradient seed but no gradients; expected 'amp.gradient_of' on the operations that give the gradients of parameters}}
func.func @no_gradients(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %w, %seed : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

func.func @f64_seed(%w: tensor<4xf64> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf64> {amp.updates = "w"}) {
  // expected-error@below {{loss scaling needs a seed of type tensor<f32>, got 'tensor<f64>'}}
  %seed = amp.gradient_seed "loss" : tensor<f64>
  %g = train.mul %w, %seed {amp.gradient_of = ["w"]} : (tensor<4xf64>, tensor<f64>) -> tensor<4xf64>
  return %g : tensor<4xf64>
}

// -----

// expected-error@below {{expected a step with a single block; control flow must be structured (scf)}}
func.func @several_blocks(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %w, %seed {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  cf.br ^bb1
^bb1:
  return %g : tensor<4xf32>
}

// -----

func.func @gradient_is_no_float(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-error@below {{expected a gradient to be a ranked tensor of floats, got 'tensor<4xi1>'}}
  %g = train.compare gt, %w, %seed {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi1>
  %n = train.select %g, %w, %w : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}

// -----

func.func @gradient_is_a_scalar(%w: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-error@below {{expected a gradient to be a ranked tensor of floats, got 'f32'}}
  %g = tensor.extract %seed[] {amp.gradient_of = ["w"]} : tensor<f32>
  %n = tensor.from_elements %g : tensor<f32>
  return %n : tensor<f32>
}

// -----

// Without its mark, a scaled gradient would reach its optimizer.
func.func @unmarked_gradient(
    %a: tensor<4xf32> {amp.role = "parameter", amp.name = "a"},
    // expected-note@below {{no gradient of "b" is marked, although its update depends on this; if a pass dropped 'amp.gradient_of' with the operation that had it, mark the gradient by position, as 'amp-import-step' reads it}}
    %b: tensor<4xf32> {amp.role = "parameter", amp.name = "b"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<4xf32> {amp.updates = "a"}, tensor<4xf32> {amp.updates = "b"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-error@below {{depends on a gradient seed and is used outside of the backward pass, where it would still be scaled; expected 'amp.gradient_of' here, or on the gradient that is computed from it}}
  %d = train.broadcast %seed {dims = array<i64: 0>} : (tensor<f32>) -> tensor<4xf32>
  %g = train.mul %a, %d {amp.gradient_of = ["a"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a1 = train.sgd %a, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // expected-note@below {{used here}}
  %b1 = train.sgd %b, %d, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a1, %b1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The gradient of an activation would be published scaled.
func.func @published_intermediate(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.metric = "dy"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-error@below {{depends on a gradient seed and is used outside of the backward pass}}
  %dy = train.mse_grad %w, %x, %seed : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %g = train.mul %x, %dy {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-note@below {{used here}}
  return %g, %dy : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@below {{the step updates argument 1, "m", which has no 'amp.role'; expected one that says whether an overflow guards it}}
func.func @state_without_role(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
    %m: tensor<4xf32> {amp.name = "m"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "m"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %w, %seed {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %g, %g : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@below {{the step has gradients but updates no parameter; expected a result with 'amp.updates' that names an argument with 'amp.role' = "parameter"}}
func.func @no_roles(%w: tensor<4xf32>) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %w, %seed {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// expected-error@below {{cannot add the argument 'growth_tracker': argument 1 has that 'amp.name'}}
func.func @name_clash(
    %w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
    %t: tensor<4xf32> {amp.role = "batch", amp.name = "growth_tracker"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %w, %seed {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// -----

// expected-error@below {{cannot add the result 'skipped': result 1 has that 'amp.metric'}}
func.func @metric_clash(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.metric = "skipped"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %w, %seed {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %g, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// A role on an argument that nothing updates.
// expected-error@below {{argument 1, "m", has 'amp.role' = "optimizer_state", but the step does not update it; expected a result with 'amp.updates' that names it, or another role}}
func.func @state(%w: tensor<2xf32> {amp.name = "w", amp.role = "parameter"}, %m: tensor<2xf32> {amp.name = "m", amp.role = "optimizer_state"}, %x: tensor<2xf32> {amp.name = "x", amp.role = "batch"})
    -> (tensor<2xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %x, %seed {amp.gradient_of = ["w"]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %s = train.add %g, %m : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %new = train.sub %w, %s : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %new : tensor<2xf32>
}

// -----

// A gradient that no update reads.
// expected-error@below {{argument 1, "v", has 'amp.role' = "parameter" and a gradient, but the step does not update it}}
func.func @parameter(%w: tensor<2xf32> {amp.name = "w", amp.role = "parameter"}, %v: tensor<2xf32> {amp.name = "v", amp.role = "parameter"}, %x: tensor<2xf32> {amp.name = "x", amp.role = "batch"})
    -> (tensor<2xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %x, %seed {amp.gradient_of = ["w"]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %h = train.mul %v, %seed {amp.gradient_of = ["v"]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %new = train.sub %w, %g : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %new : tensor<2xf32>
}
