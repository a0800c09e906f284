// The range rules cover numbers in attributes and every form of constant. A
// number that f16 cannot represent keeps the operations that combine with it in
// f32. bf16 has the exponent range of f32.
//
// RUN: amp-opt %s --auto-mixed-precision | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision="policy=tensorflow strategy=grappler" | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 | FileCheck %s --check-prefix=BF16

// CHECK-LABEL: func.func @clip
// CHECK: train.clip {{.*}} : tensor<16x16xf32>
// CHECK: train.minimum {{.*}} : (tensor<16x16xf32>, tensor<16x16xf32>)
// BF16-LABEL: func.func @clip
// BF16: train.clip {{.*}} : tensor<16x16xbf16>
// BF16: train.minimum {{.*}} : (tensor<16x16xbf16>, tensor<16x16xbf16>)
func.func @clip(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %c = train.constant dense<128000.0> : tensor<16x16xf32>
  %0 = train.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = train.clip %0 {min = -128000.0 : f64, max = 128000.0 : f64} : tensor<16x16xf32>
  %2 = train.matmul %1, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = train.minimum %2, %c : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = train.matmul %3, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %2, %4 : tensor<16x16xf32>, tensor<16x16xf32>
}

// The gradient passes where the value is within the limits.
// CHECK-LABEL: func.func @clip_grad
// CHECK: train.clip_grad {{.*}} : tensor<16x16xf32>
func.func @clip_grad(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = train.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = train.clip_grad %0, %0 {min = -128000.0 : f64, max = 128000.0 : f64} : tensor<16x16xf32>
  %2 = train.matmul %1, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}

// A limit that rounds to zero, or an infinite scale of a dropout, is out of
// range. Infinity and the largest number are not limits.
// CHECK-LABEL: func.func @others
// CHECK: train.clip {{.*}} : tensor<16x16xf32>
// CHECK: train.dropout {{.*}} -> tensor<16x16xf32>
// CHECK: train.clip {{.*}} : tensor<16x16xf16>
// CHECK: train.clip {{.*}} : tensor<16x16xf16>
func.func @others(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %r: tensor<2xi64>) -> tensor<16x16xf32> {
  %0 = train.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = train.clip %0 {min = 1.0e-12 : f64, max = 1.0 : f64} : tensor<16x16xf32>
  %2 = train.matmul %1, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = train.dropout %2, %r {rate = 0.99999 : f64} : (tensor<16x16xf32>, tensor<2xi64>) -> tensor<16x16xf32>
  %4 = train.matmul %3, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %5 = train.clip %4 {min = 0.0 : f64, max = 0x7FF0000000000000 : f64} : tensor<16x16xf32>
  %6 = train.matmul %5, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %7 = train.clip %6 {min = 0.0 : f64, max = 3.4028234663852886e+38 : f64} : tensor<16x16xf32>
  %8 = train.matmul %7, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %8 : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @sparse
// CHECK: train.minimum {{.*}} : (tensor<16x16xf32>, tensor<16x16xf32>)
// CHECK: train.minimum {{.*}} : (tensor<16x16xf16>, tensor<16x16xf16>)
// BF16-LABEL: func.func @sparse
// BF16: train.minimum {{.*}} : (tensor<16x16xbf16>, tensor<16x16xbf16>)
func.func @sparse(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %large = arith.constant sparse<[[0, 0]], 1.0e5> : tensor<16x16xf32>
  %small = arith.constant sparse<[[0, 0]], 1.0> : tensor<16x16xf32>
  %0 = train.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = train.minimum %0, %large : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = train.matmul %1, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = train.minimum %2, %small : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = train.matmul %3, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %4 : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @resource
// CHECK: train.minimum {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK: train.minimum {{.*}} : (tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK: train.minimum {{.*}} : (tensor<2x2xf16>, tensor<2x2xf16>)
func.func @resource(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %large = arith.constant dense_resource<large> : tensor<2x2xf32>
  %other = train.constant dense_resource<large> : tensor<2x2xf32>
  %ones = arith.constant dense_resource<ones> : tensor<2x2xf32>
  %0 = train.matmul %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = train.minimum %0, %large : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = train.matmul %1, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = train.minimum %2, %other : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = train.matmul %3, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = train.minimum %4, %ones : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = train.matmul %5, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %6 : tensor<2x2xf32>
}

// An operation that only moves a constant has the constant's elements, in other
// dialects too.
// CHECK-LABEL: func.func @moved
// CHECK: arith.minimumf {{.*}} : tensor<16x16xf32>
// CHECK: arith.minimumf {{.*}} : tensor<16x16xf32>
// BF16-LABEL: func.func @moved
// BF16: arith.minimumf {{.*}} : tensor<16x16xbf16>
func.func @moved(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %flat = arith.constant dense<1.0e5> : tensor<256xf32>
  %wide = arith.constant dense<1.0e5> : tensor<32x16xf32>
  %c0 = tensor.expand_shape %flat [[0, 1]] output_shape [16, 16] : tensor<256xf32> into tensor<16x16xf32>
  %c1 = tensor.extract_slice %wide[0, 0] [16, 16] [1, 1] : tensor<32x16xf32> to tensor<16x16xf32>
  %0 = train.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = arith.minimumf %0, %c0 : tensor<16x16xf32>
  %2 = train.matmul %1, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = arith.minimumf %2, %c1 : tensor<16x16xf32>
  %4 = train.matmul %3, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %4 : tensor<16x16xf32>
}

{-#
  dialect_resources: {
    builtin: {
      large: "0x040000000000fac70000fa470000803f0000803f",
      ones: "0x040000000000803f0000803f0000803f0000803f"
    }
  }
#-}
