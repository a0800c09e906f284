// Ranges of a calibration keep values f32 that leave the range of the low type
// or lose too much below it, and free range slots whose values fit. The comment
// at an operation of the input has the smallest and the largest magnitude of
// its result.
//
// RUN: split-file %s %t
// RUN: %python %t/make-ranges.py %t/input.mlir > %t/ranges.json
// RUN: amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/ranges.json --remarks-filter=amp -o %t/out.mlir 2> %t/remarks
// RUN: FileCheck %t/input.mlir < %t/out.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t/remarks
//
// A second run, and the removal of all casts.
// RUN: amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/ranges.json --auto-mixed-precision=ranges=%t/ranges.json | diff %t/out.mlir -
// RUN: amp-opt %t/input.mlir -o %t/plain.mlir
// RUN: amp-opt %t/out.mlir --amp-strip-precision | diff %t/plain.mlir -
//
// bf16 has the range of f32.
// RUN: amp-opt %t/input.mlir --auto-mixed-precision="precision=bf16 ranges=%t/ranges.json" | FileCheck %s --check-prefix=BF16
// BF16-LABEL: func.func @beyond
// BF16: train.matmul {{.*}} (tensor<8x8xbf16>, tensor<8x8xbf16>)
// BF16-LABEL: func.func @backward
//
// The margin and the tolerance.
// RUN: amp-opt %t/input.mlir --auto-mixed-precision="ranges=%t/ranges.json ranges-margin=1 ranges-tolerance=0.5" | FileCheck %s --check-prefix=LOOSE
// LOOSE-LABEL: func.func @beyond
// LOOSE: train.matmul {{.*}} (tensor<8x8xf16>, tensor<8x8xf16>)
// LOOSE-LABEL: func.func @lost
// LOOSE: train.matmul {{.*}} (tensor<8x8xf16>, tensor<8x8xf16>)
//
// The loss scale of gradients: the one with which most fit, or a given one.
// RUN: amp-opt %t/input.mlir --auto-mixed-precision="ranges=%t/ranges.json ranges-scale=1" | FileCheck %s --check-prefix=SCALE
// SCALE-LABEL: func.func @backward
// SCALE: train.matmul {{.*}} (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
//
// Reports have the ranges.
// RUN: amp-opt %t/input.mlir --auto-mixed-precision="ranges=%t/ranges.json report=%t/report.json" -o /dev/null
// RUN: %python %t/check-report.py %t/report.json
//
// Wrong options and files.
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/missing.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: auto-mixed-precision: cannot read ranges from '{{.*}}missing.json': {{.*}}o such file
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/input.mlir 2>&1 | FileCheck %s --check-prefix=JSON
// JSON: error: auto-mixed-precision: cannot read ranges from '{{.*}}input.mlir':
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/other.json 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: error: auto-mixed-precision: cannot read ranges from '{{.*}}other.json': expected a file of 'amp-run --calibrate', with "format": "amp-ranges"
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/broken.json 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: error: auto-mixed-precision: cannot read ranges from '{{.*}}broken.json': element 0 of "values" is not a value with its statistics
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges-margin=0.5 2>&1 | FileCheck %s --check-prefix=MARGIN
// MARGIN: error: auto-mixed-precision: wrong value of 'ranges-margin': {{.*}}, expected a number of at least 1
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges-tolerance=0 2>&1 | FileCheck %s --check-prefix=TOLERANCE
// TOLERANCE: error: auto-mixed-precision: wrong value of 'ranges-tolerance': {{.*}}, expected a positive number
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges-scale=-1 2>&1 | FileCheck %s --check-prefix=WRONGSCALE
// WRONGSCALE: error: auto-mixed-precision: wrong value of 'ranges-scale': {{.*}}, expected a positive number or 0
//
// Ranges of another module: without a value, with another one, without an
// argument of the step, and of another shape.
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/empty.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: auto-mixed-precision: the ranges of '{{.*}}empty.json' are from another module: it has none of the values of the module; expected a calibration of the same file
// RUN: sed 's/train.tanh/train.sigmoid/' %t/ranges.json > %t/renamed.json
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/renamed.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=RENAMED
// RENAMED: error: {{.*}}renamed.json' are from another module: the module has no value 'train.sigmoid some/folder/input.mlir:
// RUN: %python %t/make-ranges.py %t/input.mlir 16 > %t/shape.json
// RUN: not amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/shape.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: {{.*}}shape.json' are from another module: value 'train.tanh input.mlir:{{.*}}' has the shape ?x16 in the file, but the one of the module has 8x8;
// RUN: %python %t/make-ranges.py %t/step.mlir > %t/step.json
// RUN: not amp-opt %t/step.mlir --auto-mixed-precision=ranges=%t/step.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: error: {{.*}}step.json' are from another module: the file has no value 'argument "w"' of function 'step';
//
// Passes before this one move transposes.
// RUN: sed 's/train.tanh/train.transpose/' %t/ranges.json > %t/moved.json
// RUN: amp-opt %t/input.mlir --auto-mixed-precision=ranges=%t/moved.json -o /dev/null

// REMARK-DAG: [Missed] KeptF32 {{.*}} Error={{.*}} Largest=5.00E+04, Op=train.matmul, Reason="measured, not proved: a value here leaves the range of the low type"
// REMARK-DAG: [Missed] KeptF32 {{.*}} Op=train.matmul, Reason="measured, not proved: a value here loses too much below the range of the low type"
// REMARK-DAG: [Analysis] MeasuredFits | Category:amp | Function=freed | {{.*}} Op=train.reduce_sum, Reason="its measured values fit, which is not a proof"

