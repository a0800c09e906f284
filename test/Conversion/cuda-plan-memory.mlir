// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: amp-opt %s --convert-train-to-cuda --cuda-plan-memory --split-input-file | FileCheck %s
// RUN: amp-opt %s --convert-train-to-cuda --cuda-plan-memory=report --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: not amp-opt %s --cuda-plan-memory --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEFT

// LEFT: 'train.linear' op is in a step that becomes a program; expected 'convert-train-to-cuda' to have lowered it

// Values that are not in use at the same time share memory. The last product
// writes to the memory of the prediction.
// REPORT: remark: 'chain': 33562624 bytes of state, 4096 bytes planned for values of which at most 4096 are in use at one time: 1.000 times
// CHECK-LABEL: cuda.program @chain
// CHECK: %[[X:.*]] = cuda.buffer "x" at 0 {role = "batch"} : memref<16x32xf32>
// CHECK: %[[W:.*]] = cuda.buffer "w" at 2048 {role = "parameter"} : memref<32x32xf32>
// CHECK: %[[Y:.*]] = cuda.buffer "y" at 6144 {role = "prediction"} : memref<16x32xf32>
// CHECK: cuda.buffer "workspace"
// CHECK: %[[A:.*]] = cuda.buffer "w_2" at [[AT:[0-9]+]] : memref<16x32xf32>
// CHECK: %[[B:.*]] = cuda.buffer "w_2_2" at {{[0-9]+}} : memref<16x32xf32>
// CHECK: %[[C:.*]] = cuda.buffer "w_3" at [[AT]] : memref<16x32xf32>
// CHECK: cuda.gemm {{.*}} ins(%[[X]], %[[W]] {{.*}} outs(%[[A]]
// CHECK: cuda.gemm {{.*}} ins(%[[A]], %[[W]] {{.*}} outs(%[[B]]
// CHECK: cuda.gemm {{.*}} ins(%[[B]], %[[W]] {{.*}} outs(%[[C]]
// CHECK: cuda.gemm {{.*}} ins(%[[C]], %[[W]] {{.*}} outs(%[[Y]]
func.func @chain(%x: tensor<16x32xf32> {amp.role = "batch", amp.name = "x"},
                 %w: tensor<32x32xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<16x32xf32> {amp.prediction = "y"}) {
  %0 = train.linear %x, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %1 = train.linear %0, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %2 = train.linear %1, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  %3 = train.linear %2, %w : (tensor<16x32xf32>, tensor<32x32xf32>) -> tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}

// -----

// A state is updated in place; its old value, which is a metric, is read before.
// CHECK-LABEL: cuda.program @old_value
// CHECK: %[[S:.*]] = cuda.buffer "s" at 0 {role = "model_state"} : memref<f32>
// CHECK: %[[M:.*]] = cuda.buffer "before" at 256 {role = "metric"} : memref<f32>
// CHECK: cuda.kernel named "before"
// CHECK: ins(%[[S]] : memref<f32>) outs(%[[M]] : memref<f32>)
// CHECK: cuda.kernel
// CHECK: ins(%[[S]] : memref<f32>) outs(%[[S]] : memref<f32>)
func.func @old_value(%s: tensor<f32> {amp.role = "model_state", amp.name = "s"})
    -> (tensor<f32> {amp.updates = "s"}, tensor<f32> {amp.metric = "before"}) {
  %0 = train.add %s, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %s : tensor<f32>, tensor<f32>
}

// -----

