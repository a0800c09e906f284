// RUN: amp-opt %s --convert-train-to-linalg --split-input-file --verify-diagnostics

func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @+1 {{'train.relu' op has the dynamic shape 'tensor<?x4xf32>', expected a static one; 'train-set-batch' gives the batch dimension its size}}
  %0 = train.relu %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

func.func @composite(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'train.sigmoid' op cannot be lowered to linalg; expected it to be decomposed by 'train-decompose'}}
  %0 = train.sigmoid %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @symbolic(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'train.gradients' op cannot be lowered to linalg; expected it to be expanded by 'train-autodiff'}}
  %0 = train.gradients %x wrt(%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
