// A call has the types of its callee, even if a list names calls. A remark says
// why a signature does not change.
//
// RUN: amp-opt %s --auto-mixed-precision="policy={{version: 1, extends: default, infer: [func.call]}}" | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision --remarks-filter=amp 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// REMARK-NOT: Unlisted
// REMARK: [Missed] SignatureKept | Category:amp | Function=known | Reason="it is public: not every caller is known"
// REMARK-NOT: Unlisted
func.func @known(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
  return %a : tensor<16x16xf32>
}

// CHECK-LABEL: func.func @caller
// CHECK: call @known(%{{.*}}) : (tensor<16x16xf32>) -> tensor<16x16xf32>
func.func @caller(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %m = train.matmul %a, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %c = func.call @known(%m) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %d = train.matmul %c, %b : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %d : tensor<16x16xf32>
}
