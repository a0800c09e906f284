// A product of a value with itself is a square in every spelling. It may leave
// the range, and so may its sum. A written-out layer norm keeps its statistics
// in f32 under every preset.
//
// RUN: amp-opt %s --auto-mixed-precision | FileCheck %s --check-prefixes=CHECK,OPT
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision="policy=pytorch strategy=autocast" | FileCheck %s --check-prefixes=CHECK
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 | FileCheck %s --check-prefix=BF16

// CHECK-LABEL: func.func @layer_norm
// CHECK: train.mul {{.*}} : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK: train.reduce_mean {{.*}} -> tensor<8x1xf32>
// CHECK: train.add {{.*}} -> tensor<8x1xf32>
// CHECK: train.rsqrt
// BF16-LABEL: func.func @layer_norm
// BF16: train.mul {{.*}} : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
// BF16: train.reduce_mean {{.*}} -> tensor<8x1xf32>
// BF16: train.rsqrt
func.func @layer_norm(%a: tensor<8x64xf32>, %w: tensor<64x64xf32>) -> tensor<8x64xf32> {
  %eps = train.constant dense<1.0e-5> : tensor<8x1xf32>
  %x = train.matmul %a, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %mean = train.reduce_mean %x {dims = array<i64: 1>, keep_dims} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %c = train.sub %x, %mean : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  %sq = train.mul %c, %c : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %var = train.reduce_mean %sq {dims = array<i64: 1>, keep_dims} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %ve = train.add %var, %eps : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %r = train.rsqrt %ve : tensor<8x1xf32>
  %y = train.mul %c, %r : (tensor<8x64xf32>, tensor<8x1xf32>) -> tensor<8x64xf32>
  %o = train.matmul %y, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %o : tensor<8x64xf32>
}

// Two operations that compute the same are one value.
// CHECK-LABEL: func.func @twice
// CHECK: train.mul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
func.func @twice(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = train.sub %x, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = train.sub %x, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %sq = train.mul %c, %d : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %o = train.matmul %sq, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %o : tensor<8x8xf32>
}

// The square of a bounded value is bounded.
// CHECK-LABEL: func.func @bounded
// CHECK: train.mul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
// BF16-LABEL: func.func @bounded
func.func @bounded(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %x = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = train.tanh %x : tensor<8x8xf32>
  %sq = train.mul %t, %t : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %o = train.matmul %sq, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %o : tensor<8x8xf32>
}

// The powers in a written-out GELU are not summed. f16 may lose their range,
// bf16 has it, in either spelling of a square.
// CHECK-LABEL: func.func @powers
// CHECK: train.mul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
// BF16-LABEL: func.func @powers
// BF16: train.mul {{.*}} : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
// BF16: train.mul {{.*}} : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
// BF16: train.square {{.*}} : tensor<8x8xbf16>
func.func @powers(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c = train.constant dense<0.044715> : tensor<8x8xf32>
  %x = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %x2 = train.mul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %x3 = train.mul %x2, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = train.mul %x3, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.add %x, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.tanh %1 : tensor<8x8xf32>
  %3 = train.mul %x, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = train.square %y : tensor<8x8xf32>
  %o = train.matmul %s, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %o : tensor<8x8xf32>
}

// A mean of squares minus the square of a mean: rounded, both may cancel to
// anything. Operations in between do not hide the sum.
// CHECK-LABEL: func.func @difference
// CHECK-NOT: train.square {{.*}}f16
// CHECK-NOT: train.mul {{.*}}f16
// BF16-LABEL: func.func @difference
// BF16: train.square {{.*}} : tensor<8x64xf32>
// BF16: train.reduce_mean {{.*}} -> tensor<8x1xf32>
// BF16: train.mul {{.*}} : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
// BF16: train.sub {{.*}} -> tensor<8x1xf32>
func.func @difference(%a: tensor<8x64xf32>, %w: tensor<64x64xf32>) -> tensor<8x1xf32> {
  %half = train.constant dense<0.5> : tensor<8x64xf32>
  %x = train.matmul %a, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %mean = train.reduce_mean %x {dims = array<i64: 1>, keep_dims} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %sq = train.square %x : tensor<8x64xf32>
  %scaled = train.mul %sq, %half : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %msq = train.reduce_mean %scaled {dims = array<i64: 1>, keep_dims} : (tensor<8x64xf32>) -> tensor<8x1xf32>
  %m2 = train.mul %mean, %mean : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  %var = train.sub %msq, %m2 : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
  return %var : tensor<8x1xf32>
}

