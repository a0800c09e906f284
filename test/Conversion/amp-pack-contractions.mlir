// RUN: amp-opt %s --amp-pack-contractions --split-input-file | FileCheck %s
// RUN: amp-opt %s --amp-pack-contractions --split-input-file > %t.once
// RUN: amp-opt %t.once --amp-pack-contractions --split-input-file | diff %t.once -
// RUN: amp-opt %s --amp-pack-contractions --amp-vectorize-contractions --split-input-file > %t.vectors
// RUN: amp-opt %s --amp-vectorize-contractions --split-input-file | diff %t.vectors -

// A transposed operand of a low type is copied wider and the other way round;
// the other one is widened. The sum reads the copies, which are then freed.

// CHECK-LABEL: func.func @packed
// CHECK: %[[B:.*]] = memref.alloc() {{.*}} : memref<128x10xf32>
// CHECK: linalg.generic {{.*}} ins(%arg1 : memref<10x128xf16>) outs(%[[B]] : memref<128x10xf32>)
// CHECK: arith.extf
// CHECK: %[[A:.*]] = memref.alloc() {{.*}} : memref<64x128xf32>
// CHECK: linalg.generic {{.*}} ins(%arg0 : memref<64x128xf16>) outs(%[[A]] : memref<64x128xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : memref<64x128xf32>, memref<128x10xf32>) outs(%arg2 : memref<64x10xf32>)
// CHECK-NOT: arith.extf
// CHECK: memref.dealloc %[[B]]
// CHECK: memref.dealloc %[[A]]
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @packed(%a: memref<64x128xf16>, %b: memref<10x128xf16>, %c: memref<64x10xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x128xf16>, memref<10x128xf16>) outs(%c : memref<64x10xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// -----

// Operands that the kernel can read stay, and so do operations other than sums
// of products.

// CHECK-LABEL: func.func @as_it_is
// CHECK-NOT: memref.alloc
#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
#id = affine_map<(i) -> (i)>
func.func @as_it_is(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>, %v: memref<16xf16>, %w: memref<16xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%v : memref<16xf16>) outs(%w : memref<16xf32>) {
  ^bb0(%x: f16, %y: f32):
    %0 = arith.extf %x : f16 to f32
    linalg.yield %0 : f32
  }
  return
}
