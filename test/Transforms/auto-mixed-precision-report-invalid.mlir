// A report that cannot be written causes one error, leaves no file and does not
// change the module. So does an incomplete report.
//
// RUN: rm -rf %t && mkdir -p %t/folder.json
// RUN: split-file %s %t

// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=report=%t/report.txt 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: input.mlir:{{.*}}: error: report '{{.*}}report.txt' has no known format, expected a file whose name ends in .json or .html
// FORMAT-NOT: error

// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=report=%t/missing/report.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: cannot write '{{.*}}missing/report.json': No such file or directory
// MISSING-NOT: error

// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=report=%t/folder.json 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: cannot write '{{.*}}folder.json': {{.+}}
// FOLDER-NOT: error

// RUN: not amp-opt %t/input.mlir --pass-pipeline='builtin.module(func.func(auto-mixed-precision{report=%t/nested.json}))' 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: error: auto-mixed-precision: a report needs the pass to run on a whole module, got 'func.func'
// NESTED-NOT: error

// There is no file, not even a partial one.
// RUN: ls -A %t | FileCheck %s --check-prefix=FILES
// FILES-NOT: report
// FILES-NOT: nested
// FILES-NOT: temp
// FILES: input.mlir

// The module is as it was.
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=report=%t/missing/report.json --mlir-print-ir-after-failure 2>&1 | FileCheck %s --check-prefix=MODULE
// MODULE: IR Dump After AutoMixedPrecisionPass Failed
// MODULE: func.func @f
// MODULE-NOT: f16
// MODULE: train.matmul
// MODULE-NOT: f16

// There is a report even with f32 or an unchanged function. An option may ask
// for several, in one list or two.
// RUN: amp-opt %t/input.mlir --auto-mixed-precision="precision=f32 report=%t/f32.json" | FileCheck %s --check-prefix=F32
// F32-NOT: f16
// RUN: FileCheck %s --check-prefix=UNTOUCHED --input-file=%t/f32.json
// UNTOUCHED: "untouched": "the low type is f32"
// RUN: amp-opt %t/input.mlir --auto-mixed-precision="report=%t/a.json,%t/a.html report=%t/b.json" -o /dev/null
// RUN: cmp %t/a.json %t/b.json && test -s %t/a.html
// RUN: amp-opt %models/digits-mlp.mlir --amp-training-pipeline="report=%t/p.json,%t/p.html" -o /dev/null
// RUN: test -s %t/p.json && test -s %t/p.html

// A second run reports on the input of the first.
// RUN: amp-opt %t/input.mlir --auto-mixed-precision --auto-mixed-precision=report=%t/second.json -o /dev/null
// RUN: cmp %t/a.json %t/second.json

//--- input.mlir
func.func @f(%a: tensor<4x4xf32> {amp.role = "batch", amp.name = "a"}) -> (tensor<4x4xf32> {amp.prediction = "y"}) {
  %0 = train.matmul %a, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
