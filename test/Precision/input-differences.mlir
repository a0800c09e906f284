// Differences and comparisons of inputs stay f32, and so do the operations that
// compute them. An input is a value that no product computes.
//
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" --canonicalize | FileCheck %s
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" --remarks-filter=amp 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// The assignment is stable.
// RUN: amp-opt %s --split-input-file --auto-mixed-precision="precision=bf16" -o %t
// RUN: amp-opt %t --split-input-file --auto-mixed-precision="precision=bf16" | diff %t -

// Data minus their mean.
// CHECK-LABEL: func.func @standardized
// CHECK: train.sub {{.*}} : (tensor<64x64xf32>, tensor<64xf32>)
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// REMARK: a difference or comparison of inputs, such as data minus their mean
func.func @standardized(%x: tensor<64x64xf32>, %mean: tensor<64xf32>, %deviation: tensor<64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = train.sub %x, %mean : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %q = train.div %d, %deviation : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %r = train.matmul %q, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// The difference is one of computed inputs. A maximum that a product reads is
// low.
// CHECK-LABEL: func.func @computed
// CHECK: train.mul {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: train.sub {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: train.maximum {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @computed(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %p = train.mul %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = train.sub %p, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = train.maximum %d, %x : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = train.matmul %m, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Comparisons with thresholds, but not the sign.
// CHECK-LABEL: func.func @compared
// CHECK: train.compare gt, {{.*}} : (tensor<64x64xf32>, tensor<64xf32>)
func.func @compared(%x: tensor<64x64xf32>, %edges: tensor<64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xi1>) {
  %c = train.compare gt, %x, %edges : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xi1>
  %r = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r, %c : tensor<64x64xf32>, tensor<64x64xi1>
}

// -----

// A prediction minus its target. The offset of the prediction and its product
// give f32, and the product reads low operands.
// CHECK-LABEL: func.func @of_a_target
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
// CHECK: train.add {{.*}} : (tensor<64x64xf32>, tensor<64xf32>)
// CHECK: train.sub {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// REMARK: a prediction minus its target
func.func @of_a_target(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %offset: tensor<64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = train.add %h, %offset : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %d = train.sub %p, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = train.matmul %d, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Products compute both values.
// CHECK-LABEL: func.func @of_products
// CHECK: train.sub {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @of_products(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %h = train.matmul %x, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %k = train.matmul %y, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = train.sub %h, %k : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = train.matmul %d, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// Calls with inputs and without products.
// CHECK-LABEL: func.func private @scaled
// CHECK: train.mul {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>)
func.func private @scaled(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %p = train.mul %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}
// CHECK-LABEL: func.func @called
// CHECK: train.sub {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>)
func.func @called(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %p = call @scaled(%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = train.sub %p, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = train.matmul %d, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// A function that also gets the result of a product computes in the low type.
// CHECK-LABEL: func.func private @shared
// CHECK: train.sub {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func private @shared(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = train.sub %x, %y : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
func.func @calls_twice(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %p = call @shared(%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = train.matmul %p, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = call @shared(%q, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = train.matmul %s, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

// A loop reads a table of times. The product of the loop does not compute them.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: train.sub {{.*}} : (tensor<64xf32>, tensor<64xf32>)
// CHECK: train.matmul {{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
func.func @in_a_loop(%x: tensor<64x64xf32>, %a: tensor<64xf32>, %b: tensor<64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %x) -> (tensor<64x64xf32>) {
    %d = train.sub %a, %b : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %p = train.matmul %h, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %s = train.mul %p, %d : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
