// Later passes depend on the low types. amp-strip-precision names the obstacle,
// and auto-mixed-precision does not change the function.

// RUN: amp-opt %s --amp-strip-precision --split-input-file --verify-diagnostics
// RUN: sed /expected/d %s > %t.mlir
// RUN: amp-opt %t.mlir --split-input-file > %t
// RUN: amp-opt %t.mlir --auto-mixed-precision --split-input-file --remarks-filter-missed=amp 2> %t.remarks | diff %t -
// RUN: FileCheck %s < %t.remarks

// CHECK: [Missed] AlreadyMixed
// CHECK-SAME: Function=low_copy
// CHECK-SAME: Reason="'train.matmul' reads or gives a low type that was not in the input
// expected-error@+1 {{cannot undo mixed precision, because later passes built on it: 'train.matmul' reads or gives a low type that was not in the input}}
func.func @low_copy(%a: tensor<4x4xf32>, %w: tensor<4x4xf16>) -> tensor<4x4xf32> attributes {amp.mixed_precision = f16} {
  %0 = amp.cast %a inserted : tensor<4x4xf32> to tensor<4x4xf16>
  %1 = train.matmul %0, %w : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK: [Missed] AlreadyMixed
// CHECK-SAME: Function=fewer_results
// CHECK-SAME: Reason="'scf.for' has no longer the results that it had in the input
// expected-error@+1 {{'scf.for' has no longer the results that it had in the input}}
func.func @fewer_results(%a: tensor<4xf16>, %n: index) -> tensor<4xf16> attributes {amp.mixed_precision = f16} {
  %0 = scf.for %i = %n to %n step %n iter_args(%x = %a) -> tensor<4xf16> {
    scf.yield %x : tensor<4xf16>
  } {amp.input_types = [f16, f16, index, f16, f16]}
  return %0 : tensor<4xf16>
}

// -----

// CHECK: [Missed] AlreadyMixed
// CHECK-SAME: Function=other_signature
// CHECK-SAME: Reason="the signature differs from the signature of the input", Remark="already in mixed precision, and later passes built on it"
// expected-error@+1 {{the signature differs from the signature of the input}}
func.func private @other_signature(%a: tensor<4xf16>) -> tensor<4xf16>
    attributes {amp.mixed_precision = f16, amp.input_signature = (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>} {
  return %a : tensor<4xf16>
}

// -----

// CHECK: [Missed] AlreadyMixed
// CHECK-SAME: Function=does_not_verify
// CHECK-SAME: Reason="type of return operand
// expected-error@+1 {{later passes built on it: type of return operand 0}}
func.func @does_not_verify(%a: tensor<4xf16>) -> tensor<4xf16> attributes {amp.mixed_precision = f16} {
  %0 = train.constant dense<0.5> : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// CHECK: [Missed] AlreadyMixed
// CHECK-SAME: Function=widened_copy
// CHECK-SAME: Reason="an inserted cast reads a low type that was in the input"
// expected-error@+1 {{an inserted cast reads a low type that was in the input}}
func.func @widened_copy(%a: tensor<4xf16>) -> tensor<4xf32> attributes {amp.mixed_precision = f16} {
  %0 = amp.cast %a inserted : tensor<4xf16> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
