// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention.
//
// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @no_samples(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{has the size 0, expected at least 1}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 0, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @heads(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{has 4 heads of queries and 3 of keys, expected a multiple}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 3, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @head_size(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{has heads of 12 elements, expected a multiple of 8}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 12, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @inputs(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{has 4 inputs, expected 3}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @wide(%q: tensor<2x4x8x16xf32>) {
  // expected-error@+1 {{has queries of 'f32', expected f16 or bf16}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf32>, tensor<2x4x8xf32>
  return
}

// -----

func.func @many_samples(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{has sizes whose product overflows 64 bits}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 4611686018427387904, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 0, 128, 16>, key = #cuda.heads<at 0 by 0, 128, 16>,
       value = #cuda.heads<at 0 by 0, 128, 16>, output = #cuda.heads<at 0 by 0, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @mixed(%q: tensor<2x4x8x16xf16>, %k: tensor<2x4x8x16xbf16>) {
  // expected-error@+1 {{the key is in a tensor of 'bf16', expected 'f16'}}
  %0:2 = cuda.sdpa ins(%q, %k, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @stride(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{the query has the offset or stride 516, expected a multiple of 8 elements}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 516, 128, 16>, key = #cuda.heads<at 0 by 516, 128, 16>,
       value = #cuda.heads<at 0 by 516, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @end(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{the key ends at element 1031, but its tensor has 1024}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 8 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @filled(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{the output must fill the tensor, each element once}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 16>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @left(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{has a 'left_bound' of 0, expected at least 1}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, left_bound = 0 : i64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @right(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{has a 'right_bound' of -1, expected at least 0}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, right_bound = -1 : i64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @bias(%q: tensor<2x4x8x16xf16>, %b: tensor<2x3x8x8xf16>) {
  // expected-error@+1 {{has a bias of shape [2, 3, 8, 8] of 'f16', expected [2, 4, 8, 8] of 'f16' or f32, where the first two may be 1}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %b : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x3x8x8xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, bias,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @lengths(%q: tensor<2x4x8x16xf16>, %n: tensor<2xi32>, %m: tensor<3xi32>) {
  // expected-error@+1 {{the lengths of keys has shape [3] of 'i32', expected [2] of 'i32'}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %m : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2xi32>, tensor<3xi32>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, lengths,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @sums(%q: tensor<2x4x8x16xf16>) {
  // expected-error@+1 {{the logarithm of the sums has shape [2, 4, 8, 1] of 'f32', expected [2, 4, 8] of 'f32'}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8x1xf32>
  return
}

// -----

func.func @flag(%q: tensor<2x4x8x16xf16>, %c: tensor<i1>) {
  // expected-error@+1 {{has an 'if', but a plan always writes}}
  %0:2 = cuda.sdpa ins(%q, %q, %q : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>) if %c : tensor<i1>
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @gradients(%q: tensor<2x4x8x16xf16>, %s: tensor<2x4x8xf32>) {
  // expected-error@+1 {{the query gradient and the others must fill the tensor, each element once}}
  %0 = cuda.sdpa_grad ins(%q, %q, %q, %q, %q, %s : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8xf32>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 128, 16>,
       grad = #cuda.heads<at 0 by 512, 128, 16>, query_grad = #cuda.heads<at 0 by 1536, 16, 192>,
       key_grad = #cuda.heads<at 64 by 1536, 16, 192>, value_grad = #cuda.heads<at 64 by 1536, 16, 192>}
      -> tensor<2x8x192xf16>
  return
}

// -----

func.func @parts(%q: tensor<2x4x8x16xf16>, %s: tensor<2x4x8xf32>) {
  // expected-error@+1 {{has 3 parts for 2 samples, expected a divisor}}
  %0:3 = cuda.sdpa_grad ins(%q, %q, %q, %q, %q, %s : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8xf32>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, parts = 3 : i64,
       query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 128, 16>,
       grad = #cuda.heads<at 0 by 512, 128, 16>, query_grad = #cuda.heads<at 0 by 512, 128, 16>,
       key_grad = #cuda.heads<at 0 by 512, 128, 16>, value_grad = #cuda.heads<at 0 by 512, 128, 16>}
      -> tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>
  return
}

// -----

func.func @dropout_rate(%q: tensor<2x4x8x16xf16>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has a 'dropout' of 1.000000e+00, expected more than 0 and less than 1}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %s : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<1x2xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       dropout = 1.0 : f64, query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>, value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 128, 16>}
      -> tensor<2x4x8x16xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @dropout_row(%q: tensor<2x4x8x16xf16>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has row 1 of seeds of shape [1, 2] of 'i64', expected [N, 2] of i64 with this row}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %s : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<1x2xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       dropout = 0.5 : f64, seed_row = 1 : i64, query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>, value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 128, 16>}
      -> tensor<2x4x8x16xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @dropout_type(%q: tensor<2x4x8x16xf16>, %s: tensor<1x2xi32>) {
  // expected-error@+1 {{has row 0 of seeds of shape [1, 2] of 'i32', expected [N, 2] of i64 with this row}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %s : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<1x2xi32>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       dropout = 0.5 : f64, query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>, value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 128, 16>}
      -> tensor<2x4x8x16xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @dropout_parts(%q: tensor<2x4x8x16xf16>, %l: tensor<2x4x8xf32>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has 2 parts and 'dropout', expected one part}}
  %0:3 = cuda.sdpa_grad ins(%q, %q, %q, %q, %q, %l, %s : tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>,
      tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8xf32>, tensor<1x2xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       dropout = 0.5 : f64, parts = 2 : i64, query = #cuda.heads<at 0 by 512, 128, 16>, key = #cuda.heads<at 0 by 512, 128, 16>, value = #cuda.heads<at 0 by 512, 128, 16>, output = #cuda.heads<at 0 by 512, 128, 16>, grad = #cuda.heads<at 0 by 512, 128, 16>,
       query_grad = #cuda.heads<at 0 by 512, 128, 16>, key_grad = #cuda.heads<at 0 by 512, 128, 16>, value_grad = #cuda.heads<at 0 by 512, 128, 16>}
      -> tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>, tensor<2x4x8x16xf16>
  return
}

// -----

func.func @no_documents(%q: tensor<2x8x4x16xf16>, %n: tensor<0xi32>, %o: tensor<2x2xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has 0 documents, expected at least 1}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<0xi32>, tensor<2x2xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 0 : i64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x8x4xf32>
  return
}

// -----

func.func @countless_documents(%q: tensor<16777216x8x4x16xf16>, %n: tensor<4xi32>, %o: tensor<2x6xi64>) {
  // expected-error@+1 {{has 1099511627776 documents in each of 16777216 samples, whose product overflows 64 bits}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<16777216x8x4x16xf16>, tensor<16777216x8x4x16xf16>, tensor<16777216x8x4x16xf16>, tensor<4xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 16777216, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 1099511627776 : i64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<16777216x8x64xf16>, tensor<16777216x8x4xf32>
  return
}

// -----

func.func @documents_with_dropout(%q: tensor<2x8x4x16xf16>, %n: tensor<4xi32>, %o: tensor<2x6xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has 'documents' and another of bias, lengths and dropout, expected one of them}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o, %s : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<4xi32>, tensor<2x6xi64>, tensor<1x2xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 2 : i64, dropout = 0.5 : f64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x8x4xf32>
  return
}

// -----

func.func @documents_of_other_keys(%q: tensor<2x8x4x16xf16>, %n: tensor<4xi32>, %o: tensor<2x6xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has documents of 8 queries and 4 keys, expected as many keys as queries}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<4xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 4, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 2 : i64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x8x4xf32>
  return
}

