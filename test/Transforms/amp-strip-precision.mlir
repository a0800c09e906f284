// The pass restores the input of auto-mixed-precision, character by character,
// as amp-opt prints it.
//
// RUN: rm -rf %t && mkdir %t
// RUN: amp-opt %s --allow-unregistered-dialect > %t/input.mlir
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision=precision=fp16 > %t/fp16.mlir
// RUN: FileCheck %s < %t/fp16.mlir
// RUN: amp-opt %t/fp16.mlir --allow-unregistered-dialect --amp-strip-precision > %t/back.mlir
// RUN: diff %t/input.mlir %t/back.mlir
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision=precision=bf16 --amp-strip-precision | diff %t/input.mlir -

// The clean-up of inserted casts does not interfere, unless it removed a cast
// of the input.
// RUN: sed '/@low_in_the_input/,/^}/d' %s > %t/clean.mlir
// RUN: amp-opt %t/clean.mlir --allow-unregistered-dialect > %t/clean-input.mlir
// RUN: amp-opt %t/clean.mlir --allow-unregistered-dialect --auto-mixed-precision --amp-optimize-casts --amp-strip-precision | diff %t/clean-input.mlir -
// RUN: not amp-opt %s --allow-unregistered-dialect --auto-mixed-precision --amp-optimize-casts --amp-strip-precision 2>&1 | FileCheck %s --check-prefix=CLEANED
// CLEANED: error: cannot undo mixed precision, because later passes built on it: 'train.matmul' reads or gives a low type that was not in the input

// The pass is idempotent and does not change a second function.
// RUN: amp-opt %t/back.mlir --allow-unregistered-dialect --amp-strip-precision --remarks-filter-missed=amp 2> %t/remarks | diff %t/back.mlir -
// RUN: FileCheck %s --check-prefix=REMARK < %t/remarks
// REMARK: remark: [Missed] NotMixed
// REMARK-SAME: Function=constants
// REMARK-SAME: not rewritten by auto-mixed-precision

// A second run starts from the input. It gives the same result with the same
// options, and with other options the result of a first run with them.
// RUN: amp-opt %t/fp16.mlir --allow-unregistered-dialect --auto-mixed-precision=precision=fp16 | diff %t/fp16.mlir -
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision=precision=bf16 > %t/bf16.mlir
// RUN: amp-opt %t/fp16.mlir --allow-unregistered-dialect --auto-mixed-precision=precision=bf16 | diff %t/bf16.mlir -
// RUN: not diff %t/fp16.mlir %t/bf16.mlir

// The pass records constants that rounding changed, and no others.
// CHECK-LABEL: func.func @constants
// CHECK-SAME: attributes {amp.mixed_precision = f16}
// CHECK: train.constant {amp.input_value = dense<1.000000e-01> : tensor<4x4xf32>} dense<9.997550e-02> : tensor<4x4xf16>
// CHECK: train.constant dense<5.000000e-01> : tensor<4x4xf16>
// CHECK: train.constant {amp.input_value = dense<0x7F800001> : tensor<4x4xf32>} dense<0x7E00> : tensor<4x4xf16>
func.func @constants(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.constant dense<0.1> : tensor<4x4xf32>
  %1 = train.matmul %a, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = train.constant dense<0.5> : tensor<4x4xf32>
  %3 = train.matmul %1, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = train.constant dense<0x7F800001> : tensor<4x4xf32>
  %5 = train.matmul %3, %4 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// Casts of the user and low types in the input, both of the chosen low type and
// of the other.
// CHECK-LABEL: func.func @low_in_the_input
// CHECK: train.relu %{{.*}} {amp.input_types = [f16]} : tensor<4x4xf16>
// CHECK: train.relu %{{.*}} : tensor<4x4xbf16>
// CHECK: amp.cast %{{.*}} inserted {amp.input_types = [f32]} : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK: train.constant {amp.input_types = [f16]} dense<9.997550e-02> : tensor<4x4xf16>
// An operation without results reads the value as well.
// CHECK: "foreign.sink"(%{{.*}}) {amp.input_types = []} : (tensor<4x4xf16>, tensor<4x4xf32>)
func.func @low_in_the_input(%a: tensor<4x4xf32>, %b: tensor<4x4xf16>, %c: tensor<4x4xbf16>) -> (tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xbf16>, tensor<4x4xf16>) {
  %0 = amp.cast %a : tensor<4x4xf32> to tensor<4x4xf16>
  %1 = train.relu %0 : tensor<4x4xf16>
  %2 = train.relu %c : tensor<4x4xbf16>
  %3 = amp.cast %1 inserted : tensor<4x4xf16> to tensor<4x4xf32>
  %4 = train.matmul %a, %3 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = train.relu %4 : tensor<4x4xf32>
  %6 = train.matmul %5, %5 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = train.constant dense<0.1> : tensor<4x4xf16>
  "foreign.sink"(%1, %6) : (tensor<4x4xf16>, tensor<4x4xf32>) -> ()
  return %6, %1, %2, %7 : tensor<4x4xf32>, tensor<4x4xf16>, tensor<4x4xbf16>, tensor<4x4xf16>
}

// A loop that carries one value that was low and one that becomes low.
// CHECK-LABEL: func.func @loop
// CHECK: iter_args({{.*}}) -> (tensor<4x4xf16>, tensor<4x4xf16>)
// CHECK: {amp.input_types = [f32, f16, index, f32, f16]}
func.func @loop(%a: tensor<4x4xf32>, %b: tensor<4x4xf16>, %n: index) -> (tensor<4x4xf32>, tensor<4x4xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4x4xf32>, tensor<4x4xf16>) {
    %1 = train.matmul %x, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = train.add %y, %b : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
    scf.yield %1, %2 : tensor<4x4xf32>, tensor<4x4xf16>
  }
  %3 = train.matmul %0#0, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3, %0#1 : tensor<4x4xf32>, tensor<4x4xf16>
}

// Types of another dialect, and a branch within a while loop.
// CHECK-LABEL: func.func @foreign
func.func @foreign(%a: tensor<*xf32>, %b: vector<4xf16>, %c: memref<4xf16>, %d: tensor<4xcomplex<f32>>, %p: i1, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "foreign.op"(%a, %b, %c, %d) : (tensor<*xf32>, vector<4xf16>, memref<4xf16>, tensor<4xcomplex<f32>>) -> tensor<?x4xf16>
  %1 = scf.while (%y = %x) : (tensor<4x4xf32>) -> tensor<4x4xf32> {
    scf.condition(%p) %y : tensor<4x4xf32>
  } do {
  ^bb0(%y: tensor<4x4xf32>):
    %2 = scf.if %p -> tensor<4x4xf32> {
      %3 = train.matmul %y, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.yield %3 : tensor<4x4xf32>
    } else {
      scf.yield %y : tensor<4x4xf32>
    }
    scf.yield %2 : tensor<4x4xf32>
  }
  %4 = train.matmul %1, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// Two functions call each other with a low argument. An operation with a body
// reads the argument directly.
// CHECK-LABEL: func.func private @ping
// CHECK-SAME: tensor<4x4xf16>
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<4x4xf16>, tensor<4x4xf16>)
func.func private @ping(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @pong(%0, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @pong(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @ping(%x, %y) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// An operation without a low value has no mark and nothing to undo.
// CHECK-LABEL: func.func @nothing_low
// CHECK-NOT: amp.mixed_precision
func.func @nothing_low(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = train.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
