// If the low type rounds a limit near 1 or -1 to 1 or -1, the operation stays in
// f32. Values computed from its result stay in f32 up to a product (decision
// 0132).
//
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision=precision=fp16 | FileCheck %s --check-prefix=F16
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 > %t
// RUN: amp-opt %t --auto-mixed-precision=precision=bf16 | diff %t -
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16 strategy=autocast" | FileCheck %s --check-prefix=FRAMEWORK

// REMARK: Function=attribute{{.*}}Op=train.clip{{.*}}limited by a number near 1 that the low type rounds to 1, or computed from such a value

// CHECK-LABEL: func.func @attribute
// CHECK: train.clip {{.*}} : tensor<16x16xf32>
// CHECK: train.mul {{.*}} : (tensor<16x16xf32>, tensor<16x16xf32>)
// CHECK: train.sub {{.*}} : (tensor<16x16xf32>, tensor<16x16xf32>)
// CHECK: train.matmul {{.*}} : (tensor<16x16xbf16>, tensor<16x16xbf16>)
// F16-LABEL: func.func @attribute
// F16: train.clip {{.*}} : tensor<16x16xf32>
// FRAMEWORK-LABEL: func.func @attribute
// FRAMEWORK: train.clip {{.*}} : tensor<16x16xbf16>
func.func @attribute(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %one = train.constant dense<1.0> : tensor<16x16xf32>
  %0 = train.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = train.clip %0 {min = -0.9999 : f64, max = 0.9999 : f64} : tensor<16x16xf32>
  %2 = train.mul %1, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = train.sub %one, %2 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = train.matmul %3, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %4 : tensor<16x16xf32>
}

// A broadcast constant is a limit on one side. f16 does not round 0.999 to 1.
// CHECK-LABEL: func.func @constant
// CHECK: train.minimum {{.*}} : (tensor<16x16xf32>, tensor<16x16xf32>)
// CHECK: train.matmul {{.*}} : (tensor<16x16xbf16>, tensor<16x16xbf16>)
// F16-LABEL: func.func @constant
// F16: train.minimum {{.*}} : (tensor<16x16xf16>, tensor<16x16xf16>)
func.func @constant(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c = train.constant dense<0.999> : tensor<f32>
  %m = train.broadcast %c {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<16x16xf32>
  %0 = train.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = train.minimum %0, %m : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = train.matmul %1, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}

// The number 1, a number that is not near 1, a factor and a table are not such
// limits.
// CHECK-LABEL: func.func @others
// CHECK: train.clip {{.*}} : tensor<16x16xbf16>
// CHECK: train.minimum {{.*}} : (tensor<16x16xbf16>, tensor<16x16xbf16>)
// CHECK: train.mul {{.*}} : (tensor<16x16xbf16>, tensor<16x16xbf16>)
// CHECK: train.minimum {{.*}} : (tensor<64x2x2xbf16>, tensor<64x2x2xbf16>)
func.func @others(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %c = train.constant dense<0.9> : tensor<16x16xf32>
  %f = train.constant dense<0.9999> : tensor<16x16xf32>
  %t = train.constant dense<[[0.9999, 0.5], [0.25, 0.125]]> : tensor<2x2xf32>
  %0 = train.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = train.clip %0 {min = -1.0 : f64, max = 1.0 : f64} : tensor<16x16xf32>
  %2 = train.minimum %1, %c : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = train.mul %2, %f : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = train.reshape %3 : (tensor<16x16xf32>) -> tensor<64x2x2xf32>
  %5 = train.broadcast %t {dims = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<64x2x2xf32>
  %6 = train.minimum %4, %5 : (tensor<64x2x2xf32>, tensor<64x2x2xf32>) -> tensor<64x2x2xf32>
  %7 = train.reshape %6 : (tensor<64x2x2xf32>) -> tensor<16x16xf32>
  %8 = train.matmul %7, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %8 : tensor<16x16xf32>
}
