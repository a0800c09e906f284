// Values computed from a range slot stay f32 after a loop that carries them, and
// in its next iterations, also if the policy knows the loop only by its form.
//
// RUN: amp-opt %s --auto-mixed-precision="precision=bf16 policy=stablehlo" --allow-unregistered-dialect | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision="precision=fp16 policy=stablehlo" --allow-unregistered-dialect | FileCheck %s

// The loop carries the result of an exponential. The sum with a product, which
// alone would be low, stays f32. The taint ends at the last product.
// CHECK-LABEL: func.func @fixed_point
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.add"({{.*}}) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK: "stablehlo.dot_general"({{.*}}) <{{.*}}> : (tensor<64x64x[[LOW:b?f16]]>, tensor<64x64x[[LOW]]>)
func.func @fixed_point(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %f0: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %c = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %r:2 = "stablehlo.while"(%i0, %f0) ({
  ^bb0(%i: tensor<i32>, %f: tensor<64x64xf32>):
    %n = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %p = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %f: tensor<64x64xf32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %i1 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %d = "stablehlo.subtract"(%f, %c) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %e = "stablehlo.exponential"(%d) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    "stablehlo.return"(%i1, %e) : (tensor<i32>, tensor<64x64xf32>) -> ()
  }) : (tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>)
  %u = "stablehlo.add"(%r#1, %c) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = "stablehlo.dot_general"(%u, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// An exponential of the previous iteration taints a sum of the next one.
// CHECK-LABEL: func.func @next_iteration
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.add"({{.*}}) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK: "stablehlo.dot_general"({{.*}}) <{{.*}}> : (tensor<64x64x[[LOW:b?f16]]>, tensor<64x64x[[LOW]]>)
func.func @next_iteration(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %f0: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %r:2 = "stablehlo.while"(%i0, %f0) ({
  ^bb0(%i: tensor<i32>, %f: tensor<64x64xf32>):
    %n = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %p = "stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %f: tensor<64x64xf32>):
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %i1 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %d = "stablehlo.add"(%f, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = "stablehlo.dot_general"(%d, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %e = "stablehlo.exponential"(%c) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    "stablehlo.return"(%i1, %e) : (tensor<i32>, tensor<64x64xf32>) -> ()
  }) : (tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>)
  return %r#1 : tensor<64x64xf32>
}

// The body of the loop is a function, as in programs of JAX. The reduction has a
// region but is not a symbol table, so all callers of the function are known.
// CHECK-LABEL: func.func @body_in_function
// CHECK: "stablehlo.add"({{.*}}) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK-LABEL: func.func private @body
// CHECK: "stablehlo.add"({{.*}}) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
func.func @body_in_function(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %f0: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<f32>) {
  %c = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %go = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
  %r = "stablehlo.while"(%f0) ({
  ^bb0(%f: tensor<64x64xf32>):
    "stablehlo.return"(%go) : (tensor<i1>) -> ()
  }, {
  ^bb0(%f: tensor<64x64xf32>):
    %e = func.call @body(%f, %x, %w) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "stablehlo.return"(%e) : (tensor<64x64xf32>) -> ()
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %u = "stablehlo.add"(%r, %c) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = "stablehlo.dot_general"(%u, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %s = "stablehlo.reduce"(%y, %zero) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%t) : (tensor<f32>) -> ()
  }) : (tensor<64x64xf32>, tensor<f32>) -> tensor<f32>
  return %y, %s : tensor<64x64xf32>, tensor<f32>
}
func.func private @body(%f: tensor<64x64xf32>, %x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = "stablehlo.add"(%f, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = "stablehlo.dot_general"(%d, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = "stablehlo.exponential"(%c) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %e : tensor<64x64xf32>
}
