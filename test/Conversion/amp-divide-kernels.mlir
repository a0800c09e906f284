// RUN: amp-opt %s --amp-divide-kernels="threads=2 min-work=64 min-step-work=64" --cse --split-input-file | FileCheck %s
// RUN: amp-opt %s --amp-divide-kernels="threads=2 min-work=64 min-step-work=64" --split-input-file > %t.once
// RUN: amp-opt %t.once --amp-divide-kernels="threads=2 min-work=64 min-step-work=64" --split-input-file | diff %t.once -
// RUN: amp-opt %s --amp-divide-kernels --split-input-file | FileCheck %s --check-prefix=SINGLE
// RUN: amp-opt %s --amp-divide-kernels="threads=3 min-work=64 min-step-work=64" --split-input-file | FileCheck %s --check-prefix=THREE
// RUN: amp-opt %s --amp-divide-kernels="threads=2 min-work=64 min-step-work=1000000" --split-input-file | FileCheck %s --check-prefix=SINGLE
// RUN: not amp-opt %s --split-input-file --amp-divide-kernels=threads=two 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not amp-opt %s --split-input-file --amp-divide-kernels=thread=2 2>&1 | FileCheck %s --check-prefix=OPTION
// NUMBER: 'two' value invalid for uint argument
// OPTION: error: amp-divide-kernels: unknown option 'thread', did you mean 'threads'
// SINGLE-NOT: _part

// Rows are divided, in one part for each thread; the part reads its rows through
// the same buffers, which still overlap with no other one.

