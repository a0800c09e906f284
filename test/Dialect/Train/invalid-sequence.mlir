// RUN: amp-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x6xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'train.gather' op 'axis' must be in [0, 2), got 2}}
  %0 = train.gather %x, %i {axis = 2 : i64} : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<?x6xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'train.gather' op dimension 0, along which slices are taken, must be static, got 'tensor<?x6xf32>'}}
  %0 = train.gather %x, %i {axis = 0 : i64} : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<3x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'train.gather' op }}
  %0 = train.gather %x, %i {axis = 0 : i64} : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<3x6xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'train.scatter_add' op 'axis' must be in [0, 2), got 3}}
  %0 = train.scatter_add %x, %i {axis = 3 : i64} : (tensor<3x6xf32>, tensor<3xi64>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'train.scatter_add' op 'updates' must have the dimensions of 'indices' from dimension 0 on, got 'tensor<2x6xf32>' and 'tensor<3xi64>'}}
  %0 = train.scatter_add %x, %i {axis = 0 : i64} : (tensor<2x6xf32>, tensor<3xi64>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<3x6xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'train.scatter_add' op dimension 0 of the result must be static, got 'tensor<?x6xf32>'}}
  %0 = train.scatter_add %x, %i {axis = 0 : i64} : (tensor<3x6xf32>, tensor<3xi64>) -> tensor<?x6xf32>
  return
}

// -----

func.func @f(%x: tensor<3x6xf16>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'train.scatter_add' op expected a result of 'f16' or 'f32' elements, got 'bf16'}}
  %0 = train.scatter_add %x, %i {axis = 0 : i64} : (tensor<3x6xf16>, tensor<3xi64>) -> tensor<4x6xbf16>
  return
}

// -----

func.func @f(%x: tensor<3x6xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{'train.scatter_add' op expected a result of 'f32' elements, got 'f16'}}
  %0 = train.scatter_add %x, %i {axis = 0 : i64} : (tensor<3x6xf32>, tensor<3xi64>) -> tensor<4x6xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'train.argmax' op 'axis' must be in [0, 1), got 1}}
  %0 = train.argmax %x {axis = 1 : i64} : (tensor<4xf32>) -> tensor<i64>
  return
}

// -----

func.func @f(%x: tensor<?x4xf32>) {
  // expected-error@+1 {{'train.argmax' op dimension 0 must be static and shorter than 16777216, got 'tensor<?x4xf32>'}}
  %0 = train.argmax %x {axis = 0 : i64} : (tensor<?x4xf32>) -> tensor<4xi64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'train.cumsum' op 'axis' must be in [0, 1), got 1}}
  %0 = train.cumsum %x {axis = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'train.cumsum' op expected a result of 'f32' elements, got 'f16'}}
  %0 = train.cumsum %x {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{'train.logsumexp' op 'axis' must be in [0, 1), got 1}}
  %0 = train.logsumexp %x {axis = 1 : i64} : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<4xf16>) {
  // expected-error@+1 {{'train.logsumexp' op expected a result of 'f16' or 'f32' elements, got 'bf16'}}
  %0 = train.logsumexp %x {axis = 0 : i64} : (tensor<4xf16>) -> tensor<bf16>
  return
}

// -----

