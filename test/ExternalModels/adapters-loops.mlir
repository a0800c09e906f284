// A loop of which only the policy tells runs as often as scf.for. Weights that
// it carries and never changes are cast in front of it, once; what it changes
// keeps its type, and so does what is read behind it.
//
// RUN: amp-opt %s --allow-unregistered-dialect --auto-mixed-precision=policy=stablehlo --mlir-print-op-generic -o %t
// RUN: FileCheck %s < %t
// RUN: amp-opt %t --allow-unregistered-dialect --amp-strip-precision -o %t.stripped
// RUN: amp-opt %s --allow-unregistered-dialect -o %t.input
// RUN: diff %t.input %t.stripped

// CHECK-LABEL: sym_name = "invariant"
// CHECK: %[[W:.*]] = "stablehlo.convert"(%{{.*}}) {amp.inserted} : (tensor<64x64xf32>) -> tensor<64x64xf16>
// CHECK: "stablehlo.while"(%{{.*}}, %{{.*}}, %[[W]])
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[S:.*]]: tensor<64x64xf32>, %[[IN:.*]]: tensor<64x64xf16>):
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[X:.*]]: tensor<64x64xf32>, %[[BODY:.*]]: tensor<64x64xf16>):
// CHECK-NOT: "stablehlo.convert"(%[[BODY]])
// CHECK: "stablehlo.dot"(%{{.*}}, %[[BODY]])
// CHECK: "stablehlo.return"(%{{.*}}, %{{.*}}, %[[BODY]])
// CHECK: (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf16>) -> (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf16>)
func.func @invariant(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0:3 = "stablehlo.while"(%i, %x, %w) ({
  ^bb0(%k: tensor<i32>, %s: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    %c = "stablehlo.compare"(%k, %n) {comparison_direction = "LT"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%k: tensor<i32>, %s: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "stablehlo.return"(%k, %d, %v) : (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>) -> ()
  }) : (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>, tensor<64x64xf32>)
  return %0#1 : tensor<64x64xf32>
}

// The weight is read behind the loop, with all its digits.
// CHECK-LABEL: sym_name = "read_behind"
// CHECK: "stablehlo.while"
// CHECK: (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
func.func @read_behind(%n: tensor<i1>, %x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0:2 = "stablehlo.while"(%x, %w) ({
  ^bb0(%s: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    "stablehlo.return"(%n) : (tensor<i1>) -> ()
  }, {
  ^bb0(%s: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "stablehlo.return"(%d, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> ()
  }) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
  return %0#1 : tensor<64x64xf32>
}

// A chain within the loop costs as often as the loop runs: its cast in front of
// the loop pays.
// CHECK-LABEL: sym_name = "cost"
// CHECK: "stablehlo.convert"(%{{.*}}) {amp.inserted} : (tensor<64x64xf32>) -> tensor<64x64xf16>
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.negate"{{.*}} : (tensor<64x64xf16>) -> tensor<64x64xf16>
func.func @cost(%n: tensor<i1>, %x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%s: tensor<64x64xf32>):
    "stablehlo.return"(%n) : (tensor<i1>) -> ()
  }, {
  ^bb0(%s: tensor<64x64xf32>):
    %v = "stablehlo.negate"(%w) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %d = "stablehlo.dot"(%s, %v) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    "stablehlo.return"(%d) : (tensor<64x64xf32>) -> ()
  }) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
