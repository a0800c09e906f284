// A skeleton of a policy. It starts with the unlisted operations, by guessed
// class and count.
//
// RUN: amp-opt %s --amp-policy-skeleton --allow-unregistered-dialect -o /dev/null > %t.yaml
// RUN: FileCheck %s --match-full-lines < %t.yaml
//
// The skeleton is a valid policy and names every unlisted operation.
// Unregistered operations also need a cast.
// RUN: echo 'adapters: [{dialect: foreign, cast: {op: amp.cast}}]' >> %t.yaml
// RUN: amp-opt %s --auto-mixed-precision=policy=%t.yaml --allow-unregistered-dialect --remarks-filter=amp -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NONE --allow-empty
// NONE-NOT: Unlisted
// RUN: amp-opt %s --amp-policy-skeleton=policy=%t.yaml --allow-unregistered-dialect -o /dev/null \
// RUN:   | FileCheck %s --check-prefix=ALL
// ALL: extends: {{['/].*}}.yaml
// ALL-NEXT: {{^$}}
// ALL-NEXT: # In a list of '{{.*}}' already.
//
// In another folder it extends the same file still.
// RUN: rm -rf %t && mkdir -p %t/elsewhere
// RUN: cd %t
// RUN: echo '{version: 1, precision: bf16, deny: [train.matmul]}' > base.yaml
// RUN: amp-opt %s --amp-policy-skeleton=policy=base.yaml --allow-unregistered-dialect -o /dev/null > elsewhere/user.yaml
// RUN: amp-opt --amp-print-policy=elsewhere/user.yaml | FileCheck %s --check-prefix=ELSEWHERE
// ELSEWHERE: precision: bf16
// ELSEWHERE: deny:
// ELSEWHERE: - train.matmul
//
// An inline policy has no file. The skeleton contains the policy that it
// extends.
// RUN: amp-opt %s '--amp-policy-skeleton=policy={{version: 1, extends: base.yaml, allow: [train.exp]}}' --allow-unregistered-dialect -o /dev/null > in-place.yaml
// RUN: FileCheck %s --check-prefix=PLACE --match-full-lines < in-place.yaml
// PLACE: version: 1
// PLACE-NEXT: extends:
// PLACE-NEXT:   version: 1
// PLACE-NEXT:   precision: bf16
// PLACE-NEXT:   allow:
// PLACE-NEXT:     - train.exp
// PLACE-NEXT:   deny:
// PLACE-NEXT:     - train.matmul
// PLACE-EMPTY:
// PLACE-NEXT: # In no list of the policy above. The lists below are guesses: check each entry.
// PLACE: # In a list of the policy above already.
// RUN: amp-opt --amp-print-policy=in-place.yaml | FileCheck %s --check-prefix=AGAIN
// AGAIN: precision: bf16
// AGAIN: {{^ *}}- train.exp
// AGAIN: {{^ *}}- train.matmul
//
// RUN: not amp-opt %s --amp-policy-skeleton=policy=none --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: cannot read policy 'none'

// CHECK: version: 1
// CHECK-NEXT: extends: default
// CHECK-EMPTY:
// CHECK-NEXT: # In no list of 'default'. The lists below are guesses: check each entry.
// CHECK-NEXT: allow:
// CHECK-NEXT:   - foreign.dot_general  # 2, named like a product
// CHECK-NEXT: deny:
// CHECK-NEXT:   - foreign.exp          # 1, named like one that leaves the range or sums
// CHECK-NEXT:   - foreign.reduce       # 1, named like one that leaves the range or sums
// CHECK-NEXT: infer:
// CHECK-NEXT:   - foreign.logistic     # 1, named like elementwise arithmetic
// CHECK-NEXT: clear:
// CHECK-NEXT:   - foreign.reshape      # 1, named like one that moves or selects values
// CHECK-NEXT: keep:
// CHECK-NEXT:   - foreign.custom       # 1, nothing is known of it
// CHECK-EMPTY:
// CHECK-NEXT: # In a list of 'default' already.
// CHECK-NEXT: #   train.matmul           3, allow
// CHECK-NEXT: #   arith.addf             1, infer
// CHECK-NEXT: #   train.exp              1, deny
// CHECK-NOT: {{.}}
func.func @f(%a: tensor<4x4xf32>, %i: tensor<4xi64>, %c: i1) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "foreign.dot_general"(%0, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "foreign.dot_general"(%1, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "foreign.logistic"(%2) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "foreign.reduce"(%3) : (tensor<4x4xf32>) -> tensor<4xf32>
  %5 = "foreign.reshape"(%4) : (tensor<4xf32>) -> tensor<2x2xf32>
  %6 = "foreign.custom"(%5) : (tensor<2x2xf32>) -> tensor<4x4xf32>
  %7 = "foreign.exp"(%6) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = arith.addf %7, %6 : tensor<4x4xf32>
  %9 = train.exp %8 : tensor<4x4xf32>
  %10 = "foreign.integers"(%i) : (tensor<4xi64>) -> i1
  %11 = scf.if %10 -> tensor<4x4xf32> {
    %12 = train.matmul %9, %9 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %12 : tensor<4x4xf32>
  } else {
    %12 = train.matmul %9, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %12 : tensor<4x4xf32>
  }
  return %11 : tensor<4x4xf32>
}