//--- input.mlir
// An operand of a product beyond the range of f16 with the margin of 2.
// CHECK-LABEL: func.func @beyond
// CHECK: train.matmul {{.*}} (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: train.matmul {{.*}} (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @beyond(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.tanh %a : tensor<8x8xf32> // 1.0 50000.0
  %1 = train.matmul %0, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> // 0.1 1.0
  %2 = train.matmul %1, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> // 0.1 1.0
  return %2 : tensor<8x8xf32>
}

// An operand whose elements are subnormal in f16.
// CHECK-LABEL: func.func @lost
// CHECK: train.matmul {{.*}} (tensor<8x8xf32>, tensor<8x8xf32>)
// CHECK: train.matmul {{.*}} (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @lost(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.tanh %a : tensor<8x8xf32> // 1.0e-8 1.0e-6
  %1 = train.matmul %0, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> // 0.1 1.0
  %2 = train.matmul %1, %1 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> // 0.1 1.0
  return %2 : tensor<8x8xf32>
}

// A sum that fits in the data, although nothing proves it.
// CHECK-LABEL: func.func @freed
// CHECK: train.reduce_sum {{.*}} : (tensor<8x8xf16>) -> tensor<1x8x
// CHECK: train.mul {{.*}} -> tensor<8x8xf16>
func.func @freed(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> // 0.1 1.0
  %1 = train.reduce_sum %0 {dims = array<i64: 0>, keep_dims} : (tensor<8x8xf32>) -> tensor<1x8xf32> // 0.1 8.0
  %2 = train.mul %0, %1 : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32> // 0.1 8.0
  %3 = train.matmul %2, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> // 0.1 8.0
  return %3 : tensor<8x8xf32>
}

// Without a measurement the sum stays f32, and so does its reader.
// CHECK-LABEL: func.func @unknown
// CHECK: train.reduce_sum {{.*}} -> tensor<1x8xf32>
// CHECK: train.mul {{.*}} -> tensor<8x8xf32>
func.func @unknown(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.reduce_sum %0 {dims = array<i64: 0>, keep_dims} : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %2 = train.mul %0, %1 : (tensor<8x8xf32>, tensor<1x8xf32>) -> tensor<8x8xf32>
  %3 = train.matmul %2, %2 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}

// A pin is a wish of the user.
// CHECK-LABEL: func.func @pinned
// CHECK: train.matmul {{.*}} (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @pinned(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.tanh %a : tensor<8x8xf32> // 1.0 50000.0
  %1 = train.matmul %0, %0 {amp.precision = "low"} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> // 0.1 1.0
  return %1 : tensor<8x8xf32>
}

// Small gradients fit with the loss scale.
// CHECK-LABEL: func.func @backward
// CHECK: train.matmul {{.*}} (tensor<8x8xf16>, tensor<8x8xf16>)
func.func @backward(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.tanh %a : tensor<8x8xf32> // 1.0e-8 1.0e-6 backward
  %1 = train.matmul %0, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> // 1.0e-7 1.0e-6 backward
  return %1 : tensor<8x8xf32>
}

//--- step.mlir
func.func @step(%w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<8x8xf32> {amp.prediction = "y"}) {
  %0 = train.matmul %w, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> // 0.1 1.0
  return %0 : tensor<8x8xf32>
}

//--- make-ranges.py
import json, math, os, re, sys
values = []
for number, line in enumerate(open(sys.argv[1]), 1):
    found = re.search(r"= (train\.\w+).* // (\S+) (\S+) ?(\w*)", line)
    if not found:
        continue
    smallest, largest = float(found[2]), float(found[3])
    exponents = {str(e): 10 for e in range(math.frexp(smallest)[1] - 1, math.frexp(largest)[1])}
    shape = dict(shape=[-1, int(sys.argv[2])]) if len(sys.argv) > 2 else {}
    values.append(dict(shape, name=f"{found[1]} some/folder/{os.path.basename(sys.argv[1])}:{number}:{found.start(1) + 1}",
                       part=found[4] or "forward", nan=0, infinite=0, zero=0, largest=largest,
                       smallest=smallest, exponents=exponents))
print(json.dumps(dict(format="amp-ranges", version=1, values=values)))

//--- check-report.py
import json, sys
report = json.load(open(sys.argv[1]))
assert "measured" in report["rules"]["measured-beyond"], report["rules"]
beyond = next(f for f in report["functions"] if f["name"] == "beyond")
measured = [v["measured"] for v in beyond["values"] if "measured" in v]
assert [m["largest"] for m in measured] == [50000, 1, 1], measured
assert any(s["rule"] == "measured-beyond" for o in beyond["ops"] for s in o["slots"]), beyond["ops"]
backward = next(f for f in report["functions"] if f["name"] == "backward")
scale = next(v["measured"]["lossScale"] for v in backward["values"] if "measured" in v)
assert scale >= 2.0**10, scale

//--- other.json
{"values": []}

//--- broken.json
{"format": "amp-ranges", "version": 1, "values": [{"name": "train.tanh"}]}

//--- empty.json
{"format": "amp-ranges", "version": 1, "values": []}
