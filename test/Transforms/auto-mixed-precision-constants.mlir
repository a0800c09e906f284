// Constants that do not fit f16. Operations that store or read them stay f32.
//
// RUN: amp-opt %s --split-input-file --auto-mixed-precision | FileCheck %s
// RUN: amp-opt %s --split-input-file --auto-mixed-precision=precision=bf16 | FileCheck %s --check-prefix=BF16

// CHECK-LABEL: func.func @pad
// CHECK: train.pad {{.*}} -> tensor<4x6xf32>
// CHECK: train.transpose {{.*}} -> tensor<6x4xf32>
// CHECK: train.softmax {{.*}} : tensor<6x4xf32>
// BF16-LABEL: func.func @pad
// BF16: train.softmax {{.*}} : tensor<6x4xbf16>
func.func @pad(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<6x4xf32> {
  %m = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = train.pad %m {low = array<i64: 0, 1>, high = array<i64: 0, 1>, interior = array<i64: 0, 0>, value = -1.0e9 : f64} : (tensor<4x4xf32>) -> tensor<4x6xf32>
  %t = train.transpose %p {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %s = train.softmax %t {axis = 0 : i64} : tensor<6x4xf32>
  %y = train.matmul %s, %w : (tensor<6x4xf32>, tensor<4x4xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}

// -----

// A limit that f16 cannot represent keeps the clip in f32. If the limit is
// stored, because it is on the other side of zero, the readers of the clip
// stay f32 as well.
// CHECK-LABEL: func.func @clip
// CHECK: train.clip {{.*}}max = 1.000000e+06{{.*}} : tensor<4x4xf32>
// CHECK: train.clip {{.*}}max = 1.000000e+09{{.*}} : tensor<4x4xf32>
func.func @clip(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = train.clip %m {min = 1.0e5 : f64, max = 1.0e6 : f64} : tensor<4x4xf32>
  %d = train.clip %m {min = -1.0e9 : f64, max = 1.0e9 : f64} : tensor<4x4xf32>
  %e = train.matmul %d, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = train.matmul %c, %e : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Values computed from constants alone.
// CHECK-LABEL: func.func @computed
// CHECK: train.mul {{.*}} -> tensor<4x4xf32>
// CHECK: train.add {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @computed(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %k = train.constant dense<300.0> : tensor<4x4xf32>
  %m = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = train.mul %k, %k : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = train.add %m, %p : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = train.matmul %s, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// A constant that rounds to zero in f16 no longer guards anything.
// CHECK-LABEL: func.func @vanishes
// CHECK: train.constant dense<9.99999971E-10> : tensor<f32>
// CHECK: train.add {{.*}} -> tensor<4x4xf32>
// BF16-LABEL: func.func @vanishes
// BF16: train.add {{.*}} -> tensor<4x4xbf16>
func.func @vanishes(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %eps = train.constant dense<1.0e-9> : tensor<f32>
  %m = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = train.add %m, %eps : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %y = train.matmul %a, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
