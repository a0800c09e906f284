// The rules for differences, comparisons, angles and decays in linalg, whose
// operations have destinations, bodies and indexing maps.
//
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" --canonicalize | FileCheck %s
// The assignment is stable.
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" -o %t
// RUN: amp-opt %t --split-input-file --auto-mixed-precision="precision=bf16" | diff %t -

// Data minus their mean, by a named operation.
// CHECK-LABEL: func.func @named_difference
// CHECK: linalg.broadcast ins({{.*}} : tensor<64xf32>)
// CHECK: linalg.sub ins({{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @named_difference(%x: tensor<64x64xf32>, %mean: tensor<64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %m = linalg.broadcast ins(%mean : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [0]
  %d = linalg.sub ins(%x, %m : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%d, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// An indexing map repeats the mean.
#id = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @generic_difference
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xf32>, tensor<64xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @generic_difference(%x: tensor<64x64xf32>, %mean: tensor<64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mean : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %r = linalg.matmul ins(%d, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// The body contains the offset.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @offset
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @offset(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %c = arith.constant 128.0 : f32
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.subf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %r = linalg.matmul ins(%d, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// A sum with a positive number is not a difference.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @sum
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xbf16>)
func.func @sum(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %c = arith.constant 128.0 : f32
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %r = linalg.matmul ins(%d, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// A product computes the value that a logarithm reads less a number.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @steep
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xf32>)
// CHECK: arith.subf
// CHECK: linalg.log ins({{.*}} : tensor<64x64xf32>)
func.func @steep(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %one = arith.constant 1.0 : f32
  %p = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.subf %one, %a : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %l = linalg.log ins(%d : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%l, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Softmax: a row minus its own maximum is low.
// CHECK-LABEL: func.func @softmax
// CHECK: linalg.sub ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
// CHECK: linalg.exp ins({{.*}} : tensor<64x64xf32>)
func.func @softmax(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %row = tensor.empty() : tensor<64xf32>
  %low = arith.constant 0xFF800000 : f32
  %p = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = linalg.fill ins(%low : f32) outs(%row : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.reduce { arith.maximumf } ins(%p : tensor<64x64xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
  %d = linalg.sub ins(%p, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %x2 = linalg.exp ins(%d : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%x2, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Neighbours of a row.
// CHECK-LABEL: func.func @parts
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
// CHECK: linalg.sub ins({{.*}} : tensor<32x64xf32>, tensor<32x64xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<32x64xbf16>, tensor<64x64xbf16>)
func.func @parts(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>, %last: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %p = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = tensor.extract_slice %p[0, 0] [32, 64] [1, 1] : tensor<64x64xf32> to tensor<32x64xf32>
  %b = tensor.extract_slice %p[1, 0] [32, 64] [1, 1] : tensor<64x64xf32> to tensor<32x64xf32>
  %d = linalg.sub ins(%a, %b : tensor<32x64xf32>, tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %r = linalg.matmul ins(%d, %w : tensor<32x64xf32>, tensor<64x64xf32>) outs(%last : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}

// -----

// A comparison of data, and one with a number of the body.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @compared
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @compared(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xi1>, tensor<64x64xi1>) {
  %e = tensor.empty() : tensor<64x64xi1>
  %c = arith.constant 99.5 : f32
  %first = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xi1>) {
  ^bb0(%a: f32, %b: f32, %out: i1):
    %s = arith.cmpf ogt, %a, %b : f32
    linalg.yield %s : i1
  } -> tensor<64x64xi1>
  %second = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xi1>) {
  ^bb0(%a: f32, %out: i1):
    %s = arith.cmpf ogt, %a, %c : f32
    linalg.yield %s : i1
  } -> tensor<64x64xi1>
  %r = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r, %first, %second : tensor<64x64xf32>, tensor<64x64xi1>, tensor<64x64xi1>
}

// -----

// An index that is computed from data, and arithmetic with integers.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @integers
// CHECK: linalg.add ins({{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xf32>) outs({{.*}} : tensor<64x64xi32>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xi32>) outs({{.*}} : tensor<64x64xf32>)
// CHECK: linalg.mul ins({{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @integers(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %n = tensor.empty() : tensor<64x64xi32>
  %s = linalg.add ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %i = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<64x64xf32>) outs(%n : tensor<64x64xi32>) {
  ^bb0(%a: f32, %out: i32):
    %t = arith.fptosi %a : f32 to i32
    linalg.yield %t : i32
  } -> tensor<64x64xi32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<64x64xi32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: i32, %out: f32):
    %t = arith.sitofp %a : i32 to f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %m = linalg.mul ins(%f, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%m, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Times and rates give angles. The list `deny` has the operation of the body.
#id = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @angles
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xf32>, tensor<64xf32>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<64x64xf32>)
// CHECK: math.sin
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @angles(%x: tensor<64x64xf32>, %rates: tensor<64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %rates : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = math.sin %a : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  %r = linalg.matmul ins(%u, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// A loop multiplies what it carries by a number near 1.
// CHECK-LABEL: func.func @decay
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32>)
// CHECK: linalg.mul ins({{.*}} : tensor<64x64xf32>, tensor<64x64xf32>)
func.func @decay(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %init: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %decay = arith.constant 0.999 : f32
  %decays = linalg.fill ins(%decay : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %u = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x) -> (tensor<64x64xf32>) {
    %k = linalg.mul ins(%h, %decays : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %k : tensor<64x64xf32>
  }
  %r = linalg.matmul ins(%u, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
