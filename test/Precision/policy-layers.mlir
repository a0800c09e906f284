// A policy on top of another: its entries win, its settings win, and the
// printed policy reads back as the same policy.
//
// RUN: split-file %s %t
// RUN: cd %t
//
// RUN: amp-opt input.mlir --auto-mixed-precision=policy=user.yaml --allow-unregistered-dialect | FileCheck %s
// CHECK-NOT: amp.cast {{.*}} to tensor<4x4xf16>
// CHECK: train.exp {{.*}} : tensor<4x4xbf16>
// CHECK-NEXT: train.tanh {{.*}} : tensor<4x4xbf16>
// CHECK: %[[S:.*]] = train.sin {{.*}} : tensor<4x4xf32>
// CHECK-NEXT: amp.cast %[[S]] inserted : tensor<4x4xf32> to tensor<4x4xbf16>
// CHECK-NEXT: train.add {{.*}} -> tensor<4x4xbf16>
// CHECK: "foreign.one"(%{{.*}}) : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
// CHECK: "foreign.two"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
//
// An option takes precedence over the policy.
// RUN: amp-opt input.mlir --auto-mixed-precision='policy=user.yaml precision=fp16' --allow-unregistered-dialect | FileCheck %s --check-prefix=FP16
// FP16-NOT: bf16
// FP16: train.exp {{.*}} : tensor<4x4xf16>
//
// One list holds the entries of both. The path of a base is relative to the
// file that names it.
// RUN: amp-opt --amp-print-policy=user.yaml | FileCheck %s --check-prefix=FLAT --match-full-lines
// FLAT: version: 1
// FLAT-NEXT: precision: bf16
// FLAT-NEXT: strategy: grappler
// FLAT-NEXT: gradient-type: low
// FLAT-NEXT: low-gradients:
// FLAT-NEXT:   - train.conv2d_filter_grad
// FLAT-NEXT:   - 'foreign.c*'
// FLAT-NEXT: loss-scaling:
// FLAT-NEXT:   mode: 1024
// FLAT-NEXT:   init-scale: 8
// FLAT-NEXT:   growth-factor: 1.1
// FLAT-NEXT: master-weights: copy
// FLAT-NEXT: allow:
// FLAT-NEXT:   - train.exp
// FLAT-NEXT:   - train.matmul
// FLAT-NEXT: infer:
// FLAT-NEXT:   - train.tanh
// FLAT-NEXT:   - train.add
// FLAT-NEXT:   - 'foreign.o*'
// FLAT-NEXT: keep:
// FLAT-NEXT:   - train.sin
// FLAT-NEXT:   - 'foreign.*'
// FLAT-NEXT: slots:
// FLAT-NEXT:   - op: train.tanh
// FLAT-NEXT:     slot: 0
// FLAT-NEXT:     kind: storage
// FLAT-NEXT:   - op: train.add
// FLAT-NEXT:     slot: 0
// FLAT-NEXT:     kind: range
// FLAT-NEXT: pins:
// FLAT-NEXT:   'x/y': f32
// FLAT-NEXT:   'it''s a "scope"/*': low
//
// RUN: amp-opt --amp-print-policy=user.yaml > flat.yaml
// RUN: amp-opt --amp-print-policy=flat.yaml | diff flat.yaml -
// RUN: amp-opt input.mlir --auto-mixed-precision=policy=user.yaml --allow-unregistered-dialect > user.mlir
// RUN: amp-opt input.mlir --auto-mixed-precision=policy=flat.yaml --allow-unregistered-dialect | diff user.mlir -
//
// The base stays a separate policy if a glob overrides a longer glob of the
// base.
// RUN: amp-opt --amp-print-policy=glob.yaml | FileCheck %s --check-prefix=NESTED --match-full-lines
// NESTED: version: 1
// NESTED-NEXT: precision: bf16
// NESTED-NEXT: gradient-type: f32
// NESTED-NEXT: allow:
// NESTED-NEXT:   - train.matmul
// NESTED-NEXT: deny:
// NESTED-NEXT:   - 'foreign.*'
// NESTED-NEXT: extends:
// NESTED-NEXT:   infer:
// NESTED-NEXT:     - 'foreign.o*'
// RUN: amp-opt --amp-print-policy=glob.yaml > nested.yaml
// RUN: amp-opt --amp-print-policy=nested.yaml | diff nested.yaml -
// RUN: amp-opt input.mlir --auto-mixed-precision=policy=glob.yaml --allow-unregistered-dialect > glob.mlir
// RUN: FileCheck %s --check-prefix=GLOB < glob.mlir
// GLOB: "foreign.one"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// RUN: amp-opt input.mlir --auto-mixed-precision=policy=nested.yaml --allow-unregistered-dialect | diff glob.mlir -
//
// A policy that cannot be printed is an error with the reason.
// RUN: not amp-opt --amp-print-policy=no-such-file 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not amp-opt input.mlir --allow-unregistered-dialect --amp-print-policy=policy=no-such-file 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: cannot read policy 'no-such-file'

//--- user.yaml
version: 1
extends: folder/base.yaml
precision: bf16
loss-scaling: {init-scale: 8}
low-gradients: ["foreign.c*", train.conv2d_filter_grad]
allow: [train.exp]
infer: [train.tanh]
keep: [train.sin]
slots: [{op: train.tanh, slot: 0, kind: storage}]
pins: {x/y: f32}

//--- folder/base.yaml
version: 1
extends: root.yaml
precision: fp16
strategy: grappler
loss-scaling: {mode: 1024, init-scale: 2, growth-factor: 1.1}
deny: [train.exp, train.tanh]
infer: [train.add, "foreign.o*"]
keep: ["foreign.*"]
slots: [{op: train.tanh, slot: 0, kind: range}, {op: train.add, slot: 0, kind: range}]
pins: {x/y: low, "it's a \"scope\"/*": low}

//--- folder/root.yaml
version: 1
gradient-type: low
low-gradients: [train.conv2d_filter_grad]
master-weights: copy
allow: [train.matmul]

//--- glob.yaml
version: 1
precision: bf16
allow: [train.matmul]
deny: ["foreign.*"]
extends:
  gradient-type: f32
  infer: ["foreign.o*"]

//--- input.mlir
func.func @f(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = train.exp %0 : tensor<4x4xf32>
  %2 = train.tanh %1 : tensor<4x4xf32>
  %3 = train.sin %2 : tensor<4x4xf32>
  %4 = train.add %3, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = train.matmul %0, %2 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = "foreign.one"(%5) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = train.matmul %6, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = "foreign.two"(%7) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %9 = train.matmul %8, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %9, %4 : tensor<4x4xf32>, tensor<4x4xf32>
}
