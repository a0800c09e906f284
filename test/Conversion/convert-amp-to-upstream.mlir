// Nothing of the amp dialect is left: a compiler that has never heard of it
// reads the result.
//
// RUN: amp-opt %s --convert-amp-to-upstream > %t
// RUN: FileCheck %s < %t
// RUN: mlir-opt %t -o /dev/null
// RUN: amp-opt %s --convert-amp-to-upstream=keep-attributes | FileCheck %s --check-prefix=KEEP
// RUN: amp-opt %s --convert-amp-to-upstream=keep-attributes -o %t.kept
// RUN: not mlir-opt %t.kept -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK-NOT: amp.
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[W:.*]]: tensor<?x4xf32>, %[[X:.*]]: tensor<?x4xf16> {other.name = 1 : i32}, %[[SCALE:.*]]: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>)
// The cast: as many rows as its operand has.
// CHECK: %[[ROWS:.*]] = tensor.dim %[[W]], %c0
// CHECK: tensor.empty(%[[ROWS]]) : tensor<?x4xf16>
// CHECK: arith.truncf %{{.*}} : f32 to f16
// The seed times the scale.
// CHECK: arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK: arith.mulf
// The gradient is multiplied by the inverse, and one of its elements that is
// not finite shows.
// CHECK: arith.divf %{{.*}}, %{{.*}} : f64
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: arith.maxui
// CHECK: arith.cmpi ult
// The update of the scale.
// CHECK: arith.select
// CHECK-NOT: amp.

// KEEP-NOT: amp.cast
// KEEP: amp.name = "w", amp.role = "parameter"
// KEEP: amp.updates = "w"
// KEEP-NOT: = amp.
// UNKNOWN: error
func.func @step(
    %w: tensor<?x4xf32> {amp.name = "w", amp.role = "parameter"},
    %x: tensor<?x4xf16> {other.name = 1 : i32},
    %scale: tensor<f32> {amp.name = "loss_scale", amp.role = "scaler_state", amp.init = #amp.init<constant, value = 65536.0>},
    %growth: tensor<i32> {amp.name = "growth_tracker", amp.role = "scaler_state", amp.init = #amp.init<constant, value = 0.0>},
    %hysteresis: tensor<i32> {amp.name = "hysteresis_tracker", amp.role = "scaler_state", amp.init = #amp.init<constant, value = 1.0>})
    -> (tensor<?x4xf32> {amp.updates = "w"}, tensor<?x4xf16>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<i1>) {
  %low = amp.cast %w inserted : tensor<?x4xf32> to tensor<?x4xf16>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %u, %finite = amp.unscale %x by %scale : (tensor<?x4xf16>) -> (tensor<?x4xf32>)
  %new, %g, %h = amp.update_scale %scale, %growth, %hysteresis, %finite
  %copy = amp.master_copy %u : tensor<?x4xf32> to tensor<?x4xf16>
  %d = arith.addf %low, %copy {amp.inserted} : tensor<?x4xf16>
  return %u, %d, %s, %new, %g, %h, %finite : tensor<?x4xf32>, tensor<?x4xf16>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<i1>
}
