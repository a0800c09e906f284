// RUN: amp-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --stablehlo-to-train
// RUN: not amp-opt %s --allow-unregistered-dialect --split-input-file --stablehlo-to-train='optimizer=lamb' 2>&1 | FileCheck %s --check-prefix=OPTIMIZER

// OPTIMIZER: stablehlo-to-train: unknown optimizer 'lamb', expected none, sgd or adam

func.func @main(%a: tensor<4x4xf32> {amp.role = "parameter", amp.name = "a"}) -> tensor<4x4xf32> {
  // expected-error @+1 {{stablehlo-to-train: unsupported here: 2 x stablehlo.cholesky, 1 x stablehlo.fft}}
  %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "stablehlo.fft"(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "stablehlo.cholesky"(%1) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// expected-error @+1 {{stablehlo-to-train: no function has arguments with 'amp.role'; expected a loss that is marked by position}}
module {
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %a : tensor<4x4xf32>
}
}