// CHECK-LABEL: func.func private @rows(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[THREADS:.*]] = arith.constant 2 : i32
// CHECK: omp.parallel num_threads(%[[THREADS]] : i32) {
// CHECK-NEXT: omp.wsloop {
// CHECK-NEXT: omp.loop_nest (%[[I:.*]]) : index = (%[[ZERO]]) to (%[[TWO]]) step (%[[ONE]]) {
// CHECK-NEXT: func.call @rows_part(%arg0, %arg1, %[[I]])
// CHECK: func.func private @rows_part(%[[A:.*]]: memref<6x16xf32> {llvm.noalias}, %[[B:.*]]: memref<6x16xf32> {llvm.noalias}, %[[I:.*]]: index)
// CHECK-SAME: llvm.bareptr
// CHECK: %[[AT:.*]] = affine.apply #{{.*}}()[%[[I]]]
// CHECK: %[[X:.*]] = memref.subview %[[A]][%[[AT]], 0] [3, 16] [1, 1]
// CHECK: %[[Y:.*]] = memref.subview %[[B]][%[[AT]], 0] [3, 16] [1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[Y]] :
// The index of a row is that in the whole buffer.
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: affine.apply #{{.*}}()[%[[I]], %[[ROW]]]
// Three threads do two rows each.
// THREE-LABEL: func.func private @rows_part
// THREE: memref.subview {{.*}} [2, 16] [1, 1]
#id = affine_map<(i, j) -> (i, j)>
func.func private @rows(%a: memref<6x16xf32> {llvm.noalias}, %b: memref<6x16xf32> {llvm.noalias}) attributes {llvm.bareptr} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<6x16xf32>) outs(%b : memref<6x16xf32>) {
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %0 = arith.addf %x, %k : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Sums are never divided, other loops around them are: here the columns, in
// whole vectors.

// CHECK-LABEL: func.func private @columns_part
// CHECK: memref.subview %arg0[0, %{{.*}}] [100, 32] [1, 1]
// CHECK: memref.subview %arg1[%{{.*}}] [32] [1]
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func private @columns(%a: memref<100x64xf32>, %b: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<100x64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A window reads a part with a margin.

// CHECK-LABEL: func.func private @window_part
// CHECK: memref.subview %arg0[%{{.*}}] [66] [1]
// CHECK: memref.subview %arg2[%{{.*}}] [64] [1]
#window = affine_map<(i, k) -> (i + k)>
#weight = affine_map<(i, k) -> (k)>
#out = affine_map<(i, k) -> (i)>
func.func private @window(%a: memref<130xf32>, %w: memref<3xf32>, %b: memref<128xf32>) {
  linalg.generic {indexing_maps = [#window, #weight, #out], iterator_types = ["parallel", "reduction"]}
      ins(%a, %w : memref<130xf32>, memref<3xf32>) outs(%b : memref<128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Not divided: a sum over everything, one vector of columns, too little work,
// two nests, what others may call.

// CHECK-NOT: omp.parallel
#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
func.func private @total(%a: memref<512xf32>, %b: memref<f32>) {
  linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%a : memref<512xf32>) outs(%b : memref<f32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  }
  return
}
func.func private @prime(%a: memref<127xf32>, %zero: f32) {
  linalg.fill ins(%zero : f32) outs(%a : memref<127xf32>)
  return
}
func.func private @vector(%a: memref<32xf32>, %b: memref<32xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<32xf32>) outs(%b : memref<32xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %x : f32
    %1 = arith.mulf %0, %x : f32
    linalg.yield %1 : f32
  }
  return
}
func.func private @little(%a: memref<48xf32>, %zero: f32) {
  linalg.fill ins(%zero : f32) outs(%a : memref<48xf32>)
  return
}
func.func private @two(%a: memref<512xf32>, %zero: f32) {
  linalg.fill ins(%zero : f32) outs(%a : memref<512xf32>)
  linalg.fill ins(%zero : f32) outs(%a : memref<512xf32>)
  return
}
func.func @public(%a: memref<512xf32>, %zero: f32) {
  linalg.fill ins(%zero : f32) outs(%a : memref<512xf32>)
  return
}

// -----

// Nor maps other than sums of multiples of the loops: a part would not be where
// the map says. Other loops are divided instead.

// CHECK-LABEL: func.func private @repeated(
// CHECK: func.func private @repeated_part
// CHECK: memref.subview %arg0[0, %{{.*}}] [4, 64] [1, 1]
// CHECK: memref.subview %arg1[0, %{{.*}}] [8, 64] [1, 1]
#repeated = affine_map<(i, j) -> (i floordiv 2, j)>
#id = affine_map<(i, j) -> (i, j)>
func.func private @repeated(%a: memref<4x128xf32>, %b: memref<8x128xf32>) {
  linalg.generic {indexing_maps = [#repeated, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x128xf32>) outs(%b : memref<8x128xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func private @whole
// CHECK-NOT: omp.parallel
#wrapped = affine_map<(i) -> (i mod 64)>
#reversed = affine_map<(i) -> (127 - i)>
#id = affine_map<(i) -> (i)>
func.func private @whole(%a: memref<64xf32>, %b: memref<128xf32>, %c: memref<128xf32>) {
  linalg.generic {indexing_maps = [#wrapped, #reversed, #id], iterator_types = ["parallel"]}
      ins(%a, %b : memref<64xf32>, memref<128xf32>) outs(%c : memref<128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Parallel loops of the input are not of this pass.

// CHECK-LABEL: func.func @foreign
// CHECK-NOT: omp.parallel
// CHECK: scf.parallel
func.func @foreign(%a: memref<8xf32>, %value: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %value, %a[%i] : memref<8xf32>
  }
  return
}

// -----

// The work of a step counts each call of a kernel, also in loops. Here 4096
// operations, ten times: enough for 40960 and too few for one more.

// RUN: amp-opt %s --amp-divide-kernels="threads=2 min-work=64 min-step-work=40960" --split-input-file | FileCheck %s --check-prefix=ENOUGH
// RUN: amp-opt %s --amp-divide-kernels="threads=2 min-work=64 min-step-work=40961" --split-input-file | FileCheck %s --check-prefix=FEW
// CHECK-LABEL: func.func private @called
// ENOUGH-LABEL: func.func private @called
// ENOUGH: omp.parallel
// FEW-LABEL: func.func private @called
// FEW-NOT: omp.parallel
#id = affine_map<(i, j) -> (i, j)>
func.func private @called(%a: memref<64x64xf32>, %b: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x64xf32>) outs(%b : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.mulf %x, %x : f32
    linalg.yield %0 : f32
  }
  return
}
// FEW-LABEL: func.func @step
func.func @step(%a: memref<64x64xf32>, %b: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  call @called(%a, %b) : (memref<64x64xf32>, memref<64x64xf32>) -> ()
  scf.for %i = %c0 to %c3 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      func.call @called(%a, %b) : (memref<64x64xf32>, memref<64x64xf32>) -> ()
    }
  }
  return
}

// -----

// A product of 64 x 64 x 64 has 524288 scalar operations, which count as 32768.

// RUN: amp-opt %s --amp-divide-kernels="threads=2 min-work=32768 min-step-work=1" --split-input-file | FileCheck %s --check-prefix=PRODUCT
// RUN: amp-opt %s --amp-divide-kernels="threads=2 min-work=32769 min-step-work=1" --split-input-file | FileCheck %s --check-prefix=SINGLE
// PRODUCT-LABEL: func.func private @product(
// PRODUCT: omp.parallel
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func private @product(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %z: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%z : memref<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %r, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
