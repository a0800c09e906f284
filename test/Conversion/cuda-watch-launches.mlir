// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that count values move next to each other, and one launch runs them.
// They stay before the last launch that uses one of their values.
//
// RUN: amp-opt %s --convert-train-to-cuda --cuda-watch --cuda-plan-memory -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: amp-opt %s --convert-train-to-cuda --cuda-plan-memory | FileCheck %s --check-prefix=PLAIN
// RUN: amp-translate --mlir-to-cuda %t.mlir | FileCheck %s --check-prefix=SOURCE
// RUN: amp-translate --cuda-costs %t.mlir | FileCheck %s --check-prefix=COSTS

// The arena is the same without kernels that count.
// PLAIN: cuda.program @step arena 33555968
// CHECK-LABEL: cuda.program @step arena 33555968

// The third product is the last launch that uses the result of the second one.
// CHECK: cuda.gemm named "w"
// CHECK-NOT: <statistics>
// CHECK: cuda.gemm named "w_2"
// CHECK: cuda.kernel named "watch"
// CHECK: ins(%w_2 :
// CHECK: cuda.kernel named "watch_2"
// CHECK: ins(%w_2_2 :
// CHECK: cuda.kernel named "watch_3"
// CHECK: ins(%w :
// CHECK: cuda.kernel named "watch_4"
// CHECK: ins(%x :
// CHECK: cuda.gemm named "product"
// CHECK: cuda.kernel named "reduce_sum"
// CHECK: cuda.kernel named "watch_5"
// CHECK: cuda.kernel named "watch_6"

// The update overwrites the parameter.
// CHECK: cuda.kernel named "sub"
// CHECK: cuda.kernel named "watch_7"
// CHECK: ins(%w :

// SOURCE: AMP_COUNT_FUNCTION void watch(CountedPart part, int64_t *out0, const float *in0)
// SOURCE: __global__ void __launch_bounds__(kThreads) countValues(const CountBatch batch)
// SOURCE: batch.get<const float *>(entry, 1)
// SOURCE: clearCounts("watch", run.stream,
// SOURCE: CountLauncher("watch", run.stream, kernels::countValues)
// SOURCE-COUNT-4: .add(0,
// SOURCE: .finish());
// SOURCE-NOT: clearCounts(
// SOURCE: CountLauncher("watch_5", run.stream, kernels::countValues)
// SOURCE-COUNT-2: .add(
// SOURCE: .finish());
// SOURCE: CountLauncher("watch_7", run.stream, kernels::countValues)

// The first kernel of the step takes two nodes, because the counts are cleared
// before it. Those that share its launch take none.
// COSTS: {{^}}watch {{.*}} 3.601  for predictions
// COSTS-NEXT: watch_2 {{.*}} 0.001  for predictions
// COSTS-NEXT: watch_3 {{.*}} 0.001  for predictions
// COSTS-NEXT: watch_4 {{.*}} 0.001  for predictions
// COSTS: watch_5 {{.*}} 1.801  for predictions
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
