// Invalid amp.* attributes of a training step and #amp.init.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

// expected-error@+1 {{'constant' needs 'value'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<constant>}) {
  return
}

// -----

// expected-error@+1 {{'normal' needs 'value'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal>}) {
  return
}

// -----

// expected-error@+1 {{'uniform' needs 'value'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<uniform>}) {
  return
}

// -----

// expected-error@+1 {{'zeros' takes no 'value'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros, value = 1.0>}) {
  return
}

// -----

// expected-error@+1 {{'ones' takes no 'value'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<ones, value = 1.0>}) {
  return
}

// -----

// expected-error@+1 {{'copy_of' takes no 'value'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of, value = 1.0, source = "v">}) {
  return
}

// -----

// expected-error@+1 {{'rng_state' takes no 'value'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<rng_state, value = 1.0>}) {
  return
}

// -----

// expected-error@+1 {{'copy_of' needs 'source'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of>}) {
  return
}

// -----

// expected-error@+1 {{only 'copy_of' takes 'source'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros, source = "v">}) {
  return
}

// -----

// expected-error@+1 {{'value' of 'normal' must be positive and finite, got 0.000000e+00}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 0.0>}) {
  return
}

// -----

// expected-error@+1 {{'value' of 'uniform' must be positive and finite, got -1.000000e+00}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<uniform, value = -1.0>}) {
  return
}

// -----

// expected-error@+1 {{'value' of 'kaiming_uniform' must be positive and finite, got INF}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<kaiming_uniform, value = 0x7FF0000000000000 : f64>}) {
  return
}

// -----

// expected-error@+1 {{'value' of 'xavier_normal' must be positive and finite, got nan}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_normal, value = 0x7FF8000000000000 : f64>}) {
  return
}

// -----

// expected-error@+1 {{'value' of 'constant' must be a number, got nan}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<constant, value = 0x7FF8000000000000 : f64>}) {
  return
}

// -----

// expected-error@+1 {{'zeros' takes no 'seed'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros, seed = 1>}) {
  return
}

// -----

// expected-error@+1 {{'ones' takes no 'seed'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<ones, seed = 1>}) {
  return
}

// -----

// expected-error@+1 {{'constant' takes no 'seed'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<constant, value = 1.0, seed = 1>}) {
  return
}

// -----

// expected-error@+1 {{'copy_of' takes no 'seed'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of, seed = 1, source = "v">}) {
  return
}

// -----

// expected-error@+1 {{'seed' must be an i64, got 1 : i32}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 1.0, seed = 1 : i32>}) {
  return
}

// -----

// expected-error@+1 {{'seed' must be an i64, got 99999999999999999999 : i128}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 1.0, seed = 99999999999999999999 : i128>}) {
  return
}

// -----

// expected-error@+2 {{expected ::mlir::amp::InitKind to be one of: zeros, ones, constant, normal, uniform, kaiming_uniform, kaiming_normal, xavier_uniform, xavier_normal, copy_of, rng_state}}
// expected-error@+1 {{failed to parse AMP_InitAttr parameter 'kind' which is to be a `::mlir::amp::InitKind`}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<kaiming>}) {
  return
}

// -----

// expected-error@+1 {{duplicate or unknown struct parameter name: scale}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros, scale = 2.0>}) {
  return
}

// -----

// expected-error@+2 {{invalid kind of attribute specified}}
// expected-error@+1 {{failed to parse AMP_InitAttr parameter 'value' which is to be a `::mlir::FloatAttr`}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 1>}) {
  return
}

// -----

// expected-error@+2 {{invalid kind of attribute specified}}
// expected-error@+1 {{failed to parse AMP_InitAttr parameter 'seed' which is to be a `::mlir::IntegerAttr`}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 1.0, seed = 1.0>}) {
  return
}

// -----

// expected-error@+2 {{invalid kind of attribute specified}}
// expected-error@+1 {{failed to parse AMP_InitAttr parameter 'source' which is to be a `::mlir::StringAttr`}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of, source = 3>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'zeros' must have a static shape, got 'tensor<?x4xf32>'}}
func.func @f(%x: tensor<?x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'rng_state' must be tensor<2xi64>, got 'tensor<3xi64>'}}
func.func @f(%x: tensor<3xi64> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<rng_state>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'rng_state' must be tensor<2xi64>, got 'tensor<2xi32>'}}
func.func @f(%x: tensor<2xi32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<rng_state>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'rng_state' must be tensor<2xi64>, got 'tensor<2xf32>'}}
func.func @f(%x: tensor<2xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<rng_state>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'kaiming_uniform' must have at least two dimensions, got 'tensor<4xf32>'}}
func.func @f(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<kaiming_uniform>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'kaiming_normal' must have at least two dimensions, got 'tensor<f32>'}}
func.func @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<kaiming_normal>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'xavier_uniform' must have at least two dimensions, got 'tensor<4xf32>'}}
func.func @f(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_uniform>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'xavier_normal' must be of floats, got 'tensor<4x4xi32>'}}
func.func @f(%x: tensor<4x4xi32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_normal>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'normal' must be of floats, got 'tensor<4xi64>'}}
func.func @f(%x: tensor<4xi64> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<normal, value = 1.0>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a value that starts as 'uniform' must be of floats, got 'tensor<4xi1>'}}
func.func @f(%x: tensor<4xi1> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<uniform, value = 1.0>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a batch is data, so it takes no 'amp.init'}}
func.func @f(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x", amp.init = #amp.init<zeros>}) {
  return
}

