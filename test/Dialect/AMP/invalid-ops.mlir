// What operations of the amp dialect reject.
//
// RUN: amp-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected to change the element type, but operand and result are both 'tensor<4xf32>'}}
  %r = amp.cast %x : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{operand type 'tensor<4xf32>' and result type 'tensor<5xf16>' are cast incompatible}}
  %r = amp.cast %x : tensor<4xf32> to tensor<5xf16>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{operand type 'tensor<?xf32>' and result type 'tensor<5xf16>' are cast incompatible}}
  %r = amp.cast %x : tensor<?xf32> to tensor<5xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = amp.cast %x : tensor<4xf32> to tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xi32>'}}
  %r = amp.cast %x : tensor<4xi32> to tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<*xf32>) {
  // expected-error@+1 {{custom op 'amp.cast' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf32>'}}
  %r = amp.cast %x : tensor<*xf32> to tensor<*xf16>
  return
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{custom op 'amp.cast' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %r = amp.cast %x : f32 to f16
  return
}

// -----

func.func @f(%x: tensor<4xf32, "a">) {
  // expected-error@+1 {{operand type 'tensor<4xf32, "a">' and result type 'tensor<4xf16>' are cast incompatible}}
  %r = amp.cast %x : tensor<4xf32, "a"> to tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of 16-bit float or bfloat16 type or 32-bit float or 64-bit float values, but got 'tensor<4xf8E4M3FN>'}}
  %r = amp.cast %x : tensor<4xf32> to tensor<4xf8E4M3FN>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{invalid properties {inserted = true} for op amp.cast: Invalid attribute `inserted` in property conversion: true}}
  %r = "amp.cast"(%x) <{inserted = true}> : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{result #0 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<1xf32>'}}
  %r = amp.gradient_seed "loss" : tensor<1xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{result #0 must be 0D tensor of 32-bit float or 64-bit float values, but got 'tensor<f16>'}}
  %r = amp.gradient_seed "loss" : tensor<f16>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{requires attribute 'loss'}}
  %r = "amp.gradient_seed"() : () -> tensor<f32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{invalid properties {loss = 1 : i32} for op amp.gradient_seed: Invalid attribute `loss` in property conversion: 1 : i32}}
  %r = "amp.gradient_seed"() <{loss = 1 : i32}> : () -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<f16>, %s: tensor<f16>) {
  // expected-error@+1 {{operand #0 must be 0D tensor of 32-bit float values, but got 'tensor<f16>'}}
  %r = amp.scale %x by %s : tensor<f16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{operand #0 must be 0D tensor of 32-bit float values, but got 'tensor<4xf32>'}}
  %r = amp.scale %x by %s : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{expected 2 operands, but found 1}}
  %r = "amp.scale"(%x) : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%s: tensor<f32>) {
  // expected-error@+1 {{expected at least one gradient}}
  %r = "amp.unscale"(%s) : (tensor<f32>) -> tensor<i1>
  return
}

// -----

func.func @f(%g: tensor<4xf32>, %h: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected one result per gradient, got 1 results for 2 gradients}}
  %r:2 = "amp.unscale"(%g, %h, %s) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<i1>)
  return
}

// -----

func.func @f(%g: tensor<4xf16>, %s: tensor<f32>) {
  // expected-error@+1 {{result 0 must be 'tensor<4xf32>', got 'tensor<4xf16>'}}
  %u, %f = "amp.unscale"(%g, %s) : (tensor<4xf16>, tensor<f32>) -> (tensor<4xf16>, tensor<i1>)
  return
}

// -----

func.func @f(%g: tensor<4xf16>, %s: tensor<f32>) {
  // expected-error@+1 {{result 0 must be 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %u, %f = "amp.unscale"(%g, %s) : (tensor<4xf16>, tensor<f32>) -> (tensor<5xf32>, tensor<i1>)
  return
}

// -----

func.func @f(%g: tensor<4xf64>, %s: tensor<f32>) {
  // expected-error@+1 {{result 0 must be 'tensor<4xf64>', got 'tensor<4xf32>'}}
  %u, %f = "amp.unscale"(%g, %s) : (tensor<4xf64>, tensor<f32>) -> (tensor<4xf32>, tensor<i1>)
  return
}

// -----

func.func @f(%g: tensor<4xf16>, %s: tensor<f64>) {
  // expected-error@+1 {{operand #1 must be 0D tensor of 32-bit float values, but got 'tensor<f64>'}}
  %u, %f = "amp.unscale"(%g, %s) : (tensor<4xf16>, tensor<f64>) -> (tensor<4xf32>, tensor<i1>)
  return
}

// -----

func.func @f(%g: tensor<4xf16>, %s: tensor<f32>) {
  // expected-error@+1 {{result #1 must be 0D tensor of 1-bit signless integer values, but got 'tensor<4xi1>'}}
  %u, %f = "amp.unscale"(%g, %s) : (tensor<4xf16>, tensor<f32>) -> (tensor<4xf32>, tensor<4xi1>)
  return
}

