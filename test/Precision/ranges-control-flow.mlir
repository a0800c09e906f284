// Intervals of values in control flow, and values that depend on a seed.
//
// RUN: amp-test-opt %s --test-value-ranges --allow-unregistered-dialect --verify-diagnostics -o /dev/null

// Either branch.
func.func @branches(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@below {{[-1, 3] or NaN}}
  %r = scf.if %c -> tensor<4xf32> {
    // expected-remark@below {{[-1, 1] or NaN}}
    %a = train.tanh %x : tensor<4xf32>
    scf.yield %a : tensor<4xf32>
  } else {
    // expected-remark@below {{[2, 3] or NaN}}
    %b = train.clip %x {min = 2.0 : f64, max = 3.0 : f64} : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The interval covers the initial value and the yielded value for any number of
// iterations.
func.func @stable_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark@below {{[-2, 0.5] or NaN}}
  %init = train.clip %x {min = -2.0 : f64, max = 0.5 : f64} : tensor<4xf32>
  // expected-remark@below {{[-2, 0.5] or NaN}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %init) -> tensor<4xf32> {
    // expected-remark@below {{[-0.964029, 0.462118] or NaN}}
    %z = train.tanh %y : tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A bound that keeps moving becomes infinite. The other bound stays.
func.func @growing_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark@below {{[1, 1]}}
  %one = train.constant dense<1.0> : tensor<4xf32>
  // expected-remark@below {{[1, inf]}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %one) -> tensor<4xf32> {
    // expected-remark@below {{[2, inf]}}
    %z = train.add %y, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // expected-remark@below {{[2, inf]}}
    %m = train.maximum %z, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %m : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Values that change places settle after as many sweeps as there are values.
func.func @rotating_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark@below {{[1, 1]}}
  %a = train.constant dense<1.0> : tensor<4xf32>
  // expected-remark@below {{[2, 2]}}
  %b = train.constant dense<2.0> : tensor<4xf32>
  // expected-remark@below {{[3, 3]}}
  %c = train.constant dense<3.0> : tensor<4xf32>
  // expected-remark@below {{[1, 3], [1, 3], [1, 3]}}
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %a, %v = %b, %w = %c) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    scf.yield %v, %w, %u : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// The query starts inside two nested loops.
func.func @nested_loops(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark@below {{[0, 1] or NaN}}
  %init = train.sigmoid %x : tensor<4xf32>
  // expected-remark@below {{[0, 1] or NaN}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %init) -> tensor<4xf32> {
    // expected-remark@below {{[0, 1] or NaN}}
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%z = %y) -> tensor<4xf32> {
      // expected-remark@below {{[0, 1] or NaN}}
      %q = train.square %z : tensor<4xf32>
      // expected-remark@below {{[0, 1] or NaN}}
      %m = train.minimum %q, %init : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      scf.yield %m : tensor<4xf32>
    }
    // expected-remark@below {{[-1, 0] or NaN}}
    %t = train.neg %s : tensor<4xf32>
    // expected-remark@below {{[0, 1] or NaN}}
    %u = train.abs %t : tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

func.func @while(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@below {{[-1, 1] or NaN}}
  %init = train.tanh %x : tensor<4xf32>
  // expected-remark@below {{[0, 1] or NaN}}
  %r = scf.while (%y = %init) : (tensor<4xf32>) -> tensor<4xf32> {
    %c = "test.condition"() : () -> i1
    // expected-remark@below {{[0, 1] or NaN}}
    %a = train.abs %y : tensor<4xf32>
    scf.condition(%c) %a : tensor<4xf32>
  } do {
  ^bb0(%z: tensor<4xf32>):
    // expected-remark@below {{[-1, 0] or NaN}}
    %n = train.neg %z : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The intervals of block arguments are unknown.
func.func @blocks(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark@below {{[-1, 1] or NaN}}
  %a = train.tanh %x : tensor<4xf32>
  cf.br ^bb1(%a : tensor<4xf32>)
^bb1(%y: tensor<4xf32>):
  // expected-remark@below {{[-inf, inf] or NaN}}
  %r = train.neg %y : tensor<4xf32>
  return %r : tensor<4xf32>
}

// A seed reaches values through operands, loops, conditions and blocks.
func.func @seeds(%x: tensor<f32>, %n: index, %i1: i1) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-remark@below {{[-1, 1] or NaN}}
  %before = train.tanh %x : tensor<f32>
  // expected-remark@below {{[-inf, inf] or NaN of a seed}}
  %seed = amp.gradient_seed "loss" : tensor<f32>
  // expected-remark@below {{[-1, 1] or NaN of a seed}}
  %t = train.tanh %seed : tensor<f32>
  // expected-remark@below {{[0, 0]}}
  %zero = train.constant dense<0.0> : tensor<f32>
  // expected-remark@below {{[-1, 1] or NaN of a seed, [0, 0] of a seed}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%y = %zero, %z = %zero) -> (tensor<f32>, tensor<f32>) {
    // expected-remark@below {{[0, 0] of a seed}}
    %own = train.tanh %z : tensor<f32>
    scf.yield %t, %own : tensor<f32>, tensor<f32>
  }
  // expected-remark@below {{[-1, 1] or NaN}}
  %free = train.tanh %x : tensor<f32>
  %p = train.compare gt, %seed, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  // expected-remark@below {{[-1, 1] or NaN of a seed}}
  %chosen = train.select %p, %zero, %before : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  cf.cond_br %i1, ^bb1(%free : tensor<f32>), ^bb2(%t : tensor<f32>)
^bb1(%a: tensor<f32>):
  // expected-remark@below {{[-1, 1] or NaN of a seed}}
  %without = train.tanh %a : tensor<f32>
  return %without : tensor<f32>
^bb2(%b: tensor<f32>):
  // expected-remark@below {{[-1, 1] or NaN of a seed}}
  %with = train.tanh %b : tensor<f32>
  return %with : tensor<f32>
}
