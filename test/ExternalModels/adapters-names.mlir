// Names with dots, operands with names, optional slots and views of adapters.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/input.mlir --allow-unregistered-dialect --mlir-print-op-generic \
// RUN:   --auto-mixed-precision=policy=%t/host.yaml --remarks-filter=amp 2>%t/remarks | FileCheck %t/input.mlir
// RUN: not grep Unlisted %t/remarks
//
// The policy that is printed is the same.
// RUN: amp-opt --amp-print-policy=%t/host.yaml > %t/flat.yaml
// RUN: FileCheck %s --check-prefix=FLAT --input-file=%t/flat.yaml
// RUN: amp-opt --amp-print-policy=%t/flat.yaml | diff %t/flat.yaml -
// FLAT: allow:
// FLAT-NEXT: - host.dot.default
// FLAT: operand-names: names
// FLAT: - kind: compute
// FLAT-NEXT: operands: [left, right]
// FLAT: optional: true
// FLAT: views: [host.turn.last]
//
// RUN: not amp-opt %t/unnamed.mlir --allow-unregistered-dialect --auto-mixed-precision=policy=%t/host.yaml 2>&1 | FileCheck %s --check-prefix=UNNAMED
// UNNAMED: host.yaml:13:46: error: policy: 'host.dot.default' has no operand named 'right' in 'names'
// UNNAMED: note: used here
// RUN: not amp-opt %t/count.mlir --allow-unregistered-dialect --auto-mixed-precision=policy=%t/host.yaml 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: 'host.dot.default' op expected 'names' to have one string per operand
// RUN: not amp-opt --amp-print-policy=%t/wrong.yaml 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG-DAG: wrong.yaml":7:40{{.*}} policy: expected the number of an operand, got 'left'
// WRONG-DAG: wrong.yaml":7:71{{.*}} policy: expected 'optional' to be true or false, got 'perhaps'
//
// A view costs no bytes.
// RUN: sed '/views/d' %t/host.yaml > %t/moving.yaml
// RUN: amp-opt %t/cost.mlir --allow-unregistered-dialect --auto-mixed-precision="policy=%t/host.yaml report=%t/free.json" -o /dev/null
// RUN: amp-opt %t/cost.mlir --allow-unregistered-dialect --auto-mixed-precision="policy=%t/moving.yaml report=%t/moving.json" -o /dev/null
// RUN: not diff %t/free.json %t/moving.json > %t/diff
// RUN: FileCheck %s --check-prefix=COST --input-file=%t/diff
// COST: bytes

//--- host.yaml
version: 1
adapters:
  - dialect: host
    cast: {op: convert}
    operand-names: names
    allow: [dot.default]
    infer: ["add.*", norm]
    clear: [turn.last, host.relu]
    views: [turn.last]
    operations:
      - op: dot.default
        slots:
          - {kind: compute, operands: [left, right]}
          - {kind: storage, results: [0], implies: 0}
      - op: norm
        slots:
          - {kind: storage, operands: [in, residual], results: [0, 1], optional: true}
      - {op: add.Tensor, kind: storage}

//--- wrong.yaml
version: 1
adapters:
  - dialect: host
    operations:
      - op: norm
        slots:
          - {kind: storage, operands: [left], results: [0], optional: perhaps}

//--- input.mlir
// The list in front moves the positions of the operands; the scale of the norm
// keeps its type.
// CHECK: "host.dot.default"(%{{.*}}) {{.*}} : (i64, i64, tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf16>
// CHECK: "host.add.Tensor"{{.*}} -> tensor<8x8xf16>
// CHECK: "host.norm"{{.*}} : (tensor<8xf32>, tensor<8x8xf16>) -> (tensor<8x8xf16>, none)
// CHECK: "host.norm"{{.*}} : (tensor<8x8xf16>, tensor<8xf32>, tensor<8x8xf16>) -> (tensor<8x8xf16>, tensor<8x8xf16>)
// CHECK: "host.dot.default"
func.func @f(%n: i64, %a: tensor<8x8xf32>, %w: tensor<8xf32>) -> tensor<8x8xf32> {
  %0 = "host.dot.default"(%n, %n, %a, %a) {names = ["size", "size", "left", "right"]} : (i64, i64, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "host.add.Tensor"(%0, %0) {names = ["a", "b"]} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2:2 = "host.norm"(%w, %1) {names = ["scale", "in"]} : (tensor<8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, none)
  %3:2 = "host.norm"(%2#0, %w, %0) {names = ["in", "scale", "residual"]} : (tensor<8x8xf32>, tensor<8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %4 = "host.dot.default"(%3#0, %3#1) {names = ["left", "right"]} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

//--- cost.mlir
func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "host.dot.default"(%a, %a) {names = ["left", "right"]} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = "host.turn.last"(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = "host.dot.default"(%1, %a) {names = ["left", "right"]} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

//--- unnamed.mlir
func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "host.dot.default"(%a) {names = ["left"]} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

//--- count.mlir
func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = "host.dot.default"(%a, %a) {names = ["left"]} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
