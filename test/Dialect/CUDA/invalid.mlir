// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

cuda.program @overlap arena 512 {
  // expected-note@+1 {{'a' lies from 0 to 384}}
  %a = cuda.buffer "a" at 0 {role = "batch"} : memref<96xf32>
  // expected-error@+1 {{overlaps 'a' while both are in use}}
  %b = cuda.buffer "b" at 256 {role = "prediction"} : memref<4xf32>
}

// -----

// Temporaries that are in use at different times may overlap; these are not.
#map = affine_map<(d0) -> (d0)>
cuda.program @live arena 1024 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  // expected-note@+1 {{'a' lies from 256 to 272}}
  %a = cuda.buffer "a" at 256 : memref<4xf32>
  // expected-error@+1 {{overlaps 'a' while both are in use}}
  %b = cuda.buffer "b" at 256 : memref<4xf32>
  cuda.kernel named "first" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
  cuda.kernel named "second" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
}

// -----

cuda.program @arena arena 256 {
  // expected-error@+1 {{ends at 400, beyond the arena of 256 bytes}}
  %a = cuda.buffer "a" at 0 : memref<100xf32>
}

// -----

cuda.program @alignment arena 256 {
  // expected-error@+1 {{lies at 4, expected a multiple of 256}}
  %a = cuda.buffer "a" at 4 : memref<4xf32>
}

// -----

cuda.program @names arena 512 {
  %a = cuda.buffer "a" at 0 : memref<4xf32>
  // expected-error@+1 {{has the name 'a', which another buffer has}}
  %b = cuda.buffer "a" at 256 : memref<4xf32>
}

// -----

cuda.program @role arena 256 {
  // expected-error@+1 {{has the unknown role 'weights'}}
  %a = cuda.buffer "a" at 0 {role = "weights"} : memref<4xf32>
}

// -----

cuda.program @no_value arena 256 {
  // expected-error@+1 {{needs the role 'constant' and a 'value' together}}
  %a = cuda.buffer "a" at 0 {role = "constant"} : memref<4xf32>
}

// -----

cuda.program @value arena 256 {
  // expected-error@+1 {{needs the role 'constant' and a 'value' together}}
  %a = cuda.buffer "a" at 0 {role = "parameter", value = dense<1.0> : tensor<4xf32>} : memref<4xf32>
}

// -----

cuda.program @type arena 256 {
  // expected-error@+1 {{has a 'value' of type 'tensor<2x2xf32>', expected dense elements of type 'tensor<4xf32>'}}
  %a = cuda.buffer "a" at 0 {role = "constant", value = dense<1.0> : tensor<2x2xf32>} : memref<4xf32>
}

// -----

