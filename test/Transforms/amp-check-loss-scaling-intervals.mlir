// The largest safe scale of steps in another dialect, by the intervals of a
// policy.
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=stablehlo})' --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=stablehlo})' --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// The same from options.
// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{linear=stablehlo.multiply=product,stablehlo.divide=quotient,stablehlo.constant=constant,stablehlo.compare=order,stablehlo.* intervals=stablehlo.broadcast_in_dim=repeat:broadcast_dimensions,stablehlo.select=select,stablehlo.convert=convert,stablehlo.constant=constant:value})' --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=OPTIONS
//
// RUN: not amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{intervals=stablehlo.add})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WITHOUT
// RUN: not amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{intervals=stablehlo.iota=iota})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// RUN: not amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{intervals=stablehlo.add=plus})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: echo '{version: 1, intervals: ["toy.add=add:2"]}' > %t.yaml
// RUN: not amp-opt %s --allow-unregistered-dialect --split-input-file --pass-pipeline='builtin.module(amp-check-loss-scaling{policy=%t.yaml})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=POLICY

// WITHOUT: error: amp-check-loss-scaling: expected 'intervals' to be a list of globs with '=' and a rule: {{.*}}, got 'stablehlo.add'
// ATTRIBUTE: iota:ATTRIBUTE{{.*}}, got 'stablehlo.iota=iota'
// UNKNOWN: got 'stablehlo.add=plus'
// POLICY: expected 'intervals' to be a list of globs