// Two states change places: each is saved before the first is written.
// CHECK-LABEL: cuda.program @swap
// CHECK: %[[A:.*]] = cuda.buffer "a" at 0
// CHECK: %[[B:.*]] = cuda.buffer "b" at 256
// CHECK: ins(%[[B]] : memref<4xf32>) outs(%[[T:.*]] : memref<4xf32>)
// CHECK: ins(%[[A]] : memref<4xf32>) outs(%[[U:.*]] : memref<4xf32>)
// CHECK: ins(%[[T]] : memref<4xf32>) outs(%[[A]] : memref<4xf32>)
// CHECK: ins(%[[U]] : memref<4xf32>) outs(%[[B]] : memref<4xf32>)
func.func @swap(%a: tensor<4xf32> {amp.role = "model_state", amp.name = "a"},
                %b: tensor<4xf32> {amp.role = "model_state", amp.name = "b"})
    -> (tensor<4xf32> {amp.updates = "a"}, tensor<4xf32> {amp.updates = "b"}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// An optimizer works in place; where the old parameter is read after it, on a
// copy, which becomes the state at the end.
// CHECK-LABEL: cuda.program @late_read
// CHECK: %[[W:.*]] = cuda.buffer "w" at 0
// CHECK: cuda.kernel
// CHECK: ins(%[[W]] : memref<4xf32>) outs(%[[C:.*]] : memref<4xf32>)
// CHECK: cuda.optimizer <sgd> {{.*}} ins(%[[C]], {{.*}} outs(%[[C]]
// CHECK: cuda.kernel
// CHECK: ins(%[[W]], %[[C]]
// CHECK: cuda.kernel
// CHECK: ins(%[[C]] : memref<4xf32>) outs(%[[W]] : memref<4xf32>)
func.func @late_read(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                     %g: tensor<4xf32> {amp.role = "batch", amp.name = "g"},
                     %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.prediction = "moved"}) {
  %0 = train.sgd %w, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = train.sub %w, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// If nothing else reads a computed value, the optimizer overwrites it without a
// copy. A 16-bit parameter is updated in place.
// CHECK-LABEL: cuda.program @computed
// CHECK: %[[W:.*]] = cuda.buffer "w" at 0
// CHECK: %[[V:.*]] = cuda.buffer "v" at 256
// CHECK-COUNT-1: cuda.kernel
// CHECK: ins(%[[W]] : memref<4xbf16>) outs(%[[C:.*]] : memref<4xf32>)
// CHECK: cuda.optimizer <sgd> {{.*}} ins(%[[C]], %{{.*}}, %[[V]], {{.*}} outs(%[[C]], %[[V]] :
// CHECK-COUNT-1: cuda.kernel
// CHECK: ins(%[[C]] : memref<4xf32>) outs(%[[W]] : memref<4xbf16>)
// CHECK-NOT: cuda.kernel
// CHECK-LABEL: cuda.program @widened
// CHECK: %[[W:.*]] = cuda.buffer "w" at 0
// CHECK: %[[V:.*]] = cuda.buffer "v" at 256
// CHECK-NOT: cuda.kernel
// CHECK: cuda.optimizer <sgd> {{.*}} ins(%[[W]], %{{.*}}, %[[V]], {{.*}} outs(%[[W]], %[[V]] :
// CHECK-NOT: cuda.kernel
func.func @computed(%w: tensor<4xbf16> {amp.role = "parameter", amp.name = "w"},
                    %v: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "v"},
                    %g: tensor<4xf32> {amp.role = "batch", amp.name = "g"},
                    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<4xbf16> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "v"}) {
  %wide = amp.cast %w : tensor<4xbf16> to tensor<4xf32>
  %0 = train.tanh %wide : tensor<4xf32>
  %1:2 = train.sgd %0, %g, %lr, %v {momentum = 0.9 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = amp.cast %1#0 : tensor<4xf32> to tensor<4xbf16>
  return %2, %1#1 : tensor<4xbf16>, tensor<4xf32>
}
func.func @widened(%w: tensor<4xbf16> {amp.role = "parameter", amp.name = "w"},
                   %v: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "v"},
                   %g: tensor<4xf32> {amp.role = "batch", amp.name = "g"},
                   %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<4xbf16> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "v"}) {
  %0 = amp.cast %w : tensor<4xbf16> to tensor<4xf32>
  %1:2 = train.sgd %0, %g, %lr, %v {momentum = 0.9 : f64} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = amp.cast %1#0 : tensor<4xf32> to tensor<4xbf16>
  return %2, %1#1 : tensor<4xbf16>, tensor<4xf32>
}

// -----

