// What a mixed-precision step adds becomes StableHLO in generic form: casts,
// scale and unscale with its finite flag, the guard as selects, the update of
// the scale. Nothing of amp, arith, scf or tensor is left.
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
