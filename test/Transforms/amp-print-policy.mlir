// The pass prints a policy and does not change the module.
//
// RUN: split-file %s %t
// RUN: cd %t
//
// RUN: amp-opt input.mlir --amp-print-policy=policy=user.yaml -o kept.mlir | FileCheck %s --match-full-lines --implicit-check-not='{{.}}'
// CHECK: version: 1
// CHECK-NEXT: precision: bf16
// CHECK-NEXT: strategy: optimal
// CHECK-NEXT: allow:
// CHECK-NEXT:   - train.matmul
// CHECK-NEXT: deny:
// CHECK-NEXT:   - train.exp
// CHECK-NEXT: pins:
// CHECK-NEXT:   'head/*': f32
// RUN: amp-opt input.mlir | diff kept.mlir -
//
// A printed policy prints as itself, also without an input.
// RUN: amp-opt input.mlir --amp-print-policy=policy=user.yaml -o /dev/null > flat.yaml
// RUN: amp-opt input.mlir --amp-print-policy=policy=flat.yaml -o /dev/null | diff flat.yaml -
// RUN: amp-opt input.mlir --amp-print-policy=policy=flat.yaml --amp-print-policy=policy=flat.yaml -o /dev/null > twice.yaml
// RUN: cat flat.yaml flat.yaml | diff twice.yaml -
// RUN: amp-opt --amp-print-policy=user.yaml | diff flat.yaml -
//
// Without the option it prints the preset 'default'.
// RUN: amp-opt input.mlir --amp-print-policy -o /dev/null > default.yaml
// RUN: amp-opt --amp-print-policy=default | diff default.yaml -
//
// RUN: not amp-opt input.mlir --amp-print-policy=policy=none 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: cannot read policy 'none': No such file or directory; expected a file or one of the presets
// RUN: not amp-opt input.mlir --amp-print-policy=policy=broken.yaml 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: broken.yaml:2:12: error: policy: expected 'precision' to be fp16, bf16 or f32, got 'fp8'
// A policy accepts the same spellings of a precision as an option.
// RUN: amp-opt --amp-print-policy=spelled.yaml | FileCheck %s --check-prefix=SPELLED
// SPELLED: precision: float16
// RUN: not amp-opt input.mlir --amp-print-policy=file=user.yaml 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: amp-print-policy: unknown option 'file'

//--- user.yaml
version: 1
extends: base.yaml
precision: bf16
pins: {"head/*": f32}

//--- base.yaml
version: 1
precision: fp16
strategy: optimal
allow: [train.matmul]
deny: [train.exp]

//--- broken.yaml
version: 1
precision: fp8

//--- input.mlir
func.func @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.exp %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

//--- spelled.yaml
version: 1
precision: float16