// The widened parameter has another reader, so the optimizer needs a copy. A
// parameter that is its own gradient also needs a copy.
// CHECK-LABEL: cuda.program @widened_read
// CHECK: cuda.kernel named "copy"
// CHECK: outs(%[[C:.*]] : memref<4xf32>)
// CHECK: cuda.optimizer <sgd> {{.*}} ins(%[[C]], {{.*}} outs(%[[C]]
// CHECK-LABEL: cuda.program @widened_gradient
// CHECK: %[[W:.*]] = cuda.buffer "w"
// CHECK: cuda.kernel named "copy"
// CHECK: outs(%[[C:.*]] : memref<4xbf16>)
// CHECK: cuda.optimizer <sgd> {{.*}} ins(%[[C]], %[[W]], {{.*}} outs(%[[C]]
func.func @widened_read(%w: tensor<4xbf16> {amp.role = "parameter", amp.name = "w"},
                        %g: tensor<4xf32> {amp.role = "batch", amp.name = "g"},
                        %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<4xbf16> {amp.updates = "w"}, tensor<4xf32> {amp.prediction = "moved"}) {
  %0 = amp.cast %w : tensor<4xbf16> to tensor<4xf32>
  %1 = train.sgd %0, %g, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = amp.cast %1 : tensor<4xf32> to tensor<4xbf16>
  %3 = train.sub %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<4xbf16>, tensor<4xf32>
}
func.func @widened_gradient(%w: tensor<4xbf16> {amp.role = "parameter", amp.name = "w"},
                            %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr"})
    -> (tensor<4xbf16> {amp.updates = "w"}) {
  %0 = amp.cast %w : tensor<4xbf16> to tensor<4xf32>
  %1 = train.sgd %0, %0, %lr : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = amp.cast %1 : tensor<4xf32> to tensor<4xbf16>
  return %2 : tensor<4xbf16>
}

// -----

// A constant whose elements differ is a buffer that is written once; as a result
// it is copied. One of equal elements is a part of the kernels that use it.
// CHECK-LABEL: cuda.program @constants
// CHECK: %[[X:.*]] = cuda.buffer "x"
// CHECK: %[[C:.*]] = cuda.buffer "constant" at {{[0-9]+}} {role = "constant", value = dense<[0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<4xf32>} : memref<4xf32>
// CHECK: %[[Y:.*]] = cuda.buffer "y"
// CHECK: %[[Z:.*]] = cuda.buffer "z"
// CHECK-NOT: cuda.buffer
// CHECK: ins(%[[X]], %[[C]] : memref<4xf32>, memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
// CHECK: ins(%[[C]] : memref<4xf32>) outs(%[[Z]] : memref<4xf32>)
func.func @constants(%x: tensor<4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.prediction = "y"}, tensor<4xf32> {amp.prediction = "z"}) {
  %0 = train.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %1 = train.constant dense<0.5> : tensor<4xf32>
  %2 = train.mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = train.add %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The bounds of labels and indices are recorded before lowering: the classes of
// a loss, the rows of a table, the positions of documents.
// CHECK-LABEL: cuda.program @bounds
// CHECK: cuda.buffer "lengths" at {{[0-9]+}} {cumulative, index_bound = 5 : i64, role = "batch"} : memref<4x3xi32>
// CHECK: cuda.buffer "tokens" at {{[0-9]+}} {index_bound = 31 : i64, role = "batch"} : memref<24xi64>
// CHECK: cuda.buffer "labels" at {{[0-9]+}} {index_bound = 10 : i64, role = "batch"} : memref<24xi32>
// CHECK: cuda.buffer "free" at {{[0-9]+}} {role = "batch"} : memref<4xi64>
func.func @bounds(%lengths: tensor<4x3xi32> {amp.role = "batch", amp.name = "lengths"},
                  %tokens: tensor<24xi64> {amp.role = "batch", amp.name = "tokens"},
                  %labels: tensor<24xi32> {amp.role = "batch", amp.name = "labels"},
                  %free: tensor<4xi64> {amp.role = "batch", amp.name = "free"},
                  %table: tensor<31x10xf32> {amp.role = "parameter", amp.name = "table"})
    -> (tensor<f32> {amp.metric = "loss"}) {
  %mask = train.document_mask %lengths {positions = 4 : i64} : (tensor<4x3xi32>) -> tensor<4x1x4x4xi1>
  %rows = train.gather %table, %tokens {axis = 0 : i64} : (tensor<31x10xf32>, tensor<24xi64>) -> tensor<24x10xf32>
  %loss = train.cross_entropy %rows, %labels {label_smoothing = 0.1 : f64} : (tensor<24x10xf32>, tensor<24xi32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Training needs the loss's gradient, not the predictions and the accuracy. The
// launches that they alone need say so, and come where their operands do. The
// product is needed, so its prediction is a copy, beyond the arena.
// REPORT: remark: 'readers': {{[0-9]+}} bytes of state, {{[0-9]+}} bytes planned
// REPORT: remark: 'readers': 512 bytes more for a caller that wants predictions of training steps
// CHECK-LABEL: cuda.program @readers
// CHECK-SAME: arena [[ARENA:[0-9]+]] bound {{[0-9]+}} predictions {{[0-9]+}}
// CHECK-DAG: %[[Y:.*]] = cuda.buffer "y" at [[ARENA]] {role = "prediction"} : memref<16x4xf32>
// CHECK-DAG: %[[Z:.*]] = cuda.buffer "z" at {{[0-9]+}} {role = "prediction"} : memref<16x4xf32>
// CHECK-DAG: %[[M:.*]] = cuda.buffer "largest" at {{[0-9]+}} {role = "metric"} : memref<f32>
// CHECK: cuda.gemm {{.*}} outs(%[[P:.*]] : memref<16x4xf32>)
// CHECK-DAG: ins(%[[P]] {{.*}} outs(%[[Y]] : memref<16x4xf32>) {cuda.reader = #cuda.reader<predictions>}
// CHECK-DAG: outs(%[[Z]] : memref<16x4xf32>) {cuda.reader = #cuda.reader<predictions>}
// CHECK-DAG: outs(%[[M]] : memref<f32>){{.*}} {cuda.reader = #cuda.reader<metrics>}
// CHECK: cuda.gemm
// CHECK-NOT: cuda.reader
func.func @readers(%x: tensor<16x32xf32> {amp.role = "batch", amp.name = "x"},
                   %w: tensor<32x4xf32> {amp.role = "parameter", amp.name = "w"})
    -> (tensor<32x4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "largest"},
        tensor<16x4xf32> {amp.prediction = "y"}, tensor<16x4xf32> {amp.prediction = "z"}) {
  %y = train.linear %x, %w : (tensor<16x32xf32>, tensor<32x4xf32>) -> tensor<16x4xf32>
  %g = train.matmul %x, %y {transpose_a} : (tensor<16x32xf32>, tensor<16x4xf32>) -> tensor<32x4xf32>
  %max = train.reduce_max %y {dims = array<i64: 0, 1>} : (tensor<16x4xf32>) -> tensor<f32>
  %z = train.exp %y : tensor<16x4xf32>
  return %g, %max, %y, %z : tensor<32x4xf32>, tensor<f32>, tensor<16x4xf32>, tensor<16x4xf32>
}