func.func @f(%x: tensor<2x4xf16>, %t: tensor<2x2xf64>) {
  // expected-error@+1 {{'train.rotary_embedding' op tables must be 'f32' for 'f16' inputs, got 'f64'}}
  %0 = train.rotary_embedding %x, %t, %t : (tensor<2x4xf16>, tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x4xf16>
  return
}

// -----

func.func @f(%x: tensor<2x5xf32>, %t: tensor<2x2xf32>) {
  // expected-error@+1 {{'train.rotary_embedding' op expected an input with a last dimension of even extent, got 'tensor<2x5xf32>'}}
  %0 = train.rotary_embedding %x, %t, %t : (tensor<2x5xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %t: tensor<3x2xf32>) {
  // expected-error@+1 {{'train.rotary_embedding' op 'cosines' must have the trailing dimensions of the input with half of the last, all static, got 'tensor<3x2xf32>' for 'tensor<2x4xf32>'}}
  %0 = train.rotary_embedding %x, %t, %t : (tensor<2x4xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %t: tensor<2x2xf32>, %u: tensor<2xf32>) {
  // expected-error@+1 {{'train.rotary_embedding' op 'sines' must have type 'tensor<2x2xf32>', got 'tensor<2xf32>'}}
  %0 = train.rotary_embedding %x, %t, %u : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%q: tensor<4xf32>, %k: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op operands must have one rank of at least 2, got 'tensor<4xf32>'}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<5x3x4xf32>, %v: tensor<2x3x4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op keys and values must have equal leading dimensions}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v : (tensor<2x3x4xf32>, tensor<5x3x4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x3x4xf32>, %k: tensor<5x2x3x4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op operands must have equal leading dimensions, apart from the number of heads}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %k : (tensor<2x6x3x4xf32>, tensor<5x2x3x4xf32>, tensor<5x2x3x4xf32>) -> (tensor<2x6x3x4xf32>, tensor<2x6x3xf32>)
  return
}

// -----

func.func @f(%q: tensor<2x6x3x4xf32>, %k: tensor<2x4x3x4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op the numbers of heads of queries and keys must be static, and the first a multiple of the second}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %k : (tensor<2x6x3x4xf32>, tensor<2x4x3x4xf32>, tensor<2x4x3x4xf32>) -> (tensor<2x6x3x4xf32>, tensor<2x6x3xf32>)
  return
}

// -----

func.func @f(%q: tensor<?x?x6x3x4xf32>, %k: tensor<?x?x2x3x4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op with fewer heads of keys than of queries, at most one dimension may be dynamic}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %k : (tensor<?x?x6x3x4xf32>, tensor<?x?x2x3x4xf32>, tensor<?x?x2x3x4xf32>) -> (tensor<?x?x6x3x4xf32>, tensor<?x?x6x3xf32>)
  return
}

// -----

func.func @f(%q: tensor<?x4xf32>, %k: tensor<?x4xf32>, %v: tensor<?x4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op the last two dimensions must be static}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %k: tensor<3x5xf32>, %v: tensor<3x4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op queries and keys must have one width}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v : (tensor<3x4xf32>, tensor<3x5xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %k: tensor<3x4xf32>, %v: tensor<2x4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op expected as many keys as values}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %k: tensor<2x4xf32>, %v: tensor<2x4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op causal attention needs as many queries as keys}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v {causal} : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op 'scale' must be finite}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v {scale = 0x7FF0000000000000 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %k: tensor<3x4xf32>, %v: tensor<3x4xf32>, %m: tensor<2x3xi1>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op 'mask' must broadcast to the scores, 'tensor<3x3xi1>', got 'tensor<2x3xi1>'}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v, %m : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x3xi1>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf16>, %k: tensor<3x4xf16>, %v: tensor<3x4xf16>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op 'logsumexp' must be 'f32' for 'f16' operands, got 'f64'}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v : (tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>) -> (tensor<3x4xf16>, tensor<3xf64>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf16>, %k: tensor<3x4xf16>, %v: tensor<3x4xf16>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op expected a result of 'f16' or 'f32' elements, got 'bf16'}}
  %0:2 = train.scaled_dot_product_attention %q, %k, %v : (tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>) -> (tensor<3x4xbf16>, tensor<3xf32>)
  return
}

// -----

