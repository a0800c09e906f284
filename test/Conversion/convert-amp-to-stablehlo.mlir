// The additions of a mixed-precision step become StableHLO in generic form:
// casts, scale and unscale with its finite flag, the guard as selects, the
// update of the scale. Nothing of amp, arith, scf or tensor is left.
//
// RUN: amp-opt %s --allow-unregistered-dialect --convert-amp-to-stablehlo > %t
// RUN: FileCheck %s --implicit-check-not=amp. --implicit-check-not=arith. --implicit-check-not=scf. --implicit-check-not=tensor.extract < %t
// RUN: amp-opt %t --allow-unregistered-dialect --convert-amp-to-stablehlo | diff %t -
// RUN: not amp-opt %s --allow-unregistered-dialect --convert-amp-to-stablehlo=all 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: {{.*}}all
// RUN: not amp-opt %s --convert-amp-to-stablehlo 2>&1 | FileCheck %s --check-prefix=UNREGISTERED
// UNREGISTERED: error:

// CHECK-LABEL: func.func @step(
// CHECK-DAG: "stablehlo.convert"(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-DAG: "stablehlo.multiply"
// CHECK-DAG: "stablehlo.is_finite"
// CHECK: "stablehlo.select"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: return
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}, %s: tensor<f32>, %g: tensor<i32>, %h: tensor<i32>)
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<f32>) {
  %low = amp.cast %w inserted : tensor<4xf32> to tensor<4xf16>
  %d = "stablehlo.negate"(%low) : (tensor<4xf16>) -> tensor<4xf16>
  %wide = amp.cast %d inserted : tensor<4xf16> to tensor<4xf32>
  %unscaled, %finite = amp.unscale %wide by %s : (tensor<4xf32>) -> (tensor<4xf32>)
  %flag = tensor.extract %finite[] : tensor<i1>
  %new = scf.if %flag -> (tensor<4xf32>) {
    %0 = "stablehlo.add"(%w, %unscaled) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  return %new, %s : tensor<4xf32>, tensor<f32>
}

// A scale for each layer: gradients change their scale in f32, NaN is the largest
// magnitude, and the exponent of the room is a power of two.
// CHECK-LABEL: func.func @layers(
// CHECK: "stablehlo.divide"(%[[B:.*]], %[[A:.*]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK: "stablehlo.multiply"({{.*}}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: "stablehlo.convert"({{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK: "stablehlo.abs"
// CHECK: "stablehlo.reduce"
// CHECK: "stablehlo.maximum"({{.*}}tensor<f16>
// CHECK: "stablehlo.reduce"
// CHECK: "stablehlo.maximum"({{.*}}tensor<f32>
// CHECK: %[[MASK:.*]] = "stablehlo.constant"() <{value = dense<2139095040> : tensor<i32>}>
// CHECK: "stablehlo.and"(%{{.*}}, %[[MASK]])
// CHECK: "stablehlo.or"(%{{.*}}, %{{.*}}) : (tensor<i1>, tensor<i1>) -> tensor<i1>
// CHECK: return
func.func @layers(%g: tensor<4x8xf16>, %h: tensor<3xf32>, %a: tensor<f32>, %b: tensor<f32>, %ok: tensor<i1>, %p: tensor<f32>)
    -> (tensor<4x8xf16>, tensor<f32>, tensor<f32>) {
  %0 = amp.rescale %g from %a to %b : tensor<4x8xf16>
  %1 = amp.max_magnitude %0, %h : tensor<4x8xf16>, tensor<3xf32>
  %2 = amp.adapt_scale %b, %1, %ok
  %3 = tensor.extract %ok[] : tensor<i1>
  %true = arith.constant true
  %4 = arith.ori %3, %true : i1
  %5 = scf.if %4 -> (tensor<f32>) {
    scf.yield %2 : tensor<f32>
  } else {
    scf.yield %p : tensor<f32>
  }
  return %0, %2, %5 : tensor<4x8xf16>, tensor<f32>, tensor<f32>
}
