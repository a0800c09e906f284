// A pass that fails on one step does not change the steps before it.
// RUN: split-file %s %t
// RUN: amp-opt %t/steps.mlir > %t.before
// RUN: not amp-opt %t/steps.mlir --amp-insert-loss-scaling --mlir-print-ir-after-failure -o /dev/null 2>%t.scaling
// RUN: FileCheck %s --check-prefix=SCALING < %t.scaling
// RUN: not amp-opt %t/steps.mlir --amp-insert-master-weights=mode=copy --mlir-print-ir-after-failure -o /dev/null 2>%t.masters
// RUN: FileCheck %s --check-prefix=MASTERS < %t.masters
//
// The names of arguments are known only when the pass adds them.
// RUN: not amp-opt %t/taken.mlir --amp-insert-loss-scaling --mlir-print-ir-after-failure -o /dev/null 2>&1 | FileCheck %s --check-prefix=TAKEN
//
// RUN: not amp-opt %t/roles.mlir --amp-insert-loss-scaling=mode=none --split-input-file 2>&1 | FileCheck %s --check-prefix=ROLES
// RUN: not amp-opt %t/roles.mlir --amp-insert-master-weights=mode=none --split-input-file 2>&1 | FileCheck %s --check-prefix=ROLES
// RUN: not amp-opt %t/elements.mlir --amp-insert-loss-scaling 2>&1 | FileCheck %s --check-prefix=ELEMENTS
//
// RUN: not amp-opt %t/gradients.mlir --amp-insert-loss-scaling=mode=none 2>&1 | FileCheck %s --check-prefix=GRADIENTS
//
// A state must have a static shape.
// RUN: not amp-opt %t/dynamic.mlir --amp-insert-master-weights=mode=copy --mlir-print-ir-after-failure -o /dev/null 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not amp-opt %t/dynamic.mlir --amp-insert-master-weights='mode=none update-rounding=kahan' --mlir-print-ir-after-failure -o /dev/null 2>&1 | FileCheck %s --check-prefix=KAHAN
//
// GRADIENTS: error: 'arith.mulf' op is the gradient of "w", expected the shape of 'tensor<4xf32>', got 'tensor<8xf32>'
// DYNAMIC: error: parameter "w" has type 'tensor<?xf32>', but a low copy of it is kept from step to step, expected a static shape
// DYNAMIC: IR Dump After
// DYNAMIC-NOT: w.low
// KAHAN: error: parameter "w" has type 'tensor<?xf32>', but what its updates leave over is kept from step to step, expected a static shape
// KAHAN: IR Dump After
// KAHAN-NOT: w.compensation
// SCALING: error: the step has gradients but updates no parameter
// SCALING: IR Dump After
// SCALING: func.func @first
// SCALING-NOT: amp.unscale
// SCALING: func.func @second
// MASTERS: error: argument 0, "w", has 'amp.role' = "parameter" and a gradient, but the step does not update it
// MASTERS: IR Dump After
// MASTERS: func.func @first
// MASTERS-NOT: w.low
// MASTERS: func.func @second
// TAKEN: error: cannot add the argument 'growth_tracker'
// TAKEN: IR Dump After
// TAKEN: func.func @step
// TAKEN-NOT: loss_scale
// TAKEN: return
// ROLES: error: argument 2, "t", has 'amp.role' = "scaler_state", but the step does not update it
// ROLES: error: argument 2, "t", has 'amp.role' = "optimizer_state", but the step does not update it
// ROLES: error: 'arith.mulf' op is the gradient of "zz", but no argument of the step has that 'amp.name'
// ELEMENTS: error: 'arith.truncf' op expected the elements of a gradient to be f16, bf16, f32 or f64, got 'f8E4M3FN'

//--- steps.mlir
func.func @first(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf16>) -> (tensor<4xf32> {amp.updates = "w"}) {
  %low = amp.cast %w inserted : tensor<4xf32> to tensor<4xf16>
  %y = arith.mulf %low, %x : tensor<4xf16>
  %y32 = amp.cast %y inserted : tensor<4xf16> to tensor<4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %f = tensor.extract %seed[] : tensor<f32>
  %sp = tensor.splat %f : tensor<4xf32>
  %g = arith.mulf %y32, %sp {amp.gradient_of = ["w"]} : tensor<4xf32>
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}
func.func @second(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>) -> tensor<4xf32> {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %f = tensor.extract %seed[] : tensor<f32>
  %sp = tensor.splat %f : tensor<4xf32>
  %g = arith.mulf %x, %sp {amp.gradient_of = ["w"]} : tensor<4xf32>
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}

//--- taken.mlir
func.func @step(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32> {amp.name = "growth_tracker", amp.role = "batch"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %f = tensor.extract %seed[] : tensor<f32>
  %sp = tensor.splat %f : tensor<4xf32>
  %g = arith.mulf %x, %sp {amp.gradient_of = ["w"]} : tensor<4xf32>
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}

//--- roles.mlir
func.func @scaler(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>, %t: tensor<f32> {amp.name = "t", amp.role = "scaler_state"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %g = arith.mulf %x, %x {amp.gradient_of = ["w"]} : tensor<4xf32>
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}

// -----

func.func @state(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>, %t: tensor<f32> {amp.name = "t", amp.role = "optimizer_state"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %g = arith.mulf %x, %x {amp.gradient_of = ["w"]} : tensor<4xf32>
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}

// -----

func.func @no_argument(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>) -> (tensor<4xf32> {amp.updates = "w"}) {
  %g = arith.mulf %x, %x {amp.gradient_of = ["zz"]} : tensor<4xf32>
  %new = arith.subf %w, %g : tensor<4xf32>
  return %new : tensor<4xf32>
}

//--- elements.mlir
func.func @step(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %f = tensor.extract %seed[] : tensor<f32>
  %sp = tensor.splat %f : tensor<4xf32>
  %p = arith.mulf %x, %sp : tensor<4xf32>
  %g = arith.truncf %p {amp.gradient_of = ["w"]} : tensor<4xf32> to tensor<4xf8E4M3FN>
  %wide = arith.extf %g : tensor<4xf8E4M3FN> to tensor<4xf32>
  %new = arith.subf %w, %wide : tensor<4xf32>
  return %new : tensor<4xf32>
}

//--- gradients.mlir
func.func @shape(%w: tensor<4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<8xf32>) -> (tensor<4xf32> {amp.updates = "w"}) {
  %g = arith.mulf %x, %x {amp.gradient_of = ["w"]} : tensor<8xf32>
  %s = tensor.extract_slice %g[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %new = arith.subf %w, %s : tensor<4xf32>
  return %new : tensor<4xf32>
}

//--- dynamic.mlir
func.func @step(%w: tensor<?xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<?xf16>, %n: index) -> (tensor<?xf32> {amp.updates = "w"}) {
  %low = amp.cast %w inserted : tensor<?xf32> to tensor<?xf16>
  %y = arith.mulf %low, %x : tensor<?xf16>
  %y32 = amp.cast %y inserted : tensor<?xf16> to tensor<?xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %f = tensor.extract %seed[] : tensor<f32>
  %sp = tensor.splat %f[%n] : tensor<?xf32>
  %g = arith.mulf %y32, %sp {amp.gradient_of = ["w"]} : tensor<?xf32>
  %new = arith.subf %w, %g : tensor<?xf32>
  return %new : tensor<?xf32>
}
