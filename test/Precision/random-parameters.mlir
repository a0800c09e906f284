// The parameters of a distribution stay f32, also if only a comparison with the random
// number reads them. Rounding of 0.3 would move the mode of this triangular
// distribution.
//
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision="precision=bf16 policy=stablehlo" | FileCheck %s
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision="precision=bf16 policy=stablehlo" --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @triangular{{.*}}
// CHECK-NOT: bf16
// CHECK: "stablehlo.select"({{.*}}) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK: "stablehlo.dot_general"({{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)

// A comparison of two activations does not read random numbers.
// CHECK: "stablehlo.compare"({{.*}} : (tensor<64x64xbf16>, tensor<64x64xbf16>)
// REMARK: KeptF32 {{.*}}Op=stablehlo.divide, Reason="computed from integer bits
func.func @triangular(%bits: tensor<64x64xui32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xi1>) {
  %nine = "stablehlo.constant"() {value = dense<9> : tensor<64x64xui32>} : () -> tensor<64x64xui32>
  %exponent = "stablehlo.constant"() {value = dense<1065353216> : tensor<64x64xui32>} : () -> tensor<64x64xui32>
  %shifted = "stablehlo.shift_right_logical"(%bits, %nine) : (tensor<64x64xui32>, tensor<64x64xui32>) -> tensor<64x64xui32>
  %word = "stablehlo.or"(%shifted, %exponent) : (tensor<64x64xui32>, tensor<64x64xui32>) -> tensor<64x64xui32>
  %number = "stablehlo.bitcast_convert"(%word) : (tensor<64x64xui32>) -> tensor<64x64xf32>
  %c0 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %c1 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %c3 = "stablehlo.constant"() {value = dense<0.3> : tensor<f32>} : () -> tensor<f32>
  %left = "stablehlo.broadcast_in_dim"(%c0) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<64x64xf32>
  %right = "stablehlo.broadcast_in_dim"(%c1) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<64x64xf32>
  %mode = "stablehlo.broadcast_in_dim"(%c3) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<64x64xf32>
  %uniform = "stablehlo.subtract"(%number, %right) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %rise = "stablehlo.subtract"(%mode, %left) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %width = "stablehlo.subtract"(%right, %left) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %share = "stablehlo.divide"(%rise, %width) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %below = "stablehlo.compare"(%uniform, %share) {comparison_direction = "LT"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  %a = "stablehlo.multiply"(%uniform, %mode) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %root = "stablehlo.sqrt"(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = "stablehlo.subtract"(%right, %root) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %draw = "stablehlo.select"(%below, %root, %b) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = "stablehlo.dot_general"(%draw, %w) {dot_dimension_numbers = 0} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = "stablehlo.dot_general"(%y, %w) {dot_dimension_numbers = 0} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = "stablehlo.tanh"(%z) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %u = "stablehlo.dot_general"(%t, %w) {dot_dimension_numbers = 0} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %neg = "stablehlo.negate"(%t) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %less = "stablehlo.compare"(%t, %neg) {comparison_direction = "LT"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  return %u, %less : tensor<64x64xf32>, tensor<64x64xi1>
}
