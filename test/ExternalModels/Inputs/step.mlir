// A network of two layers and its backward pass in linalg, tensor and arith, as
// a compiler without a training dialect writes them. The loss is a small
// multiple of the square error: in f16 its gradients vanish unless they are
// scaled.
#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>
#lhs = affine_map<(i, j, k) -> (k, i)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>
func.func @step(
    %w1: tensor<8x16xf32> {amp.name = "w1", amp.role = "parameter"},
    %w2: tensor<16x1xf32> {amp.name = "w2", amp.role = "parameter"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %x: tensor<16x8xf32> {amp.name = "x", amp.role = "batch"},
    %t: tensor<16x1xf32> {amp.name = "t", amp.role = "batch"})
    -> (tensor<8x16xf32> {amp.updates = "w1"}, tensor<16x1xf32> {amp.updates = "w2"}, tensor<f32> {amp.metric = "loss"}) {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 5.9604644775390625e-08 : f32
  %two = arith.constant 2.0 : f32
  // Forward.
  %e1 = tensor.empty() : tensor<16x16xf32>
  %e2 = tensor.empty() : tensor<16x1xf32>
  %e3 = tensor.empty() : tensor<1x16xf32>
  %e4 = tensor.empty() : tensor<8x16xf32>
  %e0 = tensor.empty() : tensor<f32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x1xf32>) -> tensor<16x1xf32>
  %i4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %z = linalg.matmul ins(%x, %w1 : tensor<16x8xf32>, tensor<8x16xf32>) outs(%i1 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<16x16xf32>) outs(%e1 : tensor<16x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<16x16xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<16x16xf32>, tensor<16x1xf32>) outs(%i2 : tensor<16x1xf32>) -> tensor<16x1xf32>
  %d = arith.subf %y, %t : tensor<16x1xf32>
  %loss = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%d : tensor<16x1xf32>) outs(%i0 : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.mulf %q, %factor : f32
    %r = arith.addf %acc, %s : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  // Backward.
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %one = tensor.extract %seed[] : tensor<f32>
  %dy = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%d : tensor<16x1xf32>) outs(%e2 : tensor<16x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.mulf %a, %two : f32
    %c = arith.mulf %factor, %one : f32
    %r = arith.mulf %b, %c : f32
    linalg.yield %r : f32
  } -> tensor<16x1xf32>
  %dw2 = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %dy : tensor<16x16xf32>, tensor<16x1xf32>) outs(%i2 : tensor<16x1xf32>) attrs = {amp.gradient_of = ["w2"]} {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<16x1xf32>
  %w2t = linalg.transpose ins(%w2 : tensor<16x1xf32>) outs(%e3 : tensor<1x16xf32>) permutation = [1, 0]
  %dh = linalg.matmul ins(%dy, %w2t : tensor<16x1xf32>, tensor<1x16xf32>) outs(%i1 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %dz = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%dh, %z : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e1 : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.cmpf ogt, %b, %zero : f32
    %r = arith.select %p, %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<16x16xf32>
  %dw1 = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %dz : tensor<16x8xf32>, tensor<16x16xf32>) outs(%i4 : tensor<8x16xf32>) attrs = {amp.gradient_of = ["w1"]} {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %acc, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  // Update.
  %rate = tensor.extract %lr[] : tensor<f32>
  %new1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%w1, %dw1 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e4 : tensor<8x16xf32>) {
  ^bb0(%w: f32, %g: f32, %o: f32):
    %s = arith.mulf %g, %rate : f32
    %r = arith.subf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<8x16xf32>
  %new2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%w2, %dw2 : tensor<16x1xf32>, tensor<16x1xf32>) outs(%e2 : tensor<16x1xf32>) {
  ^bb0(%w: f32, %g: f32, %o: f32):
    %s = arith.mulf %g, %rate : f32
    %r = arith.subf %w, %s : f32
    linalg.yield %r : f32
  } -> tensor<16x1xf32>
  return %new1, %new2, %loss : tensor<8x16xf32>, tensor<16x1xf32>, tensor<f32>
}