// -----

func.func @f(%g: tensor<4xi32>, %s: tensor<f32>) {
  // expected-error@+1 {{operand #0 must be variadic of ranked tensor of f16, bf16, f32 or f64 values, but got 'tensor<4xi32>'}}
  %u, %f = "amp.unscale"(%g, %s) : (tensor<4xi32>, tensor<f32>) -> (tensor<4xf32>, tensor<i1>)
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected 1 or more results}}
  "amp.unscale"() : () -> ()
  return
}

// -----

func.func @f(%s: tensor<f32>, %g: tensor<i32>, %h: tensor<i32>, %f: tensor<i1>) {
  // expected-error@+1 {{attribute 'scaler' failed to satisfy constraint: the rules by which `amp.update_scale` adapts a loss scale}}
  %r:3 = amp.update_scale %s, %g, %h, %f {scaler = #amp.layer_scaler}
  return
}

// -----

func.func @f(%s: tensor<f64>, %g: tensor<i32>, %h: tensor<i32>, %f: tensor<i1>) {
  // expected-error@+1 {{operand #0 must be 0D tensor of 32-bit float values, but got 'tensor<f64>'}}
  %r:3 = "amp.update_scale"(%s, %g, %h, %f) : (tensor<f64>, tensor<i32>, tensor<i32>, tensor<i1>) -> (tensor<f64>, tensor<i32>, tensor<i32>)
  return
}

// -----

func.func @f(%s: tensor<f32>, %g: tensor<i32>, %h: tensor<i32>, %f: tensor<i1>) {
  // expected-error@+1 {{result #1 must be 0D tensor of 32-bit signless integer values, but got 'tensor<i64>'}}
  %r:3 = "amp.update_scale"(%s, %g, %h, %f) : (tensor<f32>, tensor<i32>, tensor<i32>, tensor<i1>) -> (tensor<f32>, tensor<i64>, tensor<i32>)
  return
}

// -----

func.func @f(%m: tensor<4xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of f16 or bf16 values, but got 'tensor<4xf32>'}}
  %r = amp.master_copy %m : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

func.func @f(%m: tensor<4xf16>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float values, but got 'tensor<4xf16>'}}
  %r = amp.master_copy %m : tensor<4xf16> to tensor<4xf16>
  return
}

// -----

func.func @f(%m: tensor<4xf32>) {
  // expected-error@+1 {{expected the copy to be 'tensor<4xf16>', got 'tensor<5xf16>'}}
  %r = amp.master_copy %m : tensor<4xf32> to tensor<5xf16>
  return
}

// -----

func.func @f(%m: tensor<?xf32>) {
  // expected-error@+1 {{expected the copy to be 'tensor<?xf16>', got 'tensor<4xf16>'}}
  %r = amp.master_copy %m : tensor<?xf32> to tensor<4xf16>
  return
}

// -----

func.func @f(%m: tensor<4xf64>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float values, but got 'tensor<4xf64>'}}
  %r = amp.master_copy %m : tensor<4xf64> to tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'amp.input_types' to be an array of types}}
  %r = amp.cast %x {amp.input_types = "f16"} : tensor<4xf32> to tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'amp.input_attributes' to be a dictionary of attributes}}
  %r = amp.cast %x {amp.input_attributes = "f16"} : tensor<4xf32> to tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'amp.input_value' to be the elements of a tensor}}
  %r = amp.cast %x {amp.input_value = 1.0 : f32} : tensor<4xf32> to tensor<4xf16>
  return
}

// -----

// expected-error@+1 {{expected 'amp.keep_roundings' to have no value, on a function}}
func.func @f() attributes {amp.keep_roundings = true} {
  return
}

// -----

// expected-error@+1 {{expected 'amp.input_signature' to be a type, on a function}}
func.func @f() attributes {amp.input_signature = "() -> ()"} {
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 'amp.inserted' to have no value}}
  %r = amp.cast %x {amp.inserted = true} : tensor<4xf32> to tensor<4xf16>
  return
}

// -----

func.func @f(%m: tensor<8xf32>, %rng: tensor<2xi64>) {
  // expected-error@+1 {{stochastic rounding is to bf16, got 'tensor<8xf16>'}}
  %0 = amp.master_copy %m stochastic %rng key 0 : tensor<8xf32> to tensor<8xf16>
  return
}

// -----

func.func @f(%m: tensor<8xf32>) {
  // expected-error@+1 {{expected 'key' only with a random number state}}
  %0 = amp.master_copy %m {key = 2 : i32} : tensor<8xf32> to tensor<8xbf16>
  return
}

// -----

func.func @f(%m: tensor<8xf32>, %rng: tensor<3xi64>) {
  // expected-error@+1 {{operand #1 must be random number state tensor<2xi64>, but got 'tensor<3xi64>'}}
  %0 = "amp.master_copy"(%m, %rng) : (tensor<8xf32>, tensor<3xi64>) -> tensor<8xbf16>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected at least one gradient}}
  %0 = "amp.max_magnitude"() : () -> tensor<f32>
  return
}

