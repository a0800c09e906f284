// A number beyond the range of the low type that a loop starts from stays f32 in
// the loop, with what is computed from it, also if the policy knows the loop only
// by its form. In bf16 the number fits.
//
// RUN: amp-opt %s --auto-mixed-precision=precision=fp16 --allow-unregistered-dialect | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision=precision=bf16 --allow-unregistered-dialect | FileCheck %s --check-prefix=BF16
// RUN: amp-opt %s --auto-mixed-precision="precision=fp16 policy=stablehlo" --allow-unregistered-dialect | FileCheck %s --check-prefix=HLO

// The initial value is a product of the number with a mask. It ends at an
// exponential. What the loop returns is f32 up to a product, and the product
// too.
// CHECK-LABEL: func.func @recurrence
// CHECK: scf.for
// CHECK: train.add {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: train.maximum {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: scf.yield
// CHECK: train.matmul {{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: train.matmul {{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
// BF16-LABEL: func.func @recurrence
// BF16: train.maximum {{.*}} : (tensor<8x8xbf16>, tensor<8x8xbf16>)
// BF16: train.matmul {{.*}} : (tensor<8x8xbf16>, tensor<8x8xbf16>)
func.func @recurrence(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %mask: tensor<8x8xf32>, %n: index) -> tensor<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %never = train.constant dense<-1.0e5> : tensor<8x8xf32>
  %start = train.mul %mask, %never : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> tensor<8x8xf32> {
    %p = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = train.add %a, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %m = train.maximum %b, %p : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.yield %m : tensor<8x8xf32>
  }
  %q = train.matmul %last, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = train.softmax %last {axis = 1 : i64} : tensor<8x8xf32>
  %r = train.matmul %s, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = train.add %q, %r : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}

// A loop without an interface. The function that it calls moves elements of both
// of its values, and only one of them starts from the number.
// HLO-LABEL: func.func @by_form
// HLO: "stablehlo.while"
// HLO: "stablehlo.subtract"{{.*}} : (tensor<8x8xf32>, tensor<8x8xf32>)
// HLO: "stablehlo.add"{{.*}} : (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @by_form(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %z: tensor<8x8xf32>, %go: tensor<i1>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %never = "stablehlo.constant"() {value = dense<-1.0e5> : tensor<8x8xf32>} : () -> tensor<8x8xf32>
  %r:2 = "stablehlo.while"(%never, %z) ({
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    "stablehlo.return"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %ta = func.call @turn(%a) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %tb = func.call @turn(%b) : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %p = "stablehlo.dot_general"(%x, %w) {dot_dimension_numbers = "rows"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %d = "stablehlo.subtract"(%ta, %p) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %e = "stablehlo.add"(%p, %p) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %f = "stablehlo.add"(%e, %tb) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %g = "stablehlo.dot_general"(%f, %w) {dot_dimension_numbers = "rows"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    "stablehlo.return"(%d, %g) : (tensor<8x8xf32>, tensor<8x8xf32>) -> ()
  }) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %r#0, %r#1 : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func private @turn(%v: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %t = "stablehlo.transpose"(%v) {permutation = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %t : tensor<8x8xf32>
}

// A mask outside of a loop may be low: softmax ignores what is far below.
// CHECK-LABEL: func.func @mask
// CHECK: train.select {{.*}}tensor<8x8xf16>
// CHECK: train.softmax {{.*}} : tensor<8x8xf16>
func.func @mask(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %c: tensor<8x8xi1>) -> tensor<8x8xf32> {
  %never = train.constant dense<-1.0e5> : tensor<8x8xf32>
  %p = train.matmul %x, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = train.select %c, %p, %never : (tensor<8x8xi1>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = train.softmax %m {axis = 1 : i64} : tensor<8x8xf32>
  %r = train.matmul %s, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
