// RUN: amp-opt %s --amp-outline-kernels --split-input-file | FileCheck %s
// The new functions have one nest and do not change again.
// RUN: amp-opt %s --amp-outline-kernels --split-input-file > %t.once
// RUN: amp-opt %t.once --amp-outline-kernels --split-input-file | diff %t.once -


#id = affine_map<(i) -> (i)>

// Equal nests share a function, other constants make another; buffers of the
// step and allocated ones do not overlap.
// CHECK-LABEL: func.func @equal
// CHECK-SAME: %[[A:.*]]: memref<8xf32> {llvm.noalias}, %[[B:.*]]: memref<8xf32> {llvm.noalias}, %[[C:.*]]: memref<8xf32> {llvm.noalias})
// CHECK-NOT: linalg
// CHECK: %[[T:.*]] = memref.alloc
// CHECK: call @equal_kernel(%[[A]], %[[T]])
// CHECK: call @equal_kernel(%[[T]], %[[B]])
// CHECK: call @equal_kernel(%[[A]], %[[C]])
// CHECK: memref.dealloc
// CHECK: func.func private @equal_kernel(%[[X:.*]]: memref<8xf32> {llvm.noalias}, %[[Y:.*]]: memref<8xf32> {llvm.noalias})
// CHECK-SAME: llvm.bareptr, llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]
// CHECK: %[[TWO:.*]] = arith.constant 2.0
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<8xf32>) outs(%[[Y]] : memref<8xf32>)
// CHECK: arith.mulf %{{.*}}, %[[TWO]]
// CHECK-NOT: func.func
func.func @equal(%a: memref<8xf32> {llvm.noalias}, %b: memref<8xf32> {llvm.noalias}, %c: memref<8xf32> {llvm.noalias}) {
  %two = arith.constant 2.0 : f32
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.mulf %x, %two : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%t : memref<8xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.mulf %x, %two : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<8xf32>) outs(%c : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.mulf %x, %two : f32
    linalg.yield %0 : f32
  }
  memref.dealloc %t : memref<8xf32>
  return
}

// -----


#id = affine_map<(i) -> (i)>
#none = affine_map<() -> ()>

// Parts of one buffer overlap where one of them is written, and do not matter
// where they are read. Operations without loops stay.
// CHECK-LABEL: func.func @overlap
// CHECK: call @overlap_kernel(
// CHECK: linalg.generic
// CHECK: call @overlap_kernel_0(
// CHECK: func.func private @overlap_kernel(%{{.*}}: memref<8xf32, strided<[1]>>, %{{.*}}: memref<8xf32, strided<[1], offset: 4>>) attributes
// CHECK: func.func private @overlap_kernel_0(%{{.*}}: memref<8xf32, strided<[1]>> {llvm.noalias}, %{{.*}}: memref<8xf32, strided<[1], offset: 4>> {llvm.noalias}, %{{.*}}: memref<8xf32> {llvm.noalias}) attributes
func.func @overlap(%a: memref<16xf32> {llvm.noalias}, %b: memref<8xf32> {llvm.noalias}, %s: memref<f32> {llvm.noalias}, %c: i1) {
  %low = memref.subview %a[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %high = memref.subview %a[4] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 4>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%low : memref<8xf32, strided<[1]>>) outs(%high : memref<8xf32, strided<[1], offset: 4>>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%s : memref<f32>) outs(%s : memref<f32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %x : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%low, %high : memref<8xf32, strided<[1]>>, memref<8xf32, strided<[1], offset: 4>>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  }
  // The guard of an update is not a loop. Its nests are outlined and read a
  // buffer that may be one of two.
  // CHECK: func.func private @overlap_kernel_1(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xf32>) attributes
  scf.if %c {
    %t = memref.alloc() : memref<8xf32>
    %either = arith.select %c, %t, %b : memref<8xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%either : memref<8xf32>) outs(%b : memref<8xf32>) {
    ^bb0(%x: f32, %y: f32):
      linalg.yield %x : f32
    }
    memref.dealloc %t : memref<8xf32>
  }
  return
}

// -----


#id = affine_map<(i) -> (i)>

// A loop is one nest, and may give a scalar. If an offset is not known, a
// pointer alone does not describe the buffer.
// CHECK-LABEL: func.func @loops
// CHECK: %[[SUM:.*]] = call @loops_kernel(%{{.*}}, %{{.*}}) : (index, memref<8xf32>) -> f32
// CHECK: memref.store %[[SUM]]
// CHECK: call @loops_kernel_0
// CHECK: func.func private @loops_kernel(%{{.*}}: index, %{{.*}}: memref<8xf32> {llvm.noalias}) -> f32 attributes {llvm.bareptr
// CHECK: scf.for
// CHECK: func.func private @loops_kernel_0(%{{.*}}: memref<2xf32, strided<[1], offset: ?>> {llvm.noalias}) attributes {llvm.linkage
func.func @loops(%a: memref<8xf32> {llvm.noalias}, %b: memref<f32> {llvm.noalias}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    %x = memref.load %a[%i] : memref<8xf32>
    %t = arith.addf %s, %x : f32
    scf.yield %t : f32
  }
  memref.store %sum, %b[] : memref<f32>
  %part = memref.subview %a[%n] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1], offset: ?>>
  linalg.fill ins(%zero : f32) outs(%part : memref<2xf32, strided<[1], offset: ?>>)
  return
}

// -----


// CHECK-LABEL: func.func @single
// CHECK: linalg.fill
func.func @single(%a: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
  return
}
