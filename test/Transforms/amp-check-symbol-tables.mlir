// RUN: amp-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --amp-check-symbol-tables
// RUN: amp-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --amp-cpu-pipeline
// RUN: amp-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics --amp-cuda-pipeline

// Upstream's inliner ends without a diagnostic here.
func.func @f() { return }
// expected-error @below {{'toy.x' op of an unknown dialect has one region and may define symbols, expected its dialect to be loaded}}
"toy.x"() ({}) : () -> ()

// -----

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'toy.y' op of an unknown dialect has one region and may define symbols, expected its dialect to be loaded}}
  %0 = "toy.y"() ({
    "toy.yield"(%x) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A known dialect, and an unknown one without regions.
module {
  func.func @f(%x: tensor<f32>) -> tensor<f32> {
    return %x : tensor<f32>
  }
  module @inner {
    func.func @g() { return }
  }
}