// A product is a square if both factors are proportional to one value.
// CHECK-LABEL: func.func @spellings
// CHECK-COUNT-5: train.mul {{.*}} -> tensor<8x8xf32>
// CHECK: train.mul {{.*}} -> tensor<64xf32>
// CHECK-NOT: train.mul
// CHECK: return
func.func @spellings(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %two = train.constant dense<2.0> : tensor<8x8xf32>
  %x = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = train.matmul %w, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = train.neg %x : tensor<8x8xf32>
  %0 = train.mul %n, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = train.relu %x : tensor<8x8xf32>
  %1 = train.mul %x, %r : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = train.sub %x, %m : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %e = train.sub %m, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.mul %d, %e : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = train.add %x, %m : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = train.add %m, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.mul %s, %t : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = train.abs %n : tensor<8x8xf32>
  %h = train.div %x, %two : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = train.mul %b, %h : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y0 = train.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y1 = train.matmul %1, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y2 = train.matmul %3, %4 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %u = train.reshape %n : (tensor<8x8xf32>) -> tensor<64xf32>
  %v = train.reshape %n : (tensor<8x8xf32>) -> tensor<64xf32>
  %5 = train.mul %u, %v : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %6 = train.reshape %5 : (tensor<64xf32>) -> tensor<8x8xf32>
  %y3 = train.matmul %6, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y0, %y1, %y2, %y3 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// A product of two projections is not a square, and a common factor that is
// bounded does not make one.
// CHECK-LABEL: func.func @gates
// CHECK-COUNT-4: train.mul {{.*}} -> tensor<8x8xf16>
func.func @gates(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %x = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = train.mul %x, %g : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y0 = train.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = train.sigmoid %y0 : tensor<8x8xf32>
  %1 = train.mul %x, %m : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.mul %g, %m : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.mul %1, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y1 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y0, %y1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// A product of a value with itself holds sums of squares if each element meets
// itself. The operands are low, the result is not, nor is what follows.
// OPT-LABEL: func.func @gram
// OPT: %[[G:.*]] = train.matmul {{.*}} {transpose_b} : (tensor<8x64xf16>, tensor<8x64xf16>) -> tensor<8x8xf32>
// OPT: train.mul %[[G]], {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
func.func @gram(%a: tensor<8x64xf32>, %w: tensor<64x64xf32>) -> tensor<8x64xf32> {
  %quarter = train.constant dense<0.25> : tensor<8x8xf32>
  %x = train.matmul %a, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %n = train.neg %x : tensor<8x64xf32>
  %g = train.matmul %x, %n {transpose_b} : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %s = train.mul %g, %quarter : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %o = train.matmul %s, %x : (tensor<8x8xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  return %o : tensor<8x64xf32>
}

// Rows of a square matrix meet themselves in x * transpose(x), not in x * x.
// OPT-LABEL: func.func @square_gram
// OPT-COUNT-3: train.matmul {{.*}} -> tensor<64x64xf32>
// OPT: train.matmul {{.*}} -> tensor<64x64xf16>
func.func @square_gram(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %t = train.transpose %x {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = train.matmul %x, %t : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = train.matmul %x, %x {transpose_b} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = train.matmul %t, %t {transpose_a} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = train.matmul %t, %t : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %ab = train.matmul %a, %b : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %cd = train.matmul %c, %d : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = train.matmul %ab, %cd : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Parts of a tensor are different values, and a number that both factors have
// in common is not one of them.
// OPT-LABEL: func.func @not_gram
// OPT: train.matmul {{.*}} : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
// OPT: train.matmul {{.*}} : (tensor<8x32xf16>, tensor<8x32xf16>) -> tensor<8x8xf16>
func.func @not_gram(%a: tensor<8x64xf32>, %w: tensor<64x64xf32>, %t: tensor<f32>) -> tensor<8x32xf32> {
  %ww = train.matmul %w, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %x = train.matmul %a, %ww : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %q = train.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 8, 32>, strides = array<i64: 1, 1>} : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %k = train.slice %x {offsets = array<i64: 0, 32>, sizes = array<i64: 8, 32>, strides = array<i64: 1, 1>} : (tensor<8x64xf32>) -> tensor<8x32xf32>
  %b = train.broadcast %t {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<8x32xf32>
  %qt = train.mul %q, %b : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %kt = train.mul %k, %b : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  %g = train.matmul %qt, %kt {transpose_b} : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x8xf32>
  %o = train.matmul %g, %q : (tensor<8x8xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  return %o : tensor<8x32xf32>
}

// A product by ones is a sum, and the sum of squares stays f32. A sum of other
// values is a product.
// OPT-LABEL: func.func @added_by_a_product
// OPT: train.matmul {{.*}} : (tensor<8x64xf32>, tensor<64x1xf32>) -> tensor<8x1xf32>
// OPT: train.matmul {{.*}} : (tensor<8x64xf16>, tensor<64x1xf16>) -> tensor<8x1xf32>
func.func @added_by_a_product(%a: tensor<8x64xf32>, %w: tensor<64x64xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>) {
  %ones = train.constant dense<1.0> : tensor<64x1xf32>
  %x = train.matmul %a, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %sq = train.square %x : tensor<8x64xf32>
  %s = train.matmul %sq, %ones : (tensor<8x64xf32>, tensor<64x1xf32>) -> tensor<8x1xf32>
  %m = train.matmul %x, %ones : (tensor<8x64xf32>, tensor<64x1xf32>) -> tensor<8x1xf32>
  return %s, %m : tensor<8x1xf32>, tensor<8x1xf32>
}

// Two differences from one value, as in a running variance.
// CHECK-LABEL: func.func @differences
// CHECK: train.mul {{.*}} : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
func.func @differences(%a: tensor<8x64xf32>, %w: tensor<64x64xf32>, %m: tensor<64xf32>, %n: tensor<64xf32>) -> tensor<8x64xf32> {
  %x = train.matmul %a, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %c = train.sub %x, %m : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  %d = train.sub %x, %n : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  %sq = train.mul %c, %d : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %o = train.matmul %sq, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %o : tensor<8x64xf32>
}
