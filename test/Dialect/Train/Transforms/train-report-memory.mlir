// RUN: split-file %s %t
// RUN: amp-opt %t/step.mlir --train-report-memory -o %t/after.mlir | FileCheck %s
// RUN: amp-opt %t/step.mlir | diff - %t/after.mlir
// RUN: amp-opt %t/step.mlir --train-report-memory="json=true output=%t/report.json" -o /dev/null
// RUN: FileCheck %s --check-prefix=JSON < %t/report.json
// RUN: %python -m json.tool %t/report.json > /dev/null
// What cannot be reported.
// RUN: not amp-opt %t/none.mlir --train-report-memory 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not amp-opt %t/batch.mlir --train-report-memory 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not amp-opt %t/blocks.mlir --train-report-memory 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not amp-opt %models/small-updates.mlir --train-report-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRADIENTS
// RUN: not amp-opt %models/small-updates.mlir --train-autodiff --train-report-memory -o /dev/null 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: amp-opt %models/small-updates.mlir --train-autodiff --train-set-batch=batch-size=2 --train-report-memory -o /dev/null | FileCheck %s --check-prefix=STATIC
// RUN: amp-opt %models/small-updates.mlir --amp-training-pipeline="precision=bf16 master-weights=split" --train-set-batch=batch-size=2 --train-report-memory -o /dev/null | FileCheck %s --check-prefix=SPLIT
// RUN: not amp-opt %t/step.mlir --train-report-memory=output=%t/no/such/file 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not amp-opt %t/step.mlir --train-report-memory=json=yes 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not amp-opt %t/step.mlir --train-report-memory=format=json 2>&1 | FileCheck %s --check-prefix=OPTION

// NONE: error: train-report-memory: expected a training step, a function whose arguments have 'amp.role'
// BATCH: error: argument 'x' has type 'tensor<?x8xf32>', but its size must be known; run train-set-batch first
// BLOCKS: error: expected a function with a single block
// GRADIENTS: error: 'train.gradients' op is not expanded, expected the backward pass; run train-autodiff first
// DYNAMIC: error: 'train.linear' op has a result of type 'tensor<?x1024xf32>', but the size of every tensor must be known; run train-set-batch first
// FILE: error: train-report-memory: cannot write '{{.*}}/no/such/file': No such file or directory
// WORD: 'yes' is invalid value for boolean argument
// OPTION: error: train-report-memory: unknown option 'format'

// Two gains and, as states of the model, two draws: (64 * 1024 + 1024 * 10) * 4
// each; two moments and a counter; two rows of 64 pixels and a label; the rate.
// STATIC: memory of 'step' in bytes
// STATIC: parameters 303104 303104
// STATIC-NEXT: optimizer state 606212 606212
// STATIC-NEXT: other state 303108 303108
// STATIC-NEXT: batch 528 528

// The upper halves of both gains, 2 bytes for each element.
// SPLIT: parameters 303104 303104
// SPLIT: low weights 151552

// By hand. The arguments take 512 + 512 + 4 + 128 bytes. Most lives at gelu_grad:
// %xl (64) and %loss (4), which the forward pass leaves, and %hf, %da and %dh,
// 256 each. %xv is %xl; %new_m and %new_w take the place of %m and %w. After
// %dw (512) comes %d (512).
// CHECK: memory of 'step' in bytes
// CHECK-NEXT: in all at the peak
// CHECK-NEXT: parameters 512 512
// CHECK-NEXT: optimizer state 512 512
// CHECK-NEXT: other state 4 4
// CHECK-NEXT: batch 128 128
// CHECK-NEXT: low weights 256 0
// CHECK-NEXT: saved activations 196 68
// CHECK-NEXT: gradients 1024 0
// CHECK-NEXT: temporaries 768 768
// CHECK-NEXT: peak 1992