func.func @f(%dy: tensor<3x5xf32>, %x: tensor<3x4xf32>, %y: tensor<3x4xf32>, %l: tensor<3xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention_grad' op 'grad' must have type 'tensor<3x4xf32>', got 'tensor<3x5xf32>'}}
  %0:3 = train.scaled_dot_product_attention_grad %dy, %x, %x, %x, %y, %l : (tensor<3x5xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @f(%dy: tensor<3x4xf32>, %x: tensor<3x4xf32>, %y: tensor<4xf32>, %l: tensor<3xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention_grad' op 'output' must have type 'tensor<3x4xf32>', got 'tensor<4xf32>'}}
  %0:3 = train.scaled_dot_product_attention_grad %dy, %x, %x, %x, %y, %l : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @f(%dy: tensor<3x4xf32>, %x: tensor<3x4xf32>, %y: tensor<3x4xf32>, %l: tensor<4xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention_grad' op 'logsumexp' must have type 'tensor<3xf32>', got 'tensor<4xf32>'}}
  %0:3 = train.scaled_dot_product_attention_grad %dy, %x, %x, %x, %y, %l : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @f(%dy: tensor<3x4xf16>, %x: tensor<3x4xf16>, %y: tensor<3x4xf16>, %l: tensor<3xf64>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention_grad' op 'logsumexp' must be 'f32' for 'f16' operands, got 'f64'}}
  %0:3 = train.scaled_dot_product_attention_grad %dy, %x, %x, %x, %y, %l : (tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>, tensor<3xf64>) -> (tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>)
  return
}

// -----

func.func @f(%dy: tensor<3x4xf16>, %x: tensor<3x4xf16>, %y: tensor<3x4xbf16>, %l: tensor<3xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention_grad' op 'output' cannot be the result of 'f16' operands, got 'bf16'}}
  %0:3 = train.scaled_dot_product_attention_grad %dy, %x, %x, %x, %y, %l : (tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xbf16>, tensor<3xf32>) -> (tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>)
  return
}

// -----

func.func @f(%dy: tensor<3x4xf16>, %x: tensor<3x4xf16>, %y: tensor<3x4xf16>, %l: tensor<3xf32>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention_grad' op expected a result of 'f16' or 'f32' elements, got 'bf16'}}
  %0:3 = train.scaled_dot_product_attention_grad %dy, %x, %x, %x, %y, %l : (tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>, tensor<3x4xf16>, tensor<3xf32>) -> (tensor<3x4xbf16>, tensor<3x4xbf16>, tensor<3x4xbf16>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'train.rms_norm' op 'epsilon' must be finite and not negative, got -1}}
  %0:2 = train.rms_norm %x, %g {epsilon = -1.0 : f64} : (tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf16>, %g: tensor<4xf64>) {
  // expected-error@+1 {{'train.rms_norm' op parameters and statistics must be 'f32' for 'f16' inputs, got 'f64'}}
  %0:2 = train.rms_norm %x, %g : (tensor<2x4xf16>, tensor<4xf64>) -> (tensor<2x4xf16>, tensor<2xf64>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %g: tensor<3xf32>) {
  // expected-error@+1 {{'train.rms_norm' op 'gamma' must have the trailing dimensions of the input}}
  %0:2 = train.rms_norm %x, %g : (tensor<2x4xf32>, tensor<3xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{'train.rms_norm_grad' op 'rstd' must have type 'tensor<2xf32>', got 'tensor<4xf32>'}}
  %0:2 = train.rms_norm_grad %x, %x, %g, %g : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %g: tensor<4xf32>, %r: tensor<2xf32>) {
  // expected-error@+1 {{'train.rms_norm_grad' op 'grad' must have type 'tensor<2x4xf32>', got 'tensor<4xf32>'}}
  %0:2 = train.rms_norm_grad %g, %x, %g, %r : (tensor<4xf32>, tensor<2x4xf32>, tensor<4xf32>, tensor<2xf32>) -> (tensor<2x4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf16>, %g: tensor<4xf64>, %r: tensor<2xf64>) {
  // expected-error@+1 {{'train.rms_norm_grad' op parameters and statistics must be 'f32' for 'f16' inputs, got 'f64'}}
  %0:2 = train.rms_norm_grad %x, %x, %g, %r : (tensor<2x4xf16>, tensor<2x4xf16>, tensor<4xf64>, tensor<2xf64>) -> (tensor<2x4xf16>, tensor<4xf64>)
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'train.silu' op requires the same type for all operands and results}}
  %0 = "train.silu"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf16>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'train.silu_grad' op requires the same type for all operands and results}}
  %0 = "train.silu_grad"(%x, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf16>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %l: tensor<2xi64>) {
  // expected-error@+1 {{'train.cross_entropy' op 'label_smoothing' must be in [0, 1), got 1}}
  %0 = train.cross_entropy %x, %l {label_smoothing = 1.0 : f64} : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<2x4xf32>, %l: tensor<2xi64>, %g: tensor<f32>) {
  // expected-error@+1 {{'train.cross_entropy_grad' op 'label_smoothing' must be in [0, 1), got -1}}
  %0 = train.cross_entropy_grad %x, %l, %g {label_smoothing = -1.0 : f64} : (tensor<2x4xf32>, tensor<2xi64>, tensor<f32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%l: tensor<2x1xi32>) {
  // expected-error@+1 {{'train.document_mask' op the last dimension of the cumulative lengths must be static and at least 2, got 'tensor<2x1xi32>'}}
  %0 = train.document_mask %l {positions = 6 : i64} : (tensor<2x1xi32>) -> tensor<2x1x6x6xi1>
  return
}

// -----

func.func @f(%l: tensor<2x?xi32>) {
  // expected-error@+1 {{'train.document_mask' op the last dimension of the cumulative lengths must be static and at least 2, got 'tensor<2x?xi32>'}}
  %0 = train.document_mask %l {positions = 6 : i64} : (tensor<2x?xi32>) -> tensor<2x1x6x6xi1>
  return
}

// -----

func.func @f(%l: tensor<2x3xi32>) {
  // expected-error@+1 {{'train.document_mask' op 'positions' must be at least 1 and less than 2^31, got 0}}
  %0 = train.document_mask %l {positions = 0 : i64} : (tensor<2x3xi32>) -> tensor<2x1x6x6xi1>
  return
}

// -----

func.func @f(%l: tensor<2x3xi64>) {
  // expected-error@+1 {{'train.document_mask' op 'positions' must be at least 1 and less than 2^31, got 2147483648}}
  %0 = train.document_mask %l {positions = 2147483648 : i64} : (tensor<2x3xi64>) -> tensor<2x1x6x6xi1>
  return
}

// -----

// The heads share the mask of a sample.
func.func @f(%l: tensor<2x3xi32>) {
  // expected-error@+1 {{'train.document_mask' op}}
  %0 = train.document_mask %l {positions = 6 : i64} : (tensor<2x3xi32>) -> tensor<2x6x6xi1>
  return
}

// -----

// The state follows the mask.
func.func @f(%q: tensor<3x4xf32>, %m: tensor<3x3xi1>, %r: tensor<2xi64>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op expected at most a mask and then a state of the random generator as its last operands}}
  %0:2 = train.scaled_dot_product_attention %q, %q, %q, %r, %m {dropout_rate = 0.5 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<2xi64>, tensor<3x3xi1>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %m: tensor<3x3xi1>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op expected at most a mask and then a state of the random generator as its last operands}}
  %0:2 = train.scaled_dot_product_attention %q, %q, %q, %m, %m : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x3xi1>, tensor<3x3xi1>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %r: tensor<2xi64>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op expected 'dropout_rate' and a state of the random generator, or neither}}
  %0:2 = train.scaled_dot_product_attention %q, %q, %q, %r : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<2xi64>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %m: tensor<3x3xi1>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op expected 'dropout_rate' and a state of the random generator, or neither}}
  %0:2 = train.scaled_dot_product_attention %q, %q, %q, %m {dropout_rate = 0.5 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x3xi1>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %r: tensor<2xi64>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op 'dropout_rate' must be in [0, 1), got 1.000000e+00}}
  %0:2 = train.scaled_dot_product_attention %q, %q, %q, %r {dropout_rate = 1.0 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<2xi64>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}

// -----

func.func @f(%q: tensor<3x4xf32>, %r: tensor<3xi64>) {
  // expected-error@+1 {{'train.scaled_dot_product_attention' op the state of the generator must be tensor<2xi64>, got 'tensor<3xi64>'}}
  %0:2 = train.scaled_dot_product_attention %q, %q, %q, %r {dropout_rate = 0.5 : f64} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3xi64>) -> (tensor<3x4xf32>, tensor<3xf32>)
  return
}
