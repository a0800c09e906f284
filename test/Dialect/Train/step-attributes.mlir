// The amp.* attributes of a training step, and every kind of #amp.init.
//
// RUN: amp-opt %s | amp-opt | FileCheck %s
// RUN: amp-opt %s --mlir-print-op-generic | amp-opt | FileCheck %s
// RUN: amp-opt %s --emit-bytecode | amp-opt | FileCheck %s

// CHECK-LABEL: func.func @roles(
// CHECK-SAME: %{{.*}}: tensor<4xf32> {amp.init = #amp.init<zeros>, amp.name = "b", amp.precision = "keep", amp.role = "parameter"}
// CHECK-SAME: %{{.*}}: tensor<4xf32> {amp.name = "b.velocity", amp.role = "optimizer_state"}
// CHECK-SAME: %{{.*}}: tensor<4xf32> {amp.name = "mean", amp.role = "model_state"}
// CHECK-SAME: %{{.*}}: tensor<f32> {amp.init = #amp.init<constant, value = 5.000000e-01 : f64>, amp.name = "lr", amp.role = "hyperparameter"}
// CHECK-SAME: %{{.*}}: tensor<f32> {amp.name = "scale", amp.role = "scaler_state"}
// CHECK-SAME: %{{.*}}: tensor<?x4xf32> {amp.name = "x", amp.role = "batch"}
// CHECK-SAME: -> (tensor<4xf32> {amp.updates = "b"}, tensor<4xf32> {amp.updates = "b.velocity"}, tensor<4xf32> {amp.updates = "mean"}, tensor<f32> {amp.updates = "scale"}, tensor<f32> {amp.metric = "loss"}, tensor<?x4xf32> {amp.prediction = "y"})
func.func @roles(
    %b: tensor<4xf32> {amp.role = "parameter", amp.name = "b", amp.init = #amp.init<zeros>, amp.precision = "keep"},
    %v: tensor<4xf32> {amp.role = "optimizer_state", amp.name = "b.velocity"},
    %m: tensor<4xf32> {amp.role = "model_state", amp.name = "mean"},
    %lr: tensor<f32> {amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.5>},
    %s: tensor<f32> {amp.role = "scaler_state", amp.name = "scale"},
    %x: tensor<?x4xf32> {amp.role = "batch", amp.name = "x"})
    -> (tensor<4xf32> {amp.updates = "b"}, tensor<4xf32> {amp.updates = "b.velocity"},
        tensor<4xf32> {amp.updates = "mean"}, tensor<f32> {amp.updates = "scale"},
        tensor<f32> {amp.metric = "loss"}, tensor<?x4xf32> {amp.prediction = "y"}) {
  // CHECK: train.add {{.*}} {amp.id = 0 : i64, amp.precision = "f32"}
  %y = train.add %x, %b {amp.id = 0 : i64, amp.precision = "f32"} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  // CHECK: train.mse
  %loss = train.mse %y, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<f32>
  // CHECK: train.reduce_sum {{.*}} {amp.backward_of = 0 : i64, amp.gradient_of = ["b"], amp.precision = "low", dims = array<i64: 0>}
  %g = train.reduce_sum %y {amp.backward_of = 0 : i64, amp.gradient_of = ["b"], amp.precision = "low", dims = array<i64: 0>} : (tensor<?x4xf32>) -> tensor<4xf32>
  return %g, %v, %m, %s, %loss, %y
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<?x4xf32>
}

// CHECK-LABEL: func.func private @init(
// CHECK-SAME: tensor<2x3xf32> {amp.init = #amp.init<zeros>}
// CHECK-SAME: tensor<2xi32> {amp.init = #amp.init<ones>}
// CHECK-SAME: tensor<f32> {amp.init = #amp.init<constant, value = -5.000000e-01 : f64>}
// CHECK-SAME: tensor<4xf16> {amp.init = #amp.init<normal, value = 2.000000e+00 : f64>}
// CHECK-SAME: tensor<4xf64> {amp.init = #amp.init<uniform, value = 1.250000e-01 : f64, seed = 7 : i64>}
// CHECK-SAME: tensor<2x3xf32> {amp.init = #amp.init<kaiming_uniform>}
// CHECK-SAME: tensor<2x3xf32> {amp.init = #amp.init<kaiming_normal, value = 1.000000e+00 : f64>, amp.name = "w"}
// CHECK-SAME: tensor<3x3x1x4xf32> {amp.init = #amp.init<xavier_uniform, seed = -1 : i64>}
// CHECK-SAME: tensor<2x3xbf16> {amp.init = #amp.init<xavier_normal>}
// CHECK-SAME: tensor<2x3xf16> {amp.init = #amp.init<copy_of, source = "w">, amp.name = "w.copy"}
// CHECK-SAME: tensor<2x3xbf16> {amp.init = #amp.init<copy_of, source = "w.copy">}
// CHECK-SAME: tensor<2xi64> {amp.init = #amp.init<rng_state>}
// CHECK-SAME: tensor<2xi64> {amp.init = #amp.init<rng_state, seed = 3 : i64>}
func.func private @init(
    tensor<2x3xf32> {amp.init = #amp.init<zeros>},
    tensor<2xi32> {amp.init = #amp.init<ones>},
    tensor<f32> {amp.init = #amp.init<constant, value = -0.5>},
    tensor<4xf16> {amp.init = #amp.init<normal, value = 2.0>},
    tensor<4xf64> {amp.init = #amp.init<uniform, seed = 7, value = 0.125>},
    tensor<2x3xf32> {amp.init = #amp.init<kaiming_uniform>},
    tensor<2x3xf32> {amp.name = "w", amp.init = #amp.init<kaiming_normal, value = 1.0>},
    tensor<3x3x1x4xf32> {amp.init = #amp.init<xavier_uniform, seed = -1>},
    tensor<2x3xbf16> {amp.init = #amp.init<xavier_normal>},
    tensor<2x3xf16> {amp.name = "w.copy", amp.init = #amp.init<copy_of, source = "w">},
    tensor<2x3xbf16> {amp.init = #amp.init<copy_of, source = "w.copy">},
    tensor<2xi64> {amp.init = #amp.init<rng_state>},
    tensor<2xi64> {amp.init = #amp.init<rng_state, seed = 3>})
