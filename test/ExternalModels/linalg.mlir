// linalg on tensors: casts are arith's, accumulators stay f32, bodies go on
// computing in f32.
//
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler > %t.once
// RUN: FileCheck %s < %t.once
// RUN: amp-opt %t.once --auto-mixed-precision=strategy=grappler | diff %t.once -
// RUN: amp-opt %s > %t.none
// RUN: amp-opt %t.once --amp-strip-precision | diff %t.none -
// RUN: mlir-opt %t.once --allow-unregistered-dialect -o /dev/null

#map = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#rows = affine_map<(i, j) -> (i)>

// A product, bias and relu in one body, a product.
// CHECK-LABEL: func.func @mlp
// CHECK-NOT: amp.cast
// CHECK: %[[F:.*]] = linalg.fill ins({{.*}} : f32) outs({{.*}}) -> tensor<4x16xf32>
// CHECK: arith.truncf %{{.*}} {amp.inserted} : tensor<4x8xf32> to tensor<4x8xf16>
// CHECK: %[[P:.*]] = linalg.matmul ins({{.*}} : tensor<4x8xf16>, tensor<8x16xf16>) outs(%[[F]] : tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK: %[[L:.*]] = arith.truncf %[[P]] {amp.inserted} : tensor<4x16xf32> to tensor<4x16xf16>
// CHECK: linalg.generic {{.*}} ins(%[[L]], {{.*}} : tensor<4x16xf16>, tensor<16xf16>) outs({{.*}} : tensor<4x16xf16>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %{{.*}}: f16):
// CHECK-NEXT: %[[WX:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK-NEXT: %[[WY:.*]] = arith.extf %[[Y]] : f16 to f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[WX]], %[[WY]] : f32
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[S]], {{.*}} : f32
// CHECK-NEXT: %[[N:.*]] = arith.truncf %[[M]] : f32 to f16
// CHECK-NEXT: linalg.yield %[[N]] : f16
// CHECK: linalg.matmul {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: return
func.func @mlp(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %b: tensor<16xf32>, %w2: tensor<16x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x16xf32>) outs(%f : tensor<4x16xf32>) -> tensor<4x16xf32>
  %e1 = tensor.empty() : tensor<4x16xf32>
  %1 = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%0, %b : tensor<4x16xf32>, tensor<16xf32>) outs(%e1 : tensor<4x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x16xf32>
  %e2 = tensor.empty() : tensor<4x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w2 : tensor<4x16xf32>, tensor<16x4xf32>) outs(%f2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// A product that is written out, an exponential that must stay f32, and a sum
// of f32.
// CHECK-LABEL: func.func @bodies
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<4x4xf16>, tensor<4x4xf16>) outs({{.*}} : tensor<4x4xf32>)
// CHECK: arith.mulf {{.*}} : f32
// CHECK: } -> tensor<4x4xf32>
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<4x4xf32>) outs({{.*}} : tensor<4x4xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<4x4xf32>) outs({{.*}} : tensor<4xf32>)
func.func @bodies(%a: tensor<4x4xf32>, %o: tensor<4x4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%x: f32, %z: f32):
    %e = math.exp %x : f32
    linalg.yield %e : f32
  } -> tensor<4x4xf32>
  %2 = linalg.generic {indexing_maps = [#map, #rows], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<4x4xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %z, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Buffers are someone else's.
// CHECK-LABEL: func.func @buffers
// CHECK: linalg.matmul ins({{.*}} : memref<4x4xf32>, memref<4x4xf32>) outs({{.*}} : memref<4x4xf32>)
func.func @buffers(%a: memref<4x4xf32>) {
  linalg.matmul ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  return
}
