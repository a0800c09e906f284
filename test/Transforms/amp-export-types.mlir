// The types and casts of a module, by the names that the host gave.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/input.mlir --allow-unregistered-dialect --amp-export-types="key=node output=%t/types.json" -o %t/kept.mlir
// RUN: FileCheck %s --input-file=%t/types.json --match-full-lines --strict-whitespace
// RUN: amp-opt %t/input.mlir --allow-unregistered-dialect | diff %t/kept.mlir -
// The standard output has the same, and a second run too.
// RUN: amp-opt %t/input.mlir --allow-unregistered-dialect --amp-export-types="key=node output=-" -o /dev/null | diff %t/types.json -
//
//      CHECK:{
// CHECK-NEXT: "version": 1,
// CHECK-NEXT: "key": "node",
// CHECK-NEXT: "functions": [
// CHECK-NEXT:  {
// CHECK-NEXT:   "name": "f",
// CHECK-NEXT:   "arguments": [
// CHECK-NEXT:    "f32",
// CHECK-NEXT:    "index"
// CHECK-NEXT:   ],
// CHECK-NEXT:   "operations": [
// CHECK-NEXT:    {
// CHECK-NEXT:     "op": "host.convert",
// CHECK-NEXT:     "operands": [
// CHECK-NEXT:      [
// CHECK-NEXT:       -1,
// CHECK-NEXT:       0
// CHECK-NEXT:      ]
// CHECK-NEXT:     ],
// CHECK-NEXT:     "types": [
// CHECK-NEXT:      "bf16"
// CHECK-NEXT:     ]
// CHECK-NEXT:    },
// CHECK-NEXT:    {
// CHECK-NEXT:     "op": "host.both",
// CHECK-NEXT:     "key": "a \"name\"",
//      CHECK:       0,
// CHECK-NEXT:       0
//      CHECK:     "types": [
// CHECK-NEXT:      "bf16",
// CHECK-NEXT:      "none"
// CHECK-NEXT:     ]
//      CHECK:     "key": "inner",
// CHECK-NEXT:     "operands": [
// CHECK-NEXT:      null,
// CHECK-NEXT:      [
// CHECK-NEXT:       1,
// CHECK-NEXT:       0
// CHECK-NEXT:      ]
// CHECK-NEXT:     ],
//
// RUN: not amp-opt %t/input.mlir --allow-unregistered-dialect --amp-export-types=key=node 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: not amp-opt %t/input.mlir --allow-unregistered-dialect --amp-export-types=output=- 2>&1 | FileCheck %s --check-prefix=OPTIONS
// OPTIONS: error: amp-export-types: expected the options 'key' (the attribute that names operations) and 'output' (a file, or - for the standard output)
// RUN: not amp-opt %t/input.mlir --allow-unregistered-dialect --amp-export-types="key=node output=%t/none/types.json" 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: amp-export-types: {{.*}}types.json
// RUN: amp-opt %t/wrong.mlir --allow-unregistered-dialect --split-input-file --verify-diagnostics --amp-export-types="key=node output=-"

//--- input.mlir
func.func @f(%a: tensor<4xf32>, %n: index) -> tensor<4xbf16> {
  %0 = "host.convert"(%a) : (tensor<4xf32>) -> tensor<4xbf16>
  %1:2 = "host.both"(%0) {node = "a \"name\""} : (tensor<4xbf16>) -> (tensor<4xbf16>, none)
  "host.loop"(%n) ({
  ^bb0(%i: index):
    %2 = "host.use"(%i, %1#0) {node = "inner"} : (index, tensor<4xbf16>) -> tensor<4xbf16>
  }) {node = "loop"} : (index) -> ()
  return %1#0 : tensor<4xbf16>
}

func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

//--- wrong.mlir
func.func @twice(%a: tensor<4xf32>) {
  // expected-note@+1 {{the other operation}}
  %0 = "host.exp"(%a) {node = "exp"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{'host.exp' op has the 'node' "exp" of another operation}}
  %1 = "host.exp"(%0) {node = "exp"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @number(%a: tensor<4xf32>) {
  // expected-error@+1 {{'host.exp' op expected 'node' to be a string, got 3 : i64}}
  %0 = "host.exp"(%a) {node = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
