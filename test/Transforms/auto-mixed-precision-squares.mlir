// A product of a value with itself is a square in every spelling. It may leave
// the range, and so may its sum. A written-out layer norm keeps its statistics
// in f32 under every preset.
//
// RUN: amp-opt %s --auto-mixed-precision | FileCheck %s
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
