// The loss scale in steps written in linalg, tensor, arith and math.
//
// RUN: amp-opt %s --amp-check-loss-scaling --remarks-filter=amp -o /dev/null 2>&1 | FileCheck %s

// CHECK: LossScaleProved
// CHECK-SAME: Function=products
// CHECK-SAME: UnscaledGradients=1
func.func @products(%x: tensor<2x4xf32>, %w: tensor<4x3xf32>, %t: tensor<2x3xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> tensor<4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant dense<2.0> : tensor<2x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x3xf32>) outs(%i : tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = arith.subf %y, %t : tensor<2x3xf32>
  %d2 = arith.mulf %d, %two : tensor<2x3xf32>
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %sb = tensor.extract %s[] : tensor<f32>
  %splat = tensor.splat %sb : tensor<2x3xf32>
  %g = arith.mulf %d2, %splat : tensor<2x3xf32>
  %low = arith.truncf %g : tensor<2x3xf32> to tensor<2x3xf16>
  %xt = tensor.empty() : tensor<4x2xf32>
  %xp = linalg.transpose ins(%x : tensor<2x4xf32>) outs(%xt : tensor<4x2xf32>) permutation = [1, 0]
  %xl = arith.truncf %xp : tensor<4x2xf32> to tensor<4x2xf16>
  %ge = tensor.empty() : tensor<4x3xf32>
  %gi = linalg.fill ins(%zero : f32) outs(%ge : tensor<4x3xf32>) -> tensor<4x3xf32>
  %dw = linalg.matmul ins(%xl, %low : tensor<4x2xf16>, tensor<2x3xf16>) outs(%gi : tensor<4x3xf32>) -> tensor<4x3xf32>
  %u, %finite = amp.unscale %dw by %scale : (tensor<4x3xf32>) -> (tensor<4x3xf32>)
  return %u : tensor<4x3xf32>
}

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
// A gate, a captured scalar, a norm by a reduction, a maximum from -inf, a pad.
// CHECK: LossScaleProved
// CHECK-SAME: Function=bodies
// CHECK-SAME: UnscaledGradients=2
func.func @bodies(%x: tensor<4xf32>, %scale: tensor<f32> {amp.name = "loss_scale"}) -> (tensor<4xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %minus = arith.constant 0xFF800000 : f32
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %s = amp.scale %seed by %scale : tensor<f32>
  %scalar = tensor.extract %s[] : tensor<f32>
  %e = tensor.empty() : tensor<4xf32>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.cmpf ogt, %a, %zero : f32
    %m = arith.mulf %a, %scalar : f32
    %r = arith.select %p, %m, %zero : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %ie = tensor.empty() : tensor<f32>
  %i0 = linalg.fill ins(%zero : f32) outs(%ie : tensor<f32>) -> tensor<f32>
  %squares = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%g : tensor<4xf32>) outs(%i0 : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.mulf %a, %a : f32
    %sum = arith.addf %acc, %q : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  %norm = math.sqrt %squares : tensor<f32>
  %i1 = linalg.fill ins(%minus : f32) outs(%ie : tensor<f32>) -> tensor<f32>
  %largest = linalg.reduce ins(%g : tensor<4xf32>) outs(%i1 : tensor<f32>) dimensions = [0]
    (%a: f32, %acc: f32) {
      %max = arith.maximumf %a, %acc : f32
      linalg.yield %max : f32
    }
  %both = arith.addf %norm, %largest : tensor<f32>
  %padded = tensor.pad %g low[1] high[0] {
  ^bb0(%k: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<5xf32>
  %slice = tensor.extract_slice %padded[1] [4] [1] : tensor<5xf32> to tensor<4xf32>
  %u:2, %finite = amp.unscale %slice, %both by %scale : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return %u#0, %u#1 : tensor<4xf32>, tensor<f32>
}
