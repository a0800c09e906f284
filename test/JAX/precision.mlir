// Programs of JAX in small: what becomes of each form of operation.
//
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision='precision=bf16 policy=stablehlo' | FileCheck %s
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision='precision=bf16 policy=stablehlo' --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The accumulator is f32, whoever reads the product; attributes stay.
// CHECK-LABEL: func.func @products
// CHECK: %[[P:.*]] = "stablehlo.dot_general"(%{{.*}}) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK: %[[L:.*]] = "stablehlo.convert"(%[[P]]) {amp.inserted} : (tensor<4x4xf32>) -> tensor<4x4xbf16>
// CHECK: %[[C:.*]] = "stablehlo.constant"() <{value = dense<1.000980e-01> : tensor<4x4xbf16>}>
// CHECK: "stablehlo.multiply"(%[[L]], %[[C]]) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
func.func @products(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = "stablehlo.constant"() <{value = dense<0.1> : tensor<4x4xf32>}> : () -> tensor<4x4xf32>
  %1 = "stablehlo.multiply"(%0, %c) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "stablehlo.dot_general"(%1, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// A softmax between products: f32 inside, and the following operations are low
// again. The remark says why the exponential is f32.
// CHECK-LABEL: func.func @softmax
// CHECK: "stablehlo.subtract"(%{{.*}}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: "stablehlo.exponential"(%{{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[D:.*]] = "stablehlo.divide"(%{{.*}}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: %[[LOW:.*]] = "stablehlo.convert"(%[[D]]) {amp.inserted} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK: "stablehlo.multiply"(%[[LOW]], %{{.*}}) : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x8xbf16>
// REMARK-DAG: stablehlo.exponential{{.*}}part of a composite pattern that is f32 inside
func.func @softmax(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %m0 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %p = "stablehlo.dot_general"(%a, %b) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %r = "stablehlo.maximum"(%p, %p) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %x = "stablehlo.negate"(%r) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = "stablehlo.reduce"(%x, %m0) <{dimensions = array<i64: 1>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.maximum"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = "stablehlo.broadcast_in_dim"(%m) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = "stablehlo.subtract"(%x, %mb) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = "stablehlo.exponential"(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x8xf32>
  %q = "stablehlo.divide"(%e, %sb) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = "stablehlo.multiply"(%q, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = "stablehlo.dot_general"(%t, %b) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// An exponential that is part of no unit keeps its dependents in f32.
// CHECK-LABEL: func.func @poison
// CHECK: %[[E:.*]] = "stablehlo.exponential"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: "stablehlo.multiply"(%[[E]], %[[E]]) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @poison(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.dot_general"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.exponential"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "stablehlo.multiply"(%1, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "stablehlo.dot_general"(%2, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// The body of a maximum follows; the custom call keeps its types.
// CHECK-LABEL: func.func @bodies
// CHECK: "stablehlo.reduce_window"(%{{.*}}) <{window_dimensions = array<i64: 2, 2>}> ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<bf16>, %{{.*}}: tensor<bf16>):
// CHECK-NEXT: "stablehlo.maximum"(%{{.*}}) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
// CHECK: }) {amp.input_attributes = {}} : (tensor<4x4xbf16>, tensor<bf16>) -> tensor<4x4xbf16>
// CHECK: "stablehlo.custom_call"(%{{.*}}) <{call_target_name = "f"}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @bodies(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m0 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.dot_general"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.reduce_window"(%0, %m0) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%u: tensor<f32>, %v: tensor<f32>):
    %w = "stablehlo.maximum"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%w) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %2 = "stablehlo.dot_general"(%1, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "stablehlo.custom_call"(%2) <{call_target_name = "f"}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "stablehlo.dot_general"(%3, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// The size of a complex number has its precision: f32, whoever reads it.
// CHECK-LABEL: func.func @complex
// CHECK: "stablehlo.abs"(%{{.*}}) : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
// CHECK: "stablehlo.slice"(%{{.*}}) : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
// CHECK: "stablehlo.optimization_barrier"(%{{.*}}) : (tensor<4x4xf32>, tensor<4x4xcomplex<f32>>) -> (tensor<4x4xf32>, tensor<4x4xcomplex<f32>>)
func.func @complex(%a: tensor<4x4xf32>, %z: tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32> {
  %0 = "stablehlo.abs"(%z) : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %1 = "stablehlo.dot_general"(%0, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "stablehlo.slice"(%z) : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %3:2 = "stablehlo.optimization_barrier"(%1, %2) : (tensor<4x4xf32>, tensor<4x4xcomplex<f32>>) -> (tensor<4x4xf32>, tensor<4x4xcomplex<f32>>)
  %4 = "stablehlo.dot_general"(%3#0, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// Products of other types than floats keep their types.
// CHECK-LABEL: func.func @otherProducts
// CHECK: "stablehlo.dot_general"(%{{.*}}) : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
// CHECK: "stablehlo.dot_general"(%{{.*}}) : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi32>
// CHECK: "stablehlo.dot_general"(%{{.*}}) : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xf32>
// CHECK: "stablehlo.dot_general"(%{{.*}}) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
func.func @otherProducts(%a: tensor<4x4xf32>, %z: tensor<4x4xcomplex<f32>>, %i: tensor<4x4xi8>) -> (tensor<4x4xcomplex<f32>>, tensor<4x4xi32>, tensor<4x4xf32>) {
  %0 = "stablehlo.dot_general"(%z, %z) : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %1 = "stablehlo.dot_general"(%i, %i) : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi32>
  %2 = "stablehlo.dot_general"(%i, %i) : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xf32>
  %3 = "stablehlo.dot_general"(%2, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %3 : tensor<4x4xcomplex<f32>>, tensor<4x4xi32>, tensor<4x4xf32>
}

// The hardware attributes of a product stay.
// CHECK-LABEL: func.func @algorithm
// CHECK: "stablehlo.dot_general"(%{{.*}}) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
func.func @algorithm(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.dot_general"(%a, %a) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Control flow as JAX writes it: branches without arguments that read values
// from outside. Values that it carries and reads keep their types; products
// inside are low.
// CHECK-LABEL: func.func @branches
// CHECK: %[[Y:.*]] = "stablehlo.dot_general"(%{{.*}}) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK: "stablehlo.case"(%{{.*}}) ({
// CHECK: "stablehlo.dot_general"(%{{.*}}) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK: "stablehlo.return"(%{{.*}}) : (tensor<4x4xf32>) -> ()
// CHECK: "stablehlo.return"(%[[Y]]) : (tensor<4x4xf32>) -> ()
// CHECK: }) : (tensor<i32>) -> tensor<4x4xf32>
// CHECK: "stablehlo.if"(%{{.*}}) ({
// CHECK: "stablehlo.return"(%{{.*}}) : (tensor<4x4xf32>) -> ()
// CHECK: }) : (tensor<i1>) -> tensor<4x4xf32>
func.func @branches(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<i32>, %p: tensor<i1>) -> tensor<4x4xf32> {
  %y = "stablehlo.dot_general"(%a, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = "stablehlo.case"(%i) ({
    %1 = "stablehlo.dot_general"(%y, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    "stablehlo.return"(%1) : (tensor<4x4xf32>) -> ()
  }, {
    "stablehlo.return"(%y) : (tensor<4x4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4x4xf32>
  %2 = "stablehlo.if"(%p) ({
    %3 = "stablehlo.tanh"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    "stablehlo.return"(%3) : (tensor<4x4xf32>) -> ()
  }, {
    "stablehlo.return"(%0) : (tensor<4x4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4x4xf32>
  %4 = "stablehlo.dot_general"(%2, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// A loop whose body reads a weight from outside.
// CHECK-LABEL: func.func @loop
// CHECK: "stablehlo.while"(%{{.*}}, %{{.*}}) ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<4x4xf32>):
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[X:.*]]: tensor<4x4xf32>):
// CHECK: "stablehlo.dot_general"(%{{.*}}) : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK: "stablehlo.return"(%{{.*}}) : (tensor<i32>, tensor<4x4xf32>) -> ()
// CHECK: }) : (tensor<i32>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x4xf32>)
func.func @loop(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %end = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %y = "stablehlo.dot_general"(%a, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %0:2 = "stablehlo.while"(%zero, %y) ({
  ^bb0(%i: tensor<i32>, %x: tensor<4x4xf32>):
    %1 = "stablehlo.compare"(%i, %end) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %x: tensor<4x4xf32>):
    %2 = "stablehlo.dot_general"(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%3, %2) : (tensor<i32>, tensor<4x4xf32>) -> ()
  }) : (tensor<i32>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x4xf32>)
  return %0#1 : tensor<4x4xf32>
}
