// All buffers of a bucket stay allocated until the collective returns, even if
// a result has no use.
//
// RUN: amp-opt %s --amp-cpu-pipeline=ranks=2 | FileCheck %s

// CHECK-LABEL: llvm.func @step_cpu(
// CHECK: %[[A:.*]] = llvm.call @aligned_alloc
// CHECK: %[[UNUSED:.*]] = llvm.call @aligned_alloc
// CHECK-COUNT-2: llvm.call @amp_collective_add_f32
// CHECK-NOT: @free
// CHECK: llvm.call @amp_collective_all_reduce_sum
// CHECK-NOT: @free
// CHECK-COUNT-2: llvm.call @amp_collective_release_f32
// CHECK-DAG: llvm.call @free(%[[A]])
// CHECK-DAG: llvm.call @free(%[[UNUSED]])
func.func @step(%w: tensor<1024xf32> {amp.role = "parameter", amp.name = "w"},
                %x: tensor<1024xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<1024xf32> {amp.updates = "w"}) {
  %a = train.mul %w, %x : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %b = train.exp %x : tensor<1024xf32>
  %sums:2 = amp.all_reduce sum %a, %b : tensor<1024xf32>, tensor<1024xf32>
  %new = train.sub %w, %sums#0 : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %new : tensor<1024xf32>
}