// -----

func.func @documents_apart(%q: tensor<2x8x4x16xf16>, %n: tensor<4xi32>, %o: tensor<2x6xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has documents but heads of the key that are not packed, expected those of a position next to each other, and samples that follow one another}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<4xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 2 : i64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 128, 16>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x8x4xf32>
  return
}

// -----

func.func @documents_without_row(%q: tensor<2x8x4x16xf16>, %n: tensor<4xi32>, %o: tensor<2x6xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has no offsets of the query, expected 64 in 'rows'}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<4xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 2 : i64, rows = array<i64: 4, 32>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x8x4xf32>
  return
}

// -----

func.func @documents_without_sums(%q: tensor<2x8x4x16xf16>, %n: tensor<4xi32>, %o: tensor<2x6xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has no offsets of the logarithm of the sums, expected 4 in 'rows'}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<4xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 2 : i64, rows = array<i64: 8, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x8x4xf32>
  return
}

// -----

func.func @documents_without_rows(%q: tensor<2x8x4x16xf16>, %n: tensor<4xi32>, %o: tensor<2x6xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{has no offsets of the query, expected 64 in 'rows'}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<4xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 2 : i64,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x8x4xf32>
  return
}

// -----

func.func @document_lengths(%q: tensor<2x8x4x16xf16>, %n: tensor<2xi32>, %o: tensor<2x6xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{the lengths of documents}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 2 : i64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x8x4xf32>
  return
}

// -----

func.func @document_offsets(%q: tensor<2x8x4x16xf16>, %n: tensor<4xi32>, %o: tensor<2x4xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{the offsets of documents}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<4xi32>, tensor<2x4xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 2 : i64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x8x4xf32>
  return
}

