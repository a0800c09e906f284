// RUN: amp-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --convert-train-to-cuda
// RUN: amp-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --amp-cuda-pipeline

// Operations of unknown dialects before and after a kernel, and within it.
func.func @after(%w: tensor<4x8xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>}) -> (tensor<4x8xf32> {amp.updates = "w"}) {
  %e = tensor.empty() : tensor<4x8xf32>
  %m = linalg.map {arith.negf} ins(%w : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>)
  // expected-error @below {{'toy.tensor' op}}
  %y = "toy.tensor"(%m) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @before(%w: tensor<4x8xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>}) -> (tensor<4x8xf32> {amp.updates = "w"}) {
  // expected-error @below {{'toy.tensor' op}}
  %y = "toy.tensor"(%w) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %m = linalg.map {arith.negf} ins(%y : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>)
  return %m : tensor<4x8xf32>
}

// -----

func.func @within(%w: tensor<4x8xf32> {amp.role = "parameter", amp.name = "w", amp.init = #amp.init<zeros>}) -> (tensor<4x8xf32> {amp.updates = "w"}) {
  %e = tensor.empty() : tensor<4x8xf32>
  %m = linalg.map ins(%w : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>)
    (%a: f32, %o: f32) {
      // expected-error @below {{'toy.scalar' op cannot be part of a kernel}}
      %y = "toy.scalar"(%a) : (f32) -> f32
      linalg.yield %y : f32
    }
  return %m : tensor<4x8xf32>
}