// JSON: "function": "step",
// JSON-NEXT: "peak_bytes": 1992,
// JSON-NEXT: "parameters": 128,
// JSON-NEXT: "categories": {
// JSON: "saved activations": {
// JSON-NEXT: "bytes": 196,
// JSON-NEXT: "at_peak": 68
// JSON: "forward": {
// JSON-NEXT: "amp.cast": {
// JSON-NEXT: "tensors": 2,
// JSON-NEXT: "elements": 96,
// JSON-NEXT: "bytes": 320
// JSON-NEXT: },
// JSON-NEXT: "train.gelu": {
// JSON-NEXT: "tensors": 1,
// JSON-NEXT: "elements": 64,
// JSON-NEXT: "bytes": 256
// JSON-NEXT: },
// JSON-NEXT: "train.linear": {
// JSON-NEXT: "tensors": 1,
// JSON-NEXT: "elements": 64,
// JSON-NEXT: "bytes": 128
// JSON-NEXT: },
// JSON-NEXT: "train.reduce_sum": {
// JSON-NEXT: "tensors": 1,
// JSON-NEXT: "elements": 1,
// JSON-NEXT: "bytes": 4
// JSON: "saved": {
// JSON-NEXT: "amp.cast": {
// JSON-NEXT: "tensors": 1,
// JSON-NEXT: "elements": 32,
// JSON-NEXT: "bytes": 64
// JSON-NEXT: },
// JSON-NEXT: "train.linear": {
// JSON-NOT: train.gelu
// JSON: "train.reduce_sum": {

//--- step.mlir
func.func @step(
    %w: tensor<8x16xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<ones>},
    %m: tensor<8x16xf32> {amp.role = "optimizer_state", amp.name = "w.momentum", amp.init = #amp.init<zeros>},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.1>},
    %x: tensor<4x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8x16xf32> {amp.updates = "w"},
        tensor<8x16xf32> {amp.updates = "w.momentum"},
        tensor<f32> {amp.metric = "loss"}) {
  %wl = amp.cast %w : tensor<8x16xf32> to tensor<8x16xbf16>
  %xl = amp.cast %x : tensor<4x8xf32> to tensor<4x8xbf16>
  %h = train.linear %xl, %wl : (tensor<4x8xbf16>, tensor<8x16xbf16>) -> tensor<4x16xbf16>
  %f = amp.cast %h : tensor<4x16xbf16> to tensor<4x16xf32>
  %a = train.gelu %f : tensor<4x16xf32>
  %loss = train.reduce_sum %a {dims = array<i64: 0, 1>} : (tensor<4x16xf32>) -> tensor<f32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %da = train.broadcast %seed {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<4x16xf32>
  %xv = train.broadcast %xl {dims = array<i64>} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %hf = amp.cast %h : tensor<4x16xbf16> to tensor<4x16xf32>
  %dh = train.gelu_grad %hf, %da : tensor<4x16xf32>
  %dl = amp.cast %dh : tensor<4x16xf32> to tensor<4x16xbf16>
  %dwl = train.matmul %xv, %dl {transpose_a} : (tensor<4x8xbf16>, tensor<4x16xbf16>) -> tensor<8x16xbf16>
  %dw = amp.cast %dwl {amp.gradient_of = ["w"]} : tensor<8x16xbf16> to tensor<8x16xf32>
  %new_m = train.add %m, %dw : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %d = train.mul %new_m, %lr : (tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %new_w = train.sub %w, %d : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %new_w, %new_m, %loss : tensor<8x16xf32>, tensor<8x16xf32>, tensor<f32>
}

//--- none.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- batch.mlir
func.func @step(
    %w: tensor<8xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<ones>},
    %x: tensor<?x8xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<8xf32> {amp.updates = "w"}) {
  return %w : tensor<8xf32>
}

//--- blocks.mlir
func.func @step(
    %w: tensor<8xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<ones>})
    -> (tensor<8xf32> {amp.updates = "w"}) {
  cf.br ^next
^next:
  return %w : tensor<8xf32>
}
