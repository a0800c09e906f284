// Constants that do not fit f16, wherever they stand: what stores them and what
// reads them stays f32.
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

// A limit on the far side of zero is never stored unless it is reached.
// CHECK-LABEL: func.func @clip
// CHECK: train.clip {{.*}}max = 1.000000e+06{{.*}} : tensor<4x4xf32>
// CHECK: train.clip {{.*}}max = 1.000000e+09{{.*}} : tensor<4x4xf16>
func.func @clip(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = train.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = train.clip %m {min = 1.0e5 : f64, max = 1.0e6 : f64} : tensor<4x4xf32>
  %d = train.clip %m {min = -1.0e9 : f64, max = 1.0e9 : f64} : tensor<4x4xf32>
  %e = train.matmul %d, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = train.matmul %c, %e : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// What is computed from constants alone.
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

// A constant that is zero in f16 guards nothing any more.
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

// -----

// Scalars of other dialects.
// CHECK-LABEL: func.func @scalars
// CHECK: linalg.fill {{.*}} -> tensor<8x8xf32>
// CHECK: arith.select {{.*}} : tensor<8x8xi1>, tensor<8x8xf32>
// CHECK: tensor.splat {{.*}} : tensor<8x8xf32>
// CHECK: tensor.pad
// CHECK: tensor<8x4xf32> to tensor<8x8xf32>
// CHECK: linalg.generic
// CHECK-NOT: arith.truncf %{{.*}} : f32 to f16
// CHECK: -> tensor<8x8xf32>
// CHECK: return
func.func @scalars(%c: tensor<8x8xi1>, %a: tensor<8x8xf32>, %b: tensor<8x4xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %cst = arith.constant -1.0e9 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%cst : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = arith.select %c, %y, %f : tensor<8x8xi1>, tensor<8x8xf32>
  %y1 = train.matmul %s, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = tensor.splat %cst : tensor<8x8xf32>
  %y2 = train.matmul %g, %y1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = tensor.pad %b low[0, 0] high[0, 4] {
    ^bb0(%i: index, %j: index):
      tensor.yield %cst : f32
  } : tensor<8x4xf32> to tensor<8x8xf32>
  %y3 = train.matmul %p, %y2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%c, %y3 : tensor<8x8xi1>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: i1, %z: f32, %o: f32):
    %t = arith.select %x, %z, %cst : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  %y4 = train.matmul %m, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y4 : tensor<8x8xf32>
}