// -----

func.func @document_sums(%q: tensor<2x8x4x16xf16>, %n: tensor<4xi32>, %o: tensor<2x6xi64>, %s: tensor<1x2xi64>) {
  // expected-error@+1 {{the logarithm of the sums}}
  %0:2 = cuda.sdpa ins(%q, %q, %q, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<4xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64, documents = 2 : i64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>,
       value = #cuda.heads<at 0 by 512, 16, 64>, output = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x64xf16>, tensor<2x4x8xf32>
  return
}

// -----

func.func @document_parts(%q: tensor<2x8x4x16xf16>, %lse: tensor<2x8x4xf32>, %n: tensor<4xi32>, %o: tensor<2x6xi64>) {
  // expected-error@+1 {{has 3 parts for 4 documents, expected a divisor}}
  %0:3 = cuda.sdpa_grad ins(%q, %q, %q, %q, %q, %lse, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>,
      tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4xf32>, tensor<4xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       documents = 2 : i64, parts = 3 : i64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>, value = #cuda.heads<at 0 by 512, 16, 64>,
       output = #cuda.heads<at 0 by 512, 16, 64>, grad = #cuda.heads<at 0 by 512, 16, 64>, query_grad = #cuda.heads<at 0 by 512, 16, 64>,
       key_grad = #cuda.heads<at 0 by 512, 16, 64>, value_grad = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>
  return
}

// -----

func.func @offsets_of_floats(%c: tensor<2x3xf32>) {
  // expected-error@+1 {{has cumulative lengths of shape [2, 3] of 'f32', expected [.., N] of i32 or i64}}
  %0:2 = cuda.document_offsets ins(%c : tensor<2x3xf32>) {positions = 8 : i64, rows = array<i64: 4>} -> tensor<6xi32>, tensor<1x8xi64>
  return
}

// -----

func.func @offsets_of_nothing(%c: tensor<2x3xi32>) {
  // expected-error@+1 {{has 0 positions, expected at least 1 and less than 2^31}}
  %0:2 = cuda.document_offsets ins(%c : tensor<2x3xi32>) {positions = 0 : i64, rows = array<i64: 4>} -> tensor<6xi32>, tensor<1x8xi64>
  return
}

// -----

func.func @offsets_of_many_rows(%c: tensor<2x3xi32>) {
  // expected-error@+1 {{has 10 rows, expected 1 to 9}}
  %0:2 = cuda.document_offsets ins(%c : tensor<2x3xi32>) {positions = 8 : i64, rows = array<i64: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10>} -> tensor<6xi32>, tensor<10x8xi64>
  return
}

// -----

func.func @offsets_of_no_elements(%c: tensor<2x3xi32>) {
  // expected-error@+1 {{has a row of 0 elements, expected at least 1}}
  %0:2 = cuda.document_offsets ins(%c : tensor<2x3xi32>) {positions = 8 : i64, rows = array<i64: 0>} -> tensor<6xi32>, tensor<1x8xi64>
  return
}

// -----

func.func @offsets_of_shape(%c: tensor<2x3xi32>) {
  // expected-error@+1 {{offsets}}
  %0:2 = cuda.document_offsets ins(%c : tensor<2x3xi32>) {positions = 8 : i64, rows = array<i64: 4>} -> tensor<6xi32>, tensor<1x6xi64>
  return
}

// -----

func.func @document_alignment(%q: tensor<2x8x4x16xf16>, %lse: tensor<2x8x4xf32>, %n: tensor<4xi32>, %o: tensor<2x6xi64>) {
  // expected-error@+1 {{has parts of 2 documents, expected a multiple of 4}}
  %0:3 = cuda.sdpa_grad ins(%q, %q, %q, %q, %q, %lse, %n, %o : tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>,
      tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4xf32>, tensor<4xi32>, tensor<2x6xi64>)
      {sizes = #cuda.attention<batch = 2, heads = 4, key_heads = 4, queries = 8, keys = 8, head_size = 16, value_size = 16>, scale = 1.0 : f64,
       documents = 2 : i64, parts = 2 : i64, rows = array<i64: 4, 64>,
       query = #cuda.heads<at 0 by 512, 16, 64>, key = #cuda.heads<at 0 by 512, 16, 64>, value = #cuda.heads<at 0 by 512, 16, 64>,
       output = #cuda.heads<at 0 by 512, 16, 64>, grad = #cuda.heads<at 0 by 512, 16, 64>, query_grad = #cuda.heads<at 0 by 512, 16, 64>,
       key_grad = #cuda.heads<at 0 by 512, 16, 64>, value_grad = #cuda.heads<at 0 by 512, 16, 64>}
      -> tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>, tensor<2x8x4x16xf16>
  return
}
