// PIPELINE: amp-training-pipeline{precision=bf16 master-weights=copy}
//
// CHECK: train.matmul {{.*}} : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xbf16>
// CHECK: train.sgd {{.*}} : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
// CHECK: amp.master_copy {{.*}} : tensor<8x4xf32> to tensor<8x4xbf16>
func.func @step(
    %w: tensor<8x4xf32> {amp.name = "w", amp.role = "parameter"},
    %lr: tensor<f32> {amp.name = "lr", amp.role = "hyperparameter"},
    %x: tensor<2x8xf32> {amp.name = "x", amp.role = "batch"},
    %t: tensor<2xi64> {amp.name = "t", amp.role = "batch"})
    -> (tensor<8x4xf32> {amp.updates = "w"}, tensor<f32> {amp.metric = "loss"}) {
  %h = train.matmul %x, %w : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %loss = train.cross_entropy %h, %t : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<f32>
  %g = train.gradients %loss wrt(%w) : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %new = train.sgd %w, %g, %lr : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %new, %loss : tensor<8x4xf32>, tensor<f32>
}
