// The largest safe scale of steps whose loops carry scaled values, and of
// selects that intervals decide.
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=stablehlo})' --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=stablehlo})' --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// Values that loops carry have the bound of a fixed point: the maximum of
// bounded values, in a loop by a rule within a loop by an interface.
// CHECK: SafeLossScale | {{.*}}Function=carried | {{.*}}Exponent=14
func.func @carried(%x: tensor<4x4xf32>, %n: index, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state", amp.init = #amp.init<constant, value = 65536.0>}) -> tensor<4x4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %start = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%outer = %start) -> (tensor<4x4xf32>) {
    %k = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %w:2 = "stablehlo.while"(%k, %outer) ({
    ^bb0(%j: tensor<i32>, %c: tensor<4x4xf32>):
      %most = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %go = "stablehlo.compare"(%j, %most) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%go) : (tensor<i1>) -> ()
    }, {
    ^bb0(%j: tensor<i32>, %c: tensor<4x4xf32>):
      %step = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %next = "stablehlo.add"(%j, %step) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %t = "stablehlo.tanh"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %three = "stablehlo.constant"() <{value = dense<3.0> : tensor<4x4xf32>}> : () -> tensor<4x4xf32>
      %f = "stablehlo.multiply"(%t, %three) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %g = "stablehlo.multiply"(%f, %start) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %m = "stablehlo.maximum"(%c, %g) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      "stablehlo.return"(%next, %m) : (tensor<i32>, tensor<4x4xf32>) -> ()
    }) : (tensor<i32>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x4xf32>)
    scf.yield %w#1 : tensor<4x4xf32>
  }
  %h = "stablehlo.convert"(%r) : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %v = "stablehlo.convert"(%h) : (tensor<4x4xf16>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %v by %s : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}

// -----

// A value that grows in each iteration has none.
// NONE-NOT: SafeLossScale {{.*}}Function=grows
func.func @grows(%n: index, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state", amp.init = #amp.init<constant, value = 65536.0>}) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %r = scf.for %i = %zero to %n step %one iter_args(%c = %sc) -> (tensor<f32>) {
    %a = "stablehlo.add"(%c, %sc) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %a : tensor<f32>
  }
  %h = "stablehlo.convert"(%r) : (tensor<f32>) -> tensor<f16>
  %v = "stablehlo.convert"(%h) : (tensor<f16>) -> tensor<f32>
  %u, %finite = amp.unscale %v by %s : (tensor<f32>) -> (tensor<f32>)
  return %u : tensor<f32>
}

// -----

// A comparison that intervals decide: the sum of exponentials is positive, so
// the derivative of its absolute value has no second term.
// CHECK: SafeLossScale | {{.*}}Function=decided | {{.*}}Exponent=15
func.func @decided(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state", amp.init = #amp.init<constant, value = 65536.0>}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %t = "stablehlo.logistic"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = "stablehlo.compare"(%t, %zero) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %up = "stablehlo.select"(%c, %b, %zero) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %down = "stablehlo.select"(%c, %zero, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum = "stablehlo.add"(%up, %down) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = "stablehlo.convert"(%sum) : (tensor<4xf32>) -> tensor<4xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4xf16>) -> tensor<4xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}