// Hinge losses that are summed: their gradient is S or 0.
// CHECK: SafeLossScale | {{.*}}Function=hinge | {{.*}}Exponent=15, {{.*}}the initial scale 65536 may skip the first steps, expected 'init-scale=32768' of amp-insert-loss-scaling
// OPTIONS: SafeLossScale | {{.*}}Function=hinge | {{.*}}Exponent=15
func.func @hinge(%c: tensor<4xi1>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state", amp.init = #amp.init<constant, value = 65536.0>}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %g = "stablehlo.select"(%c, %b, %zero) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = "stablehlo.convert"(%g) : (tensor<4xf32>) -> tensor<4xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4xf16>) -> tensor<4xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// Softmax times the sum of a row, written out. A row has one nonzero element,
// S / 4 at most, so the bound is S / 4 and not 8 S / 4. The functions are
// called.
// CHECK: SafeLossScale | {{.*}}Function=softmax | {{.*}}Exponent=17, Remark="up to a loss scale of 2^17, all scaled f16 values that have a bound are finite for any data"
// OPTIONS-NOT: SafeLossScale {{.*}}Function=softmax
func.func private @exponentials(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %m = "stablehlo.reduce"(%x, %low) <{dimensions = array<i64: 1>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.maximum"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %zeros = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %isFinite = "stablehlo.is_finite"(%m) : (tensor<4xf32>) -> tensor<4xi1>
  %guarded = "stablehlo.select"(%isFinite, %m, %zeros) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %rows = "stablehlo.broadcast_in_dim"(%guarded) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
  %all = "stablehlo.broadcast_in_dim"(%rows) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %d = "stablehlo.subtract"(%x, %all) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = "stablehlo.exponential"(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "stablehlo.reshape"(%s) : (tensor<4xf32>) -> tensor<4x1xf32>
  return %e, %r : tensor<4x8xf32>, tensor<4x1xf32>
}
func.func @softmax(%x: tensor<4x8xf32>, %t: tensor<4xi32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state", amp.init = #amp.init<constant, value = 65536.0>}) -> tensor<4x8xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %e, %sum = call @exponentials(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>)
  %four = "stablehlo.constant"() <{value = dense<4.0> : tensor<f32>}> : () -> tensor<f32>
  %mean = "stablehlo.divide"(%sc, %four) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%mean) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<1x8xi32>
  %is = "stablehlo.broadcast_in_dim"(%i) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x8xi32>) -> tensor<4x8xi32>
  %ts = "stablehlo.broadcast_in_dim"(%t) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x8xi32>
  %c = "stablehlo.compare"(%ts, %is) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
  %hot = "stablehlo.convert"(%c) : (tensor<4x8xi1>) -> tensor<4x8xf32>
  %g = "stablehlo.multiply"(%hot, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %row = "stablehlo.reduce"(%g, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "stablehlo.reshape"(%row) : (tensor<4xf32>) -> tensor<4x1xf32>
  %q = "stablehlo.divide"(%r, %sum) : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %qs = "stablehlo.broadcast_in_dim"(%q) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %p = "stablehlo.multiply"(%qs, %e) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = "stablehlo.convert"(%p) : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return %u : tensor<4x8xf32>
}

// -----

// Each row minus the maximum of another row has no bound. The rows of the
// maxima are the columns of the values.
// NONE-NOT: SafeLossScale {{.*}}Function=transposed
func.func @transposed(%x: tensor<4x4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4x4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %m = "stablehlo.reduce"(%x, %low) <{dimensions = array<i64: 1>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.maximum"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %all = "stablehlo.broadcast_in_dim"(%m) <{broadcast_dimensions = array<i64: 1>}> : (tensor<4xf32>) -> tensor<4x4xf32>
  %d = "stablehlo.subtract"(%x, %all) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = "stablehlo.exponential"(%d) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
  %p = "stablehlo.multiply"(%b, %e) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = "stablehlo.convert"(%p) : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4x4xf16>) -> tensor<4x4xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4x4xf32>) -> (tensor<4x4xf32>)
  return %u : tensor<4x4xf32>
}

// -----

// Labels that vary along the summed dimension give more than one nonzero
// element: the sum is 8 S.
// CHECK: SafeLossScale | {{.*}}Function=many | {{.*}}Exponent=12
func.func @many(%t: tensor<4x8xi32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x8xi32>
  %c = "stablehlo.compare"(%t, %i) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
  %hot = "stablehlo.convert"(%c) : (tensor<4x8xi1>) -> tensor<4x8xf32>
  %g = "stablehlo.multiply"(%hot, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %row = "stablehlo.reduce"(%g, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %h = "stablehlo.convert"(%row) : (tensor<4xf32>) -> tensor<4xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4xf16>) -> tensor<4xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// Elements that a scatter adds: each row gets one of the four.
// CHECK: SafeLossScale | {{.*}}Function=rows | {{.*}}Exponent=15
func.func @rows(%t: tensor<4x1x1xi32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4x8xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x1xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  %g = "stablehlo.scatter"(%zero, %t, %b) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %h = "stablehlo.convert"(%g) : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return %u : tensor<4x8xf32>
}

// -----

// A loop writes the rows 1, 0, 3 and 2 of a tensor that it divides by. The check
// ignores the initial zeros.
// CHECK: SafeLossScale | {{.*}}Function=stacked | {{.*}}Exponent=15
func.func @stacked(%x: tensor<4x8xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4x8xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %first = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %end = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  %r:4 = "stablehlo.while"(%first, %end, %x, %zero) ({
  ^bb0(%i: tensor<i32>, %n: tensor<i32>, %y: tensor<4x8xf32>, %stack: tensor<4x8xf32>):
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %n: tensor<i32>, %y: tensor<4x8xf32>, %stack: tensor<4x8xf32>):
    %k0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %k1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %k4 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %low = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
    %high = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
    %down = "stablehlo.subtract"(%k1, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %isBelow = "stablehlo.compare"(%down, %k0) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %wrapped = "stablehlo.add"(%down, %k4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %at = "stablehlo.select"(%isBelow, %wrapped, %down) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %row = "stablehlo.dynamic_slice"(%y, %at, %k0) <{slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %bounded = "stablehlo.clamp"(%low, %row, %high) : (tensor<f32>, tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
    %next = "stablehlo.dynamic_update_slice"(%stack, %bounded, %at, %k0) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %j = "stablehlo.add"(%i, %k1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %n, %y, %next) : (tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
  %g = "stablehlo.divide"(%b, %r#3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = "stablehlo.convert"(%g) : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return %u : tensor<4x8xf32>
}

// -----

// A row keeps its zeros, so the quotient has no bound.
// CHECK-NOT: Function=gap |{{.*}}Exponent
func.func @gap(%x: tensor<4x8xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4x8xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %first = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %end = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  %r:4 = "stablehlo.while"(%first, %end, %x, %zero) ({
  ^bb0(%i: tensor<i32>, %n: tensor<i32>, %y: tensor<4x8xf32>, %stack: tensor<4x8xf32>):
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %n: tensor<i32>, %y: tensor<4x8xf32>, %stack: tensor<4x8xf32>):
    %k0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %k1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %k4 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %low = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
    %high = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
    %at = "stablehlo.minimum"(%i, %k4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %row = "stablehlo.dynamic_slice"(%y, %at, %k0) <{slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %bounded = "stablehlo.clamp"(%low, %row, %high) : (tensor<f32>, tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
    %next = "stablehlo.dynamic_update_slice"(%stack, %bounded, %at, %k0) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %j = "stablehlo.add"(%i, %k1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %n, %y, %next) : (tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
  %g = "stablehlo.divide"(%b, %r#3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = "stablehlo.convert"(%g) : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return %u : tensor<4x8xf32>
}

// -----

// The loop writes one row four times.
// CHECK-NOT: Function=one_row |{{.*}}Exponent
func.func @one_row(%x: tensor<4x8xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4x8xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %first = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %end = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>
  %r:4 = "stablehlo.while"(%first, %end, %x, %zero) ({
  ^bb0(%i: tensor<i32>, %n: tensor<i32>, %y: tensor<4x8xf32>, %stack: tensor<4x8xf32>):
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %n: tensor<i32>, %y: tensor<4x8xf32>, %stack: tensor<4x8xf32>):
    %k0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %k1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %k4 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %low = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
    %high = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
    %at = "stablehlo.multiply"(%i, %k0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %row = "stablehlo.dynamic_slice"(%y, %at, %k0) <{slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %bounded = "stablehlo.clamp"(%low, %row, %high) : (tensor<f32>, tensor<1x8xf32>, tensor<f32>) -> tensor<1x8xf32>
    %next = "stablehlo.dynamic_update_slice"(%stack, %bounded, %at, %k0) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %j = "stablehlo.add"(%i, %k1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %n, %y, %next) : (tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>) -> ()
  }) : (tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<i32>, tensor<i32>, tensor<4x8xf32>, tensor<4x8xf32>)
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x8xf32>
  %g = "stablehlo.divide"(%b, %r#3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = "stablehlo.convert"(%g) : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return %u : tensor<4x8xf32>
}

// -----

// Booleans that a loop writes have the outcome of the comparison: an exponential
// is not negative.
// CHECK: SafeLossScale | {{.*}}Function=stacked_conditions | {{.*}}Exponent=15
func.func @stacked_conditions(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %first = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %false = "stablehlo.constant"() <{value = dense<false> : tensor<4xi1>}> : () -> tensor<4xi1>
  %r:3 = "stablehlo.while"(%first, %x, %false) ({
  ^bb0(%i: tensor<i32>, %y: tensor<4xf32>, %stack: tensor<4xi1>):
    %n = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %c = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %y: tensor<4xf32>, %stack: tensor<4xi1>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %row = "stablehlo.dynamic_slice"(%y, %i) <{slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %e = "stablehlo.exponential"(%row) : (tensor<1xf32>) -> tensor<1xf32>
    %is = "stablehlo.compare"(%e, %zero) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
    %next = "stablehlo.dynamic_update_slice"(%stack, %is, %i) : (tensor<4xi1>, tensor<1xi1>, tensor<i32>) -> tensor<4xi1>
    %j = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%j, %y, %next) : (tensor<i32>, tensor<4xf32>, tensor<4xi1>) -> ()
  }) : (tensor<i32>, tensor<4xf32>, tensor<4xi1>) -> (tensor<i32>, tensor<4xf32>, tensor<4xi1>)
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %nothing = "stablehlo.constant"() <{value = dense<0.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  %yes = "stablehlo.select"(%r#2, %b, %nothing) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %no = "stablehlo.select"(%r#2, %nothing, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = "stablehlo.subtract"(%yes, %no) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = "stablehlo.add"(%g, %no) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = "stablehlo.convert"(%t) : (tensor<4xf32>) -> tensor<4xf16>
  %w = "stablehlo.convert"(%h) : (tensor<4xf16>) -> tensor<4xf32>
  %u, %finite = amp.unscale %w by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}

// -----

// An operation that reads its own result. No interval is known.
// CHECK-NOT: Function=cycle |{{.*}}Exponent
func.func @cycle(%x: tensor<4xf32>, %s: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state"}) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %sc = amp.scale %seed by %s : tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%sc) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
  %i0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %l:2 = "stablehlo.while"(%i0, %b) ({
  ^bb0(%j: tensor<i32>, %q: tensor<4xf32>):
    %k = "stablehlo.compare"(%j, %j) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%k) : (tensor<i1>) -> ()
  }, {
  ^bb0(%j: tensor<i32>, %q: tensor<4xf32>):
    %c = "stablehlo.reshape"(%c) : (tensor<4xi1>) -> tensor<4xi1>
    %r = "stablehlo.select"(%c, %q, %q) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%j, %q) : (tensor<i32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  %u, %finite = amp.unscale %l#1 by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  return %u : tensor<4xf32>
}
