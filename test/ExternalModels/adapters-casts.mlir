// The passes after auto-mixed-precision insert the casts of the dialects in the
// step: those that an adapter built are examples for its dialect.
// RUN: split-file %s %t
// RUN: amp-opt %t/toy.mlir --allow-unregistered-dialect --pass-pipeline='builtin.module(auto-mixed-precision{policy=%t/toy.yaml},amp-insert-master-weights{mode=none},amp-insert-loss-scaling)' | FileCheck %s --check-prefix=TOY
// RUN: amp-opt %t/arith.mlir --amp-insert-loss-scaling | FileCheck %s --check-prefix=ARITH
// RUN: not amp-opt %t/unknown.mlir --allow-unregistered-dialect --amp-insert-loss-scaling -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ls %t/out.mlir
//
// TOY: %[[W:[a-z0-9]+]]: tensor<8x4xf16> {amp.name = "w"
// TOY-NOT: amp.cast
// TOY: "toy.convert"(%[[W]]) {amp.inserted, to = f32} : (tensor<8x4xf16>) -> tensor<8x4xf32>
// TOY-NOT: amp.cast
// TOY: "toy.descend"
// TOY-NOT: amp.cast
// TOY: "toy.convert"(%{{.*}}) {amp.inserted, to = f16} : (tensor<8x4xf32>) -> tensor<8x4xf16>
// TOY-NOT: amp.cast
//
// ARITH: amp.unscale
// ARITH-NOT: amp.cast
// ARITH: arith.truncf %{{.*}} {amp.inserted} : tensor<4xf32> to tensor<4xf16>
// ARITH-NOT: amp.cast
//
// UNKNOWN: error: 'toy.descend' op reads a gradient as 'tensor<4xf16>', for which neither its dialect nor the dialect of its producer has a cast

//--- toy.yaml
version: 1
adapters:
  - dialect: toy
    cast: {op: convert, attributes: [{name: to, value: $type}]}
    allow: [dot]

//--- toy.mlir
func.func @step(%w: tensor<8x4xf32> {amp.name = "w", amp.role = "parameter"}, %x: tensor<2x8xf32>, %t: tensor<2x4xf32>) -> (tensor<8x4xf32> {amp.updates = "w"}) {
  %y = "toy.dot"(%x, %w) : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %dy = "toy.loss_grad"(%y, %t, %seed) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %xt = "toy.transpose"(%x) : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %dw = "toy.dot"(%xt, %dy) {amp.gradient_of = ["w"]} : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %new = "toy.descend"(%w, %dw) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %new : tensor<8x4xf32>
}

//--- arith.mlir
func.func @step(%w: tensor<4xf16> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf32>) -> (tensor<4xf16> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %f = tensor.extract %seed[] : tensor<f32>
  %sp = tensor.splat %f : tensor<4xf32>
  %p = arith.mulf %x, %sp : tensor<4xf32>
  %g = arith.truncf %p {amp.gradient_of = ["w"]} : tensor<4xf32> to tensor<4xf16>
  %new = arith.subf %w, %g : tensor<4xf16>
  return %new : tensor<4xf16>
}

//--- unknown.mlir
func.func @step(%w: tensor<4xf16> {amp.name = "w", amp.role = "parameter"}, %x: tensor<4xf16>) -> (tensor<4xf16> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = "toy.grad"(%x, %seed) {amp.gradient_of = ["w"]} : (tensor<4xf16>, tensor<f32>) -> tensor<4xf16>
  %new = "toy.descend"(%w, %g) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return %new : tensor<4xf16>
}
