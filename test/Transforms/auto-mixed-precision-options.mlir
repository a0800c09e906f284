// An option that is given twice is an error. An option without effect under the
// strategy is a warning. Unmatched entries of one line share a warning.
//
// RUN: not amp-opt %s --auto-mixed-precision="precision=fp16 precision=bf16" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not amp-opt %s --pass-pipeline="builtin.module(auto-mixed-precision{policy={version: 1} precision=fp16 policy=default})" 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not amp-opt %s --amp-training-pipeline="target=h100 strategy=optimal target=a100" 2>&1 | FileCheck %s --check-prefix=PIPELINE
// TWICE: auto-mixed-precision: option 'precision' is given twice
// POLICY: auto-mixed-precision: option 'policy' is given twice
// PIPELINE: amp-training-pipeline: option 'target' is given twice
//
// RUN: amp-opt %s --auto-mixed-precision="sink-rule=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SINK
// RUN: amp-opt %s --auto-mixed-precision="strategy=autocast target=h100" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: amp-opt %s --auto-mixed-precision="strategy=grappler sink-rule=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: amp-opt %s --auto-mixed-precision="target=h100" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// SINK: warning: auto-mixed-precision: 'sink-rule' has no effect with strategy=optimal, expected strategy=grappler
// TARGET: warning: auto-mixed-precision: 'target' has no effect with strategy=autocast, expected strategy=optimal
// NONE-NOT: has no effect
//
// RUN: %python -c "print('{version: 1, extends: default, infer: [' + ', '.join(f'nosuch.op{i}' for i in range(2000)) + ']}')" > %t.yaml
// RUN: amp-opt %s --auto-mixed-precision=policy=%t.yaml -o /dev/null 2> %t.err
// RUN: FileCheck %s --check-prefix=LINE < %t.err
// RUN: %python -c "import sys; sys.exit(len(open(sys.argv[1]).read()) > 200000)" %t.err
// LINE: .yaml:1:{{[0-9]+}}: warning: policy: 2000 entries of this line match nothing: 'nosuch.op0', 'nosuch.op1', {{.*}}, 'nosuch.op7' and 1992 more
// LINE-NOT: warning
// RUN: %python -c "print('{version: 1, extends: default, deny: [' + ', '.join(f'train.no_op{i}' for i in range(2000)) + ']}')" > %t.yaml
// RUN: not amp-opt %s --auto-mixed-precision=policy=%t.yaml -o /dev/null 2> %t.err
// RUN: FileCheck %s --check-prefix=MANY < %t.err
// RUN: %python -c "import sys; sys.exit(len(open(sys.argv[1]).read()) > 900000)" %t.err
// MANY-COUNT-8: .yaml:1:{{[0-9]+}}: error: policy: 'train.no_op{{[0-7]}}' matches no operation of the dialect 'train'
// MANY-NOT: error

func.func @f(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = train.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
