// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --convert-train-to-cuda --cuda-watch -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: amp-opt %t.mlir --cuda-watch | diff %t.mlir -
// RUN: amp-opt %s --convert-train-to-cuda --cuda-watch=match=train.exp | FileCheck %s --check-prefix=MATCH
// RUN: amp-opt %s --convert-train-to-cuda --cuda-watch=match=train.exp \
// RUN:   --cuda-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: not amp-opt %s --convert-train-to-cuda --cuda-watch=match=train.conv2d 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTHING
// RUN: not amp-opt %s --convert-train-to-cuda "--cuda-watch=match=(" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REGEX

// RUN: amp-opt %s --convert-train-to-cuda | amp-opt --cuda-watch | FileCheck %s --check-prefix=UNNAMED
// RUN: amp-opt %S/convert-train-to-cuda-attention.mlir --convert-train-to-cuda=attention=cudnn --cuda-watch \
// RUN:   --split-input-file --remarks-filter=amp 2>&1 | FileCheck %s --check-prefix=INNER

// A module without locations keeps the names of its arguments.
// UNNAMED: amp.prediction = "watch 0 forward f32 8x  argument
// UNNAMED-SAME: amp.prediction = "watch 1 forward f32 4x8x  argument
// UNNAMED-NOT: amp.prediction = "watch

// A kernel computes the scores of attention again, from the operands of the plan.
// INNER: func.func @packed
// INNER-SAME: "watch {{[0-9]+}} forward f32>bf16 2x2x8x8x {{.*}}train.scaled_dot_product_attention#scores
// INNER-SAME: train.scaled_dot_product_attention#weights
// INNER-SAME: train.scaled_dot_product_attention_grad#weights_grad
// INNER-SAME: train.scaled_dot_product_attention_grad#scores_grad
// INNER: cuda.sdpa named
// INNER: cuda.kernel named "watch" over [2, 2, 8, 8]
// INNER-SAME: reduce [0, 1, 2, 3] with <statistics>
// INNER: math.exp
// INNER: cuda.sdpa_grad named
// INNER-NOT: NotWatched

// NOTHING: 'train.conv2d' selects no value to watch, expected a regular expression for a part of the name of an operation with its place
// REGEX: wrong value of 'match': '(', expected a regular expression: parentheses not balanced

// The exponential stays in registers. A separate kernel recomputes it, and counts
// its values and those of its cast, over only the loops that it depends on.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: -> ({{.*}}tensor<263xi64> {amp.prediction = "watch 0 forward f32 8x  argument \22w\22"}
// CHECK-SAME: amp.prediction = "watch {{[0-9]+}} forward f32>f16 8x 0, train.exp {{.*}}cuda-watch.mlir:
// CHECK: cuda.kernel named "watch"
// CHECK-SAME: with <statistics>
// MATCH-LABEL: func.func @step(
// MATCH-NOT: argument
// MATCH: cuda.kernel named "watch"{{.*}} over [8] {{.*}} reduce [0] with <statistics>
// MATCH: %[[EXP:.*]] = math.exp
// MATCH: %[[LOW:.*]] = arith.truncf %[[EXP]] : f32 to f16
// MATCH: %[[CAST:.*]] = arith.extf %[[LOW]]
// MATCH: cuda.yield %[[EXP]], %[[CAST]] : f32, f32
// MATCH-NOT: statistics

// The kernel runs only if the caller reads predictions.
// PLAN: cuda.buffer "watch 0 forward f32>f16 8x  train.exp {{.*}}role = "prediction"
// PLAN: with <statistics>
// PLAN: {cuda.reader = #cuda.reader<predictions>}
func.func @step(
    %w: tensor<8xf32> {amp.role = "parameter", amp.name = "w"},
    %x: tensor<4x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %e = train.exp %w : tensor<8xf32>
  %l = amp.cast %e : tensor<8xf32> to tensor<8xf16>
  %n = train.abs %l : tensor<8xf16>
  %f = amp.cast %n : tensor<8xf16> to tensor<8xf32>
  %s = train.mul %x, %f : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %loss = train.reduce_sum %s {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<f32>
  %new = train.sub %w, %f : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %new, %loss : tensor<8xf32>, tensor<f32>
}
