// RUN: amp-opt %s --amp-vectorize-contractions --cse --split-input-file | FileCheck %s
// RUN: amp-opt %s --amp-vectorize-contractions --split-input-file > %t.once
// RUN: amp-opt %t.once --amp-vectorize-contractions --split-input-file | diff %t.once -
// RUN: amp-opt %s --amp-vectorize-contractions=vector-bits=256 --split-input-file | FileCheck %s --check-prefix=NARROW
// RUN: not amp-opt %s --amp-vectorize-contractions=vector-bits=96 --split-input-file 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: error: option 'vector-bits' must be 128, 256 or 512, got 96

// Blocks of 8 rows by 32 columns stay in registers over the reduction.

// CHECK-LABEL: func.func @matmul
// CHECK-NOT: memref.alloc()
// CHECK-COUNT-16: vector.load %arg2
// CHECK: scf.for
// CHECK-COUNT-2: vector.load %arg1
// CHECK-COUNT-16: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-16: vector.store
#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
func.func @matmul(%a: memref<64x128xf32>, %b: memref<128x32xf32>, %c: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<64x128xf32>, memref<128x32xf32>) outs(%c : memref<64x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// A transposed operand of a low type is copied once, wider and the right way
// round; the other one is widened. Ten columns are one masked vector.

// CHECK-LABEL: func.func @packed
// CHECK: %[[B:.*]] = memref.alloc() {{.*}} : memref<128x10xf32>
// CHECK: linalg.generic {{.*}} ins(%arg1 : memref<10x128xf16>) outs(%[[B]] : memref<128x10xf32>)
// CHECK: %[[A:.*]] = memref.alloc() {{.*}} : memref<64x128xf32>
// CHECK: linalg.generic {{.*}} ins(%arg0 : memref<64x128xf16>) outs(%[[A]] : memref<64x128xf32>)
// CHECK: vector.constant_mask [10] : vector<16xi1>
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK: memref.dealloc %[[B]]
// CHECK: memref.dealloc %[[A]]
#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (n, k)>
#c = affine_map<(m, k, n) -> (m, n)>
func.func @packed(%a: memref<64x128xf16>, %b: memref<10x128xf16>, %c: memref<64x10xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<64x128xf16>, memref<10x128xf16>) outs(%c : memref<64x10xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %2 = arith.extf %x : f16 to f32
    %3 = arith.extf %y : f16 to f32
    %0 = arith.mulf %2, %3 : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Operations other than sums of products stay.

// CHECK-LABEL: func.func @other
// CHECK: linalg.generic
#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
func.func @other(%a: memref<4x8xf32>, %b: memref<8x4xf32>, %c: memref<4x4xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.subf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Where many blocks of rows read the same columns of a wide operand these are
// copied first, 256 rows at a time: the accumulators go on where they were.
// Registers of 256 bits hold blocks of 6 rows by 16 columns.

// CHECK-LABEL: func.func @panels
// CHECK: %[[PANEL:[a-z0-9]+]] = memref.alloca() {{.*}} : memref<256x32xf32>
// CHECK: scf.for %[[N:[a-z0-9]+]] =
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: scf.for %[[ROW:[a-z0-9]+]] =
// CHECK: %[[AT:[a-z0-9]+]] = affine.apply #{{.*}}(%[[K]], %[[ROW]])
// CHECK: vector.load %arg1[%[[AT]], %[[N]]]
// CHECK: vector.store %{{.*}}, %[[PANEL]][%[[ROW]],
// CHECK: scf.for %[[M:[a-z0-9]+]] =
// CHECK: vector.load %arg2[%[[M]], %[[N]]]
// CHECK: scf.for %[[INNER:[a-z0-9]+]] =
// CHECK-NOT: vector.load %arg1
// CHECK-COUNT-2: vector.load %[[PANEL]][%[[INNER]],
// CHECK-COUNT-16: vector.fma
// CHECK-COUNT-16: vector.store {{.*}}, %arg2
// NARROW-LABEL: func.func @panels
// NARROW: memref.alloca() {{.*}} : memref<256x16xf32>
// NARROW-COUNT-12: vector.fma {{.*}} : vector<8xf32>
// NARROW-NOT: vector.fma
// NARROW: scf.yield
#a = affine_map<(m, k, n) -> (m, k)>
#b = affine_map<(m, k, n) -> (k, n)>
#c = affine_map<(m, k, n) -> (m, n)>
func.func @panels(%a: memref<96x512xf32>, %b: memref<512x64xf32>, %c: memref<96x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<96x512xf32>, memref<512x64xf32>) outs(%c : memref<96x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