// -----

// expected-error@+1 {{argument 0: 'amp.init' copies "v", but no argument has that 'amp.name'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of, source = "v">}) {
  return
}

// -----

// expected-error@+1 {{argument 0: 'amp.init' copies form a cycle}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of, source = "w">}) {
  return
}

// -----

// expected-error@+1 {{argument 0: cannot copy "v" of type 'tensor<4x5xf32>' to 'tensor<4x4xf32>'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of, source = "v">}, %v: tensor<4x5xf32> {amp.name = "v"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: cannot copy "v" of type 'tensor<4x4xi32>' to 'tensor<4x4xf32>'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of, source = "v">}, %v: tensor<4x4xi32> {amp.name = "v"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: cannot copy "v" of type 'memref<4x4xf32>' to 'tensor<4x4xf32>'}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of, source = "v">}, %v: memref<4x4xf32> {amp.name = "v"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: 'amp.init' copies form a cycle}}
func.func @f(%x: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<copy_of, source = "v">}, %v: tensor<4x4xf32> {amp.name = "v", amp.init = #amp.init<copy_of, source = "w">}) {
  return
}

// -----

// expected-error@+1 {{argument 0: expected 'amp.init' to be an #amp.init attribute}}
func.func @f(%x: tensor<f32> {amp.init = "zeros"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: expected 'amp.role' to be a string}}
func.func @f(%x: tensor<f32> {amp.role = 1 : i32}) {
  return
}

// -----

// expected-error@+1 {{argument 0: unknown role "weights", expected "parameter", "optimizer_state", "model_state", "batch", "hyperparameter", "scaler_state" or "quantizer_state"}}
func.func @f(%x: tensor<f32> {amp.role = "weights"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: an argument with 'amp.role' must be ranked, got 'tensor<*xf32>'}}
func.func @f(%x: tensor<*xf32> {amp.role = "parameter"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: 'amp.name' must not be empty}}
func.func @f(%x: tensor<f32> {amp.name = ""}) {
  return
}

// -----

// expected-error@+1 {{argument 1: 'amp.name' must be unique, but argument 0 is named "w" too}}
func.func @f(%x: tensor<f32> {amp.name = "w"}, %y: tensor<f32> {amp.name = "w"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: expected 'amp.precision' to be "f32", "low" or "keep"}}
func.func @f(%x: tensor<f32> {amp.precision = "f16"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: expected 'amp.precision' to be "f32", "low" or "keep"}}
func.func @f(%x: tensor<f32> {amp.precision = 16 : i64}) {
  return
}

// -----

// expected-error@+1 {{argument 0: 'amp.roles' is not an argument attribute of 'amp', did you mean 'amp.role'}}
func.func @f(%x: tensor<f32> {amp.roles = "batch"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: 'amp.updates' is not an argument attribute of 'amp'}}
func.func @f(%x: tensor<f32> {amp.updates = "w"}) {
  return
}

// -----

// expected-error@+1 {{argument 0: expected 'amp.name' to be a string}}
func.func @f(%x: tensor<f32> {amp.name}) {
  return
}

// -----

// expected-error@+1 {{result 0: expected 'amp.updates' to be a non-empty string}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.updates = ""})

// -----

// expected-error@+1 {{result 0: expected 'amp.updates' to be a non-empty string}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.updates = 1 : i32})

// -----

// expected-error@+1 {{result 0: expected 'amp.metric' to be a non-empty string}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.metric})

// -----

// expected-error@+1 {{result 0: expected 'amp.metric' to be a non-empty string}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.metric = ""})

// -----

// expected-error@+1 {{result 0: expected 'amp.prediction' to be a non-empty string}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.prediction = 1.0 : f32})

// -----

// expected-error@+1 {{result 0: 'amp.updates' names "v", but no argument has that 'amp.name'}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.updates = "v"})

// -----

// expected-error@+1 {{result 0: updates "w" of type 'tensor<f32>', but has type 'tensor<f16>'}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f16> {amp.updates = "w"})

// -----

// expected-error@+1 {{result 0: updates "w" of type 'tensor<f32>', but has type 'tensor<4xf32>'}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"})

// -----

