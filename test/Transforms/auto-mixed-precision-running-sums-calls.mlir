// The body of a loop that carries a sum may be in a private function.
// RUN: amp-opt %s --auto-mixed-precision | FileCheck %s --check-prefixes=CHECK,FREE
// RUN: amp-opt %s --auto-mixed-precision=strategy=grappler | FileCheck %s
// RUN: amp-opt %s --auto-mixed-precision=strategy=autocast | FileCheck %s

// CHECK-LABEL: func.func @called
// FREE: func.func private @body(%{{.*}}: tensor<64x64xf32>, {{.*}}) -> tensor<64x64xf32>
// FREE: train.add {{.*}} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
func.func @called(%a: tensor<64x64xf32>, %n: index) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = train.matmul %a, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %w) -> (tensor<64x64xf32>) {
    %next = func.call @body(%acc, %w) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %r = train.matmul %sum, %a : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
func.func private @body(%acc: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %next = train.add %w, %acc : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %next : tensor<64x64xf32>
}
