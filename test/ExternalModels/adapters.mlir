// A dialect that is not linked in, as the policy describes it.
//
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision='policy=%S/Inputs/toy.yaml strategy=optimal' | FileCheck %s
//
// amp-strip-precision gives it back, and a second run with another precision is
// as good as the first.
// RUN: amp-opt %s --allow-unregistered-dialect > %t.in
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision='policy=%S/Inputs/toy.yaml strategy=optimal' --amp-strip-precision | diff %t.in -
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision='policy=%S/Inputs/toy.yaml strategy=optimal' --auto-mixed-precision='policy=%S/Inputs/toy.yaml strategy=optimal precision=bf16' | FileCheck %s --check-prefix=BF16
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision='policy=%S/Inputs/toy.yaml strategy=optimal precision=bf16' | FileCheck %s --check-prefix=BF16

// CHECK-LABEL: func.func @chain
// CHECK-NOT: amp.cast
// CHECK: %[[A:.*]] = "toy.convert"(%{{.*}}) {amp.inserted, mode = "nearest", to = f16} : (tensor<4x4xf32>) -> tensor<4x4xf16>
// CHECK: %[[P:.*]] = "toy.dot"(%[[A]], %[[A]]) {amp.input_attributes = {output_type = f32}, output_type = f16} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: %[[C:.*]] = "toy.constant"() {amp.input_attributes = {value = dense<1.000000e-01> : tensor<4x4xf32>}, value = dense<9.997550e-02> : tensor<4x4xf16>} : () -> tensor<4x4xf16>
// CHECK: %[[S:.*]] = "toy.add"(%[[P]], %[[C]])
// CHECK: %[[R:.*]] = "toy.relu"(%[[S]]) {slope = 1.000000e-01 : f32} : (tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: %[[Q:.*]] = "toy.dot"(%[[R]], %[[A]]) {output_type = f32} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf32>
// CHECK: "toy.exp"(%[[Q]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// BF16-LABEL: func.func @chain
// BF16: "toy.convert"(%{{.*}}) {amp.inserted, mode = "nearest", to = bf16}
func.func @chain(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "toy.dot"(%a, %a) {output_type = f32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = "toy.constant"() {value = dense<0.1> : tensor<4x4xf32>} : () -> tensor<4x4xf32>
  %1 = "toy.add"(%0, %c) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "toy.relu"(%1) {slope = 0.1 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "toy.dot"(%2, %a) {output_type = f32} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "toy.exp"(%3) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// The body of a reduction follows its operands. A region without a rule and an
// unknown operation do not change.
// CHECK-LABEL: func.func @regions
// CHECK: "toy.reduce"(%{{.*}}) ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<f16>, %[[Y:.*]]: tensor<f16>):
// CHECK-NEXT: %[[Z:.*]] = "toy.add"(%[[X]], %[[Y]]) : (tensor<f16>, tensor<f16>) -> tensor<f16>
// CHECK-NEXT: "toy.return"(%[[Z]]) : (tensor<f16>) -> ()
// CHECK-NEXT: }) {amp.input_attributes = {}} : (tensor<4x4xf16>) -> tensor<4x4xf16>
// CHECK: "toy.loop"(%{{.*}}) ({
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<4x4xf32>):
// CHECK: }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: "toy.unknown"(%{{.*}}) : (tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @regions(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "toy.dot"(%a, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "toy.reduce"(%0) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %z = "toy.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "toy.return"(%z) : (tensor<f32>) -> ()
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "toy.dot"(%1, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "toy.loop"(%2) ({
  ^bb0(%x: tensor<4x4xf32>):
    "toy.return"(%x) : (tensor<4x4xf32>) -> ()
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "toy.dot"(%3, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = "toy.unknown"(%4) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = "toy.dot"(%5, %a) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %6 : tensor<4x4xf32>
}
