// Differences of parts of one value and of sums that loops carry stay f32, and so
// do the operations that compute their operands, back to a product.
//
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" --canonicalize | FileCheck %s
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" --remarks-filter=amp 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// The assignment is stable.
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" -o %t
// RUN: amp-opt %t --split-input-file --auto-mixed-precision="precision=bf16" | diff %t -

// Neighbours on a grid.
// CHECK-LABEL: func.func @neighbours
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
// CHECK: train.add {{.*}} : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
// CHECK: train.sub {{.*}} : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
// CHECK: train.matmul {{.*}} : (tensor<63x64xbf16>, tensor<64x64xbf16>)
// REMARK: a difference of parts of one value or of a sum that a loop carries
func.func @neighbours(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %c: tensor<64xf32>) -> tensor<63x64xf32> {
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = train.add %h, %c : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %n = train.slice %s {offsets = array<i64: 1, 0>, sizes = array<i64: 63, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<63x64xf32>
  %p = train.slice %s {offsets = array<i64: 0, 0>, sizes = array<i64: 63, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<63x64xf32>
  %d = train.sub %n, %p : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
  %r = train.matmul %d, %w : (tensor<63x64xf32>, tensor<64x64xf32>) -> tensor<63x64xf32>
  return %r : tensor<63x64xf32>
}

// -----

// A second difference. The first one is one of its terms.
// CHECK-LABEL: func.func @second_difference
// CHECK: train.sub {{.*}} : (tensor<62x64xf32>, tensor<62x64xf32>) -> tensor<62x64xf32>
// CHECK: train.add {{.*}} : (tensor<62x64xf32>, tensor<62x64xf32>) -> tensor<62x64xf32>
func.func @second_difference(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %k: tensor<f32>) -> tensor<62x64xf32> {
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = train.slice %h {offsets = array<i64: 0, 0>, sizes = array<i64: 62, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<62x64xf32>
  %1 = train.slice %h {offsets = array<i64: 1, 0>, sizes = array<i64: 62, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<62x64xf32>
  %2 = train.slice %h {offsets = array<i64: 2, 0>, sizes = array<i64: 62, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<62x64xf32>
  %m = train.mul %1, %k : (tensor<62x64xf32>, tensor<f32>) -> tensor<62x64xf32>
  %d = train.sub %2, %m : (tensor<62x64xf32>, tensor<62x64xf32>) -> tensor<62x64xf32>
  %s = train.add %d, %0 : (tensor<62x64xf32>, tensor<62x64xf32>) -> tensor<62x64xf32>
  %r = train.matmul %s, %w : (tensor<62x64xf32>, tensor<64x64xf32>) -> tensor<62x64xf32>
  return %r : tensor<62x64xf32>
}

// -----

// Sums of pairs, as in a tree, and their difference.
// CHECK-LABEL: func.func @sums_of_pairs
// CHECK: train.add {{.*}} : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
// CHECK: train.sub {{.*}} : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
func.func @sums_of_pairs(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<63x64xf32> {
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = train.slice %h {offsets = array<i64: 1, 0>, sizes = array<i64: 63, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<63x64xf32>
  %p = train.slice %h {offsets = array<i64: 0, 0>, sizes = array<i64: 63, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<63x64xf32>
  %s = train.add %n, %p : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
  %d = train.sub %s, %p : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
  %r = train.matmul %d, %w : (tensor<63x64xf32>, tensor<64x64xf32>) -> tensor<63x64xf32>
  return %r : tensor<63x64xf32>
}

// -----

// Parts of two values, the sum of parts, a product with another value minus a
// part, and 1 minus a part.
// CHECK-LABEL: func.func @other_parts
// CHECK: train.sub {{.*}} : (tensor<63x64xbf16>, tensor<63x64xbf16>)
// CHECK: train.add {{.*}} : (tensor<63x64xbf16>, tensor<63x64xbf16>)
// CHECK: train.sub {{.*}} : (tensor<63x64xbf16>, tensor<63x64xbf16>)
// CHECK: train.sub {{.*}} : (tensor<bf16>, tensor<63x64xbf16>)
func.func @other_parts(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x64xf32>) -> (tensor<63x64xf32>, tensor<63x64xf32>, tensor<63x64xf32>, tensor<63x64xf32>) {
  %g = train.matmul %x, %v : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = train.slice %h {offsets = array<i64: 1, 0>, sizes = array<i64: 63, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<63x64xf32>
  %p = train.slice %h {offsets = array<i64: 0, 0>, sizes = array<i64: 63, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<63x64xf32>
  %q = train.slice %g {offsets = array<i64: 0, 0>, sizes = array<i64: 63, 64>, strides = array<i64: 1, 1>} : (tensor<64x64xf32>) -> tensor<63x64xf32>
  %a = train.sub %n, %q : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
  %b = train.add %n, %p : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
  %m = train.mul %n, %q : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
  %c = train.sub %m, %p : (tensor<63x64xf32>, tensor<63x64xf32>) -> tensor<63x64xf32>
  %one = train.constant dense<1.0> : tensor<f32>
  %e = train.sub %one, %p : (tensor<f32>, tensor<63x64xf32>) -> tensor<63x64xf32>
  %ra = train.matmul %a, %w : (tensor<63x64xf32>, tensor<64x64xf32>) -> tensor<63x64xf32>
  %rb = train.matmul %b, %w : (tensor<63x64xf32>, tensor<64x64xf32>) -> tensor<63x64xf32>
  %rc = train.matmul %c, %w : (tensor<63x64xf32>, tensor<64x64xf32>) -> tensor<63x64xf32>
  %re = train.matmul %e, %w : (tensor<63x64xf32>, tensor<64x64xf32>) -> tensor<63x64xf32>
  return %ra, %rb, %rc, %re : tensor<63x64xf32>, tensor<63x64xf32>, tensor<63x64xf32>, tensor<63x64xf32>
}

// -----

// A sum that a loop carries, minus another value.
// CHECK-LABEL: func.func @sum_of_a_loop
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32>) {
// CHECK: train.mul {{.*}} : (tensor<64x64xf32>, tensor<f32>)
// CHECK: train.sub {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
func.func @sum_of_a_loop(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %k: tensor<f32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = scf.for %i = %c0 to %n step %c1 iter_args(%s = %h) -> (tensor<64x64xf32>) {
    %p = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %next = train.add %s, %p : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %m = train.mul %h, %k : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
  %d = train.sub %t, %m : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = train.matmul %d, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
