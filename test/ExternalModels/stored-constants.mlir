// Scalars of other dialects that do not fit f16 keep f32 what stores them.
//
// RUN: amp-opt %s --auto-mixed-precision | FileCheck %s

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
