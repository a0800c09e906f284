// Products of linalg and tosa go on giving f32: a low result costs its f32 bytes
// and a cast, and both are in the remarks, the statistics and the report. The
// train dialect gives a low result at once.
//
// RUN: amp-opt %s --auto-mixed-precision="strategy=grappler report=%t.json" --remarks-filter=amp 2>&1 >%t.mixed | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR < %t.mixed
// RUN: %python -c "import json, sys; [print(f['name'], *(str(c['value']) + ':' + c['from'] + '>' + c['to'] + ':' + str(c['bytes']) for c in f['casts']), *(v['name'] + '=' + v['typeAfter'] + ':' + str(v['bytesAfter']) for v in f['values'] if v['name'] == '%%0')) for f in json.load(open(r'%t.json'))['functions']]" | FileCheck %s --check-prefix=REPORT

// CHECK: Summary {{.*}}Function=linalg
// CHECK-SAME: Casts=4
// CHECK: Op=linalg.matmul, {{.*}}Slot=1
// CHECK: Summary {{.*}}Function=train
// CHECK-SAME: Casts=3
// IR-LABEL: func.func @linalg
// IR: %[[M:.*]] = linalg.matmul {{.*}} -> tensor<8x8xf32>
// IR: arith.truncf %[[M]] {amp.inserted} : tensor<8x8xf32> to tensor<8x8xf16>
// REPORT: linalg 3:f32>f16:384
// REPORT-SAME: =tensor<8x8xf32>:256
// REPORT: train
// REPORT-SAME: =tensor<8x8xf16>:128
func.func @linalg(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>, %f: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func @train(%a: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = train.matmul %a, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = train.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
