// Squares and wide accumulators in linalg, tosa and arith.
//
// RUN: amp-opt %s --auto-mixed-precision | FileCheck %s

// CHECK-LABEL: func.func @arith
// CHECK: arith.mulf {{.*}} : tensor<8x8xf32>
// CHECK: arith.mulf {{.*}} : tensor<8x8xf16>
func.func @arith(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = arith.mulf %0, %0 : tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = train.matmul %2, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = arith.mulf %2, %3 : tensor<8x8xf32>
  %5 = train.matmul %4, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @fma
// CHECK: math.fma {{.*}} : tensor<8x8xf32>
func.func @fma(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = math.fma %0, %0, %a : tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.mul {{.*}} -> tensor<1x8x8xf32>
func.func @tosa(%a: tensor<1x8x8xf32>, %w: tensor<1x8x8xf32>) -> tensor<1x8x8xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.matmul %a, %w, %z, %z : (tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %1 = tosa.mul %0, %0, %s : (tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1xi8>) -> tensor<1x8x8xf32>
  %2 = tosa.matmul %1, %w, %z, %z : (tensor<1x8x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  return %2 : tensor<1x8x8xf32>
}

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.mul {{.*}} -> tensor<8x8xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8x8xf32>, tensor<8x8xf32>)
func.func @linalg(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.mul ins(%0, %0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = train.matmul %1, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i,j)>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%2, %2 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %n = arith.negf %p : f32
    linalg.yield %n : f32
  } -> tensor<8x8xf32>
  %4 = train.matmul %3, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// Factors that are proportional to one value, across dialects and in bodies.
// CHECK-LABEL: func.func @spellings
// CHECK: arith.mulf {{.*}} : tensor<8x8xf32>
// CHECK: linalg.mul {{.*}} -> tensor<8x8xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<8x8xf16>)
#id = affine_map<(i, j) -> (i, j)>
func.func @spellings(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = arith.negf %0 : tensor<8x8xf32>
  %2 = arith.mulf %0, %1 : tensor<8x8xf32>
  %3 = train.matmul %2, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = linalg.abs ins(%3 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = linalg.mul ins(%4, %3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = train.matmul %5, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %n = arith.negf %x : f32
    %p = arith.mulf %n, %x : f32
    linalg.yield %p : f32
  } -> tensor<8x8xf32>
  %8 = train.matmul %7, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %9 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %n = arith.mulf %x, %half : f32
    %p = math.fma %x, %n, %half : f32
    linalg.yield %p : f32
  } -> tensor<8x8xf32>
  %10 = train.matmul %9, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %11 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %n = arith.mulf %x, %half : f32
    %p = arith.mulf %half, %n : f32
    linalg.yield %p : f32
  } -> tensor<8x8xf32>
  %12 = train.matmul %11, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %12 : tensor<8x8xf32>
}
