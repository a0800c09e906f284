// A step with marks only on its signature. The pass marks the gradients and the
// seed, and removes the marked results and the argument. The dialect and the
// order of results do not matter.
//
// RUN: amp-opt %s --split-input-file --amp-import-step | FileCheck %s
// RUN: amp-opt %s --split-input-file --amp-import-step > %t.once
// RUN: amp-opt %t.once --split-input-file --amp-import-step | diff %t.once -
// RUN: not amp-opt %s --amp-import-step=all 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: {{.*}}all

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[^:]*]]: tensor<4x4xf32> {amp.name = "w", amp.role = "parameter"}, %[[B:[^:]*]]: tensor<4xf32> {amp.name = "b", amp.role = "parameter"})
// CHECK-SAME: -> (tensor<4x4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "b"})
// CHECK: %[[SEED:.*]] = amp.gradient_seed "loss" : tensor<f32>
// CHECK: %[[D:.*]] = train.broadcast %[[SEED]]
// CHECK: %[[DW:.*]] = train.mul %[[D]], %[[W]] {amp.gradient_of = ["w"]}
// CHECK: %[[DB:.*]] = train.reduce_sum %[[DW]] {amp.gradient_of = ["b"]
// CHECK: return %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4xf32>
func.func @step(%w: tensor<4x4xf32> {amp.role = "parameter", amp.name = "w"},
                %seed: tensor<f32> {amp.gradient_seed = "loss"},
                %b: tensor<4xf32> {amp.role = "parameter", amp.name = "b"})
    -> (tensor<4xf32> {amp.gradient_of = "b"}, tensor<4x4xf32> {amp.updates = "w"},
        tensor<4x4xf32> {amp.gradient_of = "w"}, tensor<4xf32> {amp.updates = "b"}) {
  %d = train.broadcast %seed {dims = array<i64: 0, 1>} : (tensor<f32>) -> tensor<4x4xf32>
  %dw = train.mul %d, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %db = train.reduce_sum %dw {dims = array<i64: 0>} : (tensor<4x4xf32>) -> tensor<4xf32>
  %w1 = train.sub %w, %dw : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b1 = train.sub %b, %db : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %db, %w1, %dw, %b1 : tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

// -----

// A function without marks does not change.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[A]]
func.func @plain(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// Two gradients of one parameter, and a gradient for each of 8 samples.
// CHECK-LABEL: func.func @several(
// CHECK: train.mul {{.*}} {amp.gradient_of = ["w"]}
// CHECK: train.sub {{.*}} {amp.gradient_of = ["w"]}
// CHECK: train.mul {{.*}} {amp.gradient_of = ["b"]} {{.*}} -> tensor<8x4xf32>
// CHECK: return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
func.func @several(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"},
                   %b: tensor<4xf32> {amp.role = "parameter", amp.name = "b"},
                   %x: tensor<8x4xf32>,
                   %seed: tensor<f32> {amp.gradient_seed = "loss"})
    -> (tensor<4xf32> {amp.updates = "w"}, tensor<4xf32> {amp.updates = "b"},
        tensor<4xf32> {amp.gradient_of = "w"}, tensor<4xf32> {amp.gradient_of = "w"},
        tensor<8x4xf32> {amp.gradient_of = "b"}) {
  %first = train.mul %w, %seed : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %second = train.sub %first, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %each = train.mul %x, %first : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %sum = train.reduce_sum %each {dims = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32>
  %w1 = train.sub %w, %second : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b1 = train.sub %b, %sum : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %w1, %b1, %first, %second, %each : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>
}
