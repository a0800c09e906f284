// Constant scales that enter by a multiplication of the seed, and the ranges of
// scaled values that have a bound for all data.
// RUN: amp-opt %s --split-input-file --verify-diagnostics --amp-check-loss-scaling -o /dev/null
// RUN: not amp-opt %s --split-input-file --amp-check-loss-scaling --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s
//
// CHECK: remark: {{.*}}SafeLossScale | {{.*}}Function=bounded {{.*}}Exponent=17
// CHECK: remark: {{.*}}SafeLossScale | {{.*}}Function=too_large {{.*}}Exponent=17
// CHECK: remark: {{.*}}SafeLossScale | {{.*}}Function=dynamic {{.*}}Exponent=17

// -----

// The seed times the constant that divides the gradient.
func.func @seed_times_constant(%w: tensor<16x10xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x16xf32> {amp.role = "batch", amp.name = "x"},
    %dy0: tensor<4x10xf32> {amp.role = "batch", amp.name = "dy"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<16x10xf32> {amp.updates = "w"}) {
  %c = train.constant dense<1024.0> : tensor<f32>
  %s = amp.gradient_seed "loss" : tensor<f32>
  %sc = train.mul %s, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %dy = train.mul %dy0, %sc : (tensor<4x10xf32>, tensor<f32>) -> tensor<4x10xf32>
  %g = train.matmul %x, %dy {transpose_a} : (tensor<4x16xf32>, tensor<4x10xf32>) -> tensor<16x10xf32>
  %u, %ok = amp.unscale %g by %c : (tensor<16x10xf32>) -> (tensor<16x10xf32>)
  %n = train.sgd %w, %u, %lr : (tensor<16x10xf32>, tensor<16x10xf32>, tensor<f32>) -> tensor<16x10xf32>
  return %n : tensor<16x10xf32>
}

// -----

// Another constant.
func.func @another_constant(%w: tensor<16x10xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x16xf32> {amp.role = "batch", amp.name = "x"},
    %dy0: tensor<4x10xf32> {amp.role = "batch", amp.name = "dy"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<16x10xf32> {amp.updates = "w"}) {
  %c = train.constant dense<1024.0> : tensor<f32>
  %s = amp.gradient_seed "loss" : tensor<f32>
  %d = train.constant dense<512.0> : tensor<f32>
  %sc = train.mul %s, %d : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %dy = train.mul %dy0, %sc : (tensor<4x10xf32>, tensor<f32>) -> tensor<4x10xf32>
  // expected-note @below {{it is unscaled from here on}}
  %g = train.matmul %x, %dy {transpose_a} : (tensor<4x16xf32>, tensor<4x10xf32>) -> tensor<16x10xf32>
  // expected-error @below {{gradient 0 is multiplied by 1, expected 1024}}
  %u, %ok = amp.unscale %g by %c : (tensor<16x10xf32>) -> (tensor<16x10xf32>)
  %n = train.sgd %w, %u, %lr : (tensor<16x10xf32>, tensor<16x10xf32>, tensor<f32>) -> tensor<16x10xf32>
  return %n : tensor<16x10xf32>
}

// -----

// The constant enters twice.
func.func @times_twice(%w: tensor<16x10xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x16xf32> {amp.role = "batch", amp.name = "x"},
    %dy0: tensor<4x10xf32> {amp.role = "batch", amp.name = "dy"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<16x10xf32> {amp.updates = "w"}) {
  %c = train.constant dense<1024.0> : tensor<f32>
  %s = amp.gradient_seed "loss" : tensor<f32>
  // expected-note @below {{the loss scale enters here}}
  %sc = train.mul %s, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-note @below {{the factor passes through}}
  %two = train.mul %sc, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %more = train.mul %s, %c : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-note @below {{the factor passes through}}
  %most = train.mul %two, %more : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-note @below {{the factor passes through}}
  %dy = train.mul %dy0, %most : (tensor<4x10xf32>, tensor<f32>) -> tensor<4x10xf32>
  // expected-note @below {{the factor passes through}}
  %g = train.matmul %x, %dy {transpose_a} : (tensor<4x16xf32>, tensor<4x10xf32>) -> tensor<16x10xf32>
  // expected-note @below {{the factor passes through this}}
  %u, %ok = amp.unscale %g by %c : (tensor<16x10xf32>) -> (tensor<16x10xf32>)
  // expected-error @below {{operand 1 is multiplied by 1024, expected an unscaled value}}
  %n = train.sgd %w, %u, %lr : (tensor<16x10xf32>, tensor<16x10xf32>, tensor<f32>) -> tensor<16x10xf32>
  return %n : tensor<16x10xf32>
}

// -----

// The gradient of the mean of four cross-entropies is at most S / 4.
func.func @bounded(%w: tensor<16x10xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x16xf16> {amp.role = "batch", amp.name = "x"}, %y: tensor<4x10xf16> {amp.role = "batch", amp.name = "y"},
    %t: tensor<4xi64> {amp.role = "batch", amp.name = "t"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<16x10xf32> {amp.updates = "w"}) {
  %scale = arith.constant dense<131072.0> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %dy = train.cross_entropy_grad %y, %t, %s : (tensor<4x10xf16>, tensor<4xi64>, tensor<f32>) -> tensor<4x10xf16>
  %g = train.matmul %x, %dy {transpose_a} : (tensor<4x16xf16>, tensor<4x10xf16>) -> tensor<16x10xf32>
  %u, %ok = amp.unscale %g by %scale : (tensor<16x10xf32>) -> (tensor<16x10xf32>)
  %n = train.sgd %w, %u, %lr : (tensor<16x10xf32>, tensor<16x10xf32>, tensor<f32>) -> tensor<16x10xf32>
  return %n : tensor<16x10xf32>
}

// -----

// The same, and a scale that is too large.
func.func @too_large(%w: tensor<16x10xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x16xf16> {amp.role = "batch", amp.name = "x"}, %y: tensor<4x10xf16> {amp.role = "batch", amp.name = "y"},
    %t: tensor<4xi64> {amp.role = "batch", amp.name = "t"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<16x10xf32> {amp.updates = "w"}) {
  %scale = arith.constant dense<262144.0> : tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  // expected-warning @below {{values of up to 0.25 times the loss scale can overflow in 'f16' with the constant loss scale 262144; expected one of at most 2^17, or a dynamic scale}}
  %dy = train.cross_entropy_grad %y, %t, %s : (tensor<4x10xf16>, tensor<4xi64>, tensor<f32>) -> tensor<4x10xf16>
  %g = train.matmul %x, %dy {transpose_a} : (tensor<4x16xf16>, tensor<4x10xf16>) -> tensor<16x10xf32>
  %u, %ok = amp.unscale %g by %scale : (tensor<16x10xf32>) -> (tensor<16x10xf32>)
  %n = train.sgd %w, %u, %lr : (tensor<16x10xf32>, tensor<16x10xf32>, tensor<f32>) -> tensor<16x10xf32>
  return %n : tensor<16x10xf32>
}

// -----

// A dynamic scale follows an overflow.
func.func @dynamic(%w: tensor<16x10xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x16xf16> {amp.role = "batch", amp.name = "x"}, %y: tensor<4x10xf16> {amp.role = "batch", amp.name = "y"},
    %t: tensor<4xi64> {amp.role = "batch", amp.name = "t"}, %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"},
    %scale: tensor<f32> {amp.role = "scaler_state", amp.name = "scale"}, %a: tensor<i32> {amp.role = "scaler_state", amp.name = "a"},
    %b: tensor<i32> {amp.role = "scaler_state", amp.name = "b"})
    -> (tensor<16x10xf32> {amp.updates = "w"}, tensor<f32> {amp.updates = "scale"}, tensor<i32> {amp.updates = "a"}, tensor<i32> {amp.updates = "b"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %dy = train.cross_entropy_grad %y, %t, %s : (tensor<4x10xf16>, tensor<4xi64>, tensor<f32>) -> tensor<4x10xf16>
  %g = train.matmul %x, %dy {transpose_a} : (tensor<4x16xf16>, tensor<4x10xf16>) -> tensor<16x10xf32>
  %u, %ok = amp.unscale %g by %scale : (tensor<16x10xf32>) -> (tensor<16x10xf32>)
  %flag = tensor.extract %ok[] : tensor<i1>
  %n = scf.if %flag -> tensor<16x10xf32> {
    %new = train.sgd %w, %u, %lr : (tensor<16x10xf32>, tensor<16x10xf32>, tensor<f32>) -> tensor<16x10xf32>
    scf.yield %new : tensor<16x10xf32>
  } else {
    scf.yield %w : tensor<16x10xf32>
  }
  %ns, %na, %nb = amp.update_scale %scale, %a, %b, %ok
  return %n, %ns, %na, %nb : tensor<16x10xf32>, tensor<f32>, tensor<i32>, tensor<i32>
}
