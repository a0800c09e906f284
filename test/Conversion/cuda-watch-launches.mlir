// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that count values move next to each other, and one launch runs them.
// They stay before the first launch that overwrites one of their values.
//
// RUN: split-file %s %t
// RUN: amp-opt %t/small.mlir --convert-train-to-cuda --cuda-watch --cuda-plan-memory -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: amp-opt %t/small.mlir --convert-train-to-cuda --cuda-plan-memory | FileCheck %s --check-prefix=PLAIN
// RUN: amp-translate --mlir-to-cuda %t.mlir | FileCheck %s --check-prefix=SOURCE
// RUN: amp-translate --cuda-costs %t.mlir | FileCheck %s --check-prefix=COSTS
// RUN: amp-opt %t/chain.mlir --convert-train-to-cuda --cuda-watch --cuda-plan-memory -o %t-chain.mlir
// RUN: FileCheck %s --input-file=%t-chain.mlir --check-prefix=CHAIN
// RUN: amp-opt %t/chain.mlir --convert-train-to-cuda --cuda-plan-memory | FileCheck %s --check-prefix=CHAINPLAIN
// RUN: amp-translate --cuda-costs %t-chain.mlir | FileCheck %s --check-prefix=CHAINCOSTS

//--- small.mlir
// The arena is the same without kernels that count.
// PLAIN: cuda.program @step arena 33555968
// CHECK-LABEL: cuda.program @step arena 33555968

// No launch reuses the memory of a temporary. The update overwrites the
// parameter, so its old value is counted before.
// CHECK: cuda.gemm named "w"
// CHECK-NOT: <statistics>
// CHECK: cuda.gemm named "w_2"
// CHECK-NOT: <statistics>
// CHECK: cuda.gemm named "product"
// CHECK-NOT: <statistics>
// CHECK: cuda.kernel named "reduce_sum"
// CHECK: cuda.kernel named "watch"
// CHECK: ins(%w :
// CHECK: cuda.kernel named "watch_2"
// CHECK: ins(%x :
// CHECK: cuda.kernel named "watch_3"
// CHECK: ins(%w_2 :
// CHECK: cuda.kernel named "watch_4"
// CHECK: ins(%w_2_2 :
// CHECK: cuda.kernel named "watch_5"
// CHECK: ins(%loss :
// CHECK: cuda.kernel named "watch_6"
// CHECK: ins(%product :
// CHECK: cuda.kernel named "sub"
// CHECK: cuda.kernel named "watch_7"
// CHECK: ins(%w :

// SOURCE: AMP_COUNT_FUNCTION void watch(CountedPart part, int64_t *out0, const float *in0)
// SOURCE: counter.finish(part, 0, out0);
// SOURCE: __global__ void __launch_bounds__(kThreads) countValues(const CountBatch batch)
// SOURCE: batch.get<const float *>(entry, 1)
// SOURCE: clearCounts("watch", run.stream,
// SOURCE-NEXT: {{[{][{]}}run{{.*}}, 64},
// SOURCE: CountLauncher("watch", run.stream, kernels::countValues)
// SOURCE-COUNT-6: .add(
// SOURCE: .finish());
// SOURCE-NOT: clearCounts(
// SOURCE: CountLauncher("watch_7", run.stream, kernels::countValues)

// Kernels that share the launch of another kernel take no node. No node clears
// the counts, because one block counts each value.
// COSTS: {{^}}watch {{.*}} 1.801  for predictions
// COSTS-NEXT: watch_2 {{.*}} 0.001  for predictions
// COSTS-NEXT: watch_3 {{.*}} 0.001  for predictions
// COSTS-NEXT: watch_4 {{.*}} 0.001  for predictions
// COSTS-NEXT: watch_5 {{.*}} 0.001  for predictions
// COSTS-NEXT: watch_6 {{.*}} 0.001  for predictions
// COSTS-NEXT: watch_7 {{.*}} 1.801  for predictions
func.func @step(
    %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8x8xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %a = train.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = train.matmul %a, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %c = train.matmul %b, %a {transpose_a} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %loss = train.reduce_sum %c {dims = array<i64: 0, 1>} : (tensor<8x8xf32>) -> tensor<f32>
  %new = train.sub %w, %c : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %new, %loss : tensor<8x8xf32>, tensor<f32>
}

//--- chain.mlir
// The third and the fourth product write over the results of the first and the
// second one, which are counted together before. Several blocks count these
// values, so a node clears the counts first.
// CHAINPLAIN: cuda.program @step arena 33612288
// CHAIN: cuda.program @step arena 33612288
// CHAIN: cuda.gemm named "w"
// CHAIN-NOT: <statistics>
// CHAIN: cuda.gemm named "w_2"
// CHAIN: cuda.kernel named "watch"
// CHAIN: ins(%w_2 :
// CHAIN: cuda.kernel named "watch_2"
// CHAIN: ins(%w_2_2 :
// CHAIN: cuda.gemm named "w_3"
// CHAIN-NOT: <statistics>
// CHAIN: cuda.gemm named "product"
// CHAIN: cuda.kernel named "watch_5"
// CHAIN: ins(%w_3 :
// CHAIN: cuda.kernel named "watch_6"
// CHAIN: ins(%w_4 :
// CHAINCOSTS: {{^}}watch {{.*}} 3.6{{.*}}  for predictions
func.func @step(
    %w: tensor<8x8xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<600x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8x8xf32> {amp.updates = "w"}) {
  %a = train.matmul %x, %w : (tensor<600x8xf32>, tensor<8x8xf32>) -> tensor<600x8xf32>
  %b = train.matmul %a, %w : (tensor<600x8xf32>, tensor<8x8xf32>) -> tensor<600x8xf32>
  %c = train.matmul %b, %w : (tensor<600x8xf32>, tensor<8x8xf32>) -> tensor<600x8xf32>
  %d = train.matmul %c, %w : (tensor<600x8xf32>, tensor<8x8xf32>) -> tensor<600x8xf32>
  %e = train.matmul %d, %x {transpose_a} : (tensor<600x8xf32>, tensor<600x8xf32>) -> tensor<8x8xf32>
  return %e : tensor<8x8xf32>
}