// expected-error@+1 {{result 0: updates "w", which is a batch and not a state}}
func.func private @f(%x: tensor<f32> {amp.role = "batch", amp.name = "w"}) -> (tensor<f32> {amp.updates = "w"})

// -----

// expected-error@+1 {{result 0: updates "w", which is a hyperparameter and not a state}}
func.func private @f(%x: tensor<f32> {amp.role = "hyperparameter", amp.name = "w"}) -> (tensor<f32> {amp.updates = "w"})

// -----

// expected-error@+1 {{result 0: 'amp.update' is not a result attribute of 'amp', did you mean 'amp.updates'}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.update = "w"})

// -----

// expected-error@+1 {{result 0: 'amp.role' is not a result attribute of 'amp'}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.role = "parameter"})

// -----

// Additional dimensions of a gradient must come first.
// expected-error@+1 {{result 0: is the gradient of "w" of type 'tensor<4xf32>', but has type 'tensor<4x8xf32>'}}
func.func private @f(%x: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4x8xf32> {amp.gradient_of = "w"})

// -----

// expected-error@+1 {{result 1: 'amp.updates' must be unique, but result 0 has "w" too}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.updates = "w"}, tensor<f32> {amp.updates = "w"})

// -----

// expected-error@+1 {{result 1: 'amp.metric' must be unique, but result 0 has "loss" too}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.metric = "loss"}, tensor<f32> {amp.metric = "loss"})

// -----

// expected-error@+1 {{result 1: 'amp.prediction' must be unique, but result 0 has "y" too}}
func.func private @f(%x: tensor<f32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<f32> {amp.prediction = "y"}, tensor<f32> {amp.prediction = "y"})

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.gradient_of' to have one string per result}}
  %r = train.neg %x {amp.gradient_of = "w"} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.gradient_of' to have one string per result}}
  %r = train.neg %x {amp.gradient_of = []} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.gradient_of' to have one string per result}}
  %r = train.neg %x {amp.gradient_of = ["w", "v"]} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.gradient_of' to have one string per result}}
  %r = train.neg %x {amp.gradient_of = [1 : i32]} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.backward_of' to be an i64 that is not negative}}
  %r = train.neg %x {amp.backward_of = "conv"} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.backward_of' to be an i64 that is not negative}}
  %r = train.neg %x {amp.backward_of = -1 : i64} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.backward_of' to be an i64 that is not negative}}
  %r = train.neg %x {amp.backward_of = 1 : i32} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.id' to be an i64 that is not negative}}
  %r = train.neg %x {amp.id = 1.0 : f32} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.id' to be an i64 that is not negative}}
  %r = train.neg %x {amp.id = true} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.id' to be an i64 that is not negative}}
  %r = train.neg %x {amp.id = 99999999999999999999 : i128} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.precision' to be "f32", "low" or "keep"}}
  %r = train.neg %x {amp.precision = "f16"} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 'amp.precision' to be "f32", "low" or "keep"}}
  %r = train.neg %x {amp.precision = 1 : i32} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'amp.role' belongs on arguments of functions}}
  %r = train.neg %x {amp.role = "batch"} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'amp.name' belongs on arguments of functions}}
  %r = train.neg %x {amp.name = "w"} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'amp.init' belongs on arguments of functions}}
  %r = train.neg %x {amp.init = #amp.init<zeros>} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'amp.updates' belongs on results of functions}}
  %r = train.neg %x {amp.updates = "w"} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'amp.metric' belongs on results of functions}}
  %r = train.neg %x {amp.metric = "m"} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{'amp.prediction' belongs on results of functions}}
  %r = train.neg %x {amp.prediction = "m"} : tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{attribute 'amp.unknown' is not one of the 'amp' dialect}}
  %r = train.neg %x {amp.unknown = 1 : i32} : tensor<f32>
  return
}

// -----

// expected-error@+1 {{'amp.role' belongs on arguments of functions}}
func.func private @f() attributes {amp.role = "batch"}

// -----

// expected-error@+1 {{'amp.metric' belongs on results of functions}}
func.func private @f() attributes {amp.metric = "loss"}

// -----

// expected-error@+1 {{expected 'amp.gradient_of' to have one string per result}}
func.func private @f() attributes {amp.gradient_of = ["w"]}

// -----

// expected-error@+1 {{expected '<'}}
#i = #amp.init
func.func private @f()

// -----

// expected-error@+1 {{unknown attribute `unknown` in dialect `amp`}}
#i = #amp.unknown<zeros>
func.func private @f()

// -----

func.func @f() {
  // expected-error@+1 {{custom op 'amp.unknown' is unknown}}
  amp.unknown
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{unregistered operation 'train.unknown' found in dialect ('train') that does not allow unknown operations}}
  "train.unknown"() : () -> ()
  return
}

// -----

// expected-error@+1 {{dialect 'amp' provides no type parsing hook}}
func.func private @f(!amp.unknown)
