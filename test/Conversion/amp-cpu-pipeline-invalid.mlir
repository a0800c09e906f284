// RUN: not amp-opt %s --amp-cpu-pipeline 2>&1 | FileCheck %s
// RUN: not amp-opt %s --amp-cpu-pipeline=to-lvm=false 2>&1 | FileCheck %s --check-prefix=OPTION

// CHECK: error: 'train.relu' op has the dynamic shape 'tensor<?x4xf32>', expected a static one
// CHECK-NOT: error
// OPTION: error: amp-cpu-pipeline: unknown option 'to-lvm', did you mean 'to-llvm'
func.func @step(%x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<?x4xf32> {amp.prediction = "y"}) {
  %0 = train.relu %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