cuda.program @sparse arena 256 {
  // expected-error@+1 {{has a 'value' of type 'tensor<4xf32>', expected dense elements of type 'tensor<4xf32>'}}
  %a = cuda.buffer "a" at 0 {role = "constant", value = sparse<[[0]], [1.0]> : tensor<4xf32>} : memref<4xf32>
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @written arena 512 {
  %a = cuda.buffer "a" at 0 {role = "constant", value = dense<[0.0, 1.0]> : tensor<2xf32>} : memref<2xf32>
  %b = cuda.buffer "b" at 256 {role = "batch"} : memref<2xf32>
  // expected-error@+1 {{writes the constant 'a'}}
  cuda.kernel named "copy" over [2] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%b : memref<2xf32>) outs(%a : memref<2xf32>)
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @order arena 512 {
  %a = cuda.buffer "a" at 0 : memref<4xf32>
  cuda.kernel over [4] maps [#map] {
    %0 = arith.constant 0.0 : f32
    cuda.yield %0 : f32
  } ins() outs(%a : memref<4xf32>)
  // expected-error@+1 {{follows a launch, expected all buffers first}}
  %b = cuda.buffer "b" at 256 : memref<4xf32>
}

// -----

cuda.program @later_buffer arena 256 {
  // expected-error@+1 {{uses the buffer 'g', which follows it, expected all buffers first}}
  cuda.all_reduce <sum> named "sum" ins(%g : memref<8xf32>) outs(%g : memref<8xf32>)
  cuda.await "sum"
  %g = cuda.buffer "g" at 0 {role = "optimizer_state"} : memref<8xf32>
}

// -----

cuda.program @far_buffer arena 256 {
  // expected-error@+1 {{starts at 9223372036854775552, beyond the arena of 256 bytes}}
  %a = cuda.buffer "a" at 9223372036854775552 {role = "batch"} : memref<96xf32>
}

// -----

cuda.program @foreign arena 0 {
  // expected-error@+1 {{cannot be in a 'cuda.program', expected buffers, views and launches}}
  %a = arith.constant 1.0 : f32
}

// -----

#reverse = affine_map<(d0) -> (-d0 + 3)>
#map = affine_map<(d0) -> (d0)>
cuda.program @in_place arena 256 {
  %a = cuda.buffer "a" at 0 : memref<4xf32>
  // expected-error@+1 {{writes 'a' while it reads it}}
  cuda.kernel over [4] maps [#reverse, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
}

// -----

// A launch reads memory that was written before, under any name.
#map = affine_map<(d0) -> (d0)>
cuda.program @unwritten arena 1024 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  // expected-note@+1 {{'a' holds an intermediate value}}
  %a = cuda.buffer "a" at 256 : memref<2x2xf32>
  %y = cuda.buffer "y" at 512 {role = "prediction"} : memref<4xf32>
  %v = cuda.view %a : memref<2x2xf32> to memref<4xf32>
  // expected-error@+1 {{'cuda.kernel' op 'add' reads 'a', which no launch before it writes}}
  cuda.kernel named "add" over [4] maps [#map, #map, #map] {
  ^bb0(%e: f32, %f: f32):
    %0 = arith.addf %e, %f : f32
    cuda.yield %0 : f32
  } ins(%x, %v : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
  cuda.kernel named "late" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%v : memref<4xf32>)
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @unwritten_in_place arena 256 {
  // expected-note@+1 {{'a' holds an intermediate value}}
  %a = cuda.buffer "a" at 0 : memref<4xf32>
  // expected-error@+1 {{'cuda.kernel' op reads 'a', which no launch before it writes}}
  cuda.kernel over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @unwritten_flag arena 1024 {
  %x = cuda.buffer "x" at 0 {role = "parameter"} : memref<4xf32>
  // expected-note@+1 {{'finite' is a result of the step}}
  %f = cuda.buffer "finite" at 256 {role = "metric"} : memref<i1>
  %y = cuda.buffer "y" at 512 {role = "prediction"} : memref<4xf32>
  // expected-error@+1 {{'cuda.kernel' op 'copy' reads 'finite', which no launch before it writes}}
  cuda.kernel named "copy" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) if %f : memref<i1>
}

// -----

func.func @outside(%a: memref<4x4xf32>) {
  // expected-error@+1 {{writes buffers outside of a 'cuda.program'}}
  cuda.gemm ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  return
}

// -----

func.func @k(%a: tensor<4x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error@+1 {{sums over 3 elements of A and 4 of B}}
  %0 = cuda.gemm ins(%a, %b : tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @shape(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error@+1 {{the result has shape [5, 4] of 'f32', expected [4, 5] of 'f32'}}
  %0 = cuda.gemm ins(%a, %b : tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @types(%a: tensor<4x3xf16>, %b: tensor<3x5xbf16>) {
  // expected-error@+1 {{multiplies 'f16' and 'bf16', expected both to be f16, bf16 or f32}}
  %0 = cuda.gemm ins(%a, %b : tensor<4x3xf16>, tensor<3x5xbf16>) -> tensor<4x5xf32>
  return
}

// -----

func.func @tf32(%a: tensor<4x3xf16>, %b: tensor<3x5xf16>) {
  // expected-error@+1 {{has 'tf32' but operands of 'f16', expected f32}}
  %0 = cuda.gemm ins(%a, %b : tensor<4x3xf16>, tensor<3x5xf16>) {tf32} -> tensor<4x5xf32>
  return
}

// -----

func.func @auxiliary(%a: tensor<4x4xf16>) {
  // expected-error@+1 {{has 'auxiliary' but the activation none, expected relu or gelu_tanh}}
  %0:2 = cuda.gemm ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>) {auxiliary} -> tensor<4x4xf16>, tensor<4x16xi8>
  return
}

// -----

func.func @mask(%a: tensor<4x4xf16>) {
  // expected-error@+1 {{the auxiliary matrix has shape [4, 4] of 'i8', expected [4, 16] of 'i8'}}
  %0:2 = cuda.gemm ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>)
      {auxiliary, activation = #cuda.activation<relu>} -> tensor<4x4xf16>, tensor<4x4xi8>
  return
}

// -----

func.func @bias_and_grad(%a: tensor<4x4xf16>, %b: tensor<4xf16>) {
  // expected-error@+1 {{has 'bias_grad' beside a bias or a forward activation, expected a product of a backward pass}}
  %0:2 = cuda.gemm ins(%a, %a, %b : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4xf16>)
      {bias, bias_grad} -> tensor<4x4xf16>, tensor<4xf16>
  return
}

// -----

func.func @bias_grad_of_a(%a: tensor<4x4xf16>) {
  // expected-error@+1 {{has 'bias_grad_a', expected 'bias_grad' and 'transpose_a' too, and no activation}}
  %0:2 = cuda.gemm ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>)
      {bias_grad, bias_grad_a} -> tensor<4x4xf16>, tensor<4xf16>
  return
}

// -----

func.func @bias_grad_of_transposed(%a: tensor<4x4xf16>) {
  // expected-error@+1 {{has 'bias_grad', which sums the columns of B, beside 'transpose_b'}}
  %0:2 = cuda.gemm ins(%a, %a : tensor<4x4xf16>, tensor<4x4xf16>)
      {bias_grad, transpose_b} -> tensor<4x4xf16>, tensor<4xf16>
  return
}

// -----

func.func @batched_bias(%a: tensor<2x4x4xf16>, %b: tensor<4xf16>) {
  // expected-error@+1 {{has batch dimensions, which allow neither a bias nor an activation}}
  %0 = cuda.gemm ins(%a, %a, %b : tensor<2x4x4xf16>, tensor<2x4x4xf16>, tensor<4xf16>)
      {bias} -> tensor<2x4x4xf16>
  return
}

// -----

func.func @conv(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x5xf32>) {
  // expected-error@+1 {{the output of the convolution has shape [1, 4, 4, 5] of 'f32', expected [1, 2, 2, 5] of 'f32'}}
  %0 = cuda.conv <forward> ins(%x, %w : tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x4x4x5xf32>
  return
}

// -----

func.func @bounds(%x: tensor<4xf32>) {
  // expected-error@+1 {{the map of input 0 leaves the dimension of 4 elements: it runs from 1 to 4}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0 + 1)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @output_order(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{the map of output 0 is affine_map<(d0, d1) -> (d1, d0)>, expected affine_map<(d0, d1) -> (d0, d1)>}}
  %0 = cuda.kernel over [4, 5] maps [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4x5xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @body(%x: tensor<4xf16>) {
  // expected-error@+1 {{argument 0 of the body is of type 'f32', expected 'f16'}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @combined(%x: tensor<4xi32>) {
  // expected-error@+1 {{cannot combine values of type 'i32' with 'and'}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <and> {
  ^bb0(%e: i32):
    cuda.yield %e : i32
  } ins(%x : tensor<4xi32>) -> tensor<i32>
  return
}

// -----

func.func @bytes(%x: tensor<4xi8>) {
  // expected-error@+1 {{cannot combine values of type 'i8' with 'add'}}
  %0 = cuda.kernel over [4] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%e: i8):
    cuda.yield %e : i8
  } ins(%x : tensor<4xi8>) -> tensor<i8>
  return
}

// -----

cuda.program @indices arena 512 {
  %y = cuda.buffer "y" at 0 {role = "prediction"} : memref<i64>
  %s = cuda.buffer "s" at 256 : memref<8xi8>
  // expected-error@+1 {{cannot combine values of type 'index' with 'add'}}
  cuda.kernel over [4] maps [affine_map<(d0) -> ()>] reduce [0] with <add> {
    %i = cuda.index 0
    cuda.yield %i : index
  } ins() outs(%y : memref<i64>) scratch(%s : memref<8xi8>)
}

// -----

cuda.program @no_value_combined arena 512 {
  %y = cuda.buffer "y" at 0 {role = "prediction"} : memref<f32>
  // expected-error@+1 {{the body of a reduction must yield one value}}
  cuda.kernel over [4] maps [affine_map<(d0) -> ()>] reduce [0] with <add> {
    cuda.yield
  } ins() outs(%y : memref<f32>)
}

// -----

func.func @optimizer(%p: tensor<4xf32>, %g: tensor<5xf32>, %lr: tensor<f32>) {
  // expected-error@+1 {{a gradient has shape [5] of 'f32', expected [4] of 'f32'}}
  %0 = cuda.optimizer <sgd> ins(%p, %g, %lr : tensor<4xf32>, tensor<5xf32>, tensor<f32>)
      {weight_decay = array<f64: 0.0>} -> tensor<4xf32>
  return
}

// -----

cuda.program @tied arena 2048 {
  %p = cuda.buffer "p" at 0 {role = "parameter"} : memref<4xf32>
  %g = cuda.buffer "g" at 256 : memref<4xf32>
  %lr = cuda.buffer "lr" at 512 {role = "hyperparameter"} : memref<f32>
  %q = cuda.buffer "q" at 768 : memref<4xf32>
  // expected-error@+1 {{works in place, but output 0 lies at 768 and input 0 at 0}}
  cuda.optimizer <sgd> ins(%p, %g, %lr : memref<4xf32>, memref<4xf32>, memref<f32>) outs(%q : memref<4xf32>)
      {weight_decay = array<f64: 0.0>}
}

// -----

cuda.program @scratch arena 65536 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<8192xf32>
  %y = cuda.buffer "y" at 32768 {role = "metric"} : memref<f32>
  // expected-error@+1 {{has 0 bytes of scratch memory, expected at least 8}}
  cuda.kernel over [8192] maps [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>] reduce [0] with <add> {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<8192xf32>) outs(%y : memref<f32>)
}

// -----

cuda.program @bounded_floats arena 1024 {
  // expected-error @+1 {{has an 'index_bound', expected a positive one, the role 'batch' and elements of type i32 or i64}}
  %a = cuda.buffer "a" at 0 {index_bound = 4 : i64, role = "batch"} : memref<4xf32>
}

// -----

cuda.program @unbounded_lengths arena 1024 {
  // expected-error @+1 {{is 'cumulative', expected the role 'batch' and an 'index_bound'}}
  %a = cuda.buffer "a" at 0 {cumulative, role = "batch"} : memref<4xi32>
}

// -----

// expected-error@+1 {{has the unknown precision 'fp4', expected f32, tf32, fp16, bf16, fp8, fp8- and a recipe, or nothing}}
cuda.program @precision arena 0 attributes {state = #cuda.state<precision = "fp4", fingerprint = 0, scaler = []>} {
}

// -----

// expected-error@+1 {{has the rule 1 : i64, expected a string 'name = value'}}
cuda.program @rule arena 0 attributes {state = #cuda.state<precision = "f32", fingerprint = 0, scaler = [1]>} {
}

// -----

// expected-error@+1 {{has the rule "a = 1\0Ab", expected a string 'name = value'}}
cuda.program @lines arena 0 attributes {state = #cuda.state<precision = "f32", fingerprint = 0, scaler = ["a = 1\nb"]>} {
}

// -----

cuda.program @step arena 0 {
}
// expected-error@+1 {{has a 'state', which the forward function of another program does not save}}
cuda.program @forward arena 0 attributes {inference_of = @step,
    state = #cuda.state<precision = "f32", fingerprint = 0, scaler = []>} {
}

// -----

// expected-error@+1 {{takes 256 bytes with predictions, expected at least the 512 bytes of the arena}}
cuda.program @less arena 512 predictions 256 {
}

// -----

cuda.program @across arena 256 predictions 512 {
  // expected-error@+1 {{is in part beyond the arena of 256 bytes}}
  %a = cuda.buffer "a" at 0 {role = "prediction"} : memref<100xf32>
}

// -----

// Training must not need a value that only some steps compute.
#map = affine_map<(d0) -> (d0)>
cuda.program @late arena 1024 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %s = cuda.buffer "s" at 256 {role = "model_state"} : memref<4xf32>
  %a = cuda.buffer "a" at 512 : memref<4xf32>
  cuda.kernel named "first" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) {cuda.reader = #cuda.reader<metrics>}
  // expected-error@+1 {{'second' reads a value that not every step with this launch computes, 'a'}}
  cuda.kernel named "second" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%a : memref<4xf32>) outs(%s : memref<4xf32>)
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @state arena 1024 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %s = cuda.buffer "s" at 256 {role = "model_state"} : memref<4xf32>
  // expected-error@+1 {{'first' is not part of every step, but writes the state 's'}}
  cuda.kernel named "first" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%s : memref<4xf32>) {cuda.reader = #cuda.reader<metrics>}
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @both arena 1024 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %m = cuda.buffer "m" at 256 {role = "metric"} : memref<4xf32>
  cuda.kernel named "first" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%m : memref<4xf32>)
  // expected-error@+1 {{'second' has another reader than a launch that also writes 'm'}}
  cuda.kernel named "second" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%m : memref<4xf32>) {cuda.reader = #cuda.reader<metrics>}
}

// -----

#map = affine_map<(d0) -> (d0)>
cuda.program @beyond arena 256 predictions 512 {
  %x = cuda.buffer "x" at 0 {role = "batch"} : memref<4xf32>
  %y = cuda.buffer "y" at 256 {role = "prediction"} : memref<4xf32>
  // expected-error@+1 {{'first' is not only for predictions, but uses, beyond the arena, 'y'}}
  cuda.kernel named "first" over [4] maps [#map, #map] {
  ^bb0(%e: f32):
    cuda.yield %e : f32
  } ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {cuda.reader = #cuda.reader<metrics>}
}