// -----

func.func @f(%g: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{failed to verify that all of {gradient, result} have same type}}
  %0 = "amp.rescale"(%g, %s, %s) : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%g: tensor<4xi32>, %s: tensor<f32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of f16, bf16, f32 or f64 values}}
  %0 = "amp.rescale"(%g, %s, %s) : (tensor<4xi32>, tensor<f32>, tensor<f32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%s: tensor<f32>, %ok: tensor<i1>) {
  // expected-error@+1 {{attribute 'scaler' failed to satisfy constraint: the constants by which `amp.adapt_scale` adapts a loss scale}}
  %0 = amp.adapt_scale %s, %s, %ok {scaler = #amp.scaler}
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected at least one gradient}}
  %0 = "amp.global_norm"() : () -> tensor<f32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected at least one gradient}}
  %0 = "amp.square_sum"() : () -> tensor<f64>
  return
}

// -----

func.func @f(%g: tensor<8xf32>) {
  // expected-error@+1 {{result #0 must be 0D tensor of 64-bit float values, but got 'tensor<f32>'}}
  %0 = "amp.square_sum"(%g) : (tensor<8xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%m: tensor<8xf32>, %low: tensor<8xbf16>) {
  // expected-error@+1 {{expected the residual to be 'tensor<8xbf16>' as the copy, got 'tensor<8xf16>'}}
  %0 = "amp.residual"(%m, %low) : (tensor<8xf32>, tensor<8xbf16>) -> tensor<8xf16>
  return
}

// -----

func.func @f(%m: tensor<8xf32>, %low: tensor<4xbf16>) {
  // expected-error@+1 {{expected the copy to be 'tensor<8xbf16>', got 'tensor<4xbf16>'}}
  %0 = amp.residual %m, %low : (tensor<8xf32>, tensor<4xbf16>) -> tensor<4xbf16>
  return
}

// -----

func.func @f(%low: tensor<8xbf16>, %c: tensor<8xf16>) {
  // expected-error@+1 {{expected the residual to be 'tensor<8xbf16>' as the copy, got 'tensor<8xf16>'}}
  %0 = amp.compensate %low, %c : (tensor<8xbf16>, tensor<8xf16>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%low: tensor<8xbf16>) {
  // expected-error@+1 {{expected the copy to be 'tensor<?xbf16>', got 'tensor<8xbf16>'}}
  %0 = amp.compensate %low, %low : (tensor<8xbf16>, tensor<8xbf16>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%g: tensor<8xf16>) {
  // expected-error@+1 {{failed to verify that all of {gradient, result} have same shape}}
  %0 = amp.inner_gradient %g : tensor<8xf16> to tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{'amp.optimizer' must not be empty}}
func.func @f(%m: tensor<8xf32> {amp.optimizer = ""}) {
  return
}

// -----

// expected-error@+1 {{argument 0: a gradient seed must be a tensor<f32>, got 'tensor<4xf32>'}}
func.func @seed(%a: tensor<4xf32> {amp.gradient_seed = "loss"}) {
  return
}

// -----

// expected-error@+1 {{result 0: 'amp.gradient_of' names "v", but no argument has that 'amp.name'}}
func.func @gradient(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.gradient_of = "v"}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error@+1 {{result 0: is the gradient of "w" of type 'tensor<4xf32>', but has type 'tensor<3xf32>'}}
func.func @shape(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %g: tensor<3xf32>) -> (tensor<3xf32> {amp.gradient_of = "w"}) {
  return %g : tensor<3xf32>
}

// -----

func.func @f(%x: tensor<8xf16>) {
  // expected-error@+1 {{expected a float type narrower than 'f16' after 'to', got 'bf16'}}
  %0 = amp.statistics %x to bf16 : tensor<8xf16>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{expected a float type narrower than 'f32' after 'to', got 'i16'}}
  %0 = amp.statistics %x to i16 : tensor<8xf32>
  return
}

// -----

func.func @f(%m: tensor<4xf32>) {
  // expected-error@+1 {{result #0 must be ranked tensor of bf16 values, but got 'tensor<4xf16>'}}
  %r = amp.upper_half %m : tensor<4xf32> to tensor<4xf16>
  return
}

// -----

func.func @f(%m: tensor<4xbf16>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of 32-bit float values, but got 'tensor<4xbf16>'}}
  %r = amp.upper_half %m : tensor<4xbf16> to tensor<4xbf16>
  return
}

// -----

func.func @f(%m: tensor<4xf32>) {
  // expected-error@+1 {{expected the half to be 'tensor<4xbf16>', got 'tensor<2x2xbf16>'}}
  %r = amp.upper_half %m : tensor<4xf32> to tensor<2x2xbf16>
  return
}
